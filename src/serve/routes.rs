//! The addresses that the server answers.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Extension, Path, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Serialize;
use serde_json::json;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_stream::Stream;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::compression::{CompressionLayer, CompressionLevel};
use tower_http::cors::{Any, CorsLayer};
use tower_http::timeout::TimeoutLayer;

use super::cache::AnswerCache;
use super::games::{self, GameAnswer};
use super::limits::{
    ANSWER_CACHE, ANSWER_TIMEOUT, MAX_ANNOTATIONS, MAX_GAME_READERS, MAX_PASTED,
    MAX_PLAYER_STREAMS, MAX_SEARCHES, PLAYER_UPDATE,
};
use super::page;
use super::player::{PlayerOrder, Players};
use super::query::Query;
use super::refusal::Refusal;
use super::searches::Searches;
use super::shelf::{Content, Shelf};
use super::{analysis, annotation, book_answer, explorer, pasted, ways};
use crate::files::in_words;
use crate::pgn::{Fate, PgnGame};

/// The description of our own addresses.
const DESCRIPTION: &str = include_str!("openapi.json");
/// What a stream of JSON lines is called.
const LINES_OF_JSON: &str = "application/x-ndjson";

/// What all answers are made of.
#[derive(Debug)]
pub(crate) struct Desk {
    shelf: Arc<Shelf>,
    answers: AnswerCache,
    searches: Arc<Searches>,
    annotations: Arc<Searches>,
    players: OnceLock<Players>,
    streams: Arc<Semaphore>,
    readers: Arc<Semaphore>,
    /// Turns true when the server ends.
    closing: watch::Receiver<bool>,
}

impl Desk {
    /// A desk in front of a shelf.
    pub(crate) fn new(shelf: Arc<Shelf>, closing: watch::Receiver<bool>) -> Self {
        Desk {
            shelf,
            answers: AnswerCache::new(ANSWER_CACHE),
            searches: Arc::new(Searches::new(MAX_SEARCHES)),
            annotations: Arc::new(Searches::new(MAX_ANNOTATIONS)),
            players: OnceLock::new(),
            streams: Arc::new(Semaphore::new(MAX_PLAYER_STREAMS)),
            readers: Arc::new(Semaphore::new(MAX_GAME_READERS)),
            closing,
        }
    }

    /// Who looks for the games of players.
    fn players(&self, content: &Content) -> Result<&Players, Refusal> {
        if content.games.is_empty() {
            let why = "there are no games to look through: serve PGN, or a book beside its games";
            return Err(Refusal::missing(why));
        }
        if self.players.get().is_none() {
            let players = Players::new(content.games.clone());
            let players = players
                .map_err(|error| Refusal::busy(format!("no thread: {}", in_words(&error))))?;
            // Another request may have been faster; its thread stays, ours ends.
            let _ = self.players.set(players);
        }
        self.players.get().ok_or_else(|| Refusal::busy("try again"))
    }

    /// Ends what runs on threads of its own.
    pub(crate) fn close(&self) {
        self.shelf.progress().stop();
        self.players.get().into_iter().for_each(Players::close);
    }
}

type Shared = State<Arc<Desk>>;

