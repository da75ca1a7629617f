//! pi, OpenClaw and oh-my-pi: what only their sessions can have, and what they do with what others have too.

use include_dir::{Dir, include_dir};

use super::{Pi, rules_chain, rules_screens};
use crate::chain::Refusal;
use crate::chain::graph::numbered;
use crate::finding::{Finding, Fix, Rule, Severity};
use crate::provider::Api;
use crate::record::agent::Cut;
use crate::record::facts::{Block, BlockKind, Kind, Record, block, flag};
use crate::record::reread;
use crate::request::pairing::{Answer, Call, NONE, Pairing, State};
use crate::request::{IdMap, Request, WHOLE};
use crate::rules::agent::{Calls, Judged, Lines, Links, Messages, Words};
use crate::rules::api_verdict::{Case, Does, NOTED, REFUSED, Treatment, Weight, healed};
use crate::rules::chain::{View, by_turns};
use crate::rules::messages::{Wrong, wrong_block};
use crate::rules::tools::{Held, Split, Tools};
use crate::rules::{Collector, Context, texts};
use crate::session::Session;
use crate::text::Text;

static TEXTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/agents/pi/texts");

static RULES: &[&Rule] = &[
    &REPEATED_HEADER,
    &rules_screens::FIRST_FRAME_THROWS,
    &rules_screens::TREE_THROWS,
    &rules_chain::EMPTY_SUMMARY,
    &rules_chain::UNVERSIONED_TREE,
    &FAILED_TURN,
];

pub(super) static REPEATED_HEADER: Rule =
    Rule { code: "C221", name: "repeated-header", severity: Severity::Warning, fix: Some(Fix::Links), since: "0.1.0" };

static FAILED_TURN: Rule =
    Rule { code: "M416", name: "failed-turn", severity: Severity::Info, fix: None, since: "0.1.0" };

