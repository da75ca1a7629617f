//! The one gate between rules and reports: which codes a person asked for, and which severity fails the run.

use crate::finding::{Finding, Rule, Severity};

/// Which findings are kept. A selector is a code (`L101`), a family letter (`L`), a name, or `ALL`.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// None selected: all are.
    select: Vec<&'static Rule>,
    ignore: Vec<&'static Rule>,
    /// Those that were selected by their code.
    named: Vec<&'static Rule>,
}

impl Gate {
    /// A gate from the words of `--select` and `--ignore`, which name some of these rules.
    ///
    /// # Errors
    /// A word that names no code, family or name.
    pub fn new(
        select: &[String],
        ignore: &[String],
        rules: &(impl Iterator<Item = &'static Rule> + Clone),
    ) -> Result<Self, String> {
        let is_code = |rule: &&Rule| select.iter().any(|word| word.eq_ignore_ascii_case(rule.code));
        let named = rules.clone().filter(is_code).collect();
        Ok(Gate { select: meant(select, rules)?, ignore: meant(ignore, rules)?, named })
    }

    /// Whether this finding is kept.
    pub fn keeps(&self, finding: &Finding) -> bool {
        self.admits(finding.rule)
    }

    /// Whether this rule's findings are kept.
    pub fn admits(&self, rule: &'static Rule) -> bool {
        (self.select.is_empty() || self.select.contains(&rule)) && !self.ignore.contains(&rule)
    }

    /// Whether the person named this code itself, not only its family or all.
    pub fn names(&self, rule: &'static Rule) -> bool {
        self.named.contains(&rule)
    }
}

/// The rules that some words mean.
fn meant(words: &[String], all: &(impl Iterator<Item = &'static Rule> + Clone)) -> Result<Vec<&'static Rule>, String> {
    let mut rules = Vec::new();
    for word in words {
        let before = rules.len();
        rules.extend(all.clone().filter(|rule| matches(word, rule.code, rule.name)));
        if rules.len() == before {
            return Err(format!("unknown code \"{word}\""));
        }
    }
    Ok(rules)
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
