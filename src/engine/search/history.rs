//! Statistics from earlier searches, used to order moves and to correct the evaluation.
//!
//! All threads update the same tables (docs/measurements/threads-steps.md) without a lock. If two
//! threads update the same entry at the same time, one update is lost, which is harmless. On
//! x86-64, the accesses are plain loads and stores.
//!
//! Sources: for the history heuristic, J. Schaeffer (1983); for gravity and continuation history,
//! <https://www.chessprogramming.org/History_Heuristic>; for correction history,
//! <https://www.chessprogramming.org/Static_Evaluation_Correction_History>; for history by attacked
//! squares, the engines akimbo and Simbelmyne.
//!
//! Evaluation errors are stored in tables indexed by the pawns, by the pieces and by the last moves
//! (`History::correction`). Each table learns from the error that remains after all corrections, so
//! that the sum of all corrections does not exceed the error.

use std::sync::atomic::{AtomicI16, Ordering};

use super::constants as c;
use crate::chess::position::{Checks, Color, Move, Piece, Position, Threats};
use crate::chess::score::{Depth, Score};
use crate::support::prefetch::prefetch;

const PIECES: usize = 12;
const SQUARES: usize = 64;
const PIECE_TOS: usize = PIECES * SQUARES;
/// Maximum absolute value of an entry in the move histories. Chosen by hand.
pub(super) const HISTORY_MAX: i32 = 16_384;
/// Number of entries, per side to move, in each correction table that is indexed by a hash. Must be
/// a power of two.
const CORRECTION_ENTRIES: usize = 16_384;
/// Maximum absolute value of a correction entry. Chosen by hand.
const CORRECTION_MAX: i32 = 1_024;
/// Maximum amount by which one update changes a correction entry. Chosen by hand.
const CORRECTION_STEP_MAX: i32 = CORRECTION_MAX / 4;
/// Divisor that converts the weighted sum of the correction entries of a position to centipawns.
const CORRECTION_GRAIN: i32 = 256;

/// A piece (with its colour) and the target square of its move, used as an index into the
/// continuation history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PieceTo(u16);

impl PieceTo {
    /// Returns the piece and the target square of `mv`, which must be legal in `position`.
    #[inline]
    pub(super) fn new(position: &Position, mv: Move) -> Self {
        let piece = position
            .piece_on(mv.from())
            .map_or(0, |piece| piece_index(position.side_to_move(), piece));
        PieceTo((piece * SQUARES + mv.to().to_index()) as u16)
    }

    #[inline]
    fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[inline]
fn piece_index(color: Color, piece: Piece) -> usize {
    color.to_index() * 6 + piece.to_index()
}

/// The properties of a node that select which history entries apply to its moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Context {
    /// Pieces and target squares of the moves one, two and four plies back.
    pub(super) moves: [Option<PieceTo>; 3],
    /// Squares attacked by the opponent; left empty if the caller does not need them.
    pub(super) threats: Threats,
    /// Squares from which the side to move can give check; left empty if the caller does not need
    /// them.
    pub(super) checks: Checks,
}

/// Indices of two correction entries. The first is for the last move paired with the move before
/// it, the second for the last move paired with the move three plies before it. An index is `None`
/// if the earlier move does not exist or if either move is a null move.
pub(super) type LastMoves = [Option<usize>; 2];

/// A history value. 0 is neutral.
#[derive(Default)]
struct HistoryEntry(AtomicI16);

impl HistoryEntry {
    #[inline]
    fn get(&self) -> i32 {
        self.0.load(Ordering::Relaxed).into()
    }

    #[inline]
    fn set(&self, value: i32) {
        self.0.store(value as i16, Ordering::Relaxed);
    }

    /// Updates the entry with gravity: as the entry grows, the steps away from zero shrink, so its
    /// absolute value never exceeds [`HISTORY_MAX`].
    #[inline]
    fn apply_gravity(&self, amount: i32) {
        self.pull_within(amount, HISTORY_MAX);
    }

