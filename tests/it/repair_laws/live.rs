//! Sessions whose agent goes on writing while they are repaired, the guard switched off: one that opens, appends and
//! closes, as sid-code does, and one that holds its descriptor. The whole way is gone: plan, proof, exchange, settling,
//! and what the next run names.
//!
//! `COMMIT_RACES=1000` takes the number of races that the design names.

use super::*;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use sid_audit::agents;
use sid_audit::audit::repair::{self, FilePlan, undo};
use sid_audit::commit::{Journal, Locked, Run};
use support::temp::{Temp, write};

fn asked() -> repair::Options {
    repair::Options { plan: options(Fix::Links, false), idle: Duration::ZERO, closed: true, dry: false, touch: false }
}

/// The guard is off, and a writer is waited for no longer than a few of its pauses.
fn door() -> commit::Options {
    commit::Options { settle: Duration::from_millis(5), guard: false, ..commit::Options::default() }
}

/// One run of the tool over a file: what earlier runs left is brought over, then it is planned and repaired. What was
/// applied, or why nothing was.
fn run(path: &Path, locked: &Locked) -> Result<repair::Applying, String> {
    let asked = asked();
    let discovery = discover(&[path.to_owned()], Some(sid_audit::agents::SID), &Environment::default(), agents::HOMES);
    let swept = locked.sweep(SystemTime::now(), true).unwrap();
    let known = undo::Known::of(discovery.clone(), &asked);
    let late = undo::bring_over(locked, &swept.remaining, &known, &door());
    assert!(late.refused.is_empty() && late.elsewhere.is_empty(), "{late:?}");
    let survey = repair::survey(&discovery, &asked, &Meter::default());
    let plans: Vec<&FilePlan> = survey.plans.iter().filter(|plan| plan.has_work()).collect();
    if let Some(refused) = plans.iter().find_map(|plan| plan.refused.as_ref()) {
        return Err(refused.reason.clone());
    }
    let mut run = Run::begin(locked, "race");
    let done = repair::apply(&discovery, &plans, &mut run, &asked, &door(), survey.world.as_ref(), &Meter::default());
    assert!(done.failed.is_empty(), "{:?}", done.failed);
    match done.refused.first() {
        Some(refused) => Err(refused.reason.clone()),
        None => Ok(done),
    }
}

/// A session of sid-code with a line in it that nobody reads, and the id that its next record names.
fn damaged(path: &Path, seed: u64) -> (usize, String) {
    let whole = healthy(seed).remove(2);
    let session = whole.examined(&whole.bytes).session;
    let tail = session.id(session.chain.leaf.unwrap()).unwrap().lossy();
    let messages = session.chain.messages.len();
    let at = memchr::memchr(b'\n', &whole.bytes).unwrap() + 1;
    let mut bytes = whole.bytes;
    bytes.splice(at..at, b"{\"torn\": \n".to_vec());
    write(path, bytes);
    (messages, tail)
}

/// The n-th record of the writer: each hangs below the one before it.
fn line(n: u32, tail: &str) -> String {
    let id = |n: u32| format!("5e550000-0000-4000-8000-{n:012}");
    let parent = if n == 0 { tail.to_owned() } else { id(n - 1) };
    format!(
        "{{\"type\":\"user_message\",\"message\":{{\"role\":\"user\",\"content\":\"line {n}\"}},\
         \"timestamp\":\"2026-09-01T10:00:00.000Z\",\"uuid\":\"{}\",\"parentUuid\":\"{parent}\"}}\n",
        id(n)
    )
}

/// The numbers of the writer's records in these bytes, in their order.
fn numbers(bytes: &[u8]) -> Vec<u32> {
    let text = String::from_utf8_lossy(bytes);
    let number = |l: &str| l.split("\"content\":\"line ").nth(1)?.split('"').next()?.parse().ok();
    text.lines().filter_map(number).collect()
}

fn held(path: &Path) -> File {
    OpenOptions::new().append(true).open(path).unwrap()
}

#[derive(Default, Debug)]
struct Tally {
    committed: u32,
    /// Late lines were brought over by the same run; the next run named a file that held some.
    merged: u32,
    named: u32,
    /// The chain was shorter than what was written, when the run ended, and after the next run.
    shorter: u32,
    still_shorter: u32,
}

