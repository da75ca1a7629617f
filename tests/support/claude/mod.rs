//! Healthy sessions of Claude Code: every shape that its clients write when nothing went wrong, as far as it was seen in
//! real sessions from 2.1.37 to 2.1.233, with invented text. Order of keys and of rows is the clients' own.
//!
//! | file | what it writes |
//! | --- | --- |
//! | [`session`] | one row in the envelope of its version; the file of a session |
//! | [`talk`] | prompts, responses, calls and results, hooks, the rows about the session |
//! | [`files`] | snapshots of edited files and the backups that they name |
//! | [`events`] | compaction, rewind, interruption, queue, cleared context and the like |
//! | [`copies`] | forks made by the SDK, background copies |
//! | [`home`] | a whole store of many sessions |

pub mod copies;
pub mod events;
pub mod files;
pub mod home;
pub mod session;
pub mod talk;

pub use session::Session;

/// A client version 2.1.N, and what it writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Version(pub u32);

impl Version {
    /// As records carry it.
    pub fn text(self) -> String {
        format!("2.1.{}", self.0)
    }

    /// The envelope stands at the end of a record, no longer at its start.
    pub fn envelope_last(self) -> bool {
        self.0 >= 78
    }

    /// Progress rows stand on the chain.
    pub fn progress(self) -> bool {
        self.0 <= 81
    }

    /// Attachments are records of their own.
    pub fn attachments(self) -> bool {
        self.0 >= 91
    }

    /// The rows of one prompt carry its id.
    pub fn prompt_id(self) -> bool {
        self.0 >= 79
    }

    /// Rows made after the start carry `session_id` too.
    pub fn second_id(self) -> bool {
        self.0 >= 204
    }

    /// A text "\n\n" opens a response.
    pub fn blank_first(self) -> bool {
        (17..=44).contains(&self.0)
    }
}

/// The folder of a working directory: every UTF-16 unit that is no ASCII letter or digit becomes a dash, 200 at most
/// (the hash that a longer name ends in differs between runtimes; any will do).
pub fn slug(cwd: &str) -> String {
    let unit = |u: u16| u8::try_from(u).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from);
    let name: String = cwd.encode_utf16().map(unit).collect();
    if name.len() <= 200 { name } else { format!("{}-1x2y3z", &name[..200]) }
}
