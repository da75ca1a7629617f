//! What was repaired before: the journal listed, runs taken back, originals written elsewhere, the journal made small.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Arguments, Format, Mode};
use crate::agents;
use crate::audit::repair::undo::{self, Known};
use crate::audit::repair::{Applied, Applying};
use crate::cli::failure::{Failure, written};
use crate::cli::input::Input;
use crate::cli::status::Status;
use crate::commit::journal::KeptFile;
use crate::commit::recover::How;
use crate::commit::undo::{Examined, Standing};
use crate::commit::{Error, Journal, Locked, Undone};
use crate::report::{journal as page, out};
use crate::rules::counted;
use crate::rules::filter::Gate;
use crate::store::{Discovery, Environment};

fn journal() -> Result<Journal, Failure> {
    Journal::of_user().ok_or_else(|| {
        Failure::new("no home folder is known in which the journal could be").hint(
            "set HOME to your home folder, or XDG_STATE_HOME to the folder that it was set to when the repair was made",
        )
    })
}

/// Tells an error of the journal and gives the status that it means.
fn told(error: &Error) -> Status {
    let (word, status) = match error.is_refusal() {
        true => ("refused", Status::Refused),
        false => ("error", Status::Trouble),
    };
    out::complain(word, &error.to_string(), &[], error.hint().as_deref());
    status
}

/// Says what an interrupted run had left and what became of it.
pub(super) fn tell_recovered(locked: &Locked) {
    for recovered in locked.recovered() {
        let path = recovered.path.display();
        let fact = match &recovered.how {
            How::Finished => format!("an interrupted repair of '{path}' was finished ({})", recovered.id),
            How::RolledBack => format!("an interrupted repair of '{path}' was rolled back ({})", recovered.id),
            How::Left(why) => format!("an interrupted repair of '{path}' stays open ({}): {why}", recovered.id),
        };
        let kept = recovered.kept.as_ref().map(|kept| format!("the original is in '{}'", kept.path.display()));
        out::complain("note", &fact, &[], kept.as_deref());
    }
}

/// Says what was brought over from an old file, and what could not be: whether there is some of that.
pub(super) fn tell_late(applied: &Applied) -> bool {
    let name = applied.path.display();
    if let Some(merged) = applied.merged {
        let lines = counted(merged.lines, "line");
        let fact = format!("{lines} that were written late were brought over to '{name}'");
        out::complain("note", &fact, &[], None);
    }
    for left in &applied.unmerged {
        let fact = format!("late bytes of '{name}' stay in '{}': {}", left.file.path.display(), left.why);
        out::complain("warning", &fact, &[], None);
    }
    !applied.unmerged.is_empty()
}

/// Says that an old file holds what is nowhere else.
pub(super) fn tell_held(session: &Path, kept: &KeptFile) {
    let (path, session) = (kept.path.display(), session.display());
    if kept.rewritten {
        let fact = format!("the old file of '{session}' was rewritten after its repair: what it holds is in '{path}'");
        out::complain("note", &fact, &[], Some("look at it: what was written over is in the journal, see --list"));
    } else {
        let bytes = counted(kept.late, "byte");
        let fact = format!("{bytes} that were written late to '{session}' are in '{path}'");
        out::complain("note", &fact, &[], Some("repair that session to bring them over"));
    }
}

/// Says of which of these sessions an old file holds what is nowhere else. For a run that changes nothing.
pub(super) fn tell_all_held(journal: &Journal, discovery: &Discovery) {
    let runs = journal.list().unwrap_or_default();
    let held = runs.iter().flat_map(|run| &run.entries).filter(|entry| entry.kept.iter().any(KeptFile::holds_more));
    let held: Vec<_> = held.map(|entry| (entry.manifest.path.to_path(), &entry.kept)).collect();
    if held.is_empty() {
        return;
    }
    let paths = discovery.files.iter().map(|file| discovery.path(file));
    let here: HashSet<PathBuf> = paths.map(|path| path.canonicalize().unwrap_or(path)).collect();
    for (session, kept) in held.iter().filter(|(session, _)| here.contains(session)) {
        kept.iter().filter(|kept| kept.holds_more()).for_each(|kept| tell_held(session, kept));
    }
}

/// The folders in which originals may lie that no entry knows: those of the sessions that are named, or of all homes.
fn folders(arguments: &Arguments) -> Vec<PathBuf> {
    let Ok(input) = Input::find(&arguments.paths, &arguments.reading) else { return Vec::new() };
    let files = input.discovery.files.iter().filter_map(|file| Some(input.discovery.path(file).parent()?.to_owned()));
    let given = arguments.paths.iter().filter(|path| path.is_dir()).cloned();
    files.chain(given).collect::<HashSet<_>>().into_iter().collect()
}

/// `--list`.
pub(super) fn list(arguments: &Arguments) -> anyhow::Result<Status> {
    let journal = journal()?;
    let runs = match journal.list() {
        Ok(runs) => runs,
        Err(error) => return Ok(told(&error)),
    };
    let strangers = match journal.strangers(&folders(arguments)) {
        Ok(strangers) => strangers.paths,
        Err(error) => return Ok(told(&error)),
    };
    let mut out = arguments.out(&[])?;
    let done = match arguments.form.format {
        Format::Table => page::list(&mut out, &runs, &strangers, &journal.root().to_string_lossy()),
        _ => page::list_json(&mut out, &runs, &strangers, arguments.reading.now()),
    };
    written(done.and_then(|()| out.finish()), Status::Clean)
}