/// All addresses.
pub(crate) fn router(desk: Arc<Desk>) -> Router {
    let mut router = Router::new()
        .route("/book", get(book))
        .route("/book/ways", get(ways_to))
        .route("/game/{id}", get(game))
        .route("/read", post(read).layer(DefaultBodyLimit::max(MAX_PASTED)))
        .route("/annotate", post(annotate).layer(DefaultBodyLimit::max(MAX_PASTED)))
        .route("/analysis", get(analyse))
        .route("/status", get(status))
        .route("/openapi.json", get(description))
        .route("/masters", get(masters))
        .route("/master", get(masters))
        .route("/masters/pgn/{id}", get(pgn))
        .route("/master/pgn/{id}", get(pgn))
        .route("/lichess", get(lichess))
        .route("/player", get(player))
        .route("/personal", get(player));
    for file in page::FILES {
        let tag: Arc<str> = file.tag().into();
        let answer = move |headers: HeaderMap| async move { file.answer(&tag, &headers) };
        router = router.route(file.path, get(answer));
    }
    let is_whole = DefaultPredicate::new().and(NotForContentType::const_new(LINES_OF_JSON));
    let compression = CompressionLayer::new().quality(CompressionLevel::Fastest);
    router
        .fallback(async |uri: Uri| {
            Refusal::missing(format!("there is nothing at {:?}", uri.path()))
        })
        .method_not_allowed_fallback(async || {
            (
                StatusCode::METHOD_NOT_ALLOWED,
                Json(json!({ "error": "this method is not known here" })),
            )
        })
        .with_state(desk)
        .layer(compression.compress_when(is_whole))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, ANSWER_TIMEOUT))
        .layer(CorsLayer::new().allow_origin(Any).allow_methods([Method::GET, Method::POST]))
}

async fn book(State(desk): Shared, uri: Uri, headers: HeaderMap) -> Result<Response, Refusal> {
    kept(&desk, &uri, &headers, book_answer::answer)
}

async fn ways_to(State(desk): Shared, uri: Uri, headers: HeaderMap) -> Result<Response, Refusal> {
    kept(&desk, &uri, &headers, |content, mut query| {
        let game = query.game()?;
        query.finish()?;
        Ok(ways::ways(content, game.position()))
    })
}

async fn masters(State(desk): Shared, uri: Uri, headers: HeaderMap) -> Result<Response, Refusal> {
    kept(&desk, &uri, &headers, explorer::masters).map_err(Refusal::plain)
}

async fn lichess(State(desk): Shared, uri: Uri, headers: HeaderMap) -> Result<Response, Refusal> {
    kept(&desk, &uri, &headers, explorer::lichess).map_err(Refusal::plain)
}

/// An answer that depends on the books and the address alone: it is made once, and told not at all to
/// who has it.
fn kept<T: Serialize>(
    desk: &Desk,
    uri: &Uri,
    headers: &HeaderMap,
    make: impl FnOnce(&Content, Query) -> Result<T, Refusal>,
) -> Result<Response, Refusal> {
    let content = desk.shelf.content()?;
    let address = uri.path_and_query().map_or("", |address| address.as_str());
    let tag = format!("W/\"{}-{:08x}\"", content.tag, crc32fast::hash(address.as_bytes()));
    // Whoever has the tag of this address has had an answer.
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    let answer = match desk.answers.get(address) {
        Some(answer) => answer,
        None => {
            let answer = make(content, Query::of(uri)?)?;
            let text = serde_json::to_vec(&answer);
            let text = Bytes::from(text.map_err(|error| Refusal::busy(error.to_string()))?);
            desk.answers.put(address.to_owned(), text.clone());
            text
        }
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    Ok((headers, [(header::ETAG, tag)], answer).into_response())
}

/// Reads a game from its file, on a thread that may wait for the disk.
async fn find(desk: &Desk, id: String) -> Result<PgnGame, Refusal> {
    let content = Arc::clone(desk.shelf.content()?);
    let waiting = Arc::clone(&desk.readers).acquire_owned().await;
    let permit = waiting.map_err(|_| Refusal::busy("the server ends"))?;
    let found = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        games::find(&content, &id)
    });
    found.await.map_err(|error| Refusal::busy(error.to_string()))?
}

async fn game(State(desk): Shared, Path(id): Path<String>) -> Result<Json<GameAnswer>, Refusal> {
    let game = find(&desk, id).await?;
    Ok(Json(GameAnswer::new(&game, &Fate::Read)))
}

async fn pgn(State(desk): Shared, Path(id): Path<String>) -> Result<Response, Refusal> {
    let game = find(&desk, id).await.map_err(Refusal::plain)?;
    Ok(([(header::CONTENT_TYPE, "application/x-chess-pgn")], game.to_string()).into_response())
}

