//! A position with a score and a game result, and its text format.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::chess::position::{FenError, Position};
use crate::chess::score::Score;

/// A training position. Its line is `FEN | score | result`, both for White: the score in centipawns
/// or `-`, the result as 1.0, 0.5 or 0.0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    pub position: Position,
    /// The score of a search in centipawns for White.
    pub score: Option<Score>,
    /// White's result: 1 for a win, 0 for a loss.
    pub result: f32,
}

#[derive(Debug, Clone, PartialEq, Error)]
pub(crate) enum ParseSampleError {
    #[error("expected `FEN | score | result`")]
    Fields,
    #[error("{0}")]
    Fen(#[from] FenError),
    #[error("the score is neither a number of centipawns nor `-`")]
    Score,
    #[error("the result is not between 0.0 and 1.0")]
    Result,
}

impl FromStr for Sample {
    type Err = ParseSampleError;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let mut fields = line.split('|').map(str::trim);
        let (Some(fen), Some(score), Some(result), None) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(ParseSampleError::Fields);
        };
        let score = match score {
            "-" => None,
            number => Some(number.parse().map_err(|_| ParseSampleError::Score)?),
        };
        let result: f32 = result.parse().map_err(|_| ParseSampleError::Result)?;
        if !(0.0..=1.0).contains(&result) {
            return Err(ParseSampleError::Result);
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
            (String::new(), ParseSampleError::Fields),
            (format!("{fen} | 3"), ParseSampleError::Fields),
            (format!("{fen} | x | 0.5"), ParseSampleError::Score),
            (format!("{fen} | 3 | 1-0"), ParseSampleError::Result),
            (format!("{fen} | 3 | 2.0"), ParseSampleError::Result),
            (format!("{fen} | 3 | NaN"), ParseSampleError::Result),
        ] {
            assert_eq!(line.parse::<Sample>(), Err(error), "{line}");
        }
        assert!(matches!("8/8 | 1 | 0.5".parse::<Sample>(), Err(ParseSampleError::Fen(_))));
    }
}
