//! The controller, which owns the game, the settings, the clocks, the book and the search thread.
//!
//! [`Engine`] takes requests as method calls and reports [`Event`]s; it neither parses nor prints
//! text. The protocols ([`crate::protocols::cecp`], [`crate::protocols::uci`]) and the console
//! translate lines into requests and events into lines. Each of them implements [`Frontend`], which
//! owns an [`Engine`] and the only handle to the output.
//!
//! # From a request to a search
//!
//! Every request edits the `DesiredState` and ends with `reconcile`. The pure function
//! `desired_state::step` compares this state with the running search and decides whether to keep,
//! change or replace the search. Events from a search with an older job number are discarded.
//!
//! The search runs on a separate thread (`worker`), which takes its requests from a queue. It passes
//! its results to the frontend itself unless another thread is using the frontend (`frontend`).
//! Settings go through the same queue, so a ping is never answered before a slow change to the
//! memory size has finished.
//!
//! # Options
//!
//! The `settings::SETTINGS` table declares every option. A network or an endgame table is opened
//! only when its option changes (`engine::set_options`). Books are opened on a separate thread
//! (`book_loader`).
//!
//! # Learning
//!
//! The thread in `learn_writer` reads and writes the learning file. A search never waits for the
//! disk, but a ping is answered only after all learned results have been written. At the start of a
//! game, before the first search, the file is read again if it has changed.
//!
//! A search looks up positions first in the book and then among the learned results. At the root,
//! the engine plays a learned move immediately (`learning`) if the move has not been refuted and if
//! the search that found it took at least half the effort of a new search. Book moves contradicted
//! by learned games are vetoed and reported as [`Event::Vetoed`].
//!
//! # Reduced strength
//!
//! `strength` converts a rating (`UCI_Elo`) to limits and a `search::Handicap`: fewer nodes, an
//! error in each evaluation, and overlooked moves. A search at reduced strength uses one thread and
//! neither a book nor endgame tables. At lower ratings, the engine leaves the opening book earlier.
//! If an opponent book is set (the `OpponentBook` option), it is used instead of the opening book.

mod book_loader;
mod clock;
mod count;
mod desired_state;
mod engine;
mod event;
mod frontend;
mod job;
mod learn_writer;
mod learning;
mod lines;
mod pings;
mod queue;
mod settings;
mod strength;
mod worker;

#[cfg(test)]
mod tests;

pub(crate) use clock::Lag;
pub use clock::Level;
pub(crate) use count::{PERFT_DEPTHS, PerftCount};
pub(crate) use engine::{Engine, Mode};
pub(crate) use event::{
    Event, Expected, MoveReason, Moved, OrderedResult, SearchProgress, Transposed,
};
pub(crate) use frontend::{Flow, Frontend, run};
pub(crate) use job::SearchStatus;
pub(crate) use lines::{Input, inputs, read_lines};
pub(crate) use queue::Queue;
pub(crate) use settings::{EvaluationKind, Kind, Setting, SettingError, Settings, all_settings};
pub(crate) use strength::ratings;
#[cfg(fuzzing)]
pub(crate) use worker::Backend;
pub(crate) use worker::{BackgroundEvent, searcher};
