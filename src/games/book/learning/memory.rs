//! The learned results in a file, grouped by position.

use std::cmp::Reverse;

use super::row::{Fact, Found, Row};
use crate::chess::position::{KeyMap, Move};
use crate::games::book::format::counts::Counts;
use crate::games::pgn::GameResult;

/// The games in which a move was played in a position or, if `mv` is `None`, the games that ended
/// there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Played {
    pub mv: Option<Move>,
    /// The key of the position after the move; 0 if there is no move.
    pub next: u64,
    pub counts: Counts,
    next_pawns: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LearnedPosition {
    pub key: u64,
    pub pawns: u32,
    /// The best moves found by searches. Each is stored with the deepest search that found it or,
    /// at equal depth, the latest.
    pub found: Vec<(Row, Found)>,
    pub played: Vec<Played>,
    latest: usize,
}

impl LearnedPosition {
    pub(super) fn reached(&self) -> Counts {
        self.played.iter().map(|played| played.counts).sum()
    }

    /// Returns the deepest search of the position or, at equal depth, the latest.
    pub(super) fn deepest(&self) -> Option<(Row, Found)> {
        self.found.iter().max_by_key(|(_, found)| found.depth).copied()
    }

    pub(super) fn found_of(&self, mv: Option<Move>) -> Option<(Row, Found)> {
        self.found.iter().find(|(row, _)| row.mv == mv).copied()
    }

    fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let played = self.played.iter().flat_map(|played| {
            let Counts { white, draws, black, .. } = played.counts;
            let by_result =
                [(GameResult::White, white), (GameResult::Draw, draws), (GameResult::Black, black)];
            by_result.into_iter().filter(|&(_, games)| games > 0).map(|(result, games)| Row {
                key: self.key,
                next: played.next,
                pawns: self.pawns,
                next_pawns: played.next_pawns,
                mv: played.mv,
                fact: Fact::Played { result, games },
            })
        });
        self.found.iter().map(|&(row, _)| row).chain(played)
    }
}

/// All learned results. Positions are in order of first appearance in the file, so the positions of
/// a game are adjacent.
#[derive(Debug, Default)]
pub(super) struct Memory {
    learned_positions: Vec<LearnedPosition>,
    numbers: KeyMap<u32>,
    rows: usize,
}

impl Memory {
    pub(super) fn of(rows: impl Iterator<Item = Row>) -> Self {
        let mut memory = Memory::default();
        rows.for_each(|row| memory.add(row));
        memory
    }

    fn add(&mut self, row: Row) {
        self.rows += 1;
        let (latest, number) = (self.rows, self.learned_positions.len() as u32);
        let number = *self.numbers.entry(row.key).or_insert(number) as usize;
        if number == self.learned_positions.len() {
            let (key, pawns) = (row.key, row.pawns);
            let (found, played) = (Vec::new(), Vec::new());
            self.learned_positions.push(LearnedPosition { key, pawns, found, played, latest });
        }
        let learned_position = &mut self.learned_positions[number];
        learned_position.latest = latest;
        match row.fact {
            Fact::Found(found) => {
                if learned_position
                    .found_of(row.mv)
                    .is_none_or(|(_, known)| known.depth <= found.depth)
                {
                    learned_position.found.retain(|(known, _)| known.mv != row.mv);
                    learned_position.found.push((row, found));
                }
            }
            Fact::Played { result, games } => {
                let counts = Counts::of(result, games);
                match learned_position.played.iter_mut().find(|played| played.mv == row.mv) {
                    Some(played) => played.counts += counts,
                    None => learned_position.played.push(Played {
                        mv: row.mv,
                        next: row.next,
                        counts,
                        next_pawns: row.next_pawns,
                    }),
                }
            }
        }
    }

    pub(super) fn learned_positions(&self) -> &[LearnedPosition] {
        &self.learned_positions
    }

    pub(super) fn learned_position(&self, key: u64) -> Option<&LearnedPosition> {
        self.numbers.get(&key).map(|&number| &self.learned_positions[number as usize])
    }

