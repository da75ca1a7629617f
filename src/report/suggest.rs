//! The command that a reader may want next. It is meant to be pasted into a shell, so it is quoted for one, and left out
//! when the path cannot be quoted so that every shell and every eye reads the same. A repair is named only where it was
//! found to have a plan (`audit::mend`).

use std::path::Path;

use super::sanitize::is_active;
use crate::audit::mend::{Ask, Mend, answering};
use crate::finding::{Family, Finding, Fix};
use crate::session::Shape;

/// What the commands of one file are made of.
#[derive(Clone, Copy, Debug)]
pub struct Next<'a> {
    /// The file.
    pub path: &'a Path,
    /// What it is.
    pub shape: Shape,
    /// The repairs that have a plan for it.
    pub mends: &'a [Mend],
}

impl Next<'_> {
    /// The next command for a finding of the file.
    pub fn for_finding(&self, finding: &Finding) -> Option<String> {
        let path = finding.path.as_deref().unwrap_or(self.path);
        let rule = finding.rule;
        let explain = || Some(format!("sid-audit explain {rule}"));
        if path == Path::new("-") {
            return explain();
        }
        match self.answer(finding).filter(|_| path == self.path) {
            Some(mend) => repair("--dry-run", &mend.ask, path),
            None if rule.family() == Family::Chain && finding.place.line.is_some() && self.shape != Shape::Legacy => {
                with_path("sid-audit chain", path)
            }
            None => explain(),
        }
    }

    /// The next command for the file: what answers its worst finding that has an answer.
    pub fn for_file(&self, findings: &[Finding]) -> Option<String> {
        let answered = |f: &Finding| self.answer(f).is_some();
        let worst = findings.iter().max_by_key(|f| (f.severity, answered(f), f.rule.fix.is_some()))?;
        self.for_finding(worst)
    }

    /// The repair for a finding: of what has no answer of its own, only a decision.
    fn answer(&self, finding: &Finding) -> Option<&Mend> {
        let own = |mend: &&Mend| finding.rule.fix.is_some() || mend.ask.leaf.is_some();
        answering(self.mends, finding.rule).filter(own)
    }
}

/// A repair of a file.
pub fn repair(how: &str, ask: &Ask, path: &Path) -> Option<String> {
    let mut command = format!("sid-audit repair {how}");
    if ask.up_to > Fix::Links {
        command.push_str(&format!(" --up-to {}", ask.up_to.name()));
    }
    if ask.nearest {
        command.push_str(" --relink auto");
    }
    if let Some(leaf) = &ask.leaf {
        command.push_str(&format!(" --leaf {}", word(leaf).filter(|_| !leaf.starts_with('-'))?));
    }
    if ask.touch {
        command.push_str(" --touch");
    }
    with_path(&command, path)
}

/// A command with a path behind it, quoted.
pub fn with_path(command: &str, path: &Path) -> Option<String> {
    Some(format!("{command} {}", word(path.to_str()?)?))
}

/// A word that is no option, quoted; none when it cannot be read the same by every eye.
fn word(text: &str) -> Option<String> {
    if text.is_empty() || text.chars().any(is_active) {
        return None;
    }
    // What begins with a dash would be read as an option.
    Some(if text.starts_with('-') { quoted(&format!("./{text}")) } else { quoted(text) })
}

/// A word quoted for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_or_left_out() {
        let of = |path: &str| with_path("chain", Path::new(path));
        assert_eq!(of("/a/b.jsonl").unwrap(), "chain /a/b.jsonl");
        assert_eq!(of("/a b/$(rm -r)'x.jsonl").unwrap(), "chain '/a b/$(rm -r)'\\''x.jsonl'");
        assert_eq!(of("-x").unwrap(), "chain ./-x");
        assert_eq!(of("~/x").unwrap(), "chain '~/x'");
        assert_eq!(of("a\nb"), None);
        assert_eq!(of("a\u{202e}b"), None);
    }
}
