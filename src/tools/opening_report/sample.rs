//! Collects statistics on how games continued after they reached the position, from a sample of
//! these games.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use serde::Serialize;

use super::endgames::{Material, endgames};
use super::facts::Facts;
use super::share;
use crate::chess::notation::NamedMove;
use crate::chess::position::{BitBoard, Color, Move, Piece, Position, Square};
use crate::games::book::{Counts, PositionGames};
use crate::games::pgn::{GameEnd, GamePly, GameResult, Reader, Tags, Visitor};
use crate::support::words::one_line;

/// How many plies after the position the squares of the pieces are counted.
pub(super) const PLAN_PLIES: usize = 10;
/// The maximum number of placements listed for each side. An example of a placement is a knight on
/// f5.
const PLACEMENTS: usize = 8;
/// The maximum number of plies of a model game that are shown after the report's position.
const MODEL_PLIES: usize = 24;
/// The maximum number of endgames listed.
const ENDGAMES: usize = 12;

const SQUARES: usize = 64;
const SIDES: [Color; 2] = [Color::White, Color::Black];
/// The kinds of piece with their letters, in the order in which the page shows them.
pub(super) const PIECES: [(Piece, char); 6] = [
    (Piece::Pawn, 'P'),
    (Piece::Knight, 'N'),
    (Piece::Bishop, 'B'),
    (Piece::Rook, 'R'),
    (Piece::Queen, 'Q'),
    (Piece::King, 'K'),
];

/// Statistics from a sample of the games that reached the report's position, read from the PGN
/// files.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sample {
    /// The number of games that reached the position.
    pub(super) games: u64,
    /// The maximum number of games in the sample.
    pub(super) limit: usize,
    /// The number of games to read.
    pub(super) chosen: u64,
    /// The number of chosen games that were found in the PGN files and reach the position.
    pub(crate) read: u64,
    /// The number of chosen games that cannot be used, because their text is missing or has changed
    /// and no longer contains the position.
    pub(super) missing: u64,
    /// Whether reading was stopped before all games chosen for the sample were read.
    pub(crate) stopped: bool,
    pub(super) plans: Plans,
    pub(super) endgames: Endgames,
    /// The ids of the games in the sample that were read, in file order.
    ids: Vec<String>,
    #[serde(skip)]
    numbers: Vec<u32>,
}

