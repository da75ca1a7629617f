//! Indexes made to cost memory or time, and shapes that only a person writes.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sid_audit::checkpoint::audit::Outcome;
use sid_audit::checkpoint::model::{Fate, Index, IndexRead, Layout};
use sid_audit::checkpoint::read::ReadLimits;
use sid_audit::checkpoint::rebuild::{Limits, State};
use sid_audit::checkpoint::text::Fault;
use sid_audit::checkpoint::{Audit, Options};
use sid_audit::record::json::Kind;
use sid_audit::rules::checkpoints::index_findings;
use sid_audit::store::Source;
use std::io::Write;
use std::time::{Duration, Instant};

fn packed(text: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut gz = GzEncoder::new(Vec::new(), Compression::default());
    gz.write_all(text).unwrap();
    let mut out = String::new();
    for three in gz.finish().unwrap().chunks(3) {
        let word = three.iter().fold(0_u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        for i in 0..4 {
            let six = ALPHABET[(word >> (18 - 6 * i) & 63) as usize] as char;
            out.push(if i <= three.len() { six } else { '=' });
        }
    }
    out
}

fn snapshot(n: usize, files: &Value) -> Value {
    json!({"id": format!("s{n}"), "timestamp": n, "toolName": "edit", "toolSummary": "", "files": files})
}

fn full(path: &str, content: &str, compressed: bool) -> Value {
    json!({"filePath": path, "existedBefore": true, "type": "full", "content": content, "compressed": compressed})
}

fn diff(path: &str, ops: &Value) -> Value {
    json!({"filePath": path, "existedBefore": true, "type": "diff", "diff": {"ops": ops}})
}

fn index(snapshots: &[Value]) -> Value {
    json!({"sessionId": "h", "createdAt": 1, "nextId": snapshots.len() + 1, "snapshots": snapshots})
}

fn audit(index: &Value, options: &Options) -> Audit {
    let source = Source::from_bytes(serde_json::to_vec(index).unwrap());
    Audit::of(&source, None, options).unwrap()
}

fn codes(audit: &Audit) -> Vec<&'static str> {
    index_findings(audit, 100).iter().map(|f| f.rule.code).collect()
}

fn small(entry: u64, index: u64) -> Options {
    Options { verify: true, limits: Limits { entry, index }, ..Options::default() }
}

#[test]
fn a_gzip_bomb_stops_at_the_cap_of_one_entry() {
    let bomb = packed(&vec![b'a'; 3 << 20]);
    let ops = json!([{"type": "add", "lines": ["x"]}]);
    let index = index(&[
        snapshot(1, &json!([full("/bomb", &bomb, true), full("/good", "text", false)])),
        snapshot(2, &json!([diff("/bomb", &ops)])),
    ]);
    let audit = audit(&index, &small(1 << 20, 1 << 30));
    assert_eq!(audit.state(0, 0), State::Failed(Fault::EntryCap));
    assert!(matches!(audit.state(1, 0), State::Bytes(_)));
    let findings = index_findings(&audit, 100);
    assert_eq!(findings[0].rule.code, "K805");
    assert!(findings[0].facts.iter().any(|(name, value)| *name == "limit" && *value == (1_u64 << 20).into()));
    // What the agent's undo would do is not guessed.
    assert_eq!(serde_json::to_value(audit.report(true)).unwrap()["undo_file"].get("/bomb"), None);
}

#[test]
fn many_bombs_stop_at_the_cap_of_the_index() {
    let bomb = packed(&vec![b'a'; 1 << 20]);
    let files: Vec<Value> = (0..40).map(|n| full(&format!("/{n}"), &bomb, true)).collect();
    let index = index(&[snapshot(1, &json!(files))]);
    for verify in [true, false] {
        let options = Options { verify, quick: 1 << 20, ..small(2 << 20, 8 << 20) };
        let audit = audit(&index, &options);
        assert!(audit.unpacked < 10 << 20, "{}", audit.unpacked);
        assert!(!audit.complete);
        assert!(codes(&audit).contains(&"K805"));
    }
}

