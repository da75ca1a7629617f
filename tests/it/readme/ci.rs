//! What a team copies into its own repository: the job and the hook. Both are YAML, and what they run does what is said.

use super::{block, clone, shell};
use serde_json::Value;
use std::path::Path;
use std::process::Output;
use yaml_rust2::{Yaml, YamlLoader};

fn yaml(text: &str) -> Yaml {
    let mut all = YamlLoader::load_from_str(text).expect("YAML");
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// The steps of the only job.
fn job() -> Vec<Yaml> {
    let workflow = yaml(&block("yaml", "upload-sarif"));
    assert_eq!(workflow["permissions"]["security-events"].as_str(), Some("write"), "what an upload needs");
    let jobs = workflow["jobs"].as_hash().expect("jobs");
    assert_eq!(jobs.len(), 1);
    let steps = jobs.values().next().expect("one")["steps"].as_vec().expect("steps").clone();
    assert!(steps.iter().all(|step| step["uses"].as_str().is_some() != step["run"].as_str().is_some()));
    steps
}

#[test]
fn the_job_fails_on_damage_and_leaves_a_report() {
    let steps = job();
    let scan = steps.iter().find_map(|step| step["run"].as_str().filter(|run| run.contains("sid-audit scan")));
    let upload = steps.iter().find(|step| step["uses"].as_str().is_some_and(|uses| uses.contains("upload-sarif")));
    let (scan, upload) = (scan.expect("a scan"), upload.expect("an upload"));
    assert!(
        upload["if"].as_str().is_some_and(|when| when.contains("cancelled")),
        "it is sent although the scan failed"
    );
    let report = upload["with"]["sarif_file"].as_str().expect("a file").replace("${{ runner.temp }}/", "");
    for (sessions, status) in [("fixtures/demo/pi", 1), ("fixtures/demo/pi/agent/sessions/*/*e7462beb*", 0)] {
        let place = clone();
        let run = scan.replace("path/to/sessions", sessions);
        assert_ne!(run, scan, "it says where the sessions are");
        let done = shell(&place, &run).output().expect("a shell");
        assert_eq!(done.status.code(), Some(status), "{run}: {}", String::from_utf8_lossy(&done.stderr));
        let log: Value = serde_json::from_slice(&std::fs::read(place.join(&report)).expect("a report")).expect("JSON");
        assert_eq!(log["version"], "2.1.0");
        let errors =
            log["runs"][0]["results"].as_array().expect("results").iter().filter(|one| one["level"] == "error");
        assert_eq!(errors.count() > 0, status == 1);
    }
}

/// A file of the hook's repository, as its snippet in the README asks for it.
fn hook() -> Yaml {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml")).unwrap();
    let hooks = yaml(&text);
    let hook = hooks.as_vec().expect("a list").first().expect("a hook").clone();
    let asked = yaml(&block("yaml", "repos:"));
    assert_eq!(asked["repos"][0]["hooks"][0]["id"], hook["id"]);
    let version = format!("v{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(asked["repos"][0]["rev"].as_str(), Some(version.as_str()));
    hook
}

#[test]
fn the_hook_lets_whole_sessions_in_and_no_broken_one() {
    let hook = hook();
    // As pre-commit runs it: the entry, then the names of the files that are about to be committed.
    assert_eq!((hook["language"].as_str(), hook["pass_filenames"].as_bool()), (Some("rust"), Some(true)));
    assert!(Path::new("a/session.jsonl").extension().is_some() && hook["files"].as_str() == Some(r"\.jsonl$"));
    let entry = hook["entry"].as_str().expect("an entry");
    let place = clone();
    let sessions = "fixtures/demo/claude/projects/-home-mara-weather";
    let commit = |names: &[&str]| -> Output {
        let files: Vec<String> = names.iter().map(|name| format!("{sessions}/{name}*.jsonl")).collect();
        shell(&place, &format!("{entry} {}", files.join(" "))).output().expect("a shell")
    };
    let done = commit(&["6ca2e0f9", "db5b5fab"]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stdout));
    let done = commit(&["6ca2e0f9", "932d823f"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stdout).contains("C201"), "it says why");
}
