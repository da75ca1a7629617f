//! S516: what sid-code's next start will delete of sessions.
//!
//! `docs/formats/sid-code.md`, sections 4, 7 and 8.2: at every interactive start all files of all projects are looked at
//! as its list sees them (`view`). What counts as corrupt goes at once, whatever its age, and every subagent's transcript
//! counts as corrupt; of the rest goes what was last updated more than 30 days ago and what stands behind the newest 50,
//! unless it was updated within a day. Only the starting process's own id is protected, not sessions in use. The settings
//! may say otherwise (`sessionRetention`; read in the source, not run).

use super::view::Corrupt;
use crate::finding::{Deletion, Finding, Place, When};
use crate::rules::counted;
use crate::rules::store::World;
use crate::rules::store::cleanup::{DAY_MS, DELETION_AHEAD, Going, SOON, due_soon, grouped, settings};
use crate::store::{FileEntry, Part};

/// What sid-code keeps.
struct Retention {
    /// Whether settings.json says anything of it.
    set: bool,
    enabled: bool,
    max_age: Option<i64>,
    max_count: usize,
    min_age: i64,
}

impl Retention {
    /// What decides, and where it stands.
    fn setting(&self, key: &str) -> String {
        let set = if self.set { "in settings.json" } else { "as sid-code has it unless settings.json says otherwise" };
        format!("sessionRetention.{key}, {set}")
    }
}

pub(super) fn check(world: &mut World<'_>) {
    let mut stores: Vec<(u32, Retention, Vec<Candidate>)> = Vec::new();
    for at in 0..world.notes.len() {
        let note = &world.notes[at];
        let n = note.file;
        let Some(file) = world.discovery.files.get(n as usize) else { continue };
        let in_place = world.part(file).is_some_and(|part| matches!(part, Part::Project | Part::Sessions));
        if file.agent_id != Some(crate::agents::SID) || !in_place || file.name.bytes().starts_with(b".") {
            continue;
        }
        let Some(store) = world.aliases.store(world.discovery, file) else { continue };
        let slot = match stores.iter().position(|s| s.0 == store) {
            Some(slot) => slot,
            None => {
                stores.push((store, retention(world, store), Vec::new()));
                stores.len() - 1
            }
        };
        let (_, kept, candidates) = &mut stores[slot];
        if !kept.enabled {
            continue;
        }
        match Corrupt::from_number(note.left_out()) {
            Some(why) if note.holds_message() => {
                let finding = corrupt(world, file, why, kept);
                world.add(Some(n), finding);
            }
            Some(_) => candidates.push(Candidate { file: n, updated: None, corrupt: true }),
            None => candidates.push(Candidate { file: n, updated: note.updated(), corrupt: false }),
        }
    }
    for (store, kept, candidates) in stores {
        one_store(world, store, &kept, candidates);
    }
}

struct Candidate {
    file: u32,
    updated: Option<i64>,
    corrupt: bool,
}

fn corrupt(world: &World<'_>, file: &FileEntry, why: Corrupt, kept: &Retention) -> Finding {
    let path = world.discovery.path(file);
    DELETION_AHEAD
        .at(Place::default())
        .path(&path)
        .effect(format!("{} deletes it at its next interactive start: {}", crate::agents::SID.loader(), why.reason()))
        .deletion(Deletion {
            files: vec![path.to_string_lossy().into_owned()],
            reason: why.reason().to_owned(),
            when: When::NextStart,
            setting: kept.setting("enabled"),
            date: "next start".to_owned(),
        })
}

