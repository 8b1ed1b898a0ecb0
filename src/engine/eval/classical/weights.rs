//! The named weights of the evaluation, used to evaluate, to explain and to tune.

use std::fmt::Write;
use std::mem::offset_of;

use crate::engine::eval::tapered::Tapered;

/// The term of a weight: a row of the breakdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Term {
    /// Piece values.
    Material,
    /// Pawn structure and placement.
    Pawns,
    /// Passed pawns.
    Passed,
    /// Knight placement.
    Knights,
    /// Bishop placement.
    Bishops,
    /// Rook placement.
    Rooks,
    /// Queen placement.
    Queens,
    /// King placement and shelter.
    King,
    /// Squares the pieces can move to.
    Mobility,
    /// Danger to the king from enemy pieces.
    KingSafety,
    /// Control of the four squares in the centre.
    Centre,
    /// Attacks on enemy pieces.
    Threats,
    /// Space behind the pawns.
    Space,
    /// The right to move.
    Tempo,
}

impl Term {
    /// All terms in the order of the breakdown.
    pub(crate) const ALL: [Term; 14] = [
        Term::Material,
        Term::Pawns,
        Term::Passed,
        Term::Knights,
        Term::Bishops,
        Term::Rooks,
        Term::Queens,
        Term::King,
        Term::Mobility,
        Term::KingSafety,
        Term::Centre,
        Term::Threats,
        Term::Space,
        Term::Tempo,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Term::Material => "material",
            Term::Pawns => "pawns",
            Term::Passed => "passed pawns",
            Term::Knights => "knights",
            Term::Bishops => "bishops",
            Term::Rooks => "rooks",
            Term::Queens => "queens",
            Term::King => "king",
            Term::Mobility => "mobility",
            Term::KingSafety => "king safety",
            Term::Centre => "centre",
            Term::Threats => "threats",
            Term::Space => "space",
            Term::Tempo => "tempo",
        }
    }
}

/// A named group of weights, and its position in [`Weights`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    /// Its name in [`Weights`].
    pub name: &'static str,
    /// The term it belongs to.
    pub term: Term,
    /// Index of its first weight.
    pub first: usize,
    /// Number of its weights.
    pub len: usize,
}

/// Placement by rank from the side's own first rank, and file. The board is folded in the middle,
/// so that the a and h files are the same.
pub(crate) type Placement = [[Tapered; 4]; 8];

