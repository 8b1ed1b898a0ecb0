//! Principal variation search at one node.
//!
//! The first move is searched with the node's window. Each later move is first searched with a null
//! window, usually at reduced depth, and is searched again only if it beats alpha. Sources: T. A.
//! Marsland and M. Campbell, "Parallel Search of Strongly Ordered Game Trees" (1982);
//! <https://www.chessprogramming.org/Principal_Variation_Search>.

use std::sync::atomic::Ordering;

use super::book_known::{deeper, with_move};
use super::book_match::BookHit;
use super::constants as c;
use super::node::{JudgedMove, MoveFacts, Node, NodeProgress, Pv, Window};
use super::observe::{NodeEnd, OptionalObserver, SearchReason, SearchStep};
use super::ordering::MovePicker;
use super::prune;
use super::report::Bound;
use super::singular::Singularity;
use super::source::MoveSource;
use super::table::{NO_EVAL, TableEntry};
use super::worker::{FIFTY_MOVES, Worker};
use crate::chess::position::{Move, Position};
use crate::chess::score::{
    DRAW, Depth, INFINITY, MAX_EVAL, MAX_PLY, Ply, Score, TABLEBASE_WIN, is_decided, mate_in,
    mated_in,
};
use crate::engine::tablebase::{TablebaseResult, kbnk};

/// Number of plies added to the node's depth when a tablebase result is stored in the transposition
/// table, because such a result is valid at any depth.
const TABLEBASE_DEPTH: Depth = 6;

