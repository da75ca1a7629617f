//! C: the chain. Checks how records hang together, and what of the main line a resume leaves behind.
//!
//! `links` looks at ids and pointers one by one, `branches` at where the history forks, `boundaries` at compactions,
//! `loading` at what the loader makes of the whole. What a break costs is taken from `chain::recover`, once for all of them.
//! Whether the messages are legal for the API is left to `tools` and `messages`.

mod boundaries;
mod branches;
mod links;
pub(crate) mod loading;

use super::{Collector, Context};
use crate::chain::recover::{Recovered, recover};
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
    &boundaries::DANGLING_BOUNDARY_POINTER,
    &boundaries::REPLAYED_RECORDS,
    &boundaries::BOUNDARY_WITHOUT_SUMMARY,
    &boundaries::SUMMARY_WITHOUT_BOUNDARY,
    &branches::STRAY_LEAF,
    &loading::MISSING_HEADER,
    &loading::REPEATED_HEADER,
    &loading::UNKNOWN_VERSION,
    &boundaries::KEPT_RANGE_LOST,
    &loading::LINEAR_READING,
];

pub use links::in_other_session;

/// What the rules of this family share about one session.
struct View<'a> {
    context: &'a Context<'a>,
    shape: Shape<'a>,
    recovered: Option<Recovered>,
}

/// Finds them in one session. Returns the recovered session when there was something to recover: the verdict needs it too.
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
    boundaries::check(&view, found);
    loading::check(&view, found);
    view.recovered
}
