//! Games of the engine against itself, and the samples in them.

use super::{Random, Sample};
use crate::position::{Color, Game, Move, Position};
use crate::score::{Score, is_decided};
use crate::search::{Control, Limits, Options, Searcher};

/// Table of a player: its searches are small.
const MEMORY_MB: usize = 8;

/// Games longer than this are drawn.
const MAX_PLIES: usize = 400;

/// How games are played.
#[derive(Debug, Clone)]
pub struct GameSettings {
    /// Nodes for each move.
    pub nodes: u64,
    /// Random moves at the beginning.
    pub random_plies: usize,
    /// Openings that a search values higher than this for either side are not played.
    pub opening_limit: Score,
    /// A game in which both sides agree on a larger score is over, once they have done so for
    /// [`GameSettings::adjudicate_plies`].
    pub adjudicate_score: Score,
    /// See [`GameSettings::adjudicate_score`].
    pub adjudicate_plies: usize,
}

impl Default for GameSettings {
    /// As the networks of strong engines are fed: fixed nodes, eight random plies, no openings
    /// beyond four pawns, resignation at ten.
    fn default() -> Self {
        GameSettings {
            nodes: 1000,
            random_plies: 8,
            opening_limit: 400,
            adjudicate_score: 1000,
            adjudicate_plies: 4,
        }
    }
}

/// Plays games against itself.
pub struct SelfPlay {
    settings: GameSettings,
    searcher: Searcher,
    random: Random,
}

/// What a game is worth to White by the scores of the latest moves, if both sides agree on it.
struct Adjudicator<'s> {
    settings: &'s GameSettings,
    /// Plies in a row with a score beyond the limit, and for whom.
    agreed: usize,
    winner: Color,
}

impl Adjudicator<'_> {
    /// Takes in a score for White; tells who wins if that is settled.
    fn settle(&mut self, score: Score) -> Option<Color> {
        let ahead = if score > 0 { Color::White } else { Color::Black };
        if score.abs() < self.settings.adjudicate_score {
            self.agreed = 0;
        } else if self.agreed > 0 && self.winner == ahead {
            self.agreed += 1;
        } else {
            (self.agreed, self.winner) = (1, ahead);
        }
        (self.agreed >= self.settings.adjudicate_plies || is_decided(score)).then_some(ahead)
    }
}

impl SelfPlay {
    /// A player whose openings follow from `seed`.
    pub fn new(settings: GameSettings, seed: u64) -> Self {
        let searcher = Searcher::new(Options { memory_mb: MEMORY_MB, threads: 1 });
        SelfPlay { settings, searcher, random: Random::new(seed) }
    }

    /// Plays a game; returns the quiet positions of it with score and result.
    pub fn play(&mut self) -> Vec<Sample> {
        loop {
            let game = random_opening(&mut self.random, self.settings.random_plies);
            self.searcher.new_game();
            let Some((_, score)) = self.search(&game) else { continue };
            if score.abs() <= self.settings.opening_limit {
                return self.play_out(game);
            }
        }
    }

    /// The best move and its score for White; `None` where there is no move.
    fn search(&mut self, game: &Game) -> Option<(Move, Score)> {
        let limits = Limits::nodes(self.settings.nodes);
        let result = self.searcher.search(game, &limits, &Control::new(), &mut |_| {});
        Some((result.best?, for_white(game.position(), result.score)))
    }

    fn play_out(&mut self, mut game: Game) -> Vec<Sample> {
        let mut samples = Vec::new();
        let settings = self.settings.clone();
        let mut adjudicator = Adjudicator { settings: &settings, agreed: 0, winner: Color::White };
        let winner = loop {
            if let Some(outcome) = game.outcome() {
                break outcome.winner;
            }
            if game.moves().len() >= MAX_PLIES {
                break None;
            }
            let Some((best, score)) = self.search(&game) else { break None };
            let winner = adjudicator.settle(score);
            if winner.is_some() {
                break winner;
            }
            let position = *game.position();
            if !position.in_check() && !position.is_noisy(best) {
                samples.push(Sample { position, score: Some(score), result: 0.5 });
            }
            if let Err(error) = game.play(best) {
                log::error!("the search returned an {error}");
                break None;
            }
        };
        let result = winner.map_or(0.5, |winner| if winner == Color::White { 1.0 } else { 0.0 });
        samples.iter_mut().for_each(|sample| sample.result = result);
        samples
    }
}

fn for_white(position: &Position, score: Score) -> Score {
    if position.side_to_move() == Color::White { score } else { -score }
}

/// A game of random moves that is not over.
fn random_opening(random: &mut Random, plies: usize) -> Game {
    'retry: loop {
        let mut game = Game::default();
        for _ in 0..plies {
            let moves: Vec<Move> = game.position().legal_moves().iter().collect();
            if moves.is_empty() || game.play(moves[random.below(moves.len())]).is_err() {
                continue 'retry;
            }
        }
        if game.outcome().is_none() {
            return game;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_follow_from_the_seed() {
        let settings = GameSettings { nodes: 50, ..GameSettings::default() };
        let play = |seed| SelfPlay::new(settings.clone(), seed).play();
        let samples = play(3);
        assert_eq!(samples, play(3));
        assert!(samples.len() > 5, "{}", samples.len());
        for sample in &samples {
            assert!(sample.score.is_some() && !sample.position.in_check());
            assert_eq!(sample.result, samples[0].result);
        }
    }

    #[test]
    fn a_game_is_settled_when_both_agree() {
        let settings = GameSettings::default();
        let mut adjudicator = Adjudicator { settings: &settings, agreed: 0, winner: Color::White };
        let scores = [1200, 1200, 900, 1200, -1200, -1100, -1050, -1000];
        let settled: Vec<_> = scores.map(|score| adjudicator.settle(score)).into();
        assert_eq!(settled[..7], [None; 7]);
        assert_eq!(settled[7], Some(Color::Black));
    }
}
