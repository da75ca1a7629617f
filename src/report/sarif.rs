//! Findings as SARIF 2.1.0, which code-scanning sites read: rules with their help and levels, results with places and
//! fingerprints, and what could not be read as notifications of the invocation. What SARIF has no word for (facts, the
//! cause, how far a repair would go) stands in the property bags. The shape of the format is in `sarif/model.rs`.
//!
//! All rules are listed, found or not: so a reader knows what was looked for. Paths are relative to the root that was
//! scanned, so that a report of one checkout says the same as one of another.

mod model;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::by_file::{self, Listed, Told};
use super::json_head::{Each, IdField};
use super::sanitize::visible;
use super::{json, uri};
use crate::agents;
use crate::agents::registry;
use crate::finding::{Fix, Rule, Severity};
use crate::record::time;
use crate::rules::baseline::Baseline;
use crate::rules::filter::Gate;
use crate::store::{Discovery, Layout};
use model::{
    Artifact, Configuration, Descriptor, DescriptorReference, Driver, Invocation, Location, Log, Logical, Message,
    Multiformat, Notification, Override, Physical, Properties, Region, Result as Finding, RuleProperties, Run,
    Suppression, Tool, Words,
};

/// What a run of a command has to say.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// `scan`, `repair`.
    pub command: &'static str,
    /// What was read.
    pub discovery: &'a Discovery,
    /// Which rules were asked for.
    pub gate: &'a Gate,
    /// Findings that are known; none when no baseline was given.
    pub known: Option<&'a Baseline>,
    /// What could not be read.
    pub errors: &'a [(PathBuf, String)],
    /// Files on which sid-audit itself failed.
    pub defects: &'a [(PathBuf, String)],
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// The exit status and what it means.
    pub exit: (u8, &'static str),
    /// When it was taken, in milliseconds since 1970.
    pub taken_at: i64,
}

/// Writes the report; `files` gives the files with their findings, and may be asked again.
///
/// # Errors
/// Whatever the writer says.
pub fn document<'a, F, I>(writer: impl Write, report: Report<'a>, files: F) -> io::Result<()>
where
    F: Fn() -> I,
    I: Iterator<Item = Listed<'a>>,
{
    let none = Baseline::default();
    let known = report.known.unwrap_or(&none);
    let roots = Roots::new(report.discovery);
    let results = Each(|| {
        let roots = &roots;
        files().flat_map(move |file| {
            let results: Vec<Finding<'a>> =
                file.told(known).map(|told| result(told, &file, roots, report.known.is_some())).collect();
            results
        })
    });
    let log = Log {
        schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool { driver: driver() },
            automation_details: model::Automation { id: format!("sid-audit/{}/", report.command) },
            invocations: [invocation(report, &roots)],
            original_uri_base_ids: roots.base_ids(),
            default_encoding: "utf-8",
            newline_sequences: ["\n"],
            results,
        }],
    };
    // The run's members and its results on lines of their own: the log, the list of runs, the run.
    json::nested(writer, &log, 3)
}

fn driver() -> Driver {
    Driver {
        name: "sid-audit",
        semantic_version: env!("CARGO_PKG_VERSION"),
        short_description: Words { text: env!("CARGO_PKG_DESCRIPTION").to_owned() },
        rules: registry::families()
            .iter()
            .flat_map(|family| family.rules.iter().map(|rule| descriptor(rule, family.title)))
            .collect(),
    }
}

fn descriptor(rule: &'static Rule, family: &'static str) -> Descriptor {
    let doc = agents::doc(rule);
    let what = &doc.what;
    let first = what.find(". ").map_or(what.as_str(), |end| &what[..=end]);
    let text: Vec<String> = doc.sections().map(|(heading, text)| format!("{heading}: {text}")).collect();
    let markdown: Vec<String> =
        doc.sections().map(|(heading, text)| format!("**{heading}**\n\n{}", escaped(text))).collect();
    Descriptor {
        id: rule.code,
        name: rule.name,
        short_description: Words { text: first.to_owned() },
        full_description: Words { text: what.clone() },
        help: Multiformat { text: text.join("\n\n"), markdown: markdown.join("\n\n") },
        default_configuration: Configuration { enabled: None, level: Some(level(rule.severity)) },
        properties: RuleProperties {
            tags: [family, "session"],
            severity: match rule.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "recommendation",
            },
            since: rule.since,
            fix: rule.fix.map(Fix::name),
        },
    }
}

