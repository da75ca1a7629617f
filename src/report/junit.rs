//! Findings as JUnit XML, which every CI shows: one suite for each root, one case for each session and checkpoint index. A case fails when it
//! has a finding that fails the run; everything else that was found is its output. A file that could not be read is a
//! case in error.
//!
//! There is no one standard. Written is what the readers agree on: one failure for each case with all its findings in
//! the text, because most show the first and drop the rest.

use std::cmp::Reverse;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::by_file::{self, Listed, Told};
use super::sanitize::visible;
use crate::finding::{Finding, Severity};
use crate::record::time;
use crate::rules::baseline::Baseline;
use crate::store::Discovery;

/// What a run of a command has to say.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    /// `scan`, `repair`.
    pub command: &'static str,
    /// What was read.
    pub discovery: &'a Discovery,
    /// Findings that are known: they fail nothing.
    pub known: &'a Baseline,
    /// Whether a finding that is not known fails its case.
    pub fails: &'a dyn Fn(&Finding) -> bool,
    /// What could not be read, and files on which sid-audit itself failed.
    pub errors: [&'a [(PathBuf, String)]; 2],
    /// When it was taken, in milliseconds since 1970.
    pub taken_at: i64,
}

/// Writes the report; `files` gives the files with their findings, and may be asked again.
///
/// # Errors
/// Whatever the writer says.
pub fn document<'a, F, I>(mut out: impl Write, report: Report<'a>, files: F) -> io::Result<()>
where
    F: Fn() -> I,
    I: Iterator<Item = Listed<'a>>,
{
    let roots = report.discovery.roots.len().max(1);
    let mut sums = vec![Sum::default(); roots];
    for file in files() {
        if let Some(sum) = sums.get_mut(suite_of(&file)) {
            sum.tests += u64::from(is_case(&file));
            sum.failures += u64::from(file.told(report.known).any(|told| fails(report, &told)));
        }
    }
    for (path, _) in errors(report) {
        let sum = &mut sums[root_of(report.discovery, path)];
        sum.tests += 1;
        sum.errors += 1;
    }
    let all = sums.iter().fold(Sum::default(), |all, sum| Sum {
        tests: all.tests + sum.tests,
        failures: all.failures + sum.failures,
        errors: all.errors + sum.errors,
    });
    let taken_at = time::format(report.taken_at);
    // ISO 8601 without a zone is what readers of this format expect; ours is UTC.
    let stamp = taken_at.get(..19).unwrap_or(&taken_at);
    let name = format!("sid-audit {}", report.command);
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name={}{}>", quoted(&name), all)?;
    for (n, sum) in sums.iter().enumerate() {
        let root = report.discovery.roots.get(n).map_or(Path::new(""), |root| root.path.as_path());
        let root = root.to_string_lossy();
        writeln!(out, "<testsuite name={}{sum} timestamp={}>", quoted(&root), quoted(stamp))?;
        // Walked once more for each suite that has a case: there are few, and holding the cases would take memory.
        let cases = if sum.tests > 0 { Some(files()) } else { None };
        for file in cases.into_iter().flatten().filter(|file| suite_of(file) == n && is_case(file)) {
            case(&mut out, report, &file)?;
        }
        for (path, message) in errors(report).filter(|(path, _)| root_of(report.discovery, path) == n) {
            let name = below(report, n, path);
            writeln!(out, "<testcase name={} classname=\"unread\" time=\"0\">", quoted(&name))?;
            let text = format!("'{}': {message}", path.display());
            writeln!(out, "<error message={} type=\"unread\">{}</error>", quoted(message), escaped(&text))?;
            writeln!(out, "</testcase>")?;
        }
        writeln!(out, "</testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

#[derive(Clone, Copy, Default)]
struct Sum {
    tests: u64,
    failures: u64,
    errors: u64,
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Sum { tests, failures, errors } = self;
        write!(f, " tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\" time=\"0\"")
    }
}

fn errors(report: Report<'_>) -> impl Iterator<Item = &(PathBuf, String)> {
    let [errors, defects] = report.errors;
    errors.iter().chain(defects)
}

fn suite_of(file: &Listed<'_>) -> usize {
    file.root.map_or(0, |n| n as usize)
}

/// Every file is a case, and what belongs to none is one when there is something to tell.
fn is_case(file: &Listed<'_>) -> bool {
    file.class.is_some() || !file.findings.is_empty()
}

/// The root below which a path lies, the nearest first; the first one for what lies below none.
fn root_of(discovery: &Discovery, path: &Path) -> usize {
    let above = discovery.roots.iter().enumerate().filter(|(_, root)| path.starts_with(&root.path));
    above.max_by_key(|(_, root)| root.path.components().count()).map_or(0, |(n, _)| n)
}

fn fails(report: Report<'_>, told: &Told<'_>) -> bool {
    !told.known && (report.fails)(told.finding)
}

/// A path as a case is named: below its root; a root that is a file by its own name.
fn below(report: Report<'_>, root: usize, path: &Path) -> String {
    let root = report.discovery.roots.get(root).map_or(Path::new(""), |root| root.path.as_path());
    let short = path.strip_prefix(root).ok().filter(|rest| !rest.as_os_str().is_empty());
    let short = short.or_else(|| path.file_name().map(Path::new)).unwrap_or(path);
    short.to_string_lossy().into_owned()
}

fn case(out: &mut impl Write, report: Report<'_>, file: &Listed<'_>) -> io::Result<()> {
    let name = match file.class {
        Some(_) => below(report, suite_of(file), &file.path),
        None => "the store as a whole".to_owned(),
    };
    let class = file.class.unwrap_or("store");
    write!(out, "<testcase name={} classname={} time=\"0\"", quoted(&name), quoted(class))?;
    let all: Vec<Told<'_>> = file.told(report.known).collect();
    if all.is_empty() {
        return writeln!(out, "/>");
    }
    writeln!(out, ">")?;
    let (failing, rest): (Vec<_>, Vec<_>) = all.iter().partition(|told| fails(report, told));
    if let Some(worst) = failing.iter().min_by_key(|told| Reverse(told.finding.severity)) {
        let codes = codes(&failing);
        writeln!(out, "<failure message={} type={}>", quoted(&codes), quoted(worst.finding.rule.code))?;
        lines(out, file, &failing)?;
        writeln!(out, "</failure>")?;
    }
    if !rest.is_empty() {
        writeln!(out, "<system-out>")?;
        lines(out, file, &rest)?;
        writeln!(out, "</system-out>")?;
    }
    writeln!(out, "</testcase>")
}

/// `L103 spliced-line, C201 missing-parent`, in the order in which they stand in the file.
fn codes(failing: &[&Told<'_>]) -> String {
    let mut codes: Vec<String> = Vec::new();
    for told in failing {
        let code = format!("{} {}", told.finding.rule.code, told.finding.rule.name);
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes.join(", ")
}

/// A finding on each line: where, how bad, what.
fn lines(out: &mut impl Write, file: &Listed<'_>, all: &[&Told<'_>]) -> io::Result<()> {
    for told in all {
        let finding = told.finding;
        let place = finding.place.line.map(|line| format!(":{line}")).unwrap_or_default();
        let path = file.path_of(finding).to_string_lossy();
        let known = if told.known { " (known)" } else { "" };
        let severity: Severity = finding.severity;
        let text =
            format!("{path}{place}: {} {} {}{known}", severity.name(), finding.rule.code, by_file::sentence(finding));
        writeln!(out, "{}", escaped(&text))?;
    }
    Ok(())
}

/// Text that XML can hold: active characters are written out, and so are the two that no document may contain.
fn escaped(text: &str) -> String {
    let text = visible(text);
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// An attribute's value with its quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_element() {
        assert_eq!(quoted("a\"<b>&\u{ffff}\n\u{1b}"), "\"a&quot;&lt;b&gt;&amp;\\u{ffff}\\n\\x1b\"");
    }
}
