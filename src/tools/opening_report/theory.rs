//! The theory table, which describes each position after the report's position exactly once, even
//! if several move orders lead to it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde::Serialize;

use crate::chess::notation::{NamedMove, ScoreAnswer};
use crate::chess::position::{Color, Position};
use crate::games::book::{
    Book, BookMove, Breadth, Counts, FacetFilter, MoveStats, NamedOpening, Names,
};

/// The maximum number of rows, including rows that only refer to another row because their moves
/// transpose into its position.
pub(super) const MAX_ROWS: usize = 48;
/// The maximum number of plies after the report's position.
pub(super) const MAX_PLIES: usize = 12;
/// A move is included only if it was played in at least this fraction of the games that reached the
/// report's position.
pub(super) const MIN_SHARE: f64 = 0.01;

/// A row of the theory table: a move and the position it leads to. If another row already leads to
/// that position, `same_as` refers to that row, and only that row has continuations.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TheoryRow {
    /// The number of the row, counted from 1. Number 0 stands for the report's position.
    pub(super) number: usize,
    /// The number of the row with the preceding move, or 0 for a move played from the report's
    /// position.
    pub(super) parent: usize,
    /// The ply of the move, counted from the report's position (1 for a move played from it).
    pub(super) ply: usize,
    #[serde(flatten)]
    pub(super) mv: NamedMove,
    pub(super) fen: String,
    /// The results of the games in which the move was played.
    pub(super) played: Counts,
    /// The results of the games that reached the position after the move via any move order.
    pub(super) reached: Counts,
    /// White's average score in the games counted in `reached`, in the range 0..=1.
    pub(super) score: f64,
    /// The book's evaluation of the move, from the mover's point of view.
    pub(super) value: Option<ScoreAnswer>,
    pub(super) opening: Option<NamedOpening>,
    /// The number of the row that already leads to the same position, if any; 0 means the report's
    /// position.
    pub(super) same_as: Option<usize>,
}

/// A move that may become a row. More frequent moves compare as greater, so the heap returns them
/// first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    games: u64,
    /// The ply of the move. Among equally frequent moves, the heap returns those at earlier plies
    /// first.
    ply: Reverse<usize>,
    /// The move's index in the order in which moves are found. It breaks the remaining ties: moves
    /// found earlier come first.
    found: Reverse<usize>,
    parent: usize,
}

/// Returns the moves of a position in the games that pass a filter.
fn moves(book: &Book, position: &Position, filter: &FacetFilter) -> Vec<BookMove> {
    if filter.is_everything() {
        return book.moves(position);
    }
    let to_move =
        |MoveStats { mv, played, reached }| BookMove { mv, played: played.counts, reached };
    book.explore(position, filter).moves.into_iter().map(to_move).collect()
}

/// Builds the table from the most frequent moves in the games that pass a filter, at any depth up
/// to [`MAX_PLIES`], with at most [`MAX_ROWS`] rows. Each row comes before the rows of its
/// continuations.
pub(super) fn rows(
    book: &Book,
    names: &Names,
    root: &Position,
    filter: &FacetFilter,
) -> Vec<TheoryRow> {
    let all = match filter.is_everything() {
        true => book.reached(root).unwrap_or_default(),
        false => book.explore_to(root, filter, Breadth::Played).reached.counts,
    };
    let all = all.games();
    let least = ((all as f64 * MIN_SHARE).ceil() as u64).max(1);
    // The report's position and the position after each row's move, indexed by row number, with
    // their plies.
    let mut places = vec![(*root, 0_usize)];
    let mut known = HashMap::from([(root.key(), 0_usize)]);
    // The moves in the order in which they are found.
    let mut found: Vec<BookMove> = Vec::new();
    let (mut rows, mut open) = (Vec::new(), BinaryHeap::new());
    let expand = |open: &mut BinaryHeap<Open>,
                  found: &mut Vec<BookMove>,
                  parent: usize,
                  (position, ply): (&Position, usize)| {
        for book_move in moves(book, position, filter) {
            let games = book_move.played.games();
            if games >= least && ply < MAX_PLIES {
                open.push(Open {
                    games,
                    ply: Reverse(ply + 1),
                    found: Reverse(found.len()),
                    parent,
                });
                found.push(book_move);
            }
        }
    };
    expand(&mut open, &mut found, 0, (root, 0));
    while rows.len() < MAX_ROWS
        && let Some(Open { parent, ply: Reverse(ply), found: Reverse(at), .. }) = open.pop()
    {
        let (before, _) = places[parent];
        let BookMove { mv, played, reached } = found[at];
        let after = before.play(mv);
        let number = rows.len() + 1;
        let same_as = known.get(&after.key()).copied();
        // A book can lack the position after a move.
        let reached = match filter.is_everything() {
            true => book.reached(&after).unwrap_or_default(),
            false => reached,
        };
        rows.push(TheoryRow {
            number,
            parent,
            ply,
            mv: NamedMove::new(&before, mv),
            fen: after.fen(),
            played,
            reached,
            score: reached.score(Color::White),
            value: book.value_of_move(&before, mv).map(ScoreAnswer::from),
            opening: names.get(&after).cloned(),
            same_as,
        });
        places.push((after, ply));
        if same_as.is_none() {
            known.insert(after.key(), number);
            expand(&mut open, &mut found, number, (&after, ply));
        }
    }
    in_order(&rows)
}

