//! The explorer: serves books over HTTP to its own page and to other programs.
//!
//! `/book` and the paths below it are specific to Tabia, and are described in `openapi.json`.
//! `/masters`, `/lichess` and `/player` respond in the format of Lichess's opening explorer.
//! Requests cannot name files: the server uses only the files specified at startup, and requests
//! can change only the repertoire file, its training journal and the `--keep` file.
//!
//! # Connections
//!
//! `server` accepts connections with hyper and passes requests to axum's router, enforcing the
//! limits in `limits`. `write_timeout` closes a connection if its client stops reading.
//! `origin_check` decides which web pages may use the costly endpoints in `routes`.
//!
//! # Books and responses
//!
//! `loaded_books` opens the books on a separate thread, while `/status` already responds. Once
//! open, the books do not change, so a response depends only on the books and on the path and query
//! of the request. The entity tag is derived from these, and `cache` stores responses.
//!
//! # The repertoire
//!
//! `repertoire` shows a repertoire as a layer on top of the books, and adds lines to its file. Its
//! responses are not cached, because the file can change.
//!
//! # Searches
//!
//! `searches` runs long tasks on their own threads: `analysis`, `annotation`, `pattern` and
//! `opening_report`. Each client can run one task of each kind. A task ends when its time is up,
//! when the same client starts another one of the same kind, when its connection is closed, or when
//! the server stops. A task never waits for its client: if the client's queue is full, events are
//! dropped, except the final one, for which a place is reserved. `analysis_store` caches the
//! results of analyses, and can save them to a file.
//!
//! # Training
//!
//! `training` quizzes the user on the moves of a repertoire. The server has one training session
//! and one journal. Access to the training endpoints is restricted like access to those that start
//! searches.
//!
//! # The pages
//!
//! The pages in `page/` do not implement the rules of chess: `/book` lists the legal moves, and
//! every position comes from the server. The pages have no build step.

mod analysis;
mod analysis_store;
mod annotation;
pub(super) mod api_error;
mod book_answer;
mod cache;
mod engine_lines;
mod explorer;
mod facets;
mod games;
pub(super) mod limits;
mod loaded_books;
mod move_orders;
mod opening_report;
pub(super) mod origin_check;
pub(super) mod page;
mod pasted;
mod pattern;
mod player;
mod progress;
pub(super) mod query;
mod repertoire;
mod request;
pub(super) mod routes;
mod searches;
pub(super) mod server;
mod sources;
pub(super) mod stream;
mod training;
mod write_timeout;

#[cfg(fuzzing)]
pub(crate) mod unattended;

pub(crate) use limits::{CLIENT_SECONDS, SearchLimits};
pub(crate) use loaded_books::LoadedBooks;
pub(crate) use origin_check::parse_origin;
pub(crate) use repertoire::RepertoireFile;
pub(crate) use server::{Settings, Stopper, serve};
pub(crate) use training::TrainingPlan;
