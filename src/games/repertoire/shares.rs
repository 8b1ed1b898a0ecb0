//! Estimates the share of future games that stay in a repertoire.

use super::forecast::{Forecast, Met};
use super::graph::Repertoire;
use crate::chess::position::{KeyMap, Move, Position};
use crate::games::book::Book;

/// The numbers of plies after which reports show the share of games that are still in the
/// repertoire.
pub const SHARE_PLIES: [usize; 3] = [8, 12, 16];

/// Relative tolerance for comparing probabilities, which are sums in an arbitrary order.
const TOLERANCE: f64 = 1e-9;

/// Probabilities below this value are rounding errors.
const ZERO: f64 = 1e-12;

/// Uncertain moves are neglected if the number of their games differs from the necessary number by
/// more than this many standard deviations.
const DEVIATIONS: f64 = 8.0;

/// The expected shares of games that are still in a repertoire.
///
/// The player follows the repertoire. The estimate is for games that are not in the book, although
/// the book may be the source of the repertoire, so that its moves were played more often in the
/// book than they are in other games. A move by the opponent belongs to the repertoire because
/// enough games made the position after it at least as probable as the rarest position that the
/// repertoire answers. If one game is enough, a move with one game counts as unknown, as in the
/// estimate of Good and Turing. If more games are necessary, the expected excess is subtracted: the
/// probability that one game decides, with a Poisson distribution for the number of games.
///
/// A repertoire that contains moves that the book lacks has another origin. The subtracted part is
/// therefore reduced by the probability of these moves, counting each as one game.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares(Vec<f64>);

impl Shares {
    /// Returns the share of games that are in the repertoire after `plies` plies. Games are
    /// excluded from the share once the book has no continuation for them.
    pub fn after(&self, plies: usize) -> f64 {
        // Beyond the depth of the forecast, return the last computed share.
        self.0.get(plies).or(self.0.last()).copied().unwrap_or(0.0)
    }
}

impl Forecast {
    /// Estimates the share of games in the repertoire for which the forecast was computed.
    pub fn shares(&self, repertoire: &Repertoire, book: &Book) -> Shares {
        let estimate = Estimate::new(self, repertoire, book);
        let mut choices = KeyMap::default();
        let mut layer = self.layers.first().cloned().unwrap_or_default();
        let mut share = known_share(repertoire, &layer);
        let mut shares = vec![share];
        for _ in 1..self.layers.len() {
            let (mut next, mut at_risk) = (KeyMap::default(), 0.0);
            for (&key, met) in layer.iter().filter(|&(&key, _)| repertoire.contains_key(key)) {
                let moves: &Vec<(Move, f64)> =
                    choices.entry(key).or_insert_with(|| estimate.choices(&met.position));
                if !moves.is_empty() || repertoire.is_own_turn(&met.position) {
                    at_risk += met.probability;
                }
                moves.iter().for_each(|&(mv, part)| met.step((key, mv), part, &mut next));
            }
            if at_risk > 0.0 {
                share *= known_share(repertoire, &next) / at_risk;
            }
            shares.push(share);
            layer = next;
        }
        Shares(shares)
    }
}

fn known_share(repertoire: &Repertoire, layer: &KeyMap<Met>) -> f64 {
    let known = layer.iter().filter(|&(&key, _)| repertoire.contains_key(key));
    known.fold(0.0, |sum, (_, met)| sum + met.probability)
}

/// The probabilities of opponents' moves in games outside the book.
struct Estimate<'a> {
    repertoire: &'a Repertoire,
    book: &'a Book,
    /// The expected number of occurrences of each position.
    occurs: KeyMap<f64>,
    /// The probability of the rarest position that the repertoire answers.
    rarest: f64,
    /// The part of the excess that is subtracted.
    subtracted: f64,
}

impl<'a> Estimate<'a> {
    fn new(forecast: &Forecast, repertoire: &'a Repertoire, book: &'a Book) -> Self {
        let mut occurs: KeyMap<f64> = KeyMap::default();
        for (&key, met) in forecast.layers.iter().flatten() {
            *occurs.entry(key).or_default() += met.probability;
        }
        let answered = repertoire.nodes().map(|node| &node.position);
        let answered = answered
            .filter(|position| repertoire.is_own_turn(position) && repertoire.answers(position));
        let rarest = answered
            .filter_map(|position| occurs.get(&position.key()))
            .fold(f64::INFINITY, |least, &probability| least.min(probability));
        let rarest = if rarest.is_finite() { rarest.max(ZERO) } else { ZERO };
        let mut estimate = Estimate { repertoire, book, occurs, rarest, subtracted: 0.0 };
        estimate.subtracted = estimate.dependence();
        estimate
    }

