//! Where each record of a session is drawn: its lane, its row, and which records share a row. Pure: nothing is read here
//! and nothing printed.
//!
//! Rows follow the file, which is the order of writing. Lanes are branches: the adopted one is the leftmost, the others
//! take the first lane that is free where they begin. A long session has more records than a page can hold, so what is
//! least telling is folded first: rows beside the conversation, then messages, then prompts; ends, forks, breaks,
//! boundaries and findings last. In a session of nothing but those, rows stand for equal shares of the records. So the
//! number of rows is bounded whatever the file is, and each folded row says how many records it stands for.

use crate::chain::Mode;
use crate::chain::shape::is_prompt;
use crate::chain::survey::{Branch, Reason, Survey};
use crate::chain::walk::up;
use crate::record::facts::{Kind, Record, flag};
use crate::session::Session;

/// How many rows a drawing has at most, about: fewer than a page of a book has letters.
const ROWS: usize = 500;
/// How many branches have a lane of their own; the smallest ones share the last.
const LANES: usize = 12;

/// How a stretch of the session is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ink {
    /// It comes back.
    Adopted,
    /// On a branch that was left.
    Left,
    /// Before a boundary.
    Before,
    /// A subagent's.
    Side,
    /// Cut off by a break, or not loaded.
    Unreachable,
}

/// A row of the drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Its lane, from the left.
    pub(super) lane: usize,
    /// The records that it stands for, the first and the last. Of a damaged line there is none.
    pub(super) records: Option<(u32, u32)>,
    /// How many records it stands for; none for a damaged line.
    pub(super) count: u64,
    /// How many of them are messages.
    pub(super) messages: u64,
    /// First and last physical line.
    pub(super) lines: (u32, u32),
    /// How it is drawn.
    pub(super) ink: Ink,
    /// Whether it is a message, or holds one.
    pub(super) speaks: bool,
    /// How many compactions or cleared contexts it holds.
    pub(super) boundaries: u64,
    /// How many breaks it holds.
    pub(super) breaks: u64,
    /// How many lines that no loader reads.
    pub(super) damage: u64,
}

/// A line from one row down to a later one. A fork bends below its upper row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The upper row.
    pub(super) from: usize,
    /// The lower row.
    pub(super) to: usize,
    /// How it is drawn.
    pub(super) ink: Ink,
}

/// What is drawn.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// In the order of the file.
    pub(super) rows: Vec<Row>,
    /// Between them.
    pub(super) links: Vec<Link>,
    /// How many lanes there are.
    pub(super) lanes: usize,
    /// Records that are drawn, folded ones included.
    pub(super) records: u64,
    /// Rows that stand for several records.
    pub(super) folds: u64,
    /// Records that are part of no chain and are not drawn.
    pub(super) beside: u64,
    /// Branches that share the last lane.
    pub(super) sharing: u64,
}

/// No track.
const NONE: u8 = u8::MAX;
/// The track of small branches and single records; nothing is linked in it.
const SHARED: u8 = NONE - 1;

/// Something that is drawn, before rows are made.
#[derive(Clone, Copy)]
enum Item {
    Record(u32),
    Damage(u32),
}

/// Lays a session out. `loud` are the lines with an error or a warning, in order.
pub(super) fn layout(session: &Session, survey: &Survey, loud: &[u64]) -> Layout {
    let tracks = Tracks::new(session, survey);
    let plan = Plan { session, survey, tracks: &tracks, loud, keep: tracks.landmarks(session, survey) };
    // The least folding that fits; with the greatest, rows stand for equal shares.
    let level = (0..=LOUDEST).find(|&level| plan.rows(level) <= ROWS);
    let built = plan.build(match level {
        Some(level) => Fold::Below(level),
        None => Fold::Shares((plan.items().count() as u64).div_ceil(ROWS as u64 / 2)),
    });
    place(built, &tracks, session)
}

