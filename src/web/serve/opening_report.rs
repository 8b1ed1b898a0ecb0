//! `/report`: an opening report as an HTML page.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::watch;

use super::api_error::ApiError;
use super::facets::{self, Dates};
use super::games::game_folders;
use super::limits::{MAX_REPORT_GAMES, MAX_REPORT_SECONDS};
use super::loaded_books::Content;
use super::query::Query;
use super::searches::{Ending, Searches, Stop, client_name};
use crate::chess::position::{Game, Position};
use crate::games::book::{Book, FacetFilter};
use crate::tools::opening_report::{
    ExplorerLinks, ReportSource, SAMPLE_GAMES, opening_report, page,
};

/// The content security policy of a report: the page loads nothing, and its styles are inline.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

/// Creates a report on a separate thread, and responds with its HTML page. If the client
/// disconnects, this future is dropped, which stops the thread.
pub(super) async fn answer(
    reports: &Arc<Searches>,
    content: &Arc<Content>,
    address: IpAddr,
    mut query: Query,
    closing: watch::Receiver<bool>,
) -> Result<Response, ApiError> {
    let game = query.game()?;
    let filters = query.part(&facets::PARAMETERS);
    let filter = facets::read(&mut query, Dates::Months)?;
    facets::check(&content.book, &filter)?;
    let limit = query.number("games", (0, MAX_REPORT_GAMES as u64))?;
    let limit = limit.map_or(SAMPLE_GAMES, |limit| limit as usize);
    let client = (address, client_name(&mut query)?);
    query.finish()?;
    let content = Arc::clone(content);
    let time = Duration::from_secs(MAX_REPORT_SECONDS);
    let wanted = Wanted { game, filter, filters, limit };
    let making = reports.start(client, time, closing, move |stop, _| make(&content, &wanted, stop));
    let mut made = making.await?;
    let ended = || ApiError::unavailable("the report was not made");
    let page = made.recv().await.ok_or_else(ended)??;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    Ok((headers, page).into_response())
}

/// What a client has requested.
struct Wanted {
    game: Game,
    filter: FacetFilter,
    /// The parameters of the filter in the query.
    filters: String,
    /// The maximum number of games to read.
    limit: usize,
}

/// Returns the book that `/book` shows for a position, and its name: the first book that contains
/// the position or, if there is none, the first one that contains a position one move later. With a
/// filter, skips books without facets.
fn shown_book<'c>(
    content: &'c Content,
    position: &Position,
    filter: &FacetFilter,
) -> (&'c str, &'c Book) {
    let is_fit = |(_, book): &&(String, Book)| filter.is_everything() || book.has_facets();
    let sources = || content.sources.iter().filter(is_fit);
    let found = sources()
        .find(|(_, book)| book.reached(position).is_some())
        .or_else(|| sources().find(|(_, book)| !book.moves(position).is_empty()))
        .or_else(|| sources().next());
    found.map_or((content.book.name(), &content.book), |(name, book)| (name, book))
}

/// Creates the HTML page of a report. If the time runs out, the report covers the games read so
/// far, and states their number.
fn make(content: &Content, wanted: &Wanted, stop: &Stop) -> Result<String, ApiError> {
    let Wanted { game, filter, filters, limit } = wanted;
    let (name, book) = shown_book(content, game.position(), filter);
    let source = ReportSource {
        book,
        name: name.to_owned(),
        names: &content.names,
        filter,
        folders: &game_folders(content),
        limit: *limit,
    };
    let report = opening_report(&source, game, &|| stop.switch().is_stopped(), |_| ());
    match stop.ending() {
        Ending::Finished | Ending::Time | Ending::Cached => {
            let position = explorer_address(game, filters);
            let links = ExplorerLinks { position, filters: filters.clone() };
            Ok(page(&report, Some(&links)))
        }
        Ending::Replaced => Err(ApiError::unavailable("the same client asked for another report")),
        Ending::Left | Ending::Closing => Err(ApiError::unavailable("the server ends")),
    }
}

/// Returns the relative URL of a position in the explorer, with the parameters of a filter.
fn explorer_address(game: &Game, filters: &str) -> String {
    let start = game.start();
    let fen =
        (start.key() != Position::start().key()).then(|| format!("fen={}", escaped(&start.fen())));
    let moves: Vec<String> = game.moves().iter().map(ToString::to_string).collect();
    let play = (!moves.is_empty()).then(|| format!("play={}", moves.join(",")));
    let filters = (!filters.is_empty()).then(|| filters.to_owned());
    let parts: Vec<String> = fen.into_iter().chain(play).chain(filters).collect();
    if parts.is_empty() { "/".to_owned() } else { format!("/?{}", parts.join("&")) }
}

/// Escapes a FEN for a query. Spaces are the only characters in a FEN that need escaping.
fn escaped(fen: &str) -> String {
    fen.replace(' ', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explorer_address_leads_to_the_position() {
        let mut game = Game::new(Position::start());
        assert_eq!(explorer_address(&game, ""), "/");
        assert_eq!(explorer_address(&game, "speeds=blitz"), "/?speeds=blitz");
        game.play("e2e4".parse().expect("a move")).expect("legal");
        assert_eq!(explorer_address(&game, ""), "/?play=e2e4");
        let filtered = explorer_address(&game, "since=2020-01");
        assert_eq!(filtered, "/?play=e2e4&since=2020-01");
        let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
        let game = Game::new(Position::from_fen(fen).expect("legal"));
        assert_eq!(explorer_address(&game, ""), format!("/?fen={}", fen.replace(' ', "%20")));
    }
}
