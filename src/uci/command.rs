//! What a GUI tells an engine.

use std::num::IntErrorKind;
use std::str::FromStr;
use std::time::Duration;

/// A command of the GUI. Moves and positions stay text until they are played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Asks for the introduction.
    Uci,
    /// Asks for `readyok` once all before it is done.
    IsReady,
    /// A new game begins.
    NewGame,
    /// Sets an option; a button has no value.
    SetOption {
        /// The option's name, which may hold blanks.
        name: String,
        /// The value; empty for a button.
        value: String,
    },
    /// What to search from.
    Position {
        /// Where the moves begin.
        start: Start,
        /// The moves from there.
        moves: Vec<String>,
    },
    /// Search.
    Go(Box<Go>),
    /// End the search and tell its move.
    Stop,
    /// The expected move was made.
    PonderHit,
    /// Tell what is not understood, or do not.
    Debug(bool),
    /// Leave at once.
    Quit,
    /// Has no meaning for this engine.
    Ignored,
    /// Has no meaning for any.
    Unknown,
}

/// Where the moves of `position` begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// At the start position.
    Usual,
    /// At this FEN.
    Fen(String),
    /// Nothing was said.
    Missing,
}

/// The bounds of a search as `go` gives them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Go {
    /// The only moves to search; empty for all.
    pub search_moves: Vec<String>,
    /// Search on the opponent's time.
    pub ponder: bool,
    /// White's clock and Black's.
    pub time: [Option<Duration>; 2],
    /// White's increment and Black's.
    pub increment: [Duration; 2],
    /// Moves to the next time control.
    pub moves_to_go: Option<u32>,
    /// The last iteration, in plies.
    pub depth: Option<i32>,
    /// Nodes to search.
    pub nodes: Option<u64>,
    /// Look for a mate in so many moves.
    pub mate: Option<i32>,
    /// Time for this move.
    pub move_time: Option<Duration>,
    /// Search until told to stop.
    pub infinite: bool,
    /// The bounds whose value is none, with what stands there; they are passed over.
    pub garbled: Vec<String>,
}

impl FromStr for Command {
    type Err = std::convert::Infallible;

    /// Reads one line. As the protocol wishes, unknown words before a command are passed over.
    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let commands = (0..words.len()).map(|start| command(words[start], &words[start + 1..]));
        let nothing = if words.is_empty() { Command::Ignored } else { Command::Unknown };
        Ok(commands.into_iter().flatten().next().unwrap_or(nothing))
    }
}

fn command(word: &str, rest: &[&str]) -> Option<Command> {
    Some(match word {
        "uci" => Command::Uci,
        "isready" => Command::IsReady,
        "ucinewgame" => Command::NewGame,
        "setoption" => set_option(rest),
        "position" => position(rest),
        "go" => Command::Go(Box::new(go(rest))),
        "stop" => Command::Stop,
        "ponderhit" => Command::PonderHit,
        "quit" => Command::Quit,
        "debug" => Command::Debug(rest.first() != Some(&"off")),
        "register" => Command::Ignored,
        _ => return None,
    })
}

/// `name NAME [value VALUE]`, both of any number of words.
fn set_option(words: &[&str]) -> Command {
    let (_, words) = split(words, "name").unwrap_or((&[], words));
    let (name, value) = split(words, "value").unwrap_or((words, &[]));
    Command::SetOption { name: name.join(" "), value: value.join(" ") }
}

/// `startpos|fen FEN [moves MOVE...]`
fn position(words: &[&str]) -> Command {
    let (start, moves) = split(words, "moves").unwrap_or((words, &[]));
    let start = match split(start, "fen") {
        Some((_, fields)) => Start::Fen(fields.join(" ")),
        None if start.contains(&"startpos") => Start::Usual,
        None => Start::Missing,
    };
    Command::Position { start, moves: moves.iter().map(|&mv| mv.to_owned()).collect() }
}

/// What stands before a word and what after it, if it is there.
fn split<'a, 'b>(words: &'a [&'b str], word: &str) -> Option<(&'a [&'b str], &'a [&'b str])> {
    let at = words.iter().position(|&other| other == word)?;
    Some((&words[..at], &words[at + 1..]))
}

/// The words that a number follows in `go`.
const BOUNDS: [&str; 9] =
    ["wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime"];

/// The longest time that is read, in milliseconds: ten years. It keeps sums of clocks far from
/// overflow.
const LONGEST: u64 = 10 * 365 * 24 * 3600 * 1000;

/// Reads the bounds. Words that mean nothing here are passed over.
fn go(words: &[&str]) -> Go {
    let mut go = Go::default();
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        match word {
            "ponder" => go.ponder = true,
            "infinite" => go.infinite = true,
            "searchmoves" => {
                let is_move = |word: &&str| word.parse::<crate::position::Move>().is_ok();
                while let Some(mv) = words.next_if(is_move) {
                    go.search_moves.push(mv.to_owned());
                }
            }
            _ if BOUNDS.contains(&word) => {
                let text = words.peek().copied().filter(|text| !BOUNDS.contains(text));
                if text.and_then(whole_number).and_then(|number| go.set(word, number)).is_none() {
                    go.garbled.push(format!("{word} {}", text.unwrap_or_default()));
                }
            }
            _ => {}
        }
    }
    go
}

