//! What an open call may have done: its side-effect class, by the tool's name.
//!
//! Names are those of each agent's own tools; a name that is none of them is "outside or unknown", never harmless. A
//! command may do anything, so it is never read-only here, whatever it says.

/// What a call may have done before its result was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SideEffect {
    /// Nothing: it can be asked for again.
    ReadOnly,
    /// It writes a file.
    FileWrite,
    /// A command, another service, another agent, or a tool that is not known here.
    Outside,
}

impl SideEffect {
    pub(super) fn name(self) -> &'static str {
        match self {
            SideEffect::ReadOnly => "read-only",
            SideEffect::FileWrite => "file write",
            SideEffect::Outside => "outside or unknown",
        }
    }
}

/// An agent's own tools by what they may have done; what is in neither list may have done anything.
#[derive(Debug)]
pub struct Tools {
    /// Those that change nothing.
    pub reads: &'static [&'static str],
    /// Those that write files.
    pub writes: &'static [&'static str],
}

impl Tools {
    /// The class of a tool.
    pub(super) fn class(&self, tool: &str) -> SideEffect {
        if self.reads.contains(&tool) {
            SideEffect::ReadOnly
        } else if self.writes.contains(&tool) {
            SideEffect::FileWrite
        } else {
            SideEffect::Outside
        }
    }
}
