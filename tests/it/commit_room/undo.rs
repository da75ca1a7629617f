//! Back again: bytes, mode, mtime; with appended lines; for a whole run; elsewhere; and when the file has changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sid_audit::agents;
use sid_audit::commit::manifest::State;
use sid_audit::commit::{
    Error, Locked, Options, Proof, Refusal, Run, Splice, Stage, Standing, Undo, Undone, settle, swap,
};

use super::support::*;

fn undo(lock: &Locked, id: &str) -> Result<Undone, Error> {
    lock.undo(&Undo { id, only: None, appended: true, verify: &agree }, &quick())
}

fn standing(house: &House, id: &str) -> Standing {
    house.journal().examine(id, None).unwrap()[0].standing.clone()
}

#[test]
fn bytes_mode_and_mtime_come_back_and_the_store_is_as_it_was() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let was = dress(&path);
    let id = repair(&house, &path).unwrap().id.run;
    assert_eq!(standing(&house, &id), Standing::AsRepaired);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();

    let lock = house.lock();
    let undone = undo(&lock, &id).unwrap();
    assert_eq!((fs::read(&path).unwrap(), dress(&path)), (OLD.to_vec(), was));
    assert!(undone.failed.is_empty() && undone.done.len() == 1);
    // Both kept files have gone into the journal, on the same disk.
    assert!(house.beside().is_empty(), "{:?}", house.beside());
    assert_eq!(standing(&house, &id), Standing::Undone);
    assert!(matches!(undo(&lock, &id), Err(Error::Journal { .. })));
    assert!(matches!(undo(&lock, "20200101T000000000Z-00000000"), Err(Error::Journal { .. })));
    assert!(matches!(undo(&lock, "../.."), Err(Error::Journal { .. })));

    // The undo is a run like any other.
    let again = undone.run.unwrap();
    undo(&lock, &again).unwrap();
    assert_eq!(fs::read(&path).unwrap(), NEW);
    assert_eq!(standing(&house, &id), Standing::AsRepaired);
    undo(&lock, &id).unwrap();
    assert_eq!((fs::read(&path).unwrap(), dress(&path)), (OLD.to_vec(), was));
}

#[test]
fn appended_lines_are_carried_over_when_the_caller_agrees() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let id = repair(&house, &path).unwrap().id.run;
    append(&path, b"{\"n\":4}\n");
    let grown = dress(&path);
    assert_eq!(standing(&house, &id), Standing::Appended(8));
    let lock = house.lock();
    let ask = |appended, verify: &sid_audit::commit::Verify<'_>| {
        lock.undo(&Undo { id: &id, only: None, appended, verify }, &quick())
    };
    assert!(matches!(ask(false, &agree), Err(Error::Refused(Refusal::Appended { bytes: 8, .. }))));
    let disagree = |proof: &Proof<'_>| {
        assert_eq!(proof.stage, Stage::Undo { appended: 8, witnessed: true });
        assert_eq!(fs::read(proof.bytes).unwrap(), [OLD, b"{\"n\":4}\n"].concat());
        Err(vec!["C203".to_owned()])
    };
    let failed = ask(true, &disagree).unwrap().failed;
    assert!(matches!(&failed[..], [(_, Error::Refused(Refusal::ProofFailed { .. }))]), "{failed:?}");
    assert_eq!(standing(&house, &id), Standing::Appended(8));

    ask(true, &agree).unwrap();
    assert_eq!(fs::read(&path).unwrap(), [OLD, b"{\"n\":4}\n"].concat());
    // As young as its last line: an agent that deletes by age must not see the time of the original.
    assert_eq!(dress(&path), grown);
}

#[test]
fn a_torn_original_does_not_swallow_the_appended_line() {
    let house = House::new();
    let torn = &OLD[..OLD.len() - 1];
    let path = house.session("s.jsonl", torn);
    let lock = house.lock();
    let end = Splice { offset: torn.len() as u64, removed: 0, inserted: b"\n".to_vec() };
    let begin = Splice { offset: 5, removed: 1, inserted: b"7".to_vec() };
    let id = repair_with(&mut Run::begin(&lock, "t"), &path, &[begin, end.clone()], &quick()).unwrap().id.run;
    append(&path, b"{\"n\":4}\n");
    let undone = undo(&lock, &id).unwrap();
    assert_eq!(fs::read(&path).unwrap(), [torn, b"\n{\"n\":4}\n"].concat());
    assert!(undone.done[0].warnings[0].contains("line feed"), "{undone:?}");

    // Where that line feed was the whole repair, the file already is what the undo would make of it.
    let path = house.session("t.jsonl", torn);
    let id = repair_with(&mut Run::begin(&lock, "t"), &path, &[end], &quick()).unwrap().id.run;
    append(&path, b"{\"n\":4}\n");
    let undone = undo(&lock, &id).unwrap();
    assert_eq!((undone.already.len(), undone.run), (1, None));
    assert_eq!(standing(&house, &id), Standing::Undone);
}

