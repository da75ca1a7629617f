//! What goes and what stays: kept files, old entries; and files written for the user.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use sid_audit::agents;
use sid_audit::commit::gc::{CAP, Stays, Swept};
use sid_audit::commit::{Error, Run, Splice, Undo, output};

use super::support::*;

fn in_hours(hours: u64) -> SystemTime {
    SystemTime::now() + Duration::from_secs(hours * 3600)
}

fn stays(swept: &Swept) -> Vec<Stays> {
    swept.remaining.iter().map(|r| r.why.clone()).collect()
}

#[test]
fn a_kept_file_goes_after_a_day_of_silence() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let kept = repair(&house, &path).unwrap().kept;
    let lock = house.lock();
    assert_eq!(stays(&lock.sweep(in_hours(23), false).unwrap()), [Stays::Young]);
    let swept = lock.sweep(in_hours(25), false).unwrap();
    assert_eq!((swept.removed, swept.remaining.len()), (vec![kept.clone()], 0));
    assert!(!kept.exists());
    assert_eq!(fs::read(&path).unwrap(), NEW);
    let swept = lock.sweep(in_hours(25), false).unwrap();
    assert!(swept.removed.is_empty() && swept.remaining.is_empty());
    // Undo does not need it.
    let id = house.journal().list().unwrap()[0].id.clone();
    lock.undo(&Undo { id: &id, only: None, appended: false, verify: &agree }, &quick()).unwrap();
    assert_eq!(fs::read(&path).unwrap(), OLD);
}

#[test]
fn a_kept_file_stays_while_it_is_needed() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let kept = repair(&house, &path).unwrap().kept;
    let lock = house.lock();
    let mut other = Command::new("sleep").arg("60").stdin(Stdio::from(File::open(&kept).unwrap())).spawn().unwrap();
    assert_eq!(stays(&lock.sweep(in_hours(25), true).unwrap()), [Stays::Open(vec![other.id()])]);
    other.kill().unwrap();
    other.wait().unwrap();

    // The session was rewritten: this is the last copy.
    fs::write(&path, b"mine\n").unwrap();
    assert_eq!(stays(&lock.sweep(in_hours(25), false).unwrap()), [Stays::LastCopy]);
    fs::write(&path, [NEW, b"{\"n\":4}\n"].concat()).unwrap();

    // A writer used it.
    append(&kept, b"{\"n\":5}\n");
    let swept = lock.sweep(in_hours(25), false).unwrap();
    assert_eq!((stays(&swept), swept.remaining[0].file.late), (vec![Stays::HoldsMore], 8));
    fs::write(&kept, vec![b'x'; OLD.len()]).unwrap();
    assert_eq!(stays(&lock.sweep(in_hours(25), false).unwrap()), [Stays::HoldsMore]);
    assert!(kept.exists());

    // Another file under its name is not ours.
    fs::rename(&kept, house.root.join("away")).unwrap();
    fs::write(&kept, b"{\"n\":1}\nof somebody else, and as long\n").unwrap();
    let swept = lock.sweep(in_hours(25), false).unwrap();
    assert!(swept.removed.is_empty() && kept.exists());
}

/// The last copy of a deleted session goes when the user asks for room, a month later, and never by itself.
#[test]
fn what_was_kept_of_a_deleted_session_goes_on_demand() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let other = house.session("other.jsonl", OLD);
    let (kept, stays_there) = (repair(&house, &path).unwrap().kept, repair(&house, &other).unwrap().kept);
    let lock = house.lock();
    fs::remove_file(&path).unwrap();
    // Rewritten is not deleted.
    fs::write(&other, b"mine\n").unwrap();
    let month = in_hours(31 * 24);
    assert_eq!(stays(&lock.sweep(month, true).unwrap()), [Stays::LastCopy, Stays::LastCopy]);
    assert_eq!(stays(&lock.sweep_deleted(in_hours(29 * 24), true, &[]).unwrap()), [Stays::LastCopy, Stays::LastCopy]);
    // A line that a writer still wrote is nowhere else.
    append(&kept, LATE);
    assert_eq!(stays(&lock.sweep_deleted(month, true, &[]).unwrap())[0], Stays::HoldsMore);
    fs::write(&kept, OLD).unwrap();
    let swept = lock.sweep_deleted(month, true, &[]).unwrap();
    assert_eq!((swept.removed, stays_there.exists()), (vec![kept], true));
    assert!(lock.sweep(month, true).unwrap().remaining.len() == 1);
    // The journal has forgotten it too; the other session's entry stays.
    assert_eq!(house.journal().list().unwrap().len(), 1);
}

const LATE: &[u8] = b"{\"n\":\"late\"}\n";

#[test]
fn files_that_an_undo_put_into_the_journal_go_as_well() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let id = repair(&house, &path).unwrap().id.run;
    let lock = house.lock();
    lock.undo(&Undo { id: &id, only: None, appended: false, verify: &agree }, &quick()).unwrap();
    assert_eq!(lock.sweep(in_hours(25), false).unwrap().removed.len(), 2);
    assert_eq!(fs::read(&path).unwrap(), OLD);
}

