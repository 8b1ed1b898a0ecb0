//! The named weights of the evaluation.

use std::fmt::Write;
use std::mem::offset_of;

use crate::engine::eval::tapered::Tapered;

/// The evaluation term that a weight belongs to. The breakdown of the evaluation has one row for
/// each term.
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

/// Weights for the squares of the board, indexed by relative rank and by file. Mirrored files share
/// a weight.
pub(crate) type Placement = [[Tapered; 4]; 8];

macro_rules! weights {
    ($($(#[doc = $doc:literal])+ $term:ident $name:ident: $type:ty,)+) => {
        /// All weights of the evaluation.
        ///
        /// Each weight is added for the side that has the feature. Indices for ranks count from
        /// that side's first rank (0 to 7), and indices for files from the nearer edge of the board
        /// (0 to 3).
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
    /// Score for two bishops on squares of opposite colours.
    Material bishop_pair: Tapered,
    /// Change in the value of each knight for each friendly pawn. Knights are stronger in closed
    /// positions.
    Material knight_per_pawn: Tapered,
    /// Change in the value of each rook for each friendly pawn.
    Material rook_per_pawn: Tapered,

    /// Piece-square table for pawns.
    Pawns pawn_placement: Placement,
    /// Score for an isolated pawn (no friendly pawns on the adjacent files), indexed by file.
    Pawns isolated: [Tapered; 4],
    /// Additional score for an isolated pawn with no enemy pawn ahead of it, which makes it a
    /// target on a half-open file.
    Pawns isolated_open: Tapered,
    /// Score for a pawn with another friendly pawn ahead on its file.
    Pawns doubled: Tapered,
    /// Score for a backward pawn: it cannot advance safely, and no friendly pawn on an adjacent
    /// file is level with it or behind it.
    Pawns backward: Tapered,
    /// Additional score for a backward pawn with no enemy pawn ahead of it on its file.
    Pawns backward_open: Tapered,
    /// Score for a pawn with another friendly pawn next to it, indexed by rank.
    Pawns phalanx: [Tapered; 8],
    /// Score for a pawn defended by another pawn, indexed by rank.
    Pawns supported: [Tapered; 8],
    /// Score for a candidate passed pawn, indexed by rank. A candidate has no pawns ahead of it on
    /// its file, and at least as many helpers on the adjacent files as there are enemy pawns that
    /// guard its path.
    Pawns candidate: [Tapered; 8],

    /// Score for a passed pawn, indexed by rank. A passed pawn has no pawns ahead of it on its file
    /// and no enemy pawns ahead of it on the adjacent files.
    Passed passed: [Tapered; 8],
    /// Score for a passed pawn, indexed by file.
    Passed passed_file: [Tapered; 4],
    /// Score for a passed pawn defended by a friendly pawn.
    Passed passed_protected: Tapered,
    /// Score for a passed pawn at least three files away from all enemy pawns.
    Passed passed_outside: Tapered,
    /// Score per king move of distance between our king and the square in front of our passed pawn,
    /// indexed by the pawn's rank.
    Passed passed_our_king: [Tapered; 8],
    /// Score per king move of distance between the enemy king and the square in front of our passed
    /// pawn, indexed by the pawn's rank.
    Passed passed_their_king: [Tapered; 8],
    /// Score for a passed pawn with an enemy piece directly in front of it, indexed by rank.
    Passed passed_blocked: [Tapered; 8],
    /// Score for a passed pawn whose next square is neither occupied nor attacked by the enemy,
    /// indexed by rank.
    Passed passed_safe_step: [Tapered; 8],
    /// Score for a passed pawn whose entire path to promotion is neither occupied nor attacked by
    /// the enemy, indexed by rank.
    Passed passed_free_path: [Tapered; 8],
    /// Score for a passed pawn with a friendly rook behind it.
    Passed passed_rook_behind: Tapered,
    /// Score for a passed pawn with an enemy rook behind it.
    Passed passed_attacked_from_behind: Tapered,
    /// Score for a passed pawn with a clear path that the enemy king cannot catch, if the enemy has
    /// only a king and pawns.
    Passed passed_unstoppable: Tapered,

    /// Piece-square table for knights.
    Knights knight_placement: Placement,
    /// Score for a knight on an outpost: a square on the fourth to sixth rank from which no enemy
    /// pawn can drive it away.
    Knights knight_outpost: Tapered,
    /// Score for a knight on an outpost, if it is defended by a friendly pawn.
    Knights knight_outpost_supported: Tapered,
    /// Score for a knight with a pawn of either side directly in front of it.
    Knights knight_shielded: Tapered,
    /// Score per king move of distance between a knight and its own king.
    Knights knight_king_distance: Tapered,

    /// Piece-square table for bishops.
    Bishops bishop_placement: Placement,
    /// Score for a bishop on an outpost: a square on the fourth to sixth rank from which no enemy
    /// pawn can drive it away.
    Bishops bishop_outpost: Tapered,
    /// Score for a bishop on an outpost, if it is defended by a friendly pawn.
    Bishops bishop_outpost_supported: Tapered,
    /// Score for a bishop with a pawn of either side directly in front of it.
    Bishops bishop_shielded: Tapered,
    /// Score per king move of distance between a bishop and its own king.
    Bishops bishop_king_distance: Tapered,
    /// Score for each friendly pawn on a square of the bishop's colour.
    Bishops bishop_own_pawns: Tapered,
    /// Score for each blocked friendly pawn that is on a square of the bishop's colour and on files
    /// c to f.
    Bishops bishop_blocked_pawns: Tapered,
    /// Score for each enemy pawn on a diagonal of the bishop, unless a friendly pawn is in between.
    Bishops bishop_enemy_pawns: Tapered,
    /// Score for a bishop that attacks at least two centre squares if all pieces except pawns are
    /// ignored.
    Bishops bishop_long_diagonal: Tapered,

    /// Piece-square table for rooks.
    Rooks rook_placement: Placement,
    /// Score for a rook on a file without pawns.
    Rooks rook_open_file: Tapered,
    /// Score for a rook on a file with enemy pawns but no friendly pawns.
    Rooks rook_half_open_file: Tapered,
    /// Score for a rook on the seventh rank, if enemy pawns are on that rank or the enemy king is
    /// on the eighth.
    Rooks rook_seventh: Tapered,
    /// Score for a rook on the same file as an enemy queen.
    Rooks rook_queen_file: Tapered,
    /// Score for a rook hemmed in by its own king, which has lost the right to castle.
    Rooks rook_trapped: Tapered,

    /// Piece-square table for queens.
    Queens queen_placement: Placement,
    /// Score for a queen in the enemy's half of the board, on a square that no enemy pawn can
    /// attack.
    Queens queen_infiltration: Tapered,

    /// Piece-square table for the king.
    King king_placement: Placement,
    /// Score for each of the three files around the king, indexed by file and by the rank of the
    /// nearest friendly pawn that is not behind the king (0 if there is none).
    King shelter: [[Tapered; 8]; 4],
    /// Score for each of the three files around the king, indexed by file and by the rank of the
    /// nearest enemy pawn that is not behind the king (0 if there is none). Not added if a friendly
    /// pawn blocks the enemy pawn.
    King storm: [[Tapered; 8]; 4],
    /// Score for an enemy pawn on the files around the king that is blocked by a friendly pawn,
    /// indexed by the enemy pawn's rank.
    King storm_blocked: [Tapered; 8],
    /// Score for a king on a file without pawns.
    King king_open_file: Tapered,
    /// Score for a king on a file with enemy pawns but no friendly pawns.
    King king_half_open_file: Tapered,
    /// Score for a king without pawns of either side on its wing.
    King king_bare_wing: Tapered,
    /// Score per king move of distance between the king and the nearest pawn of either side.
    King king_pawn_distance: Tapered,
    /// Score for each castling right that the side still has.
    King castling_right: Tapered,

    /// Score for a knight, indexed by the number of squares that it attacks in
    /// `View::mobility_area`.
    Mobility knight_mobility: [Tapered; 9],
    /// Score for a bishop, indexed by the number of squares that it attacks in
    /// `View::mobility_area`.
    Mobility bishop_mobility: [Tapered; 14],
    /// Score for a rook, indexed by the number of squares that it attacks in `View::mobility_area`.
    Mobility rook_mobility: [Tapered; 15],
    /// Score for a queen, indexed by the number of squares that it attacks in
    /// `View::mobility_area`.
    Mobility queen_mobility: [Tapered; 28],

    /// Danger units added whenever king danger is evaluated: if at least two enemy pieces attack
    /// squares around the king, or one if the enemy has a queen.
    KingSafety danger_base: Tapered,
    /// Danger units for each enemy piece that attacks squares around the king, indexed by kind
    /// (knight, bishop, rook, queen).
    KingSafety danger_attacker: [Tapered; 4],
    /// Danger units for each enemy attack on a square adjacent to the king.
    KingSafety danger_attack: Tapered,
    /// Danger units for each square around the king that the enemy attacks and that is either
    /// undefended or defended only once, by the king or a queen.
    KingSafety danger_weak_square: Tapered,
    /// Danger units for each kind of enemy piece that can give a safe check, indexed by kind
    /// (knight, bishop, rook, queen).
    KingSafety danger_safe_check: [Tapered; 4],
    /// Danger units for each square from which the enemy can give an unsafe check. Not counted for
    /// kinds of pieces that can also give a safe check.
    KingSafety danger_unsafe_check: Tapered,
    /// Danger units if the enemy has no queen.
    KingSafety danger_no_queen: Tapered,
    /// Danger units if a knight defends any of the squares around its own king.
    KingSafety danger_knight_defends: Tapered,
    /// Danger units for each square on ranks 1 to 5 of the king's wing that the enemy attacks.
    KingSafety danger_wing_attack: Tapered,
    /// Danger units for each square on ranks 1 to 5 of the king's wing that our own side defends.
    KingSafety danger_wing_defence: Tapered,
    /// Danger units for each of the three files around the king on which no friendly pawn is beside
    /// or in front of the king.
    KingSafety danger_no_shelter: Tapered,

    /// Score for each attacked centre square.
    Centre centre_attacked: Tapered,
    /// Score for each centre square attacked at least twice.
    Centre centre_attacked_twice: Tapered,
    /// Score for each centre square attacked by a pawn.
    Centre centre_pawn_attacked: Tapered,

    /// Score for each enemy piece attacked by a safe pawn, indexed by kind (knight, bishop, rook,
    /// queen).
    Threats threat_by_pawn: [Tapered; 4],
    /// Score for each enemy pawn or piece threatened by a minor piece, indexed by kind (pawn,
    /// knight, bishop, rook, queen).
    Threats threat_by_minor: [Tapered; 5],
    /// Score for each enemy pawn or piece threatened by a rook, indexed by kind (pawn, knight,
    /// bishop, rook, queen).
    Threats threat_by_rook: [Tapered; 5],
    /// Score if our king attacks a poorly defended enemy pawn or piece.
    Threats threat_by_king: Tapered,
    /// Score for each attacked enemy pawn or piece that is undefended, and for each poorly defended
    /// enemy piece that is attacked at least twice.
    Threats hanging: Tapered,
    /// Score for each enemy piece that a safe pawn push would attack.
    Threats threat_by_push: Tapered,
    /// Score for each empty square that both sides attack, unless the enemy defends it with a pawn,
    /// or defends it twice while we attack it once.
    Threats restricted: Tapered,
    /// Score for each safe square from which one of our knights could attack the enemy queen.
    Threats knight_on_queen: Tapered,
    /// Score for each safe, supported square from which one of our bishops or rooks could attack
    /// the enemy queen.
    Threats slider_on_queen: Tapered,

    /// Score for each square on ranks 2 to 4 of files c to f that has no friendly pawn and is not
    /// attacked by enemy pawns. A square behind a friendly pawn counts twice, unless the enemy
    /// attacks it.
    Space space: Tapered,

    /// Score for being the side to move.
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

/// A weight, or a (possibly nested) array of weights.
trait WeightBlock {
    fn collect(&self, values: &mut Vec<Tapered>);
    /// Builds the block from the next values of the iterator. Missing values are set to zero.
    fn build(values: &mut impl Iterator<Item = Tapered>) -> Self;
    /// Appends the block to `text` as Rust source, indented by `depth` levels.
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
