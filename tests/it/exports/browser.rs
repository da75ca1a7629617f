//! A page in a real browser, headless: what it makes of it, as text.

use crate::support::temp::Temp;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A browser that is installed here.
pub(crate) struct Browser(PathBuf);

impl Browser {
    /// Finds one; without one the test prints that it is skipped.
    pub(crate) fn find() -> Option<Self> {
        let works = |name: &&str| {
            let run = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            run.is_ok_and(|status| status.success())
        };
        let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(works);
        if found.is_none() {
            println!("skipped: no Chromium is installed here");
        }
        found.map(|name| Browser(name.into()))
    }

    /// Opens a page and returns the document as it stands once it is loaded and its scripts have run.
    pub(crate) fn open(&self, page: &Path) -> String {
        let profile = Temp::new("profile");
        let mut command = Command::new(&self.0);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-sync",
        ]);
        command.args(["--disable-background-networking", "--disable-component-update", "--virtual-time-budget=10000"]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        command.arg("--dump-dom").arg(format!("file://{}", page.display()));
        let done = command.stderr(Stdio::null()).output().expect("the browser starts");
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(text.contains("</html>"), "the browser showed nothing of {}: {text}", page.display());
        text
    }
}
