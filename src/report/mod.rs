//! What a person or a tool reads; the only room that prints.
pub mod envelope;