#[test]
fn a_file_that_was_rewritten_is_refused() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let id = repair(&house, &path).unwrap().id.run;
    fs::write(&path, b"{\"mine\":1}\n").unwrap();
    let lock = house.lock();
    assert_eq!(standing(&house, &id), Standing::Changed);
    assert!(matches!(undo(&lock, &id), Err(Error::Refused(Refusal::NotAsRepaired { .. }))));
    assert_eq!(fs::read(&path).unwrap(), b"{\"mine\":1}\n");
}

#[test]
fn elsewhere_works_whatever_became_of_the_session() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let was = dress(&path);
    let out = repair(&house, &path).unwrap();
    let (id, journal) = (out.id.run, house.journal());
    let check = |name: &str| {
        let to = house.root.join(name);
        journal.undo_to(&id, None, &to, agents::HOMES).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!((fs::read(&to).unwrap(), dress(&to)), (OLD.to_vec(), was), "{name}");
        assert!(matches!(journal.undo_to(&id, None, &to, agents::HOMES), Err(Error::Exists { .. })));
    };
    check("as repaired");
    append(&path, b"{\"n\":4}\n");
    check("appended");
    let kept = fs::read(&out.kept).unwrap();
    fs::remove_file(&out.kept).unwrap();
    check("without the kept file");
    // A second repair stands between.
    let lock = house.lock();
    let second = [Splice { offset: 0, removed: 8, inserted: Vec::new() }];
    let two = repair_with(&mut Run::begin(&lock, "second"), &path, &second, &quick()).unwrap();
    check("repaired twice");
    fs::remove_file(&two.kept).unwrap();
    check("repaired twice, nothing kept");
    assert!(
        matches!(undo(&lock, &id), Err(Error::Refused(Refusal::NotAsRepaired { how, .. })) if how.contains("later run"))
    );
    undo(&lock, &two.id.run).unwrap();
    check("second undone");
    // Gone altogether: nothing leads back, and it says so.
    fs::write(&path, b"other\n").unwrap();
    fs::remove_dir_all(journal.root().join("runs").join(&two.id.run)).unwrap();
    let undo_run = journal.list().unwrap().into_iter().find(|r| r.id > two.id.run).unwrap();
    fs::remove_dir_all(journal.root().join("runs").join(&undo_run.id)).unwrap();
    let error = journal.undo_to(&id, None, &house.root.join("nowhere"), agents::HOMES).unwrap_err();
    assert!(error.to_string().contains("nowhere whole"), "{error}");
    assert!(!house.root.join("nowhere").exists());
    fs::write(&out.kept, kept).unwrap();
}

#[test]
fn a_damaged_way_back_is_noticed() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let id = repair(&house, &path).unwrap().id.run;
    let reverse = house.journal().root().join("runs").join(&id).join("0001/reverse");
    let mut bytes = fs::read(&reverse).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&reverse, bytes).unwrap();
    let lock = house.lock();
    assert!(undo(&lock, &id).is_err());
    assert_eq!(fs::read(&path).unwrap(), NEW);
    // The original still exists whole, so it can be had elsewhere.
    house.journal().undo_to(&id, None, &house.root.join("original"), agents::HOMES).unwrap();
    assert_eq!(fs::read(house.root.join("original")).unwrap(), OLD);
}

/// Swaps many files and settles once.
fn repair_all(lock: &Locked, files: &[std::path::PathBuf], options: &Options) -> String {
    let mut run = Run::begin(lock, "all");
    let mut swapped = Vec::new();
    for path in files {
        swapped.push((with_request(path, &splices(), |r| swap(r, &mut run, options)).unwrap(), &agree as _));
    }
    for out in settle(swapped, options) {
        assert!(out.unmerged.is_empty());
    }
    run.id().to_owned()
}

