//! Annotates games. Every position is searched, and every move is assessed by the expected points
//! that it loses.
//!
//! [`Study`] searches the positions, and [`judge`] turns the scores into verdicts and statistics.
//! [`notes`] writes the verdicts and statistics into the PGN game, and [`moments()`] lists the
//! commented moves. [`work`] annotates one game, or many games on several threads. [`journal`]
//! stores finished games until all games are done. [`page()`] shows annotated games as an HTML
//! page.

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
