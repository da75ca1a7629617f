//! One record and its neighbours, with what is called and answered there: what `chain --autopsy` lays out. Ids, places
//! and states, never a text.

use super::pairing::{Again, NONE, Pairing, State};
use super::{Request, content};
use crate::record::agent::{BlockField, Field, Records, Slot};
use crate::record::facts::{BlockKind, Kind};
use crate::record::{reread, value::Value};
use crate::session::Session;
use crate::text::Text;

/// How many records are shown on either side.
pub const AROUND: usize = 3;

/// One record of the window.
#[derive(Clone, Debug)]
pub struct Slab {
    /// The record.
    pub record: u32,
    /// Whether it is the one that was asked for.
    pub subject: bool,
    /// Whether the loader takes it.
    pub adopted: bool,
    /// Whether something of it would be sent.
    pub sent: bool,
    /// Its turn in the request; none off the chain.
    pub turn: Option<u32>,
    /// Its kind.
    pub kind: Kind,
    /// Its blocks.
    pub blocks: Vec<Part>,
}

/// One block.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is.
    pub kind: BlockKind,
    /// The call id of a call or result.
    pub call: Option<Text>,
    /// The tool's name.
    pub tool: String,
    /// How it is paired: a word.
    pub state: &'static str,
    /// The physical line of the other half.
    pub other: Option<u32>,
}

/// What stands around a line: the record on it with its neighbours, or, where the line holds no record, those before and
/// behind it in the file; then none of them is the one that was asked for.
pub fn around_line(session: &Session, request: &Request, pairing: &Pairing, line: u64) -> Vec<Slab> {
    let records = &session.facts.records;
    let at = records.partition_point(|r| u64::from(r.line) < line);
    match records.get(at) {
        Some(record) if u64::from(record.line) == line => around(session, request, pairing, at as u32),
        _ => {
            let order: Vec<u32> =
                (at.saturating_sub(AROUND)..(at + AROUND).min(records.len())).map(|n| n as u32).collect();
            slabs(session, request, pairing, &order, u32::MAX)
        }
    }
}

/// The record and what stands around it: by the loader's order where it is adopted, else by the file's.
pub fn around(session: &Session, request: &Request, pairing: &Pairing, record: u32) -> Vec<Slab> {
    let adopted = &session.chain.adopted;
    let order: Vec<u32> = match adopted.iter().position(|&n| n == record) {
        Some(at) => adopted[at.saturating_sub(AROUND)..(at + AROUND + 1).min(adopted.len())].to_vec(),
        None => {
            let end = (record as usize + AROUND + 1).min(session.facts.records.len());
            ((record as usize).saturating_sub(AROUND)..end).map(|n| n as u32).collect()
        }
    };
    slabs(session, request, pairing, &order, record)
}

fn slabs(session: &Session, request: &Request, pairing: &Pairing, order: &[u32], subject: u32) -> Vec<Slab> {
    let wanted: Vec<(u32, u32, u32)> = (0..)
        .zip(&request.rows)
        .filter(|(_, r)| order.contains(&r.record))
        .map(|(i, r)| (r.record, i, r.turn))
        .collect();
    order.iter().map(|&n| slab(session, request, pairing, n, subject, &wanted)).collect()
}

fn slab(
    session: &Session,
    request: &Request,
    pairing: &Pairing,
    n: u32,
    subject: u32,
    rows: &[(u32, u32, u32)],
) -> Slab {
    let row = rows.iter().find(|r| r.0 == n).map(|r| (r.1, r.2));
    let agent: &dyn Records = session.agent;
    let blocks = request.blocks(&session.facts, n);
    let text = reread::text(&session.source, session.record(n)).unwrap_or_default();
    let values = content(&text).map(|c| c.items()).unwrap_or_default();
    let parts = (0..).zip(blocks).map(|(place, b)| {
        let (state, other) = row.map_or(("", None), |(row, _)| state(session, request, pairing, row, place, b.kind));
        let call = match agent.is_result(session.record(n).kind) {
            true => answered(&text, agent),
            false => values.get(usize::from(b.index)).and_then(|v| call_id(*v, b.kind, agent)),
        };
        Part { kind: b.kind, call, tool: session.facts.names.text(b.name), state, other }
    });
    Slab {
        record: n,
        subject: n == subject,
        adopted: session.chain.adopted.contains(&n),
        sent: request.reaches(n),
        turn: row.map(|r| r.1),
        kind: session.record(n).kind,
        blocks: parts.collect(),
    }
}

/// The id of a call or result, as it stands in its block.
pub fn call_id(block: Value<'_>, kind: BlockKind, agent: &dyn Records) -> Option<Text> {
    let field = match kind {
        BlockKind::Call => BlockField::Id,
        BlockKind::Result => BlockField::Answers,
        _ => return None,
    };
    let members = block.members();
    let (_, id) = members.iter().rfind(|(key, _)| agent.keys().block.get(key.as_bytes()) == Some(&field))?;
    id.text()
}

/// The call that a message answers which is a result as a whole.
pub fn answered(text: &[u8], agent: &dyn Records) -> Option<Text> {
    let message = Value::parse(text)?.get("message")?;
    let is = |slot: &Slot| matches!(slot.field, Field::Answers);
    let members = message.members();
    let (_, call) = members.iter().rfind(|(key, _)| agent.keys().message.get(key.as_bytes()).is_some_and(is))?;
    call.text()
}

fn state(
    session: &Session,
    request: &Request,
    pairing: &Pairing,
    row: u32,
    place: u32,
    kind: BlockKind,
) -> (&'static str, Option<u32>) {
    let line = |row: u32| Some(session.record(request.rows[row as usize].record).line);
    match kind {
        BlockKind::Call => {
            let Ok(at) = pairing.calls.binary_search_by_key(&(row, place), |c| (c.row, c.block)) else {
                return ("", None);
            };
            let call = &pairing.calls[at];
            if let Again::SameTurn(first) = call.again {
                return ("repeats an id", line(pairing.calls[first as usize].row));
            }
            match call.answer {
                NONE => ("open", None),
                answer => ("answered", line(pairing.results[answer as usize].row)),
            }
        }
        BlockKind::Result => {
            let Ok(at) = pairing.results.binary_search_by_key(&(row, place), |r| (r.row, r.block)) else {
                return ("", None);
            };
            let result = &pairing.results[at];
            let call = (result.call != NONE).then(|| line(pairing.calls[result.call as usize].row)).flatten();
            match result.state {
                State::Paired => ("answers", call),
                State::After => ("too late", call),
                State::Before => ("too early", call),
                State::Repeated => ("repeats an answer", call),
                State::OfFailed(failed) => ("answers a failed turn", line(failed)),
                State::Dangling => ("dangling", None),
            }
        }
        _ => ("", None),
    }
}
