//! Staged move picking. The moves of a stage are generated only if no move of an earlier stage has
//! caused a cutoff.
//!
//! The order is: the table move, captures that do not lose material (most valuable victim first),
//! killer moves, quiet moves by history, and finally losing captures and underpromotions. See
//! <https://www.chessprogramming.org/Move_Ordering>.

use arrayvec::ArrayVec;
use chess::{ALL_PIECES, EMPTY};

use super::constants as c;
use super::handicap::MoveVisibility;
use super::history::{Context, History};
use super::see::{see_ge, value};
use crate::chess::position::{BitBoard, MAX_MOVES, Move, MoveList, Piece, Position, Square};
use crate::chess::score::Score;

/// Minimum exchange value, in centipawns, at which a checking move gets an ordering bonus. Chosen
/// by hand so that such a check loses less than a pawn.
const SAFE_CHECK: Score = -75;
/// Ordering score of underpromotions, lower than that of any other capture or promotion.
const UNDERPROMOTION: i32 = -100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Table,
    GenerateNoisy,
    GoodNoisy,
    Killers,
    GenerateQuiet,
    Quiet,
    BadNoisy,
    Done,
}

#[derive(Clone)]
struct Candidates {
    moves: ArrayVec<Move, MAX_MOVES>,
    scores: ArrayVec<i32, MAX_MOVES>,
}

/// Number of bits of a sort key that contain the index of the move in the list.
const PLACE_BITS: u32 = 9;
const _: () = assert!(MAX_MOVES <= 1 << PLACE_BITS);

impl Candidates {
    #[inline(always)]
    fn new() -> Self {
        Candidates { moves: ArrayVec::new(), scores: ArrayVec::new() }
    }

    #[inline]
    fn push(&mut self, mv: Move, score: i32) {
        debug_assert!(
            score << PLACE_BITS >> PLACE_BITS == score,
            "{score} leaves room for the place"
        );
        self.moves.push(mv);
        self.scores.push(score);
    }

    fn clear(&mut self) {
        self.moves.clear();
        self.scores.clear();
    }

    /// Removes and returns the move with the highest score. The list is not sorted, because most
    /// nodes need only a few of its moves.
    #[inline]
    fn take_best(&mut self) -> Option<(Move, i32)> {
        // Combining the score and the index in one number avoids unpredictable branches.
        let places = 0..self.scores.len() as i32;
        let keys = self.scores.iter().zip(places).map(|(score, place)| score << PLACE_BITS | place);
        let best = keys.fold(i32::MIN, i32::max) as usize % (1 << PLACE_BITS);
        Some((self.moves.swap_pop(best)?, self.scores.swap_pop(best)?))
    }
}

#[derive(Clone)]
pub(super) struct MovePicker {
    stage: Stage,
    table_move: Option<Move>,
    killers: ArrayVec<Move, 2>,
    killers_seen: usize,
    candidates: Candidates,
    bad: ArrayVec<Move, MAX_MOVES>,
    next_bad: usize,
    /// Captures with an exchange value below this threshold are deferred or, with `good_only`,
    /// skipped.
    threshold: Score,
    quiets_wanted: bool,
    good_only: bool,
    /// Restricts the picker to the moves that a weakened player notices; `None` means all moves.
    visibility: Option<MoveVisibility>,
}

impl MovePicker {
    #[inline(always)]
    pub(super) fn all(table_move: Option<Move>) -> Self {
        Self::new(table_move, ArrayVec::new())
    }

    /// Creates a picker for all moves, with the killer moves before the other quiet moves.
    #[inline(always)]
    pub(super) fn with_killers(table_move: Option<Move>, killers: [Option<Move>; 2]) -> Self {
        let others = killers.into_iter().flatten().filter(|&mv| table_move != Some(mv));
        Self::new(table_move, others.collect())
    }

    /// Creates a picker for captures and promotions with an exchange value of at least `threshold`.
    #[inline(always)]
    pub(super) fn noisy(table_move: Option<Move>, threshold: Score) -> Self {
        let mut picker = Self::all(table_move);
        (picker.threshold, picker.quiets_wanted, picker.good_only) = (threshold, false, true);
        picker
    }

    /// Inlined so that the picker, which takes four kilobytes, is built in place.
    #[inline(always)]
    fn new(table_move: Option<Move>, killers: ArrayVec<Move, 2>) -> Self {
        MovePicker {
            stage: Stage::Table,
            table_move,
            killers,
            killers_seen: 0,
            candidates: Candidates::new(),
            bad: ArrayVec::new(),
            next_bad: 0,
            threshold: 0,
            quiets_wanted: true,
            good_only: false,
            visibility: None,
        }
    }