/// Which track each record is on. Track 0 is what the loader takes, rows that it puts back beside its path included.
struct Tracks<'a> {
    of: Vec<u8>,
    /// The branches that have a lane of their own, from track 1 on.
    branches: Vec<&'a Branch>,
    sharing: u64,
}

impl<'a> Tracks<'a> {
    fn new(session: &Session, survey: &'a Survey) -> Self {
        let chain = &session.chain;
        let mut of = vec![NONE; session.facts.records.len()];
        // What has a reason not to come back is shown, if only beside the branches.
        for (n, _) in survey.skipped() {
            of[n as usize] = SHARED;
        }
        // A loader that reads line by line knows of no branches.
        let by_line = matches!(chain.mode, Mode::Linear | Mode::File);
        let mut branches: Vec<&Branch> = survey.branches.iter().filter(|branch| !branch.adopted && !by_line).collect();
        branches.sort_by_key(|branch| std::cmp::Reverse((branch.messages, branch.records)));
        let sharing = branches.split_off(branches.len().min(LANES));
        for (track, branch) in (1..).zip(&branches) {
            walk(session, branch, &mut of, track);
        }
        for &n in &chain.adopted {
            of[n as usize] = 0;
        }
        Tracks { of, branches, sharing: sharing.len() as u64 }
    }

    fn branch(&self, track: usize) -> Option<&'a Branch> {
        self.branches.get(track.checked_sub(1)?).copied()
    }

    /// Records that must have a row of their own as long as there is room: ends of branches and forks, in order.
    fn landmarks(&self, session: &Session, survey: &Survey) -> Vec<u32> {
        let of_branch = |one: &&'a Branch| [Some(one.leaf), Some(one.top), one.fork].into_iter().flatten();
        let mut keep: Vec<u32> = self.branches.iter().flat_map(of_branch).collect();
        keep.extend(session.chain.leaf);
        keep.extend(survey.breaks.iter().map(|one| one.child));
        keep.sort_unstable();
        keep.dedup();
        keep
    }
}

fn walk(session: &Session, branch: &Branch, of: &mut [u8], track: u8) {
    for at in up(&session.graph, branch.leaf).take(branch.records as usize) {
        of[at as usize] = track;
    }
}

/// How telling an item is: what is below the level is folded.
const PROMPT: u8 = 2;
const LANDMARK: u8 = 3;
const LOUDEST: u8 = 3;

/// Which items share a row.
#[derive(Clone, Copy)]
enum Fold {
    /// Those of one track, one after the other, that are less telling than this and drawn alike.
    Below(u8),
    /// So many of one track, whatever they are.
    Shares(u64),
}

struct Plan<'a> {
    session: &'a Session,
    survey: &'a Survey,
    tracks: &'a Tracks<'a>,
    loud: &'a [u64],
    keep: Vec<u32>,
}

impl Row {
    /// One message that comes back.
    pub(super) const MESSAGE: Row = Row {
        lane: 0,
        records: Some((0, 0)),
        count: 1,
        messages: 1,
        lines: (0, 0),
        ink: Ink::Adopted,
        speaks: true,
        boundaries: 0,
        breaks: 0,
        damage: 0,
    };
    /// One line that no loader reads.
    pub(super) const DAMAGE: Row =
        Row { records: None, count: 0, messages: 0, ink: Ink::Unreachable, speaks: false, damage: 1, ..Row::MESSAGE };

    /// Whether it stands for one record or line alone.
    pub(super) fn is_single(&self) -> bool {
        self.count + self.damage == 1
    }
}

