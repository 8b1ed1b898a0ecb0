//! The job: data shared by all threads of one search. Also holds data that persists between
//! searches.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossbeam::queue::SegQueue;
use crossbeam::utils::CachePadded;

use super::book_probe::BookProbe;
use super::clock::TimeManager;
use super::config::Config;
use super::control::Control;
use super::helper_pool::HelperPool;
use super::history::History;
use super::limits::Limits;
use super::report::{Bound, SearchEvent, SearchFault, SearchResult, Sharing};
use super::sharing_counts::SharingCounts;
use super::split::{SplitPoint, split_depth};
use super::table::TranspositionTable;
use crate::chess::position::{Cycles, Game, Move, Position};
use crate::chess::score::{DRAW, Depth, INFINITY, Score};
use crate::engine::tablebase::{RankedMove, RootProbe, TablebaseResult, kbnk};

/// The bishop-and-knight endgame table is built only if the search has at least this much time. The
/// table is built only once.
const KBNK_TIME: Duration = Duration::from_millis(500);

#[derive(Debug, Clone)]
pub(super) struct RootMove {
    pub(super) mv: Move,
    /// Score in the current iteration; `-INFINITY` if the move has not been searched yet or did not
    /// raise alpha.
    pub(super) score: Score,
    pub(super) bound: Bound,
    /// The most recent score that the move received in an earlier iteration (see `score`).
    pub(super) previous: Score,
    pub(super) nodes: u64,
    pub(super) pv: Vec<Move>,
    /// The move's result according to the endgame tables, if it is certain.
    pub(super) endgame: Option<RankedMove>,
}

impl RootMove {
    pub(super) fn new(mv: Move) -> Self {
        RootMove {
            mv,
            score: -INFINITY,
            bound: Bound::Upper,
            previous: -INFINITY,
            nodes: 0,
            pv: vec![mv],
            endgame: None,
        }
    }

    /// Whether the move leads to a tablebase draw. Such a move still has a score, so that the
    /// engine can choose the drawing move that sets the opponent the most problems.
    pub(super) fn is_known_draw(&self) -> bool {
        self.endgame.is_some_and(|known| known.outcome == TablebaseResult::Draw)
    }
}

#[derive(Clone)]
pub(super) struct PersistentState {
    pub(super) table: Arc<TranspositionTable>,
    pub(super) history: Arc<History>,
    pub(super) cycles: Arc<Cycles>,
}

impl PersistentState {
    pub(super) fn new(memory_mb: usize) -> Self {
        PersistentState {
            table: Arc::new(TranspositionTable::new(memory_mb)),
            history: Arc::new(History::new()),
            cycles: Arc::new(Cycles::new()),
        }
    }

    /// Clears the transposition table and the histories. No search may be running.
    pub(super) fn clear(&mut self) {
        match Arc::get_mut(&mut self.table) {
            Some(table) => {
                table.clear();
                self.history.clear();
            }
            _ => log::error!("the transposition table is still in use after the search"),
        }
    }
}

pub(super) struct Job {
    pub(super) root: Position,
    pub(super) keys: Vec<u64>,
    pub(super) limits: Limits,
    pub(super) control: Control,
    pub(super) clock: TimeManager,
    pub(super) config: Config,
    pub(super) table: Arc<TranspositionTable>,
    pub(super) history: Arc<History>,
    pub(super) cycles: Arc<Cycles>,
    pub(super) pool: HelperPool<Arc<SplitPoint>>,
    pub(super) sharing: Box<[CachePadded<SharingCounts>]>,
    pub(super) split_depth: Depth,
    pub(super) book: Option<BookProbe>,
    pub(super) is_reported: bool,
    /// Events from helper threads, to be forwarded by the main thread.
    pub(super) pending_events: SegQueue<SearchEvent>,
    /// One [`SearchFault`] for each thread that panicked or did not start.
    pub(super) crashes: SegQueue<SearchFault>,
    /// Number of successful tablebase probes, summed over all threads.
    pub(super) tablebase_hits: AtomicU64,
    pub(super) solves_kbnk: bool,
    pub(super) counters: Box<[CachePadded<AtomicU64>]>,
    root_moves: CachePadded<Mutex<Vec<RootMove>>>,
    pub(super) line: CachePadded<AtomicUsize>,
}

