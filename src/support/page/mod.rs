//! Files shared by all HTML pages: the theme, the board and pieces, the game viewer, and charts.
//!
//! The explorer serves these files separately. Match reports, annotated games and lessons are
//! single files that load nothing else. Browsers only load modules from a server, so [`Page`] joins
//! the modules into one script, and removes the `import` lines and the word `export`. A test checks
//! that no two modules declare the same top-level name and that every imported name exists. We do
//! not use a bundler, because it would require a second toolchain.
//!
//! A page's data is stored as JSON in a script element that is not executed. Every character that
//! could end the element is escaped. No script inserts text as HTML. [`scriptless_page`] creates
//! pages for printing.

mod pieces;

use std::fmt::Write;

use serde_json::Value;

use crate::support::words::xml;
pub(crate) use pieces::piece_symbols;

pub(crate) const ICON: &str = include_str!("icon.svg");
pub(crate) const THEME_CSS: &str = include_str!("theme.css");
pub(crate) const BOARD_CSS: &str = include_str!("board.css");
pub(crate) const REPLAY_CSS: &str = include_str!("replay.css");
pub(crate) const DOM_JS: &str = include_str!("dom.js");
pub(crate) const THEME_JS: &str = include_str!("theme.js");
pub(crate) const PIECES_JS: &str = include_str!("pieces.js");
pub(crate) const BOARD_JS: &str = include_str!("board.js");
pub(crate) const CHART_JS: &str = include_str!("chart.js");
pub(crate) const REPLAY_JS: &str = include_str!("replay.js");

/// The style sheet for the notes next to the moves in annotated games and in the explorer.
pub(crate) const NOTES_CSS: &str = include_str!("notes.css");
pub(crate) const NOTES_JS: &str = include_str!("notes.js");

/// The style sheets of all pages that are written to files.
const STYLES: [&str; 3] = [THEME_CSS, BOARD_CSS, REPLAY_CSS];
/// The modules used by all pages that are written to files. Each comes after the modules that it
/// imports.
const SCRIPTS: [&str; 6] = [DOM_JS, THEME_JS, PIECES_JS, BOARD_JS, CHART_JS, REPLAY_JS];

/// The HTML frame of all pages that are written to files, with placeholders for the title, styles,
/// body, data and script.
const SHELL: &str = include_str!("shell.html");

pub(crate) struct Page {
    /// The title, until the page's script sets a different title.
    pub(crate) title: &'static str,
    pub(crate) body: &'static str,
    pub(crate) style: &'static str,
    /// The module of this page. Its top-level names must differ from those in the shared modules.
    pub(crate) script: &'static str,
}

impl Page {
    /// Returns the HTML of the page, with `data` stored in the `data` element, where the script
    /// reads it.
    pub(crate) fn with(&self, data: &Value) -> String {
        let style = STYLES.concat() + self.style;
        let parts = [
            ("/*TITLE*/", self.title.to_owned()),
            ("/*STYLE*/", style),
            ("/*BODY*/", self.body.to_owned()),
            ("/*DATA*/", script_data(data)),
            ("/*SCRIPT*/", self.joined()),
        ];
        fill(SHELL, &parts)
    }

    fn modules(&self) -> impl Iterator<Item = &'static str> {
        SCRIPTS.into_iter().chain([self.script])
    }

    fn joined(&self) -> String {
        let own = self.modules().flat_map(str::lines).filter(|line| !line.starts_with("import "));
        own.flat_map(|line| [line.strip_prefix("export ").unwrap_or(line), "\n"]).collect()
    }
}

/// The HTML frame of pages without scripts.
const SCRIPTLESS_SHELL: &str = include_str!("scriptless.html");

/// Returns a page without scripts. `title` is plain text, `style` is CSS, and `body` is HTML.
pub(crate) fn scriptless_page(title: &str, style: &str, body: &str) -> String {
    let parts = [
        ("/*TITLE*/", xml(title)),
        ("/*STYLE*/", [THEME_CSS, BOARD_CSS, style].concat()),
        ("/*BODY*/", body.to_owned()),
    ];
    fill(SCRIPTLESS_SHELL, &parts)
}

