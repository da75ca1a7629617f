//! Which files of a discovery are sessions, in which order they are read, and how one is opened: the same for every command
//! that reads whole stores.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::agents;
use crate::metrics::agent::Metering;
use crate::session::{Session, Shape};
use crate::store::agent::{Document, Told};
use crate::store::meter::Meter;
use crate::store::{self, Discovery, FileEntry, FileKind, Folder, Layout, Source};

/// Whether a file is a session of its own. A sync tool's copy is not: rules about the store look at it.
pub fn is_session(kind: FileKind) -> bool {
    matches!(kind, FileKind::Main | FileKind::Beside | FileKind::Subagent | FileKind::Whole)
}

/// The files of these kinds, the largest first: a worker that takes it last would keep the others waiting.
pub(super) fn largest_first(discovery: &Discovery, wanted: impl Fn(FileKind) -> bool) -> Vec<u32> {
    let mut order: Vec<u32> =
        (0..).zip(&discovery.files).filter(|(_, file)| wanted(file.kind)).map(|(n, _)| n).collect();
    order.sort_by_key(|&n| (std::cmp::Reverse(discovery.files[n as usize].size), n));
    order
}

/// Whether a file is a session or a checkpoint index.
pub fn is_session_or_index(kind: FileKind) -> bool {
    is_session(kind) || kind == FileKind::CheckpointIndex
}

/// Opens a file of the discovery, standard input among them.
pub(super) fn open(discovery: &Discovery, stdin: Option<&Source>, file: &FileEntry) -> io::Result<Source> {
    match stdin {
        Some(source) if discovery.folder(file).is_some_and(|f| f.layout == Layout::Stdin) => Ok(source.clone()),
        _ => discovery.open(file),
    }
}

/// Reads a session a second time, for its figures. Progress has counted its bytes already.
pub(super) fn read_again(
    discovery: &Discovery,
    stdin: Option<&Source>,
    n: u32,
    meter: &Meter,
) -> io::Result<(Session, &'static dyn Metering)> {
    let file = &discovery.files[n as usize];
    let Some(dialect) = file.dialect.filter(|_| !meter.stopped()) else {
        return Err(io::ErrorKind::Interrupted.into());
    };
    let source = open(discovery, stdin, file)?;
    let agent = agents::reader(dialect, shape_of(file.kind));
    let path = discovery.path(file);
    Ok((Session::read_unlinked(path, source, agent, shape_of(file.kind), &Meter::default())?, agent))
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
        Ok(store::Shape::Of(dialect, Told::Side)) => (FileKind::Beside, Some(dialect)),
        Ok(store::Shape::Of(dialect, Told::Session)) => (FileKind::Main, Some(dialect)),
        Ok(_) => match store::sniff_document(source, discovery.agents) {
            Ok(Some((dialect, Document::Whole))) => (FileKind::Whole, Some(dialect)),
            _ => (FileKind::Main, None),
        },
        Err(_) => (FileKind::Main, None),
    };
    let dialect = discovery.roots[root].dialect.or(told);
    discovery.roots[root].dialect = dialect;
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
        dialect,
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
