//! Converts engine events to xboard messages.

use crate::chess::notation;
use crate::chess::position::Move;
use crate::engine::controller::{MoveReason, Moved, SearchProgress, Transposed};
use crate::games::book::{BookValue, Candidate};
use crate::support::words::percent;

use super::reply::{Extras, Thinking};
use super::text::to_protocol_score;

/// Converts a search report to thinking output. While pondering, the principal variation is
/// preceded by the move expected from the opponent.
pub(super) fn thinking(progress: &SearchProgress) -> Thinking {
    let report = &progress.report;
    let moves: Vec<Move> = progress.expected.iter().chain(&report.pv).copied().collect();
    let microseconds = report.elapsed.as_micros().max(1);
    let speed = u128::from(report.nodes) * 1_000_000 / microseconds;
    Thinking {
        depth: report.depth,
        score: to_protocol_score(report.score),
        elapsed: report.elapsed,
        nodes: report.nodes,
        extras: Some(Extras {
            selective_depth: report.selective_depth as u32,
            speed: u64::try_from(speed).unwrap_or(u64::MAX),
            tablebase_hits: report.tablebase_hits,
        }),
        bound: report.bound,
        line: marked_line(progress, &moves),
    }
}

/// Marks the point where a principal variation enters the book. Programs that parse the moves treat
/// it as a comment.
const BOOK_MARK: &str = "{book}";

fn marked_line(progress: &SearchProgress, moves: &[Move]) -> String {
    let mut words = notation::line(&progress.position, moves);
    if let Some(found) = &progress.report.book {
        let plies = progress.expected.iter().len() + found.line.len();
        let end = words.match_indices(' ').nth(plies - 1).map_or(words.len(), |(at, _)| at);
        words.insert_str(end, &format!(" {BOOK_MARK}"));
    }
    words
}

/// Formats a transposition into the book as thinking output. The description replaces the principal
/// variation, because every GUI displays that field.
pub(super) fn transposed(transposed: &Transposed) -> Thinking {
    let Transposed { position, report, .. } = transposed;
    let line = transposed.describe();
    let Some(report) = report else { return Thinking { line, ..Thinking::default() } };
    let progress = SearchProgress { position: *position, expected: None, report: report.clone() };
    Thinking { line, ..thinking(&progress) }
}

const NAMED: usize = 6;

/// Returns thinking output for a move played without a search: the book moves with their
/// probabilities, or the stored analysis of the move. The text is in parentheses to show the user
/// that there was no search.
pub(super) fn book_thinking(moved: &Moved) -> Option<Thinking> {
    let choice = match &moved.move_reason {
        MoveReason::Book(choice) => choice,
        MoveReason::Analysed(value) => return Some(known_thinking(moved, value, "book")),
        MoveReason::Learned(unrefuted) => {
            return Some(known_thinking(moved, &unrefuted.value, "learnt"));
        }
        MoveReason::Search(_) => return None,
    };
    let mut open: Vec<&Candidate> =
        choice.candidates.iter().filter(|candidate| candidate.chance > 0.0).collect();
    open.sort_by(|a, b| b.chance.total_cmp(&a.chance));
    let word = |candidate: &&Candidate| {
        format!("{} {}", moved.position.san(candidate.book_move.mv), percent(candidate.chance))
    };
    let words: Vec<String> = open.iter().take(NAMED).map(word).collect();
    Some(Thinking { line: format!("(book: {})", words.join(", ")), ..Thinking::default() })
}

fn known_thinking(moved: &Moved, value: &BookValue, place: &str) -> Thinking {
    let (depth, score) = (value.depth, to_protocol_score(value.score));
    let line = format!("({place}: {})", moved.position.san(moved.mv));
    Thinking { depth, score, line, ..Thinking::default() }
}

pub(super) fn move_reason(moved: &Moved) -> Option<String> {
    let position = &moved.position;
    match &moved.move_reason {
        MoveReason::Book(choice) => Some(choice.describe(position)),
        MoveReason::Analysed(value) => Some(value.as_move_reason(position)),
        MoveReason::Learned(unrefuted) => Some(unrefuted.describe(position)),
        MoveReason::Search(result) => result.book.as_ref().map(|found| found.describe(position)),
    }
}
