//! The replies that an engine sends to a GUI, and their text form.

mod parse;

use std::fmt;
use std::time::Duration;

use super::option::OptionSpec;
use super::text::shield;
use crate::engine::search::Bound;
use crate::support::words::clip;

/// A line from the engine. Printing a reply replaces words in free text that a GUI would
/// misinterpret, for example as a draw offer. Unknown lines are parsed as [`Reply::Other`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// One or more features and options.
    Features(Vec<Feature>),
    /// The engine's move, in coordinate notation or SAN.
    Move(String),
    /// Rejects a move that is not legal in the current position.
    IllegalMove {
        /// Reason for the rejection, if given.
        reason: Option<String>,
        /// The rejected move, as received.
        text: String,
    },
    /// Rejects a command that is unknown or that the engine cannot execute now.
    Error {
        /// Kind of error, such as `unknown command`.
        kind: String,
        /// The rejected command, as received.
        command: String,
    },
    /// Reports that the game has ended under the rules or by resignation.
    Result {
        /// Result of the game: `1-0`, `0-1` or `1/2-1/2`.
        result: String,
        /// The reason for the result, in words. The protocol puts it in braces.
        comment: String,
    },
    /// Reports that the engine resigns.
    Resign,
    /// Offers or accepts a draw.
    OfferDraw,
    /// Answers the `ping` with this number.
    Pong(u64),
    /// Suggests a move to the user (`Hint: MOVE`).
    Hint(String),
    /// A line of thinking output.
    Thinking(Thinking),
    /// Reports the progress of the analysis.
    Status(Status),
    /// Shows a message to the specified recipients.
    Tell {
        /// Recipients of the message.
        audience: Audience,
        /// Text of the message, on a single line.
        text: String,
    },
    /// A line for the GUI's debug file (`# ...`).
    Comment(String),
    /// A line of the reply to `bk`.
    BookLine(String),
    /// The empty line that ends the reply to `bk`.
    BookEnd,
    /// Any other line, unchanged.
    Other(String),
}

/// One setting in a `feature` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// Name of the feature, such as `ping`.
    pub name: String,
    /// Value that the engine requests.
    pub value: FeatureValue,
}

/// The value of a feature: a number or a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureValue {
    /// An integer. For features that are switches, 0 is off and 1 is on.
    Number(i64),
    /// A string in quotation marks.
    Text(String),
}

impl Feature {
    /// Creates a feature with an integer value.
    pub fn number(name: &str, value: i64) -> Self {
        Feature { name: name.to_owned(), value: FeatureValue::Number(value) }
    }

    /// Creates a feature with a text value. Double quotes in it become apostrophes, because the
    /// protocol cannot escape them.
    pub fn text(name: &str, value: &str) -> Self {
        Feature { name: name.to_owned(), value: FeatureValue::Text(value.replace('"', "'")) }
    }

    /// Creates a feature that declares an option.
    pub fn option(spec: &OptionSpec) -> Self {
        Self::text("option", &spec.to_string())
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            FeatureValue::Number(number) => write!(f, "{}={number}", self.name),
            FeatureValue::Text(text) => write!(f, "{}=\"{text}\"", self.name),
        }
    }
}

/// The recipients of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The user, who sees the message in a window.
    User,
    /// The user, who sees the message as an error.
    UserError,
    /// The opponent only.
    Opponent,
    /// Spectators, but not the opponent. xboard can also save the message as a comment in the game.
    Others,
    /// Everyone, including the opponent.
    All,
    /// The chess server, which receives the text as a command.
    Server,
}

const AUDIENCES: [(Audience, &str); 6] = [
    (Audience::User, "telluser"),
    (Audience::UserError, "tellusererror"),
    (Audience::Opponent, "tellopponent"),
    (Audience::Others, "tellothers"),
    (Audience::All, "tellall"),
    (Audience::Server, "tellics"),
];

impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = AUDIENCES.iter().find(|row| row.0 == *self).map_or("", |row| row.1);
        f.write_str(word)
    }
}

/// A parsed line of thinking output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thinking {
    /// Depth of the iteration, in plies.
    pub depth: i32,
    /// Score from the engine's point of view, in centipawns. 100000 + N means that the engine
    /// mates in N moves, and -100000 - N means that it is mated in N moves.
    pub score: i32,
    /// Time since the start of the search. It is sent in centiseconds, rounded down.
    pub elapsed: Duration,
    /// Number of nodes searched so far.
    pub nodes: u64,
    /// Further statistics, which only newer GUIs show.
    pub extras: Option<Extras>,
    /// Whether the score is exact or a bound.
    pub bound: Bound,
    /// The principal variation, or arbitrary text in parentheses.
    pub line: String,
}

impl Default for Thinking {
    fn default() -> Self {
        Thinking {
            depth: 0,
            score: 0,
            elapsed: Duration::ZERO,
            nodes: 0,
            extras: None,
            bound: Bound::Exact,
            line: String::new(),
        }
    }
}

