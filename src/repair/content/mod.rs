//! Edits of the class `content`, and those of T and M that are of the class `links`: a message part is replaced or
//! leaves, or something is made up. What is answered is what the findings name; what the edit does is decided here.
//!
//! `array` splices content arrays, `lines` drops and inserts whole records and mends the links around them, `pairs`
//! answers calls and results, `messages` texts, thinking and media.

mod array;
mod lines;
mod messages;
mod pairs;

use std::collections::BTreeMap;
use std::io;

use super::answer::{Job, Way, one};
use crate::finding::Severity;

pub use array::Content;
pub use lines::{insert_behind, raw_id};
pub use messages::without;
pub(super) use messages::{
    blank_texts, empty, empty_texts, labels, media, misplaced_thinking, records, refusals, shapes, signatures,
};
pub use pairs::Open;

/// Calls without a result: where it is in the file under another id it gets that of its call, and where it is nowhere the
/// call gets a result that says its outcome is unknown, or leaves.
pub(super) fn open_calls(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let edits = pairs::reunited(job)?;
    if !edits.is_empty() {
        return Ok(vec![edits]);
    }
    let alone = pairs::alone(job, &Targets::of(job));
    Ok(one(if job.options.answer_orphans { pairs::answer(job, &alone)? } else { pairs::drop_blocks(job, &alone)? }))
}

/// Results without a call: where it is in the file under another id they get its id, and where it is nowhere they leave.
pub(super) fn results_alone(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let edits = pairs::reunited(job)?;
    if !edits.is_empty() {
        return Ok(vec![edits]);
    }
    Ok(one(pairs::drop_blocks(job, &pairs::alone(job, &Targets::of(job)))?))
}

/// The blocks that the findings name leave.
pub(super) fn blocks(job: &Job<'_>) -> io::Result<Vec<Way>> {
    Ok(one(pairs::drop_blocks(job, &Targets::of(job))?))
}

/// The blocks that the findings name leave, calls together with their results.
pub(super) fn incomplete(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let session = job.session();
    Ok(one(pairs::drop_blocks(job, &pairs::with_results(session, &Targets::of(job)))?))
}

/// The later call of an id, and its own result, get another id.
pub(super) fn repeated_calls(job: &Job<'_>) -> io::Result<Vec<Way>> {
    Ok(one(pairs::rename(job, &Targets::of(job))?))
}

/// A record of results moves behind the response that it answers.
pub(super) fn displaced(job: &Job<'_>) -> io::Result<Vec<Way>> {
    Ok(one(pairs::displaced(job, &Targets::of(job))?))
}

/// An input that is no object becomes one.
pub(super) fn inputs(job: &Job<'_>) -> io::Result<Vec<Way>> {
    Ok(one(pairs::wrap_inputs(job, &Targets::of(job))?))
}

/// The records that the findings of a rule are about, each with the places in its content.
#[derive(Debug)]
pub struct Targets {
    by_record: BTreeMap<u32, Vec<usize>>,
}

impl Targets {
    /// Those of the rule in hand.
    pub fn of(job: &Job<'_>) -> Self {
        // Records stand in file order; a finding names its record, or a stretch inside it.
        let records = &job.session().facts.records;
        let around = |offset: u64| {
            let n = records.partition_point(|r| r.offset <= offset).checked_sub(1)?;
            (offset < records[n].offset + u64::from(records[n].length).max(1)).then_some(n as u32)
        };
        let mut by_record: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for finding in job.asked() {
            let Some(n) = finding.place.offset.and_then(around) else { continue };
            // What is neither harmful nor sent stays, even when its code is named.
            if finding.severity < Severity::Warning && !job.examined.request.reaches(n) {
                continue;
            }
            by_record.entry(n).or_default().extend(finding.blocks.iter().map(|&index| index as usize));
        }
        for blocks in by_record.values_mut() {
            blocks.sort_unstable();
            blocks.dedup();
        }
        Targets { by_record }
    }

    /// The records in file order.
    pub fn records(&self) -> impl Iterator<Item = u32> {
        self.by_record.keys().copied()
    }

    fn iter(&self) -> impl Iterator<Item = (u32, &[usize])> {
        self.by_record.iter().map(|(n, blocks)| (*n, blocks.as_slice()))
    }
}
