//! Manual pages: one for each command from its own declaration, one of all findings from the registry, one of the JSON
//! contract from its text. They are committed, and a test holds them to what is made here.
//!
//! The date is fixed, so that the pages are the same wherever they are made; it changes with the version.

mod findings;
mod markdown;

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};

use crate::agents;

/// The date on every page: when this version was made.
pub const DATE: &str = "2026-11-30";

/// The text of the JSON contract. Its headings are those of the page.
pub const CONTRACT: &str = include_str!("../json_contract.md");

const SOURCE: &str = concat!("sid-audit ", env!("CARGO_PKG_VERSION"));
const MANUAL: &str = "sid-audit";

/// A page with the name of its file.
#[derive(Debug)]
pub struct Page {
    /// Its file's name.
    pub name: String,
    /// Its text.
    pub text: Vec<u8>,
}

/// All pages. `program` is the declaration of the command line without what is hidden, `statuses` are the exit statuses
/// with their meaning.
///
/// # Errors
/// None in practice: pages are made in memory.
pub fn pages(program: &Command, statuses: &[(u8, &str)]) -> io::Result<Vec<Page>> {
    let mut program = program.clone().disable_help_subcommand(true);
    program.build();
    let mut pages = vec![command(&program, true, statuses)?];
    for sub in program.get_subcommands() {
        pages.push(command(sub, false, statuses)?);
    }
    pages.push(written("sid-audit-findings", "7", &findings::body()));
    pages.push(written("sid-audit-json", "5", &markdown::body(CONTRACT)));
    Ok(pages)
}

/// The page of a command.
fn command(command: &Command, first: bool, statuses: &[(u8, &str)]) -> io::Result<Page> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let man = Man::new(command.clone().after_long_help("").after_help(""))
        .title(name.to_uppercase())
        .date(DATE)
        .source(SOURCE)
        .manual(MANUAL);
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut text)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    let mut rest = Roff::new();
    if first {
        promise(&mut rest);
    }
    exit_status(&mut rest, statuses);
    if first {
        environment(&mut rest);
    }
    see_also(&mut rest, &name);
    rest.to_writer(&mut text)?;
    Ok(Page { name: format!("{name}.1"), text: tidied(&text) })
}

/// A page that is no command's.
fn written(name: &str, section: &str, body: &Roff) -> Page {
    let mut page = Roff::new();
    page.control("TH", [name.to_uppercase().as_str(), section, DATE, SOURCE, MANUAL]);
    let mut text = page.render().into_bytes();
    text.extend(body.render().into_bytes());
    let mut rest = Roff::new();
    see_also(&mut rest, name);
    text.extend(rest.render().into_bytes());
    Page { name: format!("{name}.{section}"), text: tidied(&text) }
}

/// What the tool stands for.
fn promise(page: &mut Roff) {
    page.control("SH", ["WHAT IT PROMISES"]);
    for text in [
        "An error is never found in a healthy store. What is merely odd is information.",
        "That nothing was found is no proof that nothing is wrong: only what is looked for can be found, and \
         sid-audit-findings(7) says what that is.",
        "Reading never changes a store. Only repair writes, through one door: it prints its plan first, keeps what it \
         takes out, and every repair can be taken back.",
        "No message text is printed unless --show-content asks for it: reports carry ids, places and sizes, and can be \
         shown in a log.",
    ] {
        page.control("PP", []);
        page.text([roman(text)]);
    }
}

fn exit_status(page: &mut Roff, statuses: &[(u8, &str)]) {
    page.control("SH", ["EXIT STATUS"]);
    for (number, meaning) in statuses {
        page.control("TP", []);
        page.text([bold(number.to_string())]);
        page.text([roman(*meaning)]);
    }
    page.control("PP", []);
    page.text([roman("Where several hold, the first of 130, 70, 2, 3 and 1 is given.")]);
}

fn environment(page: &mut Roff) {
    page.control("SH", ["ENVIRONMENT"]);
    let homes: Vec<&str> = agents::HOMES.iter().filter_map(|home| Some(home.default_home()?.variable)).collect();
    for (names, text) in [
        (&*homes.join(", "), "where the agents' homes lie, when not where they usually do"),
        ("XDG_STATE_HOME", "where the journal of repairs is kept, below it"),
        ("NO_COLOR, CLICOLOR_FORCE", "no colours; colours although no terminal is there"),
        ("COLUMNS", "the width of pages on a terminal"),
    ] {
        page.control("TP", []);
        page.text([bold(names)]);
        page.text([roman(text)]);
    }
}

/// The other pages, in the order of their sections.
fn see_also(page: &mut Roff, own: &str) {
    let all = [("sid-audit", "1"), ("sid-audit-explain", "1"), ("sid-audit-json", "5"), ("sid-audit-findings", "7")];
    let others: Vec<_> = all.into_iter().filter(|(name, _)| *name != own).collect();
    let mut line: Vec<Inline> = Vec::new();
    for (at, (name, section)) in others.iter().enumerate() {
        line.push(bold(*name));
        let comma = if at + 1 < others.len() { ", " } else { "" };
        line.push(roman(format!("({section}){comma}")));
    }
    page.control("SH", ["SEE ALSO"]);
    page.text(line);
}

/// What the generator puts once too often is taken out (the preamble before every section, empty lines and paragraphs),
/// and long lines are broken.
fn tidied(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let preamble: Vec<&str> = PREAMBLE.lines().collect();
    let mut out = String::from(PREAMBLE);
    let (mut before, mut literal) = ("", false);
    for line in text.lines().filter(|line| !preamble.contains(line)).map(str::trim_end) {
        literal = line == ".nf" || (literal && line != ".fi");
        // A paragraph begins by itself behind a heading, and begins once; so does a line.
        let begun = before == ".PP" || before.starts_with(".SH") || before.starts_with(".SS");
        if line.is_empty() || (line == ".PP" && begun) || (line == ".br" && before == ".br") {
            continue;
        }
        // What stands behind `.TP` is a term: one line, however long.
        match literal || line.starts_with('.') || before == ".TP" {
            true => out.push_str(line),
            false => out.push_str(&wrapped(line)),
        }
        out.push('\n');
        before = line;
    }
    out.into_bytes()
}

/// A line of text in lines as long as those who check pages like. None begins with what would make it a request.
fn wrapped(line: &str) -> String {
    const LONGEST: usize = 78;
    let mut out = String::with_capacity(line.len() + 8);
    let mut length = 0;
    // What is no ASCII is spelled out by some, `\[u2026]`, and counted so.
    let size = |word: &str| word.chars().map(|c| if c.is_ascii() { 1 } else { 8 }).sum::<usize>();
    for word in line.split(' ') {
        if length > 0 && length + 1 + size(word) > LONGEST {
            out.push('\n');
            length = 0;
            if word.starts_with(['.', '\'']) {
                out.push_str("\\&");
            }
        } else if length > 0 || !out.is_empty() {
            out.push(' ');
            length += 1;
        }
        out.push_str(word);
        length += size(word);
    }
    out
}

/// What the generator puts before every piece: apostrophes as they are typed.
const PREAMBLE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";
