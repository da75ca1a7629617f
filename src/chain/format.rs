//! The format version that a session states, and the one that its loader takes it for.

/// How the format version of a session is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FormatBy {
    /// A field says so.
    Field,
    /// There is no such field.
    Absence,
    /// The shape of the last line decides how the file is read.
    TailShape,
    /// The file name's ending.
    Extension,
}

impl FormatBy {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            FormatBy::Field => "field",
            FormatBy::Absence => "absence",
            FormatBy::TailShape => "tail-shape",
            FormatBy::Extension => "extension",
        }
    }
}

/// Both, and how the second is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Format {
    /// What a field says.
    pub stated: Option<String>,
    /// What its loader takes it for.
    pub effective: Option<String>,
    /// How that is known.
    pub by: FormatBy,
}
