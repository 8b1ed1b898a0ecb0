//! The positions in which the engine searches during the tests.
//!
//! Each of the positions after special moves, such as castling, has only one legal move. An engine
//! that does not execute the special move correctly will most likely play a different move, which
//! is illegal.

use super::Setup;

const fn with_moves(fen: &'static str, moves: &'static str) -> Setup<'static> {
    Setup { fen, moves }
}

pub(super) const START: Setup<'_> = with_moves("", "");

pub(super) const MIDDLE_GAME: Setup<'_> = Setup::fen(super::super::MIDDLE_GAME);

/// Positions with ordinary moves.
pub(super) const ORDINARY: [Setup<'_>; 6] = [
    START,
    with_moves("", "e2e4 e7e5 g1f3"),
    MIDDLE_GAME,
    Setup::fen("3r2k1/p5n1/1pq1p2p/2p3p1/2P1P1n1/1P1P2pP/PN1Q2K1/5R2 b - - 0 27"),
    with_moves("4k3/8/8/8/8/8/4P3/4K3 b - - 3 9", "e8d7 e2e4 d7d6"),
    // an en passant capture
    with_moves("7k/6pp/8/8/1p6/8/P7/K6R w - - 0 1", "a2a4 b4a3"),
];

/// Positions after special moves. Each position has one legal move.
pub(super) const SPECIAL: [Setup<'_>; 9] = [
    // White castles kingside
    with_moves("4rk2/4p1p1/8/8/8/8/8/4K2R w K - 0 1", "e1g1"),
    // White castles queenside
    with_moves("3kr3/2p1p3/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1"),
    // Black castles kingside
    with_moves("4k2r/8/8/8/8/8/4P1P1/4RK2 b k - 0 1", "e8g8"),
    // Black castles queenside
    with_moves("r3k3/8/8/8/8/8/2P1P3/3KR3 b q - 0 1", "e8c8"),
    // promotion to a queen
    with_moves("7k/P5pp/7n/8/8/8/8/K7 w - - 0 1", "a7a8q"),
    // promotion to a rook
    with_moves("7k/P5pp/7n/8/8/8/8/K7 w - - 0 1", "a7a8r"),
    // promotion to a knight
    with_moves("6b1/5Ppk/6pp/8/8/8/8/K7 w - - 0 1", "f7f8n"),
    // promotion to a bishop
    with_moves("7n/5Pkp/6p1/8/8/8/8/K4R2 w - - 0 1", "f7f8b"),
    // an en passant capture is possible
    with_moves("8/3p4/4p3/4P3/8/1q6/2k5/K7 b - - 0 1", "d7d5"),
];

/// The only legal moves are promotions.
pub(super) const PROMOTION: Setup<'_> = Setup::fen("8/P7/8/8/8/1q6/2k5/K7 w - - 0 1");

pub(super) const CHECKMATE: Setup<'_> = with_moves("", "f2f3 e7e5 g2g4 d8h4");

pub(super) const STALEMATE: Setup<'_> = Setup::fen("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1");

