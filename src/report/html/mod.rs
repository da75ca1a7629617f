//! Reports as one page for a browser, complete in itself: nothing is loaded from anywhere, and everything can be read
//! without scripts. `scan`, `chain` and `metrics` each write their page; this is the frame, and what they share.
//!
//! What comes out of a session is hostile. Three things stand between it and the reader, each enough by itself: the
//! templates escape whatever is put into them; `Page::put` makes active characters visible in all that it writes; and
//! the page's own policy allows the one script and the one style sheet in it, by their hashes, and nothing else: no
//! image, no frame, no form, no connection. That is why nothing here uses a `style` or an `on…` attribute.
//!
//! Pages are written part by part, so that one of a large store is never held.

pub mod chain;
mod drawing;
mod finding;
mod lanes;
pub mod metrics;
mod plots;
pub mod scan;
mod svg;
mod timeline;

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::json_head::TOOL;
use super::sanitize::visible;
use crate::record::time;

const STYLE: &str = include_str!("page.css");

/// A page that is being written.
struct Page<W> {
    out: W,
    script: &'static str,
}

impl<W: Write> Page<W> {
    /// Begins a page: everything up to its own content. The script is one of our own files.
    fn begin(mut out: W, title: &str, script: &'static str) -> io::Result<Self> {
        let policy = format!(
            "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'",
            hash(STYLE),
            hash(script)
        );
        let head = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    meta name="robots" content="noindex";
                    title { (title) }
                }
            }
        };
        // What follows is put after the head by hand, because a template cannot be left open.
        let head = head.into_string();
        let head = head.strip_suffix("</head></html>").unwrap_or(&head);
        out.write_all(visible(head).as_bytes())?;
        write!(out, "\n<style>{STYLE}</style>\n</head>\n<body>\n")?;
        let mut page = Page { out, script };
        page.put(html! { a.skip href="#main" { "Skip to the content" } })?;
        page.raw("<main id=\"main\">\n")?;
        Ok(page)
    }

    /// Writes a part. Templates have no active characters of their own, line feeds included, so whatever is one came out
    /// of a session.
    fn put(&mut self, part: Markup) -> io::Result<()> {
        let part = part.into_string();
        self.out.write_all(visible(&part).as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Writes an opening or closing tag whose content is put in parts.
    fn raw(&mut self, tag: &'static str) -> io::Result<()> {
        self.out.write_all(tag.as_bytes())
    }

    /// Ends the page.
    fn end(mut self, taken_at: i64) -> io::Result<()> {
        self.raw("</main>\n")?;
        let foot = html! {
            footer {
                p { "An error is never found in a healthy store; that nothing was found is no proof." }
                p.dim { (TOOL) ", " time { (time::format(taken_at)) } }
            }
        };
        self.put(foot)?;
        write!(self.out, "<script>{}</script>\n</body>\n</html>\n", self.script)
    }
}

/// A source expression of the policy.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// What a number is a number of: the number stands out.
fn figure(n: u64, what: &str) -> Markup {
    let words = super::format::counted(n, what);
    let (number, what) = words.split_once(' ').unwrap_or((&words, ""));
    html! { b { (number) } " " (what) }
}

/// A part that holds nothing.
fn nothing() -> Markup {
    PreEscaped(String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_embedded_cannot_end_its_element() {
        for text in [STYLE, scan::SCRIPT, chain::SCRIPT] {
            assert!(!text.contains("</") && !text.contains("<!--"), "{text}");
            assert!(!text.chars().any(|c| c != '\n' && super::super::sanitize::is_active(c)));
        }
    }

    #[test]
    fn parts_are_escaped_and_made_visible() {
        let mut out = Vec::new();
        let mut page = Page::begin(&mut out, "<t>\u{202e}", scan::SCRIPT).unwrap();
        page.put(html! { p title=("\"'><x>\n") { ("<script>\u{1b}") } }).unwrap();
        page.end(0).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("<title>&lt;t&gt;\\u{202e}</title>"), "{text}");
        assert!(text.contains("<p title=\"&quot;'&gt;&lt;x&gt;\\n\">&lt;script&gt;\\x1b</p>"), "{text}");
    }
}
