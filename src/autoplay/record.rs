//! What remains of a game, and its PGN.

use std::fmt::Write;
use std::time::Duration;

use crate::pgn;
use crate::position::{Color, Game, Move, Position};
use crate::words::{self, visible};

use super::clock::Limits;
use super::dialect::Info;
use super::verdict::Verdict;

/// A move that an engine made.
#[derive(Debug, Clone)]
pub struct PlayedMove {
    /// The move.
    pub mv: Move,
    /// What the engine said last about its thinking.
    pub info: Info,
    /// The time it took by the runner's clock.
    pub elapsed: Duration,
}

/// A finished game.
#[derive(Debug, Clone)]
pub struct GameRecord {
    /// Its number in the match, from 1.
    pub number: usize,
    /// The round, for the PGN tag.
    pub round: String,
    /// Names of White and Black.
    pub names: [String; 2],
    /// What White and Black played under.
    pub limits: [Limits; 2],
    /// Start and moves, the opening included.
    pub game: Game,
    /// The moves after the opening.
    pub moves: Vec<PlayedMove>,
    /// How it ended.
    pub verdict: Verdict,
    /// The day it was played, as PGN has it.
    pub date: String,
}

/// Lines of PGN movetext are no longer than this (standard, section 4.3).
const LINE_WIDTH: usize = 80;

impl GameRecord {
    /// How many plies the opening had.
    pub fn opening_plies(&self) -> usize {
        self.game.moves().len() - self.moves.len()
    }

    /// The game as PGN, with an empty line after it.
    pub fn pgn(&self, event: &str) -> String {
        let mut text = String::new();
        for (name, value) in self.tags(event) {
            let value = visible(&value);
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{}", pgn::tag_pair(name, &value));
        }
        text.push('\n');
        let mut width = 0;
        for token in self.movetext() {
            // At the beginning of a line, even within a comment, some readers take these for a
            // tag, or for a line that is to be skipped.
            let sticks = token.starts_with(['[', '%']);
            if width > 0 && width + 1 + token.len() > LINE_WIDTH && !sticks {
                text.push('\n');
                width = 0;
            } else if width > 0 {
                text.push(' ');
                width += 1;
            }
            width += token.len();
            text.push_str(&token);
        }
        text.push_str("\n\n");
        text
    }

    fn tags(&self, event: &str) -> Vec<(&'static str, String)> {
        let [white, black] = &self.names;
        let mut tags = vec![
            ("Event", event.to_owned()),
            ("Site", "?".to_owned()),
            ("Date", self.date.clone()),
            ("Round", self.round.clone()),
            ("White", white.clone()),
            ("Black", black.clone()),
            ("Result", self.verdict.result().to_owned()),
        ];
        if *self.game.start() != Position::start() {
            tags.push(("SetUp", "1".to_owned()));
            tags.push(("FEN", self.game.start().fen()));
        }
        let [white, black] = self.limits.map(|limits| limits.to_string());
        if white == black {
            tags.push(("TimeControl", white));
        } else {
            tags.push(("WhiteTimeControl", white));
            tags.push(("BlackTimeControl", black));
        }
        tags.push(("Termination", self.verdict.termination.pgn().to_owned()));
        tags.push(("PlyCount", self.game.moves().len().to_string()));
        tags
    }

    /// Move numbers, moves, comments and the result, in order. A comment is broken at its blanks
    /// like the rest.
    fn movetext(&self) -> Vec<String> {
        let mut tokens = Vec::new();
        let opening = self.opening_plies();
        for (ply, &mv) in self.game.moves().iter().enumerate() {
            let position = &self.game.positions()[ply];
            let number = position.fullmove_number();
            match position.side_to_move() {
                Color::White => tokens.push(format!("{number}.")),
                Color::Black if ply == 0 => tokens.push(format!("{number}...")),
                Color::Black => {}
            }
            tokens.push(position.san(mv));
            let comment = match ply.checked_sub(opening) {
                None => "book".to_owned(),
                Some(index) => comment(&self.moves[index]),
            };
            tokens.extend(format!("{{{comment}}}").split(' ').map(str::to_owned));
        }
        let detail = pgn::comment(&self.verdict.detail);
        tokens.extend(detail.split(' ').map(str::to_owned));
        tokens.push(self.verdict.result().to_owned());
        tokens
    }
}

/// What the engine said of its move: `+0.35/12 0.52s 123456n`.
fn comment(played: &PlayedMove) -> String {
    let PlayedMove { info, elapsed, .. } = played;
    let time = format!("{:.3}s", elapsed.as_secs_f64());
    if info.book {
        return format!("book {time}");
    }
    match info.score {
        None => time,
        Some(score) => {
            format!("{}/{} {time} {}n", words::score(score), info.depth, info.nodes)
        }
    }
}
