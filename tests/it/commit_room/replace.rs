//! One file, one repair: what changes, what stays, what is refused, in which order the disk is told.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};

use sid_audit::commit::manifest::State;
use sid_audit::commit::{Error, Fingerprint, Options, Refusal, Request, Run, Sha, Splice, replace};

use super::support::*;

#[test]
fn bytes_change_and_everything_else_stays() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let file = File::open(&path).unwrap();
    rustix::fs::fsetxattr(&file, "user.note", b"a\0b", rustix::fs::XattrFlags::empty()).unwrap();
    if root() {
        std::os::unix::fs::chown(&path, Some(1234), Some(4321)).unwrap();
    }
    let (before, inode) = (dress(&path), fs::metadata(&path).unwrap().ino());
    let out = repair(&house, &path).unwrap();

    assert_eq!(fs::read(&path).unwrap(), NEW);
    assert_eq!(dress(&path), before);
    let mut value = [0; 16];
    let n = rustix::fs::getxattr(&path, "user.note", &mut value[..]).unwrap();
    assert_eq!(&value[..n], b"a\0b");
    assert_eq!((out.before.sha256, out.after.sha256), (Sha::of(OLD), Sha::of(NEW)));
    assert!(out.unmerged.is_empty() && out.merged.is_none() && out.warnings.is_empty(), "{out:?}");

    // The old file itself is beside it, under a name that no agent lists.
    assert_eq!(fs::metadata(&out.kept).unwrap().ino(), inode);
    assert_eq!(fs::read(&out.kept).unwrap(), OLD);
    assert_eq!(house.beside(), [out.kept.file_name().unwrap().to_str().unwrap()]);
    assert!(out.kept.extension().is_none_or(|e| e != "json" && e != "jsonl"));
}

#[test]
fn the_journal_tells_everything_and_nobody_else_can_read_it() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let out = repair(&house, &path).unwrap();
    let runs = house.journal().list().unwrap();
    let entry = &runs[0].entries[0];
    assert_eq!((entry.id.clone(), entry.manifest.state), (out.id, State::Verified));
    assert_eq!(entry.manifest.path.to_path(), fs::canonicalize(&path).unwrap());
    assert_eq!((entry.manifest.stat.mode, entry.manifest.codes.clone()), (0o600, vec!["L101".to_owned()]));
    assert_eq!(entry.kept[0].path, out.kept);
    assert_eq!(entry.autopsy().unwrap().unwrap()["records"][0]["line"], 1);
    let quarantined = &entry.manifest.quarantine[0];
    assert_eq!(fs::read(entry.folder.join(&quarantined.file)).unwrap(), b"{\"torn\":");
    assert_eq!((quarantined.line, quarantined.offset, quarantined.sha256), (2, 8, Sha::of(b"{\"torn\":")));

    let mut pending = vec![house.journal().root().to_owned()];
    while let Some(path) = pending.pop() {
        let meta = fs::metadata(&path).unwrap();
        assert_eq!(meta.permissions().mode() & 0o077, 0, "{path:?}");
        if meta.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        }
    }
}

/// Refuses for the reason that `is` names, and leaves store and journal as they were.
fn refused(house: &House, path: &std::path::Path, request: &Request<'_>, options: &Options, is: fn(&Refusal) -> bool) {
    let before = (fs::read(path).unwrap(), fs::metadata(path).unwrap().ino());
    let lock = house.lock();
    let error = replace(request, &mut Run::begin(&lock, "test"), options).unwrap_err();
    assert!(matches!(&error, Error::Refused(r) if is(r)), "{error}");
    assert!(error.is_refusal() && error.hint().is_some(), "{error}");
    assert_eq!(before, (fs::read(path).unwrap(), fs::metadata(path).unwrap().ino()));
    assert!(house.beside().is_empty(), "{:?}", house.beside());
    assert!(house.journal().list().unwrap().is_empty());
}

#[test]
fn a_proof_that_fails_is_reported_and_nothing_is_left() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    with_request(&path, &splices(), |request| {
        let disagree = |proof: &sid_audit::commit::Proof<'_>| {
            assert_eq!(fs::read(proof.bytes).unwrap(), NEW);
            Err(vec!["C203 at line 2".to_owned()])
        };
        let request = Request { verify: &disagree, ..*request };
        refused(
            &house,
            &path,
            &request,
            &quick(),
            |r| matches!(r, Refusal::ProofFailed { found, .. } if found.len() == 1),
        );
    });
}

#[test]
fn a_file_that_is_not_the_planned_one_is_refused() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let changed = |r: &Refusal| matches!(r, Refusal::Changed { .. });
    with_request(&path, &splices(), |request| {
        let sha = Fingerprint { sha256: Sha::of(b"else"), ..*request.expected };
        refused(&house, &path, &Request { expected: &sha, ..*request }, &quick(), changed);
        let time = Fingerprint { mtime_ns: request.expected.mtime_ns + 1, ..*request.expected };
        refused(&house, &path, &Request { expected: &time, ..*request }, &quick(), changed);
        append(&path, b"{\"n\":4}\n");
        refused(&house, &path, request, &quick(), changed);
    });
}

