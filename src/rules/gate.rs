//! The one gate between rules and reports: which codes a person asked for, and which severity fails the run.

use crate::finding::{Finding, Rule, Severity};

/// Which findings are kept. A selector is a code (`L101`), a family letter (`L`), a name, or `ALL`.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    select: Vec<String>,
    ignore: Vec<String>,
}

impl Gate {
    /// A gate from the words of `--select` and `--ignore`.
    ///
    /// # Errors
    /// A word that names no code, family or name.
    pub fn new(select: &[String], ignore: &[String]) -> Result<Self, String> {
        for word in select.iter().chain(ignore) {
            let known = super::registry::all().any(|r| matches(word, r.code, r.name));
            if !known {
                return Err(format!("unknown code \"{word}\""));
            }
        }
        Ok(Gate { select: select.to_vec(), ignore: ignore.to_vec() })
    }

    /// Whether this finding is kept.
    pub fn keeps(&self, finding: &Finding) -> bool {
        self.admits(finding.rule)
    }

    /// Whether this rule's findings are kept.
    pub fn admits(&self, rule: &Rule) -> bool {
        let hit = |words: &[String]| words.iter().any(|w| matches(w, rule.code, rule.name));
        (self.select.is_empty() || hit(&self.select)) && !hit(&self.ignore)
    }

    /// Whether the person named this code itself, not only its family or all.
    pub fn names(&self, code: &str) -> bool {
        self.select.iter().any(|w| w.eq_ignore_ascii_case(code))
    }
}

fn matches(word: &str, code: &str, name: &str) -> bool {
    word.eq_ignore_ascii_case("ALL")
        || word.eq_ignore_ascii_case(code)
        || word == name
        || (word.len() == 1 && code[..1].eq_ignore_ascii_case(word))
}

/// From which severity on a run fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum FailOn {
    /// findings that a healthy store never has
    #[default]
    Error,
    /// those, and what is lost, hidden or about to be
    Warning,
    /// any finding
    Info,
    /// findings never fail the run
    Never,
}

impl FailOn {
    /// Whether a finding of this severity fails the run.
    pub fn fails(self, severity: Severity) -> bool {
        match self {
            FailOn::Error => severity >= Severity::Error,
            FailOn::Warning => severity >= Severity::Warning,
            FailOn::Info => true,
            FailOn::Never => false,
        }
    }
}
