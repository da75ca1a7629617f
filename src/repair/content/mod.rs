//! Edits of the class `content`, and those of T and M that are of the class `links`: a message part is replaced or
//! leaves, or something is made up. What is answered is what the findings name; what the edit does is decided here.
//!
//! `array` splices content arrays, `lines` drops and inserts whole records and mends the links around them, `pairs`
//! answers calls and results, `messages` texts, thinking and media, `heads` a header that is not there.

mod array;
mod heads;
mod lines;
mod messages;
mod pairs;

use std::collections::BTreeMap;
use std::io;

use super::edit::Edit;
use crate::finding::{Fact, Finding, Severity};
use crate::request::Request;
use crate::rules::Examined;
use crate::session::Session;

/// The ways in which a code can be answered; the first that makes nothing worse is taken.
///
/// # Errors
/// When the session's bytes cannot be read again.
pub fn ways(
    Examined { session, request, .. }: &Examined,
    code: &'static str,
    findings: &[Finding],
    answer_orphans: bool,
) -> io::Result<Vec<Vec<Edit>>> {
    let targets = Targets::new(session, code, findings);
    let edits = match code {
        "C220" => heads::edits(session)?,
        "T301" | "T302" => match pairs::reunited(session, request, code)? {
            edits if !edits.is_empty() => edits,
            _ => orphans(session, request, code, &targets, answer_orphans)?,
        },
        "T304" | "T306" | "T309" => pairs::drop_blocks(session, code, &targets)?,
        "T303" => pairs::rename(session, request, &targets)?,
        "T305" => pairs::displaced(session, request, &targets)?,
        "T307" => pairs::wrap_inputs(session, &targets)?,
        "T308" => pairs::edit_out(session, &targets)?,
        _ if code.starts_with('M') => messages::edits(session, code, &targets)?,
        _ => Vec::new(),
    };
    let mut ways = vec![edits];
    if code.starts_with('M') {
        // Where that leaves what the API refuses, the record goes.
        ways.push(messages::without(session, code, &targets)?);
    }
    ways.retain(|way| !way.is_empty());
    Ok(ways)
}

/// Calls without a result and results without a call, where the other half is nowhere in the file.
fn orphans(
    session: &Session,
    request: &Request,
    code: &'static str,
    targets: &Targets,
    answer: bool,
) -> io::Result<Vec<Edit>> {
    let alone = pairs::alone(session, request, targets);
    match code {
        "T301" if answer => pairs::answer(session, &alone),
        _ => pairs::drop_blocks(session, code, &alone),
    }
}

/// The records that findings of one code are about, each with the places in its content.
struct Targets {
    by_record: BTreeMap<u32, Vec<usize>>,
}

impl Targets {
    fn new(session: &Session, code: &str, findings: &[Finding]) -> Self {
        // Records stand in file order; a finding names its record, or a stretch inside it.
        let records = &session.facts.records;
        let around = |offset: u64| {
            let n = records.partition_point(|r| r.offset <= offset).checked_sub(1)?;
            (offset < records[n].offset + u64::from(records[n].length).max(1)).then_some(n as u32)
        };
        let mut by_record: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for finding in findings.iter().filter(|f| f.rule.code == code && f.severity >= Severity::Warning) {
            let Some(n) = finding.place.offset.and_then(around) else { continue };
            let blocks = by_record.entry(n).or_default();
            for (name, value) in &finding.facts {
                if let ("block", Fact::Number(index)) = (*name, value) {
                    blocks.extend(usize::try_from(*index));
                }
            }
        }
        for blocks in by_record.values_mut() {
            blocks.sort_unstable();
            blocks.dedup();
        }
        Targets { by_record }
    }

    fn iter(&self) -> impl Iterator<Item = (u32, &[usize])> {
        self.by_record.iter().map(|(n, blocks)| (*n, blocks.as_slice()))
    }
}
