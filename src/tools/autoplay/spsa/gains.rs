//! The gain sequences of SPSA. They determine the size of the perturbations, and how far each
//! result moves the parameters.

use super::parameter::Parameter;

/// The exponent with which the step sizes decrease. This is Spall's choice for finite runs (1998,
/// section III.B); the asymptotically optimal value is 1.
const ALPHA: f64 = 0.602;
/// The exponent of the perturbations (same source). The asymptotically optimal value is 1/6.
const GAMMA: f64 = 0.101;
/// The stability constant as a fraction of the total number of pairs. It keeps the first steps
/// small. Spall recommends "10% or less of the number of iterations".
const STABILITY: f64 = 0.1;

/// The gain sequences of a tuning run. Time is measured in game pairs instead of iterations, as in
/// Stockfish's framework, so that the number of pairs per iteration does not affect how far a given
/// number of games moves the parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gains {
    pairs: f64,
}

impl Gains {
    pub(super) fn new(pairs: u64) -> Self {
        Gains { pairs: pairs as f64 }
    }

    /// Returns the perturbation of a parameter after `played` pairs, in the parameter's own units.
    /// This is Spall's c_k. For the last pair, it equals `c_end`.
    pub(super) fn perturbation(&self, parameter: &Parameter, played: u64) -> f64 {
        let k = played as f64 + 1.0;
        parameter.c_end * (self.pairs / k).powf(GAMMA)
    }

    /// Returns how much a parameter changes per point of score (wins minus losses). This is Spall's
    /// a_k / c_k. For the last pair, a_k is `r_end * c_end²`.
    pub(super) fn step(&self, parameter: &Parameter, played: u64) -> f64 {
        let k = played as f64 + 1.0;
        let delay = STABILITY * self.pairs;
        let a_end = parameter.r_end * parameter.c_end.powi(2);
        let a = a_end * ((delay + self.pairs) / (delay + k)).powf(ALPHA);
        a / self.perturbation(parameter, played)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_pair_uses_the_final_gains() {
        let parameter: Parameter = "a,50,0,100,4,0.01".parse().expect("a parameter");
        let gains = Gains::new(1000);
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(gains.perturbation(&parameter, 999), 4.0);
        near(gains.step(&parameter, 999), 0.01 * 4.0);
        // For the first pair, c_1 = 4 * 1000^0.101 and a_1 = 0.01 * 16 * (1100 / 101)^0.602.
        near(gains.perturbation(&parameter, 0), 4.0 * 1000_f64.powf(0.101));
        let a = 0.16 * (1100.0_f64 / 101.0).powf(0.602);
        near(gains.step(&parameter, 0), a / gains.perturbation(&parameter, 0));
    }
}
