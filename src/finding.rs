//! What a rule says: code, place, facts. How it is worded and whether it is shown is decided elsewhere
//! (`rules::registry` holds the text, the gate in `rules` the policy, `report` the words on the page).

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use crate::text::Text;
use serde::{Serialize, Serializer};

/// How bad a finding is for this agent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// worth knowing; a healthy store may have it
    Info,
    /// something is lost, hidden or about to be; healthy stores do not have it
    Warning,
    /// a healthy store never has it
    Error,
}

impl Severity {
    /// The word in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// How far a repair has to go to answer a finding. Ordered: each class includes the ones before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Fix {
    /// line ends, separators and fragments that are no record for any loader; every whole record stays where it is
    Bytes,
    /// ids and parent pointers, line order, dropping a record of which an equal copy stays
    Links,
    /// a message part is replaced or leaves, or something is made up
    Content,
}

impl Fix {
    /// The word in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Fix::Bytes => "bytes",
            Fix::Links => "links",
            Fix::Content => "content",
        }
    }
}

/// One rule of the catalogue: declared once, in its family's file under `rules/`. Its text is in `rules/texts/`.
#[derive(Debug)]
pub struct Rule {
    /// Family letter and three digits, never reused.
    pub code: &'static str,
    /// The pattern that is found, not its cure.
    pub name: &'static str,
    /// Severity unless the rule says otherwise at the place.
    pub severity: Severity,
    /// How far a repair has to go; none: reported, never touched.
    pub fix: Option<Fix>,
    /// The version of sid-audit that brought it.
    pub since: &'static str,
}

/// What a rule is about: the letter of its code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Lines and bytes.
    Lines,
    /// The chain.
    Chain,
    /// Tool calls and results.
    Tools,
    /// Messages.
    Messages,
    /// Sessions and stores.
    Store,
    /// Usage.
    Usage,
    /// The field census.
    Census,
    /// Checkpoints.
    Checkpoints,
}

impl Rule {
    /// What it is about.
    pub fn family(&self) -> Family {
        match self.code.as_bytes().first() {
            Some(b'L') => Family::Lines,
            Some(b'C') => Family::Chain,
            Some(b'T') => Family::Tools,
            Some(b'M') => Family::Messages,
            Some(b'S') => Family::Store,
            Some(b'U') => Family::Usage,
            Some(b'F') => Family::Census,
            _ => Family::Checkpoints,
        }
    }
}

/// A rule is known by its code: two declarations never share one.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl Eq for Rule {}

impl PartialOrd for Rule {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rule {
    fn cmp(&self, other: &Self) -> Ordering {
        self.code.cmp(other.code)
    }
}

/// Its code.
impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.code)
    }
}

/// As its code.
impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.code)
    }
}

/// The codes of some rules in one line.
pub fn codes(rules: &[&Rule]) -> String {
    rules.iter().map(|rule| rule.code).collect::<Vec<_>>().join(", ")
}

/// How much a finding weighs on the verdict whether the next prompt would be answered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Weight {
    /// Not in the request, or of no consequence there.
    Noted,
    /// The tool is running, or its result is being written.
    InFlight,
    /// Something is lost, whatever the API says.
    Warned,
    /// The agent leaves it out or makes something up before it sends.
    Healed,
    /// The API refuses the request.
    Refused,
    /// The agent itself fails on it, whatever the provider.
    Breaks,
}

/// How much a finding weighs on the verdict what a resume brings back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Loss {
    /// It costs no message.
    Nothing,
    /// Messages do not come back.
    Some,
    /// No message comes back.
    All,
}

/// What brought a finding about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Another finding: its rule, and its line where it has one.
    Finding(&'static Rule, Option<u64>),
    /// One of the fixed words.
    Word(&'static str),
}

impl Cause {
    /// A finding of this rule at a line.
    pub fn at(rule: &'static Rule, line: impl Into<u64>) -> Self {
        Cause::Finding(rule, Some(line.into()))
    }
}

impl From<&'static str> for Cause {
    fn from(word: &'static str) -> Self {
        Cause::Word(word)
    }
}

impl From<&'static Rule> for Cause {
    fn from(rule: &'static Rule) -> Self {
        Cause::Finding(rule, None)
    }
}