/// Reads a number; one that is too large for its kind counts as the largest.
fn whole_number(text: &str) -> Option<i64> {
    match text.parse::<i64>() {
        Ok(number) => Some(number),
        Err(error) => match error.kind() {
            IntErrorKind::PosOverflow => Some(i64::MAX),
            IntErrorKind::NegOverflow => Some(i64::MIN),
            _ => None,
        },
    }
}

impl Go {
    /// Takes one bound over; `None` if it cannot be so much. Clocks below zero are empty.
    fn set(&mut self, word: &str, number: i64) -> Option<()> {
        let time = Duration::from_millis(u64::try_from(number).unwrap_or(0).min(LONGEST));
        // Not even the worst GUI means a negative depth, and zero is answered as soon as can be.
        let count = u64::try_from(number).ok().map(|count| count.max(1));
        let plies = || count.map(|count| i32::try_from(count).unwrap_or(i32::MAX));
        match word {
            "wtime" => self.time[0] = Some(time),
            "btime" => self.time[1] = Some(time),
            "winc" => self.increment[0] = time,
            "binc" => self.increment[1] = time,
            // Zero stands for no other control to come.
            "movestogo" => self.moves_to_go = u32::try_from(number).ok().filter(|&n| n > 0),
            "depth" => self.depth = Some(plies()?),
            "nodes" => self.nodes = Some(count?),
            "mate" => self.mate = Some(plies()?),
            "movetime" => self.move_time = Some(time),
            _ => return None,
        }
        Some(())
    }

    /// Whether nothing bounds the search though something was to: of the clocks, that of the side
    /// to move counts (0 for White, 1 for Black).
    pub fn has_lost_its_bounds(&self, side: usize) -> bool {
        let bounded = self.depth.is_some()
            || self.nodes.is_some()
            || self.mate.is_some()
            || self.move_time.is_some()
            || self.time[side].is_some();
        !bounded && !self.infinite && !self.garbled.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(line: &str) -> Command {
        line.parse().expect("never fails")
    }

    #[test]
    fn commands_are_read_with_all_their_words() {
        let set = |name: &str, value: &str| Command::SetOption {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        assert_eq!(parse("setoption name Clear Hash"), set("Clear Hash", ""));
        assert_eq!(parse("setoption name Book File value /a b/c"), set("Book File", "/a b/c"));
        assert_eq!(parse("setoption joho name Hash value 3"), set("Hash", "3"));
        assert_eq!(parse("joho debug on"), Command::Debug(true));
        assert_eq!(parse("debug off"), Command::Debug(false));
        assert_eq!(parse("joho isready"), Command::IsReady);
        assert_eq!(parse("joho"), Command::Unknown);
        assert_eq!(parse(""), Command::Ignored);
        let moves = vec!["e2e4".to_owned(), "e7e5".to_owned()];
        let position = Command::Position { start: Start::Usual, moves: moves.clone() };
        assert_eq!(parse("position startpos moves e2e4 e7e5"), position);
        let start = Start::Fen("8/8/8/8/8/8/8/8 w - - 0 1".to_owned());
        for line in [
            "position fen 8/8/8/8/8/8/8/8 w - - 0 1 moves e2e4 e7e5",
            "position joho fen 8/8/8/8/8/8/8/8 w - - 0 1 moves e2e4 e7e5",
        ] {
            let (start, moves) = (start.clone(), moves.clone());
            assert_eq!(parse(line), Command::Position { start, moves });
        }
        let nothing = Command::Position { start: Start::Missing, moves: Vec::new() };
        assert_eq!(parse("position 8/8/8/8/8/8/8/8 w - -"), nothing);
    }

    #[test]
    fn go_takes_its_bounds_in_any_order() {
        let line =
            "go btime -5 wtime 1000 winc 10 movestogo 3 searchmoves e2e4 d2d4 depth 7 ponder";
        let go = Go {
            search_moves: vec!["e2e4".into(), "d2d4".into()],
            ponder: true,
            time: [Some(Duration::from_secs(1)), Some(Duration::ZERO)],
            increment: [Duration::from_millis(10), Duration::ZERO],
            moves_to_go: Some(3),
            depth: Some(7),
            ..Go::default()
        };
        assert_eq!(parse(line), Command::Go(Box::new(go)));
        let nonsense = parse("go depth x nodes movetime 99999999999999999999 joho mate -3");
        let garbled = ["depth x", "nodes ", "mate -3"].map(str::to_owned).to_vec();
        let move_time = Some(Duration::from_millis(LONGEST));
        let go = Go { garbled, move_time, ..Go::default() };
        assert!(!go.has_lost_its_bounds(0));
        assert_eq!(nonsense, Command::Go(Box::new(go)));
    }

    #[test]
    fn a_search_is_unbounded_only_if_that_was_said() {
        for (line, lost) in [
            ("go", false),
            ("go infinite depth x", false),
            ("go depth x", true),
            ("go depth x depth 3", false),
            ("go wtime x btime 1000", true),
            ("go wtime 1000 btime x", false),
            ("go ponder movetime", true),
        ] {
            let Command::Go(go) = parse(line) else { panic!("{line}") };
            assert_eq!(go.has_lost_its_bounds(0), lost, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_the_parser_panic(line in any::<String>()) {
            let _ = parse(&line);
            let _ = parse(&format!("go {line}"));
        }
    }
}
