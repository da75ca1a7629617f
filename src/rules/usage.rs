//! U: usage. Figures that mislead whoever adds them up: ratios that mix stock with flow, totals that are not their parts,
//! usage that stands on several records or in several files, figures that cannot be.
//!
//! Nothing is counted here: what is said are the values of `metrics`, so that a scan and `metrics` cannot differ.

use super::{Collector, Context, counted};
use crate::finding::{Finding, Place, Rule, Severity};
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
        if found.wants(MIXED_RATIO.code) {
            found.add(mixed(context, figure));
        }
    }
    for total in &usage.disagreements {
        if found.wants(SNAPSHOT_DISAGREES.code) {
            found.add(disagreement(context, total));
        }
    }
    for (rule, group) in [(&REPEATED_USAGE, &usage.repeated), (&GROWING_USAGE, &usage.growing)] {
        found_group(context, rule, group, found);
    }
    for figure in &usage.impossible {
        if found.wants(IMPOSSIBLE_FIGURE.code) {
            found.add(impossible(context, figure));
        }
    }
    for (rule, more) in [&MIXED_RATIO, &SNAPSHOT_DISAGREES, &IMPOSSIBLE_FIGURE].into_iter().zip(usage.more) {
        if more > 0 {
            found.more(rule.code, more);
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

static MIXED_RATIO: Rule =
    Rule { code: "U601", name: "mixed-ratio", severity: Severity::Info, fix: None, since: "0.1.0" };

static SNAPSHOT_DISAGREES: Rule =
    Rule { code: "U602", name: "snapshot-disagrees", severity: Severity::Warning, fix: None, since: "0.1.0" };

static REPEATED_USAGE: Rule =
    Rule { code: "U603", name: "repeated-usage", severity: Severity::Info, fix: None, since: "0.1.0" };

static GROWING_USAGE: Rule =
    Rule { code: "U604", name: "growing-usage", severity: Severity::Info, fix: None, since: "0.1.0" };

static IMPOSSIBLE_FIGURE: Rule =
    Rule { code: "U605", name: "impossible-figure", severity: Severity::Warning, fix: None, since: "0.1.0" };

static COPIED_USAGE: Rule =
    Rule { code: "U606", name: "copied-usage", severity: Severity::Info, fix: None, since: "0.1.0" };
