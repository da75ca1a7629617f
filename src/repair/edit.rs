//! One edit of a plan: what is done, for which finding, how far it goes and how sure it is.

use super::text::Splice;
use crate::chain::recover::Evidence;
use crate::finding::{Fix, Rule};

/// What an edit does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Action {
    /// A fragment, or a line that is no record, goes to quarantine.
    Quarantine,
    /// The last record gets its line feed.
    Terminate,
    /// A line is split into its records.
    Split,
    /// NUL bytes go.
    StripNuls,
    /// Lines become the one record that they were.
    Join,
    /// A byte order mark goes.
    StripMark,
    /// Bytes of a string are replaced in place.
    Replace,
    /// A parent pointer changes.
    SetParent,
    /// A record gets its id.
    SetId,
    /// Another pointer changes.
    SetPointer,
    /// A line moves.
    Move,
    /// A record goes of which an equal copy stays.
    DropCopy,
    /// A record goes.
    DropRecord,
    /// A content block goes.
    RemoveBlock,
    /// A content block is replaced.
    ReplaceBlock,
    /// A record is marked as seen by a repair.
    Mark,
    /// A record is put in.
    InsertRecord,
    /// An index that broke off ends behind its last whole snapshot.
    Salvage,
    /// An element of an index's list goes.
    RemoveElement,
    /// A counter changes.
    SetCounter,
}

impl Action {
    /// The words in reports.
    pub fn name(self) -> &'static str {
        match self {
            Action::Quarantine => "quarantine",
            Action::Terminate => "terminate line",
            Action::Split => "split line",
            Action::StripNuls => "strip NULs",
            Action::Join => "join lines",
            Action::StripMark => "strip mark",
            Action::Replace => "replace bytes",
            Action::SetParent => "set parent",
            Action::SetId => "set id",
            Action::SetPointer => "set pointer",
            Action::Move => "move line",
            Action::DropCopy => "drop copy",
            Action::DropRecord => "drop record",
            Action::RemoveBlock => "remove block",
            Action::ReplaceBlock => "replace block",
            Action::Mark => "mark record",
            Action::InsertRecord => "insert record",
            Action::Salvage => "salvage",
            Action::RemoveElement => "remove element",
            Action::SetCounter => "set counter",
        }
    }
}

/// One edit. Offsets are those of the text that its step began with; the plan translates them.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The rule it answers.
    pub rule: &'static Rule,
    /// How far it goes.
    pub class: Fix,
    /// What it does.
    pub action: Action,
    /// How sure it is, when it makes a link.
    pub evidence: Option<Evidence>,
    /// First byte of what it is about.
    pub at: u64,
    /// Why, in a few words without message text.
    pub reason: String,
    /// What changes.
    pub splices: Vec<Splice>,
    /// What goes to quarantine: offset and length.
    pub quarantined: Vec<(u64, u64)>,
}

impl Edit {
    /// An edit that links nothing and keeps nothing aside.
    pub fn new(rule: &'static Rule, class: Fix, action: Action, at: u64, splices: Vec<Splice>) -> Self {
        Edit { rule, class, action, evidence: None, at, reason: String::new(), splices, quarantined: Vec::new() }
    }

    /// The same edit with its reason.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    /// The same edit with how sure its link is.
    #[must_use]
    pub fn evidence(mut self, evidence: Evidence) -> Self {
        self.evidence = Some(evidence);
        self
    }

    /// Takes a stretch out of the text and into quarantine.
    pub fn quarantine(rule: &'static Rule, class: Fix, action: Action, offset: u64, length: u64) -> Self {
        let mut edit = Edit::new(rule, class, action, offset, vec![Splice::remove(offset, length)]);
        edit.quarantined.push((offset, length));
        edit
    }
}
