//! The scan as a page for a person who has never seen one: five lines that say how bad it is, the worst sessions with
//! what to do about each, then what was found, once per code.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use unicode_width::UnicodeWidthStr;

use super::format::{counted, number, paragraph, size};
use super::out::Out;
use super::scan_json::Report;
use super::style::{Style, dim, plain, span, strong};
use super::suggest::{Next, with_path};
use super::table::Grid;
use super::{by_file, cross_check_table, verdict};
use crate::audit::{self, SessionAudit};
use crate::finding::{Deletion, Finding, Rule, Severity, When};
use crate::verdict::{ApiVerdict, ResumeVerdict};

/// How much of everything is shown.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Every session, not only the worst.
    pub all: bool,
    /// How many places of one finding are named.
    pub places: usize,
    /// Whether to say more about what was read.
    pub verbose: bool,
}

/// What an agent's own clean-up takes.
type Going<'a> = (&'a Finding, &'a Deletion);

/// How many sessions are listed unless all are.
const ROWS: usize = 20;
/// So many files that an agent deletes are all named; of more, only the first few.
const GOING: usize = 8;
const SAMPLE: usize = 2;
/// Columns of the numbers on the first lines.
const COUNT: usize = 7;
/// How many names stand on each of the first lines.
const NAMES: usize = 3;
/// How many places where reading began are named.
const ROOTS: usize = 4;
/// How many notes about each of them are shown.
const NOTES: usize = 2;
/// How many files that could not be read are named.
const ERRORS: usize = 10;

/// Prints the page.
///
/// # Errors
/// I/O errors.
pub fn page(out: &mut Out, report: Report<'_>, extent: Extent) -> io::Result<()> {
    let page = Page::new(report, extent);
    page.head(out)?;
    page.five(out)?;
    page.sessions(out)?;
    page.deletion(out)?;
    page.findings(out)?;
    page.errors(out)?;
    cross_check_table::part(out, report.scan.cross_check.as_ref(), &report.scan.discovery)?;
    page.foot(out)
}

struct Page<'a> {
    report: Report<'a>,
    extent: Extent,
    /// Sessions with something at warning or above, worst first; with `--all` all others behind them.
    worst: Vec<&'a SessionAudit>,
    healthy: u64,
}

impl<'a> Page<'a> {
    fn new(report: Report<'a>, extent: Extent) -> Self {
        let sessions = &report.scan.sessions;
        let mut worst: Vec<&SessionAudit> =
            sessions.iter().filter(|session| extent.all || worst_of(session) >= Some(Severity::Warning)).collect();
        worst.sort_by_key(|session| badness(session));
        let healthy = sessions.iter().filter(|session| is_healthy(session)).count() as u64;
        Page { report, extent, worst, healthy }
    }

    fn path(&self, session: &SessionAudit) -> PathBuf {
        let discovery = &self.report.scan.discovery;
        discovery.files.get(session.file as usize).map(|file| discovery.path(file)).unwrap_or_default()
    }

    /// A session as a page names it: below its store, because the store is named at the top.
    fn name(&self, session: &SessionAudit) -> String {
        let discovery = &self.report.scan.discovery;
        let path = self.path(session);
        match discovery.files.get(session.file as usize) {
            Some(file) => audit::below_store(discovery, file, &path).to_string_lossy().into_owned(),
            None => path.to_string_lossy().into_owned(),
        }
    }

    /// What is read, and by whose rules.
    fn head(&self, out: &mut Out) -> io::Result<()> {
        let scan = self.report.scan;
        let totals = &scan.totals;
        let records = totals.records.values().sum::<u64>() + totals.other_types;
        out.line([strong(format!(
            "{}, {}, {}",
            counted(totals.sessions, "session"),
            counted(records, "record"),
            size(totals.bytes)
        ))])?;
        // A folder that only holds homes has no session of its own to speak of; the homes follow.
        let all = (0..).zip(&scan.discovery.roots);
        let roots: Vec<_> = all.filter(|(n, root)| root.agent_id.is_some() || self.has_sessions(*n)).collect();
        for &(n, root) in roots.iter().take(if self.extent.verbose { roots.len() } else { ROOTS }) {
            let who = match root.agent_id {
                Some(agent_id) => {
                    let of = versions(scan.versions.get(&n));
                    format!("{}{of}, judged by {}", agent_id.agent(), agent_id.loader())
                }
                None => "a folder; each session is told by its content".to_owned(),
            };
            let path = root.path.display().to_string();
            if path.len() + who.len() + 4 <= out.width() {
                out.line([plain(format!("  {path}")), dim(format!("  {who}"))])?;
            } else {
                out.text(&format!("  {path}"))?;
                out.line([dim(format!("    {who}"))])?;
            }
            for note in root.notes.iter().take(if self.extent.verbose { usize::MAX } else { NOTES }) {
                paragraph(out, vec![dim("    note: ")], 10, note)?;
            }
        }
        if roots.len() > ROOTS && !self.extent.verbose {
            let more = number((roots.len() - ROOTS) as u64);
            out.line([dim(format!("  and {more} more; --verbose names them"))])?;
        }
        if self.extent.verbose {
            self.beside(out)?;
        }
        Ok(())
    }

