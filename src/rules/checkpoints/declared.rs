//! The declarations of family K: what `explain`, the man page and SARIF say. The versions named as run are those whose
//! own modules were executed on the cases.

use crate::finding::{Fix, Rule, Severity};

/// K801 unreadable-index.
pub static UNREADABLE_INDEX: Rule =
    Rule { code: "K801", name: "unreadable-index", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

/// K802 orphan-diff.
pub static ORPHAN_DIFF: Rule =
    Rule { code: "K802", name: "orphan-diff", severity: Severity::Error, fix: None, since: "0.1.0" };

/// K803 diff-does-not-fit.
pub static DIFF_DOES_NOT_FIT: Rule =
    Rule { code: "K803", name: "diff-does-not-fit", severity: Severity::Error, fix: None, since: "0.1.0" };

/// K804 emptying-diff.
pub static EMPTYING_DIFF: Rule =
    Rule { code: "K804", name: "emptying-diff", severity: Severity::Error, fix: None, since: "0.1.0" };

/// K805 undecodable-content.
pub static UNDECODABLE_CONTENT: Rule =
    Rule { code: "K805", name: "undecodable-content", severity: Severity::Error, fix: None, since: "0.1.0" };

/// K806 stale-latest-full.
pub static STALE_LATEST_FULL: Rule =
    Rule { code: "K806", name: "stale-latest-full", severity: Severity::Info, fix: Some(Fix::Links), since: "0.1.0" };

/// K807 id-counter-behind.
pub static ID_COUNTER_BEHIND: Rule = Rule {
    code: "K807",
    name: "id-counter-behind",
    severity: Severity::Warning,
    fix: Some(Fix::Links),
    since: "0.1.0",
};

/// K808 repeated-snapshot-id.
pub static REPEATED_SNAPSHOT_ID: Rule =
    Rule { code: "K808", name: "repeated-snapshot-id", severity: Severity::Error, fix: None, since: "0.1.0" };

/// K809 legacy-index.
pub static LEGACY_INDEX: Rule =
    Rule { code: "K809", name: "legacy-index", severity: Severity::Info, fix: None, since: "0.1.0" };

/// K810 lossy-content.
pub static LOSSY_CONTENT: Rule =
    Rule { code: "K810", name: "lossy-content", severity: Severity::Warning, fix: None, since: "0.1.0" };

/// K811 over-quota.
pub static OVER_QUOTA: Rule =
    Rule { code: "K811", name: "over-quota", severity: Severity::Info, fix: None, since: "0.1.0" };

/// K812 unknown-snapshot.
pub static UNKNOWN_SNAPSHOT: Rule =
    Rule { code: "K812", name: "unknown-snapshot", severity: Severity::Warning, fix: None, since: "0.1.0" };

/// K813 undo-differs.
pub static UNDO_DIFFERS: Rule =
    Rule { code: "K813", name: "undo-differs", severity: Severity::Info, fix: None, since: "0.1.0" };

/// K814 foreign-index.
pub static FOREIGN_INDEX: Rule =
    Rule { code: "K814", name: "foreign-index", severity: Severity::Warning, fix: None, since: "0.1.0" };

/// K815 time-disorder.
pub static TIME_DISORDER: Rule =
    Rule { code: "K815", name: "time-disorder", severity: Severity::Info, fix: None, since: "0.1.0" };

/// K816 missing-backup.
pub static MISSING_BACKUP: Rule =
    Rule { code: "K816", name: "missing-backup", severity: Severity::Warning, fix: None, since: "0.1.0" };

/// K817 dangling-delta.
pub static DANGLING_DELTA: Rule =
    Rule { code: "K817", name: "dangling-delta", severity: Severity::Warning, fix: None, since: "0.1.0" };

/// K818 unpartnered-layer.
pub static UNPARTNERED_LAYER: Rule =
    Rule { code: "K818", name: "unpartnered-layer", severity: Severity::Info, fix: None, since: "0.1.0" };

/// K819 unprotected-change.
pub static UNPROTECTED_CHANGE: Rule =
    Rule { code: "K819", name: "unprotected-change", severity: Severity::Warning, fix: None, since: "0.1.0" };