/// Positions with a forced mate. Each entry consists of the number to report in `score mate`, the
/// position, and a depth at which a search finds the mate.
pub(super) const MATES: [(i32, Setup<'_>, u32); 3] = [
    (1, Setup::fen("7k/R7/8/8/8/8/8/1R5K w - - 0 1"), 4),
    (-1, Setup::fen("7k/R7/8/8/8/8/8/1R5K b - - 0 1"), 4),
    (2, MATE_IN_TWO, 6),
];

pub(super) const MATE_IN_TWO: Setup<'_> = Setup::fen("7k/8/8/8/8/8/R7/1R5K w - - 0 1");

/// Two legal moves in [`MIDDLE_GAME`] that an engine is unlikely to choose by itself.
pub(super) const WEAK_MOVES: [&str; 2] = ["a3a4", "h3h4"];

/// A position with one legal move.
pub(super) const ONE_MOVE: Setup<'_> = Setup::fen("7k/R7/8/8/8/8/8/1R5K b - - 0 1");

/// Returns the moves of a long game from the start position, separated by spaces.
pub(super) fn long_game() -> String {
    const KNIGHTS: &str = "g1f3 g8f6 f3g1 f6g8 ";
    let mut moves = String::new();
    for [white, black] in [["2", "7"], ["3", "6"]] {
        for file in ["a", "b", "d", "e", "g", "h"] {
            let [next, other] = if white == "2" { ["3", "6"] } else { ["4", "5"] };
            moves += &KNIGHTS.repeat(3);
            moves += &format!("{file}{white}{file}{next} {file}{black}{file}{other} ");
        }
    }
    // The last move gives check, so that few replies are legal. An engine that has not read the
    // whole line will most likely play an illegal move.
    moves + "f1b5"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Position;

    /// Like [`Setup::position`], but panics if a move is illegal.
    fn strictly(setup: &Setup<'_>) -> Position {
        let start = match setup.fen {
            "" => Position::start(),
            fen => Position::from_fen(fen).expect(fen),
        };
        setup.moves.split_whitespace().fold(start, |position, text| {
            position.play(position.parse_move(text).unwrap_or_else(|_| panic!("{setup:?}: {text}")))
        })
    }

    #[test]
    fn positions_are_valid() {
        let long = long_game();
        let mut setups: Vec<Setup<'_>> = ORDINARY.to_vec();
        setups.extend([CHECKMATE, STALEMATE, PROMOTION, ONE_MOVE, START]);
        setups.push(Setup { fen: "", moves: &long });
        for setup in setups {
            assert_eq!(strictly(&setup).fen(), setup.position().fen());
        }
        assert!(long.split_whitespace().count() > 150 && long.len() > 800);
        assert!(strictly(&CHECKMATE).has_no_moves() && strictly(&CHECKMATE).in_check());
        assert!(strictly(&STALEMATE).has_no_moves() && !strictly(&STALEMATE).in_check());
        assert!(strictly(&PROMOTION).legal_moves().iter().all(|mv| mv.promotion().is_some()));
        assert_eq!(strictly(&PROMOTION).legal_moves().len(), 4);
        for text in WEAK_MOVES {
            assert!(strictly(&MIDDLE_GAME).parse_move(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn special_positions_have_one_legal_move() {
        let one = |setup: &Setup<'_>| strictly(setup).legal_moves().len() == 1;
        let wrong: Vec<_> = SPECIAL.iter().filter(|setup| !one(setup)).collect();
        assert!(wrong.is_empty() && one(&ONE_MOVE), "{wrong:?}");
    }

    /// Returns the number of plies in which the side to move can force mate, or `None` if it cannot
    /// within `plies` plies.
    fn mate(position: &Position, plies: u32) -> Option<u32> {
        let moves = position.legal_moves();
        let replies = moves.iter().map(|mv| mated(&position.play(mv), plies.checked_sub(1)?));
        replies.flatten().min().map(|plies| plies + 1)
    }

    /// Returns the number of plies for which the side to move can delay mate, or `None` if it is
    /// not mated within `plies` plies.
    fn mated(position: &Position, plies: u32) -> Option<u32> {
        let moves = position.legal_moves();
        if moves.is_empty() {
            return position.in_check().then_some(0);
        }
        let replies = moves.iter().map(|mv| mate(&position.play(mv), plies.checked_sub(1)?));
        replies.collect::<Option<Vec<u32>>>()?.into_iter().max().map(|plies| plies + 1)
    }

    #[test]
    fn mate_distances_are_right() {
        for (distance, setup, depth) in MATES {
            let position = strictly(&setup);
            let plies = 2 * distance.unsigned_abs() - u32::from(distance > 0);
            let found = if distance > 0 { mate(&position, 3) } else { mated(&position, 2) };
            assert_eq!(found, Some(plies), "{setup:?}");
            assert!(depth > plies);
        }
    }
}