    fn occurs(&self, position: &Position) -> f64 {
        self.occurs.get(&position.key()).copied().unwrap_or(0.0)
    }

    /// Returns how much the repertoire depends on the book, from 0 to 1. In a repertoire of another
    /// origin, moves with no game are at least about as frequent as moves with one game.
    fn dependence(&self) -> f64 {
        let (mut unplayed, mut excess) = (0.0, 0.0);
        let nodes = self.repertoire.nodes();
        for node in nodes.filter(|node| !self.repertoire.is_own_turn(&node.position)) {
            let Some(replies) = self.replies(&node.position) else { continue };
            let is_unplayed = |mv| self.book.played(&node.position, mv).games() == 0;
            let number = node.moves.iter().filter(|known| is_unplayed(known.mv)).count();
            unplayed += replies.per_game * number as f64;
            excess += replies.per_game * (replies.single + replies.excess);
        }
        if excess > unplayed { 1.0 - unplayed / excess } else { 0.0 }
    }

    /// Like [`Repertoire::choices`], but the excess is subtracted from the probabilities of the
    /// opponent's moves, so that their sum can be less than 1.
    fn choices(&self, position: &Position) -> Vec<(Move, f64)> {
        let mut moves = self.repertoire.choices(position, self.book);
        let Some(replies) = self.replies(position) else { return moves };
        let lost = self.subtracted * replies.excess / replies.known.max(1.0);
        for ((_, part), reply) in moves.iter_mut().zip(&replies.moves) {
            *part *= match reply {
                Reply::Single => 1.0 - self.subtracted,
                Reply::Known => 1.0 - lost,
                Reply::Other => 1.0,
            };
        }
        moves
    }

    /// Classifies the opponent's moves in a position. Returns `None` for the player's positions,
    /// and for those with a single game, because leaving it out leaves no game to estimate from.
    fn replies(&self, position: &Position) -> Option<Replies> {
        let moves = self.book.moves(position);
        let games: u64 = moves.iter().map(|mv| mv.played.games()).sum();
        let games = games as f64;
        let per_game = self.occurs(position) / games;
        if self.repertoire.is_own_turn(position) || games < 2.0 || per_game <= 0.0 {
            return None;
        }
        let (moves, single, known, excess) = (Vec::new(), 0.0, 0.0, 0.0);
        let mut replies = Replies { per_game, moves, single, known, excess };
        for (mv, part) in self.repertoire.choices(position, self.book) {
            let (after, played) = (position.play(mv), (part * games).round());
            let other_orders = self.occurs(&after) - per_game * played;
            let necessary = (self.rarest * (1.0 - TOLERANCE) - other_orders) / per_game;
            let necessary = necessary.ceil().max(0.0);
            if necessary >= 2.0 {
                let chance = poisson(necessary - 1.0, played);
                replies.excess += played * chance * (1.0 - played / games);
            }
            let is_known = self.repertoire.node(&after).is_some();
            replies.moves.push(match is_known {
                true if played <= 1.0 && necessary == 1.0 => Reply::Single,
                true if played > 1.0 => Reply::Known,
                _ => Reply::Other,
            });
            match replies.moves.last() {
                Some(Reply::Single) => replies.single += 1.0,
                Some(Reply::Known) => replies.known += played,
                _ => {}
            }
        }
        replies.excess = replies.excess.min(replies.known);
        Some(replies)
    }
}

/// The opponent's moves in a position. All numbers except `per_game` are in games.
struct Replies {
    /// The probability that corresponds to one game.
    per_game: f64,
    /// The kinds of the moves, in the order of [`Repertoire::choices`].
    moves: Vec<Reply>,
    /// Moves of the kind [`Reply::Single`].
    single: f64,
    /// Games with moves of the kind [`Reply::Known`].
    known: f64,
    /// How many of these are expected to be missing in other games.
    excess: f64,
}

/// The kinds of moves by the opponent.
enum Reply {
    /// The repertoire contains the position after the move because of a single game.
    Single,
    /// The repertoire contains the position after the move, which has several games.
    Known,
    /// Any other move.
    Other,
}

/// Returns the probability of `number` events if `mean` events are expected.
fn poisson(number: f64, mean: f64) -> f64 {
    if (number - mean).abs() > DEVIATIONS * (mean.max(number).sqrt() + 1.0) {
        return 0.0;
    }
    let factors = (1..=number as u64).map(|factor| (mean / factor as f64).ln());
    (factors.sum::<f64>() - mean).exp()
}
