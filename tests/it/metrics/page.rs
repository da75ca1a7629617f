//! The page for people: what it says, and that it fits.

use unicode_width::UnicodeWidthStr;

use super::home::home;
use super::run;
use crate::support::run::fixtures;

#[test]
fn it_fits_a_page_of_eighty_columns() {
    let (_temp, home) = home(false);
    for (path, more) in [(home, "--cross-check"), (fixtures("demo"), "--verbose")] {
        for command in ["metrics", "fields"] {
            let more = if command == "fields" { "--verbose" } else { more };
            let page = run(command, &[more], &path).go();
            assert_eq!(page.status, Some(0));
            // A path that a line begins with is never cut: it is to be copied.
            let text = page.text();
            let wide = text.lines().filter(|line| line.width() > 80 && !line.contains('/'));
            assert_eq!(wide.collect::<Vec<_>>(), Vec::<&str>::new(), "{command}");
        }
    }
}

#[test]
fn it_says_what_it_counts() {
    let (_temp, home) = home(false);
    let page = run("metrics", &["--cross-check"], &home).go().text();
    for line in [
        "2 session files, 17 records",
        "  one start record a file   2 of 2",
        "  user records  6: 3 typed, 3 tool results",
        "  tool results  1 in 2 records, 2 in 1 record",
        "  end marks     1 of 2 sessions, the last line of 1",
        "CONTEXT is a stock",
        "input includes cached tokens: glm-5.2",
        "  JavaScript, as the agents       17        0      3        3",
        "  strict, file by file            13        1      2        2",
        "1 checkpoint index, 1 snapshot",
        "all the same",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
    // No message text, and nothing of what stands in a tool's result.
    assert!(!page.contains("of a file"), "{page}");
}
