//! The explorer: serves books over HTTP, to its own page and to other programs.
//!
//! `/book` and the addresses below it are Tabia's own, described in `openapi.json`. `/masters`,
//! `/lichess` and `/player` answer in the form of Lichess' opening explorer. Answers use only the
//! books and games that were named when the server started: no request names a file.
//!
//! # Connections
//!
//! `server` accepts connections with hyper and passes requests to axum's router. The size and the
//! time of a request's head and the number of connections are bounded (`limits`). `write_timeout`
//! closes connections whose client does not read and gives hyper's own error responses the usual
//! form.
//!
//! # Addresses
//!
//! `routes` defines the addresses. `origin_check` decides which web pages may use the expensive
//! ones.
//!
//! # Books and answers
//!
//! `loaded_books` opens the books on a thread of its own, while `/status` already answers. They
//! never change afterwards, so an answer depends only on the books and the address. The entity tag
//! is made from both, and `cache` stores answers. All counts come from [`Book::explore`](crate::games::book::Book::explore).
//!
//! `move_orders` finds the move orders that lead to a position. It takes moves back with `position::retro` and
//! goes back ply by ply; the counts of each position divide the games among its predecessors.
//!
//! # Searches
//!
//! `searches` runs long work on threads, one piece per client: engine lines (`analysis`) and
//! annotations (`annotation`). A search ends by time, by the next search of the same client, with
//! its connection, or with the server. It never waits for its client: the channel has room for the
//! last event, and other events are dropped while it is full.
//!
//! # The page
//!
//! The page in `page/` contains no rules of chess: `/book` lists the legal moves, and every
//! position comes from the server. It has no build step.

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
mod progress;
mod query;
mod routes;
mod searches;
mod server;
mod write_timeout;

pub(crate) use limits::CLIENT_SECONDS;
pub(crate) use loaded_books::LoadedBooks;
pub(crate) use origin_check::parse_origin;
pub(crate) use server::{Settings, Stopper, serve};
