//! A repair's plan as findings, for the exporters of findings: what would be done about each, and what would be left.

use std::path::PathBuf;

use super::by_file::Listed;
use crate::audit::repair::FilePlan;
use crate::finding::{Finding, Place};
use crate::store::Discovery;

/// A file with what its plan says.
#[derive(Debug)]
pub struct PlannedFile<'a> {
    plan: &'a FilePlan,
    root: Option<u32>,
    findings: Vec<Finding>,
}

impl PlannedFile<'_> {
    /// As exporters walk over it.
    pub fn listed(&self) -> Listed<'_> {
        Listed {
            class: Some(self.plan.agent_id.name()),
            root: self.root,
            path: self.plan.path.clone(),
            below: self.plan.below.clone(),
            findings: &self.findings,
        }
    }
}

/// The plans, each edit as a finding of the code that it answers, then what is left.
pub fn planned<'a>(discovery: &Discovery, plans: &'a [FilePlan]) -> Vec<PlannedFile<'a>> {
    plans
        .iter()
        .map(|plan| {
            let root = discovery.files.get(plan.file as usize).and_then(|file| discovery.folder(file));
            let edits = plan.edits.iter().map(|planned| {
                let edit = &planned.edit;
                let place = Place { line: Some(planned.line), offset: Some(planned.offset), ..Place::default() };
                let finding = Finding { planned: true, ..edit.rule.at(place) };
                let reason = if edit.reason.is_empty() { String::new() } else { format!(": {}", edit.reason) };
                let finding = finding.effect(format!("repair would {}{reason}", edit.action.name().replace('_', " ")));
                let finding = finding.fact("action", edit.action.name()).fact("class", edit.class.name());
                match edit.evidence {
                    Some(evidence) => finding.fact("evidence", evidence.name()),
                    None => finding,
                }
            });
            let left = plan.left.iter().map(|left| left.finding.clone().fact("left_because", left.why.clone()));
            PlannedFile { plan, root: root.map(|folder| folder.root), findings: edits.chain(left).collect::<Vec<_>>() }
        })
        .collect()
}

/// What was refused and what could not be read or written, as one list.
pub fn troubles(report: &super::repair_json::Report<'_>) -> Vec<(PathBuf, String)> {
    let refused = report.refused.iter().map(|one| (one.path.clone(), format!("refused: {}", one.reason)));
    let failed = report.failed.iter().map(|one| (one.path.clone(), one.message.clone()));
    refused.chain(failed).chain(report.errors.iter().cloned()).collect()
}
