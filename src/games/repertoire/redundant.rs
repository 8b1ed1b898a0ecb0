//! Finds redundant lines: those whose moves all occur in earlier lines.

use std::collections::HashMap;

use super::graph::{Place, Repertoire};

/// A line that is redundant, because earlier lines contain each of its moves in the same position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redundant {
    /// The place of the first redundant move of the line. All moves after it are redundant as well.
    pub place: Place,
    /// The place at which an earlier line contains that move.
    pub covered: Place,
    /// The number of redundant moves in the line, including its variations.
    pub moves: usize,
}

impl Repertoire {
    /// Returns the redundant lines in movetext order. Lines within another redundant line are
    /// omitted.
    pub fn redundant_lines(&self) -> Vec<Redundant> {
        let (mut first, mut lines) = (HashMap::new(), Vec::new());
        for (chapter, text) in (0..).zip(&self.chapters) {
            let steps = &text.steps;
            // For each move that repeats an earlier one, and after which all moves do the same: the
            // place where it first occurred. `None` for all other moves.
            let mut covered: Vec<Option<Place>> = Vec::with_capacity(steps.len());
            for (step, played) in (0..).zip(steps) {
                let place = Place { chapter, step };
                let earlier = *first.entry((played.before, played.mv)).or_insert(place);
                covered.push(Some(earlier).filter(|&earlier| played.counts && earlier != place));
            }
            let mut sizes = vec![1; steps.len()];
            for (step, played) in steps.iter().enumerate().rev() {
                if let Some(parent) = played.parent.map(|parent| parent as usize) {
                    sizes[parent] += sizes[step];
                    if covered[step].is_none() {
                        covered[parent] = None;
                    }
                }
            }
            let is_inside = |parent: Option<u32>| {
                parent.is_some_and(|parent| covered[parent as usize].is_some())
            };
            for (step, played) in (0..).zip(steps) {
                if let Some(earlier) = covered[step as usize]
                    && !is_inside(played.parent)
                {
                    let (place, moves) = (Place { chapter, step }, sizes[step as usize]);
                    lines.push(Redundant { place, covered: earlier, moves });
                }
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use crate::chess::position::Color;
    use crate::games::pgn::PgnInput;
    use crate::games::repertoire::Repertoire;

    fn lines(text: &str) -> Vec<(u32, usize, usize)> {
        let input = PgnInput::Text("text".to_owned(), text.as_bytes().into());
        let repertoire = Repertoire::read(&[input], Color::White).expect("readable");
        let found = repertoire.redundant_lines();
        found
            .into_iter()
            .map(|line| (line.place.chapter, repertoire.line(line.place).len(), line.moves))
            .collect()
    }

    #[test]
    fn lines_are_redundant_if_every_move_is_known() {
        let first = "1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. e3 (4. Qc2 O-O) O-O *\n\n";
        // A line is not redundant if it only starts with the same moves as an earlier line, or if
        // it only reaches a position of an earlier line.
        assert_eq!(lines(&format!("{first}1. d4 d5 2. c4 *\n")), []);
        assert_eq!(lines(&format!("{first}1. c4 e6 2. d4 Nf6 *\n")), []);
        // The line transposes into the first one. Only the moves after the transposition are
        // redundant.
        let transposed =
            format!("{first}1. c4 e6 2. d4 Nf6 3. Nc3 Bb4 (3... d5 4. Bg5) 4. Qc2 *\n");
        assert_eq!(lines(&transposed), [(1, 6, 2)]);
        assert_eq!(lines(&format!("{first}1. d4 Nf6 2. c4 (2. Bg5) e6 *\n")), [(1, 3, 2)]);
        assert_eq!(lines(&format!("{first}{first}")), [(1, 1, 10)]);
        assert_eq!(lines("1. e4 e5 (1... e5 2. Nf3) 2. Nf3 Nc6 *\n"), []);
        assert_eq!(lines("1. e4 e5 (1... e5 2. Nf3) (1... c5) (1... c5) 2. Nf3 *\n").len(), 2);
        // Moves after a null move are ignored, because they do not belong to the repertoire.
        assert_eq!(lines("1. e4 -- 2. d4 *\n\n1. e4 -- 2. d4 *\n"), []);
    }
}
