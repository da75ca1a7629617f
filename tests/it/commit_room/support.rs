//! A store and a journal in a folder of their own, and the plainest repair of all.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use sid_audit::agents::registry;
use sid_audit::commit::{Error, Fingerprint, Journal, Locked, Options, Outcome, Proof, Request, Run, Splice};
use sid_audit::repair::plan::Fragment;

/// A store and a state folder, gone when dropped.
pub(crate) struct House {
    pub(crate) root: PathBuf,
}

static COUNT: AtomicU32 = AtomicU32::new(0);

impl House {
    pub(crate) fn new() -> Self {
        House::below(&std::env::temp_dir())
    }

    /// In memory where there is such a place: syncing costs nothing, so that races are close.
    pub(crate) fn fast() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { House::below(memory) } else { House::new() }
    }

    fn below(folder: &Path) -> Self {
        let n = COUNT.fetch_add(1, Ordering::SeqCst);
        let root = folder.join(format!("sid-audit-commit-{}-{n}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("store")).unwrap();
        House { root }
    }

    /// The house that another process has made.
    pub(crate) fn at(root: PathBuf) -> Self {
        House { root }
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.root.join("store")
    }

    pub(crate) fn journal(&self) -> Journal {
        Journal::at(self.root.join("state/sid-audit"))
    }

    pub(crate) fn lock(&self) -> Locked {
        self.journal().lock().unwrap()
    }

    /// A session file with mode 0600 and a time in the past, to the nanosecond.
    pub(crate) fn session(&self, name: &str, bytes: &[u8]) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.store().join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        File::options().write(true).open(&path).unwrap().set_times(past()).unwrap();
        path
    }

    /// The names in the store that are no session.
    pub(crate) fn beside(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.store())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .filter(|n| n.starts_with(".sid-audit-"))
            .collect();
        names.sort();
        names
    }
}

impl Drop for House {
    fn drop(&mut self) {
        if std::env::var_os(CHILD).is_none() {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

/// 2026-01-02 and some nanoseconds.
pub(crate) fn past() -> fs::FileTimes {
    let time = SystemTime::UNIX_EPOCH + Duration::new(1_767_312_000, 123_456_789);
    fs::FileTimes::new().set_modified(time).set_accessed(time + Duration::from_nanos(1))
}

pub(crate) const OLD: &[u8] = b"{\"n\":1}\n{\"torn\":\n{\"n\":2}\n{\"n\":3}\n";
pub(crate) const NEW: &[u8] = b"{\"n\":1}\n{\"n\":3}\n{\"n\":2}\n";

/// Takes the torn second line out and puts the last line before the third: [`OLD`] becomes [`NEW`].
pub(crate) fn splices() -> Vec<Splice> {
    vec![
        Splice { offset: 8, removed: 9, inserted: b"{\"n\":3}\n".to_vec() },
        Splice { offset: 25, removed: 8, inserted: Vec::new() },
    ]
}

pub(crate) fn fragment() -> Vec<Fragment> {
    vec![Fragment { line: 2, offset: 8, length: 8, rule: registry::find("L101").unwrap() }]
}

pub(crate) fn quick() -> Options {
    Options { settle: Duration::from_millis(2), guard: false, ..Options::default() }
}

pub(crate) fn agree(_: &Proof<'_>) -> Result<(), Vec<String>> {
    Ok(())
}

/// Repairs `path` with [`splices`] in a run of its own.
pub(crate) fn repair(house: &House, path: &Path) -> Result<Outcome, Error> {
    let lock = house.journal().lock()?;
    repair_with(&mut Run::begin(&lock, "test"), path, &splices(), &quick())
}

pub(crate) fn repair_with(
    run: &mut Run<'_>,
    path: &Path,
    splices: &[Splice],
    options: &Options,
) -> Result<Outcome, Error> {
    with_request(path, splices, |request| sid_audit::commit::replace(request, run, options))
}

pub(crate) fn with_request<T>(path: &Path, splices: &[Splice], then: impl FnOnce(&Request<'_>) -> T) -> T {
    let expected = Fingerprint::take(path).unwrap();
    let (codes, fragments) = (vec!["L101".to_owned()], fragment());
    let quarantine = if expected.len >= 16 { &fragments[..] } else { &[] };
    let autopsy = serde_json::json!({"records": [{"line": 1}]});
    then(&Request {
        path,
        within: None,
        expected: &expected,
        splices,
        codes: &codes,
        text: "a torn line leaves",
        quarantine,
        autopsy: Some(&autopsy),
        verify: &agree,
    })
}

/// What a file is beside its bytes: mode, owner, mtime.
pub(crate) fn dress(path: &Path) -> (u32, u32, u32, i64, i64) {
    let meta = fs::metadata(path).unwrap();
    (meta.mode() & 0o7777, meta.uid(), meta.gid(), meta.mtime(), meta.mtime_nsec())
}

pub(crate) fn append(path: &Path, bytes: &[u8]) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

pub(crate) const CHILD: &str = "COMMIT_CHILD";

/// This program again, with one test chosen that finds in `CHILD` what it is to do.
pub(crate) fn child(test: &str, task: &str, house: &House) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("commit_room::{test}"), "--nocapture", "--test-threads=1"]);
    command.env(CHILD, task).env("COMMIT_HOUSE", &house.root);
    for name in ["SID_AUDIT_CRASH_AT", "SID_AUDIT_FAIL_AT", "SID_AUDIT_STEPS"] {
        command.env_remove(name);
    }
    command
}

/// What a child is to do, and where; none in the parent.
pub(crate) fn task() -> Option<(String, House)> {
    let task = std::env::var(CHILD).ok()?;
    Some((task, House::at(std::env::var_os("COMMIT_HOUSE")?.into())))
}

pub(crate) fn must_succeed(output: &Output) {
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
}

pub(crate) fn root() -> bool {
    rustix::process::geteuid().is_root()
}
