//! The commands that a GUI sends to an engine, and their text form.

use std::fmt;
use std::num::IntErrorKind;
use std::str::FromStr;
use std::time::Duration;

use crate::support::error::ParseError;
use crate::support::words::LONGEST_TIME;

/// A command from the GUI. Moves and FENs are stored as text, and parsed when the command is
/// executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Requests the engine's name, author and options.
    Uci,
    /// Requests `readyok` once all earlier commands are complete.
    IsReady,
    /// Announces that the next position belongs to a new game.
    NewGame,
    /// Sets one of the engine's options.
    SetOption {
        /// Option name, which may contain spaces.
        name: String,
        /// Option value, or `None` for a button.
        value: Option<String>,
    },
    /// Sets the position to search.
    Position {
        /// Position before the first move.
        start: Start,
        /// Moves played from `start`, in coordinates.
        moves: Vec<String>,
    },
    /// Starts a search with these limits.
    Go(Box<Go>),
    /// Stops the search, which then reports its best move.
    Stop,
    /// Reports that the opponent has played the move that the engine is pondering on.
    PonderHit,
    /// Prints the position. Not part of the protocol, but supported by many engines.
    Display,
    /// Sets debug mode, in which the engine reports unknown commands.
    Debug(bool),
    /// Ends the engine process immediately.
    Quit,
    /// A command of the protocol that Tabia ignores.
    Ignored,
}

/// The position from which the moves of a `position` command are played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// The start position of a chess game.
    Usual,
    /// The position with this FEN.
    Fen(String),
    /// No position was given.
    Missing,
}

/// The search limits in `go`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Go {
    /// The root moves to search. If empty, all moves are searched.
    pub search_moves: Vec<String>,
    /// Whether to ponder, i.e. search on the opponent's time.
    pub ponder: bool,
    /// Time left on the clocks of White and Black, if given.
    pub time: [Option<Duration>; 2],
    /// Increments per move for White and Black.
    pub increment: [Duration; 2],
    /// Number of moves to the next time control.
    pub moves_to_go: Option<u32>,
    /// Maximum search depth, in plies.
    pub depth: Option<i32>,
    /// Number of nodes to search.
    pub nodes: Option<u64>,
    /// If set, the engine searches only for a mate in this many moves.
    pub mate: Option<i32>,
    /// If set, the engine counts legal move sequences of this many plies. Not part of the protocol.
    pub perft: Option<u32>,
    /// Time to spend on this move.
    pub move_time: Option<Duration>,
    /// Whether the search continues until `stop`.
    pub infinite: bool,
    /// Limits with an invalid value, as text that includes the value. They are ignored.
    pub garbled: Vec<String>,
}

/// Formats the command as a line to send to the engine, without a newline.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Uci => f.write_str("uci"),
            Command::IsReady => f.write_str("isready"),
            Command::NewGame => f.write_str("ucinewgame"),
            Command::SetOption { name, value } => {
                write!(f, "setoption name {name}")?;
                value.iter().try_for_each(|value| write!(f, " value {value}"))
            }
            Command::Position { start, moves } => {
                match start {
                    Start::Usual => f.write_str("position startpos")?,
                    Start::Fen(fen) => write!(f, "position fen {fen}")?,
                    Start::Missing => f.write_str("position")?,
                }
                if moves.is_empty() { Ok(()) } else { write!(f, " moves {}", moves.join(" ")) }
            }
            Command::Go(go) => go.fmt(f),
            Command::Stop => f.write_str("stop"),
            Command::PonderHit => f.write_str("ponderhit"),
            Command::Display => f.write_str("d"),
            Command::Debug(on) => write!(f, "debug {}", if *on { "on" } else { "off" }),
            Command::Quit => f.write_str("quit"),
            Command::Ignored => Ok(()),
        }
    }
}

