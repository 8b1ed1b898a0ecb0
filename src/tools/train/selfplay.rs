//! Plays games of the engine against itself.

use std::fmt;

use super::{PlayedGame, SearchedMove, is_noisy};
use crate::chess::position::{Color, Game, Move, Position};
use crate::chess::score::{Score, is_decided};
use crate::engine::eval::Evaluation;
use crate::engine::search::{Config, Control, Limits, Searcher};
use crate::games::book::{Book, Chooser, Policy};
use crate::support::random::Random;

/// The size of the transposition table in mebibytes. Short searches need little memory, and a small
/// table can be cleared quickly.
const MEMORY_MB: usize = 1;

/// The hard node limit, as a multiple of the soft limit.
const HARD_NODES: u64 = 8;

/// The maximum number of plies in an opening from a book. It is limited because game files store
/// the length in a single byte.
const LONGEST_OPENING: usize = 80;

const MAX_TRIES: usize = 1000;

/// A game that reaches this number of plies, including the opening, is adjudicated as a draw.
const MAX_PLIES: usize = 400;

/// Settings for openings from a book. Each opening continues until the book has no more moves.
#[derive(Clone)]
pub(crate) struct BookOpenings {
    pub book: Book,
    /// The policy that chooses the book moves after the first [`GameSettings::random_plies`] plies.
    pub policy: Policy,
    /// The number of random moves played after the book moves, to make duplicate games unlikely.
    pub random_after: usize,
}

#[derive(Clone)]
pub(crate) struct GameSettings {
    pub evaluation: Evaluation,
    pub seed: u64,
    /// The soft node limit per move. Once it is reached, the search does not start another
    /// iteration.
    pub nodes: u64,
    /// The number of random plies at the beginning of the game. If there is a book, these are book
    /// moves, each chosen with a probability proportional to the number of games in which it was
    /// played.
    pub random_plies: usize,
    /// The book used for openings. If there is none, openings consist of random moves.
    pub book: Option<BookOpenings>,
    /// If set, games start from a position with randomly placed pieces, and no random moves are
    /// played. The values are the minimum and maximum number of pieces, including kings.
    pub piece_count: Option<(u8, u8)>,
    /// The maximum score of an opening, in centipawns. An opening is rejected if a search of its
    /// final position gives either side a higher score.
    pub opening_limit: Score,
    /// The score for adjudication, in centipawns. A game ends if the searches of both sides give
    /// the same side at least this score for [`GameSettings::adjudicate_plies`] consecutive plies.
    /// It also ends if a search finds a forced win.
    pub adjudicate_score: Score,
    /// The number of consecutive plies for which the same side must have a score of at least
    /// [`GameSettings::adjudicate_score`] before the game is adjudicated.
    pub adjudicate_plies: usize,
}

impl Default for GameSettings {
    /// Returns settings similar to those used by strong engines to generate training data.
    fn default() -> Self {
        GameSettings {
            evaluation: Evaluation::default(),
            seed: 1,
            nodes: 300,
            random_plies: 8,
            book: None,
            piece_count: None,
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
        write!(f, "{}; seed {seed}; {nodes} nodes; ", self.evaluation)?;
        match self.piece_count {
            Some((fewest, most)) => write!(f, "{fewest} to {most} men placed at random; ")?,
            None => write!(f, "{random_plies} random plies; ")?,
        }
        if let Some(BookOpenings { book, policy, random_after }) = &self.book {
            write!(f, "book {:016x}, {policy}; ", book.checksum())?;
            if *random_after > 0 {
                write!(f, "{random_after} random plies after it; ")?;
            }
        }
        write!(f, "openings within {opening_limit} cp; ended at {score} cp for {plies} plies")
    }
}

pub(crate) struct SelfPlay {
    settings: GameSettings,
    searcher: Searcher,
}

/// Adjudicates a game as a win if both sides' scores have agreed on the winner long enough, or if a
/// search finds a forced win.
struct Adjudicator<'s> {
    settings: &'s GameSettings,
    /// The number of consecutive plies in which the same side had a score of at least the
    /// threshold.
    agreed: usize,
    winner: Color,
}

