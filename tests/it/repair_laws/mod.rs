//! The laws of `repair`, over every fixture and over random damage to healthy sessions of every agent.
//!
//! Most of them need no disk: a plan is a pure function of bytes, and so is its proof. The last part goes through the one
//! door with a journal of its own. `SID_AUDIT_FULL=1` takes ten times as many cases.

#![allow(clippy::disallowed_macros, reason = "the tests make stores, and say how much they tried")]

#[cfg(unix)]
mod disk;
#[cfg(unix)]
mod live;

use crate::support;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sid_audit::agents;
use sid_audit::commit;
use sid_audit::finding::{Fix, Severity};
use sid_audit::identity::AgentId;
use sid_audit::record::facts::flag;
use sid_audit::repair::links::Relink;
use sid_audit::repair::plan::{self, Options, Plan};
use sid_audit::repair::proof::{self, Promise};
use sid_audit::repair::worse::Bound;
use sid_audit::rules::Examined;
use sid_audit::rules::filter::Gate;
use sid_audit::session::{Session, Shape};
use sid_audit::store::meter::Meter;
use sid_audit::store::{Environment, Source, discover};
use sid_audit::verdict::ApiVerdict;
use support::claude::{self, Version};
use support::damage::{self, KINDS};
use support::random::Rng;
use support::run::fixtures;
use support::time::NOW;
use support::{pi, sid};

fn options(up_to: Fix, nearest: bool) -> Options {
    Options {
        up_to,
        relink: Relink { nearest, ..Relink::default() },
        answer_orphans: true,
        gate: Gate::default(),
        live: false,
        now: NOW,
        without: Vec::new(),
    }
}

/// A file in memory.
#[derive(Clone)]
struct Case {
    name: String,
    bytes: Vec<u8>,
    agent_id: AgentId,
    shape: Shape,
}

impl Case {
    fn agent(&self) -> &'static dyn agents::Agent {
        agents::reader(self.agent_id, self.shape)
    }

    fn examined(&self, bytes: &[u8]) -> Examined {
        let path = PathBuf::from("/store/session.jsonl");
        let source = Source::from_bytes(bytes);
        Examined::read(path, source, self.agent(), self.shape, &Meter::default()).unwrap()
    }

    fn plan(&self, options: &Options) -> Plan {
        plan::plan(self.examined(&self.bytes), self.agent(), options, &Meter::default()).unwrap()
    }
}

fn splices(plan: &Plan) -> Vec<commit::Splice> {
    let all = plan.text.splices().into_iter();
    all.map(|s| commit::Splice { offset: s.offset, removed: s.removed, inserted: s.inserted }).collect()
}

fn applied(bytes: &[u8], splices: &[commit::Splice]) -> Vec<u8> {
    let mut out = Vec::new();
    commit::splice::apply(bytes, splices, &mut out).expect("the splices fit");
    out
}

