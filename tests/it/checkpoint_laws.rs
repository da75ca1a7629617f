//! Laws of the file layer over random histories and random damage.

use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sid_audit::checkpoint::evict::{Quota, evict};
use sid_audit::checkpoint::model::{Index, IndexRead};
use sid_audit::checkpoint::read::ReadLimits;
use sid_audit::checkpoint::rebuild::{Limits, State, Truth, content_at};
use sid_audit::checkpoint::{Audit, Options};
use sid_audit::finding::Severity;
use sid_audit::rules::checkpoints::index_findings;
use sid_audit::store::Source;
use std::collections::HashMap;

const PATHS: [&str; 3] = ["/work/a.txt", "/work/b \u{1f600}.txt", "/work/c.txt"];
const WORDS: [&str; 8] = ["alpha", "", "\"q\" \\", "\ttab", "\u{65e5}\u{672c}", "\u{2028}", "end\r", "\u{1f600}\u{0}"];

/// What a history is made of: for each snapshot the files that it takes, and how they are changed then.
type Story = Vec<Vec<(usize, Vec<(usize, usize)>)>>;

fn stories() -> impl Strategy<Value = Story> {
    let edit = (0..40_usize, 0..WORDS.len() * 3);
    let file = (0..PATHS.len(), prop::collection::vec(edit, 1..5));
    prop::collection::vec(prop::collection::vec(file, 1..3), 1..14)
}

fn operations(old: &str, new: &str) -> Value {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let mut ops = Vec::new();
    for op in similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new) {
        let (tag, from, to) = op.as_tag_tuple();
        let (removed, added) = (&old[from], &new[to]);
        match tag {
            similar::DiffTag::Equal => ops.push(json!({"type": "keep", "lines": removed})),
            _ => {
                if !removed.is_empty() {
                    ops.push(json!({"type": "remove", "lines": removed}));
                }
                if !added.is_empty() {
                    ops.push(json!({"type": "add", "lines": added}));
                }
            }
        }
    }
    json!(ops)
}

