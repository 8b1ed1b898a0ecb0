//! Collects the positions of an opponent's games with one colour, for use in preparation.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::graph::Repertoire;
use crate::chess::position::{Color, KeyMap, Move, Position};
use crate::games::book::{Counts, mean_and_error};
use crate::games::pgn::GameResult;

/// Wins and losses added to a position's results before the interval is computed (the Jeffreys
/// prior). Without them, the interval would have zero width if all games had the same result.
const PRIOR: (f64, f64) = (0.5, 0.5);
/// The standard normal quantile (z-score) for a two-sided 95% interval.
const Z: f64 = 1.959_964;

/// A player's games with one colour, indexed by position.
#[derive(Debug, Clone)]
pub struct OpponentGames {
    /// The player's colour.
    pub side: Color,
    /// The results of all games.
    pub results: Counts,
    max_ply: usize,
    reached: KeyMap<Reached>,
    lines: Vec<(Position, Vec<Move>)>,
}

/// A position in a player's games.
#[derive(Debug, Clone)]
pub struct Reached {
    /// The position.
    pub position: Position,
    /// The results of the games that reached the position, by any move order.
    pub results: Counts,
    /// The moves played in the position, with their results, in order of first appearance.
    pub moves: Vec<(Move, Counts)>,
    /// The year of the latest game that reached the position; `None` if no such game has a date.
    pub last_year: Option<u16>,
    /// The index of the first game that reached the position, and the number of plies it took to
    /// get there.
    first: (usize, usize),
}

/// A position with a confidence interval for the player's score in the games that reached it.
#[derive(Debug, Clone, Copy)]
pub struct Spot<'a> {
    /// The position and its results.
    pub reached: &'a Reached,
    /// The bounds of the 95% confidence interval for the player's expected score (0 to 1).
    pub bounds: (f64, f64),
    /// Whether the upper bound of the interval is below the player's mean score in all games with
    /// this colour.
    pub is_below_mean: bool,
}

/// A repertoire move that leads to a position that did not occur in the player's games.
#[derive(Debug, Clone, Copy)]
pub struct NewMove<'a> {
    /// The position in which the move is played. It occurred in the player's games.
    pub reached: &'a Reached,
    /// The move.
    pub mv: Move,
}

impl OpponentGames {
    /// Creates an empty collection. Positions more than `max_ply` plies from the start of a game
    /// are ignored.
    pub fn new(side: Color, max_ply: usize) -> Self {
        OpponentGames {
            side,
            results: Counts::default(),
            max_ply,
            reached: KeyMap::default(),
            lines: Vec::new(),
        }
    }

    /// Adds a game up to its first null or illegal move. Positions and moves that are repeated
    /// within the game are counted once.
    pub fn add(&mut self, start: &Position, moves: &[Move], result: GameResult, year: Option<u16>) {
        let counts = Counts::of(result, 1);
        self.results += counts;
        let (mut position, mut seen) = (*start, HashSet::new());
        let line = &moves[..moves.len().min(self.max_ply)];
        for ply in 0..=line.len() {
            let next = line.get(ply).filter(|mv| !mv.is_null());
            let next = next.and_then(|&mv| Some((mv, position.try_play(mv)?)));
            let reached = self.reached.entry(position.key()).or_insert_with(|| Reached {
                position,
                results: Counts::default(),
                moves: Vec::new(),
                last_year: None,
                first: (self.lines.len(), ply),
            });
            if seen.insert((position.key(), None)) {
                reached.results += counts;
                reached.last_year = reached.last_year.max(year);
            }
            let Some((mv, after)) = next else { break };
            if seen.insert((position.key(), Some(mv))) {
                match reached.moves.iter_mut().find(|(known, _)| *known == mv) {
                    Some((_, played)) => *played += counts,
                    None => reached.moves.push((mv, counts)),
                }
            }
            position = after;
        }
        self.lines.push((*start, line.to_vec()));
    }

    /// Returns the results and moves recorded for a position, or `None` if no game reached it.
    pub fn reached(&self, position: &Position) -> Option<&Reached> {
        self.reached.get(&position.key())
    }

