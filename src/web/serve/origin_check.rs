//! Decides which web pages may use costly endpoints: those that run searches or read large inputs.
//!
//! Browsers let any web page send requests to this machine. Requests from foreign pages can be
//! recognised by their `Origin` or `Sec-Fetch-Site` header or, if the page's host name resolves to
//! this machine, by an unknown `Host` header. Programs other than browsers do not send such
//! headers, and may use all endpoints.

use axum::http::{HeaderMap, HeaderValue, header};

use super::api_error::ApiError;

/// The header in which a browser states whether the requesting page belongs to the same site as the
/// server.
const SITE: &str = "sec-fetch-site";

/// Accepts requests from the server's own page, from other programs, and from allowed origins.
#[derive(Debug)]
pub(crate) struct OriginCheck {
    origins: Vec<String>,
    /// Whether the server accepts connections only from this machine. If so, requests whose `Host`
    /// header names another machine are rejected, unless the origin is allowed.
    is_local: bool,
}

impl OriginCheck {
    pub(crate) fn new(origins: Vec<String>, is_local: bool) -> Self {
        OriginCheck { origins, is_local }
    }

    pub(super) fn origins(&self) -> impl Iterator<Item = HeaderValue> {
        self.origins.iter().filter_map(|origin| origin.parse().ok())
    }

    /// Checks that a request comes from the server's own page, from an allowed origin, or from a
    /// program other than a browser.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let origin = headers.get(header::ORIGIN).map(text);
        if origin.as_ref().is_some_and(|origin| self.origins.contains(origin)) {
            return Ok(());
        }
        let host = headers.get(header::HOST).map(text);
        let is_own_name = host.as_deref().is_none_or(|host| self.is_own(host));
        let is_same = match &origin {
            Some(origin) => authority(origin) == host.as_deref(),
            None => headers.get(SITE).is_none_or(|site| site == "same-origin" || site == "none"),
        };
        if is_own_name && is_same {
            return Ok(());
        }
        let page = origin.or(host).unwrap_or_else(|| "another site".to_owned());
        Err(ApiError::forbidden(format!(
            "the server does not allow requests from pages of {page:?}; start it with --origin to allow them"
        )))
    }

    fn is_own(&self, host: &str) -> bool {
        !self.is_local
            || is_this_machine(host)
            || self.origins.iter().any(|origin| authority(origin) == Some(host))
    }
}

fn authority(origin: &str) -> Option<&str> {
    origin.split_once("://").map(|(_, authority)| authority)
}

/// Returns whether a host is `localhost` or an IP address, neither of which can be redirected
/// through DNS.
fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let name = name.to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost") || name.parse::<std::net::IpAddr>().is_ok()
}

/// Parses an origin as sent by browsers.
pub(crate) fn parse_origin(text: &str) -> Result<String, String> {
    let origin = text.trim_end_matches('/').to_ascii_lowercase();
    let is_fit = |authority: &str| {
        !authority.is_empty() && authority.bytes().all(|byte| byte.is_ascii_graphic())
    };
    match authority(&origin) {
        Some(authority) if is_fit(authority) && !authority.contains(['/', '*', '@', ',']) => {
            Ok(origin)
        }
        _ => Err("expected the origin of a page, such as https://example.org".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(origin_check: &OriginCheck, sent: &[(&'static str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.insert(*name, value.parse().expect("a value"));
        }
        origin_check.check(&headers).is_ok()
    }

    #[test]
    fn only_own_and_allowed_origins_are_admitted() {
        let origin_check = OriginCheck::new(vec!["https://chess.example".to_owned()], true);
        let own = ("host", "127.0.0.1:9002");
        for sent in [
            &[][..],
            &[own],
            &[("host", "localhost:9002"), ("origin", "http://localhost:9002")],
            &[("host", "[::1]:9002"), ("origin", "http://[::1]:9002")],
            &[own, ("origin", "http://127.0.0.1:9002"), ("sec-fetch-site", "same-origin")],
            &[own, ("sec-fetch-site", "same-origin")],
            &[own, ("sec-fetch-site", "none")],
            &[own, ("origin", "https://chess.example"), ("sec-fetch-site", "cross-site")],
            &[("host", "chess.example"), ("sec-fetch-site", "same-origin")],
        ] {
            assert!(admits(&origin_check, sent), "{sent:?}");
        }
        for sent in [
            &[own, ("origin", "https://evil.example")][..],
            &[own, ("origin", "http://127.0.0.1:8000")],
            &[own, ("origin", "null")],
            &[own, ("sec-fetch-site", "cross-site")],
            &[own, ("sec-fetch-site", "same-site")],
            &[("host", "evil.example:9002"), ("origin", "http://evil.example:9002")],
            &[("host", "evil.example:9002")],
            &[("host", "127.0.0.1.evil.example")],
        ] {
            assert!(!admits(&origin_check, sent), "{sent:?}");
        }
        let open = OriginCheck::new(Vec::new(), false);
        assert!(admits(&open, &[("host", "box:9002"), ("origin", "http://box:9002")]));
        assert!(!admits(&open, &[("host", "box:9002"), ("origin", "http://other:9002")]));
    }

    #[test]
    fn origins_are_parsed() {
        assert_eq!(parse_origin("https://Chess.Example/"), Ok("https://chess.example".to_owned()));
        for text in ["*", "chess.example", "https://", "https://a/b", "https://*.a", "null"] {
            assert!(parse_origin(text).is_err(), "{text}");
        }
    }
}
