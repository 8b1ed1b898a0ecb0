//! Chooses a book move to play.

use super::candidate::{Candidate, Choice, Rejection};
use super::certainty::{mean_and_error, quantile};
use super::policy::Policy;
use super::veto::{BookMoveScore, veto};
use crate::chess::position::{Color, Game, Move, Position};
use crate::chess::score::{Score, expectation};
use crate::games::book::format::counts::Counts;
use crate::games::book::lookup::values::BookValue;
use crate::games::book::lookup::{Book, BookMove};
use crate::support::random::Random;

/// Chooses moves from a book. Two choosers with the same seed make the same choices.
#[derive(Debug, Clone)]
pub struct Chooser {
    /// The policy for choosing moves.
    pub policy: Policy,
    /// The confidence level of the score bounds: the probability, from 0.5 to 1, that the true
    /// score is at least the lower bound.
    pub confidence: f64,
    /// Minimum number of games that reached the position after a move. Moves with fewer games are
    /// not played.
    pub min_games: u64,
    /// Maximum loss of a move in centipawns, compared with the best move according to the analysis.
    /// [`Policy::Worst`], [`Policy::Random`] and [`Policy::Frequency`] ignore this limit.
    pub max_loss: Score,
    /// Whether moves that lost every game may also be played. This is needed to imitate a player.
    pub plays_lost: bool,
    /// A book of the engine's learned results, which can veto moves.
    pub learned: Option<Book>,
    random: Random,
}

const CONFIDENCE: f64 = 0.9;
/// The default of [`Chooser::max_loss`]. Chosen by hand.
pub(crate) const MAX_LOSS: Score = 30;
/// Weight of an analysis value when it is combined with game results, as an equivalent number of
/// games. Chosen by hand: a search is more reliable for tactics, and game results are more reliable
/// for long-term plans.
const VALUE_GAMES: f64 = 100.0;
/// Numbers of wins and losses added to the results of a move without a value, so that a single game
/// has little influence.
const PRIOR: (f64, f64) = (1.0, 1.0);
/// With [`Policy::Prefer`], a move is clearly worse if the upper bound of its score is more than
/// this far below the lower bound of another move. Without this margin, differences of 0.1% would
/// be significant in positions with many games. In a balanced position, the margin corresponds to
/// [`MAX_LOSS`] centipawns.
const CLEARLY: f64 = 0.04;
/// With [`Policy::Prefer`], a move is too rare if it has less than this fraction of the games of
/// the most frequent move.
const RARE_SHARE: f64 = 0.1;
/// With [`Policy::Weighted`], a move becomes ten times less likely each time the lower bound of its
/// score drops by this many points.
const TENFOLD: f64 = 0.05;
/// A book move is rejected if the halfmove clock after it exceeds this number of plies, because
/// book statistics do not take the fifty-move rule into account.
const MAX_QUIET_PLIES: u16 = 80;

impl Chooser {
    /// Creates a chooser whose random number generator is seeded with `seed`.
    pub fn new(policy: Policy, seed: u64) -> Self {
        let random = Random::new(seed);
        Chooser {
            policy,
            confidence: CONFIDENCE,
            min_games: 1,
            max_loss: MAX_LOSS,
            plays_lost: false,
            learned: None,
            random,
        }
    }

    /// Returns all book moves in the current position of `game`, with their scores and
    /// probabilities.
    pub fn candidates(&self, book: &Book, game: &Game) -> Vec<Candidate> {
        self.candidates_of(book, book, game)
    }

    fn candidates_of(&self, book: &Book, values: &Book, game: &Game) -> Vec<Candidate> {
        let weights = book.holds_weights();
        let found = values.value(game.position());
        let outside = found.and_then(|found| found.outside);
        let candidate = |book_move: BookMove| Candidate {
            value: values
                .value_of_move(game.position(), book_move.mv)
                .or_else(|| Some(outside.filter(|&(mv, _)| mv == book_move.mv)?.1)),
            rejected: self.rejection(&book_move, weights, game),
            weight: weights.then(|| book_move.played.games()),
            score: book_move.reached.score(game.position().side_to_move()),
            book_move,
            expected: 0.0,
            certain: (0.0, 1.0),
            chance: 0.0,
        };
        let moves = book.moves(game.position()).into_iter();
        let mut candidates: Vec<Candidate> = moves.map(candidate).collect();
        self.judge(&mut candidates, game.position());
        self.reject_vetoed(&mut candidates, game.position());
        self.reject_losing(&mut candidates, found, book.value(game.position()).is_some());
        self.set_chances(&mut candidates);
        candidates
    }

