//! Every rule there is, in the order of the codes: those that many agents can break, and each agent's own. `explain`, the
//! man page, SARIF and the lists are made from it.

use std::sync::LazyLock;

use super::ALL;
use crate::finding::Rule;
use crate::rules::registry;
pub use crate::rules::registry::Family;

static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let mut families = registry::families();
    for rule in ALL.iter().flat_map(|agent| agent.rules()) {
        if let Some(family) = families.iter_mut().find(|family| rule.code.starts_with(family.letter)) {
            family.rules.push(rule);
        }
    }
    for family in &mut families {
        family.rules.sort_by_key(|rule| rule.code);
        // Two agents may share what is their own.
        family.rules.dedup_by_key(|rule| rule.code);
    }
    families
});

/// The families in order, with their rules.
pub fn families() -> &'static [Family] {
    &FAMILIES
}

/// All rules in the order of their codes.
pub fn all() -> impl Iterator<Item = &'static Rule> + Clone {
    families().iter().flat_map(|family| family.rules.iter().copied())
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
            let key = |r: &Rule| (families().iter().position(|f| r.code.starts_with(f.letter)), r.code);
            assert!(key(pair[0]) < key(pair[1]), "{} before {}", pair[0].code, pair[1].code);
        }
        for r in &rules {
            assert!(r.code.len() == 4 && r.code[1..].bytes().all(|b| b.is_ascii_digit()), "{}", r.code);
            assert!(r.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{}", r.name);
            assert_eq!(rules.iter().filter(|o| o.name == r.name).count(), 1, "{} is not the only one", r.name);
        }
    }

    #[test]
    fn every_own_rule_is_in_a_family() {
        let own = ALL.iter().flat_map(|agent| agent.rules());
        assert!(own.clone().count() > 0);
        for rule in own {
            assert!(find(rule.code).is_some_and(|known| std::ptr::eq(known, *rule)), "{}", rule.code);
        }
    }
}
