//! sid-code: what only its sessions can have, and what it does with what others have too.

use include_dir::{Dir, include_dir};

use super::Sid;
use crate::agents::wire;
use crate::chain::{Mode, Stop};
use crate::finding::{Finding, Rule, Severity};
use crate::provider::Api;
use crate::record::agent::{Cut, Records};
use crate::record::facts::{Block, Kind, Record, flag};
use crate::request::pairing::{Answer, Call, Pairing, State};
use crate::request::{CleanupPass, Request, WHOLE, tail};
use crate::rules::agent::{Calls, Judged, Lines, Links, Messages, Words};
use crate::rules::api_verdict::{Case, Does, NOTED, REFUSED, Treatment, Weight, healed};
use crate::rules::chain::View;
use crate::rules::messages::{Wrong, wrong_block};
use crate::rules::tools::{Held, Split, Tools};
use crate::rules::{Collector, Context, texts};
use crate::session::{Session, Shape};
use crate::text::Text;

static TEXTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/agents/sid/texts");

static RULES: &[&Rule] = &[&LINEAR_READING, &RETIRED_PERMISSION_MODE];

static LINEAR_READING: Rule =
    Rule { code: "C224", name: "linear-reading", severity: Severity::Warning, fix: None, since: "0.1.0" };

static RETIRED_PERMISSION_MODE: Rule =
    Rule { code: "M415", name: "retired-permission-mode", severity: Severity::Info, fix: None, since: "0.1.0" };

static WORDS: Words = Words {
    torn: "{loader} skips it; its next append lands on the same line and is lost too",
    unterminated: "{loader} reads it now; its next append goes on the same line, and both records are lost",
    self_parent: "{loader} stops here",
    no_parent_key: "{loader} takes it for a root: what is above does not come back",
    cycle: "{loader} stops at the first repeat",
    parent_below: None,
    repeated: "{loader} takes the one nearest above the child",
    conflicting: "{loader} takes the one nearest above the child",
    no_id: "{loader} never finds it",
    no_id_last: "{loader} takes it for the tail: the next resume starts a chain of its own",
    headerless: "{loader} cannot load it",
    as_it_stands: "{loader} sends it as it stands;",
    void: "nothing: clients drop it, or the response was cut off here",
};

static TOOLS: Tools = Tools {
    reads: &[
        "read",
        "read_file",
        "ls",
        "list",
        "grep",
        "glob",
        "find",
        "search",
        "todo",
        "todo_read",
        "todo_write",
        "web_fetch",
        "web_search",
        "ask_user",
    ],
    writes: &["write", "write_file", "edit", "edit_file", "multi_edit", "notebook_edit"],
};

/// What a pass of its cleaning does with the message that it is about.
const DROPPED: Treatment = healed("{loader} drops the message when it loads");

impl Judged for Sid {
    fn text(&self, code: &str) -> Option<&'static str> {
        texts::file(&TEXTS, code)
    }

    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn words(&self) -> &'static Words {
        &WORDS
    }

    /// As its recovery counts them. A summary file, which nothing but its tests writes, makes it fewer: `predict` tells
    /// that tail.
    fn shown(&self, context: &Context<'_>) -> Option<(usize, usize)> {
        let (session, sent) = (context.session, context.request);
        let resumes = session.shape != Shape::Sidechain && session.chain.refusal.is_none() && sent.throws.is_none();
        resumes.then(|| (sent.cleaned_count(), tail::shown(&session.facts, sent, false)))
    }
}

