//! A table of all commands, and a parser based on it.

use std::str::FromStr;

use super::command::{Command, MoveSet};
use crate::chess::position::read_san;
use crate::engine::controller::Level;
use crate::support::error::ParseError;
use crate::support::words::{parse_clock, parse_seconds};

struct Syntax {
    name: &'static str,
    parse: fn(&str) -> Result<Command, ParseError>,
}

const fn row(name: &'static str, parse: fn(&str) -> Result<Command, ParseError>) -> Syntax {
    Syntax { name, parse }
}

/// All commands except bare moves, which have no command name. Extra arguments, which some GUIs
/// send, are ignored.
#[rustfmt::skip]
const COMMANDS: &[Syntax] = &[
    row("xboard", |_| Ok(Command::Xboard)),
    row("protover", |a| Ok(Command::Protover(number(a)?))),
    row("accepted", |a| Ok(Command::Accepted(a.to_owned()))),
    row("rejected", |a| Ok(Command::Rejected(a.to_owned()))),
    row("new", |_| Ok(Command::New)),
    row("variant", |a| Ok(Command::Variant(word(a)?))),
    row("quit", |_| Ok(Command::Quit)),
    row("random", |_| Ok(Command::Random)),
    row("force", |_| Ok(Command::Force)),
    row("go", |_| Ok(Command::Go)),
    row("playother", |_| Ok(Command::PlayOther)),
    row("white", |_| Ok(Command::White)),
    row("black", |_| Ok(Command::Black)),
    row("level", |a| Ok(Command::Level(level(a)?))),
    row("st", |a| Ok(Command::MoveTime(parse_seconds(a).ok_or_else(|| expected("seconds"))?))),
    row("sd", |a| Ok(Command::Depth(number(a)?))),
    row("nps", |a| Ok(Command::NodeRate(number(a)?))),
    row("time", |a| Ok(Command::Time(number(a)?))),
    row("otim", |a| Ok(Command::OtherTime(number(a)?))),
    row("usermove", |a| Ok(Command::UserMove(word(a)?))),
    row("?", |_| Ok(Command::MoveNow)),
    row("ping", |a| Ok(Command::Ping(number(a)?))),
    row("draw", |_| Ok(Command::Draw)),
    row("result", result),
    row("setboard", |a| Ok(Command::SetBoard(a.to_owned()))),
    row("hint", |_| Ok(Command::Hint)),
    row("bk", |_| Ok(Command::Book)),
    row("undo", |_| Ok(Command::Undo)),
    row("remove", |_| Ok(Command::Remove)),
    row("hard", |_| Ok(Command::Hard)),
    row("easy", |_| Ok(Command::Easy)),
    row("post", |_| Ok(Command::Post)),
    row("nopost", |_| Ok(Command::NoPost)),
    row("analyze", |_| Ok(Command::Analyze)),
    row("exit", |_| Ok(Command::Exit)),
    row(".", |_| Ok(Command::Status)),
    row("name", |a| Ok(Command::Name(a.to_owned()))),
    row("rating", rating),
    row("ics", |a| Ok(Command::Ics(a.to_owned()))),
    row("computer", |_| Ok(Command::Computer)),
    row("pause", |_| Ok(Command::Pause)),
    row("resume", |_| Ok(Command::Resume)),
    row("memory", |a| Ok(Command::Memory(number(a)?))),
    row("cores", |a| Ok(Command::Cores(number(a)?))),
    row("egtpath", egtpath),
    row("option", option),
    row("exclude", |a| Ok(Command::Exclude(move_set(a)?))),
    row("include", |a| Ok(Command::Include(move_set(a)?))),
];

/// Parses one line, without its newline.
impl FromStr for Command {
    type Err = ParseError;

    fn from_str(line: &str) -> Result<Self, ParseError> {
        let line = line.trim();
        let (name, arguments) = split_word(line);
        match COMMANDS.iter().find(|row| row.name == name) {
            Some(row) => (row.parse)(arguments),
            None if looks_like_move(line) => Ok(Command::Move(line.to_owned())),
            None => Err(ParseError("unknown command".to_owned())),
        }
    }
}

/// Returns true if `text` looks like a move in coordinate notation or SAN. An illegal move in such
/// a notation is answered with `Illegal move` rather than `Error`.
pub(crate) fn looks_like_move(text: &str) -> bool {
    let coordinates = match text.as_bytes() {
        [a, b, c, d, rest @ ..] => {
            [a, c].into_iter().all(u8::is_ascii_lowercase)
                && [b, d].into_iter().all(u8::is_ascii_digit)
                && (rest.is_empty() || rest.len() == 1 && rest[0].is_ascii_alphabetic())
        }
        _ => false,
    };
    // The null move in xboard's notation.
    coordinates || text == "@@@@" || read_san(text).is_some()
}

fn split_word(line: &str) -> (&str, &str) {
    match line.split_once(char::is_whitespace) {
        Some((name, rest)) => (name, rest.trim_start()),
        None => (line, ""),
    }
}

