//! What a rule says: code, place, facts. How it is worded and whether it is shown is decided elsewhere
//! (`rules::registry` holds the text, the gate in `rules` the policy, `report` the words on the page).

use crate::text::Text;
use serde::Serialize;

/// How bad a finding is for this agent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
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
    /// What brought it about, where that is known: another finding (`L106@12`) or one of the fixed words.
    pub cause: Option<String>,
    /// What this agent does with it.
    pub effect: String,
    /// Ids, places, sizes and times.
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
            effect: String::new(),
            facts: Vec::new(),
            count: None,
            more: None,
        }
    }
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
    pub fn cause(mut self, cause: impl Into<String>) -> Self {
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

    /// The words of one of its facts; none when there is no such fact, or it is no list of words.
    pub fn words(&self, name: &str) -> &[String] {
        let fact = self.facts.iter().find(|(n, _)| *n == name).map(|(_, fact)| fact);
        if let Some(Fact::Words(words)) = fact { words } else { &[] }
    }

    /// The word of one of its facts.
    pub fn word(&self, name: &str) -> Option<&str> {
        let fact = self.facts.iter().find(|(n, _)| *n == name).map(|(_, fact)| fact);
        if let Some(Fact::Word(word)) = fact { Some(word) } else { None }
    }

    /// The files that one finding is about, where it stands for several.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.words("files").iter().map(String::as_str)
    }

    /// Whether this rule speaks.
    pub fn is(&self, rule: &'static Rule) -> bool {
        std::ptr::eq(self.rule, rule)
    }

    /// `L106@12`: how another finding names this one as its cause.
    pub fn name_at_line(&self) -> String {
        match self.place.line {
            Some(line) => format!("{}@{line}", self.rule.code),
            None => self.rule.code.to_owned(),
        }
    }
}
