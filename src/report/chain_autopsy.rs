//! The places of one finding laid out: each offending record with its neighbours, and how what is called and answered
//! there is paired. Ids, lines, sizes and states; there is no option that adds a text.

use std::io;

use serde::Serialize;

use super::by_file;
use super::chain_json::{PlaceJson, Report, Rows};
use super::chain_table::head;
use super::format::{counted, number, paragraph};
use super::json_head::Each;
use super::out::Out;
use super::style::{Style, dim, plain, span, strong};
use super::table::keep_start;
use crate::finding::{Finding, Rule};
use crate::record::facts::BlockKind;
use crate::request::Request;
use crate::request::autopsy::{Part, Slab, around_line};
use crate::request::pairing::Pairing;
use crate::session::Session;
use crate::text::Text;

/// How many calls and results of one record a page shows; the JSON has them all.
const PARTS: usize = 12;

/// What is laid out.
#[derive(Debug)]
pub struct Autopsy<'a> {
    /// The code that was asked for.
    pub rule: &'static Rule,
    /// The session.
    pub session: &'a Session,
    /// What its agent would send.
    pub request: &'a Request,
    /// How its calls and results are paired.
    pub pairing: Pairing,
    /// The findings of that code that stand on a line.
    pub placed: Vec<&'a Finding>,
    /// How many more places were found than are listed.
    pub more: u64,
    /// How many findings of that code stand at no line.
    pub placeless: u64,
}

impl<'a> Autopsy<'a> {
    /// Of all findings of this code.
    pub fn new(
        rule: &'static Rule,
        session: &'a Session,
        request: &'a Request,
        findings: impl Iterator<Item = &'a Finding>,
    ) -> Self {
        let of_rule: Vec<&Finding> = findings.filter(|finding| finding.is(rule)).collect();
        let more = of_rule.iter().filter_map(|finding| finding.more).sum();
        let (placed, placeless): (Vec<_>, Vec<_>) = of_rule.into_iter().partition(|f| f.place.line.is_some());
        let pairing = Pairing::new(session, request);
        Autopsy { rule, session, request, pairing, placed, more, placeless: placeless.len() as u64 }
    }

    fn window(&self, finding: &Finding) -> Vec<Slab> {
        around_line(self.session, self.request, &self.pairing, finding.place.line.unwrap_or(0))
    }
}

#[derive(Serialize)]
struct AutopsyJson<W: Serialize> {
    code: &'static str,
    name: &'static str,
    more: u64,
    placeless: u64,
    places: W,
}

pub(super) fn laid_out<'a>(autopsy: &'a Autopsy<'a>, rows: &'a Rows<'a>) -> impl Serialize + use<'a> {
    AutopsyJson {
        code: autopsy.rule.code,
        name: autopsy.rule.name,
        more: autopsy.more,
        placeless: autopsy.placeless,
        places: Each(|| {
            autopsy.placed.iter().map(|finding| WindowJson {
                line: finding.place.line,
                records: autopsy.window(finding).into_iter().map(|slab| SlabJson::new(autopsy, rows, slab)).collect(),
            })
        }),
    }
}

#[derive(Serialize)]
struct WindowJson {
    line: Option<u64>,
    records: Vec<SlabJson>,
}

#[derive(Serialize)]
struct SlabJson {
    #[serde(flatten)]
    place: PlaceJson,
    bytes: u32,
    #[serde(rename = "type")]
    type_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    subject: bool,
    adopted: bool,
    sent: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u32>,
    blocks: Vec<PartJson>,
}

#[derive(Serialize)]
struct PartJson {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_line: Option<u32>,
}

impl SlabJson {
    fn new(autopsy: &Autopsy<'_>, rows: &Rows<'_>, slab: Slab) -> Self {
        SlabJson {
            place: rows.place(slab.record),
            bytes: autopsy.session.record(slab.record).length,
            type_name: rows.type_name(slab.record),
            role: rows.role(slab.record),
            subject: slab.subject,
            adopted: slab.adopted,
            sent: slab.sent,
            turn: slab.turn,
            blocks: slab.blocks.into_iter().map(PartJson::from).collect(),
        }
    }
}

impl From<Part> for PartJson {
    fn from(part: Part) -> Self {
        PartJson {
            kind: word(part.kind),
            call: part.call.as_ref().map(Text::lossy),
            call_raw: part.call.as_ref().and_then(Text::raw_hex),
            tool: (part.kind == BlockKind::Call && !part.tool.is_empty()).then_some(part.tool),
            state: (!part.state.is_empty()).then_some(part.state),
            other_line: part.other,
        }
    }
}

