//! Backs up search scores through the graph of analysed positions.
//!
//! The value of a position is the highest score among its moves. A move to another analysed
//! position scores the negated value of that position. Of the other moves, only the best counts,
//! with its score from the search. If the graph has cycles, this is a deterministic graphical game
//! in which endless play is a draw. Each position then has a unique value: the result of play that
//! is stopped after n moves and scored as a draw, for any n that is at least the number of
//! positions. All values therefore start as draws and are updated until none changes.
//!
//! Source: A. R. Washburn, "Deterministic graphical games", Journal of Mathematical Analysis and
//! Applications 153 (1990).

use std::collections::VecDeque;
use std::ops::Range;

use crate::chess::position::{Move, Position};
use crate::chess::score::{DRAW, Depth, Score};
use crate::games::book::{BookValue, Scored, before};

/// The links between analysed positions: for each position, the legal moves that lead to another
/// analysed position.
#[derive(Debug)]
pub(crate) struct Links {
    /// For each position, the range of its links in `links`. Positions have the same indices as the
    /// values passed to [`back_up`].
    spans: Vec<Range<usize>>,
    links: Vec<(Move, u32)>,
}

impl Links {
    pub(crate) fn new(positions: usize) -> Self {
        Links { spans: vec![0..0; positions], links: Vec::new() }
    }

    /// Finds the links of the position with index `own`. `number` returns the index of the analysed
    /// position with a given key, if there is one.
    pub(crate) fn find(
        &mut self,
        own: u32,
        position: &Position,
        number: impl Fn(u64) -> Option<u32>,
    ) {
        let legal = position.legal_moves();
        let links = legal.iter().filter_map(|mv| Some((mv, number(position.play(mv).key())?)));
        self.set(own, links);
    }

    fn set(&mut self, own: u32, links: impl Iterator<Item = (Move, u32)>) {
        let begin = self.links.len();
        self.links.extend(links);
        self.spans[own as usize] = begin..self.links.len();
    }

    fn reversed(&self) -> Predecessors {
        let mut ends = vec![0; self.spans.len() + 1];
        self.links.iter().for_each(|&(_, to)| ends[to as usize + 1] += 1);
        for number in 1..ends.len() {
            ends[number] += ends[number - 1];
        }
        let (mut next, mut from) = (ends.clone(), vec![0; self.links.len()]);
        for own in 0..self.spans.len() {
            for &(_, to) in self.of(own) {
                from[next[to as usize]] = own as u32;
                next[to as usize] += 1;
            }
        }
        Predecessors { ends, from }
    }

    pub(crate) fn of(&self, number: usize) -> &[(Move, u32)] {
        &self.links[self.spans[number].clone()]
    }
}

struct Predecessors {
    /// For each position, the index in `from` of its first predecessor. A final entry contains the
    /// length of `from`.
    ends: Vec<usize>,
    from: Vec<u32>,
}

impl Predecessors {
    fn of(&self, number: usize) -> &[u32] {
        &self.from[self.ends[number]..self.ends[number + 1]]
    }
}

fn leads_out(&(mv, _): &Scored, links: &[(Move, u32)]) -> bool {
    links.iter().all(|&(known, _)| known != mv)
}