/// In what the agents that keep pi's records treat them differently.
#[derive(Debug)]
pub(super) struct Habits {
    words: Words,
    byte_order_mark: &'static str,
    /// A line that is null.
    null_line: (Severity, &'static str),
    /// A last line that is no object.
    last_line: (Severity, &'static str),
    /// Whether an id that is called again in a later turn is a defect.
    repeats_matter: bool,
    repeated_call: Treatment,
    displaced_result: Treatment,
    repeated_result: Treatment,
    result_of_failed_turn: Treatment,
    dangling_result: Treatment,
    /// What it sends in the place of an input that is not there.
    missing_input: Option<&'static str>,
    /// What it does with a blank prompt.
    blank_prompt: Treatment,
    /// What it does with content that is null; none where it sends it.
    null_content: Option<&'static str>,
    undecodable_media: Treatment,
}

const PI_WORDS: Words = Words {
    torn: "{loader} ends the fragment with a line feed when it opens the file; it stays as a bad line",
    unterminated: "{loader} appends the line feed when it opens the file; versions before 1.0 glue the next record to it",
    self_parent: "{loader} never returns",
    no_parent_key: "{loader} takes it for a root: what is above does not come back",
    cycle: "{loader} never returns and runs out of memory",
    parent_below: Some(FOUND_BY_ID),
    repeated: "{loader} takes the last and lists both",
    conflicting: "{loader} takes the last",
    no_id: "{loader} cannot reach it by id",
    no_id_last: NO_LEAF,
    headerless: REFUSES_FILE,
    as_it_stands: "{loader} sends it as it stands;",
    void: "{loader} leaves the block out",
};

/// pi 1.6.0.
const PI: Habits = Habits {
    words: PI_WORDS,
    byte_order_mark: REFUSES_FILE,
    null_line: (Severity::Error, "{loader} skips it; pi 0.73.1 throws and cannot open the session"),
    last_line: (Severity::Error, "{loader} takes it for the leaf: the context is empty"),
    // Its pairing is by turn, and it sends such histories to any provider (h06).
    repeats_matter: false,
    repeated_call: REFUSED,
    displaced_result: (
        Weight::Refused,
        Does::Sends("an error result is made up for the call and the real one comes after it: 400"),
    ),
    repeated_result: REFUSED,
    result_of_failed_turn: (
        Weight::Refused,
        Does::Sends("its turn is left out, so the API answers 400 to every prompt"),
    ),
    dangling_result: REFUSED,
    missing_input: Some("{loader} sends an empty input in its place"),
    blank_prompt: LEFT_OUT,
    null_content: Some("{loader} takes it for empty; 0.73.1 crashes on it"),
    undecodable_media: REFUSED,
};

/// What pi does.
pub(super) static PI_HABITS: Habits = PI;

/// oh-my-pi 18.2.3. What was not run with it is taken to be as pi has it.
pub(super) static OMP: Habits = Habits {
    words: Words { headerless: "{loader} opens the file and brings back nothing", ..PI_WORDS },
    byte_order_mark: "{loader} was not run on it; pi 1.6.0 refuses the file",
    null_content: Some("{loader} is taken to treat it as empty, as pi 1.6.0 does"),
    ..PI
};

/// OpenClaw 2026.7.35.
pub(super) static OPENCLAW: Habits = Habits {
    words: Words {
        torn: "{loader} cuts it when it repairs the file",
        unterminated: "{loader} puts a separator before its next append",
        self_parent: "{loader} stops here",
        no_parent_key: "{loader} attaches it to the current leaf",
        cycle: "{loader} stops at the first repeat",
        parent_below: Some(FOUND_BY_ID),
        repeated: "{loader} takes the last and lists both",
        conflicting: "{loader} takes the last",
        no_id: "{loader} cannot reach it by id",
        no_id_last: NO_LEAF,
        headerless: REFUSES_FILE,
        as_it_stands: "{loader} sends it as it stands;",
        void: "{loader} leaves the block out",
    },
    byte_order_mark: "{loader} reads it; its repair calls the header invalid",
    null_line: SKIPPED,
    last_line: SKIPPED,
    repeats_matter: true,
    repeated_call: (
        Weight::Refused,
        Does::Says("{loader} keeps one result per id and sends the later call without its own"),
    ),
    displaced_result: healed("{loader} moves the result next to its call"),
    repeated_result: healed("{loader} keeps the first result"),
    result_of_failed_turn: (
        Weight::Warned,
        Does::Says("{loader} keeps both through its pairing; what its request builder drops was not run"),
    ),
    dangling_result: healed("{loader} drops the result before it sends"),
    missing_input: None,
    blank_prompt: healed("{loader} rewrites it in the file as \"(continue)\""),
    null_content: None,
    undecodable_media: healed("{loader} takes the image out of the file before it loads it"),
};

const REFUSES_FILE: &str = "{loader} refuses the file: not a valid pi session";
const FOUND_BY_ID: &str = "{loader} finds it by id; the last line of the file is the leaf";
const NO_LEAF: &str = "{loader} has no leaf: its next append has no parent, and the history is lost on the load after";
const SKIPPED: (Severity, &str) = (Severity::Warning, "{loader} skips it");

/// White space is left out, and a message when nothing else is in it.
const LEFT_OUT: Treatment = healed("{loader} leaves it out of the request");

impl Judged for Pi {
    fn text(&self, code: &str) -> Option<&'static str> {
        texts::file(&TEXTS, code)
    }

    fn rules(&self) -> &'static [&'static Rule] {
        RULES
    }

    fn words(&self) -> &'static Words {
        &self.habits.words
    }

    fn shown(&self, _: &Context<'_>) -> Option<(usize, usize)> {
        None
    }
}

impl Lines for Pi {
    fn byte_order_mark(&self, _: u64) -> &'static str {
        self.habits.byte_order_mark
    }

    fn raw_separator(&self, _: u64) -> (Severity, &'static str) {
        (Severity::Info, "{loader} reads it")
    }

    fn fork_cut(&self) -> Option<Cut> {
        None
    }

    fn not_an_object(&self, session: &Session, n: u32) -> (Severity, &'static str) {
        match n as usize + 1 == session.facts.records.len() {
            _ if session.record(n).has(flag::IS_NULL) => self.habits.null_line,
            true => self.habits.last_line,
            false => SKIPPED,
        }
    }

    /// pi-ai's providers take unpaired halves out of every text before they send (read in the source, not run).
    fn mends_surrogates(&self) -> bool {
        true
    }
}

