//! The members of a record, as far as they tell agents apart.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Members whose values are looked at. Of all others it is enough that they are there, and nothing that they hold is
/// wrong.
const VALUES: [&str; 4] = ["type", "uuid", "id", "message"];

/// The members of a record.
#[derive(Debug)]
pub struct Probe(Vec<(String, Value)>);

#[derive(Debug)]
enum Value {
    Text(String),
    /// An object, and whether it has a `role`.
    Object(bool),
    Other,
}

impl Probe {
    /// The members of a line that is one JSON object (serde would take an array for one).
    pub(super) fn of(line: &[u8]) -> Option<Probe> {
        (line.first() == Some(&b'{')).then(|| serde_json::from_slice(line).ok())?
    }

    /// The value of a member. Of two with one name JavaScript takes the last.
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Whether there is such a member.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The type; empty when there is none.
    pub fn kind(&self) -> &str {
        self.text("type").unwrap_or_default()
    }

    /// A member that is a string, of those in `VALUES`.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether there is a message that is an object.
    pub fn has_message(&self) -> bool {
        matches!(self.get("message"), Some(Value::Object(_)))
    }

    /// Whether there is a message, and it names a role.
    pub fn speaks(&self) -> bool {
        matches!(self.get("message"), Some(Value::Object(true)))
    }
}

impl<'de> Deserialize<'de> for Probe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Probe;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Probe, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    let value = if VALUES.contains(&name.as_str()) {
                        map.next_value()?
                    } else {
                        map.next_value::<IgnoredAny>().map(|_| Value::Other)?
                    };
                    members.push((name, value));
                }
                Ok(Probe(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Shallow;
        impl<'de> Visitor<'de> for Shallow {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                let mut role = false;
                while let Some((name, _)) = map.next_entry::<String, IgnoredAny>()? {
                    role = role || name == "role";
                }
                Ok(Value::Object(role))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Value::Other)
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Other)
            }
            fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
                Ok(Value::Other)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
                Ok(Value::Other)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
                Ok(Value::Other)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
                Ok(Value::Other)
            }
        }
        deserializer.deserialize_any(Shallow)
    }
}
