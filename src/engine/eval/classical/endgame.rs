//! Scale factors for endgames, and the score of a won endgame against a lone king.

use super::bitboards::*;
use super::view::{Pieces, View};
use crate::chess::position::{BitBoard, Square};
use crate::chess::score::Score;

/// The scale factor that leaves an endgame score unchanged.
pub(crate) const FULL_SCALE: i32 = 64;

/// Rough piece values in pawns, for comparing material.
const MINOR: i32 = 3;
const ROOK: i32 = 5;
const QUEEN: i32 = 9;

/// Bonus in centipawns for a won endgame against a lone king, added to the material score.
const KNOWN_WIN: Score = 1000;

/// Returns the scale factor for the endgame score, in units of 1/[`FULL_SCALE`]. It applies to
/// scores that favour the view's own side.
///
/// Source: <https://www.chessprogramming.org/Draw_Evaluation>.
pub(in crate::engine::eval) fn scale(view: &View) -> i32 {
    let (us, them) = (&view.us, &view.them);
    let pawns = count(us.pawns);
    if pawns == 0 {
        return pawnless_scale(us, them);
    }
    if only_bishops_and_rook_pawns(us) && holds_corner(view) {
        return 0;
    }
    if opposite_bishops(us, them) {
        return opposite_bishops_scale(view);
    }
    /// Scale factors, indexed by the number of pawns of the side that is ahead. With few pawns
    /// left, the defender can more easily trade them all and reach a draw.
    const BY_PAWNS: [i32; 5] = [FULL_SCALE, 48, 54, 60, FULL_SCALE];
    BY_PAWNS[pawns.min(4) as usize]
}

/// Returns the scale factor if the side that is ahead has no pawns. Without pawns, it usually wins
/// only if it is ahead by more than a minor piece.
fn pawnless_scale(us: &Pieces, them: &Pieces) -> i32 {
    /// Factor for a rook or two minor pieces against one minor piece, which is usually a draw.
    const ROOK_AGAINST_MINOR: i32 = 8;
    /// Factor for a lead of at most a minor piece if the enemy's material is worth more than a
    /// minor piece. Such endgames are usually drawn.
    const MINOR_AHEAD: i32 = 16;
    let (ours, theirs) = (worth(us), worth(them));
    if ours - theirs > MINOR && !is_two_knights(us) {
        FULL_SCALE
    } else if ours < ROOK || is_two_knights(us) {
        0
    } else if theirs <= MINOR {
        ROOK_AGAINST_MINOR
    } else {
        MINOR_AHEAD
    }
}

fn is_two_knights(us: &Pieces) -> bool {
    us.pieces() == us.knights && count(us.knights) == 2
}

fn worth(us: &Pieces) -> i32 {
    count(us.knights | us.bishops) * MINOR + count(us.rooks) * ROOK + count(us.queens) * QUEEN
}

/// Whether `us` has only rook pawns, all on the same file, and possibly bishops, none of which
/// controls the promotion square (the wrong bishop).
fn only_bishops_and_rook_pawns(us: &Pieces) -> bool {
    let edge = [FILE_A, FILE_H].into_iter().find(|&file| none(us.pawns & !file));
    let Some(edge) = edge else { return false };
    let corner = edge & ranks(8, 8);
    let controlled = if any(corner & LIGHT_SQUARES) { LIGHT_SQUARES } else { !LIGHT_SQUARES };
    us.pieces() == us.bishops && none(us.bishops & controlled)
}

fn holds_corner(view: &View) -> bool {
    let file = file(lowest(view.us.pawns));
    let corner = lowest(file_set(file) & ranks(8, 8));
    distance(view.them.king, corner) <= 1
}

fn opposite_bishops(us: &Pieces, them: &Pieces) -> bool {
    count(us.bishops) == 1
        && count(them.bishops) == 1
        && any(us.bishops & LIGHT_SQUARES) != any(them.bishops & LIGHT_SQUARES)
}

/// Returns the scale factor for an endgame with opposite-coloured bishops.
///
/// Source: <https://www.chessprogramming.org/Bishops_of_Opposite_Colors>.
fn opposite_bishops_scale(view: &View) -> i32 {
    /// Base scale factor if each side has only a bishop and pawns. It is increased for each extra
    /// pawn, because extra pawns make a win more likely.
    const BARE: i32 = 20;
    const BARE_PER_EXTRA_PAWN: i32 = 8;
    /// Scale factor if the bishops are accompanied by other pieces.
    const ACCOMPANIED: i32 = 44;
    const ACCOMPANIED_PER_PAWN: i32 = 2;
    let (us, them) = (&view.us, &view.them);
    let bare = us.pieces() == us.bishops && them.pieces() == them.bishops;
    let scale = if bare {
        BARE + BARE_PER_EXTRA_PAWN * (count(us.pawns) - count(them.pawns)).max(0)
    } else {
        ACCOMPANIED + ACCOMPANIED_PER_PAWN * count(us.pawns)
    };
    scale.min(FULL_SCALE)
}

