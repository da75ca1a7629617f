//! How sid-code's records and documents are recognised.

use crate::agents::{is_prompt_row, sign_in};
use crate::store::Probe;
use crate::store::agent::{Certainty, Document, Told};

/// What a whole record is.
pub(super) fn record(record: &Probe) -> Option<Told> {
    let has = |name| record.has(name);
    let (side, session) = match record.kind() {
        "sidechain_start" | "sidechain_end" => (true, false),
        "message" => (has("role") && has("turn"), false),
        "session_start" => (false, has("parentUuid") || has("schemaCompat") || has("version")),
        "user_message" | "assistant_message" | "tool_result" => (false, record.has_message()),
        "metadata" => (false, has("key") && has("uuid")),
        "context_compact" | "session_end" => (false, has("parentUuid")),
        _ => (false, false),
    };
    match (side, session) {
        (true, _) => Some(Told::Side),
        (_, true) => Some(Told::Session),
        _ => is_prompt_row(record).then_some(Told::History),
    }
}

/// What a sign in damaged bytes says. Claude Code's records have `parentUuid` too, none of these.
pub(super) fn sign(line: &[u8]) -> Option<(Told, Certainty)> {
    const SIGNS: [&[u8]; 5] = [
        b"\"type\":\"session_start\"",
        b"\"schemaCompat\":\"claude-code-like",
        b"\"type\":\"user_message\"",
        b"\"type\":\"assistant_message\"",
        b"\"type\":\"session_end\"",
    ];
    let told = if sign_in(line, &[b"\"type\":\"sidechain_"]) {
        Told::Side
    } else if sign_in(line, &SIGNS) {
        Told::Session
    } else {
        return None;
    };
    Some((told, Certainty::Own))
}

/// Which document begins like this.
pub(super) fn document(head: &[u8]) -> Option<Document> {
    let has = |key: &[u8]| sign_in(head, &[key]);
    let current = has(b"\"snapshots\"") && (has(b"\"sessionId\"") || has(b"\"nextId\""));
    if current || (has(b"\"sessionId\"") && has(b"\"files\"") && has(b"\"entries\"") && has(b"\"filePath\"")) {
        return Some(Document::CheckpointIndex);
    }
    let whole = has(b"\"messages\"") && has(b"\"id\"") && (has(b"\"createdAt\"") || has(b"\"provider\""));
    whole.then_some(Document::Whole)
}
