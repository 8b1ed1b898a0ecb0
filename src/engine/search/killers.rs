//! Killer moves: quiet moves that recently failed high in other nodes at the same ply, tried early
//! in the current node.
//!
//! Sources: S. Akl and M. Newborn, "The Principal Continuation and the Killer Heuristic" (1977);
//! <https://www.chessprogramming.org/Killer_Heuristic>.

use crate::chess::position::Move;
use crate::chess::score::{MAX_PLY, Ply};

/// A thread's killer moves, two for each ply, most recent first.
pub(super) struct Killers([[Option<Move>; 2]; MAX_PLY + 2]);

/// The killer moves of two successive plies.
pub(super) type KillersBelow = [[Option<Move>; 2]; 2];

impl Killers {
    pub(super) fn new() -> Self {
        Killers([[None; 2]; MAX_PLY + 2])
    }

    #[inline]
    pub(super) fn at(&self, ply: Ply) -> [Option<Move>; 2] {
        self.0[ply]
    }

    /// Returns the killer moves of the two plies below `ply`: of its children and grandchildren.
    pub(super) fn below(&self, ply: Ply) -> KillersBelow {
        [self.0[ply + 1], self.0[ply + 2]]
    }

    pub(super) fn set_below(&mut self, ply: Ply, moves: KillersBelow) {
        [self.0[ply + 1], self.0[ply + 2]] = moves;
    }

    #[inline]
    pub(super) fn note(&mut self, ply: Ply, mv: Move) {
        let [newest, _] = self.0[ply];
        if newest != Some(mv) {
            self.0[ply] = [Some(mv), newest];
        }
    }

    /// Clears the killer moves at a ply. Called whenever the grandparent of the nodes at this ply
    /// changes.
    #[inline]
    pub(super) fn clear(&mut self, ply: Ply) {
        self.0[ply] = [None; 2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_newest_killers_are_kept() {
        let [first, second]: [Option<Move>; 2] = ["e2e4", "a2a3"].map(|text| text.parse().ok());
        let mut killers = Killers::new();
        for mv in [first, second, second].into_iter().flatten() {
            killers.note(3, mv);
        }
        assert_eq!((killers.at(3), killers.at(4)), ([second, first], [None; 2]));
        killers.clear(3);
        assert_eq!(killers.at(3), [None; 2]);
    }
}
