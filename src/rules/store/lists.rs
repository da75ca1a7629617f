//! S514: a session with a message that its agent's own list does not show, and why.
//!
//! Claude Code's list never parses a file: it looks at the first and last 65 536 bytes and searches them as text
//! (`docs/formats/claude-code.md`, section 3, rule 9). That is done here on the bytes, in the same order, so that what
//! a tool's input happens to hold counts as it does there. sid-code's list is its clean-up's view (`view`); pi's reads
//! headers and message texts and drops a file on which it throws. OpenClaw's list is its index: S522.

use std::io;

use super::marks::{answered_prompt, holds_message};
use super::{Context, view};
use crate::chain::shape::is_prompt;
use crate::dialect::Dialect;
use crate::finding::{Finding, Place, Rule, Severity};
use crate::record::facts::{Block, BlockKind, Kind, Record, block, flag};
use crate::record::json::Kind as Json;
use crate::record::value::Value;
use crate::rules::Collector;
use crate::session::{Session, Shape};
use crate::store::Source;

pub(super) static HIDDEN_SESSION: Rule =
    Rule { code: "S514", name: "hidden-session", severity: Severity::Warning, fix: None, since: "0.1.0" };

/// How much of either end the Claude SDK's list looks at.
const WINDOW: u64 = 65_536;

pub(super) fn check(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    // Of a document that breaks off nothing is read; what it held is not known, and C211 says so.
    let broken = session.document.as_ref().is_some_and(|d| d.refusal.is_some()) && session.facts.size > 0;
    if !matches!(session.shape, Shape::Main | Shape::Legacy) || !(holds_message(&session.facts) || broken) {
        return;
    }
    let hidden = match session.dialect {
        Dialect::Claude => claude(session),
        Dialect::Sid => sid(session),
        Dialect::Pi => pi(session),
        Dialect::Openclaw => None,
    };
    let Some(Hidden { place, why, cause }) = hidden else { return };
    let severity = if answered_prompt(session) { Severity::Warning } else { Severity::Info };
    let mut finding = HIDDEN_SESSION
        .at(place)
        .severity(severity)
        .effect(format!("{} does not list it: {why}", session.dialect.loader()))
        .fact("why", why);
    // what is behind it, when that was found
    finding.cause =
        cause.and_then(|code| found.so_far().iter().find(|f| f.rule.code == code)).map(Finding::name_at_line);
    found.add(finding);
}

struct Hidden {
    place: Place,
    why: String,
    /// The code of the finding that is behind it, where there is one by rule.
    cause: Option<&'static str>,
}

impl Hidden {
    fn new(place: Place, why: impl Into<String>) -> Option<Self> {
        Some(Hidden { place, why: why.into(), cause: None })
    }
}

fn line_of(record: Option<&Record>) -> Place {
    record.map(|r| Place::line(u64::from(r.line))).unwrap_or_default()
}

fn sid(session: &Session) -> Option<Hidden> {
    let why = view::of(session).corrupt?;
    let cause = (why == view::Corrupt::NotLoadable && !session.chain.loads()).then_some("C211");
    Some(Hidden { place: Place::default(), why: why.reason().to_owned(), cause })
}

/// pi's list takes the first parsed value for the header and drops the file on anything that makes its reader throw.
fn pi(session: &Session) -> Option<Hidden> {
    let facts = &session.facts;
    if crate::agents::pi::load::header(&facts.records).is_none() {
        let first = facts.records.iter().find(|r| !r.has(flag::IS_FALSY));
        let why = "its first record is no header";
        let cause = if facts.bom { "L110" } else { "C220" };
        return Some(Hidden { place: line_of(first), why: why.to_owned(), cause: Some(cause) });
    }
    let throws = facts.records.iter().find_map(|r| {
        let spoken = matches!(r.kind, Kind::User | Kind::Assistant);
        let why = match r {
            // an entry of type message without one: pi reads its role
            _ if r.has(flag::ROLE_BAD) && !r.any(flag::MESSAGE | flag::MESSAGE_OTHER) => "an entry has no message",
            _ if spoken && r.any(flag::CONTENT_NULL | flag::CONTENT_OTHER) => "a message's content is no list",
            _ if spoken && facts.blocks_of(r).iter().any(is_null) => "a message's content holds a null",
            _ => return None,
        };
        Some((r, why))
    });
    throws.and_then(|(r, why)| Hidden::new(line_of(Some(r)), why))
}