/// `L106@12`, `L106` or the word.
impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Finding(rule, Some(line)) => write!(out, "{rule}@{line}"),
            Cause::Finding(rule, None) => write!(out, "{rule}"),
            Cause::Word(word) => out.write_str(word),
        }
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// When the clean-up of an agent deletes files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// At its next start.
    NextStart,
    /// At a start within a week.
    Soon,
}

impl When {
    /// The words in reports.
    pub fn name(self) -> &'static str {
        match self {
            When::NextStart => "next start",
            When::Soon => "within 7 days",
        }
    }
}

/// That the clean-up of an agent deletes files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deletion {
    /// The files, at most so many as a report names.
    pub files: Vec<String>,
    /// Why it takes them.
    pub reason: String,
    /// When it does.
    pub when: When,
    /// The setting that decides.
    pub setting: String,
    /// The time from which on it does, or words for it.
    pub date: String,
}

/// Where something stands in a file. Lines count from 1, blank lines included; offsets and lengths are bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Place {
    /// Physical line.
    pub line: Option<u64>,
    /// First byte.
    pub offset: Option<u64>,
    /// Number of bytes.
    pub length: Option<u64>,
    /// The record's own id.
    pub id: Option<Text>,
}

impl Place {
    /// A whole line.
    pub fn line(line: u64) -> Self {
        Place { line: Some(line), ..Place::default() }
    }

    /// A stretch of bytes on a line.
    pub fn span(line: u64, offset: u64, length: u64) -> Self {
        Place { line: Some(line), offset: Some(offset), length: Some(length), id: None }
    }

    /// The same place with the record's id.
    #[must_use]
    pub fn with_id(mut self, id: Option<Text>) -> Self {
        self.id = id;
        self
    }
}

/// The value of a fact: ids, places, sizes, times, names; never message text.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Fact {
    /// A count, a size in bytes, a line.
    Number(i64),
    /// A share or a ratio.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// A word, an id, a path.
    Word(String),
    /// Several of them.
    Words(Vec<String>),
    /// Several numbers.
    Numbers(Vec<i64>),
}

impl From<u64> for Fact {
    fn from(value: u64) -> Self {
        Fact::Number(i64::try_from(value).unwrap_or(i64::MAX))
    }
}
impl From<usize> for Fact {
    fn from(value: usize) -> Self {
        Fact::from(value as u64)
    }
}
impl From<u32> for Fact {
    fn from(value: u32) -> Self {
        Fact::Number(i64::from(value))
    }
}
impl From<i64> for Fact {
    fn from(value: i64) -> Self {
        Fact::Number(value)
    }
}
impl From<f64> for Fact {
    fn from(value: f64) -> Self {
        Fact::Real(value)
    }
}
impl From<bool> for Fact {
    fn from(value: bool) -> Self {
        Fact::Flag(value)
    }
}
impl From<&str> for Fact {
    fn from(value: &str) -> Self {
        Fact::Word(value.to_owned())
    }
}
impl From<String> for Fact {
    fn from(value: String) -> Self {
        Fact::Word(value)
    }
}
impl From<&Text> for Fact {
    fn from(value: &Text) -> Self {
        Fact::Word(value.lossy())
    }
}
impl From<Vec<String>> for Fact {
    fn from(value: Vec<String>) -> Self {
        Fact::Words(value)
    }
}
impl From<Vec<i64>> for Fact {
    fn from(value: Vec<i64>) -> Self {
        Fact::Numbers(value)
    }
}

