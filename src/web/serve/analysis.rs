//! Live analysis: runs an engine search and sends its lines as server-sent events.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::response::sse::Event;
use serde::Serialize;
use tokio::sync::{mpsc, watch};

use super::analysis_store::{AnalysisStore, StoredAnalysis, keep};
use super::api_error::ApiError;
use super::engine_lines::{LineAnswer, MoveValueAnswer, TranspositionAnswer};
use super::limits::{
    DEFAULT_SEARCH_SECONDS, MAX_SEARCH_SECONDS, SEARCH_MEMORY_MB, SearchLimits, VALUE_NODES,
    VALUE_SHARE,
};
use super::loaded_books::Content;
use super::query::Query;
use super::searches::{Ending, Searches, Stop, client_name};
use crate::chess::notation::NamedMove;
use crate::chess::position::{Game, Move};
use crate::engine::search::{
    BookSearch, Bound, Config, Limits, Report, SearchEvent, Searcher, TimeLimit,
};

#[derive(Debug)]
pub(super) struct AnalysisRequest {
    game: Game,
    time: Duration,
    lines: usize,
    threads: usize,
    memory_mb: usize,
    /// Whether to start with a short search that evaluates the book moves.
    values: bool,
    client: String,
    limits: SearchLimits,
}

impl AnalysisRequest {
    pub(super) fn of(mut query: Query, limits: SearchLimits) -> Result<Self, ApiError> {
        let game = query.game()?;
        let seconds = query.number("seconds", (1, MAX_SEARCH_SECONDS))?;
        let mut number = |name, most: usize| query.number(name, (1, most as u64));
        let lines = number("lines", limits.lines)?.unwrap_or(1) as usize;
        let threads = number("threads", limits.threads)?.unwrap_or(1) as usize;
        let memory_mb = number("memory", limits.memory_mb)?.map(|number| number as usize);
        let values = query.flag("values")?.unwrap_or(false);
        let client = client_name(&mut query)?;
        query.finish()?;
        if game.position().has_no_moves() {
            return Err(ApiError::bad_request("the game is over: there is no move to search"));
        }
        let time = Duration::from_secs(seconds.unwrap_or(DEFAULT_SEARCH_SECONDS));
        let memory_mb = memory_mb.unwrap_or(SEARCH_MEMORY_MB.min(limits.memory_mb));
        Ok(AnalysisRequest { game, time, lines, threads, memory_mb, values, client, limits })
    }

    /// Returns the effort of a search that ran for `seconds`, in thread-seconds.
    fn effort(&self, seconds: u64) -> u64 {
        self.threads as u64 * seconds
    }
}

/// Starts a search and returns its events. Dropping the receiver or starting another search for the
/// same client stops the search.
pub(crate) async fn start(
    searches: &Arc<Searches>,
    (content, store): (&Arc<Content>, &Arc<AnalysisStore>),
    address: IpAddr,
    order: AnalysisRequest,
    closing: watch::Receiver<bool>,
) -> Result<mpsc::Receiver<Event>, ApiError> {
    let client = (address, order.client.clone());
    let (content, store, time) = (Arc::clone(content), Arc::clone(store), order.time);
    let search = move |stop: &Stop, sender: &mpsc::Sender<Event>| {
        Analysis { content: &content, store: &store, order: &order, stop, sender }.run()
    };
    searches.start(client, time, closing, search).await
}

fn data(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}

fn event(name: &str, data: impl AsRef<str>) -> Event {
    Event::default().event(name).data(data)
}

struct Analysis<'a> {
    content: &'a Content,
    store: &'a AnalysisStore,
    order: &'a AnalysisRequest,
    stop: &'a Stop,
    sender: &'a mpsc::Sender<Event>,
}

