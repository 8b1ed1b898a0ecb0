//! Helpers for handling requests: the client's address, text bodies, and blocking work.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use axum::body::{HttpBody, to_bytes};
use axum::extract::{FromRequest, Request};
use http_body_util::LengthLimitError;

use super::api_error::ApiError;
use super::limits::MAX_PASTED;
use crate::games::pgn::text;

/// Runs a possibly blocking function on a thread intended for blocking work.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ApiError::unavailable(error.to_string()))
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientAddress(pub(crate) SocketAddr);

/// The time limit for receiving a request body.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodyTimeout(pub(super) Duration);

/// The text of a request body. Like files, it is decoded as UTF-8 or, if it is not valid UTF-8, as
/// Latin-1.
pub(super) struct Pasted(pub(super) String);

impl<S: Sync> FromRequest<S> for Pasted {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let too_large =
            || ApiError::too_large(format!("the text has more than {MAX_PASTED} bytes"));
        let Some(&BodyTimeout(limit)) = request.extensions().get() else {
            return Err(ApiError::unavailable("the server is not ready"));
        };
        let body = request.into_body();
        if body.size_hint().lower() > MAX_PASTED as u64 {
            return Err(too_large());
        }
        match tokio::time::timeout(limit, to_bytes(body, MAX_PASTED)).await {
            Ok(Ok(bytes)) => Ok(Pasted(text(&bytes).into_owned())),
            Ok(Err(error)) if is_too_large(&error) => Err(too_large()),
            Ok(Err(error)) => {
                Err(ApiError::bad_request(format!("the text cannot be read: {error}")))
            }
            Err(_) => {
                let seconds = limit.as_secs();
                Err(ApiError::request_timeout(format!(
                    "the text did not arrive within {seconds} s"
                )))
            }
        }
    }
}

fn is_too_large(error: &axum::Error) -> bool {
    error.source().is_some_and(<dyn Error>::is::<LengthLimitError>)
}
