//! Writes PGN text in export format.

use std::fmt;

use super::{PgnGame, PgnMove, Unread, Variation};
use crate::chess::position::{Color, Position};
use crate::support::words::one_line;

/// The maximum length of movetext lines, as in the PGN standard. A line is longer only if it cannot
/// be split, because it is a single word or because the next word must not begin a line.
const LINE_WIDTH: usize = 79;

/// An embedded command in a comment may be split across lines only if it is longer than this number
/// of bytes. The limit leaves room for long lists of arrows.
const LONGEST_COMMAND: usize = 1000;

/// The tags of the Seven Tag Roster in the order of the PGN standard, each with the value written
/// if the tag is missing.
const ROSTER: [(&str, &str); 7] = [
    ("Event", "?"),
    ("Site", "?"),
    ("Date", "????.??.??"),
    ("Round", "?"),
    ("White", "?"),
    ("Black", "?"),
    ("Result", "*"),
];

/// Formats a tag as a line of PGN, without the newline. Line breaks and control characters in the
/// value are replaced with spaces, so that the line always contains exactly one tag.
fn tag_pair(name: &str, value: &str) -> String {
    let is_of_name = |sign: &char| sign.is_ascii_alphanumeric() || *sign == '_';
    let name: String = name.chars().filter(is_of_name).collect();
    let name = if name.is_empty() { "Unknown" } else { &name };
    let value = one_line(value).replace('\\', r"\\").replace('"', "\\\"");
    format!("[{name} \"{value}\"]")
}

fn comment(text: &str) -> String {
    let text = one_line(text).replace('{', "(").replace('}', ")");
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    format!("{{{}}}", words.join(" "))
}

impl fmt::Display for PgnGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in tag_pairs(self) {
            writeln!(f, "{}", tag_pair(name, &value))?;
        }
        writeln!(f)?;
        let mut lines = Lines::new(f, LINE_WIDTH);
        lines.comment(&self.comment)?;
        lines.moves(&self.start, &self.moves)?;
        lines.unread(self.unread.as_deref())?;
        lines.word(self.result.token())?;
        lines.finish()?;
        writeln!(f)
    }
}

fn tag_pairs(game: &PgnGame) -> Vec<(&str, String)> {
    let mut pairs: Vec<(&str, String)> = ROSTER
        .iter()
        .map(|&(name, missing)| (name, game.tag(name).unwrap_or(missing).to_owned()))
        .collect();
    pairs[ROSTER.len() - 1].1 = game.result.to_string();
    let written_elsewhere = |name: &str| {
        ROSTER.iter().any(|(other, _)| *other == name) || name == "FEN" || name == "SetUp"
    };
    for (name, value) in game.tags.iter().filter(|(name, _)| !written_elsewhere(name)) {
        pairs.push((name, value.clone()));
    }
    if game.start != Position::start() {
        pairs.push(("SetUp", "1".to_owned()));
        pairs.push(("FEN", game.start.fen()));
    }
    pairs
}

impl Variation {
    /// Returns the movetext of the variation as a single line. `start` is the position before the
    /// move that the variation replaces.
    pub fn movetext(&self, start: &Position) -> String {
        let mut text = String::new();
        let mut lines = Lines::new(&mut text, usize::MAX);
        // Writing to a string cannot fail.
        let written = lines.variation(self, start).and_then(|()| lines.finish());
        debug_assert!(written.is_ok());
        text
    }
}

struct Lines<'a> {
    out: &'a mut dyn fmt::Write,
    limit: usize,
    width: usize,
    word: String,
    /// The opening parentheses to write before the next word.
    open: String,
}

impl<'a> Lines<'a> {
    fn new(out: &'a mut dyn fmt::Write, limit: usize) -> Self {
        Lines { out, limit, width: 0, word: String::new(), open: String::new() }
    }

    fn moves(&mut self, start: &Position, moves: &[PgnMove]) -> fmt::Result {
        let mut position = *start;
        let mut number_due = true;
        for pgn_move in moves {
            let white = position.side_to_move() == Color::White;
            if white || number_due {
                let dots = if white { "." } else { "..." };
                self.word(&format!("{}{dots}", position.fullmove_number()))?;
            }
            self.word(&position.san(pgn_move.mv))?;
            for nag in &pgn_move.nags {
                self.word(&format!("${nag}"))?;
            }
            self.comment(&pgn_move.comment)?;
            let filled = |variation: &&Variation| **variation != Variation::default();
            for variation in pgn_move.variations.iter().filter(filled) {
                self.open.push('(');
                self.variation(variation, &position)?;
                self.word.push(')');
            }
            number_due = !(pgn_move.comment.is_empty() && pgn_move.variations.is_empty());
            position = position.try_play(pgn_move.mv).unwrap_or(position);
        }
        Ok(())
    }

