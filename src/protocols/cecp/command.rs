//! The commands that a GUI sends to an engine, and their text form.

use std::fmt;
use std::time::Duration;

use crate::engine::controller::Level;
use crate::support::words::{MinutesSeconds, Seconds};

/// A command from the GUI. Moves are stored as text, because they can only be parsed in a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Starts the protocol. The GUI sends this command once, before all others.
    Xboard,
    /// Announces the GUI's protocol version, currently 2, and requests the engine's feature list.
    Protover(u32),
    /// Reports that the GUI accepts a feature announced by the engine.
    Accepted(String),
    /// Reports that the GUI does not support a feature announced by the engine.
    Rejected(String),
    /// Starts a new game from the start position. The engine plays Black.
    New,
    /// Selects a chess variant other than orthodox chess.
    Variant(String),
    /// Ends the engine process immediately.
    Quit,
    /// Toggles random variation of moves in GNU Chess 4. Tabia ignores it.
    Random,
    /// Makes the engine play neither side.
    Force,
    /// Makes the engine play the side to move, starting immediately.
    Go,
    /// Makes the engine play the side that is not to move.
    PlayOther,
    /// Makes White the side to move and makes the engine play Black (obsolete).
    White,
    /// Makes Black the side to move and makes the engine play White (obsolete).
    Black,
    /// Sets the time control, either for a number of moves or for the whole game.
    Level(Level),
    /// Sets the maximum time for each move.
    MoveTime(Duration),
    /// Sets the maximum search depth, in plies.
    Depth(u32),
    /// Makes the engine measure time by searched nodes instead of a clock. The given number of
    /// nodes counts as one second.
    NodeRate(u64),
    /// Sets the time left on the engine's clock, in centiseconds. Negative after the time has run
    /// out.
    Time(i64),
    /// Sets the time left on the opponent's clock, in centiseconds.
    OtherTime(i64),
    /// Plays a move that was sent as `usermove MOVE`.
    UserMove(String),
    /// Plays a move that was sent without `usermove`.
    Move(String),
    /// Makes the engine stop thinking and move immediately.
    MoveNow,
    /// Requests a `pong` with the same number once all earlier commands are complete.
    Ping(u64),
    /// Reports that the opponent offers a draw.
    Draw,
    /// Reports that the game is over.
    Result {
        /// Result of the game: `1-0`, `0-1`, `1/2-1/2` or `*`.
        result: String,
        /// The reason for the result, in words. May be empty.
        comment: String,
    },
    /// Sets up the position given as FEN.
    SetBoard(String),
    /// Requests a suggestion for the user's next move.
    Hint,
    /// Requests the book moves in the current position.
    Book,
    /// Undoes the last move.
    Undo,
    /// Undoes the last move of each side.
    Remove,
    /// Turns pondering on, so that the engine also searches on the opponent's time.
    Hard,
    /// Turns pondering off, so that the engine searches only on its own time.
    Easy,
    /// Turns thinking output on ([`Reply::Thinking`](super::Reply::Thinking)).
    Post,
    /// Turns thinking output off.
    NoPost,
    /// Starts analysis mode: the engine analyses the current position, and each new position, until
    /// [`Command::Exit`].
    Analyze,
    /// Ends the analysis started by [`Command::Analyze`].
    Exit,
    /// Requests a report on the progress of the analysis.
    Status,
    /// Reports the name of the opponent, which may be a person or a program.
    Name(String),
    /// Reports the ratings of the engine and the opponent.
    Rating {
        /// The engine's rating; 0 if it has none.
        own: i32,
        /// The opponent's rating; 0 if it has none.
        opponent: i32,
    },
    /// Reports the host name of the chess server, or `-` if the game is not played on a server.
    Ics(String),
    /// Reports that the opponent is a program.
    Computer,
    /// Pauses the engine and its clocks.
    Pause,
    /// Resumes the engine after [`Command::Pause`].
    Resume,
    /// Limits the memory used by all of the engine's tables together, in megabytes.
    Memory(u64),
    /// Sets the maximum number of search threads.
    Cores(u32),
    /// Sets the location of one kind of endgame tables.
    EgtPath {
        /// Kind of tables: `syzygy`, `nalimov`, and so on.
        kind: String,
        /// One or more folders, in the format used for this kind of tables.
        path: String,
    },
    /// Sets an option that the engine has declared. A button option has no value.
    Option {
        /// Option name as declared by the engine.
        name: String,
        /// Value as text, or `None` for a button.
        value: Option<String>,
    },
    /// Excludes the given moves from the root search.
    Exclude(MoveSet),
    /// Includes the given moves in the root search again, after [`Command::Exclude`].
    Include(MoveSet),
}

/// One move or all moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MoveSet {
    /// All legal moves (`all`).
    All,
    /// A single move, given as text.
    One(String),
}

impl fmt::Display for MoveSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MoveSet::All => f.write_str("all"),
            MoveSet::One(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.moves, MinutesSeconds(self.base), Seconds(self.increment))
    }
}