impl<S: OptionalObserver> Worker<'_, S> {
    /// Searches `position` to `depth` within `window`, and returns its fail-soft value.
    ///
    /// `cut` is true if the node is expected to fail high. If the search has been interrupted, the
    /// value is meaningless.
    pub(super) fn pvs(
        &mut self,
        position: &Position,
        ply: Ply,
        depth: Depth,
        window: Window,
        cut: bool,
    ) -> Score {
        self.pv_table[ply].clear();
        if depth <= 0 && (position.in_check() || !self.proving) {
            return self.quiescence(position, ply, window);
        }
        self.show_entry(position, ply, depth, window, false);
        let score = self.value(position, ply, depth, window, cut);
        self.show_leave(score)
    }

    /// Searches a node for [`Worker::pvs`], which reports to the observer when the node is entered
    /// and left.
    #[inline(always)]
    fn value(
        &mut self,
        position: &Position,
        ply: Ply,
        depth: Depth,
        window: Window,
        cut: bool,
    ) -> Score {
        let pending_lookup = self.prefetch_book(position, ply);
        if let Some(score) = self.enter_node(position, ply) {
            return score;
        }
        if depth <= 0 {
            // Only a search for mates gets here. The side to move is not in check, so it is not
            // mated.
            return self.ended(NodeEnd::NoMate, DRAW);
        }
        // This work is done while the transposition table entry and the book data are being
        // prefetched.
        self.evaluator.prepare(position, ply);
        let table = self.table_entry(position, ply);
        let window = self.repetition_window(position, ply, mate_distance_window(window, ply));
        let mut known = None;
        if pending_lookup.is_some_and(|pending_lookup| pending_lookup.may_hold(position)) {
            match self.probe_book(position, ply) {
                Some(BookHit::Decisive) => return self.ended(NodeEnd::BookMatch, 0),
                Some(BookHit::Known(entry)) => known = Some(entry),
                None => {}
            }
        }
        self.show(|_| SearchStep::Narrowed { alpha: window.alpha, beta: window.beta });
        if window.alpha >= window.beta {
            return self.ended(NodeEnd::EmptyWindow, window.alpha);
        }
        let mut table = table;
        if let Some(known) = known {
            if !self.holds_here(known, position, ply) {
                table = with_move(table, known.mv);
            } else if known.depth >= depth {
                let score = self.settle_by_book(known, position, ply, window.is_open());
                return self.ended(NodeEnd::BookValue, score);
            } else {
                table = Some(deeper(known, table));
            }
        }
        let mut node = self.assess(position, ply, depth, window, cut, table);
        if node.excluded.is_none() {
            self.learn_from_evaluation(position, ply, node.static_eval);
        }
        if let Some(score) = table_cutoff(&node) {
            return self.ended(NodeEnd::Table, score);
        }
        if let Some(score) = self.known_mate(&node) {
            return self.ended(NodeEnd::Endgames, score);
        }
        if let Some(score) = self.probe_endgames(&mut node).or_else(|| self.prune_node(&node)) {
            return score;
        }
        node.depth -= self.hindsight(&node);
        self.note_threats(&mut node);
        self.search_node(&node)
    }

    pub(super) fn note_threats(&mut self, node: &mut Node) {
        node.context.checks = node.position.checks();
        node.context.threats = node.position.threats();
        self.stack[node.ply].threats = node.context.threats;
    }

    /// Returns the number of plies by which to reduce a node: 1 if the last move was already
    /// reduced and the evaluation has improved for the side to move, otherwise 0. Sources:
    /// Stockfish and Reckless.
    fn hindsight(&mut self, node: &Node) -> Depth {
        let Some(parent) = node.ply.checked_sub(1).map(|parent| &self.stack[parent]) else {
            return 0;
        };
        let unknown = node.in_check || parent.static_eval == NO_EVAL;
        let reduced = parent.reduction > 0 && node.excluded.is_none() && !self.proving;
        let risen = node.static_eval + parent.static_eval > c::hindsight_margin();
        if unknown || !reduced || !risen || node.pv || node.depth < 2 {
            return 0;
        }
        self.show(|_| SearchStep::Hindsight(1));
        1
    }

    /// Counts a node, and returns its value if it need not be searched: at a draw, at the maximum
    /// ply, or if the search has been interrupted. After an interruption, the node is not counted
    /// and the value is meaningless.
    #[inline]
    pub(super) fn enter_node(&mut self, position: &Position, ply: Ply) -> Option<Score> {
        if self.is_interrupted() {
            return Some(self.ended(NodeEnd::Stopped, 0));
        }
        self.count_node(ply);
        if self.is_draw(position) {
            let score = self.draw_score();
            return Some(self.ended(NodeEnd::Draw, score));
        }
        (ply >= MAX_PLY - 1).then(|| {
            let score = self.evaluate(position, ply);
            self.ended(NodeEnd::MaxPly, score)
        })
    }

    /// Raises alpha to the draw score if the side to move can repeat an earlier position, because
    /// it then has at least a draw.
    #[inline]
    pub(super) fn repetition_window(
        &self,
        position: &Position,
        ply: Ply,
        window: Window,
    ) -> Window {
        let draw = self.draw_score();
        if window.alpha < draw && self.can_repeat(position, ply) {
            return Window { alpha: draw, ..window };
        }
        window
    }

    /// Returns the exact score of a bishop and knight ending (KBNK) if one side can force mate
    /// before the fifty-move rule applies.
    #[inline]
    fn known_mate(&mut self, node: &Node) -> Option<Score> {
        if !self.job.solves_kbnk {
            return None;
        }
        let plies = kbnk::plies_to_mate(&node.position)?;
        let is_in_time = u32::from(node.position.halfmove_clock()) + plies <= FIFTY_MOVES.into();
        let end = node.ply + plies as Ply;
        if node.excluded.is_some() || !is_in_time || end >= MAX_PLY {
            return None;
        }
        if node.pv {
            self.pv_table[node.ply] = Pv::from_moves(&kbnk::line(&node.position));
        }
        Some(if plies % 2 == 1 { mate_in(end) } else { mated_in(end) })
    }

    /// Probes the endgame tables after a capture or pawn move. Returns the score if it settles the
    /// node.
    ///
    /// A draw settles the node, and so does a win or loss at a null-window node. At a PV node, a
    /// win or loss only bounds the score, and the node is still searched to find a line.
    fn probe_endgames(&mut self, node: &mut Node) -> Option<Score> {
        let tables = self.job.config.endgames.as_ref()?;
        if node.excluded.is_some() {
            return None;
        }
        let outcome = tables.after_zeroing(&node.position)?;
        self.job.tablebase_hits.fetch_add(1, Ordering::Relaxed);
        let (score, bound) = match outcome {
            TablebaseResult::Win => (TABLEBASE_WIN - node.ply as Score, Bound::Lower),
            TablebaseResult::Draw => (self.draw_score(), Bound::Exact),
            TablebaseResult::Loss => (node.ply as Score - TABLEBASE_WIN, Bound::Upper),
        };
        match bound {
            Bound::Lower => node.least = score,
            Bound::Upper => node.most = score,
            Bound::Exact => {}
        }
        let settled = bound_applies(bound, score, node.window) && (!node.pv || score == DRAW);
        settled.then(|| {
            let depth = node.depth + TABLEBASE_DEPTH;
            let entry = TableEntry { mv: None, score, eval: node.raw_eval, bound, depth };
            self.job.table.store(self.table_key(&node.position), entry, node.ply);
            self.ended(NodeEnd::Endgames, score)
        })
    }

    /// Returns the transposition table entry for a node, or `None` if a move is excluded at the
    /// node.
    #[inline]
    pub(super) fn table_entry(&self, position: &Position, ply: Ply) -> Option<TableEntry> {
        match self.stack[ply].excluded {
            None => self.job.table.probe(self.table_key(position), position, ply),
            Some(_) => None,
        }
    }

    /// Evaluates `position` and builds its node. `table` is the position's transposition table
    /// entry.
    pub(super) fn assess(
        &mut self,
        position: &Position,
        ply: Ply,
        depth: Depth,
        window: Window,
        cut: bool,
        table: Option<TableEntry>,
    ) -> Node {
        let in_check = position.in_check();
        let raw_eval = self.raw_eval(position, ply, table);
        let static_eval = match in_check {
            true => NO_EVAL,
            false => corrected(raw_eval, self.correction(position, ply)),
        };
        self.show(|_| SearchStep::Assessed {
            eval: (!in_check).then_some(static_eval),
            hit: table.is_some(),
        });
        self.stack[ply].static_eval = static_eval;
        self.stack[ply].double_extensions =
            ply.checked_sub(1).map_or(0, |parent| self.stack[parent].double_extensions);
        self.stack[ply + 2].cutoffs = 0;
        self.killers.clear(ply + 2);
        Node {
            position: *position,
            ply,
            depth,
            window,
            pv: window.is_open(),
            cut,
            in_check,
            improving: self.is_improving(ply, static_eval),
            raw_eval,
            static_eval,
            eval: refined_eval(static_eval, table),
            table,
            excluded: self.stack[ply].excluded,
            least: -INFINITY,
            most: INFINITY,
            context: self.context(ply),
        }
    }

    /// Returns the uncorrected evaluation of `position`, taken from the table entry if possible.
    /// Returns `NO_EVAL` if the side to move is in check.
    #[inline]
    pub(super) fn raw_eval(
        &mut self,
        position: &Position,
        ply: Ply,
        table: Option<TableEntry>,
    ) -> Score {
        match table {
            _ if position.in_check() => NO_EVAL,
            Some(entry) if entry.eval != NO_EVAL => entry.eval,
            _ => self.evaluate(position, ply),
        }
    }

    /// Returns the amount, in centipawns, by which the correction history adjusts the static
    /// evaluation of `position`.
    #[inline]
    pub(super) fn correction(&self, position: &Position, ply: Ply) -> Score {
        self.history.correction(position, self.last_moves(ply))
    }

    /// Whether the static evaluation has risen since the side to move's previous turn or, if that
    /// side was in check on that turn, since the turn before it.
    fn is_improving(&self, ply: Ply, static_eval: Score) -> bool {
        if static_eval == NO_EVAL {
            return false;
        }
        let earlier = [2, 4].into_iter().find_map(|back| {
            let eval = self.stack[ply.checked_sub(back)?].static_eval;
            (eval != NO_EVAL).then_some(eval)
        });
        earlier.is_none_or(|earlier| static_eval > earlier)
    }

    #[inline(always)]
    fn prune_node(&mut self, node: &Node) -> Option<Score> {
        if self.proving || !prune::may_prune_node(node) {
            return None;
        }
        if let Some((end, score)) = prune::prune_statically(node) {
            return Some(self.ended(end, score));
        }
        self.try_null_move(node).or_else(|| self.try_probcut(node))
    }

    fn try_null_move(&mut self, node: &Node) -> Option<Score> {
        if node.ply < self.null_move_from {
            return None;
        }
        let depth = node.depth - prune::null_move(node)?;
        let next = node.position.play_null()?;
        self.job.table.prefetch(self.table_key(&next));
        let beta = node.window.beta;
        self.stack[node.ply].mv = None;
        self.stack[node.ply].piece_to = None;
        self.keys.push(next.key());
        self.set_reason(SearchReason::NullMove);
        let score = -self.pvs(&next, node.ply + 1, depth, Window::null(-beta), !node.cut);
        self.keys.pop();
        if score < beta || self.is_interrupted() {
            return None;
        }
        // A mate found after a null move is not proven, so return beta instead.
        let score = if is_decided(score) { beta } else { score };
        if node.depth < prune::NULL_MOVE_VERIFICATION_DEPTH || self.null_move_from > 0 {
            return Some(self.ended(NodeEnd::NullMove, score));
        }
        // Null moves are disabled for the first three quarters of the verification search.
        self.null_move_from = node.ply + (depth.max(0) as Ply) * 3 / 4;
        self.set_reason(SearchReason::NullMoveVerification);
        let verified = self.pvs(&node.position, node.ply, depth, Window::null(beta - 1), false);
        self.null_move_from = 0;
        let is_verified = verified >= beta && !self.is_interrupted();
        is_verified.then(|| self.ended(NodeEnd::NullMove, score))
    }

    pub(super) fn try_probcut(&mut self, node: &Node) -> Option<Score> {
        let raised = prune::probcut(node)?;
        self.stack[node.ply].noisy = true;
        let table_move = node.table_move().filter(|&mv| node.position.is_noisy(mv));
        let mut picker = MovePicker::noisy(table_move, (raised - node.static_eval).max(0));
        let depth = prune::probcut_depth(node);
        while let Some(mv) = picker.next(&node.position, self.history, &node.context) {
            let next = self.play(&node.position, mv);
            let window = Window::null(-raised);
            self.enter(&node.position, mv, node.ply, &next);
            self.set_reason(SearchReason::Probcut);
            let mut score = -self.quiescence(&next, node.ply + 1, window);
            if score >= raised {
                self.set_reason(SearchReason::Probcut);
                score = -self.pvs(&next, node.ply + 1, depth, window, !node.cut);
            }
            self.leave();
            if self.is_interrupted() {
                return None;
            }
            if score >= raised {
                self.store(node, score, Some(mv), Bound::Lower, depth + 1);
                return Some(self.ended(NodeEnd::Probcut, score));
            }
        }
        None
    }

    /// Searches the moves of a node, updates the histories, and returns the node's value after
    /// storing it in the transposition table.
    pub(super) fn search_node(&mut self, node: &Node) -> Score {
        let extension = match self.singularity(node) {
            Singularity::MultiCut(score) => return self.ended(NodeEnd::MultiCut, score),
            Singularity::Extension(extension) => extension,
        };
        if extension != 0
            && let Some(mv) = node.table_move()
        {
            self.show(|_| SearchStep::Extended(mv, extension));
        }
        let killers = self.killers.at(node.ply);
        let mut picker = MovePicker::with_killers(node.table_move(), killers);
        picker.apply_visibility(self.visibility(&node.position, node.ply));
        let progress = self.search_moves(node, &mut MoveSource::Picker(&mut picker), extension);
        if self.is_interrupted() {
            return self.ended(NodeEnd::Interrupted, 0);
        }
        if progress.count == 0 {
            let score = match (node.excluded, node.in_check) {
                (Some(_), _) => node.window.alpha,
                (None, true) => mated_in(node.ply),
                (None, false) if node.position.has_no_moves() => self.draw_score(),
                // The weakened player has overlooked all moves.
                (None, false) => node.static_eval,
            };
            return self.ended(NodeEnd::NoMoves, score);
        }
        self.finish_node(node, &progress)
    }

    /// Searches the moves in order, and may share the later ones with idle threads.
    pub(super) fn search_moves(
        &mut self,
        node: &Node,
        source: &mut MoveSource,
        extension: Depth,
    ) -> NodeProgress {
        let mut progress = NodeProgress::new(node.window.alpha);
        while let Some(mv) = source.next(node, self.history) {
            progress.count += 1;
            let facts = MoveFacts { extension, ..MoveFacts::of(&progress) };
            if self.may_prune_moves(node, facts) && prune::late_move_pruning(node, facts.quiets) {
                self.show(|_| SearchStep::QuietsPruned);
                source.skip_quiets();
            }
            let Some(score) = self.search_move(node, mv, facts) else { continue };
            self.show(|_| SearchStep::Scored { mv, score, alpha: facts.alpha });
            if self.is_interrupted()
                || progress.record(node, mv, score, &self.pv_table[node.ply + 1])
            {
                break;
            }
            if self.may_split(node, progress.count) && self.split(node, source, &mut progress) {
                break;
            }
        }
        progress
    }

    /// Searches a move and returns its score, or `None` if the move is pruned.
    pub(super) fn search_move(
        &mut self,
        node: &Node,
        mv: Move,
        mut facts: MoveFacts,
    ) -> Option<Score> {
        let judged = self.judge(node, mv);
        let JudgedMove { noisy, history, .. } = judged;
        self.stack[node.ply].noisy = noisy;
        if self.may_prune_moves(node, facts)
            && let Some(why) = self.prune_reason(node, judged, facts)
        {
            self.show(|_| SearchStep::Pruned(mv, why));
            return None;
        }
        // Prefetch only now, because half of all moves have been pruned before this point.
        let extension = if Some(mv) == node.table_move() { facts.extension } else { 0 };
        let depth = node.depth - 1 + extension;
        let keys = self.keys_after(&node.position, mv);
        if depth > 0
            && let Some(book) = &self.job.book
        {
            // Quiescence does not use the book.
            book.prefetch(node.position.pawn_key() ^ keys.pawns());
        }
        let next = node.position.play_on(mv, keys);
        if node.is_root() {
            self.report_root_move(mv, facts.number, node.depth);
            // Discard the nodes counted so far, which belong to the root itself and not to this
            // move.
            self.take_nodes();
        }
        self.stack[node.ply].double_extensions += u8::from(extension >= 2);
        self.enter(&node.position, mv, node.ply, &next);
        let score = if facts.number == 1 {
            let window = Window::new(facts.alpha, node.window.beta);
            self.set_reason(SearchReason::First);
            -self.pvs(&next, node.ply + 1, depth, window.flip(), !node.pv && !node.cut)
        } else {
            let reduction = self.reduction(node, &next, noisy, history, facts.number);
            self.search_late_move(node, &next, depth, reduction, &mut facts)
        };
        let score = if node.is_root() { self.by_endgames(mv, &next, score) } else { score };
        self.leave();
        self.stack[node.ply].double_extensions -= u8::from(extension >= 2);
        if node.is_root() && !self.is_interrupted() {
            self.note_root_move(node, mv, score, facts);
        }
        Some(score)
    }
}

