//! The record whose blocks were read last. Findings come record by record, and a message may have tens of thousands of
//! blocks: it is read once for all of them.

use std::cell::RefCell;

use crate::record::{reread, value::Value};
use crate::request::autopsy::{answered, call_id};
use crate::request::content;
use crate::rules::Context;
use crate::session::Session;
use crate::text::Text;

/// See the module.
#[derive(Default)]
pub(super) struct Held(RefCell<Option<One>>);

struct One {
    record: u32,
    text: Vec<u8>,
    /// Where the elements of its content stand in the text.
    items: Vec<(usize, usize)>,
}

impl Held {
    /// Asks one block of a record, by its place in the content as it stands in the file.
    pub(super) fn block<T>(
        &self,
        session: &Session,
        record: u32,
        index: usize,
        ask: impl FnOnce(Value<'_>) -> Option<T>,
    ) -> Option<T> {
        let mut held = self.0.borrow_mut();
        if held.as_ref().is_none_or(|one| one.record != record) {
            let text = reread::text(&session.source, session.record(record)).ok()?;
            let items =
                content(&text).map(|c| c.items().iter().map(|i| (i.start, i.end)).collect()).unwrap_or_default();
            *held = Some(One { record, text, items });
        }
        let one = held.as_ref()?;
        ask(Value::standing(&one.text, *one.items.get(index)?)?)
    }

    /// The call id of a block as it stands in the file; `place` counts the blocks that are sent.
    pub(super) fn id(&self, context: &Context<'_>, record: u32, place: u32) -> Option<Text> {
        let session = context.session;
        let b = *context.request.blocks(&session.facts, record).get(place as usize)?;
        if session.agent.is_result(session.record(record).kind) {
            return answered(&reread::text(&session.source, session.record(record)).ok()?, session.agent);
        }
        self.block(session, record, usize::from(b.index), |value| call_id(value, b.kind, session.agent))
    }
}
