//! Every step fails once, or from some moment on: an error means that the original is at its name, and says what to do.

use std::cell::RefCell;
use std::fs;
use std::rc::Rc;

use sid_audit::commit::failpoint::hooks::{Act, watch};
use sid_audit::commit::{Error, Original, Refusal};

use super::support::*;

const EINTR: i32 = 4;
const EIO: i32 = 5;
const EACCES: i32 = 13;
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;
const EDQUOT: i32 = 122;

/// The steps of one repair.
pub(crate) fn steps() -> Vec<&'static str> {
    let house = House::fast();
    let path = house.session("s.jsonl", OLD);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let into = Rc::clone(&seen);
    let watching = watch(move |_, name| {
        into.borrow_mut().push(name);
        Act::Go
    });
    repair(&house, &path).unwrap();
    drop(watching);
    seen.take()
}

/// Repairs with `act` at each step; checks what must hold whatever happened, and that the next repair works.
fn with_faults(act: impl Fn(u64, &'static str) -> Act + 'static, at: &str) -> Option<Error> {
    let house = House::fast();
    let path = house.session("s.jsonl", OLD);
    let was = dress(&path);
    let watching = watch(act);
    let result = repair(&house, &path);
    drop(watching);
    let bytes = fs::read(&path).unwrap();
    assert_eq!(dress(&path), was, "{at}");
    match &result {
        Ok(_) => assert_eq!(bytes, NEW, "{at}"),
        Err(Error::Io { original: Original::Beside { kept }, .. }) => {
            assert_eq!((bytes, fs::read(kept).unwrap()), (NEW.to_vec(), OLD.to_vec()), "{at}");
        }
        Err(error) => {
            assert_eq!(bytes, OLD, "{at}: {error}");
            assert!(error.hint().is_some(), "{at}: {error}");
        }
    }
    drop(house.lock());
    if fs::read(&path).unwrap() == OLD {
        repair(&house, &path).unwrap_or_else(|e| panic!("{at}: the next repair: {e}"));
    }
    for run in house.journal().list().unwrap() {
        assert!(run.unreadable.is_empty(), "{at}");
    }
    result.err()
}

#[test]
fn interrupted_calls_are_made_again() {
    for n in 1..=steps().len() as u64 {
        let error = with_faults(move |i, _| if i == n { Act::Fail(EINTR) } else { Act::Go }, &format!("EINTR at {n}"));
        assert!(error.is_none(), "{n}: {error:?}");
    }
}

#[test]
fn a_full_disk_leaves_the_original_at_its_name() {
    let grows = |name: &str| ["write", "create", "make folder", "link", "set attribute"].contains(&name);
    for (i, name) in steps().into_iter().enumerate().filter(|(_, s)| grows(s)) {
        let n = i as u64 + 1;
        for errno in [ENOSPC, EDQUOT] {
            let at = format!("errno {errno} once at step {n} {name}");
            let error = with_faults(move |i, _| if i == n { Act::Fail(errno) } else { Act::Go }, &at);
            assert!(matches!(error, Some(Error::Refused(Refusal::NoRoom { .. }))), "{at}: {error:?}");
            let at = format!("errno {errno} from step {n} {name} on");
            let error = with_faults(move |i, s| if i >= n && grows(s) { Act::Fail(errno) } else { Act::Go }, &at);
            assert!(matches!(error, Some(Error::Refused(Refusal::NoRoom { .. }))), "{at}: {error:?}");
        }
    }
}

#[test]
fn a_failed_sync_is_fatal_and_is_not_tried_again() {
    let syncs = |name: &str| ["sync", "sync folder"].contains(&name);
    for (i, name) in steps().into_iter().enumerate().filter(|(_, s)| syncs(s)) {
        let n = i as u64 + 1;
        let at = format!("EIO at step {n} {name}");
        let error = with_faults(move |i, _| if i == n { Act::Fail(EIO) } else { Act::Go }, &at);
        assert!(error.is_some(), "{at}: the repair went on");
        let message = error.map(|e| e.to_string()).unwrap_or_default();
        assert!(message.contains("original"), "{at}: {message}");
        with_faults(move |i, s| if i >= n && syncs(s) { Act::Fail(EIO) } else { Act::Go }, &format!("{at} and on"));
    }
}

#[test]
fn whatever_fails_the_name_holds_whole_bytes() {
    for (i, name) in steps().into_iter().enumerate() {
        let n = i as u64 + 1;
        with_faults(move |i, _| if i == n { Act::Fail(EIO) } else { Act::Go }, &format!("EIO at {n} {name}"));
        with_faults(move |i, _| if i >= n { Act::Fail(EIO) } else { Act::Go }, &format!("EIO from {n} {name} on"));
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let create = steps().iter().rposition(|s| *s == "create").unwrap();
    assert!(create > 0);
    for errno in [EACCES, EROFS] {
        let exchange = steps().iter().position(|s| *s == "exchange").unwrap();
        let temp = steps()[..exchange].iter().rposition(|s| *s == "create").unwrap() as u64 + 1;
        let error = with_faults(move |i, _| if i == temp { Act::Fail(errno) } else { Act::Go }, "read-only");
        match error {
            Some(Error::Refused(Refusal::ReadOnly { folder })) => assert!(folder.ends_with("store")),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn without_an_exchange_of_names_the_old_file_is_linked_aside() {
    let error = with_faults(|_, name| if name == "exchange" { Act::Fail(EINVAL) } else { Act::Go }, "no exchange");
    assert!(error.is_none(), "{error:?}");
    let neither = |_, name| match name {
        "exchange" => Act::Fail(EINVAL),
        "link" => Act::Fail(1),
        _ => Act::Go,
    };
    let error = with_faults(neither, "neither exchange nor links");
    assert!(matches!(error, Some(Error::Refused(Refusal::Platform { folder: Some(_) }))), "{error:?}");
    for fail in ["rename", "link", "sync folder"] {
        for n in 1..=steps().len() as u64 + 4 {
            let act = move |i, name| match name {
                "exchange" => Act::Fail(EINVAL),
                name if name == fail && i == n => Act::Fail(EIO),
                _ => Act::Go,
            };
            with_faults(act, &format!("no exchange, EIO at {fail} {n}"));
        }
    }
}