/// `--prune`.
pub(super) fn prune(arguments: &Arguments) -> anyhow::Result<Status> {
    let journal = journal()?;
    let folders = folders(arguments);
    if !journal.root().exists() && journal.strangers(&folders).is_ok_and(|found| found.paths.is_empty()) {
        return Ok(Status::Clean);
    }
    let mut out = arguments.out(&[])?;
    let pruned = journal.lock().and_then(|locked| {
        tell_recovered(&locked);
        let swept = locked.sweep_deleted(SystemTime::now(), arguments.closed, &folders)?;
        let freed = swept.freed + locked.prune(0, SystemTime::now(), None)?;
        Ok((swept, freed))
    });
    let (swept, freed) = match pruned {
        Ok(pruned) => pruned,
        Err(error) => return Ok(told(&error)),
    };
    if arguments.output.quiet {
        return Ok(Status::Clean);
    }
    written(page::pruned(&mut out, &swept, freed).and_then(|()| out.finish()), Status::Clean)
}

/// `--undo`.
pub(super) fn undo(arguments: &Arguments, id: &str) -> anyhow::Result<Status> {
    let journal = journal()?;
    let only = match arguments.paths.as_slice() {
        [] => None,
        [one] => Some(one.as_path()),
        _ => return Err(Failure::new("an undo is of a whole run or of one file of it").into()),
    };
    if let Some(to) = &arguments.to {
        let mut out = arguments.out(&[])?;
        return Ok(match journal.undo_to(id, only, to, agents::HOMES) {
            Ok(content) => {
                let bytes = counted(content.len, "byte");
                let text = format!("{bytes} written to '{}', sha256 {}", to.display(), content.sha256);
                let done = if arguments.output.quiet { Ok(()) } else { out.text(&text) };
                written(done.and_then(|()| out.finish()), Status::Clean)?
            }
            Err(error) => told(&error),
        });
    }
    let mode = arguments.mode();
    // What a crash left is brought in order before anything is chosen. That the lock cannot be had is said below.
    let mut locked = match mode == Mode::Yes && journal.root().exists() {
        true => journal.lock().inspect(tell_recovered).ok(),
        false => None,
    };
    let files = match journal.examine(id, only) {
        Ok(files) => files,
        Err(error) => return Ok(told(&error)),
    };
    let mut out = arguments.out(&[])?;
    let table = arguments.form.format == Format::Table && !arguments.output.quiet;
    if table && mode != Mode::Yes {
        written(page::examined(&mut out, &files), Status::Clean)?;
    }
    let open = files.iter().any(|file| !matches!(file.standing, Standing::Original | Standing::Undone));
    let go = match mode {
        Mode::Dry => false,
        Mode::Yes => true,
        Mode::Ask => {
            std::io::Write::flush(&mut out)?;
            open && out::ask(&format!("put the old bytes of {} back?", counted(files.len() as u64, "file")))?
        }
    };
    let (done, status) = match go {
        true => {
            let (done, status) = apply(arguments, &journal, locked.take(), id, &files);
            (Some(done), status)
        }
        false => (None, if open { Status::Findings } else { Status::Clean }),
    };
    let result = match (arguments.form.format, &done) {
        _ if arguments.output.quiet => Ok(()),
        (Format::Table, Some(done)) => page::undone(&mut out, done),
        (Format::Table, None) => Ok(()),
        _ => page::undo_json(&mut out, &files, done.as_ref(), arguments.reading.now()),
    };
    written(result.and_then(|()| out.finish()), status)
}

fn apply(
    arguments: &Arguments,
    journal: &Journal,
    locked: Option<Locked>,
    id: &str,
    files: &[Examined],
) -> (Applying, Status) {
    let options = arguments.options(Gate::default(), Mode::Yes);
    let only = arguments.paths.first().map(PathBuf::as_path);
    let mut done = Applying::default();
    let locked = match locked.map_or_else(|| journal.lock().inspect(tell_recovered), Ok) {
        Ok(locked) => locked,
        Err(error) => {
            files.iter().for_each(|file| done.error(&file.path, &error));
            return (done, told(&error));
        }
    };
    let mut paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).filter(|path| path.exists()).collect();
    paths.dedup();
    let known = Known::new(&paths, arguments.reading.agent, &Environment::of_process(agents::HOMES), &options);
    done.refused = known.refusals();
    if !done.refused.is_empty() {
        return (done, Status::Refused);
    }
    let mut unmerged = false;
    match undo::undo(&locked, id, only, true, &known, &arguments.door()) {
        Ok(Undone { done: outcomes, already, late, failed, .. }) => {
            for outcome in late {
                unmerged |= tell_late(&Applied::new(outcome.path.clone(), outcome));
            }
            for path in already {
                let fact = format!("'{}' held its original bytes already", path.display());
                out::complain("note", &fact, &[], None);
            }
            done.applied = outcomes.into_iter().map(|outcome| Applied::new(outcome.path.clone(), outcome)).collect();
            for (path, error) in failed {
                done.error(&path, &error);
            }
        }
        Err(error) => {
            let status = told(&error);
            return (done, status);
        }
    }
    unmerged |= done.applied.iter().any(|applied| !applied.unmerged.is_empty());
    let holds = [
        (Status::Defect, done.failed.iter().any(|failed| failed.defect)),
        (Status::Trouble, !done.failed.is_empty()),
        (Status::Refused, !done.refused.is_empty() || unmerged),
    ];
    let status = Status::worst(holds.into_iter().filter(|(_, holds)| *holds).map(|(status, _)| status));
    (done, status)
}
