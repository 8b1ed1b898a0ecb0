//! Search results as JSON: the lines, with book data for their positions.

use serde::Serialize;

use super::loaded_books::Content;
use crate::chess::notation::{NamedMove, ScoreAnswer};
use crate::chess::position::{Move, Position};
use crate::engine::search::{Bound, Report, Transposition};
use crate::games::book::{Counts, NamedOpening};

#[derive(Debug, Serialize)]
struct BookPlace {
    /// The number of plies from the root.
    plies: usize,
    fen: String,
    #[serde(rename = "selfPlay")]
    self_play: bool,
    reached: Counts,
    opening: Option<NamedOpening>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LineAnswer {
    /// The 1-based rank of the line.
    number: usize,
    depth: i32,
    selective_depth: usize,
    score: ScoreAnswer,
    bound: &'static str,
    nodes: u64,
    milliseconds: u64,
    moves: Vec<NamedMove>,
    /// For each move, the number of games that reached the resulting position via any move order.
    games: Vec<u64>,
    /// The 1-based plies of the line whose resulting positions are in the book.
    in_book: Vec<usize>,
    /// The 1-based ply of the first novelty: the first move that leaves the book at a position from
    /// which games in the book continue.
    novelty: Option<usize>,
    /// The first position where the line enters the book from outside, or `None` if it never does.
    transposes: Option<BookPlace>,
}

impl LineAnswer {
    pub(super) fn new(content: &Content, root: &Position, report: &Report) -> Self {
        let BookOnLine { games, novelty, transposes } = book_on(content, root, &report.pv);
        LineAnswer {
            number: report.multi_pv,
            depth: report.depth,
            selective_depth: report.selective_depth,
            score: report.score.into(),
            bound: bound_name(report.bound),
            nodes: report.nodes,
            milliseconds: u64::try_from(report.elapsed.as_millis()).unwrap_or(u64::MAX),
            moves: NamedMove::line(root, &report.pv),
            in_book: (1..)
                .zip(&games)
                .filter(|(_, games)| **games > 0)
                .map(|(ply, _)| ply)
                .collect(),
            games,
            novelty,
            transposes,
        }
    }
}

fn bound_name(bound: Bound) -> &'static str {
    match bound {
        Bound::Exact => "exact",
        Bound::Lower => "lower",
        Bound::Upper => "upper",
    }
}

/// The value of a book move.
#[derive(Debug, Serialize)]
pub(super) struct MoveValueAnswer {
    #[serde(flatten)]
    mv: NamedMove,
    depth: i32,
    score: ScoreAnswer,
}

impl MoveValueAnswer {
    /// Returns `None` if the score is only a bound.
    pub(super) fn new(root: &Position, report: &Report) -> Option<Self> {
        let &mv = report.pv.first().filter(|_| report.bound == Bound::Exact)?;
        let (depth, score) = (report.depth, report.score.into());
        Some(MoveValueAnswer { mv: NamedMove::new(root, mv), depth, score })
    }
}

/// Book data for the positions along a line.
#[derive(Debug, Default)]
struct BookOnLine {
    games: Vec<u64>,
    novelty: Option<usize>,
    /// The first position where the line enters the book from outside, or `None` if it never does.
    transposes: Option<BookPlace>,
}

fn book_on(content: &Content, root: &Position, line: &[Move]) -> BookOnLine {
    let (mut position, mut is_known) = (*root, content.book.reached(root).is_some());
    let mut found = BookOnLine::default();
    for (&mv, plies) in line.iter().zip(1..) {
        let Some(next) = position.try_play(mv) else { break };
        let reached = content.book.reached(&next);
        found.games.push(reached.map_or(0, |reached| reached.games()));
        if let Some(reached) = reached.filter(|_| !is_known && found.transposes.is_none()) {
            found.transposes = Some(BookPlace {
                plies,
                fen: next.fen(),
                self_play: content.book.counts_self_play(&next),
                reached,
                opening: content.names.get(&next).cloned(),
            });
        }
        if reached.is_none() && is_known && found.novelty.is_none() {
            found.novelty = continues(content, &position).then_some(plies);
        }
        (position, is_known) = (next, reached.is_some());
    }
    found
}

/// Returns whether any game in the book continues from a position. At the book's maximum depth none
/// does, so leaving the book there is not a novelty.
fn continues(content: &Content, position: &Position) -> bool {
    content.book.moves(position).iter().any(|found| !found.played.is_empty())
}

/// A transposition into the book, as reported by the search.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TranspositionAnswer {
    moves: Vec<NamedMove>,
    /// Whether the line starts outside the book, or leaves it and later transposes back.
    from_outside: bool,
    fen: String,
    self_play: bool,
    reached: Counts,
    opening: Option<NamedOpening>,
    value: Option<ScoreAnswer>,
    text: String,
}

impl TranspositionAnswer {
    pub(super) fn new(content: &Content, root: &Position, found: &Transposition) -> Self {
        let (mut end, mut from_outside) = (*root, false);
        for &mv in &found.line {
            from_outside |= content.book.reached(&end).is_none();
            end = end.play(mv);
        }
        TranspositionAnswer {
            moves: NamedMove::line(root, &found.line),
            from_outside,
            fen: end.fen(),
            self_play: content.book.counts_self_play(&end),
            reached: found.counts,
            opening: content.names.get(&end).cloned(),
            value: found.value.as_ref().map(|value| value.score.into()),
            text: found.describe(root),
        }
    }
}
