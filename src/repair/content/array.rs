//! Content arrays by their bytes: which elements there are, and what it takes to leave some out or put others in.

use std::io;

use crate::finding::Rule;
use crate::record::facts::{Record, flag};
use crate::record::json::Kind;
use crate::record::reread;
use crate::record::value::Value;
use crate::repair::text::Splice;
use crate::session::Session;

/// A record's text, with the content that its message carries.
#[derive(Debug)]
pub struct Content {
    /// The text.
    pub text: Vec<u8>,
    /// Offset of the text in the file.
    pub offset: u64,
    /// The content's value: first byte and the byte behind, in the text.
    span: (usize, usize),
    /// Its elements, when it is an array.
    pub items: Vec<(usize, usize)>,
}

impl Content {
    /// Reads a record again; none when it has no content, or its bytes are not those that the loader sees.
    ///
    /// # Errors
    /// I/O errors.
    pub fn read(session: &Session, record: &Record) -> io::Result<Option<Content>> {
        if record.has(flag::LOSSY) {
            return Ok(None);
        }
        let text = reread::text(&session.source, record)?;
        let Some(root) = Value::parse(&text) else { return Ok(None) };
        let content = root.at(&["message", "content"]).or_else(|| root.get("content"));
        let Some(content) = content else { return Ok(None) };
        let span = (content.start, content.end);
        let items = content.items().iter().map(|i| (i.start, i.end)).collect();
        Ok(Some(Content { offset: record.offset, span, items, text }))
    }

    /// One element.
    pub fn item(&self, index: usize) -> Option<Value<'_>> {
        Value::standing(&self.text, *self.items.get(index)?)
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        self.text.get(self.span.0) == Some(&b'[')
    }

    /// Replaces the whole content.
    pub fn replace_all(&self, json: &str) -> Splice {
        Splice::replace(self.offset + self.span.0 as u64, (self.span.1 - self.span.0) as u64, json)
    }

    /// Replaces one element.
    pub fn replace(&self, index: usize, json: &str) -> Option<Splice> {
        let (start, end) = *self.items.get(index)?;
        Some(Splice::replace(self.offset + start as u64, (end - start) as u64, json))
    }

    /// Puts elements behind the last one.
    pub fn append(&self, json: &[String]) -> Splice {
        let comma = if self.items.is_empty() { "" } else { "," };
        Splice::insert(self.offset + self.span.1 as u64 - 1, format!("{comma}{}", json.join(",")))
    }

    /// Leaves elements out (their places in order), each with one comma beside it, and tells what stretches of the file hold them.
    pub fn remove(&self, gone: &[usize]) -> (Vec<Splice>, Vec<(u64, u64)>) {
        let at = |i: usize| self.offset + i as u64;
        let quarantined =
            gone.iter().filter_map(|&i| self.items.get(i)).map(|&(s, e)| (at(s), (e - s) as u64)).collect();
        let kept: Vec<(usize, usize)> = self
            .items
            .iter()
            .enumerate()
            .filter(|(i, _)| gone.binary_search(i).is_err())
            .map(|(_, span)| *span)
            .collect();
        let mut splices = Vec::new();
        let (Some(&(first, _)), Some(&(_, last))) = (kept.first(), kept.last()) else {
            let (start, end) = (self.span.0 + 1, self.span.1 - 1);
            return (vec![Splice::remove(at(start), (end - start) as u64)], quarantined);
        };
        if gone.contains(&0) {
            splices.push(Splice::remove(at(self.span.0 + 1), (first - self.span.0 - 1) as u64));
        }
        for pair in kept.windows(2) {
            let (end, start) = (pair[0].1, pair[1].0);
            let next = self.items.partition_point(|&(s, _)| s < end);
            let between = self.items.get(next).is_some_and(|&(s, _)| s < start);
            if between {
                splices.push(Splice::replace(at(end), (start - end) as u64, *b","));
            }
        }
        if self.items.last().is_some_and(|&(s, _)| s >= last) {
            splices.push(Splice::remove(at(last), (self.span.1 - 1 - last) as u64));
        }
        (splices, quarantined)
    }

    /// The member of the whole record.
    pub fn member(&self, key: &str) -> Option<Value<'_>> {
        Value::parse(&self.text)?.get(key)
    }

    /// The member of the whole record as JSON, as it stands in the file.
    pub fn raw(&self, key: &str) -> Option<String> {
        self.member(key).map(|v| String::from_utf8_lossy(v.raw()).into_owned())
    }

    /// Marks the record as one that a repair changed the content of (S528).
    pub fn mark(&self, rule: &Rule) -> Option<Splice> {
        if self.member("sidAudit").is_some() {
            return None;
        }
        let root = Value::parse(&self.text)?;
        (root.kind() == Kind::Object).then(|| {
            Splice::insert(self.offset + root.end as u64 - 1, format!(",{}", crate::repair::synthesize::mark(rule)))
        })
    }
}
