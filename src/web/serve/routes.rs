//! The endpoints of the server.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Extension, FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Serialize;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_stream::Stream;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::compression::{CompressionLayer, CompressionLevel};
use tower_http::cors::{AllowOrigin, Any, CorsLayer};

use super::analysis::AnalysisRequest;
use super::analysis_store::AnalysisStore;
use super::api_error::ApiError;
use super::cache::AnswerCache;
use super::games::{self, GameAnswer};
use super::limits::{
    ANSWER_CACHE, ANSWER_TIMEOUT, MAX_ANNOTATIONS, MAX_GAME_READERS, MAX_PATTERN_SEARCHES,
    MAX_PLAYER_STREAMS, MAX_REPORTS, MAX_SEARCHES, PLAYER_UPDATE, PREFLIGHT_AGE, SearchLimits,
};
use super::loaded_books::{Content, LoadedBooks};
use super::origin_check::OriginCheck;
use super::page::{self, PageFile};
use super::pattern::{self, BookMoves};
use super::player::{Completions, PlayerNames, PlayerOrder, Players};
use super::query::Query;
use super::repertoire::{self, RepertoireFile, Served};
use super::request::{BodyTimeout, ClientAddress, Pasted, blocking};
use super::searches::Searches;
use super::stream::{LINES_OF_JSON, Received, json_lines};
use super::{
    analysis, annotation, book_answer, explorer, move_orders, opening_report, pasted, sources,
};
use crate::games::pgn::{GameStatus, PgnGame};
use crate::support::files::describe;

/// The OpenAPI description of Tabia's own endpoints.
const DESCRIPTION: &str = include_str!("openapi.json");

/// Initial capacity for the text of a response, in bytes. Most responses of `/book` are smaller.
const USUAL_ANSWER_BYTES: usize = 4096;

#[derive(Debug)]
pub(crate) struct AppState {
    loaded: Arc<LoadedBooks>,
    repertoire: Option<Arc<RepertoireFile>>,
    answers: AnswerCache,
    searches: Arc<Searches>,
    search_limits: SearchLimits,
    analyses: Arc<AnalysisStore>,
    annotations: Arc<Searches>,
    reports: Arc<Searches>,
    patterns: Arc<Searches>,
    moves: Arc<BookMoves>,
    players: OnceLock<Players>,
    names: OnceLock<PlayerNames>,
    streams: Arc<Semaphore>,
    readers: Arc<Semaphore>,
    closing: watch::Receiver<bool>,
}

impl AppState {
    pub(crate) fn new(
        loaded: Arc<LoadedBooks>,
        repertoire: Option<Arc<RepertoireFile>>,
        search_limits: SearchLimits,
        closing: watch::Receiver<bool>,
    ) -> Self {
        AppState {
            loaded,
            repertoire,
            answers: AnswerCache::new(ANSWER_CACHE),
            searches: Arc::new(Searches::new(MAX_SEARCHES)),
            search_limits,
            analyses: Arc::new(AnalysisStore::new()),
            annotations: Arc::new(Searches::new(MAX_ANNOTATIONS)),
            reports: Arc::new(Searches::new(MAX_REPORTS)),
            patterns: Arc::new(Searches::new(MAX_PATTERN_SEARCHES)),
            moves: Arc::default(),
            players: OnceLock::new(),
            names: OnceLock::new(),
            streams: Arc::new(Semaphore::new(MAX_PLAYER_STREAMS)),
            readers: Arc::new(Semaphore::new(MAX_GAME_READERS)),
            closing,
        }
    }

    /// Waits for permission to read all games of a book, or a file of games. It is held while reading.
    async fn reader(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let waiting = Arc::clone(&self.readers).acquire_owned().await;
        waiting.map_err(|_| ApiError::unavailable("the server ends"))
    }

    /// Returns the index of players, which the first request creates.
    fn players(&self, content: &Content) -> Result<&Players, ApiError> {
        if content.games.is_empty() {
            let why = "there are no games to look through: serve PGN, or a book beside its games";
            return Err(ApiError::not_found(why));
        }
        if self.players.get().is_none() {
            let players = Players::new(content.games.clone());
            let players = players.map_err(|error| {
                ApiError::unavailable(format!("no thread: {}", describe(&error)))
            })?;
            // If another request has set the index in the meantime, this one is dropped, which ends
            // its thread.
            let _ = self.players.set(players);
        }
        self.players.get().ok_or_else(|| ApiError::unavailable("try again"))
    }

