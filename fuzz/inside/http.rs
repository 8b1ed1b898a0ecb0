//! Sends arbitrary text to the explorer's server as an HTTP request. The server must not panic,
//! must answer with a documented status, and must give the same answer if the request is repeated.
//!
//! The first line contains the method and the address, and the following lines contain the headers.
//! The text after an empty line is the body. Requests for which the server would start threads are
//! only parsed.

use std::path::Path;
use std::sync::OnceLock;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response, header};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tower::ServiceExt;

use crate::web::serve::LoadedBooks;
use crate::web::serve::unattended::{parse, router};

const GAMES: &[u8] = include_bytes!("../../books/dumb.pgn");
/// The maximum size of a response in bytes. Responses for a small book are always smaller.
const MAX_ANSWER: usize = 4 << 20;
const STATUSES: [u16; 12] = [200, 204, 304, 400, 403, 404, 405, 408, 409, 413, 414, 503];
/// Paths whose responses stream the results of other threads.
const STREAMS: [&str; 4] = ["/analysis", "/annotate", "/player", "/personal"];

struct Server {
    router: Router,
    runtime: Runtime,
    _closing: watch::Sender<bool>,
}

fn server(folder: &Path) -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let path = folder.join("dumb.pgn");
        std::fs::write(&path, GAMES).expect("a folder");
        let loaded = LoadedBooks::new(vec![path], Vec::new());
        loaded.open().expect("games");
        let (closing, is_closing) = watch::channel(false);
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let router = {
            let _context = runtime.enter();
            router(loaded, is_closing)
        };
        Server { router, runtime, _closing: closing }
    })
}

/// Seed inputs.
pub fn seeds() -> Vec<(&'static str, &'static str)> {
    vec![
        ("book", "GET /book?play=e2e4,e7e5&fen=\nhost: localhost:9002\n\n"),
        (
            "masters",
            "GET /masters?fen=rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR%20w%20KQkq%20-%200%201&moves=3&topGames=2&since=1950&until=2020-05\n\n",
        ),
        (
            "lichess",
            "GET /lichess?variant=standard&speeds=blitz,rapid&ratings=1600,2200&play=d2d4&recentGames=1\n\n",
        ),
        ("history", "GET /lichess/history?since=2012-12&until=2024-01\n\n"),
        (
            "player",
            "GET /player?player=A%2c+B&color=white&modes=rated&speeds=bullet&recentGames=8\n\n",
        ),
        ("analysis", "GET /analysis?seconds=5&lines=3&client=x&play=g1f3\n\n"),
        ("annotate", "POST /annotate?nodes=200&client=y\norigin: null\n\n1. e4 e5 2. Ke2 *\n"),
        ("read", "POST /read\ncontent-type: text/plain\n\n8/8/8/4k3/8/8/4P3/4K3 w - - 0 1"),
        (
            "pasted",
            "POST /read\nsec-fetch-site: cross-site\n\n[White \"A\"]\n\n1. e4 {x} (1. d4) e5 $1 1-0",
        ),
        ("orders", "GET /book/move-orders?play=e2e4,e7e5,g1f3\nif-none-match: W/\"x\"\n\n"),
        ("game", "GET /game/00000001\n\n"),
        ("pgn", "GET /masters/pgn/AAAAAAAA\naccept-encoding: gzip\n\n"),
        ("status", "GET /status\n\n"),
        ("preflight", "OPTIONS /read\norigin: http://a\naccess-control-request-method: POST\n\n"),
        ("castling", "GET /book?fen=r3k2r/8/8/8/8/8/8/R3K2R_w_KQkq_-_0_1&play=e1h1,e8a8,O-O\n\n"),
    ]
}

/// Splits a text into an HTTP request and its body. Returns `None` if hyper would reject the
/// request.
fn request(text: &str) -> Option<(Request<()>, &str)> {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let (method, address) = lines.next()?.split_once(' ')?;
    let mut builder = Request::builder().method(method).uri(address);
    for line in lines {
        let (name, value) = line.split_once(':')?;
        builder = builder.header(name, value.trim());
    }
    builder.body(()).ok().map(|request| (request, body))
}

type Answer = (u16, Option<String>, Vec<u8>);

async fn answer(server: &Server, request: &Request<()>, body: &str) -> Answer {
    let mut own = Request::builder().method(request.method()).uri(request.uri());
    *own.headers_mut().expect("a request") = request.headers().clone();
    let own = own.body(Body::from(body.to_owned())).expect("a request");
    let response: Response<Body> = match server.router.clone().oneshot(own).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let (parts, body) = response.into_parts();
    let kind = parts.headers.get(header::CONTENT_TYPE);
    let is_encoded = parts.headers.contains_key(header::CONTENT_ENCODING);
    let kind = kind.filter(|_| !is_encoded).map(|kind| kind.to_str().expect("text").to_owned());
    let bytes = to_bytes(body, MAX_ANSWER).await.expect("a short answer");
    (parts.status.as_u16(), kind, bytes.to_vec())
}

/// Sends the request twice, and asserts that both responses are valid and equal. The first call
/// creates files in the folder.
pub fn run(folder: &Path, text: &str) {
    let Some((request, body)) = request(text) else { return };
    let _ = parse(request.uri(), body);
    if STREAMS.iter().any(|&path| request.uri().path() == path) {
        return;
    }
    let server = server(folder);
    let both = server.runtime.block_on(async {
        [answer(server, &request, body).await, answer(server, &request, body).await]
    });
    let [(status, kind, bytes), again] = both;
    assert!(STATUSES.contains(&status), "{status} for {text:?}");
    let is_json = kind.as_deref() == Some("application/json");
    if is_json && !bytes.is_empty() {
        let read: Result<serde_json::Value, _> = serde_json::from_slice(&bytes);
        assert!(read.is_ok(), "{text:?}: {}", String::from_utf8_lossy(&bytes));
    }
    assert_eq!(again, (status, kind, bytes), "{text:?}");
}