/// The optional numbers in thinking output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extras {
    /// Length, in plies, of the longest line searched.
    pub selective_depth: u32,
    /// Search speed in nodes per second.
    pub speed: u64,
    /// Number of successful tablebase probes.
    pub tablebase_hits: u64,
}

/// The reply to `.` during analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Time since the start of the search. It is sent in centiseconds, rounded down.
    pub elapsed: Duration,
    /// Number of nodes searched so far.
    pub nodes: u64,
    /// Depth of the iteration, in plies.
    pub depth: i32,
    /// Number of root moves still to be searched in this iteration.
    pub moves_left: usize,
    /// Number of root moves in total.
    pub moves: usize,
    /// The root move being searched.
    pub current: Option<String>,
}

const CENTISECOND: u128 = 10_000_000;

fn centiseconds(time: Duration) -> u128 {
    time.as_nanos() / CENTISECOND
}

impl fmt::Display for Thinking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = centiseconds(self.elapsed);
        write!(f, "{} {} {time} {}", self.depth, self.score, self.nodes)?;
        match self.extras {
            None => f.write_str(" ")?,
            Some(Extras { selective_depth, speed, tablebase_hits }) => {
                write!(f, " {selective_depth} {speed} {tablebase_hits}\t")?;
            }
        }
        f.write_str(&shield(&self.line))?;
        match self.bound {
            Bound::Exact => Ok(()),
            Bound::Upper => f.write_str(" ?"),
            Bound::Lower => f.write_str(" !"),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Status { nodes, depth, moves_left, moves, current, .. } = self;
        let time = centiseconds(self.elapsed);
        write!(f, "stat01: {time} {nodes} {depth} {moves_left} {moves}")?;
        current.iter().try_for_each(|mv| write!(f, " {mv}"))
    }
}

/// Formats the reply as a line to send to the GUI, without a newline.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Features(features) => {
                f.write_str("feature")?;
                features.iter().try_for_each(|feature| write!(f, " {feature}"))
            }
            Reply::Move(text) => write!(f, "move {text}"),
            Reply::IllegalMove { reason: None, text } => {
                write!(f, "Illegal move: {}", shield(&clip(text)))
            }
            Reply::IllegalMove { reason: Some(reason), text } => {
                write!(f, "Illegal move ({}): {}", shield(reason), shield(&clip(text)))
            }
            Reply::Error { kind, command } => {
                write!(f, "Error ({}): {}", shield(kind), shield(&clip(command)))
            }
            Reply::Result { result, comment } => write!(f, "{result} {{{}}}", shield(comment)),
            Reply::Resign => f.write_str("resign"),
            Reply::OfferDraw => f.write_str("offer draw"),
            Reply::Pong(number) => write!(f, "pong {number}"),
            Reply::Hint(mv) => write!(f, "Hint: {mv}"),
            Reply::Thinking(thinking) => thinking.fmt(f),
            Reply::Status(status) => status.fmt(f),
            Reply::Tell { audience, text } => write!(f, "{audience} {}", shield(text)),
            Reply::Comment(text) => write!(f, "# {}", shield(text)),
            Reply::BookLine(text) => write!(f, " {}", shield(text)),
            Reply::BookEnd => Ok(()),
            Reply::Other(text) => f.write_str(&shield(text)),
        }
    }
}

