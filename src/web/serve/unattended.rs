//! Handles requests without a network connection. Used by the fuzz target.

use std::sync::Arc;

use axum::Router;
use axum::http::Uri;
use tokio::sync::watch;

use super::analysis::AnalysisRequest;
use super::annotation::AnnotationRequest;
use super::limits::{CLIENT_SECONDS, SearchLimits};
use super::loaded_books::LoadedBooks;
use super::origin_check::OriginCheck;
use super::player::PlayerOrder;
use super::query::Query;
use super::routes::{self, AppState};
use super::training;

/// Returns the router of a server for these books, which must be open.
pub(crate) fn router(loaded: LoadedBooks, closing: watch::Receiver<bool>) -> Router {
    let loaded = Arc::new(loaded);
    let state =
        Arc::new(AppState::new(Arc::clone(&loaded), None, SearchLimits::new(true), closing));
    let timeout = std::time::Duration::from_secs(CLIENT_SECONDS);
    let training = training::router(None, loaded);
    routes::router(state, training, OriginCheck::new(Vec::new(), true), timeout)
}

/// Parses a query as each of the three kinds of request that would start threads, and returns how
/// many of the attempts succeed. No threads are started.
pub(crate) fn parse(uri: &Uri, body: &str) -> usize {
    let query = || Query::of(uri);
    let valid = [
        query().and_then(|query| AnalysisRequest::of(query, SearchLimits::new(true))).is_ok(),
        query().and_then(|query| AnnotationRequest::of(query, body)).is_ok(),
        query().and_then(PlayerOrder::of).is_ok(),
    ];
    valid.into_iter().filter(|&is_valid| is_valid).count()
}
