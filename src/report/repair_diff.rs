//! What a plan changes in the bytes of its file: places, sizes and ids, and text only when a person asked for it. Lines of
//! a session may have megabytes, so of a text only the surroundings of the change are shown.

use std::io;

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::record::value::Value;
use crate::repair::text::Splice;
use crate::store::Source;

/// Bytes shown on either side of a change.
const AROUND: u64 = 48;
/// The most bytes of a text that are shown of one side of a change.
const SHOWN: u64 = 2000;

/// One stretch that changes.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Physical line in the file as it is.
    pub line: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes that go.
    pub removed: u64,
    /// Bytes that come.
    pub inserted: u64,
    /// The id of the record on that line, when it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The texts, when they are to be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Shown>,
}

/// The texts of a change, with what stands around it.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// As it is.
    pub before: String,
    /// As it will be.
    pub after: String,
}

/// The changes of a file, in its order.
///
/// # Errors
/// When the file cannot be read again.
pub fn changes(source: &Source, splices: &[Splice], content: bool) -> io::Result<Vec<Change>> {
    let mut out: Vec<Change> = Vec::with_capacity(splices.len());
    let mut next = splices.iter().peekable();
    let (mut lines, mut last) = (source.lines(), 1);
    while let Some(line) = lines.next_line()? {
        last = line.number;
        let end = line.offset + line.length + u64::from(line.terminated);
        let mut id = None;
        // A splice behind the last byte belongs to the last line.
        while let Some(splice) = next.next_if(|s| s.offset < end || end == source.size()) {
            let id = id.get_or_insert_with(|| record_id(line.bytes)).clone();
            out.push(change(source, splice, line.number, id, content)?);
        }
        if next.peek().is_none() {
            break;
        }
    }
    for splice in next {
        out.push(change(source, splice, last, None, content)?);
    }
    Ok(out)
}

fn record_id(line: &[u8]) -> Option<String> {
    let record = Value::parse(line)?;
    record.get("uuid").or_else(|| record.get("id"))?.string()
}

fn change(source: &Source, splice: &Splice, line: u64, id: Option<String>, content: bool) -> io::Result<Change> {
    let text = if content { Some(shown(source, splice)?) } else { None };
    let inserted = splice.inserted.len() as u64;
    Ok(Change { line, offset: splice.offset, removed: splice.removed, inserted, id, text })
}

fn shown(source: &Source, splice: &Splice) -> io::Result<Shown> {
    let lead = splice.offset.saturating_sub(AROUND);
    let before = source.read_range(lead, splice.offset - lead)?;
    let behind = source.read_range(splice.offset + splice.removed, AROUND)?;
    // Only what stands on the same line belongs to the change.
    let before = before.rsplit(|b| *b == b'\n').next().unwrap_or_default();
    let behind = behind.split(|b| *b == b'\n').next().unwrap_or_default();
    let old = source.read_range(splice.offset, splice.removed.min(SHOWN))?;
    let new = &splice.inserted[..splice.inserted.len().min(SHOWN as usize)];
    let whole = |middle: &[u8], size: u64| {
        let cut = if size > SHOWN { format!("… {} more bytes", size - SHOWN).into_bytes() } else { Vec::new() };
        String::from_utf8_lossy(&[before, middle, &cut, behind].concat()).into_owned()
    };
    Ok(Shown { before: whole(&old, splice.removed), after: whole(new, splice.inserted.len() as u64) })
}

/// The texts as lines that stay, go and come.
pub fn lines(shown: &Shown) -> Vec<(char, String)> {
    let diff = TextDiff::from_lines(shown.before.as_str(), shown.after.as_str());
    diff.iter_all_changes()
        .map(|change| {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            (sign, change.value().trim_end_matches(['\n', '\r']).to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_knows_its_line_and_shows_no_text_unasked() {
        let source = Source::from_bytes(&b"{\"uuid\":\"a\",\"p\":\"x\"}\n{\"uuid\":\"b\"}"[..]);
        let splices = [Splice::replace(16, 3, *b"null"), Splice::insert(34, *b"\n")];
        let plain = changes(&source, &splices, false).unwrap();
        assert_eq!((plain[0].line, plain[0].id.as_deref(), plain[0].removed, plain[0].inserted), (1, Some("a"), 3, 4));
        assert_eq!((plain[1].line, plain[1].id.as_deref()), (2, Some("b")));
        assert!(plain.iter().all(|c| c.text.is_none()));
        let told = changes(&source, &splices, true).unwrap();
        let shown = told[0].text.clone().unwrap();
        assert_eq!(shown.before, "{\"uuid\":\"a\",\"p\":\"x\"}");
        assert_eq!(shown.after, "{\"uuid\":\"a\",\"p\":null}");
        assert_eq!(lines(&shown).iter().map(|(sign, _)| *sign).collect::<String>(), "-+");
    }
}
