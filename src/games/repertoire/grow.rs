//! Completes a repertoire by adding an answer to every position that is likely enough to occur.

use std::cmp::Ordering;

use super::forecast::{Forecast, Gap};
use super::graph::Repertoire;
use crate::chess::position::{Game, Move, Position};
use crate::chess::score::{Score, expectation};
use crate::games::book::{Book, BookMove, Candidate, Chooser, Counts, Policy, Rejection};

/// A move order is added if it accounts for at least this share of the occurrences of the position
/// that it leads to. Chosen by hand.
const COMMON_ORDER: f64 = 0.1;

/// How the answer to a position is chosen among its good moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// The move that was played most often in the position.
    MostPlayed,
    /// The move with the highest lower confidence bound of its score.
    BestScore,
    /// The move with the best engine value.
    BestValue,
    /// The move after which the fewest new positions need an answer. Rarely played moves are
    /// excluded.
    FewestPositions,
}

impl Style {
    /// All styles.
    pub const ALL: [Self; 4] =
        [Self::MostPlayed, Self::BestScore, Self::BestValue, Self::FewestPositions];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Style::MostPlayed => "most-played",
            Style::BestScore => "best-score",
            Style::BestValue => "best-value",
            Style::FewestPositions => "fewest-positions",
        }
    }
}

/// The options of [`Repertoire::grow`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrowOptions {
    /// How answers are chosen.
    pub style: Style,
    /// Minimum probability of a position that needs an answer (see [`Gap::probability`]). Less
    /// probable positions are left unanswered.
    pub min_probability: f64,
    /// How much worse than the best move an answer may be, in centipawns of the engine value.
    pub max_loss: Score,
    /// The maximum length of a line, in plies.
    pub max_ply: u32,
}

/// Searches a position, considering only the given moves, or all legal moves if the list is empty.
pub type Search<'a> = dyn FnMut(&Position, Vec<Move>) -> Searched + 'a;

/// The result of a [`Search`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searched {
    /// The score in centipawns from the side to move's point of view.
    pub score: Score,
    /// The best line. Empty if there is no legal move.
    pub line: Vec<Move>,
}

impl Searched {
    /// Returns the best move.
    pub fn best(&self) -> Option<Move> {
        self.line.first().copied()
    }
}

/// The result of [`Repertoire::grow`].
#[derive(Debug, Clone)]
pub struct Growth {
    /// The number of positions that were answered.
    pub answered: usize,
    /// The positions left unanswered because the book contains no good move for them and they were
    /// not searched. A move that was never played counts as good only if the book contains a good
    /// value for it.
    pub unanswered: Vec<Gap>,
}

impl Repertoire {
    /// Adds an answer to every position that occurs often enough, and the opponent's moves that
    /// lead to the answered positions.
    ///
    /// Existing moves are kept. An answer is at most `max_loss` worse than the best move, according
    /// to the engine values in the book or, if the book has no value for the position, to `search`.
    /// If there is neither a value nor a `search`, any move in the book may be chosen. An
    /// opponent's move is added if it occurs often enough, if it belongs to the most probable line
    /// to a position, or if it accounts for at least a tenth of the resulting position's
    /// occurrences.
    pub fn grow(
        &mut self,
        book: &Book,
        options: &GrowOptions,
        search: Option<&mut Search<'_>>,
    ) -> Growth {
        if self.starts().next().is_none() {
            self.add_start(&Position::start());
        }
        let mut answers = Answers::new(book, *options, search);
        let mut answered = 0;
        loop {
            // One forecast is enough for all of its gaps, because adding an answer never makes
            // another position less probable.
            let forecast = self.forecast(book, options.max_ply.saturating_sub(1));
            let mut unanswered = Vec::new();
            let before = answered;
            for gap in forecast.gaps(self, book, options.min_probability) {
                let Some(mv) = answers.answer(self, &gap) else {
                    unanswered.push(gap);
                    continue;
                };
                self.known_move(&gap.position, mv).weight = 1;
                self.place(&gap.position.play(mv));
                answered += 1;
            }
            if answered == before {
                self.add_replies(book, &forecast, options.min_probability);
                return Growth { answered, unanswered };
            }
        }
    }

    fn add_replies(&mut self, book: &Book, forecast: &Forecast, min_probability: f64) {
        let lines = self.lines(book);
        let mut replies: Vec<(Position, Move)> = Vec::new();
        for node in self.nodes().filter(|node| !self.is_own_turn(&node.position)) {
            let (position, occurs) = (&node.position, forecast.probability(&node.position));
            for (mv, share) in self.choices(position, book) {
                let (after, by_move) = (position.play(mv), occurs * share);
                let is_common = by_move >= min_probability
                    || by_move > 0.0 && by_move >= COMMON_ORDER * forecast.probability(&after);
                let is_line = lines.ends_with(position.key(), mv, after.key());
                if self.node(&after).is_some() && (is_line || is_common) {
                    replies.push((*position, mv));
                }
            }
        }
        for (position, mv) in replies {
            let known = self.known_move(&position, mv);
            known.weight = known.weight.max(1);
        }
    }
}

