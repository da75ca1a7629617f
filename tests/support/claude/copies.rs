//! Sessions that were made from another one: forks by the SDK (new ids, and where each record came from) and background
//! copies (the same ids, under a new session).

use super::Session;
use super::session::Row;
use crate::support::time::iso;
use serde_json::{Value, json};
use std::collections::HashMap;

/// A fork as the SDK writes it: the records of the chain with new ids, progress rows left out, pointers inside
/// `compactMetadata` left as they were. Returns its id and its rows.
pub fn fork(source: &mut Session, at: i64) -> (String, Vec<Row>) {
    let rng = &mut source.rng;
    let id = rng.uuid();
    let old: Vec<&Row> = source.rows.iter().filter(|row| row.contains_key("uuid")).collect();
    let by_id: HashMap<&str, &Row> = old.iter().map(|row| (text(row, "uuid"), *row)).collect();
    let names: HashMap<String, String> = old.iter().map(|row| (text(row, "uuid").to_owned(), rng.uuid())).collect();
    let written: Vec<&&Row> = old.iter().filter(|row| row["type"] != "progress").collect();
    let mut rows: Vec<Row> = Vec::new();
    for (n, original) in written.iter().enumerate() {
        let mut parent = original["parentUuid"].as_str();
        while let Some(row) = parent.and_then(|p| by_id.get(p)).filter(|row| row["type"] == "progress") {
            parent = row["parentUuid"].as_str();
        }
        let mut row = (**original).clone();
        let me = text(original, "uuid");
        row.insert("uuid".into(), json!(names[me]));
        row.insert("parentUuid".into(), json!(parent.and_then(|p| names.get(p))));
        let logical = row.get("logicalParentUuid").and_then(Value::as_str).and_then(|l| names.get(l));
        row.insert("logicalParentUuid".into(), json!(logical));
        row.insert("sessionId".into(), json!(id));
        if n + 1 == written.len() {
            row.insert("timestamp".into(), json!(iso(at)));
        }
        row.insert("isSidechain".into(), json!(false));
        row.insert("forkedFrom".into(), json!({"sessionId": source.id, "messageUuid": me}));
        for name in ["teamName", "agentName", "slug", "sourceToolAssistantUUID"] {
            row.shift_remove(name);
        }
        rows.push(row);
    }
    let title = json!({"type": "custom-title", "sessionId": id, "customTitle": format!("{} (fork)", source.title),
        "uuid": rng.uuid(), "timestamp": iso(at)});
    rows.push(title.as_object().cloned().unwrap_or_default());
    (id, rows)
}

/// Rows as the SDK writes them: everything beyond ASCII is escaped.
pub fn ascii_lines(rows: &[Row]) -> Vec<u8> {
    let mut out = String::new();
    for row in rows {
        for c in Value::Object(row.clone()).to_string().chars() {
            if c.is_ascii() {
                out.push(c);
            } else {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
        out.push('\n');
    }
    out.into_bytes()
}

/// A session that goes on in the background: rows about the session and the snapshots first, then every record under its
/// old id, then its own rows.
pub fn background(source: &Session, at: i64) -> Session {
    let mut copy = source.clone();
    // Its ids must not be those that the source goes on to draw.
    copy.rng = crate::support::random::Rng::new(copy.rng.u64() ^ 0xb6);
    copy.id = copy.rng.uuid();
    copy.rows.clear();
    for (kind, name, value) in [("ai-title", "aiTitle", &copy.title), ("agent-name", "agentName", &copy.title)] {
        let row = json!({"type": kind, name: value, "sessionId": copy.id});
        copy.rows.extend(row.as_object().cloned());
    }
    copy.row(json!({"type": "mode", "mode": "normal", "sessionId": copy.id}));
    copy.row(json!({"type": "permission-mode", "permissionMode": "default", "sessionId": copy.id}));
    let snapshots = source.rows.iter().filter(|row| text(row, "type").starts_with("file-history"));
    copy.rows.extend(snapshots.cloned());
    for original in source.rows.iter().filter(|row| row.contains_key("uuid")) {
        let mut row = original.clone();
        row.insert("sessionId".into(), json!(copy.id));
        let slug = row.shift_remove("slug");
        row.insert("sessionKind".into(), json!("bg"));
        row.extend(slug.map(|slug| ("slug".to_owned(), slug)));
        copy.rows.push(row);
    }
    copy.kind = Some("bg");
    copy.clock = at;
    copy.history.clear();
    copy.agents.clear();
    copy.spilled.clear();
    copy
}

fn text<'a>(row: &'a Row, name: &str) -> &'a str {
    row.get(name).and_then(Value::as_str).unwrap_or_default()
}