/// Returns the rows in depth-first order, so that each row precedes its continuations, and
/// renumbers them.
fn in_order(rows: &[TheoryRow]) -> Vec<TheoryRow> {
    let mut order = Vec::with_capacity(rows.len());
    let mut open = vec![0];
    while let Some(number) = open.pop() {
        if number > 0 {
            order.push(number);
        }
        open.extend(rows.iter().rev().filter(|row| row.parent == number).map(|row| row.number));
    }
    let mut numbers = vec![0; rows.len() + 1];
    order.iter().zip(1..).for_each(|(&old, new)| numbers[old] = new);
    let renumbered = |&old: &usize| TheoryRow {
        number: numbers[old],
        parent: numbers[rows[old - 1].parent],
        same_as: rows[old - 1].same_as.map(|same| numbers[same]),
        ..rows[old - 1].clone()
    };
    order.iter().map(renumbered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::book::{BuildOptions, build_in_memory};
    use crate::games::pgn::PgnInput;

    fn book(games: &str) -> Book {
        let games = PgnInput::Text("games".to_owned(), games.as_bytes().into());
        build_in_memory(&[games], &BuildOptions::default(), "games").expect("a book").0
    }

    #[test]
    fn transpositions_refer_to_the_row_of_the_position() {
        let book = book(
            "1. d4 Nf6 2. c4 e6 3. Nc3 1-0\n\n1. d4 Nf6 2. c4 e6 3. Nf3 1-0\n\n1. c4 Nf6 2. d4 e6 3. Nc3 0-1\n",
        );
        let rows = rows(&book, &Names::default(), &Position::start(), &FacetFilter::default());
        let text = |row: &TheoryRow| {
            let same = row.same_as.map_or(String::new(), |same| format!(" = {same}"));
            format!(
                "{} {}<{} {}/{}{same}",
                row.number,
                row.mv.san,
                row.parent,
                row.played.games(),
                row.reached.games()
            )
        };
        assert_eq!(
            rows.iter().map(text).collect::<Vec<_>>(),
            [
                "1 d4<0 2/2",
                "2 Nf6<1 2/2",
                "3 c4<2 2/3",
                "4 e6<3 3/3",
                "5 Nc3<4 2/2",
                "6 Nf3<4 1/1",
                "7 c4<0 1/1",
                "8 Nf6<7 1/1",
                "9 d4<8 1/3 = 3",
            ]
        );
        assert!((rows[2].score - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn repetition_refers_to_the_position_of_the_report() {
        let book = book("1. Nf3 Nf6 2. Ng1 Ng8 3. e4 1-0\n");
        let rows = rows(&book, &Names::default(), &Position::start(), &FacetFilter::default());
        let back = rows.iter().find(|row| row.mv.san.as_str() == "Ng8").expect("a row");
        assert_eq!(back.same_as, Some(0));
    }
}
