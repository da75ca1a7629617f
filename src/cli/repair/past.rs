//! What was repaired before: the journal listed, runs taken back, originals written elsewhere, the journal made small.

use std::path::PathBuf;
use std::time::SystemTime;

use super::{Arguments, Format, Mode};
use crate::audit::repair::back::{self, Known};
use crate::audit::repair::{Applied, Applying};
use crate::cli::failure::{Failure, written};
use crate::cli::status::Status;
use crate::commit::recover::How;
use crate::commit::undo::{Examined, Standing};
use crate::commit::{Error, Journal, Locked, Undone};
use crate::report::{journal as page, out};
use crate::rules::counted;
use crate::rules::gate::Gate;
use crate::store::Environment;

fn journal() -> Result<Journal, Failure> {
    Journal::of_user().ok_or_else(|| {
        Failure::new("no home folder is known in which the journal could be")
            .hint("set XDG_STATE_HOME to the folder that it was set to when the repair was made")
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

/// `--list`.
pub(super) fn list(arguments: &Arguments) -> anyhow::Result<Status> {
    let journal = journal()?;
    let runs = match journal.list() {
        Ok(runs) => runs,
        Err(error) => return Ok(told(&error)),
    };
    let mut out = arguments.out(&[])?;
    let done = match arguments.format {
        Format::Table => page::list(&mut out, &runs, &journal.root().to_string_lossy()),
        _ => page::list_json(&mut out, &runs, arguments.reading.now()),
    };
    written(done.and_then(|()| out.finish()), Status::Clean)
}

/// `--prune`.
pub(super) fn prune(arguments: &Arguments) -> anyhow::Result<Status> {
    let journal = journal()?;
    if !journal.root().exists() {
        return Ok(Status::Clean);
    }
    let pruned = journal.lock().and_then(|locked| {
        tell_recovered(&locked);
        let swept = locked.sweep(SystemTime::now(), arguments.closed)?;
        Ok((swept, locked.prune(0, SystemTime::now(), None)?))
    });
    let (swept, freed) = match pruned {
        Ok(pruned) => pruned,
        Err(error) => return Ok(told(&error)),
    };
    if arguments.output.quiet {
        return Ok(Status::Clean);
    }
    let mut out = arguments.out(&[])?;
    let gone = counted(swept.removed.len() as u64, "original");
    let stay = counted(swept.remaining.len() as u64, "original");
    let done = out
        .text(&format!("the journal is {} smaller; {gone} beside sessions went, {stay} stay", counted(freed, "byte")))
        .and_then(|()| out.finish());
    written(done, Status::Clean)
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
        return Ok(match journal.undo_to(id, only, to) {
            Ok(content) => {
                let mut out = arguments.out(&[])?;
                let bytes = counted(content.len, "byte");
                let text = format!("{bytes} written to '{}', sha256 {}", to.display(), content.sha256);
                let done = if arguments.output.quiet { Ok(()) } else { out.text(&text) };
                written(done.and_then(|()| out.finish()), Status::Clean)?
            }
            Err(error) => told(&error),
        });
    }
    let files = match journal.examine(id, only) {
        Ok(files) => files,
        Err(error) => return Ok(told(&error)),
    };
    let mode = arguments.mode();
    let mut out = arguments.out(&[])?;
    let table = arguments.format == Format::Table && !arguments.output.quiet;
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
            let (done, status) = apply(arguments, &journal, id, &files);
            (Some(done), status)
        }
        false => (None, if open { Status::Findings } else { Status::Clean }),
    };
    let result = match (arguments.format, &done) {
        _ if arguments.output.quiet => Ok(()),
        (Format::Table, Some(done)) => page::undone(&mut out, done),
        (Format::Table, None) => Ok(()),
        _ => page::undo_json(&mut out, &files, done.as_ref(), arguments.reading.now()),
    };
    written(result.and_then(|()| out.finish()), status)
}

fn apply(arguments: &Arguments, journal: &Journal, id: &str, files: &[Examined]) -> (Applying, Status) {
    let options = arguments.options(Gate::default(), Mode::Yes);
    let only = arguments.paths.first().map(PathBuf::as_path);
    let mut done = Applying::default();
    let locked = match journal.lock() {
        Ok(locked) => locked,
        Err(error) => {
            files.iter().for_each(|file| done.error(&file.path, &error));
            return (done, told(&error));
        }
    };
    tell_recovered(&locked);
    let mut paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).filter(|path| path.exists()).collect();
    paths.dedup();
    let known = Known::new(&paths, arguments.reading.dialect, &Environment::of_process(), &options);
    done.refused = known.refusals();
    if !done.refused.is_empty() {
        return (done, Status::Refused);
    }
    match back::undo(&locked, id, only, true, &known, &arguments.door()) {
        Ok(Undone { done: outcomes, already, failed, .. }) => {
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
    let unmerged = done.applied.iter().any(|applied| !applied.unmerged.is_empty());
    let holds = [
        (Status::Defect, done.failed.iter().any(|failed| failed.defect)),
        (Status::Trouble, !done.failed.is_empty()),
        (Status::Refused, !done.refused.is_empty() || unmerged),
    ];
    let status = Status::worst(holds.into_iter().filter(|(_, holds)| *holds).map(|(status, _)| status));
    (done, status)
}
