//! Syzygy endgame tables: the results of positions with few pieces under best play.
//!
//! R. de Man's tables contain, for each position with few pieces, the result (WDL) and the distance
//! to the next capture or pawn move on the way to that result (DTZ):
//! <https://www.chessprogramming.org/Syzygy_Bases>. They do not cover castling rights. The crate
//! `shakmaty-syzygy` reads the tables. The search looks up WDL after a capture or pawn move that
//! leaves few pieces, and DTZ at the root. Bishop and knight against a lone king need no tables
//! (`kbnk`). Without the feature `syzygy`, no tables can be opened.
//!
//! ```
//! use std::path::Path;
//!
//! use tabia::position::Position;
//! use tabia::tablebase::Tables;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # if false {
//! let tables = Tables::open(Path::new("/usr/share/syzygy"))?;
//! let position = Position::from_fen("8/8/8/8/8/4k3/8/R3K3 w - - 0 1")?;
//! if let Some(probe) = tables.probe_root(&position) {
//!     println!("{probe:?}");
//! }
//! # }
//! assert!(Tables::open(Path::new("no such folder")).is_err());
//! # Ok(())
//! # }
//! ```

#[cfg(not(feature = "syzygy"))]
mod absent;
pub(crate) mod kbnk;
#[cfg(feature = "syzygy")]
mod syzygy;

#[cfg(not(feature = "syzygy"))]
pub use absent::Tables;
#[cfg(feature = "syzygy")]
pub use syzygy::Tables;

use crate::chess::position::Move;

/// The result with best play. A win that the fifty-move rule prevents is a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TablebaseResult {
    /// The side to move loses.
    Loss,
    /// The game is drawn.
    Draw,
    /// The side to move wins.
    Win,
}

/// The tables' result for a position, and its best moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootProbe {
    /// Result of the position for the side to move.
    pub outcome: TablebaseResult,
    /// The best moves that preserve the result: the fastest progress when winning, the longest
    /// resistance when losing.
    pub moves: Vec<Move>,
}

/// A legal move and its result according to the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankedMove {
    /// The move, played in the position that was probed.
    pub mv: Move,
    /// Result after the move, for the side that plays it.
    pub outcome: TablebaseResult,
    /// Whether the result is certain under the fifty-move rule. It can be uncertain, because
    /// distances in tables may be rounded by one ply.
    pub is_certain: bool,
    /// Number of plies from the position after the move to the next capture or pawn move; negative
    /// in a loss, 0 in a draw.
    plies: i32,
}

impl RankedMove {
    /// Returns the number of plies to the next capture or pawn move, including this move.
    pub fn distance(&self) -> u32 {
        self.plies.unsigned_abs() + 1
    }

    /// Returns the sort key of the move: its result, then a short distance for a win or a long one
    /// for a loss.
    fn rank(&self) -> (TablebaseResult, i32) {
        (self.outcome, self.plies)
    }
}

impl From<&[RankedMove]> for RootProbe {
    /// Returns the best of these moves. There are none if the game is over.
    fn from(ranked: &[RankedMove]) -> Self {
        let best = ranked.iter().map(RankedMove::rank).max();
        let moves = ranked.iter().filter(|ranked| Some(ranked.rank()) == best);
        RootProbe {
            outcome: best.map_or(TablebaseResult::Draw, |best| best.0),
            moves: moves.map(|ranked| ranked.mv).collect(),
        }
    }
}
