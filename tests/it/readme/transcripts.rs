//! Transcripts: blocks of a console, each command behind a `$ `, what it prints below it. They run in their order in one
//! folder, so that one may go on where another ended.

use super::{blocks, clone, readme, shell};
use crate::support::temp::Temp;
use std::collections::BTreeMap;
use std::path::Path;

/// A command and what it prints.
#[derive(Debug)]
struct Step {
    command: String,
    /// The lines in the README, from 0.
    lines: std::ops::Range<usize>,
    shown: Vec<String>,
}

fn steps(text: &str) -> Vec<Step> {
    let mut all = Vec::new();
    for block in blocks(text).into_iter().filter(|block| block.language == "console") {
        let starts: Vec<usize> = (0..block.lines.len()).filter(|&n| block.lines[n].starts_with("$ ")).collect();
        assert_eq!(starts.first(), Some(&0), "line {} is no command", block.start + 1);
        let ends = starts.iter().skip(1).copied().chain([block.lines.len()]);
        for (&start, end) in starts.iter().zip(ends) {
            let mut shown = block.lines[start + 1..end].to_vec();
            while shown.last().is_some_and(String::is_empty) {
                shown.pop();
            }
            let lines = block.start + start + 1..block.start + start + 1 + shown.len();
            all.push(Step { command: block.lines[start]["$ ".len()..].to_owned(), lines, shown });
        }
    }
    all
}

/// What differs from one run to the next, and what the README has in its place.
struct Stand {
    place: Temp,
    /// When the first command ran, without its milliseconds.
    began: String,
    /// Real names by the ones of the README.
    names: BTreeMap<String, String>,
}

/// Where a reader would be at home, and have the sources.
const HOME: &str = "/home/you";
const HERE: &str = "/home/you/sid-audit";

impl Stand {
    /// What a command prints, with the README's names.
    fn run(&mut self, command: &str) -> Vec<String> {
        let command = self.names.iter().fold(command.to_owned(), |text, (ours, real)| text.replace(ours, real));
        let done = shell(&self.place, &format!("{{ {command}\n}} 2>&1")).output().expect("a shell");
        let status = done.status.code().expect("an end of its own");
        assert!([0, 1].contains(&status), "{command} ends with {status}");
        let printed = String::from_utf8(done.stdout).expect("UTF-8");
        let printed = printed.replace(&*self.place.join("home").to_string_lossy(), HOME);
        let mut text = printed.replace(&*self.place.path().to_string_lossy(), HERE);
        for word in printed.split(|c: char| !c.is_ascii_alphanumeric() && !"-.:".contains(c)) {
            let word = word.trim_end_matches(':');
            let Some(ours) = self.stands_for(word) else { continue };
            text = text.replace(word, &ours);
            self.names.insert(ours, word.to_owned());
        }
        text.trim_end_matches('\n').lines().map(str::to_owned).collect()
    }

    /// The name that the README has for a run of the journal, which begins with its time, for a file that is kept, whose
    /// name is drawn, and for a time at which something was done here.
    fn stands_for(&self, word: &str) -> Option<String> {
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let hex = |text: &str| text.len() == 8 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let n = self.names.len();
        let ours = if word.len() >= 20 && word.ends_with('Z') && word >= self.began.as_str() && word.contains(':') {
            Some(format!("2026-03-10T0{n}:15:00.000Z"))
        } else if let Some((time, rest)) = word.split_once("Z-") {
            let is_time =
                time.len() == 18 && time.split_once('T').is_some_and(|(day, time)| digits(day) && digits(time));
            (is_time && hex(rest)).then(|| format!("20260310T0{n}1500000Z-0a1b2c3d"))
        } else {
            let drawn = word.strip_prefix(".sid-audit-").and_then(|rest| rest.strip_suffix(".kept"));
            drawn.is_some_and(hex).then(|| format!(".sid-audit-{n}a1b2c3d.kept"))
        }?;
        let known = self.names.iter().find(|(_, real)| *real == word).map(|(ours, _)| ours.clone());
        Some(known.unwrap_or(ours))
    }
}

/// Whether lines are what is shown, in which `...` stands for one or more that are left out.
fn fits(shown: &[String], lines: &[String]) -> bool {
    match shown.iter().position(|line| line.trim() == "...") {
        None => shown == lines,
        Some(cut) => {
            let (head, rest) = (&shown[..cut], &shown[cut + 1..]);
            lines.starts_with(head)
                && (cut + 1..=lines.len()).any(|n| n > head.len() && fits(rest, lines.get(n..).unwrap_or_default()))
        }
    }
}

