//! Records the steps that search threads report.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::observe::{
    Counters, Entry, NodeEnd, Observer, SearchReason, SearchStep, VisitRef,
};
use super::sums::{NodeType, Sums};
use super::visit::Visit;
use crate::chess::position::{Move, Position};
use crate::chess::score::{Depth, Ply, Score};

/// Selects the part of a search to record. Events are always counted, even outside these bounds.
///
/// The root and its moves are recorded in every iteration. Deeper nodes are recorded only in the
/// last iteration and only within these bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum distance from the root, in plies.
    pub plies: Ply,
    /// Minimum remaining depth, in plies, at which visits are recorded. A value of 0 includes
    /// quiescence nodes.
    pub min_depth: Depth,
    /// A line of moves from the root. If it is not empty, visits below the root moves are recorded
    /// only along this line and below its end.
    pub branch: Vec<Move>,
    /// Maximum number of visits to record below the root moves.
    pub visits: usize,
}

#[derive(Default)]
pub(super) struct Shared {
    /// Number of visits recorded so far by all threads. Visits are numbered from 1.
    visits: AtomicU64,
    iteration: AtomicI32,
    line: AtomicUsize,
    deep: AtomicUsize,
    done: Mutex<Vec<Part>>,
}

impl Shared {
    pub(super) fn take(&self) -> Vec<Part> {
        std::mem::take(&mut self.done.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[derive(Default)]
pub(super) struct Part {
    pub(super) thread: usize,
    pub(super) visits: Vec<Noted>,
    pub(super) dropped: Vec<Dropped>,
    pub(super) sums: Sums,
    pub(super) counters: Counters,
    /// Numbers of nodes and of unrecorded visits that this thread counted below visits recorded by
    /// other threads. The key is the number of the recorded visit.
    pub(super) elsewhere: BTreeMap<u64, (u64, u64)>,
}

pub(super) struct Noted {
    pub(super) number: u64,
    pub(super) above: Option<u64>,
    pub(super) visit: Visit,
}

/// The counts of a visit from an earlier iteration, kept after its details have been dropped.
pub(super) struct Dropped {
    pub(super) number: u64,
    pub(super) above: Option<u64>,
    pub(super) nodes: u64,
    pub(super) hidden: u64,
}

struct Frame {
    /// Index in [`Part::visits`] of the visit to this node, if it is recorded.
    visit: Option<usize>,
    /// Index in [`Part::visits`] of the innermost recorded visit on the path, if this thread
    /// recorded it.
    own: Option<usize>,
    place: VisitRef,
    position: Position,
    ply: Ply,
    why: SearchReason,
    quiescence: bool,
    window: (Score, Score),
    end: NodeEnd,
    moves: u32,
}

/// The [`Observer`] of one thread. It counts all events, but records only the visits within
/// [`Bounds`].
pub(super) struct Recorder {
    shared: Arc<Shared>,
    bounds: Arc<Bounds>,
    next: SearchReason,
    path: Vec<Frame>,
    part: Part,
    iteration: Depth,
    root_visits: u64,
}

impl Recorder {
    pub(super) fn new(shared: &Arc<Shared>, bounds: &Arc<Bounds>, thread: usize) -> Self {
        Recorder {
            shared: Arc::clone(shared),
            bounds: Arc::clone(bounds),
            next: SearchReason::Root,
            path: Vec::new(),
            part: Part { thread, ..Part::default() },
            iteration: 0,
            root_visits: 0,
        }
    }

    /// If a new iteration has begun, drops the details of all earlier visits below the root moves,
    /// but keeps their counts.
    fn begin_iteration(&mut self) {
        let iteration = self.shared.iteration.load(Relaxed);
        if self.path.is_empty() && iteration != self.iteration {
            self.iteration = iteration;
            let Part { visits, dropped, .. } = &mut self.part;
            let old = visits.extract_if(.., |noted| noted.visit.ply > 1);
            dropped.extend(old.map(|Noted { number, above, visit }| Dropped {
                number,
                above,
                nodes: visit.nodes,
                hidden: visit.hidden,
            }));
        }
    }

    fn admits(&self, entry: &Entry<'_>) -> (bool, bool) {
        let Some(parent) = self.path.last() else { return (entry.ply == 0, entry.ply == 0) };
        if !parent.place.open {
            return (false, false);
        }
        let branch = &self.bounds.branch;
        let on_branch = branch
            .get(entry.ply.wrapping_sub(1))
            .is_none_or(|&mv| entry.ply == 0 || entry.via == Some(mv));
        if entry.ply <= 1 {
            return (true, on_branch);
        }
        let within = on_branch
            && entry.ply <= self.bounds.plies
            && entry.depth >= self.bounds.min_depth
            && self.shared.deep.fetch_add(1, Relaxed) < self.bounds.visits;
        (within, within)
    }

    fn enter(&mut self, entry: &Entry<'_>) {
        let why = std::mem::replace(&mut self.next, SearchReason::First);
        self.set_reason(why);
        let (is_noted, open) = self.admits(entry);
        let mut place = self.path.last().map_or(VisitRef::default(), |parent| parent.place);
        let (mut visit, mut own) = (None, self.path.last().and_then(|parent| parent.own));
        if is_noted {
            let above = (place.visit > 0).then_some(place.visit);
            let number = self.shared.visits.fetch_add(1, Relaxed) + 1;
            visit = Some(self.part.visits.len());
            own = visit;
            let noted = Noted { number, above, visit: self.visit(entry, why, open) };
            self.part.visits.push(noted);
            place = VisitRef { visit: number, open };
        } else {
            place.open = false;
            self.credit(0, 1);
        }
        self.path.push(Frame {
            visit,
            own,
            place,
            position: *entry.position,
            ply: entry.ply,
            why,
            quiescence: entry.quiescence,
            window: (entry.alpha, entry.beta),
            end: NodeEnd::Moves,
            moves: 0,
        });
    }

    fn set_reason(&mut self, why: SearchReason) {
        let sums = &mut self.part.sums;
        match why {
            SearchReason::Late { reduction } => sums.reduce(reduction),
            SearchReason::Deeper => sums.deeper += 1,
            SearchReason::Open => sums.open += 1,
            SearchReason::NullMove => sums.null_moves += 1,
            SearchReason::Singularity => sums.singularity_tests += 1,
            SearchReason::Root => {
                self.root_visits += 1;
                sums.windows += u64::from(self.root_visits > 1);
            }
            _ => {}
        }
    }

    fn visit(&self, entry: &Entry<'_>, why: SearchReason, on_branch: bool) -> Visit {
        let parent = self.path.last().filter(|parent| parent.ply < entry.ply);
        let name = parent.and_then(|parent| Some(parent.position.san(entry.via?)));
        Visit {
            parent: None,
            thread: self.part.thread,
            iteration: self.shared.iteration.load(Relaxed),
            line: self.shared.line.load(Relaxed),
            mv: name,
            fen: entry.position.to_string(),
            why,
            reduction: if let SearchReason::Late { reduction } = why { reduction } else { 0 },
            ply: entry.ply,
            depth: entry.depth,
            quiescence: entry.quiescence,
            alpha: entry.alpha,
            beta: entry.beta,
            eval: None,
            hit: false,
            book_games: None,
            hindsight: 0,
            extended: None,
            pruned: Vec::new(),
            quiets_pruned: false,
            split: false,
            end: NodeEnd::Moves,
            best: None,
            score: 0,
            stopped: false,
            nodes: 0,
            hidden: 0,
            on_branch,
        }
    }

    fn credit(&mut self, nodes: u64, hidden: u64) {
        let Some(frame) = self.path.last() else { return };
        match frame.own {
            Some(index) => {
                let visit = &mut self.part.visits[index].visit;
                visit.nodes += nodes;
                visit.hidden += hidden;
            }
            None => {
                let elsewhere = self.part.elsewhere.entry(frame.place.visit).or_default();
                elsewhere.0 += nodes;
                elsewhere.1 += hidden;
            }
        }
    }

    fn leave(&mut self, score: Score) {
        let Some(frame) = self.path.last() else { return };
        let Frame { end, window, moves, visit, why, quiescence, .. } = *frame;
        let sums = &mut self.part.sums;
        *sums.ends.entry(end).or_default() += 1;
        if !end.is_early() {
            *sums.types.entry(NodeType::of(score, window)).or_default() += 1;
            if end == NodeEnd::Moves && score >= window.1 {
                sums.cutoffs += 1;
                sums.first_move_cutoffs += u64::from(moves == 1);
            }
        }
        let counted = u64::from(why != SearchReason::Root && end != NodeEnd::Stopped);
        sums.nodes += counted;
        sums.quiescence += if quiescence { counted } else { 0 };
        self.credit(counted, 0);
        if let Some(index) = visit {
            let visit = &mut self.part.visits[index].visit;
            (visit.alpha, visit.beta) = window;
            (visit.score, visit.stopped, visit.end) = (score, end.is_early(), end);
        }
        self.path.pop();
    }

    fn current(&mut self) -> Option<(&mut Visit, &Position)> {
        let frame = self.path.last()?;
        Some((&mut self.part.visits[frame.visit?].visit, &frame.position))
    }

    fn note(&mut self, step: &SearchStep<'_>) {
        let Some((visit, position)) = self.current() else { return };
        match *step {
            SearchStep::Assessed { eval, hit } => (visit.eval, visit.hit) = (eval, hit),
            SearchStep::BookMatch { games } => visit.book_games = Some(games),
            SearchStep::Hindsight(plies) => visit.hindsight = plies,
            SearchStep::Extended(mv, plies) => visit.extended = Some((position.san(mv), plies)),
            SearchStep::Pruned(mv, why) => visit.pruned.push((position.san(mv), why)),
            SearchStep::QuietsPruned => visit.quiets_pruned = true,
            SearchStep::Scored { mv, score, alpha } if score > alpha => {
                visit.best = Some(position.san(mv));
            }
            SearchStep::Split => visit.split = true,
            _ => {}
        }
    }

    fn count(&mut self, step: &SearchStep<'_>) {
        let sums = &mut self.part.sums;
        match *step {
            SearchStep::Assessed { hit, .. } => sums.hits += u64::from(hit),
            SearchStep::BookMatch { .. } => sums.book_matches += 1,
            SearchStep::Hindsight(_) => sums.hindsight += 1,
            SearchStep::Extended(_, plies) if plies > 0 => sums.extended += 1,
            SearchStep::Extended(..) => sums.extended_less += 1,
            SearchStep::Pruned(_, why) => *sums.pruned.entry(why).or_default() += 1,
            SearchStep::Split => sums.splits += 1,
            SearchStep::Join { .. } => sums.joins += 1,
            _ => {}
        }
    }

    fn join(&mut self, place: VisitRef, position: &Position, ply: Ply) {
        self.begin_iteration();
        self.path.push(Frame {
            visit: None,
            own: None,
            place,
            position: *position,
            ply,
            why: SearchReason::First,
            quiescence: false,
            window: (0, 0),
            end: NodeEnd::Moves,
            moves: 0,
        });
    }
}

impl Observer for Recorder {
    fn on_step(&mut self, step: &SearchStep<'_>) {
        self.count(step);
        match *step {
            SearchStep::Iteration(depth) => {
                self.shared.iteration.store(depth, Relaxed);
                self.shared.deep.store(0, Relaxed);
                self.begin_iteration();
            }
            SearchStep::Line(line) => {
                self.shared.line.store(line, Relaxed);
                self.root_visits = 0;
            }
            SearchStep::Next(why) => self.next = why,
            SearchStep::Enter(ref entry) => self.enter(entry),
            SearchStep::Leave(score) => self.leave(score),
            SearchStep::Join { place, position, ply } => self.join(place, position, ply),
            SearchStep::Part => drop(self.path.pop()),
            SearchStep::Done(counters) => {
                self.part.counters = counters;
                let part = std::mem::take(&mut self.part);
                self.shared.done.lock().unwrap_or_else(PoisonError::into_inner).push(part);
            }
            SearchStep::Narrowed { alpha, beta } => {
                if let Some(frame) = self.path.last_mut() {
                    frame.window = (alpha, beta);
                }
            }
            SearchStep::Ended(end) => {
                if let Some(frame) = self.path.last_mut() {
                    frame.end = end;
                }
            }
            _ => {
                if let (SearchStep::Scored { .. }, Some(frame)) = (step, self.path.last_mut()) {
                    frame.moves += 1;
                }
                self.note(step);
            }
        }
    }

    fn place(&self) -> VisitRef {
        self.path.last().map_or(VisitRef::default(), |frame| frame.place)
    }
}
