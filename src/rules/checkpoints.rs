//! K: checkpoints. Checks one audited index (K801 to K811, K813 to K815); `session` checks a session's rows against Claude
//! Code's backups (K816, K817) and what the session layer says of the file layer (K812, K818, K819), from facts that
//! others collect; `declared` holds the texts.
//!
//! Everything here is a pure function from facts to findings. What a finding rests on is decided in `checkpoint`: which
//! bytes are rebuilt, what the agent's moves would do. An index that this program refuses to hold (`Outcome::TooLarge`)
//! is no finding but an error of the caller, as a file that cannot be read is.

use std::collections::HashMap;
use std::io;

use super::{Collector, counted};
use crate::checkpoint::audit::{Audit, Charge, Defect, Outcome};
use crate::checkpoint::diff::Misfit;
use crate::checkpoint::evict::Quota;
use crate::checkpoint::model::{Fate, Layout, Shape, Span};
use crate::checkpoint::moves::{Moves, Would};
use crate::checkpoint::rebuild::Truth;
use crate::checkpoint::text::Fault;
use crate::finding::{Finding, Place, Rule};
use crate::record::json::{Kind, Why};
use crate::store::Source;
use crate::text::Text;

mod declared;
mod session;

pub use declared::*;
pub use session::{Change, ChangedBy, Named, Unpartnered, unknown_snapshots, unpartnered_layers, unprotected_changes};

/// The rules of this family, by code.
pub static RULES: &[&Rule] = &[
    &UNREADABLE_INDEX,
    &ORPHAN_DIFF,
    &DIFF_DOES_NOT_FIT,
    &EMPTYING_DIFF,
    &UNDECODABLE_CONTENT,
    &STALE_LATEST_FULL,
    &ID_COUNTER_BEHIND,
    &REPEATED_SNAPSHOT_ID,
    &LEGACY_INDEX,
    &LOSSY_CONTENT,
    &OVER_QUOTA,
    &UNKNOWN_SNAPSHOT,
    &UNDO_DIFFERS,
    &FOREIGN_INDEX,
    &TIME_DISORDER,
    &MISSING_BACKUP,
    &DANGLING_DELTA,
    &UNPARTNERED_LAYER,
    &UNPROTECTED_CHANGE,
];

/// What stands against one audited index, by code; at most `places` findings of each. Lines are not known yet: see
/// [`add_lines`].
pub fn index_findings(audit: &Audit, places: usize) -> Vec<Finding> {
    let mut found = Collector::new(places);
    unreadable(audit, &mut found);
    entries(audit, &mut found);
    if audit.outcome == Outcome::Readable {
        latest_full(audit, &mut found);
        counter(audit, &mut found);
        repeated(audit, &mut found);
        layout(audit, &mut found);
        quota(audit, &mut found);
        undo(audit, &mut found);
        foreign(audit, &mut found);
        time(audit, &mut found);
    }
    found.finish()
}

/// Fills in the physical line of each finding that has a place in bytes, reading the file once more.
///
/// # Errors
/// I/O errors while the file is read.
pub fn add_lines(findings: &mut [Finding], source: &Source) -> io::Result<()> {
    let mut places: Vec<(u64, &mut Option<u64>)> = findings
        .iter_mut()
        .filter_map(|f| f.place.offset.map(|offset| (offset, &mut f.place.line)))
        .filter(|(_, line)| line.is_none())
        .collect();
    places.sort_by_key(|(offset, _)| *offset);
    let mut buffer = vec![0; 256 * 1024];
    let (mut at, mut lines) = (0_u64, 1_u64);
    for (offset, line) in places {
        while at < offset {
            let want = usize::try_from(offset - at).unwrap_or(usize::MAX).min(buffer.len());
            let Some(piece) = buffer.get_mut(..want) else { break };
            match source.read_at(at, piece)? {
                0 => break,
                n => {
                    lines += memchr::memchr_iter(b'\n', piece.get(..n).unwrap_or_default()).count() as u64;
                    at += n as u64;
                }
            }
        }
        *line = Some(lines);
    }
    Ok(())
}

fn place(span: Span, id: Option<&Text>) -> Place {
    Place { line: None, offset: Some(span.offset), length: Some(span.length), id: id.cloned() }
}