impl Plan<'_> {
    /// Everything that is drawn, in the order of the file.
    fn items(&self) -> impl Iterator<Item = (Item, u8)> + '_ {
        let facts = &self.session.facts;
        let mut bad = (0..).zip(&facts.bad_lines).peekable();
        let mut records = (0..).zip(&facts.records).filter(|(n, _)| self.tracks.of[*n as usize] != NONE).peekable();
        std::iter::from_fn(move || {
            let damage = match (bad.peek(), records.peek()) {
                (Some((_, line)), Some((_, record))) => line.line <= record.line,
                (Some(_), None) => true,
                (None, _) => false,
            };
            if damage {
                // On the trunk's lane, but of no track: nothing is linked to it.
                return bad.next().map(|(n, _)| (Item::Damage(n), SHARED));
            }
            records.next().map(|(n, _)| (Item::Record(n), self.tracks.of[n as usize]))
        })
    }

    fn weight(&self, item: Item) -> u8 {
        let Item::Record(n) = item else { return LANDMARK };
        let record = self.session.record(n);
        if is_boundary(record)
            || self.keep.binary_search(&n).is_ok()
            || self.loud.binary_search(&u64::from(record.line)).is_ok()
        {
            return LANDMARK;
        }
        match self.session.agent.is_shown(record) {
            true if is_prompt(&self.session.facts, record) => PROMPT,
            true => 1,
            false => 0,
        }
    }

    /// How many rows there would be if everything below this level were folded.
    fn rows(&self, level: u8) -> usize {
        let mut open: [Option<Ink>; 256] = [None; 256];
        let mut rows = 0;
        for (item, track) in self.items() {
            let ink = match item {
                Item::Record(n) if self.weight(item) < level => Some(self.ink(n)),
                _ => None,
            };
            let before = std::mem::replace(&mut open[usize::from(track)], ink);
            rows += usize::from(ink.is_none() || before != ink);
        }
        rows
    }

    /// Makes the rows.
    fn build(&self, fold: Fold) -> Built {
        let mut rows: Vec<(Row, u8)> = Vec::new();
        let mut open: [Option<usize>; 256] = [None; 256];
        let mut ends = Vec::new();
        for (item, track) in self.items() {
            let one = self.row(item);
            let slot = &mut open[usize::from(track)];
            let folds = match fold {
                Fold::Below(level) => self.weight(item) < level,
                Fold::Shares(_) => true,
            };
            let fits = |row: &Row| match fold {
                Fold::Below(_) => row.ink == one.ink,
                Fold::Shares(most) => row.count + row.damage < most,
            };
            let at = match *slot {
                Some(at) if folds && fits(&rows[at].0) => {
                    join(&mut rows[at].0, &one);
                    at
                }
                _ => {
                    rows.push((one, track));
                    rows.len() - 1
                }
            };
            *slot = folds.then_some(at);
            if let Item::Record(n) = item
                && self.keep.binary_search(&n).is_ok()
            {
                ends.push((n, at));
            }
        }
        Built { rows, ends }
    }

    fn row(&self, item: Item) -> Row {
        match item {
            Item::Damage(n) => {
                let line = self.session.facts.bad_lines.get(n as usize).map_or(0, |bad| bad.line);
                Row { lines: (line, line), ..Row::DAMAGE }
            }
            Item::Record(n) => {
                let record = self.session.record(n);
                let shown = self.session.agent.is_shown(record);
                Row {
                    records: Some((n, n)),
                    messages: u64::from(shown),
                    lines: (record.line, record.line),
                    ink: self.ink(n),
                    speaks: shown,
                    boundaries: u64::from(is_boundary(record)),
                    breaks: u64::from(self.survey.breaks.binary_search_by_key(&n, |one| one.child).is_ok()),
                    ..Row::MESSAGE
                }
            }
        }
    }

    fn ink(&self, n: u32) -> Ink {
        match self.survey.reason(n) {
            None | Some(Reason::Meta) if self.tracks.of[n as usize] == 0 => Ink::Adopted,
            None => Ink::Left,
            Some(reason) => ink_of(reason),
        }
    }
}

fn ink_of(reason: Reason) -> Ink {
    match reason {
        Reason::ForeignBranch | Reason::Repeated | Reason::WithoutId | Reason::Meta => Ink::Left,
        Reason::BeforeBoundary => Ink::Before,
        Reason::Sidechain => Ink::Side,
        Reason::Unreachable | Reason::NotLoaded => Ink::Unreachable,
    }
}

