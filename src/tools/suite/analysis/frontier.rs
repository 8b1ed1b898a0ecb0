//! Selects the moves with which an analysis extends its book.
//!
//! As in drop-out expansion, moves that lead out of the analysis are added in order of likelihood,
//! so poor lines are refuted but not analysed any further. Source: T. R. Lincke, "Strategies for
//! the automatic construction of opening books", Computers and Games (2000). Lincke sums plies and
//! losses along a path. Tabia multiplies likelihoods instead, because a book built from games shows
//! how likely each position is.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use super::backup::Links;
use crate::chess::position::KeyMap;
use crate::chess::score::Score;
use crate::games::book::{Book, BookValue, FrontierMove, before};

/// A move that scores this many centipawns less than the best move is considered half as likely to
/// be played. The value was chosen by hand. It equals the default of `SteerMargin`, which is
/// roughly the difference in score between two searches of the same move.
const HALVING: f64 = 15.0;
/// The maximum absolute score, in centipawns, of positions to which the frontier adds moves. Beyond
/// it, the game is decided, so a book no longer helps. Chosen by hand.
const LIMIT: Score = 200;

/// Orders positions by likelihood. Among equally likely positions, the one with the lower index is
/// greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// The bit pattern of the likelihood. Likelihoods are never negative, so their bit patterns
    /// sort in the same order.
    likelihood: u64,
    place: Reverse<usize>,
}

impl Rank {
    fn new(likelihood: f64, place: usize) -> Self {
        Rank { likelihood: likelihood.to_bits(), place: Reverse(place) }
    }

    fn likelihood(self) -> f64 {
        f64::from_bits(self.likelihood)
    }
}

/// Returns up to `number` moves that lead from an analysed position of the book to one that is not
/// analysed, most likely first.
pub(crate) fn frontier_moves(book: &Book, number: usize) -> Vec<FrontierMove> {
    let values: Vec<BookValue> = book.values().collect();
    let place = |key: u64| values.binary_search_by_key(&key, |value| value.key).ok();
    let mut links = Links::new(values.len());
    let mut positions = vec![None; values.len()];
    let mut games = vec![0; values.len()];
    book.visit(&book.starts(), false, |position, entry| {
        if let Some(own) = place(entry.key) {
            links.find(own as u32, position, |key| Some(place(key)? as u32));
            positions[own] = Some(*position);
            games[own] = entry.reached.games();
        }
        ControlFlow::Continue(())
    });
    let reach = reach(&values, &links, &games);
    let mut found: Vec<(Rank, FrontierMove)> = Vec::new();
    let mut taken = KeyMap::default();
    for (own, value) in values.iter().enumerate() {
        let (Some(position), Some((mv, _))) = (positions[own], value.outside) else { continue };
        if value.score.abs() > LIMIT || !position.is_legal(mv) {
            continue;
        }
        let share = shares(own, &links, &values).last().map_or(0.0, |&(_, share)| share);
        found.push((Rank::new(reach[own] * share, own), FrontierMove { position, mv }));
    }
    found.sort_unstable_by_key(|&(rank, _)| Reverse(rank));
    let is_new = |frontier_move: &FrontierMove| {
        taken.insert(frontier_move.position.play(frontier_move.mv).key(), ()).is_none()
    };
    found.into_iter().map(|(_, frontier_move)| frontier_move).filter(is_new).take(number).collect()
}

/// Computes the likelihood of each position: the fraction of games that reached it or, if higher,
/// the likelihood of the most likely path to it.
fn reach(values: &[BookValue], links: &Links, games: &[u64]) -> Vec<f64> {
    let all = games.iter().copied().max().unwrap_or(0).max(1) as f64;
    let mut reach: Vec<f64> = games.iter().map(|&games| games as f64 / all).collect();
    let begin = reach.iter().enumerate().filter(|&(_, &likelihood)| likelihood > 0.0);
    let mut open: BinaryHeap<Rank> =
        begin.map(|(own, &likelihood)| Rank::new(likelihood, own)).collect();
    while let Some(rank) = open.pop() {
        let own = rank.place.0;
        if rank.likelihood() < reach[own] {
            continue;
        }
        for (to, share) in shares(own, links, values) {
            let Some(to) = to else { continue };
            let likelihood = rank.likelihood() * share;
            if likelihood > reach[to] {
                reach[to] = likelihood;
                open.push(Rank::new(likelihood, to));
            }
        }
    }
    reach
}

