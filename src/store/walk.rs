//! The walk through folders: iterative, below open handles, no link followed on the way, each folder read once.
//!
//! Links are put by while a root is walked (`links` answers them), so a file has one path however many links name it,
//! and loops end because folders are known by device and inode.
//!
//! A home directory that holds agents' homes is read as those homes; nothing else in it is looked at.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::agent::{Home, Homes};
use super::classify::{self, Named, Names};
use super::discover::{Discovery, FileEntry, Folder, Root};
use super::handle::{Entry, EntryKind, FileId, Handle};
use super::home::{Environment, Recogniser};
use super::identify::{self, LookedFor};
use super::layout::Layout;
use super::source::Source;
use crate::identity::AgentId;

/// No store is deeper than eight; each level costs a descriptor's open on the way down.
const DEEPEST: usize = 64;

/// A root whose reading is planned.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) is_file: bool,
    root: u32,
    /// The real file behind a link.
    real: PathBuf,
}

/// A folder that waits to be read.
pub(super) struct Pending {
    pub(super) root: u32,
    pub(super) below: PathBuf,
    pub(super) layout: Layout,
    pub(super) depth: usize,
}

/// A link that waits for the end of its root.
pub(super) struct Link {
    pub(super) root: u32,
    pub(super) below: PathBuf,
    pub(super) name: OsString,
    pub(super) layout: Layout,
}

#[derive(Debug)]
pub(super) struct Walk {
    pub(super) insist: Option<AgentId>,
    pub(super) agents: Homes,
    recogniser: Recogniser,
    pub(super) found: Discovery,
    pub(super) visited: HashSet<FileId>,
    named: HashMap<FileId, Vec<OsString>>,
}

impl Walk {
    pub(super) fn new(insist: Option<AgentId>, env: &Environment, agents: Homes) -> Self {
        Walk {
            insist,
            agents,
            recogniser: Recogniser::new(agents, env),
            found: Discovery { agents, ..Discovery::default() },
            visited: HashSet::new(),
            named: HashMap::new(),
        }
    }

    pub(super) fn finish(self) -> Discovery {
        self.found
    }

    /// The agents that are looked for, and the one that the person insists on.
    pub(super) fn looked_for(&self) -> LookedFor {
        LookedFor { agents: self.agents, insist: self.insist }
    }

    fn allows(&self, layout: Layout) -> bool {
        layout.agrees_with(self.insist, self.agents)
    }

    /// Looks at a path that a person gave and makes it a root.
    pub(super) fn plan(&mut self, given: &Path) -> Option<Plan> {
        let root = u32::try_from(self.found.roots.len()).ok()?;
        let mut entry = Root {
            given: given.to_owned(),
            path: given.to_owned(),
            agent_id: self.insist,
            layout: Layout::Plain,
            store: None,
            notes: Vec::new(),
        };
        if given == Path::new("-") {
            entry.layout = Layout::Stdin;
            self.found.roots.push(entry);
            return None;
        }
        match look(given, &mut entry.notes) {
            Ok((is_file, real)) => {
                entry.layout = if is_file { Layout::File } else { Layout::Plain };
                self.found.roots.push(entry);
                Some(Plan { is_file, root, real })
            }
            Err(message) => {
                self.found.errors.push((given.to_owned(), message));
                None
            }
        }
    }

    /// A file that a person passed: read whatever its name is, and nothing beside it.
    pub(super) fn file(&mut self, plan: &Plan) {
        let folder = plan.real.parent().unwrap_or(Path::new("")).to_owned();
        let Some(name) = plan.real.file_name().map(OsStr::to_owned) else { return };
        let opened = Handle::open_root(&folder).and_then(|handle| {
            let (id, mtime_ms) = handle.itself()?;
            Ok((id, mtime_ms, Source::open(&plan.real)?, handle.stat(&name)?.mtime_ms, handle))
        });
        let (id, folder_mtime, source, mtime_ms, handle) = match opened {
            Ok(opened) => opened,
            Err(e) => return self.error(plan.real.clone(), format!("cannot be opened: {e}")),
        };
        let siblings = self.named.entry(id).or_default();
        if siblings.contains(&name) {
            return;
        }
        siblings.push(name.clone());

        let place = self.place(plan.root, &folder);
        let layout = place.as_ref().map_or(Layout::Plain, |(layout, _)| *layout);
        let passed = match identify::passed(layout, self.looked_for(), (&folder, &handle), &name, &source) {
            Ok(passed) => passed,
            Err(e) => return self.error(plan.real.clone(), format!("cannot be read: {e}")),
        };
        let agent_id = self.insist.or(passed.agent_id);
        if let Some(root) = self.found.roots.get_mut(plan.root as usize) {
            root.agent_id = agent_id;
            root.store = place.map(|(_, home)| home);
        }
        let index = self.add_folder(folder, plan.root, layout, folder_mtime);
        let (size, kind) = (source.size(), passed.kind);
        self.found.files.push(FileEntry {
            name: name.as_os_str().into(),
            size,
            mtime_ms,
            folder: index,
            kind,
            agent_id,
        });
    }