/// Formats the command as a line to send to the engine, without a newline.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Protover(version) => write!(f, "protover {version}"),
            Command::Accepted(feature) => write!(f, "accepted {feature}"),
            Command::Rejected(feature) => write!(f, "rejected {feature}"),
            Command::Variant(name) => write!(f, "variant {name}"),
            Command::Level(level) => write!(f, "level {level}"),
            Command::MoveTime(time) => write!(f, "st {}", Seconds(*time)),
            Command::Depth(plies) => write!(f, "sd {plies}"),
            Command::NodeRate(nodes) => write!(f, "nps {nodes}"),
            Command::Time(time) => write!(f, "time {time}"),
            Command::OtherTime(time) => write!(f, "otim {time}"),
            Command::UserMove(text) => write!(f, "usermove {text}"),
            Command::Move(text) => f.write_str(text),
            Command::Ping(number) => write!(f, "ping {number}"),
            Command::Result { result, comment } => write!(f, "result {result} {{{comment}}}"),
            Command::SetBoard(fen) => write!(f, "setboard {fen}"),
            Command::Name(name) => write!(f, "name {name}"),
            Command::Rating { own, opponent } => write!(f, "rating {own} {opponent}"),
            Command::Ics(host) => write!(f, "ics {host}"),
            Command::Memory(megabytes) => write!(f, "memory {megabytes}"),
            Command::Cores(count) => write!(f, "cores {count}"),
            Command::EgtPath { kind, path } => write!(f, "egtpath {kind} {path}"),
            Command::Option { name, value: None } => write!(f, "option {name}"),
            Command::Option { name, value: Some(value) } => write!(f, "option {name}={value}"),
            Command::Exclude(moves) => write!(f, "exclude {moves}"),
            Command::Include(moves) => write!(f, "include {moves}"),
            bare => f.write_str(bare.bare_word()),
        }
    }
}

impl Command {
    fn bare_word(&self) -> &'static str {
        match self {
            Command::Xboard => "xboard",
            Command::New => "new",
            Command::Quit => "quit",
            Command::Random => "random",
            Command::Force => "force",
            Command::Go => "go",
            Command::PlayOther => "playother",
            Command::White => "white",
            Command::Black => "black",
            Command::MoveNow => "?",
            Command::Draw => "draw",
            Command::Hint => "hint",
            Command::Book => "bk",
            Command::Undo => "undo",
            Command::Remove => "remove",
            Command::Hard => "hard",
            Command::Easy => "easy",
            Command::Post => "post",
            Command::NoPost => "nopost",
            Command::Analyze => "analyze",
            Command::Exit => "exit",
            Command::Status => ".",
            Command::Computer => "computer",
            Command::Pause => "pause",
            Command::Resume => "resume",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word() -> impl Strategy<Value = String> {
        "[a-zA-Z0-9+#=_/-]{1,12}"
    }

    fn words() -> impl Strategy<Value = String> {
        "[a-zA-Z0-9/.-]{1,8}( [a-zA-Z0-9/.=-]{1,8}){0,4}"
    }

    fn duration() -> impl Strategy<Value = Duration> {
        (0..10_000_000_u64).prop_map(Duration::from_millis)
    }

    fn bare() -> impl Strategy<Value = Command> {
        use Command::*;
        prop::sample::select(vec![
            Xboard, New, Quit, Random, Force, Go, PlayOther, White, Black, MoveNow, Draw, Hint,
            Book, Undo, Remove, Hard, Easy, Post, NoPost, Analyze, Exit, Status, Computer, Pause,
            Resume,
        ])
    }

    fn with_numbers() -> impl Strategy<Value = Command> {
        let level = (0..99_u32, duration(), duration())
            .prop_map(|(moves, base, increment)| Command::Level(Level { moves, base, increment }));
        prop_oneof![
            any::<u32>().prop_map(Command::Protover),
            level,
            duration().prop_map(Command::MoveTime),
            any::<u32>().prop_map(Command::Depth),
            any::<u64>().prop_map(Command::NodeRate),
            any::<i64>().prop_map(Command::Time),
            any::<i64>().prop_map(Command::OtherTime),
            any::<u64>().prop_map(Command::Ping),
            any::<u64>().prop_map(Command::Memory),
            any::<u32>().prop_map(Command::Cores),
            any::<(i32, i32)>().prop_map(|(own, opponent)| Command::Rating { own, opponent }),
        ]
    }

    fn with_text() -> impl Strategy<Value = Command> {
        let result = prop::sample::select(vec!["1-0", "0-1", "1/2-1/2", "*"]);
        let move_set =
            prop_oneof![Just(MoveSet::All), "[a-h][1-8][a-h][1-8]".prop_map(MoveSet::One)];
        prop_oneof![
            words().prop_map(Command::Accepted),
            words().prop_map(Command::Rejected),
            word().prop_map(Command::Variant),
            word().prop_map(Command::UserMove),
            "[a-h][1-8][a-h][1-8][nbrq]?".prop_map(Command::Move),
            words().prop_map(Command::SetBoard),
            words().prop_map(Command::Name),
            word().prop_map(Command::Ics),
            (result, words()).prop_map(|(result, comment)| Command::Result {
                result: result.to_owned(),
                comment
            }),
            (word(), words()).prop_map(|(kind, path)| Command::EgtPath { kind, path }),
            ("[a-zA-Z ]{1,8}[a-z]", prop::option::of(words())).prop_map(|(name, value)| {
                Command::Option { name: name.trim().to_owned(), value }
            }),
            move_set.clone().prop_map(Command::Exclude),
            move_set.prop_map(Command::Include),
        ]
    }

    proptest! {
        #[test]
        fn every_command_round_trips(
            command in prop_oneof![bare(), with_numbers(), with_text()]
        ) {
            let line = command.to_string();
            prop_assert_eq!(line.parse::<Command>(), Ok(command), "{}", line);
        }

        #[test]
        fn parser_does_not_panic_on_any_line(line in any::<String>()) {
            let _ = line.parse::<Command>();
        }
    }
}
