//! What every JSON document starts with, and how text that no strict reader could read is written into it.

use serde::Serialize;

use crate::text::Text;

/// The version of the JSON contract: fields may be added, none renamed or removed without raising it.
pub const VERSION: u32 = 2;

/// `sid-audit X.Y.Z`.
pub const TOOL: &str = concat!("sid-audit ", env!("CARGO_PKG_VERSION"));

/// The first members of a document.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Head {
    /// `sid-audit.<command>`
    pub schema: String,
    /// The version of the contract.
    pub version: u32,
    /// Name and version of this tool.
    pub tool: &'static str,
    /// When the run began, RFC 3339.
    pub taken_at: String,
}

impl Head {
    /// The head of a command's document, taken at this time (milliseconds since 1970).
    pub fn new(command: &str, taken_at: i64) -> Self {
        Head {
            schema: format!("sid-audit.{command}"),
            version: VERSION,
            tool: TOOL,
            taken_at: crate::record::time::format(taken_at),
        }
    }
}

/// An id as JSON has it: with U+FFFD where it is no UTF-8, and then its bytes in hex beside it.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdField {
    /// The id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its bytes, when they are no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_raw: Option<String>,
}

impl From<Option<&Text>> for IdField {
    fn from(text: Option<&Text>) -> Self {
        IdField { id: text.map(Text::lossy), id_raw: text.and_then(Text::raw_hex) }
    }
}

/// A path as JSON has it, likewise.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathField {
    /// The path.
    pub path: String,
    /// Its bytes, when they are no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_raw: Option<String>,
}

impl From<&std::path::Path> for PathField {
    fn from(path: &std::path::Path) -> Self {
        let text = path_text(path);
        PathField { path: text.lossy(), path_raw: text.raw_hex() }
    }
}

/// A path as text: its bytes where the system has bytes.
pub fn path_text(path: &std::path::Path) -> Text {
    Text::new(path.as_os_str().as_encoded_bytes())
}

/// A list whose elements are made while it is written, so that a long one is never held.
pub struct Each<F>(pub F);

impl<F, I> Serialize for Each<F>
where
    F: Fn() -> I,
    I: Iterator,
    I::Item: Serialize,
{
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}