    /// A folder that a person passed, and everything below it.
    pub(super) fn folder(&mut self, plan: &Plan) {
        let Some(given) = self.found.roots.get(plan.root as usize).map(|root| root.path.clone()) else { return };
        if let Some((layout, home)) = self.place(plan.root, &given) {
            self.classify(plan.root, given, layout, Some(home));
            return self.walk(plan.root, layout);
        }
        let homes: Vec<_> =
            self.recogniser.inside(&given).into_iter().filter(|(_, layout)| self.allows(*layout)).collect();
        if homes.is_empty() {
            return self.walk(plan.root, Layout::Plain);
        }
        for (at, (home, layout)) in homes.iter().enumerate() {
            let root = if at == 0 { Some(plan.root) } else { self.add_root(&given) };
            let Some(root) = root else { return };
            self.classify(root, home.clone(), *layout, Some(home.clone()));
            self.note(root, format!("holds '{}', which is read; nothing else in it is", home.display()));
            let mut notes = Vec::new();
            match look(home, &mut notes) {
                Ok(_) => notes.into_iter().for_each(|note| self.note(root, note)),
                Err(message) => return self.error(home.clone(), message),
            }
            self.walk(root, *layout);
        }
    }

    /// Where a passed folder lies in a store, unless the person says that it is another agent's.
    fn place(&mut self, root: u32, folder: &Path) -> Option<(Layout, PathBuf)> {
        let (layout, home) = self.recogniser.place(folder)?;
        if self.allows(layout) {
            return Some((layout, home));
        }
        if let (Some(own), Some(asked)) = (layout.agent_id(), self.insist) {
            self.note(
                root,
                format!("lies where {} keeps its sessions; read as {}'s, as asked", own.agent(), asked.agent()),
            );
        }
        None
    }

    fn walk(&mut self, root: u32, layout: Layout) {
        let home = self.path(root, Path::new(""));
        if let Some((elsewhere, why)) = self.recogniser.elsewhere(layout, &home) {
            self.note(root, format!("{why} puts its sessions into '{}'", elsewhere.display()));
        }
        let mut pending = vec![Pending { root, below: PathBuf::new(), layout, depth: 0 }];
        let mut links = Vec::new();
        let mut agents = HashSet::new();
        loop {
            while let Some(next) = pending.pop() {
                self.read(next, &mut pending, &mut links, &mut agents);
            }
            if links.is_empty() {
                break;
            }
            self.answer(std::mem::take(&mut links), &mut pending);
        }
        if let Some(root) = self.found.roots.get_mut(root as usize)
            && root.layout == Layout::Plain
            && agents.len() == 1
        {
            root.agent_id = self.insist.or(agents.into_iter().next());
        }
    }

