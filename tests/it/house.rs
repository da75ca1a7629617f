//! The table of rooms in `src/lib.rs` is true: every room is in it, and a room uses only rooms that the table lists
//! before it.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "this is test code, which reads small files of ours"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms in the order of the table: the first column of its rows.
fn table(lib: &str) -> Vec<String> {
    let rows = lib.lines().filter_map(|line| line.strip_prefix("//! | [`"));
    let first = rows.filter_map(|row| row.split('|').next());
    first.flat_map(|cell| cell.split('`').step_by(2)).filter(|name| is_name(name)).map(str::to_owned).collect()
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Source text in words and signs, without comments and the insides of strings.
fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            // A character is no life time, and may be a quote.
            '\'' if rest.starts_with("'\\") => rest[3..].find('\'').map_or(rest.len(), |end| end + 4),
            '\'' if rest.chars().nth(2) == Some('\'') => 2 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '"' => string(rest),
            'r' if raw_string(rest).is_some() => raw_string(rest).unwrap_or(1),
            _ if c.is_alphanumeric() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                out.push(rest[..end].to_owned());
                end
            }
            ':' if rest.starts_with("::") => {
                out.push("::".to_owned());
                2
            }
            _ => {
                if !c.is_whitespace() {
                    out.push(c.to_string());
                }
                c.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    out
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|b| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

fn raw_string(text: &str) -> Option<usize> {
    let hashes = text[1..].bytes().take_while(|b| *b == b'#').count();
    text[1 + hashes..].starts_with('"').then(|| {
        let end = format!("\"{}", "#".repeat(hashes));
        text[2 + hashes..].find(&end).map_or(text.len(), |at| 2 + hashes + at + end.len())
    })
}

/// The names behind `crate::`, and behind as many `super::` as lead from a file of this depth to the crate: also each
/// one of a group. `depth` is 1 for a room's own file.
fn used(text: &str, depth: usize) -> BTreeSet<String> {
    let tokens = tokens(text);
    let mut found = BTreeSet::new();
    // How many modules the place is inside of, by the braces that opened them.
    let (mut braces, mut inner): (usize, Vec<usize>) = (0, Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => {
                braces += 1;
                if at >= 2 && tokens[at - 2] == "mod" {
                    inner.push(braces);
                }
            }
            "}" => {
                inner.pop_if(|opened| *opened == braces);
                braces = braces.saturating_sub(1);
            }
            "crate" if follows(&tokens, at) => names_behind(&tokens[at + 2..], &mut found),
            "super" if at == 0 || tokens[at - 1] != "::" => {
                let (mut last, mut supers) = (at, 1);
                while follows(&tokens, last) && tokens.get(last + 2).is_some_and(|t| t == "super") {
                    (last, supers) = (last + 2, supers + 1);
                }
                if supers >= depth + inner.len() && follows(&tokens, last) {
                    names_behind(&tokens[last + 2..], &mut found);
                }
            }
            _ => {}
        }
    }
    found
}

fn follows(tokens: &[String], at: usize) -> bool {
    tokens.get(at + 1).is_some_and(|t| t == "::")
}

/// One name, or the names of the first level of a group.
fn names_behind(tokens: &[String], found: &mut BTreeSet<String>) {
    let Some(first) = tokens.first() else { return };
    if first != "{" {
        found.insert(first.clone());
        return;
    }
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            name if depth == 1 && is_name(name) && matches!(tokens[at - 1].as_str(), "{" | ",") => {
                found.insert(name.to_owned());
            }
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}

/// What is wrong with one file of a room: one sentence for each room that it may not use.
fn wrong(order: &[String], file: &Path, text: &str) -> Vec<String> {
    let parts: Vec<&str> = file.iter().filter_map(|part| part.to_str()).collect();
    let room = parts[0].trim_end_matches(".rs");
    let depth = parts.len() - usize::from(parts.len() > 1 && parts.ends_with(&["mod.rs"]));
    let place = |name: &str| order.iter().position(|listed| listed == name);
    let Some(here) = place(room) else {
        return vec![format!("src/{}: the table in src/lib.rs does not list the room `{room}`", file.display())];
    };
    let later = used(text, depth).into_iter().filter(|name| place(name).is_some_and(|there| there > here));
    later
        .map(|name| {
            format!("src/{}: imports `crate::{name}`, but the room `{room}` stands before `{name}`", file.display())
        })
        .collect()
}