impl Lines for Sid {
    fn byte_order_mark(&self, size: u64) -> &'static str {
        match self.cut(size) {
            Cut::TrimmedLines => "{loader} trims it; beyond 4 MiB the first record would be lost",
            _ => "{loader} cannot read the first line: its record is lost",
        }
    }

    fn raw_separator(&self, size: u64) -> (Severity, &'static str) {
        match self.cut(size) {
            Cut::Separators => {
                (Severity::Error, "{loader} streams files over 4 MiB and splits the line here: the record is lost")
            }
            _ => (Severity::Info, "{loader} reads it"),
        }
    }

    fn fork_cut(&self) -> Option<Cut> {
        None
    }

    fn not_an_object(&self, session: &Session, n: u32) -> (Severity, &'static str) {
        if session.chain.mode == Mode::Linear && session.record(n).has(flag::IS_NULL) {
            return (Severity::Error, "{loader} throws: the session cannot be loaded");
        }
        if n as usize + 1 == session.facts.records.len() {
            return (Severity::Error, "{loader} takes it for the tail and reads the whole file in physical order");
        }
        (Severity::Warning, "{loader} skips it")
    }

    fn mends_surrogates(&self) -> bool {
        false
    }
}

impl Links for Sid {
    fn check_chain(&self, view: &View<'_>, found: &mut Collector) {
        let session = view.context.session;
        if session.chain.mode != Mode::Linear || session.shape != Shape::Main {
            return;
        }
        let named = session.facts.records.iter().filter(|r| r.has(flag::ID_STRING)).count();
        let Some(tail) = session.chain.leaf.filter(|_| named > 0) else { return };
        let effect =
            "{loader} reads the file in physical order, branches mixed; the next resume starts a chain of its own";
        found.add(
            LINEAR_READING
                .at(view.context.place(tail))
                .effect(view.context.says(effect))
                .fact("records_with_ids", named),
        );
    }

    fn needs_start(&self) -> bool {
        true
    }

    /// A root whose key is missing is C209's.
    fn is_lawful_root(&self, view: &View<'_>, n: u32) -> bool {
        let record = view.context.session.record(n);
        record.kind == Kind::Start || !record.has(flag::PARENT_KEY) || record.id == record.parent
    }

    /// Any two records of different ids below one.
    fn second_writer(&self, view: &View<'_>, children: &[u32]) -> Option<(u32, u32)> {
        let session = view.context.session;
        let (first, rest) = children.split_first()?;
        let other = rest.iter().find(|&&c| session.record(c).id != session.record(*first).id)?;
        Some((*first, *other))
    }

    /// Where the first copy of an id wins, a loop may close that the graph does not have: the loader walks upwards and
    /// meets the nearest copy, so the end of its walk tells.
    fn own_loops(&self, session: &Session) -> Vec<u32> {
        let repeat = match session.chain.stop {
            Stop::Repeat(n) if session.record(n).id != session.record(n).parent => Some(n),
            _ => None,
        };
        repeat.into_iter().collect()
    }

    fn replays(&self, _: &Session) -> Vec<(u32, u32)> {
        Vec::new()
    }

    fn is_spoken(&self, record: &Record) -> bool {
        record.is_message() || record.kind == Kind::TranscriptMessage
    }

    fn only_aside(&self, _: &Session) -> bool {
        false
    }

    fn missing_header(&self, session: &Session) -> Option<&'static str> {
        let records = &session.facts.records;
        let started =
            records.iter().chain(&session.facts.hidden).any(|r| r.kind == Kind::Start && r.has(flag::SESSION_ID));
        let missing = session.shape == Shape::Main && !started && records.iter().any(Record::is_message);
        missing.then_some("{loader} returns null: no start record with a session id")
    }

    fn first_kept(&self, _: &Session, _: &Record) -> Option<Text> {
        None
    }

    fn knows_version(&self, stated: &str) -> bool {
        matches!(stated, "0.0" | "1.0" | "2.0" | "3.0")
    }

    fn begins_midway(&self, _: &Session) -> bool {
        false
    }
}