fn is_null(b: &Block) -> bool {
    b.kind == BlockKind::NotObject && b.flags & block::EMPTY != 0
}

fn claude(session: &Session) -> Option<Hidden> {
    let facts = &session.facts;
    match claude_lists(&session.source, facts.raises.filter(|r| r.1 == "RecursionError").map(|r| r.0)) {
        // a file that cannot be read a second time is another finding's
        Err(_) | Ok(Listing::Shown) => None,
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
                    line_of(beyond),
                    format!("its title stands more than {WINDOW} bytes from both ends, and no prompt ends before that"),
                ),
                (_, Some(prompt), _) => Hidden::new(
                    line_of(Some(prompt)),
                    format!("its first prompt ends beyond the first {WINDOW} bytes, and it has no title in the last"),
                ),
                (_, None, first) => {
                    Hidden::new(line_of(first), "it has no title, and nothing in it is a prompt that the list shows")
                }
            }
        }
    }
}

/// What the Claude SDK's list makes of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Listing {
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
pub(super) fn claude_lists(source: &Source, too_deep: Option<u32>) -> io::Result<Listing> {
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

    fn lists(text: &str) -> Listing {
        claude_lists(&Source::from_bytes(text), None).unwrap()
    }

    fn user(content: &str) -> String {
        format!("{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":{content}}}}}\n")
    }

    #[test]
    fn the_first_usable_prompt_shows_a_session() {
        assert_eq!(lists(&user("\"hello\"")), Listing::Shown);
        assert_eq!(lists(&user("[{\"type\":\"text\",\"text\":\" \\n\"}]")), Listing::Nameless);
        assert_eq!(lists(&user("\"[Request interrupted by user]\"")), Listing::Nameless);
        assert_eq!(lists(&user("\"[Request interrupted by user\"")), Listing::Shown);
        assert_eq!(lists(&user("\"<ide_opened_file>x</ide_opened_file>\"")), Listing::Nameless);
        assert_eq!(lists(&user("\"<ide_opened_file>x</ide_opened_file> and\"")), Listing::Shown);
        assert_eq!(lists(&user("\"<command-name>/x</command-name>\"")), Listing::Shown);
        assert_eq!(lists(&user("\"<command-name></command-name>\"")), Listing::Nameless);
        assert_eq!(lists(&user("null")), Listing::Nameless);
        assert_eq!(lists(""), Listing::Nameless);
    }

    #[test]
    fn titles_are_searched_as_text_at_both_ends() {
        let meta = user("\"x\"").replace("}\n", ",\"isMeta\":true}\n");
        assert_eq!(lists(&meta), Listing::Nameless);
        let title = "{\"type\":\"custom-title\",\"customTitle\":\"t\"}\n";
        assert_eq!(lists(&format!("{meta}{title}")), Listing::Shown);
        // cleared: the last one counts, also when it is empty
        assert_eq!(lists(&format!("{meta}{title}{}", title.replace("\"t\"", "\"\""))), Listing::Nameless);
        // a tool's input is taken for a title
        assert_eq!(lists(&format!("{meta}{{\"input\":{{\"summary\":\"s\"}}}}\n")), Listing::Shown);
        let far = "x".repeat(70_000);
        assert_eq!(lists(&format!("{far}\n{title}{far}\n")), Listing::Nameless);
        assert_eq!(lists(&format!("{{\"isSidechain\":true}}\n{title}")), Listing::SidechainFirst);
    }
}