    pub(crate) fn close(&self) {
        self.loaded.progress().stop();
        self.moves.close();
        self.players.get().into_iter().for_each(Players::close);
    }
}

type Shared = State<Arc<AppState>>;

/// Returns the router for all endpoints. `training` contains the training endpoints, and
/// `client_timeout` is the time limit for receiving a request body.
pub(crate) fn router(
    state: Arc<AppState>,
    training: Router<Arc<AppState>>,
    origin_check: OriginCheck,
    client_timeout: Duration,
) -> Router {
    let is_whole = DefaultPredicate::new().and(NotForContentType::const_new(LINES_OF_JSON));
    let compression = CompressionLayer::new().quality(CompressionLevel::Fastest);
    let served = Served::new(state.repertoire.clone(), Arc::clone(&state.loaded));
    let writable = repertoire::writable(served.clone());
    open_addresses()
        .merge(costly_addresses(training, origin_check, served))
        .merge(writable.method_not_allowed_fallback(wrong_method))
        .layer(Extension(BodyTimeout(client_timeout)))
        .with_state(state)
        .layer(compression.compress_when(is_whole))
}

/// Returns the endpoints that web pages of any origin may use.
fn open_addresses() -> Router<Arc<AppState>> {
    let router = Router::new()
        .route("/book", get(book))
        .route("/book/move-orders", get(move_orders))
        .route("/book/sources", get(book_sources))
        // The old path of `/book/move-orders`, used by version 0.2.
        .route("/book/ways", get(move_orders))
        .route("/game/{id}", get(game))
        .route("/players", get(player_names))
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
    with_files(router, page::FILES)
        .method_not_allowed_fallback(wrong_method)
        .layer(cors([Method::GET, Method::HEAD, Method::OPTIONS]).allow_origin(Any))
}

/// Adds routes for a page's own files and for the files shared by all pages, and a fallback for
/// unknown paths.
pub(crate) fn with_files<S: Clone + Send + Sync + 'static>(
    mut router: Router<S>,
    files: impl IntoIterator<Item = PageFile>,
) -> Router<S> {
    for file in files.into_iter().chain(page::SHARED_FILES) {
        let tag: Arc<str> = file.tag().into();
        let answer = move |headers: HeaderMap| async move { file.answer(&tag, &headers) };
        router = router.route(file.path, get(answer));
    }
    router.fallback(async |uri: Uri| {
        ApiError::not_found(format!("there is nothing at {:?}", uri.path()))
    })
}

/// Returns the endpoints that only the server's own page, allowed origins and other programs may
/// use.
fn costly_addresses(
    training: Router<Arc<AppState>>,
    origin_check: OriginCheck,
    served: Served,
) -> Router<Arc<AppState>> {
    let router = Router::new()
        .route("/read", post(read))
        .route("/annotate", post(annotate))
        .route("/analysis", get(analyse))
        .route("/report", get(report))
        .route("/search", get(search_pattern))
        .merge(repertoire::readable(served))
        .merge(training)
        .method_not_allowed_fallback(wrong_method);
    restricted(router, origin_check)
}

/// Restricts endpoints to the server's own page, allowed origins and other programs.
pub(crate) fn restricted<S: Clone + Send + Sync + 'static>(
    router: Router<S>,
    origin_check: OriginCheck,
) -> Router<S> {
    let named = AllowOrigin::list(origin_check.origins());
    let origin_check = Arc::new(origin_check);
    let check = move |request: Request, next: Next| {
        let admitted = origin_check.check(request.headers());
        async move {
            match admitted {
                Ok(()) => next.run(request).await,
                Err(api_error) => api_error.into_response(),
            }
        }
    };
    router
        .layer(middleware::from_fn(check))
        .layer(cors([Method::GET, Method::POST, Method::OPTIONS]).allow_origin(named))
}

/// Returns the CORS configuration. Pages from other origins may send the same headers as they may
/// send to Lichess.
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

async fn wrong_method(method: Method, uri: Uri) -> ApiError {
    ApiError::method_not_allowed(format!(
        "{:?} does not take {method}: /openapi.json has what it takes",
        uri.path()
    ))
}

