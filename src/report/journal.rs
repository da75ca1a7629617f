//! The journal as a page and as JSON: what was repaired, how it stands, and what is kept of it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::json;
use super::json_head::{Head, PathField};
use super::out::Out;
use super::repair_json::{AppliedJson, RefusedJson};
use super::repair_table;
use super::scan_json::ErrorJson;
use super::style::{dim, plain, strong};
use crate::audit::repair::Applying;
use crate::commit::gc::{Stays, Swept};
use crate::commit::journal::{Listed, ListedEntry};
use crate::commit::undo::{Examined, Standing};
use crate::rules::counted;

#[derive(Serialize)]
struct ListJson<'a> {
    #[serde(flatten)]
    head: Head,
    journal: Vec<RunJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_originals: Vec<PathField>,
}

#[derive(Serialize)]
struct RunJson<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undoes: Option<&'a str>,
    files: Vec<EntryJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<UnreadableJson<'a>>,
}

#[derive(Serialize)]
struct EntryJson<'a> {
    journal_id: String,
    #[serde(flatten)]
    path: PathField,
    state: &'static str,
    codes: &'a [String],
    text: &'a str,
    before_sha256: String,
    after_sha256: String,
    bytes: u64,
    quarantined: usize,
    retained: Vec<KeptJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

#[derive(Serialize)]
struct KeptJson {
    #[serde(flatten)]
    path: PathField,
    late: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    rewritten: bool,
}

#[derive(Serialize)]
struct UnreadableJson<'a> {
    journal_id: String,
    message: &'a str,
}

/// Writes the list of runs as one document.
///
/// # Errors
/// Whatever the writer says.
pub fn list_json(writer: impl Write, runs: &[Listed], strangers: &[PathBuf], taken_at: i64) -> io::Result<()> {
    json::document(
        writer,
        &ListJson {
            head: Head::new("repair", taken_at),
            journal: runs.iter().map(run_json).collect(),
            unknown_originals: strangers.iter().map(|path| PathField::from(path.as_path())).collect(),
        },
    )
}

fn run_json(run: &Listed) -> RunJson<'_> {
    let manifest = run.run.as_ref();
    RunJson {
        id: &run.id,
        started: manifest.map(|m| m.started.as_str()),
        text: manifest.map(|m| m.text.as_str()),
        undoes: manifest.and_then(|m| m.undoes.as_deref()),
        files: run.entries.iter().map(entry_json).collect(),
        unreadable: run
            .unreadable
            .iter()
            .map(|(id, why)| UnreadableJson { journal_id: id.to_string(), message: why })
            .collect(),
    }
}

fn entry_json(entry: &ListedEntry) -> EntryJson<'_> {
    let manifest = &entry.manifest;
    EntryJson {
        journal_id: entry.id.to_string(),
        path: PathField::from(manifest.path.to_path().as_path()),
        state: manifest.state.name(),
        codes: &manifest.codes,
        text: &manifest.text,
        before_sha256: manifest.before.sha256.to_string(),
        after_sha256: manifest.after.sha256.to_string(),
        bytes: entry.bytes,
        quarantined: manifest.quarantine.len(),
        retained: entry
            .kept
            .iter()
            .map(|kept| KeptJson {
                path: PathField::from(kept.path.as_path()),
                late: kept.late,
                rewritten: kept.rewritten,
            })
            .collect(),
        note: manifest.note.as_deref(),
    }
}

/// Prints the list of runs.
///
/// # Errors
/// I/O errors.
pub fn list(out: &mut Out, runs: &[Listed], strangers: &[PathBuf], place: &str) -> io::Result<()> {
    if runs.is_empty() && strangers.is_empty() {
        return out.text(&format!("nothing was repaired yet; the journal would be in '{place}'"));
    }
    for run in runs {
        let manifest = run.run.as_ref();
        let text = manifest.map_or("its manifest cannot be read", |m| m.text.as_str());
        let started = manifest.map(|m| format!(", {}", m.started)).unwrap_or_default();
        out.line([strong(run.id.clone()), plain(format!("  {text}")), dim(started)])?;
        for entry in &run.entries {
            let manifest = &entry.manifest;
            let codes = manifest.codes.join(", ");
            let number = entry.id.number;
            out.line([
                dim(format!("  {number:04}  {:<9}", manifest.state.name())),
                plain(manifest.path.to_path().to_string_lossy().into_owned()),
            ])?;
            let what = if codes.is_empty() { manifest.text.clone() } else { format!("{codes}: {}", manifest.text) };
            out.line([plain(format!("        {what}"))])?;
            if let Some(note) = &manifest.note {
                out.line([dim(format!("        {note}"))])?;
            }
            for kept in &entry.kept {
                let first = manifest.kept.first().is_some_and(|k| kept.path.ends_with(&k.name));
                let word = match (first, &manifest.undoes) {
                    (true, None) => "original",
                    (true, Some(_)) => "repaired",
                    (false, _) => "in between",
                };
                let late = match kept.late {
                    _ if kept.rewritten => " (it was rewritten since: what it holds may be nowhere else)".to_owned(),
                    0 => String::new(),
                    n => format!(" ({} in it are nowhere else)", counted(n, "byte")),
                };
                out.line([dim(format!("        {word}: {}{late}", kept.path.display()))])?;
            }
        }
        for (id, why) in &run.unreadable {
            out.line([dim(format!("  {:04}  ", id.number)), plain(format!("entry {why}"))])?;
        }
    }
    for path in strangers {
        out.line([dim("original that no run knows: "), plain(path.to_string_lossy().into_owned())])?;
    }
    if !strangers.is_empty() {
        out.text("--prune takes such an original away when it is 30 days old; until then it can be copied")?;
    }
    if runs.is_empty() {
        return Ok(());
    }
    out.gap()?;
    out.text("take a run, or one file of it, back with: sid-audit repair --undo ID")
}

