//! The most probable line to each position of a repertoire.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::{Node, Repertoire};
use crate::chess::position::{KeyMap, Move, Position};
use crate::games::book::Book;

/// The most probable line to each position, stored as a tree. All lines through a position share
/// the same beginning.
pub(super) struct Lines {
    /// For each position, the key of the position before it and the move that connects them; `None`
    /// if a line starts here.
    last: KeyMap<Option<(u64, Move)>>,
    /// The keys of the positions at which lines begin.
    pub(super) starts: Vec<u64>,
}

impl Repertoire {
    /// Computes the most probable line to each position, taking the probabilities of the opponent's
    /// moves from a book. Repertoire moves that are not in the book are followed too, with
    /// probability 0.
    pub(super) fn lines(&self, book: &Book) -> Lines {
        let usual: Vec<u64> = self.starts().map(|node| node.position.key()).collect();
        let of_start = |key: u64| if usual.contains(&key) { 1.0 / usual.len() as f64 } else { 0.0 };
        let (mut lines, mut open) = (KeyMap::default(), BinaryHeap::new());
        for key in self.all_starts().map(|node| node.position.key()) {
            open.push((of_start(key).to_bits(), Reverse((0, None)), key));
        }
        // This is Dijkstra's algorithm. The heap stores the bit patterns of the probabilities as
        // integers, because they sort in the same order as non-negative floats.
        while let Some((bits, Reverse((plies, last)), key)) = open.pop() {
            if lines.contains_key(&key) {
                continue;
            }
            lines.insert(key, last);
            for (mv, share) in
                self.node_of_key(key).into_iter().flat_map(|at| self.all_choices(at, book))
            {
                let after = self.node_of_key(key).map(|node| node.position.play(mv).key());
                if let Some(after) = after.filter(|&after| self.node_of_key(after).is_some()) {
                    let probability = f64::from_bits(bits) * share;
                    open.push((
                        probability.to_bits(),
                        Reverse((plies + 1, Some((key, mv)))),
                        after,
                    ));
                }
            }
        }
        let starts = self.all_starts().map(|node| node.position.key());
        let starts = starts.filter(|key| lines.get(key) == Some(&None)).collect();
        Lines { last: lines, starts }
    }

    /// Returns the moves in a position, each with its probability. Repertoire moves that are not in
    /// the book have probability 0.
    pub(super) fn all_choices(&self, node: &Node, book: &Book) -> Vec<(Move, f64)> {
        let mut choices = self.choices(&node.position, book);
        let is_new =
            |mv: Move, choices: &[(Move, f64)]| choices.iter().all(|&(other, _)| other != mv);
        for known in &node.moves {
            if is_new(known.mv, &choices) {
                choices.push((known.mv, 0.0));
            }
        }
        choices
    }
}

impl Lines {
    pub(super) fn ends_with(&self, before: u64, mv: Move, after: u64) -> bool {
        self.last.get(&after) == Some(&Some((before, mv)))
    }

    pub(super) fn line(&self, repertoire: &Repertoire, key: u64) -> (Position, Vec<Move>) {
        let (mut moves, mut at) = (Vec::new(), key);
        while let Some(&Some((before, mv))) = self.last.get(&at) {
            moves.push(mv);
            at = before;
        }
        moves.reverse();
        let start = repertoire.node_of_key(at).map_or_else(Position::start, |node| node.position);
        (start, moves)
    }
}