fn unreadable(audit: &Audit, found: &mut Collector) {
    let index = &audit.index;
    let whole = Span { offset: 0, length: index.bytes };
    let overwrites = || {
        let starts = "the agent starts from an empty history and its next snapshot overwrites the file";
        if index.snapshots.is_empty() {
            return starts.to_owned();
        }
        let kept = counted(index.snapshots.len() as u64, "whole snapshot");
        format!("{starts}; {kept} can be salvaged as long as the agent is not started on this session")
    };
    let finding = match audit.outcome {
        Outcome::Readable => return broken_snapshots(audit, found),
        Outcome::TooLarge { .. } => return,
        Outcome::Empty => UNREADABLE_INDEX.at(place(whole, None)).fact("found", "empty").effect(overwrites()),
        Outcome::Torn { cut, why } => {
            let rest = Span { offset: cut, length: index.bytes.saturating_sub(cut) };
            let found = if why == Why::Ended { "cut short" } else { "no JSON" };
            UNREADABLE_INDEX
                .at(place(rest, None))
                .fact("found", found)
                .fact("salvaged", index.snapshots.len())
                .fact("salvaged_files", index.files.len())
                .effect(overwrites())
        }
        Outcome::NotAnIndex { kind, fate } => {
            let effect = match fate {
                Fate::Overwritten => overwrites(),
                Fate::Stuck => {
                    "the agent takes it as it is: listing and undo throw, and no snapshot is stored again in \
                                this session"
                        .to_owned()
                }
            };
            let kind = match kind {
                Kind::Null => "null",
                Kind::True | Kind::False => "a flag",
                Kind::Number => "a number",
                Kind::String => "a string",
                Kind::Array => "an array",
                Kind::Object => "an object without a list of snapshots",
            };
            UNREADABLE_INDEX.at(Place::default()).fact("found", kind).effect(effect)
        }
    };
    found.add(finding);
}

fn broken_snapshots(audit: &Audit, found: &mut Collector) {
    let mut broken = audit.index.snapshots.iter().filter(|s| s.shape != Shape::Whole);
    let Some(first) = broken.next() else { return };
    let finding = UNREADABLE_INDEX
        .at(place(first.span, Some(&first.id)))
        .fact("found", "a snapshot without a list of files")
        .fact("snapshots", 1 + broken.count())
        .effect("the agent throws when it lists snapshots and whenever a rebuild passes this one, and takes no more snapshots of \
             files that it would have to look for above it");
    found.add(finding);
}

fn entries(audit: &Audit, found: &mut Collector) {
    for defect in &audit.defects {
        let finding = match defect.charge {
            Charge::Orphan => orphan(audit, defect),
            Charge::Misfit(how) => misfit(audit, defect, how),
            Charge::Emptying => of(audit, &EMPTYING_DIFF, defect).effect(
                "the agent rebuilds the empty text from here on: undo, rewind and restore would empty the file",
            ),
            Charge::Undecodable(fault) => undecodable(audit, defect, fault),
            Charge::Lossy => of(audit, &LOSSY_CONTENT, defect)
                .effect("the agent writes the replacement characters: restoring changes the file"),
        };
        found.add(finding);
    }
    let codes = [&ORPHAN_DIFF, &DIFF_DOES_NOT_FIT, &EMPTYING_DIFF, &UNDECODABLE_CONTENT, &LOSSY_CONTENT];
    for (rule, more) in codes.iter().zip(audit.more) {
        if more > 0 {
            found.more(rule, more);
        }
    }
}

/// A finding about entries of one file.
fn of(audit: &Audit, rule: &'static Rule, defect: &Defect) -> Finding {
    let snapshot = |position: &u32| audit.index.snapshots.get(*position as usize);
    let ids: Vec<String> = defect.positions.iter().filter_map(snapshot).map(|s| s.id.lossy()).collect();
    let first = defect.positions.first().and_then(snapshot).map(|s| &s.id);
    let path = audit.index.path(defect.file).map(Text::lossy).unwrap_or_default();
    rule.at(place(defect.span, first)).fact("file", path).fact("snapshots", ids).fact("entries", defect.count)
}

fn orphan(audit: &Audit, defect: &Defect) -> Finding {
    let index = &audit.index;
    let full = index.entries_of(defect.file).iter().find(|(_, number)| index.is_full(*number)).map(|(p, _)| *p);
    let steps = audit.steps.get(defect.file as usize).map_or(&[][..], Vec::as_slice);
    let carried = steps
        .iter()
        .take_while(|step| full.is_none_or(|p| step.position < p))
        .filter(|step| matches!(step.truth, Truth::Bytes(_)))
        .count();
    of(audit, &ORPHAN_DIFF, defect)
        .fact("carried", carried)
        .effect("the agent rebuilds nothing here: undo, rewind and restore leave the file as it is")
}

