"use strict";
(() => {
  const list = document.getElementById("list");
  const controls = document.getElementById("controls");
  if (!list || !controls) return;
  const bodies = Array.from(list.tBodies);
  const text = new Map();
  const textOf = (body) => {
    if (!text.has(body)) text.set(body, body.textContent.toLowerCase());
    return text.get(body);
  };

  const search = document.getElementById("search");
  const least = document.getElementById("least");
  const agent = document.getElementById("agent");
  const shown = document.getElementById("shown");
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const body of bodies) {
      const fits = Number(body.dataset.worst) >= Number(least.value)
        && (!agent || !agent.value || body.dataset.agent === agent.value)
        && words.every((word) => textOf(body).includes(word));
      body.hidden = !fits;
      if (fits) count += 1;
    }
    shown.textContent = count === bodies.length ? "" : `${count} of ${bodies.length} sessions`;
  };
  for (const field of [search, least, agent]) if (field) field.addEventListener("input", filter);
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.hidden = false;

  // From the worst on, where a column has such an end: that is what one looks for.
  const downFirst = new Set(["worst", "api", "lines", "bytes", "count"]);
  const order = (key, up) => {
    const number = key !== "name";
    const sign = up ? 1 : -1;
    const value = new Map(bodies.map((body, at) => [body, [number ? Number(body.dataset[key]) : body.dataset[key], at]]));
    const sorted = bodies.slice().sort((a, b) => {
      const [x, i] = value.get(a);
      const [y, j] = value.get(b);
      return x < y ? -sign : x > y ? sign : i - j;
    });
    const all = document.createDocumentFragment();
    for (const body of sorted) all.append(body);
    list.append(all);
  };
  const heads = Array.from(list.tHead.querySelectorAll("[data-sort]"));
  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const key = head.dataset.sort;
      const now = head.getAttribute("aria-sort");
      const up = now ? now !== "ascending" : !downFirst.has(key);
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      order(key, up);
    });
  }
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:not([open])")) one.open = true;
  });
})();
