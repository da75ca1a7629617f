//! The scan as a page: how bad it is in five figures, every session with its two verdicts and its findings, each kind of
//! finding explained. The script adds search and sorting to what is there; without it the worst come first.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use maud::{Markup, html};

use super::chain::{api_class, resume_class};
use super::{Page, finding, nothing};
use crate::audit::{self, Scan, SessionAudit};
use crate::finding::{Finding, Rule, Severity, When};
use crate::report::by_file::{Listed, stands_for};
use crate::report::format::{counted, number, size};
use crate::report::scan_json::{Report, kind_name};
use crate::report::scan_table::{badness, is_healthy, short, versions, worst_of};
use crate::report::suggest::Next;
use crate::report::verdict;
use crate::rules::baseline::Baseline;
use crate::verdict::{ApiVerdict, ResumeVerdict};

pub(super) const SCRIPT: &str = include_str!("scan.js");

/// How many sessions are listed unless all are: what a browser lays out in a moment.
const SESSIONS: usize = 5000;
/// How many findings are listed with all that is known of them; the sessions and the counts are whole all the same.
const FINDINGS: usize = 20_000;
/// How many names stand below each of the five figures.
const NAMES: usize = 3;
/// How many rows of other lists.
const ROWS: usize = 200;

/// Writes the page; `all` lists every session, however many there are.
///
/// # Errors
/// Whatever the writer says.
pub fn page(out: impl Write, report: Report<'_>, all: bool) -> io::Result<()> {
    let scan = report.scan;
    let mut order: Vec<u32> = (0..scan.sessions.len() as u32).collect();
    order.sort_by_key(|&n| badness(&scan.sessions[n as usize]));
    let shown = if all { order.len() } else { order.len().min(SESSIONS) };
    let view = View { report, order: &order[..shown], left: order.len() - shown };
    let mut page = Page::begin(out, "Session audit", SCRIPT)?;
    page.put(view.head())?;
    page.put(view.five())?;
    view.sessions(&mut page)?;
    page.put(view.beside())?;
    page.put(view.findings())?;
    page.put(view.unread())?;
    page.put(view.records())?;
    page.end(report.taken_at)
}

struct View<'a> {
    report: Report<'a>,
    /// The sessions that are listed, worst first.
    order: &'a [u32],
    /// How many are not.
    left: usize,
}

