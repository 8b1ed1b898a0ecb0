//! Vetoes book moves that have led to bad results in the engine's own games.
//!
//! The book's score for a move is the prior, and the learned games are the evidence. A veto
//! requires clear evidence, and it ends if the other moves in the position turn out to be equally
//! bad. Without these limits, a stronger opponent could make the engine avoid the whole book simply
//! by winning.

use std::fmt;

use super::certainty::mean_and_error;
use crate::chess::notation;
use crate::chess::position::{Move, Position};
use crate::chess::score::{Score, expectation};
use crate::games::book::format::counts::Counts;
use crate::games::book::lookup::Book;
use crate::support::words;

/// The minimum and maximum weight of the book's score when it is combined with learned games, as an
/// equivalent number of games. Chosen by hand: a move with few book games is vetoed after two or
/// three losses, and a balanced move with many book games after six losses.
const BOOK_GAMES: (f64, f64) = (1.0, 8.0);
/// Learned games veto a move if the upper bound of its score is more than this many points below
/// each of three values: the book's score, one half, and the upper bound for the other moves.
const CLEARLY: f64 = 0.04;
/// A move can be vetoed if learned searches show at least this disadvantage, in centipawns, for the
/// side that played it. Chosen by hand: in sound openings, the disadvantage stays below half of
/// this limit.
const BEHIND: Score = 100;

/// Why the engine avoids a book move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Veto {
    /// The engine scored badly in its own games in which the move was played.
    Games {
        /// The number of learned games with the move.
        games: u64,
        /// The score in these games, from 0 to 1, for the side that played the move.
        score: f64,
        /// The score that the book predicts for the same side, from 0 to 1.
        book: f64,
    },
    /// A search of the position after the move, or after a reply to it, returned this score, in
    /// centipawns for the side that played the move.
    Search(Score),
}

impl fmt::Display for Veto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Veto::Games { games, score, book } => {
                let (noun, percent) = (words::plural(*games, "game"), 100.0 * score);
                write!(
                    f,
                    "vetoed: {percent:.0}% in {games} learnt {noun}, book {:.0}%",
                    100.0 * book
                )
            }
            Veto::Search(score) => {
                write!(f, "vetoed: {} by a learnt search", notation::score(*score))
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct BookMoveScore {
    pub expected: f64,
    /// The number of games on which the score is based. An analysis value counts as several games.
    pub games: f64,
}

/// Returns the veto against a book move, if any. `z` is the confidence level of the veto, as a
/// number of standard errors.
pub(crate) fn veto(
    learned: &Book,
    position: &Position,
    mv: Move,
    book: BookMoveScore,
    z: f64,
) -> Option<Veto> {
    by_search(learned, position, mv, book).or_else(|| by_games(learned, position, mv, book, z))
}

fn by_games(
    learned: &Book,
    position: &Position,
    mv: Move,
    book: BookMoveScore,
    z: f64,
) -> Option<Veto> {
    let side = position.side_to_move();
    let own = learned.reached(&position.play(mv))?;
    let others = learned.entry(position).unwrap_or_default().moves.into_iter();
    let others: Counts = others.filter(|&(other, _)| other != mv).map(|(_, played)| played).sum();
    let weight = book.games.clamp(BOOK_GAMES.0, BOOK_GAMES.1);
    let prior = (weight * book.expected, weight * (1.0 - book.expected));
    let (mean, error) = mean_and_error(&own, side, prior);
    let (others, doubt) = mean_and_error(&others, side, prior);
    let bar = (others + z * doubt).min(book.expected).min(0.5);
    let is_bad = mean + z * error < bar - CLEARLY;
    let veto = Veto::Games { games: own.games(), score: own.score(side), book: book.expected };
    is_bad.then_some(veto)
}

fn by_search(learned: &Book, position: &Position, mv: Move, book: BookMoveScore) -> Option<Veto> {
    let found = worth(learned, position, mv)?;
    let promised = expectation(found) < book.expected - CLEARLY;
    // If the search of the position found nothing better, this move is the best one and is not
    // vetoed.
    let is_best = learned.value(position).is_some_and(|value| value.score <= found);
    (found <= -BEHIND && promised && !is_best).then_some(Veto::Search(found))
}

/// Returns an upper bound on the value of a move, in centipawns for the side that plays it. This is
/// the lowest score in learned searches of the positions after the move and after each reply.
/// `None` if there are no such searches.
fn worth(learned: &Book, position: &Position, mv: Move) -> Option<Score> {
    let after = position.play(mv);
    let replies = learned.entry(&after).unwrap_or_default().moves.into_iter();
    replies
        .filter(|&(reply, _)| after.is_legal(reply))
        .filter_map(|(reply, _)| Some(learned.value(&after.play(reply))?.score))
        .chain(learned.value_of_move(position, mv))
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::book::builder::{BuildOptions, build_in_memory};
    use crate::games::book::choice::certainty::quantile;
    use crate::games::pgn::PgnInput;

    /// Returns the veto, if any, against 1.e4 after the engine has learned the games in `learnt`.
    /// In the book, 1.e4 has `games` games and a score of one half.
    fn against_e4(learnt: &[(&str, &str, usize)], games: f64) -> Option<Veto> {
        let game = |(mv, result, times): &(&str, &str, usize)| {
            format!("[Result \"{result}\"]\n\n1. {mv} {result}\n\n").repeat(*times)
        };
        let text: String = learnt.iter().map(game).collect();
        let games_input = PgnInput::Text("learnt".to_owned(), text.as_bytes().into());
        let book = build_in_memory(&[games_input], &BuildOptions::default(), "learnt");
        let start = Position::start();
        let e4 = start.parse_move("e4").expect("a move");
        let figure = BookMoveScore { expected: 0.5, games };
        veto(&book.expect("a book").0, &start, e4, figure, quantile(0.9))
    }

    #[test]
    fn veto_needs_more_losses_if_the_book_has_more_games() {
        for (games, losses) in [(0.0, 2), (1.0, 2), (1000.0, 6)] {
            assert_eq!(against_e4(&[("e4", "0-1", losses - 1)], games), None, "{games} {losses}");
            let vetoed = against_e4(&[("e4", "0-1", losses)], games);
            let (learnt, score) = (losses as u64, 0.0);
            assert_eq!(vetoed, Some(Veto::Games { games: learnt, score, book: 0.5 }), "{games}");
        }
        assert_eq!(against_e4(&[("e4", "1/2-1/2", 40)], 1.0), None);
        assert_eq!(against_e4(&[("e4", "0-1", 30), ("e4", "1-0", 30)], 1.0), None);
    }

    #[test]
    fn veto_ends_when_other_moves_score_as_badly() {
        let lost = ("e4", "0-1", 3);
        assert!(against_e4(&[lost, ("d4", "0-1", 1)], 1.0).is_some(), "one game is not enough");
        assert_eq!(against_e4(&[lost, ("d4", "0-1", 2), ("c4", "0-1", 1)], 1.0), None);
        assert!(against_e4(&[lost, ("d4", "1-0", 3)], 1.0).is_some());
    }
}
