//! Laws of reading: no bytes whatever make it panic or lose count, for any agent. Random bytes, and real sessions cut at
//! any place, with any bit flipped, with lines dropped, doubled and glued.

use proptest::prelude::*;
use sid_audit::agents;
use sid_audit::identity::AgentId;
use sid_audit::rules::{self, Context, Examined};
use sid_audit::session::{Session, Shape};
use sid_audit::store::Source;
use sid_audit::store::meter::Meter;
use std::path::PathBuf;
use std::sync::OnceLock;

const AGENTS: [AgentId; 4] =
    [sid_audit::agents::SID, sid_audit::agents::CLAUDE, sid_audit::agents::PI, sid_audit::agents::OPENCLAW];

/// Reads and judges bytes as each agent's session, and holds the counts to each other.
fn judge(bytes: &[u8]) {
    for agent_id in AGENTS {
        for shape in [Shape::Main, Shape::Subagent, Shape::Legacy] {
            let source = Source::from_bytes(bytes);
            let path = PathBuf::from("5e55c0de-0000-4000-8000-000000000001.jsonl");
            let agent = agents::reader(agent_id, shape);
            let session = Session::read(path, source, agent, shape, &Meter::default()).unwrap();
            let facts = &session.facts;
            let kept = session.chain.adopted.iter().chain(&session.chain.messages);
            assert!(
                kept.copied().all(|n| (n as usize) < facts.records.len()),
                "{agent_id}: a record that is not there"
            );
            if shape != Shape::Legacy {
                let lines = facts.lines.physical;
                assert_eq!(
                    lines,
                    bytes.split(|b| *b == b'\n').count() as u64 - u64::from(bytes.is_empty() || bytes.ends_with(b"\n"))
                );
                let last = facts.records.last().map_or(0, |r| u64::from(r.line));
                assert!(last <= lines, "{agent_id}: line {last} of {lines}");
            }
            let examined = Examined::of(session, agent);
            let context = Context::new(&examined, false, 0, 20);
            let (findings, recovered) = rules::session_findings(&context);
            let resume = rules::resume::judge(&context, &findings, recovered.as_ref());
            assert!(resume.expected >= resume.loaded, "{agent_id}: more came back than was expected");
        }
    }
}

fn seeds() -> &'static Vec<Vec<u8>> {
    static SEEDS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let mut found = Vec::new();
        let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/demo")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "jsonl") {
                    found.push((path.clone(), std::fs::read(&path).unwrap()));
                }
            }
        }
        found.sort();
        assert!(found.len() > 5, "the demo has sessions");
        found.into_iter().map(|(_, bytes)| bytes).collect()
    })
}

#[test]
fn sessions_as_they_are() {
    seeds().iter().for_each(|bytes| judge(bytes));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        judge(&bytes);
    }

    #[test]
    fn any_json_like_bytes(text in r#"([{}\[\]",:\\ntfu0-9eE.+ \n\r-]|"uuid"|"parentUuid"|"type"|"user"|"message"|"content"|\\ud83d|null){0,120}"#) {
        judge(text.as_bytes());
    }

    #[test]
    fn a_session_cut_anywhere(seed in any::<prop::sample::Index>(), at in any::<prop::sample::Index>()) {
        let bytes = &seeds()[seed.index(seeds().len())];
        judge(&bytes[..at.index(bytes.len() + 1)]);
    }

    #[test]
    fn a_session_with_bits_flipped(seed in any::<prop::sample::Index>(), flips in proptest::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 1..6)) {
        let mut bytes = seeds()[seed.index(seeds().len())].clone();
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        judge(&bytes);
    }

    #[test]
    fn a_session_with_lines_out_of_place(seed in any::<prop::sample::Index>(), moves in proptest::collection::vec((0..4_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..5)) {
        let bytes = &seeds()[seed.index(seeds().len())];
        let mut lines: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        for (how, a, b) in moves {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            match how {
                0 if lines.len() > 1 => drop(lines.remove(a)),
                1 => lines.insert(b, lines[a].clone()),
                2 => lines.swap(a, b),
                _ => {
                    let tail = lines[b].clone();
                    lines[a].extend_from_slice(&tail);
                }
            }
        }
        judge(&lines.join(&b"\n"[..]));
    }
}
