//! The SPSA algorithm: values, perturbations and updates.

use crate::support::random::Random;

use super::gains::Gains;
use super::parameter::Parameter;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The number of iterations. Each iteration has new random perturbations.
    pub iterations: u32,
    /// The number of game pairs per iteration. Must be greater than 0.
    pub pairs: u32,
    /// The seed from which the random perturbations are derived.
    pub seed: u64,
}

/// The state of a tuning run. It is fully determined by the parameters, the plan and the scores of
/// the completed iterations.
#[derive(Debug, Clone)]
pub(crate) struct Tuner {
    parameters: Vec<Parameter>,
    plan: Plan,
    gains: Gains,
    values: Vec<f64>,
    scores: Vec<i32>,
}

/// The parameter values used by the two sides in an iteration.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Perturbation {
    /// For each parameter, the two sides' values, which are within the parameter's bounds.
    pub values: Vec<[f64; 2]>,
    /// For each parameter, a random number in the range 0..1, which is used to round the value to
    /// an integer: the number is added to the value, and the sum is rounded down. Both sides use
    /// the same number, so that rounding changes the difference between their values as little as
    /// possible.
    pub rounding: Vec<f64>,
}

impl Tuner {
    pub(crate) fn new(parameters: Vec<Parameter>, plan: Plan) -> Self {
        let gains = Gains::new(u64::from(plan.iterations) * u64::from(plan.pairs));
        let values = parameters.iter().map(|parameter| parameter.start).collect();
        Tuner { parameters, plan, gains, values, scores: Vec::new() }
    }

    pub(crate) fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    pub(crate) fn plan(&self) -> Plan {
        self.plan
    }

    /// Returns the current parameter values (not scaled).
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the score of each completed iteration: the first side's wins minus losses, as passed
    /// to [`Tuner::update`].
    pub(crate) fn scores(&self) -> &[i32] {
        &self.scores
    }

    pub(crate) fn iteration(&self) -> u32 {
        // Cannot overflow: there are at most as many scores as iterations, whose number is a `u32`.
        self.scores.len() as u32
    }

    pub(crate) fn is_done(&self) -> bool {
        self.iteration() >= self.plan.iterations
    }

    /// Returns the number of pairs played in the completed iterations.
    pub(super) fn pairs(&self) -> u64 {
        u64::from(self.iteration()) * u64::from(self.plan.pairs)
    }

    /// Returns a random number generator for the next iteration. It is seeded only from the run's
    /// seed and the iteration number, so a resumed run gets the same random numbers.
    fn random(&self) -> Random {
        let salt = Random::new(self.plan.seed).next_u64();
        let mixed = Random::new(salt.wrapping_add(u64::from(self.iteration()))).next_u64();
        Random::new(mixed)
    }

    /// Chooses the direction (1 or -1) in which each parameter is changed for the first side; the
    /// second side gets the opposite. Also returns the generator, for further random numbers. Both
    /// directions are equally likely, as Spall recommends.
    fn signs(&self) -> (Vec<f64>, Random) {
        let mut random = self.random();
        let sign = |_| if random.below(2) == 0 { -1.0 } else { 1.0 };
        (self.parameters.iter().map(sign).collect(), random)
    }

    pub(super) fn perturb(&self) -> Perturbation {
        let (signs, mut random) = self.signs();
        let sides = |((parameter, value), sign): ((&Parameter, &f64), f64)| {
            let off = sign * self.gains.perturbation(parameter, self.pairs());
            [value + off, value - off].map(|value| value.clamp(parameter.min, parameter.max))
        };
        let values = self.parameters.iter().zip(&self.values).zip(signs).map(sides).collect();
        let rounding = self.parameters.iter().map(|_| random.fraction()).collect();
        Perturbation { values, rounding }
    }

    /// Updates the values based on the score of an iteration: the first side's wins minus losses,
    /// without excluded pairs. Does nothing after the last iteration.
    pub(crate) fn update(&mut self, score: i32) {
        if self.is_done() {
            return;
        }
        let (signs, _) = self.signs();
        let played = self.pairs();
        for ((parameter, value), sign) in self.parameters.iter().zip(&mut self.values).zip(signs) {
            let moved = *value + self.gains.step(parameter, played) * f64::from(score) * sign;
            *value = moved.clamp(parameter.min, parameter.max);
        }
        self.scores.push(score);
    }