/// Where the pieces stand [`PLAN_PLIES`] plies after the position.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Plans {
    plies: usize,
    /// The results of the games that lasted at least `plies` plies after the position.
    pub(super) games: Counts,
    /// For each colour and kind of piece, the number of games in which such a piece stands on each
    /// square, from a1 to h8.
    pub(super) heat: Vec<Heat>,
    /// For each side, the most frequent new squares of its pieces, on which no piece of the same
    /// kind stood in the report's position.
    pub(super) placements: Vec<Placement>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Heat {
    /// The letter of the piece, as in FEN.
    pub(super) piece: char,
    pub(super) squares: Vec<u64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Placement {
    pub(super) piece: char,
    pub(super) square: String,
    pub(super) games: Counts,
    pub(super) share: f64,
}

/// The endgames reached in the games that were read.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Endgames {
    /// The number of games that reached an endgame.
    pub(super) games: u64,
    /// The number of different endgames.
    pub(super) different: usize,
    pub(super) rows: Vec<EndgameRow>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EndgameRow {
    #[serde(flatten)]
    pub(super) material: Material,
    pub(super) games: Counts,
    /// The games with this endgame as a fraction of the games read, in the range 0..=1.
    pub(super) share: f64,
}

impl Sample {
    /// Chooses the games for the sample: all games or, if there are more than `limit`, a selection
    /// at regular intervals in date order.
    pub(super) fn choose(games: &PositionGames, limit: usize) -> Self {
        let all = games.numbers();
        let numbers = spread(all, limit);
        let (games, chosen) = (all.len() as u64, numbers.len() as u64);
        Sample { games, limit, chosen, numbers, ..Sample::default() }
    }

    /// Reads the games of the sample and the model games from their PGN files.
    pub(super) fn read(
        &mut self,
        games: &PositionGames,
        facts: &mut Facts,
        root: &Position,
        folders: &[PathBuf],
        is_stopped: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(u64),
    ) {
        let mut wanted = self.numbers.clone();
        wanted.extend(facts.model_games.iter().map(|model| model.number));
        wanted.sort_unstable();
        wanted.dedup();
        let mut tally = Tally::new();
        games.read(&wanted, folders, is_stopped, |number, text| {
            let played = text.and_then(|text| moves_after(root, text));
            if let (Some(played), Some(model)) =
                (&played, facts.model_games.iter_mut().find(|model| model.number == number))
            {
                let shown = &played.moves[..played.moves.len().min(MODEL_PLIES)];
                model.moves = NamedMove::line(root, shown);
                model.plies = played.moves.len();
                model.event.clone_from(&played.event);
            }
            if self.numbers.binary_search(&number).is_err() {
                return;
            }
            match played {
                Some(played) => {
                    let listed = games.listed(number);
                    let result = listed.as_ref().map_or(GameResult::Undecided, |game| game.result);
                    tally.add(root, &played.moves, result);
                    self.read += 1;
                    self.ids.extend(listed.map(|game| game.id.to_string()));
                }
                None => self.missing += 1,
            }
            progress(self.read + self.missing);
        });
        self.stopped = self.read + self.missing < self.chosen;
        self.plans = tally.plans(root);
        self.endgames = tally.endgames(self.read);
    }
}

/// Returns `all` if it has at most `limit` items. Otherwise, returns `limit` items at regular
/// intervals, starting with the first one.
fn spread(all: &[u32], limit: usize) -> Vec<u32> {
    match all.len() <= limit {
        true => all.to_vec(),
        false => (0..limit).map(|at| all[at * all.len() / limit]).collect(),
    }
}

/// The moves of a game after the position, and its event.
struct Played {
    moves: Vec<Move>,
    event: String,
}

/// Reads the moves with which a game continued after it first reached `root`. Returns `None` if the
/// game did not reach it.
fn moves_after(root: &Position, text: &[u8]) -> Option<Played> {
    let mut follower = Follower { key: root.key(), moves: None, event: String::new() };
    Reader::new(text).read_game(&mut follower).ok()??;
    Some(Played { moves: follower.moves?, event: follower.event })
}

struct Follower {
    key: u64,
    /// The moves played after the position with this key, or `None` until the game reaches it.
    moves: Option<Vec<Move>>,
    event: String,
}

impl Visitor for Follower {
    fn wants_tag(&self, name: &[u8]) -> bool {
        name == b"Event"
    }

    fn begin(&mut self, tags: &Tags, start: &Position) -> ControlFlow<()> {
        self.event = tags.known("Event").map(|event| one_line(&event)).unwrap_or_default();
        self.moves = (start.key() == self.key).then(Vec::new);
        ControlFlow::Continue(())
    }

    fn played(&mut self, ply: &GamePly) -> ControlFlow<()> {
        match &mut self.moves {
            Some(moves) => moves.push(ply.mv),
            None if ply.key == self.key => self.moves = Some(Vec::new()),
            None => {}
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, _end: &GameEnd) {}
}

/// Totals over the games that have been read.
struct Tally {
    /// The results of the games that lasted at least [`PLAN_PLIES`] plies after the position.
    long: Counts,
    /// The results of the games in `long` that had a given piece on a given square, indexed by
    /// [`place`].
    heat: Vec<Counts>,
    endgames: BTreeMap<Material, Counts>,
    with_endgame: u64,
}

/// Returns the index in [`Tally::heat`] for a side, a kind of piece and a square.
fn place(side: usize, piece: usize, square: usize) -> usize {
    (side * PIECES.len() + piece) * SQUARES + square
}

impl Tally {
    fn new() -> Self {
        let heat = vec![Counts::default(); SIDES.len() * PIECES.len() * SQUARES];
        Tally { long: Counts::default(), heat, endgames: BTreeMap::new(), with_endgame: 0 }
    }

    fn add(&mut self, root: &Position, moves: &[Move], result: GameResult) {
        let counts = Counts::of(result, 1);
        let after = |position: &Position, mv: &Move| position.try_play(*mv);
        let mut positions = vec![*root];
        for mv in moves {
            let Some(next) = positions.last().and_then(|last| after(last, mv)) else { break };
            positions.push(next);
        }
        if let Some(position) = positions.get(PLAN_PLIES) {
            self.long += counts;
            for (at, square) in pieces(position) {
                self.heat[at + square.to_index()] += counts;
            }
        }
        let reached = endgames(positions.into_iter());
        self.with_endgame += u64::from(!reached.is_empty());
        for material in reached {
            *self.endgames.entry(material).or_default() += counts;
        }
    }

    fn plans(&self, root: &Position) -> Plans {
        let mut heat = Vec::new();
        let mut placements = Vec::new();
        for (side, &color) in SIDES.iter().enumerate() {
            let mut of_side = Vec::new();
            for (kind, &(piece, letter)) in PIECES.iter().enumerate() {
                let letter =
                    if color == Color::White { letter } else { letter.to_ascii_lowercase() };
                let counts = &self.heat[place(side, kind, 0)..place(side, kind, SQUARES)];
                heat.push(Heat {
                    piece: letter,
                    squares: counts.iter().map(Counts::games).collect(),
                });
                let is_new = |square: &Square| {
                    !position_has(root, color, piece, *square)
                        && counts[square.to_index()].games() > 0
                };
                of_side.extend(chess_squares().filter(is_new).map(|square| {
                    let games = counts[square.to_index()];
                    let share = share(games.games(), self.long.games());
                    Placement { piece: letter, square: square.to_string(), games, share }
                }));
            }
            // The sort is stable, so rows with equal counts stay ordered by piece and square.
            of_side.sort_by_key(|row| std::cmp::Reverse(row.games.games()));
            of_side.truncate(PLACEMENTS);
            placements.extend(of_side);
        }
        Plans { plies: PLAN_PLIES, games: self.long, heat, placements }
    }

    fn endgames(self, read: u64) -> Endgames {
        let different = self.endgames.len();
        let row = |(material, games): (Material, Counts)| EndgameRow {
            material,
            games,
            share: share(games.games(), read),
        };
        let mut rows: Vec<EndgameRow> = self.endgames.into_iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.games.games()));
        rows.truncate(ENDGAMES);
        Endgames { games: self.with_endgame, different, rows }
    }
}

