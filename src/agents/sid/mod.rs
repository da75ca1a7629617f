//! sid-code: records with `uuid` and `parentUuid`, formats 2.0 and 3.0, whole-file JSON before that.

mod records;

/// sid-code.
#[derive(Debug)]
pub(super) struct Sid;
