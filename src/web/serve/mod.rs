//! The explorer: books served over HTTP, to a page of its own and to other programs.
//!
//! `/book` and what belongs to it is ours, described by `openapi.json`; `/masters`, `/lichess` and
//! `/player` answer in the form of Lichess' opening explorer. All that is answered is of the books and
//! games that were named when the server began: no request names a file.

mod analysis;
mod annotation;
mod api_error;
mod book_answer;
mod cache;
mod explorer;
mod facets;
mod games;
mod json;
mod limits;
mod loaded_books;
mod move_orders;
mod origin_check;
mod page;
mod pasted;
mod player;
mod position_stats;
mod progress;
mod query;
mod routes;
mod searches;
mod server;
mod write_timeout;

pub(crate) use book_answer::ScoreAnswer;
pub(crate) use limits::CLIENT_SECONDS;
pub(crate) use loaded_books::LoadedBooks;
pub(crate) use origin_check::parse_origin;
pub(crate) use server::{Settings, Stopper, serve};
