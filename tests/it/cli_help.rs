//! Help pages at 80 columns, compared with what is kept in `tests/data/help/`. `SID_AUDIT_RECORD=1` writes them anew;
//! the difference is for a person to read.

use crate::support;
use std::fs;
use std::path::Path;
use support::run::Run;

#[test]
fn every_page_is_as_it_was_recorded() {
    let record = std::env::var_os("SID_AUDIT_RECORD").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/help");
    let command = sid_audit::cli::command();
    let mut pages = vec![("sid-audit".to_owned(), vec!["--help"])];
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        pages.push((format!("sid-audit-{}", sub.get_name()), vec![sub.get_name(), "--help"]));
    }
    let mut different = Vec::new();
    for (name, args) in pages {
        let page = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).args(&args).go().text();
        for line in page.lines() {
            assert!(line.chars().count() <= 80, "{name}: {line}");
        }
        assert!(page.contains("Exit status:"), "{name}");
        let file = folder.join(format!("{name}.txt"));
        if record {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&file, &page).unwrap();
        } else if fs::read_to_string(&file).ok().as_deref() != Some(page.as_str()) {
            different.push(name);
        }
    }
    assert!(different.is_empty(), "{different:?} differ; SID_AUDIT_RECORD=1 cargo nextest run cli_help:: records");
}
