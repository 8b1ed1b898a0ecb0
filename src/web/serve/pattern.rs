//! `/search`: searches the games of the books for a pattern. The response consists of JSON lines:
//! progress reports while the games are being read, followed by the result.

use std::net::IpAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use axum::body::Bytes;
use serde::Serialize;
use tokio::sync::{mpsc, watch};

use super::api_error::ApiError;
use super::facets::{self, Dates};
use super::games::game_folders;
use super::limits::{
    DEFAULT_FOUND_GAMES, MAX_FOUND_GAMES, MAX_FOUND_POSITIONS, MAX_PATTERN_SECONDS, PATTERN_UPDATE,
};
use super::loaded_books::Content;
use super::query::Query;
use super::searches::{Searches, Stop, client_name};
use super::stream::json_line;
use crate::games::book::{
    Book, FacetFilter, GameIds, Monitor, MoveIndex, Order, Pattern, PatternAnswer, PatternSearch,
    read_moves,
};
use crate::support::files::describe;
use crate::support::threads::cores;

struct PatternRequest {
    pattern: Pattern,
    filter: FacetFilter,
    order: Order,
    limit: usize,
    client: String,
}

impl PatternRequest {
    fn of(mut query: Query) -> Result<Self, ApiError> {
        let text = query.text("pattern").unwrap_or_default();
        let pattern = text
            .parse::<Pattern>()
            .map_err(|error| ApiError::bad_request(format!("pattern: {error}")))?;
        let filter = facets::read(&mut query, Dates::Months)?;
        let order = match query.text("sort").as_deref() {
            None | Some("latest") => Order::Latest,
            Some("rating") => Order::Rating,
            Some(text) => {
                let reason = format!("sort={text:?}: expected latest or rating");
                return Err(ApiError::bad_request(reason));
            }
        };
        let limit = query.number("games", (0, MAX_FOUND_GAMES))?.unwrap_or(DEFAULT_FOUND_GAMES);
        let client = client_name(&mut query)?;
        query.finish()?;
        Ok(PatternRequest { pattern, filter, order, limit: limit as usize, client })
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Line {
    /// The number of bytes read so far from the game files, and the total number of bytes.
    Progress {
        read: u64,
        of: u64,
    },
    Found(PatternAnswer),
    Error {
        error: String,
    },
}

/// A book with facets, and the moves of its games.
#[derive(Debug)]
struct SearchedBook {
    book: Book,
    index: MoveIndex,
    /// For each game, whether an earlier book contains it too.
    repeated: Vec<bool>,
}

/// The moves of all games in the books with facets, read when the first pattern search starts.
#[derive(Debug, Default)]
pub(crate) struct BookMoves {
    ready: OnceLock<Vec<SearchedBook>>,
    state: Mutex<State>,
    changed: Condvar,
    monitor: Monitor,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    /// A thread is reading the games. The value is the total size of their files in bytes.
    Reading(u64),
    Failed(String),
}

impl BookMoves {
    pub(crate) fn close(&self) {
        self.monitor.stop();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the moves have been read, starting to read them if necessary. While waiting,
    /// calls `report` at regular intervals with the number of bytes read so far and the total.
    fn get(
        self: &Arc<Self>,
        content: &Arc<Content>,
        stop: &Stop,
        report: impl Fn(u64, u64),
    ) -> Result<&[SearchedBook], String> {
        loop {
            if let Some(ready) = self.ready.get() {
                return Ok(ready);
            }
            if stop.switch().is_stopped() {
                return Err("the games are still being read: try again soon".to_owned());
            }
            let mut state = self.state();
            match std::mem::take(&mut *state) {
                State::Idle => *state = self.start(content)?,
                State::Reading(size) => {
                    *state = State::Reading(size);
                    report(self.monitor.bytes.load(Relaxed), size);
                }
                // The next request tries again.
                State::Failed(reason) => return Err(reason),
            }
            // After a timeout, the loop reports the progress and waits again.
            drop(self.changed.wait_timeout(state, PATTERN_UPDATE));
        }
    }

    fn start(self: &Arc<Self>, content: &Arc<Content>) -> Result<State, String> {
        let (moves, content) = (Arc::clone(self), Arc::clone(content));
        let files = content.sources.iter().flat_map(|(_, book)| book.game_files());
        let size = files.map(|file| file.bytes).sum();
        self.monitor.bytes.store(0, Relaxed);
        let started = thread::Builder::new().name("moves".to_owned()).spawn(move || {
            match read_all(&content, &moves.monitor) {
                Ok(all) => {
                    // Setting the moves cannot fail, because no other thread sets them.
                    let _ = moves.ready.set(all);
                }
                Err(reason) => *moves.state() = State::Failed(reason),
            }
            moves.changed.notify_all();
        });
        started.map_err(|error| format!("no thread: {}", describe(&error)))?;
        Ok(State::Reading(size))
    }
}

/// Returns the moves of each book with facets, read either from the move file next to the book or
/// from the game files.
fn read_all(content: &Content, monitor: &Monitor) -> Result<Vec<SearchedBook>, String> {
    let with_facets = content.sources.iter().filter(|(_, book)| book.has_facets());
    let (mut all, mut earlier) = (Vec::new(), GameIds::default());
    for (_, book) in with_facets {
        let index = match MoveIndex::open(book) {
            Ok(index) => index,
            Err(reason) => {
                log::debug!("{reason}");
                read_moves(book, &game_folders(content), cores(), monitor)
                    .map_err(|error| error.to_string())?
                    .ok_or("the server ends")?
            }
        };
        all.push(SearchedBook { book: book.clone(), index, repeated: earlier.add(book) });
    }
    Ok(all)
}

/// Starts a pattern search, and returns the lines of the response. Dropping the receiver or
/// starting another search for the same client stops the search.
pub(crate) async fn start(
    searches: &Arc<Searches>,
    moves: &Arc<BookMoves>,
    content: &Arc<Content>,
    address: IpAddr,
    query: Query,
    closing: watch::Receiver<bool>,
) -> Result<mpsc::Receiver<Bytes>, ApiError> {
    let order = PatternRequest::of(query)?;
    if !content.book.has_facets() {
        return Err(ApiError::conflict(
            "this book does not list its games: build it with --facets",
        ));
    }
    let client = (address, order.client.clone());
    let (moves, content) = (Arc::clone(moves), Arc::clone(content));
    let time = Duration::from_secs(MAX_PATTERN_SECONDS);
    let search = move |stop: &Stop, sender: &mpsc::Sender<Bytes>| {
        let report = |read, of| {
            // A progress line is dropped if the client has not yet received the earlier ones.
            let _ = sender.try_send(json_line(&Line::Progress { read, of }));
        };
        let found = moves.get(&content, stop, report).and_then(|all| search(all, &order, stop));
        json_line(&found.map_or_else(|error| Line::Error { error }, Line::Found))
    };
    searches.start(client, time, closing, search).await
}

fn search(
    books: &[SearchedBook],
    order: &PatternRequest,
    stop: &Stop,
) -> Result<PatternAnswer, String> {
    let mut all = PatternAnswer::default();
    for SearchedBook { book, index, repeated } in books {
        let search = PatternSearch {
            pattern: &order.pattern,
            filter: &order.filter,
            skipped: repeated,
            order: order.order,
            limit: order.limit,
            positions: MAX_FOUND_POSITIONS,
            threads: cores(),
        };
        let found = search.run(book, index, &|| stop.switch().is_stopped());
        let found = found.map_err(|error| describe(&error))?;
        all.add(found.ok_or("the search was stopped")?, order.order, order.limit);
    }
    Ok(all)
}
