//! Images, documents and references: M407 to M412. The bytes were judged in the pass; here it is asked whether they reach
//! the API.

use super::{
    BROKEN_DOCUMENT, MISLABELLED_MEDIA, OVERSIZED_MEDIA, TOOL_REFERENCE, UNDECODABLE_MEDIA, UNSUPPORTED_MEDIA,
};
use crate::dialect::Dialect;
use crate::finding::{Finding, Rule};
use crate::record::facts::{BlockKind, DefectKind};
use crate::request::WHOLE;
use crate::rules::Context;
use crate::rules::legal::{Case, REFUSED, Weight, as_it_stands};

/// The rule that tells what is wrong with a medium.
pub fn rule_of(kind: DefectKind) -> Option<&'static Rule> {
    Some(match kind {
        DefectKind::MislabelledMedia => &MISLABELLED_MEDIA,
        DefectKind::UndecodableMedia => &UNDECODABLE_MEDIA,
        DefectKind::OversizedMedia => &OVERSIZED_MEDIA,
        DefectKind::UnsupportedMedia => &UNSUPPORTED_MEDIA,
        DefectKind::BrokenDocument => &BROKEN_DOCUMENT,
        DefectKind::ToolReference => &TOOL_REFERENCE,
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
        let weight = match defect.kind {
            DefectKind::ToolReference => Weight::Noted,
            _ if !sent.reaches(defect.record) => Weight::Noted,
            DefectKind::UndecodableMedia if session.dialect == Dialect::Openclaw => Weight::Healed,
            _ => Weight::Refused,
        };
        cases.push(Case::new(rule, weight, defect.record, WHOLE).with(number));
    }
    if !session.facts.blocks.iter().any(|b| b.kind == BlockKind::ToolReference) {
        return;
    }
    for (n, record) in (0..).zip(&session.facts.records) {
        for (place, b) in (0..).zip(session.facts.blocks_of(record)) {
            if b.kind == BlockKind::ToolReference {
                cases.push(Case::new(&TOOL_REFERENCE, Weight::Noted, n, place));
            }
        }
    }
}

pub(super) fn word(context: &Context<'_>, case: &Case, finding: Finding) -> Finding {
    let session = context.session;
    let loader = session.dialect.loader();
    let mut finding = finding;
    // The place of the data is surer than that of the record, where the pass could give it.
    if let Some(defect) = session.facts.defects.get(case.detail as usize)
        && defect.length > 0
    {
        finding.place.offset = Some(defect.offset);
        finding.place.length = Some(u64::from(defect.length));
        finding = finding.fact("bytes", defect.length);
    }
    let effect = match case.weight {
        Weight::Noted if case.rule.code == "M412" => {
            "if the tool is gone, clients before 2.1.233 are refused; later ones drop the reference".to_owned()
        }
        Weight::Noted => format!("{loader} does not send it"),
        Weight::Healed => format!("{loader} takes the image out of the file before it loads it"),
        _ => as_it_stands(context, REFUSED),
    };
    finding.effect(effect)
}
