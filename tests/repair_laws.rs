//! The laws of `repair`, over every fixture and over random damage to healthy sessions of every agent.
//!
//! Most of them need no disk: a plan is a pure function of bytes, and so is its proof. The last part goes through the one
//! door with a journal of its own. `SID_AUDIT_FULL=1` takes ten times as many cases.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "this is test code outside #[test]")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "the tests make stores, and say how much they tried"
)]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sid_audit::commit;
use sid_audit::dialect::Dialect;
use sid_audit::finding::{Fix, Severity};
use sid_audit::repair::links::Relink;
use sid_audit::repair::plan::{self, Options, Plan};
use sid_audit::repair::proof::{self, Promise};
use sid_audit::rules::gate::Gate;
use sid_audit::session::{Session, Shape};
use sid_audit::store::meter::Meter;
use sid_audit::store::{Environment, Source, discover};
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
    }
}

/// A file in memory.
#[derive(Clone)]
struct Case {
    name: String,
    bytes: Vec<u8>,
    dialect: Dialect,
    shape: Shape,
}

impl Case {
    fn session(&self, bytes: &[u8]) -> Session {
        let path = PathBuf::from("/store/session.jsonl");
        let source = Source::from_bytes(bytes);
        Session::read(path, source, self.dialect, self.shape, &Meter::default()).unwrap()
    }

    fn plan(&self, options: &Options) -> Plan {
        plan::plan(self.session(&self.bytes), options, &Meter::default()).unwrap()
    }
}

fn splices(plan: &Plan) -> Vec<commit::Splice> {
    let all = plan.splices.iter();
    all.map(|s| commit::Splice { offset: s.offset, removed: s.removed, inserted: s.inserted.clone() }).collect()
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
    let new = applied(&case.bytes, &splices);
    let source = plan.text.source();
    if source.read_range(0, source.size()).unwrap() != new {
        return Err("the splices do not make the text that was judged".to_owned());
    }
    if case.plan(&options).splices != plan.splices {
        return Err("two plans of the same bytes differ".to_owned());
    }
    let back = commit::splice::reverse(|at, buf| std::io::Read::read(&mut &case.bytes[at as usize..], buf), &splices);
    if applied(&new, &back.unwrap()) != case.bytes {
        return Err("the original does not come back".to_owned());
    }
    let class = plan.edits.iter().map(|e| e.edit.class).max();
    let promise = Promise { before: &plan.before, after: &plan.after, answers: &plan.answers, class };
    let wrong = proof::repaired(&promise, case.session(&new), &options, None, &Meter::default()).unwrap();
    if !wrong.is_empty() {
        return Err(format!("does not pass its proof: {wrong:?}; edits {}", told(&plan)));
    }
    let (before, after) = (case.session(&case.bytes), case.session(&new));
    if class <= Some(Fix::Links) {
        let (was, is) = (before.chain.messages.len(), after.chain.messages.len());
        if is < was {
            return Err(format!("{is} messages load, {was} did before; edits {}", told(&plan)));
        }
        invented(case, &after, &new)?;
    }
    untouched(case, &splices, &new)?;
    quarantined(case, &plan)?;
    Ok(plan.edits.len())
}

