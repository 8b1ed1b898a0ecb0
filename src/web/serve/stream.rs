//! Streaming responses: each part is sent as soon as it is available.

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_stream::Stream;

/// The media type of newline-delimited JSON.
pub(crate) const LINES_OF_JSON: &str = "application/x-ndjson";

/// Formats a value as a line of JSON.
pub(crate) fn json_line(value: &impl Serialize) -> Bytes {
    let mut text = serde_json::to_vec(value).unwrap_or_default();
    text.push(b'\n');
    text.into()
}

/// Returns a response that sends the received JSON lines as they arrive.
pub(crate) fn json_lines(lines: mpsc::Receiver<Bytes>) -> Response {
    ([(header::CONTENT_TYPE, LINES_OF_JSON)], Body::from_stream(Received(lines))).into_response()
}

/// Turns a channel into a stream of items that are never errors.
pub(crate) struct Received<T>(pub(crate) mpsc::Receiver<T>);

impl<T> Stream for Received<T> {
    type Item = Result<T, std::convert::Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|item| item.map(Ok))
    }
}
