//! Lessons: the algorithms of the search, to be watched at work.
//!
//! [`search`] has minimax, alpha-beta and principal variation search as the textbooks have them,
//! for any [`game::ZeroSumGame`]: an explicit [`tree`], or chess. An [`observe::Observer`] hears of
//! every step; a [`record::Recorder`] writes the steps down, and a [`search_record::SearchRecord`] tells them in
//! text, JSON, SVG and as a page to step through. [`method`] adds a [`table`] and iterations,
//! [`timeline`] threads on a clock, [`exercise`] questions.

pub mod chess;
pub mod compare;
pub mod deepening;
pub(crate) mod engine;
pub mod exercise;
pub mod game;
pub mod method;
pub mod observe;
pub(crate) mod page;
pub(crate) mod plot;
pub mod record;
pub mod search;
pub mod search_record;
pub(crate) mod sheet;
pub mod splitting;
pub mod svg;
pub mod table;
pub mod timeline;
pub(crate) mod timing;
pub mod tree;

use method::Method;
use search::Algorithm;
use search_record::SearchRecord;
use tree::GameTree;

/// Searches an explicit tree and tells all of it.
pub fn watch_tree(tree: &GameTree, algorithm: Algorithm) -> SearchRecord {
    Method::plain(algorithm).watch(tree)
}