impl Adjudicator<'_> {
    /// Adds the search score of the next ply, from White's point of view. Returns the winner if the
    /// game can be adjudicated.
    fn update(&mut self, score: Score) -> Option<Color> {
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
    /// Creates a player. It runs searches on the calling thread, so it must be used on a thread
    /// with the stack size of a search thread.
    pub(crate) fn new(settings: GameSettings) -> Self {
        let evaluation = settings.evaluation.clone();
        let config = Config { memory_mb: MEMORY_MB, evaluation, ..Config::default() };
        SelfPlay { settings, searcher: Searcher::on_large_stack(config) }
    }

    /// Plays game `number`. Its moves depend only on `number` and the settings, not on games played
    /// before.
    pub(crate) fn play(&mut self, number: u64) -> PlayedGame {
        // Seed each game's random numbers from both the seed in the settings and the game's number.
        let mixed = Random::new(self.settings.seed).next_u64() ^ number;
        let mut random = Random::new(Random::new(mixed).next_u64());
        loop {
            let game = self.opening(&mut random);
            self.begin();
            let Some((_, score)) = self.search(&game) else { continue };
            if score.abs() <= self.settings.opening_limit {
                return self.play_game(game);
            }
        }
    }

    fn opening(&self, random: &mut Random) -> Game {
        let plies = self.settings.random_plies;
        match (&self.settings.book, self.settings.piece_count) {
            (_, Some(piece_count)) => random_endgame(random, piece_count),
            (Some(openings), None) => book_opening(random, openings, plies),
            (None, None) => random_moves(random, &Game::default(), plies),
        }
    }

    pub(super) fn begin(&mut self) {
        self.searcher.new_game();
    }

    /// Searches the current position with the node limits of the settings. Returns the best move
    /// and its score from White's point of view, or `None` if there are no legal moves.
    pub(super) fn search(&mut self, game: &Game) -> Option<(Move, Score)> {
        let nodes = self.settings.nodes;
        let limits = Limits { soft_nodes: Some(nodes), ..Limits::nodes(HARD_NODES * nodes) };
        let result = self.searcher.search_without_events(game, &limits, &Control::new());
        Some((result.best?, for_white(game.position(), result.score)))
    }

    fn play_game(&mut self, mut game: Game) -> PlayedGame {
        let opening = game.moves().to_vec();
        let start = self.settings.piece_count.map(|_| game.start().fen().into());
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
            let winner = adjudicator.update(score);
            if winner.is_some() {
                break winner;
            }
            let noisy = is_noisy(game.position(), mv);
            moves.push(SearchedMove { mv, score: score as i16, noisy });
            if let Err(error) = game.play(mv) {
                log::error!("the search returned an {error}");
                moves.pop();
                break None;
            }
        };
        PlayedGame {
            half_points: winner.map_or(1, |winner| if winner == Color::White { 2 } else { 0 }),
            start,
            opening,
            moves,
        }
    }
}

pub(super) fn for_white(position: &Position, score: Score) -> Score {
    if position.side_to_move() == Color::White { score } else { -score }
}

fn random_moves(random: &mut Random, begun: &Game, plies: usize) -> Game {
    'retry: for _ in 0..MAX_TRIES {
        let mut game = begun.clone();
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
    begun.clone()
}

