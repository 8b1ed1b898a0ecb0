//! Computes how often the positions in a repertoire occur in games, and finds its gaps, which are
//! positions without an answer.

use std::cmp::Reverse;

use super::graph::Repertoire;
use crate::chess::position::{Game, KeyMap, Move, Position};
use crate::games::book::Book;

/// The default minimum probability of a gap. Less probable gaps are neither reported nor filled.
pub const MIN_PROBABILITY: f64 = 0.001;

/// The default depth of a forecast in plies. Few repertoires have longer lines, apart from
/// repetitions.
pub const FORECAST_PLIES: u32 = 80;

/// The probabilities that the positions in a repertoire occur in a game.
///
/// Opponents are assumed to play each move as often as it was played in a book of games. The player
/// is assumed to choose among the moves in the repertoire in proportion to their
/// [weights](super::KnownMove::weight). The probability of a position is the sum over all move
/// orders that lead to it. A game is followed until it leaves the repertoire, or until the book has
/// no move for the opponent.
#[derive(Debug, Clone)]
pub struct Forecast {
    /// For each number of plies, the positions that games can have reached, including the first
    /// positions outside the repertoire.
    pub(super) layers: Vec<KeyMap<Met>>,
}

#[derive(Debug, Clone)]
pub(super) struct Met {
    pub(super) position: Position,
    pub(super) probability: f64,
    /// The probability of the most common line that leads to this position.
    of_line: f64,
    /// The key of the previous position in that line, and the move played in it.
    last: Option<(u64, Move)>,
}

/// A line of moves from the start of a repertoire.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The position before the first move.
    pub start: Position,
    /// The moves.
    pub moves: Vec<Move>,
    /// The probability that a game begins with this line.
    pub probability: f64,
}

impl Line {
    /// Converts the line to a game.
    pub fn game(&self) -> Game {
        let mut game = Game::new(self.start);
        for &mv in &self.moves {
            // Never fails, because a line consists of legal moves.
            let _ = game.play(mv);
        }
        game
    }
}

/// A position in which it is the player's turn and the repertoire has no move.
#[derive(Debug, Clone)]
pub struct Gap {
    /// The position.
    pub position: Position,
    /// The expected number of occurrences of the position in a game.
    pub probability: f64,
    /// The most common line that leads to the position.
    pub line: Line,
    /// How the line leaves the repertoire.
    pub kind: GapKind,
    /// The number of games in the book that reached the position.
    pub games: u64,
    /// The player's moves in this position that lead back into the repertoire by transposition.
    pub ways_back: Vec<Move>,
}

/// How a line leaves a repertoire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapKind {
    /// The repertoire contains replies by the opponent in this position, but not the one played.
    Reply,
    /// The repertoire ends before the opponent's reply.
    End,
    /// The repertoire contains the opponent's reply, but no move for the player after it.
    DeadEnd,
}

impl GapKind {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            GapKind::Reply => "reply",
            GapKind::End => "end",
            GapKind::DeadEnd => "dead end",
        }
    }
}

impl Repertoire {
    /// Computes how often each position occurs, assuming that opponents play each move as often as
    /// it was played in `book`.
    pub fn forecast(&self, book: &Book, max_ply: u32) -> Forecast {
        let starts: Vec<Position> = self.starts().map(|node| node.position).collect();
        self.forecast_from(&starts, book, max_ply)
    }

    /// Like [`Repertoire::forecast`], but games begin at the positions in `starts`, which are all
    /// equally likely.
    pub fn forecast_from(&self, starts: &[Position], book: &Book, max_ply: u32) -> Forecast {
        let probability = 1.0 / starts.len() as f64;
        let first = starts.iter().map(|&position| {
            (position.key(), Met { position, probability, of_line: probability, last: None })
        });
        let mut layer: KeyMap<Met> = first.collect();
        let (mut layers, mut choices) = (Vec::new(), KeyMap::default());
        for _ in 0..max_ply {
            let mut next = KeyMap::default();
            for (&key, met) in layer.iter().filter(|&(&key, _)| self.contains_key(key)) {
                let moves: &Vec<(Move, f64)> =
                    choices.entry(key).or_insert_with(|| self.choices(&met.position, book));
                for &(mv, share) in moves {
                    met.step((key, mv), share, &mut next);
                }
            }
            layers.push(std::mem::replace(&mut layer, next));
            if layer.is_empty() {
                break;
            }
        }
        layers.push(layer);
        Forecast { layers }
    }