    fn has_sessions(&self, root: u32) -> bool {
        let discovery = &self.report.scan.discovery;
        self.report.scan.sessions.iter().any(|session| {
            let file = discovery.files.get(session.file as usize);
            file.and_then(|file| discovery.folder(file)).is_some_and(|folder| folder.root == root)
        })
    }

    /// What was found and is no session.
    fn beside(&self, out: &mut Out) -> io::Result<()> {
        let found = &self.report.scan.discovery;
        let beside = [
            (found.followed_links, "link followed"),
            (found.skipped_links, "link not followed"),
            (found.specials, "FIFO, socket or device not opened"),
            (found.other_files, "file that is no part of a session store"),
            (found.other_folders, "folder that is none"),
            (found.vanished, "file gone before it was read"),
        ];
        for (n, what) in beside.into_iter().filter(|(n, _)| *n > 0) {
            out.line([dim(format!("    {} × {what}", number(n)))])?;
        }
        Ok(())
    }

    /// The first five lines: how many sessions, and the worst of them by name.
    fn five(&self, out: &mut Out) -> io::Result<()> {
        out.gap()?;
        let resume = |verdict: ResumeVerdict| move |session: &SessionAudit| session.resume().verdict == verdict;
        let lost = |session: &SessionAudit| session.resume().expected.saturating_sub(session.resume().loaded);
        let missing: u64 = self.all(resume(ResumeVerdict::Partial)).iter().map(|s| u64::from(lost(s))).sum();
        let history = match missing {
            0 => "history missing".to_owned(),
            n => format!("history missing ({})", counted(n, "message")),
        };
        self.line(out, Style::Error, "cannot resume", &self.all(resume(ResumeVerdict::None)))?;
        self.line(out, Style::Error, &history, &self.all(resume(ResumeVerdict::Partial)))?;
        self.line(out, Style::Error, "would be refused", &self.all(|s| s.api == ApiVerdict::Refused))?;
        self.deleted(out)?;
        out.line([
            span(Style::Good, format!("{:>COUNT$}", number(self.healthy))),
            plain("  healthy"),
            dim(if self.report.scan.totals.live > 0 {
                format!("  ({} in use)", number(self.report.scan.totals.live))
            } else {
                String::new()
            }),
        ])
    }

