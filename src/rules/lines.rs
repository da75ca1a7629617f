//! L: lines and bytes. Checks what the pass noted of lines that no loader reads, of bytes that loaders treat differently,
//! and of sizes. It leaves to `chain` what the damage does to the history, and to `messages` what media blocks hold.
//!
//! Longer than other files because half of it is the texts of twenty rules, which stand beside their checks.

use std::collections::BTreeMap;

use super::surrogates::Contents;
use super::{Collector, Context, counted};
use crate::chain::Mode;
use crate::dialect::Dialect;
use crate::finding::{Doc, Finding, Fix, Place, Rule, Severity};
use crate::record::agent::Cut;
use crate::record::damage::BadKind;
use crate::record::facts::{BadLine, Defect, DefectKind, Kind, flag};
use crate::record::pass::DEEPEST;

/// The rules of this family.
pub static RULES: &[&Rule] = &[
    &TORN_TAIL,
    &MISSING_FINAL_NEWLINE,
    &SPLICED_LINE,
    &GLUED_RECORDS,
    &NUL_RUN,
    &UNPARSABLE_LINE,
    &SPLIT_RECORD,
    &INVALID_UTF8,
    &LONE_SURROGATE,
    &BYTE_ORDER_MARK,
    &CRLF_LINE_ENDS,
    &BLANK_LINE,
    &NOT_AN_OBJECT,
    &RAW_LINE_SEPARATOR,
    &DUPLICATE_KEY,
    &DEEP_NESTING,
    &OVERSIZED_LINE,
    &OVERSIZED_FILE,
    &EMPTY_FILE,
    &INEXACT_NUMBER,
];

/// Damaged lines that may hold whole records.
pub(super) static HIDING: &[&Rule] = &[&SPLICED_LINE, &GLUED_RECORDS, &NUL_RUN, &SPLIT_RECORD, &BYTE_ORDER_MARK];

/// Finds them in one session.
pub fn check(context: &Context<'_>, found: &mut Collector) {
    let facts = &context.session.facts;
    for bad in &facts.bad_lines {
        bad_line(context, bad, found);
    }
    let kept = facts.bad_lines.len() as u64;
    if facts.lines.bad > kept {
        // Lines beyond those kept are counted under the code of their kind.
        for (kind, count) in &facts.bad_counts {
            let listed = facts.bad_lines.iter().filter(|b| b.kind == *kind).count() as u64;
            found.more(rule_of(*kind), count.saturating_sub(listed));
        }
    }
    missing_newline(context, found);
    defects(context, found);
    whole_file(context, found);
}

pub(super) fn rule_of(kind: BadKind) -> &'static Rule {
    match kind {
        BadKind::Torn => &TORN_TAIL,
        BadKind::Spliced => &SPLICED_LINE,
        BadKind::Glued => &GLUED_RECORDS,
        BadKind::Nul => &NUL_RUN,
        BadKind::Split => &SPLIT_RECORD,
        BadKind::Marked => &BYTE_ORDER_MARK,
        BadKind::Unparsable | BadKind::TooLong => &UNPARSABLE_LINE,
    }
}

fn bad_line(context: &Context<'_>, bad: &BadLine, found: &mut Collector) {
    let rule = rule_of(bad.kind);
    // The mark is told once for the file, whatever its reader does with it.
    if bad.kind == BadKind::Marked || !found.wants(rule) {
        return;
    }
    let mut finding = rule.at(Place::span(u64::from(bad.line), bad.offset, bad.length)).effect(skipped(context, bad));
    if bad.hidden.1 > 0 {
        finding = finding.fact("whole_records", bad.hidden.1);
    }
    if bad.kind == BadKind::Torn && context.live {
        finding = in_flight(finding);
    }
    if bad.kind == BadKind::TooLong {
        finding = finding.fact("reason", "longer than any loader can hold");
    }
    found.add(finding);
}

