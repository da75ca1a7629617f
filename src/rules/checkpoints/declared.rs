//! The declarations of family K: what `explain`, the man page and SARIF say. The versions named as run are those whose
//! own modules were executed on the cases.

use crate::finding::{Doc, Fix, Rule, Severity};

/// K801 unreadable-index.
pub static UNREADABLE_INDEX: Rule = Rule {
    code: "K801",
    name: "unreadable-index",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "The checkpoint index (`checkpoints/<session>/index.json`) is empty, breaks off, is no JSON, is JSON but no \
               index (`null`, `[]`, `{}`, a number, `snapshots` that is no list), or holds a snapshot without a list of \
               files. The facts say how many whole snapshots stand before the place where it breaks.",
        arises: "The agent rewrites the whole file in place after each snapshot, without a temporary file and without a \
                 sync. A kill, a full disk or a power cut in that moment leaves 0 bytes, a cut text or NUL bytes. Of 51 \
                 runs that were killed while they wrote, one left an empty file; a full disk left a cut one.",
        agent: "sid-code 3f3215144f68 (run): where the JSON does not parse, and for `null`, it starts from an empty history \
                and says nothing; the next snapshot overwrites the file, and everything that could be salvaged is gone. \
                Any other JSON value is taken as it is: listing throws, undo throws, and no snapshot is stored again in \
                that session. A snapshot without a list of files makes list, undo and every rebuild that passes it throw.",
        repair: "With `--up-to content`, the whole snapshots before the break are written as a new index, byte for byte, \
                 with a counter above every id in use; the torn bytes go to quarantine. Where nothing can be salvaged the \
                 file is left as it is. Do not start the agent on the session before that.",
        loses: "The snapshot that was being written. Everything before it is kept.",
        error_text: Some("undefined is not an object (evaluating 'this.index.snapshots.map')"),
    },
};

/// K802 orphan-diff.
pub static ORPHAN_DIFF: Rule = Rule {
    code: "K802",
    name: "orphan-diff",
    severity: Severity::Error,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "A file is stored as a difference, and no full copy of it stands at or above that snapshot: there is nothing \
               to apply the difference to. One finding a file; the facts name the snapshots.",
        arises: "The snapshot with the full copy was removed by hand or by a tool that thins checkpoints without making the \
                 next difference a full copy first, or two processes wrote the same index and one of them had the copy.",
        agent: "sid-code 3f3215144f68 (run): rebuilding gives nothing at these snapshots. Undo, rewind and restore leave \
                the file as it is and report success.",
        repair: "Nothing. The differences of sid-code carry every line that they keep, so the text itself is often still \
                 there: `sid-audit checkpoints --show SNAPSHOT FILE` writes it out where the fact `carried` says so.",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};

/// K803 diff-does-not-fit.
pub static DIFF_DOES_NOT_FIT: Rule = Rule {
    code: "K803",
    name: "diff-does-not-fit",
    severity: Severity::Error,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "Lines that a difference keeps or removes are not the lines of the text that it is applied to, or it goes past \
               the end of that text, or ends before it does. What is rebuilt is a text that never was. The place is the \
               first line that does not fit.",
        arises: "A snapshot in the middle was lost (two processes on one session overwrite each other's index), ids were \
                 used twice so that the difference was made against another base (K808), or content was edited by hand.",
        agent: "sid-code 3f3215144f68 (run): it uses only how many lines a difference keeps and removes, never what they \
                say. Undo and restore write the wrong text without a word; lines past the end become empty lines.",
        repair: "Nothing. What the file was is carried by the difference itself: compare `--show SNAPSHOT FILE` with the \
                 file before you trust an undo.",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};

