//! The registry of findings, one file per family.
