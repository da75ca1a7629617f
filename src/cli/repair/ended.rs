//! What a run ends with: what became of decisions, what is still broken and what goes further, and the exit status.

use std::io::{self, Write};

use super::start::Started;
use super::{Mode, Repair};
use crate::audit::repair::decided::{Became, leaf_words, link_words};
use crate::audit::repair::standing::{Still, still_broken};
use crate::audit::repair::{Applying, FilePlan, Refused, Survey};
use crate::cli::status::Status;
use crate::report::out::{self, Out};
use crate::report::{repair_json, repair_table};

/// What a run came to.
pub(super) struct Ended<'a> {
    pub(super) survey: &'a Survey,
    pub(super) done: &'a Applying,
    pub(super) refused: &'a [Refused],
    pub(super) started: &'a Started,
    /// Sessions that are still broken.
    pub(super) still: &'a [Still<'a>],
}

impl Repair<'_> {
    /// The sessions that are still broken at the end of this run; of a dry run, at the end of the run that it plans.
    pub(super) fn still_broken<'a>(&self, survey: &'a Survey, done: Option<&Applying>) -> Vec<Still<'a>> {
        let is_applied = |plan: &FilePlan| match done {
            Some(done) => done.applied.iter().any(|applied| applied.path == plan.path),
            None => self.mode == Mode::Dry && plan.may_be_applied(),
        };
        still_broken(survey, self.discovery, self.known, is_applied)
    }

    /// Says what became of the decisions of the user that are not simply done.
    pub(super) fn decisions(&self, survey: &Survey) -> Status {
        let relink = &self.options.plan.relink;
        let leaf = relink.leaf.iter().map(|id| (leaf_words(id), id));
        let links = relink.decided.iter().map(|(child, parent)| (link_words(child, parent), child));
        let mut status = Status::Clean;
        for (what, id) in leaf.chain(links) {
            let mut found = survey.decisions.iter().filter(|decided| decided.what == what).peekable();
            if found.peek().is_none() && !survey.interrupted {
                out::complain("error", &format!("{what}: no session here has a record '{id}'"), &[], None);
                status = status.or(Status::Trouble);
            }
            for decided in found {
                let path = decided.path.display();
                let (kind, words, holds) = match &decided.became {
                    Became::Planned => continue,
                    Became::Holds => ("note", "it is so already", Status::Clean),
                    Became::Absent(why) => ("error", why.as_str(), Status::Trouble),
                    Became::Refused(why) => ("refused", why.as_str(), Status::Refused),
                };
                out::complain(kind, &format!("{what}: '{path}' {words}"), &[], None);
                status = status.or(holds);
            }
        }
        status
    }

    /// What stands below the page: what could not be read, what is still broken, and the next command.
    pub(super) fn remarks(&self, out: &mut Out, report: &repair_json::Report<'_>) -> io::Result<()> {
        out.flush()?;
        for (path, message) in report.errors {
            out::complain("error", &format!("'{}' {message}", path.display()), &[], None);
        }
        for refused in report.refused.iter().filter(|r| !report.plans.iter().any(|plan| plan.path == r.path)) {
            let fact = format!("'{}' {}", refused.path.display(), refused.reason);
            out::complain("refused", &fact, &[], refused.hint.as_deref());
        }
        if report.applied.is_none() && report.plans.iter().any(FilePlan::may_be_applied) {
            out.gap()?;
            out.text("nothing was changed; --yes applies what is planned")?;
        }
        if report.applied.is_some_and(<[_]>::is_empty) && report.plans.iter().any(FilePlan::has_work) {
            out.gap()?;
            out.text("nothing was changed")?;
        }
        let planned = report.applied.is_none() && report.plans.iter().any(FilePlan::may_be_applied);
        repair_table::still_broken(out, report, planned)
    }

    pub(super) fn status(&self, ended: &Ended<'_>, ran: bool) -> Status {
        let Ended { survey, done, refused, started, still } = ended;
        let todo = !ran && survey.plans.iter().any(|plan| plan.has_new_work(self.known));
        let broken = still.iter().any(|still| !still.known);
        let unmerged = started.unmerged || done.applied.iter().any(|applied| !applied.unmerged.is_empty());
        let holds = [
            (Status::Interrupted, survey.interrupted || done.interrupted),
            (Status::Defect, !survey.defects.is_empty() || done.failed.iter().any(|failed| failed.defect)),
            (Status::Trouble, !survey.errors.is_empty() || !self.discovery.errors.is_empty()),
            (Status::Trouble, !done.failed.is_empty()),
            (Status::Refused, !refused.is_empty() || unmerged),
            (Status::Findings, todo || broken),
        ];
        Status::worst(holds.into_iter().filter(|(_, holds)| *holds).map(|(status, _)| status))
    }
}