fn misfit(audit: &Audit, defect: &Defect, how: Misfit) -> Finding {
    let finding = of(audit, &DIFF_DOES_NOT_FIT, defect)
        .fact("how", how.words())
        .effect("the agent applies it by the number of its lines and writes a text that never was");
    let same_file = |d: &&Defect| d.file == defect.file && matches!(d.charge, Charge::Undecodable(_));
    if audit.defects.iter().any(|d| same_file(&d)) {
        finding.cause(&UNDECODABLE_CONTENT)
    } else if audit.index.repeats_ids() {
        finding.cause(&REPEATED_SNAPSHOT_ID)
    } else {
        finding
    }
}

fn undecodable(audit: &Audit, defect: &Defect, fault: Fault) -> Finding {
    let effect = match fault {
        Fault::EntryCap | Fault::IndexCap => "not unpacked further here; the agent unpacks it whole into memory",
        Fault::Unread => "the file changed while it was read",
        Fault::NoContent => "the agent takes it for the empty text, or passes over the difference",
        Fault::Mislabelled => "the agent writes the base64 into the file",
        Fault::NotGzip | Fault::CutShort | Fault::Damaged | Fault::NoString | Fault::NoOperations => {
            "the agent throws: undo and restore stop here, and this file is snapshotted no more"
        }
        Fault::BrokenSnapshot => "the agent throws",
    };
    let finding = of(audit, &UNDECODABLE_CONTENT, defect).fact("fault", fault.words()).effect(effect);
    match fault {
        Fault::EntryCap => finding.fact("limit", audit.limits.entry),
        Fault::IndexCap => finding.fact("limit", audit.limits.index),
        _ => finding,
    }
}

fn latest_full(audit: &Audit, found: &mut Collector) {
    let index = &audit.index;
    let Some(stored) = index.latest_full.as_ref().filter(|_| index.layout == Layout::Current) else { return };
    let mut right: HashMap<&Text, &Text> = HashMap::new();
    for (file, position) in index.true_latest_full() {
        if let (Some(path), Some(snapshot)) = (index.path(file), index.snapshots.get(position as usize)) {
            right.insert(path, &snapshot.id);
        }
    }
    let foreign = stored.iter().filter(|(path, _)| !right.contains_key(path)).count();
    let wrong = stored.iter().filter(|(path, id)| right.get(path).is_some_and(|right| *right != id)).count();
    let missing = right.len() - (stored.len() - foreign);
    if foreign + wrong + missing > 0 {
        let finding = STALE_LATEST_FULL
            .at(place(index.latest_full_span, None))
            .fact("wrong", wrong)
            .fact("missing", missing)
            .fact("foreign", foreign)
            .effect("the agent never reads it");
        found.add(finding);
    }
}

fn counter(audit: &Audit, found: &mut Collector) {
    let index = &audit.index;
    let highest = index.highest_number();
    let (place, effect) = match (index.next_id, highest) {
        (None, _) => (Place::default(), "the agent calls its next snapshot \"sNaN\"".to_owned()),
        (Some(next), Some(highest)) if next.value <= highest as f64 => (
            place(next.span, None),
            format!("the agent gives ids up to \"s{highest}\" out again, and makes differences against the wrong base"),
        ),
        _ => return,
    };
    let mut finding = ID_COUNTER_BEHIND.at(place).effect(effect);
    if let Some(next) = index.next_id {
        finding = finding.fact("next_id", next.value as i64);
    }
    found.add(finding.fact("first_free", highest.unwrap_or(0) + 1));
}

fn repeated(audit: &Audit, found: &mut Collector) {
    let mut at: HashMap<&Text, Vec<i64>> = HashMap::new();
    let mut order = Vec::new();
    for (position, snapshot) in (0_i64..).zip(&audit.index.snapshots).filter(|(_, s)| s.shape != Shape::Null) {
        let positions = at.entry(&snapshot.id).or_default();
        positions.push(position);
        if positions.len() == 2 {
            order.push(snapshot);
        }
    }
    for second in order {
        let positions = at.remove(&second.id).unwrap_or_default();
        let finding = REPEATED_SNAPSHOT_ID
            .at(place(second.span, Some(&second.id)))
            .fact("snapshots", positions.len())
            .fact("positions", positions.into_iter().take(12).collect::<Vec<_>>())
            .effect("the agent takes the first one for every restore, rewind and rebuild");
        found.add(finding);
    }
}

fn layout(audit: &Audit, found: &mut Collector) {
    let index = &audit.index;
    if index.layout == Layout::Legacy {
        let finding = LEGACY_INDEX
            .at(Place::default())
            .fact("snapshots", index.snapshots.len())
            .fact("files", index.files.len())
            .effect("the agent migrates it in memory at each start");
        found.add(finding);
    } else if let Some(span) = index.ignored_legacy {
        let finding = LEGACY_INDEX
            .at(place(span, None))
            .fact("ignored", true)
            .effect("the agent passes over the old map, since \"snapshots\" is there");
        found.add(finding);
    }
}