    /// Reads one folder.
    fn read(
        &mut self,
        mut here: Pending,
        pending: &mut Vec<Pending>,
        links: &mut Vec<Link>,
        agents: &mut HashSet<AgentId>,
    ) {
        let path = self.path(here.root, &here.below);
        if here.depth > DEEPEST {
            return self.error(path, format!("deeper than {DEEPEST} folders: not read"));
        }
        let handle = self.open(here.root, &here.below).and_then(|handle| Ok((handle.itself()?, handle)));
        let ((id, mtime_ms), handle) = match handle {
            Ok(known) => known,
            Err(e) => return self.error(path, format!("folder cannot be opened: {e}")),
        };
        let named = self.named.get(&id).cloned().unwrap_or_default();
        if !self.visited.insert(id) {
            if here.depth == 0 {
                self.note(here.root, "lies in another path that was given, and is read there".to_owned());
            }
            return;
        }
        let (mut entries, stopped) = handle.list(usize::MAX);
        if let Some(e) = stopped {
            self.error(path.clone(), format!("folder cannot be read: {e}"));
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        if here.layout == Layout::Plain
            && self.recogniser.are_store_parts(folders(&entries))
            && let Some(home) = self.recogniser.home(&path, &handle).filter(|home| self.allows(*home))
        {
            here = self.enter_home(here, &path, home);
        }
        for entry in entries.iter_mut().filter(|entry| entry.kind == EntryKind::Unknown) {
            entry.kind = handle.stat(&entry.name).map_or(EntryKind::Special, |meta| meta.kind);
        }
        let folder = self.add_folder(path, here.root, here.layout, mtime_ms);
        self.read_files(&here, &handle, folder, &entries, &named, agents);
        for entry in entries.into_iter().rev() {
            match entry.kind {
                EntryKind::Folder => match here.layout.child(entry.name.as_encoded_bytes(), self.agents) {
                    Some(layout) => pending.push(Pending {
                        root: here.root,
                        below: here.below.join(&entry.name),
                        layout,
                        depth: here.depth + 1,
                    }),
                    None => self.found.other_folders += 1,
                },
                EntryKind::Link => links.push(Link {
                    root: here.root,
                    below: here.below.clone(),
                    name: entry.name,
                    layout: here.layout,
                }),
                EntryKind::Special => self.found.specials += 1,
                EntryKind::File | EntryKind::Unknown => {}
            }
        }
    }

    /// A home inside a plain folder is a root of its own.
    fn enter_home(&mut self, here: Pending, path: &Path, home: Layout) -> Pending {
        let given = self.found.roots.get(here.root as usize).map(|root| root.given.clone()).unwrap_or_default();
        let Some(root) = self.add_root(&given) else { return here };
        self.classify(root, path.to_owned(), home, Some(path.to_owned()));
        Pending { root, below: PathBuf::new(), layout: home, depth: here.depth }
    }

    fn read_files(
        &mut self,
        here: &Pending,
        handle: &Handle,
        folder: u32,
        entries: &[Entry],
        named: &[OsString],
        agents: &mut HashSet<AgentId>,
    ) {
        let names: Vec<&[u8]> = entries.iter().map(|entry| entry.name.as_encoded_bytes()).collect();
        let names = Names(&names);
        let shallow = here.depth == 0
            || self.found.folders.get(folder as usize).is_some_and(|f| self.agents.is_named_by_id(&f.path));
        self.note_archived(here, entries);
        for entry in entries.iter().filter(|entry| entry.kind == EntryKind::File && !named.contains(&entry.name)) {
            let known = classify::by_name(here.layout, entry.name.as_encoded_bytes(), &names, shallow, self.agents);
            if known == Named::Unread {
                let path = self.path(here.root, &here.below).join(&entry.name);
                let of_agent = here.layout.agent_id().and_then(|own| self.agents.of(own));
                let follows = of_agent.map_or("", Home::of_database);
                let note = format!("'{}' holds sessions that are not read: a database{follows}", path.display());
                self.note(here.root, note);
            }
            if matches!(known, Named::Nothing | Named::Unread) {
                self.found.other_files += 1;
                continue;
            }
            let file = match identify::found(here.layout, self.looked_for(), handle, &entry.name, known, &names) {
                Ok(Some(file)) => FileEntry { folder, ..file },
                Ok(None) => {
                    self.found.other_files += 1;
                    continue;
                }
                Err(e) => {
                    self.lost(here, &entry.name, known, &e);
                    continue;
                }
            };
            if here.layout == Layout::Plain && self.insist.is_none() {
                agents.extend(file.agent_id);
            }
            self.found.files.push(file);
        }
    }

    /// Tells of transcripts that their agent put aside: they are not read.
    fn note_archived(&mut self, here: &Pending, entries: &[Entry]) {
        let of_agent = here.layout.agent_id().and_then(|own| self.agents.of(own));
        let Some(agent) = of_agent else { return };
        let is_archived =
            |entry: &&Entry| entry.kind == EntryKind::File && agent.is_archived(entry.name.as_encoded_bytes());
        let mut archived = entries.iter().filter(is_archived);
        let Some(first) = archived.next() else { return };
        let such = self.path(here.root, &here.below).join(&first.name);
        let (are, more) = match archived.count() {
            0 => ("is an archived transcript", String::new()),
            more => ("and", format!(" {more} more beside it are archived transcripts")),
        };
        self.note(here.root, format!("'{}' {are}{more}: not read", such.display()));
    }

    /// A file that was listed and could not be looked at.
    fn lost(&mut self, here: &Pending, name: &OsStr, known: Named, e: &io::Error) {
        let evidence = match known {
            Named::Is(kind) => kind.is_evidence(),
            _ => true,
        };
        if e.kind() == io::ErrorKind::NotFound && !evidence {
            self.found.vanished += 1;
            return;
        }
        let path = self.path(here.root, &here.below).join(name);
        let message = match e.kind() {
            io::ErrorKind::NotFound => "vanished while the folder was read".to_owned(),
            _ => format!("cannot be read: {e}"),
        };
        self.error(path, message);
    }

    pub(super) fn open(&self, root: u32, below: &Path) -> io::Result<Handle> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let root = self.found.roots.get(root as usize).ok_or_else(missing)?;
        Handle::open_root(&root.path)?.below(below)
    }