impl Job {
    /// Creates the data of a search with `config.threads` threads.
    pub(super) fn new(
        game: &Game,
        limits: &Limits,
        control: &Control,
        config: Config,
        persistent: PersistentState,
        is_reported: bool,
    ) -> Self {
        let PersistentState { table, history, cycles } = persistent;
        let root = *game.position();
        // Start the clock first, because opening and probing the endgame tables takes time that
        // must be counted.
        let clock = TimeManager::start(limits, root.fullmove_number());
        let config = match limits.handicap {
            None => config,
            Some(_) => Config { endgames: None, book: None, ..config },
        };
        let visibility = limits
            .handicap
            .and_then(|handicap| handicap.visibility(&root, 0, game.moves().last().copied()));
        let legal = root.legal_moves();
        let ranked = config.endgames.as_ref().and_then(|tables| tables.ranked(&root));
        let advice = ranked.as_deref().map(RootProbe::from);
        let wanted = |mv: &Move| match &advice {
            _ if !limits.root_moves.is_empty() => limits.root_moves.contains(mv),
            Some(advice) if limits.multi_pv == 1 => advice.moves.contains(mv),
            _ => visibility.is_none_or(|visibility| visibility.is_visible(&root, *mv)),
        };
        let mut root_moves: Vec<RootMove> =
            legal.iter().filter(wanted).map(RootMove::new).collect();
        if root_moves.is_empty() && limits.root_moves.is_empty() {
            root_moves.extend(legal.iter().map(RootMove::new));
        }
        for root_move in &mut root_moves {
            let mut known = ranked.iter().flatten();
            let known = known.find(|known| known.mv == root_move.mv && known.is_certain);
            root_move.endgame = known.copied();
        }
        let has_time = kbnk::is_solved() || clock.leaves(KBNK_TIME);
        let solves_kbnk = kbnk::may_be_won(&root) && has_time && limits.handicap.is_none();
        Job {
            clock,
            solves_kbnk,
            root,
            keys: game.positions().iter().map(Position::key).collect(),
            limits: limits.clone(),
            control: control.clone(),
            table,
            history,
            cycles,
            pool: HelperPool::new(config.threads, config.cores()),
            sharing: (0..config.threads).map(|_| CachePadded::default()).collect(),
            split_depth: split_depth(config.threads),
            book: BookProbe::new(&config).filter(|_| limits.mate.is_none()),
            is_reported,
            pending_events: SegQueue::new(),
            crashes: SegQueue::new(),
            tablebase_hits: AtomicU64::new(ranked.map_or(0, |ranked| ranked.len() as u64)),
            counters: (0..config.threads).map(|_| CachePadded::default()).collect(),
            root_moves: CachePadded::new(Mutex::new(root_moves)),
            line: CachePadded::default(),
            config,
        }
    }

    /// Returns the root moves, best first. They are locked only at the root and after a helper has
    /// finished, so the lock is rarely contended.
    pub(super) fn root_moves(&self) -> MutexGuard<'_, Vec<RootMove>> {
        self.root_moves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of lines to report (MultiPV): at least one, but no more than there are
    /// root moves.
    pub(super) fn lines(&self) -> usize {
        self.limits.multi_pv.clamp(1, self.root_moves().len().max(1))
    }

    /// Returns the best result available so far, for a search whose main thread has panicked.
    pub(super) fn result_after_panic(&self) -> SearchResult {
        let root_moves = self.root_moves();
        let Some(best) = root_moves.first() else { return SearchResult::default() };
        let is_exact = best.bound == Bound::Exact && best.score > -INFINITY;
        let score = match best.is_known_draw() {
            true => DRAW,
            false if is_exact => best.score,
            false => best.previous,
        };
        SearchResult {
            best: Some(best.mv),
            ponder: best.pv.get(1).copied(),
            score: if score > -INFINITY { score } else { DRAW },
            nodes: self.nodes(),
            elapsed: self.clock.elapsed(),
            planned: self.clock.planned(),
            ..SearchResult::default()
        }
    }

    pub(super) fn nodes(&self) -> u64 {
        self.counters.iter().map(|counter| counter.load(Ordering::Relaxed)).sum()
    }

    pub(super) fn sharing(&self) -> Sharing {
        self.sharing.iter().fold(Sharing::default(), |sum, counts| counts.add_to(sum))
    }
}
