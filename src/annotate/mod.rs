//! Games explained: every position of a game searched, its moves judged by what they give away.
//!
//! [`Study`] searches, [`judge`] puts what was found into verdicts and numbers, [`notes`] writes them
//! into the game as PGN, [`work`] does so for many games on several threads, and [`journal`] keeps
//! what is done until all is. [`page()`] shows games that are done.

mod accuracy;
pub(crate) mod journal;
mod judge;
mod notes;
mod page;
mod study;
pub(crate) mod work;

use accuracy::expected;
pub(crate) use judge::Limits;
pub(crate) use notes::{Annotated, Background, annotate, in_words};
pub(crate) use page::page;
pub(crate) use study::{Effort, Study};
