//! What the SDK's list shows.
//!
//! It never parses a file: it looks at the first and last 65 536 bytes and searches them as text
//! (`docs/formats/claude-code.md`, section 3, rule 9). That is done here on the bytes, in the same order, so that what a
//! tool's input happens to hold counts as it does there.

use std::io;

use crate::chain::shape::is_prompt;
use crate::finding::Place;
use crate::record::facts::flag;
use crate::record::json::Kind as Json;
use crate::record::value::Value;
use crate::rules::store::agent::Hidden;
use crate::session::Session;
use crate::store::Source;

/// How much of either end the Claude SDK's list looks at.
const WINDOW: u64 = 65_536;

/// Why the list does not show a session that holds a message.
pub(super) fn hidden(session: &Session) -> Option<Hidden> {
    let facts = &session.facts;
    let hidden = match lists(&session.source, facts.raises.filter(|r| r.1 == "RecursionError").map(|r| r.0)) {
        // a file that cannot be read a second time is another finding's
        Err(_) | Ok(Listing::Shown) => return None,
        Ok(Listing::SidechainFirst) => Hidden::new(Place::line(1), "its first line is a subagent's row"),
        Ok(Listing::Raises(line)) => {
            Hidden::new(Place::line(line), "its first prompt is nested so deep that the list raises RecursionError")
        }
        Ok(Listing::Nameless) => {
            let typed = facts.records.iter().find(|r| is_prompt(facts, r) && !r.has(flag::META));
            let titled = ["custom-title", "ai-title"].iter().any(|t| facts.types.contains_key(*t));
            let beyond = typed.filter(|r| r.offset + u64::from(r.length) > WINDOW);
            match (titled, beyond, typed) {
                (true, ..) => Hidden::new(
                    Hidden::line_of(beyond),
                    format!("its title stands more than {WINDOW} bytes from both ends, and no prompt ends before that"),
                ),
                (_, Some(prompt), _) => Hidden::new(
                    Hidden::line_of(Some(prompt)),
                    format!("its first prompt ends beyond the first {WINDOW} bytes, and it has no title in the last"),
                ),
                (_, None, first) => Hidden::new(
                    Hidden::line_of(first),
                    "it has no title, and nothing in it is a prompt that the list shows",
                ),
            }
        }
    };
    Some(hidden)
}

/// What the Claude SDK's list makes of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Listing {
    /// It has a summary.
    Shown,
    /// The first line says `isSidechain`.
    SidechainFirst,
    /// Neither title nor summary nor prompt is found.
    Nameless,
    /// It raises at this line.
    Raises(u64),
}

/// Whether the list shows a file, by the bytes at its two ends. `too_deep` is the line on which Python's parser raises.
fn lists(source: &Source, too_deep: Option<u32>) -> io::Result<Listing> {
    let head = source.read_range(0, WINDOW)?;
    let first_line = head.split(|b| *b == b'\n').next().unwrap_or_default();
    if has_any(first_line, [b"\"isSidechain\":true", b"\"isSidechain\": true"]) {
        return Ok(Listing::SidechainFirst);
    }
    // The order of the SDK does not matter for whether there is any; the prompt is the usual answer and the cheapest.
    match prompt_in_head(&head, too_deep) {
        Ok(true) => return Ok(Listing::Shown),
        Ok(false) => {}
        Err(line) => return Ok(Listing::Raises(line)),
    }
    let tail = match source.size().saturating_sub(WINDOW) {
        0 => head.clone(),
        from => source.read_range(from, WINDOW)?,
    };
    let titled = [(&tail, "customTitle"), (&head, "customTitle"), (&tail, "aiTitle"), (&head, "aiTitle")];
    let said = [(&tail, "lastPrompt"), (&tail, "summary")];
    let shown = titled.into_iter().chain(said).any(|(text, key)| last_string_field(text, key));
    Ok(if shown { Listing::Shown } else { Listing::Nameless })
}

fn has_any(text: &[u8], needles: [&[u8]; 2]) -> bool {
    needles.iter().any(|needle| memchr::memmem::find(text, needle).is_some())
}

/// Whether the last occurrence of a string field is not empty. Both spellings are searched one after the other, and the
/// later search overwrites what the first found.
fn last_string_field(text: &[u8], key: &str) -> bool {
    let mut last = None;
    for pattern in [format!("\"{key}\":\""), format!("\"{key}\": \"")] {
        let mut from = 0;
        while let Some(at) = text.get(from..).and_then(|rest| memchr::memmem::find(rest, pattern.as_bytes())) {
            let start = from + at + pattern.len();
            let mut end = start;
            while end < text.len() {
                match text[end] {
                    b'\\' => end += 2,
                    b'"' => {
                        last = Some(end > start);
                        break;
                    }
                    _ => end += 1,
                }
            }
            from = end + 1;
        }
    }
    last == Some(true)
}

