//! The one door: durable replace, journal, output files. Nothing else in the crate opens a file for writing.