/// Every law that needs no disk, for one file and one class. What is broken, in words.
fn laws(case: &Case, up_to: Fix, nearest: bool) -> Result<usize, String> {
    let options = options(up_to, nearest);
    let plan = case.plan(&options);
    let splices = splices(&plan);
    let size = case.bytes.len() as u64;
    commit::splice::check(&splices, size).map_err(|e| format!("the plan does not fit: {e}"))?;
    if plan.is_empty() {
        return if splices.is_empty() { Ok(0) } else { Err("splices without an edit".to_owned()) };
    }
    if let Some(far) = plan.edits.iter().find(|e| e.edit.class > up_to) {
        return Err(format!("{} is answered by an edit of the class {}", far.edit.rule, far.edit.class.name()));
    }
    let new = applied(&case.bytes, &splices);
    let source = plan.text.source();
    if source.read_range(0, source.size()).unwrap() != new {
        return Err("the splices do not make the text that was judged".to_owned());
    }
    if case.plan(&options).text.splices() != plan.text.splices() {
        return Err("two plans of the same bytes differ".to_owned());
    }
    let back = commit::splice::reverse(|at, buf| std::io::Read::read(&mut &case.bytes[at as usize..], buf), &splices);
    if applied(&new, &back.unwrap()) != case.bytes {
        return Err("the original does not come back".to_owned());
    }
    let class = plan.edits.iter().map(|e| e.edit.class).max();
    let bound = Bound::of(plan.edits.iter().map(|e| &e.edit));
    let promise = Promise { before: &plan.before, after: &plan.after, answers: &plan.answers, bound, text: &plan.text };
    let wrong =
        proof::repaired(&promise, case.examined(&new), case.agent(), &options, None, &Meter::default()).unwrap();
    if !wrong.told.is_empty() {
        return Err(format!("does not pass its proof: {:?}; edits {}", wrong.told, told(&plan)));
    }
    let (before, after) = (case.examined(&case.bytes).session, case.examined(&new).session);
    if class <= Some(Fix::Links) {
        let (was, is) = (before.chain.messages.len(), after.chain.messages.len());
        if is < was {
            return Err(format!("{is} messages load, {was} did before; edits {}", told(&plan)));
        }
        let ids = |session: &Session| {
            let records = session.chain.messages.iter().map(|&n| session.record(n));
            records.filter(|r| r.has(flag::ID_STRING)).map(|r| r.id.short()).collect::<BTreeSet<u64>>()
        };
        if !ids(&before).is_subset(&ids(&after)) {
            return Err(format!("a message no longer comes back; edits {}", told(&plan)));
        }
        if before.chain.refusal.is_none() && after.chain.refusal.is_some() {
            return Err(format!("the session no longer loads; edits {}", told(&plan)));
        }
        invented(case, &after, &new)?;
    }
    let api = (plan.before.api, plan.after.api);
    if before.chain.loads() && api.0 != ApiVerdict::Refused && api.1 == ApiVerdict::Refused {
        return Err(format!("the API would refuse what it took; edits {}", told(&plan)));
    }
    lines_named(case, &plan)?;
    made_up(case, &plan, &after, &new)?;
    untouched(case, &splices, &new)?;
    quarantined(case, &plan)?;
    Ok(plan.edits.len())
}

fn told(plan: &Plan) -> String {
    let edits = plan.edits.iter().take(12);
    let told = edits.map(|e| format!("{} {} line {} ({})", e.edit.rule, e.edit.action.name(), e.line, e.edit.reason));
    told.collect::<Vec<_>>().join(", ")
}

/// No message that was not in the file: what a message says stands in it, NUL bytes and raw line feeds apart.
fn invented(case: &Case, after: &Session, new: &[u8]) -> Result<(), String> {
    // A raw line feed may become an escaped one, and then be an n of an escape that it stood in.
    let plain = |bytes: &[u8]| -> Vec<u8> {
        bytes.iter().copied().filter(|b| !matches!(b, 0 | b'\n' | b'\r' | b'\\' | b'n')).collect()
    };
    let old = plain(&case.bytes);
    for &n in &after.chain.messages {
        let record = after.record(n);
        // Its bytes are not UTF-8: the text that the loader reads is longer than they are.
        if record.has(flag::LOSSY) {
            continue;
        }
        let text = &new[record.offset as usize..(record.offset + u64::from(record.length)) as usize];
        let value = sid_audit::record::value::Value::parse(text);
        let Some(message) = value.and_then(|v| v.get("message")) else { continue };
        let message = plain(message.raw());
        // Other replacements inside a string (raw separators) are seen by the rest of it.
        if memchr::memmem::find(&old, &message).is_none() && !text.windows(5).any(|w| w == b"u2028" || w == b"u2029") {
            return Err(format!("a message on line {} was not in the file", record.line));
        }
    }
    Ok(())
}

/// A record that comes back is one of the file or carries the mark of what a repair made: most of its bytes are the file's,
/// or it is a line that was moved, and what it says stands in the file.
fn made_up(case: &Case, plan: &Plan, after: &Session, new: &[u8]) -> Result<(), String> {
    for &n in &after.chain.messages {
        let record = after.record(n);
        if record.has(flag::LOSSY) {
            continue;
        }
        let (offset, length) = (record.offset, u64::from(record.length));
        let text = &new[offset as usize..(offset + length) as usize];
        let Some(value) = sid_audit::record::value::Value::parse(text) else { continue };
        let marked = value.get("sidAudit").is_some();
        let of_the_file: u64 = plan.text.stretches(offset, length).iter().map(|(_, bytes)| bytes).sum();
        let says = value.get("message").map_or(text, |message| message.raw());
        if !marked && of_the_file * 2 < length && memchr::memmem::find(&case.bytes, says).is_none() {
            return Err(format!("a record on line {} was made up and is not marked", record.line));
        }
    }
    Ok(())
}

