//! What every applying run begins with: the lock, what a crash had left, files that nobody needs any more, and lines that a
//! writer still wrote to a file which an earlier run had replaced.

use std::time::SystemTime;

use super::{Repair, past};
use crate::audit::repair::{Refused, undo};
use crate::cli::interrupt;
use crate::commit::{self, Journal, Locked};
use crate::report::out;

/// What the start brought.
#[derive(Default)]
pub(super) struct Started {
    /// The journal, when its lock could be had.
    pub(super) locked: Option<Locked>,
    /// Why it could not.
    pub(super) error: Option<commit::Error>,
    /// Sessions that were to get late lines and were left alone.
    pub(super) refused: Vec<Refused>,
    /// Whether late lines could not be brought over.
    pub(super) unmerged: bool,
}

impl Started {
    /// Takes the lock, says what a crash had left, and tidies up. That the lock cannot be had matters only when there is
    /// something to do.
    pub(super) fn new(repair: &Repair<'_>, journal: Option<&Journal>) -> Self {
        let mut started = Started::default();
        let Some(journal) = journal else { return started };
        let _writing = interrupt::writing();
        match journal.lock() {
            Ok(locked) => {
                past::tell_recovered(&locked);
                started.tidy(repair, &locked);
                started.locked = Some(locked);
            }
            Err(error) => started.error = Some(error),
        }
        started
    }

    fn tidy(&mut self, repair: &Repair<'_>, locked: &Locked) {
        let swept = match locked.sweep(SystemTime::now(), repair.options.closed) {
            Ok(swept) => swept,
            Err(error) => {
                out::complain("warning", &error.to_string(), &[], error.hint().as_deref());
                return;
            }
        };
        if repair.arguments.output.verbose {
            for path in &swept.removed {
                out::complain("note", &format!("'{}' was taken away: nobody used it", path.display()), &[], None);
            }
        }
        if swept.remaining.iter().all(|left| !left.file.holds_more()) {
            return;
        }
        let known = undo::Known::of(repair.discovery.clone(), repair.options);
        let late = undo::bring_over(locked, &swept.remaining, &known, &repair.arguments.door());
        for applied in &late.outcomes {
            self.unmerged |= past::tell_late(applied);
        }
        for (session, kept) in &late.elsewhere {
            past::tell_held(session, kept);
        }
        self.refused.extend(late.refused);
    }
}
