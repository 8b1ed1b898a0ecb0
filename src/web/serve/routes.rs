//! The addresses that the server answers.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Extension, FromRequest, FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http_body_util::LengthLimitError;
use serde::Serialize;
use serde_json::json;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_stream::Stream;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::compression::{CompressionLayer, CompressionLevel};
use tower_http::cors::{AllowOrigin, Any, CorsLayer};

use super::cache::AnswerCache;
use super::games::{self, GameAnswer};
use super::gate::Gate;
use super::limits::{
    ANSWER_CACHE, ANSWER_TIMEOUT, MAX_ANNOTATIONS, MAX_GAME_READERS, MAX_PASTED,
    MAX_PLAYER_STREAMS, MAX_SEARCHES, PLAYER_UPDATE, PREFLIGHT_AGE,
};
use super::page;
use super::player::{PlayerOrder, Players};
use super::query::Query;
use super::refusal::Refusal;
use super::searches::Searches;
use super::shelf::{Content, Shelf};
use super::{analysis, annotation, book_answer, explorer, pasted, ways};
use crate::games::pgn::{Fate, PgnGame, text};
use crate::support::files::in_words;

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

/// All addresses. `client_timeout` is for the bodies of requests.
pub(crate) fn router(desk: Arc<Desk>, gate: Gate, client_timeout: Duration) -> Router {
    let is_whole = DefaultPredicate::new().and(NotForContentType::const_new(LINES_OF_JSON));
    let compression = CompressionLayer::new().quality(CompressionLevel::Fastest);
    open_addresses()
        .merge(costly_addresses(gate, client_timeout))
        .with_state(desk)
        .layer(compression.compress_when(is_whole))
}

/// What any page may ask for.
fn open_addresses() -> Router<Arc<Desk>> {
    let mut router = Router::new()
        .route("/book", get(book))
        .route("/book/ways", get(ways_to))
        .route("/game/{id}", get(game))
        .route("/status", get(status))
        .route("/openapi.json", get(description))
        .route("/masters", get(masters))
        .route("/master", get(masters))
        .route("/masters/pgn/{id}", get(pgn))
        .route("/master/pgn/{id}", get(pgn))
        .route("/lichess", get(lichess))
        .route("/lichess/history", get(lichess_history))
        .route("/player", get(player))
        .route("/personal", get(player));
    for file in page::FILES {
        let tag: Arc<str> = file.tag().into();
        let answer = move |headers: HeaderMap| async move { file.answer(&tag, &headers) };
        router = router.route(file.path, get(answer));
    }
    router
        .fallback(async |uri: Uri| {
            Refusal::missing(format!("there is nothing at {:?}", uri.path()))
        })
        .method_not_allowed_fallback(wrong_method)
        .layer(cors([Method::GET, Method::HEAD, Method::OPTIONS]).allow_origin(Any))
}

/// What only the server's own page, pages that were named, and other programs may ask for.
fn costly_addresses(gate: Gate, client_timeout: Duration) -> Router<Arc<Desk>> {
    let named = AllowOrigin::list(gate.origins());
    let gate = Arc::new(gate);
    let admit = move |request: Request, next: Next| {
        let admitted = gate.admit(request.headers());
        async move {
            match admitted {
                Ok(()) => next.run(request).await,
                Err(refusal) => refusal.into_response(),
            }
        }
    };
    Router::new()
        .route("/read", post(read))
        .route("/annotate", post(annotate))
        .route("/analysis", get(analyse))
        .method_not_allowed_fallback(wrong_method)
        .layer(Extension(BodyTimeout(client_timeout)))
        .layer(middleware::from_fn(admit))
        .layer(cors([Method::GET, Method::POST, Method::OPTIONS]).allow_origin(named))
}

/// What a page of another origin may send, as with Lichess.
fn cors<const N: usize>(methods: [Method; N]) -> CorsLayer {
    let headers = [
        header::ORIGIN,
        header::AUTHORIZATION,
        header::IF_MODIFIED_SINCE,
        header::CACHE_CONTROL,
        header::CONTENT_TYPE,
    ];
    CorsLayer::new()
        .allow_methods(methods)
        .allow_headers(headers)
        .allow_private_network(true)
        .max_age(PREFLIGHT_AGE)
}