/// Returns the score for the view's own side if it has a won endgame against a lone king, or `None`
/// otherwise.
///
/// The score rewards driving the king to the edge or, with bishop and knight, to a corner of the
/// bishop's colour. Source: <https://www.chessprogramming.org/Mop-up_Evaluation>.
pub(super) fn known_win(view: &View) -> Option<Score> {
    const EDGE_STEP: Score = 20;
    const CORNER_STEP: Score = 20;
    const KING_STEP: Score = 10;
    let (us, them) = (&view.us, &view.them);
    if them.all != bit(them.king) || !can_mate(us) {
        return None;
    }
    let hunted = them.king;
    let bishop_and_knight = none(us.rooks | us.queens | us.pawns) && any(us.knights);
    let drive = if bishop_and_knight {
        CORNER_STEP * (14 - steps_to_corner(hunted, us.bishops))
    } else {
        let to_edge = edge_distance(file(hunted)) + edge_distance(rank(hunted));
        EDGE_STEP * (6 - to_edge as Score)
    };
    let material = 100 * (worth(us) + count(us.pawns));
    Some(KNOWN_WIN + material + drive + KING_STEP * (7 - distance(us.king, hunted)))
}

fn can_mate(us: &Pieces) -> bool {
    let bishops = any(us.bishops & LIGHT_SQUARES) && any(us.bishops & !LIGHT_SQUARES);
    any(us.rooks | us.queens) || bishops || any(us.bishops) && any(us.knights)
}

/// Returns the Manhattan distance from `square` to the nearer corner of the bishops' colour.
fn steps_to_corner(square: Square, bishops: BitBoard) -> Score {
    let (file, rank) = (file(square) as Score, rank(square) as Score);
    // Mirroring the files turns the light corners a8 and h1 into the dark corners h8 and a1.
    let file = if any(bishops & LIGHT_SQUARES) { 7 - file } else { file };
    (file + rank).min(14 - file - rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::{Color, Position};

    fn view(fen: &str) -> View {
        View::new(&Position::from_fen(fen).expect(fen), Color::White)
    }

    #[test]
    fn drawn_material_is_scaled_down() {
        for (fen, range) in [
            ("8/8/4k3/8/8/3NNK2/8/8 w - - 0 1", 0..=0),
            ("8/8/4kn2/8/8/3B1K2/8/8 w - - 0 1", 0..=0),
            ("8/8/4kn2/8/8/3R1K2/8/8 w - - 0 1", 1..=16),
            ("8/8/4kr2/8/8/3Q1K2/8/8 w - - 0 1", 64..=64),
            // In order: a rook pawn with the right bishop; with the wrong bishop; with the wrong
            // bishop, but with the defending king too far from the corner.
            ("k7/8/8/P7/8/3B1K2/8/8 w - - 0 1", 48..=64),
            ("k7/8/8/P7/8/4BK2/8/8 w - - 0 1", 0..=0),
            ("8/8/8/P6k/8/4BK2/8/8 w - - 0 1", 48..=64),
            ("k7/8/8/P7/8/5K2/8/8 w - - 0 1", 0..=0),
            ("8/5k2/3b4/3P4/8/3B1K2/8/8 w - - 0 1", 1..=32),
            ("8/5k2/4b3/3P4/8/3B1K2/8/8 w - - 0 1", 48..=64),
        ] {
            let scale = scale(&view(fen));
            assert!(range.contains(&scale), "{fen}: {scale}");
        }
    }

    #[test]
    fn lone_king_scores_worse_near_a_mating_corner() {
        let score = |fen: &str| known_win(&view(fen)).expect(fen);
        for (worse, better) in [
            ("8/8/4k3/8/8/R3K3/8/8 w - - 0 1", "4k3/8/8/8/8/R3K3/8/8 w - - 0 1"),
            ("4k3/8/8/8/8/R3K3/8/8 w - - 0 1", "4k3/8/4K3/8/8/R7/8/8 w - - 0 1"),
            // With a knight and a light-squared bishop, mate can be forced in the corners a8 and
            // h1, but not in h8.
            ("7k/8/8/8/8/2NBK3/8/8 w - - 0 1", "k7/8/8/8/8/2NBK3/8/8 w - - 0 1"),
            ("k7/8/8/8/8/2NBK3/8/8 w - - 0 1", "k7/8/8/8/8/2NQK3/8/8 w - - 0 1"),
        ] {
            assert!(score(worse) < score(better), "{worse} against {better}");
        }
        assert_eq!(known_win(&view("8/8/4k3/8/8/2N1K3/8/8 w - - 0 1")), None);
    }
}
