//! Where the agents keep their stores on this machine, and whether a folder is such a home.
//!
//! Three things make a folder a home: its name, the variable that the agent itself would read, or what lies in it. Copies
//! of stores bear any name, so the content is asked last, with a bounded look. Nothing is read from a file here but the
//! settings that put sessions elsewhere.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use super::agent::{Home, HomeName, Homes, Look};
use super::handle::Handle;
use super::layout::{Layout, Part};
use super::source::Source;
use crate::identity::AgentId;

/// What of the process's environment decides where stores lie; given, so that tests need not change the process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Variables that name an agent's home, with what they are set to.
    pub variables: Vec<(&'static str, OsString)>,
    /// The user's home.
    pub home: Option<PathBuf>,
}

impl Environment {
    /// The environment of this process.
    pub fn of_process(homes: Homes) -> Self {
        let usual = homes.iter().filter_map(Home::default_home);
        let names = usual.flat_map(|home| [Some(home.variable), home.sessions.as_ref().map(|s| s.variable)]);
        Environment {
            variables: names.flatten().filter_map(|name| Some((name, std::env::var_os(name)?))).collect(),
            home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
        }
    }

    /// What a variable is set to, unless it is blank.
    fn variable(&self, name: &str) -> Option<&Path> {
        let (_, value) = self.variables.iter().find(|(own, _)| *own == name)?;
        (!value.to_string_lossy().trim().is_empty()).then_some(Path::new(value))
    }
}

/// A place where an agent of this machine would keep its sessions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HomeCandidate {
    /// The agent.
    pub agent_id: AgentId,
    /// The folder.
    pub path: PathBuf,
    /// What names it: the variable, or `default`.
    pub why: &'static str,
    /// Whether there is a folder.
    pub exists: bool,
}

/// The homes that are read when no path is given, whether they exist or not.
///
/// A variable counts when it is not blank: some agents take any non-empty one, but a blank one would name a folder that
/// cannot be meant.
pub fn default_homes(homes: Homes, env: &Environment) -> Vec<HomeCandidate> {
    let user = env.home.clone().unwrap_or_else(|| PathBuf::from("~"));
    let candidates = |home: &'static dyn Home| {
        let Some(usual) = home.default_home() else { return Vec::new() };
        let (path, why) = match env.variable(usual.variable) {
            Some(value) if usual.tilde => (untilde(value, &user), usual.variable),
            Some(value) => (value.to_owned(), usual.variable),
            None => (user.join(usual.below), "default"),
        };
        let mut paths = vec![path];
        if why == "default" {
            paths.extend(usual.former.iter().map(|name| user.join(name)).filter(|former| former.is_dir()));
            paths.extend(usual.profiles.into_iter().flat_map(|prefix| profiles(&user, prefix)));
        }
        let candidate = |path: PathBuf| HomeCandidate { agent_id: home.agent_id(), exists: path.is_dir(), path, why };
        paths.into_iter().map(candidate).collect()
    };
    homes.iter().flat_map(candidates).collect()
}

/// The same, and the folders into which an agent's settings or a variable put its sessions.
pub fn default_places(homes: Homes, env: &Environment) -> Vec<HomeCandidate> {
    let mut places = default_homes(homes, env);
    let elsewhere: Vec<HomeCandidate> = places
        .iter()
        .filter_map(|home| {
            let (path, why) = elsewhere(homes, env, home.agent_id, &home.path)?;
            Some(HomeCandidate { agent_id: home.agent_id, exists: path.is_dir(), path, why })
        })
        .filter(|place| place.exists)
        .collect();
    places.extend(elsewhere);
    places
}

/// The folder into which a variable, or else the settings in this home, put the agent's sessions, and what names it.
fn elsewhere(homes: Homes, env: &Environment, agent_id: AgentId, home: &Path) -> Option<(PathBuf, &'static str)> {
    let sessions = homes.of(agent_id)?.default_home()?.sessions.as_ref()?;
    let user = env.home.clone().unwrap_or_else(|| PathBuf::from("~"));
    if let Some(named) = env.variable(sessions.variable) {
        return Some((untilde(named, &user), sessions.variable));
    }
    let (settings, key) = sessions.settings;
    let source = Source::open(&home.join(settings)).ok().filter(|source| source.size() <= LONGEST_SETTINGS)?;
    let settings: serde_json::Value = serde_json::from_slice(&source.read_range(0, LONGEST_SETTINGS).ok()?).ok()?;
    let named = settings.get(key)?.as_str().filter(|named| !named.trim().is_empty())?;
    Some((untilde(Path::new(named), &user), key)).filter(|(path, _)| path.is_absolute())
}

/// Settings that are longer are no settings.
const LONGEST_SETTINGS: u64 = 1024 * 1024;

/// The folders in the user's home whose names begin so, by name.
fn profiles(user: &Path, prefix: &str) -> Vec<PathBuf> {
    let begins = |name: &OsStr| name.as_encoded_bytes().starts_with(prefix.as_bytes());
    let Ok(handle) = Handle::open_root(user) else { return Vec::new() };
    let (entries, _) = handle.list(usize::MAX);
    let named = entries.into_iter().filter(|entry| begins(&entry.name)).map(|entry| user.join(entry.name));
    let mut homes: Vec<PathBuf> = named.filter(|path| path.is_dir()).collect();
    homes.sort();
    homes
}