/// The rules' texts use backticks on purpose and nothing else of Markdown.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut code = false;
    for c in text.chars() {
        code ^= c == '`';
        if !code && matches!(c, '<' | '*' | '_' | '[' | ']' | '\\' | '#' | '|') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn result<'a>(told: Told<'a>, file: &Listed<'_>, roots: &Roots, baseline: bool) -> Finding<'a> {
    let Told { finding, fingerprint, known } = told;
    let place = &finding.place;
    let region = Region { start_line: place.line, byte_offset: place.offset, byte_length: place.length };
    let id = place.id.as_ref();
    let suppressions = baseline.then(|| {
        let suppression = Suppression { kind: "external", status: "accepted", justification: "known by the baseline" };
        if known { vec![suppression] } else { Vec::new() }
    });
    Finding {
        rule_id: finding.rule.code,
        rule_index: registry::all().position(|rule| std::ptr::eq(rule, finding.rule)),
        level: level(finding.severity),
        message: message(&by_file::sentence(finding)),
        locations: [Location {
            physical_location: Some(Physical {
                artifact_location: roots.artifact(file.path_of(finding), file.root.filter(|_| finding.path.is_none())),
                region: (!region.is_empty()).then_some(region),
            }),
            logical_locations: id
                .map(|id| Logical { name: visible(&id.lossy()).into_owned(), kind: "record" })
                .into_iter()
                .collect(),
        }],
        partial_fingerprints: model::Fingerprints {
            // The one name that code-scanning sites compare; the number behind the colon is the ordinal among equals,
            // which the fingerprint already holds.
            line_hash: format!("{fingerprint}:1"),
            own: fingerprint,
        },
        baseline_state: baseline.then_some(if known { "unchanged" } else { "new" }),
        suppressions,
        properties: Properties {
            fix: finding.rule.fix.map(Fix::name),
            id: IdField::from(id),
            cause: finding.cause,
            effect: &finding.effect,
            facts: super::finding_json::Facts(&finding.facts),
            count: finding.count,
            more: finding.more,
        },
    }
}

/// A plain message. Text of a session must not become a link, so what would be one is written with escapes.
fn message(text: &str) -> Message {
    let text = visible(text);
    let text = if text.contains("](") { text.replace('[', "\\[").replace(']', "\\]") } else { text.into_owned() };
    Message { text }
}

fn invocation(report: Report<'_>, roots: &Roots) -> Invocation {
    let (number, meaning) = report.exit;
    let about = |(path, text): &(PathBuf, String)| Notification {
        level: "error",
        message: message(&format!("'{}': {text}", path.display())),
        locations: vec![Location {
            physical_location: Some(Physical { artifact_location: roots.artifact(path, None), region: None }),
            logical_locations: Vec::new(),
        }],
    };
    let mut notifications: Vec<Notification> = report.errors.iter().chain(report.defects).map(about).collect();
    if report.interrupted {
        let text = "interrupted: what was finished is reported".to_owned();
        notifications.push(Notification { level: "warning", message: Message { text }, locations: Vec::new() });
    }
    Invocation {
        // Findings are no failure of the run.
        execution_successful: number <= 1,
        exit_code: number,
        exit_code_description: meaning,
        start_time_utc: time::format(report.taken_at),
        tool_execution_notifications: notifications,
        rule_configuration_overrides: registry::all()
            .enumerate()
            .filter(|(_, rule)| !report.gate.admits(rule))
            .map(|(index, rule)| Override {
                descriptor: DescriptorReference { id: rule.code, index },
                configuration: Configuration { enabled: Some(false), level: None },
            })
            .collect(),
    }
}

/// The roots under the names that places refer to: `ROOT`, and where there are several `ROOT1`, `ROOT2`.
struct Roots {
    all: Vec<(String, PathBuf)>,
}

impl Roots {
    fn new(discovery: &Discovery) -> Self {
        let single = discovery.roots.len() == 1;
        let all = (1..).zip(&discovery.roots).map(|(n, root)| {
            let base = match root.layout {
                Layout::Stdin => PathBuf::new(),
                Layout::File => root.path.parent().unwrap_or(Path::new("")).to_owned(),
                _ => root.path.clone(),
            };
            (if single { "ROOT".to_owned() } else { format!("ROOT{n}") }, base)
        });
        Roots { all: all.collect() }
    }

    fn base_ids(&self) -> Vec<(String, Artifact)> {
        let of = |(name, path): &(String, PathBuf)| {
            let uri = uri::file(if path.as_os_str().is_empty() { Path::new(".") } else { path }, true);
            (name.clone(), Artifact { uri, uri_base_id: None, description: None })
        };
        self.all.iter().map(of).collect()
    }

    /// A path below its root: below the given one, else below the nearest.
    fn artifact(&self, path: &Path, root: Option<u32>) -> Artifact {
        if path == Path::new("-") {
            let description = Some(Message { text: "standard input".to_owned() });
            return Artifact { uri: None, uri_base_id: None, description };
        }
        let given = root.and_then(|n| self.all.get(n as usize));
        let nearest = || {
            let above = self.all.iter().filter(|(_, base)| path.starts_with(base));
            above.max_by_key(|(_, base)| base.components().count())
        };
        let below = |(name, base): &(String, PathBuf)| {
            let uri = uri::below(base, path)?;
            Some(Artifact { uri: Some(uri), uri_base_id: Some(name.clone()), description: None })
        };
        given.and_then(below).or_else(|| nearest().and_then(below)).unwrap_or_else(|| Artifact {
            uri: uri::file(path, false),
            uri_base_id: None,
            description: None,
        })
    }
}
