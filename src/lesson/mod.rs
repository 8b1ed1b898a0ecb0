//! Lessons: the algorithms of the search, to be watched at work.
//!
//! [`search`] has minimax, alpha-beta and principal variation search as the textbooks have them,
//! for any [`game::ZeroSumGame`]: an explicit [`tree`], or chess. An [`observe::Observer`] hears of
//! every step; a [`record::Recorder`] writes the steps down, and a [`story::Story`] tells them in
//! text, JSON, SVG and as a page to step through.

pub mod book_effect;
pub mod chess;
pub mod compare;
pub mod deepening;
pub mod game;
pub mod observe;
pub(crate) mod page;
pub(crate) mod plot;
pub mod positions;
pub mod record;
pub mod research;
pub mod search;
pub mod splitting;
pub mod story;
pub mod svg;
pub(crate) mod timing;
pub mod tree;

use game::Window;
use record::{Bounds, Recorder};
use search::{Algorithm, Search};
use story::Story;
use tree::GameTree;

use crate::score::Depth;

/// Searches an explicit tree and tells all of it.
pub fn watch_tree(tree: &GameTree, algorithm: Algorithm) -> Story {
    let (mut tree, root) = (tree.clone(), 0);
    let mut recorder = Recorder::new(Bounds::NONE);
    Search::new(&mut tree, &mut recorder, &[]).run(algorithm, &root, Depth::MAX, Window::FULL);
    let name = tree.node_name(root).to_owned();
    Story::new(algorithm, &recorder, &mut tree, (&root, &name), true)
}
