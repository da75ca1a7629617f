//! What `explain` says of a rule, under fixed headings: `texts/CODE.md` for all agents, and what one agent does with it in
//! the agent's own folder. Joined here.

use include_dir::{Dir, include_dir};
use serde::Serialize;

use super::agent::Judged;
use crate::finding::Rule;

static TEXTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/rules/texts");

/// The text of one rule. `explain`, the man page, SARIF and the pages are made from it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Doc {
    /// The symptom, in a user's words.
    pub symptom: String,
    /// What is in the file.
    pub what: String,
    /// How it comes about.
    pub arises: String,
    /// What each agent does with it, with the version that was run: one paragraph for all, then one for each agent.
    pub agent: String,
    /// What `repair` does.
    pub repair: String,
    /// What is lost by that repair.
    pub loses: String,
    /// The error text that a user sees, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// What to do about it; each command is a paragraph of its own, in backticks.
    pub command: String,
}

impl Doc {
    /// The text of a rule: what holds for all agents, then what each of these does with it.
    pub fn new(rule: &Rule, agents: &[&'static dyn Judged]) -> Self {
        let neutral = file(&TEXTS, rule.code).unwrap_or_default();
        let section = |heading: &str| {
            let named = neutral.split("## ").find_map(|section| section.strip_prefix(heading)?.strip_prefix('\n'));
            paragraphs(named.unwrap_or_default())
        };
        let mut agent = section("What the agent does with it");
        let mut own: Vec<&str> = agents.iter().filter_map(|agent| agent.text(rule.code)).collect();
        own.dedup();
        for text in own {
            agent.push_str(if agent.is_empty() { "" } else { "\n\n" });
            agent.push_str(&paragraphs(text));
        }
        Doc {
            symptom: section("What you see"),
            what: section("What it is"),
            arises: section("How it arises"),
            agent,
            repair: section("What repair does"),
            loses: section("What repair loses"),
            error_text: Some(section("What a user sees")).filter(|text| !text.is_empty()),
            command: section("What to run"),
        }
    }

    /// The parts under the headings that a person reads, the symptom first and the command last.
    pub fn sections(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let sections = [
            ("What you see", Some(&self.symptom)),
            ("What happened in the file", Some(&self.what)),
            ("How it arises", Some(&self.arises)),
            ("What the agent does with it", Some(&self.agent)),
            ("What repair does", Some(&self.repair)),
            ("What repair loses", Some(&self.loses)),
            ("The error text", self.error_text.as_ref()),
            ("What to run", Some(&self.command)),
        ];
        sections.into_iter().filter_map(|(heading, text)| Some((heading, text?.as_str())))
    }
}

/// The text for a code in a folder of texts.
pub fn file(texts: &'static Dir<'static>, code: &str) -> Option<&'static str> {
    texts.get_file(format!("{code}.md"))?.contents_utf8()
}

/// Paragraphs without the line ends inside them, one blank line between two.
fn paragraphs(text: &str) -> String {
    let flowing = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    text.split("\n\n").map(flowing).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}