/// What the loader does with a line that it cannot read.
fn skipped(context: &Context<'_>, bad: &BadLine) -> String {
    let loader = context.session.dialect.loader();
    match (context.session.dialect, bad.kind) {
        (_, BadKind::Torn) => match context.session.dialect {
            Dialect::Pi => {
                format!("{loader} ends the fragment with a line feed when it opens the file; it stays as a bad line")
            }
            Dialect::Openclaw => format!("{loader} cuts it when it repairs the file"),
            _ => format!("{loader} skips it; its next append lands on the same line and is lost too"),
        },
        (_, BadKind::Glued | BadKind::Spliced | BadKind::Nul | BadKind::Split) if bad.hidden.1 > 0 => {
            format!("{loader} skips the line and with it {}", counted(bad.hidden.1, "whole record"))
        }
        _ => format!("{loader} skips it"),
    }
}

fn in_flight(finding: Finding) -> Finding {
    finding.severity(Severity::Info).fact("state", "in flight")
}

fn missing_newline(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    let facts = &session.facts;
    if facts.terminated || facts.size == 0 || session.chain.mode == Mode::File {
        return;
    }
    let ends_whole =
        |bad: &BadLine| matches!(bad.kind, BadKind::Glued | BadKind::Spliced | BadKind::Marked) && !bad.terminated;
    let line = match (facts.records.last(), facts.bad_lines.last()) {
        (_, Some(bad)) if u64::from(bad.line) == facts.lines.physical && ends_whole(bad) => {
            Place::span(u64::from(bad.line), bad.offset, bad.length)
        }
        (Some(last), _) if u64::from(last.line) == facts.lines.physical => {
            context.place(facts.records.len() as u32 - 1)
        }
        _ => return,
    };
    let loader = session.dialect.loader();
    let effect = match session.dialect {
        Dialect::Pi => format!(
            "{loader} appends the line feed when it opens the file; versions before 1.0 glue the next record to it"
        ),
        Dialect::Openclaw => format!("{loader} puts a separator before its next append"),
        _ => format!("{loader} reads it now; its next append goes on the same line, and both records are lost"),
    };
    let finding = MISSING_FINAL_NEWLINE.at(line).effect(effect);
    found.add(if context.live { in_flight(finding) } else { finding });
}

fn defects(context: &Context<'_>, found: &mut Collector) {
    let facts = &context.session.facts;
    let mut listed: BTreeMap<&'static Rule, u64> = BTreeMap::new();
    let mut contents = Contents::default();
    for defect in &facts.defects {
        let Some(finding) = line_defect(context, defect, &mut contents) else { continue };
        *listed.entry(finding.rule).or_default() += 1;
        found.add(finding);
    }
    for (rule, kinds) in [
        (&LONE_SURROGATE, &[DefectKind::HighSurrogate, DefectKind::LowSurrogate][..]),
        (&DUPLICATE_KEY, &[DefectKind::DuplicateKey]),
        (&INEXACT_NUMBER, &[DefectKind::InexactNumber]),
        (&INVALID_UTF8, &[DefectKind::InvalidUtf8]),
        (&RAW_LINE_SEPARATOR, &[DefectKind::RawSeparator]),
    ] {
        let all: u64 = kinds.iter().filter_map(|k| facts.defect_counts.get(k)).sum();
        let named = listed.get(rule).copied().unwrap_or(0);
        if named > 0 && all > named {
            found.more(rule, all - named);
        }
    }
}

