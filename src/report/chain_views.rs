//! What `chain` prints besides its page: the adopted records as they stand, the messages, a line-by-line reader's
//! mixture, a safe tail.

use std::io;

use super::chain_json::{Report, Rows};
use super::chain_table::head;
use super::format::{counted, number, paragraph, size};
use super::out::Out;
use super::style::{Style, dim, plain, span, strong};
use super::table::keep_start;
use crate::chain::linear::Linear;
use crate::record::blocks::BlockView;
use crate::record::facts::{Record, flag};
use crate::record::reread::Reread;
use crate::request::tail::Tail;
use crate::session::Session;

/// How many records a page names one by one where there may be any number.
const ROWS: usize = 20;

/// Prints the adopted records in the loader's order, byte for byte as they stand in the file.
///
/// # Errors
/// I/O errors.
pub fn emit(out: &mut Out, session: &Session) -> io::Result<()> {
    let mut again = Reread::new(&session.source, session.agent);
    for &n in &session.chain.adopted {
        let record = session.record(n);
        let length = length_in_file(session, record)?;
        // The line's own end where it has one: CR LF stays CR LF. A last line without an end gets one, or the next
        // record would stand on the same line.
        let bytes = again.range(record.offset, length + 2);
        let (text, end) = bytes.split_at(length.min(bytes.len()));
        let end: &[u8] = if end.starts_with(b"\r\n") { b"\r\n" } else { b"\n" };
        out.bytes(text)?;
        out.bytes(end)?;
    }
    Ok(())
}

/// Bytes of a record in the file. Where bytes that are no UTF-8 were replaced, its length is that of the replaced text:
/// the line's own end tells then.
fn length_in_file(session: &Session, record: &Record) -> io::Result<usize> {
    let length = record.length as usize;
    if !record.has(flag::LOSSY) {
        return Ok(length);
    }
    let bytes = session.source.read_range(record.offset, length as u64)?;
    let line = memchr::memchr(b'\n', &bytes).unwrap_or(bytes.len());
    Ok(bytes[..line].strip_suffix(b"\r").map_or(line, <[u8]>::len))
}

/// Prints the messages that come back: line, role, blocks with their sizes; text only when it was asked for.
///
/// # Errors
/// I/O errors.
pub fn messages(out: &mut Out, report: &Report<'_>, content: bool) -> io::Result<()> {
    head(out, report)?;
    out.gap()?;
    let all = returned(report);
    let verb = if all.len() == 1 { "comes" } else { "come" };
    out.line([strong(format!("{} {verb} back", counted(all.len() as u64, "message")))])?;
    list(out, report, all, content)
}

fn returned<'a>(report: &Report<'a>) -> &'a [u32] {
    let chain = &report.session.chain;
    if chain.refusal.is_none() { &chain.messages } else { &[] }
}

fn list(out: &mut Out, report: &Report<'_>, messages: &[u32], content: bool) -> io::Result<()> {
    let rows = Rows::new(report.session);
    for &n in messages {
        let blocks = rows.blocks(n, content);
        let id = rows.id(n).map(|id| id.lossy()).unwrap_or_default();
        let role = rows.role(n).unwrap_or_default();
        let kinds: Vec<String> = blocks.iter().map(brief).collect();
        out.line([
            plain(format!("  {:>7}  ", number(u64::from(report.session.record(n).line)))),
            span(Style::Info, format!("{role:<10}")),
            plain(format!(" {}", kinds.join(", "))),
            dim(format!("  {id}")),
        ])?;
        for text in blocks.iter().filter_map(|block| block.text.as_deref()) {
            for line in text.lines() {
                paragraph(out, vec![dim("           | ")], 13, line)?;
            }
        }
    }
    Ok(())
}

/// `tool_use Bash 312 bytes`.
fn brief(block: &BlockView) -> String {
    let name = block.name.as_deref().map(|name| format!(" {}", keep_start(name, 40))).unwrap_or_default();
    format!("{}{name} {}", keep_start(&block.kind, 40), size(block.bytes))
}