fn expected(what: &str) -> ParseError {
    ParseError(format!("expected {what}"))
}

fn word(arguments: &str) -> Result<String, ParseError> {
    match split_word(arguments).0 {
        "" => Err(expected("a word")),
        word => Ok(word.to_owned()),
    }
}

fn number<N: FromStr>(arguments: &str) -> Result<N, ParseError> {
    split_word(arguments).0.parse().map_err(|_| expected("a whole number in range"))
}

/// The unit of a clock time given as a plain number: one minute, in seconds.
const MINUTE: u32 = 60;

fn level(arguments: &str) -> Result<Level, ParseError> {
    let bad = || expected("moves, minutes[:seconds] and increment");
    let mut fields = arguments.split_whitespace();
    let mut next = || fields.next().ok_or_else(bad);
    let (moves, base) = (next()?, next()?);
    // Ignore text after the clock time, such as `+5` in `25+5`, as the specification requires.
    let end = base.find(|sign: char| !matches!(sign, '0'..='9' | ':' | '.'));
    Ok(Level {
        moves: moves.parse().map_err(|_| bad())?,
        base: parse_clock(&base[..end.unwrap_or(base.len())], MINUTE).ok_or_else(bad)?,
        increment: parse_seconds(next()?).ok_or_else(bad)?,
    })
}

fn result(arguments: &str) -> Result<Command, ParseError> {
    let (result, comment) = split_word(arguments);
    if !["1-0", "0-1", "1/2-1/2", "*"].contains(&result) {
        return Err(expected("1-0, 0-1, 1/2-1/2 or *"));
    }
    let comment = comment.strip_prefix('{').unwrap_or(comment);
    let comment = comment.strip_suffix('}').unwrap_or(comment);
    Ok(Command::Result { result: result.to_owned(), comment: comment.to_owned() })
}

fn rating(arguments: &str) -> Result<Command, ParseError> {
    let (own, opponent) = split_word(arguments);
    Ok(Command::Rating { own: number(own)?, opponent: number(opponent)? })
}

fn egtpath(arguments: &str) -> Result<Command, ParseError> {
    let (kind, path) = split_word(arguments);
    if path.is_empty() {
        return Err(expected("a type and a path"));
    }
    Ok(Command::EgtPath { kind: kind.to_owned(), path: path.to_owned() })
}

fn option(arguments: &str) -> Result<Command, ParseError> {
    let (name, value) = match arguments.split_once('=') {
        Some((name, value)) => (name, Some(value.trim().to_owned())),
        None => (arguments, None),
    };
    match name.trim() {
        "" => Err(expected("a name")),
        name => Ok(Command::Option { name: name.to_owned(), value }),
    }
}

fn move_set(arguments: &str) -> Result<MoveSet, ParseError> {
    Ok(match word(arguments)?.as_str() {
        "all" => MoveSet::All,
        one => MoveSet::One(one.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn command_names_are_unique() {
        let mut names: Vec<&str> = COMMANDS.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COMMANDS.len());
    }

    #[test]
    fn level_accepts_the_forms_that_guis_send() {
        let level = |moves, base, increment| {
            let increment = Duration::from_millis(increment);
            Ok(Command::Level(Level { moves, base: Duration::from_secs(base), increment }))
        };
        assert_eq!("level 40 5 0".parse(), level(40, 300, 0));
        assert_eq!("level 0 0:30 0.05".parse(), level(0, 30, 50));
        assert_eq!("level 40 25+5 0".parse(), level(40, 1500, 0));
        for line in ["level", "level 40", "level 40 5", "level x 5 0", "level 40 5 -1"] {
            let error = line.parse::<Command>().expect_err(line).to_string();
            assert!(error.starts_with("expected "), "{line}: {error}");
        }
    }

    #[test]
    fn moves_are_distinguished_from_other_lines() {
        for line in [
            "e2e4", "e7e8q", "e7e8k", "a7a8Q", "Nf3", "exd8=Q+", "a8Q", "bxa1N#", "O-O-O", "0-0",
            "@@@@", "a9a9",
        ] {
            assert_eq!(line.parse(), Ok(Command::Move(line.to_owned())));
        }
        for line in ["", "foo", "e2e4e5", "E2E4", "depth", "Nf9x", "\0", "new\u{85}x\u{fffd}"] {
            let parsed = line.parse::<Command>();
            assert!(!matches!(parsed, Ok(Command::Move(_))), "{line}: {parsed:?}");
        }
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        for line in [
            "ping",
            "ping x",
            "ping -1",
            "sd 1.5",
            "st x",
            "memory 1e9",
            "cores -2",
            "usermove",
            "egtpath syzygy",
            "option",
            "option =3",
            "result 2-0",
            "rating 1",
            "exclude",
        ] {
            let error = line.parse::<Command>().expect_err(line).to_string();
            assert!(error.starts_with("expected "), "{line}: {error}");
        }
    }
}