fn line_defect(context: &Context<'_>, d: &Defect, contents: &mut Contents) -> Option<Finding> {
    let session = context.session;
    let dialect = session.dialect;
    let loader = dialect.loader();
    let place = Place::span(u64::from(d.line), d.offset, u64::from(d.length)).with_id(
        session.facts.records.get(d.record as usize).filter(|r| r.line == d.line).and_then(|_| session.id(d.record)),
    );
    Some(match d.kind {
        DefectKind::InvalidUtf8 => {
            let effect = match dialect {
                Dialect::Claude => format!("{loader} raises UnicodeDecodeError: the whole session cannot be read"),
                _ => format!("{loader} reads U+FFFD in their place"),
            };
            INVALID_UTF8.at(place).effect(effect).fact("sequences", d.detail)
        }
        DefectKind::HighSurrogate | DefectKind::LowSurrogate => {
            let half = if d.kind == DefectKind::HighSurrogate { "high" } else { "low" };
            contents
                .judge(context, d, LONE_SURROGATE.at(place))
                .fact("half", half)
                .fact("accepted_by", vec!["JSON.parse".to_owned(), "python json".to_owned()])
                .fact("refused_by", vec!["strict UTF-8 readers (serde_json, jq 1.6)".to_owned()])
        }
        DefectKind::RawSeparator => {
            let splits = session.agent.cut(session.facts.size) == Cut::Separators;
            let finding = RAW_LINE_SEPARATOR.at(place).fact("fork_splits_here", dialect == Dialect::Claude);
            if splits {
                finding
                    .severity(Severity::Error)
                    .effect(format!("{loader} streams files over 4 MiB and splits the line here: the record is lost"))
            } else if dialect == Dialect::Claude {
                finding.effect(format!("{loader} reads it; its fork_session splits here and loses what is before it"))
            } else {
                finding.effect(format!("{loader} reads it"))
            }
        }
        DefectKind::DuplicateKey => {
            DUPLICATE_KEY.at(place).effect(format!("{loader} takes the last value")).fact("repeats", d.detail)
        }
        DefectKind::InexactNumber => INEXACT_NUMBER
            .at(place)
            .effect(format!("{loader} reads another value than is written"))
            .fact("numbers", d.detail),
        DefectKind::DeepNesting => {
            let beyond = d.detail >= DEEPEST;
            let finding = DEEP_NESTING.at(place).fact("depth", d.detail);
            match dialect {
                Dialect::Claude if beyond => finding
                    .severity(Severity::Warning)
                    .effect(format!("{loader} raises RecursionError: the whole session cannot be read")),
                _ if beyond => finding
                    .severity(Severity::Warning)
                    .effect(format!("{loader} reads it; loaders with a recursive parser fail")),
                _ => finding.effect(format!("{loader} reads it; strict parsers stop at 128 levels")),
            }
        }
        DefectKind::OversizedLine => {
            let record = session.facts.records.get(d.record as usize).filter(|r| r.line == d.line);
            let share = d.length as f64 / session.facts.size.max(1) as f64;
            let finding = OVERSIZED_LINE
                .at(place)
                .effect(format!("{loader} holds it in memory several times over"))
                .fact("bytes", d.length);
            let finding = finding.fact("share_of_file", (share * 1000.0).round() / 1000.0);
            match record {
                Some(r) => finding.fact("kind", format!("{:?}", r.kind).to_lowercase()),
                None => finding,
            }
        }
        _ => return None,
    })
}

/// Half a pair is an error where the API that gets it refuses the request.
fn whole_file(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    let (facts, dialect) = (&session.facts, session.dialect);
    let loader = dialect.loader();
    if facts.bom && session.chain.mode != Mode::File {
        let effect = match dialect {
            _ if session.agent.cut(facts.size) == Cut::TrimmedLines => {
                format!("{loader} trims it; beyond 4 MiB the first record would be lost")
            }
            Dialect::Pi => format!("{loader} refuses the file: not a valid pi session"),
            Dialect::Openclaw => format!("{loader} reads it; its repair calls the header invalid"),
            _ => format!("{loader} cannot read the first line: its record is lost"),
        };
        found.add(BYTE_ORDER_MARK.at(Place::span(1, 0, 3)).effect(effect));
    }
    if facts.lines.crlf > 0 {
        found.add(
            CRLF_LINE_ENDS
                .at(Place::line(facts.lines.first_crlf))
                .effect(format!("{loader} reads them"))
                .count(facts.lines.crlf),
        );
    }
    if facts.lines.blank > 0 {
        found.add(
            BLANK_LINE
                .at(Place::line(facts.lines.first_blank))
                .effect(format!("{loader} skips them"))
                .count(facts.lines.blank),
        );
    }
    if session.chain.mode != Mode::File {
        not_objects(context, found);
    }
    if facts.records.is_empty() && facts.lines.bad == 0 && session.document.is_none() {
        found.add(
            EMPTY_FILE
                .at(Place::default())
                .effect(format!("{loader} finds no session in it"))
                .fact("bytes", facts.size),
        );
    }
    if facts.size > OVERSIZED_FILE_BYTES {
        let mut types: Vec<_> = facts.bytes_by_type.iter().collect();
        types.sort_by_key(|(name, bytes)| (std::cmp::Reverse(**bytes), name.as_str()));
        let largest: Vec<String> = types.iter().take(5).map(|(name, bytes)| format!("{name} {bytes}")).collect();
        found.add(
            OVERSIZED_FILE
                .at(Place::default())
                .effect("loaders hang or run out of memory on files of this size")
                .fact("bytes", facts.size)
                .fact("bytes_by_type", largest),
        );
    } else if session.agent.cut(facts.size) == Cut::Separators && session.chain.mode != Mode::File {
        found.add(
            OVERSIZED_FILE
                .at(Place::default())
                .severity(Severity::Info)
                .effect(format!("{loader} streams it: lines also end at CR, U+2028 and U+2029, and nothing is trimmed"))
                .fact("bytes", facts.size),
        );
    }
}

