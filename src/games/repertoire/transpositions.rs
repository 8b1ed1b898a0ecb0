//! Finds positions that several chapters reach by different moves.

use std::collections::HashMap;

use super::graph::{Node, Repertoire};
use crate::chess::position::Move;

/// A position that at least two chapters reach from different positions. Positions that only follow
/// such a position are not listed.
#[derive(Debug, Clone)]
pub struct Transposition<'a> {
    /// The position.
    pub node: &'a Node,
    /// The ways in which chapters reach the position, in text order: one for each chapter and each
    /// position before it.
    pub arrivals: Vec<Arrival>,
}

/// A way in which a chapter reaches a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// The index of the chapter in [`Repertoire::chapters`].
    pub chapter: u32,
    /// The index of the move that leads to the position in [`super::Chapter::steps`]; `None` if
    /// the chapter starts in the position.
    pub step: Option<u32>,
    /// The chapter's moves in the position, without duplicates, in text order.
    pub moves: Vec<Move>,
}

/// An arrival, and the key of the position before it.
type Found = (Option<u64>, Arrival);

impl Repertoire {
    /// Returns the positions that several chapters reach by different moves, in the order in which
    /// the repertoire's lines first reach them.
    pub fn transpositions(&self) -> Vec<Transposition<'_>> {
        let mut arrivals = self.arrivals();
        arrivals.retain(|_, found| is_transposition(found));
        for (chapter, text) in (0..).zip(&self.chapters) {
            for played in text.steps.iter().filter(|played| played.counts) {
                let found = arrivals.get_mut(&played.before).into_iter().flatten();
                for (_, arrival) in found.filter(|(_, arrival)| arrival.chapter == chapter) {
                    if !arrival.moves.contains(&played.mv) {
                        arrival.moves.push(played.mv);
                    }
                }
            }
        }
        let rows = self.nodes().filter_map(|node| {
            let found = arrivals.remove(&node.position.key())?;
            let arrivals = found.into_iter().map(|(_, arrival)| arrival).collect();
            Some(Transposition { node, arrivals })
        });
        rows.collect()
    }

    /// Returns the arrivals at each position, by position key.
    fn arrivals(&self) -> HashMap<u64, Vec<Found>> {
        let mut arrivals: HashMap<u64, Vec<Found>> = HashMap::new();
        for (chapter, text) in (0..).zip(&self.chapters) {
            let mut add = |key, before, step| {
                let found = arrivals.entry(key).or_default();
                let own = found.iter().rev().take_while(|(_, known)| known.chapter == chapter);
                if !own.map(|(known, _)| known).any(|known| *known == before) {
                    found.push((before, Arrival { chapter, step, moves: Vec::new() }));
                }
            };
            add(text.game.start.key(), None, None);
            for (step, played) in (0..).zip(&text.steps).filter(|(_, played)| played.counts) {
                add(played.after, Some(played.before), Some(step));
            }
        }
        arrivals
    }
}

fn is_transposition(found: &[Found]) -> bool {
    let differs = |other: &Found| other.1.chapter != found[0].1.chapter;
    found.iter().any(differs) && found.iter().any(|(before, _)| *before != found[0].0)
}

#[cfg(test)]
mod tests {
    use crate::chess::position::Color;
    use crate::games::pgn::PgnInput;
    use crate::games::repertoire::Repertoire;

    /// Returns each arrival as the chapter, the number of moves to the position, and the number of
    /// moves that follow.
    fn found(text: &str) -> Vec<Vec<(u32, usize, usize)>> {
        let input = PgnInput::Text("text".to_owned(), text.as_bytes().into());
        let repertoire = Repertoire::read(&[input], Color::White).expect("readable");
        let rows = repertoire.transpositions().into_iter().map(|row| {
            let arrivals = row.arrivals.into_iter().map(|at| {
                let line = at.step.map_or(0, |step| {
                    let place = crate::games::repertoire::Place { chapter: at.chapter, step };
                    repertoire.line(place).len()
                });
                (at.chapter, line, at.moves.len())
            });
            arrivals.collect()
        });
        rows.collect()
    }

    #[test]
    fn chapters_that_meet_by_different_moves_are_found() {
        let first = "1. d4 Nf6 2. c4 e6 3. Nc3 (3. Nf3) Bb4 *\n\n";
        // The chapters stay together after the position in which they meet.
        let other = "1. c4 e6 2. d4 Nf6 3. Nc3 Bb4 4. e3 *\n\n";
        assert_eq!(found(&format!("{first}{other}")), [vec![(0, 4, 2), (1, 4, 1)]]);
        assert!(found(&format!("{first}{first}")).is_empty());
        assert!(found("1. d4 d5 (1... Nf6 2. c4 d5) 2. c4 Nf6 3. Nc3 *\n").is_empty());
        assert!(found("1. d4 -- 2. c4 *\n\n1. c4 -- 2. d4 *\n").is_empty());
        let fen = "rnbqkb1r/pppp1ppp/4pn2/8/2PP4/8/PP2PPPP/RNBQKBNR w KQkq - 0 3";
        let ending = format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n\n3. g3 *\n\n");
        assert_eq!(found(&format!("{first}{ending}")), [vec![(0, 4, 2), (1, 0, 1)]]);
    }
}
