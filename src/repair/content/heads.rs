//! C220: a header that is not there is made from the file's name, its folder and its first records.

use std::io;

use crate::dialect::Dialect;
use crate::finding::Fix;
use crate::record::facts::{Kind, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::repair::edit::{Action, Edit};
use crate::repair::links::quoted;
use crate::repair::made;
use crate::repair::text::Splice;
use crate::session::Session;

/// The header of a pi session, the start record of a sid-code session.
pub(super) fn edits(session: &Session) -> io::Result<Vec<Edit>> {
    let first = session.facts.records.iter().find(|r| session.agent.is_node(r));
    let Some(first) = first else { return Ok(Vec::new()) };
    let text = reread::text(&session.source, first)?;
    let raw =
        |key: &str| Value::parse(&text).and_then(|v| v.get(key).map(|v| String::from_utf8_lossy(v.raw()).into_owned()));
    let time = raw("timestamp").unwrap_or_else(|| "null".to_owned());
    let stem = session.path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let mark = made::mark("C220");
    let line = match session.dialect {
        Dialect::Pi | Dialect::Openclaw => {
            // <time>_<id>.jsonl, or the id alone.
            let id = stem.split_once('_').map_or(stem.as_str(), |(_, id)| id);
            let id = if id.is_empty() { made::id(Dialect::Claude, b"", &text, "C220") } else { id.to_owned() };
            format!(
                r#"{{"type":"session","version":3,"id":{},"timestamp":{time},"cwd":{},{mark}}}"#,
                quoted(&id),
                quoted(&folder(session))
            )
        }
        Dialect::Sid => {
            let start = session.facts.records.iter().any(|r| r.kind == Kind::Start && r.has(flag::SESSION_ID));
            if start {
                return Ok(Vec::new());
            }
            // The first record of the chain names the start that is lost.
            let named = raw("parentUuid").filter(|p| p.starts_with('"') && p.len() > 2);
            let id = named.unwrap_or_else(|| quoted(&made::id(Dialect::Sid, stem.as_bytes(), &text, "C220")));
            let model = session
                .facts
                .records
                .iter()
                .find(|r| r.model != 0)
                .map(|r| session.facts.names.text(r.model))
                .unwrap_or_default();
            let cwd = session.facts.records.iter().find(|r| r.cwd != 0).map(|r| session.facts.names.text(r.cwd));
            let cwd = cwd.map(|c| format!(r#""cwd":{},"#, quoted(&c))).unwrap_or_default();
            format!(
                r#"{{"type":"session_start","version":"3.0","schemaCompat":"claude-code-like/v3","sessionId":{},"model":{},"provider":"unknown",{cwd}"timestamp":{time},"uuid":{id},"parentUuid":null,{mark}}}"#,
                quoted(&stem),
                quoted(&model)
            )
        }
        Dialect::Claude => return Ok(Vec::new()),
    };
    let mut edits = vec![
        Edit::new("C220", Fix::Content, Action::InsertRecord, 0, vec![Splice::insert(0, format!("{line}\n"))])
            .reason("made from the file's name and its first record"),
    ];
    // A root that named nothing hangs below the new start.
    if session.dialect == Dialect::Sid && first.parent.is_none() {
        let id = Value::parse(line.as_bytes())
            .and_then(|v| v.get("uuid").map(|v| String::from_utf8_lossy(v.raw()).into_owned()))
            .unwrap_or_default();
        let splice = crate::repair::links::set_member(&text, first.offset, "parentUuid", &id);
        edits.extend(splice.map(|s| {
            Edit::new("C220", Fix::Content, Action::SetParent, first.offset, vec![s]).reason("below the new start")
        }));
    }
    Ok(edits)
}

/// pi names the folder after the directory: `--home-ada-app--`. That cannot be undone in general; it is what is left.
fn folder(session: &Session) -> String {
    let name =
        session.path.parent().and_then(|p| p.file_name()).map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    match name.strip_prefix("--").and_then(|n| n.strip_suffix("--")) {
        Some(inner) => format!("/{}", inner.replace('-', "/")),
        None => "/".to_owned(),
    }
}