/// Files beyond this hang loaders or exhaust them (claude-code-failures, row 94).
const OVERSIZED_FILE_BYTES: u64 = 100 * 1024 * 1024;

fn not_objects(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    let facts = &session.facts;
    let last = facts.records.len().saturating_sub(1);
    for (n, record) in facts.records.iter().enumerate().filter(|(_, r)| r.kind == Kind::NonObject) {
        if !found.wants(&NOT_AN_OBJECT) {
            continue;
        }
        let loader = session.dialect.loader();
        let finding = NOT_AN_OBJECT.at(context.place(n as u32)).fact("null", record.has(flag::IS_NULL));
        let is_null = record.has(flag::IS_NULL);
        found.add(match session.dialect {
            Dialect::Sid if session.chain.mode == Mode::Linear && is_null => {
                finding.severity(Severity::Error).effect(format!("{loader} throws: the session cannot be loaded"))
            }
            Dialect::Sid if n == last => finding
                .severity(Severity::Error)
                .effect(format!("{loader} takes it for the tail and reads the whole file in physical order")),
            Dialect::Pi if is_null => finding
                .severity(Severity::Error)
                .effect(format!("{loader} skips it; pi 0.73.1 throws and cannot open the session")),
            Dialect::Pi if n == last => finding
                .severity(Severity::Error)
                .effect(format!("{loader} takes it for the leaf: the context is empty")),
            _ => finding.effect(format!("{loader} skips it")),
        });
    }
}

pub(crate) static TORN_TAIL: Rule = Rule {
    code: "L101",
    name: "torn-tail",
    severity: Severity::Error,
    fix: Some(Fix::Bytes),
    since: "0.1.0",
    doc: Doc {
        what: "Bytes after the last line feed that are no whole record, and not only white space that the next append's reader also skips.",
        arises: "The process was killed, or the disk was full, while a record was being written. Nothing is synced or locked by any of the agents; sid-code alone was cut in 10 of 80 kills during a large flush.",
        agent: "sid-code and the Claude Code SDK skip the fragment, so nothing looks wrong yet: but their next append lands on the same line, the new record is lost with it, and every later record hangs in the air. pi 1.6.0 ends the fragment with a line feed when it opens the file; pi 0.73.1 fuses it with its next append. OpenClaw cuts it.",
        repair: "Moves the fragment into quarantine, so that the next append starts on a fresh line.",
        loses: "Nothing that any loader reads: the fragment was no record. It stays in the journal.",
        error_text: None,
    },
};