    /// Returns the history of the parameter values: the initial values, followed by those after
    /// each iteration.
    pub(crate) fn path(&self) -> Vec<Vec<f64>> {
        let mut tuner = Tuner::new(self.parameters.clone(), self.plan);
        let mut path = vec![tuner.values.clone()];
        for &score in &self.scores {
            tuner.update(score);
            path.push(tuner.values.clone());
        }
        path
    }
}

impl Perturbation {
    /// Formats the value of the parameter at `index` for one side. If `whole` is set, the value is
    /// randomly rounded to an integer.
    pub(super) fn text(&self, index: usize, side: usize, whole: bool) -> String {
        let value = self.values[index][side];
        if whole { (value + self.rounding[index]).floor().to_string() } else { value.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quadratic model of the simulated Elo as a function of a parameter's value. It is highest
    /// at `best`, and lower by `drop` at a distance of `width`.
    struct Optimum {
        best: f64,
        width: f64,
        drop: f64,
    }

    fn elo(optima: &[Optimum], values: impl Iterator<Item = f64>) -> f64 {
        let lost = |(optimum, value): (&Optimum, f64)| {
            optimum.drop * ((value - optimum.best) / optimum.width).powi(2)
        };
        -optima.iter().zip(values).map(lost).sum::<f64>()
    }

    /// Simulates a game between players with the given Elo difference and returns 1, 0 or -1 for
    /// the first player's win, draw or loss. The expected score follows the logistic formula, and
    /// half of the games between equal players are drawn.
    fn game(difference: f64, random: &mut Random) -> i32 {
        let expected = 1.0 / (1.0 + 10_f64.powf(-difference / 400.0));
        let draws = 2.0 * expected * (1.0 - expected);
        let win = expected - draws / 2.0;
        let random_value = random.fraction();
        if random_value < win {
            1
        } else if random_value < win + draws {
            0
        } else {
            -1
        }
    }

    /// Runs the tuner on simulated games with random results, which are as noisy as those of real
    /// games.
    fn tuned(parameters: &[&str], optima: &[Optimum], plan: Plan) -> Tuner {
        let parameters = parameters.iter().map(|text| text.parse().expect(text)).collect();
        let mut tuner = Tuner::new(parameters, plan);
        let mut random = Random::new(plan.seed ^ 0xfeed);
        while !tuner.is_done() {
            let perturbation = tuner.perturb();
            let [plus, minus] =
                [0, 1].map(|side| elo(optima, perturbation.values.iter().map(|pair| pair[side])));
            let games = (0..2 * plan.pairs).map(|_| game(plus - minus, &mut random));
            tuner.update(games.sum());
        }
        tuner
    }

    /// Three parameters whose values differ widely in magnitude. Perturbing any of them changes the
    /// strength by a few Elo.
    const PARAMETERS: [&str; 3] =
        ["a,20,0,200,14,0.002", "b,0.9,0,1,0.1,0.002", "c,-3000,-9000,9000,1000,0.002"];
    const OPTIMA: [Optimum; 3] = [
        Optimum { best: 90.0, width: 70.0, drop: 60.0 },
        Optimum { best: 0.4, width: 0.5, drop: 50.0 },
        Optimum { best: 2000.0, width: 5000.0, drop: 60.0 },
    ];

    #[test]
    fn tuner_finds_the_optimum_with_noisy_games() {
        for seed in 1..=4 {
            let tuner = tuned(&PARAMETERS, &OPTIMA, Plan { iterations: 10_000, pairs: 4, seed });
            let before = elo(&OPTIMA, tuner.parameters().iter().map(|parameter| parameter.start));
            let after = elo(&OPTIMA, tuner.values().iter().copied());
            assert!((-171.0..-169.0).contains(&before), "{before}");
            assert!(after > -4.0, "seed {seed}: {after} Elo at {:?}", tuner.values());
        }
    }

    /// Checks the tuning speed and noise stated in docs/guides/tune.md, for a parameter that loses
    /// 2 Elo at a distance of `c_end` from its best value.
    #[test]
    fn speed_and_noise_match_the_guide() {
        const RUNS: u64 = 40;
        let distances = |start: f64, iterations: u32| {
            let optima = || [Optimum { best: 0.0, width: 1.0, drop: 2.0 }];
            let parameter = format!("a,{start},-50,50,1,0.01");
            let plan = move |seed| Plan { iterations, pairs: 1, seed };
            (1..=RUNS).map(move |seed| tuned(&[&parameter], &optima(), plan(seed)).values()[0])
        };
        let noise = distances(0.0, 8_800).map(|off| off * off).sum::<f64>() / RUNS as f64;
        assert!((0.23..0.43).contains(&noise.sqrt()), "0.33 expected, found {}", noise.sqrt());
        let left = distances(20.0, 2_200).sum::<f64>() / RUNS as f64 / 20.0;
        assert!((0.05..0.37).contains(&left), "less than 1/e of the distance, found {left}");
    }

    #[test]
    fn values_stay_near_the_start_without_any_gain() {
        for seed in 1..=4 {
            let tuner = tuned(&PARAMETERS, &[], Plan { iterations: 10_000, pairs: 4, seed });
            for (parameter, value) in tuner.parameters().iter().zip(tuner.values()) {
                let off = (value - parameter.start) / parameter.c_end;
                assert!(off.abs() < 2.0, "seed {seed}: {} by {off} c_end", parameter.name);
            }
        }
        let parameters = PARAMETERS.map(|text| text.parse().expect(text)).to_vec();
        let mut tuner = Tuner::new(parameters, Plan { iterations: 50, pairs: 1, seed: 1 });
        (0..50).for_each(|_| tuner.update(0));
        assert!(tuner.is_done());
        assert_eq!(tuner.values(), [20.0, 0.9, -3000.0], "draws change no value");
    }

    #[test]
    fn values_stay_within_bounds() {
        let optima = [Optimum { best: 500.0, width: 10.0, drop: 50.0 }];
        let plan = Plan { iterations: 300, pairs: 2, seed: 3 };
        let tuner = tuned(&["a,5,0,10,2,0.5"], &optima, plan);
        assert!(tuner.path().iter().flatten().all(|value| (0.0..=10.0).contains(value)));
        assert_eq!(tuner.values(), [10.0], "the optimum is out of bounds");
    }

    #[test]
    fn same_scores_give_the_same_path() {
        let plan = Plan { iterations: 200, pairs: 1, seed: 7 };
        let tuner = tuned(&PARAMETERS, &OPTIMA, plan);
        let path = tuner.path();
        assert_eq!((path.len(), path[200].as_slice()), (201, tuner.values()));
        let mut again = Tuner::new(tuner.parameters().to_vec(), plan);
        for &score in &tuner.scores()[..100] {
            again.update(score);
        }
        assert_eq!(again.values(), path[100]);
        let other = Tuner::new(tuner.parameters().to_vec(), Plan { seed: 8, ..plan });
        assert_ne!(other.perturb(), Tuner::new(tuner.parameters().to_vec(), plan).perturb());
    }

    #[test]
    fn rounding_to_integers_is_unbiased() {
        let parameters = vec!["a,7.3,0,20,1,0.01".parse().expect("a parameter")];
        let mut tuner = Tuner::new(parameters, Plan { iterations: 5000, pairs: 1, seed: 1 });
        let mut sums = [0.0; 2];
        while !tuner.is_done() {
            let perturbation = tuner.perturb();
            for (side, sum) in sums.iter_mut().enumerate() {
                let value: f64 = perturbation.text(0, side, true).parse().expect("a number");
                assert!((value - perturbation.values[0][side]).abs() < 1.0);
                assert_eq!(value.fract(), 0.0);
                *sum += value - perturbation.values[0][side];
            }
            tuner.update(0);
        }
        assert!(sums.iter().all(|sum| sum.abs() / 5000.0 < 0.03), "{sums:?}");
        let last = Perturbation { values: vec![[2.5, 20.0]], rounding: vec![0.999] };
        assert_eq!((last.text(0, 1, true), last.text(0, 0, false)), ("20".into(), "2.5".into()));
    }
}