/// Prints what went, and why the rest stays.
///
/// # Errors
/// I/O errors.
pub fn pruned(out: &mut Out, swept: &Swept, freed: u64) -> io::Result<()> {
    let gone = counted(swept.removed.len() as u64, "original");
    let stay = counted(swept.remaining.len() as u64, "original");
    out.text(&format!("the journal is {} smaller; {gone} beside sessions went, {stay} stay", counted(freed, "byte")))?;
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for left in &swept.remaining {
        *reasons.entry(stays(&left.why)).or_default() += 1;
    }
    for (why, count) in reasons {
        out.line([dim(format!("  {count:>4}  ")), plain(why)])?;
    }
    for (path, why) in &swept.strangers {
        out.line([dim("  no run knows "), plain(format!("{}: {}", path.display(), stays(why)))])?;
    }
    Ok(())
}

fn stays(why: &Stays) -> String {
    match why {
        Stays::Young => "not yet unused for 24 hours".to_owned(),
        Stays::HoldsMore => "written to after the repair: see --list".to_owned(),
        Stays::Open(_) => "open in a process".to_owned(),
        Stays::Unknown => "perhaps open, which cannot be asked here: say --closed when the agents are".to_owned(),
        Stays::LastCopy => "the only whole copy: the session was rewritten or is gone".to_owned(),
        Stays::Unclaimed => "not yet 30 days old".to_owned(),
        Stays::Failed(why) => format!("could not be taken away: {why}"),
    }
}

/// What an undo is told of, before it is done.
///
/// # Errors
/// I/O errors.
pub fn examined(out: &mut Out, files: &[Examined]) -> io::Result<()> {
    for file in files {
        out.line([strong(file.path.to_string_lossy())])?;
        out.line([dim(format!("  {}  ", file.id)), plain(standing(&file.standing))])?;
    }
    Ok(())
}

fn standing(standing: &Standing) -> String {
    match standing {
        Standing::AsRepaired => "is as the repair left it: its original bytes can be put back".to_owned(),
        Standing::Appended(bytes) => {
            let bytes = counted(*bytes, "byte");
            format!("{bytes} were appended since: they would be carried over behind the original")
        }
        Standing::Original => "holds its original bytes already".to_owned(),
        Standing::Changed => "was rewritten since: only --undo ID --to FILE brings the original".to_owned(),
        Standing::Missing => {
            "is not there any more: name its new place (--undo ID PATH), or take --to FILE for the original".to_owned()
        }
        Standing::Undone => "was taken back before".to_owned(),
    }
}

fn standing_word(standing: &Standing) -> &'static str {
    match standing {
        Standing::AsRepaired => "as-repaired",
        Standing::Appended(_) => "appended",
        Standing::Original => "original",
        Standing::Changed => "changed",
        Standing::Missing => "missing",
        Standing::Undone => "undone",
    }
}

#[derive(Serialize)]
struct UndoJson<'a> {
    #[serde(flatten)]
    head: Head,
    dry_run: bool,
    undo: Vec<ExaminedJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    applied: Option<Vec<AppliedJson<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<RefusedJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ErrorJson<'a>>,
}

#[derive(Serialize)]
struct ExaminedJson {
    journal_id: String,
    #[serde(flatten)]
    path: PathField,
    standing: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    appended: Option<u64>,
}

/// Writes an undo as one document; `done` is none in a dry run.
///
/// # Errors
/// Whatever the writer says.
pub fn undo_json(writer: impl Write, files: &[Examined], done: Option<&Applying>, taken_at: i64) -> io::Result<()> {
    let examined = |file: &Examined| ExaminedJson {
        journal_id: file.id.to_string(),
        path: PathField::from(file.path.as_path()),
        standing: standing_word(&file.standing),
        appended: if let Standing::Appended(bytes) = file.standing { Some(bytes) } else { None },
    };
    let document = UndoJson {
        head: Head::new("repair", taken_at),
        dry_run: done.is_none(),
        undo: files.iter().map(examined).collect(),
        applied: done.map(|done| done.applied.iter().map(AppliedJson::new).collect()),
        refused: done.iter().flat_map(|done| &done.refused).map(RefusedJson::new).collect(),
        errors: done.iter().flat_map(|d| &d.failed).map(|f| ErrorJson::new(&f.path, &f.message)).collect(),
    };
    json::document(writer, &document)
}

/// Prints what an undo did.
///
/// # Errors
/// I/O errors.
pub fn undone(out: &mut Out, done: &Applying) -> io::Result<()> {
    for applied in &done.applied {
        repair_table::file(out, ("undone", "repaired"), applied)?;
    }
    repair_table::not_done(out, done)?;
    let run = done.applied.iter().find_map(|a| a.journal_id.split('/').next());
    match run {
        Some(run) => {
            out.gap()?;
            out.text(&format!("take the undo back with: sid-audit repair --undo {run}"))
        }
        None => Ok(()),
    }
}
