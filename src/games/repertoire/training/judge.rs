//! Compares answers with the repertoire. Where the repertoire ends, judges them by the engine
//! values in the book, a search, or game results.

use std::cmp::Reverse;

use super::journal::Verdict;
use crate::chess::position::{Game, Move, Position};
use crate::chess::score::Score;
use crate::games::book::{Book, Chooser, MAX_LOSS, Policy, Rejection};
use crate::games::repertoire::{Proposal, Repertoire, Search, Searched};

/// The maximum number of good moves to list where a repertoire ends.
const LISTED: usize = 3;

/// What a reference book contains about a move of the player, and what a search found about it.
#[derive(Debug, Clone, PartialEq)]
pub struct MoveFacts {
    /// The move.
    pub mv: Move,
    /// The number of games that reached the position after the move, via any move order.
    pub games: u64,
    /// The player's average score per game in these games, from 0 to 1.
    pub score: f64,
    /// The engine value of the move in centipawns from the player's point of view, if it was
    /// analysed or searched.
    pub value: Option<Score>,
    /// The opponent's best reply, or the most common one if the position after the move was not
    /// analysed.
    pub reply: Option<ReplyFacts>,
    /// The opponent's best reply and the moves expected after it, if the move was searched.
    pub line: Vec<Move>,
}

/// What a reference book contains about the opponent's reply to a move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplyFacts {
    /// The reply.
    pub mv: Move,
    /// Whether this is the best reply by engine value, rather than the most common one.
    pub is_best: bool,
    /// The share of games with this reply, among the games that continue after the move.
    pub share: f64,
}

/// The evaluation of an answer.
pub(super) struct Ruling {
    pub verdict: Verdict,
    /// How much worse the move is than the best move, in centipawns, if known.
    pub loss: Option<Score>,
    /// The repertoire's moves or, where the repertoire ends, good moves. The preferred move comes
    /// first.
    pub expected: Vec<Move>,
    /// The results of searches, whose lines begin with the player's move or the best move.
    pub searched: Vec<Searched>,
}

/// Returns what `book` contains about a move, and what the search in `searched` whose line begins
/// with this move has found.
pub(super) fn facts(
    book: &Book,
    position: &Position,
    mv: Move,
    searched: &[Searched],
) -> MoveFacts {
    let searched = searched.iter().find(|found| found.best() == Some(mv));
    let after = position.play(mv);
    let reached = book.reached(&after).unwrap_or_default();
    let replies = book.moves(&after);
    let total: u64 = replies.iter().map(|reply| reply.played.games()).sum();
    let share = |mv: Move| {
        let played = replies.iter().find(|reply| reply.mv == mv);
        played.map_or(0.0, |reply| reply.played.games() as f64 / total.max(1) as f64)
    };
    let reply = Proposal::find(book, &after).map(|proposal| {
        let (mv, is_best) = match proposal {
            Proposal::Value(mv, _) => (mv, true),
            Proposal::Games(mv, _) => (mv, false),
        };
        ReplyFacts { mv, is_best, share: share(mv) }
    });
    MoveFacts {
        mv,
        games: reached.games(),
        score: reached.score(position.side_to_move()),
        value: value_of(book, position, mv).or(searched.map(|found| found.score)),
        reply,
        line: searched.map_or_else(Vec::new, |found| found.line[1..].to_vec()),
    }
}

pub(super) fn rule(
    repertoire: &Repertoire,
    book: &Book,
    position: &Position,
    mv: Move,
    search: Option<&mut Search<'_>>,
) -> Ruling {
    let leads_back = repertoire.node(&position.play(mv)).is_some();
    let prepared = prepared(repertoire, position);
    if prepared.contains(&mv) {
        let (verdict, searched) = (Verdict::Right, Vec::new());
        return Ruling { verdict, loss: None, expected: prepared, searched };
    }
    let (loss, searched) = loss(book, position, mv, search);
    if !prepared.is_empty() {
        let verdict = if leads_back { Verdict::Transposes } else { Verdict::Wrong };
        return Ruling { verdict, loss, expected: prepared, searched };
    }
    let verdict = match loss {
        _ if leads_back => Verdict::Good,
        Some(loss) if loss <= MAX_LOSS => Verdict::Good,
        Some(_) => Verdict::Weak,
        None => by_games(book, position, mv),
    };
    let mut expected = good_moves(repertoire, book, position);
    let best = searched.first().and_then(Searched::best);
    if let Some(best) = best.filter(|best| !expected.contains(best)) {
        expected.insert(0, best);
    }
    Ruling { verdict, loss, expected, searched }
}