/// K804 emptying-diff.
pub static EMPTYING_DIFF: Rule = Rule {
    code: "K804",
    name: "emptying-diff",
    severity: Severity::Error,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "A difference without any operation. Applied, it gives the empty text, whatever the file was.",
        arises: "The agent makes no difference for a text that splits into 10 000 elements or more at line feeds (9 999 \
                 lines and a final line feed), and stores the empty list all the same, although its own comment says that \
                 such files are stored whole.",
        agent: "sid-code 3f3215144f68 (run): every rebuild from that snapshot on is the empty text until an entry \
                carries lines again. Undo and restore write an empty file over the work: 68 891 bytes became 0.",
        repair: "Nothing: the content was never stored. Do not use undo, rewind or restore on this file; take it from \
                 version control or from the last full copy (`--show`).",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};

/// K805 undecodable-content.
pub static UNDECODABLE_CONTENT: Rule = Rule {
    code: "K805",
    name: "undecodable-content",
    severity: Severity::Error,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "A stored text cannot be had: its base64 or gzip does not decode, its checksum or length is another, it breaks \
               off, it is missing, its `compressed` flag says the opposite of what it is, a difference has no shape that \
               applies, or it unpacks to more than the limit that the finding names (256 MiB an entry, 4 GiB an index).",
        arises: "Damaged bytes on disk, or an index that was edited. A limit is reached by a text made to unpack without end.",
        agent: "sid-code 3f3215144f68 (run): bad gzip makes undo and restore throw, and from then on every snapshot that \
                names this file is silently not taken, in this session and after a resume. base64 is read leniently \
                (foreign characters are skipped). A packed text that is flagged as plain is written into the file as \
                base64; a missing one counts as empty.",
        repair: "Nothing: there is no second copy. Later full copies of the file are not touched by it.",
        loses: "Nothing, since nothing is changed.",
        error_text: Some("incorrect data check"),
    },
};

/// K806 stale-latest-full.
pub static STALE_LATEST_FULL: Rule = Rule {
    code: "K806",
    name: "stale-latest-full",
    severity: Severity::Info,
    fix: Some(Fix::Links),
    since: "0.1.0",
    doc: Doc {
        what: "`latestFullMap`, the lookup of each file's newest full copy, disagrees with the snapshots: it names a snapshot \
               that is gone or that holds no full copy, lacks a file, or names a file that is in no snapshot.",
        arises: "An undo takes the last snapshot away and leaves the lookup as it was; the next stored snapshot makes it \
                 anew. Otherwise it was edited.",
        agent: "sid-code 3f3215144f68 (run): writes it and never reads it; every rebuild walks the snapshots. Newer versions \
                write none, which is no finding.",
        repair: "With `--select K806`, the lookup is made anew by the agent's own rule; no other byte moves.",
        loses: "Nothing is lost.",
        error_text: None,
    },
};

/// K807 id-counter-behind.
pub static ID_COUNTER_BEHIND: Rule = Rule {
    code: "K807",
    name: "id-counter-behind",
    severity: Severity::Warning,
    fix: Some(Fix::Links),
    since: "0.1.0",
    doc: Doc {
        what: "`nextId` is not above the number of every snapshot in the index, or is missing: the next snapshot gets an id \
               that is in use, or `sNaN`.",
        arises: "Two processes held the index of one session and the one with the lower counter wrote last, or the index was \
                 put together by hand.",
        agent: "sid-code 3f3215144f68 (run): does not check. The next snapshots repeat ids (K808), and their differences are \
                made against the first snapshot of that id (K803).",
        repair: "`nextId` becomes one more than the highest number in use; no other byte moves.",
        loses: "Nothing is lost.",
        error_text: None,
    },
};

/// K808 repeated-snapshot-id.
pub static REPEATED_SNAPSHOT_ID: Rule = Rule {
    code: "K808",
    name: "repeated-snapshot-id",
    severity: Severity::Error,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "Several snapshots share one id. The place is the second one; the facts name all positions in the list.",
        arises: "The counter was behind (K807), or two processes gave out the same ids.",
        agent: "sid-code 3f3215144f68 (run): restore, rewind and rebuild take the first snapshot of that id; the later ones \
                can only be reached by undo while they are last, and even that rebuilds what stands before the first one.",
        repair: "Nothing: a session may name the id, and which snapshot was meant is not known.",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};

