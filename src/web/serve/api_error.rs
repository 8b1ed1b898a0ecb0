//! Errors of requests, and their responses.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Seconds after which to retry while the server is busy or not ready.
const RETRY_SECONDS: HeaderValue = HeaderValue::from_static("1");

/// The error of a request: a status and a sentence that states what is wrong and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    /// The HTTP status.
    pub(crate) status: StatusCode,
    /// What is wrong.
    pub(crate) text: String,
    /// Whether the response is plain text, as that of the Lichess explorer, instead of JSON.
    is_plain: bool,
}

impl ApiError {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        ApiError { status, text: text.into(), is_plain: false }
    }

    /// Something in the request is wrong.
    pub(crate) fn bad_request(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// The request is sound, but the books that are served cannot answer it.
    pub(crate) fn conflict(text: impl Into<String>) -> Self {
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
    pub(crate) fn request_timeout(text: impl Into<String>) -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, text)
    }

    /// The address does not take this method.
    pub(crate) fn method_not_allowed(text: impl Into<String>) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, text)
    }

    /// There is no such thing.
    pub(crate) fn not_found(text: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, text)
    }

    /// Too many requests are running, or the result is still being made.
    pub(crate) fn unavailable(text: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    /// What was there is gone.
    pub(crate) fn gone(text: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, text)
    }

    /// The same in the form of Lichess' explorer.
    pub(crate) fn plain(self) -> Self {
        ApiError { is_plain: true, ..self }
    }
}

impl IntoResponse for ApiError {
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
