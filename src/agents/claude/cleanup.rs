//! S516: what Claude Code's next start will delete: transcripts whose file was last changed more than
//! `cleanupPeriodDays` ago (30), at every start.

use crate::finding::When;
use crate::rules::counted;
use crate::rules::store::World;
use crate::rules::store::cleanup::{DAY_MS, Going, SOON, due_soon, grouped, settings};
use crate::store::{FileKind, Part};

/// Transcripts of one store.
struct Transcripts {
    store: u32,
    kept: Period,
    due: Vec<u32>,
    first: i64,
    soon: Vec<u32>,
    next: i64,
}

pub(super) fn check(world: &mut World<'_>) {
    let mut stores: Vec<Transcripts> = Vec::new();
    for (n, file) in (0_u32..).zip(&world.discovery.files) {
        let in_place = world.part(file) == Some(Part::Project);
        if file.kind != FileKind::Main || file.agent_id != Some(crate::agents::CLAUDE) || !in_place {
            continue;
        }
        let Some(store) = world.aliases.store(world.discovery, file) else { continue };
        let slot = match stores.iter().position(|s| s.store == store) {
            Some(slot) => slot,
            None => {
                let kept = cleanup_period(world, store);
                let (first, next) = (i64::MAX, i64::MAX);
                stores.push(Transcripts { store, kept, due: Vec::new(), first, soon: Vec::new(), next });
                stores.len() - 1
            }
        };
        let of = &mut stores[slot];
        let at = file.mtime_ms.saturating_add(of.kept.ms);
        if at < world.now {
            of.due.push(n);
            of.first = of.first.min(at);
        } else if at < world.now.saturating_add(SOON) {
            of.soon.push(n);
            of.next = of.next.min(at);
        }
    }
    for Transcripts { store, kept, due, first, soon, next } in stores {
        let days = kept.ms / DAY_MS;
        if !soon.is_empty() {
            due_soon(world, store, &soon, crate::agents::CLAUDE, (days, kept.setting.clone()), next);
        }
        if due.is_empty() {
            continue;
        }
        let effect = format!(
            "Claude Code deletes {} at its next start: not changed for {days} days",
            counted(due.len() as u64, "transcript")
        );
        let (when, reason) = (When::NextStart, format!("older than {days} days"));
        let going = Going { files: &due, when, reason, setting: kept.setting, due: Some(first) };
        grouped(world, store, &going, effect);
    }
}

/// `cleanupPeriodDays`, and where it stands.
struct Period {
    ms: i64,
    setting: String,
}

fn cleanup_period(world: &World<'_>, store: u32) -> Period {
    let set = settings(world, store).and_then(|s| s.get("cleanupPeriodDays")?.as_f64()).filter(|d| *d >= 0.0);
    let days = set.unwrap_or(30.0).min(1e6);
    let setting = match set {
        Some(_) => format!("cleanupPeriodDays {days} in settings.json"),
        None => format!("cleanupPeriodDays, which is {days} unless settings.json says otherwise"),
    };
    Period { ms: (days * DAY_MS as f64) as i64, setting }
}
