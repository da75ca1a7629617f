//! As much of Markdown as our own text uses, as a manual page: headings, paragraphs, lists, terms with their definitions,
//! blocks of code, words of code. The text is ours and a test reads the page, so what is not known here stays as it is.

use clap_mangen::roff::{Inline, Roff, bold, roman};

pub(super) fn body(text: &str) -> Roff {
    let mut page = Roff::new();
    let mut lines = text.lines().peekable();
    let mut paragraph: Vec<&str> = Vec::new();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        if let Some(definition) = next.strip_prefix(": ") {
            flush(&mut page, &mut paragraph);
            lines.next();
            let mut words = vec![definition];
            while let Some(more) = lines.next_if(|line| line.starts_with("  ")) {
                words.push(more.trim_start());
            }
            page.control("TP", []);
            page.text(inline(line));
            page.text(inline(&words.join(" ")));
        } else if let Some(heading) = line.strip_prefix("## ") {
            flush(&mut page, &mut paragraph);
            page.control("SS", [heading]);
        } else if let Some(heading) = line.strip_prefix("# ") {
            flush(&mut page, &mut paragraph);
            page.control("SH", [heading.to_uppercase().as_str()]);
        } else if line == "```" {
            flush(&mut page, &mut paragraph);
            page.control("PP", []);
            page.control("RS", ["4"]);
            page.control("nf", []);
            for code in lines.by_ref().take_while(|line| *line != "```") {
                page.text([roman(code)]);
            }
            page.control("fi", []);
            page.control("RE", []);
        } else if line.is_empty() {
            flush(&mut page, &mut paragraph);
        } else {
            paragraph.push(line);
        }
    }
    flush(&mut page, &mut paragraph);
    page
}

fn flush(page: &mut Roff, paragraph: &mut Vec<&str>) {
    if !paragraph.is_empty() {
        page.control("PP", []);
        page.text(inline(&paragraph.join(" ")));
        paragraph.clear();
    }
}

/// Words between backticks are bold.
fn inline(text: &str) -> Vec<Inline> {
    text.split('`').enumerate().map(|(n, part)| if n % 2 == 1 { bold(part) } else { roman(part) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_has_its_macro() {
        let page = body("# name\na `b`\nc\n\n`t`\n: d\n  e\n\n```\nx - y\n```\n").render();
        let page = page.split_once(".SH").unwrap().1;
        assert_eq!(page, " NAME\n.PP\na \\fBb\\fR c\n.TP\n\\fBt\\fR\nd e\n.PP\n.RS 4\n.nf\nx \\- y\n.fi\n.RE\n");
    }
}
