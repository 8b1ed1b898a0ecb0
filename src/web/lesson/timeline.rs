//! PV-splitting of an explicit tree on a simulated clock. Each visit to a node takes one tick, so
//! the timeline is the same in every run.
//!
//! The rules are those of [`splitting`](super::splitting). A cutoff stops all threads. Once a
//! result is complete, other threads can use it at the same tick. If two results are complete at
//! the same tick, the result from the thread with the lower number is processed first.
//!
//! ```
//! use tabia::lesson::timeline::split_on_a_clock;
//! use tabia::lesson::tree::GameTree;
//!
//! let tree = GameTree::classic();
//! let [one, two] = [1, 2].map(|threads| split_on_a_clock(&tree, threads));
//! assert!(one.value == two.value && two.ticks <= one.ticks);
//! ```

use std::collections::VecDeque;

use serde::Serialize;

use super::game::{Window, ZeroSumGame};
use super::search::{Algorithm, Search};
use super::search_record::by;
use super::splitting::describe_threads;
use super::tree::{GameTree, NodeId, PositionTree};
use crate::chess::score::{Depth, Ply, Score};

/// The minimum remaining depth, in plies, at which nodes are split. Smaller subtrees are not worth
/// sharing.
const MIN_SPLIT_DEPTH: Depth = 2;

/// The result of a simulated parallel search, showing what each thread did and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Timeline {
    /// The number of simulated threads.
    pub threads: usize,
    /// The value of the root from the maximising player's point of view.
    pub value: Score,
    /// The principal variation, as names of nodes.
    pub line: Vec<String>,
    /// The duration of the search in ticks.
    pub ticks: u64,
    /// The number of visits by all threads.
    pub visits: u64,
    /// The number of ticks that single-threaded alpha-beta takes.
    pub serial: u64,
    /// The result on one line.
    pub summary: String,
    /// What the threads did, sorted by end time.
    pub spans: Vec<Span>,
}

/// Why a thread searches a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// The thread visits a node whose moves after the first will be shared among the threads.
    Split,
    /// The thread searches the last node of the principal variation alone, because the remaining
    /// subtree is too small to share.
    First,
    /// The thread tests a sibling with a null window. A sibling is the result of any move of the
    /// split node except the first.
    Null,
    /// The thread searches a sibling again with the open window, because the null-window search has
    /// shown that it is better.
    Again,
}

/// An uninterrupted search by one thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The 1-based number of the thread.
    pub thread: usize,
    /// The tick at which the search started.
    pub begin: u64,
    /// The tick at which the search ended.
    pub end: u64,
    /// The name of the node that was searched.
    pub node: String,
    /// Why the node was searched.
    pub work: Work,
    /// Whether a cutoff found by another thread stopped the search early.
    pub stopped: bool,
    /// A description of the span in words.
    pub text: String,
}

#[derive(Debug, Clone, Copy)]
struct Task {
    node: NodeId,
    /// The search window, from the point of view of the side to move at `node`.
    window: Window,
    work: Work,
}

/// A task in progress. Because time is simulated, its result is already known.
#[derive(Debug, Clone)]
struct Job {
    task: Task,
    begin: u64,
    end: u64,
    value: Score,
    line: Vec<NodeId>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    node: NodeId,
    ply: Ply,
    depth: Depth,
    window: Window,
}

/// A split point: the siblings of a node's first move. Scores are from the parent's point of view.
struct SplitPoint {
    place: Place,
    siblings: VecDeque<NodeId>,
    best: (Score, Vec<NodeId>),
    alpha: Score,
}

struct Clock {
    game: PositionTree,
    threads: usize,
    now: u64,
    visits: u64,
    spans: Vec<Span>,
}