#[test]
fn a_plain_scan_stops_rebuilding_and_still_checks_every_text() {
    let text = "line\n".repeat(1000);
    let mut damaged = packed(text.as_bytes());
    damaged.replace_range(40..44, "AAAA");
    let index = index(&[
        snapshot(1, &json!([full("/a", &packed(text.as_bytes()), true), full("/b", &packed(text.as_bytes()), true)])),
        snapshot(2, &json!([full("/c", &damaged, true), diff("/b", &json!([])), diff("/x", &json!([]))])),
    ]);
    let audit = audit(&index, &Options { quick: 100, ..Options::default() });
    assert!(!audit.complete);
    assert!(matches!(audit.state(0, 0), State::Bytes(_)));
    assert_eq!(audit.state(1, 1), State::Unknown);
    let found = codes(&audit);
    for code in ["K802", "K804", "K805"] {
        assert!(found.contains(&code), "{code} {found:?}");
    }
    let report = serde_json::to_value(audit.report(true)).unwrap();
    assert!(report["rebuilt"]["/b"].get("s1").is_none());
    assert_eq!(report["complete"], false);
}

#[test]
fn garbage_and_lies_are_told_apart() {
    let long = "word ".repeat(1000);
    let inner = packed(long.as_bytes());
    let keep = json!([{"type": "keep", "lines": [inner]}, {"type": "add", "lines": ["x"]}]);
    let index = index(&[
        snapshot(
            1,
            &json!([
                full("/garbage", "!!**!!", true),
                full("/really plain", &inner, false),
                full("/mislabelled", &inner, false),
                {"filePath": "/number", "existedBefore": true, "type": "full", "content": 7, "compressed": false},
            ]),
        ),
        snapshot(
            2,
            &json!([
                diff("/really plain", &keep),
                diff("/mislabelled", &json!([{"type": "keep", "lines": [long]}, {"type": "add", "lines": ["x"]}])),
            ]),
        ),
    ]);
    let audit = audit(&index, &Options::default());
    let undecodable: Vec<String> = index_findings(&audit, 100)
        .iter()
        .filter(|f| f.rule.code == "K805")
        .flat_map(|f| f.facts.iter().filter(|(name, _)| *name == "file").map(|(_, v)| format!("{v:?}")))
        .collect();
    assert_eq!(undecodable, ["Word(\"/garbage\")", "Word(\"/mislabelled\")", "Word(\"/number\")"]);
}