    /// Updates the entry with gravity, which keeps its absolute value within `bound`.
    #[inline]
    fn pull_within(&self, amount: i32, bound: i32) {
        let old = self.get();
        self.set(old + amount - old * amount.abs() / bound);
    }
}

const PER_LINE: usize = 64 / size_of::<HistoryEntry>();

/// A cache line of history entries. Rows start at line boundaries, so a write by one thread
/// invalidates only that one line in the caches of the other cores.
#[derive(Default)]
#[repr(align(64))]
struct HistoryLine([HistoryEntry; PER_LINE]);

/// The continuation history entries for one earlier move: one for each combination of the later
/// move's piece and target square.
type Row = [HistoryLine; PIECE_TOS / PER_LINE];
const _: () = assert!(PIECE_TOS.is_multiple_of(PER_LINE));

#[inline]
fn entry(lines: &[HistoryLine], index: usize) -> &HistoryEntry {
    &lines[index / PER_LINE].0[index % PER_LINE]
}

struct HistoryTable(Box<[HistoryLine]>);

impl HistoryTable {
    fn new(entries: usize) -> Self {
        let lines = entries.div_ceil(PER_LINE);
        HistoryTable(std::iter::repeat_with(HistoryLine::default).take(lines).collect())
    }

    #[inline]
    fn at(&self, index: usize) -> &HistoryEntry {
        entry(&self.0, index)
    }

    #[inline]
    fn row(&self, earlier: PieceTo) -> &Row {
        let row = self.0[earlier.index() * (PIECE_TOS / PER_LINE)..].first_chunk();
        row.unwrap_or_else(|| unreachable!("a table of rows"))
    }

    fn clear(&self) {
        self.0.iter().flat_map(|line| &line.0).for_each(|entry| entry.set(0));
    }
}

/// The history tables of a searcher, shared by its threads.
pub(super) struct History {
    /// Indices: `[colour][origin attacked, destination attacked][origin][destination]`.
    butterfly: HistoryTable,
    /// Indices: `[earlier piece and square][piece and square]`.
    continuation: HistoryTable,
    /// Row used if there is no earlier move. Its entries are always zero.
    nothing: Box<Row>,
    /// Three tables: one indexed by a hash of the pawns, one by White's pieces and one by Black's
    /// pieces. Indices: `[colour to move][hash]`.
    correction: [HistoryTable; 3],
    /// Two tables, one for pairs of moves one ply apart and one for pairs three plies apart.
    /// Indices: `[earlier piece and square][last piece and square]`.
    move_correction: [HistoryTable; 2],
}

impl History {
    pub(super) fn new() -> Self {
        History {
            butterfly: HistoryTable::new(2 * 4 * SQUARES * SQUARES),
            continuation: HistoryTable::new(PIECE_TOS * PIECE_TOS),
            nothing: Box::new(std::array::from_fn(|_| HistoryLine::default())),
            correction: std::array::from_fn(|_| HistoryTable::new(2 * CORRECTION_ENTRIES)),
            move_correction: std::array::from_fn(|_| HistoryTable::new(PIECE_TOS * PIECE_TOS)),
        }
    }

    pub(super) fn clear(&self) {
        let History { butterfly, continuation, nothing: _, correction, move_correction } = self;
        let tables = [butterfly, continuation].into_iter().chain(correction).chain(move_correction);
        tables.for_each(HistoryTable::clear);
    }

