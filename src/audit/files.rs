//! Which files of a discovery are sessions, and how one is opened and read: the same for every command.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::agents::{self, Agent};
use crate::metrics::agent::Metering;
use crate::session::{Session, Shape};
use crate::store::agent::{Document, Told};
use crate::store::meter::Meter;
use crate::store::{self, Discovery, FileEntry, FileKind, Folder, Layout, Source};

/// Whether a file is a session of its own. A sync tool's copy is not: rules about the store look at it.
pub fn is_session(kind: FileKind) -> bool {
    matches!(kind, FileKind::Main | FileKind::Beside | FileKind::Subagent | FileKind::Whole)
}

/// Whether a file is a session or a checkpoint index.
pub fn is_session_or_index(kind: FileKind) -> bool {
    is_session(kind) || kind == FileKind::CheckpointIndex
}

/// Opens a file of the discovery, standard input among them.
///
/// # Errors
/// I/O errors of the file.
pub fn open(discovery: &Discovery, stdin: Option<&Source>, file: &FileEntry) -> io::Result<Source> {
    match stdin {
        Some(source) if discovery.folder(file).is_some_and(|f| f.layout == Layout::Stdin) => Ok(source.clone()),
        _ => discovery.open(file),
    }
}

/// What is said of a file that no agent is known to have written.
pub(super) const NOBODYS: &str = "nothing in it tells whose session it is; name the agent with --agent";

/// How far a session is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// Its lines alone, for figures, which count every record wherever it stands.
    Lines,
    /// And how they hang together.
    Linked,
}

/// Reads the session that a file of the discovery holds, as the agent does whose it is.
///
/// # Errors
/// `InvalidData` when nobody knows whose it is; I/O errors of the file; `Interrupted` when the meter was stopped.
pub fn read_session(
    discovery: &Discovery,
    file: &FileEntry,
    source: Source,
    depth: Depth,
    meter: &Meter,
) -> io::Result<(Session, &'static dyn Agent)> {
    let agent_id = file.agent_id.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, NOBODYS))?;
    let (path, shape) = (discovery.path(file), shape_of(file.kind));
    let agent = agents::reader(agent_id, shape);
    let session = match depth {
        Depth::Lines => Session::read_unlinked(path, source, agent, shape, meter),
        Depth::Linked => Session::read(path, source, agent, shape, meter),
    };
    Ok((session?, agent))
}

/// Reads a session a second time, for its figures. Progress has counted its bytes already.
pub(super) fn read_again(
    discovery: &Discovery,
    stdin: Option<&Source>,
    n: u32,
    meter: &Meter,
) -> io::Result<(Session, &'static dyn Metering)> {
    if meter.stopped() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    let file = &discovery.files[n as usize];
    let source = open(discovery, stdin, file)?;
    let (session, agent) = read_session(discovery, file, source, Depth::Lines, &Meter::default())?;
    Ok((session, agent))
}

/// What kind of session a file is taken for before it is read.
pub fn shape_of(kind: FileKind) -> Shape {
    match kind {
        FileKind::Beside => Shape::Sidechain,
        FileKind::Subagent => Shape::Subagent,
        FileKind::Whole => Shape::Legacy,
        _ => Shape::Main,
    }
}

/// Standard input becomes a file named `-`, in a folder without a name.
pub fn add_stdin(discovery: &mut Discovery, source: &Source) {
    let Some(root) = discovery.roots.iter().position(|root| root.layout == Layout::Stdin) else { return };
    let (kind, told) = match store::sniff(source, discovery.agents) {
        Ok(store::Shape::Of(agent_id, Told::Side)) => (FileKind::Beside, Some(agent_id)),
        Ok(store::Shape::Of(agent_id, Told::Session)) => (FileKind::Main, Some(agent_id)),
        Ok(_) => match store::sniff_document(source, discovery.agents) {
            Ok(Some((agent_id, Document::Whole))) => (FileKind::Whole, Some(agent_id)),
            _ => (FileKind::Main, None),
        },
        Err(_) => (FileKind::Main, None),
    };
    let agent_id = discovery.roots[root].agent_id.or(told);
    discovery.roots[root].agent_id = agent_id;
    let folder = u32::try_from(discovery.folders.len()).unwrap_or(u32::MAX);
    discovery.folders.push(Folder {
        path: PathBuf::new(),
        root: u32::try_from(root).unwrap_or(u32::MAX),
        layout: Layout::Stdin,
        mtime_ms: 0,
    });
    discovery.files.push(FileEntry {
        name: OsStr::new("-").into(),
        size: source.size(),
        mtime_ms: 0,
        folder,
        kind,
        agent_id,
    });
}

/// The path of a session below its store, for fingerprints: the same whether the home, a folder of it or the file was
/// given.
pub fn below_store<'p>(discovery: &Discovery, file: &FileEntry, path: &'p Path) -> &'p Path {
    let base = discovery.root(file).map(|root| match (&root.store, root.layout) {
        (Some(store), _) => store.as_path(),
        (None, Layout::File) => root.path.parent().unwrap_or(Path::new("")),
        (None, _) => root.path.as_path(),
    });
    base.and_then(|base| path.strip_prefix(base).ok()).unwrap_or(path)
}
