//! The endpoints of the repertoire, and who may use them.
//!
//! A repertoire is private, so web pages can read it only if they may start searches. Only the
//! server's own page and programs on this machine can change the file. Requests to change it must
//! be JSON, because browsers let pages from other origins send JSON only with the server's
//! permission, which it never grants for this endpoint. Requests from other machines are rejected,
//! and so are requests through proxies that identify themselves.

use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

use super::file::RepertoireFile;
use super::gaps::GapsAnswer;
use super::place::RepertoireAnswer;
use super::shapes;
use crate::web::serve::api_error::ApiError;
use crate::web::serve::limits::{MAX_COMMENT, MAX_SHAPES};
use crate::web::serve::loaded_books::LoadedBooks;
use crate::web::serve::origin_check::OriginCheck;
use crate::web::serve::query::Query;
use crate::web::serve::request::{ClientAddress, Pasted, blocking};

const JSON: &str = "application/json";
/// Headers that proxies add to requests. They are checked because requests from other machines look
/// local if they pass through a proxy on this machine.
const PROXY_HEADERS: [&str; 5] =
    ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

/// The served repertoire, and the books whose games show how opponents play.
#[derive(Debug, Clone)]
pub(crate) struct Served {
    file: Option<Arc<RepertoireFile>>,
    loaded: Arc<LoadedBooks>,
}

impl Served {
    pub(crate) fn new(file: Option<Arc<RepertoireFile>>, loaded: Arc<LoadedBooks>) -> Self {
        Served { file, loaded }
    }

    fn file(&self) -> Result<&Arc<RepertoireFile>, ApiError> {
        let why = "no repertoire is served: start the server with --repertoire and --side";
        self.file.as_ref().ok_or_else(|| ApiError::not_found(why))
    }
}

/// Returns the endpoints that only read the repertoire.
pub(crate) fn readable<S: Clone + Send + Sync + 'static>(served: Served) -> Router<S> {
    let router = Router::new().route("/repertoire", get(position));
    router.route("/repertoire/gaps", get(gaps)).with_state(served)
}

/// Returns the endpoint that changes the repertoire.
pub(crate) fn writable<S: Clone + Send + Sync + 'static>(served: Served) -> Router<S> {
    let router = Router::new().route("/repertoire/moves", post(add));
    let router = router.layer(middleware::from_fn(only_json));
    router.layer(middleware::from_fn(only_local)).with_state(served)
}

