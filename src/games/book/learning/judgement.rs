//! Evaluates positions by combining all learned results. A search result is used until later
//! results refute it.
//!
//! The value of a position is the value of its best known move, which in turn depends on the best
//! known reply. If no position after a known move has a result of similar depth, the search result
//! for the position itself is used. If all known moves are clearly worse than the score of the
//! search, the search is *refuted*: there may be a better move, but only a new search can find it.

use std::time::Duration;

use super::memory::{LearnedPosition, Memory};
use super::row::Found;
use crate::chess::position::{KeyMap, Move};
use crate::chess::score::{Depth, MATE, Score, is_decided, to_table};
use crate::games::book::lookup::values::{BookValue, before};

/// A search is refuted if the best known move is more than this many centipawns below the score of
/// the search. Chosen by hand: the score usually changes by less than this from one move of a game
/// to the next.
const REFUTED_BY: Score = 30;
/// The value of a refuted search is its score minus this many centipawns, because the next-best
/// move may be only that much worse than the refuted one. The penalty is small, so that moves
/// leading to the position remain playable. Chosen by hand.
const NEXT_BEST_COSTS: Score = 10;
/// A result for the position after a move is ignored if it is more than this many plies shallower
/// than the search of the position before the move, after allowing one ply for the move itself.
/// Chosen by hand: the depths of searches within one game differ by about this much.
const DEPTH_SLACK: Depth = 3;
/// The maximum number of passes over all positions when computing their backed-up values. Without
/// cycles, two passes are enough: the second confirms that no value changes. In a cycle, distances
/// to mate could grow by one move in every pass.
const MAX_ROUNDS: usize = 50;

/// A search result for a position. It comes from a search of the position itself or of the position
/// before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OwnSearch {
    /// The best move. `None` if the result comes from a search of the position before, or if there
    /// are no legal moves.
    mv: Option<Move>,
    score: Score,
    depth: Depth,
}

#[derive(Debug)]
struct Node {
    key: u64,
    own: Option<OwnSearch>,
    links: Vec<(Move, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PositionValue {
    score: Score,
    best: Option<Move>,
    /// The search depth behind the value, in plies; 0 if the search of the position is refuted.
    depth: Depth,
}

/// Returns the values of all positions that have a search result, sorted by key. If the search of a
/// position is refuted, the depth of its value is 0.
pub(super) fn judge(memory: &Memory) -> Vec<BookValue> {
    let nodes = Nodes::of(memory);
    let values = nodes.list.iter().zip(nodes.position_values()).filter_map(|(node, worth)| {
        let (own, worth) = (node.own?, worth?);
        let learned_position = memory.learned_position(node.key);
        let deepest = learned_position.and_then(LearnedPosition::deepest);
        let best = worth.best.or(deepest.and_then(|(row, _)| row.mv));
        let found = learned_position
            .and_then(|learned_position| learned_position.found_of(best))
            .or(deepest);
        Some(BookValue {
            key: node.key,
            score: worth.score,
            best,
            outside: None,
            own: found.and_then(|(row, found)| Some((row.mv?, found.score))),
            depth: worth.depth,
            own_depth: found.map_or(own.depth, |(_, found)| found.depth),
            nodes: found.map_or(0, |(_, found)| found.nodes),
        })
    });
    let mut values: Vec<BookValue> = values.collect();
    values.sort_unstable_by_key(|value| value.key);
    values
}

/// Returns the time taken by the search that found `value.best`. Returns `None` if the search of
/// the position was refuted or no search found that move.
pub(super) fn time_of(value: &BookValue, learned_position: &LearnedPosition) -> Option<Duration> {
    let (_, found) = learned_position.found_of(Some(value.best?))?;
    (value.depth > 0).then_some(found.time)
}

fn after(score: Score) -> Score {
    -to_table(score, 1).clamp(-MATE, MATE)
}

#[derive(Debug, Default)]
struct Nodes {
    list: Vec<Node>,
    numbers: KeyMap<u32>,
}

impl Nodes {
    fn of(memory: &Memory) -> Self {
        let mut nodes = Nodes::default();
        for learned_position in memory.learned_positions() {
            let number = nodes.number(learned_position.key);
            for played in &learned_position.played {
                nodes.link(number, played.mv, played.next);
            }
            for &(row, Found { score, depth, .. }) in &learned_position.found {
                let score = score.clamp(-MATE, MATE);
                nodes.record(number, OwnSearch { mv: row.mv, score, depth });
                if let Some(next) = nodes.link(number, row.mv, row.next) {
                    nodes.record(
                        next,
                        OwnSearch { mv: None, score: after(score), depth: depth - 1 },
                    );
                }
            }
        }
        nodes
    }

    fn number(&mut self, key: u64) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.list.push(Node { key, own: None, links: Vec::new() });
        }
        number
    }

