//! The rows of partial counts, and what they are made of.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::records::PositionRecord;
use crate::chess::position::{Color, Move};
use crate::games::book::facets::{GameId, RatingGroup, Speed};
use crate::games::pgn::GameDate;

/// In how many games a position was reached and left by one move or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::games::book) struct PartialRow {
    /// The key of the position.
    pub key: u64,
    /// The top bits of the key of its pawns, of which the pawn filter of a book takes the topmost.
    pub pawns: u32,
    /// Who is to move.
    pub side: Color,
    /// The move that left it; none at the end of what counts, and where the move is not wanted.
    pub mv: Option<Move>,
    /// The games had been in the position before, and left it by another move then: they count for
    /// the move alone.
    pub again: bool,
    /// The games by result, in the order of [`GameResult`](crate::games::pgn::GameResult).
    pub games: [u64; 4],
    /// What the games have in common, where they were counted with facets.
    pub facets: Option<RowFacets>,
}

impl PartialRow {
    /// A checksum of what a book takes of the row. The sum of those of all rows stays the same
    /// however rows are grouped, and changes with the key, the pawns, the move or the games of any.
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

    /// Adds games of the same row.
    pub(super) fn add(&mut self, other: &PartialRow) {
        for (games, more) in self.games.iter_mut().zip(other.games) {
            *games += more;
        }
        if let (Some(facets), Some(more)) = (&mut self.facets, &other.facets) {
            facets.add(more);
        }
    }
}

/// Records of which rows are made.
pub(super) trait RowRecord: PositionRecord {
    /// Whether both count games of the same row.
    fn is_of_row(&self, other: &Self) -> bool;
    /// The row of the record's games alone.
    fn row(&self) -> PartialRow;
}

/// What tells rows of the same move apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::games::book) struct FacetKind {
    /// The group of the mean rating of both players, or of the only one; `None` if neither has one.
    pub group: Option<RatingGroup>,
    pub speed: Speed,
    /// A date without its day.
    pub month: GameDate,
}

/// What a row with facets tells of its games.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::games::book) struct RowFacets {
    pub kind: FacetKind,
    /// The sum of the ratings of those to move, and how many of them had one.
    pub ratings: (u64, u64),
    /// The latest of the games; of several of that day, the one with the greatest id.
    pub latest: (GameDate, GameId),
}

impl RowFacets {
    /// Adds games of the same kind.
    fn add(&mut self, other: &RowFacets) {
        self.ratings.0 += other.ratings.0;
        self.ratings.1 += other.ratings.1;
        self.latest = self.latest.max(other.latest);
    }
}
