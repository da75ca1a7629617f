//! Tells the program which commit it is made from: from `.git` when the sources are a checkout, from what Cargo put into
//! the package otherwise. Needs neither a dependency nor `git`, and a build without either tells no commit.
//!
//! Only for release builds. In development every commit would compile everything again.

#![allow(clippy::disallowed_macros, reason = "this is how a build script answers Cargo")]
#![allow(clippy::disallowed_methods, reason = "the rooms and their laws are the program's")]

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The texts of the findings are taken in as folders, which Cargo does not watch by itself.
    for folder in ["src/rules/texts", "src/agents"] {
        println!("cargo:rerun-if-changed={folder}");
    }
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    if std::env::var_os("PROFILE").is_some_and(|profile| profile == "release")
        && let Some(commit) = checkout(&root).or_else(|| package(&root))
    {
        println!("cargo:rustc-env=SID_AUDIT_COMMIT={}", &commit[..12]);
    }
}

/// The commit that is checked out. `.git` of the sources themselves, never of a folder above them: that is another project.
fn checkout(root: &Path) -> Option<String> {
    let mut git = root.join(".git");
    if git.is_file() {
        // A worktree: the file names its own folder.
        let text = read(&git)?;
        git = root.join(text.trim().strip_prefix("gitdir: ")?);
    }
    let head = read(&git.join("HEAD"))?;
    let Some(name) = head.trim().strip_prefix("ref: ") else { return hash(&head) };
    // Branches of a worktree lie in the folder that all of them share.
    let common = read(&git.join("commondir")).map_or_else(|| git.clone(), |text| git.join(text.trim()));
    let loose = [&git, &common].into_iter().find_map(|folder| read(&folder.join(name)));
    loose.and_then(|text| hash(&text)).or_else(|| {
        let packed = read(&common.join("packed-refs"))?;
        packed.lines().find_map(|line| hash(line.strip_suffix(name)?))
    })
}

/// The commit that a package was made from.
fn package(root: &Path) -> Option<String> {
    let text = read(&root.join(".cargo_vcs_info.json"))?;
    let at = text.find("\"sha1\"")? + "\"sha1\"".len();
    hash(text.get(at..)?.trim_start_matches([':', ' ', '"']).get(..40)?)
}

/// Reads a file and has the build repeated when it changes.
fn read(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    println!("cargo:rerun-if-changed={}", path.display());
    Some(text)
}

fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    (text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit())).then(|| text.to_owned())
}
