//! What a GUI tells an engine.

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
        /// The start as FEN; `None` for the start position.
        fen: Option<String>,
        /// The moves from there.
        moves: Vec<String>,
    },
    /// Search.
    Go(Box<Go>),
    /// End the search and tell its move.
    Stop,
    /// The expected move was made.
    PonderHit,
    /// Leave at once.
    Quit,
    /// What has no meaning for this engine, or for any.
    Other,
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
}

impl FromStr for Command {
    type Err = std::convert::Infallible;

    /// Reads one line. As the protocol wishes, unknown words before a command are passed over.
    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let commands = (0..words.len()).map(|start| command(words[start], &words[start + 1..]));
        Ok(commands.into_iter().flatten().next().unwrap_or(Command::Other))
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
        "debug" | "register" => Command::Other,
        _ => return None,
    })
}

/// `name NAME [value VALUE]`, both of any number of words.
fn set_option(words: &[&str]) -> Command {
    let words = words.strip_prefix(&["name"]).unwrap_or(words);
    let split = words.iter().position(|&word| word == "value").unwrap_or(words.len());
    let value = words.get(split + 1..).unwrap_or_default().join(" ");
    Command::SetOption { name: words[..split].join(" "), value }
}

/// `startpos|fen FEN [moves MOVE...]`
fn position(words: &[&str]) -> Command {
    let split = words.iter().position(|&word| word == "moves").unwrap_or(words.len());
    let fen = words[..split].strip_prefix(&["fen"]).map(|fields| fields.join(" "));
    let moves = words.get(split + 1..).unwrap_or_default();
    Command::Position { fen, moves: moves.iter().map(|&mv| mv.to_owned()).collect() }
}

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
            _ => {
                let number = words.peek().and_then(|text| text.parse::<i64>().ok());
                go.set(word, number);
            }
        }
    }
    go
}

impl Go {
    /// Takes one bound over; without a number it is none. Clocks below zero are empty.
    fn set(&mut self, word: &str, number: Option<i64>) {
        let Some(number) = number else { return };
        let positive = number.unsigned_abs() * u64::from(number > 0);
        let time = Duration::from_millis(positive);
        let plies = i32::try_from(positive).unwrap_or(i32::MAX);
        match word {
            "wtime" => self.time[0] = Some(time),
            "btime" => self.time[1] = Some(time),
            "winc" => self.increment[0] = time,
            "binc" => self.increment[1] = time,
            "movestogo" => self.moves_to_go = u32::try_from(positive).ok().filter(|&n| n > 0),
            "depth" => self.depth = Some(plies.max(1)),
            "nodes" => self.nodes = Some(positive.max(1)),
            "mate" => self.mate = Some(plies.max(1)),
            "movetime" => self.move_time = Some(time),
            _ => {}
        }
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
        assert_eq!(parse("joho debug on"), Command::Other);
        assert_eq!(parse("joho isready"), Command::IsReady);
        assert_eq!(parse(""), Command::Other);
        let moves = vec!["e2e4".to_owned(), "e7e5".to_owned()];
        let position = Command::Position { fen: None, moves: moves.clone() };
        assert_eq!(parse("position startpos moves e2e4 e7e5"), position);
        let fen = Some("8/8/8/8/8/8/8/8 w - - 0 1".to_owned());
        let line = "position fen 8/8/8/8/8/8/8/8 w - - 0 1 moves e2e4 e7e5";
        assert_eq!(parse(line), Command::Position { fen, moves });
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
        let nonsense = parse("go depth x nodes movetime 99999999999999999999 mate");
        assert_eq!(nonsense, Command::Go(Box::default()));
    }

    proptest! {
        #[test]
        fn no_line_makes_the_parser_panic(line in any::<String>()) {
            let _ = parse(&line);
            let _ = parse(&format!("go {line}"));
        }
    }
}
