//! The replies that an engine sends to a GUI, and their text form.

use std::fmt;
use std::time::Duration;

use super::win_rate::WinRate;
use crate::chess::score::{self, Score};
use crate::engine::search::Bound;
use crate::support::files::without_error_numbers;
use crate::support::words::one_line;

/// A line from the engine. Engines may print arbitrary text, so unknown lines are parsed as
/// [`Reply::Other`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The engine's name, sent in reply to `uci`.
    Name(String),
    /// The engine's authors, sent in reply to `uci`.
    Author(String),
    /// Declares an option that the GUI may set.
    Option {
        /// Option name, which may contain spaces.
        name: String,
        /// Option type, with its default and range, as text in UCI syntax.
        kind: String,
    },
    /// Ends the answer to `uci`.
    UciOk,
    /// Reports that all commands before `isready` are complete.
    ReadyOk,
    /// Ends a search and reports the best move.
    BestMove {
        /// The move in coordinate notation. Any other text, such as `0000`, means that there is no
        /// legal move.
        mv: String,
        /// The opponent's reply that the engine would like to ponder on, if any.
        ponder: Option<String>,
    },
    /// Reports intermediate search results or a remark.
    Info(Box<Info>),
    /// Any other line, unchanged.
    Other(String),
}

/// The parts of an `info` line. Every part is optional.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Info {
    /// Depth of the iteration, in plies.
    pub depth: Option<u64>,
    /// Length, in plies, of the longest line searched.
    pub selective_depth: Option<u64>,
    /// Rank of this line, starting at 1, if the engine reports several lines.
    pub multi_pv: Option<u64>,
    /// Score from the side to move's point of view, exact or a bound. Centipawn scores are clamped,
    /// so that they cannot be mistaken for tablebase wins or mates.
    pub score: Option<(Score, Bound)>,
    /// Probabilities of a win, a draw and a loss, from the side to move's point of view.
    pub chances: Option<WinRate>,
    /// Number of nodes searched so far.
    pub nodes: Option<u64>,
    /// Search speed in nodes per second.
    pub speed: Option<u64>,
    /// How full the transposition table is, in permille.
    pub hash_full: Option<u64>,
    /// Number of successful tablebase probes.
    pub tablebase_hits: Option<u64>,
    /// Time since the start of the search. It is sent in milliseconds, rounded down.
    pub elapsed: Option<Duration>,
    /// The principal variation. It is the last part of the `info` line.
    pub line: Option<String>,
    /// Free text, which extends to the end of the line. A line with a principal variation has no
    /// free text.
    pub text: Option<String>,
}

impl Reply {
    /// Creates an `info` line that contains only free text.
    pub fn remark(text: &str) -> Self {
        Reply::Info(Box::new(Info {
            text: Some(one_line(&without_error_numbers(text))),
            ..Info::default()
        }))
    }
}

/// Formats the reply as a line to send to the GUI, without a newline.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Name(name) => write!(f, "id name {name}"),
            Reply::Author(name) => write!(f, "id author {name}"),
            Reply::Option { name, kind } => write!(f, "option name {name} type {kind}"),
            Reply::UciOk => f.write_str("uciok"),
            Reply::ReadyOk => f.write_str("readyok"),
            Reply::BestMove { mv, ponder: None } => write!(f, "bestmove {mv}"),
            Reply::BestMove { mv, ponder: Some(ponder) } => {
                write!(f, "bestmove {mv} ponder {ponder}")
            }
            Reply::Info(info) => info.fmt(f),
            Reply::Other(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = |f: &mut fmt::Formatter<'_>, numbers: &[(&str, Option<u64>)]| {
            let mut reported = numbers.iter().filter_map(|(name, number)| Some((name, (*number)?)));
            reported.try_for_each(|(name, number)| write!(f, " {name} {number}"))
        };
        f.write_str("info")?;
        let [depth, selective_depth] = [self.depth, self.selective_depth];
        numbers(f, &[("depth", depth), ("seldepth", selective_depth), ("multipv", self.multi_pv)])?;
        if let Some((score, bound)) = self.score {
            match score::mate_distance(score) {
                Some(moves) => write!(f, " score mate {moves}")?,
                None => write!(f, " score cp {score}")?,
            }
            f.write_str(match bound {
                Bound::Exact => "",
                Bound::Upper => " upperbound",
                Bound::Lower => " lowerbound",
            })?;
        }
        self.chances.iter().try_for_each(|chances| write!(f, " wdl {chances}"))?;
        let milliseconds = self.elapsed.and_then(|time| u64::try_from(time.as_millis()).ok());
        let rest = [
            ("nodes", self.nodes),
            ("nps", self.speed),
            ("hashfull", self.hash_full),
            ("tbhits", self.tablebase_hits),
            ("time", milliseconds),
        ];
        numbers(f, &rest)?;
        self.line.iter().try_for_each(|line| write!(f, " pv {line}"))?;
        self.text.iter().try_for_each(|text| write!(f, " string {text}"))
    }
}

impl From<&str> for Reply {
    /// Parses one line, without its newline.
    fn from(line: &str) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["uciok"] => Reply::UciOk,
            ["readyok"] => Reply::ReadyOk,
            ["id", "name", name @ ..] => Reply::Name(name.join(" ")),
            ["id", "author", name @ ..] => Reply::Author(name.join(" ")),
            ["option", "name", rest @ ..] => {
                let end = rest.iter().position(|&word| word == "type").unwrap_or(rest.len());
                let kind = rest.get(end + 1..).unwrap_or_default().join(" ");
                Reply::Option { name: rest[..end].join(" "), kind }
            }
            ["bestmove", rest @ ..] => {
                let mv = rest.first().map_or("(none)", |mv| mv).to_owned();
                let ponder = rest.iter().skip_while(|&&word| word != "ponder").nth(1);
                Reply::BestMove { mv, ponder: ponder.map(|&mv| mv.to_owned()) }
            }
            ["info", rest @ ..] => Reply::Info(Box::new(info(rest))),
            _ => Reply::Other(line.to_owned()),
        }
    }
}

