//! Measures the speedup of PV-splitting over serial alpha-beta at each position of a game.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::chess::Chess;
use super::game::Window;
use super::search::{Algorithm, Search};
use super::splitting::Splitter;
use crate::chess::position::{Move, Position};
use crate::chess::score::{Depth, Score};

/// Published times for PV-splitting with five threads. For each depth, there are five moves of a
/// game, each with the seconds taken by serial alpha-beta and by the split search.
pub(crate) const PUBLISHED: [(Depth, [(f64, f64); 5]); 3] = [
    (3, [(0.022, 0.0083), (0.032, 0.0097), (0.022, 0.0084), (0.021, 0.0084), (0.029, 0.0093)]),
    (4, [(0.310, 0.082), (0.546, 0.081), (0.091, 0.093), (0.502, 0.032), (0.502, 0.159)]),
    (5, [(6.84, 1.68), (15.90, 0.56), (1.39, 1.93), (8.55, 0.091), (14.79, 0.37)]),
];

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Split {
    pub threads: usize,
    pub seconds: f64,
    /// The number of nodes searched by all threads together, excluding quiescence nodes.
    pub nodes: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Measurement {
    pub depth: Depth,
    /// The 1-based number of the move in the game.
    pub number: usize,
    pub best: String,
    /// The score of the position, which is the same for the serial search and all split searches.
    pub score: Score,
    /// The duration of serial alpha-beta in seconds.
    pub seconds: f64,
    /// The number of nodes searched by serial alpha-beta, excluding quiescence.
    pub nodes: u64,
    pub splits: Vec<Split>,
}

impl Measurement {
    pub(crate) fn speedup(&self, split: &Split) -> f64 {
        self.seconds / split.seconds.max(f64::MIN_POSITIVE)
    }
}

pub(crate) struct Stopwatch {
    splitters: Vec<(usize, Splitter<Chess>)>,
    stop: Arc<AtomicBool>,
}

pub(crate) enum TimedPosition {
    /// The measurement and the best move found by the serial search. The move is `None` if the
    /// search found none.
    Done(Measurement, Option<Move>),
    /// A split search and the serial search returned different scores, which is a bug. The string
    /// describes the difference.
    Disagreement(String),
    Stopped,
}

impl Stopwatch {
    pub(crate) fn new(threads: &[usize], stop: &Arc<AtomicBool>) -> std::io::Result<Self> {
        let splitters = threads
            .iter()
            .map(|&threads| Ok((threads, Splitter::new(threads, Arc::clone(stop))?)))
            .collect::<std::io::Result<_>>()?;
        Ok(Stopwatch { splitters, stop: Arc::clone(stop) })
    }

    /// Times a serial and a parallel search of `position` to `depth`. `number` is the 1-based index
    /// of the move played from this position in the game.
    pub(crate) fn measure(
        &mut self,
        position: &Position,
        number: usize,
        depth: Depth,
    ) -> TimedPosition {
        let chess = Chess::new(position);
        let begin = Instant::now();
        let (mut serial, mut no_observer, stops) = (chess.clone(), (), [&*self.stop]);
        let mut search = Search::new(&mut serial, &mut no_observer, &stops);
        let (score, line) = search.run(Algorithm::AlphaBeta, position, depth, Window::FULL);
        let (nodes, seconds) = (search.nodes, begin.elapsed().as_secs_f64());
        let mut splits = Vec::new();
        for (threads, splitter) in &mut self.splitters {
            let begin = Instant::now();
            let found = splitter.search(&chess, position, depth);
            let elapsed: Duration = begin.elapsed();
            if self.stop.load(Relaxed) {
                return TimedPosition::Stopped;
            }
            if found.score != score {
                return TimedPosition::Disagreement(format!(
                    "{threads} threads found {} where one finds {score}: {position}",
                    found.score
                ));
            }
            let seconds = elapsed.as_secs_f64();
            splits.push(Split { threads: *threads, seconds, nodes: found.nodes });
        }
        if self.stop.load(Relaxed) {
            return TimedPosition::Stopped;
        }
        let best = line.first().map_or_else(String::new, |&mv| position.san(mv));
        let measurement = Measurement { depth, number, best, score, seconds, nodes, splits };
        TimedPosition::Done(measurement, line.first().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_and_split_searches_are_both_measured() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut stopwatch = Stopwatch::new(&[1, 3], &stop).expect("threads");
        let TimedPosition::Done(measured, best) = stopwatch.measure(&Position::start(), 1, 3)
        else {
            panic!("a measurement")
        };
        assert_eq!(measured.splits.len(), 2);
        assert!(measured.nodes > 500 && measured.splits.iter().all(|split| split.nodes > 500));
        assert_eq!(best.map(|mv| Position::start().san(mv)), Some(measured.best));
        stop.store(true, Relaxed);
        assert!(matches!(stopwatch.measure(&Position::start(), 1, 3), TimedPosition::Stopped));
    }
}
