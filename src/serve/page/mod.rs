//! The page, built into the program.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// A file of the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageFile {
    /// Its address.
    pub(crate) path: &'static str,
    kind: &'static str,
    text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// The file of an address whose text lies beside this one.
macro_rules! file {
    ($path:literal, $name:literal, $kind:expr) => {
        PageFile { path: $path, kind: $kind, text: include_str!($name) }
    };
}

/// All files of the page.
pub(crate) const FILES: [PageFile; 13] = [
    file!("/", "index.html", HTML),
    file!("/icon.svg", "icon.svg", SVG),
    file!("/board.css", "board.css", CSS),
    file!("/style.css", "style.css", CSS),
    file!("/main.js", "main.js", SCRIPT),
    file!("/dom.js", "dom.js", SCRIPT),
    file!("/pieces.js", "pieces.js", SCRIPT),
    file!("/board.js", "board.js", SCRIPT),
    file!("/moves.js", "moves.js", SCRIPT),
    file!("/ways.js", "ways.js", SCRIPT),
    file!("/engine.js", "engine.js", SCRIPT),
    file!("/filters.js", "filters.js", SCRIPT),
    file!("/games.js", "games.js", SCRIPT),
];

/// What the page may load: its own files, and nothing else from anywhere.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

impl PageFile {
    /// Answers with the file, or says that the asker has it.
    pub(crate) fn answer(self, headers: &HeaderMap) -> Response {
        let tag = format!("\"{:08x}\"", crc32fast::hash(self.text.as_bytes()));
        let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| {
            // Compressed, the tag is a weak one.
            known.as_bytes().trim_ascii().ends_with(tag.as_bytes())
        });
        let mut response = match is_known {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => self.text.into_response(),
        };
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
        // Made of hexadecimal digits and quotes.
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            headers.insert(header::ETAG, tag);
        }
        response
    }
}
