//! Classifies endgames by material.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::chess::position::{Color, LIGHT_SQUARES, Piece, Position};

/// The pieces that are counted, with their letters and their values in pawns. [`Material`] lists
/// pieces in this order.
const PIECES: [(Piece, char, u32); 4] = [
    (Piece::Queen, 'Q', 9),
    (Piece::Rook, 'R', 5),
    (Piece::Bishop, 'B', 3),
    (Piece::Knight, 'N', 3),
];
/// A position is an endgame if neither side's pieces are worth more than this many pawns. A queen
/// and a rook together exceed this value.
pub(super) const MAX_POINTS: u32 = 13;
/// A run of consecutive positions with the same pieces counts as an endgame if it has at least this
/// many positions, or if the game ends with it. Shorter runs mostly occur in the middle of
/// exchanges.
pub(super) const MIN_POSITIONS: usize = 6;

/// The pieces of both sides, excluding pawns. For example, a rook endgame is `KR` against `KR`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Material {
    pub(super) white: String,
    pub(super) black: String,
    /// Whether each side has exactly one bishop, and the two bishops are on squares of different
    /// colours.
    pub(super) opposite_bishops: bool,
}

impl Material {
    /// Returns the material of an endgame position, or `None` if the position is not an endgame.
    fn of(position: &Position) -> Option<Self> {
        let count = |side, piece| position.pieces(side, piece).popcnt();
        let points = |side| -> u32 {
            PIECES.iter().map(|&(piece, _, points)| points * count(side, piece)).sum()
        };
        if [Color::White, Color::Black].into_iter().any(|side| MAX_POINTS < points(side)) {
            return None;
        }
        let name = |side| -> String {
            let pieces = PIECES.iter().flat_map(|&(piece, letter, _)| {
                std::iter::repeat_n(letter, count(side, piece) as usize)
            });
            std::iter::once('K').chain(pieces).collect()
        };
        let is_single = |side| count(side, Piece::Bishop) == 1;
        let is_light = |side| (position.pieces(side, Piece::Bishop) & LIGHT_SQUARES).0 != 0;
        let opposite_bishops = is_single(Color::White)
            && is_single(Color::Black)
            && is_light(Color::White) != is_light(Color::Black);
        Some(Material { white: name(Color::White), black: name(Color::Black), opposite_bishops })
    }
}

/// Returns the types of endgame reached in a game, given its positions in order. A type is included
/// if it lasted for at least [`MIN_POSITIONS`] positions, or if the game ended in it.
pub(super) fn endgames(positions: impl Iterator<Item = Position>) -> BTreeSet<Material> {
    let mut found = BTreeSet::new();
    let (mut now, mut run) = (None, 0);
    for position in positions {
        let next = Material::of(&position);
        if next != now {
            (now, run) = (next, 0);
        }
        run += 1;
        if run == MIN_POSITIONS {
            found.extend(now.clone());
        }
    }
    found.extend(now);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn material(board: &str) -> Option<(String, String, bool)> {
        let position = Position::from_fen(&format!("{board} w - - 0 1")).expect(board);
        Material::of(&position).map(|found| (found.white, found.black, found.opposite_bishops))
    }

    fn named(white: &str, black: &str, opposite: bool) -> Option<(String, String, bool)> {
        Some((white.to_owned(), black.to_owned(), opposite))
    }

    #[test]
    fn material_is_named_by_its_pieces() {
        assert_eq!(material("4k3/pp6/8/8/8/8/6PP/4K3"), named("K", "K", false));
        assert_eq!(material("r3k3/8/8/8/8/8/6PP/RN2K3"), named("KRN", "KR", false));
        assert_eq!(material("2b1k3/8/8/8/8/8/8/2B1K3"), named("KB", "KB", true));
        assert_eq!(material("5bk1/8/8/8/8/8/8/2B1K3"), named("KB", "KB", false));
        assert_eq!(material("r2qk3/8/8/8/8/8/8/4K3"), None);
        assert_eq!(material("q2nk3/8/8/8/8/8/8/4K3"), named("K", "KQN", false));
    }

    #[test]
    fn short_exchanges_are_no_endgames() {
        let position =
            |board: &str| Position::from_fen(&format!("{board} w - - 0 1")).expect(board);
        let rooks = position("r3k3/8/8/8/8/8/8/R3K3");
        let (rook, pawns) = (position("r3k3/8/8/8/8/8/8/4K3"), position("4k3/8/8/8/8/8/7P/4K3"));
        let run = |counts: [(Position, usize); 3]| {
            let all = counts.into_iter().flat_map(|(at, count)| std::iter::repeat_n(at, count));
            let names = endgames(all).into_iter().map(|found| found.white + "-" + &found.black);
            names.collect::<Vec<_>>()
        };
        assert_eq!(run([(rooks, 6), (rook, 5), (pawns, 1)]), ["K-K", "KR-KR"]);
        assert_eq!(run([(rooks, 5), (rook, 6), (rook, 0)]), ["K-KR"]);
        assert_eq!(run([(Position::start(), 9), (rook, 0), (pawns, 0)]), Vec::<String>::new());
    }
}