async fn read(body: Bytes) -> Result<Json<GameAnswer>, Refusal> {
    pasted::read(&String::from_utf8_lossy(&body)).map(Json)
}

async fn status(State(desk): Shared) -> Json<serde_json::Value> {
    let content = desk.shelf.content().ok();
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "ready": content.is_some(),
        "books": desk.shelf.progress().report(),
        "facets": content.is_some_and(|content| content.book.has_facets()),
        "games": content.is_some_and(|content| !content.games.is_empty()),
        "searches": { "running": desk.searches.count(), "most": MAX_SEARCHES },
    }))
}

async fn description() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], DESCRIPTION).into_response()
}

/// Who asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

async fn analyse(
    State(desk): Shared,
    Extension(Peer(peer)): Extension<Peer>,
    uri: Uri,
) -> Result<Sse<impl Stream<Item = Result<Event, std::convert::Infallible>>>, Refusal> {
    let content = desk.shelf.content()?;
    let query = Query::of(&uri)?;
    let closing = desk.closing.clone();
    let events = analysis::start(&desk.searches, content, peer.ip(), query, closing).await?;
    Ok(Sse::new(Received(events)).keep_alive(KeepAlive::default()))
}

async fn annotate(
    State(desk): Shared,
    Extension(Peer(peer)): Extension<Peer>,
    uri: Uri,
    body: Bytes,
) -> Result<Response, Refusal> {
    let content = desk.shelf.content()?;
    let text = String::from_utf8_lossy(&body);
    let order = (Query::of(&uri)?, text.as_ref());
    let closing = desk.closing.clone();
    let lines = annotation::start(&desk.annotations, content, peer.ip(), order, closing).await?;
    Ok(([(header::CONTENT_TYPE, LINES_OF_JSON)], Body::from_stream(Received(lines)))
        .into_response())
}

async fn player(State(desk): Shared, uri: Uri) -> Result<Response, Refusal> {
    let order = Query::of(&uri).and_then(PlayerOrder::of).map_err(Refusal::plain)?;
    let stream = start_player(&desk, order).map_err(Refusal::plain)?;
    Ok(([(header::CONTENT_TYPE, LINES_OF_JSON)], Body::from_stream(Received(stream)))
        .into_response())
}

/// Begins to tell of a player's games: what is known now, and again until all is known.
fn start_player(desk: &Arc<Desk>, order: PlayerOrder) -> Result<mpsc::Receiver<Bytes>, Refusal> {
    let content = Arc::clone(desk.shelf.content()?);
    let streams = Arc::clone(&desk.streams).try_acquire_owned();
    let permit = streams.map_err(|_| Refusal::busy("too many streams run: try again soon"))?;
    let index = desk.players(&content)?.get(order.player())?;
    let (sender, receiver) = mpsc::channel(1);
    let desk = Arc::clone(desk);
    tokio::spawn(async move {
        let _permit = permit;
        let mut last = None;
        let mut closing = desk.closing.clone();
        loop {
            let is_last = index.is_done() || *closing.borrow();
            let Ok(players) = desk.players(&content) else { return };
            let answer = order.answer(&content, &index, players.queue_position(&index));
            // An empty line keeps those on the way from taking the stream for dead.
            let line = match last.as_ref() == Some(&answer) && !is_last {
                true => Vec::new(),
                false => serde_json::to_vec(&answer).unwrap_or_default(),
            };
            last = Some(answer);
            let line = [line, b"\n".to_vec()].concat();
            if sender.send(line.into()).await.is_err() || is_last {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(PLAYER_UPDATE) => {}
                _ = closing.wait_for(|&is_closing| is_closing) => {}
            }
        }
    });
    Ok(receiver)
}

/// What comes out of a channel, as a stream that cannot fail.
struct Received<T>(mpsc::Receiver<T>);

impl<T> Stream for Received<T> {
    type Item = Result<T, std::convert::Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|item| item.map(Ok))
    }
}
