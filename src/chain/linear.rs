//! What a reader that goes line by line would make of a session: every message in the order of the file, whichever
//! branch it is on. Many tools read sessions so; this says what they mix.

use super::Chain;
use super::graph::numbered;
use crate::record::facts::{Facts, Kind};

/// The messages of a line-by-line reader beside those of the agent's loader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linear {
    /// How many messages it would return.
    pub messages: u64,
    /// Those that the agent's loader does not return, in file order.
    pub mixed: Vec<u32>,
    /// Messages of the loader that such a reader does not return.
    pub missed: Vec<u32>,
    /// Messages of the loader that stand elsewhere in the file than their place in the chain says.
    pub out_of_order: u64,
}

/// Compares a line-by-line reader with the loader.
pub fn compare(facts: &Facts, chain: &Chain) -> Linear {
    let mut returned = vec![false; facts.records.len()];
    let messages: &[u32] = if chain.refusal.is_none() { &chain.messages } else { &[] };
    for &n in messages {
        returned[n as usize] = true;
    }
    let all = || numbered(&facts.records).filter(|(_, r)| r.is_message() || r.kind == Kind::TranscriptMessage);
    let speaks = |n: u32| {
        let record = &facts.records[n as usize];
        record.is_message() || record.kind == Kind::TranscriptMessage
    };
    Linear {
        messages: all().count() as u64,
        mixed: all().filter(|(n, _)| !returned[*n as usize]).map(|(n, _)| n).collect(),
        missed: messages.iter().copied().filter(|&n| !speaks(n)).collect(),
        out_of_order: messages.windows(2).filter(|pair| pair[0] > pair[1]).count() as u64,
    }
}
