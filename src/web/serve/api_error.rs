//! HTTP error responses with a message for the user.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// The value of the `Retry-After` header when the server is busy or not ready.
const RETRY_SECONDS: HeaderValue = HeaderValue::from_static("1");

/// An HTTP error: a status, and a sentence that states the problem and the solution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) text: String,
    /// Whether the response is plain text, as in Lichess's explorer, instead of JSON.
    is_plain: bool,
}

impl ApiError {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        ApiError { status, text: text.into(), is_plain: false }
    }

    /// Status 400: the request is invalid.
    pub(crate) fn bad_request(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// Status 409: the request is valid, but the loaded books do not have the data that it needs.
    pub(crate) fn conflict(text: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, text)
    }

    /// Status 403: the client is not allowed to do this.
    pub(crate) fn forbidden(text: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, text)
    }

    /// Status 413: the body exceeds the limit.
    pub(crate) fn too_large(text: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, text)
    }

    /// Status 408: the rest of the request did not arrive within the time limit.
    pub(crate) fn request_timeout(text: impl Into<String>) -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, text)
    }

    /// Status 405: the path does not support this method.
    pub(crate) fn method_not_allowed(text: impl Into<String>) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, text)
    }

    /// Status 404: the requested resource does not exist.
    pub(crate) fn not_found(text: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, text)
    }

    /// Status 503: too many requests are running, or the result is not ready yet.
    pub(crate) fn unavailable(text: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    /// Status 410: the requested resource no longer exists.
    pub(crate) fn gone(text: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, text)
    }

    /// Returns the same error as a plain-text response.
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
