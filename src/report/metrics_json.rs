//! The figures of a store as JSON. Every number that was not looked for is absent, never 0.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::cross_check_json::{self, CrossCheckJson};
use super::json;
use super::json_head::{Each, Head, PathField};
use super::scan_json::{ErrorJson, RootJson, roots};
use super::turns_json::TurnsJson;
use super::usage_json::{RatioJson, TotalJson, UsageJson};
use crate::agents;
use crate::audit;
use crate::audit::measure::{Measured, PlacedDisagreement, UsageRow};
use crate::metrics::checkpoints::Checkpoints;
use crate::metrics::readers::{Reader, ReaderStop};
use crate::metrics::records::{Counts, Tally, Users};
use crate::metrics::self_check::CHECKS;
use crate::metrics::turns::Turns;
use crate::record::parse::TOOL_RESULT;
use crate::session::ids;
use crate::store::{Discovery, FileEntry};
use crate::text::Text;

/// What the document is made of.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The figures.
    pub measured: &'a Measured,
    /// The turns of its one session, where they were asked for.
    pub turns: Option<&'a Turns>,
    /// When they were taken, in milliseconds since 1970.
    pub taken_at: i64,
}

#[derive(Serialize)]
struct Document<'a, U: Serialize, D: Serialize, E: Serialize> {
    #[serde(flatten)]
    head: Head,
    roots: Vec<RootJson<'a>>,
    scope: ScopeJson<'a>,
    self_check: Vec<CheckJson<'a>>,
    records: &'a BTreeMap<Box<str>, u64>,
    #[serde(skip_serializing_if = "is_zero")]
    other_types: u64,
    metadata: &'a BTreeMap<Box<str>, u64>,
    user_records: FullUsersJson<'a>,
    tool_results_per_record: &'a BTreeMap<u32, u64>,
    parallel: ParallelJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_ends: Option<EndsJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<BytesJson>,
    usage: U,
    usage_total: TotalJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<TurnsJson<'a>>,
    stored_totals: D,
    #[serde(skip_serializing_if = "is_zero")]
    more_stored_totals: u64,
    readers: ReadersJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoints: Option<CheckpointsJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_check: Option<Vec<CrossCheckJson<'a>>>,
    errors: E,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Writes the document.
///
/// # Errors
/// Whatever the writer says.
pub fn document(writer: impl Write, report: &Report<'_>) -> io::Result<()> {
    let measured = report.measured;
    let (records, discovery) = (&measured.records, &measured.discovery);
    let parallel = records.parallel;
    let document = Document {
        head: Head::new("metrics", report.taken_at),
        roots: roots(discovery, |n| measured.versions.get(&n)),
        scope: ScopeJson {
            files: measured.sizes.files(),
            projects: measured.projects,
            records: records.tally.records,
            kinds: &measured.kinds,
        },
        self_check: CHECKS.into_iter().filter_map(|name| CheckJson::new(measured, name)).collect(),
        records: &records.tally.types.named,
        other_types: records.tally.types.others,
        metadata: &records.tally.metadata.named,
        user_records: FullUsersJson { users: UsersJson::from(&records.tally.users), first_block: &records.first_block },
        tool_results_per_record: &records.results,
        parallel: ParallelJson {
            assistant_records_with_several_calls: parallel.several_calls,
            answered_in_one_record: parallel.in_one_record,
            spread: parallel.spread,
            incomplete: parallel.incomplete,
            result_records: parallel.result_records,
            with_several: parallel.several_results,
            max: parallel.most,
        },
        session_ends: records.ends.map(|ends| EndsJson {
            with: ends.with,
            without: ends.without,
            last_line: ends.last_line,
        }),
        bytes: bytes(measured),
        usage: Each(|| usage(measured)),
        usage_total: TotalJson::from(&measured.usage),
        turns: report.turns.map(TurnsJson::from),
        stored_totals: Each(|| measured.disagreements.iter().map(|found| DisagreementJson::new(discovery, found))),
        more_stored_totals: measured.more_disagreements,
        readers: ReadersJson::new(measured),
        checkpoints: measured.checkpoints.as_ref().map(CheckpointsJson::from),
        cross_check: measured.cross_check.as_ref().map(|check| cross_check_json::rows(check, discovery)),
        errors: Each(|| measured.errors.iter().map(|(path, message)| ErrorJson::new(path, message))),
        interrupted: measured.interrupted,
    };
    json::document(writer, &document)
}