impl Links for Pi {
    fn check_chain(&self, view: &View<'_>, found: &mut Collector) {
        let records = &view.context.session.facts.records;
        let headers: Vec<u32> = numbered(records).filter(|(_, r)| r.kind == Kind::Start).map(|(n, _)| n).collect();
        if let [_, again, ..] = headers[..] {
            found.add(
                REPEATED_HEADER
                    .at(view.context.place(again))
                    .effect(view.context.says("{loader} ignores it; what follows it repeats what was there"))
                    .fact("headers", headers.len()),
            );
        }
        rules_chain::check(self, view, found);
        if self.pi_screens {
            rules_screens::check(view.context, found);
        }
    }

    fn needs_start(&self) -> bool {
        false
    }

    fn is_lawful_root(&self, _: &View<'_>, _: u32) -> bool {
        true
    }

    fn second_writer(&self, view: &View<'_>, children: &[u32]) -> Option<(u32, u32)> {
        by_turns(view, children)
    }

    fn own_loops(&self, _: &Session) -> Vec<u32> {
        Vec::new()
    }

    fn replays(&self, _: &Session) -> Vec<(u32, u32)> {
        Vec::new()
    }

    fn is_spoken(&self, record: &Record) -> bool {
        record.is_message()
    }

    fn only_aside(&self, _: &Session) -> bool {
        false
    }

    fn missing_header(&self, session: &Session) -> Option<&'static str> {
        let missing = session.chain.refusal == Some(Refusal::NoHeader) && !session.facts.records.is_empty();
        missing.then_some(match self.title_row {
            true => "{loader} opens the file and brings back nothing",
            false => "{loader} refuses the file; pi before 0.80.3 overwrites it with a fresh header when it opens it",
        })
    }

    fn first_kept(&self, session: &Session, record: &Record) -> Option<Text> {
        reread::field(&session.source, record, &["firstKeptEntryId"])
    }

    fn knows_version(&self, stated: &str) -> bool {
        stated.parse::<f64>().is_ok_and(|v| v <= 3.0)
    }

    fn begins_midway(&self, _: &Session) -> bool {
        false
    }
}

impl Calls for Pi {
    fn tools(&self) -> &'static Tools {
        static TOOLS: Tools = Tools { reads: &["read", "grep", "find", "ls"], writes: &["write", "edit"] };
        &TOOLS
    }

    fn snapshot(&self, _: &Session, _: &Held, _: u32, _: u32) -> Option<bool> {
        Some(false)
    }

    /// Halves of pairs that stand on the path and not in the request.
    fn split_pairs(&self, context: &Context<'_>, pairing: &Pairing) -> Split {
        let mut split = Split::default();
        let (session, sent) = (context.session, context.request);
        let off = pairing.results.iter().any(|r| r.state == State::Dangling)
            || pairing.calls.iter().any(|c| c.answer == NONE);
        if !off {
            return split;
        }
        let mut latest: IdMap<u32> = IdMap::default();
        for &n in &session.chain.adopted {
            let record = session.record(n);
            if !record.is_message() || record.has(flag::FAILED) {
                continue;
            }
            let here = sent.reaches(n);
            for b in session.facts.blocks_of(record).iter().filter(|b| b.flags & block::NO_ID == 0) {
                match b.kind {
                    BlockKind::Call => drop(latest.insert(b.id, n)),
                    BlockKind::Result => {
                        let Some(&call) = latest.get(&b.id) else { continue };
                        // An edit may have put a text in the place of a message with calls.
                        let called = sent.reaches(call) && !sent.is_edited(call);
                        match (here, called) {
                            (true, false) => drop(split.results.insert((n, b.id))),
                            (false, true) => drop(split.calls.insert((call, b.id))),
                            _ => {}
                        }
                    }
                    _ => {}
                }
            }
        }
        split
    }

    fn mends_pairs(&self, _: &Request, calls: bool) -> bool {
        calls
    }

    fn repeats_matter(&self, _: Api) -> bool {
        self.habits.repeats_matter
    }

    fn pairs_by_id(&self) -> bool {
        false
    }

    fn open_call(&self, _: &Context<'_>, _: &Call, _: bool) -> Treatment {
        healed("{loader} makes up an error result; the tool's own answer is lost to the model")
    }

    fn repeated_call(&self) -> Treatment {
        self.habits.repeated_call
    }

    fn stray_result(&self, _: &Request, result: &Answer) -> Treatment {
        match result.state {
            State::After | State::Before => self.habits.displaced_result,
            State::Repeated => self.habits.repeated_result,
            State::OfFailed(_) => self.habits.result_of_failed_turn,
            State::Dangling => self.habits.dangling_result,
            State::Paired => NOTED,
        }
    }

    fn bad_input(&self, call: &Block, _: bool) -> Treatment {
        let missing = self.habits.missing_input.filter(|_| call.flags & block::EMPTY != 0);
        missing.map_or(REFUSED, healed)
    }
}