    fn all(&self, test: impl Fn(&SessionAudit) -> bool) -> Vec<&'a SessionAudit> {
        let mut all: Vec<&SessionAudit> = self.report.scan.sessions.iter().filter(|session| test(session)).collect();
        all.sort_by_key(|session| badness(session));
        all
    }

    fn line(&self, out: &mut Out, style: Style, what: &str, sessions: &[&SessionAudit]) -> io::Result<()> {
        self.count(out, style, sessions.len() as u64, what, &self.names(sessions))
    }

    fn names(&self, sessions: &[&SessionAudit]) -> Vec<String> {
        sessions.iter().take(NAMES).map(|session| short(&self.path(session))).collect()
    }

    fn count(&self, out: &mut Out, style: Style, n: u64, what: &str, names: &[String]) -> io::Result<()> {
        let style = if n == 0 { Style::Dim } else { style };
        let lead = format!("  {what}");
        let room = out.width().saturating_sub(COUNT + lead.len() + 2);
        let names = if names.is_empty() { String::new() } else { format!("  {}", as_many(names, n, room)) };
        out.line([span(style, format!("{:>COUNT$}", number(n))), plain(lead), dim(names)])
    }

    /// Sessions that their agent's own clean-up takes at its next start, and those that are due soon after.
    fn deleted(&self, out: &mut Out) -> io::Result<()> {
        let (soon, now): (Vec<_>, Vec<_>) = self.going().into_iter().partition(|(_, goes)| goes.when == When::Soon);
        let count = |found: &[Going<'_>]| found.iter().map(|(f, _)| f.count.unwrap_or(1)).sum::<u64>();
        let names = |found: &[Going<'_>]| -> Vec<String> {
            found.iter().flat_map(|(_, goes)| &goes.files).take(NAMES).map(|file| short(Path::new(file))).collect()
        };
        self.count(out, Style::Warning, count(&now), "will be deleted", &names(&now))?;
        match count(&soon) {
            0 => Ok(()),
            n => self.count(out, Style::Warning, n, "due for deletion within 7 days", &names(&soon)),
        }
    }

    /// The findings that say what an agent's own clean-up takes.
    fn going(&self) -> Vec<Going<'a>> {
        let scan = self.report.scan;
        let all = scan.sessions.iter().flat_map(SessionAudit::findings).chain(&scan.store);
        all.filter_map(|f| Some((f, f.deletion.as_deref()?))).collect()
    }

    /// Every file that the clean-up takes, by name, with the setting that decides.
    fn deletion(&self, out: &mut Out) -> io::Result<()> {
        let going: Vec<Going<'_>> = self.going().into_iter().filter(|(_, goes)| !goes.files.is_empty()).collect();
        if going.is_empty() {
            return Ok(());
        }
        out.gap()?;
        out.line([strong("Deleted by the agent itself")])?;
        for (finding, Deletion { files, reason, when, setting, .. }) in going {
            let when = if *when == When::Soon { "within 7 days" } else { "at the next start" };
            paragraph(out, vec![plain("  ")], 4, &format!("{when}, {reason} ({setting}):"))?;
            let all = finding.count.unwrap_or(1);
            let shown = if self.extent.all || all <= GOING as u64 { usize::MAX } else { SAMPLE };
            for file in files.iter().take(shown) {
                out.line([plain(format!("    {file}"))])?;
            }
            let more = all.saturating_sub(files.len().min(shown) as u64);
            if more > 0 {
                out.line([dim(format!("    and {} more (--all names them)", number(more)))])?;
            }
        }
        Ok(())
    }

    /// The worst sessions, each with what to do about it.
    fn sessions(&self, out: &mut Out) -> io::Result<()> {
        if self.worst.is_empty() {
            return Ok(());
        }
        out.gap()?;
        let shown = if self.extent.all { self.worst.len() } else { self.worst.len().min(ROWS) };
        out.line([strong(if self.extent.all { "Sessions" } else { "Sessions that need a look" })])?;
        let mut grid = Grid::new(&["", "RESUME", "API", "FINDINGS", "SESSION"]);
        for session in &self.worst[..shown] {
            let (style, word) = match worst_of(session) {
                Some(severity @ (Severity::Error | Severity::Warning)) => (severity.into(), severity.name()),
                _ => (Style::Good, "healthy"),
            };
            grid.row(
                style,
                [
                    word.to_owned(),
                    verdict::resume_words(session),
                    session.api.name().replace('_', " "),
                    codes(session),
                    self.row_name(session),
                ],
            );
        }
        let width = out.width();
        grid.print(out, |out, n| {
            match self.next(self.worst[n]) {
                Some(command) => {
                    // Cut, a command could not be run: it stays whole, on a line of its own.
                    let lead = if command.len() + 11 > width { "    " } else { "           " };
                    out.line([dim(format!("{lead}{command}"))])
                }
                None => Ok(()),
            }
        })?;
        if shown < self.worst.len() {
            let more = number((self.worst.len() - shown) as u64);
            out.line([dim(format!("  and {more} more; --all lists every session"))])?;
        }
        Ok(())
    }

    /// The command that answers a session that needs a look.
    fn next(&self, session: &SessionAudit) -> Option<String> {
        let loud = worst_of(session) >= Some(Severity::Warning);
        let path = self.path(session);
        let next = Next { path: &path, shape: session.shape, mends: session.mends() };
        next.for_file(session.findings()).filter(|_| loud)
    }

    /// In short where the command below has the whole path.
    fn row_name(&self, session: &SessionAudit) -> String {
        match self.next(session) {
            Some(_) => short(&self.path(session)),
            None => self.name(session),
        }
    }

    /// What was found, once per code; information without places.
    fn findings(&self, out: &mut Out) -> io::Result<()> {
        let groups = self.groups();
        if groups.is_empty() {
            return Ok(());
        }
        out.gap()?;
        out.line([strong("Findings")])?;
        let name = groups.iter().map(|group| group.rule.name.len()).max().unwrap_or(0);
        let count = groups.iter().map(|group| number(group.count).len()).max().unwrap_or(0);
        // What severity, code, name and count leave, with the gaps between them.
        let room = out.width().saturating_sub(2 + 7 + 2 + 4 + 2 + name + 2 + count + 2);
        let mut grid = Grid::new(&["", "", "", "", ""]).right(&[3]);
        for group in &groups {
            grid.row(
                group.severity.into(),
                [
                    group.severity.name().to_owned(),
                    group.rule.code.to_owned(),
                    group.rule.name.to_owned(),
                    number(group.count),
                    group.places(room),
                ],
            );
        }
        grid.print(out, |_, _| Ok(()))
    }

    /// Findings by code and severity, the worst first.
    fn groups(&self) -> Vec<Group> {
        let mut groups: BTreeMap<(std::cmp::Reverse<Severity>, &'static str), Group> = BTreeMap::new();
        let mut add = |finding: &Finding, name: &str| {
            let key = (std::cmp::Reverse(finding.severity), finding.rule.code);
            let group = groups.entry(key).or_insert_with(|| Group::new(finding));
            group.add(finding, name, self.extent.places);
        };
        for session in &self.report.scan.sessions {
            if session.findings().is_empty() {
                continue;
            }
            let name = self.name(session);
            session.findings().iter().for_each(|finding| add(finding, &name));
        }
        for index in &self.report.scan.checkpoints {
            let name = format!("checkpoints/{}", index.session_id);
            index.findings.iter().for_each(|finding| add(finding, &name));
        }
        for finding in &self.report.scan.store {
            let name = finding.path.as_deref().map_or_else(|| "the store".to_owned(), short);
            add(finding, &name);
        }
        groups.into_values().collect()
    }

    fn errors(&self, out: &mut Out) -> io::Result<()> {
        let scan = self.report.scan;
        for (title, list) in
            [("Could not be read", &scan.errors), ("sid-audit itself failed on (please report it)", &scan.defects)]
        {
            if list.is_empty() {
                continue;
            }
            out.gap()?;
            out.line([strong(title)])?;
            for (path, message) in list.iter().take(ERRORS) {
                paragraph(out, vec![plain("  ")], 4, &format!("'{}': {message}", path.display()))?;
            }
            if list.len() > ERRORS {
                out.line([dim(format!("  and {} more", number((list.len() - ERRORS) as u64)))])?;
            }
        }
        Ok(())
    }

    fn foot(&self, out: &mut Out) -> io::Result<()> {
        let scan = self.report.scan;
        if scan.interrupted {
            out.gap()?;
            let unread = counted(scan.totals.unread, "session");
            out.line([span(
                Style::Warning,
                format!("interrupted before {unread} could be read; the figures are of the rest"),
            )])?;
        }
        let known = self.known();
        if known > 0 {
            out.gap()?;
            out.line([dim(format!("{} known by the baseline, and fail no run", counted(known, "finding")))])?;
        }
        let Some(code) = self.groups().first().map(|group| group.rule.code) else { return Ok(()) };
        out.gap()?;
        out.line([plain("next: "), strong(format!("sid-audit explain {code}"))])?;
        let first = self.worst.first().filter(|session| worst_of(session) >= Some(Severity::Warning));
        match first.and_then(|session| with_path("sid-audit chain", &self.path(session))) {
            Some(command) => out.line([plain("      "), strong(command)]),
            None => Ok(()),
        }
    }

    fn known(&self) -> u64 {
        if self.report.known.is_empty() {
            return 0;
        }
        let discovery = &self.report.scan.discovery;
        let of = |session: &SessionAudit| {
            let path = self.path(session);
            let file = discovery.files.get(session.file as usize);
            let below = file.map_or(path.as_path(), |file| audit::below_store(discovery, file, &path));
            session.findings().len() - self.report.known.unknown(session.findings(), below).count()
        };
        self.report.scan.sessions.iter().map(|session| of(session) as u64).sum()
    }
}

