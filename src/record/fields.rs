//! Which fields the records of a file have: how many records (or blocks) carry each, by path.
//!
//! Counted in the one pass. Almost every record has the keys of one before it, in the same order, so the keys are folded
//! into one number while they are read, and only a record with a new number is looked at again to name its paths. Without
//! that a census of each record would cost a fifth of the pass; with it, it is lost in the noise.
//!
//! Paths are those of the census: the record's type, then keys: `user.message.content[tool_result].is_error`. Of labelled
//! records the label stands for the type: `file_changes.lastSnapshotId`. What lies deeper is not named here.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;
use std::sync::OnceLock;

use super::agent::{BlockField, Field, FieldTable, Slot};
use super::id_hasher::ByHash;
use super::json::Kind as Json;
use super::keys::Keys;
use super::value::Value;
use crate::text::lossy;

/// How many different sets of keys are remembered at a time. A hostile file has as many as it has records; then each is
/// looked at, which costs time and no memory.
const SHAPES: usize = 2048;
/// How many paths are counted by name in one file.
const PATHS: usize = 4096;
/// A key is named by at most so many of its bytes.
const LONGEST_KEY: usize = 120;
/// How deep metadata values are walked into.
const DEEPEST: usize = 6;

/// The keys of a record folded into one number, in the order in which they were read. Keyed by the process, so that no
/// file can be written in which two sets of keys fold into the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    folded: u64,
    key: u64,
}

impl Default for Shape {
    fn default() -> Self {
        let (folded, key) = seeds();
        Shape { folded, key }
    }
}

fn seeds() -> (u64, u64) {
    static SEEDS: OnceLock<(u64, u64)> = OnceLock::new();
    *SEEDS.get_or_init(|| {
        let state = std::collections::hash_map::RandomState::new();
        (state.hash_one(3_u8) | 1, state.hash_one(4_u8) | 1)
    })
}

impl Shape {
    /// Folds a key, or the type of what the keys belong to, in.
    #[inline]
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let length = bytes.len();
        if let (Some(head), Some(tail), true) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>(), length <= 16) {
            return self.fold(u64::from_le_bytes(*head), u64::from_le_bytes(*tail), length);
        }
        if let (Some(head), Some(tail), true) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>(), length < 8) {
            return self.fold(u64::from(u32::from_le_bytes(*head)), u64::from(u32::from_le_bytes(*tail)), length);
        }
        if length < 4 {
            let at = |n: usize| u64::from(bytes.get(n).copied().unwrap_or(0));
            return self.fold(at(0) | at(1) << 8, at(2), length);
        }
        for piece in bytes.chunks(16) {
            let (mut head, mut tail) = ([0; 8], [0; 8]);
            let (first, last) = piece.split_at(piece.len().min(8));
            head[..first.len()].copy_from_slice(first);
            tail[..last.len()].copy_from_slice(last);
            self.fold(u64::from_le_bytes(head), u64::from_le_bytes(tail), length);
        }
    }

    #[inline]
    fn fold(&mut self, a: u64, b: u64, length: usize) {
        let left = self.folded ^ a;
        let right = self.key ^ b ^ (length as u64).rotate_left(48);
        let product = u128::from(left) * u128::from(right);
        // The sum keeps what was folded before when one side happens to be zero.
        self.folded = (product as u64 ^ (product >> 64) as u64).wrapping_add(left.rotate_left(23));
    }
}

/// What is remembered of a set of keys: its paths, and how many records had it.
#[derive(Debug)]
struct Known {
    records: u64,
    paths: Box<[(u32, u32)]>,
}

/// Fields of one file, counted.
#[derive(Debug, Default)]
pub struct Fields {
    shapes: ByHash<Known>,
    names: HashMap<Box<str>, u32>,
    paths: Vec<(Box<str>, u64)>,
    /// Fields of paths beyond those counted by name.
    pub unnamed: u64,
}

impl Fields {
    /// Counts a record of this type, whose keys have this shape.
    #[inline]
    pub(super) fn count(&mut self, mut shape: Shape, type_name: &[u8], text: &[u8], keys: &FieldTable) {
        shape.add(type_name);
        match self.shapes.get_mut(&shape.folded) {
            Some(known) => known.records += 1,
            None => self.look(shape, type_name, text, keys),
        }
    }

