//! Claude Code: what only its sessions can have, and what it does with what others have too.

use include_dir::{Dir, include_dir};

use super::loader::sdk_python::is_visible;
use super::{Claude, rules_calls, rules_chain};
use crate::agents::wire;
use crate::finding::{Finding, Fix, Rule, Severity};
use crate::provider::{Api, refusal};
use crate::record::agent::Cut;
use crate::record::facts::{Block, BlockKind, Kind, Record, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::request::pairing::{Answer, Call, Pairing};
use crate::request::{Request, WHOLE, is_thinking};
use crate::rules::agent::{Calls, Judged, Lines, Links, Messages, Words};
use crate::rules::api_verdict::{Case, Does, NOTED, REFUSED, Treatment, Weight, healed};
use crate::rules::chain::{STRAY_LEAF, View, by_turns};
use crate::rules::messages::{Wrong, wrong_block};
use crate::rules::tools::{Held, Split, Tools};
use crate::rules::{Collector, Context, texts};
use crate::session::Session;
use crate::text::Text;

static TEXTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/agents/claude/texts");

static RULES: &[&Rule] = &[
    &rules_chain::DANGLING_BOUNDARY_POINTER,
    &rules_chain::REPLAYED_RECORDS,
    &rules_chain::BOUNDARY_WITHOUT_SUMMARY,
    &rules_chain::SUMMARY_WITHOUT_BOUNDARY,
    &STRAY_LEAF,
    &SYNTHETIC_TAIL,
];

pub(super) static SYNTHETIC_TAIL: Rule =
    Rule { code: "M413", name: "synthetic-tail", severity: Severity::Warning, fix: Some(Fix::Content), since: "0.1.0" };

static WORDS: Words = Words {
    torn: "{loader} skips it; its next append lands on the same line and is lost too",
    unterminated: "{loader} reads it now; its next append goes on the same line, and both records are lost",
    self_parent: "{loader} never takes it for a leaf, and falls back to an older one",
    no_parent_key: "{loader} takes it for a root: what is above does not come back",
    cycle: "{loader} takes no record of a loop for a leaf; clients are reported to hang",
    parent_below: Some("{loader} finds it by id; the client flushes rows out of order"),
    repeated: "{loader} takes the last; counts and lists may show it twice",
    conflicting: "{loader} takes the last",
    no_id: "{loader} does not take it for a chain record: its children hang in the air",
    no_id_last: "{loader} does not take it for a chain record: its children hang in the air",
    headerless: "{loader} cannot load it",
    // The loader that was run is the SDK's; it hands on, and the client sends.
    as_it_stands: "{loader} brings it back as it stands; sent so,",
    void: "nothing: clients drop it, or the response was cut off here",
};

impl Judged for Claude {
    fn text(&self, code: &str) -> Option<&'static str> {
        texts::file(&TEXTS, code)
    }

    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn words(&self) -> &'static Words {
        &WORDS
    }

    fn shown(&self, _: &Context<'_>) -> Option<(usize, usize)> {
        None
    }
}

impl Lines for Claude {
    fn byte_order_mark(&self, _: u64) -> &'static str {
        "{loader} cannot read the first line: its record is lost"
    }

    fn raw_separator(&self, _: u64) -> (Severity, &'static str) {
        (Severity::Info, "{loader} reads it; its fork_session splits here and loses what is before it")
    }

    fn fork_cut(&self) -> Option<Cut> {
        Some(Cut::Separators)
    }

    fn not_an_object(&self, _: &Session, _: u32) -> (Severity, &'static str) {
        (Severity::Warning, "{loader} skips it")
    }

    fn mends_surrogates(&self) -> bool {
        false
    }
}

impl Links for Claude {
    fn check_chain(&self, view: &View<'_>, found: &mut Collector) {
        rules_chain::check(view, found);
    }

    fn needs_start(&self) -> bool {
        false
    }

    fn is_lawful_root(&self, view: &View<'_>, n: u32) -> bool {
        rules_chain::is_lawful_root(view, n)
    }

    fn second_writer(&self, view: &View<'_>, children: &[u32]) -> Option<(u32, u32)> {
        by_turns(view, children)
    }

    fn own_loops(&self, _: &Session) -> Vec<u32> {
        Vec::new()
    }

    fn replays(&self, session: &Session) -> Vec<(u32, u32)> {
        rules_chain::replays(session)
    }

    fn is_spoken(&self, record: &Record) -> bool {
        record.is_message()
    }

    fn only_aside(&self, session: &Session) -> bool {
        let facts = &session.facts;
        facts.hidden.is_empty()
            && !facts.records.iter().any(|r| is_visible(r) && session.graph.has_kind(r))
            && !facts.records.iter().any(|r| r.is_message() && !r.has(flag::ID_STRING))
    }

    fn missing_header(&self, _: &Session) -> Option<&'static str> {
        None
    }

    fn first_kept(&self, _: &Session, _: &Record) -> Option<Text> {
        None
    }

    fn knows_version(&self, _: &str) -> bool {
        true
    }

    /// Its head lies in another file, or was never written.
    fn begins_midway(&self, session: &Session) -> bool {
        session.chain.adopted.first().is_some_and(|&n| !session.record(n).parent.is_none())
    }
}