/// Parses the arguments of an `info` line. Unknown words are skipped.
fn info(mut words: &[&str]) -> Info {
    let mut info = Info::default();
    while let [word, rest @ ..] = words {
        words = rest;
        let number = || rest.first()?.parse().ok();
        match *word {
            "depth" => info.depth = number(),
            "seldepth" => info.selective_depth = number(),
            "multipv" => info.multi_pv = number(),
            "score" => info.score = score(rest),
            "wdl" => info.chances = chances(rest),
            "nodes" => info.nodes = number(),
            "nps" => info.speed = number(),
            "hashfull" => info.hash_full = number(),
            "tbhits" => info.tablebase_hits = number(),
            "time" => info.elapsed = number().map(Duration::from_millis),
            "pv" => {
                info.line = Some(rest.join(" "));
                break;
            }
            "string" => {
                info.text = Some(rest.join(" "));
                break;
            }
            _ => {}
        }
    }
    info
}

/// Parses a score: `cp N` or `mate N`, optionally followed by `lowerbound` or `upperbound`.
fn score(words: &[&str]) -> Option<(Score, Bound)> {
    let [kind, value, rest @ ..] = words else { return None };
    let value: i32 = value.parse().ok()?;
    let limit = score::MAX_PLY as i32;
    let score = match *kind {
        "cp" => value.clamp(1 - score::TABLEBASE_BOUND, score::TABLEBASE_BOUND - 1),
        "mate" if value > 0 => score::MATE - (2 * value.min(limit) - 1).min(limit),
        "mate" => (-2 * value.max(-limit)).min(limit) - score::MATE,
        _ => return None,
    };
    let bound = match rest.first() {
        Some(&"upperbound") => Bound::Upper,
        Some(&"lowerbound") => Bound::Lower,
        _ => Bound::Exact,
    };
    Some((score, bound))
}

fn chances(words: &[&str]) -> Option<WinRate> {
    let number = |index: usize| words.get(index)?.parse().ok();
    Some(WinRate { win: number(0)?, draw: number(1)?, loss: number(2)? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chess::score::{TABLEBASE_BOUND, mate_in, mated_in};

    fn words() -> impl Strategy<Value = String> {
        "[A-Z0-9/.-]{1,8}( [A-Z0-9/.=-]{1,8}){0,4}"
    }

    fn moves() -> impl Strategy<Value = String> {
        "[a-h][1-8][a-h][1-8]( [a-h][1-8][a-h][1-8]){0,4}"
    }

    fn scores() -> impl Strategy<Value = (Score, Bound)> {
        let score = prop_oneof![
            1 - TABLEBASE_BOUND..TABLEBASE_BOUND,
            (1_usize..60).prop_map(|moves| mate_in(2 * moves - 1)),
            (0_usize..60).prop_map(|moves| mated_in(2 * moves)),
        ];
        (score, prop::sample::select(vec![Bound::Exact, Bound::Lower, Bound::Upper]))
    }

    fn infos() -> impl Strategy<Value = Info> {
        let number = || prop::option::of(any::<u64>());
        let chances = prop::option::of(any::<(u32, u32, u32)>());
        let ending = prop_oneof![
            Just((None, None)),
            moves().prop_map(|line| (Some(line), None)),
            words().prop_map(|text| (None, Some(text))),
        ];
        let numbers = (number(), number(), number(), number());
        let others = (number(), number(), number(), number());
        (numbers, others, prop::option::of(scores()), chances, ending).prop_map(
            |(numbers, others, score, chances, (line, text))| Info {
                depth: numbers.0,
                selective_depth: numbers.1,
                multi_pv: numbers.2,
                score,
                chances: chances.map(|(win, draw, loss)| WinRate { win, draw, loss }),
                nodes: numbers.3,
                speed: others.0,
                hash_full: others.1,
                tablebase_hits: others.2,
                elapsed: others.3.map(Duration::from_millis),
                line,
                text,
            },
        )
    }

    fn replies() -> impl Strategy<Value = Reply> {
        let mv = || "[a-h][1-8][a-h][1-8][nbrq]?";
        prop_oneof![
            words().prop_map(Reply::Name),
            words().prop_map(Reply::Author),
            (words(), words()).prop_map(|(name, kind)| Reply::Option { name, kind }),
            Just(Reply::UciOk),
            Just(Reply::ReadyOk),
            (mv(), prop::option::of(mv())).prop_map(|(mv, ponder)| Reply::BestMove { mv, ponder }),
            infos().prop_map(|info| Reply::Info(Box::new(info))),
            words().prop_map(Reply::Other),
        ]
    }

    proptest! {
        #[test]
        fn replies_round_trip(reply in replies()) {
            prop_assert_eq!(Reply::from(reply.to_string().as_str()), reply);
        }

        #[test]
        fn parser_does_not_panic_on_any_line(line in any::<String>()) {
            let _ = Reply::from(line.as_str());
            let _ = Reply::from(format!("info {line}").as_str());
        }
    }

    #[test]
    fn out_of_range_scores_are_clamped() {
        for line in ["score mate -2147483648", "score cp -2147483648", "score mate 2147483647"] {
            let words: Vec<&str> = line.split(' ').collect();
            assert!(info(&words).score.is_some_and(|(score, _)| score.abs() <= score::MATE));
        }
        assert_eq!(info(&["score", "mate", "x"]).score, None);
    }
}