/// Prints what a reader that goes line by line would have mixed.
///
/// # Errors
/// I/O errors.
pub fn compare(out: &mut Out, report: &Report<'_>, linear: &Linear) -> io::Result<()> {
    head(out, report)?;
    out.gap()?;
    let back = returned(report).len() as u64;
    paragraph(
        out,
        Vec::new(),
        0,
        &format!(
            "A reader that goes line by line returns {}; {} returns {}.",
            counted(linear.messages, "message"),
            report.session.agent_id.loader(),
            number(back)
        ),
    )?;
    if linear.mixed.is_empty() && linear.missed.is_empty() && linear.out_of_order == 0 {
        return out.line([span(Style::Good, "Both return the same messages in the same order.")]);
    }
    let rows = Rows::new(report.session);
    let place = |n: u32| {
        let id = rows.id(n).map(|id| id.lossy()).unwrap_or_default();
        format!("line {:<7} {:<10} {id}", report.session.record(n).line, rows.role(n).unwrap_or_default())
    };
    if !linear.mixed.is_empty() {
        out.gap()?;
        out.line([strong(format!("It mixes in {}", counted(linear.mixed.len() as u64, "message")))])?;
        for &n in linear.mixed.iter().take(ROWS) {
            let reason = report.survey.reason(n).map_or("no message", |reason| reason.name()).replace('_', " ");
            out.line([plain(format!("  {}  ", place(n))), dim(reason)])?;
        }
        more(out, linear.mixed.len())?;
    }
    if !linear.missed.is_empty() {
        out.gap()?;
        out.line([strong(format!("It misses {}", counted(linear.missed.len() as u64, "message")))])?;
        for &n in linear.missed.iter().take(ROWS) {
            out.text(&format!("  {}", place(n)))?;
        }
        more(out, linear.missed.len())?;
    }
    if linear.out_of_order > 0 {
        out.gap()?;
        out.text(&format!(
            "{} in the file than in the chain",
            match linear.out_of_order {
                1 => "1 message stands elsewhere".to_owned(),
                n => format!("{} messages stand elsewhere", number(n)),
            }
        ))?;
    }
    Ok(())
}

fn more(out: &mut Out, count: usize) -> io::Result<()> {
    if count <= ROWS {
        return Ok(());
    }
    out.line([dim(format!("  and {} more", number((count - ROWS) as u64)))])
}

/// Prints the last messages that can be shown alone.
///
/// # Errors
/// I/O errors.
pub fn tail(out: &mut Out, report: &Report<'_>, tail: &Tail, content: bool) -> io::Result<()> {
    head(out, report)?;
    out.gap()?;
    let kept = tail.kept();
    let moved = match tail.start.cmp(&tail.plain) {
        std::cmp::Ordering::Less => format!(", {} more than asked for", tail.plain - tail.start),
        std::cmp::Ordering::Equal => String::new(),
        std::cmp::Ordering::Greater => format!(", {} fewer than asked for", tail.start - tail.plain),
    };
    let (last, verb) =
        if kept.len() == 1 { ("message", "stands by itself") } else { ("messages", "stand by themselves") };
    out.line([strong(format!("The last {} {last} {verb}{moved}", number(kept.len() as u64)))])?;
    if !tail.broken.is_empty() {
        let lines: Vec<String> =
            tail.broken.iter().take(ROWS).map(|&n| report.session.record(n).line.to_string()).collect();
        let many = tail.broken.len() != 1;
        paragraph(
            out,
            vec![span(Style::Warning, "  ")],
            2,
            &format!(
                "a plain cut after {} would leave {} without {} on line{} {}",
                counted(tail.plain as u64, "message"),
                if many { "results" } else { "a result" },
                if many { "their calls" } else { "its call" },
                if many { "s" } else { "" },
                lines.join(", ")
            ),
        )?;
    }
    list(out, report, kept, content)
}