    fn link(&mut self, from: u32, mv: Option<Move>, next: u64) -> Option<u32> {
        let (mv, to) = (mv?, self.number(next));
        let links = &mut self.list[from as usize].links;
        if links.iter().all(|&(known, _)| known != mv) {
            links.push((mv, to));
        }
        Some(to)
    }

    /// Records a search result for a position, unless a deeper one is known. At equal depth, a
    /// search of the position itself takes precedence over a search of the position before it.
    /// Otherwise, the result recorded last takes precedence.
    fn record(&mut self, number: u32, own: OwnSearch) {
        let node = &mut self.list[number as usize];
        let rank = |own: &OwnSearch| (own.depth, own.mv.is_some());
        if node.own.as_ref().is_none_or(|known| rank(known) <= rank(&own)) {
            node.own = Some(own);
        }
    }

    /// Returns all positions, ordered so that each one comes before the positions that lead to it,
    /// except in cycles.
    fn backwards(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.list.len());
        let mut seen = vec![false; self.list.len()];
        for root in 0..self.list.len() as u32 {
            // The path of a depth-first search. Each element contains a position's number and how
            // many of its links have been followed so far.
            let mut path = vec![(root, 0)];
            while let Some((number, followed)) = path.last_mut() {
                if *followed == 0 && std::mem::replace(&mut seen[*number as usize], true) {
                    path.pop();
                    continue;
                }
                let link = self.list[*number as usize].links.get(*followed).copied();
                *followed += 1;
                match link {
                    Some((_, to)) => path.push((to, 0)),
                    None => {
                        order.push(*number);
                        path.pop();
                    }
                }
            }
        }
        order
    }

    fn position_values(&self) -> Vec<Option<PositionValue>> {
        let begin = |node: &Node| {
            node.own.map(|OwnSearch { mv, score, depth }| PositionValue { score, best: mv, depth })
        };
        let mut position_values: Vec<Option<PositionValue>> = self.list.iter().map(begin).collect();
        let order = self.backwards();
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for &number in &order {
                let worth = self.worth(number, &position_values);
                changed |= worth != position_values[number as usize];
                position_values[number as usize] = worth;
            }
            if !changed {
                break;
            }
        }
        position_values
    }

    fn worth(
        &self,
        number: u32,
        position_values: &[Option<PositionValue>],
    ) -> Option<PositionValue> {
        let node = &self.list[number as usize];
        let own = node.own?;
        let known = node.links.iter().filter_map(|&(mv, to)| {
            let of_next = self.list[to as usize].own?;
            let counts = of_next.depth + 1 + DEPTH_SLACK >= own.depth;
            let score = before(position_values[to as usize]?.score);
            let depth = own.depth.min(of_next.depth + 1);
            counts.then_some(PositionValue { score, best: Some(mv), depth })
        });
        // Among moves with equal values, prefer the one that the search of the position chose.
        let rank = |worth: &PositionValue| (worth.score, worth.best == own.mv);
        let best = known.reduce(|best, next| if rank(&next) > rank(&best) { next } else { best });
        let promised = PositionValue { score: own.score, best: own.mv, depth: own.depth };
        Some(match (best, own.mv) {
            (Some(best), None) if best.score > own.score => best,
            (None, _) | (_, None) => promised,
            (Some(best), Some(_)) if best.score >= own.score - REFUTED_BY => best,
            // The search is refuted. If its score was decisive, subtracting a penalty from it is
            // meaningless, so only the value of the best known move is usable.
            (Some(best), Some(_)) if is_decided(own.score) => PositionValue { depth: 0, ..best },
            (Some(best), Some(_)) => {
                PositionValue { score: own.score - NEXT_BEST_COSTS, depth: 0, ..best }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::row::{Fact, Row};
    use super::*;
    use crate::chess::position::{Game, Position};
    use crate::chess::score::mate_in;
    use crate::games::pgn::GameResult;

    fn rows(moves: &str, searches: &[(usize, Score, Depth)], result: GameResult) -> Vec<Row> {
        let game = game(moves);
        let found = |&(ply, score, depth): &(usize, Score, Depth)| {
            let time = Duration::from_secs(1);
            let found = Found { score, depth, nodes: 5_000, time };
            Row::found(&game.positions()[ply], game.moves()[ply], found)
        };
        searches.iter().map(found).chain(Row::of_game(&game, result)).collect()
    }

    fn game(moves: &str) -> Game {
        let mut game = Game::default();
        for san in moves.split_ascii_whitespace() {
            game.play(game.position().parse_move(san).expect(san)).expect(san);
        }
        game
    }

    fn known(rows: &[Row], moves: &str) -> Option<(Score, String, Depth)> {
        let values = judge(&Memory::of(rows.iter().copied()));
        let position: Position = *game(moves).position();
        let value = values.iter().find(|value| value.key == position.key())?;
        let best = value.best.map_or(String::new(), |mv| position.san(mv));
        Some((value.score, best, value.depth))
    }

    const LOSES: [(usize, Score, Depth); 3] = [(1, 20, 12), (3, 10, 12), (5, -250, 12)];

    #[test]
    fn search_score_is_the_value_until_refuted() {
        let rows = rows("e4 e5 Nf3", &[(1, 20, 12)], GameResult::Draw);
        assert_eq!(known(&rows, "e4"), Some((20, "e5".into(), 12)));
        assert_eq!(known(&rows, "e4 e5"), Some((-20, String::new(), 11)));
        assert_eq!(known(&rows, ""), None, "it was not searched");
    }

    #[test]
    fn refuted_move_lowers_the_value() {
        let rows = rows("e4 e5 Nf3 f6 Nxe5 fxe5 Qh5+", &LOSES, GameResult::White);
        assert_eq!(known(&rows, "e4 e5 Nf3 f6 Nxe5"), Some((-250, "fxe5".into(), 12)));
        // 3.Nxe5 shows how bad 2...f6 is, but Black may have a better second move.
        assert_eq!(known(&rows, "e4 e5 Nf3 f6"), Some((250, "Nxe5".into(), 11)));
        assert_eq!(known(&rows, "e4 e5 Nf3"), Some((10 - NEXT_BEST_COSTS, "f6".into(), 0)));
        // 1...e5 remains playable, but its value is slightly below the search score.
        assert_eq!(known(&rows, "e4"), Some((10 - NEXT_BEST_COSTS, "e5".into(), 12)));
    }

    #[test]
    fn sound_alternative_replaces_the_refuted_move() {
        let lost = rows("e4 e5 Nf3 f6 Nxe5 fxe5 Qh5+", &LOSES, GameResult::White);
        for depth in [12, 11] {
            let held = [(3, 8, depth), (5, 12, depth)];
            let held = rows("e4 e5 Nf3 Nc6 Bb5 a6", &held, GameResult::Draw);
            let all = [lost.clone(), held].concat();
            assert_eq!(known(&all, "e4 e5 Nf3"), Some((8, "Nc6".into(), depth)));
            assert_eq!(known(&all, "e4"), Some((8, "e5".into(), 12)));
        }
    }

    #[test]
    fn worst_reply_counts_and_good_replies_do_not_raise_the_value() {
        let good = rows("e4 e5 Nf3 Nc6", &[(1, 0, 12), (3, 90, 12)], GameResult::Black);
        assert_eq!(known(&good, "e4"), Some((0, "e5".into(), 12)));
        let worse = rows("e4 e5 Bc4 Nc6", &[(3, -20, 12)], GameResult::Draw);
        assert_eq!(known(&[good, worse].concat(), "e4"), Some((-20, "e5".into(), 12)));
    }

    #[test]
    fn much_shallower_search_does_not_refute() {
        let deep = rows("e4 e5 Nf3 Nc6", &[(1, 20, 30)], GameResult::Draw);
        let shallow = rows("e4 e5 Nf3 Nc6", &[(3, -90, 10)], GameResult::Draw);
        assert_eq!(known(&[deep, shallow].concat(), "e4"), Some((20, "e5".into(), 30)));
    }

    #[test]
    fn mate_distances_are_relative_to_each_position() {
        let mated = rows("f3 e5 g4 Qh4", &[(1, 90, 12), (3, mate_in(1), 9)], GameResult::Black);
        assert_eq!(known(&mated, "f3 e5 g4 Qh4"), Some((-MATE, String::new(), 255)));
        assert_eq!(known(&mated, "f3 e5 g4"), Some((mate_in(1), "Qh4#".into(), 9)));
        let blunder = rows("f3 e5 g4 Qh4", &[(2, -40, 12)], GameResult::Black);
        // The reply is checkmate, which overrides the score from the search of the previous
        // position.
        assert_eq!(known(&blunder, "f3 e5 g4"), Some((mate_in(1), "Qh4#".into(), 11)));
        assert_eq!(known(&blunder, "f3 e5"), Some((-40 - NEXT_BEST_COSTS, "g4".into(), 0)));
    }

    /// Generates random rows with few different keys, so that many rows refer to the same position.
    fn any_row() -> impl Strategy<Value = Row> {
        let key = || 0..4_u64;
        let mv = (0_u16..9).prop_map(Move::from_polyglot);
        let fact = (any::<i16>(), any::<u8>(), any::<bool>()).prop_map(|(score, depth, found)| {
            let (score, depth, time) = (score.into(), depth.into(), Duration::MAX);
            match found {
                true => Fact::Found(Found { score, depth, nodes: u64::MAX, time }),
                false => Fact::Played { result: GameResult::Draw, games: u32::MAX },
            }
        });
        let pawns = any::<(u32, u32)>();
        (key(), key(), pawns, mv, fact).prop_map(|(key, next, (pawns, next_pawns), mv, fact)| Row {
            key,
            next,
            pawns,
            next_pawns,
            mv,
            fact,
        })
    }

    proptest! {
        #[test]
        fn arbitrary_rows_do_not_panic(rows in proptest::collection::vec(any_row(), 0..20)) {
            let memory = Memory::of(rows.into_iter());
            for value in judge(&memory) {
                prop_assert!(value.score.abs() <= MATE + 1 + REFUTED_BY, "{value:?}");
            }
        }
    }

    #[test]
    fn cyclic_rows_terminate() {
        let there = rows("Nf3 Nf6 Ng1", &[(0, 30, 12), (1, 10, 12), (2, 5, 12)], GameResult::Draw);
        let back = rows("Nf3 Nf6 Ng1 Ng8", &[(3, mate_in(7), 12)], GameResult::Draw);
        let values = judge(&Memory::of(there.into_iter().chain(back)));
        assert_eq!(values.len(), 4);
        assert!(values.iter().all(|value| value.score.abs() <= MATE));
    }
}
