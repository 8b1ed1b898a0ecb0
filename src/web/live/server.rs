//! The HTTP server of the live page. It runs on its own thread during the match.

use std::fs::File;
use std::io::{self, Read, Take};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::timeout;
use tokio_stream::Stream;

use super::state::{Cursor, LiveMatch};
use crate::support::files::{describe, open_plain};
use crate::support::page;
use crate::tools::autoplay::report::{STANDINGS_CSS, STANDINGS_JS};
use crate::web::serve::Stopper;
use crate::web::serve::api_error::ApiError;
use crate::web::serve::limits::{CLIENT_SECONDS, GRACE};
use crate::web::serve::origin_check::OriginCheck;
use crate::web::serve::page::{CSS, HTML, PageFile, SCRIPT};
use crate::web::serve::query::Query;
use crate::web::serve::routes::{restricted, with_files};
use crate::web::serve::server::accept_all;
use crate::web::serve::stream::Received;

/// The minimum time between two updates of a page.
const UPDATE: Duration = Duration::from_millis(250);
/// The maximum time to wait for new events before updating a page. An update is needed even if
/// there are none, because a board whose game is over must switch to another game.
const IDLE: Duration = Duration::from_secs(2);
/// The maximum number of boards on a page.
const MAX_BOARDS: u64 = 64;
const DEFAULT_BOARDS: u64 = 4;
/// The maximum number of pages open at the same time. It is limited so that updating them takes
/// little processor time from the engines.
const MAX_PAGES: usize = 16;
/// The maximum number of simultaneous downloads of the PGN file.
const MAX_COPIES: usize = 2;
/// The size in bytes of the chunks in which the PGN file is sent.
const PIECE: u64 = 64 << 10;

const FILES: [PageFile; 6] = [
    PageFile::new("/", include_str!("page/live.html"), HTML),
    PageFile::new("/live.css", include_str!("page/live.css"), CSS),
    PageFile::new("/live.js", include_str!("page/live.js"), SCRIPT),
    PageFile::new("/standings.css", STANDINGS_CSS, CSS),
    PageFile::new("/standings.js", STANDINGS_JS, SCRIPT),
    PageFile::new("/replay.js", page::REPLAY_JS, SCRIPT),
];

/// The settings of the live page's server.
#[derive(Debug)]
pub(crate) struct LiveSettings {
    /// Web origins whose pages may read the events and games, in addition to the server's own
    /// origin.
    pub(crate) origins: Vec<String>,
    /// The PGN file to which the match writes its games, or `None` if it does not write to a
    /// regular file.
    pub(crate) pgn: Option<PathBuf>,
}

/// A running server for the live page. Dropping it marks the match as over, sends the remaining
/// events to connected browsers, and stops the server.
#[derive(Debug)]
pub(crate) struct LiveServer {
    live: Arc<LiveMatch>,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Clone)]
struct App {
    live: Arc<LiveMatch>,
    pages: Arc<Semaphore>,
    copies: Arc<Semaphore>,
    pgn: Option<Arc<Path>>,
    closing: watch::Receiver<bool>,
}

impl LiveServer {
    /// Starts serving the live page of a match on its own thread.
    ///
    /// # Errors
    /// If the socket cannot be configured, or if the operating system cannot start a thread.
    pub(crate) fn start(
        listener: TcpListener,
        settings: LiveSettings,
        live: Arc<LiveMatch>,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let stopper = Stopper::new();
        let router = router(settings, Arc::clone(&live), address, stopper.closing());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let closing = stopper.closing();
        let run = move || {
            let served = runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                accept_all(listener, router, Duration::from_secs(CLIENT_SECONDS), closing).await;
                Ok::<_, io::Error>(())
            });
            if let Err(error) = served {
                log::warn!("the live page cannot be served: {}", describe(&error));
            }
            runtime.shutdown_timeout(GRACE);
        };
        let thread = Some(thread::Builder::new().name("live page".to_owned()).spawn(run)?);
        Ok(LiveServer { live, stopper, thread })
    }
}

impl Drop for LiveServer {
    fn drop(&mut self) {
        self.live.finish(None, "the match has ended with an error");
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            // The thread has logged its own errors.
            let _ = thread.join();
        }
    }
}

fn router(
    LiveSettings { origins, pgn }: LiveSettings,
    live: Arc<LiveMatch>,
    address: SocketAddr,
    closing: watch::Receiver<bool>,
) -> Router {
    let (pages, copies) = (Semaphore::new(MAX_PAGES), Semaphore::new(MAX_COPIES));
    let (pages, copies, pgn) = (Arc::new(pages), Arc::new(copies), pgn.map(Arc::from));
    let origin_check = OriginCheck::new(origins, address.ip().is_loopback());
    let data = Router::new().route("/events", get(events)).route("/games.pgn", get(games));
    with_files(restricted(data, origin_check), FILES).with_state(App {
        live,
        pages,
        copies,
        pgn,
        closing,
    })
}

