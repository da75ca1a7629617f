//! One session's chain as JSON. Lists may have a million rows: each is written while the file is read again, none is
//! held.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::envelope::{Each, Head, IdField, PathField};
use super::finding_json::{FindingJson, Under, findings};
use super::json;
use crate::finding::Finding;
use crate::record::reread::Reread;
use crate::rules::baseline::Baseline;
use crate::session::Session;

/// What the report is made of.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The session.
    pub session: &'a Session,
    /// What the rules found in it.
    pub findings: &'a [Finding],
    /// Its path below its store.
    pub below: &'a Path,
    /// When it was taken, in milliseconds since 1970.
    pub taken_at: i64,
}

#[derive(Serialize)]
struct Document<'a, H: Serialize, L: Serialize, A: Serialize, M: Serialize> {
    #[serde(flatten)]
    head: Head,
    #[serde(flatten)]
    path: PathField,
    dialect: &'static str,
    mode: &'static str,
    loader: &'static str,
    heads: H,
    leaves: L,
    leaf: Option<PlaceJson>,
    adopted: A,
    messages: M,
    findings: Vec<FindingJson<'a>>,
}

/// A record by line and id.
#[derive(Serialize)]
struct PlaceJson {
    line: u32,
    #[serde(flatten)]
    id: IdField,
}

#[derive(Serialize)]
struct AdoptedJson {
    line: u32,
    #[serde(flatten)]
    id: IdField,
    #[serde(rename = "type")]
    type_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
}

#[derive(Serialize)]
struct MessageJson {
    line: u32,
    #[serde(flatten)]
    id: IdField,
    role: Option<String>,
}

/// Writes the document.
///
/// # Errors
/// Whatever the writer says.
pub fn document(writer: impl Write, report: Report<'_>) -> io::Result<()> {
    let session = report.session;
    let reread = RefCell::new(Reread::new(&session.source, session.dialect));
    // Each answer is taken before the next is asked for: two borrows at once would be a defect.
    let id = |n: u32| {
        let id = reread.borrow_mut().id(session.record(n));
        IdField::from(id.as_ref())
    };
    let type_name = |n: u32| reread.borrow_mut().type_name(session.record(n));
    let role = |n: u32| reread.borrow_mut().role(session.record(n));
    let place = |n: u32| PlaceJson { line: session.record(n).line, id: id(n) };
    let (heads, leaves) = (session.graph.heads(&session.facts), session.graph.leaves(&session.facts));
    let under = Under { path: &session.path, below: report.below, shape: session.shape };
    let document = Document {
        head: Head::new("chain", report.taken_at),
        path: PathField::from(session.path.as_path()),
        dialect: session.dialect.name(),
        mode: session.chain.mode.name(),
        loader: session.dialect.loader(),
        heads: Each(|| heads.iter().map(|&n| place(n))),
        leaves: Each(|| leaves.iter().map(|&n| place(n))),
        leaf: session.chain.leaf.map(place),
        adopted: Each(|| {
            session.chain.adopted.iter().map(|&n| AdoptedJson {
                line: session.record(n).line,
                id: id(n),
                type_name: type_name(n),
                role: role(n),
            })
        }),
        messages: Each(|| {
            session.chain.messages.iter().map(|&n| MessageJson {
                line: session.record(n).line,
                id: id(n),
                role: role(n),
            })
        }),
        findings: findings(report.findings, under, &Baseline::default()),
    };
    json::document(writer, &document)
}
