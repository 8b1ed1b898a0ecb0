//! The engine's lines, live: a search whose news go out as server-sent events.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use axum::response::sse::Event;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use super::book_answer::ScoreAnswer;
use super::limits::{
    DEFAULT_SEARCH_SECONDS, MAX_CLIENT_NAME, MAX_LINES, MAX_SEARCH_SECONDS, MAX_SEARCHES,
    SEARCH_BACKLOG, SEARCH_MEMORY_MB,
};
use super::query::Query;
use super::refusal::Refusal;
use super::shape::{NamedMove, Opening, Results};
use super::shelf::Content;
use crate::position::{Game, Move, Position};
use crate::search::{
    BookSearch, Bound, Config, Control, Limits, Report, STACK_SIZE, SearchEvent, Searcher,
    Transposition,
};

/// How long a client waits for the search of another to make room, its own earlier one above all.
const PATIENCE: Duration = Duration::from_secs(2);

/// Who searches: the address, and the name that a page has given itself.
type Client = (IpAddr, String);

/// All searches that run.
#[derive(Debug)]
pub(crate) struct Searches {
    room: Arc<Semaphore>,
    running: Mutex<HashMap<Client, (u64, Control)>>,
    started: AtomicU64,
}

/// A search that is asked for.
#[derive(Debug)]
struct Order {
    game: Game,
    time: Duration,
    lines: usize,
    client: String,
}

impl Order {
    fn of(mut query: Query) -> Result<Self, Refusal> {
        let game = query.game()?;
        let seconds = query.number("seconds", (1, MAX_SEARCH_SECONDS))?;
        let lines = query.number("lines", (1, MAX_LINES as u64))?.unwrap_or(1);
        let client = query.text("client").unwrap_or_default();
        query.finish()?;
        if client.len() > MAX_CLIENT_NAME {
            return Err(Refusal::bad(format!("client: at most {MAX_CLIENT_NAME} bytes")));
        }
        if game.position().has_no_moves() {
            return Err(Refusal::bad("the game is over: there is no move to search"));
        }
        let time = Duration::from_secs(seconds.unwrap_or(DEFAULT_SEARCH_SECONDS));
        Ok(Order { game, time, lines: lines as usize, client })
    }
}