/// The index that the agent would keep of a story, and the text of each file at each of its entries.
fn index_of(story: &Story) -> (Value, HashMap<(String, &'static str), String>) {
    let mut now: HashMap<&str, String> = HashMap::new();
    let mut stored: HashMap<&str, String> = HashMap::new();
    let mut texts = HashMap::new();
    let mut snapshots = Vec::new();
    let mut latest = serde_json::Map::new();
    for (n, files) in story.iter().enumerate() {
        let id = format!("s{}", n + 1);
        let mut entries = Vec::new();
        let mut taken: Vec<&str> = Vec::new();
        for (path, edits) in files {
            let path = PATHS[*path];
            if taken.contains(&path) {
                continue;
            }
            taken.push(path);
            let text = now.entry(path).or_default();
            match stored.get(path) {
                None => {
                    entries.push(json!({"filePath": path, "existedBefore": true, "type": "full", "content": text,
                        "compressed": false}));
                    latest.insert(path.into(), json!(id));
                }
                Some(old) if old != text => entries
                    .push(json!({"filePath": path, "existedBefore": true, "type": "diff",
                    "diff": {"ops": operations(old, text)}})),
                Some(_) => {}
            }
            texts.insert((id.clone(), path), text.clone());
            stored.insert(path, text.clone());
            let mut lines: Vec<&str> = text.split('\n').collect();
            for (at, word) in edits {
                let at = at % (lines.len() + 1);
                match word / WORDS.len() {
                    0 => lines.insert(at, WORDS[word % WORDS.len()]),
                    1 if at < lines.len() => lines[at] = WORDS[word % WORDS.len()],
                    _ if at < lines.len() && lines.len() > 1 => drop(lines.remove(at)),
                    _ => {}
                }
            }
            let changed = lines.join("\n");
            now.insert(path, changed);
        }
        if !entries.is_empty() {
            snapshots.push(json!({"id": id, "timestamp": 1_772_355_600_000_u64 + n as u64, "toolName": "edit",
                "toolSummary": "", "files": entries}));
        }
    }
    let index = json!({"sessionId": "law", "createdAt": 1, "nextId": story.len() + 1, "snapshots": snapshots,
        "latestFullMap": latest});
    (index, texts)
}

fn read(bytes: &[u8]) -> (Index, Source) {
    let source = Source::from_bytes(bytes);
    match Index::read(&source, None).unwrap() {
        IndexRead::Readable(index) => (index, source),
        other => panic!("{other:?}"),
    }
}

fn verify() -> Options {
    Options { verify: true, ..Options::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_text_comes_back_and_nothing_stands_against_it(story in stories()) {
        let (index, texts) = index_of(&story);
        let source = Source::from_bytes(serde_json::to_vec_pretty(&index).unwrap());
        let audit = Audit::of(&source, Some("law"), &verify()).unwrap();
        for (file, path) in (0_u32..).zip(&audit.index.files) {
            for step in &audit.steps[file as usize] {
                let id = audit.index.snapshots[step.position as usize].id.lossy();
                let text = &texts[&(id, PATHS[PATHS.iter().position(|p| *p == path.lossy()).unwrap()])];
                let State::Bytes(digest) = step.state else { panic!("{:?}", step.state) };
                let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
                prop_assert_eq!(digest.sha256, hash);
                prop_assert_eq!(step.truth, Truth::Rebuilt);
                let content = content_at(&audit.index, &source, file, step.position, audit.limits);
                prop_assert_eq!(content.rebuilt.unwrap().unwrap(), text.as_bytes());
            }
        }
        let loud: Vec<_> = index_findings(&audit, 9).into_iter().filter(|f| f.severity > Severity::Info).collect();
        prop_assert!(loud.is_empty(), "{loud:?}");
    }

    #[test]
    fn eviction_keeps_what_it_keeps(story in stories(), per_file in 1..6_usize, part in 1..4_u64, keep in 1..6_usize) {
        let bytes = serde_json::to_vec_pretty(&index_of(&story).0).unwrap();
        let (index, source) = read(&bytes);
        let quota = Quota { per_file, bytes: index.bytes / part, keep };
        let evicted = evict(&index, &source, quota, Limits::default());
        let rendered = evicted.render(&index, &source).unwrap().unwrap();
        let before = Audit::judge(IndexRead::Readable(index), &source, &verify());
        let (index_after, source_after) = read(&rendered);
        let after = Audit::judge(IndexRead::Readable(index_after), &source_after, &verify());
        prop_assert!(index_findings(&after, 9).iter().all(|f| f.severity == Severity::Info));
        prop_assert_eq!(evicted.kept.len(), after.index.snapshots.len());
        for (file, path) in (0_u32..).zip(&after.index.files) {
            prop_assert!(after.index.entries_of(file).len() <= per_file);
            let old = before.index.file(path.as_bytes()).unwrap();
            let first = after.index.entries_of(file)[0].0;
            for position in first..after.index.snapshots.len() as u32 {
                let id = &after.index.snapshots[position as usize].id;
                prop_assert_eq!(after.state_at(file, id), before.state_at(old, id));
            }
        }
        // Evicting again changes nothing, unless the new lookup of full copies made the index larger than was reckoned: the
        // agent, too, measures with the old one.
        if rendered.len() as u64 <= quota.bytes {
            let again = evict(&after.index, &source_after, quota, Limits::default());
            prop_assert!(again.anchored.is_empty() && again.kept.len() == evicted.kept.len(), "{:?}", again.notes);
        }
    }

    #[test]
    fn a_cut_index_is_salvaged_up_to_the_cut(story in stories(), part in 0.0..1.0_f64) {
        let bytes = serde_json::to_vec_pretty(&index_of(&story).0).unwrap();
        let (whole, _) = read(&bytes);
        let cut = (bytes.len() as f64 * part) as usize;
        let source = Source::from_bytes(&bytes[..cut]);
        let audit = Audit::of(&source, None, &verify()).unwrap();
        prop_assert!(!audit.agent_sees());
        let before_cut = whole.snapshots.iter().filter(|s| s.span.offset + s.span.length <= cut as u64).count();
        prop_assert_eq!(&audit.index.snapshots[..], &whole.snapshots[..before_cut]);
        prop_assert!(audit.steps.iter().flatten().all(|step| matches!(step.state, State::Bytes(_))));
        prop_assert_eq!(index_findings(&audit, 9)[0].rule.code, "K801");
        serde_json::to_vec(&audit.report(true)).unwrap();
    }

    #[test]
    fn the_size_of_the_window_does_not_matter(story in stories(), chunk in 1..200_usize) {
        let bytes = serde_json::to_vec_pretty(&index_of(&story).0).unwrap();
        let source = Source::from_bytes(&bytes[..]);
        let limits = ReadLimits { chunk, ..ReadLimits::default() };
        let small = Index::read_within(&source, Some("law"), limits).unwrap();
        let large = Index::read(&source, Some("law")).unwrap();
        prop_assert_eq!(format!("{small:?}").len(), format!("{large:?}").len());
        let (IndexRead::Readable(small), IndexRead::Readable(large)) = (small, large) else { panic!() };
        prop_assert_eq!(small.snapshots, large.snapshots);
        prop_assert_eq!(small.entries, large.entries);
    }

    #[test]
    fn damage_never_panics(story in stories(), places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..6)) {
        let mut bytes = serde_json::to_vec(&index_of(&story).0).unwrap();
        for (at, byte, how) in places {
            let at = at.index(bytes.len().max(1)).min(bytes.len());
            match how {
                0 if at < bytes.len() => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 if at < bytes.len() => drop(bytes.remove(at)),
                _ => {
                    let word = [&b"null"[..], b"[]", b"{}", b"\"x\"", b"7"][usize::from(byte) % 5];
                    bytes.splice(at..at, word.iter().copied());
                }
            }
        }
        let source = Source::from_bytes(bytes);
        let audit = Audit::of(&source, Some("law"), &verify()).unwrap();
        index_findings(&audit, 3);
        serde_json::to_vec(&audit.report(true)).unwrap();
        let quota = Quota { per_file: 2, bytes: 100, keep: 2 };
        let evicted = evict(&audit.index, &source, quota, Limits::default());
        evicted.render(&audit.index, &source).unwrap();
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let source = Source::from_bytes(bytes);
        let audit = Audit::of(&source, None, &Options::default()).unwrap();
        index_findings(&audit, 3);
        serde_json::to_vec(&audit.report(false)).unwrap();
    }
}