fn told(plan: &Plan) -> String {
    let edits = plan.edits.iter().take(12);
    let told = edits.map(|e| format!("{} {} line {} ({})", e.edit.code, e.edit.action.name(), e.line, e.edit.reason));
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

/// What is announced to go to quarantine lies in the file.
fn quarantined(case: &Case, plan: &Plan) -> Result<(), String> {
    for q in &plan.quarantined {
        if q.offset + q.length > case.bytes.len() as u64 || q.length == 0 {
            return Err(format!("{} at {}+{} is no stretch of the file", q.code, q.offset, q.length));
        }
    }
    Ok(())
}

/// Healthy sessions of every agent, small enough to be damaged at every byte.
fn healthy(seed: u64) -> Vec<Case> {
    let case = |name: &str, bytes: Vec<u8>, dialect| Case { name: name.to_owned(), bytes, dialect, shape: Shape::Main };
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
        case("claude", claude.bytes(), Dialect::Claude),
        case("pi", pi.bytes(), Dialect::Pi),
        case("sid", sid.bytes(), Dialect::Sid),
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
        let discovery = discover(&[store], None, &Environment::default());
        for file in discovery.files.iter().filter(|file| sid_audit::audit::is_session(file.kind)) {
            let (path, Some(dialect)) = (discovery.path(file), file.dialect) else { continue };
            let name = path.strip_prefix(fixtures("")).unwrap_or(&path).display().to_string();
            let shape = sid_audit::audit::shape_of(file.kind);
            found.push(Case { name, bytes: std::fs::read(&path).unwrap(), dialect, shape });
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

/// The part that goes through the one door.
#[cfg(unix)]
mod disk {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::time::Duration;

    use sid_audit::audit::repair::{self, FilePlan, Survey, back};
    use sid_audit::commit::{Journal, Run};
    use support::temp::{Temp, files_below, write};
    use support::time::touch;

    /// A home of sid-code and a journal beside it.
    struct House {
        temp: Temp,
    }

    impl House {
        fn new() -> Self {
            House { temp: Temp::new("repair-laws") }
        }

        fn store(&self) -> PathBuf {
            self.temp.join("home/.sid-code")
        }

        fn journal(&self) -> Journal {
            Journal::at(self.temp.join("state/sid-audit"))
        }

        /// Writes a session with mode 0600 and a time in the past.
        fn put(&self, case: &Case, name: &str) -> PathBuf {
            let folder = match case.dialect {
                Dialect::Sid => "home/.sid-code/sessions/home-dev-demo",
                Dialect::Claude => "home/.claude/projects/-home-dev-demo",
                Dialect::Pi | Dialect::Openclaw => "home/.pi/agent/sessions/--home-dev-demo--",
            };
            let path = self.temp.join(folder).join(name);
            write(&path, &case.bytes);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            touch(&path, NOW - 5_000_000);
            path
        }

        fn survey(&self, path: &Path, dry: bool, up_to: Fix) -> (sid_audit::store::Discovery, Survey) {
            let discovery = discover(&[path.to_owned()], None, &Environment::default());
            let survey = repair::survey(&discovery, &asked(dry, up_to), &Meter::default());
            assert!(survey.errors.is_empty() && survey.defects.is_empty(), "{:?} {:?}", survey.errors, survey.defects);
            (discovery, survey)
        }

        fn repair(&self, path: &Path, up_to: Fix) -> repair::Applying {
            let (discovery, survey) = self.survey(path, false, up_to);
            let plans: Vec<&FilePlan> = survey.plans.iter().filter(|plan| plan.may_be_applied()).collect();
            let lock = self.journal().lock().unwrap();
            let mut run = Run::begin(&lock, "law");
            let (asked, world) = (asked(false, up_to), survey.world.as_ref());
            repair::apply(&discovery, &plans, &mut run, &asked, &quick(), world, &Meter::default())
        }
    }

    fn asked(dry: bool, up_to: Fix) -> repair::Options {
        repair::Options { plan: options(up_to, false), idle: Duration::ZERO, closed: false, dry }
    }

    fn quick() -> commit::Options {
        commit::Options { settle: Duration::from_millis(2), ..commit::Options::default() }
    }

    /// What a file is, its bytes included.
    type Look = (Vec<u8>, u64, u32, i64, i64, i64, i64);

    fn look(path: &Path) -> Look {
        let meta = std::fs::metadata(path).unwrap();
        let bytes = std::fs::read(path).unwrap();
        (bytes, meta.ino(), meta.mode(), meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec())
    }

    fn looks(root: &Path) -> BTreeMap<PathBuf, Look> {
        files_below(root).into_iter().map(|file| (file.clone(), look(&root.join(&file)))).collect()
    }

    /// Damaged sessions of all agents under the names that their agents give.
    fn damaged(house: &House, rounds: u64) -> Vec<(PathBuf, Case)> {
        let mut out = Vec::new();
        for round in 0..rounds {
            for whole in healthy(round + 50) {
                let mut rng = Rng::new(7_000 + round);
                let (name, damage) = rng.pick::<damage::Damage>(KINDS);
                let bytes = damage(&whole.bytes, &mut rng);
                let case = Case { name: format!("{} {name} {round}", whole.name), bytes, ..whole };
                let file = match case.dialect {
                    Dialect::Sid => format!("20260801-090000-{round:08}.jsonl"),
                    Dialect::Claude => format!("5e550000-0000-4000-8000-{round:012}.jsonl"),
                    _ => format!("2026-08-01T09-00-00-000Z_5e550000-0000-4000-8000-{round:012}.jsonl"),
                };
                out.push((house.put(&case, &file), case));
            }
        }
        out
    }

    #[test]
    fn a_dry_run_leaves_bytes_inode_and_times_alone() {
        let house = House::new();
        damaged(&house, 8);
        let before = looks(house.temp.path());
        let (_, survey) = house.survey(&house.temp.join("home"), true, Fix::Content);
        assert!(survey.plans.iter().filter(|plan| plan.has_work()).count() > 5);
        assert_eq!(looks(house.temp.path()), before);
    }

    #[test]
    fn a_healthy_store_is_never_written() {
        let temp = Temp::new("repair-healthy");
        claude::home::write_home(&temp.join(".claude"), 60, 3);
        pi::write_home(&temp.join(".pi/agent"));
        sid::write_home(&temp.join(".sid-code"));
        let before = looks(temp.path());
        let discovery = discover(&[temp.path().to_owned()], None, &Environment::default());
        let survey = repair::survey(&discovery, &asked(false, Fix::Content), &Meter::default());
        assert!(survey.sessions > 60);
        let work: Vec<_> = survey.plans.iter().filter(|p| p.has_work()).map(|p| (&p.path, &p.answers)).collect();
        assert!(work.is_empty(), "{work:?}");
        assert_eq!(looks(temp.path()), before);
    }

    /// A run over many files: each keeps mode and time, is what was announced, and comes back whole.
    #[test]
    fn a_run_over_sixty_files_is_taken_back_whole() {
        let house = House::new();
        let cases = damaged(&house, 25);
        let home = house.temp.join("home");
        let before: BTreeMap<PathBuf, Look> = looks(&home);
        let done = house.repair(&home, Fix::Links);
        assert!(done.refused.is_empty() && done.failed.is_empty(), "{:?} {:?}", done.refused, done.failed);
        assert!(done.applied.len() >= 30, "{}", done.applied.len());
        for applied in &done.applied {
            let (old, new) = (&before[applied.path.strip_prefix(&home).unwrap()], look(&applied.path));
            assert_ne!(old.0, new.0);
            assert_eq!((old.2, old.3, old.4), (new.2, new.3, new.4), "mode and time of {:?}", applied.path);
            assert_eq!(std::fs::read(&applied.retained).unwrap(), old.0);
        }
        // A second repair is empty.
        let (_, again) = house.survey(&home, false, Fix::Links);
        let work: Vec<_> = again.plans.iter().filter(|p| p.has_work()).map(|p| (&p.path, &p.answers)).collect();
        assert!(work.is_empty(), "{work:?}");
        // The original comes out of file and journal alone.
        let one = &done.applied[0];
        std::fs::remove_file(&one.retained).unwrap();
        let elsewhere = house.temp.join("original");
        house.journal().undo_to(&one.journal_id, None, &elsewhere).unwrap();
        assert_eq!(std::fs::read(&elsewhere).unwrap(), before[one.path.strip_prefix(&home).unwrap()].0);

        let run = one.journal_id.split('/').next().unwrap();
        let lock = house.journal().lock().unwrap();
        let asked = asked(false, Fix::Links);
        let paths: Vec<PathBuf> = done.applied.iter().map(|a| a.path.clone()).collect();
        let known = back::Known::new(&paths, None, &Environment::default(), &asked);
        assert_eq!(known.refusals(), []);
        let undone = back::undo(&lock, run, None, true, &known, &quick()).unwrap();
        assert!(undone.failed.is_empty(), "{:?}", undone.failed);
        let after = looks(&home);
        assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
        for (path, old) in &before {
            let new = &after[path];
            assert_eq!((&old.0, old.2, old.3, old.4), (&new.0, new.2, new.3, new.4), "{path:?}");
        }
        assert_eq!(cases.len(), before.len());
    }

    /// What the agent appended since is carried over, through the same proof.
    #[test]
    fn an_undo_carries_over_what_was_appended_since() {
        let house = House::new();
        let mut whole = healthy(5).remove(2);
        let cut = whole.bytes.len() - 40;
        whole.bytes.truncate(cut);
        let path = house.put(&whole, "20260801-090000-00000001.jsonl");
        let done = house.repair(&path, Fix::Links);
        assert_eq!(done.applied.len(), 1, "{done:?}");
        let session = whole.session(&std::fs::read(&path).unwrap());
        let tail = session.id(session.chain.leaf.unwrap()).unwrap().lossy();
        let line = format!(
            "{{\"type\":\"user_message\",\"message\":{{\"role\":\"user\",\"content\":\"on we go\"}},\
             \"timestamp\":\"2026-08-01T10:00:00.000Z\",\"uuid\":\"5e550000-0000-4000-8000-0000000000aa\",\
             \"parentUuid\":\"{tail}\"}}\n"
        );
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
        drop(file);

        let lock = house.journal().lock().unwrap();
        let asked = asked(false, Fix::Links);
        let known = back::Known::new(std::slice::from_ref(&path), None, &Environment::default(), &asked);
        let undone = back::undo(&lock, &done.applied[0].journal_id, None, true, &known, &quick()).unwrap();
        assert!(undone.failed.is_empty(), "{:?}", undone.failed);
        assert_eq!(std::fs::read(&path).unwrap(), [&whole.bytes, b"\n".as_slice(), line.as_bytes()].concat());
    }

    /// A writer that still held the old file: its line is brought over by the next run, through the proof.
    #[test]
    fn late_lines_are_brought_over_by_the_next_run() {
        let house = House::new();
        let mut whole = healthy(6).remove(2);
        // A line in the middle that nobody reads, so that the file ends in a whole line.
        let at = memchr::memchr(b'\n', &whole.bytes).unwrap() + 1;
        whole.bytes.splice(at..at, b"{\"torn\": \n".to_vec());
        let path = house.put(&whole, "20260801-090000-00000001.jsonl");
        let done = house.repair(&path, Fix::Links);
        let retained = done.applied[0].retained.clone();
        let session = whole.session(&std::fs::read(&path).unwrap());
        let tail = session.id(session.chain.leaf.unwrap()).unwrap().lossy();
        let line = format!(
            "{{\"type\":\"metadata\",\"key\":\"k\",\"value\":1,\"timestamp\":\"2026-08-01T10:00:00.000Z\",\
             \"uuid\":\"5e550000-0000-4000-8000-0000000000aa\",\"parentUuid\":\"{tail}\"}}\n"
        );
        let mut file = std::fs::OpenOptions::new().append(true).open(&retained).unwrap();
        std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
        drop(file);

        let before = std::fs::read(&path).unwrap();
        let lock = house.journal().lock().unwrap();
        let swept = lock.sweep(std::time::SystemTime::now(), false).unwrap();
        assert_eq!(swept.remaining[0].file.late, line.len() as u64);
        let asked = asked(false, Fix::Links);
        let known = back::Known::new(&[house.store()], None, &Environment::default(), &asked);
        let late = back::bring_over(&lock, &swept.remaining, &known, &quick());
        assert!(late.refused.is_empty() && late.elsewhere.is_empty(), "{late:?}");
        assert!(late.outcomes[0].unmerged.is_empty(), "{late:?}");
        assert_eq!(std::fs::read(&path).unwrap(), [before, line.into_bytes()].concat());
    }
}