#[test]
fn links_and_folders_are_not_followed_out_of_the_store() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let outside = house.root.join("outside");
    fs::create_dir(&outside).unwrap();
    fs::copy(&path, outside.join("o.jsonl")).unwrap();
    symlink(&outside, house.store().join("way-out")).unwrap();
    symlink(&path, house.store().join("link.jsonl")).unwrap();

    let link = house.store().join("link.jsonl");
    with_request(&path, &splices(), |request| {
        let request = Request { path: &link, ..*request };
        refused(&house, &path, &request, &quick(), |r| matches!(r, Refusal::NotPlainFile { .. }));
        let folder = house.store();
        refused(&house, &path, &Request { path: &folder, ..request }, &quick(), |r| {
            matches!(r, Refusal::NotPlainFile { .. })
        });
    });
    let through = house.store().join("way-out/o.jsonl");
    let store = house.store();
    with_request(&through, &splices(), |request| {
        let request = Request { within: Some(&store), ..*request };
        refused(&house, &through, &request, &quick(), |r| matches!(r, Refusal::LinkLeavesStore { .. }));
    });
}

#[test]
fn a_file_that_another_process_has_open_is_refused() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let mut other = Command::new("sleep").arg("60").stdin(Stdio::from(File::open(&path).unwrap())).spawn().unwrap();
    with_request(&path, &splices(), |request| {
        let options = Options { guard: true, ..quick() };
        let lock = house.lock();
        let error = replace(request, &mut Run::begin(&lock, "test"), &options).unwrap_err();
        let pid = other.id();
        assert!(matches!(error, Error::Refused(Refusal::InUse { ref pids, .. }) if pids.contains(&pid)), "{error}");
        assert!(error.to_string().contains(&pid.to_string()));
    });
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn plans_that_make_no_sense_are_errors() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let lock = house.lock();
    let mut run = Run::begin(&lock, "test");
    let beyond = [Splice { offset: 30, removed: 30, inserted: Vec::new() }];
    assert!(matches!(repair_with(&mut run, &path, &beyond, &quick()), Err(Error::Plan { .. })));
    let nothing = [Splice { offset: 0, removed: 1, inserted: b"{".to_vec() }];
    assert!(matches!(repair_with(&mut run, &path, &nothing, &quick()), Err(Error::NoChange { .. })));
    assert!(house.beside().is_empty() && house.journal().list().unwrap().is_empty());
}

/// A folder's default access list reaches every new file in it; the old one was there before.
#[test]
#[cfg(target_os = "linux")]
fn nobody_else_gets_access_through_the_folder() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let entry = |tag: u16, perm: u16, id: u32| {
        [&tag.to_le_bytes()[..], &perm.to_le_bytes()[..], &id.to_le_bytes()[..]].concat()
    };
    let nobody = u32::MAX;
    let list = [
        2_u32.to_le_bytes().to_vec(),
        entry(1, 7, nobody),
        entry(2, 7, 1234),
        entry(4, 5, nobody),
        entry(16, 7, nobody),
        entry(32, 5, nobody),
    ];
    let flags = rustix::fs::XattrFlags::empty();
    if rustix::fs::setxattr(house.store(), "system.posix_acl_default", &list.concat(), flags).is_err() {
        println!("skipped: no access lists here");
        return;
    }
    repair(&house, &path).unwrap();
    let mut value = [0; 64];
    assert!(rustix::fs::getxattr(&path, "system.posix_acl_access", &mut value[..]).is_err());
    assert_eq!(dress(&path).0, 0o640);
}

#[test]
fn hard_links_are_a_warning_and_keep_the_original() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    fs::hard_link(&path, house.root.join("other")).unwrap();
    let out = repair(&house, &path).unwrap();
    assert_eq!(out.warnings.len(), 1, "{out:?}");
    assert_eq!(fs::read(house.root.join("other")).unwrap(), OLD);
}

#[test]
fn the_second_of_two_repairs_refuses() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let lock = house.lock();
    assert!(matches!(repair(&house, &path), Err(Error::Refused(Refusal::Busy { .. }))));
    let output = child("replace::busy_child", "busy", &house).output().unwrap();
    must_succeed(&output);
    drop(lock);
    repair(&house, &path).unwrap();
}

#[test]
fn busy_child() {
    let Some((_, house)) = task() else { return };
    let error = repair(&house, &house.store().join("s.jsonl")).unwrap_err();
    assert!(matches!(error, Error::Refused(Refusal::Busy { .. })), "{error}");
}