/// Every line that no splice reaches is there as it was, in its place among the others.
fn untouched(case: &Case, splices: &[commit::Splice], new: &[u8]) -> Result<(), String> {
    let mut lines = new.split(|b| *b == b'\n');
    let mut at = 0;
    for line in case.bytes.split_inclusive(|b| *b == b'\n') {
        let end = at + line.len() as u64;
        let touched = splices.iter().any(|s| s.offset <= end && s.offset + s.removed >= at);
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if !touched && !lines.any(|l| l == text) {
            return Err(format!("the line at byte {at} is not as it was"));
        }
        at = end;
    }
    Ok(())
}

/// The line that an edit names is the one of the file in which its place lies.
fn lines_named(case: &Case, plan: &Plan) -> Result<(), String> {
    for e in &plan.edits {
        let before = case.bytes.get(..e.offset as usize).ok_or("an edit lies behind the file")?;
        let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
        if e.line != line && e.line + 1 != line {
            return Err(format!("{} names line {}, byte {} is on line {line}", e.edit.rule, e.line, e.offset));
        }
    }
    Ok(())
}

/// What is announced to go to quarantine lies in the file.
fn quarantined(case: &Case, plan: &Plan) -> Result<(), String> {
    for q in &plan.quarantined {
        if q.offset + q.length > case.bytes.len() as u64 || q.length == 0 {
            return Err(format!("{} at {}+{} is no stretch of the file", q.rule, q.offset, q.length));
        }
    }
    Ok(())
}

/// Healthy sessions of every agent, small enough to be damaged at every byte.
fn healthy(seed: u64) -> Vec<Case> {
    let case =
        |name: &str, bytes: Vec<u8>, agent_id| Case { name: name.to_owned(), bytes, agent_id, shape: Shape::Main };
    let mut claude = claude::Session::new(Rng::new(seed), Version(220), "/home/dev/demo", NOW - 10_000_000);
    claude.open();
    claude.turn();
    claude.turn();
    let mut pi = pi::Session::new(seed, NOW - 10_000_000, None);
    pi.turn();
    pi.turn();
    let mut sid = sid::Session::plain(seed, 0, NOW - 10_000_000, 2);
    sid.end();
    vec![
        case("claude", claude.bytes(), sid_audit::agents::CLAUDE),
        case("pi", pi.bytes(), sid_audit::agents::PI),
        case("sid", sid.bytes(), sid_audit::agents::SID),
    ]
}

fn rounds() -> u64 {
    if std::env::var_os("SID_AUDIT_FULL").is_some() { 200 } else { 12 }
}

#[derive(Default)]
struct Tally {
    cases: usize,
    repaired: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn hold(&mut self, case: &Case, up_to: Fix, nearest: bool) {
        self.cases += 1;
        match laws(case, up_to, nearest) {
            Ok(0) => {}
            Ok(_) => self.repaired += 1,
            Err(why) => {
                if let Some(folder) = std::env::var_os("SID_AUDIT_KEEP") {
                    let name = format!("{}-{}.jsonl", case.name.replace([' ', '/'], "-"), up_to.name());
                    std::fs::write(Path::new(&folder).join(name), &case.bytes).unwrap();
                }
                self.wrong.push(format!("{} up to {} (nearest {nearest}): {why}", case.name, up_to.name()));
            }
        }
    }

    fn end(self, what: &str) {
        let shown: Vec<&String> = self.wrong.iter().take(30).collect();
        assert!(shown.is_empty(), "{} of {} cases\n{shown:#?}", self.wrong.len(), self.cases);
        assert!(self.repaired > 0, "nothing was repaired in {what}");
    }
}

const WAYS: [(Fix, bool); 4] = [(Fix::Bytes, false), (Fix::Links, false), (Fix::Links, true), (Fix::Content, false)];

#[test]
fn laws_hold_under_random_damage() {
    let mut tally = Tally::default();
    for round in 0..rounds() {
        for whole in healthy(round + 1) {
            for (kind, (name, damage)) in (0..).zip(KINDS) {
                let mut rng = Rng::new(round * 1000 + kind);
                let name = format!("{} {name} {round}", whole.name);
                let case = Case { name, bytes: damage(&whole.bytes, &mut rng), ..whole.clone() };
                let (up_to, nearest) = *rng.pick(&WAYS);
                tally.hold(&case, up_to, nearest);
            }
        }
    }
    tally.end("random damage");
}

