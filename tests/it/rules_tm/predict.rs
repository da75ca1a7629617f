//! Every file under `fixtures/predict/` against what sid-code 3f3215144f68 made of it when its own recovery ran on these
//! bytes: calls and results before and after cleaning, messages left, where it stopped, safe tails, messages shown.

use serde_json::{Value, json};
use sid_audit::agents;
use sid_audit::record::reread;
use sid_audit::request::Integrity;
use sid_audit::request::autopsy::call_id;
use sid_audit::request::{self, tail};
use sid_audit::rules::Examined;
use sid_audit::session::Shape;
use sid_audit::store::Source;
use sid_audit::store::meter::Meter;
use std::path::Path;

fn ids(Examined { session, request, .. }: &Examined, list: &[(u32, u32)]) -> Value {
    let of = |&(row, block): &(u32, u32)| {
        let n = request.rows[row as usize].record;
        let text = reread::text(&session.source, session.record(n)).unwrap();
        let b = request.blocks(&session.facts, n)[block as usize];
        call_id(
            request::content(&text).unwrap().items()[usize::from(b.index)],
            b.kind,
            agents::of(sid_audit::agents::SID),
        )
        .map(|t| t.lossy())
    };
    json!(list.iter().map(of).collect::<Vec<_>>())
}

fn predicted(examined: &Examined) -> Value {
    let Examined { session, request: sent, .. } = examined;
    let sets = |i: &Integrity| json!({"orphans": ids(examined, &i.orphans), "dangling": ids(examined, &i.dangling)});
    if sent.throws.is_some() {
        return json!({"throws": true});
    }
    let [stored, left] = sent.integrity.as_ref().unwrap();
    let start = |n: usize| tail::safe_tail(&session.facts, sent, n);
    json!({
        "stored": sets(stored), "sent": sets(left), "cleaned": sent.cleaned_count(),
        "interruption": sent.interruption.name(), "tools": sent.interruption.tools(&session.facts.names),
        "safe_tail": {"3": start(3), "10": start(10), "15": start(15)},
        "shown": tail::shown(&session.facts, sent, false),
    })
}

#[test]
fn a_resume_is_predicted_as_the_agent_does_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/predict");
    let mut seen = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".expect.json") || name.ends_with(".md") {
            continue;
        }
        let stem = name.rsplit_once('.').unwrap().0;
        let source = Source::open(&folder.join(format!("{stem}.expect.json"))).unwrap();
        let mut expected: Value = serde_json::from_slice(&source.read_range(0, source.size()).unwrap()).unwrap();
        if expected.get("throws").is_some() {
            expected = json!({"throws": true});
        }
        let shape = if name.ends_with(".json") { Shape::Legacy } else { Shape::Main };
        let source = Source::open(&path).unwrap();
        let examined =
            Examined::read(path, source, agents::of(sid_audit::agents::SID), shape, &Meter::default()).unwrap();
        assert_eq!(predicted(&examined), expected, "{name}");
        seen += 1;
    }
    assert!(seen >= 16, "{seen} files");
}
