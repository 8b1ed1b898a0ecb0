//! Converts between network outputs, scores and expected results.

use crate::engine::eval::nnue::SCALE;

/// The logistic curve that maps scores to expected results. The network learns the expected result,
/// so the curve determines which differences in score matter. A steep curve emphasises differences
/// between nearly equal positions; a flat one also gives weight to differences between won
/// positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sigmoid {
    /// The score, in centipawns, at which the expected result is 73% (the logistic function of 1).
    pub scale: u16,
}

impl Sigmoid {
    pub(crate) fn of_score(self, centipawns: f32) -> f32 {
        self.expected(centipawns / SCALE as f32)
    }

    #[inline(always)]
    pub(super) fn expected(self, output: f32) -> f32 {
        1.0 / (1.0 + (-self.steepness() * output).exp())
    }

    /// Returns the derivative of the expected result with respect to the network output. It is
    /// computed from the expected result, which the caller already has.
    #[inline(always)]
    pub(super) fn slope(self, expected: f32) -> f32 {
        self.steepness() * expected * (1.0 - expected)
    }

    /// Returns the factor by which the network output is multiplied to get the logit of the
    /// expected result. An output of 1.0 corresponds to [`SCALE`] centipawns.
    #[inline(always)]
    fn steepness(self) -> f32 {
        SCALE as f32 / f32::from(self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn score_equal_to_the_scale_gives_73_percent() {
        let curve = Sigmoid { scale: 150 };
        assert!((curve.of_score(150.0) - 0.7311).abs() < 1e-4);
        assert_eq!(curve.of_score(0.0), 0.5);
        assert!((curve.of_score(-150.0) + curve.of_score(150.0) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn slope_matches_finite_differences() {
        const STEP: f32 = 1e-2;
        let curve = Sigmoid { scale: 150 };
        for output in [-1.0, 0.0, 0.4] {
            let rise = curve.expected(output + STEP) - curve.expected(output - STEP);
            let slope = curve.slope(curve.expected(output));
            assert!((rise / (2.0 * STEP) - slope).abs() < 1e-3, "{output}");
        }
    }
}
