//! An adaptive model that predicts the players' moves while games are encoded or decoded.
//!
//! The score of each legal move is the sum of the weights of its features. A softmax turns the
//! scores into probabilities. After each move, the weights are adjusted to make the move that was
//! played more likely. All arithmetic uses integers, so every machine computes the same
//! probabilities.
//!
//! Idea: R. Coulom, "Computing Elo ratings of move patterns in the game of Go" (2007).

use arrayvec::ArrayVec;
use chess::{BitBoard, EMPTY, get_pawn_attacks};

use super::coder::Coder;
use crate::chess::position::{Color, MAX_MOVES, Move, Piece, Position, Square, attacks, distance};

/// The number of features of each move, as returned by [`View::features`].
const FEATURES: usize = 9;
const PIECES: usize = 6;

/// The number of fractional bits in fixed-point weights, sums of weights and probabilities.
const POINT: u32 = 16;
/// The initial learning rate minus the final one (`LAST_STEP`), in units of 1 / 65,536.
///
/// This value, `LAST_STEP` and `HALVING` were chosen on 1.2 million self-play positions, where they
/// were compared with half and twice their values. On a separate set of 10.7 million positions, the
/// file is 0.4% smaller than with all three values halved.
const FIRST_STEP: i32 = 12_000;
/// The final learning rate, which is approached after many positions, in units of 1 / 65,536.
const LAST_STEP: i32 = 1400;
/// After this many positions, the learning rate exceeds `LAST_STEP` by only half of `FIRST_STEP`.
const HALVING: i32 = 1200;
/// The number of positions after which the learning rate stays constant.
const MAX_POSITIONS: i32 = 1 << 20;
/// Errors in a move's predicted probability that are smaller than this, in units of 1 / 65,536, are
/// ignored. The values 50 and 800 were also tried, and both made the files larger.
const SLIGHT: i32 = 200;
/// The relative frequency assigned to the most likely move. The frequencies of the other moves are
/// scaled relative to it.
const LARGEST: u32 = 1 << 14;
/// The number of entries in the table of exponentials per unit of the exponent.
const STEPS: usize = 64;
/// The table of exponentials covers exponents from 0 down to minus this value.
const DEEPEST: usize = 10;

/// The table of exponentials: powers of e^(-1/STEPS), multiplied by `LARGEST`. 1 is added to each
/// entry so that none is 0.
const EXPONENTIAL: [u32; STEPS * DEEPEST] = {
    const FACTOR: u64 = 4_228_379_541;
    let mut table = [0; STEPS * DEEPEST];
    // Sixteen extra bits keep the powers accurate enough.
    let mut value: u64 = (LARGEST as u64) << 16;
    let mut i = 0;
    while i < table.len() {
        table[i] = (value >> 16) as u32 + 1;
        value = (value * FACTOR) >> 32;
        i += 1;
    }
    table
};

/// A legal move together with the indices of its features' weights.
struct Candidate {
    mv: Move,
    features: [u16; FEATURES],
}

#[derive(Clone, Copy, Default)]
pub(super) struct Past {
    /// The opponent's last move, followed by the side to move's own last move.
    pub last: [Option<Move>; 2],
}

pub(super) struct Policy {
    weights: Vec<i32>,
    positions: i32,
    sizes: ArrayVec<u32, MAX_MOVES>,
    candidates: ArrayVec<Candidate, MAX_MOVES>,
}

impl Policy {
    pub(super) fn new() -> Self {
        Policy {
            weights: vec![0; END],
            positions: 0,
            sizes: ArrayVec::new(),
            candidates: ArrayVec::new(),
        }
    }

    /// Encodes or decodes a move, and adjusts the weights. Returns `None` if the move to encode is
    /// illegal, or if there are no legal moves.
    pub(super) fn code(
        &mut self,
        coder: &mut impl Coder,
        position: &Position,
        past: &Past,
        wanted: Option<Move>,
    ) -> Option<Move> {
        self.gather(position, past);
        let wanted = match wanted {
            Some(mv) => self.candidates.iter().position(|candidate| candidate.mv == mv)?,
            None if self.candidates.is_empty() => return None,
            None => 0,
        };
        self.softmax();
        let chosen = coder.choice(wanted, &self.sizes);
        self.learn(chosen);
        Some(self.candidates[chosen].mv)
    }