/// For each piece in a position, returns the index of the first [`Tally::heat`] entry for its
/// colour and kind, and the square of the piece.
fn pieces(position: &Position) -> impl Iterator<Item = (usize, Square)> + '_ {
    SIDES.iter().enumerate().flat_map(move |(side, &color)| {
        PIECES.iter().enumerate().flat_map(move |(kind, &(piece, _))| {
            position.pieces(color, piece).map(move |square| (place(side, kind, 0), square))
        })
    })
}

fn position_has(position: &Position, color: Color, piece: Piece, square: Square) -> bool {
    position.pieces(color, piece).any(|other| other == square)
}

/// Returns all squares, from a1 to h8.
fn chess_squares() -> impl Iterator<Item = Square> {
    BitBoard(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_is_spread_over_all_games() {
        let all: Vec<u32> = (0..10).collect();
        assert_eq!(spread(&all, 10), all);
        assert_eq!(spread(&all, 4), [0, 2, 5, 7]);
        assert_eq!(spread(&all, 0), Vec::<u32>::new());
        assert_eq!(spread(&[], 3), Vec::<u32>::new());
    }

    #[test]
    fn moves_are_those_after_the_first_visit() {
        let position = ["Nf3", "Nf6"].iter().fold(Position::start(), |position, san| {
            position.play(position.parse_move(san).expect(san))
        });
        let text = b"[Event \"Open\"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 (3... d5) 4. d4 1-0\n";
        let played = moves_after(&position, text).expect("reached");
        let moves: Vec<String> = played.moves.iter().map(Move::to_string).collect();
        assert_eq!(moves, ["f3g1", "f6g8", "g1f3", "g8f6", "d2d4"]);
        assert_eq!(played.event, "Open");
        assert!(moves_after(&position, b"1. e4 e5 *").is_none());
        assert!(moves_after(&Position::start(), b"1. e4 e5 *").is_some());
    }
}
