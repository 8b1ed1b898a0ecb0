//! Numbers and free text as the protocol writes them.

use std::fmt;
use std::time::Duration;

use crate::score::{self, Score};

/// Protocol scores from here on are mates: 100000 + N is a mate in N moves.
pub const MATE_BASE: i32 = 100_000;

/// A score of ours as the protocol writes it.
pub fn to_protocol_score(score: Score) -> i32 {
    match score::mate_distance(score) {
        None => score,
        Some(moves) if score > 0 => MATE_BASE + moves,
        Some(moves) => -MATE_BASE + moves,
    }
}

/// A score of the protocol as one of ours; what lies between evaluations and mates is cut off.
pub fn from_protocol_score(number: i32) -> Score {
    let magnitude = match number.checked_abs().unwrap_or(i32::MAX) {
        mate if mate >= MATE_BASE => {
            // A mate in N moves is given on ply 2N - 1, or suffered on ply 2N.
            let moves = (mate - MATE_BASE).min(score::MAX_PLY as i32);
            let plies = 2 * moves - i32::from(number > 0);
            score::MATE - plies.clamp(0, score::MAX_PLY as i32)
        }
        centipawns => centipawns.min(score::TABLEBASE_BOUND - 1),
    };
    if number < 0 { -magnitude } else { magnitude }
}

/// Words that end the game, or the engine, when xboard meets them anywhere in a line, and what is
/// written for them: `Draw` is taken for the game's result, `offer` together with `draw` for an
/// offer, the others for the failure of a remote shell (xboard 4.9.1, `HandleMachineMove`).
const DANGEROUS: [(&str, &str); 7] = [
    ("Draw", "DRAW"),
    ("offer", "OFFER"),
    ("not found", "Not found"),
    ("No such file", "no such file"),
    ("Permission denied", "permission denied"),
    ("can't alloc", "Can't alloc"),
    ("unknown host", "Unknown host"),
];

/// Free text made fit for one line to the GUI: no control characters, and the words that xboard
/// would take for something else in letters of another case.
pub fn shield(text: &str) -> String {
    let mut line: String =
        text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    for (word, harmless) in DANGEROUS {
        if line.contains(word) {
            line = line.replace(word, harmless);
        }
    }
    line
}

/// The most that is quoted of a line that was not understood, in characters.
const QUOTE: usize = 100;

/// The beginning of a text, so that an answer never grows with what it answers.
pub(super) fn clip(text: &str) -> String {
    match text.char_indices().nth(QUOTE) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

/// Seconds with as many decimals as they need: `30`, `0.05`.
pub(super) struct Seconds(pub Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_secs())?;
        match self.0.subsec_nanos() {
            0 => Ok(()),
            nanos => f.write_str(format!(".{nanos:09}").trim_end_matches('0')),
        }
    }
}

/// Minutes, and seconds where there are any: `5`, `0:30`.
pub(super) struct Clock(pub Duration);

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.0.as_secs() / 60;
        let rest = self.0 - Duration::from_secs(minutes * 60);
        if rest.is_zero() {
            return write!(f, "{minutes}");
        }
        let zero = if rest.as_secs() < 10 { "0" } else { "" };
        write!(f, "{minutes}:{zero}{}", Seconds(rest))
    }
}

/// The longest time that is read, in seconds: ten years. It keeps sums of clocks far from overflow.
const LONGEST: u64 = 10 * 365 * 24 * 3600;

/// Reads seconds with or without decimals.
pub(super) fn parse_seconds(text: &str) -> Option<Duration> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && decimals.is_empty() {
        return None;
    }
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) {
        return None;
    }
    let seconds = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    let nanos = format!("{decimals:0<9}")[..9].parse().ok()?;
    (seconds <= LONGEST).then(|| Duration::new(seconds, nanos))
}

/// Reads `M`, `M:SS` or either with decimals; what follows the number is ignored, as the
/// specification wishes (`25+5`).
pub(super) fn parse_clock(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| !matches!(c, '0'..='9' | ':' | '.')).unwrap_or(text.len());
    let (minutes, seconds) = match text[..end].split_once(':') {
        Some((minutes, seconds)) => (minutes, parse_seconds(seconds)?),
        None => (&text[..end], Duration::ZERO),
    };
    let time = parse_seconds(minutes)?.checked_mul(60)? + seconds;
    (time.as_secs() <= LONGEST).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{mate_in, mated_in};

    #[test]
    fn mates_go_by_moves() {
        for (ours, protocol) in [
            (35, 35),
            (mate_in(1), 100_001),
            (mate_in(3), 100_002),
            (mated_in(2), -100_001),
            (mated_in(4), -100_002),
        ] {
            assert_eq!(to_protocol_score(ours), protocol);
            assert_eq!(from_protocol_score(protocol), ours);
        }
        assert_eq!(from_protocol_score(i32::MIN), -from_protocol_score(i32::MAX));
    }

    #[test]
    fn clocks_come_in_many_forms() {
        for (text, seconds) in [
            ("5", Some(300.0)),
            ("0:30", Some(30.0)),
            ("1:05", Some(65.0)),
            ("0.5", Some(30.0)),
            ("0:00.25", Some(0.25)),
            ("25+5", Some(1500.0)),
            ("0", Some(0.0)),
            ("", None),
            ("x", None),
            (":", None),
            ("-3", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(parse_clock(text), seconds.map(Duration::from_secs_f64), "{text}");
        }
        assert_eq!(parse_seconds("0.05"), Some(Duration::from_millis(50)));
        assert_eq!(parse_seconds(".01"), Some(Duration::from_millis(10)));
        assert_eq!(parse_seconds("1e3"), None);
    }

    #[test]
    fn free_text_cannot_end_the_game() {
        let text = shield("Draws 30%\noffer a draw: No such file, not found");
        assert_eq!(text, "DRAWs 30% OFFER a draw: no such file, Not found");
        assert_eq!(shield(&text), text);
    }
}
