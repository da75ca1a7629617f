//! The pages: complete in themselves, readable without scripts, and nothing that a session holds becomes anything but
//! text in them. The last is proven twice, by the escaping with the policy taken away and by the policy with the escaping
//! taken away.

use super::browser::Browser;
use super::{planted, run};
use crate::support::claude::home::write_home;
use crate::support::run::fixtures;
use crate::support::temp::{Temp, write};
use std::path::{Path, PathBuf};

/// Takes the policy out of a page.
fn without_policy(page: &str) -> String {
    let start = page.find("<meta http-equiv=\"Content-Security-Policy\"").expect("a policy");
    let end = start + page[start..].find('>').expect("its end") + 1;
    format!("{}{}", &page[..start], &page[end..])
}

/// Puts something into the page, as if the escaping had failed.
fn with(page: &str, markup: &str) -> String {
    page.replacen("<main id=\"main\">", &format!("<main id=\"main\">{markup}"), 1)
}

/// Whether a script has marked the document: its first tag bears what scripts write there. (The page's text has the same
/// words, because they were planted.)
fn marked(shown: &str, mark: &str) -> bool {
    let start = shown.find("<html").expect("a document");
    shown[start..].split('>').next().is_some_and(|tag| tag.contains(mark))
}

/// Pages of the planted stores: the scan, the figures, and the chain of every session.
fn planted_pages() -> (Temp, Vec<PathBuf>) {
    let (home, sessions) = planted::stores();
    let out = Temp::new("pages");
    let mut pages = Vec::new();
    let whole = ["scan", "metrics"].map(|command| (command, home.path())).into_iter();
    for (n, (command, target)) in whole.chain(sessions.iter().map(|path| ("chain", path.as_path()))).enumerate() {
        let outcome = run(command, "html", target).go();
        assert!(
            matches!(outcome.status, Some(0 | 1)),
            "{:?} {}",
            outcome.status,
            String::from_utf8_lossy(&outcome.stderr)
        );
        pages.push(out.join(format!("{n}.html")));
        write(&pages[n], outcome.stdout);
    }
    (out, pages)
}

/// What every page must hold to, as far as its text tells.
fn assert_contained(page: &str) {
    assert_eq!(page.matches("<script").count(), 1, "one script, ours");
    assert_eq!(page.matches("<style").count(), 1, "one style sheet, ours");
    for never in
        ["<planted-x", "<img", "<iframe", "<link", "<object", "<embed", "<base", "<form action", " src=\"", " style=\""]
    {
        assert!(!page.contains(never), "{never}");
    }
    for (at, href) in page.match_indices(" href=\"") {
        assert!(page[at + href.len()..].starts_with('#'), "{}", &page[at..at + 60]);
    }
    let active = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{2028}\u{feff}\u{200b}".contains(c));
    assert!(!page.chars().any(active), "an active character");
}

#[test]
fn pages_load_nothing_and_hold_what_was_planted_as_text() {
    let (_out, pages) = planted_pages();
    for path in &pages {
        let page = std::fs::read_to_string(path).unwrap();
        assert_contained(&page);
        assert!(page.contains("&lt;planted-x"), "{} shows nothing of what was planted", path.display());
    }
    for (command, target) in [("scan", fixtures("demo")), ("scan", fixtures("cases")), ("metrics", fixtures("demo"))] {
        assert_contained(&run(command, "html", &target).go().text());
    }
}

/// Says on the page what is on it that must not be.
const LOOK: &str = "<script>addEventListener('load', () => { const all = [...document.querySelectorAll('*')];\
    const odd = all.filter((e) => e.localName === 'planted-x' || ['img','iframe','object','embed','base'].includes(e.localName)\
    || [...e.attributes].some((a) => a.name.startsWith('on')) || (e.getAttribute('href') || '#')[0] !== '#');\
    document.documentElement.setAttribute('data-odd', odd.length);\
    document.documentElement.setAttribute('data-scripts', document.scripts.length); })</script>";

#[test]
fn nothing_that_was_planted_runs() {
    let Some(browser) = Browser::find() else { return };
    let (out, pages) = planted_pages();
    for path in &pages {
        let page = std::fs::read_to_string(path).unwrap();
        // As it is: with the policy, our script runs and nothing else does.
        let shown = browser.open(path);
        assert!(!marked(&shown, "data-ran"), "{} ran what was planted", path.display());
        assert!(shown.contains(if page.contains("id=\"list\"") { "aria-live=\"polite\"" } else { "tabindex=\"-1\"" }));
        // The escaping alone: without the policy there is still nothing that could run.
        let bare = out.join("bare.html");
        write(&bare, with(&without_policy(&page), LOOK));
        let shown = browser.open(&bare);
        assert!(!marked(&shown, "data-ran"), "{} needs its policy", path.display());
        assert!(marked(&shown, "data-odd=\"0\""), "{} has an element or attribute that was planted", path.display());
        assert!(marked(&shown, "data-scripts=\"2\""), "ours, and the one that looks");
    }
}

#[test]
fn the_policy_alone_stops_what_was_planted() {
    let Some(browser) = Browser::find() else { return };
    let out = Temp::new("policy");
    let page = run("scan", "html", &fixtures("demo")).go().text();
    let path = out.join("page.html");
    write(&path, with(&page, planted::PLANTED));
    let shown = browser.open(&path);
    assert!(shown.contains("<planted-x"), "it was put there");
    assert!(!marked(&shown, "data-ran"), "the policy let something run");
    // And without it, it runs: so what is looked for above could have been seen.
    write(&path, with(&without_policy(&page), planted::PLANTED));
    assert!(marked(&browser.open(&path), "data-ran"), "nothing runs here at all, so this proves nothing");
}

