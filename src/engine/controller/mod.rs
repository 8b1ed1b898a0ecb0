//! The engine: it owns the game, the settings, the clocks, the book and the search thread.
//!
//! [`Engine`] takes requests as method calls and tells [`Event`]s; neither is text. The protocols
//! ([`crate::protocols::cecp`], [`crate::protocols::uci`]) and the console turn lines into requests and events into
//! lines, each as a [`Face`] that [`run`] drives.

mod change;
mod clock;
mod conduct;
mod count;
mod engine;
mod event;
mod experience;
mod face;
mod job;
mod learning;
mod library;
mod lines;
mod ordered;
mod pings;
mod play;
mod scribe;
mod settings;
mod strength;
mod wanted;
mod worker;

#[cfg(test)]
mod tests;

pub use clock::Level;
pub(crate) use count::{PERFT_DEPTHS, PerftCount};
pub(crate) use engine::{Engine, Mode};
pub(crate) use event::{Event, Expected, Found, Grounds, Moved, SearchProgress, Transposed};
pub(crate) use face::{Face, Flow, run};
pub(crate) use job::SearchStatus;
pub(crate) use lines::{Input, inputs, read_lines};
pub(crate) use settings::{EvaluationKind, Kind, Setting, SettingError, Settings, all_settings};
pub(crate) use strength::ratings;
#[cfg(fuzzing)]
pub(crate) use worker::Backend;
pub(crate) use worker::{News, searcher};