/// One finding: a rule at a place.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule that speaks.
    pub rule: &'static Rule,
    /// Its severity here.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// The file, when it is not the session that the finding is listed under.
    pub path: Option<Box<std::path::Path>>,
    /// What brought it about, where that is known.
    pub cause: Option<Cause>,
    /// How much it weighs on the verdict whether the next prompt would be answered.
    pub api: Weight,
    /// How much it weighs on the verdict what a resume brings back.
    pub loss: Loss,
    /// How many messages would be loaded without it, where no recovery of links says so.
    pub expected: u32,
    /// The parent that is missing.
    pub missing_parent: Option<Text>,
    /// The leaf that another one took the place of.
    pub left_leaf: Option<Text>,
    /// The content blocks that it is about, by their places in the record's content.
    pub blocks: Vec<u32>,
    /// That an agent's clean-up deletes files.
    pub deletion: Option<Box<Deletion>>,
    /// Whether it stands for an edit that a repair would make.
    pub planned: bool,
    /// What this agent does with it.
    pub effect: String,
    /// Ids, places, sizes and times: for reports, nothing is decided by them.
    pub facts: Vec<(&'static str, Fact)>,
    /// How many there are, when one finding stands for several.
    pub count: Option<u64>,
    /// How many more of this code in this file were found and are not listed.
    pub more: Option<u64>,
}

impl Rule {
    /// The finding that this rule makes at a place, with its default severity.
    pub fn at(&'static self, place: Place) -> Finding {
        Finding {
            rule: self,
            severity: self.severity,
            place,
            path: None,
            cause: None,
            api: Weight::Noted,
            loss: Loss::Nothing,
            expected: 0,
            missing_parent: None,
            left_leaf: None,
            blocks: Vec::new(),
            deletion: None,
            planned: false,
            effect: String::new(),
            facts: Vec::new(),
            count: None,
            more: None,
        }
    }
}

/// Findings at warning or above by rule, those not listed included.
pub fn loud(findings: &[Finding]) -> BTreeMap<&'static Rule, u64> {
    let mut counts = BTreeMap::new();
    for f in findings.iter().filter(|f| f.severity >= Severity::Warning) {
        *counts.entry(f.rule).or_default() += 1 + f.more.unwrap_or(0);
    }
    counts
}

impl Finding {
    /// The same finding, as bad as this.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The same finding in another file.
    #[must_use]
    pub fn path(mut self, path: &std::path::Path) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The same finding with what brought it about.
    #[must_use]
    pub fn cause(mut self, cause: impl Into<Cause>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// The same finding with what the agent does with it.
    #[must_use]
    pub fn effect(mut self, effect: impl Into<String>) -> Self {
        self.effect = effect.into();
        self
    }

    /// The same finding with one more fact.
    #[must_use]
    pub fn fact(mut self, name: &'static str, value: impl Into<Fact>) -> Self {
        self.facts.push((name, value.into()));
        self
    }

    /// The same finding, standing for this many.
    #[must_use]
    pub fn count(mut self, count: u64) -> Self {
        self.count = Some(count);
        self
    }

    /// The same finding, of this weight for the API.
    #[must_use]
    pub fn weighs(mut self, weight: Weight) -> Self {
        self.api = weight;
        self
    }

    /// The same, where it costs some messages and this many would be loaded without it.
    #[must_use]
    pub fn hides(mut self, expected: usize) -> Self {
        (self.loss, self.expected) = (Loss::Some, u32::try_from(expected).unwrap_or(u32::MAX));
        self
    }

    /// The same finding with what it costs a resume.
    #[must_use]
    pub fn loses(mut self, loss: Loss) -> Self {
        self.loss = loss;
        self
    }

    /// The same finding, about a parent that is missing.
    #[must_use]
    pub fn missing_parent(mut self, parent: Text) -> Self {
        let fact = Fact::from(&parent);
        self.missing_parent = Some(parent);
        self.fact("missing_parent", fact)
    }

    /// The same finding, about one more content block.
    #[must_use]
    pub fn block(mut self, index: u32) -> Self {
        self.blocks.push(index);
        self.fact("block", index)
    }

    /// The same finding, about files that an agent's clean-up deletes.
    #[must_use]
    pub fn deletion(mut self, deletion: Deletion) -> Self {
        let Deletion { files, reason, when, setting, date } = deletion.clone();
        self.deletion = Some(Box::new(deletion));
        let finding = self.fact("files", files).fact("reason", reason).fact("when", when.name());
        finding.fact("setting", setting).fact("date", date)
    }

    /// Whether this rule speaks.
    pub fn is(&self, rule: &Rule) -> bool {
        self.rule == rule
    }

    /// How another finding names this one as its cause.
    pub fn as_cause(&self) -> Cause {
        Cause::Finding(self.rule, self.place.line)
    }
}