/// Returns the repertoire's moves in a position. If the repertoire is a book of games, the most
/// frequently played moves come first.
pub(super) fn prepared(repertoire: &Repertoire, position: &Position) -> Vec<Move> {
    let mut known: Vec<(u64, Move)> = repertoire
        .node(position)
        .into_iter()
        .flat_map(|node| node.moves.iter().map(|known| (known.weight, known.mv)))
        .collect();
    known.sort_by_key(|&(weight, _)| Reverse(weight));
    known.into_iter().map(|(_, mv)| mv).collect()
}

/// Returns good moves for a position in which the repertoire has no move. Moves that transpose back
/// into the repertoire come before book moves.
pub(super) fn good_moves(repertoire: &Repertoire, book: &Book, position: &Position) -> Vec<Move> {
    let legal = position.legal_moves();
    let leads_back = |mv: &Move| repertoire.node(&position.play(*mv)).is_some();
    let mut moves: Vec<Move> = legal.iter().filter(leads_back).collect();
    let mut candidates = chooser().candidates(book, &Game::new(*position));
    candidates.retain(|candidate| candidate.rejected.is_none());
    candidates.sort_by_key(|candidate| {
        Reverse((
            candidate.value,
            candidate.book_move.reached.games(),
            Reverse(candidate.book_move.mv),
        ))
    });
    let analysed = book.value(position).and_then(|value| value.best);
    let analysed = analysed.filter(|&mv| position.is_legal(mv));
    for mv in analysed.into_iter().chain(candidates.iter().map(|candidate| candidate.book_move.mv))
    {
        if !moves.contains(&mv) {
            moves.push(mv);
        }
    }
    moves.truncate(LISTED);
    moves
}

fn by_games(book: &Book, position: &Position, mv: Move) -> Verdict {
    let candidates = chooser().candidates(book, &Game::new(*position));
    match candidates.iter().find(|candidate| candidate.book_move.mv == mv) {
        Some(candidate) => match candidate.rejected {
            None => Verdict::Good,
            Some(Rejection::Worse | Rejection::Lost | Rejection::Loses) => Verdict::Weak,
            Some(_) => Verdict::Unknown,
        },
        None => Verdict::Unknown,
    }
}

fn chooser() -> Chooser {
    Chooser::new(Policy::Prefer, 0)
}

/// Returns how much worse `mv` is than the best move, in centipawns. If this required searches, also
/// returns their results: first that of all moves, then that of `mv` if it is not the best move.
fn loss(
    book: &Book,
    position: &Position,
    mv: Move,
    search: Option<&mut Search<'_>>,
) -> (Option<Score>, Vec<Searched>) {
    if let (Some(best), Some(value)) = (book.value(position), value_of(book, position, mv)) {
        return (Some((best.score - value).max(0)), Vec::new());
    }
    let Some(search) = search else { return (None, Vec::new()) };
    let best = search(position, Vec::new());
    if best.best() == Some(mv) {
        return (Some(0), vec![best]);
    }
    let played = search(position, vec![mv]);
    (Some((best.score - played.score).max(0)), vec![best, played])
}

fn value_of(book: &Book, position: &Position, mv: Move) -> Option<Score> {
    let outside = || book.value(position)?.outside.filter(|&(other, _)| other == mv);
    book.value_of_move(position, mv).or_else(|| Some(outside()?.1))
}
