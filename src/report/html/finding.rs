//! A finding, a severity, a command: what both pages show of them.

use std::path::Path;

use maud::{Markup, html};

use super::nothing;
use crate::agents;
use crate::finding::{Fact, Finding, Fix, Rule, Severity};
use crate::report::by_file::stands_for;
use crate::report::format::number;
use crate::report::suggest::Next;
use crate::text::Text;

/// A severity as a word in its colour; the word alone is enough to tell.
pub(super) fn severity(severity: Severity) -> Markup {
    html! { span class={ "tag " (severity.name()) } { (severity.name()) } }
}

/// A finding as an item of a list. A store may have thousands, so an item is a handful of elements: its place is one of
/// them, and so are its facts. `under` is the file that the list is about.
pub(super) fn item(finding: &Finding, under: &Path, known: bool) -> Markup {
    let rule = finding.rule;
    let id = finding.place.id.as_ref().map(Text::lossy);
    html! {
        li {
            p {
                (severity(finding.severity))
                " " a href={ "#" (rule.code) } { (rule.code) }
                " " strong { (rule.name) }
                " " (place(finding, under))
                @if let Some(id) = &id { " " code { (id) } }
                @if known { " " span.tag { "known" } }
            }
            @if !finding.effect.is_empty() || finding.cause.is_some() {
                p {
                    (finding.effect)
                    @if let Some(cause) = &finding.cause { " (cause: " (cause) ")" }
                }
            }
            @if !finding.facts.is_empty() { p.facts { (facts(finding)) } }
        }
    }
}

/// `line 12, bytes 345+67; fix: links; 3 in all; in other/file.jsonl`.
fn place(finding: &Finding, under: &Path) -> String {
    let place = &finding.place;
    let mut parts = Vec::new();
    let line = place.line.map(|line| format!("line {line}"));
    let bytes = place.offset.zip(place.length).map(|(offset, length)| format!("bytes {offset}+{length}"));
    let at: Vec<String> = line.into_iter().chain(bytes).collect();
    if !at.is_empty() {
        parts.push(at.join(", "));
    }
    if let Some(fix) = finding.rule.fix {
        parts.push(format!("fix: {}", fix.name()));
    }
    if finding.count.is_some() || finding.more.is_some() {
        parts.push(format!("{} in all", number(stands_for(finding))));
    }
    if let Some(path) = finding.path.as_deref().filter(|path| *path != under) {
        parts.push(format!("in {}", path.display()));
    }
    parts.join("; ")
}

/// `messages below: 3; parent: a1`.
fn facts(finding: &Finding) -> String {
    let facts: Vec<String> =
        finding.facts.iter().map(|(name, value)| format!("{}: {}", name.replace('_', " "), fact(value))).collect();
    facts.join("; ")
}

/// What a reader may do next about the worst of these.
pub(super) fn next(findings: &[Finding], next: Next<'_>) -> Markup {
    match next.for_file(findings) {
        Some(command) => html! { p { "Next: " code.command { (command) } } },
        None => nothing(),
    }
}

/// How many values of a list are shown.
const VALUES: usize = 20;

fn fact(value: &Fact) -> String {
    let list = |values: Vec<String>, all: usize| match all.saturating_sub(VALUES) {
        0 => values.join(", "),
        more => format!("{} and {} more", values.join(", "), number(more as u64)),
    };
    match value {
        Fact::Number(n) => n.to_string(),
        Fact::Real(x) => x.to_string(),
        Fact::Flag(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Fact::Word(word) => word.clone(),
        Fact::Words(words) => list(words.iter().take(VALUES).cloned().collect(), words.len()),
        Fact::Numbers(numbers) => list(numbers.iter().take(VALUES).map(i64::to_string).collect(), numbers.len()),
    }
}

/// A rule with its text, folded.
pub(super) fn rule(rule: &Rule) -> Markup {
    html! {
        details.rule {
            summary { "What is " (rule.name) "?" }
            @for (heading, text) in agents::doc(rule).sections() {
                h4 { (heading) }
                @for paragraph in text.split("\n\n") {
                    p { (paragraph.trim_matches('`')) }
                }
            }
            p.dim {
                "usually " (rule.severity.name()) ", fix: " (rule.fix.map_or("none", Fix::name)) ", since " (rule.since)
            }
        }
    }
}
