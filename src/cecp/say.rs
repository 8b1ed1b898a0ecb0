//! What the engine tells, in words and numbers.

use crate::book::{Book, Candidate, Chooser, Counts, Policy};
use crate::engine::{Grounds, Moved, Progress, Transposed};
use crate::position::{Color, Game, Move, Outcome, OutcomeReason, Position};
use crate::search::Transposition;

use super::reply::{Extras, Thinking};
use super::text::to_protocol_score;

/// Why a game is over, in words that no GUI takes for a command.
pub fn reason(outcome: Outcome) -> &'static str {
    match (outcome.reason, outcome.winner) {
        (OutcomeReason::Checkmate, Some(Color::White)) => "White mates",
        (OutcomeReason::Checkmate, _) => "Black mates",
        (OutcomeReason::Stalemate, _) => "Stalemate",
        (OutcomeReason::InsufficientMaterial, _) => "Insufficient mating material",
        (OutcomeReason::FiftyMoves, _) => "Fifty-move rule",
        (OutcomeReason::Repetition, _) => "Threefold repetition",
    }
}

/// Moves in SAN, as long as they are legal.
pub fn line(position: &Position, moves: &[Move]) -> String {
    let mut position = *position;
    let mut words = Vec::with_capacity(moves.len());
    for &mv in moves {
        if !position.is_legal(mv) {
            break;
        }
        words.push(position.san(mv));
        position = position.play(mv);
    }
    words.join(" ")
}

/// A report of the search as thinking output. The expected move comes first when pondering.
pub(super) fn thinking(progress: &Progress) -> Thinking {
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

/// Put into a line where it enters the book: a comment to those who parse moves.
const BOOK_MARK: &str = "{book}";

/// The line of a report, marked where it enters the book.
fn marked_line(progress: &Progress, moves: &[Move]) -> String {
    let mut words = line(&progress.position, moves);
    if let Some(found) = &progress.report.book {
        let plies = progress.expected.iter().len() + found.line.len();
        let end = words.match_indices(' ').nth(plies - 1).map_or(words.len(), |(at, _)| at);
        words.insert_str(end, &format!(" {BOOK_MARK}"));
    }
    words
}

/// That the search has met the book, as thinking output: in the place of a line it is seen in
/// every GUI, and no GUI takes it for a command.
pub(super) fn transposed(transposed: &Transposed) -> Thinking {
    let Transposed { position, found, report } = transposed;
    let line = transposition(position, found);
    let Some(report) = report else { return Thinking { line, ..Thinking::default() } };
    let progress = Progress { position: *position, expected: None, report: report.clone() };
    Thinking { line, ..thinking(&progress) }
}

/// Where a line meets the book, in words.
pub fn transposition(position: &Position, found: &Transposition) -> String {
    let plies = found.line.len();
    let unit = if plies == 1 { "ply" } else { "plies" };
    let (line, games) = (line(position, &found.line), games(found.counts));
    format!("transposes to the book after {plies} {unit}: {line} ({games})")
}

/// The games that reached a position: the result of a single one, the counts of several.
fn games(counts: Counts) -> String {
    match (counts.games(), counts) {
        (1, Counts { white: 1, .. }) => "1 game, 1-0".to_owned(),
        (1, Counts { black: 1, .. }) => "1 game, 0-1".to_owned(),
        (1, Counts { draws: 1, .. }) => "1 game, 1/2-1/2".to_owned(),
        (1, _) => "1 line".to_owned(),
        (games, _) => format!("{games} games, {counts}"),
    }
}

/// A score in percent, as books have it.
fn percent(score: f64) -> String {
    format!("{:.0}%", 100.0 * score)
}

/// Moves of the book named in one line of thinking output.
const NAMED: usize = 6;

/// The moves of the book with their chances, as thinking output of a book move. GUIs know by the
/// parenthesis that nothing was searched.
pub(super) fn book_thinking(moved: &Moved) -> Option<Thinking> {
    let Grounds::Book(choice) = &moved.grounds else { return None };
    let mut open: Vec<&Candidate> =
        choice.candidates.iter().filter(|candidate| candidate.chance > 0.0).collect();
    open.sort_by(|a, b| b.chance.total_cmp(&a.chance));
    let word = |candidate: &&Candidate| {
        format!("{} {}", moved.position.san(candidate.book_move.mv), percent(candidate.chance))
    };
    let words: Vec<String> = open.iter().take(NAMED).map(word).collect();
    Some(Thinking { line: format!("(book: {})", words.join(", ")), ..Thinking::default() })
}

/// Why a move was played, where there is more to say than that it was searched.
pub(super) fn grounds(moved: &Moved) -> Option<String> {
    let choice = match &moved.grounds {
        Grounds::Book(choice) => choice,
        Grounds::Search(result) => {
            return result.book.as_ref().map(|found| transposition(&moved.position, found));
        }
    };
    let Candidate { book_move, score, chance, .. } = choice.chosen();
    let played = if book_move.played.is_empty() {
        "never played here".to_owned()
    } else {
        format!("played here {}", book_move.played)
    };
    Some(format!(
        "book move {}: position reached {}, {played}, score {}, chance {}, policy {}",
        moved.position.san(moved.mv),
        book_move.reached,
        percent(*score),
        percent(*chance),
        choice.policy,
    ))
}

/// The most that `bk` answers, in bytes: xboard copies it into 5,120 without looking.
const BOOK_REPLY: usize = 4000;

/// What the book knows of the current position.
pub fn book_lines(book: &Book, game: &Game) -> Vec<String> {
    let position = game.position();
    let candidates = Chooser::new(Policy::Prefer, 0).candidates(book, game);
    if candidates.is_empty() {
        return vec!["The book does not know this position.".to_owned()];
    }
    let mut lines = vec![
        format!("{} ({} positions)", book.name(), book.positions()),
        format!("{:7} {:>5}  {:24} {}", "move", "score", "played here", "position reached"),
    ];
    let mut length: usize = lines.iter().map(|line| line.len() + 2).sum();
    for (index, candidate) in candidates.iter().enumerate() {
        let book_move = &candidate.book_move;
        let mut line = format!(
            "{:7} {:>5}  {:24} {}",
            position.san(book_move.mv),
            percent(candidate.score),
            book_move.played.to_string(),
            book_move.reached
        );
        if let Some(rejection) = candidate.rejected {
            line.push_str(&format!(" ({rejection})"));
        }
        length += line.len() + 2;
        if length > BOOK_REPLY {
            lines.push(format!("and {} more", candidates.len() - index));
            break;
        }
        lines.push(line);
    }
    lines
}
