//! The command that a reader may want next. It is meant to be pasted into a shell, so it is quoted for one, and left out
//! when the path cannot be quoted so that every shell and every eye reads the same.

use std::path::Path;

use super::neutral::is_active;
use crate::finding::{Finding, Severity};
use crate::session::Shape;

/// The next command for a finding of a session.
pub fn for_finding(finding: &Finding, session: &Path, shape: Shape) -> Option<String> {
    let path = finding.path.as_deref().unwrap_or(session);
    let code = finding.rule.code;
    let explain = || Some(format!("sid-audit explain {code}"));
    if path == Path::new("-") {
        return explain();
    }
    match (finding.rule.fix, finding.severity) {
        (Some(_), Severity::Error | Severity::Warning) => with_path("sid-audit repair --dry-run", path),
        _ if code.starts_with('C') && finding.place.line.is_some() && shape != Shape::Legacy => {
            with_path("sid-audit chain", path)
        }
        _ => explain(),
    }
}

/// The next command for a session: what answers its worst finding.
pub fn for_session(findings: &[Finding], session: &Path, shape: Shape) -> Option<String> {
    let worst = findings.iter().max_by_key(|f| (f.severity, f.rule.fix.is_some()))?;
    for_finding(worst, session, shape)
}

/// A command with a path behind it, quoted.
pub fn with_path(command: &str, path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| !text.is_empty() && !text.chars().any(is_active))?;
    // What begins with a dash would be read as an option.
    let text = if text.starts_with('-') { format!("./{text}") } else { text.to_owned() };
    Some(format!("{command} {}", quoted(&text)))
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
