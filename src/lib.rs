//! `sid-audit`: the session stores of coding agents, read as evidence.
//!
//! It never trusts them, never changes them by reading, and says for each session what a resume would bring back,
//! what the model's API would refuse, and which bytes are the cause. One command, `repair`, may write, and it does so
//! through one door.
//!
//! The rooms, in the order in which data walks through them (a room may use those before it, never those after it;
//! `tests/it/house.rs` holds every import to this order):
//!
//! | room | what it answers |
//! | --- | --- |
//! | [`text`], [`identity`], [`finding`], [`verdict`] | the words that every room uses; the two verdicts on a session |
//! | [`provider`] | what a provider's API takes |
//! | [`store`] | where records lie: homes and layouts of each agent, files, physical lines, liveness |
//! | [`record`] | what a line means: JSON as JavaScript reads it, and the facts of one record |
//! | [`chain`] | how records hang together: each agent's own loader rule |
//! | [`session`] | one session, read and loaded |
//! | [`request`] | what would be sent next: messages after the agent's own cleaning, calls paired with results |
//! | [`checkpoint`] | the file layer: what can be brought back, and what the agent's own undo would do |
//! | [`metrics`] | stock and flow, usage, distributions, the field census |
//! | [`predict`] | what a resume would do, state by state, and where the agent's rules err |
//! | [`rules`] | the registry of findings, one file per family |
//! | [`repair`] | findings in, plan out; pure |
//! | [`commit`] | the one door: durable replace, journal, output files |
//! | [`agents`] | what each agent answers to the rooms above, a folder for each |
//! | [`audit`] | whole stores through the rooms above, one file at a time |
//! | [`report`] | table, JSON, SARIF, JUnit, HTML; the only room that prints |
//! | [`cli`] | one file per subcommand |
//!
//! Without default features the crate is the reading core: everything but [`commit`], [`report`] and [`cli`].
//!
//! ```no_run
//! let scan = sid_audit::scan(&["/home/mara/.claude".into()], &sid_audit::Options::default());
//! for session in &scan.sessions {
//!     for finding in session.findings() {
//!         println!("{} {}", finding.rule.code, finding.rule.name);
//!     }
//! }
//! ```

pub mod agents;
pub mod audit;
pub mod chain;
pub mod checkpoint;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "repair")]
#[doc(hidden)]
pub mod commit;
pub mod finding;
pub mod identity;
#[doc(hidden)]
pub mod metrics;
#[doc(hidden)]
pub mod predict;
pub mod provider;
pub mod record;
pub mod repair;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod report;
pub mod request;
pub mod rules;
pub mod session;
pub mod store;
pub mod text;
pub mod verdict;

pub use audit::Options;
pub use audit::library::scan;
pub use session::Session;