    pub(super) fn contains_key(&self, key: u64) -> bool {
        self.node_of_key(key).is_some()
    }

    /// Returns the moves played in a position, each with its probability. Returns no moves if the
    /// position is not in the repertoire.
    pub(super) fn choices(&self, position: &Position, book: &Book) -> Vec<(Move, f64)> {
        let Some(node) = self.node(position) else { return Vec::new() };
        let weights: Vec<(Move, u64)> = match self.is_own_turn(position) {
            true => node.moves.iter().map(|known| (known.mv, known.weight)).collect(),
            false => book.moves(position).iter().map(|mv| (mv.mv, mv.played.games())).collect(),
        };
        let total: u64 = weights.iter().map(|&(_, weight)| weight).sum();
        let played = weights.into_iter().filter(|&(_, weight)| weight > 0);
        played.map(|(mv, weight)| (mv, weight as f64 / total as f64)).collect()
    }
}

impl Met {
    pub(super) fn step(&self, last: (u64, Move), share: f64, next: &mut KeyMap<Met>) {
        let position = self.position.play(last.1);
        let (probability, of_line) = (self.probability * share, self.of_line * share);
        let met = next.entry(position.key()).or_insert(Met {
            position,
            probability: 0.0,
            of_line: 0.0,
            last: None,
        });
        met.probability += probability;
        // Ties are broken by the previous key and the move, so that the result does not depend on
        // the iteration order of the map.
        if (of_line, Reverse(Some(last))) > (met.of_line, Reverse(met.last)) {
            (met.of_line, met.last, met.position) = (of_line, Some(last), position);
        }
    }
}

impl Forecast {
    /// Returns the expected number of times that a position occurs in a game.
    pub fn probability(&self, position: &Position) -> f64 {
        let key = position.key();
        self.layers.iter().filter_map(|layer| layer.get(&key)).map(|met| met.probability).sum()
    }

    /// Returns the most probable line that leads to a position, or `None` if the position does not
    /// occur in the forecast.
    pub fn line(&self, position: &Position) -> Option<Line> {
        let key = position.key();
        let met = |&(ply, layer): &(usize, &KeyMap<Met>)| Some((layer.get(&key)?.of_line, ply));
        let places = self.layers.iter().enumerate().filter_map(|layer| met(&layer));
        // Among equally common lines, the shortest is used.
        let (probability, mut ply) =
            places.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
        let (mut moves, mut at) = (Vec::with_capacity(ply), self.layers[ply].get(&key)?);
        while let Some((before, mv)) = at.last {
            moves.push(mv);
            ply -= 1;
            at = self.layers[ply].get(&before)?;
        }
        moves.reverse();
        Some(Line { start: at.position, moves, probability })
    }

    /// Returns the positions that occur with at least this probability and in which the repertoire
    /// has no answer, most probable first. Positions without legal moves are not gaps.
    pub fn gaps(&self, repertoire: &Repertoire, book: &Book, min_probability: f64) -> Vec<Gap> {
        let mut probabilities: KeyMap<(Position, f64)> = KeyMap::default();
        let is_open =
            |position: &Position| repertoire.is_own_turn(position) && !repertoire.answers(position);
        for met in self.layers.iter().flat_map(KeyMap::values).filter(|met| is_open(&met.position))
        {
            probabilities.entry(met.position.key()).or_insert((met.position, 0.0)).1 +=
                met.probability;
        }
        let is_gap = |(position, probability): &(Position, f64)| {
            *probability >= min_probability && !position.has_no_moves()
        };
        let found = probabilities.into_values().filter(is_gap);
        let mut gaps: Vec<Gap> = found
            .filter_map(|(position, probability)| {
                let line = self.line(&position)?;
                let kind = self.kind(repertoire, &position, &line);
                let games = book.reached(&position).map_or(0, |counts| counts.games());
                let legal = position.legal_moves();
                let leads_back = |mv: &Move| repertoire.node(&position.play(*mv)).is_some();
                let ways_back = legal.iter().filter(leads_back).collect();
                Some(Gap { position, probability, line, kind, games, ways_back })
            })
            .collect();
        gaps.sort_by(|a, b| {
            let order = b.probability.total_cmp(&a.probability);
            order.then(a.position.key().cmp(&b.position.key()))
        });
        gaps
    }

