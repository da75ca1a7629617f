//! What another program calls: a scan of some paths, and one session opened by its path.

use std::io;
use std::path::{Path, PathBuf};

use super::{Depth, Options, Scan, is_session, read_session};
use crate::agents;
use crate::record::content::{self, Part};
use crate::record::reread;
use crate::request::Request;
use crate::session::Session;
use crate::store::meter::Meter;
use crate::store::{Environment, default_places, discover};

/// Reads every session below these paths and says what is wrong with it. Without paths, the homes of all agents of this
/// machine. What cannot be read is in [`Scan::errors`]; the rest is reported all the same.
pub fn scan(paths: &[PathBuf], options: &Options) -> Scan {
    let environment = Environment::of_process(agents::HOMES);
    let homes: Vec<PathBuf> = match paths {
        [] => default_places(agents::HOMES, &environment)
            .into_iter()
            .filter(|home| home.exists)
            .map(|home| home.path)
            .collect(),
        _ => Vec::new(),
    };
    let paths = if paths.is_empty() { &homes } else { paths };
    super::scan::scan(discover(paths, None, &environment, agents::HOMES), options, &Meter::default())
}

impl Session {
    /// Opens the session at this path, as the agent that wrote it would.
    ///
    /// # Errors
    /// `InvalidData` when the file is not a session of any known agent; I/O errors of the file.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Session> {
        let discovery =
            discover(&[path.as_ref().to_owned()], None, &Environment::of_process(agents::HOMES), agents::HOMES);
        if let Some((_, error)) = discovery.errors.first() {
            return Err(io::Error::other(error.clone()));
        }
        let unknown = || io::Error::new(io::ErrorKind::InvalidData, "not a session of a known agent");
        let file = discovery.files.iter().find(|file| is_session(file.kind)).ok_or_else(unknown)?;
        file.agent_id.ok_or_else(unknown)?;
        let source = discovery.open(file)?;
        Ok(read_session(&discovery, file, source, Depth::Linked, &Meter::default())?.0)
    }

    /// What its agent would send to the model with the next prompt.
    pub fn request(&self) -> Request {
        Request::new(self, agents::of_session(self))
    }

    /// What the message of a record says, read again from the file; `record` is a place in [`Session::facts`].
    ///
    /// # Errors
    /// I/O errors of the file.
    pub fn content(&self, record: u32) -> io::Result<Vec<Part>> {
        Ok(content::parts(&reread::text(&self.source, self.record(record))?, self.agent))
    }
}
