//! The controller: it owns the game, the settings, the clocks, the book and the search thread.
//!
//! [`Engine`] takes requests as method calls and reports [`Event`]s; neither is text. The protocols
//! ([`crate::protocols::cecp`], [`crate::protocols::uci`]) and the console translate lines to
//! requests and events to lines, each as a [`Frontend`] run by [`run`].

mod book_loader;
mod clock;
mod conduct;
mod count;
mod desired_state;
mod engine;
mod event;
mod experience;
mod frontend;
mod job;
mod learn_writer;
mod learning;
mod lines;
mod ordered;
mod pings;
mod play;
mod set_options;
mod settings;
mod strength;
mod worker;

#[cfg(test)]
mod tests;

pub use clock::Level;
pub(crate) use count::{PERFT_DEPTHS, PerftCount};
pub(crate) use engine::{Engine, Mode};
pub(crate) use event::{
    Event, Expected, MoveReason, Moved, OrderedResult, SearchProgress, Transposed,
};
pub(crate) use frontend::{Flow, Frontend, run};
pub(crate) use job::SearchStatus;
pub(crate) use lines::{Input, inputs, read_lines};
pub(crate) use settings::{EvaluationKind, Kind, Setting, SettingError, Settings, all_settings};
pub(crate) use strength::ratings;
#[cfg(fuzzing)]
pub(crate) use worker::Backend;
pub(crate) use worker::{BackgroundEvent, searcher};
