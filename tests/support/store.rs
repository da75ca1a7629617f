//! Small stores for the tests of the room `store`.

use sid_audit::agents;
use sid_audit::store::{Discovery, Environment, FileKind, discover};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub const UUID: &str = "5e550000-0000-4000-8000-000000000001";
pub const OTHER: &str = "5e550000-0000-4000-8000-000000000002";
pub const SID: &str = "20260301-090000-00000219";
pub const CLAUDE_LINE: &str = r#"{"parentUuid":null,"type":"user","uuid":"u","sessionId":"s","message":{}}"#;
pub const SID_LINE: &str = r#"{"type":"session_start","version":"3.0","sessionId":"s","uuid":"u","parentUuid":null}"#;
pub const SIDE_LINE: &str = r#"{"type":"sidechain_start","sessionId":"s","agentId":"task-1"}"#;
pub const PI_LINE: &str = r#"{"type":"session","version":3,"id":"i","timestamp":"t","cwd":"/w"}"#;
pub const WHOLE: &str = r#"{"id":"a","model":"m","provider":"p","createdAt":1,"updatedAt":1,"messages":[]}"#;
pub const INDEX: &str = r#"{"sessionId":"a","createdAt":1,"nextId":1,"snapshots":[]}"#;

/// A folder that goes when the test ends.
pub struct Temp(pub PathBuf);

impl Temp {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sid-audit-store-{}-{n}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Temp(path.canonicalize().unwrap())
    }

    pub fn put(&self, path: impl AsRef<Path>, text: &str) -> PathBuf {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn find(path: impl Into<PathBuf>) -> Discovery {
    discover(&[path.into()], None, &Environment::default(), agents::HOMES)
}

/// One file of each kind in a sid-code home; what must be found. Beside it what is no part of the store.
pub fn sid_home(t: &Temp, home: &str) -> Vec<(String, FileKind)> {
    let files = [
        (format!("sessions/home-dev/{SID}.jsonl"), SID_LINE, FileKind::Main),
        (format!("sessions/home-dev/{SID}-task-1.jsonl"), SIDE_LINE, FileKind::Beside),
        (format!("sessions/home-dev/{SID}-task-2.jsonl"), "{\"type\":\"side", FileKind::Beside),
        (format!("sessions/home-dev/{SID} 2.jsonl"), SID_LINE, FileKind::SyncCopy),
        ("sessions/home-dev/mine-and-odd.jsonl".into(), SID_LINE, FileKind::Main),
        ("sessions/home-dev/00000146.json".into(), WHOLE, FileKind::Whole),
        (format!("sessions/home-dev/summaries/{SID}.json"), "{}", FileKind::Summary),
        (format!("sessions/summaries/{SID}.json"), "{}", FileKind::Summary),
        ("sessions/00000219.json".into(), "", FileKind::Whole),
        ("sessions/garbage.jsonl".into(), "x", FileKind::Main),
        (format!("sessions/_legacy/{SID}-x.jsonl"), "", FileKind::Beside),
        (format!("checkpoints/{SID}/index.json"), "", FileKind::CheckpointIndex),
        (format!("active-sessions/{SID}.json"), "{\"pid\":1,\"sessionId\":\"s\"}", FileKind::Registration),
        (format!("file-intents/{SID}.json"), "{}", FileKind::Intent),
        (format!("progress/{SID}.md"), "#", FileKind::Progress),
        ("protocol-violations/protocol-violation-1.json".into(), "{}", FileKind::ViolationDump),
        ("history.jsonl".into(), "", FileKind::History),
        ("settings.json".into(), "{}", FileKind::Settings),
    ];
    let nothing =
        ["usage-ledger.jsonl", "trajectories/sessions/x/crash.json", "logs/a.jsonl", "sessions/home-dev/a.tmp"];
    nothing.iter().for_each(|path| drop(t.put(format!("{home}/{path}"), "{}")));
    files.iter().for_each(|(path, text, _)| drop(t.put(format!("{home}/{path}"), text)));
    files.into_iter().map(|(path, _, kind)| (format!("{home}/{path}"), kind)).collect()
}

/// The same for Claude Code.
pub fn claude_home(t: &Temp, home: &str) -> Vec<(String, FileKind)> {
    let project = "projects/-home-dev";
    let files = [
        (format!("{project}/{UUID}.jsonl"), FileKind::Main),
        (format!("{project}/5E550000-0000-4000-8000-00000000000F.jsonl"), FileKind::Main),
        (format!("{project}/{UUID}/subagents/agent-a1.jsonl"), FileKind::Subagent),
        (format!("{project}/{UUID}/subagents/agent-a1.meta.json"), FileKind::SubagentMeta),
        (format!("{project}/{UUID}/subagents/journal.jsonl"), FileKind::SubagentJournal),
        (format!("{project}/{UUID}/subagents/workflows/run1/agent-b2.jsonl"), FileKind::Subagent),
        (format!("{project}/{UUID}/tool-results/toolu_1.txt"), FileKind::SpilledOutput),
        (format!("{project}/agent-27d4238f.jsonl"), FileKind::Subagent),
        (format!("{project}/sessions-index.json"), FileKind::ListIndex),
        (format!("{project}/{UUID} 2.jsonl"), FileKind::SyncCopy),
        (format!("{project}/{OTHER} (Ada's conflicted copy 2026-03-01).jsonl"), FileKind::SyncCopy),
        (format!("{project}/{UUID}.sync-conflict-20260301-101010-ABCDEFG.jsonl"), FileKind::SyncCopy),
        (format!("{project}/notes.jsonl"), FileKind::Other),
        (format!("file-history/{UUID}/16fd0df0a36513cf@v1"), FileKind::FileBackup),
        ("history.jsonl".into(), FileKind::History),
        ("sessions/4242.json".into(), FileKind::Registration),
        ("settings.json".into(), FileKind::Settings),
    ];
    let nothing = ["todos/x.json", "plugins/a/projects/b.jsonl", "projects/-home-dev/memory/m.md", "sessions/x.json"];
    nothing.iter().for_each(|path| drop(t.put(format!("{home}/{path}"), "{}")));
    files.iter().for_each(|(path, _)| drop(t.put(format!("{home}/{path}"), CLAUDE_LINE)));
    files.into_iter().map(|(path, kind)| (format!("{home}/{path}"), kind)).collect()
}