fn best(value: &BookValue, links: &[(Move, u32)], scores: &[Score]) -> Option<Scored> {
    let within = links.iter().map(|&(mv, to)| (mv, before(scores[to as usize])));
    // If the best outside move now leads to an analysed position, its old score is ignored, because
    // `within` contains that position's value.
    let outside = value.outside.filter(|found| leads_out(found, links));
    within.chain(outside).reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// Sets the score, best move and depth of each value. `links` must be in the same order as
/// `values`.
pub(crate) fn back_up(values: &mut [BookValue], links: &Links) {
    set_outside(values, links);
    // A position without legal moves keeps its score, that of checkmate or stalemate.
    let begin = |(number, value): (usize, &BookValue)| {
        let is_over = links.of(number).is_empty() && value.own.is_none() && value.outside.is_none();
        if is_over { value.score } else { DRAW }
    };
    let mut scores: Vec<Score> = values.iter().enumerate().map(begin).collect();
    // Each iteration looks one move further ahead. After the first iteration, only positions that
    // have a successor with a changed score need an update.
    let before = links.reversed();
    let mut due: Vec<u32> = (0..values.len() as u32).collect();
    let mut is_due = vec![false; values.len()];
    for _ in 0..=values.len() {
        let after = |&number: &u32| {
            let at = number as usize;
            let (_, score) = best(&values[at], links.of(at), &scores)?;
            (score != scores[at]).then_some((number, score))
        };
        let changed: Vec<(u32, Score)> = due.iter().filter_map(after).collect();
        due.clear();
        for &(number, score) in &changed {
            scores[number as usize] = score;
            for &from in before.of(number as usize) {
                if !std::mem::replace(&mut is_due[from as usize], true) {
                    due.push(from);
                }
            }
        }
        due.iter().for_each(|&number| is_due[number as usize] = false);
        if due.is_empty() {
            break;
        }
    }
    for (number, value) in values.iter_mut().enumerate() {
        value.best = best(value, links.of(number), &scores).map(|(mv, _)| mv);
        value.score = scores[number];
    }
    back_up_depths(values, links, &before);
}

/// If the best move found by the search over all moves leads out of the analysis, sets `outside` to
/// that move. A move that used to stay within the analysis can lead out of it if positions were
/// removed or if the values come from a larger analysis.
fn set_outside(values: &mut [BookValue], links: &Links) {
    for (number, value) in values.iter_mut().enumerate() {
        let own = value.own.filter(|found| leads_out(found, links.of(number)));
        value.outside = own.or(value.outside);
    }
}

/// Sets the depth of each score to the minimum of the depth of the position's own searches and, for
/// each successor in the analysis, the successor's depth plus one.
fn back_up_depths(values: &mut [BookValue], links: &Links, before: &Predecessors) {
    values.iter_mut().for_each(|value| value.depth = value.own_depth);
    let mut due: VecDeque<u32> = (0..values.len() as u32).collect();
    while let Some(number) = due.pop_front() {
        let number = number as usize;
        let behind = links.of(number).iter().map(|&(_, to)| values[to as usize].depth + 1);
        let depth: Depth = behind.chain([values[number].depth]).min().unwrap_or(0);
        if depth != values[number].depth {
            values[number].depth = depth;
            due.extend(before.of(number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::score::{mate_in, mated_in};

    /// Computes the backed-up values of a graph of positions. Each position is given as the indices
    /// of its successors and the score of its best move that leaves the analysis.
    fn backed_up(positions: &[(&[u32], Option<Score>)]) -> Vec<BookValue> {
        let moves: Vec<Move> = Position::start().legal_moves().iter().collect();
        let (mut links, mut values) = (Links::new(positions.len()), Vec::new());
        for (number, (to, outside)) in positions.iter().enumerate() {
            links.set(number as u32, moves.iter().copied().zip(to.iter().copied()));
            values.push(BookValue {
                key: values.len() as u64,
                score: mated_in(0),
                best: None,
                outside: outside.map(|score| (moves[moves.len() - 1], score)),
                own: None,
                depth: 0,
                own_depth: 20,
                nodes: 0,
            });
        }
        back_up(&mut values, &links);
        values
    }

    fn scores(positions: &[(&[u32], Option<Score>)]) -> Vec<Score> {
        backed_up(positions).iter().map(|value| value.score).collect()
    }

    #[test]
    fn score_is_that_of_the_best_move() {
        // Position 0 has a move to position 1 (worth 30), a move to position 2 (worth -50), and a
        // move out of the analysis (worth 10).
        let values = [(&[1, 2][..], Some(10)), (&[], Some(-30)), (&[], Some(50))];
        assert_eq!(scores(&values), [30, -30, 50]);
        // The best move may be the one that leads out of the analysis.
        let values = [(&[1][..], Some(45)), (&[], Some(-30))];
        assert_eq!(scores(&values), [45, -30]);
    }

    #[test]
    fn mate_distances_are_relative_to_each_position() {
        let values = [(&[1][..], Some(0)), (&[2], None), (&[3], Some(0)), (&[], None)];
        assert_eq!(scores(&values), [mate_in(3), mated_in(2), mate_in(1), mated_in(0)]);
    }

    #[test]
    fn cycles_score_as_draws() {
        // Positions 0 and 1 lead to each other. Leaving the cycle scores worse than a draw for
        // either side.
        assert_eq!(scores(&[(&[1][..], Some(-20)), (&[0], Some(-20))]), [0, 0]);
        // Leaving the cycle scores better than a draw for the side to move in position 0.
        assert_eq!(scores(&[(&[1][..], Some(25)), (&[0], Some(-20))]), [25, -20]);
        assert_eq!(scores(&[(&[1][..], Some(25)), (&[0], Some(-40))]), [25, -25]);
        // Four positions form a cycle with no moves that leave it.
        assert_eq!(scores(&[(&[1][..], None), (&[2], None), (&[3], None), (&[0], None)]), [0; 4]);
    }

    #[test]
    fn depth_is_that_of_the_shallowest_compared_move() {
        let depths = |own: [Depth; 3]| {
            let mut links = Links::new(3);
            let mv: Move = "e2e4".parse().expect("a move");
            links.set(0, [(mv, 1)].into_iter());
            links.set(1, [(mv, 2)].into_iter());
            let mut values = backed_up(&[(&[], Some(0)), (&[], Some(0)), (&[], Some(0))]);
            values.iter_mut().zip(own).for_each(|(value, own)| value.own_depth = own);
            back_up(&mut values, &links);
            values.iter().map(|value| value.depth).collect::<Vec<_>>()
        };
        assert_eq!(depths([20, 20, 20]), [20, 20, 20]);
        assert_eq!(depths([20, 20, 9]), [11, 10, 9]);
        assert_eq!(depths([7, 20, 9]), [7, 10, 9]);
    }
}
