//! The named weights of the evaluation.

use std::fmt::Write;
use std::mem::offset_of;

use crate::engine::eval::tapered::Tapered;

/// The evaluation term that a weight belongs to. Each term is a row of the breakdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Term {
    Material,
    Pawns,
    Passed,
    Knights,
    Bishops,
    Rooks,
    Queens,
    /// King placement and pawn shelter.
    King,
    Mobility,
    KingSafety,
    Centre,
    Threats,
    Space,
    Tempo,
}

impl Term {
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

#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub name: &'static str,
    pub term: Term,
    pub first: usize,
    pub len: usize,
}

/// Weights by relative rank and by file. Mirrored files share a weight.
pub(crate) type Placement = [[Tapered; 4]; 8];

macro_rules! weights {
    ($($(#[doc = $doc:literal])+ $term:ident $name:ident: $type:ty,)+) => {
        /// All weights of the evaluation.
        ///
        /// Every value applies to the side that has the feature. Values "by rank" are indexed from
        /// that side's first rank (0 to 7), and values "by file" from the nearer edge (0 to 3).
        // INVARIANT: contains only `Tapered` values, in order and without gaps (`repr(C)`), because
        // the address of a weight determines its index.
        #[repr(C)]
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) struct Weights {
            $($(#[doc = $doc])+ pub $name: $type,)+
        }

        pub(crate) const FIELDS: &[Field] = &[
            $(Field {
                name: stringify!($name),
                term: Term::$term,
                first: offset_of!(Weights, $name) / size_of::<Tapered>(),
                len: size_of::<$type>() / size_of::<Tapered>(),
            },)+
        ];

        impl Weights {
            pub(crate) fn to_vec(&self) -> Vec<Tapered> {
                let mut values = Vec::with_capacity(WEIGHTS);
                $(self.$name.collect(&mut values);)+
                values
            }

            pub(crate) fn from_values(values: &[Tapered]) -> Weights {
                let mut values = values.iter().copied();
                Weights { $($name: WeightBlock::build(&mut values),)+ }
            }

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
    /// Values of a pawn, knight, bishop, rook and queen.
    Material material: [Tapered; 5],
    /// Two bishops on squares of opposite colours.
    Material bishop_pair: Tapered,
    /// Change in a knight's value for each friendly pawn. Knights are stronger in closed positions.
    Material knight_per_pawn: Tapered,
    /// Change in a rook's value for each friendly pawn.
    Material rook_per_pawn: Tapered,

    /// A pawn, by its square.
    Pawns pawn_placement: Placement,
    /// A pawn without friendly pawns on the adjacent files, by file.
    Pawns isolated: [Tapered; 4],
    /// An isolated pawn with no enemy pawn ahead: a target on a half-open file.
    Pawns isolated_open: Tapered,
    /// A pawn with another friendly pawn ahead on its file.
    Pawns doubled: Tapered,
    /// A pawn that cannot advance safely, with no friendly pawn next to it or behind it on the
    /// adjacent files.
    Pawns backward: Tapered,
    /// A backward pawn with no enemy pawn ahead.
    Pawns backward_open: Tapered,
    /// A pawn with another friendly pawn next to it, by rank.
    Pawns phalanx: [Tapered; 8],
    /// A pawn defended by another pawn, by rank.
    Pawns supported: [Tapered; 8],
    /// A candidate passed pawn, by rank: no pawns are ahead of it, and it has at least as many
    /// helpers as there are enemy pawns that guard its path.
    Pawns candidate: [Tapered; 8],

    /// A passed pawn, by rank: no pawn ahead on its file, no enemy pawn ahead on an adjacent file.
    Passed passed: [Tapered; 8],
    /// A passed pawn, by file.
    Passed passed_file: [Tapered; 4],
    /// A passed pawn defended by a friendly pawn.
    Passed passed_protected: Tapered,
    /// A passed pawn at least three files away from all enemy pawns.
    Passed passed_outside: Tapered,
    /// Value per square of distance (in king moves) from our king to the square ahead of our passed
    /// pawn, by the pawn's rank.
    Passed passed_our_king: [Tapered; 8],
    /// Value per square of distance (in king moves) from the enemy king to the square ahead of our
    /// passed pawn, by the pawn's rank.
    Passed passed_their_king: [Tapered; 8],
    /// A passed pawn with an enemy piece directly ahead of it, by rank.
    Passed passed_blocked: [Tapered; 8],
    /// A passed pawn whose next square is neither occupied nor attacked by the enemy, by rank.
    Passed passed_safe_step: [Tapered; 8],
    /// A passed pawn whose path to promotion is neither occupied nor attacked by the enemy, by
    /// rank.
    Passed passed_free_path: [Tapered; 8],
    /// A passed pawn with a friendly rook behind it.
    Passed passed_rook_behind: Tapered,
    /// A passed pawn with an enemy rook behind it.
    Passed passed_attacked_from_behind: Tapered,
    /// A passed pawn with a clear path that the enemy king cannot catch, when the enemy has only a
    /// king and pawns.
    Passed passed_unstoppable: Tapered,

    /// A knight, by its square.
    Knights knight_placement: Placement,
    /// A knight on the fourth to sixth rank that no enemy pawn can drive away (an outpost).
    Knights knight_outpost: Tapered,
    /// A knight on an outpost that is defended by a friendly pawn.
    Knights knight_outpost_supported: Tapered,
    /// A knight with a pawn of either side directly in front of it.
    Knights knight_shielded: Tapered,
    /// Value per square of distance (in king moves) from a knight to its own king.
    Knights knight_king_distance: Tapered,

    /// A bishop, by its square.
    Bishops bishop_placement: Placement,
    /// A bishop on the fourth to sixth rank that no enemy pawn can drive away (an outpost).
    Bishops bishop_outpost: Tapered,
    /// A bishop on an outpost that is defended by a friendly pawn.
    Bishops bishop_outpost_supported: Tapered,
    /// A bishop with a pawn of either side directly in front of it.
    Bishops bishop_shielded: Tapered,
    /// Value per square of distance (in king moves) from a bishop to its own king.
    Bishops bishop_king_distance: Tapered,
    /// Value for each friendly pawn on a square of the bishop's colour.
    Bishops bishop_own_pawns: Tapered,
    /// Value for each blocked friendly pawn on a square of the bishop's colour on files c to f.
    Bishops bishop_blocked_pawns: Tapered,
    /// Value for each enemy pawn that the bishop would attack if only friendly pawns blocked its
    /// path.
    Bishops bishop_enemy_pawns: Tapered,
    /// A bishop that would attack at least two centre squares if only pawns blocked its path.
    Bishops bishop_long_diagonal: Tapered,

    /// A rook, by its square.
    Rooks rook_placement: Placement,
    /// A rook on a file without pawns.
    Rooks rook_open_file: Tapered,
    /// A rook on a file with enemy pawns but no friendly pawns.
    Rooks rook_half_open_file: Tapered,
    /// A rook on the seventh rank, with enemy pawns there or the enemy king on the eighth.
    Rooks rook_seventh: Tapered,
    /// A rook on the file of an enemy queen.
    Rooks rook_queen_file: Tapered,
    /// A rook hemmed in by its own king, which has lost the right to castle.
    Rooks rook_trapped: Tapered,

    /// A queen, by its square.
    Queens queen_placement: Placement,
    /// A queen in the enemy's half, on a square that no enemy pawn can attack.
    Queens queen_infiltration: Tapered,

    /// The king, by its square.
    King king_placement: Placement,
    /// Value for each of the three files around the king, by file and by the rank of the nearest
    /// friendly pawn that is not behind the king (0 if there is none).
    King shelter: [[Tapered; 8]; 4],
    /// Value for each of the three files around the king, by file and by the rank of the nearest
    /// enemy pawn that is not behind the king (0 if there is none). Not added if a friendly pawn
    /// blocks the enemy pawn.
    King storm: [[Tapered; 8]; 4],
    /// An enemy pawn near the king that is blocked by a friendly pawn, by rank.
    King storm_blocked: [Tapered; 8],
    /// A king on a file without pawns.
    King king_open_file: Tapered,
    /// A king on a file with enemy pawns but no friendly pawns.
    King king_half_open_file: Tapered,
    /// A king without pawns of either side on its wing.
    King king_bare_wing: Tapered,
    /// Value per square of distance (in king moves) from the king to the nearest pawn of either
    /// side.
    King king_pawn_distance: Tapered,
    /// Value for each castling right that the side still has.
    King castling_right: Tapered,

    /// A knight, by the number of squares to which it can move.
    Mobility knight_mobility: [Tapered; 9],
    /// A bishop, by the number of squares to which it can move.
    Mobility bishop_mobility: [Tapered; 14],
    /// A rook, by the number of squares to which it can move.
    Mobility rook_mobility: [Tapered; 15],
    /// A queen, by the number of squares to which it can move.
    Mobility queen_mobility: [Tapered; 28],

    /// Danger units if at least two enemy pieces attack squares around the king. If the enemy has a
    /// queen, one attacking piece is enough.
    KingSafety danger_base: Tapered,
    /// Danger units for each enemy knight, bishop, rook or queen that attacks squares around the
    /// king.
    KingSafety danger_attacker: [Tapered; 4],
    /// Danger units for each enemy attack on a square adjacent to the king.
    KingSafety danger_attack: Tapered,
    /// Danger units for each attacked square around the king that is defended at most once, and
    /// only by the king or a queen.
    KingSafety danger_weak_square: Tapered,
    /// Danger units for each kind of enemy piece (knight to queen) that can give a safe check.
    KingSafety danger_safe_check: [Tapered; 4],
    /// Danger units for each square from which the enemy can give an unsafe check. Kinds of pieces
    /// that also have a safe check are ignored.
    KingSafety danger_unsafe_check: Tapered,
    /// Danger units if the enemy has no queen.
    KingSafety danger_no_queen: Tapered,
    /// Danger units if a knight defends any of the squares around its own king.
    KingSafety danger_knight_defends: Tapered,
    /// Danger units for each square on ranks 1 to 5 of the king's wing that the enemy attacks.
    KingSafety danger_wing_attack: Tapered,
    /// Danger units for each square on ranks 1 to 5 of the king's wing that our own side attacks.
    KingSafety danger_wing_defence: Tapered,
    /// Danger units for each of the three files around the king on which no friendly pawn protects
    /// the king.
    KingSafety danger_no_shelter: Tapered,

    /// Value for each attacked centre square.
    Centre centre_attacked: Tapered,
    /// Value for each centre square attacked at least twice.
    Centre centre_attacked_twice: Tapered,
    /// Value for each centre square attacked by a pawn.
    Centre centre_pawn_attacked: Tapered,

    /// A knight, bishop, rook or queen attacked by a safe pawn.
    Threats threat_by_pawn: [Tapered; 4],
    /// A pawn, knight, bishop, rook or queen attacked by a minor piece.
    Threats threat_by_minor: [Tapered; 5],
    /// A pawn, knight, bishop, rook or queen attacked by a rook.
    Threats threat_by_rook: [Tapered; 5],
    /// A poorly defended piece attacked by the king.
    Threats threat_by_king: Tapered,
    /// Value for each attacked enemy pawn or piece that is undefended, and for each poorly defended
    /// piece that is attacked at least twice.
    Threats hanging: Tapered,
    /// Value for each enemy piece that a safe pawn push would attack.
    Threats threat_by_push: Tapered,
    /// Value for each empty square that both sides attack, unless the enemy defends it strongly.
    Threats restricted: Tapered,
    /// Value for each safe square from which a knight could attack the queen.
    Threats knight_on_queen: Tapered,
    /// Value for each safe, supported square from which a bishop or rook could attack the queen.
    Threats slider_on_queen: Tapered,

    /// Value for each safe square on ranks 2 to 4 of the central files. A square behind a friendly
    /// pawn counts twice, unless the enemy attacks it.
    Space space: Tapered,

    /// The advantage of being the side to move.
    Tempo tempo: Tapered,
}

pub(crate) const WEIGHTS: usize = size_of::<Weights>() / size_of::<Tapered>();

impl Weights {
    /// Returns the index of `weight`, which must be a reference to an element of `self`.
    pub(super) fn place(&self, weight: &Tapered) -> usize {
        let offset = std::ptr::from_ref(weight).addr() - std::ptr::from_ref(self).addr();
        let place = offset / size_of::<Tapered>();
        debug_assert!(place < WEIGHTS);
        place
    }
}

/// A weight, or an array of weight blocks.
trait WeightBlock {
    fn collect(&self, values: &mut Vec<Tapered>);
    /// Builds the block from the next values. Missing values are zero.
    fn build(values: &mut impl Iterator<Item = Tapered>) -> Self;
    /// Appends the block as Rust source, indented by `depth` levels.
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
