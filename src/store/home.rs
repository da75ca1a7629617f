//! Where the agents keep their stores on this machine, and whether a folder is such a home.
//!
//! Three things make a folder a home: its name, the variable that the agent itself would read, or what lies in it. Copies
//! of stores bear any name, so the content is asked last, with a bounded look. Nothing is read from a file here.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use super::agent::{Home, HomeName, Homes, Look};
use super::handle::Handle;
use super::layout::{Layout, Part};
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
        let names = homes.iter().filter_map(Home::default_home).map(|home| home.variable);
        Environment {
            variables: names.filter_map(|name| Some((name, std::env::var_os(name)?))).collect(),
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
    let candidate = |home: &'static dyn Home| {
        let usual = home.default_home()?;
        let (path, why) = match env.variable(usual.variable) {
            Some(value) if usual.tilde => (untilde(value, &user), usual.variable),
            Some(value) => (value.to_owned(), usual.variable),
            None => (user.join(usual.below), "default"),
        };
        Some(HomeCandidate { agent_id: home.agent_id(), exists: path.is_dir(), path, why })
    };
    homes.iter().filter_map(candidate).collect()
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
    own: Vec<(PathBuf, AgentId)>,
}

impl Recogniser {
    pub(crate) fn new(homes: Homes, env: &Environment) -> Self {
        let own = default_homes(homes, env).into_iter().filter(|home| home.exists);
        let own = own.filter_map(|home| Some((home.path.canonicalize().ok()?, home.agent_id))).collect();
        Recogniser { homes, own }
    }

    /// The home that this folder is.
    pub(crate) fn home(&self, path: &Path, handle: &Handle) -> Option<Layout> {
        let named = |home: &&dyn Home| home.home_names().iter().any(|name| path.ends_with(name.path));
        let by_name = self.homes.iter().find(named).map(|home| home.agent_id());
        let agent_id = by_name.or_else(|| self.by_variable(path)).or_else(|| self.by_content(handle))?;
        Some(Layout::Of(agent_id, Part::Home))
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