#[test]
fn a_run_over_sixty_files_is_undone_whole_or_by_file() {
    let house = House::fast();
    let files: Vec<_> = (0..60).map(|n| house.session(&format!("s{n}.jsonl"), OLD)).collect();
    let was = dress(&files[0]);
    let lock = house.lock();
    let options = Options { settle: std::time::Duration::from_millis(100), ..quick() };
    let begin = std::time::Instant::now();
    let id = repair_all(&lock, &files, &options);
    assert!(begin.elapsed() < options.settle * 60, "the settle time was waited for once per file");
    assert!(files.iter().all(|f| fs::read(f).unwrap() == NEW));

    let one = Undo { id: &id, only: Some(&files[7]), appended: false, verify: &agree };
    assert_eq!(lock.undo(&one, &quick()).unwrap().done.len(), 1);
    assert_eq!(fs::read(&files[7]).unwrap(), OLD);
    lock.undo(&Undo { id: &format!("{id}/0009"), only: None, ..one }, &quick()).unwrap();
    assert_eq!(fs::read(&files[8]).unwrap(), OLD);
    let several = house.journal().undo_to(&id, None, &house.root.join("x"), agents::HOMES);
    assert!(matches!(several, Err(Error::Journal { .. })));
    house.journal().undo_to(&id, Some(&files[3]), &house.root.join("x"), agents::HOMES).unwrap();

    // One file that cannot be undone stops all of them before any is touched.
    fs::write(&files[30], b"mine\n").unwrap();
    assert!(matches!(undo(&lock, &id), Err(Error::Refused(Refusal::NotAsRepaired { .. }))));
    assert!(fs::read(&files[0]).unwrap() == NEW && fs::read(&files[59]).unwrap() == NEW);
    fs::write(&files[30], NEW).unwrap();
    let undone = undo(&lock, &id).unwrap();
    assert_eq!((undone.done.len(), undone.failed.len()), (58, 0));
    assert!(files.iter().all(|f| fs::read(f).unwrap() == OLD && dress(f) == was));
    assert!(house.beside().is_empty());
}

#[test]
fn a_file_that_one_run_repaired_twice_is_undone_twice() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let lock = house.lock();
    let mut run = Run::begin(&lock, "twice");
    repair_with(&mut run, &path, &splices(), &quick()).unwrap();
    let second = [Splice { offset: 0, removed: 8, inserted: Vec::new() }];
    repair_with(&mut run, &path, &second, &quick()).unwrap();
    assert_eq!(fs::read(&path).unwrap(), &NEW[8..]);
    append(&path, b"{\"n\":4}\n");
    let undone = undo(&lock, run.id()).unwrap();
    assert!(undone.failed.is_empty() && undone.done.len() == 2, "{undone:?}");
    assert_eq!(fs::read(&path).unwrap(), [OLD, b"{\"n\":4}\n"].concat());
}

#[test]
fn a_name_that_is_no_utf8_is_found_again() {
    use std::os::unix::ffi::OsStrExt;
    let house = House::new();
    let odd = house.store().join(std::ffi::OsStr::from_bytes(b"s\xff.jsonl"));
    fs::write(&odd, OLD).unwrap();
    let id = repair(&house, &odd).unwrap().id.run;
    undo(&house.lock(), &id).unwrap();
    assert_eq!(fs::read(&odd).unwrap(), OLD);
}

#[test]
fn on_another_disk_the_kept_files_stay_beside_the_session() {
    if !Path::new("/dev/shm").is_dir() {
        println!("skipped: no second file system here");
        return;
    }
    let (house, other) = (House::new(), House::fast());
    let path = house.session("s.jsonl", OLD);
    let lock = other.lock();
    let id = repair_with(&mut Run::begin(&lock, "t"), &path, &splices(), &quick()).unwrap().id.run;
    undo(&lock, &id).unwrap();
    assert_eq!(fs::read(&path).unwrap(), OLD);
    assert_eq!(house.beside().len(), 2);
    assert_eq!(other.journal().list().unwrap()[0].entries[0].manifest.state, State::Undone);
}

const LATE: &[u8] = b"{\"n\":\"late\"}\n";

/// What a writer still wrote to the old file comes along with the undo.
#[test]
fn late_lines_come_along() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let out = repair(&house, &path).unwrap();
    append(&out.kept, LATE);
    let undone = undo(&house.lock(), &out.id.run).unwrap();
    assert_eq!(undone.late[0].merged.map(|m| m.lines), Some(1));
    assert_eq!(fs::read(&path).unwrap(), [OLD, LATE].concat());
}

