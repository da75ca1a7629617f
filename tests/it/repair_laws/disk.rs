//! The laws that go through the one door: what a dry run leaves alone, what comes back, what is carried over.

use super::*;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::Duration;

use sid_audit::agents;
use sid_audit::audit::repair::{self, FilePlan, Survey, undo};
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
        let folder = match case.agent_id.name() {
            "sid" => "home/.sid-code/sessions/home-dev-demo",
            "claude" => "home/.claude/projects/-home-dev-demo",
            _ => "home/.pi/agent/sessions/--home-dev-demo--",
        };
        let path = self.temp.join(folder).join(name);
        write(&path, &case.bytes);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        touch(&path, NOW - 5_000_000);
        path
    }

    fn survey(&self, path: &Path, dry: bool, up_to: Fix) -> (sid_audit::store::Discovery, Survey) {
        let discovery = discover(&[path.to_owned()], None, &Environment::default(), agents::HOMES);
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
    repair::Options { plan: options(up_to, false), idle: Duration::ZERO, closed: false, dry, touch: false }
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
            let file = match case.agent_id.name() {
                "sid" => format!("20260801-090000-{round:08}.jsonl"),
                "claude" => format!("5e550000-0000-4000-8000-{round:012}.jsonl"),
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
    let discovery = discover(&[temp.path().to_owned()], None, &Environment::default(), agents::HOMES);
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
    house.journal().undo_to(&one.journal_id, None, &elsewhere, agents::HOMES).unwrap();
    assert_eq!(std::fs::read(&elsewhere).unwrap(), before[one.path.strip_prefix(&home).unwrap()].0);

    let run = one.journal_id.split('/').next().unwrap();
    let lock = house.journal().lock().unwrap();
    let asked = asked(false, Fix::Links);
    let paths: Vec<PathBuf> = done.applied.iter().map(|a| a.path.clone()).collect();
    let known = undo::Known::new(&paths, None, &Environment::default(), &asked);
    assert_eq!(known.refusals(), []);
    let undone = undo::undo(&lock, run, None, true, &known, &quick()).unwrap();
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
    let session = whole.examined(&std::fs::read(&path).unwrap()).session;
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
    let known = undo::Known::new(std::slice::from_ref(&path), None, &Environment::default(), &asked);
    let undone = undo::undo(&lock, &done.applied[0].journal_id, None, true, &known, &quick()).unwrap();
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
    let session = whole.examined(&std::fs::read(&path).unwrap()).session;
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
    let known = undo::Known::new(&[house.store()], None, &Environment::default(), &asked);
    let late = undo::bring_over(&lock, &swept.remaining, &known, &quick());
    assert!(late.refused.is_empty() && late.elsewhere.is_empty(), "{late:?}");
    assert!(late.outcomes[0].unmerged.is_empty(), "{late:?}");
    assert_eq!(std::fs::read(&path).unwrap(), [before, line.into_bytes()].concat());
}