impl Searches {
    /// None yet.
    pub(crate) fn new() -> Self {
        Searches {
            room: Arc::new(Semaphore::new(MAX_SEARCHES)),
            running: Mutex::default(),
            started: AtomicU64::new(0),
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<Client, (u64, Control)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many run.
    pub(crate) fn count(&self) -> usize {
        self.running().len()
    }

    /// Starts a search; its events come out of the channel, whose end stops it. An earlier one of the
    /// same client ends.
    ///
    /// # Errors
    /// If the query is wrong, or too many searches run.
    pub(crate) async fn start(
        self: &Arc<Self>,
        content: &Arc<Content>,
        address: IpAddr,
        query: Query,
        closing: watch::Receiver<bool>,
    ) -> Result<mpsc::Receiver<Event>, Refusal> {
        let order = Order::of(query)?;
        let client = (address, order.client.clone());
        if let Some((_, earlier)) = self.running().get(&client) {
            earlier.stop();
        }
        let waiting = tokio::time::timeout(PATIENCE, Arc::clone(&self.room).acquire_owned());
        let Ok(Ok(permit)) = waiting.await else {
            return Err(Refusal::busy(format!(
                "{MAX_SEARCHES} searches run already: try again soon"
            )));
        };
        let control = Control::new();
        let number = self.started.fetch_add(1, Relaxed);
        // Whoever came in between has begun a search of its own.
        if let Some((_, earlier)) = self.running().insert(client.clone(), (number, control.clone()))
        {
            earlier.stop();
        }
        let ticket = Ticket { searches: Arc::clone(self), client, number, _permit: permit };
        let (sender, receiver) = mpsc::channel(SEARCH_BACKLOG);
        let (done, is_done) = oneshot::channel();
        tokio::spawn(stop_in_time(control.clone(), order.time, sender.clone(), is_done, closing));
        let content = Arc::clone(content);
        let search = move || {
            let _ticket = ticket;
            search(&content, &order, &control, &sender);
            drop(done);
        };
        let started = thread::Builder::new().stack_size(STACK_SIZE).spawn(search);
        started.map_err(|error| Refusal::busy(format!("no search can be started: {error}")))?;
        Ok(receiver)
    }
}

/// Room for one search, given back at its end.
#[derive(Debug)]
struct Ticket {
    searches: Arc<Searches>,
    client: Client,
    number: u64,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut running = self.searches.running();
        if running.get(&self.client).is_some_and(|(number, _)| *number == self.number) {
            running.remove(&self.client);
        }
    }
}

/// Stops a search after its time, when nobody listens any more, or when the server ends.
async fn stop_in_time(
    control: Control,
    time: Duration,
    sender: mpsc::Sender<Event>,
    is_done: oneshot::Receiver<()>,
    mut closing: watch::Receiver<bool>,
) {
    tokio::select! {
        () = sender.closed() => {}
        () = tokio::time::sleep(time) => {}
        _ = closing.wait_for(|&is_closing| is_closing) => {}
        _ = is_done => {}
    }
    control.stop();
}

/// Searches, and tells of it.
fn search(content: &Content, order: &Order, control: &Control, sender: &mpsc::Sender<Event>) {
    let config = Config {
        memory_mb: SEARCH_MEMORY_MB,
        book: Some(content.book.clone()),
        book_search: BookSearch::Value,
        ..Config::default()
    };
    let root = order.game.position();
    let limits = Limits { multi_pv: order.lines, ..Limits::default() };
    let tell = |name: &str, data: Result<String, serde_json::Error>| {
        let data = data.unwrap_or_default();
        if sender.blocking_send(Event::default().event(name).data(data)).is_err() {
            control.stop();
        }
    };
    let mut listen = |event: &SearchEvent| match event {
        SearchEvent::Iteration(report) | SearchEvent::NewBest(report) => {
            tell("line", serde_json::to_string(&LineAnswer::new(content, root, report)));
        }
        SearchEvent::Transposition(found) => {
            let answer = TranspositionAnswer::new(content, root, found);
            tell("transposition", serde_json::to_string(&answer));
        }
        SearchEvent::RootMove { .. } => {}
    };
    let result = Searcher::new(config).search(&order.game, &limits, control, &mut listen);
    let best = result.best.map(|mv| NamedMove::new(root, mv));
    let end = EndAnswer { best, depth: result.depth, nodes: result.nodes };
    tell("end", serde_json::to_string(&end));
}

/// A position of a line that the book knows.
#[derive(Debug, Serialize)]
struct BookPlace {
    /// Moves of the line up to it.
    plies: usize,
    fen: String,
    reached: Results,
    opening: Option<Opening>,
}

/// A line of the search.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LineAnswer {
    /// Which of the best lines this is, from 1.
    number: usize,
    depth: i32,
    selective_depth: usize,
    score: ScoreAnswer,
    bound: &'static str,
    nodes: u64,
    milliseconds: u64,
    moves: Vec<NamedMove>,
    /// The plies of the line whose positions the book knows.
    in_book: Vec<usize>,
    /// Where the line comes into the book from outside: from a position that it does not know.
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

/// The plies of a line whose positions the book knows, and the first at which it comes into the book
/// from outside.
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
                let opening = content.names.get(&position).map(Opening::from);
                let fen = position.fen();
                transposes = Some(BookPlace { plies, fen, reached: reached.into(), opening });
            }
        }
        is_known = reached.is_some();
    }
    (in_book, transposes)
}

/// A line of the search that the search itself has found to lead into the book.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TranspositionAnswer {
    moves: Vec<NamedMove>,
    /// Whether a position before it is none of the book: else the line never left it.
    from_outside: bool,
    /// The position of the book.
    fen: String,
    reached: Results,
    opening: Option<Opening>,
    value: Option<ScoreAnswer>,
    /// All of it in words.
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
            reached: found.counts.into(),
            opening: content.names.get(&end).map(Opening::from),
            value: found.value.as_ref().map(|value| value.score.into()),
            text: found.in_words(root),
        }
    }
}

/// The end of a search.
#[derive(Debug, Serialize)]
struct EndAnswer {
    best: Option<NamedMove>,
    depth: i32,
    nodes: u64,
}