fn one_store(world: &mut World<'_>, store: u32, kept: &Retention, mut candidates: Vec<Candidate>) {
    let empty: Vec<u32> = candidates.iter().filter(|c| c.corrupt).map(|c| c.file).collect();
    if !empty.is_empty() {
        let effect = format!(
            "{} deletes {} without a message at its next interactive start",
            crate::agents::SID.loader(),
            counted(empty.len() as u64, "file")
        );
        let setting = kept.setting("enabled");
        let going = Going { files: &empty, when: When::NextStart, reason: "no message".to_owned(), setting, due: None };
        grouped(world, store, &going, effect);
    }
    candidates.retain(|c| !c.corrupt);
    // The newest first; a time that cannot be read stands last. Whether 50 are newer is known for a whole store only.
    candidates.sort_by_key(|c| (std::cmp::Reverse(c.updated), c.file));
    let whole = world.is_whole(store);
    let (mut old, mut beyond, mut first) = (Vec::new(), Vec::new(), None::<i64>);
    let (mut soon, mut next) = (Vec::new(), None::<i64>);
    for (place, candidate) in candidates.iter().enumerate() {
        let age = candidate.updated.map(|at| world.now.saturating_sub(at));
        if age.is_some_and(|age| age < kept.min_age) {
            continue;
        }
        if let (Some(age), Some(max_age), Some(at)) = (age, kept.max_age, candidate.updated)
            && age > max_age
        {
            let due = at.saturating_add(max_age);
            first = Some(first.map_or(due, |f| f.min(due)));
            old.push(candidate.file);
        } else if whole && place >= kept.max_count {
            beyond.push(candidate.file);
        } else if let (Some(at), Some(max_age)) = (candidate.updated, kept.max_age)
            && at.saturating_add(max_age) < world.now.saturating_add(SOON)
        {
            let due = at.saturating_add(max_age);
            next = Some(next.map_or(due, |n: i64| n.min(due)));
            soon.push(candidate.file);
        }
    }
    let days = kept.max_age.unwrap_or(0) / DAY_MS;
    if let Some(due) = next {
        soon.sort_unstable();
        due_soon(world, store, &soon, crate::agents::SID, (days, kept.setting("maxAge")), due);
    }
    if old.is_empty() && beyond.is_empty() {
        return;
    }
    let (by_age, by_number) = (format!("older than {days} days"), format!("beyond the newest {}", kept.max_count));
    let reason = match (old.is_empty(), beyond.is_empty()) {
        (false, true) => by_age,
        (true, _) => by_number,
        (false, false) => format!("{by_age}, or {by_number}"),
    };
    let effect = format!(
        "{} deletes {} at its next interactive start: {reason}",
        crate::agents::SID.loader(),
        counted((old.len() + beyond.len()) as u64, "session")
    );
    let (older, further) = (old.len(), beyond.len());
    old.extend(beyond);
    old.sort_unstable();
    let setting = if older > 0 { kept.setting("maxAge") } else { kept.setting("maxCount") };
    let going = Going { files: &old, when: When::NextStart, reason, setting, due: first };
    let finding = grouped(world, store, &going, effect);
    finding.facts.extend([("older", older.into()), ("beyond_number", further.into())]);
}

fn retention(world: &World<'_>, store: u32) -> Retention {
    let settings = settings(world, store);
    let set = settings.as_ref().and_then(|s| s.get("sessionRetention"));
    let period = |key: &str| set.and_then(|s| s.get(key)?.as_str()).and_then(parse_period);
    Retention {
        set: set.is_some(),
        enabled: set.and_then(|s| s.get("enabled")?.as_bool()).unwrap_or(true),
        max_age: period("maxAge").or(Some(30 * DAY_MS)),
        max_count: set
            .and_then(|s| s.get("maxCount")?.as_u64())
            .filter(|n| *n > 0)
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(50),
        min_age: period("minRetention").unwrap_or(DAY_MS),
    }
}

/// `12h`, `30d`, `4w`, `2m` (months of 30 days).
fn parse_period(text: &str) -> Option<i64> {
    let unit = match text.as_bytes().last()? {
        b'h' => DAY_MS / 24,
        b'd' => DAY_MS,
        b'w' => 7 * DAY_MS,
        b'm' => 30 * DAY_MS,
        _ => return None,
    };
    let number = &text[..text.len() - 1];
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    number.parse::<i64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods() {
        assert_eq!(parse_period("30d"), Some(30 * DAY_MS));
        assert_eq!(parse_period("2w"), Some(14 * DAY_MS));
        assert_eq!(parse_period("1m"), Some(30 * DAY_MS));
        for odd in ["", "d", "-1d", "3y", "30", "99999999999999999d"] {
            assert_eq!(parse_period(odd), None, "{odd}");
        }
    }
}