#[test]
fn only_old_entries_that_nobody_needs_are_pruned() {
    let house = House::new();
    let (one, two) = (house.session("one.jsonl", OLD), house.session("two.jsonl", OLD));
    let lock = house.lock();
    let change = |path: &std::path::Path, n: u8| {
        let splice = [Splice { offset: 5, removed: 1, inserted: vec![n] }];
        repair_with(&mut Run::begin(&lock, "t"), path, &splice, &quick()).unwrap().id.run
    };
    let ids = [change(&one, b'7'), change(&two, b'7'), change(&one, b'8'), change(&one, b'9')];
    let left = || house.journal().list().unwrap().into_iter().map(|r| r.id).collect::<Vec<_>>();
    let month = in_hours(31 * 24);
    assert_eq!(lock.prune(0, in_hours(29 * 24), None).unwrap(), 0);
    assert_eq!(lock.prune(CAP, month, None).unwrap(), 0);
    // While their kept files exist, nobody else knows of them.
    assert_eq!(lock.prune(0, month, None).unwrap(), 0);
    assert_eq!(left(), ids);
    lock.sweep(in_hours(25), false).unwrap();
    assert!(lock.prune(0, month, None).unwrap() > 0);
    assert_eq!(left(), [ids[1].clone(), ids[3].clone()], "the last entry of each file stays");
}

#[test]
fn reports_never_lie_in_a_store() {
    let house = House::new();
    let store = house.store();
    let report = house.root.join("report.json");
    output::write(&report, &[&store], agents::HOMES, b"one").unwrap();
    fs::set_permissions(&report, fs::Permissions::from_mode(0o640)).unwrap();
    output::write(&report, &[&store], agents::HOMES, b"two").unwrap();
    assert_eq!(fs::read(&report).unwrap(), b"two");
    assert_eq!(fs::metadata(&report).unwrap().permissions().mode() & 0o777, 0o640);

    let inside = |path: &std::path::Path| {
        assert!(
            matches!(output::write(path, &[&store], agents::HOMES, b"x"), Err(Error::InsideStore { .. })),
            "{path:?}"
        );
    };
    inside(&store.join("r.json"));
    let session = house.session("s.jsonl", OLD);
    symlink(&session, house.root.join("link")).unwrap();
    inside(&house.root.join("link"));
    symlink(&store, house.root.join("folder")).unwrap();
    inside(&house.root.join("folder/r.json"));
    assert!(matches!(
        output::write(&store.join("r"), &[&session], agents::HOMES, b"x"),
        Err(Error::InsideStore { .. })
    ));
    assert_eq!(fs::read(&session).unwrap(), OLD);

    // A link is written through, a device is not replaced, a folder is an error.
    symlink(&report, house.root.join("latest")).unwrap();
    output::write(&house.root.join("latest"), &[], agents::HOMES, b"three").unwrap();
    assert_eq!(fs::read(&report).unwrap(), b"three");
    assert!(fs::symlink_metadata(house.root.join("latest")).unwrap().is_symlink());
    output::write(std::path::Path::new("/dev/null"), &[], agents::HOMES, b"x").unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    assert!(output::write(&house.root, &[], agents::HOMES, b"x").is_err());
}

#[test]
fn a_report_that_is_not_finished_leaves_nothing() {
    let house = House::new();
    let report = house.root.join("report.json");
    let mut out = output::create(&report, &[], agents::HOMES).unwrap();
    out.write_all(b"half").unwrap();
    drop(out);
    assert!(!report.exists());
    assert_eq!(fs::read_dir(&house.root).unwrap().count(), 1);
}

#[test]
fn generated_pages_get_their_folder() {
    let house = House::new();
    let folder = house.root.join("man/man1");
    output::write_generated(&folder, "a.1", agents::HOMES, b".TH").unwrap();
    output::write_generated(&folder, "a.1", agents::HOMES, b".TH A").unwrap();
    assert_eq!(fs::read(folder.join("a.1")).unwrap(), b".TH A");
    assert!(output::write_generated(&folder, "../a.1", agents::HOMES, b"x").is_err());
}

/// An original whose entry is lost, or whose folder was copied, is found and goes on demand, a month later.
#[test]
fn originals_that_no_entry_knows_are_found() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let kept = repair(&house, &path).unwrap().kept;
    let copied = house.root.join("copy");
    fs::create_dir(&copied).unwrap();
    let copy = copied.join(kept.file_name().unwrap());
    fs::copy(&kept, &copy).unwrap();
    let stranger = house.store().join(".sid-audit-0badcafe.kept");
    let bystanders = [house.store().join(".sid-audit-0badcafe.kept.txt"), house.store().join(".sid-audit-x.kept")];
    for file in bystanders.iter().chain([&stranger]) {
        fs::write(file, OLD).unwrap();
    }
    let folders = [copied];
    let found = house.journal().strangers(&folders).unwrap();
    assert_eq!((found.paths, found.unsure), (vec![copy.clone(), stranger.clone()], false));

    let lock = house.lock();
    let swept = lock.sweep_deleted(in_hours(29 * 24), true, &folders).unwrap();
    assert_eq!(swept.strangers.iter().map(|(_, why)| why.clone()).collect::<Vec<_>>(), vec![Stays::Unclaimed; 2]);
    lock.sweep_deleted(in_hours(31 * 24), true, &folders).unwrap();
    assert!(!copy.exists() && !stranger.exists() && bystanders.iter().all(|file| file.exists()));
    assert_eq!(fs::read(&path).unwrap(), NEW);
}

/// In a home that was copied every file has another inode: its bytes tell that it is ours.
#[test]
fn a_copied_original_is_known_by_its_bytes() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let kept = repair(&house, &path).unwrap().kept;
    fs::copy(&kept, house.root.join("k")).unwrap();
    fs::rename(house.root.join("k"), &kept).unwrap();
    assert!(house.journal().strangers(&[]).unwrap().paths.is_empty());
    assert_eq!(house.lock().sweep(in_hours(25), true).unwrap().removed, [kept]);
}
