//! A position with a score and the result of its game, and the text format for such positions.

use std::fmt;
use std::str::FromStr;

use crate::chess::position::Position;
use crate::chess::score::Score;
use crate::support::error::ParseError;

/// A training position. Its text format is one line, `FEN | score | result`. The score is in
/// centipawns, or `-` if there is none. The result is 1.0, 0.5 or 0.0. Score and result are from
/// White's point of view.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    pub position: Position,
    /// The score found by a search, in centipawns, from White's point of view.
    pub score: Option<Score>,
    /// White's result: 1 for a win, 0.5 for a draw and 0 for a loss.
    pub result: f32,
}

impl FromStr for Sample {
    type Err = ParseError;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let invalid = |reason: &str| ParseError(reason.to_owned());
        let bad_result = || invalid("the result is not between 0.0 and 1.0");
        let mut fields = line.split('|').map(str::trim);
        let (Some(fen), Some(score), Some(result), None) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(invalid("expected `FEN | score | result`"));
        };
        let score = match score {
            "-" => None,
            number => Some(
                number
                    .parse()
                    .map_err(|_| invalid("the score is neither a number of centipawns nor `-`"))?,
            ),
        };
        let result: f32 = result.parse().map_err(|_| bad_result())?;
        if !(0.0..=1.0).contains(&result) {
            return Err(bad_result());
        }
        Ok(Sample { position: Position::from_fen(fen)?, score, result })
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.score {
            Some(score) => write!(f, "{} | {score} | {:.1}", self.position, self.result),
            None => write!(f, "{} | - | {:.1}", self.position, self.result),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_round_trips() {
        let position = Position::start();
        for (score, result) in [(Some(-35), 0.5), (None, 1.0), (Some(0), 0.0)] {
            let sample = Sample { position, score, result };
            assert_eq!(sample.to_string().parse(), Ok(sample));
        }
    }

    #[test]
    fn invalid_lines_are_rejected() {
        let fen = Position::start().to_string();
        for (line, error) in [
            (String::new(), "expected `FEN"),
            (format!("{fen} | 3"), "expected `FEN"),
            (format!("{fen} | x | 0.5"), "the score is"),
            (format!("{fen} | 3 | 1-0"), "the result is"),
            (format!("{fen} | 3 | 2.0"), "the result is"),
            (format!("{fen} | 3 | NaN"), "the result is"),
            ("8/8 | 1 | 0.5".to_owned(), "invalid FEN"),
        ] {
            let found = line.parse::<Sample>().expect_err(&line).to_string();
            assert!(found.starts_with(error), "{line}: {found}");
        }
    }
}