pub(crate) static MISSING_FINAL_NEWLINE: Rule = Rule {
    code: "L102",
    name: "missing-final-newline",
    severity: Severity::Warning,
    fix: Some(Fix::Bytes),
    since: "0.1.0",
    doc: Doc {
        what: "The last record is whole, but no line feed ends it.",
        arises: "A write was cut exactly behind the record, or a person or tool rewrote the file without a final line feed. 203 of 569 real Claude Code sessions of one origin are like this.",
        agent: "Every loader reads the record. sid-code, Claude Code and the SDK's rename and tag append without looking at the last byte: the next record is glued to this one and both are lost. pi 1.6.0 appends the line feed on open, OpenClaw before its next append.",
        repair: "Appends one line feed.",
        loses: "Nothing.",
        error_text: None,
    },
};

pub(crate) static SPLICED_LINE: Rule = Rule {
    code: "L103",
    name: "spliced-line",
    severity: Severity::Error,
    fix: Some(Fix::Bytes),
    since: "0.1.0",
    doc: Doc {
        what: "A cut record and a whole one on the same line. Several cut ones may have piled up.",
        arises: "A torn tail to which a resumed or restarted process appended, or a full disk that was freed while the process went on.",
        agent: "Every loader skips the line, and the whole record on it is gone: records below it hang in the air, so a resume of sid-code fails altogether and Claude Code and pi bring back only what came after.",
        repair: "Splits the line: the whole record gets a line of its own, the fragments go to quarantine. Where the whole record also stands on a line of its own, this copy goes to quarantine too.",
        loses: "The cut record, which nobody could read.",
        error_text: Some("JSON Parse error: Expected ':'"),
    },
};

pub(crate) static GLUED_RECORDS: Rule = Rule {
    code: "L104",
    name: "glued-records",
    severity: Severity::Error,
    fix: Some(Fix::Bytes),
    since: "0.1.0",
    doc: Doc {
        what: "Two or more whole records on one line, also with lone carriage returns between them.",
        arises: "A resume on a file without a final line feed, or an editor that changed the line ends.",
        agent: "Every loader skips the line and loses all records on it. Clients that miss a record may write it again later under its old id.",
        repair: "Splits the line. A record of which a copy also stands on a line of its own goes to quarantine instead, or the repair would repeat an id.",
        loses: "Nothing.",
        error_text: Some("JSON Parse error: Unable to parse JSON string"),
    },
};

pub(crate) static NUL_RUN: Rule = Rule {
    code: "L105",
    name: "nul-run",
    severity: Severity::Error,
    fix: Some(Fix::Bytes),
    since: "0.1.0",
    doc: Doc {
        what: "NUL bytes before, after or instead of records.",
        arises: "Power loss or a crashed virtual machine: the file system had given the file its length before its bytes reached the disk.",
        agent: "Every loader skips the line. In Claude Code's picker the newest text still shows, while the model's context ends days earlier.",
        repair: "Takes the NUL bytes out; a whole record between them stays, a line of nothing else goes.",
        loses: "Nothing that was ever written: the records that the NULs stand for never reached the disk.",
        error_text: None,
    },
};

pub(crate) static UNPARSABLE_LINE: Rule = Rule {
    code: "L106",
    name: "unparsable-line",
    severity: Severity::Error,
    fix: Some(Fix::Bytes),
    since: "0.1.0",
    doc: Doc {
        what: "A terminated line, not only white space, that no loader reads and that no other finding of this family explains.",
        arises: "A cut write that was followed by a fresh line, a byte that was damaged on disk, a hand edit.",
        agent: "Every loader skips it. When a later record names the lost one as its parent, the history above it is gone: sid-code cannot load the session, Claude Code and pi bring back only what came after. Some Claude Code clients are reported to stop at the first such line.",
        repair: "Moves the line into quarantine. A parent that is legible in it becomes the evidence for a new link (C201).",
        loses: "The line, which no loader reads. It stays in the journal.",
        error_text: Some("Maximum call stack size exceeded"),
    },
};

pub(crate) static SPLIT_RECORD: Rule = Rule {
    code: "L107",
    name: "split-record",
    severity: Severity::Error,
    fix: Some(Fix::Bytes),
    since: "0.1.0",
    doc: Doc {
        what: "One record broken over several lines by raw newlines inside a string.",
        arises: "Another program wrote or edited the file without escaping newlines.",
        agent: "Every loader skips each of the lines, and the record is gone.",
        repair: "Joins the lines, with an escaped newline where each raw one was.",
        loses: "Nothing.",
        error_text: None,
    },
};

