//! C: the chain. Checks how records hang together, and what of the main line a resume leaves behind.
//!
//! `links` looks at ids and pointers one by one, `branches` at where the history forks, `boundaries` at compactions,
//! `loading` at what the loader makes of the whole; what only one agent's chain can have is the agent's. What a break costs is taken from `chain::recover`, once for all of them.
//! Whether the messages are legal for the API is left to `tools` and `messages`.

mod boundaries;
mod branches;
mod links;
pub(crate) mod loading;

use super::{Collector, Context};
use crate::chain::recover::{Broken, Recovered, recover};
use crate::chain::shape::Shape;
use crate::finding::Rule;

/// The rules of this family.
pub static RULES: &[&Rule] = &[
    &links::MISSING_PARENT,
    &branches::EXTRA_ROOT,
    &links::SELF_PARENT,
    &links::CYCLE,
    &links::PARENT_AFTER_CHILD,
    &links::REPEATED_RECORD,
    &links::CONFLICTING_ID,
    &branches::SECOND_WRITER,
    &links::MISSING_ID,
    &loading::CHAIN_STOPS_SHORT,
    &loading::NOT_LOADABLE,
    &links::PARENT_IN_OTHER_SESSION,
    &links::SIDE_PARENT,
    &links::PROGRESS_PARENT,
    &loading::MISSING_HEADER,
    &loading::UNKNOWN_VERSION,
    &boundaries::KEPT_RANGE_LOST,
];

pub(crate) use boundaries::KEPT_RANGE_LOST;
pub use branches::by_turns;
pub(crate) use branches::{EXTRA_ROOT, STRAY_LEAF};
pub(crate) use links::{
    CYCLE, MISSING_ID, MISSING_PARENT, PARENT_AFTER_CHILD, PROGRESS_PARENT, REPEATED_RECORD, SELF_PARENT, SIDE_PARENT,
};
pub use links::{in_other_session, same_bytes};
pub(crate) use loading::MISSING_HEADER;

/// Findings that say why two branches lie beside each other.
pub(crate) static FORKS: &[&Rule] = &[&STRAY_LEAF, &branches::SECOND_WRITER, &EXTRA_ROOT, &SIDE_PARENT];

/// The rule that tells a broken link.
pub(crate) fn rule_of(broken: Broken) -> &'static Rule {
    match broken {
        Broken::MissingParent => &MISSING_PARENT,
        Broken::ExtraRoot => &EXTRA_ROOT,
        Broken::SelfParent => &SELF_PARENT,
        Broken::Cycle => &CYCLE,
        Broken::ParentBelow => &PARENT_AFTER_CHILD,
        Broken::NoParentKey => &MISSING_ID,
        Broken::SideParent => &SIDE_PARENT,
    }
}

/// What the rules of this family share about one session.
#[derive(Debug)]
pub struct View<'a> {
    /// The session, and what follows from it.
    pub context: &'a Context<'a>,
    /// Subtrees and adoption.
    pub shape: Shape<'a>,
    /// The session mended, where there was something to mend.
    pub recovered: Option<Recovered>,
}

/// Finds them in one session. Returns the mended session when there was something to mend: the verdict needs it too.
pub fn check(context: &Context<'_>, found: &mut Collector) -> Option<Recovered> {
    let session = context.session;
    if session.document.is_some() {
        loading::document(context, found);
        return None;
    }
    let shape = Shape::new(session.agent, &session.facts, &session.graph, &session.chain);
    let recovered = recover(session.agent, &session.facts, &session.graph, &session.chain, &session.source);
    let view = View { context, shape, recovered };
    links::check(&view, found);
    branches::check(&view, found);
    context.agent.check_chain(&view, found);
    boundaries::check(&view, found);
    loading::check(&view, found);
    view.recovered
}
