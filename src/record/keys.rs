//! A table from keys to what they mean. Every key of every record is looked up in one, so it is laid out when the program
//! is compiled, and most look-ups are one comparison.

/// One key and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Key<F> {
    name: &'static [u8],
    is: F,
}

/// A key and what it means.
pub const fn key<F: Copy>(name: &'static str, is: F) -> Key<F> {
    Key { name: name.as_bytes(), is }
}

/// Places of a table: more than twice as many as the longest list has keys, so that an unknown key meets a free one soon.
const PLACES: usize = 128;
const MASK: usize = PLACES - 1;
const FREE: (u8, u8) = (u8::MAX, u8::MAX);

/// Keys and what they mean.
#[derive(Debug)]
pub struct Keys<F: 'static> {
    lists: &'static [&'static [Key<F>]],
    /// Of each place the list and the key in it.
    places: [(u8, u8); PLACES],
}

impl<F> Keys<F> {
    /// A table of the keys of these lists. Too many keys, or one that stands twice, do not compile.
    pub const fn new(lists: &'static [&'static [Key<F>]]) -> Self {
        let mut places = [FREE; PLACES];
        let (mut list, mut count) = (0, 0);
        while list < lists.len() {
            let mut n = 0;
            while n < lists[list].len() {
                let name = lists[list][n].name;
                let mut at = place(name);
                while places[at].0 != FREE.0 {
                    let (held, key) = places[at];
                    assert!(!same(lists[held as usize][key as usize].name, name), "a key stands twice");
                    at = (at + 1) & MASK;
                }
                places[at] = (list as u8, n as u8);
                count += 1;
                assert!(count <= PLACES / 2, "too many keys for the table");
                n += 1;
            }
            list += 1;
        }
        Keys { lists, places }
    }

    /// The first key that means this.
    pub fn first(&self, is: impl Fn(&F) -> bool) -> Option<&'static [u8]> {
        self.lists.iter().copied().flatten().find(|key| is(&key.is)).map(|key| key.name)
    }

    /// What a key means; none when it means nothing here.
    #[inline]
    pub fn get(&self, name: &[u8]) -> Option<&'static F> {
        let mut at = place(name);
        loop {
            let (list, n) = self.places[at];
            if list == FREE.0 {
                return None;
            }
            let key = &self.lists[usize::from(list)][usize::from(n)];
            if key.name == name {
                return Some(&key.is);
            }
            at = (at + 1) & MASK;
        }
    }

    /// All meanings.
    pub fn iter(&self) -> impl Iterator<Item = &'static F> {
        self.lists.iter().copied().flatten().map(|key| &key.is)
    }

    /// The first key of a meaning.
    pub fn name_of(&self, is: impl Fn(&F) -> bool) -> Option<&'static str> {
        let found = self.lists.iter().copied().flatten().find(|key| is(&key.is))?;
        std::str::from_utf8(found.name).ok()
    }
}

/// Where the search for a key begins: its length and both ends tell nearly all keys apart.
#[inline]
const fn place(name: &[u8]) -> usize {
    let n = name.len();
    if n == 0 {
        return 0;
    }
    (n.wrapping_mul(7)
        ^ (name[0] as usize).wrapping_mul(5)
        ^ (name[n - 1] as usize).wrapping_mul(11)
        ^ (name[n / 2] as usize))
        & MASK
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut n = 0;
    while n < a.len() {
        if a[n] != b[n] {
            return false;
        }
        n += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_all_lists_are_found_and_no_others() {
        static KEYS: Keys<u8> = Keys::new(&[&[key("uuid", 1), key("type", 2), key("", 3)], &[key("cwd", 4)]]);
        let get = |name: &str| KEYS.get(name.as_bytes()).copied();
        assert_eq!([get("uuid"), get("type"), get(""), get("cwd")], [Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!([get("uuids"), get("cwe"), get("UUID")], [None; 3]);
        assert_eq!(KEYS.name_of(|n| *n == 4), Some("cwd"));
        assert_eq!(KEYS.iter().count(), 4);
    }
}
