//! Creates a page that shows a [`trace`](crate::engine::search::trace) of the engine's own search.

use serde_json::{Value, json};

use crate::engine::search::trace::Trace;
use crate::support::page::Page;

const PAGE: Page = Page {
    title: "The engine's own search",
    body: include_str!("page.html"),
    style: include_str!("page.css"),
    script: include_str!("page.js"),
};

pub(crate) fn page_of_trace(title: &str, trace: &Trace) -> String {
    PAGE.with(&data(title, trace))
}

fn data(title: &str, trace: &Trace) -> Value {
    let visits = trace.visits.iter().map(|visit| {
        json!({
            "parent": visit.parent, "name": visit.name(), "text": visit.describe(),
            "type": visit.node_type(), "fen": visit.fen, "hidden": visit.hidden,
        })
    });
    let mut iterations: Vec<(String, Vec<usize>)> = Vec::new();
    for (place, root) in trace.visits.iter().enumerate().filter(|(_, visit)| visit.ply == 0) {
        let title = match root.line {
            0 | 1 => root.iteration.to_string(),
            line => format!("{}, line {line}", root.iteration),
        };
        match iterations.last_mut().filter(|(last, _)| *last == title) {
            Some((_, roots)) => roots.push(place),
            None => iterations.push((title, vec![place])),
        }
    }
    let iterations =
        iterations.into_iter().map(|(title, roots)| json!({ "title": title, "roots": roots }));
    json!({
        "title": title, "visits": visits.collect::<Vec<Value>>(),
        "iterations": iterations.collect::<Vec<Value>>(), "sums": trace.sums.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Game;
    use crate::engine::search::trace::{Bounds, trace};
    use crate::engine::search::{Config, Control, Limits, Searcher};

    #[test]
    fn every_visit_is_listed_below_an_iteration() {
        let mut searcher = Searcher::new(Config { memory_mb: 1, ..Config::default() });
        let bounds = Bounds { plies: 2, min_depth: 0, branch: Vec::new(), visits: 100 };
        let (game, limits) = (Game::default(), Limits::depth(5));
        let (_, trace) = trace(&mut searcher, &game, &limits, &Control::new(), bounds, &mut |_| {});
        let data = data("</script>", &trace);
        assert_eq!(data["iterations"].as_array().map(Vec::len), Some(5));
        let roots = trace.visits.iter().filter(|visit| visit.parent.is_none()).count();
        let reported = data["iterations"].as_array().into_iter().flatten();
        assert_eq!(
            reported.filter_map(|reported| reported["roots"].as_array()).flatten().count(),
            roots
        );
        crate::support::page::checks::check(&PAGE, &data);
    }
}
