//! PV-splitting: several threads share the tree along its principal variation.
//!
//! At a node on the principal variation, the first move is searched first, using the same method.
//! The threads then share the other moves. Each of these moves is searched with a null window and,
//! if it is better, again with the open window. Only one node is split at a time. Idle threads
//! wait. Source: T. A. Marsland and M. Campbell, "Parallel Search of Strongly Ordered Game Trees"
//! (1982).
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::AtomicBool;
//!
//! use tabia::lesson::chess::Chess;
//! use tabia::lesson::splitting::Splitter;
//! use tabia::position::Position;
//!
//! let root = Position::start();
//! let mut splitter = Splitter::new(2, Arc::new(AtomicBool::new(false)))?;
//! assert_eq!(splitter.search(&Chess::new(&root), &root, 2).line.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crossbeam::channel::{Receiver, Sender, unbounded};
use crossbeam::sync::WaitGroup;

use super::game::{Window, ZeroSumGame};
use super::search::{Algorithm, Search};
use crate::chess::score::{Depth, INFINITY, Ply, Score};

/// The minimum remaining depth, in plies, at which nodes are split. Smaller subtrees are not worth
/// sharing.
const MIN_SPLIT_DEPTH: Depth = 2;
/// The stack size of a helper thread in bytes. It is large because searches are recursive and keep
/// move lists on the stack.
const STACK_SIZE: usize = 8 << 20;

pub(crate) fn describe_threads(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

/// The result of a parallel search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value<M> {
    /// The value of the root from the side to move's point of view.
    pub score: Score,
    /// The principal variation.
    pub line: Vec<M>,
    /// The number of nodes searched by all threads together, excluding quiescence nodes.
    pub nodes: u64,
}

/// A game that several threads can search in parallel.
pub trait SharedGame:
    ZeroSumGame<State: Send + Sync, Move: Send + Sync> + Clone + Send + Sync + 'static
{
}
impl<G: ZeroSumGame<State: Send + Sync, Move: Send + Sync> + Clone + Send + Sync + 'static>
    SharedGame for G
{
}

/// A split point: the siblings of a node's first move, which several threads search.
struct SplitPoint<G: ZeroSumGame> {
    game: G,
    siblings: Vec<(G::Move, G::State)>,
    next: AtomicUsize,
    ply: Ply,
    depth: Depth,
    beta: Score,
    alpha: AtomicI32,
    best: Mutex<(Score, Vec<G::Move>)>,
    nodes: AtomicU64,
    /// Set when alpha reaches beta at the split point. The threads then stop searching its
    /// remaining siblings.
    cut_off: AtomicBool,
    stop: Arc<AtomicBool>,
}

/// A request to a helper thread to work on a split point. The helper drops the wait group when it
/// is done.
type Call<G> = (Arc<SplitPoint<G>>, WaitGroup);

/// A group of threads that search together. Between splits, all threads except the caller's are
/// asleep.
pub struct Splitter<G: SharedGame> {
    calls: Option<Sender<Call<G>>>,
    helpers: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
    nodes: u64,
}

impl<G: SharedGame> Splitter<G> {
    /// Creates a group of `threads` threads, including the caller's. Setting `stop` stops a search.
    ///
    /// # Errors
    /// If the operating system cannot start a thread.
    pub fn new(threads: usize, stop: Arc<AtomicBool>) -> std::io::Result<Self> {
        let (calls, inbox) = unbounded();
        let mut helpers = Vec::new();
        for number in 1..threads {
            let inbox = inbox.clone();
            let builder = std::thread::Builder::new().name(format!("split-{number}"));
            helpers.push(builder.stack_size(STACK_SIZE).spawn(move || help(&inbox))?);
        }
        Ok(Splitter { calls: Some(calls), helpers, stop, nodes: 0 })
    }

    /// Searches `state` to a depth of `depth` plies. Returns the same score as a single-threaded
    /// search.
    pub fn search(&mut self, game: &G, state: &G::State, depth: Depth) -> Value<G::Move> {
        self.nodes = 0;
        let (score, line) = self.pv_split(&mut game.clone(), state, 0, depth, Window::FULL);
        Value { score, line, nodes: self.nodes }
    }

    fn pv_split(
        &mut self,
        game: &mut G,
        state: &G::State,
        ply: Ply,
        depth: Depth,
        window: Window,
    ) -> (Score, Vec<G::Move>) {
        let moves = if depth < MIN_SPLIT_DEPTH { Vec::new() } else { game.moves(state) };
        let Some((&first, siblings)) = moves.split_first() else {
            let stops = [&*self.stop];
            let mut no_observer = ();
            let mut search = Search::new(game, &mut no_observer, &stops);
            let found = search.run_below(Algorithm::AlphaBeta, state, ply, depth, window);
            self.nodes += search.nodes;
            return found;
        };
        self.nodes += 1;
        let next = game.play(state, first);
        let (value, rest) = self.pv_split(game, &next, ply + 1, depth - 1, window.flip());
        let best = (-value, [&[first], &rest[..]].concat());
        if best.0 >= window.beta || siblings.is_empty() || self.stop.load(Relaxed) {
            return best;
        }
        let split = SplitPoint {
            siblings: siblings.iter().map(|&mv| (mv, game.play(state, mv))).collect(),
            game: game.clone(),
            next: AtomicUsize::new(0),
            ply,
            depth,
            beta: window.beta,
            alpha: AtomicI32::new(window.alpha.max(best.0)),
            best: Mutex::new(best),
            nodes: AtomicU64::new(0),
            cut_off: AtomicBool::new(false),
            stop: Arc::clone(&self.stop),
        };
        self.share_out(split)
    }