async fn events(
    State(app): State<App>,
    uri: Uri,
) -> Result<Sse<impl Stream<Item = Result<Event, std::convert::Infallible>>>, ApiError> {
    let mut query = Query::of(&uri)?;
    let boards = query.number("boards", (0, MAX_BOARDS))?.unwrap_or(DEFAULT_BOARDS);
    query.finish()?;
    let permit = Arc::clone(&app.pages).try_acquire_owned();
    let permit = permit.map_err(|_| {
        ApiError::unavailable(format!("{MAX_PAGES} pages are open already: close one of them"))
    })?;
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(send_news(app, Cursor::new(boards as usize), sender, permit));
    Ok(Sse::new(Received(receiver)).keep_alive(KeepAlive::default()))
}

/// Sends changes to one page until the match is over, the server stops or the page is closed.
async fn send_news(
    App { live, mut closing, .. }: App,
    mut cursor: Cursor,
    sender: mpsc::Sender<Event>,
    _permit: OwnedSemaphorePermit,
) {
    let mut changes = live.changes();
    loop {
        changes.mark_unchanged();
        let (news, is_over) = live.news(&mut cursor);
        for (name, value) in news {
            let event = Event::default().event(name).data(value.to_string());
            // The channel holds a single event, so this waits until the page has read the previous
            // ones.
            if sender.send(event).await.is_err() {
                return;
            }
        }
        if is_over || *closing.borrow() {
            return;
        }
        let next = async {
            let _ = timeout(IDLE, changes.changed()).await;
            let _ = timeout(UPDATE, closing.wait_for(|&is_closing| is_closing)).await;
        };
        tokio::select! {
            () = next => {}
            () = sender.closed() => return,
        }
    }
}

/// Sends the games that have been saved so far, as PGN.
async fn games(State(app): State<App>) -> Result<Response, ApiError> {
    let none = || ApiError::not_found("the match stores no games: start it with --pgn FILE");
    let path = app.pgn.ok_or_else(none)?;
    let waiting = app.copies.acquire_owned().await;
    let permit = waiting.map_err(|_| ApiError::unavailable("the server ends"))?;
    let opened = tokio::task::spawn_blocking(move || {
        let file = open_plain(&path)?;
        let length = file.metadata()?.len();
        io::Result::Ok(file.take(length))
    });
    let opened = opened.await.map_err(|error| ApiError::unavailable(error.to_string()))?;
    let file = opened.map_err(|error| {
        ApiError::unavailable(format!("the games cannot be read: {}", describe(&error)))
    })?;
    let (sender, receiver) = mpsc::channel(1);
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        send_pieces(file, &sender);
    });
    let headers = [(header::CONTENT_TYPE, "application/x-chess-pgn")];
    Ok((headers, Body::from_stream(Received(receiver))).into_response())
}

/// Sends the contents of a file in chunks. Stops early if the client disconnects or the file cannot
/// be read.
fn send_pieces(mut file: Take<File>, sender: &mpsc::Sender<Bytes>) {
    loop {
        let mut piece = Vec::new();
        let read = (&mut file).take(PIECE).read_to_end(&mut piece);
        if let Err(error) = &read {
            log::warn!("the games cannot be read: {}", describe(error));
        }
        if !matches!(read, Ok(1..)) || sender.blocking_send(piece.into()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::autoplay::config::EngineConfig;
    use crate::tools::autoplay::match_record::{MatchRecord, Places};
    use crate::tools::autoplay::results::Results;
    use crate::tools::autoplay::schedule::{Format, Schedule};

    #[test]
    fn match_does_not_wait_for_a_page_that_does_not_read() {
        let (engines, format) = (2, Format::RoundRobin);
        let schedule = Schedule { engines, format, games: 2, openings: 1, reversed: true };
        let record = MatchRecord::open(&Places::default(), schedule, &[], "").expect("no files");
        let results =
            Results::new(&[EngineConfig::default(), EngineConfig::default()], record, None);
        let stopper = Stopper::new();
        let app = App {
            live: Arc::new(LiveMatch::new(&results, false)),
            pages: Arc::new(Semaphore::new(1)),
            copies: Arc::new(Semaphore::new(1)),
            pgn: None,
            closing: stopper.closing(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let permit = Arc::clone(&app.pages).acquire_owned().await.expect("open");
            let live = Arc::clone(&app.live);
            let (sender, mut page) = mpsc::channel(1);
            let sending = tokio::spawn(send_news(app, Cursor::new(1), sender, permit));
            // The channel holds a single event. The first event fills it, so sending the second has
            // to wait until the page reads the first.
            while page.is_empty() {
                tokio::task::yield_now().await;
            }
            // If the waiting task held the lock of the match, this call would deadlock.
            live.finish(Some(&results), "over");
            let mut count = 0;
            while page.recv().await.is_some() {
                count += 1;
            }
            // The four events are the match, the standings before and after the match ends, and the
            // end itself.
            assert_eq!(count, 4);
            sending.await.expect("no panic");
        });
    }

    #[test]
    fn page_loads_only_its_own_files() {
        crate::web::serve::page::checks::check(&FILES, &["/games.pgn"]);
    }
}
