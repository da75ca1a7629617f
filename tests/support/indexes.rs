//! Checkpoint indexes as sid-code writes them, for the benchmark: pretty JSON, a full copy of each file at first and
//! differences after that, texts of more than 1024 units packed. About half of the entries are differences, as on a real
//! machine (256 of 537).

use super::random::Rng;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// Writes indexes of about so many bytes together into `checkpoints/` of a home; says how many bytes they have.
pub fn write_indexes(root: &Path, bytes: u64) -> u64 {
    let mut rng = Rng::new(11);
    let mut done = 0;
    while done < bytes {
        let id = format!("20260801-090000-{}", rng.hex(8));
        let index = index(&mut rng, &id);
        let text = serde_json::to_vec_pretty(&index).expect("a value of our own");
        super::temp::write(&root.join("checkpoints").join(&id).join("index.json"), &text);
        done += text.len() as u64;
    }
    done
}

struct Tracked {
    path: String,
    lines: Vec<String>,
    seen: bool,
}

fn index(rng: &mut Rng, id: &str) -> Value {
    let mut files: Vec<Tracked> = (0..rng.range(3, 12))
        .map(|n| {
            let lines = (rng.log_normal() * 120.0) as u64 + 2;
            let words = rng.range(2, 8);
            let lines = (0..lines.min(3_000)).map(|_| rng.prose(words)).collect();
            Tracked { path: format!("/home/dev/demo/src/module_{n}.rs"), lines, seen: false }
        })
        .collect();
    let mut latest = BTreeMap::new();
    let snapshots: Vec<Value> = (1..=rng.range(5, 40))
        .map(|n| {
            let at = rng.below(files.len() as u64) as usize;
            let file = &mut files[at];
            let entry = if file.seen { change(rng, file) } else { full(file) };
            if !file.seen {
                latest.insert(file.path.clone(), format!("s{n}"));
            }
            file.seen = true;
            json!({"id": format!("s{n}"), "timestamp": 1_785_542_400_000_u64 + n * 60_000, "toolName": "edit",
                "toolSummary": "edit", "files": [entry]})
        })
        .collect();
    json!({"sessionId": id, "createdAt": 1_785_542_400_000_u64, "nextId": snapshots.len() + 1, "snapshots": snapshots,
        "latestFullMap": latest})
}

fn full(file: &Tracked) -> Value {
    let text = file.lines.join("\n");
    let compressed = text.encode_utf16().count() > 1024;
    let content = if compressed {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(text.as_bytes()).expect("into memory");
        STANDARD.encode(packed.finish().expect("into memory"))
    } else {
        text
    };
    json!({"filePath": file.path, "existedBefore": true, "type": "full", "content": content, "compressed": compressed})
}

/// Some lines in the middle become others.
fn change(rng: &mut Rng, file: &mut Tracked) -> Value {
    let at = rng.below(file.lines.len() as u64) as usize;
    let gone = (rng.range(1, 5) as usize).min(file.lines.len() - at);
    let new: Vec<String> = (0..rng.range(1, 6)).map(|_| rng.prose(6)).collect();
    let old: Vec<String> = file.lines.splice(at..at + gone, new.iter().cloned()).collect();
    let (before, after) = (&file.lines[..at], &file.lines[at + new.len()..]);
    let op = |kind: &str, lines: &[String]| json!({"type": kind, "lines": lines});
    let all = [op("keep", before), op("remove", &old), op("add", &new), op("keep", after)];
    let ops: Vec<&Value> = all.iter().filter(|op| op["lines"] != json!([])).collect();
    json!({"filePath": file.path, "existedBefore": true, "type": "diff", "diff": {"ops": ops}})
}
