//! What the records of an agent are expected to hold: a data file in each agent's folder, whose form `catalogue/README.md`
//! tells, and a person's own in the same form.

use std::collections::HashSet;

use serde::Deserialize;

use super::agent::Metering;

/// What an entry is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A record type.
    Type,
    /// A key of metadata records.
    Metadata,
    /// A field.
    #[default]
    Field,
}

impl Kind {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Type => "type",
            Kind::Metadata => "metadata",
            Kind::Field => "field",
        }
    }
}

/// One entry.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The record type, the metadata key, or the type and keys.
    pub path: Box<str>,
    /// What it is about.
    #[serde(default)]
    pub kind: Kind,
    /// What makes it occur.
    #[serde(default)]
    pub cause: Option<Box<str>>,
    /// How often that happened, where the store shows it.
    #[serde(default)]
    pub counted: Option<Counted>,
    /// Whether it must be there whenever its cause occurred.
    #[serde(default)]
    pub always: bool,
    /// Why it cannot occur.
    #[serde(default)]
    pub never: Option<Box<str>>,
    /// How to make it occur.
    #[serde(default)]
    pub how: Option<Box<str>>,
}

/// How often a cause occurred.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub enum Counted {
    /// Records of a type.
    Type(Box<str>),
    /// Metadata records of a key.
    Key(Box<str>),
    /// Records or blocks with a field.
    Field(Box<str>),
    /// Something that the census counts by itself.
    Condition(Condition),
}

/// What is no record of its own and yet shows in a store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Condition {
    /// `file_changes` records of sessions of which a snapshot is stored.
    SnapshottedChanges,
    /// Messages that a compaction made.
    Compactions,
    /// Records that follow an end mark: a process took the session up again.
    Resumes,
    /// Start records that name another session.
    Forks,
    /// Files of subagents.
    Sidechains,
}

impl TryFrom<String> for Counted {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if let Some((sort, name)) = text.split_once(':') {
            let name: Box<str> = name.into();
            return match sort {
                "type" => Ok(Counted::Type(name)),
                "key" => Ok(Counted::Key(name)),
                "field" => Ok(Counted::Field(name)),
                other => Err(format!("\"{other}:\" is none of type:, key:, field:")),
            };
        }
        Ok(Counted::Condition(match text.as_str() {
            "snapshotted-changes" => Condition::SnapshottedChanges,
            "compactions" => Condition::Compactions,
            "resumes" => Condition::Resumes,
            "forks" => Condition::Forks,
            "sidechains" => Condition::Sidechains,
            other => return Err(format!("\"{other}\" is nothing that is counted")),
        }))
    }
}

/// A catalogue.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// The word, as `--agent` has it, of the agent whose records these are ([`Metering::counted_as`]).
    pub agent: Box<str>,
    /// What it was made from.
    #[serde(default)]
    pub basis: Box<str>,
    /// Its entries.
    pub expected: Vec<Expected>,
}

impl Catalogue {
    /// The catalogue of an agent. That the built-in ones can be read is proven by a test.
    pub fn of(agent: &dyn Metering) -> Catalogue {
        Catalogue::parse(agent.catalogue().as_bytes()).unwrap_or_else(|_| Catalogue {
            agent: agent.counted_as().name().into(),
            basis: Box::default(),
            expected: Vec::new(),
        })
    }

    /// Reads a person's own.
    ///
    /// # Errors
    /// What is wrong with it, as a sentence without its subject.
    pub fn parse(bytes: &[u8]) -> Result<Catalogue, String> {
        let catalogue: Catalogue =
            serde_json::from_slice(bytes).map_err(|e| format!("is no catalogue of fields: {e}"))?;
        for entry in &catalogue.expected {
            if entry.cause.is_none() == entry.never.is_none() {
                return Err(format!("has an entry \"{}\" with no cause, or with both cause and never", entry.path));
            }
            if entry.always && entry.counted.is_none() {
                return Err(format!("says always of \"{}\" and not how its cause is counted", entry.path));
            }
        }
        Ok(catalogue)
    }
}

/// Every word that stands in a path of the built-in catalogues: keys that agents are known to write.
pub fn words(agents: impl Iterator<Item = &'static dyn Metering>) -> HashSet<Box<str>> {
    let all: Vec<Catalogue> = agents.map(Catalogue::of).collect();
    let paths = all.iter().flat_map(|c| &c.expected).map(|entry| &*entry.path);
    let cut = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$'));
    paths.flat_map(|path| path.split(cut)).filter(|word| !word.is_empty()).map(Into::into).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_built_in_catalogues_are_whole() {
        for agent in crate::agents::ALL {
            let catalogue = Catalogue::parse(agent.catalogue().as_bytes()).unwrap();
            assert!(catalogue.expected.len() > 60, "{}", catalogue.expected.len());
            assert!(!catalogue.basis.is_empty());
            let mut seen = BTreeSet::new();
            for entry in &catalogue.expected {
                assert!(seen.insert((entry.kind, entry.path.clone())), "{} stands twice", entry.path);
                // What is counted must itself be something that the census knows.
                let known = |kind, name: &str| catalogue.expected.iter().any(|e| e.kind == kind && *e.path == *name);
                match &entry.counted {
                    Some(Counted::Type(name)) => assert!(known(Kind::Type, name), "{name}"),
                    Some(Counted::Key(name)) => assert!(known(Kind::Metadata, name), "{name}"),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn what_is_no_catalogue_says_why() {
        let why = |text: &str| Catalogue::parse(text.as_bytes()).unwrap_err();
        assert!(why("[]").contains("is no catalogue"));
        assert!(why(r#"{"agent":"sid","expected":[{"path":"a"}]}"#).contains("no cause"));
        assert!(why(r#"{"agent":"sid","expected":[{"path":"a","cause":"b","always":true}]}"#).contains("always"));
        assert!(why(r#"{"agent":"sid","expected":[{"path":"a","cause":"b","counted":"x:y"}]}"#).contains("type:"));
        assert!(why(r#"{"agent":"sid","expected":[{"path":"a","cause":"b","coutned":"x:y"}]}"#).contains("coutned"));
    }
}
