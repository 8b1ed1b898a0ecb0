//! Requests that are not granted, and how that is told.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Seconds after which to ask again where the server is busy or not ready.
const RETRY_SECONDS: HeaderValue = HeaderValue::from_static("1");

/// A request that is not granted: status and a sentence that says what is wrong and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The HTTP status.
    pub(crate) status: StatusCode,
    /// What is wrong.
    pub(crate) text: String,
    /// Whether it is told as plain text, as the explorer of Lichess does, in place of JSON.
    is_plain: bool,
}

impl Refusal {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Refusal { status, text: text.into(), is_plain: false }
    }

    /// Something in the request is wrong.
    pub(crate) fn bad(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// The request is sound, but the books that are served cannot answer it.
    pub(crate) fn unable(text: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, text)
    }

    /// The client is not allowed to do this.
    pub(crate) fn forbidden(text: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, text)
    }

    /// The body is longer than what is read.
    pub(crate) fn too_large(text: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, text)
    }

    /// The rest of the request did not come.
    pub(crate) fn late(text: impl Into<String>) -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, text)
    }

    /// The address does not take this method.
    pub(crate) fn method(text: impl Into<String>) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, text)
    }

    /// There is no such thing.
    pub(crate) fn missing(text: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, text)
    }

    /// Not now: too many ask, or what is asked for is still being made.
    pub(crate) fn busy(text: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    /// What was there is gone.
    pub(crate) fn gone(text: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, text)
    }

    /// The same in the form of Lichess' explorer.
    pub(crate) fn plain(self) -> Self {
        Refusal { is_plain: true, ..self }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = match self.is_plain {
            true => self.text.into_response(),
            false => Json(json!({ "error": self.text })).into_response(),
        };
        *response.status_mut() = self.status;
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_SECONDS);
        }
        response
    }
}
