//! What holds of every file of a store before its figures are believed: one start, one root, an id on every record. Forks,
//! older formats and sidechains need not keep it; they are counted by why.

use std::collections::BTreeMap;

use super::agent::Metering;
use crate::record::facts::{Kind, Record, flag};
use crate::session::{Session, Shape};

/// What should hold of every session file of an agent, counted: where it does not, the file is named.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// Files that were looked at.
    pub expected: u64,
    /// Files of which it holds.
    pub found: u64,
    /// The others, by number; at most [`EXCEPTIONS`].
    pub exceptions: Vec<u32>,
    /// How many more there are.
    pub more: u64,
    /// Files that need not keep it, by why.
    pub exempt: BTreeMap<&'static str, u64>,
}

/// How many exceptions of one check are named.
pub const EXCEPTIONS: usize = 20;

impl Check {
    fn look(&mut self, file: u32, holds: bool) {
        self.expected += 1;
        if holds {
            self.found += 1;
        } else {
            self.exceptions.push(file);
        }
    }

    fn merge(&mut self, other: &Check) {
        self.expected += other.expected;
        self.found += other.found;
        self.more += other.more;
        self.exceptions.extend(&other.exceptions);
        for (why, n) in &other.exempt {
            *self.exempt.entry(why).or_default() += n;
        }
    }
}

/// The checks of a store before its figures are believed.
#[derive(Clone, Debug, Default)]
pub struct SelfCheck {
    checks: BTreeMap<&'static str, Check>,
}

/// The checks in the order in which they are shown.
pub const CHECKS: [&str; 3] = ["one start record a file", "one root a file", "an id on every record"];

impl SelfCheck {
    /// Looks at a session.
    pub fn look(&mut self, file: u32, session: &Session, agent: &dyn Metering) {
        let why = match session.shape {
            Shape::Main if agent.is_older_format(session) => Some("older format"),
            Shape::Main => None,
            Shape::Sidechain | Shape::Subagent => Some("sidechain"),
            Shape::Legacy => Some("older format"),
        };
        if let Some(why) = why {
            for check in CHECKS {
                *self.check(check).exempt.entry(why).or_default() += 1;
            }
            return;
        }
        for (check, law) in CHECKS.into_iter().zip(agent.laws(session)) {
            match law {
                Law::Holds(holds) => self.check(check).look(file, holds),
                Law::NeedNot(why) => *self.check(check).exempt.entry(why).or_default() += 1,
            }
        }
    }

    fn check(&mut self, name: &'static str) -> &mut Check {
        self.checks.entry(name).or_default()
    }

    /// A check by its name.
    pub fn get(&self, name: &str) -> Option<&Check> {
        self.checks.get(name)
    }

    /// Adds others.
    pub fn merge(&mut self, other: &SelfCheck) {
        for (name, check) in &other.checks {
            self.checks.entry(name).or_default().merge(check);
        }
    }

    /// Puts exceptions in order and lets go of those that are not named.
    pub fn finish(&mut self) {
        for check in self.checks.values_mut() {
            check.exceptions.sort_unstable();
            check.more += check.exceptions.len().saturating_sub(EXCEPTIONS) as u64;
            check.exceptions.truncate(EXCEPTIONS);
        }
    }
}

/// What a check says of one file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Law {
    /// Whether it holds.
    Holds(bool),
    /// It need not hold there, and why.
    NeedNot(&'static str),
}

impl Law {
    /// Whether a session has one start record.
    pub fn one_start(session: &Session) -> Law {
        Law::Holds(session.facts.records.iter().filter(|r| r.kind == Kind::Start).count() == 1)
    }

    /// Whether each record of a session that should have an id has one.
    pub fn ids(session: &Session, should: impl Fn(&Record) -> bool) -> Law {
        Law::Holds(session.facts.records.iter().filter(|r| should(r)).all(|r| r.has(flag::ID_STRING)))
    }
}
