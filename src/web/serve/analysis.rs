//! Live analysis: runs an engine search and sends its lines as server-sent events.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::Event;
use serde::Serialize;
use tokio::sync::{mpsc, watch};

use super::api_error::ApiError;
use super::json::NamedMove;
use super::limits::{DEFAULT_SEARCH_SECONDS, MAX_LINES, MAX_SEARCH_SECONDS, SEARCH_MEMORY_MB};
use super::loaded_books::Content;
use super::query::Query;
use super::searches::{Ending, Searches, Stop, client_name};
use crate::chess::notation::ScoreAnswer;
use crate::chess::position::{Game, Move, Position};
use crate::engine::search::{
    BookSearch, Bound, Config, Limits, Report, SearchEvent, Searcher, Transposition,
};
use crate::games::book::{Counts, NamedOpening};

#[derive(Debug)]
pub(super) struct AnalysisRequest {
    game: Game,
    time: Duration,
    lines: usize,
    client: String,
}

impl AnalysisRequest {
    pub(super) fn of(mut query: Query) -> Result<Self, ApiError> {
        let game = query.game()?;
        let seconds = query.number("seconds", (1, MAX_SEARCH_SECONDS))?;
        let lines = query.number("lines", (1, MAX_LINES as u64))?.unwrap_or(1);
        let client = client_name(&mut query)?;
        query.finish()?;
        if game.position().has_no_moves() {
            return Err(ApiError::bad_request("the game is over: there is no move to search"));
        }
        let time = Duration::from_secs(seconds.unwrap_or(DEFAULT_SEARCH_SECONDS));
        Ok(AnalysisRequest { game, time, lines: lines as usize, client })
    }
}

/// Starts a search and returns its events. Dropping the receiver stops the search, and so does a
/// later search for the same client.
pub(crate) async fn start(
    searches: &Arc<Searches>,
    content: &Arc<Content>,
    address: IpAddr,
    query: Query,
    closing: watch::Receiver<bool>,
) -> Result<mpsc::Receiver<Event>, ApiError> {
    let order = AnalysisRequest::of(query)?;
    let client = (address, order.client.clone());
    let content = Arc::clone(content);
    let time = order.time;
    searches
        .start(client, time, closing, move |stop, sender| search(&content, &order, stop, sender))
        .await
}

fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).data(serde_json::to_string(data).unwrap_or_default())
}

fn search(
    content: &Content,
    order: &AnalysisRequest,
    stop: &Stop,
    sender: &mpsc::Sender<Event>,
) -> Event {
    let control = stop.switch().control();
    let config = Config {
        memory_mb: SEARCH_MEMORY_MB,
        book: Some(content.book.clone()),
        book_search: BookSearch::Value,
        ..Config::default()
    };
    let root = order.game.position();
    let limits = Limits { multi_pv: order.lines, ..Limits::default() };
    // The search must not wait for its client, so a slow client gets fewer lines.
    let send = |event: Event| drop(sender.try_send(event));
    let mut listen = |search_event: &SearchEvent| match search_event {
        SearchEvent::Iteration(report) | SearchEvent::NewBest(report) => {
            send(event("line", &LineAnswer::new(content, root, report)));
        }
        SearchEvent::Transposition(found) => {
            send(event("transposition", &TranspositionAnswer::new(content, root, found)));
        }
        SearchEvent::RootMove { .. } => {}
    };
    let result =
        Searcher::on_large_stack(config).search(&order.game, &limits, &control, &mut listen);
    let best = result.best.map(|mv| NamedMove::new(root, mv));
    let reason = stop.ending();
    event("end", &EndAnswer { best, depth: result.depth, nodes: result.nodes, reason })
}

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
struct LineAnswer {
    /// The rank of the line, counted from 1.
    number: usize,
    depth: i32,
    selective_depth: usize,
    score: ScoreAnswer,
    bound: &'static str,
    nodes: u64,
    milliseconds: u64,
    moves: Vec<NamedMove>,
    /// The numbers of plies after which the line is in the book.
    in_book: Vec<usize>,
    /// The first position where the line enters the book from outside.
    transposes: Option<BookPlace>,
}

impl LineAnswer {
    fn new(content: &Content, root: &Position, report: &Report) -> Self {
        let (in_book, transposes) = book_on(content, root, &report.pv);
        LineAnswer {
            number: report.multi_pv,
            depth: report.depth,
            selective_depth: report.selective_depth,
            score: report.score.into(),
            bound: match report.bound {
                Bound::Exact => "exact",
                Bound::Lower => "lower",
                Bound::Upper => "upper",
            },
            nodes: report.nodes,
            milliseconds: u64::try_from(report.elapsed.as_millis()).unwrap_or(u64::MAX),
            moves: NamedMove::line(root, &report.pv),
            in_book,
            transposes,
        }
    }
}

/// Returns where a line is in the book, in plies, and where it first enters the book from outside.
fn book_on(content: &Content, root: &Position, line: &[Move]) -> (Vec<usize>, Option<BookPlace>) {
    let (mut position, mut is_known) = (*root, content.book.reached(root).is_some());
    let (mut in_book, mut transposes) = (Vec::new(), None);
    for (index, &mv) in line.iter().enumerate() {
        if !position.is_legal(mv) {
            break;
        }
        position = position.play(mv);
        let plies = index + 1;
        let reached = content.book.reached(&position);
        if let Some(reached) = reached {
            in_book.push(plies);
            if !is_known && transposes.is_none() {
                let opening = content.names.get(&position).cloned();
                let fen = position.fen();
                let self_play = content.book.counts_self_play(&position);
                transposes = Some(BookPlace { plies, fen, self_play, reached, opening });
            }
        }
        is_known = reached.is_some();
    }
    (in_book, transposes)
}

/// A transposition into the book, as reported by the search.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TranspositionAnswer {
    moves: Vec<NamedMove>,
    /// Whether an earlier position in the line is outside the book.
    from_outside: bool,
    fen: String,
    self_play: bool,
    reached: Counts,
    opening: Option<NamedOpening>,
    value: Option<ScoreAnswer>,
    text: String,
}

impl TranspositionAnswer {
    fn new(content: &Content, root: &Position, found: &Transposition) -> Self {
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

#[derive(Debug, Serialize)]
struct EndAnswer {
    best: Option<NamedMove>,
    depth: i32,
    nodes: u64,
    reason: Ending,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::book::{Book, Names};

    #[test]
    fn search_ends_on_time_without_a_reader() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let (book, names) = (Book::embedded(), Names::embedded());
            let content =
                Content { book, names, sources: Vec::new(), games: Vec::new(), tag: String::new() };
            let (searches, (_open, closing)) = (Arc::new(Searches::new(1)), watch::channel(false));
            let query = "/analysis?seconds=2&lines=5".parse().expect("an address");
            let query = Query::of(&query).expect("a query");
            let address = IpAddr::from([127, 0, 0, 1]);
            let started = start(&searches, &Arc::new(content), address, query, closing).await;
            let mut events = started.expect("started");
            while searches.count() > 0 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            let mut last = None;
            while let Some(event) = events.recv().await {
                last = Some(format!("{event:?}"));
            }
            assert!(last.is_some_and(|event| event.contains("end")), "the end is missing");
        });
    }
}
