//! Both counts as JSON has them: a figure a row, and where the two differ, the lines that explain it or do not.

use serde::Serialize;

use super::json_head::PathField;
use crate::metrics::cross_check::{CrossCheck, Difference, METHODS};
use crate::store::Discovery;

/// A figure counted twice.
#[derive(Serialize)]
pub struct CrossCheckJson<'a> {
    what: &'a str,
    first: CountJson,
    second: CountJson,
    explained: Vec<DifferenceJson<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unexplained: bool,
}

#[derive(Serialize)]
struct CountJson {
    method: &'static str,
    value: u64,
}

#[derive(Serialize)]
struct DifferenceJson<'a> {
    #[serde(flatten)]
    path: PathField,
    line: u64,
    first: &'a str,
    second: &'a str,
    why: Option<&'static str>,
}

/// The rows, each with the lines at which the methods differ and that it is in.
pub fn rows<'a>(check: &'a CrossCheck, discovery: &Discovery) -> Vec<CrossCheckJson<'a>> {
    let [first, second] = METHODS;
    let rows = check.rows.iter().map(|row| CrossCheckJson {
        what: &row.what,
        first: CountJson { method: first, value: row.first },
        second: CountJson { method: second, value: row.second },
        explained: check.lines_of(row).map(|difference| line(difference, discovery)).collect(),
        unexplained: !row.holds,
    });
    rows.collect()
}

fn line<'a>(difference: &'a Difference, discovery: &Discovery) -> DifferenceJson<'a> {
    let path = discovery.files.get(difference.file as usize).map(|file| discovery.path(file)).unwrap_or_default();
    DifferenceJson {
        path: PathField::from(path.as_path()),
        line: difference.line,
        first: &difference.first,
        second: &difference.second,
        why: difference.why,
    }
}