fn untilde(path: &Path, home: &Path) -> PathBuf {
    match path.strip_prefix("~") {
        Ok(rest) if rest.as_os_str().is_empty() => home.to_owned(),
        Ok(rest) => home.join(rest),
        Err(_) => path.to_owned(),
    }
}

/// Recognises homes. Holds where this machine's own homes really lie, so that a variable that names an oddly named
/// folder is honoured however that folder is reached.
#[derive(Debug)]
pub(crate) struct Recogniser {
    homes: Homes,
    env: Environment,
    own: Vec<(PathBuf, AgentId)>,
}

impl Recogniser {
    pub(crate) fn new(homes: Homes, env: &Environment) -> Self {
        let own = default_homes(homes, env).into_iter().filter(|home| home.exists);
        let own = own.filter_map(|home| Some((home.path.canonicalize().ok()?, home.agent_id))).collect();
        Recogniser { homes, env: env.clone(), own }
    }

    /// The home that this folder is.
    pub(crate) fn home(&self, path: &Path, handle: &Handle) -> Option<Layout> {
        let named = |home: &&dyn Home| home.home_names().iter().any(|name| path.ends_with(name.path));
        let by_name = self.homes.iter().find(named).map(|home| home.agent_id());
        let agent_id = by_name.or_else(|| self.by_variable(path)).or_else(|| self.by_content(handle))?;
        Some(Layout::Of(agent_id, Part::Home))
    }

    /// The folder into which the settings of a home put the sessions, and what names it.
    pub(super) fn elsewhere(&self, layout: Layout, home: &Path) -> Option<(PathBuf, &'static str)> {
        elsewhere(self.homes, &self.env, layout.agent_id().filter(|_| layout.is_home())?, home)
    }

    fn by_variable(&self, path: &Path) -> Option<AgentId> {
        if self.own.is_empty() {
            return None;
        }
        let real = path.canonicalize().ok()?;
        self.own.iter().find(|(own, _)| *own == real).map(|(_, agent_id)| *agent_id)
    }

    /// What lies in a home tells whose it is.
    fn by_content(&self, handle: &Handle) -> Option<AgentId> {
        let look = Look(handle);
        let signs = self.homes.iter().filter_map(|home| Some((home.home_sign(&look)?, home.agent_id())));
        signs.min_by_key(|(sure, _)| std::cmp::Reverse(*sure)).map(|(_, agent_id)| agent_id)
    }

    /// Where a folder lies in a store: its layout and the home, found by walking up.
    pub(crate) fn place(&self, folder: &Path) -> Option<(Layout, PathBuf)> {
        // deepest lawful place: projects/<slug>/<session>/subagents/workflows/<run>
        const UP: usize = 12;
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        // as it was written, so that the home is named in the same way; then what a link or `..` on the way hides
        let spellings = [Some(folder.to_owned()), std::path::absolute(folder).ok(), folder.canonicalize().ok()];
        let mut tried: Vec<PathBuf> = Vec::new();
        for start in spellings.into_iter().flatten() {
            if tried.contains(&start) {
                continue;
            }
            let found = start.ancestors().take(UP).find_map(|above| {
                let home = self.home(above, &Handle::open_root(above).ok()?)?;
                let below = start.strip_prefix(above).ok()?;
                let layout = below.components().try_fold(home, |layout, part| match part {
                    Component::Normal(name) => layout.child(name.as_encoded_bytes(), self.homes),
                    _ => None,
                })?;
                Some((layout, above.to_owned()))
            });
            if found.is_some() {
                return found;
            }
            tried.push(start);
        }
        None
    }

    /// The homes that lie in a folder under their own names and hold something: what a person means who passes a home
    /// directory. A project's own folder for its agent, with settings only, is none.
    pub(crate) fn inside(&self, folder: &Path) -> Vec<(PathBuf, Layout)> {
        let named = |home: &'static dyn Home| home.home_names().iter().map(move |name| (home.agent_id(), name));
        let each = self.homes.iter().flat_map(named);
        let there = |home: &PathBuf, name: &HomeName| name.parts.iter().any(|part| home.join(part).is_dir());
        each.flat_map(|(agent_id, name)| {
            let places = [Some(folder.join(name.path)), last_step(folder, name.path)].into_iter().flatten();
            let homes = places.filter(move |home| there(home, name));
            homes.map(move |home| (home, Layout::Of(agent_id, Part::Home)))
        })
        .collect()
    }

    /// Whether one of these is a folder that makes a home worth the name.
    pub(super) fn are_store_parts(&self, mut folders: impl Iterator<Item = impl AsRef<OsStr>>) -> bool {
        let names = || self.homes.iter().flat_map(Home::home_names);
        folders.any(|folder| names().any(|name| name.parts.iter().any(|part| folder.as_ref() == *part)))
    }
}

/// The home, where the folder is already on the way to it.
fn last_step(folder: &Path, home: &str) -> Option<PathBuf> {
    let home = Path::new(home);
    let way = home.parent().filter(|way| !way.as_os_str().is_empty())?;
    folder.ends_with(way).then(|| folder.join(home.file_name().unwrap_or_default()))
}
