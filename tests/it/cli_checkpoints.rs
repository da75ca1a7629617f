//! `checkpoints` (and `scan` on the same homes) over indexes that should break it, and what is known already.

use crate::support;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use support::run::{Outcome, Run};
use support::temp::{Temp, write};

/// What an index may take in memory: a window, its places, one text twice.
const USUAL: u64 = 64 << 20;
/// The same with the largest text that one entry may unpack to (256 MiB), or the most snapshots that are held (two million).
const AT_THE_CAPS: u64 = 320 << 20;

fn run(args: &[&str], path: &Path) -> Outcome {
    Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).args(args).arg(path).go()
}

fn full_size() -> bool {
    std::env::var_os("SID_AUDIT_FULL").is_some()
}

const SESSION: &str = "20260301-120000-0000abcd";

fn index_file(temp: &Temp) -> PathBuf {
    let file = temp.join(".sid-code/checkpoints").join(SESSION).join("index.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    file
}

/// What both commands say of an index: the codes, or what could not be read. Neither may fail on it, nor take much memory.
fn judged(temp: &Temp, most: u64) -> Vec<String> {
    let home = temp.join(".sid-code");
    let mut all: Vec<Vec<String>> = Vec::new();
    for args in [&["checkpoints", "--verify", "--format", "json"][..], &["scan", "--format", "json"]] {
        let outcome = run(args, &home);
        assert!(outcome.peak < most, "{args:?}: {} bytes", outcome.peak);
        let report = outcome.json();
        let indexes = report.get("indexes").or(report.get("checkpoints")).unwrap().as_array().unwrap();
        let findings = indexes.iter().flat_map(|index| index["findings"].as_array().unwrap());
        let mut said: Vec<String> = findings.map(|f| f["code"].as_str().unwrap().to_owned()).collect();
        let errors = report["errors"].as_array().unwrap();
        said.extend(errors.iter().map(|e| e["message"].as_str().unwrap().to_owned()));
        let wanted = match (errors.is_empty(), said.iter().any(|c| ["K801", "K802", "K805"].contains(&c.as_str()))) {
            (false, _) => 2,
            (true, true) => 1,
            (true, false) => 0,
        };
        assert_eq!(outcome.status, Some(wanted), "{said:?}");
        said.dedup();
        all.push(said);
    }
    assert_eq!(all[0], all[1], "checkpoints and scan");
    all.swap_remove(0)
}

#[test]
fn what_is_no_index_is_a_finding() {
    let temp = Temp::new("cli-checkpoints-odd");
    let file = index_file(&temp);
    for text in ["", "null", "[]", "{}", "7", "{\"snapshots\":[{\"id\":\"s1\"", "\0\0\0\0"] {
        write(&file, text);
        assert_eq!(judged(&temp, USUAL), ["K801"], "{text:?}");
    }
}

#[test]
fn garbage_and_a_bomb_are_findings() {
    let temp = Temp::new("cli-checkpoints-bomb");
    let file = index_file(&temp);
    let entry = |content: &str| {
        json!({"sessionId": SESSION, "createdAt": 1, "nextId": 2, "snapshots": [{"id": "s1", "timestamp": 1, "toolName": "edit",
            "toolSummary": "", "files": [
                {"filePath": "/a", "existedBefore": true, "type": "full", "content": content, "compressed": true}]}]})
    };
    write(&file, entry("!!** no base64 **!!").to_string());
    assert!(judged(&temp, USUAL).contains(&"K805".to_owned()));
    // 300 MiB of zeros in 300 KB.
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![0_u8; 1 << 20];
    for _ in 0..300 {
        packed.write_all(&zeros).unwrap();
    }
    write(&file, entry(&STANDARD.encode(packed.finish().unwrap())).to_string());
    let found = judged(&temp, AT_THE_CAPS);
    assert!(found.contains(&"K805".to_owned()), "{found:?}");
}

/// An index of this many snapshots, each written by `snapshot`.
fn long(file: &Path, snapshots: u64, mut snapshot: impl FnMut(&mut dyn Write, u64)) {
    let mut out = BufWriter::new(File::create(file).unwrap());
    write!(out, "{{\"sessionId\":\"{SESSION}\",\"createdAt\":1,\"nextId\":{},\"snapshots\":[", snapshots + 1).unwrap();
    for n in 1..=snapshots {
        snapshot(&mut out, n);
        out.write_all(if n == snapshots { b"]}" } else { b"," }).unwrap();
    }
    out.flush().unwrap();
}

#[test]
fn a_hundred_thousand_snapshots_of_one_file() {
    let temp = Temp::new("cli-checkpoints-many");
    let file = index_file(&temp);
    long(&file, 100_000, |out, n| {
        let (kind, body) = match n {
            1 => ("full", "\"content\":\"line 1\\nend\",\"compressed\":false".to_owned()),
            n => (
                "diff",
                format!(
                    "\"diff\":{{\"ops\":[{{\"type\":\"remove\",\"lines\":[\"line {}\"]}},\
                     {{\"type\":\"add\",\"lines\":[\"line {n}\"]}},{{\"type\":\"keep\",\"lines\":[\"end\"]}}]}}",
                    n - 1
                ),
            ),
        };
        write!(
            out,
            "{{\"id\":\"s{n}\",\"timestamp\":{n},\"toolName\":\"edit\",\"toolSummary\":\"\",\"files\":[\
             {{\"filePath\":\"/a\",\"existedBefore\":true,\"type\":\"{kind}\",{body}}}]}}"
        )
        .unwrap();
    });
    let found = judged(&temp, USUAL);
    assert!(found.iter().all(|code| ["K811", "K813", "K819"].contains(&code.as_str())), "{found:?}");
}

#[test]
fn an_index_of_hundreds_of_megabytes() {
    let temp = Temp::new("cli-checkpoints-large");
    let file = index_file(&temp);
    let line = "a line of a file that an agent changes, not very long\\n".repeat(1 << 12);
    let wanted: u64 = if full_size() { 800 << 20 } else { 80 << 20 };
    long(&file, wanted / line.len() as u64, |out, n| {
        write!(
            out,
            "{{\"id\":\"s{n}\",\"timestamp\":{n},\"toolName\":\"edit\",\"toolSummary\":\"\",\"files\":[\
             {{\"filePath\":\"/{}\",\"existedBefore\":true,\"type\":\"full\",\"content\":\"{line}\",\"compressed\":false}}]}}",
            n % 40
        )
        .unwrap();
    });
    assert!(file.metadata().unwrap().len() > wanted * 9 / 10);
    let found = judged(&temp, USUAL);
    assert!(found.iter().all(|code| ["K811", "K813"].contains(&code.as_str())), "{found:?}");
}

#[test]
fn an_index_beyond_the_limit_is_an_error_and_never_silent() {
    let temp = Temp::new("cli-checkpoints-limit");
    let file = index_file(&temp);
    long(&file, 2_000_001, |out, _| out.write_all(b"{\"id\":\"s1\",\"files\":[]}").unwrap());
    let said = judged(&temp, AT_THE_CAPS);
    assert_eq!(said, ["cannot be read: it has more snapshots and entries than the limit of 2000000"]);
    let page = run(&["checkpoints"], &file);
    assert_eq!(page.status, Some(2));
    assert!(page.text().contains("more snapshots and entries than the limit"), "{}", page.text());
    let quiet = run(&["checkpoints", "--quiet"], &file);
    assert!(String::from_utf8_lossy(&quiet.stderr).contains("than the limit"), "a report that nobody sees");
    let shown = run(&["checkpoints", "--show", "s1", "/a"], &file);
    assert_eq!(shown.status, Some(2));
    assert!(String::from_utf8_lossy(&shown.stderr).contains("than the limit of 2000000"));
}

#[test]
fn findings_of_a_baseline_are_shown_and_fail_no_run() {
    let temp = Temp::new("cli-checkpoints-baseline");
    write(&index_file(&temp), "null");
    let other = temp.join(".sid-code/checkpoints/20260301-120000-0000ffff/index.json");
    let baseline = temp.join("known.json");
    let home = temp.join(".sid-code");
    let with =
        |command: &str, option: &str| run(&[command, option, baseline.to_str().unwrap(), "--format", "json"], &home);
    assert_eq!(with("checkpoints", "--write-baseline").status, Some(1));
    let marks = |report: &Value| -> Vec<bool> {
        let all = report["indexes"].as_array().unwrap().iter().flat_map(|i| i["findings"].as_array().unwrap());
        all.map(|f| f["known"] == true).collect()
    };
    let known = with("checkpoints", "--baseline");
    assert_eq!((known.status, marks(&known.json())), (Some(0), vec![true]));
    // The same findings go by the same names in a scan, and the other way round.
    assert_eq!(with("scan", "--baseline").status, Some(0));
    assert_eq!(with("scan", "--write-baseline").status, Some(1));
    assert_eq!(with("checkpoints", "--baseline").status, Some(0));
    write(&other, "null");
    let more = with("checkpoints", "--baseline");
    assert_eq!((more.status, marks(&more.json())), (Some(1), vec![true, false]));
    // A baseline never lands in a store.
    let inside = home.join("known.json");
    assert_eq!(run(&["checkpoints", "--write-baseline", inside.to_str().unwrap()], &home).status, Some(2));
    assert!(!inside.exists());
}