impl Calls for Sid {
    fn tools(&self) -> &'static Tools {
        &TOOLS
    }

    /// Its snapshots are in another layer.
    fn snapshot(&self, _: &Session, _: &Held, _: u32, _: u32) -> Option<bool> {
        None
    }

    fn split_pairs(&self, _: &Context<'_>, _: &Pairing) -> Split {
        Split::default()
    }

    fn mends_pairs(&self, request: &Request, _: bool) -> bool {
        request.integrity.as_ref().is_some_and(|[raw, _]| !raw.orphans.is_empty())
    }

    fn repeats_matter(&self, api: Api) -> bool {
        api == Api::Anthropic
    }

    fn pairs_by_id(&self) -> bool {
        true
    }

    /// Its cleaning looks at results of any message, its integrity check at those of the user.
    fn open_call(&self, context: &Context<'_>, call: &Call, _: bool) -> Treatment {
        if context.request.fate(call.row, call.block).is_none() {
            return healed("{loader} keeps the call and answers it with a placeholder in every request");
        }
        match context.session.shape {
            Shape::Sidechain => healed("{loader} leaves the call out when it puts the subagent's history together"),
            _ => healed("{loader} drops the call when it loads: the model does not know that it was made"),
        }
    }

    fn repeated_call(&self) -> Treatment {
        REFUSED
    }

    fn stray_result(&self, request: &Request, result: &Answer) -> Treatment {
        match result.state {
            State::Dangling if request.fate(result.row, result.block).is_some() => {
                healed("{loader} drops the message that holds it, for another block in it")
            }
            // Nothing to drop from the file: what is sent is made anew each time.
            State::Dangling => {
                (Weight::Noted, Does::Says("{loader} keeps the result and takes it out of every request"))
            }
            _ => REFUSED,
        }
    }

    fn bad_input(&self, _: &Block, dropped: bool) -> Treatment {
        if dropped { healed("{loader} drops the call, which has no result") } else { REFUSED }
    }
}

impl Messages for Sid {
    fn check_messages(&self, context: &Context<'_>, cases: &mut Vec<Case>) {
        let sent = context.request;
        let keeps = (Weight::Noted, Does::Says("{loader} clears the mode and keeps the message"));
        let retired = sent.drops.iter().filter(|d| d.pass == CleanupPass::PermissionMode);
        let record = retired.map(|d| sent.rows[d.row as usize].record);
        cases.extend(record.map(|n| Case::new(&RETIRED_PERMISSION_MODE, keeps, n, WHOLE)));
    }

    fn tell(&self, _: &Context<'_>, _: &Case, finding: Finding) -> Finding {
        finding
    }

    /// It keeps no errors of the provider.
    fn refusal(&self, _: &Session, _: u32) -> Option<u16> {
        None
    }

    fn void(&self, _: &Record, _: bool, dropped: bool) -> Treatment {
        if dropped { DROPPED } else { REFUSED }
    }

    fn misshapen(&self, session: &Session, record: &Record) -> Option<Wrong> {
        let wrong = match record.kind {
            Kind::NonObject if session.shape == Shape::Legacy => return Some(Wrong::Message),
            // A sidechain's role "tool" is one of its own; an unknown one becomes the user's.
            Kind::TranscriptMessage => {
                (!record.any(flag::CONTENT_ARRAY | flag::CONTENT_STRING)).then_some(Wrong::Content)
            }
            _ if record.is_message() => wire::misshapen(record),
            _ => return None,
        };
        wrong.or_else(|| wrong_block(session, record))
    }

    /// The cleaning throws on it, or the loader does.
    fn misshape(&self, context: &Context<'_>, n: u32, wrong: Wrong, sent: bool) -> Treatment {
        match wrong {
            _ if !sent => NOTED,
            Wrong::Message | Wrong::Content => wrong.breaks(),
            _ if context.request.throws == Some(n) => wrong.breaks(),
            _ => REFUSED,
        }
    }

    fn reordered(&self, _: &Context<'_>, _: (u32, u32)) -> Vec<u32> {
        Vec::new()
    }

    fn bad_signature(&self, _: bool, dropped: bool) -> Treatment {
        if dropped { DROPPED } else { REFUSED }
    }

    fn tool_reference(&self) -> Treatment {
        (Weight::Noted, Does::Says("if the tool is gone, whether the request is refused is not known here"))
    }

    fn undecodable_media(&self) -> Treatment {
        REFUSED
    }
}
