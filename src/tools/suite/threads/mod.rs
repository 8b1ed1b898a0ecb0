//! Measures how much sooner a given depth is reached with several threads than with one.
//!
//! Each position is searched to the same depth with each number of threads, including one, and with
//! the search state cleared each time. The depth is fixed in advance. If the iteration that ends
//! after a time limit set it, positions whose last iteration is unusually slow would be preferred,
//! and these gain more from several threads. The order of the thread counts changes from position to
//! position.

mod picture;

pub(crate) use picture::picture;

use std::time::Duration;

use super::Switch;
use crate::chess::position::{Game, Position};
use crate::chess::score::Depth;
use crate::engine::search::{Config, Limits, SearchFault, SearchResult, Searcher, Sharing};

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Timing {
    pub elapsed: Duration,
    pub nodes: u64,
    /// Statistics about how the threads shared the work.
    pub sharing: Sharing,
}

impl Timing {
    fn of(found: &SearchResult) -> Self {
        Timing { elapsed: found.elapsed, nodes: found.nodes, sharing: found.sharing }
    }

    fn rate(&self, number: u64) -> f64 {
        number as f64 / self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SpeedupTrial {
    pub position: Position,
    pub single: Timing,
    /// The searches with the requested numbers of threads, in the order passed to [`Bench::new`].
    /// If 1 is one of these numbers, there is a second search with one thread, in addition to
    /// `single`.
    pub several: Vec<Timing>,
}

/// The speedup with a given number of threads, summarised over all positions in a suite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SpeedupSummary {
    pub threads: usize,
    /// The lower quartile, median and upper quartile of the speedup.
    pub speedup: [f64; 3],
    pub mean: f64,
    /// The relative standard error of `mean`, the geometric mean of the speedups.
    pub error: f64,
    /// The total time with one thread, divided by the total time with several threads. Long
    /// searches have more weight in this ratio than short ones.
    pub total: f64,
    /// The search overhead: the total number of nodes with several threads, divided by the total
    /// number with one thread.
    pub nodes: f64,
    /// The total nodes per second over all positions, divided by the same rate with one thread.
    pub speed: f64,
    /// The fraction of the total thread time that was spent idle.
    pub waiting: f64,
    /// The number of split nodes per second.
    pub splits: f64,
    /// The fraction of split nodes that were joined by another thread, which searched at least one
    /// of their moves. 0 if there were no split nodes.
    pub joined: f64,
    /// How many times per second a thread joined a split node.
    pub joins: f64,
}

pub(crate) struct Bench {
    /// The single-threaded searcher, followed by one searcher for each requested number of threads.
    searchers: Vec<Searcher>,
    depth: Depth,
    attempts: usize,
}

impl Bench {
    /// Creates searchers with the settings in `config`: one with a single thread, and one for each
    /// number in `threads`. Each position is searched to `depth` plies.
    pub(crate) fn new(
        threads: &[usize],
        config: &Config,
        depth: Depth,
    ) -> Result<Self, SearchFault> {
        let searcher = |&threads| {
            let mut searcher = Searcher::new(Config { threads, ..config.clone() });
            searcher.take_faults().into_iter().next().map_or(Ok(searcher), Err)
        };
        let searchers = [1].iter().chain(threads).map(searcher).collect::<Result<_, _>>()?;
        Ok(Bench { searchers, depth, attempts: 0 })
    }

    /// Searches a position with each number of threads. Returns `None` if the searches are stopped
    /// or if the game is over in the position.
    pub(crate) fn attempt(&mut self, position: &Position, switch: &Switch) -> Option<SpeedupTrial> {
        let (game, limits) = (Game::new(*position), Limits::depth(self.depth));
        if game.outcome().is_some() {
            return None;
        }
        let count = self.searchers.len();
        let mut timings = vec![Timing::default(); count];
        for place in 0..count {
            let index = (place + self.attempts) % count;
            let searcher = &mut self.searchers[index];
            searcher.new_game();
            let found = searcher.search_without_events(&game, &limits, &switch.control());
            timings[index] = Timing::of(&found);
        }
        self.attempts += 1;
        let several = timings.split_off(1);
        let trial = SpeedupTrial { position: *position, single: timings[0], several };
        (!switch.is_stopped()).then_some(trial)
    }
}

pub(crate) fn summarise(threads: &[usize], trials: &[SpeedupTrial]) -> Vec<SpeedupSummary> {
    let summary = |(index, &threads)| summary(index, threads, trials);
    threads.iter().enumerate().map(summary).collect()
}

fn summary(index: usize, threads: usize, trials: &[SpeedupTrial]) -> SpeedupSummary {
    let gain = |trial: &SpeedupTrial| sooner(&trial.single, &trial.several[index]);
    let mut gains: Vec<f64> = trials.iter().map(gain).collect();
    gains.sort_by(f64::total_cmp);
    let (mean, error) = mean_and_error(&gains);
    let single = total(trials.iter().map(|trial| trial.single));
    let several = total(trials.iter().map(|trial| trial.several[index]));
    let Sharing { splits, joined, joins, waiting } = several.sharing;
    let time = several.elapsed.as_secs_f64() * threads as f64;
    SpeedupSummary {
        threads,
        speedup: [0.25, 0.5, 0.75].map(|share| quantile(&gains, share)),
        mean,
        error,
        total: sooner(&single, &several),
        nodes: several.nodes as f64 / single.nodes.max(1) as f64,
        speed: several.rate(several.nodes) / single.rate(single.nodes).max(f64::MIN_POSITIVE),
        waiting: waiting.as_secs_f64() / time.max(f64::MIN_POSITIVE),
        splits: several.rate(splits),
        joined: joined as f64 / splits.max(1) as f64,
        joins: several.rate(joins),
    }
}

/// Returns the speedup: the time of the search with one thread divided by that of the search with
/// all threads.
fn sooner(one: &Timing, all: &Timing) -> f64 {
    one.elapsed.as_secs_f64() / all.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
}

/// Returns the geometric mean and its relative standard error. The error is infinite if there are
/// fewer than two numbers.
fn mean_and_error(numbers: &[f64]) -> (f64, f64) {
    let count = numbers.len().max(1) as f64;
    let mean = numbers.iter().map(|number| number.ln()).sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number.ln() - mean).powi(2)).sum();
    let error = match numbers.len() {
        0 | 1 => f64::INFINITY,
        _ => (squares / (count - 1.0) / count).sqrt(),
    };
    (mean.exp(), error)
}