struct Id(String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(id)) => Ok(Id(id)),
            Err(error) => Err(ApiError::bad_request(error.body_text())),
        }
    }
}

async fn book(State(state): Shared, uri: Uri, headers: HeaderMap) -> Result<Response, ApiError> {
    kept(&state, &uri, &headers, book_answer::answer)
}

async fn move_orders(
    State(state): Shared,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    kept(&state, &uri, &headers, |content, mut query| {
        let game = query.game()?;
        query.finish()?;
        Ok(move_orders::find(content, game.position()))
    })
}

async fn book_sources(
    State(state): Shared,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let content = Arc::clone(state.loaded.content()?);
    if !content.has_common_games() {
        let permit = state.reader().await?;
        let read = move || {
            let _permit = permit;
            content.common_games();
        };
        blocking(read).await?;
    }
    kept(&state, &uri, &headers, sources::answer)
}

async fn masters(State(state): Shared, uri: Uri, headers: HeaderMap) -> Result<Response, ApiError> {
    kept(&state, &uri, &headers, explorer::masters).map_err(ApiError::plain)
}

async fn lichess(State(state): Shared, uri: Uri, headers: HeaderMap) -> Result<Response, ApiError> {
    kept(&state, &uri, &headers, explorer::lichess).map_err(ApiError::plain)
}

async fn lichess_history(
    State(state): Shared,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    kept(&state, &uri, &headers, explorer::lichess_history).map_err(ApiError::plain)
}

/// Computes a response that depends only on the books and on the path and query of the request, or
/// takes it from the cache. A client that already has the response gets status 304.
fn kept<T: Serialize>(
    state: &AppState,
    uri: &Uri,
    headers: &HeaderMap,
    make: impl FnOnce(&Content, Query) -> Result<T, ApiError>,
) -> Result<Response, ApiError> {
    let content = state.loaded.content()?;
    let address = uri.path_and_query().map_or("", |address| address.as_str());
    let tag = format!("W/\"{}-{:08x}\"", content.tag, crc32fast::hash(address.as_bytes()));
    // The client has already received the response if it sends the response's tag.
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    let answer = match state.answers.get(address) {
        Some(answer) => answer,
        None => {
            let answer = make(content, Query::of(uri)?)?;
            let mut text = Vec::with_capacity(USUAL_ANSWER_BYTES);
            serde_json::to_writer(&mut text, &answer)
                .map_err(|error| ApiError::unavailable(error.to_string()))?;
            // The cache keeps the text, so release the unused capacity.
            text.shrink_to_fit();
            let text = Bytes::from(text);
            state.answers.put(address.to_owned(), text.clone());
            text
        }
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    Ok((headers, [(header::ETAG, tag)], answer).into_response())
}

/// Reads a game from its file, on a thread that is allowed to block.
async fn find(state: &AppState, id: String) -> Result<PgnGame, ApiError> {
    let content = Arc::clone(state.loaded.content()?);
    let likely = id.parse().ok().and_then(|id| state.players.get()?.file_of(id));
    let permit = state.reader().await?;
    let found = blocking(move || {
        let _permit = permit;
        games::find(&content, likely, &id)
    });
    let request_timeout = |_| {
        let seconds = ANSWER_TIMEOUT.as_secs();
        ApiError::unavailable(format!("the game was not found within {seconds} s"))
    };
    tokio::time::timeout(ANSWER_TIMEOUT, found).await.map_err(request_timeout)??
}

async fn game(State(state): Shared, Id(id): Id) -> Result<Json<GameAnswer>, ApiError> {
    let game = find(&state, id).await?;
    Ok(Json(GameAnswer::new(&game, &GameStatus::Read)))
}

async fn pgn(State(state): Shared, Id(id): Id) -> Result<Response, ApiError> {
    let game = find(&state, id).await.map_err(ApiError::plain)?;
    Ok(([(header::CONTENT_TYPE, "application/x-chess-pgn")], game.to_string()).into_response())
}

async fn read(Pasted(text): Pasted) -> Result<Json<GameAnswer>, ApiError> {
    pasted::read(&text).map(Json)
}

async fn status(State(state): Shared) -> Json<serde_json::Value> {
    let content = state.loaded.content().ok();
    let SearchLimits { threads, lines, memory_mb } = state.search_limits;
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "ready": content.is_some(),
        "books": state.loaded.progress().report(),
        "facets": content.is_some_and(|content| content.book.has_facets()),
        "games": content.is_some_and(|content| !content.games.is_empty()),
        "repertoire": state.repertoire.is_some(),
        "searches": {
            "running": state.searches.count(),
            "max": MAX_SEARCHES,
            "threads": threads,
            "lines": lines,
            "memory": memory_mb,
        },
    }))
}

