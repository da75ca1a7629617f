//! Every path of the JSON of a store, with how often it is there and what stands at it: `message.content[].text`. Elements
//! of arrays share one path. Read with the scanner, in a second look at each file that only `fields` takes.

use std::collections::{BTreeMap, HashSet};

use super::scanner::{Event, Scanner, unescaped};
use crate::record::facts::Id;
use crate::record::id_hasher::ByHash;

/// How many paths are told apart; in a hostile store, or one whose keys are data, there are more. What is beyond is
/// counted together.
pub const PATHS: usize = 50_000;
/// Below so many brackets paths are no longer told apart.
const DEEPEST: usize = 64;
/// A key is named by at most so many of its bytes.
const LONGEST_KEY: usize = 120;

/// Below these keys stands what a model, a tool or a person wrote, and keys are part of it: the input of a call, what a
/// tool gave back, what was pasted, the values of metadata.
const FREE: [&str; 12] = [
    "input",
    "arguments",
    "args",
    "toolUseResult",
    "details",
    "pastedContents",
    "value",
    "data",
    "answers",
    "output",
    "result",
    "metadata",
];

/// Types of values, in the order of [`PathCount::types`].
pub const TYPES: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

/// How often a path is there, by the type of what stands at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathCount {
    /// See [`TYPES`].
    pub types: [u64; 6],
}

impl PathCount {
    /// All of them.
    pub fn count(&self) -> u64 {
        self.types.iter().sum()
    }

    fn add(&mut self, other: PathCount) {
        self.types.iter_mut().zip(other.types).for_each(|(sum, n)| *sum += n);
    }
}

/// Paths of a store.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AllPaths {
    /// By path.
    pub paths: BTreeMap<Box<str>, PathCount>,
    /// Values at further paths.
    pub others: u64,
}

impl AllPaths {
    /// Adds others.
    pub fn merge(&mut self, other: AllPaths) {
        self.others += other.others;
        for (path, count) in other.paths {
            if let Some(sum) = self.paths.get_mut(&path) {
                sum.add(count);
            } else if self.paths.len() < PATHS {
                self.paths.insert(path, count);
            } else {
                self.others += count.count();
            }
        }
    }

    /// How often a path is there.
    pub fn get(&self, path: &str) -> Option<u64> {
        self.paths.get(path).map(PathCount::count)
    }
}

struct Node {
    parent: u32,
    /// None: an element of an array.
    key: Option<Box<str>>,
    count: PathCount,
}

/// What is beyond the paths that are told apart.
const BEYOND: u32 = u32::MAX;

/// Walks records and counts their paths.
pub struct PathWalk {
    scanner: Scanner,
    nodes: Vec<Node>,
    children: ByHash<u32>,
    /// The paths of what is open, and whether it is an array.
    open: Vec<(u32, bool)>,
    /// The path of the key that was read last.
    key: u32,
    others: u64,
}

impl Default for PathWalk {
    fn default() -> Self {
        let root = Node { parent: BEYOND, key: None, count: PathCount::default() };
        PathWalk {
            scanner: Scanner::new(LONGEST_KEY),
            nodes: vec![root],
            children: ByHash::default(),
            open: Vec::new(),
            key: 0,
            others: 0,
        }
    }
}

impl PathWalk {
    /// Walks one record. A line that is no JSON adds nothing from the place on where that shows.
    pub fn record(&mut self, text: &[u8]) {
        let mut scanner = std::mem::replace(&mut self.scanner, Scanner::new(0));
        scanner.reset();
        self.open.clear();
        self.key = 0;
        let read = scanner.feed(text, &mut |_, event| self.event(event));
        let _ = read.and_then(|()| scanner.finish(&mut |_, event| self.event(event)));
        self.scanner = scanner;
    }

    fn event(&mut self, event: Event<'_>) {
        let sort = match event {
            Event::Key(key) => {
                let parent = self.open.last().map_or(0, |(node, _)| *node);
                self.key = self.child(parent, Some(key));
                return;
            }
            Event::Close => {
                self.open.pop();
                return;
            }
            Event::Object => 0,
            Event::Array => 1,
            Event::String(_) => 2,
            Event::Number(_) => 3,
            Event::Truth(_) => 4,
            Event::Null => 5,
        };
        let node = match self.open.last() {
            None => 0,
            Some(&(parent, true)) => self.child(parent, None),
            Some((_, false)) => self.key,
        };
        match self.nodes.get_mut(node as usize) {
            Some(node) => node.count.types[sort] += 1,
            None => self.others += 1,
        }
        if sort < 2 {
            self.open.push((node, sort == 1));
        }
    }

