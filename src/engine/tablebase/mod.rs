//! Syzygy endgame tables, which contain the results of positions with few pieces under best play.
//!
//! R. de Man's tables contain the result (WDL) and the distance to the next capture or pawn move
//! with best play (DTZ). They contain no positions with castling rights:
//! <https://www.chessprogramming.org/Syzygy_Bases>. The `shakmaty-syzygy` crate reads them. The
//! search looks up WDL after a capture or pawn move that leaves few pieces, and DTZ at the root.
//! Mates with bishop and knight against a lone king need no tables (`kbnk`).
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

/// The result with best play. A win that the fifty-move rule prevents counts as a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TablebaseResult {
    /// The side to move loses.
    Loss,
    /// The game is drawn.
    Draw,
    /// The side to move wins.
    Win,
}

/// The tablebase result of a position, and the best moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootProbe {
    /// Result for the side to move in the position.
    pub outcome: TablebaseResult,
    /// The best moves: in a win, those with the fewest plies to mate or to the next capture or pawn
    /// move; in a loss, those with the most.
    pub moves: Vec<Move>,
}

/// A legal move and its tablebase result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankedMove {
    /// A legal move in the probed position.
    pub mv: Move,
    /// Result of the move for the side that plays it.
    pub outcome: TablebaseResult,
    /// Whether the result is certain under the fifty-move rule. Distances in the tables may be
    /// rounded by one ply, which can decide whether a win comes in time.
    pub is_certain: bool,
    /// Number of plies to the next capture or pawn move, counted from the position after the move.
    /// Negative if the move wins, positive if it loses, and 0 if it draws or is itself a capture or
    /// pawn move. A move that mates has the value 1, so that it ranks before all other winning
    /// moves.
    plies: i32,
}

impl RankedMove {
    /// Returns the number of plies to the next capture or pawn move, including this move.
    pub fn distance(&self) -> u32 {
        self.plies.unsigned_abs() + 1
    }

    /// Returns the key for sorting moves: the result, and then the distance. Shorter distances are
    /// better in wins, and longer ones in losses.
    fn rank(&self) -> (TablebaseResult, i32) {
        (self.outcome, self.plies)
    }
}

impl From<&[RankedMove]> for RootProbe {
    /// Selects the best of the ranked moves. `moves` is empty if the game is over.
    fn from(ranked: &[RankedMove]) -> Self {
        let best = ranked.iter().map(RankedMove::rank).max();
        let moves = ranked.iter().filter(|ranked| Some(ranked.rank()) == best);
        RootProbe {
            outcome: best.map_or(TablebaseResult::Draw, |best| best.0),
            moves: moves.map(|ranked| ranked.mv).collect(),
        }
    }
}