impl<'a> View<'a> {
    fn scan(&self) -> &'a Scan {
        self.report.scan
    }

    fn path(&self, session: &SessionAudit) -> PathBuf {
        let discovery = &self.scan().discovery;
        discovery.files.get(session.file as usize).map(|file| discovery.path(file)).unwrap_or_default()
    }

    fn head(&self) -> Markup {
        let scan = self.scan();
        let totals = &scan.totals;
        let records = totals.records.values().sum::<u64>() + totals.other_types;
        html! {
            header {
                p.kicker { "Session audit" }
                h1 { (counted(totals.sessions, "session")) ", " (counted(records, "record")) ", " (size(totals.bytes)) }
                ul.roots {
                    @for (n, root) in (0..).zip(&scan.discovery.roots).take(ROWS) {
                        li {
                            code.path { (root.path.display()) } " "
                            @match root.agent_id {
                                Some(agent_id) => span.dim {
                                    (agent_id.agent()) (versions(scan.versions.get(&n))) ", judged by " (agent_id.loader())
                                },
                                None => span.dim { "each session is told by its content" },
                            }
                            @for note in &root.notes { p.note { (note) } }
                        }
                    }
                }
                @if scan.interrupted {
                    p.notice { "Interrupted: " (counted(totals.unread, "session")) " not read; the figures are of the rest." }
                }
            }
        }
    }

    fn five(&self) -> Markup {
        let sessions = &self.scan().sessions;
        let lost: u64 = sessions
            .iter()
            .filter(|one| one.resume().verdict == ResumeVerdict::Partial)
            .map(|one| u64::from(one.resume().expected.saturating_sub(one.resume().loaded)))
            .sum();
        let goes = |finding: &&Finding| finding.deletion.as_ref().is_some_and(|goes| goes.when == When::NextStart);
        let doomed = |one: &SessionAudit| one.findings().iter().any(|finding| goes(&finding));
        let of_store: u64 = self.scan().store.iter().filter(goes).map(|f| f.count.unwrap_or(1)).sum();
        let history = if lost > 0 {
            format!("history missing ({})", counted(lost, "message"))
        } else {
            "history missing".to_owned()
        };
        let live = self.scan().totals.live;
        let healthy = sessions.iter().filter(|one| is_healthy(one)).count() as u64;
        html! {
            ul.five {
                (self.tile("error", "cannot resume", 0, |one| one.resume().verdict == ResumeVerdict::None))
                (self.tile("error", &history, 0, |one| one.resume().verdict == ResumeVerdict::Partial))
                (self.tile("error", "would be refused", 0, |one| one.api == ApiVerdict::Refused))
                (self.tile("warning", "will be deleted", of_store, doomed))
                li.good {
                    span.number { (number(healthy)) }
                    span.label { "healthy" @if live > 0 { " (" (number(live)) " in use)" } }
                }
            }
        }
    }

    fn tile(&self, class: &str, label: &str, beside: u64, test: impl Fn(&SessionAudit) -> bool) -> Markup {
        let sessions = &self.scan().sessions;
        let count = sessions.iter().filter(|one| test(one)).count() as u64 + beside;
        let worst = self.order.iter().filter(|&&n| test(&sessions[n as usize])).take(NAMES);
        html! {
            li class=(if count == 0 { "none" } else { class }) {
                span.number { (number(count)) }
                span.label { (label) }
                @for &n in worst {
                    a href={ "#s" (n) } { (short(&self.path(&sessions[n as usize]))) }
                }
            }
        }
    }

    fn sessions(&self, page: &mut Page<impl Write>) -> io::Result<()> {
        if self.order.is_empty() {
            return Ok(());
        }
        page.put(html! { h2 #sessions { "Sessions" } })?;
        page.put(controls(self.scan()))?;
        page.raw("<div class=\"wide\"><table class=\"sessions\" id=\"list\">\n")?;
        page.put(html! {
            caption {
                "Worst first. RESUME is what the agent's own loader brings back, API whether the next prompt would be answered."
            }
        })?;
        page.put(html! {
            thead {
                tr {
                    th scope="col" data-sort="worst" { "Worst" }
                    th scope="col" data-sort="name" { "Session" }
                    th scope="col" data-sort="resume" { "Resume" }
                    th scope="col" data-sort="api" { "API" }
                    th.num scope="col" data-sort="lines" { "Lines" }
                    th.num scope="col" data-sort="bytes" { "Size" }
                    th.num scope="col" data-sort="count" { "Findings" }
                }
            }
        })?;
        let mut budget = FINDINGS;
        for &n in self.order {
            page.put(self.session(n, &mut budget))?;
        }
        page.raw("</table></div>\n")?;
        if self.left > 0 {
            page.put(html! {
                p.note { "and " (counted(self.left as u64, "session")) " more, none of them worse; --all lists every session." }
            })?;
        }
        Ok(())
    }

    fn session(&self, n: u32, budget: &mut usize) -> Markup {
        let session = &self.scan().sessions[n as usize];
        let discovery = &self.scan().discovery;
        let Some(file) = discovery.files.get(session.file as usize) else { return nothing() };
        let path = discovery.path(file);
        let below = audit::below_store(discovery, file, &path);
        let name = below.to_string_lossy();
        let short_name = below.file_name().unwrap_or(below.as_os_str()).to_string_lossy();
        let folder = below.parent().map(Path::to_string_lossy).unwrap_or_default();
        let worst = worst_of(session);
        let findings = session.findings();
        let count: u64 = findings.iter().map(stands_for).sum();
        let listed = Listed { class: None, root: None, path: PathBuf::new(), below: below.to_owned(), findings };
        let shown = findings.len().min(*budget);
        *budget -= shown;
        let rank = worst.map_or(0, |severity| severity as u8 + 1);
        html! {
            tbody id={ "s" (n) } data-worst=(rank) data-name=(name) data-agent=(session.agent_id.name())
                data-resume=(session.resume().verdict as u8) data-api=(session.api as u8)
                data-lines=(session.lines()[0]) data-bytes=(file.size) data-count=(count) {
                tr {
                    td { (tag(worst)) }
                    th scope="row" {
                        span.path { (short_name) }
                        span.meta {
                            (session.agent_id.agent()) ", " (kind_name(session.shape))
                            @if session.live { ", in use" }
                            @if !folder.is_empty() { ", in " (folder) }
                        }
                    }
                    td class=(resume_class(session.resume().verdict)) { (verdict::resume_words(session)) }
                    td class=(api_class(session.api)) { (session.api.name().replace('_', " ")) }
                    td.num { (number(u64::from(session.lines()[0]))) }
                    td.num { (size(file.size)) }
                    td.num { @if count > 0 { (number(count)) } }
                }
                @if !findings.is_empty() {
                    tr.more {
                        td {}
                        td colspan="6" {
                            @if shown < findings.len() {
                                p.dim { (chips(findings)) " The page is full: the JSON report has the places." }
                            } @else {
                                details {
                                    summary { (chips(findings)) }
                                    ul.findings {
                                        @for told in listed.told(self.report.known) {
                                            (finding::item(told.finding, &path, told.known))
                                        }
                                    }
                                }
                                (finding::next(findings, Next { path: &path, shape: session.shape, mends: session.mends() }))
                            }
                        }
                    }
                }
            }
        }
    }

    /// What belongs to checkpoints, and to no single session.
    fn beside(&self) -> Markup {
        let scan = self.scan();
        let discovery = &scan.discovery;
        let loud = scan.checkpoints.iter().filter(|index| !index.findings.is_empty());
        let root = discovery.roots.first().map_or(Path::new(""), |root| root.path.as_path());
        html! {
            @if loud.clone().next().is_some() {
                h2 { "Checkpoints" }
                @for index in loud.take(ROWS) {
                    h3 { (index.session_id) }
                    @let path = discovery.files.get(index.file as usize).map(|file| discovery.path(file)).unwrap_or_default();
                    (self.list(&path, discovery.files.get(index.file as usize).map_or(Path::new(""), |file| audit::below_store(discovery, file, &path)), &index.findings))
                }
            }
            @if !scan.store.is_empty() {
                h2 { "Of no single session" }
                (self.list(root, Path::new(""), &scan.store))
            }
        }
    }

    fn list(&self, path: &Path, below: &Path, findings: &[Finding]) -> Markup {
        let known: &Baseline = self.report.known;
        let listed = Listed { class: None, root: None, path: path.to_owned(), below: below.to_owned(), findings };
        html! {
            ul.findings {
                @for told in listed.told(known).take(ROWS) {
                    (finding::item(told.finding, path, told.known))
                }
            }
            @if findings.len() > ROWS { p.note { "and " (number((findings.len() - ROWS) as u64)) " more." } }
        }
    }

    /// Each kind of finding that was met, the worst first, with its explanation.
    fn findings(&self) -> Markup {
        let scan = self.scan();
        let mut groups: BTreeMap<&'static str, Group> = BTreeMap::new();
        let of_sessions = scan.sessions.iter().map(SessionAudit::findings);
        let of_indexes = scan.checkpoints.iter().map(|index| index.findings.as_slice());
        for findings in of_sessions.chain(of_indexes).chain([scan.store.as_slice()]) {
            let mut codes: Vec<&'static str> = Vec::new();
            for finding in findings {
                let group = groups.entry(finding.rule.code).or_insert_with(|| Group::new(finding.rule));
                group.severities[finding.severity as usize] += stands_for(finding);
                if !codes.contains(&finding.rule.code) {
                    codes.push(finding.rule.code);
                    group.files += 1;
                }
            }
        }
        let mut groups: Vec<Group> = groups.into_values().collect();
        groups.sort_by_key(|group| (Reverse(group.worst()), group.rule.code));
        if groups.is_empty() {
            return html! { p.notice { "Nothing was found." } };
        }
        html! {
            h2 #findings { "What was found" }
            @for group in &groups {
                section.kind id=(group.rule.code) {
                    h3 {
                        (finding::severity(group.worst())) " " (group.rule.code) " " (group.rule.name)
                    }
                    p.dim { (group.figures()) ", in " (counted(group.files, "file")) }
                    (finding::rule(group.rule))
                }
            }
        }
    }

    fn unread(&self) -> Markup {
        let scan = self.scan();
        let list = |title: &str, all: &[(PathBuf, String)]| {
            html! {
                @if !all.is_empty() {
                    h2 { (title) }
                    ul.plain {
                        @for (path, message) in all.iter().take(ROWS) {
                            li { code.path { (path.display()) } ": " (message) }
                        }
                        @if all.len() > ROWS { li { "and " (number((all.len() - ROWS) as u64)) " more" } }
                    }
                }
            }
        };
        html! {
            (list("Could not be read", &scan.errors))
            (list("sid-audit itself failed on (please report it)", &scan.defects))
        }
    }

    fn records(&self) -> Markup {
        let totals = &self.scan().totals;
        let mut types: Vec<(&str, u64)> = totals.records.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        types.sort_by_key(|&(name, n)| (Reverse(n), name));
        let more = types.len().saturating_sub(ROWS) as u64;
        html! {
            @if !types.is_empty() {
                details.types {
                    summary { "Records by type" }
                    table {
                        thead { tr { th scope="col" { "Type" } th.num scope="col" { "Records" } } }
                        tbody {
                            @for (name, n) in types.iter().take(ROWS) {
                                tr { th scope="row" { code { (name) } } td.num { (number(*n)) } }
                            }
                            @if totals.other_types > 0 {
                                tr { th scope="row" { "types beyond those counted by name" } td.num { (number(totals.other_types)) } }
                            }
                        }
                    }
                    @if more > 0 { p.note { "and " (counted(more, "type")) " more." } }
                }
            }
        }
    }
}

/// One kind of finding.
struct Group {
    rule: &'static Rule,
    severities: [u64; 3],
    files: u64,
}

impl Group {
    fn new(rule: &'static Rule) -> Self {
        Group { rule, severities: [0; 3], files: 0 }
    }

    fn worst(&self) -> Severity {
        let all = [Severity::Error, Severity::Warning, Severity::Info];
        all.into_iter().find(|&severity| self.severities[severity as usize] > 0).unwrap_or(Severity::Info)
    }

    /// `3 errors, 1 warning`.
    fn figures(&self) -> String {
        let all = [(Severity::Error, "error"), (Severity::Warning, "warning")];
        let mut parts: Vec<String> = all
            .into_iter()
            .filter(|(severity, _)| self.severities[*severity as usize] > 0)
            .map(|(severity, word)| counted(self.severities[severity as usize], word))
            .collect();
        if self.severities[Severity::Info as usize] > 0 {
            parts.push(format!("{} for information", number(self.severities[Severity::Info as usize])));
        }
        parts.join(", ")
    }
}

/// What the script shows once it runs.
fn controls(scan: &Scan) -> Markup {
    let mut agents: Vec<_> = scan.sessions.iter().map(|one| one.agent_id).collect();
    agents.sort_unstable();
    agents.dedup();
    html! {
        form #controls.controls role="search" hidden {
            label { "Search " input #search type="search" autocomplete="off" spellcheck="false"; }
            label {
                "Show "
                select #least {
                    option value="0" { "all sessions" }
                    option value="1" { "with any finding" }
                    option value="2" { "warnings and errors" }
                    option value="3" { "errors" }
                }
            }
            @if agents.len() > 1 {
                label {
                    "Agent "
                    select #agent {
                        option value="" { "any" }
                        @for agent in &agents { option value=(agent.name()) { (agent.agent()) } }
                    }
                }
            }
            output #shown aria-live="polite" {}
        }
    }
}

fn tag(worst: Option<Severity>) -> Markup {
    match worst {
        Some(severity @ (Severity::Error | Severity::Warning)) => finding::severity(severity),
        _ => html! { span.tag.good { "healthy" } },
    }
}

/// The codes of a session's findings, each as bad as its worst, the worst first.
fn chips(findings: &[Finding]) -> Markup {
    let mut worst: BTreeMap<&str, (Severity, &str)> = BTreeMap::new();
    for finding in findings {
        let entry = worst.entry(finding.rule.code).or_insert((finding.severity, finding.rule.name));
        entry.0 = entry.0.max(finding.severity);
    }
    let mut codes: Vec<(Reverse<Severity>, &str, &str)> =
        worst.into_iter().map(|(code, (severity, name))| (Reverse(severity), code, name)).collect();
    codes.sort_unstable();
    html! {
        @for (severity, code, name) in codes {
            span class={ "chip " (severity.0.name()) } title=(severity.0.name()) { (code) " " (name) }
            " "
        }
    }
}