fn is_boundary(record: &Record) -> bool {
    record.any(flag::BOUNDARY | flag::MICRO_BOUNDARY | flag::CLEARED) || record.kind == Kind::Compaction
}

fn join(row: &mut Row, one: &Row) {
    row.count += one.count;
    row.messages += one.messages;
    row.lines = (row.lines.0.min(one.lines.0), row.lines.1.max(one.lines.1));
    row.records = match (row.records, one.records) {
        (Some((first, _)), Some((_, last))) => Some((first, last)),
        (one, other) => one.or(other),
    };
    row.speaks |= one.speaks;
    row.boundaries += one.boundaries;
    row.breaks += one.breaks;
    row.damage += one.damage;
}

/// Rows with their tracks, and the rows of the records at which links begin and end, in the order of the file.
struct Built {
    rows: Vec<(Row, u8)>,
    ends: Vec<(u32, usize)>,
}

/// Gives each track its lane and links the rows.
fn place(Built { rows, ends }: Built, tracks: &Tracks<'_>, session: &Session) -> Layout {
    let row_of = |n: u32| ends.binary_search_by_key(&n, |(record, _)| *record).ok().map(|at| ends[at].1);
    let mut first = [usize::MAX; 256];
    let mut last = [0_usize; 256];
    for (at, (_, track)) in rows.iter().enumerate() {
        let track = usize::from(*track);
        first[track] = first[track].min(at);
        last[track] = at;
    }
    let fork = |track: usize| tracks.branch(track).and_then(|branch| branch.fork).and_then(row_of);
    // A fork takes its lane from the row that it leaves on.
    let begins = |track: usize| fork(track).map_or(first[track], |from| from.min(first[track]));
    let mut order: Vec<usize> = (0..usize::from(SHARED)).filter(|&track| first[track] != usize::MAX).collect();
    order.sort_by_key(|&track| (track != 0, begins(track)));
    let mut lane_of = [0_usize; 256];
    let mut free: Vec<Vec<(usize, usize)>> = Vec::new();
    for &track in &order {
        let (from, to) = (begins(track), last[track]);
        let fits = |taken: &Vec<(usize, usize)>| taken.iter().all(|&(a, b)| to < a || from > b);
        let lane = free.iter().position(fits).unwrap_or(free.len());
        if lane == free.len() {
            free.push(Vec::new());
        }
        free[lane].push((from, to));
        lane_of[track] = lane;
    }
    let shared = rows.iter().any(|(row, track)| *track == SHARED && row.records.is_some());
    lane_of[usize::from(SHARED)] = free.len();
    let mut links = Vec::new();
    let mut above = [None; 256];
    for (at, (row, track)) in rows.iter().enumerate() {
        let track = usize::from(*track);
        if track == usize::from(SHARED) {
            continue;
        }
        // The line belongs to what stands above it: what was left behind a boundary stays thin down to it.
        match above[track].replace(at) {
            Some(from) => links.push(Link { from, to: at, ink: rows.get(from).map_or(row.ink, |(row, _)| row.ink) }),
            None => links.extend(fork(track).filter(|&from| from < at).map(|from| Link { from, to: at, ink: row.ink })),
        }
    }
    let drawn = rows.iter().map(|(row, _)| row.count).sum();
    let folds = rows.iter().filter(|(row, _)| !row.is_single()).count() as u64;
    let rows: Vec<Row> = rows
        .into_iter()
        // A damaged line is shown on the trunk: it is where a record should have been.
        .map(|(row, track)| Row { lane: if row.records.is_none() { 0 } else { lane_of[usize::from(track)] }, ..row })
        .collect();
    Layout {
        rows,
        links,
        lanes: free.len().max(1) + usize::from(shared),
        records: drawn,
        folds,
        beside: session.facts.records.len() as u64 - drawn,
        sharing: tracks.sharing,
    }
}
