//! Converts scores to and from the protocol's format, and makes free text safe to send.

use crate::chess::score::{self, Score};
use crate::support::files::without_error_numbers;
use crate::support::words::one_line;

/// The offset of mate scores in the protocol: 100000 + N means mate in N moves.
pub(crate) const MATE_BASE: i32 = 100_000;

pub(crate) fn to_protocol_score(score: Score) -> i32 {
    match score::mate_distance(score) {
        None => score,
        Some(moves) if score > 0 => MATE_BASE + moves,
        Some(moves) => -MATE_BASE + moves,
    }
}

/// Converts a protocol score to an engine score. Scores too large for an evaluation but too small
/// for a mate are clamped to the largest evaluation.
pub(crate) fn from_protocol_score(number: i32) -> Score {
    let magnitude = match number.checked_abs().unwrap_or(i32::MAX) {
        mate if mate >= MATE_BASE => {
            // A side that mates in N moves does so at ply 2N - 1; a side that is mated in N moves
            // is mated at ply 2N.
            let moves = (mate - MATE_BASE).min(score::MAX_PLY as i32);
            let plies = 2 * moves - i32::from(number > 0);
            score::MATE - plies.clamp(0, score::MAX_PLY as i32)
        }
        centipawns => centipawns.min(score::TABLEBASE_BOUND - 1),
    };
    if number < 0 { -magnitude } else { magnitude }
}

/// Words that could make xboard end the game, and their replacements. xboard treats a line that
/// contains `Draw` as a result, and one that contains both `offer` and `draw` as a draw offer
/// (xboard 4.9.1, `HandleMachineMove`).
const MISTAKEN: [(&str, &str); 2] = [("Draw", "DRAW"), ("offer", "OFFER")];

/// Phrases that xboard treats as error messages from a remote shell, and their replacements. After
/// such a message, xboard assumes that the engine has died. Source: same as [`MISTAKEN`].
pub(crate) const FATAL: [(&str, &str); 5] = [
    ("not found", "Not found"),
    ("No such file", "no such file"),
    ("Permission denied", "permission denied"),
    ("can't alloc", "Can't alloc"),
    ("unknown host", "Unknown host"),
];

/// Converts free text to a single line ([`one_line`]) and replaces words that xboard misinterprets.
pub(crate) fn shield(text: &str) -> String {
    let mut line = one_line(&without_error_numbers(text));
    for (word, harmless) in MISTAKEN.into_iter().chain(FATAL) {
        if line.contains(word) {
            line = line.replace(word, harmless);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::score::{mate_in, mated_in};

    #[test]
    fn mate_scores_are_counted_in_moves() {
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
    fn free_text_cannot_end_the_game() {
        let text = shield("Draws 30%\noffer a draw: No such file, not found");
        assert_eq!(text, "DRAWs 30% OFFER a draw: no such file, Not found");
        assert_eq!(shield(&text), text);
    }
}
