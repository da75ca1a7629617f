//! Families T and M, the API verdict, and what they stand on: each code with a session that has it and one that does not.
//!
//! Sessions are built line by line in memory (`build`), so that a case shows what matters and nothing else. `predict`
//! holds the cleaning, the integrity check and the safe tail to what sid-code's own recovery gave.

#![allow(clippy::needless_pass_by_value, reason = "a case reads better without ampersands")]

mod build;
mod claude;
mod laws;
mod pi;
mod predict;
mod sid;
mod surrogates;
mod witness;

use sid_audit::agents;
use sid_audit::finding::{Fact, Finding, Severity};
use sid_audit::identity::AgentId;
use sid_audit::rules::{Collector, Context, Examined, api_verdict, chain, lines, messages, tools};
use sid_audit::session::Shape;
use sid_audit::store::Source;
use sid_audit::store::meter::Meter;
use sid_audit::verdict::{ApiVerdict, ResumeVerdict};

/// A session from bytes, whose answers prove nothing: what the rules say by themselves.
fn session(agent_id: AgentId, shape: Shape, bytes: impl Into<Vec<u8>>) -> Examined {
    let mut session = witnessed(agent_id, shape, bytes);
    session.request.doubt(|_| false);
    session
}

/// A session from bytes.
fn witnessed(agent_id: AgentId, shape: Shape, bytes: impl Into<Vec<u8>>) -> Examined {
    let (source, agent) = (Source::from_bytes(bytes), agents::reader(agent_id, shape));
    Examined::read("x.jsonl".into(), source, agent, shape, &Meter::default()).unwrap()
}

/// What T and M say of it, and the verdict.
struct Judged {
    findings: Vec<Finding>,
    verdict: ApiVerdict,
    codes: Vec<&'static str>,
}

fn judge_session(session: &Examined, live: bool) -> Judged {
    let context = Context::new(session, live, 1_773_100_800_000, 20);
    let mut found = Collector::new(20);
    lines::check(&context, &mut found);
    let _ = chain::check(&context, &mut found);
    tools::check(&context, &mut found);
    messages::check(&context, &mut found);
    let all = found.finish();
    let (verdict, rules) = api_verdict::api(&context, ResumeVerdict::Full, &all);
    let findings = all.into_iter().filter(|f| f.rule.code.starts_with(['T', 'M'])).collect();
    let codes = rules.iter().map(|rule| rule.code).collect();
    Judged { findings, verdict, codes }
}

fn judge(agent_id: AgentId, bytes: impl Into<Vec<u8>>) -> Judged {
    judge_session(&session(agent_id, Shape::Main, bytes), false)
}

impl Judged {
    /// `T301 error@2`, in file order.
    fn loud(&self) -> Vec<String> {
        let loud = self.findings.iter().filter(|f| f.severity > Severity::Info);
        loud.map(|f| format!("{} {}@{}", f.rule.code, f.severity.name(), f.place.line.unwrap_or(0))).collect()
    }

    fn one(&self, code: &str) -> &Finding {
        let all: Vec<&Finding> = self.findings.iter().filter(|f| f.rule.code == code).collect();
        assert_eq!(all.len(), 1, "{code}: {:?}", self.loud());
        all[0]
    }

    fn has(&self, code: &str) -> bool {
        self.findings.iter().any(|f| f.rule.code == code)
    }

    /// Says exactly this at warning and above, with this verdict.
    #[track_caller]
    fn says(&self, verdict: ApiVerdict, loud: &[&str]) -> &Self {
        assert_eq!(self.loud(), loud);
        assert_eq!(self.verdict, verdict, "{:?}", self.codes);
        // The verdict names what decides it; every T says where the other half went.
        if matches!(verdict, ApiVerdict::Refused | ApiVerdict::Healed) {
            assert!(!self.codes.is_empty());
        }
        assert!(self.findings.iter().all(|f| !f.rule.code.starts_with('T') || f.cause.is_some()));
        assert!(self.findings.iter().all(|f| !f.effect.is_empty()));
        self
    }

    #[track_caller]
    fn is_silent(&self) -> &Self {
        self.says(ApiVerdict::Ok, &[])
    }
}

fn fact<'a>(finding: &'a Finding, name: &str) -> Option<&'a Fact> {
    finding.facts.iter().find(|(n, _)| *n == name).map(|(_, v)| v)
}

fn word(finding: &Finding, name: &str) -> String {
    match fact(finding, name) {
        Some(Fact::Word(w)) => w.clone(),
        other => format!("{other:?}"),
    }
}
