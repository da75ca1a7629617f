//! The names of pi and OpenClaw: of session files, of project folders.

use crate::store::is_uuid;

/// The id in a file's name, when the name is one that pi gives: time and id.
pub(super) fn timed_id(stem: &[u8]) -> Option<&[u8]> {
    let (time, rest) = stem.split_at_checked(24)?;
    let form = b"0000-00-00T00-00-00-000Z";
    let fits = |(a, b): (&u8, &u8)| if *b == b'0' { a.is_ascii_digit() } else { a == b };
    if !time.iter().zip(form).all(fits) {
        return None;
    }
    rest.strip_prefix(b"_").filter(|id| !id.is_empty())
}

/// The id in a file's name, when the name is one that OpenClaw gives: a UUID with or without a topic, or as pi's.
pub(super) fn uuid_or_timed_id(stem: &[u8]) -> Option<&[u8]> {
    match stem.split_at_checked(36).filter(|(id, _)| is_uuid(id)) {
        Some((id, rest)) => (rest.is_empty() || rest.starts_with(b"-topic-")).then_some(id),
        None => timed_id(stem),
    }
}

/// Whether sessions of a directory may lie in the project folder of that name.
pub(super) fn belongs(cwd: &str, folder: &str) -> bool {
    let fits = |encoded: &str| encoded.eq_ignore_ascii_case(folder);
    // with a separator at the end 0.73 wrote one more dash than 1.x does
    fits(&project(cwd)) || fits(&project(cwd.trim_end_matches(['/', '\\'])))
}

/// pi's folder of a directory (`docs/formats/pi.md`, section 2).
pub(super) fn project(cwd: &str) -> String {
    let rest = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    format!("--{}--", rest.replace(['/', '\\', ':'], "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_as_pi_encodes_them() {
        assert_eq!(project("/home/ada/my-app"), "--home-ada-my-app--");
        assert_eq!(project("/"), "----");
        assert_eq!(project("C:\\Users\\ada\\p"), "--C--Users-ada-p--");
        assert!(belongs("/home/ada/", "--home-ada---") && belongs("/home/ada/", "--home-ada--"));
    }

    #[test]
    fn ids_in_names_of_the_agents_own_form() {
        assert_eq!(timed_id(b"2026-03-04T05-06-07-000Z_x.y"), Some(&b"x.y"[..]));
        assert_eq!(timed_id(b"16-id-name-mismatch"), None);
        let id = b"5e550000-0000-4000-8000-000000000001";
        assert_eq!(uuid_or_timed_id(&[&id[..], b"-topic-7"].concat()), Some(&id[..]));
        assert_eq!(timed_id(&id[..]), None);
    }
}