impl Analysis<'_> {
    /// Sends an event to the client. The event is dropped if the client's queue is full, so that
    /// the search never waits.
    fn send(&self, name: &str, data: &str) {
        let _ = self.sender.try_send(event(name, data));
    }

    /// Sends the stored analysis of the position, if there is one, and starts a search if the
    /// stored analysis is insufficient. Returns the final event.
    fn run(&self) -> Event {
        let (order, root) = (self.order, self.order.game.position());
        let stored = self.store.get(root, order.lines, order.limits.lines);
        if let Some(stored) = &stored {
            stored.values.iter().filter(|_| order.values).for_each(|data| self.send("value", data));
            stored.lines.iter().take(order.lines).for_each(|data| self.send("line", data));
            let has_values = !order.values || stored.has_values;
            if has_values && stored.effort >= order.effort(order.time.as_secs()) {
                return end(stored, Ending::Cached);
            }
        }
        let analysis = self.search(stored.as_ref());
        let deepest = match &stored {
            Some(stored) if stored.depth > analysis.depth => stored,
            _ => {
                self.store.put(root, order.lines, &analysis);
                &analysis
            }
        };
        end(deepest, self.stop.ending())
    }

    fn search(&self, stored: Option<&StoredAnalysis>) -> StoredAnalysis {
        let (order, root) = (self.order, self.order.game.position());
        let begin = Instant::now();
        let (threads, memory_mb) = (order.threads, order.memory_mb);
        let plain = Config { memory_mb, threads, ..Config::default() };
        let (book, book_search) = (Some(self.content.book.clone()), BookSearch::Value);
        let config = Config { book, book_search, ..plain.clone() };
        let mut searcher = Searcher::on_large_stack(plain);
        let known = stored.filter(|stored| stored.has_values).map(|stored| stored.values.clone());
        let has_values = known.is_some() || order.values;
        let values = match known {
            None if order.values => self.value_book_moves(&mut searcher),
            known => known.unwrap_or_default(),
        };
        searcher.configure(config);
        let known_depth = stored.map_or(0, |stored| stored.depth);
        let limits = Limits { multi_pv: order.lines, ..Limits::default() };
        let mut best: BTreeMap<usize, (Report, String)> = BTreeMap::new();
        let mut listen = |search_event: &SearchEvent| match search_event {
            SearchEvent::Iteration(report) | SearchEvent::NewBest(report) => {
                let line = data(&LineAnswer::new(self.content, root, report));
                // The client already has deeper lines.
                if report.depth >= known_depth {
                    self.send("line", &line);
                }
                if report.bound == Bound::Exact {
                    best.insert(report.multi_pv, (report.clone(), line));
                }
            }
            SearchEvent::Transposition(found) => {
                let answer = TranspositionAnswer::new(self.content, root, found);
                self.send("transposition", &data(&answer));
            }
            SearchEvent::RootMove { .. } => {}
        };
        let control = self.stop.switch().control();
        let result = searcher.search(&order.game, &limits, &control, &mut listen);
        let (reports, lines): (Vec<Report>, Vec<String>) = best.into_values().unzip();
        if let Some(kept) = &self.content.kept {
            keep(kept, root, &reports);
        }
        let seconds = match self.stop.ending() {
            Ending::Finished => MAX_SEARCH_SECONDS,
            Ending::Time => order.time.as_secs(),
            _ => begin.elapsed().as_secs(),
        };
        StoredAnalysis {
            effort: order.effort(seconds),
            best: result.best.map(|mv| NamedMove::new(root, mv)),
            depth: result.depth,
            nodes: result.nodes,
            lines,
            has_values,
            values,
        }
    }

    /// Runs a short search of only the book moves, and sends their values to the client. Returns
    /// the data of the last `value` event sent for each move.
    fn value_book_moves(&self, searcher: &mut Searcher) -> Vec<String> {
        let root = self.order.game.position();
        let moves = self.content.book.moves(root);
        let root_moves: Vec<Move> = moves.iter().map(|found| found.mv).collect();
        if root_moves.is_empty() {
            return Vec::new();
        }
        let mut values: BTreeMap<Move, String> = BTreeMap::new();
        let limits = Limits {
            nodes: Some(VALUE_NODES * root_moves.len() as u64),
            time: TimeLimit::MoveTime(self.order.time / VALUE_SHARE),
            multi_pv: root_moves.len(),
            root_moves,
            ..Limits::default()
        };
        let mut listen = |search_event: &SearchEvent| {
            let (SearchEvent::Iteration(report) | SearchEvent::NewBest(report)) = search_event
            else {
                return;
            };
            if let (Some(value), Some(&mv)) =
                (MoveValueAnswer::new(root, report), report.pv.first())
            {
                let value = data(&value);
                self.send("value", &value);
                values.insert(mv, value);
            }
        };
        let control = self.stop.switch().control();
        searcher.search(&self.order.game, &limits, &control, &mut listen);
        values.into_values().collect()
    }
}

#[derive(Debug, Serialize)]
struct EndAnswer<'a> {
    best: Option<&'a NamedMove>,
    depth: i32,
    nodes: u64,
    reason: Ending,
}

fn end(analysis: &StoredAnalysis, reason: Ending) -> Event {
    let &StoredAnalysis { depth, nodes, .. } = analysis;
    let best = analysis.best.as_ref();
    event("end", data(&EndAnswer { best, depth, nodes, reason }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::book::Book;

    #[test]
    fn search_ends_on_time_without_a_reader() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let content = Content::new(Book::embedded(), Vec::new());
            let (searches, (_open, closing)) = (Arc::new(Searches::new(1)), watch::channel(false));
            let query = "/analysis?seconds=2&lines=5".parse().expect("an address");
            let query = Query::of(&query).expect("a query");
            let order = AnalysisRequest::of(query, SearchLimits::new(true)).expect("an order");
            let (content, store) = (Arc::new(content), Arc::new(AnalysisStore::new()));
            let address = IpAddr::from([127, 0, 0, 1]);
            let started = start(&searches, (&content, &store), address, order, closing).await;
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
