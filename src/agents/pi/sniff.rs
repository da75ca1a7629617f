//! How pi's entries are recognised.

use crate::agents::sign_in;
use crate::store::Probe;

/// The types of entries but for messages, those of OpenClaw among them.
const TYPES: [&str; 12] = [
    "thinking_level_change",
    "model_change",
    "compaction",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
    "usage",
    "context_edit",
    "leaf",
    "reset",
];

/// Whether a whole record is an entry.
pub(super) fn is_entry(record: &Probe) -> bool {
    let has = |name| record.has(name);
    match record.kind() {
        "session" => record.text("id").is_some() && (has("cwd") || has("version")),
        // another agent's records look alike (`docs/formats/pi.md`, section 14: tau)
        _ if has("parent_id") => false,
        // version 1 has neither `id` nor `parentId`
        "message" => record.speaks() && (has("timestamp") || has("parentId")),
        kind if TYPES.contains(&kind) => record.text("id").is_some() && has("parentId"),
        _ => false,
    }
}

/// Whether it is the title row that oh-my-pi writes before the header.
pub(super) fn is_title(record: &Probe) -> bool {
    record.kind() == "title" && record.has("title") && record.has("v") && !record.has("id")
}

/// Whether damaged bytes have the sign of one.
pub(super) fn has_sign(line: &[u8]) -> bool {
    sign_in(line, &[b"\"type\":\"session\",", b"\"parentId\":"])
}