    fn child(&mut self, parent: u32, key: Option<&[u8]>) -> u32 {
        if parent == BEYOND || self.open.len() > DEEPEST {
            return BEYOND;
        }
        let own = key.map_or(0, |key| Id::of(key).short());
        let hash = own ^ u64::from(parent).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if let Some(&node) = self.children.get(&hash) {
            return node;
        }
        if self.nodes.len() > PATHS {
            return BEYOND;
        }
        let node = u32::try_from(self.nodes.len()).unwrap_or(BEYOND);
        let key = key.map(|key| unescaped(key).into());
        self.nodes.push(Node { parent, key, count: PathCount::default() });
        self.children.insert(hash, node);
        node
    }

    /// The paths by name; `as_written`: keys that a person or a model may have written, too.
    /// `words` are keys that agents are known to write.
    pub fn named(&self, as_written: bool, words: &HashSet<Box<str>>) -> AllPaths {
        let mut all = AllPaths { others: self.others, ..AllPaths::default() };
        // A parent stands before its children, so its name is there already.
        let mut names: Vec<Box<str>> = Vec::with_capacity(self.nodes.len());
        let mut free: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for (n, node) in self.nodes.iter().enumerate() {
            let above = names.get(node.parent as usize).map(|name| &**name).unwrap_or_default();
            let below_free = free.get(node.parent as usize).is_some_and(|free| *free);
            free.push(below_free || node.key.as_ref().is_some_and(|key| FREE.contains(&&**key)));
            let is_shown = |key: &str| as_written || is_name(key) && (!below_free || words.contains(key));
            let name: Box<str> = match &node.key {
                _ if n == 0 => Box::default(),
                None => format!("{above}[]").into(),
                Some(key) if !is_shown(key) && above.is_empty() => "<key>".into(),
                Some(key) if !is_shown(key) => format!("{above}.<key>").into(),
                Some(key) if !is_plain(key) => format!("{above}[{}]", serde_json::json!(key)).into(),
                Some(key) if above.is_empty() => key.clone(),
                Some(key) => format!("{above}.{key}").into(),
            };
            if n > 0 && node.count.count() > 0 {
                all.paths.entry(name.clone()).or_default().add(node.count);
            }
            names.push(name);
        }
        all
    }
}

/// Whether a key looks like one that a program declares. What a person writes has spaces, or letters of other alphabets.
fn is_name(key: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'$' | b':');
    key.len() <= 48 && key.bytes().all(plain) && key.starts_with(|c: char| c.is_ascii_alphabetic() || "_$".contains(c))
}

/// Whether a key can stand in a path without quotes.
fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | ':' | '@' | '/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{agent::Metering, catalogue};

    #[test]
    fn paths_are_counted_by_type() {
        let mut walk = PathWalk::default();
        walk.record(br#"{"a":[{"b":1},{"b":null},[2]],"c.d":{"e":true}}"#);
        walk.record(br#"{"a":"x","c.d":{"e":"y"},"a":"#);
        let all = walk.named(true, &HashSet::new());
        let count = |path: &str| all.get(path).unwrap_or(0);
        assert_eq!([count("a"), count("a[]"), count("a[].b"), count("a[][]")], [2, 3, 2, 1]);
        assert_eq!(all.paths["a"].types, [0, 1, 1, 0, 0, 0]);
        assert_eq!(all.paths["a[].b"].types, [0, 0, 0, 1, 0, 1]);
        assert_eq!(all.paths["[\"c.d\"].e"].types, [0, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn keys_that_someone_wrote_are_counted_and_not_named() {
        let mut walk = PathWalk::default();
        walk.record(
            br#"{"message":{"content":[{"input":{"Who is it?":1,"Who was it?":{"content":2}},"a b":3}]},"n":4}"#,
        );
        let all = walk.named(false, &catalogue::words(crate::agents::ALL.iter().map(|a| *a as &'static dyn Metering)));
        let paths: Vec<(&str, u64)> = all.paths.iter().map(|(path, count)| (&**path, count.count())).collect();
        assert!(paths.contains(&("message.content[].input.<key>", 2)), "{paths:?}");
        assert!(paths.contains(&("message.content[].<key>", 1)), "{paths:?}");
        assert!(paths.contains(&("message.content[].input.<key>.content", 1)), "{paths:?}");
        assert_eq!(all.get("n"), Some(1));
        assert_eq!(
            walk.named(true, &HashSet::new())
                .get("message.content[].[\"a b\"]")
                .or(walk.named(true, &HashSet::new()).get("message.content[][\"a b\"]")),
            Some(1)
        );
    }

    #[test]
    fn there_is_an_end_to_paths() {
        let mut walk = PathWalk::default();
        for n in 0..PATHS + 10 {
            walk.record(format!("{{\"k{n}\":1,\"deep\":{}{}}}", "[".repeat(80), "]".repeat(80)).as_bytes());
        }
        let all = walk.named(true, &HashSet::new());
        assert!(all.paths.len() <= PATHS);
        assert!(all.others > 0);
        let named: u64 = all.paths.values().map(PathCount::count).sum();
        assert_eq!(named + all.others, (PATHS as u64 + 10) * 81);
    }
}
