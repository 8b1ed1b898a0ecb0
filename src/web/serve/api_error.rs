//! HTTP error responses with a message for the user.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// The value of the `Retry-After` header when the server is busy or not ready.
const RETRY_SECONDS: HeaderValue = HeaderValue::from_static("1");

/// An HTTP error: a status code and a message that states the problem and how to solve it.
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

    pub(crate) fn bad_request(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// Status 409: the loaded books lack data that the request requires, or the file to change has
    /// been modified since the client last read it.
    pub(crate) fn conflict(text: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, text)
    }

    pub(crate) fn forbidden(text: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, text)
    }

    pub(crate) fn unsupported_media_type(text: impl Into<String>) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text)
    }

    pub(crate) fn too_large(text: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, text)
    }

    /// Status 408: the request was not received completely within the time limit.
    pub(crate) fn request_timeout(text: impl Into<String>) -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, text)
    }

    pub(crate) fn method_not_allowed(text: impl Into<String>) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, text)
    }

    pub(crate) fn not_found(text: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, text)
    }

    /// Status 503: too many requests are running, or the result is not ready yet.
    pub(crate) fn unavailable(text: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    pub(crate) fn gone(text: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, text)
    }

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