impl Messages for Pi {
    fn check_messages(&self, context: &Context<'_>, cases: &mut Vec<Case>) {
        let facts = &context.session.facts;
        let left_out = (Weight::Noted, Does::Says("{loader} leaves the turn out of the request"));
        for (n, record) in numbered(&facts.records) {
            let void = || facts.blocks_of(record).iter().all(|b| b.flags & (block::EMPTY | block::BLANK) != 0);
            if record.kind == Kind::Assistant && record.has(flag::FAILED) && void() {
                cases.push(Case::new(&FAILED_TURN, left_out, n, WHOLE));
            }
        }
    }

    fn tell(&self, _: &Context<'_>, _: &Case, finding: Finding) -> Finding {
        finding
    }

    fn void(&self, record: &Record, blank: bool, _: bool) -> Treatment {
        if blank && record.kind == Kind::User { self.habits.blank_prompt } else { LEFT_OUT }
    }

    fn misshapen(&self, session: &Session, record: &Record) -> Option<Wrong> {
        if record.is_message() {
            // Only the model's content is walked as a list without a look.
            let content = record.any(flag::CONTENT_ARRAY | flag::CONTENT_STRING);
            if !content || (record.kind == Kind::Assistant && record.has(flag::CONTENT_STRING)) {
                return Some(Wrong::Content);
            }
            return wrong_block(session, record);
        }
        let role = record.kind == Kind::Other && record.has(flag::ROLE_BAD);
        role.then_some(if record.has(flag::MESSAGE) { Wrong::Role } else { Wrong::Message })
    }

    /// Null content is none, unknown roles are dropped; a record without a message raises.
    fn misshape(&self, context: &Context<'_>, n: u32, wrong: Wrong, sent: bool) -> Treatment {
        let record = context.session.record(n);
        match (wrong, self.habits.null_content) {
            (Wrong::Role, _) if !sent || record.has(flag::ROLE_WORD) => {
                (Weight::Noted, Does::Says("{loader} does not know the role and leaves the message out"))
            }
            _ if !sent => NOTED,
            (Wrong::Message, _) => wrong.breaks(),
            // What a compaction or an edit keeps out of the request is not read.
            (Wrong::Content | Wrong::Block, _) if !context.request.reaches(n) => NOTED,
            (Wrong::Role, _) => healed("{loader} drops the message"),
            (Wrong::Content, Some(_)) if record.any(flag::CONTENT_OTHER | flag::CONTENT_STRING) => wrong.breaks(),
            (Wrong::Content, Some(empty)) => healed(empty),
            (Wrong::Content, None) | (Wrong::Block, _) => REFUSED,
        }
    }

    fn reordered(&self, _: &Context<'_>, _: (u32, u32)) -> Vec<u32> {
        Vec::new()
    }

    /// Thinking of another model than the next one is sent as text; so is what has no signature.
    fn bad_signature(&self, foreign: bool, dropped: bool) -> Treatment {
        if foreign || dropped { healed("{loader} sends the thinking as plain text") } else { REFUSED }
    }

    fn tool_reference(&self) -> Treatment {
        (Weight::Noted, Does::Says("if the tool is gone, whether the request is refused is not known here"))
    }

    fn undecodable_media(&self) -> Treatment {
        self.habits.undecodable_media
    }
}
