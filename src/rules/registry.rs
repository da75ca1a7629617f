//! Every rule there is, in the order of the codes. `explain`, the man page, SARIF and the lists are made from it.

use crate::finding::Rule;

/// The families in order, each with its letter, its title and its rules.
pub fn families() -> [(char, &'static str, &'static [&'static Rule]); 8] {
    [
        ('L', "lines and bytes", super::lines::RULES),
        ('C', "the chain", super::chain::RULES),
        ('T', "tool calls and results", super::tools::RULES),
        ('M', "messages", super::messages::RULES),
        ('S', "sessions and stores", super::store::RULES),
        ('U', "usage", super::usage::RULES),
        ('F', "the field census", super::census::RULES),
        ('K', "checkpoints", super::checkpoints::RULES),
    ]
}

/// All rules in the order of their codes.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    families().into_iter().flat_map(|(_, _, rules)| rules.iter().copied())
}

/// The rule with this code or name.
pub fn find(code: &str) -> Option<&'static Rule> {
    all().find(|r| r.code.eq_ignore_ascii_case(code) || r.name == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_names_are_kebab_case() {
        let rules: Vec<_> = all().collect();
        for pair in rules.windows(2) {
            let key = |r: &Rule| (families().iter().position(|f| r.code.starts_with(f.0)), r.code);
            assert!(key(pair[0]) < key(pair[1]), "{} before {}", pair[0].code, pair[1].code);
        }
        for r in &rules {
            assert!(r.code.len() == 4 && r.code[1..].bytes().all(|b| b.is_ascii_digit()), "{}", r.code);
            assert!(r.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{}", r.name);
            assert_eq!(rules.iter().filter(|o| o.name == r.name).count(), 1, "{} is not the only one", r.name);
        }
    }
}
