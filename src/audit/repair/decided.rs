//! What a person decided, and what became of it: no decision is dropped without a word.

use std::path::PathBuf;

use crate::chain::recover::Evidence;
use crate::record::facts::Id;
use crate::repair::leaf::{self, Decision};
use crate::repair::links::Relink;
use crate::repair::plan::Plan;
use crate::session::Session;

/// What became of a decision in one session.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Became {
    /// The plan has it.
    Planned,
    /// It was so already.
    Holds,
    /// It names a record that is not there. Exit status 2.
    Absent(String),
    /// It is not done, and why. Exit status 3.
    Refused(String),
}

/// A decision about a session.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Decided {
    /// As it was written: `--leaf ID`, `--relink CHILD=PARENT`.
    pub what: String,
    /// The session.
    pub path: PathBuf,
    /// What became of it.
    pub became: Became,
}

/// A decision as it was written.
pub fn leaf_words(id: &str) -> String {
    format!("--leaf {id}")
}

/// A decision as it was written.
pub fn link_words(child: &str, parent: &str) -> String {
    format!("--relink {child}={parent}")
}

/// A decision that is about a session, before there is a plan.
#[derive(Debug)]
pub(super) struct Open {
    what: String,
    decision: Decision,
    /// The leaf that it names.
    leaf: Option<Id>,
    /// Where the record begins whose parent changes.
    offset: u64,
}

/// Those of these decisions that are about a session.
pub(super) fn about(session: &Session, relink: &Relink) -> Vec<Open> {
    let leaf = relink.leaf.iter().map(|id| (leaf_words(id), leaf::of_leaf(session, id)));
    let links = relink.decided.iter();
    let links = links.map(|(child, parent)| (link_words(child, parent), leaf::of_link(session, (child, parent))));
    let open = |(what, decision): (String, Option<Decision>)| {
        let decision = decision?;
        let offset = match decision {
            Decision::Link(child, _) => session.record(child).offset,
            _ => 0,
        };
        let leaf = relink.leaf.as_ref().map(|id| Id::of(id.as_bytes()));
        Some(Open { what, decision, leaf, offset })
    };
    leaf.chain(links).filter_map(open).collect()
}

/// What became of them with this plan.
pub(super) fn became(open: Vec<Open>, path: &std::path::Path, plan: &Plan) -> Vec<Decided> {
    let is_planned =
        |offset: u64| plan.edits.iter().any(|e| e.edit.evidence == Some(Evidence::Decided) && e.offset == offset);
    let not_taken = || match leaf::why_not(&plan.taken_back) {
        Some(why) => format!("was not taken: {why}"),
        None => "was not taken: the record cannot be changed without losing something of it".to_owned(),
    };
    let one = |Open { what, decision, leaf, offset }: Open| {
        let became = match decision {
            Decision::Link(..) if is_planned(offset) => Became::Planned,
            Decision::Link(..) => Became::Refused(not_taken()),
            Decision::Damaged if plan.after.comes_back(leaf) => Became::Planned,
            Decision::Damaged => Became::Refused("was not taken: its damaged line is not mended".to_owned()),
            Decision::Holds => Became::Holds,
            Decision::Absent(why) => Became::Absent(why),
            Decision::Cannot(why) => Became::Refused(format!("was not taken: {why}")),
        };
        Decided { what, path: path.to_owned(), became }
    };
    open.into_iter().map(one).collect()
}