    fn gather(&mut self, position: &Position, past: &Past) {
        let view = View::new(position, past);
        let mut moves: ArrayVec<Move, MAX_MOVES> = position.legal_moves().iter().collect();
        // Sort by the Polyglot encoding, so that the order of the moves does not depend on how the
        // chess library encodes or generates them.
        moves.sort_unstable_by_key(|mv| mv.to_polyglot());
        self.candidates.clear();
        self.candidates
            .extend(moves.into_iter().map(|mv| Candidate { mv, features: view.features(mv) }));
    }

    fn softmax(&mut self) {
        let sums: ArrayVec<i32, MAX_MOVES> = self
            .candidates
            .iter()
            .map(|candidate| {
                let weights =
                    candidate.features.iter().map(|&place| self.weights[usize::from(place)]);
                weights.fold(0, i32::wrapping_add)
            })
            .collect();
        let most = sums.iter().copied().max().unwrap_or(0);
        self.sizes.clear();
        self.sizes.extend(sums.iter().map(|&sum| {
            let below = ((i64::from(most) - i64::from(sum)) as usize * STEPS) >> POINT;
            EXPONENTIAL[below.min(EXPONENTIAL.len() - 1)]
        }));
    }

    fn learn(&mut self, chosen: usize) {
        let total: u32 = self.sizes.iter().sum();
        let part = (1 << 32) / u64::from(total);
        let step = LAST_STEP + FIRST_STEP * HALVING / (HALVING + self.positions);
        self.positions = (self.positions + 1).min(MAX_POSITIONS);
        for (index, (candidate, &size)) in self.candidates.iter().zip(&self.sizes).enumerate() {
            let chance = ((u64::from(size) * part) >> (32 - POINT)) as i32;
            let error = if index == chosen { (1 << POINT) - chance } else { -chance };
            if error.abs() < SLIGHT {
                continue;
            }
            // The two lowest bits of the step are dropped so that the product does not overflow.
            let change = (error * (step >> 2)) >> (POINT - 2);
            for &place in &candidate.features {
                let weight = &mut self.weights[usize::from(place)];
                *weight = weight.wrapping_add(change);
            }
        }
    }
}

/// The index of each feature's first weight.
///
/// The features for the origin, for the destination and for the distances to both kings depend on
/// the phase and the moving piece. Most others depend on the moving piece but not on the phase.
/// They cover captures and the safety of the destination, attacks on the piece, checks from a safe
/// or an unsafe square, replies to the opponent's last move, and second moves by the same piece.
/// The feature for promotions depends only on the promotion piece.
const TO: usize = 0;
const FROM: usize = TO + 2 * PIECES * 64;
const TRADE: usize = FROM + 2 * PIECES * 64;
const FLEE: usize = TRADE + PIECES * (PIECES + 1) * STATES;
const CHECK: usize = FLEE + PIECES * STATES;
const REPLY: usize = CHECK + PIECES * 2 * 2;
const AGAIN: usize = REPLY + PIECES * 4;
const PROMOTION: usize = AGAIN + PIECES * 4;
const KINGS: usize = PROMOTION + PIECES + 2;
const END: usize = KINGS + 2 * PIECES * 64;
/// The number of states. See [`View::state`].
const STATES: usize = 10;
/// The maximum number of pieces (including kings and pawns) in a late position. It is half of the
/// initial number.
const LATE_PIECES: u32 = 16;

/// Data about a position that is used to compute the features of all its moves.
struct View<'p> {
    position: &'p Position,
    past: &'p Past,
    us: Color,
    /// 1 if the position is late (at most [`LATE_PIECES`] pieces are on the board), otherwise 0.
    late: usize,
    /// The squares attacked by the enemy's pawns, minor pieces, rooks, and queens or king, in this
    /// order.
    threats: [BitBoard; 4],
    /// The squares attacked at least once by the side to move, and those attacked at least twice.
    support: [BitBoard; 2],
    /// For each kind of piece, the squares from which it would give check to the enemy king.
    checks: [BitBoard; PIECES],
    /// Squares attacked by the enemy piece that moved last.
    attacked: BitBoard,
}

