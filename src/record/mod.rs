//! What a line means.
