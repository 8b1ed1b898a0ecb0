//! Annotates games: searches every position, and assesses each move by the expected points it
//! loses.

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