/// Returns a game that starts with pieces on random squares: both kings, and other pieces chosen at
/// random from the initial set. Such positions rarely arise from openings, but a network must be
/// able to evaluate them.
fn random_endgame(random: &mut Random, (fewest, most): (u8, u8)) -> Game {
    loop {
        let piece_count = fewest + random.below(usize::from(most - fewest) + 1) as u8;
        let mut others = *b"PPPPPPPPNNBBRRQppppppppnnbbrrq";
        random.shuffle(&mut others);
        let mut board = [b'1'; 64];
        for &piece in b"Kk".iter().chain(&others[..usize::from(piece_count) - 2]) {
            let free = |square: &usize| {
                let last_rank = !(8..56).contains(square);
                board[*square] == b'1' && !(last_rank && piece.eq_ignore_ascii_case(&b'p'))
            };
            let squares: Vec<usize> = (0..64).filter(free).collect();
            board[squares[random.below(squares.len())]] = piece;
        }
        let ranks: Vec<_> = board.chunks(8).map(String::from_utf8_lossy).collect();
        let side = ["w", "b"][random.below(2)];
        // Try again if the position is invalid, which is usually because the opponent's king is in
        // check.
        if let Ok(start) = Position::from_fen(&format!("{} {side} - - 0 1", ranks.join("/"))) {
            let game = Game::new(start);
            if game.outcome().is_none() {
                return game;
            }
        }
    }
}

/// Returns an opening from a book. The first `plies` moves are drawn at random, in proportion to
/// the number of games in which they were played. The following moves are chosen by the policy
/// until the book has no more moves. Finally, [`BookOpenings::random_after`] random moves are
/// played.
fn book_opening(random: &mut Random, openings: &BookOpenings, plies: usize) -> Game {
    let mut game = openings.book.draw_line(plies, random);
    let mut chooser = Chooser::new(openings.policy, random.next_u64());
    while game.moves().len() < LONGEST_OPENING
        && let Some(choice) = chooser.choose(&openings.book, &game)
        && game.play(choice.mv).is_ok()
    {}
    random_moves(random, &game, openings.random_after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn game_depends_only_on_seed_and_number() {
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
    fn game_begins_with_book_moves_until_the_book_ends() {
        let book = Book::embedded();
        let openings =
            BookOpenings { book: book.clone(), policy: Policy::Weighted, random_after: 0 };
        let settings = GameSettings { nodes: 50, random_plies: 3, ..GameSettings::default() };
        let reported = settings.to_string();
        let settings = GameSettings { book: Some(openings.clone()), ..settings };
        assert!(settings.to_string().starts_with(&reported[..reported.len() - 60]), "{settings}");
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
        let random_after = BookOpenings { random_after: 2, ..openings };
        let longer = GameSettings { book: Some(random_after), ..player.settings };
        assert!(longer.to_string().contains(", weighted; 2 random plies after it; "), "{longer}");
        let other = SelfPlay::new(longer).play(5);
        assert_eq!(other.opening[..first.opening.len()], first.opening);
        assert_eq!(other.opening.len(), first.opening.len() + 2);
    }

    #[test]
    fn game_begins_with_the_requested_number_of_pieces() {
        let few = GameSettings { nodes: 50, piece_count: Some((3, 5)), ..GameSettings::default() };
        let reported = few.to_string();
        assert!(
            reported.contains("; 50 nodes; 3 to 5 men placed at random; openings"),
            "{reported}"
        );
        let mut player = SelfPlay::new(few.clone());
        let mut counts = [0; 3];
        for number in 0..30 {
            let game = player.play(number);
            let start = game.start().expect("a position");
            counts[start.occupied().popcnt() as usize - 3] += 1;
            assert!(game.replay(|_, _| ()) && game.opening.is_empty(), "{game:?}");
        }
        assert!(counts.iter().all(|&count| count > 2), "{counts:?}");
        assert_eq!(player.play(7), SelfPlay::new(few).play(7));
        let all =
            GameSettings { nodes: 50, piece_count: Some((32, 32)), ..GameSettings::default() };
        let start = SelfPlay::new(all).play(1).start().expect("a position");
        assert_eq!(start.occupied().popcnt(), 32);
    }

    #[test]
    fn game_is_adjudicated_when_both_sides_agree() {
        let settings = GameSettings::default();
        let mut adjudicator = Adjudicator { settings: &settings, agreed: 0, winner: Color::White };
        let scores = [1200, 1200, 900, 1200, -1200, -1100, -1050, -1000];
        let settled: Vec<_> = scores.map(|score| adjudicator.update(score)).into();
        assert_eq!(settled[..7], [None; 7]);
        assert_eq!(settled[7], Some(Color::Black));
    }
}