/// Every source file below `src`, by its path there.
fn sources() -> Vec<PathBuf> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut files, mut folders) = (Vec::new(), vec![src.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path.strip_prefix(&src).unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}

/// A file without its inline tests, which may ask any room.
fn read(file: &Path) -> String {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file)).unwrap();
    text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default().to_owned()
}

#[test]
fn rooms_use_only_rooms_before_them() {
    let order = table(&read(Path::new("lib.rs")));
    assert!(order.len() > 10, "the table in src/lib.rs has changed its form: {order:?}");
    let files = sources();
    let rooms = files.iter().filter(|file| !matches!(file.to_str(), Some("lib.rs" | "main.rs")));
    let wrong: Vec<String> = rooms.clone().flat_map(|file| wrong(&order, file, &read(file))).collect();
    assert!(wrong.is_empty(), "the order of src/lib.rs is not kept:\n{}", wrong.join("\n"));
    for name in &order {
        let is_there = rooms.clone().any(|f| f.starts_with(name) || *f == Path::new(&format!("{name}.rs")));
        assert!(is_there, "the table in src/lib.rs lists `{name}`, which is not there");
    }
}

#[test]
fn an_import_of_a_later_room_is_found() {
    let order = table(
        "//! | room | what |\n//! | --- | --- |\n//! | [`low`], [`mid`] | words of [`high`] |\n//! | [`high`] | all |",
    );
    assert_eq!(order, ["low", "mid", "high"]);
    let say = |file: &str, text: &str| wrong(&order, Path::new(file), text).len();
    assert_eq!(
        wrong(&order, Path::new("mid/deep.rs"), "use crate::high::{Thing, low};"),
        ["src/mid/deep.rs: imports `crate::high`, but the room `mid` stands before `high`"]
    );
    assert_eq!(say("mid.rs", "use crate::{low::{a, high}, mid};\nuse super::low;"), 0);
    assert_eq!(say("mid.rs", "use crate::{\n    low::{a, b}, // first\n    high::{self},\n};"), 1);
    assert_eq!(say("low.rs", "fn f() -> crate::mid::T { crate::high::f() }"), 2);
    // Comments and texts are no imports; what stands behind them is one.
    assert_eq!(
        say(
            "low.rs",
            "/// [`crate::high`]\nconst A: &str = \"crate::high \\\" \"; const B: &str = r#\"crate::high\"#;"
        ),
        0
    );
    assert_eq!(say("low.rs", "const Q: char = '\"'; fn f<'a>() { crate::high::f() } const E: char = '\\'';"), 1);
    // The way up by `super` leads to the crate as well.
    assert_eq!((say("mid.rs", "use super::high;"), say("mid/mod.rs", "use super::high;")), (1, 1));
    assert_eq!((say("mid/a.rs", "use super::high;"), say("mid/a.rs", "use super::super::{high};")), (0, 1));
    assert_eq!(say("mid.rs", "mod tests { use super::high; } use super::low;"), 0);
}

#[test]
fn a_room_that_the_table_does_not_list_is_found() {
    let said = wrong(&["low".to_owned()], Path::new("attic/box.rs"), "");
    assert_eq!(said, ["src/attic/box.rs: the table in src/lib.rs does not list the room `attic`"]);
}

/// An agent's folder, its identity, the keys of its records and its home: only `agents/` may name them.
const OF_AGENTS: &[&str] = &[
    "agents::sid",
    "agents::claude",
    "agents::pi",
    "agents::SID",
    "agents::CLAUDE",
    "agents::PI",
    "agents::OPENCLAW",
    "\"parentUuid\"",
    "\"parentId\"",
    "\"toolCallId\"",
    "\"isSidechain\"",
    "\"leafUuid\"",
    "\".sid-code",
    "\".claude",
];

#[test]
fn only_agents_know_an_agent() {
    let outside = sources().into_iter().filter(|file| !file.starts_with("agents"));
    let named = outside.flat_map(|file| {
        let text = read(&file);
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        let names = OF_AGENTS.iter().filter(move |name| code.contains(**name));
        names.map(move |name| format!("src/{}: {name}", file.display())).collect::<Vec<_>>()
    });
    let named: Vec<String> = named.collect();
    assert!(named.is_empty(), "what belongs to an agent stands outside src/agents:\n{}", named.join("\n"));
}
