//! A whole game in memory.

use std::fmt;
use std::io::{self, Read};
use std::ops::ControlFlow;

use super::tags::text;
use super::{GameEnd, GamePly, GameStatus, Reader, Tags, Visitor};
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
    /// Parses one of the four PGN result tokens. Also accepts `1/2` as a draw.
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

    /// Returns the result of a game with this winner, or a draw for `None`.
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
    /// Numeric annotation glyphs, such as 1 for `!` and 2 for `?`.
    pub nags: Vec<u8>,
    /// The comment after the move; empty if there is none.
    pub comment: String,
    /// Variations that replace the move, as movetext without the enclosing parentheses. They
    /// contain their own move numbers, comments and variations, and are written unchanged.
    pub variations: Vec<String>,
}

impl From<Move> for PgnMove {
    fn from(mv: Move) -> Self {
        PgnMove { mv, nags: Vec::new(), comment: String::new(), variations: Vec::new() }
    }
}

/// A game: tags, start position, main line with comments, and result.
///
/// `Display` formats it as PGN text in export format. An empty line separates it from the next
/// game.
#[derive(Debug, Clone, PartialEq)]
pub struct PgnGame {
    /// Names and values, in order. The written tags `Result`, `FEN` and `SetUp` come from `result`
    /// and `start`; values for them here are ignored.
    pub tags: Vec<(String, String)>,
    /// The comment before the first move; empty if there is none.
    pub comment: String,
    /// The start position.
    pub start: Position,
    /// The main line. Each move is either legal, or a null move made when not in check.
    pub moves: Vec<PgnMove>,
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
            result: GameResult::Undecided,
        }
    }

    pub(crate) fn replay(&self) -> Game {
        let mut game = Game::new(self.start);
        for played in &self.moves {
            // The moves are legal, as documented for `moves`.
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

    /// Sets a tag. An existing tag keeps its position.
    pub fn set_tag(&mut self, name: &str, value: impl Into<String>) {
        match self.tags.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = value.into(),
            None => self.tags.push((name.to_owned(), value.into())),
        }
    }
}

/// Reads all games of an input, with a report on each.
///
/// Chess variants are returned without moves. Text between games is skipped.
pub fn read_games<R: Read>(input: R) -> impl Iterator<Item = io::Result<(PgnGame, GameEnd)>> {
    let mut reader = Reader::new(input);
    std::iter::from_fn(move || {
        loop {
            let mut collector = Collector { game: PgnGame::new(Position::start()) };
            match reader.read_game(&mut collector).transpose()? {
                Ok(end) if end.status == GameStatus::Text => {}
                end => {
                    let game = collector.game;
                    return Some(end.map(|end| (PgnGame { result: end.result, ..game }, end)));
                }
            }
        }
    })
}

pub(super) struct Collector {
    pub(super) game: PgnGame,
}

impl Visitor for Collector {
    fn begin(&mut self, tags: &Tags, start: &Position) -> ControlFlow<()> {
        self.game.start = *start;
        self.game.tags =
            tags.iter().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        ControlFlow::Continue(())
    }

    fn played(&mut self, ply: &GamePly) -> ControlFlow<()> {
        self.game.moves.push(ply.mv.into());
        ControlFlow::Continue(())
    }

    fn comment(&mut self, comment: &[u8]) {
        let target = match self.game.moves.last_mut() {
            Some(mv) => &mut mv.comment,
            None => &mut self.game.comment,
        };
        if !target.is_empty() {
            target.push(' ');
        }
        target.push_str(text(comment).trim());
    }

    fn nag(&mut self, nag: u8) {
        if let Some(mv) = self.game.moves.last_mut() {
            mv.nags.push(nag);
        }
    }

    fn variation(&mut self, movetext: &[u8]) {
        if let Some(mv) = self.game.moves.last_mut() {
            mv.variations.push(in_one_line(&text(movetext)));
        }
    }

    fn end(&mut self, _end: &GameEnd) {}
}

/// Joins movetext into one line. A comment that extends to the end of its line becomes a comment in
/// braces.
fn in_one_line(movetext: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut left = movetext;
    while let Some(at) = left.find(['{', ';']) {
        let (before, comment) = left.split_at(at);
        words.extend(before.split_whitespace().map(str::to_owned));
        let end = if comment.starts_with('{') { '}' } else { '\n' };
        let (text, after) = comment[1..].split_once(end).unwrap_or((&comment[1..], ""));
        let text: Vec<&str> = text.split_whitespace().collect();
        words.push(format!("{{{}}}", text.join(" ").replace('}', ")")));
        left = after;
    }
    words.extend(left.split_whitespace().map(str::to_owned));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variations_are_preserved() {
        let text = "1. e4 (1. d4 {a (\n b} d5 (1... Nf6 $1) ; to the } end\n 2. c4) e5 (1... c5) \
                    (1... e6!) 2. Nf3 *\n";
        let (game, _) = read_games(text.as_bytes()).next().expect("a game").expect("read");
        let variations: Vec<&[String]> = game.moves.iter().map(|mv| &mv.variations[..]).collect();
        let first = "1. d4 {a ( b} d5 (1... Nf6 $1) {to the ) end} 2. c4";
        assert_eq!(variations, [&[first][..], &["1... c5", "1... e6!"], &[]]);
        let written = game.to_string();
        let words = written.replace('\n', " ");
        assert!(words.contains(&format!("1. e4 ({first}) 1... e5 (1... c5) (1... e6!) 2. Nf3")));
        let mut games = read_games(written.as_bytes());
        let (again, _) = games.next().expect("a game").expect("read");
        assert_eq!(again.moves, game.moves);
        assert!(games.next().is_none() && games.next().is_none(), "the end is final");
    }
}