/// Replaces each placeholder in a frame with the corresponding text. The placeholders must occur in
/// the same order as in `parts`.
fn fill(shell: &str, parts: &[(&str, String)]) -> String {
    let (mut page, mut left) = (String::new(), shell);
    for (mark, part) in parts {
        let (before, after) = left.split_once(mark).unwrap_or((left, ""));
        page.extend([before, part]);
        left = after;
    }
    page + left
}

/// Formats JSON for a script element. All characters that can form a tag are escaped, because the
/// browser searches for the closing tag without parsing the JSON, and `<!--<script` changes which
/// closing tag it accepts. Outside strings, these characters do not occur in JSON, so escaping them
/// does not change the data.
fn script_data(data: &Value) -> String {
    let mut text = String::new();
    for letter in data.to_string().chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{:04x}", u32::from(letter));
            }
            letter => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
pub(crate) mod checks {
    use std::collections::BTreeSet;

    use super::{Page, SHELL};

    /// Panics unless the page, filled with `data`, is self-contained: all imported names exist, no
    /// name is declared twice, and nothing is loaded from elsewhere.
    pub(crate) fn check(page: &Page, data: &serde_json::Value) {
        let script = page.joined();
        let mut names = BTreeSet::new();
        for line in script.lines() {
            let word =
                |kind| line.strip_prefix(kind).map(|rest: &str| rest.trim_start_matches('*'));
            let kinds = ["const ", "let ", "class ", "function ", "async function "];
            let Some(rest) = kinds.into_iter().find_map(word) else { continue };
            let name: String =
                rest.chars().take_while(|sign| sign.is_alphanumeric() || *sign == '_').collect();
            assert!(name.is_empty() || names.insert(name.clone()), "{name} is defined twice");
        }
        for line in page.modules().flat_map(str::lines) {
            let Some((_, rest)) = line.split_once("import {") else { continue };
            for name in rest.split('}').next().unwrap_or_default().split(',') {
                assert!(names.contains(name.trim()), "{name} is imported but not defined");
            }
        }
        let whole = page.with(data);
        for mark in ["/*TITLE*/", "/*STYLE*/", "/*BODY*/", "/*DATA*/", "/*SCRIPT*/"] {
            assert_eq!(
                (SHELL.matches(mark).count(), whole.matches(mark).count()),
                (1, 0),
                "{mark}"
            );
        }
        assert_eq!(whole.matches("</script>").count(), 2, "the data and the script");
        let foreign = ["src=", "href=", "@import", "fetch(", "innerHTML", "eval("];
        for foreign in foreign {
            assert!(!whole.contains(foreign), "{foreign}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn data_cannot_close_the_script() {
        let data = json!({ "name": "</script><!--<script>\u{2028}&" });
        let text = script_data(&data);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), data);
    }

    #[test]
    fn page_contains_title_style_body_script_and_data() {
        let page = Page {
            title: "T",
            body: "<main></main>\n",
            style: "a{}",
            script: "import { make } from \"./dom.js\";\nexport class B {}\n",
        };
        checks::check(&page, &json!(7));
        let whole = page.with(&json!("/*SCRIPT*/"));
        let data =
            "<main></main>\n<script type=\"application/json\" id=\"data\">\"/*SCRIPT*/\"</script>";
        assert!(whole.contains("<title>T</title>") && whole.contains("a{}\n</style>"), "{whole}");
        assert!(whole.contains(data), "{whole}");
        assert!(whole.ends_with("\nclass B {}\n\n</script>\n</body>\n</html>\n"), "{whole}");
    }

    #[test]
    fn scriptless_page_escapes_its_title() {
        let page = scriptless_page("A<b>", "p{}", "<main>/*STYLE*/</main>");
        assert!(page.contains("<title>A&lt;b&gt;</title>"), "{page}");
        assert!(
            page.contains("p{}\n</style>") && page.contains("<main>/*STYLE*/</main>"),
            "{page}"
        );
        assert!(!page.contains("<script") && page.contains("default-src 'none'"), "{page}");
    }
}
