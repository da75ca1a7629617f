//! Whose records these are, as far as the records themselves tell.
//!
//! It tells agents apart and no more: what a record means is `record`'s business. The first whole record of an agent
//! decides; it may share its line with damage. Where there is none, the bytes are searched for the same signs, which
//! tells the agent of a damaged session in its own place, but makes a session of nothing: rows of other programs are
//! JSON, too. Keys inside strings do not mislead the search: their quotes are escaped there.

use std::io;

use super::agent::{Document, Homes, Told};
use super::probe::Probe;
use super::source::Source;
use crate::identity::AgentId;

/// How much of a file is looked at before all of it is.
const SNIFFED: usize = 64 * 1024;

/// Enough for the first record of nearly every session.
const FIRST_LOOK: usize = 4 * 1024;

/// At how many places of a damaged line a whole record is looked for.
const TRIES: usize = 32;

/// What the first records of a file are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// This, of that agent. Of agents that write the same records it is the first; only the layout tells them apart.
    Of(AgentId, Told),
    /// Whole JSON records, of no agent that is known here.
    Foreign,
    /// Nothing that could be read: empty, blank, or damaged beyond recognition.
    Unknown,
}

impl Shape {
    /// The agent, where it tells: the history of prompts looks the same in several.
    pub fn agent_id(self) -> Option<AgentId> {
        match self {
            Shape::Of(agent_id, told) if told != Told::History => Some(agent_id),
            _ => None,
        }
    }

    /// Whether a person who insists on that agent means such records.
    fn is_of(self, wanted: Option<AgentId>, homes: Homes) -> bool {
        match self.agent_id() {
            Some(own) => homes.agree(own, wanted),
            None => wanted.is_none(),
        }
    }
}

/// What was seen in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Whose it is.
    pub shape: Shape,
    /// Whether a whole record says so, not merely a sign in damaged bytes.
    pub by_record: bool,
    /// Whether most lines of its beginning are no JSON object: a text that quotes a record.
    pub prose: bool,
}

/// Looks at the first records of a file; signs in damaged bytes count as well.
///
/// # Errors
/// I/O errors.
pub fn sniff(source: &Source, homes: Homes) -> io::Result<Shape> {
    Ok(head(source, None, homes)?.shape)
}

/// Looks for a whole record: in the beginning of a file, and in the rest where the beginning does not show that other
/// programs write it, or where a person insists on an agent.
///
/// # Errors
/// I/O errors.
pub fn recognise(source: &Source, wanted: Option<AgentId>, homes: Homes) -> io::Result<Seen> {
    let seen = head(source, wanted, homes)?;
    let other_program = seen.shape == Shape::Foreign && wanted.is_none();
    if seen.by_record || other_program || source.size() <= SNIFFED as u64 {
        return Ok(seen);
    }
    let mut lines = source.lines();
    while let Some(line) = lines.next_line()? {
        if let Some(shape) = record_of(line.bytes.trim_ascii(), homes).or_else(|| record_within(line.bytes, homes))
            && shape.is_of(wanted, homes)
        {
            return Ok(Seen { shape, by_record: true, ..seen });
        }
    }
    Ok(seen)
}

fn head(source: &Source, wanted: Option<AgentId>, homes: Homes) -> io::Result<Seen> {
    let size = source.size();
    let head = source.read_range(0, FIRST_LOOK as u64)?;
    let whole = head.len() as u64 >= size;
    let first = seen(&head, whole, wanted, homes);
    if whole || first.by_record {
        return Ok(first);
    }
    let head = source.read_range(0, SNIFFED as u64)?;
    let whole = head.len() as u64 >= size;
    Ok(seen(&head, whole, wanted, homes))
}

fn seen(head: &[u8], whole: bool, wanted: Option<AgentId>, homes: Homes) -> Seen {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let (mut record, mut sign, mut foreign) = (None, None, false);
    let (mut objects, mut others) = (0, 0);
    let mut rest = head;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest);
        let line = rest[..end.unwrap_or(rest.len())].trim_ascii();
        rest = end.map_or(&[][..], |at| &rest[at + 1..]);
        if line.is_empty() {
            continue;
        }
        let object = line.first() == Some(&b'{');
        objects += usize::from(object);
        others += usize::from(!object);
        if record.is_some() {
            continue;
        }
        // the last line may go on beyond what was read; then it does not parse and is searched only
        let complete = end.is_some() || whole;
        match Probe::of(line) {
            Some(probe) => {
                record = shape(&probe, homes).filter(|shape| shape.is_of(wanted, homes));
                foreign = foreign || (record.is_none() && complete);
            }
            None => {
                record =
                    complete.then(|| record_within(line, homes)).flatten().filter(|shape| shape.is_of(wanted, homes));
                sign = sign.or_else(|| sign_of(line, homes));
            }
        }
    }
    let shape = match (record.or(sign), foreign) {
        (Some(shape), _) => shape,
        (None, true) => Shape::Foreign,
        (None, false) => Shape::Unknown,
    };
    Seen { shape, by_record: record.is_some(), prose: others > objects }
}

