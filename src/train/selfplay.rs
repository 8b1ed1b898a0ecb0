//! Games of the engine against itself.

use std::fmt;

use super::{PlayedGame, SearchedMove};
use crate::book::{Book, Chooser, Policy};
use crate::eval::Evaluation;
use crate::position::{Color, Game, Move, Position};
use crate::random::Random;
use crate::score::{Score, is_decided};
use crate::search::{Config, Control, Limits, Searcher};

/// Table of a player: its searches are small, and a small table is soon cleared.
const MEMORY_MB: usize = 1;

/// How many times the soft number of nodes a search may take.
const HARD_NODES: u64 = 8;

/// Longer openings are not taken from a book; a file of games counts their plies in a byte.
const LONGEST_OPENING: usize = 80;

/// Games longer than this are drawn.
const MAX_PLIES: usize = 400;

/// How openings are taken from a book, to its end.
#[derive(Clone)]
pub(crate) struct BookOpenings {
    /// The book.
    pub book: Book,
    /// How moves are chosen after those that are drawn.
    pub policy: Policy,
}

/// How games are played.
#[derive(Clone)]
pub(crate) struct GameSettings {
    /// What judges positions.
    pub evaluation: Evaluation,
    /// What the openings follow from.
    pub seed: u64,
    /// Nodes for each move: none begins an iteration that has taken more.
    pub nodes: u64,
    /// Random moves at the beginning; with a book, moves of it that are drawn as its games have them.
    pub random_plies: usize,
    /// What openings are taken from, in place of random moves.
    pub book: Option<BookOpenings>,
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
            evaluation: Evaluation::default(),
            seed: 1,
            nodes: 300,
            random_plies: 8,
            book: None,
            opening_limit: 400,
            adjudicate_score: 1000,
            adjudicate_plies: 4,
        }
    }
}

impl fmt::Display for GameSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GameSettings { seed, nodes, random_plies, opening_limit, .. } = self;
        let (score, plies) = (self.adjudicate_score, self.adjudicate_plies);
        write!(
            f,
            "{}; seed {seed}; {nodes} nodes; {random_plies} random plies; ",
            self.evaluation
        )?;
        if let Some(BookOpenings { book, policy }) = &self.book {
            write!(f, "book {:016x}, {policy}; ", book.checksum())?;
        }
        write!(f, "openings within {opening_limit} cp; ended at {score} cp for {plies} plies")
    }
}

/// Plays games against itself.
pub(crate) struct SelfPlay {
    settings: GameSettings,
    searcher: Searcher,
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
    /// A player.
    pub(crate) fn new(settings: GameSettings) -> Self {
        let evaluation = settings.evaluation.clone();
        let config = Config { memory_mb: MEMORY_MB, evaluation, ..Config::default() };
        SelfPlay { settings, searcher: Searcher::new(config) }
    }

    /// Plays the game with the given number, which follows from it and the settings alone.
    pub(crate) fn play(&mut self, number: u64) -> PlayedGame {
        // Random numbers of their own for each game; the first mixes seed and number.
        let mixed = Random::new(self.settings.seed).next_u64() ^ number;
        let mut random = Random::new(Random::new(mixed).next_u64());
        loop {
            let game = self.opening(&mut random);
            self.searcher.new_game();
            let Some((_, score)) = self.search(&game) else { continue };
            if score.abs() <= self.settings.opening_limit {
                return self.play_out(game);
            }
        }
    }

    /// An opening as the settings want it.
    fn opening(&self, random: &mut Random) -> Game {
        let plies = self.settings.random_plies;
        match &self.settings.book {
            None => random_opening(random, plies),
            Some(openings) => book_opening(random, openings, plies),
        }
    }

    /// The best move and its score for White; `None` where there is no move.
    fn search(&mut self, game: &Game) -> Option<(Move, Score)> {
        let nodes = self.settings.nodes;
        let limits = Limits { soft_nodes: Some(nodes), ..Limits::nodes(HARD_NODES * nodes) };
        let result = self.searcher.search_silently(game, &limits, &Control::new());
        Some((result.best?, for_white(game.position(), result.score)))
    }

    fn play_out(&mut self, mut game: Game) -> PlayedGame {
        let opening = game.moves().to_vec();
        let mut moves = Vec::new();
        let settings = self.settings.clone();
        let mut adjudicator = Adjudicator { settings: &settings, agreed: 0, winner: Color::White };
        let winner = loop {
            if let Some(outcome) = game.outcome() {
                break outcome.winner;
            }
            if game.moves().len() >= MAX_PLIES {
                break None;
            }
            let Some((mv, score)) = self.search(&game) else { break None };
            let winner = adjudicator.settle(score);
            if winner.is_some() {
                break winner;
            }
            let position = *game.position();
            let noisy = position.in_check() || position.is_noisy(mv);
            moves.push(SearchedMove { mv, score: score as i16, noisy });
            if let Err(error) = game.play(mv) {
                log::error!("the search returned an {error}");
                moves.pop();
                break None;
            }
        };
        PlayedGame {
            half_points: winner.map_or(1, |winner| if winner == Color::White { 2 } else { 0 }),
            opening,
            moves,
        }
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

/// A line of a book: the first plies as its games played them, the others chosen, until the book has
/// nothing to play.
fn book_opening(random: &mut Random, openings: &BookOpenings, plies: usize) -> Game {
    let mut game = openings.book.draw_line(plies, random);
    let mut chooser = Chooser::new(openings.policy, random.next_u64());
    while game.moves().len() < LONGEST_OPENING
        && let Some(choice) = chooser.choose(&openings.book, &game)
        && game.play(choice.mv).is_ok()
    {}
    game
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_follows_from_seed_and_number() {
        let settings = GameSettings { nodes: 50, ..GameSettings::default() };
        let mut player = SelfPlay::new(settings.clone());
        let first = player.play(3);
        assert_ne!(first, player.play(4));
        assert_eq!(first, player.play(3));
        assert_ne!(first, SelfPlay::new(GameSettings { seed: 2, ..settings }).play(3));
        let mut visited = 0;
        assert!(first.replay(|position, played| {
            visited += 1;
            let noisy = position.in_check() || position.is_noisy(played.mv);
            assert_eq!(played.noisy, noisy);
        }));
        assert_eq!(visited, first.moves.len());
        assert!(visited > 5, "{visited}");
    }

    #[test]
    fn a_game_begins_with_the_book_and_leaves_it_where_it_ends() {
        let book = Book::embedded();
        let openings = BookOpenings { book: book.clone(), policy: Policy::Weighted };
        let settings = GameSettings { nodes: 50, random_plies: 3, ..GameSettings::default() };
        let told = settings.to_string();
        let settings = GameSettings { book: Some(openings), ..settings };
        assert!(settings.to_string().starts_with(&told[..told.len() - 60]), "{settings}");
        assert!(settings.to_string().contains(&format!("book {:016x}, weighted", book.checksum())));
        let mut player = SelfPlay::new(settings);
        let first = player.play(5);
        assert_eq!(first, player.play(5));
        let mut game = Game::default();
        for &mv in &first.opening {
            assert!(book.moves(game.position()).iter().any(|known| known.mv == mv), "{mv}");
            game.play(mv).expect("a legal move");
        }
        assert!(first.opening.len() >= 3, "{first:?}");
        assert!(Chooser::new(Policy::Weighted, 1).choose(&book, &game).is_none(), "{first:?}");
        assert_ne!(first.opening, player.play(6).opening);
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