/// Rejects requests that do not come from the server's own page or from a program on this machine.
pub(crate) async fn only_local(
    Extension(ClientAddress(client)): Extension<ClientAddress>,
    request: Request,
    next: Next,
) -> Response {
    match check_client(request.headers(), client.ip().to_canonical().is_loopback()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// Rejects requests that are not JSON. Browsers let a page from another origin send JSON only with
/// the server's permission, which it never grants for this endpoint.
async fn only_json(request: Request, next: Next) -> Response {
    match check_json(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

fn check_json(headers: &HeaderMap) -> Result<(), ApiError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
    match kind.is_some_and(|kind| kind.eq_ignore_ascii_case(JSON)) {
        true => Ok(()),
        false => Err(ApiError::unsupported_media_type(format!("expected the Content-Type {JSON}"))),
    }
}

fn check_client(headers: &HeaderMap, is_local: bool) -> Result<(), ApiError> {
    let is_forwarded = PROXY_HEADERS.iter().any(|name| headers.contains_key(*name));
    let is_own_page = OriginCheck::new(Vec::new(), true).check(headers).is_ok();
    if !is_local || is_forwarded || !is_own_page {
        return Err(ApiError::forbidden(
            "only the server's own page, opened as http://127.0.0.1 or http://localhost, and \
             programs on this machine may change the repertoire or its training",
        ));
    }
    Ok(())
}

async fn position(
    State(served): State<Served>,
    uri: Uri,
) -> Result<Json<RepertoireAnswer>, ApiError> {
    let file = Arc::clone(served.file()?);
    let mut query = Query::of(&uri)?;
    let game = query.game()?;
    query.finish()?;
    // The file may have to be read again.
    let answer = move || RepertoireAnswer::new(&file, &file.current(), &game);
    blocking(answer).await.map(Json)
}

async fn gaps(State(served): State<Served>, uri: Uri) -> Result<Json<GapsAnswer>, ApiError> {
    Query::of(&uri)?.finish()?;
    let file = Arc::clone(served.file()?);
    let content = Arc::clone(served.loaded.content()?);
    let find = move || {
        let snapshot = file.current();
        let find = || GapsAnswer::new(&snapshot.repertoire, &snapshot.version, &content);
        snapshot.gaps.get_or_init(find).clone()
    };
    blocking(find).await.map(Json)
}

/// The body of a request to add a line: the comment and shapes for the line's last move, and the
/// version of the file that the client has seen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AddRequest {
    version: String,
    #[serde(default)]
    comment: String,
    #[serde(default)]
    shapes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct AddAnswer {
    /// The number of moves added to the file.
    added: usize,
    /// Whether the file was written.
    written: bool,
    version: String,
}

async fn add(
    State(served): State<Served>,
    uri: Uri,
    Pasted(text): Pasted,
) -> Result<Json<AddAnswer>, ApiError> {
    let file: Arc<RepertoireFile> = Arc::clone(served.file()?);
    let request: AddRequest = serde_json::from_str(&text)
        .map_err(|error| ApiError::bad_request(format!("the body is invalid: {error}")))?;
    let comment = comment_of(&request)?;
    let mut query = Query::of(&uri)?;
    let game = query.game()?;
    query.finish()?;
    let write = move || {
        let added = file.add(&request.version, &game, &comment)?;
        let version = file.current().version.clone();
        Ok(AddAnswer { added: added.unwrap_or(0), written: added.is_some(), version })
    };
    blocking(write).await?.map(Json)
}

fn comment_of(AddRequest { comment, shapes, .. }: &AddRequest) -> Result<String, ApiError> {
    if comment.chars().count() > MAX_COMMENT || shapes.len() > MAX_SHAPES {
        return Err(ApiError::bad_request(format!(
            "a comment has at most {MAX_COMMENT} letters and {MAX_SHAPES} arrows and squares"
        )));
    }
    match shapes.iter().find(|shape| !shapes::is_shape(shape)) {
        Some(shape) => Err(ApiError::bad_request(format!(
            "{shape:?} is no arrow (such as Ge2e4) and no square (such as Rd4)"
        ))),
        None => Ok(shapes::join(comment, shapes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(sent: &[(&'static str, &str)], is_local: bool) -> u16 {
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.insert(*name, value.parse().expect("a value"));
        }
        check_client(&headers, is_local)
            .and_then(|()| check_json(&headers))
            .map_or_else(|error| error.status.as_u16(), |()| 200)
    }

    #[test]
    fn only_own_page_and_local_programs_may_write() {
        let (json, host) = (("content-type", "application/json"), ("host", "127.0.0.1:9002"));
        let own = ("origin", "http://127.0.0.1:9002");
        assert_eq!(status(&[host, json], true), 200);
        assert_eq!(status(&[host, own, json, ("sec-fetch-site", "same-origin")], true), 200);
        assert_eq!(status(&[host, ("content-type", "Application/JSON; charset=utf-8")], true), 200);
        for sent in [
            &[host, json, ("origin", "https://evil.example")][..],
            &[host, json, ("origin", "null")],
            &[host, json, ("origin", "http://127.0.0.1:8000")],
            &[host, json, ("sec-fetch-site", "cross-site")],
            &[json, ("host", "evil.example:9002"), ("origin", "http://evil.example:9002")],
            &[host, json, ("x-forwarded-for", "10.0.0.1")],
            &[host, own, json, ("via", "1.1 proxy")],
        ] {
            assert_eq!(status(sent, true), 403, "{sent:?}");
        }
        assert_eq!(status(&[host, own, json], false), 403);
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
            assert_eq!(status(&[host, own, ("content-type", kind)], true), 415, "{kind}");
        }
        assert_eq!(status(&[host, own], true), 415);
    }
}