impl From<&str> for Reply {
    /// Parses one line, without its newline.
    fn from(line: &str) -> Self {
        parse::reply(line)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words() -> impl Strategy<Value = String> {
        "[a-zA-Z0-9/.-]{1,8}( [a-zA-Z0-9/.=-]{1,8}){0,4}"
            .prop_map(|text| shield(&text).replace("offer", "OFFER"))
    }

    fn feature() -> impl Strategy<Value = Feature> {
        let number = any::<i64>().prop_map(FeatureValue::Number);
        let value = prop_oneof![number, words().prop_map(FeatureValue::Text)];
        ("[a-z]{1,9}", value).prop_map(|(name, value)| Feature { name, value })
    }

    fn elapsed() -> impl Strategy<Value = Duration> {
        (0..1_000_000_u64).prop_map(|time| Duration::from_millis(10 * time))
    }

    fn thinking() -> impl Strategy<Value = Thinking> {
        let extras = any::<(u32, u64, u64)>().prop_map(|(selective_depth, speed, hits)| Extras {
            selective_depth,
            speed,
            tablebase_hits: hits,
        });
        let bound = prop::sample::select(vec![Bound::Exact, Bound::Lower, Bound::Upper]);
        let line = "[a-h][1-8]( [a-h][1-8]){0,5}";
        let numbers = any::<(i32, i32, u64)>();
        (numbers, elapsed(), prop::option::of(extras), bound, line).prop_map(
            |((depth, score, nodes), elapsed, extras, bound, line)| Thinking {
                depth,
                score,
                elapsed,
                nodes,
                extras,
                bound,
                line,
            },
        )
    }

    fn status() -> impl Strategy<Value = Status> {
        let current = prop::option::of("[a-h][1-8][a-h][1-8]");
        (elapsed(), any::<(u64, i32, usize, usize)>(), current).prop_map(
            |(elapsed, (nodes, depth, moves_left, moves), current)| Status {
                elapsed,
                nodes,
                depth,
                moves_left,
                moves,
                current,
            },
        )
    }

    fn reply() -> impl Strategy<Value = Reply> {
        let audience = prop::sample::select(AUDIENCES.map(|row| row.0).to_vec());
        let result = prop::sample::select(vec!["1-0", "0-1", "1/2-1/2"]);
        prop_oneof![
            prop::collection::vec(feature(), 1..5).prop_map(Reply::Features),
            "[a-h][1-8][a-h][1-8][nbrq]?".prop_map(Reply::Move),
            (prop::option::of("[a-z ]{1,9}"), words())
                .prop_map(|(reason, text)| Reply::IllegalMove { reason, text }),
            ("[a-z ]{1,9}", words()).prop_map(|(kind, command)| Reply::Error { kind, command }),
            (result, words())
                .prop_map(|(result, comment)| Reply::Result { result: result.to_owned(), comment }),
            Just(Reply::Resign),
            Just(Reply::OfferDraw),
            any::<u64>().prop_map(Reply::Pong),
            "[a-h][1-8]".prop_map(Reply::Hint),
            thinking().prop_map(Reply::Thinking),
            status().prop_map(Reply::Status),
            (audience, words()).prop_map(|(audience, text)| Reply::Tell { audience, text }),
            words().prop_map(Reply::Comment),
            "[A-Z][a-z]{1,5}( [a-z0-9]{1,5}){0,4}".prop_map(Reply::BookLine),
            Just(Reply::BookEnd),
        ]
    }

    proptest! {
        #[test]
        fn every_reply_round_trips(reply in reply()) {
            let line = reply.to_string();
            prop_assert_eq!(Reply::from(line.as_str()), reply, "{}", line);
        }

        #[test]
        fn parser_does_not_panic_on_any_line(line in any::<String>()) {
            let _ = Reply::from(line.as_str());
        }

        #[test]
        fn every_reply_is_a_single_line(text in any::<String>()) {
            for reply in [
                Reply::Comment(text.clone()),
                Reply::Tell { audience: Audience::User, text: text.clone() },
                Reply::Error { kind: text.clone(), command: text.clone() },
                Reply::IllegalMove { reason: Some(text.clone()), text },
            ] {
                let line = reply.to_string();
                prop_assert!(!line.contains(['\n', '\r', '\0']), "{}", line);
            }
        }
    }

    #[test]
    fn error_text_cannot_end_the_game() {
        let text = || "No such file".to_owned();
        let error = Reply::Error { kind: text(), command: text() };
        assert_eq!(error.to_string(), "Error (no such file): no such file");
        let illegal = Reply::IllegalMove { reason: Some(text()), text: text() };
        assert_eq!(illegal.to_string(), "Illegal move (no such file): no such file");
    }

    #[test]
    fn output_of_other_engines_is_parsed() {
        let reply = |line: &str| Reply::from(line);
        assert_eq!(reply("12. ... Nf6"), Reply::Move("Nf6".into()));
        let illegal =
            Reply::IllegalMove { reason: Some("no matching move".into()), text: "e2e4".into() };
        assert_eq!(reply("Illegal move (no matching move)e2e4"), illegal);
        assert_eq!(
            reply("tellics offer a draw? no"),
            Reply::Tell { audience: Audience::Server, text: "offer a draw? no".into() }
        );
        assert_eq!(reply("I offer you a draw"), Reply::OfferDraw);
        assert!(matches!(reply("GNU Chess 6.2.7"), Reply::Other(_)));
        let Reply::Thinking(gnu) = reply(" 9&     62    2    38886   d1d2  e8e7 ") else {
            panic!("no thinking output")
        };
        assert_eq!((gnu.depth, gnu.score, gnu.nodes), (9, 62, 38886));
        assert_eq!((gnu.elapsed, gnu.line.as_str()), (Duration::from_secs(2), "d1d2  e8e7"));
        let Reply::Thinking(hits) = reply("5 -3 10 99 7\t1. e4 e5!") else { panic!("no thinking") };
        assert_eq!(hits.extras.map(|extras| extras.tablebase_hits), Some(7));
        assert_eq!((hits.line.as_str(), hits.bound), ("1. e4 e5", Bound::Lower));
    }

    #[test]
    fn long_input_is_truncated_in_errors() {
        let command = "x".repeat(1 << 20);
        let line = Reply::Error { kind: "unknown command".into(), command }.to_string();
        assert!(line.len() < 200);
    }
}
