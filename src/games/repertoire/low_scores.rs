//! Finds moves in a repertoire that score worse than the other book moves in the same position.

use super::graph::{Node, Repertoire};
use crate::chess::position::Game;
use crate::games::book::{Book, Candidate, Chooser, Policy};

/// The default `margin` of [`Repertoire::low_scores`], in points per game. Chosen by hand to
/// exclude differences that are statistically significant in large books but too small to matter in
/// practice.
pub const SCORE_MARGIN: f64 = 0.02;

/// A move for the repertoire's own side that clearly scores worse than the other book moves in the
/// position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LowScore {
    /// The low-scoring move, with its results and the confidence bounds of its score.
    pub own: Candidate,
    /// The mean of the other moves' expected points per game, weighted by number of games.
    pub usual: f64,
    /// The mean of the lower confidence bounds of the other moves' scores, also weighted by number
    /// of games.
    pub usual_at_least: f64,
    /// Among the other moves that the book would play, the one with the highest lower bound of its
    /// score.
    pub best: Option<Candidate>,
}

impl Repertoire {
    /// Returns the repertoire's own moves in a position that score badly in a book of games.
    ///
    /// A move scores badly if the upper confidence bound of its score is more than `margin` points
    /// per game below the mean lower bound of the other moves. The bounds are computed by a
    /// [`Chooser`], so they take engine values into account. For a book that stores weights instead
    /// of results, the list is empty.
    pub fn low_scores(&self, node: &Node, book: &Book, margin: f64) -> Vec<LowScore> {
        if !self.is_own_turn(&node.position) || book.holds_weights() {
            return Vec::new();
        }
        let candidates = Chooser::new(Policy::Best, 0).candidates(book, &Game::new(node.position));
        let is_own = |of: &&Candidate| node.moves.iter().any(|known| known.mv == of.book_move.mv);
        let own = candidates.iter().filter(is_own).filter(|own| !own.book_move.reached.is_empty());
        own.filter_map(|own| low_score(own, &candidates, margin)).collect()
    }
}

fn low_score(own: &Candidate, all: &[Candidate], margin: f64) -> Option<LowScore> {
    let others = || all.iter().filter(|other| other.book_move.mv != own.book_move.mv);
    let games = |other: &Candidate| other.book_move.played.games() as f64;
    let total: f64 = others().map(games).sum();
    let mean = |of: fn(&Candidate) -> f64| {
        others().map(|other| games(other) * of(other)).sum::<f64>() / total
    };
    let (usual, usual_at_least) = (mean(|other| other.expected), mean(|other| other.certain.0));
    // If there are no other moves, `usual_at_least` is NaN, so the comparison is false.
    (own.certain.1 < usual_at_least - margin).then(|| LowScore {
        own: *own,
        usual,
        usual_at_least,
        best: others().find(|other| other.chance > 0.0).copied(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::{Color, Position};
    use crate::games::book::{BookValue, BuildOptions, build_in_memory};
    use crate::games::pgn::PgnInput;

    fn input(text: &str) -> [PgnInput; 1] {
        [PgnInput::Text("text".to_owned(), text.as_bytes().into())]
    }

    fn book(games: &[(&str, usize, usize)]) -> Book {
        let game = |moves: &str, result: &str| format!("{moves} {result}\n\n");
        let text: String = games
            .iter()
            .map(|&(moves, white, black)| {
                game(moves, "1-0").repeat(white) + &game(moves, "0-1").repeat(black)
            })
            .collect();
        build_in_memory(&input(&text), &BuildOptions::default(), "games").expect("a book").0
    }

    fn low(lines: &str, side: Color, book: &Book, margin: f64) -> Vec<(String, Option<String>)> {
        let repertoire = Repertoire::read(&input(lines), side).expect("readable");
        let of = |node: &Node| -> Vec<(String, Option<String>)> {
            let san = |of: &Candidate| node.position.san(of.book_move.mv);
            let found = repertoire.low_scores(node, book, margin);
            found.iter().map(|one| (san(&one.own), one.best.as_ref().map(san))).collect()
        };
        repertoire.nodes().flat_map(of).collect()
    }

    fn pair(own: &str, best: &str) -> (String, Option<String>) {
        (own.to_owned(), Some(best.to_owned()))
    }

    #[test]
    fn low_scores_need_enough_games_and_a_clear_difference() {
        let lines = "1. e4 (1. d4) (1. c4) (1. g4) (1. Na3) *\n";
        let games = book(&[
            ("1. e4", 60, 40),
            ("1. d4", 80, 120),
            ("1. c4", 49, 51),
            ("1. g4", 0, 1),
            ("1. f4", 55, 45),
        ]);
        assert_eq!(low(lines, Color::White, &games, SCORE_MARGIN), [pair("d4", "e4")]);
        // The other moves score 54%, with a lower bound of 47%. d4 scores 40%, with an upper bound
        // of 45%, which is less than 10 percentage points below 47%.
        assert_eq!(low(lines, Color::White, &games, 0.1), []);
        // A move without games is not reported, because it has no score. Nor is the only move in a
        // position, because there is nothing to compare it with.
        assert_eq!(low("1. Na3 *\n", Color::White, &games, SCORE_MARGIN), []);
        assert_eq!(low("1. d4 *\n", Color::White, &book(&[("1. d4", 0, 100)]), SCORE_MARGIN), []);
    }

    #[test]
    fn low_scores_are_those_of_the_own_side_by_any_move_order() {
        let games = book(&[
            ("1. d4 d5 2. c4 e6", 5, 5),
            ("1. c4 d5 2. d4 e6", 90, 10),
            ("1. d4 d5 2. c4 c6", 40, 60),
        ]);
        let lines = "1. d4 d5 2. c4 e6 *\n";
        assert_eq!(low(lines, Color::Black, &games, SCORE_MARGIN), [pair("e6", "c6")]);
        assert_eq!(low(lines, Color::White, &games, SCORE_MARGIN), [pair("d4", "c4")]);
    }

    #[test]
    fn engine_values_count_as_games() {
        let games = book(&[("1. e4", 58, 42), ("1. d4", 42, 58)]);
        let lines = "1. d4 *\n";
        assert_eq!(low(lines, Color::White, &games, 0.0), [pair("d4", "e4")]);
        let values = ["e4", "d4"].map(|san| {
            let start = Position::start();
            let mv = start.parse_move(san).expect("legal");
            let position = start.play(mv);
            BookValue {
                key: position.key(),
                score: 0,
                best: position.legal_moves().iter().next(),
                outside: None,
                own: None,
                depth: 20,
                own_depth: 20,
                nodes: 1_000,
            }
        });
        let mut values = values.to_vec();
        values.sort_by_key(|value| value.key);
        // Equal engine values pull the expected scores of the two moves closer together, to 54% and
        // 46%.
        let games = games.with_values(&values).expect("a book");
        assert_eq!(low(lines, Color::White, &games, 0.0), []);
    }
}
