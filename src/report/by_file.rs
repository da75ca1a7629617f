//! Files with their findings, one after the other: what every exporter of findings walks over. A finding is listed under
//! one file, and its fingerprint depends on which one and on those before it, so the walk is written once.

use std::path::{Path, PathBuf};

use super::format::number;
use crate::audit::{self, Scan};
use crate::finding::Finding;
use crate::rules::baseline::Baseline;
use crate::rules::fingerprint::Fingerprints;

/// A file with its findings.
#[derive(Debug)]
pub struct Listed<'a> {
    /// Whose session it is, or `checkpoints`; none for what belongs to no single file.
    pub class: Option<&'static str>,
    /// The root below which it lies, as its place among the roots.
    pub root: Option<u32>,
    /// Its path; of what belongs to no single session the first root's.
    pub path: PathBuf,
    /// Its path below its store.
    pub below: PathBuf,
    /// Its findings.
    pub findings: &'a [Finding],
}

/// One finding of a listed file.
#[derive(Debug)]
pub struct Told<'a> {
    /// The finding.
    pub finding: &'a Finding,
    /// What makes it the same one tomorrow.
    pub fingerprint: String,
    /// Whether the baseline has it.
    pub known: bool,
}

impl<'a> Listed<'a> {
    /// Its findings with their fingerprints.
    pub fn told<'s>(&'s self, known: &'s Baseline) -> impl Iterator<Item = Told<'a>> + use<'a, 's> {
        let mut fingerprints = Fingerprints::new(&self.below);
        self.findings.iter().map(move |finding| {
            let fingerprint = fingerprints.of(finding);
            Told { finding, known: known.holds(&fingerprint), fingerprint }
        })
    }

    /// The file that a finding is about.
    pub fn path_of<'f>(&'f self, finding: &'f Finding) -> &'f Path {
        finding.path.as_deref().unwrap_or(&self.path)
    }
}

/// Every session and checkpoint index of a scan, then what belongs to no single file.
pub fn of_scan(scan: &Scan) -> impl Iterator<Item = Listed<'_>> {
    let discovery = &scan.discovery;
    let listed = |n: u32, class, findings| {
        let file = discovery.files.get(n as usize)?;
        let path = discovery.path(file);
        let below = audit::below_store(discovery, file, &path).to_owned();
        let root = discovery.folder(file).map(|folder| folder.root);
        Some(Listed { class: Some(class), root, path, below, findings })
    };
    let sessions = scan.sessions.iter();
    let sessions = sessions.filter_map(move |one| listed(one.file, one.agent_id.name(), one.findings()));
    let indexes = scan.checkpoints.iter().filter_map(move |one| listed(one.file, "checkpoints", &*one.findings));
    let root = discovery.roots.first().map(|root| root.path.clone());
    sessions.chain(indexes).chain(std::iter::once(Listed {
        class: None,
        root: root.is_some().then_some(0),
        path: root.unwrap_or_default(),
        below: PathBuf::new(),
        findings: &scan.store,
    }))
}

/// A finding in one sentence: its name, what the agent does with it, the cause and how many it stands for.
pub fn sentence(finding: &Finding) -> String {
    let effect = if finding.effect.is_empty() { String::new() } else { format!(": {}", finding.effect) };
    let cause = finding.cause.map(|cause| format!(" (cause: {cause})")).unwrap_or_default();
    let times = match stands_for(finding) {
        1 => String::new(),
        n => format!(", {} in all", number(n)),
    };
    format!("{}{effect}{cause}{times}", finding.rule.name)
}

/// How many defects one finding stands for.
pub fn stands_for(finding: &Finding) -> u64 {
    finding.count.unwrap_or(1) + finding.more.unwrap_or(0)
}
