//! The exit statuses: one table for the program, the help, the man pages and the README.

use crate::report::wrap::wrap;

/// How a run ended. In the order of precedence: where several hold, the first is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Interrupted.
    Interrupted,
    /// A defect of sid-audit itself.
    Defect,
    /// Could not do all that was asked.
    Trouble,
    /// Refused.
    Refused,
    /// Findings.
    Findings,
    /// Nothing.
    Clean,
}

impl Status {
    /// All of them, the first that holds is given.
    pub const ALL: [Status; 6] =
        [Status::Interrupted, Status::Defect, Status::Trouble, Status::Refused, Status::Findings, Status::Clean];

    /// The number that a shell sees.
    pub fn number(self) -> u8 {
        match self {
            Status::Clean => 0,
            Status::Findings => 1,
            Status::Trouble => 2,
            Status::Refused => 3,
            Status::Defect => 70,
            Status::Interrupted => 130,
        }
    }

    /// What it means.
    pub fn meaning(self) -> &'static str {
        match self {
            Status::Clean => {
                "nothing at or above --fail-on (repair: every session loads in full, the API would refuse none, and a dry run has \
                 nothing to do)"
            }
            Status::Findings => {
                "findings at or above --fail-on (repair: at the end of the run, or of the dry run, a session does not load in \
                 full or would be refused by the API, or a dry run has something to do; what --baseline knows does not \
                 count)"
            }
            Status::Trouble => {
                "could not do all that was asked: bad arguments, nothing to read, a file that could not be read or \
                 written, a leaf, snapshot or record to link that is not there"
            }
            Status::Refused => {
                "refused: a session that has something to repair is in use, changed under us, or its repair, or a link \
                 that was decided, would have made something worse"
            }
            Status::Defect => "a defect of sid-audit itself: two ways of counting disagree and nothing explains it",
            Status::Interrupted => "interrupted; what was finished is reported, nothing is half done",
        }
    }

    /// Of two that hold the one that is given.
    #[must_use]
    pub fn or(self, other: Status) -> Status {
        let place = |status: Status| Status::ALL.iter().position(|s| *s == status);
        if place(other) < place(self) { other } else { self }
    }

    /// The given one of all that hold; [`Status::Clean`] when none does.
    pub fn worst(statuses: impl IntoIterator<Item = Status>) -> Status {
        statuses.into_iter().fold(Status::Clean, Status::or)
    }
}

impl From<Status> for std::process::ExitCode {
    fn from(status: Status) -> Self {
        std::process::ExitCode::from(status.number())
    }
}

/// The table as it stands at the end of every help page.
pub fn table(width: usize) -> String {
    let mut all = Status::ALL;
    all.sort_by_key(|status| status.number());
    let mut text = String::from("Exit status:\n");
    for status in all {
        for (at, line) in wrap(status.meaning(), width.saturating_sub(7)).iter().enumerate() {
            let number = if at == 0 { status.number().to_string() } else { String::new() };
            text.push_str(&format!("  {number:<5}{line}\n"));
        }
    }
    let order: Vec<String> = Status::ALL.iter().map(|status| status.number().to_string()).collect();
    text.push_str(&format!("  Where several hold, the first of {} is given.\n", order.join(", ")));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_holds_is_given() {
        let order: Vec<u8> = Status::ALL.map(Status::number).into();
        assert_eq!(order, [130, 70, 2, 3, 1, 0]);
        assert_eq!(Status::worst([Status::Findings, Status::Refused, Status::Trouble]), Status::Trouble);
        assert_eq!(Status::worst([Status::Clean, Status::Findings]), Status::Findings);
        assert_eq!(Status::worst([]), Status::Clean);
    }
}