    fn judge(&self, candidates: &mut [Candidate], position: &Position) {
        let (side, z) = (position.side_to_move(), quantile(self.confidence));
        for candidate in candidates {
            let prior = candidate.value.map_or(PRIOR, |value| {
                let expected = expectation(value);
                (VALUE_GAMES * expected, VALUE_GAMES * (1.0 - expected))
            });
            let mut counts = candidate.book_move.reached;
            if candidate.value.is_some() {
                // Ignore games and lines without a result. They would count as half a point, but
                // the value is a better estimate.
                counts.undecided = 0;
            }
            let (mean, error) = mean_and_error(&counts, side, prior);
            candidate.certain = ((mean - z * error).max(0.0), (mean + z * error).min(1.0));
            candidate.expected = candidate.value.map_or(candidate.score, |_| mean);
        }
    }

    /// Rejects moves that are vetoed by the engine's learned results, unless the policy is
    /// [`Policy::Worst`], which looks for bad moves.
    fn reject_vetoed(&self, candidates: &mut [Candidate], position: &Position) {
        let is_wanted = self.policy != Policy::Worst;
        let Some(learned) = self.learned.as_ref().filter(|_| is_wanted) else { return };
        let z = quantile(self.confidence);
        for candidate in candidates.iter_mut().filter(|candidate| candidate.rejected.is_none()) {
            let figure = figure(candidate, position.side_to_move());
            let veto = veto(learned, position, candidate.book_move.mv, figure, z);
            candidate.rejected = veto.map(Rejection::Vetoed);
        }
    }

    /// Rejects moves whose value is more than [`Chooser::max_loss`] below the best known value. If
    /// the book itself was analysed, also rejects moves without a value, because a few games do not
    /// justify leaving the analysis.
    fn reject_losing(
        &self,
        candidates: &mut [Candidate],
        found: Option<BookValue>,
        is_analysed: bool,
    ) {
        if matches!(self.policy, Policy::Worst | Policy::Random | Policy::Frequency) {
            return;
        }
        let best = candidates.iter().filter_map(|candidate| candidate.value).max();
        let Some(best) = best.into_iter().chain(found.map(|found| found.score)).max() else {
            return;
        };
        reject(candidates, Rejection::Loses, |candidate| {
            candidate.value.is_some_and(|value| best - value > self.max_loss)
        });
        reject(candidates, Rejection::Unknown, |candidate| {
            is_analysed && candidate.value.is_none()
        });
    }

    /// Chooses a move in the current position of `game`. In a chain of books, the first book with a
    /// playable move is used. Returns `None` if the policy is [`Policy::Off`] or no book has a
    /// playable move.
    pub fn choose(&mut self, book: &Book, game: &Game) -> Option<Choice> {
        if self.policy == Policy::Off {
            return None;
        }
        book.in_order().find_map(|one| self.choose_from(&one, book, game))
    }

    pub(crate) fn has_vetoed(&self, book: &Book, game: &Game, mv: Move) -> bool {
        self.candidates(book, game).iter().any(|candidate| {
            candidate.book_move.mv == mv && matches!(candidate.rejected, Some(Rejection::Vetoed(_)))
        })
    }

    /// Describes in one line which book moves are vetoed in the current position of `game`, and
    /// why. Returns `None` if no move is vetoed.
    pub(crate) fn vetoes(&self, book: &Book, game: &Game) -> Option<String> {
        self.learned.as_ref()?;
        let of = |book: Book| {
            let vetoed = self.candidates(&book, game).into_iter();
            let vetoed = vetoed.filter_map(|candidate| match candidate.rejected {
                Some(Rejection::Vetoed(veto)) => {
                    Some(format!("{} {veto}", game.position().san(candidate.book_move.mv)))
                }
                _ => None,
            });
            Some(vetoed.collect::<Vec<_>>().join("; ")).filter(|line| !line.is_empty())
        };
        book.in_order().find_map(of)
    }