    /// Makes the picker skip the moves that a weakened player overlooks. The table move and the
    /// killer moves are never skipped, because the search has already found them.
    pub(super) fn apply_visibility(&mut self, visibility: Option<MoveVisibility>) {
        self.visibility = visibility;
    }

    pub(super) fn skip_quiets(&mut self) {
        self.quiets_wanted = false;
    }

    pub(super) fn next(
        &mut self,
        position: &Position,
        history: &History,
        context: &Context,
    ) -> Option<Move> {
        loop {
            match self.stage {
                Stage::Table => {
                    self.stage = Stage::GenerateNoisy;
                    if self.table_move.is_some() {
                        return self.table_move;
                    }
                }
                Stage::GenerateNoisy => {
                    self.generate_noisy(position);
                    self.stage = Stage::GoodNoisy;
                }
                Stage::GoodNoisy => match self.next_good_noisy(position) {
                    Some(mv) => return Some(mv),
                    None if self.good_only => self.stage = Stage::Done,
                    None => self.stage = Stage::Killers,
                },
                Stage::Killers => match self.next_killer(position) {
                    Some(mv) => return Some(mv),
                    None => self.stage = Stage::GenerateQuiet,
                },
                Stage::GenerateQuiet => {
                    if self.quiets_wanted {
                        self.generate_quiet(position, history, context);
                    }
                    self.stage = Stage::Quiet;
                }
                Stage::Quiet => match self.candidates.take_best().filter(|_| self.quiets_wanted) {
                    Some((mv, _)) => return Some(mv),
                    None => self.stage = Stage::BadNoisy,
                },
                Stage::BadNoisy => {
                    if let Some(&mv) = self.bad.get(self.next_bad) {
                        self.next_bad += 1;
                        return Some(mv);
                    }
                    self.stage = Stage::Done;
                }
                Stage::Done => return None,
            }
        }
    }

    #[inline(never)]
    fn generate_noisy(&mut self, position: &Position) {
        let mut list = MoveList::new();
        position.noisy_moves(&mut list);
        for mv in list.iter() {
            if Some(mv) != self.table_move && self.is_visible(position, mv) {
                self.candidates.push(mv, noisy_score(position, mv));
            }
        }
    }

    /// Not inlined, because most calls of [`MovePicker::next`] need neither this code nor the
    /// tables that it builds.
    #[inline(never)]
    fn generate_quiet(&mut self, position: &Position, history: &History, context: &Context) {
        let mut list = MoveList::new();
        position.quiet_moves(&mut list);
        let histories = history.at_node(position, context);
        let prospects = Prospects::new(position, context);
        self.candidates.clear();
        for mv in list.iter() {
            if Some(mv) != self.table_move
                && !self.killers.contains(&mv)
                && self.is_visible(position, mv)
            {
                self.candidates.push(mv, histories.of(mv) + prospects.of(mv));
            }
        }
    }

    #[inline]
    fn is_visible(&self, position: &Position, mv: Move) -> bool {
        self.visibility.as_ref().is_none_or(|visibility| visibility.is_visible(position, mv))
    }

    /// Returns the best remaining capture or queen promotion whose exchange value reaches the
    /// threshold. Sets aside moves below the threshold and all underpromotions.
    fn next_good_noisy(&mut self, position: &Position) -> Option<Move> {
        while let Some((mv, score)) = self.candidates.take_best() {
            if score > UNDERPROMOTION / 2 && see_ge(position, mv, self.threshold) {
                return Some(mv);
            }
            self.bad.push(mv);
        }
        None
    }

    fn next_killer(&mut self, position: &Position) -> Option<Move> {
        while self.quiets_wanted {
            let mv = *self.killers.get(self.killers_seen)?;
            self.killers_seen += 1;
            if position.is_legal(mv) && !position.is_noisy(mv) {
                return Some(mv);
            }
        }
        None
    }
}

/// Adjustments to the ordering scores of quiet moves, by kind of piece: bonuses for checks and for
/// leaving a square attacked by a less valuable piece, and a penalty for entering such a square.
struct Prospects<'a> {
    position: &'a Position,
    worth: [i32; ALL_PIECES.len()],
    danger: [BitBoard; ALL_PIECES.len()],
    checks: [BitBoard; ALL_PIECES.len()],
}