    fn share_out(&mut self, split: SplitPoint<G>) -> (Score, Vec<G::Move>) {
        let split = Arc::new(split);
        let done = WaitGroup::new();
        if let Some(calls) = &self.calls {
            for _ in 0..self.helpers.len().min(split.siblings.len() - 1) {
                // Sending cannot fail, because helper threads exit only when the channel is closed.
                let _ = calls.send((Arc::clone(&split), done.clone()));
            }
        }
        split.work();
        done.wait();
        self.nodes += split.nodes.load(Relaxed);
        let best = split.best();
        (best.0, best.1.clone())
    }
}

impl<G: SharedGame> Drop for Splitter<G> {
    fn drop(&mut self) {
        self.calls = None;
        for helper in self.helpers.drain(..) {
            if helper.join().is_err() {
                log::error!("a helper thread has panicked");
            }
        }
    }
}

fn help<G: SharedGame>(inbox: &Receiver<Call<G>>) {
    for (split, done) in inbox {
        split.work();
        drop(done);
    }
}

impl<G: SharedGame> SplitPoint<G> {
    fn best(&self) -> MutexGuard<'_, (Score, Vec<G::Move>)> {
        self.best.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut game = self.game.clone();
        let stops = [&self.cut_off, &*self.stop];
        let mut no_observer = ();
        let mut search = Search::new(&mut game, &mut no_observer, &stops);
        while !search.is_stopped()
            && let Some((mv, state)) = self.siblings.get(self.next.fetch_add(1, Relaxed))
        {
            let (value, line) = self.sibling(&mut search, state);
            if !search.is_stopped() {
                self.record(*mv, value, &line);
            }
        }
        self.nodes.fetch_add(search.nodes, Relaxed);
    }

    /// Searches a sibling and returns its value from the parent's point of view, with its best
    /// line. If the sibling is not better than alpha, or causes a cutoff, the value may be only a
    /// bound.
    fn sibling(&self, search: &mut Search<'_, G, ()>, state: &G::State) -> (Score, Vec<G::Move>) {
        let mut try_window = |window: Window| {
            let (ply, depth) = (self.ply + 1, self.depth - 1);
            let method = Algorithm::AlphaBeta;
            let (value, line) = search.run_below(method, state, ply, depth, window.flip());
            (-value, line)
        };
        let asked = self.alpha.load(Relaxed);
        let found = try_window(Window::null(asked));
        if found.0 <= asked || found.0 >= self.beta {
            return found;
        }
        // Use the current alpha, because other threads may have raised it during the null-window
        // search.
        try_window(Window::new(self.alpha.load(Relaxed), self.beta))
    }

    fn record(&self, mv: G::Move, value: Score, line: &[G::Move]) {
        let mut best = self.best();
        if value > best.0 {
            *best = (value, [&[mv], line].concat());
            self.alpha.fetch_max(value.min(INFINITY), Relaxed);
            if value >= self.beta {
                self.cut_off.store(true, Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Position;
    use crate::tools::suite::positions::positions;
    use crate::web::lesson::chess::Chess;
    use crate::web::lesson::tree::GameTree;

    fn serial<G: SharedGame>(game: &G, state: &G::State, depth: Depth) -> Score {
        let (mut game, mut no_observer) = (game.clone(), ());
        let mut search = Search::new(&mut game, &mut no_observer, &[]);
        search.run(Algorithm::AlphaBeta, state, depth, Window::FULL).0
    }

    fn many() -> Vec<Position> {
        let mut all = positions();
        for position in positions() {
            let moves = position.legal_moves();
            all.extend(moves.iter().step_by(11).take(3).map(|mv| position.play(mv)));
        }
        all
    }

    #[test]
    fn parallel_score_equals_serial_score() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut splitters: Vec<Splitter<Chess>> = [1, 2, 5]
            .map(|threads| Splitter::new(threads, Arc::clone(&stop)).expect("threads"))
            .into();
        let positions = many();
        assert!(positions.len() >= 200, "{}", positions.len());
        for (index, position) in positions.iter().enumerate() {
            let chess = Chess::new(position);
            let depth = if index % 30 == 0 { 4 } else { 3 };
            let expected = serial(&chess, position, depth);
            for splitter in &mut splitters {
                let found = splitter.search(&chess, position, depth);
                assert_eq!(found.score, expected, "{position}");
                assert!(found.line.is_empty() == position.has_no_moves());
            }
        }
    }

    #[test]
    fn explicit_trees_can_be_split() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut splitter = Splitter::new(3, stop).expect("threads");
        let found = splitter.search(&GameTree::classic(), &0, 10);
        assert_eq!(found.score, 5);
    }

    #[test]
    fn stop_flag_ends_all_threads() {
        let stop = Arc::new(AtomicBool::new(true));
        let mut splitter = Splitter::new(4, stop).expect("threads");
        // The stop flag is set, so the search must end early. Otherwise, a search to this depth
        // would never finish.
        let found = splitter.search(&Chess::new(&Position::start()), &Position::start(), 60);
        assert!(found.nodes < 1_000, "{} nodes", found.nodes);
    }
}