fn record_of(line: &[u8], homes: Homes) -> Option<Shape> {
    shape(&Probe::of(line)?, homes)
}

/// A whole record on a line that is none as a whole: behind NULs, behind a record that was cut, before another one.
fn record_within(line: &[u8], homes: Homes) -> Option<Shape> {
    memchr::memmem::find_iter(line, b"{\"").take(TRIES).find_map(|at| {
        let mut values = serde_json::Deserializer::from_slice(&line[at..]).into_iter::<Probe>();
        shape(&values.next()?.ok()?, homes)
    })
}

/// What a record is. A row of the history is one only where no agent has it for more.
fn shape(record: &Probe, homes: Homes) -> Option<Shape> {
    let told = homes.iter().filter_map(|home| Some((home.agent_id(), home.recognises(record)?)));
    told.min_by_key(|(_, told)| *told == Told::History).map(|(agent_id, told)| Shape::Of(agent_id, told))
}

/// The same signs in bytes that are no whole record.
fn sign_of(line: &[u8], homes: Homes) -> Option<Shape> {
    let told = homes.iter().filter_map(|home| Some((home.agent_id(), home.sign(line)?)));
    told.min_by_key(|(_, (_, sure))| std::cmp::Reverse(*sure)).map(|(agent_id, (told, _))| Shape::Of(agent_id, told))
}

