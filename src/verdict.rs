//! The two verdicts on a session: what a resume brings back, and whether the next prompt would be answered.

/// What a resume brings back, against what an undamaged file would bring back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ResumeVerdict {
    /// Nothing, though the file holds a message.
    None,
    /// Less than an undamaged file would: exactly when C210 holds.
    Partial,
    /// Everything.
    Full,
}

impl ResumeVerdict {
    /// All of them, best first.
    pub const ALL: [ResumeVerdict; 3] = [ResumeVerdict::Full, ResumeVerdict::Partial, ResumeVerdict::None];

    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            ResumeVerdict::None => "none",
            ResumeVerdict::Partial => "partial",
            ResumeVerdict::Full => "full",
        }
    }
}

/// Messages left out lawfully: in neither number of the verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lawful {
    /// Before a compact boundary or a cleared context.
    pub before_boundary: u32,
    /// On branches that were left.
    pub other_branches: u32,
    /// Of subagents.
    pub sidechain: u32,
    /// Not shown: meta rows.
    pub meta: u32,
}

/// The RESUME verdict with its numbers (messages).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resume {
    /// The verdict.
    pub verdict: ResumeVerdict,
    /// What the agent's loader brings back.
    pub loaded: u32,
    /// What an undamaged file would bring back.
    pub expected: u32,
    /// What is left after the agent's own cleaning (sid-code); `u32::MAX` where it does not clean.
    pub cleaned: u32,
    /// What the model is then shown (sid-code), no summary standing in front; `u32::MAX` where nothing is trimmed.
    pub shown: u32,
    /// What is left out lawfully.
    pub lawful: Lawful,
}

/// Would the next prompt be answered?
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ApiVerdict {
    /// Nothing is sent: the session does not load.
    NotSent,
    /// A provider whose rules are not known here.
    Unknown,
    /// Nothing that the API would object to.
    Ok,
    /// A write is under way.
    InFlight,
    /// The agent drops or makes up something before it sends.
    Healed,
    /// Would be refused if sent as is.
    Refused,
}

impl ApiVerdict {
    /// All of them, best first.
    pub const ALL: [ApiVerdict; 6] = [
        ApiVerdict::Ok,
        ApiVerdict::Healed,
        ApiVerdict::Refused,
        ApiVerdict::InFlight,
        ApiVerdict::Unknown,
        ApiVerdict::NotSent,
    ];

    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            ApiVerdict::NotSent => "not_sent",
            ApiVerdict::Unknown => "unknown",
            ApiVerdict::Ok => "ok",
            ApiVerdict::InFlight => "in_flight",
            ApiVerdict::Healed => "healed",
            ApiVerdict::Refused => "refused",
        }
    }
}
