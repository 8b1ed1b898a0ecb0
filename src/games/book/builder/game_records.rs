//! Records that contain game numbers. They are used to build books with facets.

use super::BuildOptions;
use super::records::{BookRecord, CountedGame, OfGame, PositionRecord, Visit, sort};
use crate::chess::position::{Color, Move};
use crate::games::book::format::counts::Counts;
use crate::games::book::format::entry::BookEntry;
use crate::games::book::format::writer::Block;
use crate::games::pgn::GameResult;

/// A position reached in one game, and the move played there, if any. A record takes 16 bytes and
/// is sorted as a single integer. Records are never merged, because no two are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GameRecord {
    key: u64,
    /// A bit field. From the highest bit: [`AGAIN`], move (15 bits, 0 for none), number of the game
    /// (32), [`IS_GAME`], [`BLACK_TO_MOVE`], result (2).
    rest: u64,
}

const RECORD_BYTES: usize = 16;
/// Flag bit for a repeated visit: the position occurred earlier in the same game, but this move has
/// not been played from it before.
const AGAIN: u64 = 1 << 63;
const MOVE_SHIFT: u32 = 48;
const GAME_SHIFT: u32 = 16;
/// Set in every record except the empty one.
const IS_GAME: u64 = 1 << 3;
const BLACK_TO_MOVE: u64 = 1 << 2;
const RESULT: u64 = 3;
const RESULTS: [GameResult; 4] =
    [GameResult::White, GameResult::Draw, GameResult::Black, GameResult::Undecided];

impl GameRecord {
    fn game(&self) -> u32 {
        (self.rest >> GAME_SHIFT) as u32
    }

    fn word(&self) -> u16 {
        ((self.rest & !AGAIN) >> MOVE_SHIFT) as u16
    }

    fn is_again(&self) -> bool {
        self.rest & AGAIN != 0
    }

    fn counts(&self) -> Counts {
        Counts::of(RESULTS[(self.rest & RESULT) as usize], 1)
    }
}

impl PositionRecord for GameRecord {
    const EMPTY: Self = GameRecord { key: 0, rest: 0 };
    const JOINS: bool = false;
    const OF_GAME: OfGame = OfGame::Number;
    const BYTES: usize = RECORD_BYTES;
    type Bytes = [u8; RECORD_BYTES];

    #[inline]
    fn of(visit: &Visit, game: &CountedGame) -> Self {
        let word = u64::from(visit.mv.map_or(0, Move::to_polyglot)) << MOVE_SHIFT;
        let again = if visit.again { AGAIN } else { 0 };
        let side = if visit.side == Color::Black { BLACK_TO_MOVE } else { 0 };
        let number = u64::from(game.number) << GAME_SHIFT;
        let rest = again | word | number | IS_GAME | side | game.result as u64;
        GameRecord { key: visit.key, rest }
    }

    #[inline]
    fn key(&self) -> u64 {
        self.key
    }

    #[inline]
    fn rank(&self) -> u128 {
        u128::from(self.key) << 64 | u128::from(self.rest)
    }

    fn slot(&self, _bits: u32) -> usize {
        0
    }

    fn join(&mut self, _other: &Self) -> bool {
        false
    }

    #[inline]
    fn renumber(&mut self, numbers: &[u32]) -> bool {
        let Some(&number) = numbers.get(self.game() as usize) else { return false };
        self.rest =
            self.rest & !(u64::from(u32::MAX) << GAME_SHIFT) | u64::from(number) << GAME_SHIFT;
        true
    }

    fn to_bytes(self) -> [u8; RECORD_BYTES] {
        self.rank().to_le_bytes()
    }

    fn read_all(bytes: &[u8], records: &mut Vec<Self>) {
        let read = |bytes: &[u8; RECORD_BYTES]| {
            let rank = u128::from_le_bytes(*bytes);
            GameRecord { key: (rank >> u64::BITS) as u64, rest: rank as u64 }
        };
        records.extend(bytes.as_chunks().0.iter().map(read));
    }
}

impl BookRecord for GameRecord {
    fn encode(
        records: &[Self],
        sorted: &mut Vec<Self>,
        options: &BuildOptions,
        games: u32,
    ) -> Block {
        sort(records, sorted);
        let (mut block, mut entry, mut listed) =
            (Block::default(), BookEntry::default(), Vec::new());
        for same_position in sorted.chunk_by(|a, b| a.key == b.key) {
            let side = count(same_position, &mut entry);
            if options.prune(&mut entry, side) {
                list(same_position, &entry, &mut listed);
                block.push_with_games(&entry, listed.iter().copied(), games);
            }
        }
        block
    }
}

fn count(same_position: &[GameRecord], entry: &mut BookEntry) -> Color {
    entry.key = same_position[0].key;
    entry.reached = Counts::default();
    entry.moves.clear();
    let (mut repeats, mut black) = (false, false);
    for record in same_position {
        let counts = record.counts();
        match record.is_again() {
            false => entry.reached += counts,
            true => repeats = true,
        }
        if let Some(mv) = Move::from_polyglot(record.word()) {
            entry.add_move(mv, counts);
        }
        black = record.rest & BLACK_TO_MOVE != 0;
    }
    // Records of first visits and of repeated visits are in separate groups, each sorted by move. A
    // move may occur in both groups, so the groups must be merged.
    if repeats {
        entry.join_moves();
    }
    if black { Color::Black } else { Color::White }
}

/// Collects the games of an entry. Each game is paired with the 1-based index of its move in the
/// entry, or with 0 if the entry has no move for it.
fn list(same_position: &[GameRecord], entry: &BookEntry, listed: &mut Vec<(usize, u32)>) {
    listed.clear();
    for record in same_position {
        let mv = Move::from_polyglot(record.word());
        let place = mv.and_then(|mv| entry.moves.binary_search_by_key(&mv, |&(mv, _)| mv).ok());
        match place {
            Some(place) => listed.push((place + 1, record.game())),
            // The game has no counted move in this position, or the move was pruned. Repeated
            // visits are skipped, because the game is already listed for its first visit.
            None if !record.is_again() => listed.push((0, record.game())),
            None => {}
        }
    }
    if !listed.is_sorted() {
        listed.sort_unstable();
    }
}