#[test]
fn without_scripts_everything_is_there() {
    let Some(browser) = Browser::find() else { return };
    let out = Temp::new("plain");
    let path = out.join("page.html");
    let report = run("scan", "json", &fixtures("demo")).go().json();
    // As a reader who forbids scripts has it. (The browser's own switch also stops what writes the document out here.)
    let page = run("scan", "html", &fixtures("demo")).go().text();
    let allowed = page.find("script-src '").expect("a policy") + "script-src ".len();
    let end = allowed + page[allowed..].find(';').expect("its end");
    write(&path, format!("{}'none'{}", &page[..allowed], &page[end..]));
    let shown = browser.open(&path);
    assert!(shown.contains("role=\"search\" hidden=\"\""), "what only a script can do is not offered");
    for session in report["sessions"].as_array().unwrap() {
        let name = Path::new(session["path"].as_str().unwrap()).file_name().unwrap().to_str().unwrap();
        assert!(shown.contains(name), "{name}");
        for finding in session["findings"].as_array().unwrap() {
            assert!(shown.contains(finding["code"].as_str().unwrap()));
        }
    }
}

#[test]
fn a_store_of_a_thousand_sessions_opens() {
    const LOADED: &str =
        "<script>addEventListener('load', () => document.documentElement.setAttribute('data-loaded', 'yes'))</script>";
    let Some(browser) = Browser::find() else { return };
    let home = Temp::new("thousand");
    for path in write_home(&home.join("claude"), 1000, 3) {
        // Half of them are damaged, so that there is something to show.
        let mut bytes = std::fs::read(&path).unwrap();
        if bytes.len() % 2 == 0 {
            bytes.truncate(bytes.len() - bytes.len() / 4);
            std::fs::write(&path, bytes).unwrap();
        }
    }
    let page = run("scan", "html", &home.join("claude")).go().text();
    assert!(page.matches("<tbody id=\"s").count() >= 1000);
    assert!(page.len() < 4 << 20, "{} bytes", page.len());
    let path = home.join("page.html");
    write(&path, with(&without_policy(&page), LOADED));
    assert!(browser.open(&path).contains("data-loaded=\"yes\""));
}

#[test]
fn a_long_session_is_a_short_page() {
    let home = Temp::new("long");
    let path = home.join("projects/-home-demo/5e550000-0000-4000-8000-000000000001.jsonl");
    let id = |n: usize| format!("{n:08x}-0000-4000-8000-000000000000");
    let mut lines = String::new();
    for n in 0..30_000 {
        // Everything that a drawing would rather not fold: breaks, branches, damage, all over the file.
        let parent = match n % 7 {
            0 => "null".to_owned(),
            3 => "\"gone\"".to_owned(),
            5 => format!("\"{}\"", id(n / 2)),
            _ => format!("\"{}\"", id(n - 1)),
        };
        if n % 11 == 0 {
            lines += "{\"type\":\n";
        }
        lines += &format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":{},\"type\":\"user\",\"uuid\":\"{}\",\"sessionId\":\"s\",\
             \"timestamp\":\"2026-03-01T00:{:02}:{:02}.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}\n",
            n % 5 == 0,
            id(n),
            n / 60 % 60,
            n % 60
        );
    }
    write(&path, lines);
    let page = run("chain", "html", &path).args(["--agent", "claude"]).go().text();
    let marks = page.matches("<g class=\"row\"").count();
    assert!((100..=600).contains(&marks), "{marks} marks");
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("stand for several records each"));
}

/// A stock and a flow have no shape, no axis and no drawing in common, and both say the numbers of the JSON.
#[test]
fn stock_and_flow_cannot_be_confused() {
    let demo = fixtures("demo");
    let page = run("metrics", "html", &demo).go().text();
    let report = run("metrics", "json", &demo).go().json();
    let drawings: Vec<&str> =
        page.split("<svg").skip(1).filter_map(|rest| rest.split_once("</svg>")).map(|d| d.0).collect();
    let plots: Vec<&&str> = drawings.iter().filter(|drawing| drawing.contains("class=\"axis\"")).collect();
    assert_eq!(plots.len(), 4, "sizes, contexts, models, sessions");
    for plot in plots {
        let (dots, bars) = (plot.contains("<circle class=\"stock\""), plot.contains("<rect class=\"flow "));
        assert!(dots != bars, "one or the other");
        assert_eq!(bars, plot.contains("that went through"), "the axis of a flow says so, and no other");
        assert_eq!(dots, plot.contains("bytes on the disk") || plot.contains("in the context window"));
    }
    let number = |n: &serde_json::Value| sid_audit::report::format::number(n.as_u64().unwrap());
    let sessions: Vec<_> = report["usage"].as_array().unwrap().iter().filter(|row| row["path"].is_string()).collect();
    assert!(sessions.len() > 5);
    for row in sessions {
        let (flow, context) = (&row["flow"], &row["stock"]["last_prompt"]);
        let said = format!("{} in, {} out", number(&flow["prompt"]), number(&flow["output"]));
        assert!(page.contains(&said), "{said} of {row}");
        assert!(context.is_null() || page.contains(&format!("token{} there", if context == 1 { "" } else { "s" })));
        assert!(context.is_null() || page.contains(&format!("{} token", number(context))), "{context}");
    }
}
