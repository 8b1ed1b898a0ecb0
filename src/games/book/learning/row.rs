//! One learned result, and its encoding.
//!
//! ```text
//! key          8 bytes, little-endian like all numbers
//! next         8 bytes: key of the position after the move; 0 if there is no move
//! pawns        4 bytes: the top half of the pawn key
//! next pawns   4 bytes: the same for the position after the move
//! move         2 bytes, as in the entries of a book; 0 for none
//! kind         u8: 1 found, 2 played and won by White, 3 drawn, 4 won by Black
//! depth        u8: depth of the result, in plies
//! found:       i16 score, u16 thousands of nodes, u32 milliseconds
//! played:      u32 games, at least 1; u32 unused
//! checksum     CRC-32 of all bytes before it
//! ```

use std::time::Duration;

use crate::chess::position::{Game, Move, Position};
use crate::chess::score::{DRAW, Depth, Score, mated_in};
use crate::games::pgn::GameResult;

pub(crate) const ROW_BYTES: usize = 40;
const SUMMED: usize = ROW_BYTES - 4;
const NODES_UNIT: u64 = 1_000;
const FOUND: u8 = 1;
const RESULTS: [GameResult; 3] = [GameResult::White, GameResult::Draw, GameResult::Black];
/// The maximum depth that a row can store. It is used for checkmate and stalemate, whose values
/// need no search.
const RULES_DEPTH: Depth = 255;
/// Maximum number of plies stored per game. It covers the opening and enough later moves to show
/// how good the opening was. Chosen by hand.
const GAME_PLIES: usize = 120;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    /// Score in centipawns for the side to move. Mate distances are counted from this position.
    pub score: Score,
    /// Depth in plies of the last completed iteration, from 0 to 255.
    pub depth: Depth,
    /// Number of nodes, rounded down to a multiple of 1,000 and capped at 65,535,000.
    pub nodes: u64,
    /// The search time, rounded down to milliseconds.
    pub time: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fact {
    /// A search returned the move as the best one.
    Found(Found),
    /// The move was played in games with this result.
    Played { result: GameResult, games: u32 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub key: u64,
    /// The key of the position after the move; 0 if there is no move.
    pub next: u64,
    /// The top half of the pawn key, the only half that the pawn filter uses.
    pub pawns: u32,
    /// The top half of the pawn key of the position after the move; 0 if there is no move.
    pub next_pawns: u32,
    /// The move. `None` if the game ended in this position, or if later moves are not stored.
    pub mv: Option<Move>,
    pub fact: Fact,
}

fn pawns_of(position: &Position) -> u32 {
    (position.pawn_key() >> 32) as u32
}

impl Row {
    fn new(position: &Position, mv: Option<Move>, fact: Fact) -> Self {
        let next = mv.map(|mv| position.play(mv));
        let of_next = |of: fn(&Position) -> u64| next.as_ref().map_or(0, of);
        Row {
            key: position.key(),
            next: of_next(Position::key),
            pawns: pawns_of(position),
            next_pawns: of_next(|next| pawns_of(next).into()) as u32,
            mv,
            fact,
        }
    }

    pub(crate) fn found(position: &Position, best: Move, found: Found) -> Self {
        let depth = found.depth.clamp(0, RULES_DEPTH);
        Row::new(position, Some(best), Fact::Found(Found { depth, ..found }))
    }

    /// Creates the row for a position without legal moves. Its value is exact: checkmate or a draw
    /// by stalemate.
    fn final_value(position: &Position) -> Self {
        let score = if position.in_check() { mated_in(0) } else { DRAW };
        let found = Found { score, depth: RULES_DEPTH, nodes: 0, time: Duration::ZERO };
        Row::new(position, None, Fact::Found(found))
    }

    /// Creates one row for each distinct position in a game, up to `GAME_PLIES` plies, and a row
    /// for the value of the last position if it has no legal moves. Returns no rows if the game has
    /// no result.
    pub(crate) fn of_game(game: &Game, result: GameResult) -> Vec<Self> {
        if result == GameResult::Undecided {
            return Vec::new();
        }
        let fact = Fact::Played { result, games: 1 };
        // If a position occurs more than once, only its last occurrence is stored, so that the
        // stored game contains no cycles.
        let mut rows: Vec<Row> = Vec::new();
        let kept = game.positions().iter().enumerate().take(GAME_PLIES + 1);
        for (ply, position) in kept.rev() {
            if rows.iter().all(|row| row.key != position.key()) {
                let mv = game.moves().get(ply).copied().filter(|_| ply < GAME_PLIES);
                rows.push(Row::new(position, mv, fact));
            }
        }
        rows.reverse();
        let end = game.position();
        rows.extend(end.has_no_moves().then(|| Row::final_value(end)));
        rows
    }

    pub(crate) fn to_bytes(self) -> [u8; ROW_BYTES] {
        let mut row = [0; ROW_BYTES];
        row[..8].copy_from_slice(&self.key.to_le_bytes());
        row[8..16].copy_from_slice(&self.next.to_le_bytes());
        row[16..20].copy_from_slice(&self.pawns.to_le_bytes());
        row[20..24].copy_from_slice(&self.next_pawns.to_le_bytes());
        row[24..26].copy_from_slice(&self.mv.map_or(0, Move::to_polyglot).to_le_bytes());
        match self.fact {
            Fact::Found(Found { score, depth, nodes, time }) => {
                let thousands = u16::try_from(nodes / NODES_UNIT).unwrap_or(u16::MAX);
                let millis = u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
                (row[26], row[27]) = (FOUND, depth.clamp(0, RULES_DEPTH) as u8);
                row[28..30].copy_from_slice(&(score as i16).to_le_bytes());
                row[30..32].copy_from_slice(&thousands.to_le_bytes());
                row[32..36].copy_from_slice(&millis.to_le_bytes());
            }
            Fact::Played { result, games } => {
                let index = RESULTS.iter().position(|&known| known == result).unwrap_or(0);
                row[26] = FOUND + 1 + index as u8;
                row[28..32].copy_from_slice(&games.to_le_bytes());
            }
        }
        let sum = crc32fast::hash(&row[..SUMMED]);
        row[SUMMED..].copy_from_slice(&sum.to_le_bytes());
        row
    }

    pub(crate) fn from_bytes(row: &[u8; ROW_BYTES]) -> Option<Self> {
        let long = |at: usize| u64::from(word(row, at)) | u64::from(word(row, at + 4)) << 32;
        let half = |at: usize| u16::from_le_bytes([row[at], row[at + 1]]);
        if crc32fast::hash(&row[..SUMMED]) != word(row, SUMMED) {
            return None;
        }
        let fact = match row[26] {
            FOUND => Fact::Found(Found {
                score: Score::from(half(28) as i16),
                depth: row[27].into(),
                nodes: u64::from(half(30)) * NODES_UNIT,
                time: Duration::from_millis(word(row, 32).into()),
            }),
            kind => {
                let index = usize::from(kind).checked_sub(usize::from(FOUND) + 1)?;
                let (result, games) = (*RESULTS.get(index)?, word(row, 28));
                // Reject rows with zero games: such a row would add a move that was never played to
                // the book, until the next compaction removed it.
                (games > 0).then_some(Fact::Played { result, games })?
            }
        };
        let mv = Move::from_polyglot(half(24));
        let (pawns, next_pawns) = (word(row, 16), word(row, 20));
        Some(Row { key: long(0), next: long(8), pawns, next_pawns, mv, fact })
    }
}

fn word(row: &[u8; ROW_BYTES], at: usize) -> u32 {
    u32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_round_trip_and_detect_damage() {
        let start = Position::start();
        let mv = start.parse_move("e4").expect("legal");
        let time = Duration::from_millis(1_234);
        let found = Found { score: -31_990, depth: 17, nodes: 123_000, time };
        let mut rows = vec![Row::found(&start, mv, found)];
        let mut game = Game::default();
        for san in ["f3", "e5", "g4", "Qh4"] {
            game.play(game.position().parse_move(san).expect(san)).expect(san);
        }
        rows.extend(Row::of_game(&game, GameResult::Black));
        assert_eq!(rows.len(), 1 + 5 + 1);
        let last = rows.last().expect("rows");
        assert!(matches!(last.fact, Fact::Found(Found { score: -32_000, .. })), "{last:?}");
        for row in rows {
            let bytes = row.to_bytes();
            assert_eq!(Row::from_bytes(&bytes), Some(row));
            for bit in 0..8 * ROW_BYTES {
                let mut damaged = bytes;
                damaged[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Row::from_bytes(&damaged), None, "bit {bit}");
            }
        }
        assert_eq!(Row::of_game(&game, GameResult::Undecided), []);
    }

    #[test]
    fn row_without_games_counts_as_damaged() {
        let start = Position::start();
        for (result, san) in RESULTS.into_iter().zip(["a4", "Nf3", "d4"]) {
            for mv in [None, start.parse_move(san).ok()] {
                for games in [0, 1, u32::MAX] {
                    let row = Row::new(&start, mv, Fact::Played { result, games });
                    let expected = (games > 0).then_some(row);
                    assert_eq!(Row::from_bytes(&row.to_bytes()), expected, "{row:?}");
                }
            }
        }
    }

    #[test]
    fn repeated_position_counts_once_per_game() {
        let mut game = Game::default();
        for san in ["Nf3", "Nf6", "Ng1", "Ng8", "e4"] {
            game.play(game.position().parse_move(san).expect(san)).expect(san);
        }
        let rows = Row::of_game(&game, GameResult::Draw);
        let mut keys: Vec<u64> = rows.iter().map(|row| row.key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!((rows.len(), keys.len()), (5, 5));
        let ends = rows.iter().filter(|row| row.mv.is_none());
        assert_eq!(ends.map(|row| row.key).collect::<Vec<_>>(), [game.position().key()]);
        let start = rows.iter().find(|row| row.key == Position::start().key()).expect("known");
        assert_eq!(start.mv, "e2e4".parse().ok());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes in any::<[u8; ROW_BYTES]>()) {
            prop_assert_eq!(Row::from_bytes(&bytes), None);
            let sum = crc32fast::hash(&bytes[..SUMMED]);
            bytes[SUMMED..].copy_from_slice(&sum.to_le_bytes());
            let _ = Row::from_bytes(&bytes);
        }
    }
}