    #[cold]
    fn look(&mut self, shape: Shape, type_name: &[u8], text: &[u8], keys: &FieldTable) {
        if self.shapes.len() >= SHAPES {
            self.settle();
        }
        let mut found = BTreeMap::new();
        if let Some(record) = Value::parse(text) {
            record_paths(type_name, record, keys, &mut |path| *found.entry(path).or_insert(0_u32) += 1);
        }
        let paths = found
            .into_iter()
            .filter_map(|(path, n)| match self.number(&path) {
                Some(number) => Some((number, n)),
                None => {
                    self.unnamed += u64::from(n);
                    None
                }
            })
            .collect();
        self.shapes.insert(shape.folded, Known { records: 1, paths });
    }

    /// Counts the fields of a metadata value, which differ from record to record.
    pub(super) fn count_value(&mut self, key: &[u8], text: &[u8], by_data: &[&str]) {
        let Some(value) = Value::parse(text) else { return };
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        value_paths(&named(key), value, by_data, DEEPEST, &mut |path| {
            found.insert(path.to_owned(), 1);
        });
        for (path, n) in found {
            self.add(&path, n);
        }
    }

    fn add(&mut self, path: &str, n: u64) {
        match self.number(path) {
            Some(number) => self.paths[number as usize].1 += n,
            None => self.unnamed += n,
        }
    }

    fn number(&mut self, path: &str) -> Option<u32> {
        if let Some(&number) = self.names.get(path) {
            return Some(number);
        }
        if self.paths.len() >= PATHS {
            return None;
        }
        let number = u32::try_from(self.paths.len()).ok()?;
        self.paths.push((path.into(), 0));
        self.names.insert(path.into(), number);
        Some(number)
    }

    /// Adds up what the remembered sets of keys stand for, and forgets them.
    fn settle(&mut self) {
        for known in self.shapes.values() {
            for &(path, n) in &known.paths {
                self.paths[path as usize].1 += known.records * u64::from(n);
            }
        }
        self.shapes.clear();
    }

    /// Ends the counting: what only served it is let go.
    pub(super) fn finish(&mut self) {
        self.settle();
        self.shapes = ByHash::default();
        self.names = HashMap::new();
        self.paths.sort_unstable();
        self.paths.shrink_to_fit();
    }

    /// Forgets everything: a document's messages are no records of a type.
    pub(super) fn clear(&mut self) {
        *self = Fields::default();
    }

    /// The paths in order, each with how many records or blocks have it.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.paths.iter().map(|(path, n)| (&**path, *n))
    }

    /// How many records or blocks have this path.
    pub fn get(&self, path: &str) -> u64 {
        self.paths.binary_search_by(|(held, _)| (**held).cmp(path)).map_or(0, |at| self.paths[at].1)
    }
}

/// Calls `each` with the path of every field of a record that the census names. A key that stands twice is one field.
fn record_paths(type_name: &[u8], record: Value<'_>, keys: &FieldTable, each: &mut impl FnMut(String)) {
    let top = if type_name.is_empty() { "(no type)".to_owned() } else { named(type_name) };
    member_paths(&top, record, &keys.record, keys, each);
}

fn member_paths(top: &str, object: Value<'_>, table: &Keys<Slot>, keys: &FieldTable, each: &mut impl FnMut(String)) {
    for (key, value) in object.members() {
        let path = format!("{top}.{}", named(key.as_bytes()));
        match table.get(key.as_bytes()).map(|slot| slot.field) {
            // A message in a message is none.
            Some(Field::Message) => member_paths(&path, value, &keys.message, keys, each),
            Some(Field::Content) => blocks(&path, value, &keys.block, each),
            Some(Field::Usage) => usage(&path, value, each),
            _ => {}
        }
        each(path);
    }
}

fn usage(path: &str, value: Value<'_>, each: &mut impl FnMut(String)) {
    for (key, _) in value.members() {
        each(format!("{path}.{}", named(key.as_bytes())));
    }
}

fn blocks(path: &str, content: Value<'_>, keys: &Keys<BlockField>, each: &mut impl FnMut(String)) {
    for block in content.items() {
        let members = block.members();
        let typed = members.iter().find(|(key, _)| keys.get(key.as_bytes()) == Some(&BlockField::Type));
        let kind = typed.and_then(|(_, value)| value.text());
        let kind = kind.map_or_else(|| "(no type)".to_owned(), |t| named(t.as_bytes()));
        for (key, _) in members {
            each(format!("{path}[{kind}].{}", named(key.as_bytes())));
        }
    }
}

