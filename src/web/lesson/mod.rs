//! Lessons that record search algorithms and show them step by step.
//!
//! [`search`] contains minimax, alpha-beta and principal variation search in their textbook form.
//! They search any [`game::ZeroSumGame`]: an explicit [`tree`], or chess with a simple evaluation.
//! The searches report every step to an [`observe::Observer`]; the observer `()` ignores the steps
//! at no cost. A [`record::Recorder`] stores the steps, and a [`search_record::SearchRecord`]
//! converts them to names and numbers. Text, JSON, SVG and the page are all created from this
//! record.
//!
//! A [`method::Method`] is an algorithm with or without a [`table`], run once or with iterative
//! deepening. Tables and iterations require positions. `tree::PositionTree` creates them from the
//! nodes of a tree. [`exercise`] asks questions about searches.
//!
//! # Threads
//!
//! [`timeline`] runs PV-splitting on a simulated clock, because real threads behave differently in
//! every run. [`splitting`] runs the same searches on real threads.
//!
//! # The page
//!
//! `lab/` implements the searches again in JavaScript. The page is a single file that works without
//! a server. Its readers can edit a tree, grow a random one and request any exercise, so no finite
//! set of steps computed by the program can replace the search. WebAssembly compiled from the Rust
//! code could, but every build would need a second toolchain. The modules from `random.js` to
//! `exercise.js` do not depend on pages; the others draw. `tests/tools/lesson-page` compares both
//! implementations: random numbers, trees, steps and exercises must be identical.
//!
//! # The engine's own search
//!
//! The engine's search has a separate observer (`search::observe` in the `engine` area).
//! `search::trace` records the steps, and `engine` shows the trace on a page. A common observer
//! would have to be generic over moves and positions, because trees have neither. Most steps also
//! exist on only one side: the engine has reductions, pruning, quiescence and split points; the
//! lessons have raised bounds and the moves behind a cutoff. A common observer would save the seven
//! methods in this module, but it would add parameters to every step of the engine. Only
//! [`observe::NodeType`] is shared.
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
