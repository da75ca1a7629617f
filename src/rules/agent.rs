//! What this room asks of an agent: what only its sessions can have, and what it does with what others have too.
//!
//! A sentence about what an agent does has `{loader}` where its loader's name stands ([`super::Context::says`]).

use super::api_verdict::{Case, Treatment};
use super::chain::View;
use super::messages::Wrong;
use super::store::agent::Stored;
use super::tools::{Held, Split, Tools};
use super::{Collector, Context};
use crate::finding::{Finding, Rule, Severity};
use crate::provider::Api;
use crate::record::agent::Cut;
use crate::record::facts::{Block, Record};
use crate::request::Request;
use crate::request::pairing::{Answer, Call, Pairing};
use crate::session::Session;
use crate::text::Text;

/// What this room has to know of an agent.
pub trait Judged: Stored + Lines + Links + Calls + Messages {
    /// What the agent does with what this rule finds, as `explain` tells it. None where it does nothing of its own.
    fn text(&self, code: &str) -> Option<&'static str>;

    /// The rules that only its sessions can break, by code.
    fn rules(&self) -> &'static [&'static Rule];

    /// What it does with what its sessions share with others.
    fn words(&self) -> &'static Words;

    /// How many messages are left after its own cleaning, and how many of them it shows. None where it does neither, or
    /// the session is not one that it resumes.
    fn shown(&self, context: &Context<'_>) -> Option<(usize, usize)>;
}

/// What an agent does, as sentences.
#[derive(Debug)]
pub struct Words {
    /// With a fragment behind the last line feed.
    pub torn: &'static str,
    /// With a last record that no line feed ends.
    pub unterminated: &'static str,
    /// With a record that is its own parent.
    pub self_parent: &'static str,
    /// With a record that has no parent key.
    pub no_parent_key: &'static str,
    /// With parents that come back to where they started.
    pub cycle: &'static str,
    /// With a parent that stands later in the file than its child. None where it never finds one, which breaks the chain.
    pub parent_below: Option<&'static str>,
    /// With a record that stands twice.
    pub repeated: &'static str,
    /// With two different records of one id.
    pub conflicting: &'static str,
    /// With a record that lacks an id.
    pub no_id: &'static str,
    /// With one that stands last.
    pub no_id_last: &'static str,
    /// With a file that it refuses because it has no header.
    pub headerless: &'static str,
    /// With what reaches the API; what that answers follows.
    pub as_it_stands: &'static str,
    /// With an empty or blank text that does no harm.
    pub void: &'static str,
}

/// What it does with lines and bytes.
pub trait Lines {
    /// A byte order mark in front of a file of this size.
    fn byte_order_mark(&self, size: u64) -> &'static str;

