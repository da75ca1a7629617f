//! U: usage. Figures that mislead whoever adds them up: ratios that mix stock with flow, totals that are not their parts,
//! usage that stands on several records or in several files, figures that cannot be.
//!
//! Nothing is counted here: what is said are the values of `metrics`, so that a scan and `metrics` cannot differ.

use super::{Collector, Context, counted};
use crate::finding::{Doc, Finding, Place, Rule, Severity};
use crate::metrics::usage::{Disagreement, Group, Impossible, MixedFigure, StoreUsage};
use crate::store::Discovery;

/// The rules of this family.
pub static RULES: &[&Rule] =
    &[&MIXED_RATIO, &SNAPSHOT_DISAGREES, &REPEATED_USAGE, &GROWING_USAGE, &IMPOSSIBLE_FIGURE, &COPIED_USAGE];

/// So many files are named in one finding.
const NAMED: usize = 20;

/// Finds them in one session.
pub fn check(context: &Context<'_>, found: &mut Collector) {
    let usage = context.usage;
    for figure in &usage.mixed {
        if found.wants(&MIXED_RATIO) {
            found.add(mixed(context, figure));
        }
    }
    for total in &usage.disagreements {
        if found.wants(&SNAPSHOT_DISAGREES) {
            found.add(disagreement(context, total));
        }
    }
    for (rule, group) in [(&REPEATED_USAGE, &usage.repeated), (&GROWING_USAGE, &usage.growing)] {
        found_group(context, rule, group, found);
    }
    for figure in &usage.impossible {
        if found.wants(&IMPOSSIBLE_FIGURE) {
            found.add(impossible(context, figure));
        }
    }
    for (rule, more) in [&MIXED_RATIO, &SNAPSHOT_DISAGREES, &IMPOSSIBLE_FIGURE].into_iter().zip(usage.more) {
        if more > 0 {
            found.more(rule, more);
        }
    }
}

fn mixed(context: &Context<'_>, figure: &MixedFigure) -> Finding {
    let wrong = figure.wrong;
    let right = match figure.right {
        Some(right) => format!("of all prompts ({} tokens) it is {}", right.denominator, right.percent()),
        None => "the record holds no sum of the prompts to divide by".to_owned(),
    };
    let finding = MIXED_RATIO
        .at(context.place(figure.record))
        .effect(format!(
            "cacheReadInputTokens, {} over all calls, by inputTokens, {} in the last one, gives {}; {right}",
            wrong.flow.get(),
            wrong.stock.get(),
            wrong.percent()
        ))
        .fact("model", &*figure.model)
        .fact("wrong", rounded(wrong.value()))
        .fact("flow", "cacheReadInputTokens")
        .fact("stock", "inputTokens");
    let finding = match figure.right {
        Some(right) => finding
            .fact("right", rounded(right.value()))
            .fact("numerator", right.numerator)
            .fact("denominator", right.denominator),
        None => finding,
    };
    match &figure.stored {
        Some(name) => finding.severity(Severity::Warning).fact("stored", &**name),
        None => finding,
    }
}

/// To four digits behind the point: 1.8599, not 1.859894816...
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn disagreement(context: &Context<'_>, total: &Disagreement) -> Finding {
    let finding = SNAPSHOT_DISAGREES
        .at(context.place(total.record))
        .effect(total.why)
        .fact("what", total.what)
        .fact("stored", total.stored)
        .fact("parts", rounded(total.parts))
        .fact("same_record", total.same_record);
    let finding = match &total.model {
        Some(model) => finding.fact("model", &**model),
        None => finding,
    };
    if total.is_contradiction() { finding } else { finding.severity(Severity::Info) }
}

fn found_group(context: &Context<'_>, rule: &'static Rule, group: &Group, found: &mut Collector) {
    let Some(first) = group.first else { return };
    let (all, once) = group.output;
    let finding = rule.at(context.place(first)).count(group.responses).effect(format!(
        "{} of {} counted once: {once} output tokens, not {all}",
        counted(group.records, "record"),
        counted(group.responses, "response")
    ));
    found.add(
        finding
            .fact("responses", group.responses)
            .fact("records", group.records)
            .fact("output_tokens", once)
            .fact("output_tokens_of_all_records", all),
    );
}

fn impossible(context: &Context<'_>, figure: &Impossible) -> Finding {
    let finding = IMPOSSIBLE_FIGURE.at(context.place(figure.record)).effect(figure.why).fact("field", &*figure.field);
    match figure.fell {
        Some((before, after)) => finding.fact("before", before).fact("after", after),
        None => finding,
    }
}

