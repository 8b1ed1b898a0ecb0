//! The record of a finished game, which can be written as PGN.
//!
//! ```
//! use tabia::autoplay::clock::MoveLimits;
//! use tabia::autoplay::pgn_style::PgnStyle;
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
//!     times: None,
//!     overhead: Default::default(),
//! };
//! assert!(record.pgn(&PgnStyle::default()).contains("[White \"Tabia\"]"));
//! ```

use std::time::{Duration, Instant};

use crate::chess::notation;
use crate::chess::position::{Game, Move};
use crate::games::pgn::{PgnGame, PgnMove};
use crate::support::clock::{DAY, HOUR, MINUTE, civil_date};
use crate::support::words::{rounded, visible};

use super::clock::MoveLimits;
use super::overhead::Overhead;
use super::pgn_style::{PgnField, PgnStyle};
use super::protocol_adapter::SearchInfo;
use super::verdict::Verdict;

/// A move played by an engine.
#[derive(Debug, Clone)]
pub struct PlayedMove {
    /// The move itself.
    pub mv: Move,
    /// The last search information sent by the engine before the move.
    pub info: SearchInfo,
    /// The time used for the move, measured by the match runner, in whole milliseconds.
    pub elapsed: Duration,
    /// When the engine's turn began: just before the last command of the turn, such as `go`, was
    /// sent.
    pub began: Instant,
    /// The time left on the engine's clock after the move, or `None` if it has no clock.
    pub remaining: Option<Duration>,
}

impl PlayedMove {
    /// Returns the engine's remark about its book: `book` for a book move, its description of how
    /// the book ended the search, or an empty string.
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
    /// The starting position and all moves of the game, including the opening moves.
    pub game: Game,
    /// The moves after the opening, with the search information reported for each.
    pub moves: Vec<PlayedMove>,
    /// The result of the game and the reason for it.
    pub verdict: Verdict,
    /// The date of the game, in PGN format.
    pub date: String,
    /// When the game began and when it ended, as times since 1970-01-01 00:00 UTC. `None` if
    /// unknown.
    pub times: Option<[Duration; 2]>,
    /// The delays that the match runner caused.
    pub overhead: Overhead,
}

impl GameRecord {
    /// Returns the number of plies in the opening.
    pub fn opening_plies(&self) -> usize {
        self.game.moves().len() - self.moves.len()
    }

    /// Formats the game as PGN, followed by an empty line.
    pub fn pgn(&self, style: &PgnStyle) -> String {
        let mut game = PgnGame::new(*self.game.start());
        for (name, value) in self.tags(style) {
            game.set_tag(name, visible(&value));
        }
        game.result = self.verdict.result();
        for (ply, &mv) in self.game.moves().iter().enumerate() {
            let comment = match ply.checked_sub(self.opening_plies()) {
                None => "book".to_owned(),
                Some(index) => comment(&self.moves[index], &style.fields.0),
            };
            game.moves.push(PgnMove { comment, ..mv.into() });
        }
        // Append the reason for the result to the comment on the last move.
        let last = game.moves.last_mut().map_or(&mut game.comment, |played| &mut played.comment);
        let separator = if last.is_empty() { "" } else { ", " };
        *last = format!("{last}{separator}{}", self.verdict.detail);
        format!("{game}\n")
    }

    /// Formats the final position of the game as EPD, with the game's number and result.
    pub fn epd(&self) -> String {
        final_epd(&self.game, self.number, &self.verdict)
    }