    /// A raw line separator inside a string, in a file of this size.
    fn raw_separator(&self, size: u64) -> (Severity, &'static str);

    /// How its fork cuts a file into texts, where that is known.
    fn fork_cut(&self) -> Option<Cut>;

    /// A line that is JSON and no object.
    fn not_an_object(&self, session: &Session, n: u32) -> (Severity, &'static str);

    /// Whether it takes halves of surrogate pairs out of what it sends.
    fn mends_surrogates(&self) -> bool;
}

/// What its loader makes of links.
pub trait Links {
    /// Finds what only its own chains can have.
    fn check_chain(&self, view: &View<'_>, found: &mut Collector);

    /// Whether it loads nothing when the way up does not reach the record that started the session.
    fn needs_start(&self) -> bool;

    /// Whether a root below other messages begins a chain by right.
    fn is_lawful_root(&self, view: &View<'_>, n: u32) -> bool;

    /// Two of the branches below one record that two writers made.
    fn second_writer(&self, view: &View<'_>, children: &[u32]) -> Option<(u32, u32)>;

    /// Records at which its way up meets a loop that the graph does not have.
    fn own_loops(&self, session: &Session) -> Vec<u32>;

    /// Repeats that it wrote itself, as pairs of the graph: a rule of its own tells them.
    fn replays(&self, session: &Session) -> Vec<(u32, u32)>;

    /// Whether a record is a message, a subagent's included.
    fn is_spoken(&self, record: &Record) -> bool;

    /// Whether all messages of a session are of a kind that no resume shows.
    fn only_aside(&self, session: &Session) -> bool;

    /// What it does without a header. None where that is there, or not needed.
    fn missing_header(&self, session: &Session) -> Option<&'static str>;

    /// The first record that a compaction keeps, as it is written.
    fn first_kept(&self, session: &Session, record: &Record) -> Option<Text>;

    /// Whether it knows this version of its format.
    fn knows_version(&self, stated: &str) -> bool;

    /// Whether the chain begins with a record whose parent it does not miss, although it is not there.
    fn begins_midway(&self, session: &Session) -> bool;
}

/// What it does with tool calls and results before it sends them.
pub trait Calls {
    /// Its own tools.
    fn tools(&self) -> &'static Tools;

    /// Whether the file that a call would write is in a snapshot of its turn. None where the session cannot tell.
    fn snapshot(&self, session: &Session, held: &Held, record: u32, block: u32) -> Option<bool>;

    /// Halves of pairs that a compaction or an edit parted from the other half.
    fn split_pairs(&self, context: &Context<'_>, pairing: &Pairing) -> Split;

    /// Whether what it sends had pairs to be mended, whatever the provider. `calls`: whether a finding about calls says
    /// that it mends something.
    fn mends_pairs(&self, request: &Request, calls: bool) -> bool;

    /// Whether an id that is called again in a later turn is a defect.
    fn repeats_matter(&self, api: Api) -> bool;

    /// Whether it pairs by id alone: a call is answered when any call of its id is.
    fn pairs_by_id(&self) -> bool;

    /// A call without a result. `tail`: nothing but results follows its response.
    fn open_call(&self, context: &Context<'_>, call: &Call, tail: bool) -> Treatment;

    /// A call whose id stands for another one too.
    fn repeated_call(&self) -> Treatment;

    /// A result that does not stand where it should.
    fn stray_result(&self, request: &Request, result: &Answer) -> Treatment;

    /// A call whose input is no object. `dropped`: its cleaning leaves the call out.
    fn bad_input(&self, call: &Block, dropped: bool) -> Treatment;
}

/// What it does with what stands in messages besides calls.
pub trait Messages {
    /// Finds what only its own messages can have.
    fn check_messages(&self, context: &Context<'_>, cases: &mut Vec<Case>);

    /// Adds what a finding of its own about messages tells beside the effect.
    fn tell(&self, context: &Context<'_>, case: &Case, finding: Finding) -> Finding;

    /// The status by which the provider refused the request itself, if the record keeps such an answer.
    fn refusal(&self, session: &Session, record: u32) -> Option<u16>;

    /// A message without content, or an empty or blank text. `dropped`: its cleaning leaves it out.
    fn void(&self, record: &Record, blank: bool, dropped: bool) -> Treatment;

    /// What is wrong with the shape of a message, as its loader and its cleaning look at it.
    fn misshapen(&self, session: &Session, record: &Record) -> Option<Wrong>;

    /// A message of a wrong shape. `sent`: it stands on the chain.
    fn misshape(&self, context: &Context<'_>, n: u32, wrong: Wrong, sent: bool) -> Treatment;

    /// Rows of one response (their places among the rows) that it brings back in another order than the model made them,
    /// and that think.
    fn reordered(&self, context: &Context<'_>, span: (u32, u32)) -> Vec<u32>;

    /// Thinking that the provider would not take for its own. `foreign`: of another model, or without a signature;
    /// `dropped`: its cleaning leaves the message out.
    fn bad_signature(&self, foreign: bool, dropped: bool) -> Treatment;

    /// A reference to a tool, wherever it stands.
    fn tool_reference(&self) -> Treatment;

    /// An image that cannot be decoded.
    fn undecodable_media(&self) -> Treatment;
}