/// Returns the likelihood of each move in the analysed position with index `own`, based on the
/// moves' scores. Each move to another analysed position is given by the index of that position.
/// The best move out of the analysis, if there is one, comes last, with `None` instead of an index.
fn shares(own: usize, links: &Links, values: &[BookValue]) -> Vec<(Option<usize>, f64)> {
    let value = &values[own];
    let within = links.of(own).iter().map(|&(_, to)| to as usize);
    let within = within.map(|to| (Some(to), before(values[to].score)));
    let outside = value.outside.map(|(_, score)| (None, score));
    let weight = |score: Score| (-f64::from(value.score - score) / HALVING).exp2();
    let mut shares: Vec<(Option<usize>, f64)> =
        within.chain(outside).map(|(to, score)| (to, weight(score))).collect();
    let sum: f64 = shares.iter().map(|(_, share)| share).sum();
    shares.iter_mut().for_each(|(_, share)| *share /= sum);
    shares
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::chess::position::Game;
    use crate::chess::position::Position;
    use crate::games::book::{
        BuildOptions, Counts, build_in_memory, grow, grown_positions, has_grown_from,
    };
    use crate::games::pgn::PgnInput;

    fn position(moves: &str) -> Position {
        let mut game = Game::default();
        for san in moves.split_ascii_whitespace() {
            game.play(game.position().parse_move(san).expect(san)).expect(san);
        }
        *game.position()
    }

    /// Creates a book of 60 games with 1.e4 e5 and 40 games with 1.d4, along with analysis values.
    /// Each value is given as the moves that lead to the position, the position's score, its best
    /// move out of the analysis, and that move's score.
    fn book(values: &[(&str, Score, &str, Score)]) -> Book {
        let text = "1. e4 e5 1-0\n\n".repeat(60) + &"1. d4 0-1\n\n".repeat(40);
        let games = PgnInput::Text("games".to_owned(), text.as_bytes().into());
        let (book, _) = build_in_memory(&[games], &BuildOptions::default(), "x").expect("a book");
        let value = |&(moves, score, outside, worth): &(&str, Score, &str, Score)| {
            let position = position(moves);
            let outside = position.parse_move(outside).expect(outside);
            BookValue {
                key: position.key(),
                score,
                best: Some(outside),
                outside: Some((outside, worth)),
                own: None,
                depth: 9,
                own_depth: 9,
                nodes: 1_000,
            }
        };
        let mut values: Vec<BookValue> = values.iter().map(value).collect();
        values.sort_by_key(|value| value.key);
        book.with_values(&values).expect("a book")
    }

    fn order(book: &Book, number: usize) -> Vec<String> {
        frontier_moves(book, number)
            .iter()
            .map(|frontier_move| frontier_move.position.san(frontier_move.mv))
            .collect()
    }

    #[test]
    fn frontier_is_ordered_by_likelihood() {
        // According to the values, 1.c4 is 31% likely in the start position, 1.e4 49% and 1.d4 20%.
        // In the games, 1.e4 was played 60% of the time and 1.d4 40%.
        let values = [
            ("", 30, "c4", 20),
            ("e4", -30, "c5", -30),
            ("d4", -10, "Nf6", -10),
            ("e4 e5", 40, "Nf3", 40),
        ];
        let book = book(&values);
        // After 1.e4, the values alone would make 1...e5 only 39% likely, because it is 10
        // centipawns worse than 1...c5. However, all games with 1.e4 continued with 1...e5, and the
        // higher likelihood counts.
        assert_eq!(order(&book, 9), ["Nf3", "Nf6", "c5", "c4"]);
        assert_eq!(order(&book, 2), ["Nf3", "Nf6"]);
    }

    #[test]
    fn decided_positions_are_not_extended() {
        let values = [("", 201, "c4", 201), ("e4", -200, "c5", -200), ("d4", -500, "a6", -500)];
        assert_eq!(order(&book(&values), 9), ["c5"]);
    }

    #[test]
    fn transposed_position_is_added_once() {
        // The same new position is reached via 1.d4 d5 2.e4 and via 1.e4 d5 2.d4.
        let text = "1. d4 d5 1-0\n\n1. e4 d5 1-0\n\n";
        let games = PgnInput::Text("games".to_owned(), text.as_bytes().into());
        let (plain, _) = build_in_memory(&[games], &BuildOptions::default(), "x").expect("a book");
        let of = |moves: &str, outside: &str| {
            let position = position(moves);
            let outside = position.parse_move(outside).ok().map(|mv| (mv, 0));
            let best = outside.map(|(mv, _)| mv);
            let key = position.key();
            BookValue { key, score: 0, best, outside, own: None, depth: 9, own_depth: 9, nodes: 1 }
        };
        let mut values = [of("d4 d5", "e4"), of("e4 d5", "d4")];
        values.sort_by_key(|value| value.key);
        let book = plain.with_values(&values).expect("a book");
        let found = frontier_moves(&book, 9);
        assert_eq!(found.len(), 1);
        let bytes = grow(&book, &found, io::Cursor::new(Vec::new())).expect("written").into_inner();
        let grown = Book::from_bytes(bytes, "grown").expect("a book");
        grown.verify().expect("sound");
        assert_eq!(grown.positions(), book.positions() + 1);
        assert!(has_grown_from(&grown, &book) && !has_grown_from(&book, &grown));
        assert!(!has_grown_from(&grown, &self::book(&[])));
        let after = found[0].position.play(found[0].mv);
        assert_eq!((grown.reached(&after), grown.holds(&after)), (None, Some(Counts::default())));
        assert_eq!(grown_positions(&grown).len(), 1);
    }
}