impl<'a> Prospects<'a> {
    #[inline]
    fn new(position: &'a Position, context: &Context) -> Self {
        let minor = c::order_threat_minor();
        let worth = [0, minor, minor, c::order_threat_rook(), c::order_threat_queen(), 0];
        let danger = ALL_PIECES.map(|piece| context.threats.against(piece));
        let checks = ALL_PIECES.map(|piece| match piece {
            Piece::Pawn | Piece::King => EMPTY,
            _ => context.checks.from(piece),
        });
        Prospects { position, worth, danger, checks }
    }

    #[inline]
    fn of(&self, mv: Move) -> i32 {
        let Some(piece) = self.position.piece_on(mv.from()) else { return 0 };
        let (worth, danger) = (self.worth[piece.to_index()], self.danger[piece.to_index()]);
        let is_in = |set: BitBoard, square: Square| set.0 >> square.to_index() & 1;
        let mut sum = worth * (is_in(danger, mv.from()) as i32 - is_in(danger, mv.to()) as i32);
        if is_in(self.checks[piece.to_index()], mv.to()) != 0
            && see_ge(self.position, mv, SAFE_CHECK)
        {
            sum += c::order_check();
        }
        sum
    }
}

/// Returns the move ordering score of a noisy move. Moves are ordered by the most valuable victim
/// and then by the least valuable attacker.
///
/// Source: <https://www.chessprogramming.org/MVV-LVA>.
fn noisy_score(position: &Position, mv: Move) -> i32 {
    let attacker = position.piece_on(mv.from()).map_or(0, |piece| piece.to_index() as i32);
    let victim = position.piece_on(mv.to()).map_or(0, value);
    let promoted = match mv.promotion() {
        Some(Piece::Queen) => value(Piece::Queen),
        Some(_) => return UNDERPROMOTION,
        None => 0,
    };
    victim + promoted - attacker
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(fen: &str, mut picker: MovePicker, history: &History) -> Vec<String> {
        let position = Position::from_fen(fen).expect(fen);
        let context = Context { checks: position.checks(), ..Context::default() };
        std::iter::from_fn(|| picker.next(&position, history, &context))
            .map(|mv| mv.to_string())
            .collect()
    }

    const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

    #[test]
    fn every_move_is_picked_once() {
        let history = History::new();
        for table_move in [None, Some("e1g1"), Some("e5g6")] {
            let table_move = table_move.map(|text| text.parse().expect(text));
            let mut moves = order(KIWIPETE, MovePicker::all(table_move), &history);
            assert_eq!(moves.len(), 48);
            if let Some(mv) = table_move {
                assert_eq!(moves[0], mv.to_string());
            }
            moves.sort_unstable();
            moves.dedup();
            assert_eq!(moves.len(), 48);
        }
    }

    #[test]
    fn losing_captures_come_last() {
        let moves = order(KIWIPETE, MovePicker::all(None), &History::new());
        assert_eq!(moves[0], "e2a6");
        let place = |mv: &str| moves.iter().position(|other| other == mv);
        for losing in ["f3f6", "f3h3", "e5f7", "e5g6"] {
            assert!(place(losing) > place("e1g1") && place(losing) > place("a2a3"), "{moves:?}");
        }
    }

    #[test]
    fn moves_of_an_attacked_queen_rank_first_if_the_target_is_safe() {
        let fen = "3rk3/8/8/8/8/8/P7/3QK2R w - - 0 1";
        let position = Position::from_fen(fen).expect(fen);
        let (threats, checks) = (position.threats(), position.checks());
        let context = Context { threats, checks, ..Context::default() };
        let prospects = Prospects::new(&position, &context);
        let rank = |mv: &str| prospects.of(mv.parse().expect(mv));
        assert!(
            rank("d1c1") > rank("d1d2") && rank("d1d2") == rank("a2a3"),
            "one leaves, one stays"
        );
        assert!(rank("d1a4") > rank("d1c1"), "and it checks");
        assert!(rank("e1d2") == 0, "a king is never taken");
    }

    #[test]
    fn killers_come_before_other_quiets() {
        let position = Position::from_fen(KIWIPETE).expect(KIWIPETE);
        let killers = ["a2a3", "e1d1"].map(|text| text.parse().ok());
        let picker = MovePicker::with_killers(None, killers);
        let moves = order(KIWIPETE, picker, &History::new());
        let quiet = |mv: &&String| !position.is_noisy(mv.parse().expect("a move"));
        let first: Vec<&String> = moves.iter().filter(quiet).take(2).collect();
        assert_eq!(first, ["a2a3", "e1d1"]);
    }
}
