//! One HTML page that needs nothing else: trees to fold, and searches to go through step by step.

use serde_json::json;

use super::story::Story;
use crate::page::Page;

/// The page without its data.
const PAGE: Page = Page {
    html: include_str!("page.html"),
    style: include_str!("page.css"),
    script: include_str!("page.js"),
};

/// The page of some searches of the same tree.
pub(crate) fn page(title: &str, stories: &[Story]) -> String {
    let data = json!({ "title": title, "stories": stories });
    PAGE.with(&data)
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
        let stories = [watch_tree(&tree, Algorithm::Pvs)];
        let page = page("</script>", &stories);
        assert_eq!(page.matches("</script>").count(), PAGE.html.matches("</script>").count());
        assert!(!page.contains("<!--<"));
        crate::page::checks::check(&PAGE, &json!({ "title": "</script>", "stories": stories }));
    }
}
