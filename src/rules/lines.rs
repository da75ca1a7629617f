//! L: lines and bytes. Checks what the pass noted of lines that no loader reads, of bytes that loaders treat differently,
//! and of sizes. It leaves to `chain` what the damage does to the history, and to `messages` what media blocks hold.
//!
//! Longer than other files because half of it is the texts of twenty rules, which stand beside their checks.

use std::collections::BTreeMap;

use super::surrogates::Contents;
use super::{Collector, Context, counted};
use crate::chain::Mode;
use crate::dialect::Dialect;
use crate::finding::{Finding, Fix, Place, Rule, Severity};
use crate::record::agent::Cut;
use crate::record::damage::BadKind;
use crate::record::facts::{BadLine, Defect, DefectKind, Kind, flag};
use crate::record::parse::DEEPEST;

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
            found.more(rule_of(*kind).code, count.saturating_sub(listed));
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
    if bad.kind == BadKind::Marked || !found.wants(rule.code) {
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
    let mut listed: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut contents = Contents::default();
    for defect in &facts.defects {
        let Some(finding) = line_defect(context, defect, &mut contents) else { continue };
        *listed.entry(finding.rule.code).or_default() += 1;
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
        let named = listed.get(rule.code).copied().unwrap_or(0);
        if named > 0 && all > named {
            found.more(rule.code, all - named);
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
        if !found.wants(NOT_AN_OBJECT.code) {
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

static TORN_TAIL: Rule =
    Rule { code: "L101", name: "torn-tail", severity: Severity::Error, fix: Some(Fix::Bytes), since: "0.1.0" };

static MISSING_FINAL_NEWLINE: Rule = Rule {
    code: "L102",
    name: "missing-final-newline",
    severity: Severity::Warning,
    fix: Some(Fix::Bytes),
    since: "0.1.0",
};

static SPLICED_LINE: Rule =
    Rule { code: "L103", name: "spliced-line", severity: Severity::Error, fix: Some(Fix::Bytes), since: "0.1.0" };

static GLUED_RECORDS: Rule =
    Rule { code: "L104", name: "glued-records", severity: Severity::Error, fix: Some(Fix::Bytes), since: "0.1.0" };

static NUL_RUN: Rule =
    Rule { code: "L105", name: "nul-run", severity: Severity::Error, fix: Some(Fix::Bytes), since: "0.1.0" };

static UNPARSABLE_LINE: Rule =
    Rule { code: "L106", name: "unparsable-line", severity: Severity::Error, fix: Some(Fix::Bytes), since: "0.1.0" };

static SPLIT_RECORD: Rule =
    Rule { code: "L107", name: "split-record", severity: Severity::Error, fix: Some(Fix::Bytes), since: "0.1.0" };

static INVALID_UTF8: Rule =
    Rule { code: "L108", name: "invalid-utf8", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

static LONE_SURROGATE: Rule =
    Rule { code: "L109", name: "lone-surrogate", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

pub(crate) static BYTE_ORDER_MARK: Rule =
    Rule { code: "L110", name: "byte-order-mark", severity: Severity::Warning, fix: Some(Fix::Bytes), since: "0.1.0" };

static CRLF_LINE_ENDS: Rule =
    Rule { code: "L111", name: "crlf-line-ends", severity: Severity::Info, fix: None, since: "0.1.0" };

static BLANK_LINE: Rule =
    Rule { code: "L112", name: "blank-line", severity: Severity::Info, fix: None, since: "0.1.0" };

static NOT_AN_OBJECT: Rule =
    Rule { code: "L113", name: "not-an-object", severity: Severity::Warning, fix: Some(Fix::Bytes), since: "0.1.0" };

static RAW_LINE_SEPARATOR: Rule =
    Rule { code: "L114", name: "raw-line-separator", severity: Severity::Info, fix: Some(Fix::Bytes), since: "0.1.0" };

static DUPLICATE_KEY: Rule =
    Rule { code: "L115", name: "duplicate-key", severity: Severity::Info, fix: None, since: "0.1.0" };

static DEEP_NESTING: Rule =
    Rule { code: "L116", name: "deep-nesting", severity: Severity::Info, fix: None, since: "0.1.0" };

static OVERSIZED_LINE: Rule =
    Rule { code: "L117", name: "oversized-line", severity: Severity::Warning, fix: None, since: "0.1.0" };

static OVERSIZED_FILE: Rule =
    Rule { code: "L118", name: "oversized-file", severity: Severity::Warning, fix: None, since: "0.1.0" };

static EMPTY_FILE: Rule =
    Rule { code: "L119", name: "empty-file", severity: Severity::Info, fix: None, since: "0.1.0" };

static INEXACT_NUMBER: Rule =
    Rule { code: "L120", name: "inexact-number", severity: Severity::Info, fix: None, since: "0.1.0" };
