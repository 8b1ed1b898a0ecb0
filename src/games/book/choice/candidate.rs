//! Candidates: the book moves in a position, with their scores.

use std::fmt;

use super::policy::Policy;
use super::veto::Veto;
use crate::chess::notation;
use crate::chess::position::{Move, Position};
use crate::chess::score::Score;
use crate::games::book::lookup::BookMove;
use crate::support::words::{grouped, percent};

/// Why the chooser does not play a book move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rejection {
    /// The move leads to a position that has already occurred in this game.
    Repeats,
    /// The game is close to the fifty-move limit, which book statistics do not take into account.
    FiftyMoves,
    /// The move has weight 0 in a Polyglot book. Such moves are never played.
    NoGames,
    /// The move was added to the book by analysis. No game has reached the resulting position.
    Unplayed,
    /// The move has fewer games than [`Chooser::min_games`](super::chooser::Chooser::min_games).
    TooFewGames,
    /// The side that played the move lost every game with a result. Not checked with
    /// [`Policy::Worst`] or [`Chooser::plays_lost`](super::chooser::Chooser::plays_lost).
    Lost,
    /// The engine has learned from its own experience that the move is bad.
    Vetoed(Veto),
    /// The move was played far less often than the most frequent move in the position.
    Rare,
    /// Another move is clearly better: its lower bound exceeds this move's upper bound by a margin.
    Worse,
    /// The move loses more than [`Chooser::max_loss`](super::chooser::Chooser::max_loss).
    Loses,
    /// The move was played in games, but the book's analysis has no value for it.
    Unknown,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rejection::Vetoed(veto) => return veto.fmt(f),
            Rejection::Repeats => "repeats a position",
            Rejection::FiftyMoves => "the fifty-move rule is near",
            Rejection::NoGames => "marked as not to be played",
            Rejection::Unplayed => "not reached in any game",
            Rejection::TooFewGames => "too few games",
            Rejection::Lost => "lost in all games",
            Rejection::Rare => "rarely played",
            Rejection::Worse => "clearly worse than another",
            Rejection::Loses => "loses too much",
            Rejection::Unknown => "not analysed",
        })
    }
}

/// A book move as evaluated by a [`Chooser`](super::chooser::Chooser).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The move and its games.
    pub book_move: BookMove,
    /// Mean score, from 0 to 1, in the games that reached the resulting position, from the point of
    /// view of the side that plays the move.
    pub score: f64,
    /// The value of the resulting position in centipawns, from the point of view of the side that
    /// plays the move. `None` if that position was not analysed.
    pub value: Option<Score>,
    /// Expected score, from 0 to 1, based on both the games and `value`. Equal to `score` if there
    /// is no value.
    pub expected: f64,
    /// Lower and upper confidence bounds of the true score, at
    /// [`Chooser::confidence`](super::chooser::Chooser::confidence).
    pub certain: (f64, f64),
    /// The probability that the chooser plays the move, from 0 to 1.
    pub chance: f64,
    /// Why the chooser rejects the move, or `None` if it may be played.
    pub rejected: Option<Rejection>,
    /// The weight of the move. `None` if the book contains results instead of weights.
    pub weight: Option<u64>,
}

impl Candidate {
    /// Returns the lower and upper bounds of the score. If the book contains weights, both bounds
    /// are the move's weight, since there is no score.
    pub(crate) fn bounds(&self) -> (f64, f64) {
        self.weight.map_or(self.certain, |weight| (weight as f64, weight as f64))
    }
}

/// A chosen move, with all candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The move to play.
    pub mv: Move,
    /// All book moves in the position, in the order of
    /// [`Book::moves`](crate::games::book::lookup::Book::moves).
    pub candidates: Vec<Candidate>,
    /// The policy that chose the move.
    pub policy: Policy,
}

impl Choice {
    /// Returns the chosen candidate.
    pub fn chosen(&self) -> &Candidate {
        let mv = self.mv;
        self.candidates
            .iter()
            .find(|candidate| candidate.book_move.mv == mv)
            .unwrap_or(&self.candidates[0])
    }

    /// Describes the move in a phrase such as `book move d4: 54% for White in 2,731 games`.
    pub(crate) fn describe(&self, position: &Position) -> String {
        format!("book move {}: {}", position.san(self.mv), self.describe_games(position))
    }

    fn describe_games(&self, position: &Position) -> String {
        let chosen = self.chosen();
        if let Some(weight) = chosen.weight {
            let all: u64 = self.candidates.iter().filter_map(|candidate| candidate.weight).sum();
            return format!("weight {weight} of {all}");
        }
        let BookMove { played, reached, .. } = chosen.book_move;
        let results = reached.describe(position.side_to_move());
        match reached.games().saturating_sub(played.games()) {
            0 => results,
            _ if played.is_empty() => format!("{results} (all by other move orders)"),
            others => format!("{results} ({} by other move orders)", grouped(others)),
        }
    }

    /// Explains in one line why the move was chosen in `position`: its games, value, score bounds
    /// and probability.
    pub fn explain(&self, position: &Position) -> String {
        let chosen = self.chosen();
        let mut text = format!("{}: {}", position.san(self.mv), self.describe_games(position));
        if let Some(value) = chosen.value {
            let expected = percent(chosen.expected);
            text += &format!("; value {}, {expected} with the games", notation::score(value));
        }
        if chosen.weight.is_none() {
            let (low, high) = chosen.certain;
            text += &format!("; bounds {:.0}-{}", 100.0 * low, percent(high));
        }
        text + &format!("; chance {} by policy {}", percent(chosen.chance), self.policy)
    }
}
