//! `repair`: the guarded door. What the user is shown and asked; the work is done in `audit::repair`, `start` is what every
//! applying run begins with, `ended` what is said at its end, with its status; `--list`, `--undo` and `--prune` stand in
//! `past`.

mod ended;
mod past;
mod start;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use clap::Args;

use self::ended::Ended;
use self::start::Started;
use super::failure::{Failure, written};
use super::input::{Input, stores};
use super::interrupt;
use super::options::{self, Form, Output, Reading};
use super::status::Status;
use crate::agents::{self, registry};
use crate::audit::is_session_or_index;
use crate::audit::repair::store_context::World;
use crate::audit::repair::{self, Applying, FilePlan, Options, Refused, Survey};
use crate::commit::gc::CAP;
use crate::commit::{self, Journal, Run};
use crate::finding::Fix;
use crate::repair::links::Relink;
use crate::repair::plan;
use crate::report::out::{self, Out};
use crate::report::progress::Progress;
use crate::report::repair_diff::{self, Change};
use crate::report::{junit, repair_json, repair_listed, repair_table, sarif, suggest};
use crate::rules::baseline::Baseline;
use crate::rules::counted;
use crate::rules::filter::Gate;
use crate::store::Discovery;
use crate::store::meter::Meter;

/// Plan, prove, apply: the only command that writes to a store.
///
/// It prints its plan first, then asks on a terminal, or needs --yes; without either nothing is changed. Every result is
/// read again by all rules before it takes a file's place, and a repair that would make anything worse is not applied.
/// The original stays beside the session until a later run finds that nobody uses it, and every repair can be taken back
/// with --undo.
///
/// Warnings and errors are answered; what is only information when --select names its code.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Sessions, folders of them, or agents' homes
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Repair every agent's home on this machine
    #[arg(long, conflicts_with = "paths")]
    all_homes: bool,
    /// Print the plan and change nothing
    #[arg(short = 'n', long, conflicts_with = "yes")]
    dry_run: bool,
    /// Apply without asking: links that are legible or unique, never the nearest (see --relink)
    #[arg(short, long)]
    yes: bool,
    /// How far a repair may go
    #[arg(long, value_enum, value_name = "CLASS", default_value_t = Fix::Links)]
    up_to: Fix,
    /// How a tool call without a result is answered
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    orphans: Orphans,
    /// auto: take the nearest link where nothing better is known; CHILD=PARENT (ids): this link
    #[arg(long, value_name = "LINK", value_parser = link)]
    relink: Vec<Link>,
    /// Give this leaf its place on the used path back: the record that took it goes below it
    #[arg(long, value_name = "ID")]
    leaf: Option<String>,
    /// Give each repaired file the time of its repair, so that Claude Code does not delete it for its age
    #[arg(long)]
    touch: bool,
    /// Repair only these findings: codes (L101), family letters (L), names, or ALL
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    select: Vec<String>,
    /// Do not repair these findings
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Findings in this file are known: a session that is broken only by them does not make the exit status 1
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// My word that the agents are closed, whatever signs of life there are
    #[arg(long)]
    closed: bool,
    /// Leave a session in an agent's home alone that was written to in the last so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    idle: u32,
    /// Show what changes in the bytes: places, sizes and ids; the text only with --show-content
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    form: Form<Format>,
    /// Show the journal of repairs
    #[arg(long, help_heading = "Journal", conflicts_with_all = ["undo", "prune", "all_homes"])]
    list: bool,
    /// Put the old bytes of a repair back: of a whole run, or of one file of it (RUN/0001, or RUN and its path)
    #[arg(long, value_name = "ID", help_heading = "Journal", conflicts_with_all = ["prune", "all_homes"])]
    undo: Option<String>,
    /// With --undo: write the original to this file instead, which must not exist
    #[arg(long, value_name = "FILE", help_heading = "Journal", requires = "undo")]
    to: Option<PathBuf>,
    /// Make the journal small: take away originals that nobody needs, those of deleted sessions and runs after 30 days
    #[arg(long, help_heading = "Journal", conflicts_with = "all_homes")]
    prune: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Format {
    /// a page for people
    #[default]
    Table,
    /// one document
    Json,
    /// one line for each plan and each file
    Ndjson,
    /// with --dry-run: SARIF 2.1.0, each edit a result
    Sarif,
    /// with --dry-run: JUnit XML, a session with something to do fails
    Junit,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Orphans {
    /// a result that says that the outcome is unknown
    #[default]
    Result,
    /// the call goes
    Drop,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Link {
    Auto,
    Decided(String, String),
}

fn link(text: &str) -> Result<Link, String> {
    match text.split_once('=') {
        None if text == "auto" => Ok(Link::Auto),
        Some((child, parent)) if !child.is_empty() && !parent.is_empty() => {
            Ok(Link::Decided(child.to_owned(), parent.to_owned()))
        }
        _ => Err("neither auto nor CHILD=PARENT".to_owned()),
    }
}

/// What the user agreed to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Nothing is changed.
    Dry,
    /// He is asked.
    Ask,
    /// He said yes already.
    Yes,
}

impl Arguments {
    fn mode(&self) -> Mode {
        if self.dry_run {
            Mode::Dry
        } else if self.yes {
            Mode::Yes
        } else if self.form.format == Format::Table && !self.output.quiet && out::can_ask() {
            Mode::Ask
        } else {
            let fact = "nothing is changed without --yes: this is a dry run";
            out::complain("note", fact, &[], None);
            Mode::Dry
        }
    }

    fn decided(&self) -> Vec<(String, String)> {
        let pair = |link: &Link| match link {
            Link::Decided(child, parent) => Some((child.clone(), parent.clone())),
            Link::Auto => None,
        };
        self.relink.iter().filter_map(pair).collect()
    }

    fn options(&self, gate: Gate, mode: Mode) -> Options {
        Options {
            plan: plan::Options {
                up_to: self.up_to,
                relink: Relink {
                    nearest: self.relink.contains(&Link::Auto),
                    decided: self.decided(),
                    leaf: self.leaf.clone(),
                    ..Relink::default()
                },
                answer_orphans: self.orphans == Orphans::Result,
                gate,
                live: false,
                now: self.reading.now(),
                without: Vec::new(),
            },
            idle: Duration::from_secs(u64::from(self.idle)),
            closed: self.closed,
            dry: mode == Mode::Dry,
            touch: self.touch,
        }
    }

    /// How the door is gone through.
    fn door(&self) -> commit::Options {
        commit::Options { guard: !self.closed, touch: self.touch, ..commit::Options::default() }
    }

    fn out(&self, stores: &[&Path]) -> anyhow::Result<Out> {
        self.output.open(stores)
    }
}

/// Runs the command.
///
/// # Errors
/// When the input cannot be read or the report cannot be written; findings are no error.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let does = arguments.yes || arguments.list || arguments.undo.is_some() || arguments.prune;
    if does && matches!(arguments.form.format, Format::Sarif | Format::Junit) {
        return Err(Failure::new("SARIF and JUnit tell what a repair would do")
            .hint("say --dry-run, or take json for what was done")
            .into());
    }
    if arguments.list {
        return past::list(arguments);
    }
    if let Some(id) = &arguments.undo {
        return past::undo(arguments, id);
    }
    if arguments.prune {
        return past::prune(arguments);
    }
    if arguments.paths.is_empty() && !arguments.all_homes {
        return Err(Failure::new("repair needs to be told what to repair")
            .hint("name sessions, folders or an agent's home, or say --all-homes")
            .into());
    }
    if arguments.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::new("standard input cannot be repaired").hint("write it to a file and name that").into());
    }
    let gate = Gate::new(&arguments.select, &arguments.ignore, &registry::all())
        .map_err(|message| Failure::new(message).hint("`sid-audit explain` lists them"))?;
    let decides = arguments.leaf.is_some() || !arguments.decided().is_empty();
    if decides && arguments.up_to < Fix::Links {
        return Err(Failure::new("a link is further than --up-to bytes goes").hint("say --up-to links").into());
    }
    let known = options::known(arguments.baseline.as_deref())?;
    let mode = arguments.mode();
    let options = arguments.options(gate, mode);
    let mut input = Input::find(&arguments.paths, &arguments.reading)?;
    let special = specials(&mut input.discovery);
    if input.is_empty() && special.is_empty() {
        return Err(input.nothing().into());
    }
    input.tell_foreign(arguments.output.quiet);
    input.tell_unread();
    let meter = interrupt::meter()?;
    let amount = input.amount();
    Repair { arguments, options: &options, known: &known, mode, discovery: &input.discovery, amount, meter: &meter }
        .go(special)
}

