//! A finding explained, or the list of them, from the declarations of the rules.

use std::io;

use serde::Serialize;

use super::format::paragraph;
use super::json;
use super::out::Out;
use super::style::{Style, dim, plain, span, strong};
use super::table::Grid;
use crate::agents;
use crate::agents::registry;
use crate::finding::{Fix, Rule, Severity};
use crate::rules::texts::Doc;

/// Prints one rule under its headings.
///
/// # Errors
/// I/O errors.
pub fn page(out: &mut Out, rule: &Rule) -> io::Result<()> {
    out.line([strong(format!("{}  {}", rule.code, rule.name))])?;
    out.line([
        plain("  "),
        span(rule.severity.into(), rule.severity.name()),
        dim(format!("  fix: {}  since {}", rule.fix.map_or("none", Fix::name), rule.since)),
    ])?;
    for (heading, text) in agents::doc(rule).sections() {
        out.gap()?;
        out.line([strong(heading)])?;
        for (n, part) in text.split("\n\n").enumerate() {
            if n > 0 {
                out.gap()?;
            }
            match command(part) {
                // As it is pasted: neither quoted nor wrapped.
                Some(command) => out.line([plain("  "), strong(command)])?,
                None => paragraph(out, vec![plain("  ")], 2, part)?,
            }
        }
    }
    Ok(())
}

/// The command of a paragraph that is nothing else.
fn command(text: &str) -> Option<&str> {
    text.strip_prefix('`')?.strip_suffix('`').filter(|inner| !inner.contains('`'))
}

/// Prints all rules, family by family.
///
/// # Errors
/// I/O errors.
pub fn list(out: &mut Out) -> io::Result<()> {
    for family in registry::families() {
        out.line([strong(format!("{}  {}", family.letter, family.title))])?;
        let mut grid = Grid::new(&["", "", "", ""]);
        for rule in &family.rules {
            let fix = rule.fix.map_or("-", Fix::name).to_owned();
            grid.row(Style::Plain, [rule.code.to_owned(), rule.severity.name().to_owned(), fix, rule.name.to_owned()]);
        }
        grid.print(out, |_, _| Ok(()))?;
        out.gap()?;
    }
    paragraph(
        out,
        Vec::new(),
        0,
        "This is the default severity; a single finding may differ. The third column is how far a repair has to go: \
         bytes, links or content; - is reported and never touched.",
    )?;
    out.line([plain("next: "), strong("sid-audit explain CODE")])
}

/// A rule as `explain` writes it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct RuleJson {
    code: &'static str,
    name: &'static str,
    severity: Severity,
    fix: Option<Fix>,
    since: &'static str,
    #[serde(flatten)]
    doc: Doc,
}

/// Writes rules as a JSON list.
///
/// # Errors
/// I/O errors.
pub fn document(out: &mut Out, rules: &[&'static Rule]) -> io::Result<()> {
    let all: Vec<RuleJson> = rules
        .iter()
        .map(|rule| RuleJson {
            code: rule.code,
            name: rule.name,
            severity: rule.severity,
            fix: rule.fix,
            since: rule.since,
            doc: agents::doc(rule),
        })
        .collect();
    json::rows(out, &all)
}
