//! What a line means: JSON as JavaScript reads it, then records of the agents turned into one neutral view.

pub mod agent;
pub mod blocks;
pub mod content;
pub mod damage;
pub mod document;
pub mod facts;
pub mod fields;
pub mod id_hasher;
pub mod json;
pub mod keys;
mod kind;
pub mod media;
pub mod parse;
pub mod read;
pub mod reread;
pub mod time;
pub mod value;
