"use strict";
(() => {
  // Without this every mark is a stop of the Tab key; with it the drawing is one, and the arrow keys move inside it.
  const rows = Array.from(document.querySelectorAll("#rows .row"));
  if (rows.length === 0) return;
  let at = 0;
  const enter = (to) => {
    rows[at].setAttribute("tabindex", "-1");
    at = to;
    rows[at].setAttribute("tabindex", "0");
  };
  for (const row of rows) row.setAttribute("tabindex", "-1");
  enter(0);
  document.getElementById("rows").addEventListener("focusin", (event) => {
    const to = rows.indexOf(event.target.closest(".row"));
    if (to >= 0) enter(to);
  });
  document.getElementById("rows").addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -rows.length, End: rows.length };
    const step = steps[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    enter(Math.min(rows.length - 1, Math.max(0, at + step)));
    rows[at].focus();
  });
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:not([open])")) one.open = true;
  });
})();
