//! Every rule has its text, and every text has its rule.

use std::collections::BTreeSet;
use std::path::Path;

use sid_audit::agents;
use sid_audit::rules::registry;

#[test]
fn every_rule_has_a_text_under_each_heading() {
    let missing: Vec<String> = registry::all()
        .flat_map(|rule| {
            let doc = agents::doc(rule);
            let texts = [doc.what, doc.arises, doc.agent, doc.repair, doc.loses];
            let headings = ["what", "arises", "agent", "repair", "loses"].into_iter().zip(texts);
            let bad = headings.filter(|(_, text)| text.len() < "Nothing.".len() || !text.ends_with('.'));
            bad.map(|(heading, _)| format!("{} {heading}", rule.code)).collect::<Vec<_>>()
        })
        .collect();
    assert!(missing.is_empty(), "without a text: {missing:?}");
}

#[test]
fn every_text_belongs_to_a_rule() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let codes: BTreeSet<String> = registry::all().map(|rule| format!("{}.md", rule.code)).collect();
    let agents = std::fs::read_dir(src.join("agents")).unwrap().map(|entry| entry.unwrap().path());
    for folder in agents.chain([src.join("rules")]).map(|at| at.join("texts")).filter(|at| at.is_dir()) {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(codes.contains(&name), "{} holds {name}, which is no rule's", folder.display());
        }
    }
}
