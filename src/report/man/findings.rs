//! `sid-audit-findings(7)`: every rule under its headings, family by family, from the registry.

use clap_mangen::roff::{Roff, bold, roman};

use crate::agents;
use crate::agents::registry;
use crate::finding::Fix;

pub(super) fn body() -> Roff {
    let mut page = Roff::new();
    page.control("SH", ["NAME"]);
    page.text([roman("sid-audit-findings - what sid-audit looks for in the session stores of coding agents")]);
    page.control("SH", ["DESCRIPTION"]);
    for text in [
        "Each finding has a code, a family letter and three digits that are never used again, and a name that says the \
         pattern that was found. Its severity is the usual one; where a finding stands it may be worse or better, and the \
         report says so.",
        "An error is never found in a healthy store. A warning is something that is lost, hidden or about to be. \
         Information is what is merely worth knowing.",
    ] {
        page.control("PP", []);
        page.text([roman(text)]);
    }
    page.control("PP", []);
    page.text([roman("How far a repair has to go is one of:")]);
    for (name, text) in [
        (
            Fix::Bytes,
            "line ends, separators, and fragments that are no record for any loader; every whole record stays",
        ),
        (Fix::Links, "ids and parent pointers, the order of lines, and dropping a record of which an equal copy stays"),
        (Fix::Content, "a part of a message is replaced or leaves, or something is made up"),
    ] {
        page.control("TP", []);
        page.text([bold(name.name())]);
        page.text([roman(text)]);
    }
    page.control("TP", []);
    page.text([bold("none")]);
    page.text([roman("it is reported and never touched")]);
    for family in registry::families() {
        page.control("SH", [format!("{}: {}", family.letter, family.title).to_uppercase().as_str()]);
        for rule in &family.rules {
            page.control("SS", [format!("{} {}", rule.code, rule.name).as_str()]);
            let fix = rule.fix.map_or("none", Fix::name);
            page.text([roman(format!("Usually {}; fix: {fix}; since {}.", rule.severity.name(), rule.since))]);
            for (heading, text) in agents::doc(rule).sections() {
                page.control("TP", []);
                page.text([bold(heading)]);
                for (n, part) in text.split("\n\n").enumerate() {
                    if n > 0 {
                        page.control("IP", []);
                    }
                    page.text([roman(part)]);
                }
            }
        }
    }
    page
}
