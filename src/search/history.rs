//! What a thread remembers of earlier searches to order moves and correct its evaluation.
//!
//! Sources: history heuristic, J. Schaeffer (1983); killers, Akl and Newborn (1977); counter
//! moves, J. Uiterwijk (1992); gravity and continuation history as on
//! <https://www.chessprogramming.org/History_Heuristic>; correction history,
//! <https://www.chessprogramming.org/Static_Evaluation_Correction_History>.

use crate::position::{Color, Move, Piece, Position};
use crate::score::{Depth, MAX_PLY, Ply, Score};

/// Men of both colours.
const MEN: usize = 12;
const SQUARES: usize = 64;
/// Bound of the absolute value of a history entry. Hand-set.
pub const HISTORY_MAX: i32 = 16_384;
/// Entries of each correction table. A power of two.
const CORRECTION_ENTRIES: usize = 16_384;
/// Correction entries are kept in fractions of a centipawn.
const CORRECTION_GRAIN: i32 = 256;
/// Bound of one correction, in centipawns. Hand-set.
const CORRECTION_MAX: i32 = 64;
/// A correction moves this far towards the new error at depth one, in 1/256. Hand-set.
const CORRECTION_STEP: i32 = 4;
/// The longest step towards the new error, in 1/256. Hand-set.
const CORRECTION_STEP_MAX: i32 = 64;

/// A man and the square it went to: what continuation history is indexed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Footprint(u16);

impl Footprint {
    /// The footprint of `mv`, which is legal in `position`.
    #[inline]
    pub fn new(position: &Position, mv: Move) -> Self {
        let man =
            position.piece_on(mv.from()).map_or(0, |piece| man(position.side_to_move(), piece));
        Footprint((man * SQUARES + mv.to().to_index()) as u16)
    }

    #[inline]
    fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[inline]
fn man(color: Color, piece: Piece) -> usize {
    color.to_index() * 6 + piece.to_index()
}

/// The footprints of the moves that led to a node, one, two and four plies back.
pub type Context = [Option<Footprint>; 3];

type Table = Box<[i16]>;

/// One thread's memory of good and bad moves.
pub struct History {
    /// `[colour][origin][destination]`
    butterfly: Table,
    /// `[man][destination][taken kind]`
    capture: Table,
    /// `[earlier footprint][footprint]`
    continuation: Table,
    /// `[earlier footprint]`
    counter_moves: Box<[Option<Move>]>,
    killers: [[Option<Move>; 2]; MAX_PLY + 2],
    /// `[colour to move][hash]` for pawns, White's men, Black's men
    correction: [Table; 3],
}

fn table(len: usize) -> Table {
    vec![0; len].into_boxed_slice()
}

impl History {
    /// An empty memory.
    pub fn new() -> Self {
        const FOOTPRINTS: usize = MEN * SQUARES;
        History {
            butterfly: table(2 * SQUARES * SQUARES),
            capture: table(FOOTPRINTS * 6),
            continuation: table(FOOTPRINTS * FOOTPRINTS),
            counter_moves: vec![None; FOOTPRINTS].into_boxed_slice(),
            killers: [[None; 2]; MAX_PLY + 2],
            correction: std::array::from_fn(|_| table(2 * CORRECTION_ENTRIES)),
        }
    }

    /// Forgets the killers: they belong to one search.
    pub fn new_search(&mut self) {
        self.killers = [[None; 2]; MAX_PLY + 2];
    }

    /// The two quiet moves that last failed high at `ply`.
    #[inline]
    pub fn killers(&self, ply: Ply) -> [Option<Move>; 2] {
        self.killers[ply]
    }

    /// Forgets the killers of a ply whose parent begins anew.
    #[inline]
    pub fn clear_killers(&mut self, ply: Ply) {
        self.killers[ply] = [None; 2];
    }

    /// The quiet move that last refuted the move just made.
    #[inline]
    pub fn counter_move(&self, context: &Context) -> Option<Move> {
        self.counter_moves[context[0]?.index()]
    }

    /// What is known of a quiet move: the sum of its histories.
    #[inline]
    pub fn quiet(&self, position: &Position, mv: Move, context: &Context) -> i32 {
        let footprint = Footprint::new(position, mv);
        let butterfly = i32::from(self.butterfly[butterfly_index(position, mv)]);
        context.iter().flatten().fold(butterfly, |sum, &earlier| {
            sum + i32::from(self.continuation[continuation_index(earlier, footprint)])
        })
    }

    /// What is known of a capture or promotion.
    #[inline]
    pub fn capture(&self, position: &Position, mv: Move) -> i32 {
        i32::from(self.capture[capture_index(position, mv)])
    }

    /// Learns from a quiet move that failed high: it gains, the quiet moves tried before lose.
    pub fn quiet_cutoff(
        &mut self,
        position: &Position,
        mv: Move,
        tried: &[Move],
        context: &Context,
        ply: Ply,
        depth: Depth,
    ) {
        if self.killers[ply][0] != Some(mv) {
            self.killers[ply] = [Some(mv), self.killers[ply][0]];
        }
        if let Some(earlier) = context[0] {
            self.counter_moves[earlier.index()] = Some(mv);
        }
        self.update_quiet(position, mv, context, bonus(depth));
        for &other in tried {
            self.update_quiet(position, other, context, -malus(depth));
        }
    }

