//! The explorer: books served over HTTP, to a page of its own and to other programs.
//!
//! `/book` and what belongs to it is ours, described by `openapi.json`; `/masters`, `/lichess` and
//! `/player` answer in the form of Lichess' opening explorer. All that is answered is of the books and
//! games that were named when the server began: no request names a file.

mod analysis;
mod annotation;
mod book_answer;
mod cache;
mod explorer;
mod facets;
mod games;
mod gate;
mod knowledge;
mod limits;
mod page;
mod pasted;
mod patience;
mod player;
mod progress;
mod query;
mod refusal;
mod routes;
mod searches;
mod server;
mod shape;
mod shelf;
mod ways;

pub(crate) use book_answer::ScoreAnswer;
pub(crate) use gate::parse_origin;
pub(crate) use limits::CLIENT_SECONDS;
pub(crate) use server::{Settings, Stopper, serve};
pub(crate) use shelf::Shelf;