fn word(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Other => "other",
        BlockKind::NotObject => "no_object",
        BlockKind::Text => "text",
        BlockKind::Thinking => "thinking",
        BlockKind::Redacted => "redacted_thinking",
        BlockKind::Call => "call",
        BlockKind::Result => "result",
        BlockKind::Image => "image",
        BlockKind::Document => "document",
        BlockKind::ToolReference => "tool_reference",
        BlockKind::Server | BlockKind::ServerResult => "server_tool",
    }
}

/// Prints the page.
///
/// # Errors
/// I/O errors.
pub fn page(out: &mut Out, report: &Report<'_>, autopsy: &Autopsy<'_>) -> io::Result<()> {
    head(out, report)?;
    out.gap()?;
    let rule = autopsy.rule;
    let found = autopsy.placed.len() as u64 + autopsy.placeless + autopsy.more;
    if found == 0 {
        out.line([span(Style::Good, format!("no {} {} in this session", rule.code, rule.name))])?;
        return paragraph(
            out,
            vec![dim("  ")],
            2,
            "What lies between files (families S and K, C212) is found by `sid-audit scan` of the whole store.",
        );
    }
    out.line([strong(format!("{} {}: {}", rule.code, rule.name, counted(found, "place")))])?;
    let rows = Rows::new(report.session);
    for finding in &autopsy.placed {
        out.gap()?;
        let lead = vec![
            plain("  "),
            span(finding.severity.into(), format!("{:<8}", finding.severity.name())),
            plain(format!("{}  ", finding.as_cause())),
        ];
        paragraph(out, lead, 10, &by_file::sentence(finding))?;
        let window = autopsy.window(finding);
        let mut no_record = finding.place.line.filter(|_| !window.iter().any(|slab| slab.subject));
        for slab in window {
            let line = u64::from(autopsy.session.record(slab.record).line);
            if let Some(at) = no_record.take_if(|at| *at < line) {
                out.line([strong(format!("  > line {at:<7} no record"))])?;
            }
            record(out, autopsy, &rows, &slab)?;
        }
        if let Some(at) = no_record {
            out.line([strong(format!("  > line {at:<7} no record"))])?;
        }
    }
    for (count, what) in [(autopsy.more, "are not listed"), (autopsy.placeless, "stand at no line: `chain` lists them")]
    {
        if count > 0 {
            out.gap()?;
            out.line([dim(format!("  {} more {what}", number(count)))])?;
        }
    }
    Ok(())
}

fn record(out: &mut Out, autopsy: &Autopsy<'_>, rows: &Rows<'_>, slab: &Slab) -> io::Result<()> {
    let id = rows.id(slab.record).map(|id| id.lossy()).unwrap_or_default();
    let name = rows.type_name(slab.record).unwrap_or_else(|| "no type".to_owned());
    let standing = match (slab.adopted, slab.sent) {
        (false, _) => "not adopted",
        (true, true) => "sent",
        (true, false) => "not sent",
    };
    let style = if slab.subject { Style::Strong } else { Style::Plain };
    out.line([
        span(style, if slab.subject { "  > " } else { "    " }),
        span(
            style,
            format!(
                "line {:<7} {:<18} {standing:<12}",
                autopsy.session.record(slab.record).line,
                keep_start(&name, 18)
            ),
        ),
        dim(format!(" {id}")),
    ])?;
    let tells = |part: &&Part| matches!(part.kind, BlockKind::Call | BlockKind::Result);
    for part in slab.blocks.iter().filter(tells).take(PARTS) {
        let call = part.call.as_ref().map(Text::lossy).unwrap_or_else(|| "without id".to_owned());
        let tool = if part.tool.is_empty() || part.kind == BlockKind::Result {
            String::new()
        } else {
            format!("{} ", keep_start(&part.tool, 30))
        };
        let half = if part.kind == BlockKind::Call { "result" } else { "call" };
        let other = part.other.map(|line| format!(", its {half} is on line {line}")).unwrap_or_default();
        let state = if part.state.is_empty() { String::new() } else { format!(": {}{other}", part.state) };
        out.line([plain(format!("         {} {tool}{}{state}", word(part.kind), keep_start(&call, 44)))])?;
    }
    let rest = slab.blocks.iter().filter(tells).count().saturating_sub(PARTS);
    if rest > 0 {
        out.line([dim(format!("         and {} more", counted(rest as u64, "block")))])?;
    }
    Ok(())
}
