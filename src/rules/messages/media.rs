//! Images, documents and references: M407 to M412. The bytes were judged in the pass; here it is asked whether they reach
//! the API.

use super::{
    BROKEN_DOCUMENT, LONG_NAME, MISLABELLED_MEDIA, OVERSIZED_MEDIA, TOOL_REFERENCE, UNDECODABLE_MEDIA,
    UNSUPPORTED_MEDIA,
};
use crate::finding::{Finding, Rule};
use crate::provider::limits::TOOL_NAME;
use crate::record::facts::{Block, BlockKind, DefectKind};
use crate::request::WHOLE;
use crate::rules::Context;
use crate::rules::api_verdict::{Case, Does, NOTED, REFUSED, Weight, effect};

/// What is worded here.
pub(super) static RULES: &[&Rule] = &[
    &MISLABELLED_MEDIA,
    &UNDECODABLE_MEDIA,
    &OVERSIZED_MEDIA,
    &UNSUPPORTED_MEDIA,
    &BROKEN_DOCUMENT,
    &TOOL_REFERENCE,
    &LONG_NAME,
];

/// The rule that tells what is wrong with a medium.
pub fn rule_of(kind: DefectKind) -> Option<&'static Rule> {
    Some(match kind {
        DefectKind::MislabelledMedia => &MISLABELLED_MEDIA,
        DefectKind::UndecodableMedia => &UNDECODABLE_MEDIA,
        DefectKind::OversizedMedia => &OVERSIZED_MEDIA,
        DefectKind::UnsupportedMedia => &UNSUPPORTED_MEDIA,
        DefectKind::BrokenDocument => &BROKEN_DOCUMENT,
        DefectKind::ToolReference => &TOOL_REFERENCE,
        DefectKind::LongReference => &LONG_NAME,
        _ => return None,
    })
}

pub(super) fn judge(context: &Context<'_>, cases: &mut Vec<Case>) {
    let session = context.session;
    let sent = context.request;
    for (number, defect) in (0..).zip(&session.facts.defects) {
        let Some(rule) = rule_of(defect.kind) else { continue };
        if defect.record as usize >= session.facts.records.len() {
            continue;
        }
        let treatment = match defect.kind {
            DefectKind::ToolReference => context.agent.tool_reference(),
            _ if !sent.reaches(defect.record) => NOTED,
            DefectKind::LongReference => REFUSED,
            DefectKind::UndecodableMedia => context.agent.undecodable_media(),
            _ => REFUSED,
        };
        cases.push(Case::new(rule, treatment, defect.record, WHOLE).with(number));
    }
    let names = &session.facts.names;
    if names.longest() > TOOL_NAME {
        let long = |b: &Block| b.kind == BlockKind::Call && names.get(b.name).is_some_and(|n| n.len() > TOOL_NAME);
        for row in &sent.rows {
            let blocks = (0..).zip(sent.blocks(&session.facts, row.record));
            let treatment = if sent.reaches(row.record) { REFUSED } else { NOTED };
            let found = blocks.filter(|(_, b)| long(b));
            cases.extend(found.map(|(place, _)| Case::new(&LONG_NAME, treatment, row.record, place)));
        }
    }
    if !session.facts.blocks.iter().any(|b| b.kind == BlockKind::ToolReference) {
        return;
    }
    for (n, record) in (0..).zip(&session.facts.records) {
        for (place, b) in (0..).zip(session.facts.blocks_of(record)) {
            if b.kind == BlockKind::ToolReference {
                cases.push(Case::new(&TOOL_REFERENCE, context.agent.tool_reference(), n, place));
            }
        }
    }
}

pub(super) fn word(context: &Context<'_>, case: &Case, finding: Finding) -> Finding {
    let session = context.session;
    let mut finding = finding;
    // The place of the data is surer than that of the record, where the pass could give it.
    if let Some(defect) = session.facts.defects.get(case.detail as usize)
        && defect.length > 0
    {
        finding.place.offset = Some(defect.offset);
        finding.place.length = Some(u64::from(defect.length));
        finding = finding.fact("bytes", defect.length);
    }
    let noted = case.weight == Weight::Noted && case.rule != &TOOL_REFERENCE;
    finding.effect(effect(context, case.rule, if noted { Does::NotSent } else { case.does }))
}