impl Calls for Claude {
    fn tools(&self) -> &'static Tools {
        &rules_calls::TOOLS
    }

    fn snapshot(&self, session: &Session, held: &Held, record: u32, block: u32) -> Option<bool> {
        rules_calls::snapshot(session, held, record, block)
    }

    fn split_pairs(&self, context: &Context<'_>, pairing: &Pairing) -> Split {
        rules_calls::split_pairs(context.session, pairing)
    }

    fn mends_pairs(&self, _: &Request, calls: bool) -> bool {
        calls
    }

    fn repeats_matter(&self, _: Api) -> bool {
        true
    }

    fn pairs_by_id(&self) -> bool {
        false
    }

    fn open_call(&self, _: &Context<'_>, _: &Call, tail: bool) -> Treatment {
        if !tail {
            return REFUSED;
        }
        healed(
            "{loader} brings it back open; clients make up an error result for a call at the end, and what the tool did is lost to the model",
        )
    }

    fn repeated_call(&self) -> Treatment {
        REFUSED
    }

    fn stray_result(&self, _: &Request, _: &Answer) -> Treatment {
        REFUSED
    }

    fn bad_input(&self, _: &Block, _: bool) -> Treatment {
        REFUSED
    }
}

impl Messages for Claude {
    fn check_messages(&self, context: &Context<'_>, cases: &mut Vec<Case>) {
        let session = context.session;
        let tail = made_up_tail(session);
        let Some(&first) = tail.last() else { return };
        // A notice that the request was refused is evidence, and has a finding of its own.
        if tail.iter().any(|&n| self.refusal(session, n).is_some()) {
            return;
        }
        let replies = tail.iter().any(|&n| !session.record(n).has(flag::API_ERROR));
        let weight = if tail.len() > 1 || replies { Weight::Warned } else { Weight::Noted };
        let shows = Does::Says("{loader} shows it as the last answer; clients go on from it");
        let count = u32::try_from(tail.len()).unwrap_or(u32::MAX);
        cases.push(Case::new(&SYNTHETIC_TAIL, (weight, shows), first, WHOLE).with(count));
    }

    fn tell(&self, context: &Context<'_>, case: &Case, finding: Finding) -> Finding {
        let notice = context.session.record(case.record).has(flag::API_ERROR);
        finding.fact("records", case.detail).fact("kind", if notice { "notice" } else { "reply" })
    }

    fn refusal(&self, session: &Session, record: u32) -> Option<u16> {
        let record = session.record(record);
        if !record.has(flag::API_ERROR) {
            return None;
        }
        let text = reread::text(&session.source, record).ok()?;
        let record = Value::parse(&text)?;
        let content = record.at(&["message", "content"])?;
        let said = content.text().or_else(|| content.items().iter().find_map(|block| block.get("text")?.text()))?;
        refusal::status(record.get("apiErrorStatus").and_then(|status| status.count()), &said.lossy())
    }

    fn void(&self, _: &Record, _: bool, _: bool) -> Treatment {
        REFUSED
    }

    fn misshapen(&self, session: &Session, record: &Record) -> Option<Wrong> {
        record.is_message().then(|| wire::misshapen(record).or_else(|| wrong_block(session, record)))?
    }

    fn misshape(&self, _: &Context<'_>, _: u32, _: Wrong, sent: bool) -> Treatment {
        if sent { REFUSED } else { NOTED }
    }

    /// Rows that the loader put behind a call of their response although their parent is another row: the SDK puts back
    /// rows that the way up does not meet behind the last one that it does.
    fn reordered(&self, context: &Context<'_>, span: (u32, u32)) -> Vec<u32> {
        let session = context.session;
        let mut found = Vec::new();
        let rows = &context.request.rows[span.0 as usize..span.1 as usize];
        let mut called = false;
        for pair in rows.windows(2) {
            let (before, n) = (pair[0].record, pair[1].record);
            let blocks = |n| session.facts.blocks_of(session.record(n)).iter();
            called |= blocks(before).any(|b| b.kind == BlockKind::Call);
            let parent = session.record(n).parent;
            let follows = parent == session.record(before).id || !session.record(n).has(flag::PARENT_STRING);
            if called && !follows && n < before && blocks(n).any(|b| is_thinking(b.kind)) {
                found.push(n);
            }
        }
        found
    }

    fn bad_signature(&self, _: bool, _: bool) -> Treatment {
        REFUSED
    }

    fn tool_reference(&self) -> Treatment {
        (
            Weight::Noted,
            Does::Says("if the tool is gone, clients before 2.1.233 are refused; later ones drop the reference"),
        )
    }

    fn undecodable_media(&self) -> Treatment {
        REFUSED
    }
}

/// The made-up records that the chain ends in, the last one first. Rows between them that the client writes beside its
/// notices (meta rows, attachments, its own system rows) do not end the run; a prompt that a person typed does.
pub(super) fn made_up_tail(session: &Session) -> Vec<u32> {
    let mut tail = Vec::new();
    for &n in session.chain.adopted.iter().rev() {
        let record = session.record(n);
        match record.kind {
            Kind::Assistant if record.any(flag::SYNTHETIC | flag::API_ERROR) => tail.push(n),
            Kind::User if !record.has(flag::META) => break,
            Kind::Assistant => break,
            _ => {}
        }
    }
    tail
}