    #[inline]
    pub(super) fn at_node<'a>(
        &'a self,
        position: &'a Position,
        context: &'a Context,
    ) -> QuietHistories<'a> {
        let row = |earlier: Option<PieceTo>| match earlier {
            Some(earlier) => self.continuation.row(earlier),
            None => &self.nothing,
        };
        let rows = context.moves.map(row);
        QuietHistories { position, butterfly: &self.butterfly, rows, threats: &context.threats }
    }

    #[inline]
    pub(super) fn quiet(&self, position: &Position, mv: Move, context: &Context) -> i32 {
        self.at_node(position, context).of(mv)
    }

    /// Raises the histories of a quiet move that failed high, and lowers those of the quiet moves
    /// tried before it.
    pub(super) fn quiet_cutoff(
        &self,
        position: &Position,
        mv: Move,
        tried: &[Move],
        context: &Context,
        depth: Depth,
    ) {
        self.update_quiet(position, mv, context, bonus(depth));
        for &other in tried {
            self.update_quiet(position, other, context, -malus(depth));
        }
    }

    pub(super) fn update_quiet(
        &self,
        position: &Position,
        mv: Move,
        context: &Context,
        amount: i32,
    ) {
        let piece_to = PieceTo::new(position, mv);
        self.butterfly
            .at(butterfly_index(position.side_to_move(), mv, &context.threats))
            .apply_gravity(amount);
        for &earlier in context.moves.iter().flatten() {
            self.continuation.at(continuation_index(earlier, piece_to)).apply_gravity(amount);
        }
    }

    /// Raises the continuation histories of a move to which all replies failed low.
    pub(super) fn reward(&self, piece_to: PieceTo, context: &Context, amount: i32) {
        for &earlier in context.moves.iter().flatten() {
            self.continuation.at(continuation_index(earlier, piece_to)).apply_gravity(amount);
        }
    }

    pub(super) fn reward_butterfly(&self, side: Color, mv: Move, threats: &Threats, amount: i32) {
        self.butterfly.at(butterfly_index(side, mv, threats)).apply_gravity(amount);
    }

    /// Prefetches the memory that [`History::correction`] will read.
    #[inline]
    pub(super) fn prefetch_correction(&self, position: &Position, moves: LastMoves) {
        self.correction_entries(position).into_iter().for_each(prefetch);
        self.move_correction_entries(moves).for_each(prefetch);
    }

    #[inline]
    pub(super) fn correction(&self, position: &Position, moves: LastMoves) -> Score {
        let [pawns, white, black] = self.correction_entries(position);
        let after: i32 = self.move_correction_entries(moves).map(HistoryEntry::get).sum();
        let sum = c::correction_pawns() * pawns.get()
            + c::correction_pieces() * (white.get() + black.get())
            + c::correction_moves() * after;
        sum / CORRECTION_GRAIN
    }

    /// Updates the correction histories. Called after a search to `depth` has shown that the static
    /// evaluation was off by `error` centipawns.
    #[inline(always)]
    pub(super) fn update_correction(
        &self,
        position: &Position,
        moves: LastMoves,
        error: Score,
        depth: Depth,
    ) {
        let step = (error * depth * c::correction_step() / 128)
            .clamp(-CORRECTION_STEP_MAX, CORRECTION_STEP_MAX);
        let entries = self.correction_entries(position).into_iter();
        for entry in entries.chain(self.move_correction_entries(moves)) {
            entry.pull_within(step, CORRECTION_MAX);
        }
    }

    #[inline(always)]
    fn move_correction_entries(&self, moves: LastMoves) -> impl Iterator<Item = &HistoryEntry> {
        let places = moves.into_iter().zip(&self.move_correction);
        places.filter_map(|(place, table)| Some(table.at(place?)))
    }

    #[inline(always)]
    fn correction_entries(&self, position: &Position) -> [&HistoryEntry; 3] {
        let side = position.side_to_move().to_index() * CORRECTION_ENTRIES;
        let index = |key: u64| side + (key as usize & (CORRECTION_ENTRIES - 1));
        let [pawns, white, black] = &self.correction;
        [
            pawns.at(index(position.pawn_key())),
            white.at(index(position.non_pawn_key(Color::White))),
            black.at(index(position.non_pawn_key(Color::Black))),
        ]
    }
}

pub(super) struct QuietHistories<'a> {
    position: &'a Position,
    butterfly: &'a HistoryTable,
    rows: [&'a Row; 3],
    threats: &'a Threats,
}