/// Lines that come after the undo are brought over by the next run, behind the original.
#[test]
fn late_lines_of_an_undone_repair_are_brought_over() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let out = repair(&house, &path).unwrap();
    let mut held = fs::OpenOptions::new().append(true).open(&out.kept).unwrap();
    let lock = house.lock();
    undo(&lock, &out.id.run).unwrap();
    std::io::Write::write_all(&mut held, LATE).unwrap();
    let swapped = lock.reopen(&out.id).unwrap();
    let settled = settle(vec![(swapped, &agree)], &quick()).remove(0);
    assert!(settled.unmerged.is_empty(), "{settled:?}");
    assert_eq!(fs::read(&path).unwrap(), [OLD, LATE].concat());
}

/// An old file that was written over through a descriptor is told, however long it is now.
#[test]
fn a_rewritten_old_file_is_told() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let out = repair(&house, &path).unwrap();
    for bytes in [LATE, &vec![b'x'; OLD.len()], &vec![b'x'; OLD.len() + 9]] {
        fs::write(&out.kept, bytes).unwrap();
        let kept = house.journal().list().unwrap()[0].entries[0].kept[0].clone();
        assert!(kept.rewritten && kept.holds_more(), "{kept:?}");
    }
    let undone = undo(&house.lock(), &out.id.run).unwrap();
    assert!(undone.late[0].unmerged[0].file.rewritten, "{undone:?}");
    assert_eq!(fs::read(&path).unwrap(), OLD);
}

/// A folder that was moved, or copied into a store that was made anew: the new place is named, as a file or a folder.
#[test]
fn a_session_that_was_moved_is_undone_at_its_new_place() {
    for by_folder in [false, true] {
        let house = House::new();
        let path = house.session("s.jsonl", OLD);
        let id = repair(&house, &path).unwrap().id.run;
        let new = house.root.join("moved");
        fs::rename(house.store(), &new).unwrap();
        let lock = house.lock();
        assert!(undo(&lock, &id).is_err());
        let place = if by_folder { new.clone() } else { new.join("s.jsonl") };
        let wrong = Undo { id: &id, only: Some(&house.root), appended: true, verify: &agree };
        assert!(matches!(lock.undo(&wrong, &quick()), Err(Error::Journal { .. })));
        lock.undo(&Undo { only: Some(&place), ..wrong }, &quick()).unwrap();
        assert_eq!(fs::read(new.join("s.jsonl")).unwrap(), OLD);
        assert_eq!(fs::read_dir(&new).unwrap().count(), 1, "the kept files went into the journal");
        let entry = &house.journal().list().unwrap()[0].entries[0];
        assert_eq!(entry.manifest.path.to_path(), new.join("s.jsonl").canonicalize().unwrap());
    }
}

/// Where the original does not lie beside the file any more, the proof is asked, and can refuse.
#[test]
fn without_its_original_beside_it_a_file_is_only_undone_if_the_proof_agrees() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let out = repair(&house, &path).unwrap();
    fs::remove_file(&out.kept).unwrap();
    let lock = house.lock();
    let disagree = |proof: &Proof<'_>| {
        assert_eq!(proof.stage, Stage::Undo { appended: 0, witnessed: false });
        Err(vec!["no session".to_owned()])
    };
    let failed = lock.undo(&Undo { id: &out.id.run, only: None, appended: true, verify: &disagree }, &quick()).unwrap();
    assert!(failed.failed.len() == 1 && house.beside().is_empty(), "{failed:?}");
    assert_eq!(fs::read(&path).unwrap(), NEW);
    undo(&lock, &out.id.run).unwrap();
    assert_eq!(fs::read(&path).unwrap(), OLD);
}

/// An entry that was only begun when the process ended does not stand in the way of the others.
#[test]
fn an_entry_that_was_only_begun_shuts_nothing_out() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let id = repair(&house, &path).unwrap().id.run;
    fs::create_dir(house.journal().root().join("runs").join(&id).join("0002")).unwrap();
    assert_eq!(standing(&house, &id), Standing::AsRepaired);
    undo(&house.lock(), &id).unwrap();
    assert_eq!(fs::read(&path).unwrap(), OLD);
}