fn reach(piece: Piece, color: Color, from: Square, occupied: BitBoard) -> BitBoard {
    match piece {
        Piece::Pawn => get_pawn_attacks(from, color, !EMPTY),
        _ => attacks(piece, from, occupied),
    }
}

fn bit(square: Square) -> BitBoard {
    BitBoard::from_square(square)
}

impl<'p> View<'p> {
    fn new(position: &'p Position, past: &'p Past) -> Self {
        let us = position.side_to_move();
        let occupied = position.occupied();
        let late = usize::from(occupied.popcnt() <= LATE_PIECES);
        let mut threats = [EMPTY; 4];
        let mut support = [EMPTY; 2];
        for piece in chess::ALL_PIECES {
            let level = match piece {
                Piece::Pawn => 0,
                Piece::Knight | Piece::Bishop => 1,
                Piece::Rook => 2,
                Piece::Queen | Piece::King => 3,
            };
            for from in position.pieces(!us, piece) {
                threats[level] |= reach(piece, !us, from, occupied);
            }
            for from in position.pieces(us, piece) {
                let attacked = reach(piece, us, from, occupied);
                support[1] |= support[0] & attacked;
                support[0] |= attacked;
            }
        }
        let king = position.king(!us);
        let checks = chess::ALL_PIECES.map(|piece| reach(piece, !us, king, occupied));
        let attacked = past.last[0].map_or(EMPTY, |mv| {
            let piece = position.piece_on(mv.to()).unwrap_or(Piece::Pawn);
            reach(piece, !us, mv.to(), occupied)
        });
        View { position, past, us, late, threats, support, checks, attacked }
    }

    /// Combines the class of the least valuable enemy attacker of a square (1 to 4, or 0 if there
    /// is none) with whether `own` contains the square.
    fn state(&self, square: Square, own: BitBoard) -> usize {
        let square = bit(square);
        let level = self.threats.iter().position(|&threat| threat & square != EMPTY);
        2 * level.map_or(0, |level| level + 1) + usize::from(own & square != EMPTY)
    }

    fn features(&self, mv: Move) -> [u16; FEATURES] {
        let (from, to) = (mv.from(), mv.to());
        let piece = self.position.piece_on(from).map_or(0, |piece| piece.to_index());
        let victim = match self.position.piece_on(to) {
            Some(victim) => 1 + victim.to_index(),
            None => usize::from(self.position.is_en_passant(mv)),
        };
        let flip = if self.us == Color::White { 0 } else { 56 };
        let [from_seen, to_seen] = [from, to].map(|square| square.to_index() ^ flip);
        let phase = PIECES * self.late + piece;
        let state = self.state(to, self.support[1]);
        let checks = usize::from(self.checks[piece] & bit(to) != EMPTY);
        let [last, own] = self.past.last;
        let recaptures = last.is_some_and(|last| last.to() == to);
        let attacked = self.attacked & bit(from) != EMPTY;
        let again = own.is_some_and(|own| own.to() == from);
        let undoes = again && own.is_some_and(|own| own.from() == to);
        let distances = [self.position.king(self.us), self.position.king(!self.us)]
            .map(|king| distance(king, to) as usize);
        [
            TO + 64 * phase + to_seen,
            FROM + 64 * phase + from_seen,
            TRADE + (STATES * victim + state) * PIECES + piece,
            FLEE + STATES * piece + self.state(from, self.support[0]),
            CHECK + 4 * piece + 2 * checks + usize::from(state < 2),
            REPLY + 4 * piece + 2 * usize::from(recaptures) + usize::from(attacked),
            AGAIN + 4 * piece + 2 * usize::from(again) + usize::from(undoes),
            PROMOTION + mv.promotion().map_or(0, |piece| 1 + piece.to_index()),
            KINGS + 64 * phase + 8 * distances[0] + distances[1],
        ]
        .map(|place| place as u16)
    }
}
