//! Lessons that record the steps of search algorithms and show them one by one.
//!
//! [`search`] searches any [`game::ZeroSumGame`]: an explicit [`tree`], or [`chess`]. It reports
//! every step to an [`observe::Observer`]; the observer `()` ignores the steps at no cost. A
//! [`record::Recorder`] stores the steps, and a [`search_record::SearchRecord`] converts them to
//! names and numbers. Text, JSON, SVG and the page are created from these.
//!
//! Tables and iterative deepening require positions. `tree::PositionTree` assigns positions to the
//! nodes of a tree.
//!
//! # Threads
//!
//! [`timeline`] runs PV-splitting on a simulated clock, because real threads behave differently in
//! every run. [`splitting`] runs the same searches on real threads.
//!
//! # The page
//!
//! `lab/` implements the searches a second time in JavaScript. Readers can edit a tree, generate a
//! random one and request any exercise, and the page must work without a server. Compiling the Rust
//! code to WebAssembly would require a second toolchain in every build. `tests/tools/lesson-page`
//! compares both implementations: random numbers, trees, steps and exercises must be identical.
//!
//! # The engine's own search
//!
//! The engine's search has a separate observer (`search::observe` in the `engine` area). A shared
//! observer would have to be generic over moves and positions, because trees have neither. In
//! addition, most steps occur in only one of the searches. Only the engine reports reductions,
//! pruning, quiescence and split points. Only the lessons report raised bounds and the moves that a
//! cutoff skips.
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