    pub(super) fn path(&self, root: u32, below: &Path) -> PathBuf {
        let root = self.found.roots.get(root as usize).map(|root| root.path.clone()).unwrap_or_default();
        if below.as_os_str().is_empty() { root } else { root.join(below) }
    }

    fn add_root(&mut self, given: &Path) -> Option<u32> {
        let index = u32::try_from(self.found.roots.len()).ok()?;
        self.found.roots.push(Root {
            given: given.to_owned(),
            path: given.to_owned(),
            agent_id: self.insist,
            layout: Layout::Plain,
            store: None,
            notes: Vec::new(),
        });
        Some(index)
    }

    fn classify(&mut self, root: u32, path: PathBuf, layout: Layout, store: Option<PathBuf>) {
        let insist = self.insist;
        if let Some(root) = self.found.roots.get_mut(root as usize) {
            root.path = path;
            root.layout = layout;
            root.store = store;
            root.agent_id = insist.or(layout.agent_id());
        }
    }

    pub(super) fn add_folder(&mut self, path: PathBuf, root: u32, layout: Layout, mtime_ms: i64) -> u32 {
        let index = u32::try_from(self.found.folders.len()).unwrap_or(u32::MAX);
        self.found.folders.push(Folder { path, root, layout, mtime_ms });
        index
    }

    pub(super) fn note(&mut self, root: u32, note: String) {
        if let Some(root) = self.found.roots.get_mut(root as usize) {
            root.notes.push(note);
        }
    }

    fn error(&mut self, path: PathBuf, message: String) {
        self.found.errors.push((path, message));
    }
}

/// What a given path is: a file or a folder, and the real path of a file behind a link. Notes that a link was followed.
fn look(given: &Path, notes: &mut Vec<String>) -> Result<(bool, PathBuf), String> {
    // a trailing separator would make the system follow a link in silence
    let path: PathBuf = given.components().collect();
    let meta = std::fs::symlink_metadata(&path).map_err(|e| refusal(&e))?;
    let (meta, real) = if meta.is_symlink() {
        let real = path.canonicalize().map_err(|e| format!("is a link that leads nowhere: {e}"))?;
        notes.push(format!("is a link, followed to '{}'", real.display()));
        (std::fs::metadata(&real).map_err(|e| refusal(&e))?, real)
    } else {
        (meta, path)
    };
    match (meta.is_file(), meta.is_dir()) {
        (true, _) => Ok((true, real)),
        (_, true) => Ok((false, real)),
        _ => Err("neither a plain file nor a folder: not opened".to_owned()),
    }
}

fn refusal(e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        _ => format!("cannot be read: {e}"),
    }
}

/// The names of what may be folders.
fn folders(entries: &[Entry]) -> impl Iterator<Item = &OsString> {
    entries.iter().filter(|entry| entry.kind != EntryKind::File).map(|entry| &entry.name)
}
