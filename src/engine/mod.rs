//! The engine: it owns the game, the settings, the clocks, the book and the search thread.
//!
//! [`Engine`] takes requests as method calls and tells [`Event`]s; neither is text. The protocols
//! ([`crate::cecp`], [`crate::uci`]) and the console turn lines into requests and events into
//! lines, each as a [`Face`] that [`run`] drives.

mod change;
mod clock;
mod conduct;
mod controller;
mod event;
mod face;
mod job;
mod library;
mod lines;
mod ordered;
mod pings;
mod play;
mod settings;
mod wanted;
mod worker;

#[cfg(test)]
mod tests;

pub use clock::{Clocks, Level};
pub use controller::{Engine, Mode};
pub use event::{Event, Expected, Found, Grounds, Moved, Progress, Transposed};
pub use face::{Face, Flow, run};
pub use job::SearchStatus;
pub use lines::{Input, inputs, read_lines};
pub use settings::{
    EvaluationKind, FULL_STRENGTH, Kind, OpenLog, SETTINGS, Setting, SettingError, Settings,
};
pub use worker::{Backend, MakeBackend, News, Worker, searcher};