#[derive(Serialize)]
struct ScopeJson<'a> {
    files: u64,
    projects: u64,
    records: u64,
    kinds: &'a BTreeMap<&'static str, u64>,
}

/// Where a file lies.
pub(super) fn path_of(discovery: &Discovery, file: u32) -> PathBuf {
    discovery.files.get(file as usize).map(|file| discovery.path(file)).unwrap_or_default()
}

#[derive(Serialize)]
struct CheckJson<'a> {
    name: &'static str,
    expected: u64,
    found: u64,
    exceptions: Vec<String>,
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
    exempt: &'a BTreeMap<&'static str, u64>,
}

impl<'a> CheckJson<'a> {
    fn new(measured: &'a Measured, name: &'static str) -> Option<Self> {
        let check = measured.self_check.get(name)?;
        let path = |file: &u32| PathField::from(path_of(&measured.discovery, *file).as_path()).path;
        Some(CheckJson {
            name,
            expected: check.expected,
            found: check.found,
            exceptions: check.exceptions.iter().map(path).collect(),
            more: check.more,
            exempt: &check.exempt,
        })
    }
}

#[derive(Serialize)]
struct UsersJson {
    prompts: u64,
    tool_results: u64,
    mixed: u64,
    not_typed: u64,
}

impl From<&Users> for UsersJson {
    fn from(users: &Users) -> Self {
        UsersJson {
            prompts: users.prompts,
            tool_results: users.tool_results,
            mixed: users.mixed,
            not_typed: users.not_typed,
        }
    }
}

#[derive(Serialize)]
struct FullUsersJson<'a> {
    #[serde(flatten)]
    users: UsersJson,
    first_block: &'a BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct ParallelJson {
    assistant_records_with_several_calls: u64,
    answered_in_one_record: u64,
    spread: u64,
    incomplete: u64,
    result_records: u64,
    with_several: u64,
    max: u64,
}

#[derive(Serialize)]
struct EndsJson {
    with: u64,
    without: u64,
    last_line: u64,
}

#[derive(Serialize)]
struct BytesJson {
    min: u64,
    p50: u64,
    p95: u64,
    max: u64,
    total: u64,
}

fn bytes(measured: &Measured) -> Option<BytesJson> {
    let sizes = &measured.sizes;
    Some(BytesJson {
        min: sizes.quantile(0)?,
        p50: sizes.quantile(50)?,
        p95: sizes.quantile(95)?,
        max: sizes.max()?,
        total: sizes.total(),
    })
}

/// One row: of a session when it names one, else of the store.
#[derive(Serialize)]
struct UsageLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<u64>,
    #[serde(flatten)]
    usage: serde_json::Value,
}

/// The store's rows by model, then those of each session.
fn usage(measured: &Measured) -> impl Iterator<Item = UsageLine> {
    let value = |row: &_| serde_json::to_value(UsageJson::from(row)).unwrap_or_default();
    let store = measured.usage.rows();
    let store = store.into_iter().map(move |(row, sessions)| UsageLine {
        session: None,
        path: None,
        sessions: Some(sessions),
        usage: value(&row),
    });
    let sessions = measured.rows.iter().map(move |row: &UsageRow| {
        let file = measured.discovery.files.get(row.file as usize);
        let path = path_of(&measured.discovery, row.file);
        UsageLine {
            session: file.map(|file| session_id(file, &path)),
            path: Some(PathField::from(path.as_path()).path),
            sessions: None,
            usage: value(&row.usage(measured.usage.model(row.model))),
        }
    });
    store.chain(sessions)
}

/// The session id that a file's place gives; of a subagent's own file that of its session.
pub(super) fn session_id(file: &FileEntry, path: &Path) -> String {
    let id = match file.agent_id {
        Some(agent_id) => ids::implied_id(path, agents::of(agent_id), audit::shape_of(file.kind)),
        None => Text::from(path.file_stem().unwrap_or_default().as_encoded_bytes()),
    };
    id.lossy()
}