#[test]
fn what_is_no_index_is_named() {
    let stuck = Some(Fate::Stuck);
    let overwritten = Some(Fate::Overwritten);
    for (text, kind, fate) in [
        ("null", Kind::Null, overwritten),
        ("[]", Kind::Array, stuck),
        ("{}", Kind::Object, stuck),
        ("7", Kind::Number, stuck),
        (" \"x\" ", Kind::String, stuck),
        ("true", Kind::True, stuck),
        (r#"{"snapshots":{}}"#, Kind::Object, stuck),
        (r#"{"snapshots":0}"#, Kind::Object, stuck),
        (r#"{"files":{"/a":null}}"#, Kind::Object, overwritten),
        (r#"{"files":{"/a":{"entries":[null]}}}"#, Kind::Object, overwritten),
        (r#"{"files":{},"snapshots":7}"#, Kind::Object, stuck),
        (r#"{"files":{},"snapshots":null}"#, Kind::Object, None),
        (r#"{"files":[]}"#, Kind::Object, None),
        (r#"{"files":{},"snapshots":[]}"#, Kind::Object, None),
    ] {
        let source = Source::from_bytes(text);
        match (Index::read(&source, None).unwrap(), fate) {
            (IndexRead::NotAnIndex { kind: k, fate: f }, Some(fate)) => assert_eq!((k, f), (kind, fate), "{text}"),
            (IndexRead::Readable(_), None) => {}
            (other, _) => panic!("{text}: {other:?}"),
        }
    }
    for text in ["", " \n", "\u{feff}"] {
        assert!(matches!(Index::read(&Source::from_bytes(text), None).unwrap(), IndexRead::Empty), "{text:?}");
    }
    for text in ["{", "\0\0\0", r#"{"snapshots":[]} x"#, r#"{"a":1,}"#, "nul", r#"{"snapshots":[{"id":"s1"},]}"#] {
        assert!(matches!(Index::read(&Source::from_bytes(text), None).unwrap(), IndexRead::Torn { .. }), "{text:?}");
    }
    // A mark at the start is stepped over, and of a repeated key the last value counts.
    let twice = "\u{feff}{\"snapshots\":[null,null],\"snapshots\":[{\"id\":\"s1\",\"files\":[]}]}";
    let IndexRead::Readable(index) = Index::read(&Source::from_bytes(twice), None).unwrap() else { panic!() };
    assert_eq!(index.snapshots.len(), 1);
}

#[test]
fn an_old_index_is_migrated_by_the_agents_rule() {
    let entry = |path: &str, time: u64, content: &str| json!({"filePath": path, "timestamp": time, "type": "full", "content": content, "compressed": false});
    let old = json!({"sessionId": "h", "createdAt": 1, "files": {
        "/b": {"filePath": "/b", "entries": [entry("/b", 10, "b1"), entry("/b", 30, "b2")]},
        "/a": {"filePath": "/a", "entries": [entry("/a", 20, "a1"), entry("/a", 30, "")]},
        "7": {"filePath": "/seven", "entries": [entry("/seven", 5, "s")]},
    }});
    let audit = audit(&old, &Options::default());
    assert_eq!(audit.index.layout, Layout::Legacy);
    let ids: Vec<String> = audit.index.snapshots.iter().map(|s| s.id.lossy()).collect();
    // Keys that are array indices come first; ids are given before the list is sorted by time.
    assert_eq!(ids, ["s1", "s2", "s4", "s3", "s5"]);
    assert_eq!(audit.index.next_id.unwrap().value, 6.0);
    let report = serde_json::to_value(audit.report(true)).unwrap();
    assert_eq!(report["undo"]["files"]["/a"]["would"], "delete");
    assert_eq!(codes(&audit), ["K809"]);
}

#[test]
fn an_index_that_is_too_large_is_refused_in_words() {
    let text = serde_json::to_vec(&index(&[snapshot(1, &json!([full("/a", &"x".repeat(5000), false)]))])).unwrap();
    let read = |limits| Index::read_within(&Source::from_bytes(&text[..]), None, limits).unwrap();
    let limits = ReadLimits { piece: 1000, chunk: 100, ..ReadLimits::default() };
    assert!(matches!(read(limits), IndexRead::TooLarge { what: "one snapshot has more bytes", limit: 1000 }));
    let limits = ReadLimits { pieces: 0, ..ReadLimits::default() };
    assert!(matches!(read(limits), IndexRead::TooLarge { what: "it has more snapshots and entries", limit: 0 }));
    let source = Source::from_bytes(&text[..]);
    let audit = Audit::judge(read(limits), &source, &Options::default());
    assert!(matches!(audit.outcome, Outcome::TooLarge { .. }));
    assert!(codes(&audit).is_empty());
}

fn long_history(snapshots: usize) -> Vec<u8> {
    let mut out = b"{\"sessionId\":\"h\",\"createdAt\":1,\"snapshots\":[".to_vec();
    for n in 1..=snapshots {
        let entry = match n {
            1 => full("/a", "line 0\nend", false),
            _ => diff(
                "/a",
                &json!([{"type": "remove", "lines": [format!("line {}", n - 2)]},
                    {"type": "add", "lines": [format!("line {}", n - 1)]}, {"type": "keep", "lines": ["end"]}]),
            ),
        };
        serde_json::to_writer(&mut out, &snapshot(n, &json!([entry]))).unwrap();
        out.push(if n == snapshots { b']' } else { b',' });
    }
    out.extend_from_slice(format!(",\"nextId\":{}}}", snapshots + 1).as_bytes());
    out
}

#[test]
fn a_hundred_thousand_snapshots_take_linear_time() {
    let run = |snapshots: usize| -> Duration {
        let source = Source::from_bytes(long_history(snapshots));
        let start = Instant::now();
        let audit = Audit::of(&source, None, &Options { verify: true, ..Options::default() }).unwrap();
        assert!(audit.complete);
        assert_eq!(codes(&audit), ["K811", "K813"]);
        let mut sink = Vec::new();
        serde_json::to_writer(&mut sink, &audit.report(true)).unwrap();
        assert!(sink.len() > snapshots * 100);
        start.elapsed()
    };
    let short = run(5_000).max(Duration::from_millis(20));
    let long = run(100_000);
    // Twenty times as many; a quadratic way would take four hundred times as long.
    assert!(long < short * 100, "{short:?} {long:?}");
}

#[test]
fn many_files_without_a_copy_take_linear_time() {
    let ops = json!([{"type": "keep", "lines": ["x"]}]);
    let mut snapshots = Vec::new();
    for n in 1..=3000 {
        snapshots.push(snapshot(n, &json!([diff("/a", &ops), diff(&format!("/{n}"), &ops)])));
    }
    let audit = audit(&index(&snapshots), &Options::default());
    let findings = index_findings(&audit, 50);
    let orphans: Vec<_> = findings.iter().filter(|f| f.rule.code == "K802").collect();
    assert_eq!((orphans.len(), orphans.last().unwrap().more), (50, Some(2951)));
    assert_eq!(orphans[0].count, None);
    let report = serde_json::to_value(audit.report(true)).unwrap();
    // Nine million pairs are not written out.
    assert_eq!(report["thinned"], true);
    assert_eq!(report["restore"].as_object().unwrap().len(), 10);
}