/// Returns the corrected evaluation, clamped to the range of unproven scores.
#[inline]
pub(super) fn corrected(raw: Score, correction: Score) -> Score {
    (raw + correction).clamp(-MAX_EVAL, MAX_EVAL)
}

/// Returns the window after mate distance pruning: no line is better than a mate on the next ply or
/// worse than being mated now. Source: <https://www.chessprogramming.org/Mate_Distance_Pruning>.
fn mate_distance_window(window: Window, ply: Ply) -> Window {
    Window { alpha: window.alpha.max(mated_in(ply)), beta: window.beta.min(mate_in(ply + 1)) }
}

/// Returns the transposition table's score if it settles the node. PV nodes are never settled by
/// the table.
fn table_cutoff(node: &Node) -> Option<Score> {
    /// Maximum halfmove clock for a table cutoff. Close to a draw by the fifty-move rule, a score
    /// found on a different path may be wrong.
    const SAFE_CLOCK: u16 = 90;
    let entry = node.table?;
    let settled = bound_applies(entry.bound, entry.score, node.window);
    let deep_enough = entry.depth >= node.depth;
    (!node.pv && deep_enough && settled && node.position.halfmove_clock() < SAFE_CLOCK)
        .then_some(entry.score)
}

/// Whether a known score settles the node without a search: it is exact, or it is a bound that lies
/// outside the window.
#[inline]
pub(super) fn bound_applies(bound: Bound, score: Score, window: Window) -> bool {
    match bound {
        Bound::Exact => true,
        Bound::Lower => score >= window.beta,
        Bound::Upper => score <= window.alpha,
    }
}

/// Returns the static evaluation, or the transposition table's score if its bound shows that it is
/// more accurate.
#[inline]
pub(super) fn refined_eval(static_eval: Score, table: Option<TableEntry>) -> Score {
    match table {
        Some(entry) if static_eval != NO_EVAL && !is_decided(entry.score) => match entry.bound {
            Bound::Exact => entry.score,
            Bound::Lower => static_eval.max(entry.score),
            Bound::Upper => static_eval.min(entry.score),
        },
        _ => static_eval,
    }
}