#[test]
fn laws_hold_under_damage_upon_damage() {
    let mut tally = Tally::default();
    for round in 0..rounds() * 3 {
        for whole in healthy(round % 7 + 1) {
            let mut rng = Rng::new(0xd0_0000 + round);
            let mut case = whole.clone();
            for _ in 0..rng.range(2, 4) {
                let (name, damage) = rng.pick::<damage::Damage>(KINDS);
                if case.bytes.iter().filter(|b| **b == b'\n').count() > 3 {
                    case.bytes = damage(&case.bytes, &mut rng);
                    case.name = format!("{} + {name}", case.name);
                }
            }
            case.name = format!("{} {round}", case.name);
            let (up_to, nearest) = *rng.pick(&WAYS);
            tally.hold(&case, up_to, nearest);
        }
    }
    tally.end("damage upon damage");
}

#[test]
fn laws_hold_for_a_session_cut_off_at_every_byte() {
    let mut tally = Tally::default();
    for whole in healthy(99) {
        // The last lines byte by byte; the rest in steps that meet every place of a line sooner or later.
        let step = if std::env::var_os("SID_AUDIT_FULL").is_some() { 1 } else { 37 };
        let lines: Vec<usize> = memchr::memchr_iter(b'\n', &whole.bytes).collect();
        let tail = whole.bytes.len() - lines[lines.len() - 2];
        let cuts = (1..whole.bytes.len()).step_by(step).chain((whole.bytes.len() - tail.min(900))..whole.bytes.len());
        for cut in cuts {
            let case = Case {
                name: format!("{} cut at {cut}", whole.name),
                bytes: whole.bytes[..cut].to_vec(),
                ..whole.clone()
            };
            tally.hold(&case, Fix::Links, false);
        }
    }
    tally.end("cut off");
}

/// The session files of the fixtures.
fn files(room: &str) -> Vec<Case> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(fixtures(room)).unwrap() {
        let folder = entry.unwrap().path();
        let store = if folder.join("store").is_dir() { folder.join("store") } else { folder.clone() };
        let discovery = discover(&[store], None, &Environment::default(), agents::HOMES);
        for file in discovery.files.iter().filter(|file| sid_audit::audit::is_session(file.kind)) {
            let (path, Some(agent_id)) = (discovery.path(file), file.agent_id) else { continue };
            let name = path.strip_prefix(fixtures("")).unwrap_or(&path).display().to_string();
            let shape = sid_audit::audit::shape_of(file.kind);
            found.push(Case { name, bytes: std::fs::read(&path).unwrap(), agent_id, shape });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

#[test]
fn laws_hold_for_every_fixture() {
    let mut tally = Tally::default();
    for room in ["cases", "clean", "demo", "loaders"] {
        for case in files(room) {
            for (up_to, nearest) in WAYS {
                tally.hold(&case, up_to, nearest);
            }
        }
    }
    tally.end("fixtures");
}

#[test]
fn a_healthy_session_has_no_plan() {
    for case in files("clean").into_iter().chain((1..20).flat_map(healthy)) {
        let plan = case.plan(&options(Fix::Content, true));
        assert!(plan.is_empty(), "{}: {}", case.name, told(&plan));
    }
}

/// Their texts say that they are only answered when they are asked for by their code.
const ASKED_FOR: &[&str] = &["C215"];

/// What a rule promises to repair is repaired in one of the fixtures.
#[test]
fn promised_repairs_are_made() {
    let mut owed: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
    for case in files("cases") {
        let plan = case.plan(&options(Fix::Content, true));
        let of = |state: &plan::State| {
            let loud = state.findings.iter().filter(|f| f.severity >= Severity::Warning && f.rule.fix.is_some());
            loud.map(|f| f.rule.code).collect::<Vec<_>>()
        };
        let after = of(&plan.after);
        for code in of(&plan.before) {
            if after.contains(&code) {
                owed.entry(code).or_default().push(case.name.clone());
            } else {
                *kept.entry(code).or_default() += 1;
            }
        }
    }
    let broken: Vec<_> =
        owed.iter().filter(|(code, _)| !kept.contains_key(*code) && !ASKED_FOR.contains(code)).collect();
    assert!(broken.is_empty(), "no fixture shows the repair that these promise: {broken:#?}");
}