/// Formats the `go` command with all limits that are set. Invalid limits are omitted.
impl fmt::Display for Go {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.ponder { "go ponder" } else { "go" })?;
        let time = |time: Duration| time.as_millis();
        let increment = |side: usize| Some(time(self.increment[side])).filter(|&time| time > 0);
        let bounds = [
            ("wtime", self.time[0].map(time)),
            ("btime", self.time[1].map(time)),
            ("winc", increment(0)),
            ("binc", increment(1)),
            ("movestogo", self.moves_to_go.map(u128::from)),
            ("movetime", self.move_time.map(time)),
            ("depth", self.depth.map(|plies| u128::from(plies.unsigned_abs()))),
            ("nodes", self.nodes.map(u128::from)),
            ("mate", self.mate.map(|moves| u128::from(moves.unsigned_abs()))),
            ("perft", self.perft.map(u128::from)),
        ];
        for (name, bound) in bounds.iter().filter_map(|(name, bound)| Some((name, (*bound)?))) {
            write!(f, " {name} {bound}")?;
        }
        if self.infinite {
            f.write_str(" infinite")?;
        }
        if self.search_moves.is_empty() {
            return Ok(());
        }
        write!(f, " searchmoves {}", self.search_moves.join(" "))
    }
}

impl FromStr for Command {
    type Err = ParseError;

    /// Parses one line. Unknown words before the command are skipped, as required by the protocol.
    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let commands = (0..words.len()).map(|start| command(words[start], &words[start + 1..]));
        let nothing = words.is_empty().then_some(Command::Ignored);
        commands
            .flatten()
            .next()
            .or(nothing)
            .ok_or_else(|| ParseError("unknown command".to_owned()))
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
        "d" => Command::Display,
        "quit" => Command::Quit,
        "debug" => Command::Debug(rest.first() != Some(&"off")),
        "register" => Command::Ignored,
        _ => return None,
    })
}

/// Parses the arguments of `setoption`: `name NAME [value VALUE]`. The name and the value may
/// consist of several words.
fn set_option(words: &[&str]) -> Command {
    let (_, words) = split(words, "name").unwrap_or((&[], words));
    let (name, value) = match split(words, "value") {
        Some((name, value)) => (name, Some(value.join(" "))),
        None => (words, None),
    };
    Command::SetOption { name: name.join(" "), value }
}

/// Parses `startpos|fen FEN [moves MOVE...]`.
fn position(words: &[&str]) -> Command {
    let (start, moves) = split(words, "moves").unwrap_or((words, &[]));
    let start = match split(start, "fen") {
        Some((_, fields)) => Start::Fen(fields.join(" ")),
        None if start.contains(&"startpos") => Start::Usual,
        None => Start::Missing,
    };
    Command::Position { start, moves: moves.iter().map(|&mv| mv.to_owned()).collect() }
}

fn split<'a, 'b>(words: &'a [&'b str], word: &str) -> Option<(&'a [&'b str], &'a [&'b str])> {
    let at = words.iter().position(|&other| other == word)?;
    Some((&words[..at], &words[at + 1..]))
}

const BOUNDS: [&str; 10] =
    ["wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime", "perft"];