    /// Adds `amount` to what is known of a quiet move.
    pub fn update_quiet(&mut self, position: &Position, mv: Move, context: &Context, amount: i32) {
        let footprint = Footprint::new(position, mv);
        pull(&mut self.butterfly[butterfly_index(position, mv)], amount);
        for &earlier in context.iter().flatten() {
            pull(&mut self.continuation[continuation_index(earlier, footprint)], amount);
        }
    }

    /// Raises what is known of the move with `footprint`, made after `context`, whose replies
    /// all failed.
    pub fn praise(&mut self, footprint: Footprint, context: &Context, amount: i32) {
        for &earlier in context.iter().flatten() {
            pull(&mut self.continuation[continuation_index(earlier, footprint)], amount);
        }
    }

    /// Learns from a node that failed high: the capture that did it gains, those tried before
    /// lose.
    pub fn captures_tried(
        &mut self,
        position: &Position,
        best: Option<Move>,
        tried: &[Move],
        depth: Depth,
    ) {
        if let Some(mv) = best {
            pull(&mut self.capture[capture_index(position, mv)], bonus(depth));
        }
        for &other in tried {
            pull(&mut self.capture[capture_index(position, other)], -malus(depth));
        }
    }

    /// What the static evaluation of such positions was wrong by, in centipawns.
    #[inline]
    pub fn correction(&self, position: &Position) -> Score {
        let sum: i32 = correction_indices(position)
            .into_iter()
            .zip(&self.correction)
            .map(|(index, table)| i32::from(table[index]))
            .sum();
        sum / CORRECTION_GRAIN
    }

    /// Learns that the static evaluation was wrong by `error` centipawns at a search of `depth`.
    pub fn update_correction(&mut self, position: &Position, error: Score, depth: Depth) {
        let step = (CORRECTION_STEP * (depth + 1)).min(CORRECTION_STEP_MAX);
        let target = error.clamp(-CORRECTION_MAX, CORRECTION_MAX) * CORRECTION_GRAIN;
        for (index, table) in correction_indices(position).into_iter().zip(&mut self.correction) {
            let old = i32::from(table[index]);
            let new = old + (target - old) * step / 256;
            let bound = CORRECTION_MAX * CORRECTION_GRAIN;
            table[index] = new.clamp(-bound, bound - 1) as i16;
        }
    }
}

impl Default for History {
    fn default() -> Self {
        Self::new()
    }
}

/// What a cutoff at `depth` is worth. Hand-set.
#[inline]
pub fn bonus(depth: Depth) -> i32 {
    (160 * depth - 100).clamp(0, 1_700)
}

/// What being passed over at `depth` costs. Hand-set.
#[inline]
fn malus(depth: Depth) -> i32 {
    (160 * depth - 100).clamp(0, 1_400)
}

/// Gravity: an entry moves less the further it is out, and never leaves its bound.
#[inline]
fn pull(entry: &mut i16, amount: i32) {
    let old = i32::from(*entry);
    *entry = (old + amount - old * amount.abs() / HISTORY_MAX) as i16;
}

#[inline]
fn butterfly_index(position: &Position, mv: Move) -> usize {
    let squares = mv.from().to_index() * SQUARES + mv.to().to_index();
    position.side_to_move().to_index() * SQUARES * SQUARES + squares
}

#[inline]
fn capture_index(position: &Position, mv: Move) -> usize {
    let taken = position.piece_on(mv.to()).unwrap_or(Piece::Pawn).to_index();
    Footprint::new(position, mv).index() * 6 + taken
}

#[inline]
fn continuation_index(earlier: Footprint, footprint: Footprint) -> usize {
    earlier.index() * MEN * SQUARES + footprint.index()
}

#[inline]
fn correction_indices(position: &Position) -> [usize; 3] {
    let side = position.side_to_move().to_index() * CORRECTION_ENTRIES;
    [position.pawn_key(), position.non_pawn_key(Color::White), position.non_pawn_key(Color::Black)]
        .map(|key| side + (key as usize & (CORRECTION_ENTRIES - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_within_their_bound() {
        let mut entry = 0;
        for _ in 0..1_000 {
            pull(&mut entry, 1_700);
        }
        assert!(i32::from(entry) <= HISTORY_MAX && entry > 15_000);
        for _ in 0..1_000 {
            pull(&mut entry, -1_700);
        }
        assert!(i32::from(entry) >= -HISTORY_MAX && entry < -15_000);
    }

    #[test]
    fn a_cutoff_raises_its_move_and_lowers_the_others() {
        let (mut history, start) = (History::new(), Position::start());
        let [good, bad]: [Move; 2] = ["e2e4", "a2a3"].map(|text| text.parse().expect(text));
        let context = [Some(Footprint::new(&start, bad)), None, None];
        history.quiet_cutoff(&start, good, &[bad], &context, 3, 6);
        assert!(history.quiet(&start, good, &context) > 0);
        assert!(history.quiet(&start, bad, &context) < 0);
        assert_eq!(history.killers(3), [Some(good), None]);
        assert_eq!(history.counter_move(&context), Some(good));
    }

    #[test]
    fn corrections_approach_the_error() {
        let (mut history, start) = (History::new(), Position::start());
        for _ in 0..500 {
            history.update_correction(&start, 20, 8);
        }
        let correction = history.correction(&start);
        assert!((50..=60).contains(&correction), "three tables of 20 each: {correction}");
    }
}