    fn choose_from(&mut self, book: &Book, values: &Book, game: &Game) -> Option<Choice> {
        let candidates = self.candidates_of(book, values, game);
        let mut left = self.random.fraction();
        let mut chosen = None;
        for candidate in candidates.iter().filter(|candidate| candidate.chance > 0.0) {
            chosen = Some(candidate.book_move.mv);
            left -= candidate.chance;
            if left < 0.0 {
                break;
            }
        }
        Some(Choice { mv: chosen?, candidates, policy: self.policy })
    }

    fn accepts_lost_moves(&self) -> bool {
        self.plays_lost || self.policy == Policy::Worst
    }

    fn rejection(&self, book_move: &BookMove, weights: bool, game: &Game) -> Option<Rejection> {
        let side = game.position().side_to_move();
        let after = game.position().play(book_move.mv);
        let counts = if weights { book_move.played } else { book_move.reached };
        if counts.is_empty() {
            Some(if weights { Rejection::NoGames } else { Rejection::Unplayed })
        } else if !weights && counts.games() < self.min_games {
            Some(Rejection::TooFewGames)
        } else if !weights && !self.accepts_lost_moves() && counts.are_all_lost(side) {
            Some(Rejection::Lost)
        } else if after.halfmove_clock() > MAX_QUIET_PLIES {
            Some(Rejection::FiftyMoves)
        } else if game.positions().iter().any(|before| before.key() == after.key()) {
            Some(Rejection::Repeats)
        } else {
            None
        }
    }

    fn set_chances(&self, candidates: &mut [Candidate]) {
        let weights = candidates.iter().any(|candidate| candidate.weight.is_some());
        if self.policy == Policy::Prefer && !weights {
            reject_rare_and_worse(candidates);
        }
        let best = open(candidates).map(|candidate| candidate.bounds().0).fold(0.0, f64::max);
        let worst =
            open(candidates).map(|candidate| candidate.bounds().1).fold(f64::INFINITY, f64::min);
        let weights: Vec<f64> = candidates
            .iter()
            .map(|candidate| match self.policy {
                _ if candidate.rejected.is_some() => 0.0,
                Policy::Off => 0.0,
                Policy::Best => f64::from(candidate.bounds().0 >= best),
                Policy::Worst => f64::from(candidate.bounds().1 <= worst),
                Policy::Random => 1.0,
                Policy::Prefer | Policy::Weighted if weights => candidate.bounds().0,
                Policy::Frequency => candidate.book_move.played.games() as f64,
                Policy::Prefer => candidate.book_move.reached.games() as f64,
                Policy::Weighted => 10_f64.powf((candidate.certain.0 - best) / TENFOLD),
            })
            .collect();
        let sum: f64 = weights.iter().sum();
        for (candidate, weight) in candidates.iter_mut().zip(weights) {
            candidate.chance = if sum > 0.0 { weight / sum } else { 0.0 };
        }
    }
}

/// Returns the score of a move according to the book. Weights are ignored, because they are
/// unrelated to results.
fn figure(candidate: &Candidate, side: Color) -> BookMoveScore {
    let weights = candidate.weight.is_some();
    let counts = if weights { Counts::default() } else { candidate.book_move.reached };
    let (mean, _) = mean_and_error(&counts, side, PRIOR);
    let games = counts.games() as f64 + candidate.value.map_or(0.0, |_| VALUE_GAMES);
    BookMoveScore { expected: candidate.value.map_or(mean, |_| candidate.expected), games }
}

/// Rejects moves that are rarely played, and then moves that are clearly worse than another one.
/// Rare moves are rejected first, because a rare move with a good score must not make other moves
/// look clearly worse.
fn reject_rare_and_worse(candidates: &mut [Candidate]) {
    let games = |candidate: &Candidate| candidate.book_move.reached.games();
    let most = open(candidates).map(games).max().unwrap_or(0);
    reject(candidates, Rejection::Rare, |candidate| {
        (games(candidate) as f64) < RARE_SHARE * most as f64
    });
    let best = open(candidates).map(|other| other.certain.0).fold(0.0, f64::max);
    reject(candidates, Rejection::Worse, |candidate| candidate.certain.1 < best - CLEARLY);
}

