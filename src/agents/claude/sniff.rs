//! How Claude Code's records are recognised.

use crate::agents::{is_prompt_row, sign_in};
use crate::store::Probe;
use crate::store::agent::{Certainty, Told};

/// Record types that need no other sign.
const TYPES: [&str; 11] = [
    "file-history-snapshot",
    "file-history-delta",
    "queue-operation",
    "custom-title",
    "ai-title",
    "last-prompt",
    "permission-mode",
    "pr-link",
    "worktree-state",
    "fork-context-ref",
    "attribution-snapshot",
];

/// Record types with common names, which name their session.
const SESSION_TYPES: [&str; 8] = [
    "agent-name",
    "agent-color",
    "agent-setting",
    "tag",
    "mode",
    "bridge-session",
    "content-replacement",
    "cost-state",
];

/// What a whole record is.
pub(super) fn record(record: &Probe) -> Option<Told> {
    if is_of_session(record) {
        return Some(Told::Session);
    }
    is_prompt_row(record).then_some(Told::History)
}

fn is_of_session(record: &Probe) -> bool {
    let has = |name| record.has(name);
    match record.kind() {
        "" => false,
        "user" | "assistant" | "system" | "attachment" | "progress" => {
            has("parentUuid") || (record.text("uuid").is_some() && (record.speaks() || has("sessionId")))
        }
        "summary" => has("leafUuid"),
        kind if TYPES.contains(&kind) => true,
        kind if SESSION_TYPES.contains(&kind) => has("sessionId"),
        _ => has("parentUuid") && has("uuid"),
    }
}

/// What a sign in damaged bytes says. sid-code's records have `parentUuid` too.
pub(super) fn sign(line: &[u8]) -> Option<(Told, Certainty)> {
    const SIGNS: [&[u8]; 7] = [
        b"\"isSidechain\":",
        b"\"leafUuid\":",
        b"\"type\":\"file-history-",
        b"\"type\":\"queue-operation\"",
        b"\"userType\":",
        b"\"logicalParentUuid\":",
        b"\"parentUuid\":",
    ];
    sign_in(line, &SIGNS).then_some((Told::Session, Certainty::Weak))
}
