//! The families of rules, with those rules that more than one agent can break. The agents' own join them in
//! `agents::registry`.

use crate::finding::Rule;

/// Rules that look at the same thing.
#[derive(Debug)]
pub struct Family {
    /// What their codes begin with.
    pub letter: char,
    /// What they look at.
    pub title: &'static str,
    /// The rules.
    pub rules: Vec<&'static Rule>,
}

/// The families in order.
pub fn families() -> Vec<Family> {
    [
        ('L', "lines and bytes", super::lines::RULES),
        ('C', "the chain", super::chain::RULES),
        ('T', "tool calls and results", super::tools::RULES),
        ('M', "messages", super::messages::RULES),
        ('S', "sessions and stores", super::store::RULES),
        ('U', "usage", super::usage::RULES),
        ('F', "the field census", super::fields::RULES),
        ('K', "checkpoints", super::checkpoints::RULES),
    ]
    .into_iter()
    .map(|(letter, title, rules)| Family { letter, title, rules: rules.to_vec() })
    .collect()
}