fn quota(audit: &Audit, found: &mut Collector) {
    let index = &audit.index;
    let quota = Quota::default();
    let counts = (0..index.files.len() as u32).map(|file| (index.entries_of(file).len(), file));
    let over: Vec<(usize, u32)> = counts.filter(|(n, _)| *n > quota.per_file).collect();
    let blocked = audit.defects.iter().find(|d| matches!(d.charge, Charge::Undecodable(f) if f.throws()));
    if let Some((most, file)) = over.iter().copied().max() {
        let mut finding = OVER_QUOTA
            .at(Place::default())
            .fact("files", over.len())
            .fact("entries", most)
            .fact("file", index.path(file).map(Text::lossy).unwrap_or_default())
            .fact("quota", quota.per_file)
            .effect("the agent evicts the oldest entries after its next snapshot");
        if let Some(defect) = blocked {
            let base = index.path(defect.file).map(Text::lossy).unwrap_or_default();
            finding = finding.cause(&UNDECODABLE_CONTENT).fact("base", base);
            finding =
                finding.effect("the agent throws when it evicts, because a base cannot be rebuilt: the index grows on");
        }
        found.add(finding);
    }
    if index.bytes > quota.bytes {
        let kept = index.snapshots.len() <= quota.keep;
        let effect = if kept {
            format!("the agent keeps {} snapshots, so the index stays as large", quota.keep)
        } else {
            "the agent evicts the oldest snapshots after its next one".to_owned()
        };
        let finding = OVER_QUOTA
            .at(Place::default())
            .fact("bytes", index.bytes)
            .fact("quota_bytes", quota.bytes)
            .fact("snapshots", index.snapshots.len())
            .effect(effect);
        found.add(finding);
    }
}

fn undo(audit: &Audit, found: &mut Collector) {
    let Some(undo) = Moves::new(audit).and_then(|moves| moves.undo()) else { return };
    let differing: Vec<_> = undo.files.iter().filter(|(_, made)| !made.faithful).collect();
    let Some(snapshot) = audit.index.snapshots.get(undo.snapshot as usize) else { return };
    if differing.is_empty() {
        return;
    }
    let with = |would: Would| differing.iter().filter(|(_, made)| made.would == would).count() as u64;
    let id = snapshot.id.lossy();
    let effect = if undo.throws {
        format!("the agent throws in the undo of {id:?}")
    } else if with(Would::Nothing) == differing.len() as u64 {
        format!("the agent drops {id:?} and leaves {} as it is", counted(with(Would::Nothing), "file"))
    } else {
        format!("the agent goes one edit too far in the undo of {id:?}")
    };
    let mut finding = UNDO_DIFFERS
        .at(place(snapshot.span, Some(&snapshot.id)))
        .fact("snapshot", id)
        .fact("files", undo.files.len())
        .count(differing.len() as u64)
        .effect(effect);
    for (name, would) in [
        ("would_write", Would::Write),
        ("would_delete", Would::Delete),
        ("would_leave", Would::Nothing),
        ("would_fail", Would::Fail),
    ] {
        if with(would) > 0 {
            finding = finding.fact(name, with(would));
        }
    }
    found.add(finding);
}

fn foreign(audit: &Audit, found: &mut Collector) {
    let index = &audit.index;
    if let (Some(folder), Some(inside)) = (&index.folder, &index.session_id)
        && folder != inside
    {
        let finding = FOREIGN_INDEX
            .at(place(index.session_id_span, Some(inside)))
            .fact("folder", folder)
            .fact("session", inside)
            .effect("the agent does not compare them: undo in the one session writes the files of the other");
        found.add(finding);
    }
}

fn time(audit: &Audit, found: &mut Collector) {
    let mut last: Option<f64> = None;
    let mut first = None;
    let mut count = 0_u64;
    for snapshot in &audit.index.snapshots {
        let Some(time) = snapshot.timestamp else { continue };
        if last.is_some_and(|last| time < last) {
            first = first.or(Some((snapshot, last)));
            count += 1;
        }
        last = Some(time);
    }
    if let Some((snapshot, before)) = first {
        let back = before.unwrap_or_default() - snapshot.timestamp.unwrap_or_default();
        let finding = TIME_DISORDER
            .at(place(snapshot.span, Some(&snapshot.id)))
            .fact("back_ms", back as i64)
            .count(count)
            .effect("the agent goes by the order of the list");
        found.add(finding);
    }
}