/// One code at one severity.
struct Group {
    rule: &'static Rule,
    severity: Severity,
    count: u64,
    files: u64,
    last_file: String,
    first: Vec<String>,
}

impl Group {
    fn new(finding: &Finding) -> Self {
        Group {
            rule: finding.rule,
            severity: finding.severity,
            count: 0,
            files: 0,
            last_file: String::new(),
            first: Vec::new(),
        }
    }

    fn add(&mut self, finding: &Finding, name: &str, places: usize) {
        self.count += by_file::stands_for(finding);
        if self.last_file != name {
            self.files += 1;
            self.last_file = name.to_owned();
        }
        if self.first.len() < places && self.severity > Severity::Info {
            let file = short(Path::new(name));
            self.first.push(match finding.place.line {
                Some(line) => format!("{file}:{line}"),
                None => file,
            });
        }
    }

    /// `a:12, b:3 and 10 more`; of information only in how many files it was found.
    fn places(&self, room: usize) -> String {
        if self.first.is_empty() {
            return format!("in {}", counted(self.files, "file"));
        }
        as_many(&self.first, self.count, room)
    }
}

/// As many of these as there is room for, and how many there are beside them.
fn as_many(names: &[String], count: u64, room: usize) -> String {
    let text = |n: usize| {
        let more = count.saturating_sub(n as u64);
        let tail = if more > 0 { format!(" and {} more", number(more)) } else { String::new() };
        format!("{}{tail}", names[..n].join(", "))
    };
    (2..=names.len()).rev().map(text).find(|text| text.width() <= room).unwrap_or_else(|| text(names.len().min(1)))
}