    /// Returns at most `most` rows, without duplicates. Removes the positions with the fewest games
    /// first, starting with the oldest of them. The rows of a game are close in age, so a game is
    /// usually removed as a whole, and a search that is kept usually stays together with the
    /// replies that tested it.
    pub(super) fn compacted(&self, most: usize) -> Vec<Row> {
        let mut order: Vec<&LearnedPosition> = self.learned_positions.iter().collect();
        // Treat a position that was searched but not reached in a game as if it had one game.
        order.sort_by_cached_key(|learned_position| {
            Reverse((learned_position.reached().games().max(1), learned_position.latest))
        });
        let mut rows = 0;
        let kept = order.iter().take_while(|learned_position| {
            rows += learned_position.rows().count();
            rows <= most
        });
        let kept = kept.count();
        order.truncate(kept);
        // Restore the order of first appearance, so that positions from the same game stay
        // together.
        order.sort_by_key(|learned_position| self.numbers[&learned_position.key]);
        order.into_iter().flat_map(LearnedPosition::rows).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::chess::position::{Game, Position};
    use crate::chess::score::Depth;

    fn found(position: &Position, san: &str, depth: Depth) -> Row {
        let mv = position.parse_move(san).expect(san);
        let time = Duration::from_secs(1);
        Row::found(position, mv, Found { score: depth, depth, nodes: 1_000, time })
    }

    fn game(moves: &str) -> Game {
        let mut game = Game::default();
        for san in moves.split(' ') {
            game.play(game.position().parse_move(san).expect(san)).expect(san);
        }
        game
    }

    #[test]
    fn compaction_keeps_the_deepest_search_of_each_move() {
        let start = Position::start();
        let reported = [("d4", 9), ("e4", 12), ("d4", 8), ("c4", 12), ("e4", 12), ("c4", 11)];
        let rows: Vec<Row> =
            reported.iter().map(|&(san, depth)| found(&start, san, depth)).collect();
        let memory = Memory::of(rows.iter().copied());
        assert_eq!(memory.compacted(9), [rows[0], rows[3], rows[4]]);
        let again = Memory::of(memory.compacted(9).into_iter());
        for memory in [memory, again] {
            let deepest = memory.learned_positions()[0].deepest().map(|(row, _)| row);
            assert_eq!(deepest, Some(rows[4]), "the latest of equally deep searches");
        }
    }

    #[test]
    fn compaction_keeps_game_counts() {
        let first = Row::of_game(&game("e4 e5 Nf3"), GameResult::White);
        let other = Row::of_game(&game("e4 c5"), GameResult::Draw);
        let all = [first.clone(), other, first].concat();
        let memory = Memory::of(all.iter().copied());
        let start = memory.learned_position(Position::start().key()).expect("known");
        assert_eq!(start.reached(), Counts::new(2, 1, 0));
        assert_eq!(start.played.len(), 1);
        let rows = memory.compacted(99);
        assert!(rows.len() < all.len());
        let again = Memory::of(rows.into_iter());
        for learned_position in memory.learned_positions() {
            let same = again.learned_position(learned_position.key).expect("still there");
            assert_eq!(
                (&same.played, same.pawns),
                (&learned_position.played, learned_position.pawns)
            );
        }
    }

    #[test]
    fn compaction_removes_the_least_important_rows_first() {
        let often = Row::of_game(&game("e4 e5"), GameResult::White);
        let once = Row::of_game(&game("e4 c5 Nf3"), GameResult::Draw);
        let [old, new] = [("d4", 20), ("c4", 9)].map(|(first, depth)| {
            let position = *game(first).position();
            found(&position, "a6", depth)
        });
        let rows = [often.clone(), vec![old], often, once, vec![new]].concat();
        let memory = Memory::of(rows.into_iter());
        // The rows: two for the start position, two for 1.e4, one for 1.e4 e5, two for the rest of
        // the other game, and two search results.
        let all = memory.compacted(99);
        assert_eq!(all.len(), 2 + 2 + 1 + 2 + 2);
        assert_eq!(memory.compacted(8).len(), 8);
        assert!(!memory.compacted(8).contains(&old) && memory.compacted(8).contains(&new));
        let least = memory.compacted(4);
        assert!(
            least.iter().all(|row| memory
                .learned_position(row.key)
                .expect("known")
                .reached()
                .games()
                == 3)
        );
        assert!(memory.compacted(0).is_empty());
    }
}