/// K809 legacy-index.
pub static LEGACY_INDEX: Rule = Rule {
    code: "K809",
    name: "legacy-index",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "The index has the old layout (`files`, one list a file), or has it beside `snapshots`.",
        arises: "It was written before snapshots grouped the files of one tool batch.",
        agent: "sid-code 3f3215144f68 (run): turns it into the new layout at each start and does not save that until it \
                stores a snapshot. Ids are given in file order and then sorted by time, so they do not ascend. An empty \
                file of the old layout counts as one that was not there: undo deletes it. Beside `snapshots` the old map \
                is passed over.",
        repair: "Nothing; it is audited as the agent migrates it.",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};

/// K810 lossy-content.
pub static LOSSY_CONTENT: Rule = Rule {
    code: "K810",
    name: "lossy-content",
    severity: Severity::Warning,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "A stored text holds U+FFFD, the character that stands for bytes that are not UTF-8. Restoring it writes three \
               bytes for each of them, not what the file held. A file may hold U+FFFD itself; the index cannot tell.",
        arises: "The agent reads files as UTF-8 text before a tool runs, images, archives and files in other encodings too. \
                 A byte order mark is lost in the same way, and leaves no trace.",
        agent: "sid-code 3f3215144f68 (run): undo and restore write the replaced text: the file is damaged by the move that \
                should bring it back.",
        repair: "Nothing: the original bytes were never stored.",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};

/// K811 over-quota.
pub static OVER_QUOTA: Rule = Rule {
    code: "K811",
    name: "over-quota",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "The index is over the agent's quotas: more than 50 entries of one file, or more than 200 MiB. With 11 \
               snapshots or fewer the size cannot be brought down: that many are always kept.",
        arises: "Quotas were set higher, or eviction stopped: before an old full copy goes, the next difference must be made \
                 a full copy, and where that cannot be rebuilt (the cause) nothing is evicted any more.",
        agent: "sid-code 3f3215144f68 (run): evicts after each stored snapshot, entries over 50 a file first, then whole \
                snapshots, oldest first. An error in it is logged and the index grows on.",
        repair: "Nothing; the agent evicts by itself once the cause is gone.",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};

/// K812 unknown-snapshot.
pub static UNKNOWN_SNAPSHOT: Rule = Rule {
    code: "K812",
    name: "unknown-snapshot",
    severity: Severity::Warning,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "The session names a snapshot (in `file_changes`) that its index does not hold. For information while the id \
               is below the next one: it was evicted, undone, or never stored. A warning when the agent cannot have given \
               out that id, or when there is no index at all.",
        arises: "The agent hands out an id even when nothing had changed and no snapshot was stored; the next process then \
                 gives the same id to another snapshot. Or the index was lost, cleaned up after 30 days, or is another's.",
        agent: "sid-code 3f3215144f68 (run): a rewind to such a point takes the conversation back and leaves the files, \
                without a word.",
        repair: "Nothing is changed.",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};

/// K813 undo-differs.
pub static UNDO_DIFFERS: Rule = Rule {
    code: "K813",
    name: "undo-differs",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "The agent's own undo of the last snapshot would not bring back the bytes from before the last change, as the \
               snapshots prove them. One note per index, with what it would do to how many files.",
        arises: "A snapshot holds the state before its tool, and undo writes what is rebuilt one snapshot earlier: one edit \
                 too far. Of the first snapshot it restores nothing and drops what was stored. This is so on healthy \
                 indexes, too.",
        agent: "sid-code 3f3215144f68 (run): v4 becomes v2, not v3. The snapshot leaves the index in every case, and success \
                is reported with an empty list of files.",
        repair: "Nothing. `sid-audit checkpoints --show SNAPSHOT FILE` writes the bytes from before the change.",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};

