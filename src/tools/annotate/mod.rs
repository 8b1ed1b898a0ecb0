//! Annotation of games: every position is searched and every move judged by what it gives away.
//!
//! [`Study`] searches the positions and [`judge`] turns the scores into verdicts and numbers.
//! [`notes`] writes them into the game as PGN, and [`moments()`] lists the moves with a comment.
//! [`work`] annotates one game, or many on several threads, and [`journal`] stores finished games
//! until all are done. [`page()`] shows annotated games as an HTML page.

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
