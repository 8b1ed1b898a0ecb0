//! Rows of partial counts and their components.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::records::PositionRecord;
use crate::chess::position::{Color, Move};
use crate::games::book::facets::{GameId, RatingGroup, Speed};
use crate::games::pgn::GameDate;

/// Counts, by result, the games that reached a position and continued with the same move, or with
/// no counted move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::games::book) struct PartialRow {
    pub key: u64,
    /// The top bits of the position's pawn key. The pawn filter uses only the highest of them.
    pub pawns: u32,
    pub side: Color,
    /// The move played. `None` if no move was counted: at the last counted position of a game, or
    /// if the move itself is not counted.
    pub mv: Option<Move>,
    /// Whether the games are counted only for the move, not for the position. This is the case if
    /// the position is counted in another row, because it occurred earlier in the games or because
    /// the games have variations.
    pub again: bool,
    /// The number of games for each result, in the order of
    /// [`GameResult`](crate::games::pgn::GameResult).
    pub games: [u64; 4],
    /// The facets shared by all of these games, if facets were counted.
    pub facets: Option<RowFacets>,
}

impl PartialRow {
    /// Returns a checksum of the fields that are stored in a book. The sum of the checksums of all
    /// rows does not depend on how the games are grouped into rows.
    pub(in crate::games::book) fn sum(&self) -> u64 {
        let mv = self.mv.map_or(0, Move::to_polyglot);
        let side = self.side == Color::Black;
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.key.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.pawns.to_le_bytes());
        bytes[12..14].copy_from_slice(&mv.to_le_bytes());
        bytes[14..].copy_from_slice(&[side.into(), self.again.into()]);
        let sum_of = |(result, &games): (u64, &u64)| match games {
            0 => 0,
            _ => xxh3_64_with_seed(&bytes, result).wrapping_mul(games),
        };
        (0..).zip(&self.games).map(sum_of).fold(0, u64::wrapping_add)
    }

    pub(super) fn add(&mut self, other: &PartialRow) {
        for (games, more) in self.games.iter_mut().zip(other.games) {
            *games += more;
        }
        if let (Some(facets), Some(more)) = (&mut self.facets, &other.facets) {
            facets.add(more);
        }
    }
}

pub(super) trait RowRecord: PositionRecord {
    fn is_of_row(&self, other: &Self) -> bool;
    fn row(&self) -> PartialRow;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::games::book) struct FacetKind {
    /// The group of the players' mean rating or, if only one rating is known, of that rating.
    /// `None` if both are unknown.
    pub group: Option<RatingGroup>,
    pub speed: Speed,
    /// The year and month of the games.
    pub month: GameDate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::games::book) struct RowFacets {
    pub kind: FacetKind,
    /// The sum of the ratings of the player to move, and the number of games with such a rating.
    /// Games in which this rating is unknown are left out.
    pub ratings: (u64, u64),
    /// The date and id of the latest game. Among games of the same date, the one with the greatest
    /// id.
    pub latest: (GameDate, GameId),
}

impl RowFacets {
    fn add(&mut self, other: &RowFacets) {
        self.ratings.0 += other.ratings.0;
        self.ratings.1 += other.ratings.1;
        self.latest = self.latest.max(other.latest);
    }
}