fn open(candidates: &[Candidate]) -> impl Iterator<Item = &Candidate> {
    candidates.iter().filter(|candidate| candidate.rejected.is_none())
}

fn reject(candidates: &mut [Candidate], why: Rejection, is_so: impl Fn(&Candidate) -> bool) {
    let open = candidates.iter_mut().filter(|candidate| candidate.rejected.is_none());
    open.filter(|candidate| is_so(candidate)).for_each(|candidate| candidate.rejected = Some(why));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::book::builder::{BuildOptions, build_in_memory};
    use crate::games::pgn::PgnInput;

    fn book(games: &[(&str, &str, usize)]) -> Book {
        let game = |(moves, result, times): &(&str, &str, usize)| {
            format!("[Result \"{result}\"]\n\n{moves} {result}\n\n").repeat(*times)
        };
        let text: String = games.iter().map(game).collect();
        let inputs = [PgnInput::Text("test".to_owned(), text.as_bytes().into())];
        let options = BuildOptions { undecided: true, ..BuildOptions::default() };
        build_in_memory(&inputs, &options, "test").expect("a book").0
    }

    fn game(moves: &str) -> Game {
        let mut game = Game::default();
        for san in moves.split_ascii_whitespace() {
            game.play(game.position().parse_move(san).expect(san)).expect(san);
        }
        game
    }

    fn chosen(policy: Policy, book: &Book, game: &Game) -> Option<String> {
        let choice = Chooser::new(policy, 1).choose(book, game)?;
        Some(game.position().san(choice.mv))
    }

    #[test]
    fn one_win_does_not_outrank_many_good_games() {
        let book = book(&[
            ("1. e4", "1-0", 60),
            ("1. e4", "0-1", 40),
            ("1. d4", "1-0", 1),
            ("1. f3", "0-1", 30),
        ]);
        let start = Game::default();
        assert_eq!(chosen(Policy::Best, &book, &start).as_deref(), Some("e4"));
        assert_eq!(chosen(Policy::Worst, &book, &start).as_deref(), Some("f3"));
        assert_eq!(chosen(Policy::Off, &book, &start), None);
        let prefer = Chooser::new(Policy::Prefer, 1).candidates(&book, &start);
        let of = |san: &str| {
            let mv = start.position().parse_move(san).expect(san);
            *prefer.iter().find(|candidate| candidate.book_move.mv == mv).expect(san)
        };
        assert_eq!(of("f3").rejected, Some(Rejection::Lost));
        assert_eq!(of("d4").rejected, Some(Rejection::Rare));
        assert!((of("e4").chance - 1.0).abs() < 1e-9);
        assert_eq!(chosen(Policy::Best, &book, &game("a3")), None);
    }

    #[test]
    fn move_that_lost_every_game_is_not_chosen() {
        let book = book(&[
            ("1. e4 f6 2. d4 g5", "1-0", 2),
            ("1. e4 e5 2. d4", "1-0", 3),
            ("1. e4 e5 2. f3", "0-1", 1),
            ("1. e4 e5 2. f3", "*", 4),
            ("1. d4 f5", "1-0", 1),
            ("1. d4 f5", "1/2-1/2", 1),
        ]);
        let usual =
            [Policy::Best, Policy::Random, Policy::Prefer, Policy::Weighted, Policy::Frequency];
        for policy in usual {
            for (moves, left) in [("e4", Some("e5")), ("e4 f6 d4", None)] {
                let candidates = Chooser::new(policy, 1).candidates(&book, &game(moves));
                let is_lost =
                    |one: &Candidate| (one.rejected, one.chance) == (Some(Rejection::Lost), 0.0);
                assert!(candidates.iter().any(is_lost), "{policy} after {moves}: {candidates:?}");
                assert_eq!(chosen(policy, &book, &game(moves)).as_deref(), left, "{policy}");
            }
            // A move without decided games is not preferred to one with results.
            assert_eq!(chosen(policy, &book, &game("e4 e5")).as_deref(), Some("d4"), "{policy}");
            assert_eq!(chosen(policy, &book, &game("d4")).as_deref(), Some("f5"), "{policy}");
        }
        let worst = chosen(Policy::Worst, &book, &game("e4 f6 d4"));
        assert_eq!(worst.as_deref(), Some("g5"), "the policy asks for the worst move");
        let mut chooser = Chooser { plays_lost: true, ..Chooser::new(Policy::Frequency, 1) };
        assert!(chooser.choose(&book, &game("e4 f6 d4")).is_some());
    }

    #[test]
    fn moves_with_similar_results_are_all_candidates() {
        let book = book(&[
            ("1. e4", "1-0", 2_200),
            ("1. e4", "0-1", 2_000),
            ("1. d4", "1-0", 1_900),
            ("1. d4", "0-1", 2_000),
            ("1. c4", "1-0", 300),
            ("1. c4", "0-1", 600),
        ]);
        let candidates = Chooser::new(Policy::Prefer, 1).candidates(&book, &Game::default());
        let rejected: Vec<_> = candidates.iter().map(|candidate| candidate.rejected).collect();
        assert!(candidates[0].certain.0 > candidates[1].certain.1, "the intervals do not overlap");
        assert_eq!(rejected, [None, None, Some(Rejection::Worse)]);
    }

    #[test]
    fn rare_high_scoring_move_does_not_reject_the_others() {
        let book = book(&[
            ("1. e4", "0-1", 299),
            ("1. e4", "1/2-1/2", 1),
            ("1. d4", "0-1", 199),
            ("1. d4", "1/2-1/2", 1),
            ("1. c4", "1-0", 9),
        ]);
        assert_eq!(chosen(Policy::Best, &book, &Game::default()).as_deref(), Some("c4"));
        let candidates = Chooser::new(Policy::Prefer, 1).candidates(&book, &Game::default());
        let rejected: Vec<_> = candidates.iter().map(|candidate| candidate.rejected).collect();
        assert_eq!(rejected, [None, None, Some(Rejection::Rare)]);
    }

    #[test]
    fn same_seed_gives_the_same_choices() {
        let book = book(&[("1. e4", "1-0", 3), ("1. d4", "1-0", 3), ("1. c4", "1/2-1/2", 3)]);
        let start = Game::default();
        let choices = |seed| {
            let mut chooser = Chooser::new(Policy::Random, seed);
            (0..40).map(|_| chooser.choose(&book, &start).expect("a move").mv).collect::<Vec<_>>()
        };
        assert_eq!(choices(7), choices(7));
        assert_ne!(choices(7), choices(8));
        let mut different = choices(7);
        different.sort();
        different.dedup();
        assert_eq!(different.len(), 3);
    }

    /// Returns a copy of the book with analysis values. Each element of `values` consists of the
    /// moves that lead to a position, its score for the side to move, and the score of the best
    /// move outside the analysis, if any.
    fn analysed(book: &Book, values: &[(&str, Score, Option<Score>)]) -> Book {
        let value = |&(moves, score, outside): &(&str, Score, Option<Score>)| {
            let position = *game(moves).position();
            let mv = position.legal_moves().iter().next();
            BookValue {
                key: position.key(),
                score,
                best: mv,
                outside: mv.zip(outside),
                own: None,
                depth: 20,
                own_depth: 20,
                nodes: 1_000,
            }
        };
        let mut values: Vec<BookValue> = values.iter().map(value).collect();
        values.sort_by_key(|value| value.key);
        book.with_values(&values).expect("a book")
    }

    #[test]
    fn expectation_combines_values_and_results() {
        let plain = book(&[("1. e4", "1-0", 60), ("1. e4", "0-1", 40), ("1. d4", "1/2-1/2", 100)]);
        let start = Game::default();
        let of = |book: &Book, max_loss: Score, policy: Policy| {
            let chooser = Chooser { max_loss, ..Chooser::new(policy, 1) };
            let candidates = chooser.candidates(book, &start);
            ["e4", "d4"].map(|san| {
                let mv = start.position().parse_move(san).expect(san);
                *candidates.iter().find(|candidate| candidate.book_move.mv == mv).expect(san)
            })
        };
        let [e4, d4] = of(&plain, 30, Policy::Best);
        assert_eq!((e4.value, e4.expected, d4.expected), (None, 0.6, 0.5));
        // Black is ahead by 50 centipawns after 1.e4, White after 1.d4.
        let values = [("e4", 50, None), ("d4", -50, None)];
        let book = analysed(&plain, &values);
        let [e4, d4] = of(&book, 100, Policy::Best);
        assert_eq!((e4.value, d4.value), (Some(-50), Some(50)));
        let worth = expectation(50);
        assert!((e4.expected - (60.0 + 100.0 * (1.0 - worth)) / 200.0).abs() < 1e-9);
        assert!((d4.expected - (50.0 + 100.0 * worth) / 200.0).abs() < 1e-9);
        assert_eq!((e4.rejected, d4.rejected), (None, None), "the loss is within the bound");
        for policy in [Policy::Best, Policy::Prefer, Policy::Weighted] {
            let [e4, d4] = of(&book, 99, policy);
            assert_eq!((e4.rejected, e4.chance), (Some(Rejection::Loses), 0.0), "{policy}");
            assert_eq!((d4.rejected, d4.chance), (None, 1.0), "{policy}");
        }
        assert_eq!(
            of(&book, 99, Policy::Worst)[0].chance,
            1.0,
            "the policy asks for the worst move"
        );
    }

    #[test]
    fn undecided_games_do_not_outweigh_a_value() {
        let book =
            analysed(&book(&[("1. e4", "*", 900), ("1. d4", "1/2-1/2", 1)]), &[("e4", -50, None)]);
        let candidates = Chooser::new(Policy::Prefer, 1).candidates(&book, &Game::default());
        assert!((candidates[0].expected - expectation(50)).abs() < 1e-9, "{candidates:?}");
    }

    #[test]
    fn unanalysed_move_is_rejected_in_an_analysed_position() {
        let book = book(&["e4", "d4", "c4"].map(|mv| (mv, "1/2-1/2", 60)));
        let c4 = Game::default().position().parse_move("c4").expect("a move");
        let judged = |values: &[(&str, Score, Option<Score>)]| {
            // Replace the best move outside the analysis with 1.c4, which is a book move.
            let mut found: Vec<BookValue> = analysed(&book, values).values().collect();
            for value in found.iter_mut().filter(|value| value.outside.is_some()) {
                value.outside = value.outside.map(|(_, score)| (c4, score));
            }
            let book = book.with_values(&found).expect("a book");
            let candidates = Chooser::new(Policy::Prefer, 1).candidates(&book, &Game::default());
            let of = |san: &str| {
                let mv = Game::default().position().parse_move(san).expect(san);
                let found = candidates.iter().find(|candidate| candidate.book_move.mv == mv);
                found.map(|found| (found.value, found.rejected)).expect(san)
            };
            ["e4", "d4", "c4"].map(of)
        };
        let unknown = (None, Some(Rejection::Unknown));
        assert_eq!(
            judged(&[("", 40, Some(30)), ("e4", -40, None)]),
            [(Some(40), None), unknown, (Some(30), None)]
        );
        let [_, _, c4] = judged(&[("", 40, Some(0)), ("e4", -40, None)]);
        assert_eq!(c4, (Some(0), Some(Rejection::Loses)));
        // If the position itself was not analysed, moves without a value are not rejected.
        assert_eq!(judged(&[("e4", -40, None)])[1].1, None);
    }

    #[test]
    fn no_move_is_chosen_if_the_best_is_outside_the_book() {
        let book =
            analysed(&book(&[("1. e4", "1-0", 60)]), &[("", 80, Some(80)), ("e4", 10, None)]);
        assert_eq!(chosen(Policy::Prefer, &book, &Game::default()), None);
    }

    #[test]
    fn repeating_move_is_rejected() {
        let book =
            book(&[("1. Nf3 Nf6 2. Ng1 Ng8", "1/2-1/2", 5), ("1. Nf3 Nf6 2. Ng1 Nc6", "0-1", 1)]);
        let there = game("Nf3 Nf6 Ng1");
        let candidates = Chooser::new(Policy::Best, 0).candidates(&book, &there);
        assert_eq!(candidates[0].rejected, Some(Rejection::Repeats));
        assert_eq!(chosen(Policy::Best, &book, &there).as_deref(), Some("Nc6"));
    }
}
