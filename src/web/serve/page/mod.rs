//! The files of the explorer's page, compiled into the program.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::support::page;

#[derive(Debug, Clone, Copy)]
pub(crate) struct PageFile {
    pub(crate) path: &'static str,
    kind: &'static str,
    text: &'static str,
}

pub(crate) const HTML: &str = "text/html; charset=utf-8";
pub(crate) const CSS: &str = "text/css; charset=utf-8";
pub(crate) const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Defines a page file whose text is either a file in this module's folder or a constant of
/// `support::page`.
macro_rules! file {
    ($path:literal, $name:literal, $kind:expr) => {
        PageFile { path: $path, kind: $kind, text: include_str!($name) }
    };
    ($path:literal, $text:path, $kind:expr) => {
        PageFile { path: $path, kind: $kind, text: $text }
    };
}

pub(crate) const FILES: [PageFile; 24] = [
    file!("/", "index.html", HTML),
    file!("/notes.css", page::NOTES_CSS, CSS),
    file!("/style.css", "style.css", CSS),
    file!("/repertoire.css", "repertoire.css", CSS),
    file!("/main.js", "main.js", SCRIPT),
    file!("/notes.js", page::NOTES_JS, SCRIPT),
    file!("/annotation.js", "annotation.js", SCRIPT),
    file!("/server.js", "server.js", SCRIPT),
    file!("/moves.js", "moves.js", SCRIPT),
    file!("/variations.js", "variations.js", SCRIPT),
    file!("/game-tree.js", "game-tree.js", SCRIPT),
    file!("/open-game.js", "open-game.js", SCRIPT),
    file!("/repertoire.js", "repertoire.js", SCRIPT),
    file!("/sources.js", "sources.js", SCRIPT),
    file!("/move-orders.js", "move-orders.js", SCRIPT),
    file!("/engine.js", "engine.js", SCRIPT),
    file!("/filters.js", "filters.js", SCRIPT),
    file!("/focus.js", "focus.js", SCRIPT),
    file!("/games.js", "games.js", SCRIPT),
    file!("/pattern.js", "pattern.js", SCRIPT),
    file!("/player.js", "player.js", SCRIPT),
    file!("/train", "train.html", HTML),
    file!("/train.css", "train.css", CSS),
    file!("/train.js", "train.js", SCRIPT),
];

/// The files that all pages load.
pub(crate) const SHARED_FILES: [PageFile; 9] = [
    file!("/icon.svg", page::ICON, SVG),
    file!("/theme.css", page::THEME_CSS, CSS),
    file!("/board.css", page::BOARD_CSS, CSS),
    file!("/replay.css", page::REPLAY_CSS, CSS),
    file!("/dom.js", page::DOM_JS, SCRIPT),
    file!("/theme.js", page::THEME_JS, SCRIPT),
    file!("/pieces.js", page::PIECES_JS, SCRIPT),
    file!("/board.js", page::BOARD_JS, SCRIPT),
    file!("/chart.js", page::CHART_JS, SCRIPT),
];

/// The content security policy: the page may load only its own files.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

impl PageFile {
    /// Creates a page file. `kind` is its media type.
    pub(crate) const fn new(path: &'static str, text: &'static str, kind: &'static str) -> Self {
        PageFile { path, kind, text }
    }

    pub(crate) fn tag(self) -> String {
        format!("\"{:08x}\"", crc32fast::hash(self.text.as_bytes()))
    }

    /// Responds with the file, or with status 304 if the client already has it.
    pub(crate) fn answer(self, tag: &str, headers: &HeaderMap) -> Response {
        let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| {
            // Compare only the end, because the compression layer makes the tag weak by prefixing
            // it with `W/`.
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
        // Creating the header cannot fail, because the tag contains only hexadecimal digits and
        // quotes.
        if let Ok(tag) = HeaderValue::from_str(tag) {
            headers.insert(header::ETAG, tag);
        }
        response
    }
}

#[cfg(test)]
pub(crate) mod checks {
    use super::{PageFile, SHARED_FILES};

    /// Returns the text between each occurrence of `mark` in `text` and the next double quote.
    fn named<'t>(text: &'t str, mark: &'t str) -> impl Iterator<Item = &'t str> {
        text.split(mark).skip(1).filter_map(|rest| rest.split('"').next())
    }

    /// Checks the files of a page together with the shared files. Panics if any of them is too
    /// long, refers to anything other than these files and `links`, inserts HTML from strings, or
    /// runs strings as code.
    pub(crate) fn check(files: &[PageFile], links: &[&str]) {
        const LONGEST: usize = 600;
        let files = [files, &SHARED_FILES].concat();
        let is_own = |name: &str| {
            let path = format!("/{}", name.trim_start_matches("./").trim_start_matches('/'));
            files.iter().any(|file| file.path == path) || links.contains(&&*path)
        };
        let mut loaded = 0;
        for file in &files {
            let marks = ["src=\"", "href=\"", "from \"", "import \""];
            for name in marks.into_iter().flat_map(|mark| named(file.text, mark)) {
                assert!(name.starts_with('#') || is_own(name), "{} names {name}", file.path);
                loaded += usize::from(!name.starts_with('#'));
            }
            let foreign = file.text.replace("http://www.w3.org/2000/svg", "");
            assert!(!foreign.contains("://"), "{} refers to another server", file.path);
            assert!(file.text.lines().count() < LONGEST, "{} is too long", file.path);
            for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "document.write"] {
                assert!(!file.text.contains(way), "{}: {way}", file.path);
            }
        }
        assert!(loaded > files.len(), "{loaded} names found");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_load_only_their_own_files() {
        checks::check(&FILES, &[]);
    }

    #[test]
    fn page_states_that_the_embedded_games_are_self_play() {
        let page = FILES[0].text;
        assert!(
            page.contains(&format!("id=\"self-play\" hidden>{}<", crate::games::book::SELF_PLAY))
        );
    }
}
