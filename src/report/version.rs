//! What `--version` tells: what a report of a defect must name.

use std::sync::LazyLock;

use crate::agents;

/// Version, commit, and what is read by whose rules, a line each.
pub fn long() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(text);
    &TEXT
}

fn text() -> String {
    let commit = match option_env!("SID_AUDIT_COMMIT") {
        Some(commit) => format!("commit {commit}"),
        None if cfg!(debug_assertions) => "a development build".to_owned(),
        None => "no commit: built from sources without their history".to_owned(),
    };
    let mut text = format!("{}\n{commit}\n", env!("CARGO_PKG_VERSION"));
    for identity in agents::ALL.iter().map(|agent| agent.agent_id().identity()) {
        text.push_str(&format!("{}: {}; judged by {}\n", identity.agent, identity.formats, identity.loader));
    }
    text.push_str(&format!("JSON contract: version {}", super::json_head::VERSION));
    text
}