macro_rules! weights {
    ($($(#[doc = $doc:literal])+ $term:ident $name:ident: $type:ty,)+) => {
        /// All weights. Every value is for the side that has the feature; "by rank" counts from
        /// that side's first rank (0 to 7), "by file" from the nearer edge (0 to 3).
        // INVARIANT: nothing but `Tapered`, in order, without gaps (`repr(C)`), so that a weight's
        // place follows from its address.
        #[repr(C)]
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) struct Weights {
            $($(#[doc = $doc])+ pub $name: $type,)+
        }

        /// The groups of weights in order.
        pub(crate) const FIELDS: &[Field] = &[
            $(Field {
                name: stringify!($name),
                term: Term::$term,
                first: offset_of!(Weights, $name) / size_of::<Tapered>(),
                len: size_of::<$type>() / size_of::<Tapered>(),
            },)+
        ];

        impl Weights {
            /// All weights in order.
            pub(crate) fn to_vec(&self) -> Vec<Tapered> {
                let mut values = Vec::with_capacity(WEIGHTS);
                $(self.$name.collect(&mut values);)+
                values
            }

            /// Creates the weights from all values in order.
            pub(crate) fn from_values(values: &[Tapered]) -> Weights {
                let mut values = values.iter().copied();
                Weights { $($name: WeightBlock::build(&mut values),)+ }
            }

            /// Formats the weights as the Rust source of a structure literal.
            pub(crate) fn to_source(&self) -> String {
                let mut text = String::from("Weights {\n");
                $(
                    text.push_str(concat!("    ", stringify!($name), ": "));
                    self.$name.source(1, &mut text);
                    text.push_str(",\n");
                )+
                text + "}"
            }
        }
    };
}

weights! {
    /// A pawn, knight, bishop, rook, queen.
    Material material: [Tapered; 5],
    /// Both bishops.
    Material bishop_pair: Tapered,
    /// A knight, for each own pawn: knights like closed positions.
    Material knight_per_pawn: Tapered,
    /// A rook, for each own pawn.
    Material rook_per_pawn: Tapered,

    /// A pawn on a square.
    Pawns pawn_placement: Placement,
    /// No own pawn on the adjacent files, by file.
    Pawns isolated: [Tapered; 4],
    /// Isolated, and no enemy pawn ahead: a target on a half-open file.
    Pawns isolated_open: Tapered,
    /// An own pawn ahead on the same file.
    Pawns doubled: Tapered,
    /// No own pawn beside or behind on the adjacent files, and it cannot advance safely.
    Pawns backward: Tapered,
    /// Backward, and no enemy pawn ahead.
    Pawns backward_open: Tapered,
    /// A pawn with another beside it, by rank.
    Pawns phalanx: [Tapered; 8],
    /// A pawn defended by another, by rank.
    Pawns supported: [Tapered; 8],
    /// Not passed, but with at least as many helpers as adversaries and a free file, by rank.
    Pawns candidate: [Tapered; 8],

    /// No enemy pawn ahead on its own or adjacent files, by rank.
    Passed passed: [Tapered; 8],
    /// Passed, by file.
    Passed passed_file: [Tapered; 4],
    /// Passed, and defended by a pawn.
    Passed passed_protected: Tapered,
    /// Passed, and all enemy pawns three files away or more.
    Passed passed_outside: Tapered,
    /// Distance of the own king from the square ahead, by rank.
    Passed passed_our_king: [Tapered; 8],
    /// Distance of the enemy king from the square ahead, by rank.
    Passed passed_their_king: [Tapered; 8],
    /// An enemy piece on the square ahead, by rank.
    Passed passed_blocked: [Tapered; 8],
    /// The square ahead is neither occupied nor attacked by the enemy, by rank.
    Passed passed_safe_step: [Tapered; 8],
    /// All squares ahead are neither occupied nor attacked by the enemy, by rank.
    Passed passed_free_path: [Tapered; 8],
    /// An own rook behind it.
    Passed passed_rook_behind: Tapered,
    /// An enemy rook behind it.
    Passed passed_attacked_from_behind: Tapered,
    /// The enemy has only its king, which is too late (rule of the square).
    Passed passed_unstoppable: Tapered,

    /// A knight on a square.
    Knights knight_placement: Placement,
    /// On the fourth to sixth rank where no enemy pawn can drive it away.
    Knights knight_outpost: Tapered,
    /// An outpost that a pawn defends.
    Knights knight_outpost_supported: Tapered,
    /// A pawn directly in front.
    Knights knight_shielded: Tapered,
    /// For each king move to the own king.
    Knights knight_king_distance: Tapered,

    /// A bishop on a square.
    Bishops bishop_placement: Placement,
    /// As for knights.
    Bishops bishop_outpost: Tapered,
    /// An outpost that a pawn defends.
    Bishops bishop_outpost_supported: Tapered,
    /// A pawn directly in front.
    Bishops bishop_shielded: Tapered,
    /// For each king move to the own king.
    Bishops bishop_king_distance: Tapered,
    /// For each own pawn on squares of its colour.
    Bishops bishop_own_pawns: Tapered,
    /// For each own pawn on squares of its colour that is blocked on a central file.
    Bishops bishop_blocked_pawns: Tapered,
    /// For each enemy pawn on its lines, regardless of other pieces.
    Bishops bishop_enemy_pawns: Tapered,
    /// It attacks two centre squares through everything but pawns.
    Bishops bishop_long_diagonal: Tapered,

    /// A rook on a square.
    Rooks rook_placement: Placement,
    /// No pawn on the file.
    Rooks rook_open_file: Tapered,
    /// No own pawn on the file.
    Rooks rook_half_open_file: Tapered,
    /// On the seventh rank with the enemy king on the eighth or enemy pawns on the seventh.
    Rooks rook_seventh: Tapered,
    /// On the file of an enemy queen.
    Rooks rook_queen_file: Tapered,
    /// Hemmed in by its own king that has not castled.
    Rooks rook_trapped: Tapered,

    /// A queen on a square.
    Queens queen_placement: Placement,
    /// In the enemy's half where no pawn can drive it away.
    Queens queen_infiltration: Tapered,

    /// The king on a square.
    King king_placement: Placement,
    /// For each of the three files around the king, by file: rank of the nearest own pawn not
    /// behind the king (0: none).
    King shelter: [[Tapered; 8]; 4],
    /// Likewise the rank of the nearest enemy pawn (0: none), unless it is blocked.
    King storm: [[Tapered; 8]; 4],
    /// The rank of an enemy pawn that an own pawn blocks.
    King storm_blocked: [Tapered; 8],
    /// No pawn on the king's file.
    King king_open_file: Tapered,
    /// No own pawn on the king's file.
    King king_half_open_file: Tapered,
    /// No pawn of either side on the king's wing.
    King king_bare_wing: Tapered,
    /// For each king move to the nearest pawn of either side.
    King king_pawn_distance: Tapered,
    /// For each remaining castling right.
    King castling_right: Tapered,

    /// By the number of reachable squares.
    Mobility knight_mobility: [Tapered; 9],
    /// By the number of reachable squares.
    Mobility bishop_mobility: [Tapered; 14],
    /// By the number of reachable squares.
    Mobility rook_mobility: [Tapered; 15],
    /// By the number of reachable squares.
    Mobility queen_mobility: [Tapered; 28],

    /// Base danger units.
    KingSafety danger_base: Tapered,
    /// For each enemy knight, bishop, rook, queen that attacks the king's neighbourhood.
    KingSafety danger_attacker: [Tapered; 4],
    /// For each attack on a square beside the king.
    KingSafety danger_attack: Tapered,
    /// For each attacked square of the neighbourhood that only king or queen defend, once.
    KingSafety danger_weak_square: Tapered,
    /// A check by a knight, bishop, rook, queen on a safe square.
    KingSafety danger_safe_check: [Tapered; 4],
    /// For each square of a check that is not safe.
    KingSafety danger_unsafe_check: Tapered,
    /// The enemy has no queen.
    KingSafety danger_no_queen: Tapered,
    /// A knight defends a square beside the king.
    KingSafety danger_knight_defends: Tapered,
    /// For each square of the king's wing that the enemy attacks.
    KingSafety danger_wing_attack: Tapered,
    /// For each square of the king's wing that is defended.
    KingSafety danger_wing_defence: Tapered,
    /// For each file around the king without own pawns.
    KingSafety danger_no_shelter: Tapered,

    /// For each centre square that is attacked.
    Centre centre_attacked: Tapered,
    /// For each centre square that is attacked twice.
    Centre centre_attacked_twice: Tapered,
    /// For each centre square that a pawn attacks.
    Centre centre_pawn_attacked: Tapered,

    /// A safe pawn attacks a knight, bishop, rook, queen.
    Threats threat_by_pawn: [Tapered; 4],
    /// A minor piece attacks a pawn, knight, bishop, rook, queen.
    Threats threat_by_minor: [Tapered; 5],
    /// A rook attacks a pawn, knight, bishop, rook, queen.
    Threats threat_by_rook: [Tapered; 5],
    /// The king attacks a poorly defended piece.
    Threats threat_by_king: Tapered,
    /// For each enemy piece that is attacked and undefended.
    Threats hanging: Tapered,
    /// For each piece that a safe pawn push would attack.
    Threats threat_by_push: Tapered,
    /// For each square that the enemy attacks but can hardly enter.
    Threats restricted: Tapered,
    /// For each safe square from where a knight would attack the queen.
    Threats knight_on_queen: Tapered,
    /// For each safe square from where a bishop or rook would attack the queen.
    Threats slider_on_queen: Tapered,

    /// For each safe square on the own side's central files; twice if behind a pawn.
    Space space: Tapered,

    /// The side to move.
    Tempo tempo: Tapered,
}

/// The number of weights.
pub(crate) const WEIGHTS: usize = size_of::<Weights>() / size_of::<Tapered>();

impl Weights {
    /// Returns the index of `weight`, which is an element of `self`.
    pub(super) fn place(&self, weight: &Tapered) -> usize {
        let offset = std::ptr::from_ref(weight).addr() - std::ptr::from_ref(self).addr();
        let place = offset / size_of::<Tapered>();
        debug_assert!(place < WEIGHTS);
        place
    }
}

/// A weight, or an array of blocks of weights.
trait WeightBlock {
    /// Appends all weights in order.
    fn collect(&self, values: &mut Vec<Tapered>);
    /// Builds the block from the next values; zero if there are none left.
    fn build(values: &mut impl Iterator<Item = Tapered>) -> Self;
    /// Appends the block as Rust source, indented by `depth`.
    fn source(&self, depth: usize, text: &mut String);
}

impl WeightBlock for Tapered {
    fn collect(&self, values: &mut Vec<Tapered>) {
        values.push(*self);
    }

    fn build(values: &mut impl Iterator<Item = Tapered>) -> Self {
        values.next().unwrap_or_default()
    }

    fn source(&self, _: usize, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{self:?}");
    }
}

impl<B: WeightBlock, const N: usize> WeightBlock for [B; N] {
    fn collect(&self, values: &mut Vec<Tapered>) {
        self.iter().for_each(|block| block.collect(values));
    }

    fn build(values: &mut impl Iterator<Item = Tapered>) -> Self {
        std::array::from_fn(|_| B::build(values))
    }

    fn source(&self, depth: usize, text: &mut String) {
        /// Weights per line.
        const COLUMNS: usize = 8;
        let single = size_of::<B>() == size_of::<Tapered>();
        let one_line = single && N <= COLUMNS;
        let indent = "    ".repeat(depth + 1);
        text.push('[');
        for (index, block) in self.iter().enumerate() {
            if !one_line && (!single || index % COLUMNS == 0) {
                text.push('\n');
                text.push_str(&indent);
            } else if index > 0 {
                text.push(' ');
            }
            block.source(depth + 1, text);
            if !one_line || index + 1 < N {
                text.push(',');
            }
        }
        if !one_line {
            text.push('\n');
            text.push_str(&"    ".repeat(depth));
        }
        text.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::eval::classical::tuned::TUNED;

    #[test]
    fn weight_indices_follow_the_field_order() {
        let values = TUNED.to_vec();
        assert_eq!(values.len(), WEIGHTS);
        assert_eq!(Weights::from_values(&values), TUNED);
        assert_eq!(TUNED.place(&TUNED.material[3]), 3);
        assert_eq!(TUNED.place(&TUNED.tempo), WEIGHTS - 1);
        let mut next = 0;
        for field in FIELDS {
            assert_eq!(field.first, next, "{}", field.name);
            next += field.len;
        }
        assert_eq!(next, WEIGHTS);
    }

    #[test]
    fn tuned_source_matches_the_tuner_output() {
        let file = include_str!("tuned.rs");
        assert!(file.contains(&TUNED.to_source()), "tuned.rs is not as the tuner prints it");
    }
}