    fn kind(&self, repertoire: &Repertoire, position: &Position, line: &Line) -> GapKind {
        if repertoire.node(position).is_some() {
            return GapKind::DeadEnd;
        }
        let before = line.moves.len().saturating_sub(1);
        let before = line.moves[..before].iter().fold(line.start, |at, &mv| at.play(mv));
        match repertoire.node(&before) {
            Some(node) if !node.moves.is_empty() => GapKind::Reply,
            _ => GapKind::End,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Color;
    use crate::games::book::{BuildOptions, build_in_memory};
    use crate::games::pgn::PgnInput;

    fn input(text: &str) -> [PgnInput; 1] {
        [PgnInput::Text("text".to_owned(), text.as_bytes().into())]
    }

    fn book(games: &[(&str, usize)]) -> Book {
        let text: String = games
            .iter()
            .map(|(moves, number)| format!("{moves} 1/2-1/2\n\n").repeat(*number))
            .collect();
        build_in_memory(&input(&text), &BuildOptions::default(), "games").expect("a book").0
    }

    fn white(text: &str) -> Repertoire {
        Repertoire::read(&input(text), Color::White).expect("readable")
    }

    fn after(moves: &str) -> Position {
        moves.split(' ').fold(Position::start(), |position, san| {
            position.play(position.parse_move(san).expect(san))
        })
    }

    fn is_near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-12
    }

    #[test]
    fn move_orders_are_added() {
        let games = book(&[
            ("1. d4 Nf6 2. c4 e6 3. Nc3", 3),
            ("1. d4 Nf6 2. c4 g6 3. Nc3", 1),
            ("1. d4 e6 2. c4 Nf6 3. Nc3", 2),
            ("1. d4 e6 2. c4 d5 3. Nc3", 2),
        ]);
        // The answer to 1...a6, which no game has, marks a repertoire that does not come from the
        // games, so that no part of its shares is subtracted.
        let repertoire = white("1. d4 Nf6 (1... e6 2. c4) (1... a6 2. c4) 2. c4 *\n");
        let forecast = repertoire.forecast(&games, FORECAST_PLIES);
        let expected = [1.0, 1.0, 1.0, 1.0, 0.0];
        assert!(
            (0..5)
                .map(|plies| forecast.shares(&repertoire, &games).after(plies))
                .zip(expected)
                .all(|(share, one)| is_near(share, one))
        );
        let gaps = forecast.gaps(&repertoire, &games, 0.001);
        let found: Vec<(f64, usize)> =
            gaps.iter().map(|gap| (gap.probability, gap.line.moves.len())).collect();
        // Half of the games begin with 1.d4 Nf6, and the other half with 1.d4 e6. The first gap is
        // reached via both move orders, and its probability is their sum.
        let shared = 0.5 * 0.75 + 0.5 * 0.5;
        assert!(is_near(found[0].0, shared), "{found:?}");
        assert_eq!(gaps[0].position.key(), after("d4 Nf6 c4 e6").key());
        assert!(is_near(gaps[0].line.probability, 0.375) && gaps[0].games == 5);
        assert_eq!(gaps.len(), 3);
        assert!(is_near(found[1..].iter().map(|(share, _)| share).sum(), 1.0 - shared));
        assert!(forecast.gaps(&repertoire, &games, 0.2).len() == 2);
    }

    #[test]
    fn gaps_have_kinds_and_ways_back() {
        let games = book(&[
            ("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6", 6),
            ("1. e4 c5 2. Nf3 d6", 2),
            ("1. e4 Nc6 2. Nf3", 1),
            ("1. e4 e6 2. d4", 1),
        ]);
        let repertoire = white("1. e4 e5 (1... c5) (1... e6 2. d4) 2. Nf3 Nc6 3. Bb5 *\n");
        let forecast = repertoire.forecast(&games, FORECAST_PLIES);
        let gaps = forecast.gaps(&repertoire, &games, 0.001);
        let kinds: Vec<GapKind> = gaps.iter().map(|gap| gap.kind).collect();
        assert_eq!(kinds, [GapKind::End, GapKind::DeadEnd, GapKind::Reply]);
        let shares: Vec<f64> = gaps.iter().map(|gap| gap.probability).collect();
        assert!(
            shares.iter().zip([0.6, 0.2, 0.1]).all(|(&share, expected)| is_near(share, expected))
        );
        assert!(gaps.iter().all(|gap| gap.ways_back.is_empty()));
        let repertoire = white("1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n\n1. Nf3 Nc6 2. e4 *\n");
        let gaps = repertoire.forecast(&games, FORECAST_PLIES).gaps(&repertoire, &games, 0.01);
        let sans = |gap: &Gap| gap.ways_back.iter().map(|&mv| gap.position.san(mv)).collect();
        let back: Vec<Vec<String>> =
            gaps.iter().map(sans).filter(|back: &Vec<_>| !back.is_empty()).collect();
        assert_eq!(back, [["Nf3"]]);
    }

    #[test]
    fn repetitions_end_with_the_depth() {
        let games = book(&[("1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8", 1)]);
        let repertoire = white("1. Nf3 Nf6 2. Ng1 Ng8 *\n");
        let forecast = repertoire.forecast(&games, 10);
        assert_eq!(forecast.shares(&repertoire, &games).after(10), 1.0);
        assert!(is_near(forecast.probability(&Position::start()), 3.0));
        assert!(forecast.gaps(&repertoire, &games, 0.0).is_empty());
        assert_eq!(forecast.line(&after("Nf3")).expect("it occurs").moves.len(), 1);
    }

    #[test]
    fn games_without_continuation_are_left_out_of_the_shares() {
        let games = book(&[("1. e4 e5 2. Nf3 Nc6", 3), ("1. e4 c5 2. Nf3", 4), ("1. e4 d5", 1)]);
        let line = "1. e4 e5 (1... c5 2. Nf3) (1... a6 2. d4) 2. Nf3 (2. d4 exd4) 2... Nc6 *\n";
        let repertoire = white(line);
        // The book ends after 1.e4 c5 2.Nf3 and does not contain 1.e4 e5 2.d4. The repertoire ends
        // after 1.e4 e5 2.Nf3 Nc6.
        let forecast = repertoire.forecast(&games, FORECAST_PLIES);
        let shares = forecast.shares(&repertoire, &games);
        let shares: Vec<f64> = (0..8).map(|plies| shares.after(plies)).collect();
        let expected = [1.0, 1.0, 0.875, 0.875, 0.875, 0.0, 0.0, 0.0];
        assert!(shares.iter().zip(expected).all(|(&share, one)| is_near(share, one)), "{shares:?}");
    }

    #[test]
    fn own_moves_are_equally_likely_however_many_chapters_have_them() {
        let games = book(&[("1. e4 e5", 1), ("1. d4 d5", 1)]);
        let chapters = "1. e4 e5 2. d4 (2. Nf3) *\n\n1. e4 (1. e4 d5) *\n\n1. d4 d5 *\n";
        let repertoire = white(chapters);
        let forecast = repertoire.forecast(&games, 4);
        assert!(is_near(forecast.probability(&after("e4")), 0.5));
        assert!(is_near(forecast.probability(&after("e4 e5 d4")), 0.25));
        assert!(is_near(forecast.probability(&after("d4 d5")), 0.5));
        // A repertoire read from a book of these lines gives the same probability. If the book was
        // built from games, the probabilities of its moves are proportional to their numbers of
        // games.
        let options = BuildOptions::of_repertoire();
        let of_book = |text: &str| {
            let book = build_in_memory(&input(text), &options, "lines").expect("a book").0;
            let repertoire = Repertoire::of_book(&book, Color::White, &[Position::start()]);
            repertoire.forecast(&games, 4).probability(&after("d4"))
        };
        assert!(is_near(of_book(chapters), 0.5));
        let played = "1. e4 e5 1-0\n\n1. e4 e5 1-0\n\n1. e4 e5 0-1\n\n1. d4 d5 0-1\n";
        assert!(is_near(of_book(played), 0.25));
    }

    #[test]
    fn chapters_from_positions_are_starts_without_the_usual_start() {
        let games = book(&[("1. e4 e5", 1), ("1. d4 d5", 1)]);
        let chapter =
            |moves: &str, line: &str| format!("[FEN \"{}\"]\n\n{line} *\n\n", after(moves).fen());
        let two = chapter("e4", "1... e5 2. Nf3") + &chapter("d4", "1... d5");
        let repertoire = white(&two);
        let gaps = repertoire.forecast(&games, 40).gaps(&repertoire, &games, 0.01);
        assert_eq!(gaps.len(), 1);
        assert!(is_near(gaps[0].probability, 0.5));
        let repertoire = white(&(two + "1. e4 *\n"));
        let forecast = repertoire.forecast(&games, 40);
        assert!(is_near(forecast.probability(&after("e4 e5")), 1.0));
        assert!(is_near(forecast.probability(&after("d4")), 0.0));
    }
}