async fn wrong_method(method: Method, uri: Uri) -> Refusal {
    Refusal::method(format!(
        "{:?} does not take {method}: /openapi.json has what it takes",
        uri.path()
    ))
}

/// Time for the body of a request.
#[derive(Debug, Clone, Copy)]
struct BodyTimeout(Duration);

/// A text that was sent: UTF-8 or else Latin-1, as in files.
struct Pasted(String);

impl<S: Sync> FromRequest<S> for Pasted {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refusal> {
        let too_large = || Refusal::too_large(format!("the text has more than {MAX_PASTED} bytes"));
        let Some(&BodyTimeout(limit)) = request.extensions().get() else {
            return Err(Refusal::busy("the server is not ready"));
        };
        let body = request.into_body();
        if body.size_hint().lower() > MAX_PASTED as u64 {
            return Err(too_large());
        }
        match tokio::time::timeout(limit, to_bytes(body, MAX_PASTED)).await {
            Ok(Ok(bytes)) => Ok(Pasted(text(&bytes).into_owned())),
            Ok(Err(error)) if is_too_large(&error) => Err(too_large()),
            Ok(Err(error)) => Err(Refusal::bad(format!("the text cannot be read: {error}"))),
            Err(_) => {
                let seconds = limit.as_secs();
                Err(Refusal::late(format!("the text did not arrive within {seconds} s")))
            }
        }
    }
}

/// Whether a body was not read to its end because it is too long.
fn is_too_large(error: &axum::Error) -> bool {
    error.source().is_some_and(<dyn Error>::is::<LengthLimitError>)
}

/// The id in an address.
struct Id(String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(id)) => Ok(Id(id)),
            Err(error) => Err(Refusal::bad(error.body_text())),
        }
    }
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

async fn lichess_history(
    State(desk): Shared,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    kept(&desk, &uri, &headers, explorer::lichess_history).map_err(Refusal::plain)
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
    let likely = id.parse().ok().and_then(|id| desk.players.get()?.file_of(id));
    let waiting = Arc::clone(&desk.readers).acquire_owned().await;
    let permit = waiting.map_err(|_| Refusal::busy("the server ends"))?;
    let found = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        games::find(&content, likely, &id)
    });
    let late = |_| {
        let seconds = ANSWER_TIMEOUT.as_secs();
        Refusal::busy(format!("the game was not found within {seconds} s"))
    };
    let found = tokio::time::timeout(ANSWER_TIMEOUT, found).await.map_err(late)?;
    found.map_err(|error| Refusal::busy(error.to_string()))?
}

async fn game(State(desk): Shared, Id(id): Id) -> Result<Json<GameAnswer>, Refusal> {
    let game = find(&desk, id).await?;
    Ok(Json(GameAnswer::new(&game, &Fate::Read)))
}

async fn pgn(State(desk): Shared, Id(id): Id) -> Result<Response, Refusal> {
    let game = find(&desk, id).await.map_err(Refusal::plain)?;
    Ok(([(header::CONTENT_TYPE, "application/x-chess-pgn")], game.to_string()).into_response())
}

async fn read(Pasted(text): Pasted) -> Result<Json<GameAnswer>, Refusal> {
    pasted::read(&text).map(Json)
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
    Pasted(text): Pasted,
) -> Result<Response, Refusal> {
    let content = desk.shelf.content()?;
    let order = (Query::of(&uri)?, text.as_str());
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
            let is_last = index.is_done();
            let why = match index.fault() {
                _ if !is_last && *closing.borrow() => Some("the server ends"),
                fault => fault.filter(|_| is_last),
            };
            let Ok(players) = desk.players(&content) else { return };
            let answer = order.answer(&content, &index, players.queue_position(&index));
            // An empty line keeps those on the way from taking the stream for dead.
            let line = match last.as_ref() == Some(&answer) && !is_last {
                true => Vec::new(),
                false => serde_json::to_vec(&answer).unwrap_or_default(),
            };
            last = Some(answer);
            let mut lines = [line, b"\n".to_vec()].concat();
            if let Some(why) = why {
                let error = format!("games are missing: {why}");
                lines.extend_from_slice(json!({ "error": error }).to_string().as_bytes());
                lines.push(b'\n');
            }
            if sender.send(lines.into()).await.is_err() || is_last || why.is_some() {
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