/// Looks at the head of a `.json` file for the keys that an agent writes. Its documents name them before any content, but
/// the list that they hold may begin beyond the first bytes.
///
/// # Errors
/// I/O errors.
pub fn sniff_document(source: &Source, homes: Homes) -> io::Result<Option<(AgentId, Document)>> {
    for length in [FIRST_LOOK, SNIFFED] {
        let head = source.read_range(0, length as u64)?;
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
        if head.first() != Some(&b'{') {
            return Ok(None);
        }
        if let Some(told) = homes.iter().find_map(|home| Some((home.agent_id(), home.document_head(head)?))) {
            return Ok(Some(told));
        }
        if source.size() <= length as u64 {
            break;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::HOMES;

    fn of(text: impl Into<Vec<u8>>) -> Shape {
        sniff(&Source::from_bytes(text), HOMES).unwrap()
    }

    const SID: Shape = Shape::Of(crate::agents::SID, Told::Session);
    const CLAUDE: Shape = Shape::Of(crate::agents::CLAUDE, Told::Session);
    const PI: Shape = Shape::Of(crate::agents::PI, Told::Session);

    #[test]
    fn first_record_that_tells_decides() {
        assert_eq!(of(r#"{"type":"session_start","version":"3.0","sessionId":"a","parentUuid":null}"#), SID);
        assert_eq!(of("{\"type\":\"user_message\",\"message\":{}}\n"), SID);
        assert_eq!(of(r#"{"type":"sidechain_start","sessionId":"a"}"#), Shape::Of(crate::agents::SID, Told::Side));
        assert_eq!(
            of(r#"{"type":"message","role":"user","content":[],"turn":1}"#),
            Shape::Of(crate::agents::SID, Told::Side)
        );
        assert_eq!(of(r#"{"type":"user","uuid":"a","parentUuid":null,"message":{}}"#), CLAUDE);
        assert_eq!(of("{\"x\":1}\n{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"a\"}\n"), CLAUDE);
        assert_eq!(of(r#"{"type":"summary","summary":"s","leafUuid":"a"}"#), CLAUDE);
        assert_eq!(of(r#"{"type":"session","id":"a","timestamp":"t","cwd":"/"}"#), PI);
        assert_eq!(of(r#"{"type":"label","id":"a","parentId":null}"#), PI);
        assert_eq!(of(r#"{"type":"message","timestamp":"t","message":{"role":"user"}}"#), PI);
        assert_eq!(
            of(r#"{"display":"d","pastedContents":[],"timestamp":1,"project":"/"}"#),
            Shape::Of(crate::agents::SID, Told::History)
        );
        assert_eq!(of(r#"{"timestamp":"t","type":"session_meta","payload":{}}"#), Shape::Foreign);
    }

    #[test]
    fn broken_lines_are_searched_and_passed_over() {
        assert_eq!(of(""), Shape::Unknown);
        assert_eq!(of("\n  \r\n"), Shape::Unknown);
        assert_eq!(of("\0\0\0\n"), Shape::Unknown);
        assert_eq!(of("null\n12\n[]\n"), Shape::Unknown);
        assert_eq!(of("\u{feff}{\"type\":\"session\",\"id\":\"a\",\"cwd\":\"/\"}\n"), PI);
        assert_eq!(of("{\"type\":\"use\n{\"type\":\"session\",\"id\":\"a\",\"cwd\":\"/\"}\n"), PI);
        assert_eq!(of("{\"parentUuid\":null,\"type\":\"us"), CLAUDE);
        assert_eq!(of("{\"parentUuid\":null,\"type\":\"user_message\",\"mess"), SID);
        assert_eq!(of("{\"text\":\"\\\"parentUuid\\\":null"), Shape::Unknown);
        assert_eq!(of("{\"x\":1}\n{\"type\":\"session\",\"versi"), PI);
    }

    #[test]
    fn rows_of_other_programs_are_no_records() {
        for row in [
            r#"{"messages":[{"role":"user","content":"a"}]}"#,
            r#"{"role":"user","content":"a"}"#,
            r#"{"prompt":"a","completion":"b"}"#,
            r#"{"type":"click","id":3,"at":"2026-03-01"}"#,
            r#"{"type":"click","sessionId":"a"}"#,
            r#"{"type":"user","message":"a"}"#,
            r#"{"type":"user_message","message":"a"}"#,
            r#"{"type":"session","id":3,"user":"a"}"#,
            r#"{"type":"folder","id":"a","parentId":null}"#,
            r#"{"type":"message","user":"U1","text":"a"}"#,
        ] {
            assert_eq!(of(row), Shape::Foreign, "{row}");
        }
    }

    #[test]
    fn a_record_is_found_behind_damage_and_signs_make_none() {
        let seen = |text: &str| recognise(&Source::from_bytes(text), None, HOMES).unwrap();
        let record = r#"{"parentUuid":null,"type":"user","uuid":"a","message":{"role":"user"}}"#;
        assert!(seen(&format!("\0\0{record}\n")).by_record);
        assert!(seen(&format!("{}{record}\n", &record[..30])).by_record);
        assert!(seen(&format!("{}\n{record}\n", "x".repeat(100_000))).by_record);
        assert!(!seen(&record[..40]).by_record);
        assert!(!seen("\n").by_record);
        assert!(seen(&format!("# notes\n\ntext\n{record}\n")).prose);
        let sid = recognise(&Source::from_bytes(record), Some(crate::agents::SID), HOMES).unwrap();
        assert!(!sid.by_record, "the person insists on another agent");
    }

    #[test]
    fn a_first_record_longer_than_what_is_read_is_searched() {
        let long = format!(
            "{{\"type\":\"user\",\"message\":{{\"content\":\"{}\"}},\"parentUuid\":null}}\n",
            "x".repeat(80_000)
        );
        assert_eq!(of(long), Shape::Unknown);
        let long = format!("{{\"parentUuid\":null,\"message\":{{\"content\":\"{}\"}}}}\n", "x".repeat(80_000));
        assert_eq!(of(long), CLAUDE);
        let deep = format!(
            "{{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":null,\"m\":{}{}}}",
            "[".repeat(9000),
            "]".repeat(9000)
        );
        assert_eq!(of(deep), CLAUDE);
    }

    #[test]
    fn documents_are_told_by_their_keys() {
        let of = |text: &str| sniff_document(&Source::from_bytes(text), HOMES).unwrap();
        assert_eq!(
            of(r#"{"id":"a","model":"m","provider":"p","messages":[]}"#),
            Some((crate::agents::SID, Document::Whole))
        );
        assert_eq!(
            of(r#"{"sessionId":"a","nextId":1,"snapshots":[]}"#),
            Some((crate::agents::SID, Document::CheckpointIndex))
        );
        assert_eq!(of(r#"{"name":"package","version":"1"}"#), None);
        assert_eq!(of("[]"), None);
        assert_eq!(of(""), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_have_a_shape(bytes: Vec<u8>, text in "([{}\\[\\]\":,\n]|null|type|session|parentId|parentUuid|1e999|\\\\ud800){0,60}") {
            of(bytes.clone());
            of(text.clone());
            sniff_document(&Source::from_bytes(bytes), HOMES).unwrap();
            sniff_document(&Source::from_bytes(text), HOMES).unwrap();
        }
    }
}
