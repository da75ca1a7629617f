//! Findings in, plan out. Pure: nothing here writes, and two plans of the same bytes are equal.
//!
//! A plan is made in steps. Each step answers one rule on the text as the step before left it, and the session is read
//! again from that text, by the same rooms that read a file: what counts is never what an edit meant, only what the
//! loader and all rules then say. A step that makes anything worse is taken back.
//!
//! `answer` is the table from a rule to what answers it, `agent` what that takes of an agent. `bytes`, `links` and
//! `content` make the edits of their class, `leaf` those that a person decided; `text`
//! holds the text as pieces of the file and new bytes, `places` leads back to the file; `synthesize` is all that is made up;
//! `checkpoints` plans for indexes. `proof` holds a result against its plan before it takes the file's place.

pub mod agent;
pub mod answer;
pub mod bytes;
pub mod checkpoints;
pub mod content;
pub mod edit;
pub mod leaf;
pub mod links;
mod places;
pub mod plan;
pub mod proof;
pub mod synthesize;
pub mod text;
pub mod worse;