/// The journal holds the text of every repaired session: it does not lie among the sessions themselves, where an agent
/// would read it, copy it or delete it.
fn outside_stores(journal: &Journal, discovery: &Discovery) -> Result<(), Failure> {
    let files = discovery.files.iter().filter(|file| is_session_or_index(file.kind));
    let folders: BTreeSet<(bool, &Path)> = files
        .filter_map(|file| discovery.folder(file))
        .map(|folder| (folder.layout.agent_id().is_some(), folder.path.as_path()))
        .collect();
    // A folder with copies is no store; only right beside them the journal would be taken for one of them.
    let beside = |folder: &Path| journal.root().parent().is_some_and(|parent| parent == folder);
    let stores: BTreeSet<&Path> =
        folders.into_iter().filter(|&(store, folder)| store || beside(folder)).map(|(_, folder)| folder).collect();
    let Some(store) = journal.inside(stores, agents::HOMES) else { return Ok(()) };
    let (root, store) = (journal.root().display(), store.display());
    Err(Failure::new(format!(
        "the journal would be in '{root}', which lies inside the store '{store}'; nothing was changed"
    ))
    .hint("set XDG_STATE_HOME to a folder of yours outside of it"))
}

/// What was named and is no plain file is refused, not merely unread.
fn specials(discovery: &mut Discovery) -> Vec<Refused> {
    let mut refused = Vec::new();
    discovery.errors.retain(|(path, _)| {
        let special = std::fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
        if special {
            refused.push(Refused { path: path.clone(), reason: "is not a plain file".to_owned(), hint: None });
        }
        !special
    });
    refused
}