/// K814 foreign-index.
pub static FOREIGN_INDEX: Rule = Rule {
    code: "K814",
    name: "foreign-index",
    severity: Severity::Warning,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "The session id in the index is not the one that its folder is named for.",
        arises: "The folder was copied or renamed by hand. A fork made by the agent writes the new id.",
        agent: "sid-code 3f3215144f68 (run): does not look at the id: undo in this session writes another session's files.",
        repair: "Nothing: whether the folder or the id is wrong is not known.",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};

/// K815 time-disorder.
pub static TIME_DISORDER: Rule = Rule {
    code: "K815",
    name: "time-disorder",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "A snapshot was taken earlier than the one before it in the list. One finding per index: how many, the first.",
        arises: "The clock was set back, or the list was put together from two.",
        agent: "sid-code 3f3215144f68 (read): goes by the order of the list and never by the times.",
        repair: "Nothing is changed.",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};

/// K816 missing-backup.
pub static MISSING_BACKUP: Rule = Rule {
    code: "K816",
    name: "missing-backup",
    severity: Severity::Warning,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "Claude Code: a file-history row names a backup that is not in `file-history/<session>/`. For information when \
               a newer version of the same file is there: the client has pruned this one. Where the whole folder is gone, \
               one finding says how many.",
        arises: "The clean-up by age removed the folder, the session was copied without it (a fork does not take it along), \
                 or the client pruned old versions.",
        agent: "Claude Code 2.1 (not run; from its rows and its users' reports): a rewind to that snapshot cannot bring the file \
                back.",
        repair: "Nothing: there is no second copy.",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};

/// K817 dangling-delta.
pub static DANGLING_DELTA: Rule = Rule {
    code: "K817",
    name: "dangling-delta",
    severity: Severity::Warning,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "Claude Code: a `file-history-delta` row adds a file to a snapshot that no row of the session makes.",
        arises: "The row of the snapshot was lost or stands in the file that this session was continued from.",
        agent: "Claude Code 2.1 (not run; from its users' reports): the row adds to nothing, and a rewind says that the code is \
                unchanged.",
        repair: "Nothing is changed.",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};

/// K818 unpartnered-layer.
pub static UNPARTNERED_LAYER: Rule = Rule {
    code: "K818",
    name: "unpartnered-layer",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "Checkpoint folders without a session in the store, and sessions that changed files without a checkpoint \
               folder; one finding per store, counted apart by reason. The two layers do not cover the same set, so no \
               share of one in the other is given.",
        arises: "Lawfully: sessions are cleaned up after 30 days or beyond 50 and their checkpoints are not; a deleted \
                 session leaves its folder; folders older than 30 days go while their session stays; a resumed process \
                 keeps its checkpoints under its own id.",
        agent: "sid-code 3f3215144f68 (run): neither loads nor mentions the other half.",
        repair: "Nothing is changed.",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};

/// K819 unprotected-change.
pub static UNPROTECTED_CHANGE: Rule = Rule {
    code: "K819",
    name: "unprotected-change",
    severity: Severity::Warning,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "A file was changed and no snapshot before the change holds it: no undo can bring it back. A warning for a \
               write or an edit when the index is complete (no id below the next one is missing); for information when its \
               entry may have been evicted, and for a shell command whose reach is not known.",
        arises: "The agent takes no snapshot before `git checkout -- file`, `rm *.txt`, `truncate` or `dd`; for `rm -rf dir` \
                 it records the folder as a new file. A snapshot that fails (K805) is not taken, either.",
        agent: "sid-code 3f3215144f68 (run): undo and restore leave the file as it is.",
        repair: "Nothing is changed.",
        loses: "Nothing, since nothing is changed.",
        error_text: None,
    },
};
