//! Usage as the second method counts it: responses by their names in full, running totals by a plain retelling of how they
//! are written.

use std::collections::{BTreeMap, HashMap};

use super::Sums;
use super::line::{Seen, Stats, Used};
use crate::identity::AgentId;

/// Figures of a response or a row: requests, input, output, cache read, cache write, billionths of a dollar.
type Figures = [u64; 6];
const NAMES: [&str; 6] = ["requests", "input", "output", "cache_read", "cache_write", "cost_nano_usd"];

/// Figures by model.
type Rows = Vec<(String, Figures)>;

/// The usage of one file.
#[derive(Debug, Default)]
pub(super) struct FileUsage {
    order: u64,
    best: HashMap<String, (u64, u64, Used)>,
    nameless: Vec<Used>,
    stats: Running,
}

/// Running totals as they are met.
#[derive(Debug, Default)]
struct Running {
    ended: BTreeMap<String, [Option<f64>; 6]>,
    last: BTreeMap<String, [Option<f64>; 6]>,
    met: bool,
    id: Option<String>,
    resumed: bool,
    answers: u64,
}

impl FileUsage {
    /// Adds a record.
    pub(super) fn add(&mut self, seen: &Seen) {
        self.order += 1;
        self.stats.resumed |= seen.is_trace;
        self.stats.answers += u64::from(seen.is_assistant && seen.answered);
        if let Some(stats) = &seen.stats {
            self.stats.add(stats);
        }
        let Some(used) = seen.usage.clone().filter(|used| !used.made_up) else { return };
        let output = used.tokens[1].unwrap_or(0);
        match used.key.clone() {
            None => self.nameless.push(used),
            Some(key) => {
                let new = (output, self.order, used);
                let slot = self.best.entry(key).or_insert_with(|| new.clone());
                if (new.0, new.1) >= (slot.0, slot.1) {
                    *slot = new;
                }
            }
        }
    }
}

impl FileUsage {
    /// Takes the running totals for nothing.
    pub(super) fn forget_totals(&mut self) {
        self.stats = Running::default();
    }
}

impl Running {
    fn add(&mut self, stats: &Stats) {
        let now: BTreeMap<&str, [Option<f64>; 6]> = stats.models.iter().map(|(m, row)| (m.as_str(), *row)).collect();
        let answers = std::mem::take(&mut self.answers) as f64;
        let resumed = std::mem::take(&mut self.resumed);
        let names: Vec<String> = self.last.keys().cloned().collect();
        for name in names {
            let before = self.last[&name];
            let anew = match now.get(name.as_str()) {
                None => true,
                Some(after) => {
                    let fell = |i: usize| match (before[i], after[i]) {
                        (Some(b), Some(a)) => a < b - if i == 5 { 1e-9 } else { 0.0 },
                        _ => false,
                    };
                    let fresh = after[0].is_none_or(|n| fell(0) || n <= answers);
                    (0..6).any(fell) && (resumed || fresh)
                }
            };
            if anew {
                self.end(&name);
            }
        }
        for (name, row) in now {
            self.last.insert(name.to_owned(), row);
        }
        self.met = true;
        self.id.clone_from(&stats.id);
    }

    fn end(&mut self, name: &str) {
        let Some(last) = self.last.remove(name) else { return };
        let sums = self.ended.entry(name.to_owned()).or_default();
        for (sum, n) in sums.iter_mut().zip(last) {
            if let Some(n) = n {
                *sum = Some(sum.unwrap_or(0.0) + n);
            }
        }
    }

    /// The last record's id and the rows; none when nothing was totalled.
    fn rows(mut self) -> Option<(Option<String>, Rows)> {
        let names: Vec<String> = self.last.keys().cloned().collect();
        names.iter().for_each(|name| self.end(name));
        if self.ended.is_empty() || !self.met {
            return None;
        }
        let figures = |row: [Option<f64>; 6]| {
            let mut figures = row.map(|n| n.unwrap_or(0.0) as u64);
            figures[5] = (row[5].unwrap_or(0.0) * 1e9).round() as u64;
            figures
        };
        Some((self.id, self.ended.into_iter().map(|(name, row)| (name, figures(row))).collect()))
    }
}

/// The usage of all files.
#[derive(Debug, Default)]
pub(super) struct AllUsage {
    /// By agent and name, so that no two agents' names meet.
    best: HashMap<(AgentId, String), Used>,
    nameless: BTreeMap<(String, &'static str), Figures>,
    snapshots: HashMap<String, Rows>,
}

impl AllUsage {
    /// Adds a file of an agent.
    pub(super) fn add(&mut self, agent: AgentId, file: FileUsage) {
        if let Some((id, rows)) = file.stats.rows() {
            match id {
                Some(id) => drop(self.snapshots.entry(id).or_insert(rows)),
                None => rows.into_iter().for_each(|(model, figures)| self.row(model, "usage_stats", figures)),
            }
            return;
        }
        for (key, (_, _, used)) in file.best {
            self.once((agent, key), used);
        }
        for used in file.nameless {
            let figures = figures(&used);
            self.row(used.model, "messages", figures);
        }
    }

    fn once(&mut self, key: (AgentId, String), used: Used) {
        let slot = self.best.entry(key).or_insert_with(|| used.clone());
        if weight(&used) > weight(slot) {
            *slot = used;
        }
    }

    fn row(&mut self, model: String, source: &'static str, figures: Figures) {
        let sums = self.nameless.entry((model, source)).or_default();
        sums.iter_mut().zip(figures).for_each(|(sum, n)| *sum += n);
    }

    /// Adds others.
    pub(super) fn merge(&mut self, other: AllUsage) {
        for (key, used) in other.best {
            self.once(key, used);
        }
        for ((model, source), figures) in other.nameless {
            self.row(model, source, figures);
        }
        for (id, rows) in other.snapshots {
            self.snapshots.entry(id).or_insert(rows);
        }
    }

    /// Writes the sums.
    pub(super) fn finish(mut self, sums: &mut Sums) {
        for (_, used) in std::mem::take(&mut self.best) {
            let figures = figures(&used);
            self.row(used.model, "messages", figures);
        }
        for (_, rows) in std::mem::take(&mut self.snapshots) {
            rows.into_iter().for_each(|(model, figures)| self.row(model, "usage_stats", figures));
        }
        for ((model, source), figures) in self.nameless {
            for (name, n) in NAMES.into_iter().zip(figures) {
                sums.add(format!("usage.{model}.{source}.{name}"), n);
            }
        }
    }
}

fn figures(used: &Used) -> Figures {
    let [input, output, read, write] = used.tokens.map(|n| n.unwrap_or(0));
    [1, input, output, read, write, (used.cost.unwrap_or(0.0) * 1e9).round() as u64]
}

/// Of copies the heaviest counts. The model and the cost only make it the same one whatever the order.
fn weight(used: &Used) -> (u64, u64, [u64; 4], &str, u64) {
    let tokens = used.tokens.map(|n| n.unwrap_or(0));
    let there = used.tokens.map(|n| n.unwrap_or(u64::MAX));
    let cost = used.cost.map_or(0, |dollars| (dollars * 1e9).round() as u64 + 1);
    (tokens[1], tokens[0] + tokens[2] + tokens[3], there, &used.model, cost)
}
