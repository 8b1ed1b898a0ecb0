//! The entropy of the moves in a book, in bits per ply.
//!
//! This is the entropy of the next move at a ply, averaged over all positions that can occur there,
//! weighted by their frequency (C. E. Shannon, "A Mathematical Theory of Communication", 1948). One
//! bit corresponds to a coin toss between two moves. The sum over plies is the entropy of whole
//! openings, except that different move orders leading to the same position are not distinguished.

use crate::chess::position::{Game, KeyMap, Move};
use crate::games::book::choice::chooser::Chooser;
use crate::games::book::lookup::Book;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlyEntropy {
    /// The entropy of the next move, in bits, over the games in which the book has a move at this
    /// ply.
    pub bits: f64,
    /// The fraction of games in which the book has a move at this ply, from 0 to 1.
    pub covered: f64,
}

pub(crate) enum MoveSelection<'a> {
    /// The moves that an engine with the given policy would select from the book.
    Policy(&'a Chooser),
    /// The moves played in the book's games, weighted by their frequency.
    Games,
}

impl MoveSelection<'_> {
    fn chances(&self, book: &Book, game: &Game) -> Vec<(Move, f64)> {
        match self {
            MoveSelection::Policy(chooser) => {
                let candidates = chooser.candidates(book, game).into_iter();
                candidates.map(|candidate| (candidate.book_move.mv, candidate.chance)).collect()
            }
            MoveSelection::Games => {
                let entry = book.entry(game.position()).unwrap_or_default();
                let all: u64 = entry.moves.iter().map(|(_, played)| played.games()).sum();
                let share = |games: u64| games as f64 / all.max(1) as f64;
                entry.moves.iter().map(|&(mv, played)| (mv, share(played.games()))).collect()
            }
        }
    }
}

/// Computes the entropy of each of the first `plies` plies of a game from the start position.
pub(crate) fn entropy(book: &Book, selection: &MoveSelection<'_>, plies: usize) -> Vec<PlyEntropy> {
    let mut now: KeyMap<(Game, f64)> = KeyMap::default();
    let start = Game::default();
    now.insert(start.position().key(), (start, 1.0));
    (0..plies)
        .map(|_| {
            let mut next: KeyMap<(Game, f64)> = KeyMap::default();
            let (mut bits, mut covered) = (0.0, 0.0);
            for (game, weight) in now.values() {
                for (mv, chance) in selection.chances(book, game) {
                    if chance <= 0.0 || !game.position().is_legal(mv) {
                        continue;
                    }
                    bits -= weight * chance * chance.log2();
                    covered += weight * chance;
                    let key = game.position().play(mv).key();
                    let after = next.entry(key).or_insert_with(|| {
                        let mut after = game.clone();
                        after.play(mv).expect("the move is legal");
                        (after, 0.0)
                    });
                    after.1 += weight * chance;
                }
            }
            now = next;
            PlyEntropy { bits: if covered > 0.0 { bits / covered } else { 0.0 }, covered }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::book::builder::{BuildOptions, build_in_memory};
    use crate::games::book::choice::policy::Policy;
    use crate::games::pgn::PgnInput;

    #[test]
    fn entropy_is_one_bit_for_two_equal_moves_and_zero_for_one() {
        let text = "1. e4 e5 1-0\n\n1. e4 c5 1-0\n\n1. d4 d5 1-0\n\n1. d4 1-0\n\n";
        let games = PgnInput::Text("games".to_owned(), text.as_bytes().into());
        let book = build_in_memory(&[games], &BuildOptions::default(), "x").expect("a book").0;
        let found = entropy(&book, &MoveSelection::Games, 3);
        assert_eq!(found[0], PlyEntropy { bits: 1.0, covered: 1.0 });
        // Half of the games start with 1.e4, which has two replies, and the other half with 1.d4,
        // which has one.
        assert_eq!(found[1], PlyEntropy { bits: 0.5, covered: 1.0 });
        assert_eq!(found[2], PlyEntropy { bits: 0.0, covered: 0.0 });
        let best = Chooser::new(Policy::Random, 0);
        assert_eq!(entropy(&book, &MoveSelection::Policy(&best), 1), found[..1]);
        let off = Chooser::new(Policy::Off, 0);
        assert_eq!(entropy(&book, &MoveSelection::Policy(&off), 1)[0].covered, 0.0);
    }
}
