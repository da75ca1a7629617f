//! The only way up. A file may say that two records are each other's parents, so every walk along parents goes through
//! here, where none goes round for ever and many walks together pass each record once.

use super::Stop;
use super::graph::{Graph, MISSING, NO_PARENT};

/// A record and those above it, up to the root or gap. A loop shows some of them again, but never more steps than there
/// are records: for one walk, where a table of what was seen would cost more than it saves.
pub fn up(graph: &Graph, from: u32) -> impl Iterator<Item = u32> + use<'_> {
    let above = |n: &u32| graph.parent.get(*n as usize).copied().filter(|p| *p < MISSING);
    std::iter::successors(Some(from), above).take(graph.parent.len())
}

/// The whole way from a record, root first, and why it ends. `above` gives a parent, `known` the record that stands for
/// all with one id: coming back to it is a loop.
pub fn path(count: usize, from: u32, above: impl Fn(u32) -> u32, known: impl Fn(u32) -> u32) -> (Vec<u32>, Stop) {
    let mut seen = vec![false; count];
    let mut path = Vec::new();
    let mut at = from;
    let stop = loop {
        seen[known(at) as usize] = true;
        path.push(at);
        match above(at) {
            NO_PARENT => break Stop::Root,
            MISSING => break Stop::MissingParent(at),
            next if seen[next as usize] => break Stop::Repeat(at),
            next => at = next,
        }
    };
    path.reverse();
    (path, stop)
}

/// What a record has of its own, or else its parent has, or that one's parent: an answer that is asked of many records and
/// found once for each.
#[derive(Debug)]
pub struct Inherited<T> {
    answers: Vec<T>,
    unknown: T,
    round: T,
    path: Vec<u32>,
}

impl<T: Copy + PartialEq> Inherited<T> {
    /// `own`: what each record has of its own, `unknown` where it has nothing. `round`: the answer on a loop.
    pub fn new(own: Vec<T>, unknown: T, round: T) -> Self {
        Inherited { answers: own, unknown, round, path: Vec::new() }
    }

    /// The answer for one record. `top` gives the one of the last record of a way, by that and by how it ends:
    /// [`NO_PARENT`] or [`MISSING`].
    pub fn of(&mut self, graph: &Graph, from: u32, top: impl Fn(u32, u32) -> T) -> T {
        let mut at = from;
        let found = loop {
            if self.answers[at as usize] != self.unknown {
                break self.answers[at as usize];
            }
            // Whoever comes back here went round.
            self.answers[at as usize] = self.round;
            self.path.push(at);
            match graph.parent[at as usize] {
                end @ (NO_PARENT | MISSING) => break top(at, end),
                parent => at = parent,
            }
        };
        for n in self.path.drain(..) {
            self.answers[n as usize] = found;
        }
        found
    }
}

/// Loops of two or more records: the earliest record of each in the file, and how many it has.
pub fn loops(graph: &Graph) -> Vec<(u32, u64)> {
    // 0: not seen, otherwise the round in which it was.
    let mut round = vec![0_u32; graph.parent.len()];
    let mut loops = Vec::new();
    for start in 0..graph.parent.len() as u32 {
        let mut at = start;
        while at < MISSING && round[at as usize] == 0 {
            round[at as usize] = start + 1;
            at = graph.parent[at as usize];
        }
        if at < MISSING && round[at as usize] == start + 1 && graph.parent[at as usize] != at {
            let ring = || std::iter::once(at).chain(up(graph, graph.parent[at as usize]).take_while(|n| *n != at));
            loops.push((ring().min().unwrap_or(at), ring().count() as u64));
        }
    }
    loops
}

/// All records that hang below some, those included, each once.
pub fn below(graph: &Graph, heads: &[u32]) -> Vec<u32> {
    let mut seen = vec![false; graph.parent.len()];
    let mut all: Vec<u32> = Vec::new();
    let mut take = |n: u32, all: &mut Vec<u32>| {
        if !std::mem::replace(&mut seen[n as usize], true) {
            all.push(n);
        }
    };
    heads.iter().for_each(|&n| take(n, &mut all));
    let mut at = 0;
    while let Some(&n) = all.get(at) {
        at += 1;
        graph.children(n).iter().for_each(|&child| take(child, &mut all));
    }
    all
}

/// All records so that each comes after its children. Records on a loop, and those that lead into none but it, are left
/// out.
pub fn leaves_first(graph: &Graph) -> Vec<u32> {
    let count = graph.parent.len() as u32;
    let mut waiting: Vec<u32> = (0..count).map(|n| graph.children(n).len() as u32).collect();
    let mut order: Vec<u32> = (0..count).filter(|&n| waiting[n as usize] == 0).collect();
    let mut at = 0;
    while let Some(&n) = order.get(at) {
        at += 1;
        let p = graph.parent[n as usize];
        if p < MISSING {
            let left = &mut waiting[p as usize];
            *left -= 1;
            if *left == 0 {
                order.push(p);
            }
        }
    }
    order
}

/// All records so that each comes after its parent, as near to where it stands as can be; `waits` says whether a record
/// waits for a parent that did not come yet. Records that would wait for ever are left out.
pub fn parents_first(graph: &Graph, waits: impl Fn(u32, u32) -> bool) -> Vec<u32> {
    let count = graph.parent.len();
    let (mut order, mut out) = (Vec::with_capacity(count), vec![false; count]);
    let mut waiting: std::collections::HashMap<u32, Vec<u32>> = std::collections::HashMap::new();
    for n in 0..count as u32 {
        let mut ready = vec![n];
        while let Some(n) = ready.pop() {
            let p = graph.parent[n as usize];
            if p < MISSING && !out[p as usize] && waits(n, p) {
                waiting.entry(p).or_default().push(n);
                continue;
            }
            out[n as usize] = true;
            order.push(n);
            ready.extend(waiting.remove(&n).unwrap_or_default().into_iter().rev());
        }
    }
    order
}