    /// Returns the start position of the first game that reached a position, and the moves that
    /// lead from there to the position.
    pub fn line(&self, reached: &Reached) -> (&Position, &[Move]) {
        let (game, plies) = reached.first;
        let (start, moves) = &self.lines[game];
        (start, &moves[..plies])
    }

    /// Returns the bounds of the 95% confidence interval for the player's expected score, given the
    /// results of some games.
    pub fn bounds(&self, results: &Counts) -> (f64, f64) {
        let (mean, error) = mean_and_error(results, self.side, PRIOR);
        ((mean - Z * error).max(0.0), (mean + Z * error).min(1.0))
    }

    /// Returns the positions with at least `min_games` games, in ascending order of the upper bound
    /// of the player's score. If successive positions were reached by the same games, only the
    /// first one is returned. Start positions are omitted.
    pub fn spots<'a>(&'a self, min_games: u64) -> Vec<Spot<'a>> {
        let mean = self.results.score(self.side);
        let continued = self.reached.values().flat_map(|reached| {
            let all = reached.results;
            reached.moves.iter().filter_map(move |(mv, played)| {
                let next = self.reached(&reached.position.play(*mv))?;
                (next.results == all && *played == all).then_some(next.position.key())
            })
        });
        let continued: HashSet<u64> = continued.collect();
        let is_wanted = |reached: &&Reached| {
            let key = reached.position.key();
            reached.results.games() >= min_games && reached.first.1 > 0 && !continued.contains(&key)
        };
        let spot = |reached: &'a Reached| {
            let bounds = self.bounds(&reached.results);
            Spot { reached, bounds, is_below_mean: bounds.1 < mean }
        };
        let mut spots: Vec<Spot<'a>> = self.reached.values().filter(is_wanted).map(spot).collect();
        spots.sort_by(|a, b| {
            let order = a.bounds.1.total_cmp(&b.bounds.1);
            order.then(a.reached.first.cmp(&b.reached.first))
        });
        spots
    }

    /// Returns the repertoire positions that occurred in the player's games, most frequent first.
    /// If consecutive positions were reached by exactly the same games, only the last is returned.
    /// Start positions are omitted.
    pub fn meetings(&self, repertoire: &Repertoire) -> Vec<&Reached> {
        let goes_on = |reached: &Reached| {
            reached.moves.iter().any(|(mv, played)| {
                let next = reached.position.play(*mv);
                *played == reached.results && repertoire.node(&next).is_some()
            })
        };
        let met = repertoire.nodes().filter_map(|node| self.reached(&node.position));
        let mut met: Vec<&Reached> =
            met.filter(|reached| reached.first.1 > 0 && !goes_on(reached)).collect();
        met.sort_by_key(|reached| (Reverse(reached.results.games()), reached.first));
        met
    }

    /// Returns the repertoire moves that lead from a position in the games to one that no game
    /// reached, sorted by the number of games that reached the position before the move, highest
    /// first.
    pub fn new_moves(&self, repertoire: &Repertoire) -> Vec<NewMove<'_>> {
        let own = repertoire.nodes().filter(|node| repertoire.is_own_turn(&node.position));
        let moves = own.filter_map(|node| Some((self.reached(&node.position)?, &node.moves)));
        let moves = moves.flat_map(|(reached, moves)| {
            moves.iter().map(move |known| NewMove { reached, mv: known.mv })
        });
        let is_new = |new: &NewMove<'_>| self.reached(&new.reached.position.play(new.mv)).is_none();
        let is_early = |new: &NewMove<'_>| new.reached.first.1 < self.max_ply;
        let mut moves: Vec<NewMove<'_>> =
            moves.filter(|new| is_early(new) && is_new(new)).collect();
        moves.sort_by_key(|new| (Reverse(new.reached.results.games()), new.reached.first, new.mv));
        moves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::pgn::{PgnInput, read_games};

    fn games(side: Color, text: &str) -> OpponentGames {
        let mut games = OpponentGames::new(side, 40);
        for (year, game) in (2001..).zip(read_games(text.as_bytes())) {
            let (game, _) = game.expect("readable");
            let moves: Vec<Move> = game.moves.iter().map(|played| played.mv).collect();
            games.add(&game.start, &moves, game.result, Some(year));
        }
        games
    }

    fn san(start: &Position, moves: &[Move]) -> String {
        crate::chess::notation::line(start, moves)
    }

    fn line(games: &OpponentGames, reached: &Reached) -> String {
        let (start, moves) = games.line(reached);
        san(start, moves)
    }

    const GAMES: &str = "1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 0-1\n\n1. c4 e6 2. d4 Nf6 3. Nf3 0-1\n\n\
                         1. d4 d5 2. c4 1-0\n\n1. e4 c5 1-0\n\n1. e4 e5 1-0\n\n";

    #[test]
    fn move_orders_are_added() {
        let games = games(Color::White, GAMES);
        let after = |moves: &str| {
            moves
                .split(' ')
                .fold(Position::start(), |at, san| at.play(at.parse_move(san).expect(san)))
        };
        let reached = games.reached(&after("d4 e6 c4 Nf6")).expect("two games");
        assert_eq!(reached.results, Counts::new(0, 0, 2));
        assert_eq!((reached.moves.len(), reached.last_year), (2, Some(2002)));
        assert_eq!(line(&games, reached), "d4 Nf6 c4 e6");
        assert!(games.reached(&after("e4 c6")).is_none());
        assert_eq!(games.results, Counts::new(3, 0, 2));
    }

    #[test]
    fn repeated_positions_count_once() {
        let games = games(Color::White, "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 1/2-1/2\n\n");
        let start = games.reached(&Position::start()).expect("reached");
        assert_eq!((start.results.games(), start.moves[0].1.games()), (1, 1));
    }

    #[test]
    fn weak_spots_are_certain_and_not_repeated() {
        let text = "1. d4 Nf6 2. c4 e6 0-1\n\n".repeat(8)
            + &"1. d4 d5 2. c4 1-0\n\n".repeat(8)
            + "1. e4 0-1\n\n";
        let games = games(Color::White, &text);
        let spots = games.spots(3);
        let lines: Vec<String> = spots.iter().map(|spot| line(&games, spot.reached)).collect();
        // After 1... Nf6, every game continues in the same way. The same is true after 1... d5.
        // Therefore, only the first position of each continuation is returned.
        assert_eq!(lines, ["d4 Nf6", "d4", "d4 d5"]);
        let below: Vec<bool> = spots.iter().map(|spot| spot.is_below_mean).collect();
        assert_eq!(below, [true, false, false]);
        let (low, high) = spots[0].bounds;
        assert!(low < 0.001 && (0.2..0.21).contains(&high), "{low} {high}");
        // With one win and one loss, the interval is symmetric around 50%.
        let (low, high) = games.bounds(&Counts::new(1, 0, 1));
        assert!((low + high - 1.0).abs() < 1e-12);
        assert_eq!(games.spots(9).len(), 1);
    }

    #[test]
    fn meetings_and_new_moves_are_those_of_the_repertoire() {
        let games = games(Color::White, GAMES);
        let text =
            "1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 (3... c5) *\n\n1. e4 c5 (1... c6) *\n\n1. g3 d5 *\n";
        let input = PgnInput::Text("lines".to_owned(), text.as_bytes().into());
        let black = Repertoire::read(&[input], Color::Black).expect("readable");
        let met: Vec<(String, u64)> = games
            .meetings(&black)
            .iter()
            .map(|reached| (line(&games, reached), reached.results.games()))
            .collect();
        let expected =
            [("d4", 2), ("d4 Nf6 c4 e6", 2), ("e4", 2), ("d4 Nf6 c4 e6 Nc3 Bb4", 1), ("e4 c5", 1)];
        let expected = expected.map(|(line, number)| (line.to_owned(), number));
        assert_eq!(met, expected);
        let new: Vec<String> =
            games.new_moves(&black).iter().map(|new| new.reached.position.san(new.mv)).collect();
        assert_eq!(new, ["c6", "c5"]);
    }
}
