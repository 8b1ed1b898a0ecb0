//! `/book/sources`: shows the results of a position in each book side by side.

use std::cmp::Reverse;

use serde::Serialize;

use super::api_error::ApiError;
use super::facets::{self, Dates};
use super::loaded_books::Content;
use super::query::Query;
use crate::chess::notation::NamedMove;
use crate::chess::position::{Move, Position};
use crate::games::book::{Breadth, Counts, MoveStats, Repeats};

#[derive(Debug, Serialize)]
pub(crate) struct SourcesAnswer {
    fen: String,
    sources: Vec<SourceAnswer>,
    /// The results of all games that reached the position in any book, or `None` if no book
    /// contributes to them.
    all: Option<Counts>,
    moves: Vec<SourceMove>,
}

#[derive(Debug, Serialize)]
struct SourceAnswer {
    name: String,
    /// The results of all games that reached the position, or `None` if there is a filter but the
    /// book has no facets.
    reached: Option<Counts>,
    /// Whether the counts are weights of moves instead of numbers of games. They are not part of
    /// the results of all books.
    weights: bool,
}

/// A move that was played in games of at least one book.
#[derive(Debug, Serialize)]
struct SourceMove {
    #[serde(flatten)]
    mv: NamedMove,
    /// The results of the move in all books together, or `None` if only books with weights have it.
    all: Option<SourceResults>,
    /// The results of the move in each book, or `None` for books in which it was not played.
    sources: Vec<Option<SourceResults>>,
}

#[derive(Debug, Serialize)]
struct SourceResults {
    played: Counts,
    /// The average result for the side to move, from 0 to 1, of the games in which this move was
    /// played.
    score: f64,
}

pub(crate) fn answer(content: &Content, mut query: Query) -> Result<SourcesAnswer, ApiError> {
    let filter = facets::read(&mut query, Dates::Months)?;
    let game = query.game()?;
    query.finish()?;
    let position = game.position();
    let mut sources = Vec::new();
    let mut found: Vec<Found> = Vec::new();
    for (name, book) in &content.sources {
        let skipped = !filter.is_everything() && !book.has_facets() && content.book.has_facets();
        let stats = match skipped {
            true => None,
            false => Some(facets::explore(book, position, &filter, Breadth::Played)?),
        };
        let (reached, moves) = stats.map(|stats| (stats.reached.counts, stats.moves)).unzip();
        let weights = book.holds_weights();
        let is_added = reached.is_some() && !weights;
        sources.push(SourceAnswer { name: name.clone(), reached, weights });
        found.push(Found { moves: moves.unwrap_or_default(), is_added });
    }
    let books = content.sources.iter().zip(&found).filter(|(_, found)| found.is_added);
    let books = books.map(|((_, book), _)| book);
    let repeats = content.common_games().repeats(books, position, &filter);
    let added = sources.iter().zip(&found).filter(|(_, found)| found.is_added);
    let all = sum(added.map(|(source, _)| source.reached), repeats.reached);
    Ok(SourcesAnswer { fen: position.fen(), sources, all, moves: rows(position, &found, &repeats) })
}

/// What was found in one book.
struct Found {
    moves: Vec<MoveStats>,
    /// Whether the results are part of those of all books.
    is_added: bool,
}

/// Adds the results of several books, and subtracts those of games counted more than once. Returns
/// `None` if there are no results.
fn sum(results: impl Iterator<Item = Option<Counts>>, repeated: Counts) -> Option<Counts> {
    let mut all = results.flatten().reduce(|one, other| one + other)?;
    all -= repeated;
    Some(all)
}

/// Returns the moves of all books, sorted by how often they were played in the first book, then in
/// the second, and so on.
fn rows(position: &Position, found: &[Found], repeats: &Repeats) -> Vec<SourceMove> {
    let played = |found: &Found, mv: Move| {
        let counts = found.moves.iter().find(|found| found.mv == mv);
        counts.map(|found| found.played.counts).filter(|counts| counts.games() > 0)
    };
    let legal = position.legal_moves();
    let rows = legal.iter().map(|mv| {
        let counts: Vec<Option<Counts>> = found.iter().map(|found| played(found, mv)).collect();
        (mv, counts)
    });
    let mut rows: Vec<(Move, Vec<Option<Counts>>)> =
        rows.filter(|(_, counts)| counts.iter().any(Option::is_some)).collect();
    rows.sort_by_key(|(_, counts)| {
        Reverse(
            counts
                .iter()
                .map(|counts| counts.as_ref().map_or(0, Counts::games))
                .collect::<Vec<u64>>(),
        )
    });
    let results = |played: Counts| SourceResults {
        played,
        score: (played.score(position.side_to_move()) * 1e4).round() / 1e4,
    };
    let row = |(mv, counts): (Move, Vec<Option<Counts>>)| {
        let added = counts.iter().zip(found).filter(|(_, found)| found.is_added);
        let all = sum(added.map(|(counts, _)| *counts), repeats.played(mv));
        SourceMove {
            mv: NamedMove::new(position, mv),
            all: all.map(results),
            sources: counts.into_iter().map(|counts| counts.map(results)).collect(),
        }
    };
    rows.into_iter().map(row).collect()
}
