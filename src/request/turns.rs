//! Turns of the request: who speaks in a record, and the rows of one response put together.
//!
//! Claude Code writes a line per block, and results come in while the response still streams: they are no end of it. A
//! prompt, or another response, is.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// One message of the request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The record.
    pub record: u32,
    /// The turn. All rows of one response share an even number, what answers it right behind has the next one.
    pub turn: u32,
}

/// Who speaks in a record, for the request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The model; the response that the row is part of, 0 when it stands for itself.
    Model(u64),
    /// Tool results.
    Results,
    /// Rows that stand between without meaning a new turn: meta rows, interrupt markers, the client's own notices.
    Aside,
    /// A prompt, a summary, anything else that begins a turn of the user.
    Prompt,
    /// A model's turn that failed: it is not sent, and ends what was open before it.
    Failed,
}

/// Merges the rows of one response across the results that came in while it streamed.
#[derive(Default)]
pub(super) struct Merge {
    rows: Vec<Row>,
    /// Rows of the user since the open response began.
    held: Vec<Row>,
    held_results: bool,
    turn: u32,
    /// The response that may still go on.
    open: Option<u64>,
    /// The first row of each run of a response's rows, and whether it thinks (the lowest bit).
    begun: Vec<u32>,
    split: Vec<u32>,
}

impl Merge {
    /// For so many rows.
    pub(super) fn of(rows: usize) -> Merge {
        Merge { rows: Vec::with_capacity(rows), ..Merge::default() }
    }

    pub(super) fn push(&mut self, record: u32, role: Role, thinks: bool) {
        match role {
            Role::Model(response) if response != 0 && self.open == Some(response) => {
                if thinks && self.held_results {
                    self.split.push(record);
                }
                self.rows.push(Row { record, turn: self.turn });
            }
            Role::Model(response) => {
                self.begin();
                if response != 0 {
                    self.begun.push(record << 1 | u32::from(thinks));
                }
                self.open = Some(response);
                self.rows.push(Row { record, turn: self.turn });
            }
            Role::Results | Role::Aside => {
                self.held_results |= role == Role::Results;
                self.held.push(Row { record, turn: self.turn + u32::from(self.open.is_some()) });
            }
            Role::Prompt | Role::Failed => {
                self.begin();
                self.open = None;
                self.rows.push(Row { record, turn: self.turn });
            }
        }
    }

    fn begin(&mut self) {
        self.rows.append(&mut self.held);
        self.held_results = false;
        self.turn += 2;
    }

    /// The rows; of thinking rows those that merging moves; responses of which more came later. `response` tells the
    /// response of a record.
    pub(super) fn finish(mut self, response: impl Fn(u32) -> u64) -> (Vec<Row>, Vec<u32>, Vec<u64>) {
        self.rows.append(&mut self.held);
        let of = |run: u32| response(run >> 1);
        // Four bytes a response, sorted, and not a table of them: a session may have a million. The order within one stays.
        self.begun.sort_by_key(|run| of(*run));
        let mut resumed = Vec::new();
        for pair in self.begun.windows(2) {
            if let [before, run] = *pair
                && of(before) == of(run)
            {
                resumed.push(of(run));
                if run & 1 == 1 {
                    self.split.push(run >> 1);
                }
            }
        }
        self.split.sort_unstable();
        (self.rows, self.split, resumed)
    }
}

/// A map by ids that are keyed hashes already: hashing them again would buy nothing.
pub type IdMap<V> = HashMap<u64, V, BuildHasherDefault<KeyedHasher>>;

/// Takes 64 bits as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyedHasher(u64);

impl Hasher for KeyedHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(b);
        }
    }

    fn write_u64(&mut self, id: u64) {
        // Keyed ids have their lowest bit set; the table looks at the lowest bits first.
        self.0 = id.rotate_right(7);
    }
}