impl QuietHistories<'_> {
    #[inline(always)]
    pub(super) fn of(&self, mv: Move) -> i32 {
        let piece_to = PieceTo::new(self.position, mv);
        let index = butterfly_index(self.position.side_to_move(), mv, self.threats);
        let [first, second, fourth] = self.rows.map(|row| entry(row, piece_to.index()).get());
        self.butterfly.at(index).get() + first + second + fourth
    }
}

impl Default for History {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the history bonus for a move that caused a cutoff at `depth`.
#[inline]
pub(super) fn bonus(depth: Depth) -> i32 {
    (c::history_bonus() * depth - 100).clamp(0, c::history_bonus_max())
}

#[inline]
fn malus(depth: Depth) -> i32 {
    (c::history_malus() * depth - 100).clamp(0, c::history_malus_max())
}

#[inline]
fn butterfly_index(side: Color, mv: Move, threats: &Threats) -> usize {
    let squares = mv.from().to_index() * SQUARES + mv.to().to_index();
    let danger = usize::from(threats.has(mv.from())) * 2 + usize::from(threats.has(mv.to()));
    (side.to_index() * 4 + danger) * SQUARES * SQUARES + squares
}

/// Returns the index of the entry for `piece_to`, played one or more plies after `earlier`.
#[inline]
pub(super) fn continuation_index(earlier: PieceTo, piece_to: PieceTo) -> usize {
    earlier.index() * PIECE_TOS + piece_to.index()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_within_bounds() {
        let entry = HistoryEntry::default();
        for _ in 0..1_000 {
            entry.apply_gravity(1_700);
        }
        assert!(entry.get() <= HISTORY_MAX && entry.get() > 15_000);
        for _ in 0..1_000 {
            entry.apply_gravity(-1_700);
        }
        assert!(entry.get() >= -HISTORY_MAX && entry.get() < -15_000);
    }

    #[test]
    fn cutoff_raises_its_move_and_lowers_others() {
        let (history, start) = (History::new(), Position::start());
        let [good, bad]: [Move; 2] = ["e2e4", "a2a3"].map(|text| text.parse().expect(text));
        let moves = [Some(PieceTo::new(&start, bad)), None, None];
        let context = Context { moves, ..Context::default() };
        history.quiet_cutoff(&start, good, &[bad], &context, 6);
        assert!(history.quiet(&start, good, &context) > 0);
        assert!(history.quiet(&start, bad, &context) < 0);
        history.clear();
        assert_eq!(history.quiet(&start, good, &context), 0);
    }

    #[test]
    fn history_distinguishes_moves_of_attacked_pieces() {
        let (history, start) = (History::new(), Position::start());
        let mv: Move = "b1c3".parse().expect("a move");
        let attacked =
            Position::from_fen("4k3/8/8/8/4n3/p7/8/1N2K3 w - - 0 1").expect("a position");
        let [no_threats, threatened] = [Threats::default(), attacked.threats()]
            .map(|threats| Context { threats, ..Context::default() });
        history.update_quiet(&start, mv, &threatened, 900);
        assert!(history.quiet(&start, mv, &threatened) > 0);
        assert_eq!(history.quiet(&start, mv, &no_threats), 0);
    }

    #[test]
    fn correction_is_largest_after_the_same_moves() {
        let (history, start) = (History::new(), Position::start());
        let [first, second, other] =
            ["b1c3", "g1f3", "e2e4"].map(|text| PieceTo::new(&start, text.parse().expect(text)));
        let after = |last| [Some(continuation_index(first, last)), None];
        history.update_correction(&start, after(second), 40, 8);
        let [same, others] = [second, other].map(|last| history.correction(&start, after(last)));
        assert!(same > others && others > 0, "{same} {others}");
    }

    #[test]
    fn correction_converges_to_the_error() {
        let (history, start) = (History::new(), Position::start());
        for _ in 0..500 {
            let left = 20 - history.correction(&start, [None; 2]);
            history.update_correction(&start, [None; 2], left, 8);
        }
        let correction = history.correction(&start, [None; 2]);
        assert!((18..=20).contains(&correction), "{correction}");
    }
}
