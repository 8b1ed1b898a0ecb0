//! Annotates a game: sends progress as JSON lines, followed by the annotated game.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::api_error::ApiError;
use super::limits::{
    DEFAULT_ANNOTATION_NODES, MAX_ANNOTATION_NODES, MAX_ANNOTATION_SECONDS, MAX_PLAY,
    MIN_ANNOTATION_NODES, SEARCH_MEMORY_MB,
};
use super::loaded_books::Content;
use super::pasted::read_game;
use super::query::Query;
use super::searches::{Ending, Searches, Stop, client_name};
use super::stream::json_line;
use crate::engine::search::{Config, Searcher};
use crate::games::pgn::PgnGame;
use crate::tools::annotate::work::annotate_one;
use crate::tools::annotate::{Background, Effort, Limits, game_data};

pub(super) struct AnnotationRequest {
    game: PgnGame,
    effort: Effort,
    client: String,
}

impl AnnotationRequest {
    pub(super) fn of(mut query: Query, text: &str) -> Result<Self, ApiError> {
        let range = (MIN_ANNOTATION_NODES, MAX_ANNOTATION_NODES);
        let nodes = query.number("nodes", range)?.unwrap_or(DEFAULT_ANNOTATION_NODES);
        let client = client_name(&mut query)?;
        query.finish()?;
        let (game, _) = read_game(text)?;
        if game.moves.is_empty() {
            return Err(ApiError::bad_request("there is no move to be explained"));
        }
        if game.moves.len() > MAX_PLAY {
            return Err(ApiError::bad_request(format!(
                "games of at most {MAX_PLAY} moves are explained"
            )));
        }
        Ok(AnnotationRequest { game, effort: Effort::Nodes(nodes), client })
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Line {
    /// The number of positions searched so far, and the total number.
    Progress {
        searched: usize,
        of: usize,
    },
    /// The annotated game, both in the page's format and as PGN.
    Game {
        game: Value,
        pgn: String,
    },
    Error {
        error: String,
    },
}

/// Starts annotating the first game in the request body, and returns the lines of the response.
/// Dropping the receiver or starting another annotation for the same client stops the annotation.
pub(crate) async fn start(
    searches: &Arc<Searches>,
    content: &Arc<Content>,
    address: IpAddr,
    (query, text): (Query, &str),
    closing: watch::Receiver<bool>,
) -> Result<mpsc::Receiver<Bytes>, ApiError> {
    let order = AnnotationRequest::of(query, text)?;
    let client = (address, order.client.clone());
    let content = Arc::clone(content);
    let time = Duration::from_secs(MAX_ANNOTATION_SECONDS);
    searches
        .start(client, time, closing, move |stop, sender| {
            json_line(&annotate(&content, &order, stop, sender))
        })
        .await
}

fn annotate(
    content: &Content,
    order: &AnnotationRequest,
    stop: &Stop,
    sender: &mpsc::Sender<Bytes>,
) -> Line {
    let background = Background {
        book: &content.book,
        names: &content.names,
        repertoire: None,
        players: &[],
        limits: Limits::default(),
        effort: order.effort.describe(),
    };
    let config = Config { memory_mb: SEARCH_MEMORY_MB, ..Config::default() };
    let mut send = |searched, of| {
        // A progress line is dropped if the client has not yet received the earlier ones.
        let _ = sender.try_send(json_line(&Line::Progress { searched, of }));
    };
    let mut searcher = Searcher::on_large_stack(config);
    let done = annotate_one(
        &order.game,
        &mut searcher,
        order.effort,
        &background,
        stop.switch(),
        &mut send,
    );
    match done {
        Some(done) => Line::Game { game: game_data(&done.pgn), pgn: done.pgn.to_string() },
        None => {
            let why = match stop.ending() {
                Ending::Time => {
                    format!("it took more than {MAX_ANNOTATION_SECONDS} s: ask with fewer nodes")
                }
                Ending::Replaced => "the same client asked again".to_owned(),
                Ending::Left => "the client has gone".to_owned(),
                Ending::Closing => "the server ends".to_owned(),
                Ending::Finished | Ending::Cached => "it could not be searched".to_owned(),
            };
            Line::Error { error: format!("the game was not finished: {why}") }
        }
    }
}
