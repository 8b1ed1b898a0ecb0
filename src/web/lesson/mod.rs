//! Lessons that record search algorithms and show them step by step.
//!
//! [`search`] searches any [`game::ZeroSumGame`]: an explicit [`tree`], or [`chess`]. It reports
//! every step to an [`observe::Observer`]; the observer `()` ignores the steps at no cost. A
//! [`record::Recorder`] stores the steps, and a [`search_record::SearchRecord`] converts them to
//! names and numbers, from which text, JSON, SVG and the page are created.
//!
//! Tables and iterations require positions, which `tree::PositionTree` creates from a tree's nodes.
//!
//! # Threads
//!
//! [`timeline`] runs PV-splitting on a simulated clock, because real threads behave differently in
//! every run. [`splitting`] runs the same searches on real threads.
//!
//! # The page
//!
//! `lab/` implements the searches again in JavaScript, because readers can edit a tree, grow a
//! random one and request any exercise, and the page must work without a server. WebAssembly
//! compiled from the Rust code would need a second toolchain in every build.
//! `tests/tools/lesson-page` compares both implementations: random numbers, trees, steps and
//! exercises must be identical.
//!
//! # The engine's own search
//!
//! The engine's search has a separate observer (`search::observe` in the `engine` area). A common
//! observer would have to be generic over moves and positions, because trees have neither. Most
//! steps also exist in only one of the searches: the engine has reductions, pruning, quiescence and
//! split points; the lessons have raised bounds and the moves behind a cutoff.
//!
//! ```
//! use tabia::lesson::search::Algorithm;
//! use tabia::lesson::tree::GameTree;
//! use tabia::lesson::watch_tree;
//!
//! let tree = GameTree::classic();
//! let [minimax, alpha_beta, pvs] = Algorithm::ALL.map(|algorithm| watch_tree(&tree, algorithm));
//! assert_eq!((minimax.value, minimax.value), (alpha_beta.value, pvs.value));
//! assert!(minimax.nodes > alpha_beta.nodes);
//! ```

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

/// Searches an explicit tree and records every step.
pub fn watch_tree(tree: &GameTree, algorithm: Algorithm) -> SearchRecord {
    Method::plain(algorithm).watch(tree)
}
