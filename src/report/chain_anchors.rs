//! The last prompts with the snapshots that a rewind to them goes to.

use std::io;

use serde::Serialize;

use super::chain_json::{PlaceJson, Report, Rows};
use super::chain_table::head;
use super::format::{counted, moment, number, paragraph};
use super::json_head::Each;
use super::out::Out;
use super::style::{Style, dim, strong};
use super::table::Grid;
use crate::agents;
use crate::checkpoint::anchors::Anchor;
use crate::text::Text;

#[derive(Serialize)]
struct AnchorJson {
    #[serde(flatten)]
    place: PlaceJson,
    snapshot: Option<String>,
    evicted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    restorable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<u64>,
}

pub(super) fn list<'a>(anchors: &'a [Anchor], rows: &'a Rows<'a>) -> impl Serialize + use<'a> {
    Each(|| {
        anchors.iter().map(|anchor| AnchorJson {
            place: rows.place(anchor.record),
            snapshot: anchor.snapshot.as_ref().map(Text::lossy),
            evicted: anchor.evicted,
            restorable: anchor.restorable(),
            files: anchor.files.map(|(files, _)| files),
            lost: anchor.files.map(|(_, lost)| lost),
        })
    })
}

/// Prints the page.
///
/// # Errors
/// I/O errors.
pub fn page(out: &mut Out, report: &Report<'_>, anchors: &[Anchor]) -> io::Result<()> {
    head(out, report)?;
    out.gap()?;
    if anchors.is_empty() {
        return out.text("no typed prompt comes back, so a rewind has nothing to go to");
    }
    let title = match anchors.len() as u64 {
        1 => "The last prompt, and what a rewind to it brings back".to_owned(),
        n => format!("The last {}, and what a rewind to each brings back", counted(n, "prompt")),
    };
    out.line([strong(title)])?;
    let mut grid = Grid::new(&["", "LINE", "TYPED", "FILES", "SNAPSHOT", "FILES COME BACK"]).right(&[1, 3]);
    for anchor in anchors {
        let record = report.session.record(anchor.record);
        let (style, mark) = match anchor.restorable() {
            Some(true) => (Style::Good, "ok"),
            Some(false) => (Style::Warning, "lost"),
            None => (Style::Dim, "-"),
        };
        grid.row(
            style,
            [
                mark.to_owned(),
                number(u64::from(record.line)),
                moment(record.time),
                anchor.files.map(|(files, _)| number(files)).unwrap_or_default(),
                anchor.snapshot.as_ref().map(Text::lossy).unwrap_or_else(|| "none".to_owned()),
                words(anchor),
            ],
        );
    }
    grid.print(out, |_, _| Ok(()))?;
    out.gap()?;
    let note = agents::of_session(report.session).anchors_note();
    paragraph(out, vec![dim("  ")], 2, note)
}

fn words(anchor: &Anchor) -> String {
    match (anchor.files, anchor.evicted) {
        (None, _) if anchor.snapshot.is_none() => "no snapshot".to_owned(),
        (None, _) => "not known: no file layer was read".to_owned(),
        (Some((0, _)), _) => "nothing to bring back".to_owned(),
        (Some((_, 0)), _) => "all".to_owned(),
        (Some((files, lost)), true) if files == lost => "none: evicted".to_owned(),
        (Some((files, lost)), false) if files == lost => "none".to_owned(),
        (Some((files, lost)), evicted) => {
            format!("{} of {}{}", number(files - lost), number(files), if evicted { ": evicted" } else { "" })
        }
    }
}