fn value_paths(path: &str, value: Value<'_>, by_data: &[&str], left: usize, each: &mut impl FnMut(&str)) {
    if left == 0 {
        return;
    }
    match value.kind() {
        Json::Object => {
            let data = path.rsplit('.').next().is_some_and(|last| by_data.contains(&last));
            for (key, value) in value.members() {
                let path = format!("{path}.{}", if data { "*".to_owned() } else { named(key.as_bytes()) });
                each(&path);
                value_paths(&path, value, by_data, left - 1, each);
            }
        }
        Json::Array => {
            let path = format!("{path}[]");
            for item in value.items() {
                value_paths(&path, item, by_data, left - 1, each);
            }
        }
        _ => {}
    }
}

/// A key as a part of a path.
fn named(key: &[u8]) -> String {
    lossy(&key[..key.len().min(LONGEST_KEY)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents;
    use crate::identity::AgentId;
    use crate::record::facts::Facts;
    use crate::record::read::{At, RecordReader};

    fn facts(agent_id: AgentId, lines: &[&str]) -> Facts {
        let (mut facts, mut reader) = (Facts::default(), RecordReader::new(agents::of(agent_id)));
        for (n, line) in lines.iter().enumerate() {
            let at = At { line: n as u32 + 1, offset: 0, exact: true };
            reader.read(line.as_bytes(), at, false, &mut facts).unwrap();
        }
        facts.fields.finish();
        facts
    }

    #[test]
    fn fields_are_counted_by_type_and_block() {
        let call = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{"x":1}}],"usage":{"input_tokens":1}},"uuid":"u"}"#;
        let two = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"b","is_error":true}]},"uuid":"v"}"#;
        let facts = facts(crate::agents::CLAUDE, &[call, two, two, r#"{"a":1,"type":"user","a":2}"#]);
        let get = |path: &str| facts.fields.get(path);
        assert_eq!(get("user.message.content[tool_result].tool_use_id"), 4);
        assert_eq!(get("user.message.content[tool_result].is_error"), 2);
        assert_eq!(get("assistant.message.usage.input_tokens"), 1);
        assert_eq!(get("assistant.message.content[tool_use].input"), 1);
        assert_eq!(get("user.uuid"), 2);
        assert_eq!(get("user.a"), 1, "a key that stands twice is one field");
        assert_eq!(get("user.b"), 0);
    }

    #[test]
    fn metadata_is_named_by_its_key() {
        let line = r#"{"type":"metadata","key":"usage_stats","value":{"totalCostUSD":1,"modelUsage":{"a.b":{"requests":1},"c":{"requests":2}}}}"#;
        let facts = facts(crate::agents::SID, &[line, line]);
        assert_eq!(facts.fields.get("usage_stats.modelUsage.*.requests"), 2);
        assert_eq!(facts.fields.get("usage_stats.totalCostUSD"), 2);
        assert_eq!(facts.fields.get("metadata.key"), 2);
    }

    #[test]
    fn order_length_and_type_make_another_shape() {
        let fold = |keys: &[&str]| {
            let mut shape = Shape::default();
            keys.iter().for_each(|key| shape.add(key.as_bytes()));
            shape.folded
        };
        let all = [
            fold(&["a", "b"]),
            fold(&["b", "a"]),
            fold(&["ab"]),
            fold(&["a"]),
            fold(&[]),
            fold(&["", "a"]),
            fold(&["sourceToolUseID"]),
            fold(&["sourceToolAssistantUUID"]),
            fold(&["sourceToolAssistantUUIE"]),
            fold(&["abcdefghi"]),
            fold(&["abcdefgi"]),
        ];
        let distinct: std::collections::BTreeSet<u64> = all.into_iter().collect();
        assert_eq!(distinct.len(), all.len());
    }

    #[test]
    fn a_file_of_ever_new_keys_is_counted_all_the_same() {
        let lines: Vec<String> = (0..5000).map(|n| format!(r#"{{"type":"user","k{n}":1,"same":2}}"#)).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let facts = facts(crate::agents::CLAUDE, &lines);
        assert_eq!(facts.fields.get("user.same"), 5000);
        assert_eq!(facts.fields.iter().count() as u64 + facts.fields.unnamed, 5000 + 2);
    }
}
