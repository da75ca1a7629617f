//! What is coloured, and how: the one place that knows escape sequences.

use std::borrow::Cow;

use crate::finding::Severity;

/// What a piece of text is to its reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Style {
    /// Nothing special.
    #[default]
    Plain,
    /// A heading, a name.
    Strong,
    /// Beside the point.
    Dim,
    /// Well.
    Good,
    /// Information.
    Info,
    /// A warning.
    Warning,
    /// An error.
    Error,
}

impl Style {
    /// The colours of a terminal's own palette, so that its themes hold.
    pub(super) fn code(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Strong => "\x1b[1m",
            Style::Dim => "\x1b[2m",
            Style::Good => "\x1b[32m",
            Style::Info => "\x1b[36m",
            Style::Warning => "\x1b[33m",
            Style::Error => "\x1b[1;31m",
        }
    }
}

/// Ends any of them.
pub(super) const END: &str = "\x1b[0m";

impl From<Severity> for Style {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Info => Style::Info,
            Severity::Warning => Style::Warning,
            Severity::Error => Style::Error,
        }
    }
}

/// A piece of a line.
#[derive(Clone, Debug)]
pub struct Span<'a> {
    pub(super) style: Style,
    pub(super) text: Cow<'a, str>,
}

/// A piece of a line in a style.
pub fn span<'a>(style: Style, text: impl Into<Cow<'a, str>>) -> Span<'a> {
    Span { style, text: text.into() }
}

/// A piece of a line.
pub fn plain<'a>(text: impl Into<Cow<'a, str>>) -> Span<'a> {
    span(Style::Plain, text)
}

/// A piece of a line that is beside the point.
pub fn dim<'a>(text: impl Into<Cow<'a, str>>) -> Span<'a> {
    span(Style::Dim, text)
}

/// A name or a heading.
pub fn strong<'a>(text: impl Into<Cow<'a, str>>) -> Span<'a> {
    span(Style::Strong, text)
}
