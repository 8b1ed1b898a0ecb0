//! Search values of positions: stored while the searches run, backed up along the moves, and used
//! to extend the book.
//!
//! Uses `facets`, `format`, `lookup` and `merge`. The searches are in `tools::suite`.
//!
//! `tools::suite::analyse` searches each position by itself and stores rows in the `journal` until
//! `backup` has computed the book values: a deterministic graphical game, solved by value iteration
//! from a draw, so cycles are draws and the order does not matter. The rows become a section of
//! their own (`lookup::values`; the file has version 3). With `--grow`, `growth` picks the
//! positions that the analysis takes in next and writes the book with them before they are
//! searched. Unfinished work is in the book (moves without games) or in the journal (rows of depth
//! 0), so an interruption loses nothing. Its likelihoods are Lincke's drop-out expansion with games
//! in it; the largest products of shares are found like shortest paths (Dijkstra).

pub(super) mod backup;
pub(super) mod growth;
pub(super) mod journal;
