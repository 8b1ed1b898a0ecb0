//! One HTML page that needs nothing else: trees to fold, and searches to go through step by step.

use serde_json::json;

use super::story::Story;
use crate::autoplay::report::script_data;

/// The page without its data.
const PAGE: &str = include_str!("page.html");

/// Where the data goes.
const MARK: &str = "/*DATA*/";

/// The page of some searches of the same tree.
pub(crate) fn page(title: &str, stories: &[Story]) -> String {
    let data = json!({ "title": title, "stories": stories });
    PAGE.replacen(MARK, &script_data(&data), 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::search::Algorithm;
    use crate::lesson::tree::GameTree;
    use crate::lesson::watch_tree;

    #[test]
    fn the_page_holds_the_stories_and_nothing_of_others() {
        let tree: GameTree = "<!--<script> max\n </script> 1\n".parse().expect("a tree");
        let page = page("</script>", &[watch_tree(&tree, Algorithm::Pvs)]);
        assert_eq!(page.matches("</script>").count(), 1);
        assert!(!page.contains("<!--<"));
        assert!(!page.contains(MARK));
        for foreign in ["src=", "href=", "@import", "fetch("] {
            assert!(!page.contains(foreign), "{foreign}");
        }
    }
}
