//! Paths as URIs (RFC 3986), for reports whose readers resolve them: relative ones below a root, and the root itself.
//!
//! Bytes are encoded as they stand in the name, so a name that is no UTF-8 keeps its own spelling, and nothing that a
//! name holds can end a URI, start a query or pass for a scheme.

use std::path::{Component, Path, Prefix};

/// A path below a root, `None` when it does not lie there. The root itself is `.`.
pub fn below(root: &Path, path: &Path) -> Option<String> {
    let parts: Vec<String> =
        path.strip_prefix(root).ok()?.iter().map(|part| encoded(part.as_encoded_bytes())).collect();
    Some(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

/// A path as a `file:` URI; `None` where the system does not tell the current folder. A folder's ends in a slash.
pub fn file(path: &Path, folder: bool) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    let mut uri = String::from("file://");
    let mut rooted = false;
    for part in path.components() {
        match part {
            Component::Prefix(prefix) => match prefix.kind() {
                Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => {
                    uri.push('/');
                    uri.push(char::from(letter));
                    uri.push(':');
                }
                Prefix::UNC(host, share) | Prefix::VerbatimUNC(host, share) => {
                    uri.push_str(&encoded(host.as_encoded_bytes()));
                    uri.push('/');
                    uri.push_str(&encoded(share.as_encoded_bytes()));
                }
                Prefix::Verbatim(name) | Prefix::DeviceNS(name) => {
                    uri.push('/');
                    uri.push_str(&encoded(name.as_encoded_bytes()));
                }
            },
            Component::RootDir => rooted = true,
            Component::CurDir => {}
            Component::ParentDir => uri.push_str("/.."),
            Component::Normal(name) => {
                uri.push('/');
                uri.push_str(&encoded(name.as_encoded_bytes()));
            }
        }
    }
    // The two slashes before the host are no path: the root itself still needs its own.
    let bare = rooted && uri == "file://";
    if bare || (folder && !uri.ends_with('/')) {
        uri.push('/');
    }
    Some(uri)
}

/// One segment: everything but the unreserved characters is encoded. A colon too, or a first segment would be a scheme.
fn encoded(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for &byte in name {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push('%');
            text.push_str(&format!("{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_anything_else() {
        let of = |path: &str| below(Path::new("/a"), Path::new(path));
        assert_eq!(of("/a/b c/%41?x#y.jsonl").as_deref(), Some("b%20c/%2541%3Fx%23y.jsonl"));
        assert_eq!(of("/a/javascript:alert(1)").as_deref(), Some("javascript%3Aalert%281%29"));
        assert_eq!(of("/a").as_deref(), Some("."));
        assert_eq!(of("/b"), None);
        assert_eq!(below(Path::new(""), Path::new("x/ü")).as_deref(), Some("x/%C3%BC"));
    }

    #[cfg(unix)]
    #[test]
    fn files_are_absolute() {
        assert_eq!(file(Path::new("/a b/c"), false).as_deref(), Some("file:///a%20b/c"));
        assert_eq!(file(Path::new("/a"), true).as_deref(), Some("file:///a/"));
        assert_eq!(file(Path::new("/"), true).as_deref(), Some("file:///"));
        assert!(file(Path::new("x"), false).is_some_and(|uri| uri.starts_with("file:///") && uri.ends_with("/x")));
    }
}