/// Whether the head holds a prompt that the list would show. The error is a line on which the parser raises.
fn prompt_in_head(head: &[u8], too_deep: Option<u32>) -> Result<bool, u64> {
    let mut fallback = false;
    for (number, line) in (1_u64..).zip(head.split(|b| *b == b'\n')) {
        if !has_any(line, [b"\"type\":\"user\"", b"\"type\": \"user\""])
            || memchr::memmem::find(line, b"\"tool_result\"").is_some()
            || has_any(line, [b"\"isMeta\":true", b"\"isMeta\": true"])
            || has_any(line, [b"\"isCompactSummary\":true", b"\"isCompactSummary\": true"])
        {
            continue;
        }
        if too_deep.map(u64::from) == Some(number) {
            return Err(number);
        }
        // cut at the window, or no JSON: not a prompt
        let text = String::from_utf8_lossy(line);
        let Some(entry) = Value::parse(text.as_bytes()) else { continue };
        if entry.get("type").and_then(|t| t.text()).is_none_or(|t| t.as_bytes() != b"user") {
            continue;
        }
        let Some(content) = entry.get("message").and_then(|m| m.get("content")) else { continue };
        for text in texts(content) {
            let text = text.replace('\n', " ");
            let text = text.trim_matches(python_white);
            if text.is_empty() {
                continue;
            }
            if let Some(command) = command_name(text) {
                fallback |= !command.is_empty();
            } else if !is_skipped(text) {
                return Ok(true);
            }
        }
    }
    Ok(fallback)
}

fn texts(content: Value<'_>) -> Vec<String> {
    match content.kind() {
        Json::String => content.string().into_iter().collect(),
        Json::Array => {
            let text = |block: &Value<'_>| {
                let kind = block.get("type")?.text()?;
                if kind.as_bytes() == b"text" { block.get("text")?.string() } else { None }
            };
            content.items().iter().filter_map(text).collect()
        }
        _ => Vec::new(),
    }
}

/// What Python's `strip` takes away.
fn python_white(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}

/// What stands in the first `<command-name>` element.
fn command_name(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<command-name>")?;
    rest.split_once("</command-name>").map(|(name, _)| name)
}

/// Texts that clients write in a person's name.
fn is_skipped(text: &str) -> bool {
    let starts = ["<local-command-stdout>", "<session-start-hook>", "<tick>", "<goal>"];
    let element = |name: &str| text.starts_with(&format!("<{name}>")) && text.ends_with(&format!("</{name}>"));
    starts.iter().any(|s| text.starts_with(s))
        || text.strip_prefix("[Request interrupted by user").is_some_and(|rest| rest.contains(']'))
        || element("ide_opened_file")
        || element("ide_selection")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str) -> Listing {
        lists(&Source::from_bytes(text), None).unwrap()
    }

    fn user(content: &str) -> String {
        format!("{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":{content}}}}}\n")
    }

    #[test]
    fn the_first_usable_prompt_shows_a_session() {
        assert_eq!(listed(&user("\"hello\"")), Listing::Shown);
        assert_eq!(listed(&user("[{\"type\":\"text\",\"text\":\" \\n\"}]")), Listing::Nameless);
        assert_eq!(listed(&user("\"[Request interrupted by user]\"")), Listing::Nameless);
        assert_eq!(listed(&user("\"[Request interrupted by user\"")), Listing::Shown);
        assert_eq!(listed(&user("\"<ide_opened_file>x</ide_opened_file>\"")), Listing::Nameless);
        assert_eq!(listed(&user("\"<ide_opened_file>x</ide_opened_file> and\"")), Listing::Shown);
        assert_eq!(listed(&user("\"<command-name>/x</command-name>\"")), Listing::Shown);
        assert_eq!(listed(&user("\"<command-name></command-name>\"")), Listing::Nameless);
        assert_eq!(listed(&user("null")), Listing::Nameless);
        assert_eq!(listed(""), Listing::Nameless);
    }

    #[test]
    fn titles_are_searched_as_text_at_both_ends() {
        let meta = user("\"x\"").replace("}\n", ",\"isMeta\":true}\n");
        assert_eq!(listed(&meta), Listing::Nameless);
        let title = "{\"type\":\"custom-title\",\"customTitle\":\"t\"}\n";
        assert_eq!(listed(&format!("{meta}{title}")), Listing::Shown);
        // cleared: the last one counts, also when it is empty
        assert_eq!(listed(&format!("{meta}{title}{}", title.replace("\"t\"", "\"\""))), Listing::Nameless);
        // a tool's input is taken for a title
        assert_eq!(listed(&format!("{meta}{{\"input\":{{\"summary\":\"s\"}}}}\n")), Listing::Shown);
        let far = "x".repeat(70_000);
        assert_eq!(listed(&format!("{far}\n{title}{far}\n")), Listing::Nameless);
        assert_eq!(listed(&format!("{{\"isSidechain\":true}}\n{title}")), Listing::SidechainFirst);
    }
}