/// Simulates a search of a tree with `threads` threads, which must be at least 1.
pub fn split_on_a_clock(tree: &GameTree, threads: usize) -> Timeline {
    let game = PositionTree::new(tree);
    let height = game.height();
    let mut clock = Clock { game, threads, now: 0, visits: 0, spans: Vec::new() };
    let place = Place { node: 0, ply: 0, depth: height, window: Window::FULL };
    let (value, line) = clock.pv_split(place);
    let (ticks, visits) = (clock.now, clock.visits);
    let mut no_observer = ();
    let mut search = Search::new(&mut clock.game, &mut no_observer, &[]);
    search.run(Algorithm::AlphaBeta, &0, height, Window::FULL);
    let serial = search.nodes;
    let value = if tree.is_max(0) { value } else { -value };
    let line: Vec<String> = line.iter().map(|&node| tree.node_name(node).to_owned()).collect();
    // The speedup in hundredths, `100 * serial / ticks`, rounded half up in integer arithmetic.
    let faster = (200 * serial + ticks) / (2 * ticks);
    let summary = format!(
        "pv-splitting, {}: value {value}{}; {visits} visits in {ticks} ticks, \
         {}.{:02} times as fast as alpha-beta",
        describe_threads(threads),
        by(&line),
        faster / 100,
        faster % 100
    );
    Timeline { threads, value, line, ticks, visits, serial, summary, spans: clock.spans }
}

impl Timeline {
    /// Formats all spans, one per line, followed by the summary of the search.
    pub fn text(&self) -> String {
        let lines = self.spans.iter().map(|span| format!("{}\n", span.text));
        lines.collect::<String>() + &self.summary + "\n"
    }
}

impl Clock {
    fn pv_split(&mut self, place: Place) -> (Score, Vec<NodeId>) {
        let moves = match place.depth {
            ..MIN_SPLIT_DEPTH => Vec::new(),
            _ => self.game.moves(&place.node),
        };
        let Some((&first, siblings)) = moves.split_first() else {
            let task = Task { node: place.node, window: place.window, work: Work::First };
            let job = self.begin(task, place.ply, place.depth);
            self.now = job.end;
            self.note(0, &job, job.end);
            return (job.value, job.line);
        };
        let task = Task { node: place.node, window: place.window, work: Work::Split };
        let (begin, end) = (self.now, self.now + 1);
        self.now = end;
        self.note(0, &Job { task, begin, end, value: 0, line: Vec::new() }, end);
        let below = Place { node: first, window: place.window.flip(), ..place.below() };
        let (value, rest) = self.pv_split(below);
        let best = (-value, [&[first], &rest[..]].concat());
        if best.0 >= place.window.beta || siblings.is_empty() {
            return best;
        }
        let alpha = place.window.alpha.max(best.0);
        self.share_out(SplitPoint {
            place,
            siblings: siblings.iter().copied().collect(),
            best,
            alpha,
        })
    }

    fn share_out(&mut self, mut split: SplitPoint) -> (Score, Vec<NodeId>) {
        let mut busy: Vec<Option<Job>> = vec![None; self.threads];
        for job in &mut busy {
            *job = self.next_sibling(&mut split);
        }
        while let Some((thread, job)) = first_done(&mut busy) {
            self.now = job.end;
            self.note(thread, &job, job.end);
            let value = -job.value;
            let (asked, beta) = (-job.task.window.beta, split.place.window.beta);
            if job.task.work == Work::Null && value > asked && value < beta {
                let window = Window::new(split.alpha, beta).flip();
                let task = Task { window, work: Work::Again, ..job.task };
                busy[thread] = Some(self.begin_below(task, split.place));
                continue;
            }
            if value > split.best.0 {
                split.best = (value, [&[job.task.node], &job.line[..]].concat());
                split.alpha = split.alpha.max(value);
            }
            if value >= beta {
                for (thread, job) in busy.iter().enumerate() {
                    if let Some(job) = job {
                        self.note(thread, job, self.now);
                    }
                }
                break;
            }
            busy[thread] = self.next_sibling(&mut split);
        }
        split.best
    }

    fn next_sibling(&mut self, split: &mut SplitPoint) -> Option<Job> {
        let node = split.siblings.pop_front()?;
        let task = Task { node, window: Window::null(split.alpha).flip(), work: Work::Null };
        Some(self.begin_below(task, split.place))
    }

    fn begin_below(&mut self, task: Task, place: Place) -> Job {
        let below = place.below();
        self.begin(task, below.ply, below.depth)
    }

    fn begin(&mut self, task: Task, ply: Ply, depth: Depth) -> Job {
        let mut no_observer = ();
        let mut search = Search::new(&mut self.game, &mut no_observer, &[]);
        let (value, line) =
            search.run_below(Algorithm::AlphaBeta, &task.node, ply, depth, task.window);
        Job { task, begin: self.now, end: self.now + search.nodes, value, line }
    }

