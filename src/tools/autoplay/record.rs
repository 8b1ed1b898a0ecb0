//! The record of a finished game. The record can be written as PGN.
//!
//! ```
//! use tabia::autoplay::clock::MoveLimits;
//! use tabia::autoplay::record::GameRecord;
//! use tabia::autoplay::verdict::Verdict;
//! use tabia::position::Game;
//!
//! let record = GameRecord {
//!     number: 1,
//!     round: "1.1".to_owned(),
//!     names: ["Tabia".to_owned(), "Other".to_owned()],
//!     limits: [MoveLimits::default(); 2],
//!     game: Game::default(),
//!     moves: Vec::new(),
//!     verdict: Verdict::unfinished("interrupted"),
//!     date: "2024.01.31".to_owned(),
//! };
//! assert!(record.pgn("Match").contains("[White \"Tabia\"]"));
//! ```

use std::time::Duration;

use crate::chess::notation;
use crate::chess::position::{Game, Move};
use crate::games::pgn::{PgnGame, PgnMove};
use crate::support::words::visible;

use super::clock::MoveLimits;
use super::protocol_adapter::SearchInfo;
use super::verdict::Verdict;

/// A move played by an engine.
#[derive(Debug, Clone)]
pub struct PlayedMove {
    /// The move itself.
    pub mv: Move,
    /// The last search information sent by the engine before the move.
    pub info: SearchInfo,
    /// The time used for the move, measured by the match runner.
    pub elapsed: Duration,
}

impl PlayedMove {
    /// Returns the engine's comment about its book: `book` for a book move, a description of how
    /// the search ended in the book, or an empty string.
    pub fn remark(&self) -> &str {
        if self.info.book { "book" } else { &self.info.ending }
    }
}

/// A finished game, with all data needed to write it as PGN.
#[derive(Debug, Clone)]
pub struct GameRecord {
    /// The game's number in the match, counted from 1.
    pub number: usize,
    /// The value of the `Round` PGN tag.
    pub round: String,
    /// The names of the engines that played White and Black.
    pub names: [String; 2],
    /// The limits on White's and Black's searches.
    pub limits: [MoveLimits; 2],
    /// The starting position and all moves, including those of the opening.
    pub game: Game,
    /// The moves after the opening, with the information that the engines sent about them.
    pub moves: Vec<PlayedMove>,
    /// The result of the game and the reason for it.
    pub verdict: Verdict,
    /// The date of the game, in PGN format.
    pub date: String,
}

impl GameRecord {
    /// Returns the number of plies in the opening.
    pub fn opening_plies(&self) -> usize {
        self.game.moves().len() - self.moves.len()
    }

    /// Formats the game as PGN, followed by an empty line.
    pub fn pgn(&self, event: &str) -> String {
        let mut game = PgnGame::new(*self.game.start());
        for (name, value) in self.tags(event) {
            game.set_tag(name, visible(&value));
        }
        game.result = self.verdict.result();
        for (ply, &mv) in self.game.moves().iter().enumerate() {
            let comment = match ply.checked_sub(self.opening_plies()) {
                None => "book".to_owned(),
                Some(index) => comment(&self.moves[index]),
            };
            game.moves.push(PgnMove { comment, ..mv.into() });
        }
        // The reason why the game ended follows the last search information.
        let last = game.moves.last_mut().map_or(&mut game.comment, |played| &mut played.comment);
        *last = format!("{last} {}", self.verdict.detail);
        format!("{game}\n")
    }

    fn tags(&self, event: &str) -> Vec<(&'static str, String)> {
        let [white, black] = &self.names;
        let mut tags = vec![
            ("Event", event.to_owned()),
            ("Date", self.date.clone()),
            ("Round", self.round.clone()),
            ("White", white.clone()),
            ("Black", black.clone()),
        ];
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
}

/// Formats the comment on a move, such as `+0.35/12 0.52s 123456n`.
fn comment(played: &PlayedMove) -> String {
    let PlayedMove { info, elapsed, .. } = played;
    let time = format!("{:.3}s", elapsed.as_secs_f64());
    if info.book {
        return format!("book {time}");
    }
    match info.score {
        None => time,
        Some(score) => {
            let found = format!("{}/{} {time} {}n", notation::score(score), info.depth, info.nodes);
            if info.ending.is_empty() { found } else { format!("{found}, {}", info.ending) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Color;
    use crate::games::pgn::read_games;
    use crate::tools::autoplay::verdict::Termination;

    #[test]
    fn record_is_written_as_standard_pgn() {
        let mut game = Game::default();
        let mut moves = Vec::new();
        for (ply, text) in ["f2f3", "e7e5", "g2g4"].into_iter().enumerate() {
            let mv = text.parse().expect(text);
            game.play(mv).expect(text);
            let info =
                SearchInfo { score: Some(-35), depth: 9, nodes: 70, ..SearchInfo::default() };
            let elapsed = Duration::from_millis(520);
            moves.extend((ply > 0).then_some(PlayedMove { mv, info, elapsed }));
        }
        let detail = "White loses on time: 1.2 s used, 1 s allowed";
        let record = GameRecord {
            number: 1,
            round: "1".to_owned(),
            names: ["a \u{202e}b".to_owned(), "c".to_owned()],
            limits: [MoveLimits::default(); 2],
            game,
            moves,
            verdict: Verdict::against(Color::White, Termination::Time, detail),
            date: "2026.01.31".to_owned(),
        };
        let text = record.pgn("match");
        assert!(text.starts_with("[Event \"match\"]\n") && text.ends_with(" 0-1\n\n"), "{text}");
        assert!(text.contains("1. f3 {book} 1... e5 {-0.35/9 0.520s 70n} 2. g4"), "{text}");
        assert!(text.contains("[White \"a \\\\u{202e}b\"]"), "{text}");
        assert!(text.lines().all(|line| line.len() < 80), "{text}");
        let (read, _) = read_games(text.as_bytes()).next().expect("a game").expect("read");
        assert_eq!(read.moves.len(), 3);
        let comment = read.moves[2].comment.replace('\n', " ");
        assert_eq!(comment, format!("-0.35/9 0.520s 70n {detail}"));
        assert_eq!(read.tag("Termination"), Some("time forfeit"));
    }
}
