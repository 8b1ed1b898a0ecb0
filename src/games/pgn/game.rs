//! A complete game in memory: the main line and the tree of its variations.

use std::fmt;

use super::Fault;
use crate::chess::position::{Color, Game, Move, Position};

/// The result of a game in PGN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum GameResult {
    /// `1-0`
    White,
    /// `1/2-1/2`
    Draw,
    /// `0-1`
    Black,
    /// `*`: unfinished or unknown.
    #[default]
    Undecided,
}

impl GameResult {
    /// Parses a PGN result token: `1-0`, `0-1`, `1/2-1/2` or `*`. Also accepts `1/2` as a draw.
    pub fn from_token(token: &[u8]) -> Option<Self> {
        match token {
            b"1-0" => Some(GameResult::White),
            b"1/2-1/2" | b"1/2" => Some(GameResult::Draw),
            b"0-1" => Some(GameResult::Black),
            b"*" => Some(GameResult::Undecided),
            _ => None,
        }
    }

    /// Returns the PGN token.
    pub fn token(self) -> &'static str {
        match self {
            GameResult::White => "1-0",
            GameResult::Draw => "1/2-1/2",
            GameResult::Black => "0-1",
            GameResult::Undecided => "*",
        }
    }

    /// Returns the result of a game won by `winner`, or a draw if `winner` is `None`.
    pub fn won_by(winner: Option<Color>) -> Self {
        match winner {
            Some(Color::White) => GameResult::White,
            Some(Color::Black) => GameResult::Black,
            None => GameResult::Draw,
        }
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.token())
    }
}

/// A move with its annotations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgnMove {
    /// The move.
    pub mv: Move,
    /// The numeric annotation glyphs (NAGs) of the move, such as 1 for `!` and 2 for `?`.
    pub nags: Vec<u8>,
    /// The comment after the move; empty if there is none.
    pub comment: String,
    /// The variations that replace the move.
    pub variations: Vec<Variation>,
}

impl From<Move> for PgnMove {
    fn from(mv: Move) -> Self {
        PgnMove { mv, nags: Vec::new(), comment: String::new(), variations: Vec::new() }
    }
}

/// A line that replaces a move.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variation {
    /// The comment before the first move; empty if there is none.
    pub comment: String,
    /// The moves, starting from the position before the replaced move. Each move is either legal,
    /// or a null move by a side that is not in check.
    pub moves: Vec<PgnMove>,
    /// The rest of the variation from the first error on, or `None` if there was no error. The
    /// writer outputs its movetext unchanged.
    pub unread: Option<Box<Unread>>,
}

/// Movetext that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// The error. Its line number is always 0 (unknown).
    pub fault: Fault,
    /// The movetext from the invalid token to the end of the variation or game, joined into one
    /// line.
    pub movetext: String,
    /// The variations that replace the invalid move. Their text is also part of `movetext`.
    pub variations: Vec<Variation>,
}

impl FromIterator<Move> for Variation {
    fn from_iter<T: IntoIterator<Item = Move>>(moves: T) -> Self {
        Variation { moves: moves.into_iter().map(PgnMove::from).collect(), ..Self::default() }
    }
}

/// A game: tags, start position, main line with comments, and result. `Display` formats it as PGN
/// in export format, without the trailing empty line.
#[derive(Debug, Clone, PartialEq)]
pub struct PgnGame {
    /// The names and values of the tags, in order. The writer ignores the values of `Result`, `FEN`
    /// and `SetUp` given here, because it derives these tags from `result` and `start`.
    pub tags: Vec<(String, String)>,
    /// The comment before the first move; empty if there is none.
    pub comment: String,
    /// The start position.
    pub start: Position,
    /// The main line. Each move is either legal, or a null move by a side that is not in check.
    pub moves: Vec<PgnMove>,
    /// The main line from the first error on, if there is an error. The writer outputs it
    /// unchanged.
    pub unread: Option<Box<Unread>>,
    /// The result.
    pub result: GameResult,
}

impl PgnGame {
    /// Creates a game without tags or moves.
    pub fn new(start: Position) -> Self {
        PgnGame {
            tags: Vec::new(),
            comment: String::new(),
            start,
            moves: Vec::new(),
            unread: None,
            result: GameResult::Undecided,
        }
    }

    pub(crate) fn replay(&self) -> Game {
        let mut game = Game::new(self.start);
        for played in &self.moves {
            // Never fails, because the moves are legal, as documented for `moves`.
            if game.play(played.mv).is_err() {
                break;
            }
        }
        game
    }

    /// Returns the value of a tag.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Sets a tag. An existing tag keeps its position among the tags; a new one is added at the
    /// end.
    pub fn set_tag(&mut self, name: &str, value: impl Into<String>) {
        match self.tags.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = value.into(),
            None => self.tags.push((name.to_owned(), value.into())),
        }
    }
}

/// A move in the tree formed by a game's main line and variations.
#[derive(Debug)]
pub struct TreeMove<'a> {
    /// The index of the move played before this one, or `None` if there is none. Moves are numbered
    /// from 0 in movetext order, in which each move is followed by the variations that replace it.
    pub parent: Option<usize>,
    /// The position before the move.
    pub before: &'a Position,
    /// The move with its annotations.
    pub played: &'a PgnMove,
    /// The comment before the move, if the move begins a variation; otherwise empty.
    pub comment_before: &'a str,
}

impl PgnGame {
    /// Visits every legal move of the main line and of all variations, in the order of the
    /// movetext. This includes the moves of variations that replace an illegal move.
    pub fn visit_tree(&self, mut visit: impl FnMut(&TreeMove<'_>)) {
        let line = Line { comment: "", moves: &self.moves, unread: self.unread.as_deref() };
        visit_line(&self.start, None, &line, &mut 0, &mut visit);
    }

    /// Iterates over the unread movetext of the main line and of all variations that could not be
    /// read completely.
    pub fn unread(&self) -> impl Iterator<Item = &Unread> {
        let mut found = Vec::new();
        collect_unread(&self.moves, self.unread.as_deref(), &mut found);
        found.into_iter()
    }
}

struct Line<'a> {
    comment: &'a str,
    moves: &'a [PgnMove],
    unread: Option<&'a Unread>,
}

impl<'a> From<&'a Variation> for Line<'a> {
    fn from(variation: &'a Variation) -> Self {
        let Variation { comment, moves, unread } = variation;
        Line { comment, moves, unread: unread.as_deref() }
    }
}

fn visit_line(
    start: &Position,
    before: Option<usize>,
    line: &Line<'_>,
    next: &mut usize,
    visit: &mut impl FnMut(&TreeMove<'_>),
) {
    let (mut position, mut parent, mut comment_before) = (*start, before, line.comment);
    for played in line.moves {
        visit(&TreeMove { parent, before: &position, played, comment_before });
        comment_before = "";
        let own = *next;
        *next += 1;
        for variation in &played.variations {
            visit_line(&position, parent, &variation.into(), next, visit);
        }
        parent = Some(own);
        position = position.try_play(played.mv).unwrap_or(position);
    }
    for variation in line.unread.into_iter().flat_map(|unread| &unread.variations) {
        visit_line(&position, parent, &variation.into(), next, visit);
    }
}

fn collect_unread<'a>(moves: &'a [PgnMove], rest: Option<&'a Unread>, found: &mut Vec<&'a Unread>) {
    let variations = moves.iter().flat_map(|played| &played.variations);
    for variation in variations.chain(rest.into_iter().flat_map(|rest| &rest.variations)) {
        found.extend(variation.unread.as_deref());
        collect_unread(&variation.moves, variation.unread.as_deref(), found);
    }
}