    fn variation(&mut self, variation: &Variation, start: &Position) -> fmt::Result {
        self.comment(&variation.comment)?;
        self.moves(start, &variation.moves)?;
        self.unread(variation.unread.as_deref())
    }

    fn unread(&mut self, unread: Option<&Unread>) -> fmt::Result {
        let movetext = unread.map_or("", |unread| &unread.movetext);
        one_line(movetext).split_ascii_whitespace().try_for_each(|word| self.word(word))
    }

    /// Writes a comment in braces, unless it is empty. Embedded commands of up to
    /// [`LONGEST_COMMAND`] bytes, such as `[%eval 0.17]`, are not split across lines, because some
    /// readers cannot parse split commands.
    fn comment(&mut self, text: &str) -> fmt::Result {
        if text.is_empty() {
            return Ok(());
        }
        let text = comment(text);
        let mut left = text.as_str();
        while !left.is_empty() {
            let blank = |text: &str| text.find(' ').unwrap_or(text.len());
            let mut end = blank(left);
            if left[..end].contains("[%")
                && let Some(closed) = left.find([']', '}']).filter(|&at| at < LONGEST_COMMAND)
                && left[closed..].starts_with(']')
            {
                end = closed + blank(&left[closed..]);
            }
            self.word(&left[..end])?;
            left = left[end..].trim_start_matches(' ');
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> fmt::Result {
        self.finish()?;
        self.word = std::mem::take(&mut self.open) + word;
        Ok(())
    }

    fn finish(&mut self) -> fmt::Result {
        let word = std::mem::take(&mut self.word);
        if word.is_empty() {
            return Ok(());
        }
        let length = word.chars().count();
        // These characters must not begin a line: `[` would begin a tag, and `%` would comment out
        // the line.
        let may_break = !word.starts_with(['[', '%']);
        if self.width > 0 && may_break && self.width + 1 + length > self.limit {
            self.out.write_str("\n")?;
            self.width = 0;
        }
        if self.width > 0 {
            self.out.write_str(" ")?;
            self.width += 1;
        }
        self.width += length;
        self.out.write_str(&word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::pgn::{GameResult, read_games};

    fn game(start: &str, moves: &str) -> PgnGame {
        let mut game = PgnGame::new(Position::from_fen(start).expect(start));
        let mut position = game.start;
        for san in moves.split_ascii_whitespace() {
            let mv = position.parse_move(san).expect(san);
            game.moves.push(mv.into());
            position = position.play(mv);
        }
        game
    }

    #[test]
    fn line_breaks_do_not_split_comment_commands() {
        let mut written = game(&Position::start().fen(), "e4 e5 Nf3 Nc6 Bb5 a6 Ba4");
        for mv in &mut written.moves {
            mv.comment = "[%eval 0.17] [%clk 0:01:00] and [%odd".to_owned();
        }
        let text = written.to_string();
        let longest = LINE_WIDTH + " [%clk 0:01:00]".len();
        assert!(text.lines().all(|line| line.chars().count() <= longest), "{text}");
        assert_eq!(text.matches("[%eval 0.17]").count(), 7, "{text}");
        assert_eq!(text.matches("[%clk 0:01:00]").count(), 7, "{text}");
        let (read, _) = read_games(text.as_bytes()).next().expect("one game").expect("read");
        let comments: Vec<String> =
            read.moves.iter().map(|mv| mv.comment.replace('\n', " ")).collect();
        assert!(
            comments.iter().all(|comment| *comment == written.moves[0].comment),
            "{comments:?}"
        );
    }

    #[test]
    fn game_round_trips() {
        let start = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 7";
        let mut written = game(start, "Kd7 e4 Ke6 Kd2 Ke5 Ke3");
        written.set_tag("White", r#"Reiner "Zufall" \ Co"#);
        written.set_tag("Annotator", "Ünsal");
        written.result = GameResult::Draw;
        written.comment = "only pawns".to_owned();
        written.moves[2] =
            PgnMove { nags: vec![1], comment: "a } brace ".repeat(12), ..written.moves[2].clone() };
        let text = written.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= LINE_WIDTH), "{text}");
        assert!(text.contains("7... Kd7 8. e4 Ke6 $1 {a ) brace"), "{text}");
        let (read, end) =
            read_games(text.as_bytes()).next().expect("one game").expect("no read error");
        assert_eq!(end.status, crate::games::pgn::GameStatus::Read);
        assert_eq!((read.start, read.result), (written.start, written.result));
        assert_eq!(read.tag("White"), written.tag("White"));
        assert_eq!(read.tag("Annotator"), written.tag("Annotator"));
        assert_eq!(read.tag("Site"), Some("?"));
        assert_eq!(read.comment, written.comment);
        let moves = |game: &PgnGame| game.moves.iter().map(|m| m.mv).collect::<Vec<_>>();
        assert_eq!(moves(&read), moves(&written));
        assert_eq!(read.moves[2].nags, [1]);
        assert_eq!(read.to_string().lines().count(), text.lines().count());
    }
}
