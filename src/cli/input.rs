//! From what a person typed to what is read: paths, the agents' homes when there are none, standard input.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::failure::{Failure, complain_unread};
use super::options::Reading;
use crate::agents;
use crate::audit::{self, Depth, is_session};
use crate::report::out;
use crate::rules::counted;
use crate::session::Session;
use crate::store::meter::Meter;
use crate::store::{self, Discovery, Environment, FileKind, Layout, Source};

/// How much is read from standard input. A session that is longer is a file somewhere, and is read in pieces there.
pub const LONGEST_STDIN: u64 = 256 * 1024 * 1024;

/// What is said of a file that is no session.
const NOT_RECOGNISED: &str = "not recognised as a session (unknown format); if it is one, name the agent with --agent";

/// How many such files are named.
const NAMED: usize = 3;

/// What a command reads.
#[derive(Debug)]
pub struct Input {
    /// Roots, folders and files.
    pub discovery: Discovery,
    /// The session from standard input.
    pub stdin: Option<Source>,
}

impl Input {
    /// Finds what is below these paths; with none given, every agent's home on this machine.
    ///
    /// # Errors
    /// When there is no home either, or standard input cannot be read.
    pub fn find(paths: &[PathBuf], reading: &Reading) -> Result<Self, Failure> {
        let environment = Environment::of_process(agents::HOMES);
        let homes;
        let paths = if paths.is_empty() {
            homes = homes_here(&environment, reading)?;
            homes.as_slice()
        } else {
            paths
        };
        let stdin = match paths.iter().filter(|path| path.as_path() == Path::new("-")).count() {
            0 => None,
            1 => Some(read_stdin()?),
            _ => return Err(Failure::new("standard input was given twice")),
        };
        Ok(Input { discovery: store::discover(paths, reading.agent, &environment, agents::HOMES), stdin })
    }

    /// Reads the one session that was named.
    ///
    /// # Errors
    /// When it is not one session of a known agent, or cannot be read.
    pub fn session(&mut self, named: &Path, meter: &Meter) -> anyhow::Result<Session> {
        if let Some(source) = &self.stdin {
            audit::add_stdin(&mut self.discovery, source);
        }
        let name = named.display();
        if let Some((path, message)) = self.discovery.errors.first() {
            return Err(Failure::new(format!("'{}' {message}", path.display())).into());
        }
        let file = match self.discovery.files.as_slice() {
            [file] if is_session(file.kind) => file,
            _ => {
                return Err(Failure::new(format!("'{name}' is no session file"))
                    .below(self.foreign().into_iter().collect())
                    .hint("`sid-audit scan` lists the sessions of a folder")
                    .into());
            }
        };
        if file.agent_id.is_none() {
            return Err(Failure::new(format!("nothing in '{name}' tells whose session it is"))
                .hint("name the agent with --agent")
                .into());
        }
        let source = match &self.stdin {
            Some(source) => source.clone(),
            None => self.discovery.open(file).map_err(|e| Failure::new(format!("'{name}' cannot be opened: {e}")))?,
        };
        let read = audit::read_session(&self.discovery, file, source, Depth::Linked, meter);
        Ok(read.map_err(|e| Failure::new(format!("'{name}' cannot be read: {e}")))?.0)
    }

    /// Whether there is anything to audit.
    pub fn is_empty(&self) -> bool {
        self.stdin.is_none() && self.discovery.errors.is_empty() && !self.has_parts()
    }

    fn has_parts(&self) -> bool {
        self.discovery.files.iter().any(|file| !matches!(file.kind, FileKind::Other | FileKind::Foreign))
    }

    /// What is said when there is nothing to audit.
    pub fn nothing(&self) -> Failure {
        let nothing = Failure::new("there is no session in what was given").below(self.foreign().into_iter().collect());
        nothing.hint("`sid-audit scan --verbose` on a folder above it tells what was found")
    }

    /// Tells which files are not recognised as sessions: as errors where they were named and nothing else was found, else
    /// in one line on standard error, however many they are.
    pub fn tell_foreign(&mut self, quiet: bool) {
        if self.has_parts() || self.stdin.is_some() {
            if let Some(line) = self.foreign().filter(|_| !quiet) {
                out::complain("note", &line, &[], None);
            }
            return;
        }
        let Discovery { roots, folders, files, errors, .. } = &mut self.discovery;
        for file in files.iter().filter(|file| file.kind == FileKind::Foreign) {
            let folder = folders.get(file.folder as usize);
            let named = folder.and_then(|folder| Some((folder, roots.get(folder.root as usize)?)));
            if let Some((folder, _)) = named.filter(|(_, root)| root.layout == Layout::File) {
                errors.push((folder.path.join(file.name.os()), NOT_RECOGNISED.to_owned()));
            }
        }
    }

    /// One line about the files that are not recognised as sessions.
    fn foreign(&self) -> Option<String> {
        let mut files = self.discovery.of_kind(FileKind::Foreign);
        let named: Vec<String> =
            files.by_ref().take(NAMED).map(|file| format!("'{}'", self.discovery.path(file).display())).collect();
        let more = match files.count() {
            0 => String::new(),
            more => format!(" and {}", counted(more as u64, "more file")),
        };
        (!named.is_empty()).then(|| format!("{NOT_RECOGNISED}: {}{more}", named.join(", ")))
    }

    /// Names on standard error what could not be read: the paths that are not there among it.
    pub fn tell_unread(&self) {
        complain_unread(self.discovery.errors.iter());
    }

    /// The stores that are read: no output goes there.
    pub fn stores(&self) -> Vec<&Path> {
        stores(&self.discovery)
    }

    /// Bytes and number of the session files, for progress.
    pub fn amount(&self) -> (u64, u64) {
        let sessions = self.discovery.files.iter().filter(|file| is_session(file.kind));
        sessions.fold((0, 0), |(bytes, files), file| (bytes + file.size, files + 1))
    }
}

/// The stores of a discovery: their homes where they are known, else what was given.
pub fn stores(discovery: &Discovery) -> Vec<&Path> {
    discovery.roots.iter().map(|root| root.store.as_deref().unwrap_or(&root.path)).collect()
}

fn homes_here(environment: &Environment, reading: &Reading) -> Result<Vec<PathBuf>, Failure> {
    let candidates = store::default_places(agents::HOMES, environment);
    let wanted = |home: &&store::HomeCandidate| agents::HOMES.agree(home.agent_id, reading.agent);
    let found: Vec<PathBuf> =
        candidates.iter().filter(wanted).filter(|home| home.exists).map(|home| home.path.clone()).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let tried: Vec<String> = candidates
        .iter()
        .filter(wanted)
        .map(|home| match home.why {
            "default" => format!("'{}' ({})", home.path.display(), home.agent_id.agent()),
            why => format!("'{}' ({}, from {why})", home.path.display(), home.agent_id.agent()),
        })
        .collect();
    Err(Failure::new("there is no agent's home on this machine; looked for")
        .below(tried)
        .hint("name a session or a folder, or try the demo: sid-audit scan fixtures/demo"))
}

fn read_stdin() -> Result<Source, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(LONGEST_STDIN + 1).read_to_end(&mut bytes);
    match read {
        Ok(n) if n as u64 > LONGEST_STDIN => {
            Err(Failure::new(format!("standard input is longer than {} MiB", LONGEST_STDIN / (1024 * 1024)))
                .hint("write it to a file and name that"))
        }
        Ok(_) => Ok(Source::from_bytes(bytes)),
        Err(e) => Err(Failure::new(format!("standard input cannot be read: {e}"))),
    }
}