/// As another user, where we may: the folder is closed to that user, or the owner cannot be kept.
#[test]
fn what_a_stranger_may_not_keep_is_refused() {
    if !root() {
        println!("skipped: only root can become another user");
        return;
    }
    use std::os::unix::process::CommandExt;
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let open = |path: &std::path::Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open(&path, 0o644);
    open(&house.root, 0o777);
    let check = |what: &str| {
        let mut command = child("replace::stranger_child", what, &house);
        must_succeed(&command.uid(65_534).gid(65_534).output().unwrap());
        assert_eq!(fs::read(&path).unwrap(), OLD);
        assert!(house.beside().is_empty());
    };
    check("read-only");
    open(&house.store(), 0o777);
    check("owner");
}

#[test]
fn stranger_child() {
    let Some((task, house)) = task() else { return };
    let error = repair(&house, &house.store().join("s.jsonl")).unwrap_err();
    let expected = match &error {
        Error::Refused(Refusal::ReadOnly { folder }) => task == "read-only" && *folder == house.store(),
        Error::Refused(Refusal::Metadata { what, .. }) => task == "owner" && what.contains("owner"),
        _ => false,
    };
    assert!(expected, "{error}");
    assert!(error.hint().is_some());
}

/// fsync(new file) < exchange < fsync(folder), as the kernel saw it.
#[test]
fn the_disk_is_told_in_order() {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("skipped: no strace here");
        return;
    }
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let trace = house.root.join("trace");
    let plain = child("replace::order_child", "order", &house);
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-e", "trace=fsync,rename,renameat,renameat2,write,openat"]).arg("-o").arg(&trace);
    command.arg(plain.get_program()).args(plain.get_args()).env(CHILD, "order").env("COMMIT_HOUSE", &house.root);
    let output = command.output().unwrap();
    if !output.status.success() && fs::read(&trace).map_or(0, |t| t.len()) == 0 {
        println!("skipped: strace may not trace here");
        return;
    }
    must_succeed(&output);
    assert_eq!(fs::read(&path).unwrap(), NEW);
    let trace = fs::read_to_string(&trace).unwrap();
    let store = fs::canonicalize(house.store()).unwrap();
    let (store, state) = (store.to_str().unwrap(), house.journal().root().to_str().unwrap().to_owned());
    let lines: Vec<&str> = trace.lines().collect();
    let find = |what: &str, with: &str, after: usize| {
        let hit = lines.iter().enumerate().skip(after).find(|(_, l)| l.contains(what) && l.contains(with));
        hit.unwrap_or_else(|| panic!("{what} {with} after {after} in\n{trace}")).0
    };
    let manifest = find("rename", "/0001>, \"manifest.json.new\"", 0);
    let entry = find("fsync(", "/0001>", manifest);
    let runs = find("fsync(", &format!("{state}/runs>"), entry);
    let created = find("openat(", &format!("{store}>, \".sid-audit-"), 0);
    assert!(runs < created, "the session's folder was touched before the journal was on disk");
    let temp = find("fsync(", &format!("{store}/.sid-audit-"), created);
    let exchange = find("renameat2(", "RENAME_EXCHANGE", temp);
    let folder = find("fsync(", &format!("{store}>"), exchange);
    find("fsync(", "/0001>", folder);
    let all = |what: &str| lines.iter().filter(|l| l.contains(what)).count();
    assert_eq!(all("RENAME_EXCHANGE"), 1);
    let last_write = lines.iter().rposition(|l| l.contains("write(") && l.contains(".sid-audit-")).unwrap();
    assert!(last_write < temp, "a write behind the sync");
}

#[test]
fn order_child() {
    let Some((_, house)) = task() else { return };
    repair(&house, &house.store().join("s.jsonl")).unwrap();
}

/// A large file: memory is that of a few buffers, there and back.
#[test]
fn memory_does_not_grow_with_the_file() {
    large(96);
}

/// The size that the design names. Some 20 seconds in a debug build.
#[test]
#[ignore = "writes 2 GB"]
fn memory_does_not_grow_with_600_mb() {
    large(600);
}

fn large(megabytes: usize) {
    let house = House::new();
    let path = house.session("large.jsonl", OLD);
    let line = [b"{\"x\":\"", &vec![b'x'; 1 << 20][..], b"\"}\n"].concat();
    for _ in 0..megabytes {
        append(&path, &line);
    }
    let before = Fingerprint::take(&path).unwrap();
    let output = child("replace::large_child", "large", &house).output().unwrap();
    must_succeed(&output);
    assert_eq!(Fingerprint::take(&path).unwrap().sha256, before.sha256);
}

#[test]
fn large_child() {
    let Some((_, house)) = task() else { return };
    let path = house.store().join("large.jsonl");
    let sha = Fingerprint::take(&path).unwrap().sha256;
    let id = repair(&house, &path).unwrap().id;
    assert_ne!(Fingerprint::take(&path).unwrap().sha256, sha);
    let undo = sid_audit::commit::Undo { id: &id.run, only: None, appended: false, verify: &agree };
    house.lock().undo(&undo, &quick()).unwrap();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).map(|l| l.trim().trim_end_matches(" kB"));
    if let Some(peak) = peak.and_then(|p| p.parse::<u64>().ok()) {
        assert!(peak < 40 * 1024, "peak {peak} kB");
    }
}