struct Answers<'a, 's> {
    book: &'a Book,
    options: GrowOptions,
    search: Option<&'a mut Search<'s>>,
    chooser: Chooser,
}

impl<'a, 's> Answers<'a, 's> {
    fn new(book: &'a Book, options: GrowOptions, search: Option<&'a mut Search<'s>>) -> Self {
        let policy = match options.style {
            // Exclude rare moves: the book has so few replies to them that they would wrongly seem
            // to need the fewest answers.
            Style::FewestPositions => Policy::Prefer,
            _ => Policy::Best,
        };
        let mut chooser = Chooser::new(policy, 0);
        (chooser.max_loss, chooser.plays_lost) = (options.max_loss, true);
        Answers { book, options, search, chooser }
    }

    /// Returns the answer to a position, or `None` if the book has no good move and the position is
    /// not searched. Only positions without a value in the book are searched.
    fn answer(&mut self, repertoire: &Repertoire, gap: &Gap) -> Option<Move> {
        let position = &gap.position;
        let mut ranked: Vec<([f64; 2], Move)> = self
            .candidates(position)
            .iter()
            .map(|candidate| (self.rank(repertoire, gap, candidate), candidate.book_move.mv))
            .collect();
        ranked.sort_by(|(a, mv), (b, other)| {
            let order = a.iter().zip(b).map(|(a, b)| b.total_cmp(a));
            order.fold(Ordering::Equal, Ordering::then).then(mv.cmp(other))
        });
        let mut moves = ranked.into_iter().map(|(_, mv)| mv);
        match &mut self.search {
            Some(search) if self.book.value(position).is_none() => {
                let found = search(position, Vec::new());
                let (score, best) = (found.score, found.best());
                let max_loss = self.options.max_loss;
                if self.options.style == Style::BestValue {
                    return best;
                }
                let mut is_good =
                    |mv| Some(mv) == best || score - search(position, vec![mv]).score <= max_loss;
                moves.find(|&mv| is_good(mv)).or(best)
            }
            _ => moves.next(),
        }
    }

    /// Returns the book moves that are at most `max_loss` worse than the best move, including moves
    /// that are known only from an analysis.
    fn candidates(&self, position: &Position) -> Vec<Candidate> {
        let mut candidates = self.chooser.candidates(self.book, &Game::new(*position));
        let value = self.book.value(position);
        let analysed = value.iter().flat_map(|value| {
            [value.best.map(|mv| (mv, value.score)), value.outside].into_iter().flatten()
        });
        for (mv, score) in analysed.filter(|&(mv, _)| position.is_legal(mv)) {
            if candidates.iter().all(|candidate| candidate.book_move.mv != mv) {
                candidates.push(unplayed(mv, score));
            }
        }
        let values = candidates.iter().filter_map(|candidate| candidate.value);
        let best = values.chain(value.map(|value| value.score)).max();
        let loses = |value: Score| best.is_some_and(|best| best - value > self.options.max_loss);
        candidates.retain(|candidate| match candidate.rejected {
            None => !candidate.value.is_some_and(loses),
            Some(Rejection::Unplayed) => candidate.value.is_some_and(|value| !loses(value)),
            Some(_) => false,
        });
        candidates
    }

    /// Returns the sort key that ranks a candidate by the chosen style; larger is better.
    fn rank(&self, repertoire: &Repertoire, gap: &Gap, candidate: &Candidate) -> [f64; 2] {
        let BookMove { mv, played, reached } = candidate.book_move;
        let games = played.games() as f64;
        match self.options.style {
            Style::MostPlayed => [games, reached.games() as f64],
            Style::BestScore => [candidate.certain.0, games],
            Style::BestValue => [candidate.value.map_or(f64::NEG_INFINITY, f64::from), games],
            Style::FewestPositions if reached.is_empty() => [f64::NEG_INFINITY, games],
            Style::FewestPositions => [-self.new_positions(repertoire, gap, mv), games],
        }
    }

    /// Counts the opponent's replies to a move that lead to positions in need of a new answer.
    fn new_positions(&self, repertoire: &Repertoire, gap: &Gap, mv: Move) -> f64 {
        let after = gap.position.play(mv);
        if repertoire.node(&after).is_some() {
            return 0.0;
        }
        let replies = self.book.moves(&after);
        let total: u64 = replies.iter().map(|reply| reply.played.games()).sum();
        let is_new = |reply: &&BookMove| {
            let share = reply.played.games() as f64 / total as f64;
            gap.probability * share >= self.options.min_probability
                && !repertoire.answers(&after.play(reply.mv))
        };
        replies.iter().filter(is_new).count() as f64
    }
}

fn unplayed(mv: Move, score: Score) -> Candidate {
    let (none, expected) = (Counts::default(), expectation(score));
    Candidate {
        book_move: BookMove { mv, played: none, reached: none },
        score: expected,
        value: Some(score),
        expected,
        certain: (0.0, 1.0),
        chance: 0.0,
        rejected: Some(Rejection::Unplayed),
        weight: None,
    }
}