/// What only the whole store shows: responses that stand in several files.
pub fn check_store(usage: &StoreUsage, discovery: &Discovery) -> Option<Finding> {
    if usage.copied == 0 {
        return None;
    }
    let path = |file: &u32| {
        let file = discovery.files.get(*file as usize)?;
        Some(discovery.path(file).to_string_lossy().into_owned())
    };
    let files: Vec<String> = usage.copies_in.iter().take(NAMED).filter_map(path).collect();
    let root = discovery.roots.first().map(|root| root.store.as_deref().unwrap_or(&root.path));
    let finding = COPIED_USAGE
        .at(Place::default())
        .count(usage.copied)
        .effect(format!(
            "{} in {}: counted once in the totals of the store",
            match usage.copied {
                1 => "1 copy of a response".to_owned(),
                n => format!("{n} copies of responses"),
            },
            counted(usage.copies_in.len() as u64, "file")
        ))
        .fact("files", usage.copies_in.len())
        .fact("paths", files);
    Some(match root {
        Some(root) => finding.path(root),
        None => finding,
    })
}

static MIXED_RATIO: Rule = Rule {
    code: "U601",
    name: "mixed-ratio",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "Figures of one record whose natural ratio divides a sum over all calls (a flow) by a figure of the last call (a stock): a cache hit rate of 186 % or 444 %. The wrong value, the right one and the fields are given. It is a warning only where the record itself stores such a ratio.",
        arises: "sid-code's usage_stats keeps, side by side and with similar names, inputTokens and stockPromptTokens, which each call overwrites, and cumulativePromptTokens, cacheReadInputTokens and outputTokens, which are added up. Whoever divides what was read from the cache by the input next to it gets a number that looks like a rate as long as it stays below 100 %.",
        agent: "sid-code 3f3215144f68 itself divides by cumulativePromptTokens. What that is differs by provider: for Anthropic only what was not read from the cache, so that the prompt is the sum of all three; for OpenAI and those that follow it the whole prompt.",
        repair: "Nothing: the figures are right, only their ratio is not one.",
        loses: "Nothing.",
        error_text: None,
    },
};

static SNAPSHOT_DISAGREES: Rule = Rule {
    code: "U602",
    name: "snapshot-disagrees",
    severity: Severity::Warning,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "A stored total that is not what its parts give. A warning where the parts stand in the same record and the total is less than they are, or a list's stored length is another; a note where the total holds more than the record names, and where the parts stand in other records, each with what explains the difference.",
        arises: "In one record: a hand edit, a program that changed one of the two, a writer that was stopped between them. Across records: running totals know requests of subagents and those that were thrown away, which left no message; an end mark counts the messages that were in memory; a resume took totals up whose models were not stored yet.",
        agent: "sid-code 3f3215144f68 takes the last usage_stats up on a resume as it stands and counts on from it: a wrong total stays wrong. totalCostUSD is the cost of the main calls only; what side calls cost is added when it is shown. pi's totalTokens is as its provider gave it, and some leave the cache out.",
        repair: "Nothing: which of the two is right cannot be read from the file.",
        loses: "Nothing.",
        error_text: None,
    },
};

static REPEATED_USAGE: Rule = Rule {
    code: "U603",
    name: "repeated-usage",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "Responses whose usage stands on several records, each time the same, counted. In every total of this tool it counts once.",
        arises: "Claude Code writes one record for each block of a response, each with the usage of the whole. Records that were written again (a compaction's replay, a copied tail) repeat it too.",
        agent: "Claude Code shows the right sum. Tools that add all records up are 1.4 to 2.5 times too high. What tells records of one response is message.id; requestId is missing behind several gateways.",
        repair: "Nothing: this is how the agent writes.",
        loses: "Nothing.",
        error_text: None,
    },
};

static GROWING_USAGE: Rule = Rule {
    code: "U604",
    name: "growing-usage",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "Responses whose usage grows from record to record, counted. The record with most output counts, of equals the last.",
        arises: "Claude Code wrote records while the response still streamed, with what was known at that moment.",
        agent: "Tools that keep the first record of a response are 2 to 2.7 times too low in output tokens; those that add all up are too high.",
        repair: "Nothing: this is how the agent wrote.",
        loses: "Nothing.",
        error_text: None,
    },
};

static IMPOSSIBLE_FIGURE: Rule = Rule {
    code: "U605",
    name: "impossible-figure",
    severity: Severity::Warning,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "A figure that cannot be: negative, no number (null in a running total is what JavaScript writes for NaN), no whole number of tokens, or a running total that falls between two records of one process.",
        arises: "Arithmetic on something undefined, a provider's odd answer, a hand edit, two processes that write to one session. A total that begins anew is none of these: at a resume, or at /clear, which sets all of them to 0; that is told by the requests, which fall too or are no more than were stored since.",
        agent: "sid-code 3f3215144f68 takes what is no number for 0 on a resume, and counts on from a total that fell.",
        repair: "Nothing: the right figure is not in the file.",
        loses: "Nothing.",
        error_text: None,
    },
};

static COPIED_USAGE: Rule = Rule {
    code: "U606",
    name: "copied-usage",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "The same responses in several files of the store, counted: one finding for the store, with the files. Each counts in every session that holds it, and once in the store's totals; of copies that differ the one with most output.",
        arises: "A fork, a resume that writes a new file, a background copy, or a session copied by hand carries earlier responses along with their usage.",
        agent: "No agent counts over files. Tools that do, and add all up, are about twice too high on stores with many forks.",
        repair: "Nothing: each file needs its history.",
        loses: "Nothing.",
        error_text: None,
    },
};