pub(crate) static INVALID_UTF8: Rule = Rule {
    code: "L108",
    name: "invalid-utf8",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "Bytes that are not UTF-8.",
        arises: "A write cut in the middle of a character, bytes damaged on disk, tool output copied in raw.",
        agent: "sid-code, pi and OpenClaw read U+FFFD in their place. The Claude Code SDK decodes the file as one text and raises UnicodeDecodeError: nothing of the session can be read (its list and fork replace the bytes).",
        repair: "Replaces each bad sequence by U+FFFD, which is what the replacing loaders read anyway.",
        loses: "The bytes, which go to quarantine.",
        error_text: Some("UnicodeDecodeError: 'utf-8' codec can't decode byte"),
    },
};

pub(crate) static LONE_SURROGATE: Rule = Rule {
    code: "L109",
    name: "lone-surrogate",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "An escaped half of a UTF-16 surrogate pair, high or low, in a key or a value. The line is not bad: JSON.parse reads it.",
        arises: "A text was cut by its length in UTF-16 units, in the middle of an emoji or another character beyond U+FFFF.",
        agent: "All agents read the line and go on. Sent to the Anthropic API, the request is refused, and so is every later one, because the text stays in the history. pi and OpenClaw take unpaired halves out of each text before they send (read, not run): a warning there, and where the place is not sent at all. Readers in Rust and other strict languages refuse the line and silently count too little.",
        repair: "Replaces the escape by \\ufffd: the same number of bytes, so no other byte moves.",
        loses: "Half a character, which showed nothing.",
        error_text: Some("The request body is not valid JSON: no low surrogate in string"),
    },
};

pub(crate) static BYTE_ORDER_MARK: Rule = Rule {
    code: "L110",
    name: "byte-order-mark",
    severity: Severity::Warning,
    fix: Some(Fix::Bytes),
    since: "0.1.0",
    doc: Doc {
        what: "The bytes EF BB BF at the start of the file.",
        arises: "An editor saved the file.",
        agent: "sid-code trims it up to 4 MiB; beyond that the first record is lost and the session cannot be loaded. The Claude Code SDK loses the first record. pi 1.6.0 refuses the file, pi 0.73.1 and OpenClaw read it.",
        repair: "Takes the three bytes out.",
        loses: "Nothing.",
        error_text: Some("Session file is not a valid pi session"),
    },
};

pub(crate) static CRLF_LINE_ENDS: Rule = Rule {
    code: "L111",
    name: "crlf-line-ends",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "Lines that end in CR LF, counted.",
        arises: "The file was edited or copied on Windows.",
        agent: "All loaders read them.",
        repair: "Nothing: it is reported and never touched.",
        loses: "Nothing.",
        error_text: None,
    },
};

pub(crate) static BLANK_LINE: Rule = Rule {
    code: "L112",
    name: "blank-line",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "Blank lines, counted.",
        arises: "A writer ended a line twice, or a person edited the file.",
        agent: "All loaders skip them.",
        repair: "Nothing: they are reported and never touched.",
        loses: "Nothing.",
        error_text: None,
    },
};

pub(crate) static NOT_AN_OBJECT: Rule = Rule {
    code: "L113",
    name: "not-an-object",
    severity: Severity::Warning,
    fix: Some(Fix::Bytes),
    since: "0.1.0",
    doc: Doc {
        what: "A line that is JSON, but a number, a string, an array, true, false or null.",
        arises: "A program serialised a value that was undefined, or something other than the agent writes to the file.",
        agent: "Most loaders skip it. As the last line it changes how sid-code reads the whole file (in physical order, branches mixed), and a null line then makes it throw; pi 1.6.0 takes it for the leaf and starts with an empty context; pi 0.73.1 cannot open a file with a null line.",
        repair: "Moves the line into quarantine.",
        loses: "Nothing that any loader uses.",
        error_text: Some("Cannot read properties of null (reading 'type')"),
    },
};