struct Repair<'a> {
    arguments: &'a Arguments,
    options: &'a Options,
    /// Findings that fail no run.
    known: &'a Baseline,
    mode: Mode,
    discovery: &'a Discovery,
    /// Bytes and number of its files.
    amount: (u64, u64),
    meter: &'a Arc<Meter>,
}

impl Repair<'_> {
    fn go(&self, mut refused: Vec<Refused>) -> anyhow::Result<Status> {
        let journal = Journal::of_user();
        if let (Some(journal), false) = (&journal, self.mode == Mode::Dry) {
            outside_stores(journal, self.discovery)?;
        }
        let mut started = Started::default();
        // What an earlier run left is brought in order first, so that the plan is made from what is there then. A first
        // run has nothing to bring in order, and makes no state folder for a store in which nothing is to be done.
        if self.mode == Mode::Yes && journal.as_ref().is_some_and(|journal| journal.root().exists()) {
            started = Started::new(self, journal.as_ref());
        } else if let Some(journal) = &journal {
            past::tell_all_held(journal, self.discovery);
        }
        let progress = Progress::new(self.meter, self.amount.0, self.amount.1, self.arguments.output.progress());
        let survey = self.arguments.reading.with_jobs(|| repair::survey(self.discovery, self.options, self.meter))?;
        drop(progress);
        let mut out = self.arguments.out(&stores(self.discovery))?;
        let table = self.arguments.form.format == Format::Table && !self.arguments.output.quiet;
        let mut survey = self.settled(survey, table, &mut out)?;
        refused.extend(survey.plans.iter().filter(|plan| plan.has_work()).filter_map(|plan| plan.refused.clone()));
        let both = match self.options.plan.relink.nearest {
            true => "sid-audit repair --up-to content --relink auto",
            false => "sid-audit repair --up-to content",
        };
        for plan in &mut survey.plans {
            if let Some(withheld) = &mut plan.withheld {
                withheld.hint = suggest::with_path(both, &plan.path);
                refused.push(withheld.clone());
            }
        }
        let changes = self.changes(&mut survey)?;
        let report = |applied, refused, failed| repair_json::Report {
            discovery: self.discovery,
            sessions: survey.sessions,
            indexes: survey.indexes,
            plans: &survey.plans,
            changes: changes.as_deref(),
            applied,
            refused,
            failed,
            still: &[],
            errors: &survey.errors,
            interrupted: survey.interrupted,
            taken_at: self.options.plan.now,
        };
        if table {
            let done = repair_table::plans(&mut out, &report(None, &[], &[]), self.arguments.output.verbose);
            written(done, Status::Clean)?;
        }
        let chosen: Vec<&FilePlan> = survey.plans.iter().filter(|plan| plan.may_be_applied()).collect();
        let apply = !chosen.is_empty() && !survey.interrupted && self.agreed(&chosen, &mut out)?;
        let (files, survey_stopped, chosen_count) = (survey.files, survey.not_looked_at, chosen.len());
        let mut done = None;
        if apply {
            let mut applying = self.apply(&chosen, survey.world.as_ref(), journal.as_ref(), &mut started);
            if table {
                written(repair_table::applied(&mut out, &applying), Status::Clean)?;
            }
            refused.append(&mut applying.refused);
            done = Some(applying);
        }
        refused.append(&mut started.refused);
        let none = Applying::default();
        let made = done.as_ref().unwrap_or(&none);
        // A run that was asked for and had nothing to do is no dry run.
        let applied = (done.is_some() || self.mode == Mode::Yes).then_some(made.applied.as_slice());
        let decisions = self.decisions(&survey);
        let still = self.still_broken(&survey, done.as_ref());
        let finished = repair_json::Report { still: &still, ..report(applied, &refused, &made.failed) };
        let ended = Ended { survey: &survey, done: made, refused: &refused, started: &started, still: &still };
        let status = self.status(&ended, done.is_some()).or(decisions);
        let written_out = match self.arguments.form.format {
            _ if self.arguments.output.quiet => Ok(()),
            Format::Table => self.remarks(&mut out, &finished),
            Format::Json => repair_json::document(&mut out, finished),
            Format::Ndjson => repair_json::lines(&mut out, finished),
            Format::Sarif | Format::Junit => self.exported(&mut out, &finished, status),
        };
        if survey_stopped > 0 {
            interrupt::tell(survey_stopped, files, "sessions were not looked at");
        } else if made.interrupted {
            let left = chosen_count.saturating_sub(made.applied.len() + made.failed.len());
            interrupt::tell(left as u64, chosen_count as u64, "planned repairs were not made");
        }
        written(written_out.and_then(|()| out.finish()), status)
    }

    /// The plan as other programs read findings.
    fn exported(&self, out: &mut Out, report: &repair_json::Report<'_>, status: Status) -> std::io::Result<()> {
        let files = repair_listed::planned(self.discovery, report.plans);
        let troubles = repair_listed::troubles(report);
        let files = || files.iter().map(repair_listed::PlannedFile::listed);
        if self.arguments.form.format == Format::Junit {
            let report = junit::Report {
                command: "repair",
                discovery: self.discovery,
                known: self.known,
                fails: &|finding| finding.planned,
                errors: [&troubles, &[]],
                taken_at: report.taken_at,
            };
            return junit::document(out, report, files);
        }
        let report = sarif::Report {
            command: "repair",
            discovery: self.discovery,
            gate: &self.options.plan.gate,
            known: None,
            errors: &troubles,
            defects: &[],
            interrupted: report.interrupted,
            exit: (status.number(), status.meaning()),
            taken_at: report.taken_at,
        };
        sarif::document(out, report, files)
    }

    /// The plans as they will be used: where only a guess would mend a link, a person at the terminal may take it.
    fn settled(&self, mut survey: Survey, table: bool, out: &mut Out) -> anyhow::Result<Survey> {
        if self.mode != Mode::Ask || !table {
            return Ok(survey);
        }
        for plan in &mut survey.plans {
            let Some(other) = plan.nearest.take() else { continue };
            let shown = repair_table::nearest(out, &other).and_then(|()| std::io::Write::flush(out));
            written(shown, Status::Clean)?;
            if out::ask(&format!("take these links in '{}'?", plan.path.display()))? {
                *plan = *other;
            }
        }
        Ok(survey)
    }

    /// What each plan changes in the bytes, when that is to be shown.
    fn changes(&self, survey: &mut Survey) -> anyhow::Result<Option<Vec<Vec<Change>>>> {
        if !self.arguments.diff {
            return Ok(None);
        }
        let mut all = Vec::with_capacity(survey.plans.len());
        for plan in &survey.plans {
            let read = self.discovery.files.get(plan.file as usize).ok_or_else(|| std::io::ErrorKind::NotFound.into());
            let read = read.and_then(|file| self.discovery.open(file));
            let show = self.arguments.output.show_content;
            match read.and_then(|source| repair_diff::changes(&source, &plan.splices, show)) {
                Ok(changes) => all.push(changes),
                Err(error) => {
                    survey.errors.push((plan.path.clone(), format!("cannot be read again: {error}")));
                    all.push(Vec::new());
                }
            }
        }
        Ok(Some(all))
    }

    fn agreed(&self, chosen: &[&FilePlan], out: &mut Out) -> anyhow::Result<bool> {
        match self.mode {
            Mode::Dry => Ok(false),
            Mode::Yes => Ok(true),
            Mode::Ask => {
                std::io::Write::flush(out)?;
                Ok(out::ask(&format!("repair {}?", counted(chosen.len() as u64, "file")))?)
            }
        }
    }

    fn apply(
        &self,
        chosen: &[&FilePlan],
        world: Option<&World>,
        journal: Option<&Journal>,
        started: &mut Started,
    ) -> Applying {
        if started.locked.is_none() && started.error.is_none() {
            let first = Started::new(self, journal);
            started.refused.extend(first.refused);
            started.unmerged |= first.unmerged;
            (started.locked, started.error) = (first.locked, first.error);
        }
        let mut nothing = Applying::default();
        let Some(locked) = &started.locked else {
            for plan in chosen {
                match &started.error {
                    Some(error) => nothing.error(&plan.path, error),
                    None => {
                        let hint = "set XDG_STATE_HOME to a folder of yours";
                        let reason =
                            "is not repaired without a journal, and HOME does not name a folder to keep one in";
                        nothing.refused.push(Refused::new(&plan.path, reason, hint));
                    }
                }
            }
            return nothing;
        };
        let mut writing = interrupt::writing();
        *writing = true;
        let text = format!("repair of {}", counted(chosen.len() as u64, "file"));
        let mut run = Run::begin(locked, &text);
        let door = self.arguments.door();
        let done = repair::apply(self.discovery, chosen, &mut run, self.options, &door, world, self.meter);
        if let Err(error) = locked.prune(CAP, SystemTime::now(), Some(&run)) {
            out::complain("warning", &error.to_string(), &[], error.hint().as_deref());
        }
        done
    }
}