fn race(runs: u32, holds: bool) -> Tally {
    let mut tally = Tally::default();
    for n in 0..runs {
        let temp = Temp::within(Path::new("/dev/shm"), "repair-live");
        let path = temp.join("home/.sid-code/sessions/home-dev-demo/20260801-090000-00000001.jsonl");
        let (before, tail) = damaged(&path, u64::from(n % 5) + 1);
        let pause = Duration::from_millis([4, 9, 17, 30][n as usize % 4]);
        let (go, stop) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (started, stopped, target) = (Arc::clone(&go), Arc::clone(&stop), path.clone());
        let writer = std::thread::spawn(move || {
            let file = held(&target);
            let mut written = 0;
            while !stopped.load(Ordering::SeqCst) {
                std::thread::sleep(pause);
                let line = line(written, &tail);
                let mut file = if holds { file.try_clone().unwrap() } else { held(&target) };
                if !holds {
                    // An exchange may come between opening and writing.
                    std::thread::sleep(Duration::from_micros(u64::from(written % 4) * 400));
                }
                file.write_all(line.as_bytes()).unwrap();
                written += 1;
                started.store(true, Ordering::SeqCst);
            }
            written
        });
        while !go.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        // The run begins at another moment of the writer's pause each time.
        std::thread::sleep(Duration::from_micros(u64::from(n) * 271 % 9_000));
        let locked = Journal::at(temp.join("state/sid-audit")).lock().unwrap();
        // A record between plan and exchange makes the plan stale: planned anew, as a user would.
        let mut result = Err(String::new());
        for _ in 0..30 {
            result = run(&path, &locked);
            if result.is_ok() {
                break;
            }
        }
        stop.store(true, Ordering::SeqCst);
        let written: u32 = writer.join().unwrap();
        let Ok(done) = result else { continue };
        if !done.applied.is_empty() {
            tally.committed += 1;
            tally.merged += u32::from(done.applied.iter().any(|a| a.merged.is_some()));
        }

        // Every record stands once: at the name, or behind what is accounted for of a file that the next run names.
        let swept = locked.sweep(SystemTime::now(), true).unwrap();
        let late: Vec<u8> = swept
            .remaining
            .iter()
            .flat_map(|left| {
                let bytes = std::fs::read(&left.file.path).unwrap();
                bytes[bytes.len() - left.file.late as usize..].to_vec()
            })
            .collect();
        tally.named += u32::from(!late.is_empty());
        let mut all = numbers(&std::fs::read(&path).unwrap());
        all.extend(numbers(&late));
        all.sort_unstable();
        assert_eq!(all, (0..written).collect::<Vec<_>>(), "race {n}: lost or doubled");

        let case =
            Case { name: String::new(), bytes: Vec::new(), agent_id: sid_audit::agents::SID, shape: Shape::Main };
        let wanted = before + written as usize;
        let loads = || case.examined(&std::fs::read(&path).unwrap()).session.chain.messages.len();
        tally.shorter += u32::from(loads() < wanted);
        run(&path, &locked).unwrap_or_else(|why| panic!("race {n}: the next run: {why}"));
        tally.still_shorter += u32::from(loads() < wanted);
        assert_eq!(numbers(&std::fs::read(&path).unwrap()).len(), written as usize, "race {n}");
    }
    tally
}

fn races() -> u32 {
    std::env::var("COMMIT_RACES").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
}

fn told(tally: &Tally, runs: u32, who: &str) {
    let Tally { committed, merged, named, shorter, still_shorter } = tally;
    println!(
        "{who}: {committed} of {runs} committed, {merged} brought lines over, {named} named a kept file; the chain came \
         back shorter than written in {shorter}, after the next run in {still_shorter}"
    );
    assert!(committed * 2 >= runs, "{who}: only {committed} of {runs} committed");
    assert_eq!(*still_shorter, 0, "{who}: what the next run cannot mend");
}

#[test]
fn an_agent_that_opens_appends_and_closes_loses_nothing() {
    told(&race(races(), false), races(), "opens and closes");
}

#[test]
fn an_agent_that_holds_its_descriptor_loses_nothing() {
    told(&race(races(), true), races(), "holds");
}