/// ` 2.0.9 to 2.1.10`: the oldest and the newest version that was seen.
pub(super) fn versions(seen: Option<&BTreeSet<String>>) -> String {
    let key = |version: &&String| -> Vec<u64> { version.split('.').map(|part| part.parse().unwrap_or(0)).collect() };
    let oldest = seen.and_then(|seen| seen.iter().min_by_key(key));
    let newest = seen.and_then(|seen| seen.iter().max_by_key(key));
    match (oldest, newest) {
        (Some(one), Some(other)) if one == other => format!(" {one}"),
        (Some(first), Some(last)) => format!(" {first} to {last}"),
        _ => String::new(),
    }
}

/// A file's own name, its middle left out when it is long: names begin and end differently.
pub(super) fn short(path: &Path) -> String {
    const LONGEST: usize = 24;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let name = name.strip_suffix(".jsonl").map(str::to_owned).unwrap_or(name);
    let count = name.chars().count();
    if count <= LONGEST {
        return name;
    }
    let head: String = name.chars().take(8).collect();
    let tail: String = name.chars().skip(count - 12).collect();
    format!("{head}…{tail}")
}

pub(super) fn worst_of(session: &SessionAudit) -> Option<Severity> {
    session.findings().iter().map(|finding| finding.severity).max()
}

/// Whether nothing loud is found, and the verdicts say so too: they are made from all findings, a gate hides some.
pub(super) fn is_healthy(session: &SessionAudit) -> bool {
    let comes_back = session.resume().verdict == ResumeVerdict::Full && session.api != ApiVerdict::Refused;
    comes_back && worst_of(session) < Some(Severity::Warning)
}

/// What sorts the worst first: what does not come back, what would be refused, severity, how many messages are lost.
pub(super) fn badness(session: &SessionAudit) -> impl Ord + use<> {
    let errors = session.findings().iter().filter(|f| f.severity == Severity::Error).count();
    (
        session.resume().verdict,
        std::cmp::Reverse(session.api == ApiVerdict::Refused),
        std::cmp::Reverse(worst_of(session)),
        std::cmp::Reverse(session.resume().expected.saturating_sub(session.resume().loaded)),
        std::cmp::Reverse(errors),
        session.file,
    )
}

/// The codes at warning and above, worst first; the first few and how many more.
fn codes(session: &SessionAudit) -> String {
    const CODES: usize = 3;
    let mut loud: Vec<&Finding> = session.findings().iter().filter(|f| f.severity > Severity::Info).collect();
    loud.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.rule.code));
    let mut codes: Vec<&str> = loud.iter().map(|finding| finding.rule.code).collect();
    codes.dedup();
    let more = codes.len().saturating_sub(CODES);
    codes.truncate(CODES);
    let more = if more > 0 { format!(" +{more}") } else { String::new() };
    format!("{}{more}", codes.join(" "))
}
