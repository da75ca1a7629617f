//! Prints what is wrong with the sessions of a folder: `cargo run --example findings -- FOLDER`.

#![allow(clippy::disallowed_macros, reason = "an example prints")]

use std::path::PathBuf;

fn main() {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let scan = sid_audit::scan(&paths, &sid_audit::Options::default());
    for session in &scan.sessions {
        let file = &scan.discovery.files[session.file as usize];
        for finding in session.findings() {
            let line = finding.place.line.map_or(String::new(), |line| format!(":{line}"));
            println!("{}{line}: {} {}", scan.discovery.path(file).display(), finding.rule.code, finding.rule.name);
        }
    }
    for (path, error) in &scan.errors {
        println!("{}: {error}", path.display());
    }
}