#[test]
fn every_transcript_is_what_the_program_prints() {
    let record = std::env::var_os("SID_AUDIT_RECORD").is_some();
    let text = std::fs::read_to_string(readme()).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64;
    let began = sid_audit::record::time::format(now)[..19].to_owned();
    let mut stand = Stand { place: clone(), began, names: BTreeMap::new() };
    let (mut wrong, mut anew) = (Vec::new(), Vec::new());
    for step in steps(&text) {
        let printed = stand.run(&step.command);
        if !fits(&step.shown, &printed) {
            wrong.push(format!("$ {}\n{}", step.command, printed.join("\n")));
            anew.push((step.lines, printed));
        }
    }
    if record {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (range, printed) in anew.into_iter().rev() {
            lines.splice(range, printed);
        }
        std::fs::write(readme(), lines.join("\n") + "\n").unwrap();
    } else {
        assert!(wrong.is_empty(), "SID_AUDIT_RECORD=1 cargo test --test it readme:: records:\n{}", wrong.join("\n\n"));
    }
}

#[test]
fn transcripts_are_compared_line_by_line() {
    let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let fit = |shown, printed| fits(&lines(shown), &lines(printed));
    assert!(fit("a b", "a b") && fit("a ... d", "a b c d") && fit("... d", "a d") && fit("a ...", "a b"));
    assert!(!fit("a b", "a b c") && !fit("a ... b", "a b") && !fit("a ...", "a") && !fit("a ... c ... e", "a b c e"));
    let found = steps("x\n```console\n$ one\n1\n\n$ two\n```\n```sh\n$ no\n```\n");
    let brief: Vec<_> = found.iter().map(|step| (step.command.as_str(), step.lines.clone())).collect();
    assert_eq!(brief, [("one", 3..4), ("two", 6..6)]);
}

#[test]
fn every_command_has_one_and_none_is_too_wide() {
    let text = std::fs::read_to_string(readme()).unwrap();
    let all = steps(&text);
    let command = sid_audit::cli::command();
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let name = sub.get_name();
        let has = all.iter().any(|step| step.command.split_whitespace().take(2).eq(["sid-audit", name]));
        assert!(has || ["completions", "help"].contains(&name), "{name} has no transcript");
    }
    // Wider than that is only a path, which is never broken.
    for line in all.iter().flat_map(|step| &step.shown).filter(|line| line.chars().count() > 100) {
        assert!(line.split(' ').any(|word| word.len() > 60 && word.contains('/')), "{line}");
    }
}

/// What stands in the README outside of transcripts is taken by the program too.
#[test]
fn every_command_line_can_be_read() {
    let text = std::fs::read_to_string(readme()).unwrap();
    let known = sid_audit::cli::command();
    let fenced = blocks(&text).into_iter().filter(|block| block.language == "sh").flat_map(|block| block.lines);
    let inline = text.split('`').skip(1).step_by(2).map(str::to_owned);
    let mut read = 0;
    for line in fenced.chain(inline).filter(|line| line.starts_with("sid-audit ") && !line.contains(['[', '\n'])) {
        let line = line.split(" #").next().unwrap_or(&line);
        let words = line.split_whitespace().map(|word| word.trim_matches('"'));
        let taken = known.clone().try_get_matches_from(words);
        assert!(taken.is_ok(), "{line}: {}", taken.err().map(|e| e.to_string()).unwrap_or_default());
        read += 1;
    }
    assert!(read > 8, "{read}");
}

/// The command that a stranger types first: what stands behind `cargo run --release --` is a run of the program.
#[test]
fn the_first_command_shows_the_demonstration() {
    let text = std::fs::read_to_string(readme()).unwrap();
    let first = blocks(&text).into_iter().next().expect("a block");
    let run = first.lines[0].split(" #").next().unwrap().trim().strip_prefix("cargo run --release -- ").expect("a run");
    let place = clone();
    let done = shell(&place, &format!("sid-audit {run}")).output().unwrap();
    assert_eq!(done.status.code(), Some(1), "the demonstration has damage in it");
    assert!(String::from_utf8_lossy(&done.stdout).contains("cannot resume"));
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/demo").is_dir() && run.ends_with("fixtures/demo"));
}