fn total(timings: impl Iterator<Item = Timing>) -> Timing {
    timings.fold(Timing::default(), |sum, one| Timing {
        elapsed: sum.elapsed + one.elapsed,
        nodes: sum.nodes + one.nodes,
        sharing: Sharing {
            splits: sum.sharing.splits + one.sharing.splits,
            joined: sum.sharing.joined + one.sharing.joined,
            joins: sum.sharing.joins + one.sharing.joins,
            waiting: sum.sharing.waiting + one.sharing.waiting,
        },
    })
}

/// Returns the quantile of sorted numbers at `share` (0 to 1), interpolated linearly. Returns 1 if
/// there are no numbers.
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
        let elapsed = Duration::from_millis(millis);
        Timing { elapsed, nodes, sharing: Sharing::default() }
    }

    fn trial(one: u64, two: Timing) -> SpeedupTrial {
        SpeedupTrial { position: Position::start(), single: timing(one, 1_000), several: vec![two] }
    }

    #[test]
    fn speedups_are_summarised() {
        let trials = [400, 100, 200].map(|one| trial(one, timing(100, 1_500)));
        let SpeedupSummary { threads, speedup, mean, error, total, nodes, speed, .. } =
            summarise(&[2], &trials)[0];
        assert_eq!((threads, speedup, nodes), (2, [1.5, 2.0, 3.0], 1.5));
        // The logarithms of the speedups are ln 4, 0 and ln 2, which have a standard deviation of
        // ln 2.
        let expected = 2.0_f64.ln() / 3.0_f64.sqrt();
        assert!((mean - 2.0).abs() < 1e-9 && (error - expected).abs() < 1e-9, "{mean} {error}");
        assert!((total - 700.0 / 300.0).abs() < 1e-9, "{total}");
        assert!((speed - 1.5 * 700.0 / 300.0).abs() < 1e-9, "{speed}");
    }

    #[test]
    fn sharing_statistics_are_summarised() {
        let sharing = |splits, joined, joins, waiting| Timing {
            sharing: Sharing { splits, joined, joins, waiting: Duration::from_millis(waiting) },
            ..timing(100, 1_500)
        };
        let trials = [trial(100, sharing(10, 3, 5, 20)), trial(100, sharing(30, 9, 11, 60))];
        let SpeedupSummary { waiting, splits, joined, joins, .. } = summarise(&[2], &trials)[0];
        // Two threads ran for 200 ms each, and 80 ms of the total of 400 ms were idle. Rates are
        // per second of elapsed time (200 ms), not of thread time.
        for (found, expected) in [(waiting, 0.2), (splits, 200.0), (joined, 0.3), (joins, 80.0)] {
            assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
        }
        let alone = summarise(&[1], &[trial(100, timing(100, 1_000))])[0];
        assert_eq!((alone.waiting, alone.splits, alone.joined, alone.joins), (0.0, 0.0, 0.0, 0.0));
    }

    #[test]
    fn single_threaded_trial_repeats_the_reference_search() {
        let config = Config { memory_mb: 4, ..Config::default() };
        let mut bench = Bench::new(&[1, 2], &config, 9).expect("two threads");
        let switch = Switch::default();
        // Runs two trials, because each uses a different order of the thread counts.
        for _ in 0..2 {
            let trial = bench.attempt(&Position::start(), &switch).expect("a trial");
            assert_eq!(trial.several[0].nodes, trial.single.nodes);
            assert!(trial.several[1].nodes > 0);
            // The node counts are equal because the search is deterministic with one thread, but
            // the two searches were timed separately.
            assert_ne!(trial.single.elapsed, trial.several[0].elapsed);
        }
        switch.stop();
        assert_eq!(bench.attempt(&Position::start(), &switch), None);
    }
}
