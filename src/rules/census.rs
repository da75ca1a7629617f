//! F: the field census. What is never written in a whole store, and whether that is right.
//!
//! Nothing is counted here: what is said are the values of `metrics::census`, as `fields` shows them in full. What is right
//! or not decidable is one finding an agent; what was lost on the way is one a field, because each has its own way to look
//! for. A part of a store (one session, a project's folder) is not judged: its zeros say nothing.

use crate::finding::{Doc, Finding, Place, Rule, Severity};
use crate::metrics::census::{FieldVerdict, Verdict};
use crate::store::{Discovery, Root};

/// The rules of this family.
pub static RULES: &[&Rule] = &[&CANNOT_OCCUR, &DID_NOT_OCCUR, &LOST_ON_THE_WAY, &UNPROVEN];

/// So many fields are named in one finding.
const NAMED: usize = 20;

/// Says what the census of a store found.
pub fn check_store(verdicts: &[FieldVerdict], discovery: &Discovery) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut rest = verdicts;
    while let Some(first) = rest.first() {
        let (own, others) = rest.split_at(rest.partition_point(|v| v.dialect == first.dialect));
        rest = others;
        let is_home = |root: &&Root| root.layout.is_home() && root.dialect.is_some_and(|d| same(d, first));
        let Some(root) = discovery.roots.iter().find(is_home) else { continue };
        let path = root.store.as_deref().unwrap_or(&root.path);
        for (rule, verdict) in [
            (&CANNOT_OCCUR, Verdict::CannotOccur),
            (&DID_NOT_OCCUR, Verdict::DidNotOccur),
            (&UNPROVEN, Verdict::Unproven),
        ] {
            let with = || own.iter().filter(|v| v.verdict == verdict);
            let fields = with().count();
            if fields > 0 {
                let named: Vec<String> = with().take(NAMED).map(|v| v.path.to_string()).collect();
                findings.push(
                    rule.at(Place::default())
                        .path(path)
                        .effect(format!("{}: `fields` lists each with its evidence", words(fields, verdict)))
                        .fact("agent", first.dialect.name())
                        .fact("fields", fields)
                        .fact("paths", named),
                );
            }
        }
        for lost in own.iter().filter(|v| v.verdict == Verdict::LostOnTheWay) {
            findings.push(
                LOST_ON_THE_WAY
                    .at(Place::default())
                    .path(path)
                    .effect(format!(
                        "{} is never written, although {} occurred {} times",
                        lost.path,
                        lost.cause,
                        lost.cause_count.unwrap_or(0)
                    ))
                    .fact("agent", lost.dialect.name())
                    .fact("field", &*lost.path)
                    .fact("cause", &*lost.cause)
                    .fact("cause_count", lost.cause_count.unwrap_or(0)),
            );
        }
    }
    findings.sort_by(|a, b| (a.rule.code, &a.path).cmp(&(b.rule.code, &b.path)));
    findings
}

fn same(dialect: crate::dialect::Dialect, verdict: &FieldVerdict) -> bool {
    dialect == verdict.dialect || (dialect.is_pi() && verdict.dialect.is_pi())
}

fn words(fields: usize, verdict: Verdict) -> String {
    let what = match verdict {
        Verdict::CannotOccur => "that cannot occur",
        Verdict::DidNotOccur => "whose cause did not occur either",
        _ => "of which it cannot be told why they are not there",
    };
    format!("{fields} type{} or field{} {what}", if fields == 1 { "" } else { "s" }, if fields == 1 { "" } else { "s" })
}

static CANNOT_OCCUR: Rule = Rule {
    code: "F701",
    name: "cannot-occur",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "Record types or fields that are never there, and that the format's own rules make unreachable: 0 is right. One finding an agent.",
        arises: "A type is declared and handled by the loader, and no code writes it: sid-code's tool_result, whose content has always been stored in user_message records; or it belongs to another stream than files, as Claude Code's stream_event.",
        agent: "Nothing is missing. Whoever counts such a type in files gets 0 and may take the store for broken; a text search for it finds blocks inside other records.",
        repair: "Nothing.",
        loses: "Nothing.",
        error_text: None,
    },
};

static DID_NOT_OCCUR: Rule = Rule {
    code: "F702",
    name: "did-not-occur",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "Record types or fields that are never there, and whose cause did not occur in this store either, as far as it shows. One finding an agent; `fields` says of each how to make it occur.",
        arises: "A compaction writes context_compact: without a compaction there is none. Of some causes the store would show nothing but the field itself; then the evidence says so.",
        agent: "Nothing is missing.",
        repair: "Nothing.",
        loses: "Nothing.",
        error_text: None,
    },
};

static LOST_ON_THE_WAY: Rule = Rule {
    code: "F703",
    name: "lost-on-the-way",
    severity: Severity::Warning,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "A type or field that is never there although its cause occurred, and must write it each time. The value exists upstream and is dropped before it reaches the file. One finding a field, with how often its cause occurred.",
        arises: "Four hops to check. The data: does the value exist where it is made (a snapshot's id in the checkpoint manager)? The producer: does it hand the value out (the tool executor does, as its third argument)? Each hop between: does every adapter, wrapper and callback pass it on (sid-code's adapter between executor and app passes two of three arguments)? The consumer: does it write what it is given (it does, when it is given one)? The hop at which the value was last seen is the one to mend.",
        agent: "Whatever reads the field finds nothing and says nothing: sid-code 3f3215144f68 offers rewind points whose files it cannot restore, because no session names its snapshots.",
        repair: "Nothing: what was not written cannot be read from anywhere; checkpoints stay usable by their own index.",
        loses: "Nothing.",
        error_text: None,
    },
};

static UNPROVEN: Rule = Rule {
    code: "F704",
    name: "unproven",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "Record types or fields that are never there, of which it cannot be told why: lines, files or types that could hold them were not read, or their cause occurred and not every version or case writes them. One finding an agent; `fields` says how many of what.",
        arises: "Damaged lines, unreadable files, a hostile number of types; fields that came with a later version of the agent than wrote this store.",
        agent: "Nothing is known to be missing.",
        repair: "Nothing; once damaged lines are repaired, a second census may tell.",
        loses: "Nothing.",
        error_text: None,
    },
};