    fn tags(&self, style: &PgnStyle) -> Vec<(&'static str, String)> {
        let [white, black] = &self.names;
        let mut tags = vec![
            ("Event", style.event.clone()),
            ("Date", self.date.clone()),
            ("Round", self.round.clone()),
            ("White", white.clone()),
            ("Black", black.clone()),
        ];
        if !style.site.is_empty() {
            tags.push(("Site", style.site.clone()));
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
        if let Some([began, ended]) = self.times {
            tags.push(("GameStartTime", time_tag(began)));
            tags.push(("GameEndTime", time_tag(ended)));
            tags.push(("GameDuration", clock_time(ended.saturating_sub(began).as_secs())));
        }
        tags
    }
}

/// Formats a time since 1970-01-01 00:00 UTC as fastchess does: `2026-01-31T23:11:09 +0000`.
fn time_tag(time: Duration) -> String {
    let (days, seconds) = (time.as_secs() / DAY, time.as_secs() % DAY);
    let (year, month, day) = civil_date(days);
    format!("{year:04}-{month:02}-{day:02}T{} +0000", clock_time(seconds))
}

/// Formats a number of seconds as hours, minutes and seconds: `01:02:03`.
fn clock_time(seconds: u64) -> String {
    let (hours, minutes) = (seconds / HOUR, seconds % HOUR / MINUTE);
    format!("{hours:02}:{minutes:02}:{:02}", seconds % MINUTE)
}

/// Formats the final position of a game as EPD, with the number and the result of the game.
pub(super) fn final_epd(game: &Game, number: usize, verdict: &Verdict) -> String {
    let position = game.position();
    let (epd, full_moves) = (position.epd(), position.fullmove_number());
    let half_moves = position.halfmove_clock();
    let quoted = visible(&verdict.detail).replace('"', "'");
    format!(
        "{epd} hmvc {half_moves}; fmvn {full_moves}; id \"game {number}\"; c0 \"{} {quoted}\";\n",
        verdict.result()
    )
}

/// Formats the comment on a move, such as `+0.35/12 0.520s, n=123456`.
fn comment(played: &PlayedMove, fields: &[PgnField]) -> String {
    let PlayedMove { info, elapsed, .. } = played;
    let time = format!("{:.3}s", elapsed.as_secs_f64());
    let begin = match info.score {
        _ if info.book => format!("book {time}"),
        None => time,
        Some(score) => format!("{}/{} {time}", notation::score(score), info.depth),
    };
    let written = fields.iter().filter_map(|&field| write_field(played, field));
    [begin].into_iter().chain(written).collect::<Vec<String>>().join(", ")
}

/// Formats an optional field of a move comment. Returns `None` if the field's value is unknown.
fn write_field(played: &PlayedMove, field: PgnField) -> Option<String> {
    let PlayedMove { info, elapsed, remaining, .. } = played;
    if field == PgnField::TimeLeft {
        return remaining.map(|left| format!("tl={:.3}s", left.as_secs_f64()));
    }
    // A book move, or a move without a score, was not searched, so the other fields have no values.
    info.score.filter(|_| !info.book)?;
    let number = |name, number: Option<u64>| number.map(|number| format!("{name}={number}"));
    let text = |name, text: &str| (!text.is_empty()).then(|| format!("{name}=\"{text}\""));
    match field {
        PgnField::TimeLeft => None,
        PgnField::Latency => {
            let latency = elapsed.as_secs_f64() - info.elapsed.as_secs_f64();
            Some(format!("latency={:.3}s", rounded(latency, 3)))
        }
        PgnField::Nodes => number("n", Some(info.nodes)),
        PgnField::SelectiveDepth => number("sd", info.selective_depth),
        PgnField::Speed => number("nps", info.speed),
        PgnField::HashFull => number("hashfull", info.hash_full),
        PgnField::TablebaseHits => number("tbhits", info.tablebase_hits),
        PgnField::Line => text("pv", &info.line),
        PgnField::Book => text("book", &info.ending),
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
            let (began, remaining) = (Instant::now(), Some(Duration::from_millis(9_480)));
            moves.extend((ply > 0).then_some(PlayedMove { mv, info, elapsed, began, remaining }));
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
            times: Some([1_164_669_069, 1_164_672_730].map(Duration::from_secs)),
            overhead: Overhead::default(),
        };
        let event = "match".to_owned();
        let text = record.pgn(&PgnStyle { event, ..PgnStyle::default() });
        assert!(text.starts_with("[Event \"match\"]\n") && text.ends_with(" 0-1\n\n"), "{text}");
        assert!(text.contains("1. f3 {book} 1... e5 {-0.35/9 0.520s, n=70} 2. g4"), "{text}");
        assert!(text.contains("[White \"a \\\\u{202e}b\"]"), "{text}");
        assert!(text.lines().all(|line| line.len() < 80), "{text}");
        let (read, _) = read_games(text.as_bytes()).next().expect("a game").expect("read");
        assert_eq!(read.moves.len(), 3);
        let comment = read.moves[2].comment.replace('\n', " ");
        assert_eq!(comment, format!("-0.35/9 0.520s, n=70, {detail}"));
        assert_eq!(read.tag("Termination"), Some("time forfeit"));
        assert_eq!(read.tag("GameStartTime"), Some("2006-11-27T23:11:09 +0000"));
        assert_eq!(read.tag("GameEndTime"), Some("2006-11-28T00:12:10 +0000"));
        assert_eq!(read.tag("GameDuration"), Some("01:01:01"));
    }

    #[test]
    fn comments_contain_the_chosen_fields() {
        let info = SearchInfo {
            score: Some(35),
            depth: 12,
            nodes: 70,
            elapsed: Duration::from_millis(519),
            line: "e2e4 e7e5".to_owned(),
            selective_depth: Some(20),
            speed: Some(135),
            hash_full: Some(3),
            tablebase_hits: Some(0),
            ending: "meets the book".to_owned(),
            ..SearchInfo::default()
        };
        let mut played = PlayedMove {
            mv: "e2e4".parse().expect("a move"),
            info,
            elapsed: Duration::from_millis(520),
            began: Instant::now(),
            remaining: Some(Duration::from_millis(9_480)),
        };
        let all = "+0.35/12 0.520s, tl=9.480s, latency=0.001s, n=70, sd=20, nps=135, hashfull=3, \
                   tbhits=0, pv=\"e2e4 e7e5\", book=\"meets the book\"";
        assert_eq!(comment(&played, &PgnField::ALL), all);
        assert_eq!(comment(&played, &[]), "+0.35/12 0.520s");
        (played.info.speed, played.remaining) = (None, None);
        let fields = [PgnField::Speed, PgnField::TimeLeft, PgnField::SelectiveDepth];
        assert_eq!(comment(&played, &fields), "+0.35/12 0.520s, sd=20");
        played.info.book = true;
        assert_eq!(comment(&played, &PgnField::ALL), "book 0.520s");
        played.info = SearchInfo::default();
        assert_eq!(comment(&played, &PgnField::ALL), "0.520s");
    }

    #[test]
    fn final_position_is_valid_epd() {
        let mut game = Game::default();
        game.play("e2e4".parse().expect("a move")).expect("legal");
        let verdict = Verdict::against(Color::White, Termination::IllegalMove, "plays \"x\"");
        let line = final_epd(&game, 7, &verdict);
        assert!(line.ends_with("hmvc 0; fmvn 1; id \"game 7\"; c0 \"0-1 plays 'x'\";\n"), "{line}");
        let read = crate::chess::epd::positions(&line).expect("EPD");
        assert_eq!(read[0].key(), game.position().key());
    }
}
