//! The search: iterative deepening and principal variation search, with the work split among
//! threads.
//!
//! [`Searcher`] runs one search at a time, within [`Limits`] and under a [`Control`]. It reports
//! its progress as [`SearchEvent`]s and never prints anything.
//!
//! # Configuration
//!
//! [`Config`] contains all parameters of the search. It is part of the engine's settings, so a new
//! search option requires a field, a row in the table of options, and the code that reads the
//! field.
//!
//! # One node
//!
//! A `Node` contains the facts about a node, and `prune` contains pure predicates on these facts.
//! `Worker::search_move` searches one move, whether or not the node is shared among threads.
//! Attacked squares (`position::Threats`) are computed only if the moves of a node are searched,
//! because the table or pruning cuts off most nodes first.
//!
//! A search for a mate in a given number of moves ([`Limits::mate`]) has a window that contains
//! only the scores of such mates. It uses neither speculative pruning nor reductions, and has
//! separate table entries.
//!
//! If a side can repeat a position with one move (`position::Cycles`), its score is at least a
//! draw. Endgame tables are probed for WDL after a capture or pawn move that leaves few pieces, and
//! for DTZ at the root.
//!
//! # Threads and state
//!
//! | data | owner | shared with |
//! | --- | --- | --- |
//! | transposition table | [`Searcher`] | all its threads, as atomics without locks; a check word detects entries that two threads wrote at the same time |
//! | histories and corrections | [`Searcher`] | all search threads, as relaxed atomics |
//! | book | the caller | all threads; it never changes, and clones share it |
//! | stop flag, ponder hit | [`Control`] | the search threads and their caller |
//! | node counters | `Job` | its threads, with one padded counter each |
//! | idle threads and their calls | `Job` (`helper_pool`) | its threads, with one bit and one padded slot each |
//! | stack, killers, pawn table | one search thread | none |
//!
//! Thread 0 of a search runs the iterations and reports events through the caller's callback. The
//! helper threads live as long as the searcher, sleep between searches, and pass their reports to
//! thread 0. With one thread, the search is deterministic, node for node.
//!
//! # Book in the search
//!
//! The search looks up every node except the root in the book. [`BookSearch`] selects the effect of
//! a match:
//!
//! | mode | at a node in the book | what ends the search |
//! | --- | --- | --- |
//! | `off` | the book is not used | the usual limits only |
//! | `first` | the match ends the search immediately, regardless of the line | the first match |
//! | `stop` | the match is stored with its line and reported | a settled best move that leads to the match by plausible play, once two fifths of the budget are spent |
//! | `value` | as in `stop`; in addition, the book value replaces the table entry (`book_known`): a value that is deep enough supplies the score, any other value supplies only the first move to search | as in `stop`, or an analysis of the root that is deeper than the search can reach |
//! | `steer` | as in `value` | as in `value`; in addition, if only the line of a slightly worse root move leads into the book, that move replaces the best one |
//!
//! `-b` selects `value`. If the book has no book values, `value` is equivalent to `stop`.
//!
//! ```
//! use tabia::position::{Game, Position};
//! use tabia::score::mate_distance;
//! use tabia::search::{Config, Control, Limits, SearchEvent, Searcher};
//!
//! let position = Position::from_fen("7k/8/5K2/8/8/8/8/6R1 w - - 0 1")?;
//! let mut searcher = Searcher::new(Config { memory_mb: 1, ..Config::default() });
//! let mut iterations = 0;
//! let result = searcher.search(
//!     &Game::new(position),
//!     &Limits::depth(8),
//!     &Control::new(),
//!     &mut |event| iterations += i32::from(matches!(event, SearchEvent::Iteration(_))),
//! );
//! assert_eq!(mate_distance(result.score), Some(2));
//! assert_eq!(result.best.map(|mv| position.san(mv)).as_deref(), Some("Kf7"));
//! assert!(iterations > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod bench;
mod book_ending;
mod book_ending_state;
mod book_known;
mod book_match;
mod book_near;
mod book_probe;
mod clock;
mod clusters;
mod config;
pub(crate) mod constants;
mod control;
mod deepening;
mod finish_node;
mod handicap;
mod helper_pool;
mod history;
mod job;
mod killers;
mod limits;
mod lmr;
mod memory_limit;
mod move_pruning;
mod node;
pub mod observe;
mod ordering;
mod prune;
mod pvs;
mod quiescence;
mod report;
mod searcher;
mod see;
mod sharing;
mod sharing_counts;
mod singular;
mod source;
mod split;
mod stack;
mod steer;
mod table;
pub mod trace;
mod worker;

#[cfg(test)]
mod exact_tests;
#[cfg(test)]
mod tests;

pub(crate) use clock::{MOVE_OVERHEAD, usual_time};
pub use config::{BookSearch, Config, ResearchOrder};
pub use control::Control;
pub use handicap::Handicap;
pub use limits::{Limits, TimeLimit};
pub(crate) use memory_limit::{STACK_SIZE, total_memory};
pub use report::{Bound, Report, SearchEvent, SearchFault, SearchResult, Sharing, Transposition};
pub use searcher::Searcher;