async fn description() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], DESCRIPTION).into_response()
}

async fn analyse(
    State(state): Shared,
    Extension(ClientAddress(client_address)): Extension<ClientAddress>,
    uri: Uri,
) -> Result<Sse<impl Stream<Item = Result<Event, std::convert::Infallible>>>, ApiError> {
    let sources = (state.loaded.content()?, &state.analyses);
    let order = AnalysisRequest::of(Query::of(&uri)?, state.search_limits)?;
    let closing = state.closing.clone();
    let events =
        analysis::start(&state.searches, sources, client_address.ip(), order, closing).await?;
    Ok(Sse::new(Received(events)).keep_alive(KeepAlive::default()))
}

async fn annotate(
    State(state): Shared,
    Extension(ClientAddress(client_address)): Extension<ClientAddress>,
    uri: Uri,
    Pasted(text): Pasted,
) -> Result<Response, ApiError> {
    let content = state.loaded.content()?;
    let order = (Query::of(&uri)?, text.as_str());
    let closing = state.closing.clone();
    let lines =
        annotation::start(&state.annotations, content, client_address.ip(), order, closing).await?;
    Ok(json_lines(lines))
}

async fn report(
    State(state): Shared,
    Extension(ClientAddress(client_address)): Extension<ClientAddress>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let content = state.loaded.content()?;
    let query = Query::of(&uri)?;
    let closing = state.closing.clone();
    opening_report::answer(&state.reports, content, client_address.ip(), query, closing).await
}

async fn search_pattern(
    State(state): Shared,
    Extension(ClientAddress(client_address)): Extension<ClientAddress>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let content = state.loaded.content()?;
    let (query, closing) = (Query::of(&uri)?, state.closing.clone());
    let address = client_address.ip();
    let lines =
        pattern::start(&state.patterns, &state.moves, content, address, query, closing).await?;
    Ok(json_lines(lines))
}

/// Completes a player's name. The first request collects the names in the books, which takes a
/// while.
async fn player_names(State(state): Shared, uri: Uri) -> Result<Json<Completions>, ApiError> {
    let content = Arc::clone(state.loaded.content()?);
    let query = Query::of(&uri)?;
    let permit = state.reader().await?;
    let complete = move || {
        let _permit = permit;
        state.names.get_or_init(|| PlayerNames::of(&content.book)).complete(query)
    };
    blocking(complete).await?.map(Json)
}

async fn player(State(state): Shared, uri: Uri) -> Result<Response, ApiError> {
    let order = Query::of(&uri).and_then(PlayerOrder::of).map_err(ApiError::plain)?;
    let stream = start_player(&state, order).map_err(ApiError::plain)?;
    Ok(json_lines(stream))
}

/// Starts a stream that repeatedly sends the results of a player's games until all files have been
/// searched.
fn start_player(
    state: &Arc<AppState>,
    order: PlayerOrder,
) -> Result<mpsc::Receiver<Bytes>, ApiError> {
    let content = Arc::clone(state.loaded.content()?);
    let streams = Arc::clone(&state.streams).try_acquire_owned();
    let permit =
        streams.map_err(|_| ApiError::unavailable("too many streams run: try again soon"))?;
    let index = state.players(&content)?.get(order.player())?;
    let (sender, receiver) = mpsc::channel(1);
    let state = Arc::clone(state);
    tokio::spawn(async move {
        let _permit = permit;
        let mut last = None;
        let mut closing = state.closing.clone();
        loop {
            let is_last = index.is_done();
            let why = match index.fault() {
                _ if !is_last && *closing.borrow() => Some("the server ends"),
                fault => fault.filter(|_| is_last),
            };
            let Ok(players) = state.players(&content) else { return };
            let answer = order.answer(&content, &index, players.queue_position(&index));
            // If nothing has changed, an empty line is sent to keep proxies from closing the idle
            // stream.
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
