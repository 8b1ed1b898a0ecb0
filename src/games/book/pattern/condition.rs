//! The conditions that a pattern imposes on a position, compiled for fast testing.

use arrayvec::ArrayVec;

use super::placement::{COUNT_BITS, COUNTED, KINDS, Placement, other_color};
use crate::chess::position::Color;

/// The allowed contents of a square, as a set of coloured pieces and "no piece".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Class(u16);

impl Class {
    pub(super) const ANY: Class = Class((1 << KINDS) - 1);
    pub(super) const NONE: Class = Class(0);

    pub(super) fn of(kind: u8) -> Self {
        Class(1 << kind)
    }

    pub(super) fn with(self, other: Class) -> Self {
        Class(self.0 | other.0)
    }

    pub(super) fn and(self, other: Class) -> Self {
        Class(self.0 & other.0)
    }

    pub(super) fn complement(self) -> Self {
        Class(!self.0 & Self::ANY.0)
    }

    fn kinds(self) -> impl Iterator<Item = u8> {
        (0..KINDS as u8).filter(move |kind| self.0 >> kind & 1 == 1)
    }

    /// Returns the class with each piece replaced by the same piece of the other colour.
    fn mirrored(self) -> Self {
        self.kinds().map(|kind| Class::of(other_color(kind))).fold(Class::NONE, Class::with)
    }
}

/// The minimum and maximum number of pieces of each kind except kings: White's pawns, knights,
/// bishops, rooks and queens, then Black's.
pub(super) type Material = [(u8, u8); COUNTED];

/// The largest piece count that can be represented. As an upper bound, it means that there is no
/// limit.
pub(super) const MAX_COUNT: u8 = (1 << (COUNT_BITS - 1)) - 1;

const GUARDS: u64 = {
    let mut guards = 0;
    let mut lane = 0;
    while lane < COUNTED {
        guards |= 1 << (COUNT_BITS * (lane as u32 + 1) - 1);
        lane += 1;
    }
    guards
};

/// Squares with the same allowed contents. They are tested together.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    squares: u64,
    kinds: ArrayVec<u8, KINDS>,
    /// The squares of the group that must contain one of `kinds`, while the others must not: all
    /// squares if `kinds` are the allowed contents, or none if `kinds` are the forbidden contents.
    expected: u64,
}

impl Group {
    fn new(class: Class, squares: u64) -> Self {
        let (own, others) = (class, class.complement());
        match own.0.count_ones() <= others.0.count_ones() {
            true => Group { squares, kinds: own.kinds().collect(), expected: squares },
            false => Group { squares, kinds: others.kinds().collect(), expected: 0 },
        }
    }

    #[inline]
    fn holds(&self, placement: &Placement) -> bool {
        let found = self.kinds.iter().fold(0, |set, &kind| set | placement.set(kind));
        found & self.squares == self.expected
    }
}

/// What a pattern requires of a position: the pieces on the board and the side to move. The side to
/// move is tested only in the first position of a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    /// The minimum number of pieces of each kind, packed as in [`Placement::material`]. `most`
    /// contains the maxima.
    least: u64,
    most: u64,
    groups: Vec<Group>,
    pub(super) turn: Option<Color>,
}

impl Condition {
    pub(super) fn new(
        squares: &[Class; 64],
        material: Option<&Material>,
        turn: Option<Color>,
    ) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut done = 0_u64;
        for (square, &class) in squares.iter().enumerate() {
            if class == Class::ANY || done >> square & 1 == 1 {
                continue;
            }
            let alike = (square..64).filter(|&other| squares[other] == class);
            let set = alike.fold(0, |set, other| set | 1 << other);
            done |= set;
            groups.push(Group::new(class, set));
        }
        let bounds = material.copied().unwrap_or([(0, MAX_COUNT); COUNTED]);
        let packed = |bound: fn(&(u8, u8)) -> u8| {
            let shifted =
                |lane: usize| u64::from(bound(&bounds[lane])) << (COUNT_BITS * lane as u32);
            (0..COUNTED).map(shifted).sum::<u64>()
        };
        Condition {
            least: packed(|&(least, _)| least),
            most: packed(|&(_, most)| most),
            groups,
            turn,
        }
    }

    /// Returns the condition for the given requirements after swapping the colours and flipping the
    /// board vertically.
    pub(super) fn mirrored(
        squares: &[Class; 64],
        material: Option<&Material>,
        turn: Option<Color>,
    ) -> Self {
        let squares = std::array::from_fn(|square| squares[square ^ 56].mirrored());
        let material = material.map(|numbers| {
            let half = COUNTED / 2;
            std::array::from_fn(|lane| numbers[(lane + half) % COUNTED])
        });
        Condition::new(&squares, material.as_ref(), turn.map(|side| !side))
    }

    #[inline]
    pub(super) fn holds(&self, placement: &Placement) -> bool {
        let material = placement.material();
        // All counts are compared at once. Each subtraction clears the guard bit above a count only
        // if the result for this count is negative.
        let enough = (material | GUARDS).wrapping_sub(self.least);
        let few = (self.most | GUARDS).wrapping_sub(material);
        enough & few & GUARDS == GUARDS && self.groups.iter().all(|group| group.holds(placement))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::{Piece, Position};
    use crate::games::book::pattern::placement::kind;

    fn at(fen: &str) -> Placement {
        Placement::of(&Position::from_fen(fen).expect(fen))
    }

    #[test]
    fn bounds_of_every_kind_are_checked() {
        let placement = at("4k3/pp6/8/8/8/8/PPP5/R3K3 w - - 0 1");
        let numbers = [3, 0, 0, 1, 0, 2, 0, 0, 0, 0];
        let exact: Material = numbers.map(|number| (number, number));
        let holds = |material: &Material| {
            Condition::new(&[Class::ANY; 64], Some(material), None).holds(&placement)
        };
        assert!(holds(&exact) && holds(&[(0, MAX_COUNT); COUNTED]));
        for lane in 0..COUNTED {
            let mut other = exact;
            other[lane] = (numbers[lane] + 1, MAX_COUNT);
            assert!(!holds(&other), "too few in lane {lane}");
            if numbers[lane] > 0 {
                other[lane] = (0, numbers[lane] - 1);
                assert!(!holds(&other), "too many in lane {lane}");
            }
        }
    }

    #[test]
    fn squares_hold_one_of_their_kinds() {
        let placement = at("4k3/8/8/3p4/8/8/8/3QK3 w - - 0 1");
        let (queen, pawn) = (kind(Color::White, Piece::Queen), kind(Color::Black, Piece::Pawn));
        let holds = |square: usize, class: Class| {
            let mut squares = [Class::ANY; 64];
            squares[square] = class;
            let condition = Condition::new(&squares, None, None);
            let mirrored = Condition::mirrored(&squares, None, None);
            (condition.holds(&placement), mirrored.holds(&placement))
        };
        assert_eq!(holds(3, Class::of(queen)), (true, false));
        assert_eq!(holds(3, Class::of(queen).complement()), (false, true));
        assert_eq!(holds(35, Class::of(pawn).with(Class::of(queen))), (true, false));
        // The white pawn on d4 becomes a black pawn on d5 in the mirrored condition.
        assert_eq!(holds(27, Class::of(other_color(pawn))), (false, true));
    }
}
