//! The thread suite: how much sooner several threads reach a depth than one does.
//!
//! One thread sets the depth of each position: that of the first iteration it completes after a
//! given time. The others search to the same depth, each time with an empty table.

use std::time::Duration;

use super::Switch;
use crate::position::{Game, Position};
use crate::score::Depth;
use crate::search::{Bound, Event, Limits, Options, Searcher};

/// A search to a depth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// How long it took.
    pub elapsed: Duration,
    /// Nodes of all threads.
    pub nodes: u64,
}

impl Timing {
    /// Nodes per second.
    pub fn speed(&self) -> f64 {
        self.nodes as f64 / self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// The searches of one position to one depth.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Where the searches began.
    pub position: Position,
    /// The depth in plies.
    pub depth: Depth,
    /// By one thread.
    pub single: Timing,
    /// By each other number of threads, in the order in which the [`Bench`] was given them.
    pub several: Vec<Timing>,
}

/// What a number of threads gained on a suite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The number of threads.
    pub threads: usize,
    /// How many times sooner the depth was reached: the lower quartile, median and upper quartile.
    pub speedup: [f64; 3],
    /// The geometric mean of the same.
    pub mean: f64,
    /// Nodes over those of one thread, over all positions: what the threads search in vain.
    pub nodes: f64,
    /// Nodes per second over those of one thread, over all positions.
    pub speed: f64,
}

/// Searchers for each number of threads.
pub struct Bench {
    single: Searcher,
    several: Vec<Searcher>,
    time: Duration,
}

impl Bench {
    /// Searchers for one and for each of these numbers of threads, with tables of `memory_mb`;
    /// one thread is to search at least `time`.
    pub fn new(threads: &[usize], memory_mb: usize, time: Duration) -> Self {
        let searcher = |threads| Searcher::new(Options { memory_mb, threads });
        let several = threads.iter().map(|&threads| searcher(threads)).collect();
        Bench { single: searcher(1), several, time }
    }

    /// Searches a position in all ways; `None` once the switch is off, or where no depth is
    /// reached because the game is over.
    pub fn attempt(&mut self, position: &Position, switch: &Switch) -> Option<Trial> {
        let game = Game::new(*position);
        let (depth, single) = self.set_the_depth(&game, switch)?;
        let mut several = Vec::new();
        for searcher in &mut self.several {
            searcher.new_game();
            let found = searcher.search_silently(&game, &Limits::depth(depth), &switch.control());
            several.push(Timing { elapsed: found.elapsed, nodes: found.nodes });
        }
        (!switch.is_stopped()).then_some(Trial { position: *position, depth, single, several })
    }

    /// Searches with one thread until an iteration ends after the time given.
    fn set_the_depth(&mut self, game: &Game, switch: &Switch) -> Option<(Depth, Timing)> {
        let (control, time) = (switch.control(), self.time);
        let mut reached = None;
        self.single.new_game();
        self.single.search(game, &Limits::default(), &control, &mut |event| {
            if let Event::Iteration(report) = event
                && report.bound == Bound::Exact
                && (report.elapsed >= time || report.score.abs() >= crate::score::TABLEBASE_BOUND)
                && reached.is_none()
            {
                let timing = Timing { elapsed: report.elapsed, nodes: report.nodes };
                reached = Some((report.depth, timing));
                control.stop();
            }
        });
        reached.filter(|_| !switch.is_stopped())
    }
}

/// Sums up what each of the numbers of threads given to [`Bench::new`] gained.
pub fn summarise(threads: &[usize], trials: &[Trial]) -> Vec<Summary> {
    let summary = |(index, &threads)| summary(index, threads, trials);
    threads.iter().enumerate().map(summary).collect()
}

fn summary(index: usize, threads: usize, trials: &[Trial]) -> Summary {
    let gain = |trial: &Trial| {
        let [one, all] = [trial.single, trial.several[index]].map(|timing| timing.elapsed);
        one.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE)
    };
    let mut gains: Vec<f64> = trials.iter().map(gain).collect();
    gains.sort_by(f64::total_cmp);
    let logarithms: f64 = gains.iter().map(|gain| gain.ln()).sum();
    let single = total(trials.iter().map(|trial| trial.single));
    let several = total(trials.iter().map(|trial| trial.several[index]));
    Summary {
        threads,
        speedup: [0.25, 0.5, 0.75].map(|share| quantile(&gains, share)),
        mean: (logarithms / gains.len().max(1) as f64).exp(),
        nodes: several.nodes as f64 / single.nodes.max(1) as f64,
        speed: several.speed() / single.speed().max(f64::MIN_POSITIVE),
    }
}

fn total(timings: impl Iterator<Item = Timing>) -> Timing {
    timings.fold(Timing { elapsed: Duration::ZERO, nodes: 0 }, |sum, one| Timing {
        elapsed: sum.elapsed + one.elapsed,
        nodes: sum.nodes + one.nodes,
    })
}

/// The value below which `share` of the sorted numbers lie, between two of them by proportion;
/// 1 where there are none.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 1.0 };
    let place = share * last as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(millis: u64, nodes: u64) -> Timing {
        Timing { elapsed: Duration::from_millis(millis), nodes }
    }

    #[test]
    fn gains_are_summed_up() {
        let trial = |one, two| Trial {
            position: Position::start(),
            depth: 9,
            single: timing(one, 1_000),
            several: vec![timing(two, 1_500)],
        };
        let trials = [trial(400, 100), trial(100, 100), trial(200, 100)];
        let summaries = summarise(&[2], &trials);
        let Summary { threads, speedup, mean, nodes, speed } = summaries[0];
        assert_eq!((threads, speedup, nodes), (2, [1.5, 2.0, 3.0], 1.5));
        assert!((mean - 2.0).abs() < 1e-9, "{mean}");
        assert!((speed - 1.5 * 700.0 / 300.0).abs() < 1e-9, "{speed}");
    }

    #[test]
    fn all_search_to_the_depth_that_one_reaches() {
        let mut bench = Bench::new(&[1, 2], 4, Duration::from_millis(20));
        let switch = Switch::default();
        let trial = bench.attempt(&Position::start(), &switch).expect("a trial");
        assert!(trial.depth > 1 && trial.single.elapsed >= Duration::from_millis(20));
        // One thread searches the same nodes again.
        assert_eq!(trial.several[0].nodes, trial.single.nodes);
        assert!(trial.several[1].nodes > 0);
        switch.stop();
        assert_eq!(bench.attempt(&Position::start(), &switch), None);
    }
}
