//! What a line means: JSON as JavaScript reads it, then records of the agents turned into one neutral view.

pub mod again;
pub mod agent;
pub mod content;
pub mod damage;
pub mod document;
pub mod facts;
pub mod fields;
pub mod hashed;
pub mod json;
pub mod keys;
mod kind;
pub mod media;
pub mod pass;
pub mod read;
pub mod reread;
pub mod time;
pub mod value;
pub mod view;
