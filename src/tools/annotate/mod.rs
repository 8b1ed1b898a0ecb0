//! Games explained: every position of a game searched, its moves judged by what they give away.
//!
//! [`Study`] searches, [`judge`] puts what was found into verdicts and numbers, [`notes`] writes them
//! into the game as PGN, [`work`] does so for one game or for many on several threads, and [`journal`]
//! keeps what is done until all is. [`moments()`] tells what a game has to say of its moves, and [`page()`] shows
//! games that are done.

mod accuracy;
pub(crate) mod journal;
mod judge;
mod moments;
mod notes;
mod page;
mod scale;
mod study;
pub(crate) mod work;

use accuracy::expected;
pub(crate) use judge::Limits;
pub(crate) use moments::{Moment, moments};
pub(crate) use notes::{Annotated, Background, annotate, describe};
pub(crate) use page::{game_data, page};
pub(crate) use study::{Effort, NODES, Study};
