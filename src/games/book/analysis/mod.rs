//! Search values for positions: stored while the searches run, backed up along the moves, and used
//! to extend the book.
//!
//! Uses `facets`, `format`, `lookup` and `merge`. The searches are in `tools::suite`.
//!
//! `tools::suite::analyse` searches each position separately and stores the results as rows in the
//! `journal`. At the end, `backup` computes the values of the book. It solves a deterministic
//! graphical game by value iteration from a draw. Cycles are therefore draws, and the order of
//! updates does not matter. The rows become a separate section of the file (`lookup::values`),
//! which then has version 3.
//!
//! With `--grow`, `growth` picks the positions that the analysis adds next, and writes the book
//! with them before they are searched. Unfinished work is in the book (moves without games) or in
//! the journal (rows of depth 0), so an interruption loses nothing. The likelihoods follow Lincke's
//! drop-out expansion, but also use games. Dijkstra's shortest-path algorithm finds the largest
//! products of likelihoods.

pub(super) mod backup;
pub(super) mod growth;
pub(super) mod journal;
