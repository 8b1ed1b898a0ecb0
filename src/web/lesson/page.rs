//! Creates a self-contained HTML page with recorded searches, exercises and a laboratory. In the
//! laboratory, the reader can edit a tree and search it step by step. It uses the JavaScript
//! modules in `lab/`.

use serde_json::json;

use super::method::Method;
use super::search_record::SearchRecord;
use super::tree::GameTree;
use crate::support::page::Page;

const PAGE: Page = Page {
    title: "A search, step by step",
    body: include_str!("page.html"),
    style: include_str!("page.css"),
    // The modules are concatenated, so each one must come after those it imports.
    script: concat!(
        include_str!("lab/random.js"),
        include_str!("lab/tree.js"),
        include_str!("lab/growth.js"),
        include_str!("lab/search.js"),
        include_str!("lab/story.js"),
        include_str!("lab/splitting.js"),
        include_str!("lab/exercise.js"),
        include_str!("lab/picture.js"),
        include_str!("lab/windows.js"),
        include_str!("lab/clock.js"),
        include_str!("lab/pane.js"),
        include_str!("lab/editor.js"),
        include_str!("lab/quiz.js"),
        include_str!("page.js"),
    ),
};

pub(crate) fn page_of_searches(title: &str, search_records: &[SearchRecord]) -> String {
    PAGE.with(&json!({ "title": title, "searches": search_records }))
}

pub(crate) fn page_of_tree(
    title: &str,
    tree: &GameTree,
    methods: &[Method],
    threads: Option<usize>,
) -> String {
    let methods: Vec<String> = methods.iter().map(Method::to_string).collect();
    let (tree, classic) = (tree.to_string(), GameTree::classic().to_string());
    PAGE.with(&json!({
        "title": title, "tree": tree, "methods": methods, "threads": threads, "classic": classic,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::lesson::search::Algorithm;
    use crate::web::lesson::watch_tree;

    #[test]
    fn page_contains_the_searches_with_script_tags_escaped() {
        let tree: GameTree = "<!--<script> max\n </script> 1\n".parse().expect("a tree");
        let search_records = [watch_tree(&tree, Algorithm::Pvs)];
        for page in [
            page_of_searches("</script>", &search_records),
            page_of_tree("</script>", &tree, &Method::all(), Some(2)),
        ] {
            assert_eq!(page.matches("</script>").count(), 2);
            assert!(!page.contains("<!--<"));
        }
        crate::support::page::checks::check(
            &PAGE,
            &json!({ "title": "</script>", "searches": search_records }),
        );
    }
}