#[derive(Serialize)]
struct DisagreementJson<'a> {
    session: String,
    path: String,
    line: u32,
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    stored: f64,
    parts: f64,
    same_record: bool,
    explained: &'static str,
}

impl<'a> DisagreementJson<'a> {
    fn new(discovery: &Discovery, (file, line, found): &'a PlacedDisagreement) -> Self {
        let path = path_of(discovery, *file);
        DisagreementJson {
            session: discovery.files.get(*file as usize).map(|file| session_id(file, &path)).unwrap_or_default(),
            path: PathField::from(path.as_path()).path,
            line: *line,
            what: found.what,
            model: found.model.as_deref(),
            stored: found.stored,
            parts: found.parts,
            same_record: found.same_record,
            explained: found.why,
        }
    }
}

#[derive(Serialize)]
struct ReadersJson<'a> {
    javascript: ReaderJson<'a>,
    strict_per_file: ReaderJson<'a>,
    single_stream: ReaderJson<'a>,
    raw: RawJson,
}

#[derive(Serialize)]
struct ReaderJson<'a> {
    records: u64,
    bad: u64,
    by_type: &'a BTreeMap<Box<str>, u64>,
    metadata: &'a BTreeMap<Box<str>, u64>,
    user_records: UsersJson,
    stops: Vec<StopJson>,
    #[serde(skip_serializing_if = "is_zero")]
    more_stops: u64,
}

#[derive(Serialize)]
struct StopJson {
    #[serde(flatten)]
    path: PathField,
    line: u32,
}

#[derive(Serialize)]
struct RawJson {
    needle: String,
    hits: u64,
    record_level: u64,
    nested: u64,
}

impl<'a> ReadersJson<'a> {
    fn new(measured: &'a Measured) -> Self {
        let others = &measured.others;
        ReadersJson {
            javascript: ReaderJson::new(&measured.records.tally, measured.records.bad),
            strict_per_file: ReaderJson::of(measured, &others.strict),
            single_stream: ReaderJson::of(measured, &measured.stream),
            raw: RawJson {
                needle: String::from_utf8_lossy(TOOL_RESULT).into_owned(),
                hits: others.raw.hits,
                record_level: others.raw.record_level,
                nested: others.raw.hits.saturating_sub(others.raw.record_level),
            },
        }
    }
}

impl<'a> ReaderJson<'a> {
    fn new(tally: &'a Tally, bad: u64) -> Self {
        let named = |counts: &'a Counts| &counts.named;
        ReaderJson {
            records: tally.records,
            bad,
            by_type: named(&tally.types),
            metadata: named(&tally.metadata),
            user_records: UsersJson::from(&tally.users),
            stops: Vec::new(),
            more_stops: 0,
        }
    }

    fn of(measured: &Measured, reader: &'a Reader) -> Self {
        let stop = |stop: &ReaderStop| StopJson {
            path: PathField::from(path_of(&measured.discovery, stop.file).as_path()),
            line: stop.line,
        };
        ReaderJson {
            stops: reader.stops.iter().map(stop).collect(),
            more_stops: reader.more,
            ..ReaderJson::new(&reader.tally, reader.bad)
        }
    }
}

#[derive(Serialize)]
struct CheckpointsJson {
    indexes: u64,
    #[serde(skip_serializing_if = "is_zero")]
    unreadable: u64,
    bytes: u64,
    snapshots: u64,
    largest: u64,
    entries: crate::checkpoint::model::Count,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff_share: Option<RatioJson>,
}

impl From<&Checkpoints> for CheckpointsJson {
    fn from(checkpoints: &Checkpoints) -> Self {
        CheckpointsJson {
            indexes: checkpoints.indexes,
            unreadable: checkpoints.unreadable,
            bytes: checkpoints.bytes,
            snapshots: checkpoints.snapshots,
            largest: checkpoints.largest,
            entries: checkpoints.entries,
            diff_share: checkpoints.diff_share().map(RatioJson::from),
        }
    }
}
