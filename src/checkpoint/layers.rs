//! What the session layer and the file layer say to each other, as far as it can be said without reading either: the
//! facts come in as data, from whoever has read the session.

use std::collections::HashMap;

use super::model::{Index, snapshot_number};
use crate::text::Text;

/// Which snapshots an index holds, for questions from a session.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// Ids, with the first position.
    ids: HashMap<Text, u32>,
    /// Paths, with the time of their first entry (none: no entry of it has a time).
    first_entry: HashMap<Text, Option<f64>>,
    /// The next id's number.
    next: Option<f64>,
    /// Nothing was evicted, undone or skipped: what has no entry was never snapshotted.
    pub complete: bool,
}

impl Held {
    /// What an index holds.
    pub fn of(index: &Index) -> Held {
        let mut first_entry: HashMap<Text, Option<f64>> = HashMap::new();
        for (position, snapshot) in (0_u32..).zip(&index.snapshots) {
            for (_, entry) in index.entries_at(position) {
                let Some(path) = index.path(entry.file) else { continue };
                let first = first_entry.entry(path.clone()).or_insert(snapshot.timestamp);
                if let (Some(known), Some(time)) = (*first, snapshot.timestamp) {
                    *first = Some(known.min(time));
                }
            }
        }
        Held { ids: index.first.clone(), first_entry, next: index.next_id.map(|n| n.value), complete: index.complete() }
    }

    /// Whether it holds a snapshot of that id.
    pub fn has(&self, id: &Text) -> bool {
        self.ids.contains_key(id)
    }

    /// Whether the agent may have handed out that id: it is below the next one, so that its snapshot was evicted,
    /// undone, or never stored because nothing had changed.
    pub fn handed_out(&self, id: &Text) -> bool {
        snapshot_number(id).is_some_and(|n| n > 0 && self.next.is_some_and(|next| (n as f64) < next))
    }

    /// Whether a path has an entry; with a time (milliseconds since 1970), whether it had one by then.
    pub fn protects(&self, path: &Text, by: Option<f64>) -> bool {
        match (self.first_entry.get(path), by) {
            (None, _) => false,
            (Some(Some(first)), Some(by)) => *first <= by + SLACK,
            (Some(_), _) => true,
        }
    }
}

/// The snapshot is taken before the tool runs and the record is written after it; clocks of both are the same. Five
/// seconds allow for a record whose time was taken when its message began.
const SLACK: f64 = 5_000.0;

/// The word in a shell command that may destroy files without a snapshot: `rm`, `mv`, `truncate`, `dd`, or git's
/// `checkout`, `reset`, `clean`, `restore`. sid-code 3f3215144f68 snapshots what it can read out of some commands (a plain
/// `rm file`); which files a word of this list reaches is not known from the command alone.
pub fn destructive_word(command: &str) -> Option<&'static str> {
    // Quotes keep a word together; what stands in `$( )` is a command, too, and is split off with the rest.
    let mut quote = None;
    let mut words: Vec<String> = vec![String::new()];
    for c in command.chars() {
        let word = words.last_mut()?;
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (Some(_), c) => word.push(c),
            (None, '\'' | '"') => quote = Some(c),
            (None, ' ' | '\t') if !word.is_empty() => words.push(String::new()),
            (None, ' ' | '\t') => {}
            (None, ';' | '&' | '|' | '\n' | '(' | ')' | '`' | '{' | '}') => {
                if let Some(found) = first_word(&words) {
                    return Some(found);
                }
                words = vec![String::new()];
            }
            (None, c) => word.push(c),
        }
    }
    first_word(&words)
}

fn first_word(words: &[String]) -> Option<&'static str> {
    let mut rest = words.iter().map(String::as_str).skip_while(|word| {
        let assignment = word
            .split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
        assignment
            || matches!(*word, "" | "sudo" | "command" | "exec" | "time" | "then" | "do" | "else" | "!" | "xargs" | "$")
    });
    let command = rest.next()?;
    let arguments: Vec<&str> = rest.collect();
    let has = |flag: &str| arguments.contains(&flag);
    match command.rsplit('/').next()? {
        "rm" => Some("rm"),
        "mv" => Some("mv"),
        "truncate" => Some("truncate"),
        "dd" if arguments.iter().any(|a| a.starts_with("of=")) => Some("dd"),
        "git" => {
            let mut rest = arguments.iter().copied();
            let mut word = rest.next();
            while let Some(flag) = word.filter(|w| w.starts_with('-')) {
                if matches!(flag, "-C" | "-c" | "--git-dir" | "--work-tree") {
                    rest.next();
                }
                word = rest.next();
            }
            match word? {
                // A new branch leaves every file as it is.
                "checkout" if !has("-b") && !has("-B") && !has("--orphan") => Some("git checkout"),
                // Without one of these it only moves the branch or the index.
                "reset" if has("--hard") || has("--merge") || has("--keep") => Some("git reset"),
                "clean" if !arguments.iter().any(|a| is_dry_run(a)) => Some("git clean"),
                "restore" if !has("--staged") || has("--worktree") => Some("git restore"),
                _ => None,
            }
        }
        _ => None,
    }
}

/// `--dry-run`, or short flags with an `n` among them.
fn is_dry_run(argument: &str) -> bool {
    argument == "--dry-run" || (argument.starts_with('-') && !argument.starts_with("--") && argument.contains('n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destructive_commands_are_told_from_others() {
        for (command, word) in [
            ("rm *.txt", Some("rm")),
            ("cd src && /bin/rm -rf build", Some("rm")),
            ("A=1 sudo rm x", Some("rm")),
            ("git checkout -- src/a.txt", Some("git checkout")),
            ("git -C /repo reset --hard HEAD~1", Some("git reset")),
            ("git clean -fd", Some("git clean")),
            ("echo $(truncate -s 0 a)", Some("truncate")),
            ("dd if=/dev/zero of=a bs=1", Some("dd")),
            ("ls | xargs rm", Some("rm")),
            ("git checkout -b topic", None),
            ("git reset HEAD a", None),
            ("git clean -nfd", None),
            ("git status && npm run rm", None),
            ("echo 'rm x; rm y'", None),
            ("\"rm\" x", Some("rm")),
            ("grep -rn 'git reset --hard' .", None),
            ("dd if=a", None),
            ("", None),
        ] {
            assert_eq!(destructive_word(command), word, "{command}");
        }
    }
}