pub(crate) static RAW_LINE_SEPARATOR: Rule = Rule {
    code: "L114",
    name: "raw-line-separator",
    severity: Severity::Info,
    fix: Some(Fix::Bytes),
    since: "0.1.0",
    doc: Doc {
        what: "U+2028, U+2029 or U+0085 raw inside a string. That is legal JSON.",
        arises: "Text from web pages and office documents holds them; JSON.stringify does not escape them.",
        agent: "JSON.parse reads them. sid-code beyond 4 MiB reads in a stream that ends lines at U+2028 and U+2029: the record is lost, and with it the whole session. The Claude Code SDK reads them, but its fork_session splits there and loses what is before.",
        repair: "Where the reader in question splits there: replaces the character by its escape, which reads the same.",
        loses: "Nothing.",
        error_text: None,
    },
};

pub(crate) static DUPLICATE_KEY: Rule = Rule {
    code: "L115",
    name: "duplicate-key",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "The same key twice in one object.",
        arises: "A program wrote JSON by hand, or merged two objects as text.",
        agent: "All loaders take the last value and never see the first.",
        repair: "Nothing: it is reported and never touched.",
        loses: "Nothing.",
        error_text: None,
    },
};

pub(crate) static DEEP_NESTING: Rule = Rule {
    code: "L116",
    name: "deep-nesting",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "Nesting deeper than the 128 levels that common strict parsers accept; a warning from 1000 levels on.",
        arises: "A tool took or returned deeply nested data.",
        agent: "JavaScript reads any depth that memory allows. The Claude Code SDK raises RecursionError at about 1000 levels, and then nothing of the session can be read.",
        repair: "Nothing: it is reported and never touched.",
        loses: "Nothing.",
        error_text: Some("RecursionError: maximum recursion depth exceeded"),
    },
};

pub(crate) static OVERSIZED_LINE: Rule = Rule {
    code: "L117",
    name: "oversized-line",
    severity: Severity::Warning,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "One line over 16 MiB: its size, the record's kind, and its share of the file.",
        arises: "A tool's whole output, or an image, went into the history.",
        agent: "Loaders hold it as text and as objects at once, nine to fourteen times its size; long pauses and crashes for lack of memory are reported.",
        repair: "Nothing: it is reported and never touched.",
        loses: "Nothing.",
        error_text: Some("JavaScript heap out of memory"),
    },
};

pub(crate) static OVERSIZED_FILE: Rule = Rule {
    code: "L118",
    name: "oversized-file",
    severity: Severity::Warning,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "A session over 100 MiB, with the record types that make it so; for sid-code also, as information, one over 4 MiB.",
        arises: "Long use, progress rows, large tool results, replayed records.",
        agent: "Loaders hang or run out of memory beyond 100 MiB. sid-code reads files over 4 MiB with another reader, which splits lines at more characters and trims nothing.",
        repair: "Nothing: it is reported and never touched.",
        loses: "Nothing.",
        error_text: Some("JavaScript heap out of memory"),
    },
};

pub(crate) static EMPTY_FILE: Rule = Rule {
    code: "L119",
    name: "empty-file",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "A session file without any record.",
        arises: "The process ended between creating the file and its first write, or the disk was full.",
        agent: "No agent lists it. pi 0.73.1 writes a header into an empty file and overwrites one of blank lines; pi 1.6.0 refuses one of blank lines.",
        repair: "Nothing: it is reported and never touched.",
        loses: "Nothing.",
        error_text: None,
    },
};

pub(crate) static INEXACT_NUMBER: Rule = Rule {
    code: "L120",
    name: "inexact-number",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "An integer beyond 2^53, or a number too large for a double: JavaScript reads another value than is written.",
        arises: "A tool took or returned 64-bit ids or hashes as numbers.",
        agent: "All JavaScript loaders read the nearest double, so a call that is sent again has another argument than the one that ran.",
        repair: "Nothing: it is reported and never touched.",
        loses: "Nothing.",
        error_text: None,
    },
};