/// Parses the arguments of `go`. Unknown words are skipped.
fn go(words: &[&str]) -> Go {
    let mut go = Go::default();
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        match word {
            "ponder" => go.ponder = true,
            "infinite" => go.infinite = true,
            "searchmoves" => {
                let is_move = |word: &&str| word.parse::<crate::chess::position::Move>().is_ok();
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

/// Parses an integer. A value out of range is clamped to the nearest `i64`.
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
    /// Sets the limit called `word`. Negative times become zero. Returns `None`, without setting
    /// the limit, if a depth, node count or mate length is negative.
    fn set(&mut self, word: &str, number: i64) -> Option<()> {
        let time = Duration::from_millis(u64::try_from(number).unwrap_or(0)).min(LONGEST_TIME);
        // A negative number is invalid. Zero becomes one, because it asks for a move as soon as
        // possible.
        let count = u64::try_from(number).ok().map(|count| count.max(1));
        let plies = || count.map(|count| i32::try_from(count).unwrap_or(i32::MAX));
        match word {
            "wtime" => self.time[0] = Some(time),
            "btime" => self.time[1] = Some(time),
            "winc" => self.increment[0] = time,
            "binc" => self.increment[1] = time,
            // Zero means that the remaining time is for the rest of the game.
            "movestogo" => self.moves_to_go = u32::try_from(number).ok().filter(|&n| n > 0),
            "depth" => self.depth = Some(plies()?),
            "nodes" => self.nodes = Some(count?),
            "mate" => self.mate = Some(plies()?),
            "perft" => self.perft = Some(u32::try_from(number).unwrap_or(u32::MAX)),
            "movetime" => self.move_time = Some(time),
            _ => return None,
        }
        Some(())
    }

    /// Returns true if `go` contained only invalid limits, which would leave the search unbounded.
    /// Only the clock of the side to move, `side` (0 for White, 1 for Black), counts as a limit.
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
        line.parse().expect(line)
    }

    #[test]
    fn commands_are_parsed_with_multi_word_arguments() {
        let set = |name: &str, value: Option<&str>| Command::SetOption {
            name: name.to_owned(),
            value: value.map(str::to_owned),
        };
        assert_eq!(parse("setoption name Clear Hash"), set("Clear Hash", None));
        assert_eq!(
            parse("setoption name Book File value /a b/c"),
            set("Book File", Some("/a b/c"))
        );
        assert_eq!(parse("setoption name Book File value"), set("Book File", Some("")));
        assert_eq!(parse("setoption joho name Hash value 3"), set("Hash", Some("3")));
        assert_eq!(parse("joho debug on"), Command::Debug(true));
        assert_eq!(parse("debug off"), Command::Debug(false));
        assert_eq!(parse("joho isready"), Command::IsReady);
        assert!("joho".parse::<Command>().is_err());
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
    fn go_accepts_limits_in_any_order() {
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
        let move_time = Some(LONGEST_TIME);
        let go = Go { garbled, move_time, ..Go::default() };
        assert!(!go.has_lost_its_bounds(0));
        assert_eq!(nonsense, Command::Go(Box::new(go)));
    }

    #[test]
    fn go_with_invalid_limits_is_not_unbounded() {
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

    fn words() -> impl Strategy<Value = String> {
        "[A-Z0-9/.-]{1,8}( [A-Z0-9/.=-]{1,8}){0,4}"
    }

    fn moves() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("[a-d][1-8][e-h][1-8][nbrq]?", 0..5)
    }

    fn time() -> impl Strategy<Value = Duration> {
        (0..LONGEST_TIME.as_secs() * 1000).prop_map(Duration::from_millis)
    }

    fn go_commands() -> impl Strategy<Value = Go> {
        let clocks = [prop::option::of(time()), prop::option::of(time())];
        let counts = (
            prop::option::of(1..i32::MAX),
            prop::option::of(1..u64::MAX / 2),
            prop::option::of(1..u32::MAX),
        );
        let rest = (prop::option::of(1..u32::MAX), prop::option::of(1..i32::MAX), any::<bool>());
        (clocks, [time(), time()], prop::option::of(time()), counts, rest, moves()).prop_map(
            |(time, increment, move_time, counts, (moves_to_go, mate, flag), moves)| Go {
                search_moves: moves,
                ponder: flag,
                time,
                increment,
                moves_to_go,
                depth: counts.0,
                nodes: counts.1,
                perft: counts.2,
                mate,
                move_time,
                infinite: !flag,
                garbled: Vec::new(),
            },
        )
    }

    fn commands() -> impl Strategy<Value = Command> {
        use Command::{Debug, Display, Ignored, IsReady, NewGame, PonderHit, Quit, Stop, Uci};
        let start =
            prop_oneof![Just(Start::Usual), words().prop_map(Start::Fen), Just(Start::Missing)];
        let bare = vec![Uci, IsReady, NewGame, Stop, PonderHit, Display, Quit, Ignored];
        prop_oneof![
            prop::sample::select(bare),
            any::<bool>().prop_map(Debug),
            (words(), prop::option::of(words()))
                .prop_map(|(name, value)| Command::SetOption { name, value }),
            (start, moves()).prop_map(|(start, moves)| Command::Position { start, moves }),
            go_commands().prop_map(|go| Command::Go(Box::new(go))),
        ]
    }

    proptest! {
        #[test]
        fn commands_round_trip(command in commands()) {
            prop_assert_eq!(command.to_string().parse(), Ok(command));
        }

        #[test]
        fn parser_does_not_panic_on_any_line(line in any::<String>()) {
            let _ = line.parse::<Command>();
            let _ = parse(&format!("go {line}"));
        }
    }
}