    fn note(&mut self, thread: usize, job: &Job, end: u64) {
        let Job { task, begin, value, .. } = job;
        let (node, max) =
            (self.game.node_name(task.node).to_owned(), self.game.maximises(&task.node));
        let stopped = end < job.end;
        let relation = match *value {
            value if value >= task.window.beta => [">=", "<="][usize::from(!max)],
            value if value <= task.window.alpha => ["<=", ">="][usize::from(!max)],
            _ => "=",
        };
        let null = if task.work == Work::Null { "null window" } else { "window" };
        let window = format!("{null} {}", task.window.seen(max));
        let did = match task.work {
            Work::Split => format!("{node}, {window}: splits"),
            _ if stopped => format!("{node}, {window}: stopped"),
            _ => {
                let value = if max { *value } else { -*value };
                let again = if task.work == Work::Again { " again" } else { "" };
                format!("{node}{again}, {window}: {node} {relation} {value}")
            }
        };
        let text = format!("ticks {begin} to {end}, thread {}: {did}", thread + 1);
        self.visits += end - begin;
        let (begin, work, thread) = (*begin, task.work, thread + 1);
        self.spans.push(Span { thread, begin, end, node, work, stopped, text });
    }
}

impl Place {
    fn below(self) -> Place {
        Place { ply: self.ply + 1, depth: self.depth - 1, ..self }
    }
}

/// Removes and returns the job that ends first, with the index of its thread. If several jobs end
/// at the same time, the one with the lowest thread number is returned.
fn first_done(busy: &mut [Option<Job>]) -> Option<(usize, Job)> {
    let ends = busy.iter().enumerate().filter_map(|(at, job)| Some((job.as_ref()?.end, at)));
    let (_, thread) = ends.min()?;
    Some((thread, busy[thread].take()?))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::web::lesson::splitting::Splitter;
    use crate::web::lesson::tree::Growth;
    use crate::web::lesson::watch_tree;

    fn tree(seed: u64) -> GameTree {
        let growth = Growth { seed, depth: 4, branching: 4, spread: 30, ..Growth::SMALL };
        let growth = Growth {
            uneven: !seed.is_multiple_of(2),
            max_begins: !seed.is_multiple_of(3),
            ..growth
        };
        growth.tree().expect("a tree")
    }

    #[test]
    fn simulated_value_matches_serial_and_threaded_search() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut splitter = Splitter::new(3, stop).expect("threads");
        for seed in 0..100 {
            let tree = tree(seed);
            let value = watch_tree(&tree, Algorithm::Minimax).value;
            for threads in [1, 2, 3, 7] {
                let timeline = split_on_a_clock(&tree, threads);
                assert_eq!(timeline.value, value, "{threads} threads:\n{tree}");
            }
            let real = splitter.search(&PositionTree::new(&tree), &0, 4).score;
            assert_eq!(if tree.is_max(0) { real } else { -real }, value);
        }
    }

    #[test]
    fn simulation_with_one_thread_matches_real_visits() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut splitter = Splitter::new(1, stop).expect("threads");
        for seed in 0..50 {
            let game = PositionTree::new(&tree(seed));
            let real = splitter.search(&game, &0, game.height());
            let timeline = split_on_a_clock(&tree(seed), 1);
            assert_eq!((timeline.visits, timeline.ticks), (real.nodes, real.nodes), "{seed}");
        }
    }

    #[test]
    fn spans_of_a_thread_do_not_overlap() {
        for seed in 0..50 {
            let timeline = split_on_a_clock(&tree(seed), 3);
            for thread in 1..=3 {
                let own = timeline.spans.iter().filter(|span| span.thread == thread);
                let ends: Vec<(u64, u64)> = own.map(|span| (span.begin, span.end)).collect();
                assert!(ends.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{ends:?}");
            }
            let sum: u64 = timeline.spans.iter().map(|span| span.end - span.begin).sum();
            assert_eq!(timeline.visits, sum);
            assert!(timeline.spans.iter().all(|span| span.end <= timeline.ticks));
        }
    }

    #[test]
    fn more_threads_are_faster_on_average() {
        let ticks = |threads| -> u64 {
            (0..50).map(|seed| split_on_a_clock(&tree(seed), threads).ticks).sum()
        };
        assert!(ticks(4) < ticks(2) && ticks(2) < ticks(1));
    }
}
