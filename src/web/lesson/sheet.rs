//! Creates a printable page of exercises: the questions with their trees, followed by the answers
//! on a separate page.

use std::fmt::Write;

use super::exercise::Exercise;
use super::tree::{GameTree, NodeId};
use crate::support::words::xml;

const LEAF_WIDTH: f64 = 62.0;
const LEVEL_HEIGHT: f64 = 66.0;
const RADIUS: f64 = 19.0;
const MARGIN: f64 = 6.0;
const VALUE_ROOM: f64 = 20.0;

const STYLE: &str = "
  :root { color-scheme: light; }
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1c1a17; background: #ffffff; }
  h1 { font: 600 1.5rem/1.2 Georgia, serif; margin: 0 0 .2rem; } h2 { font-size: 1rem; margin: 0 0 .3rem; }
  .who { display: flex; gap: 2rem; margin: 1rem 0 1.6rem; } .who span { flex: 1; border-bottom: 1px solid #6b645a; padding-bottom: .2rem; }
  .note { color: #5c554b; font-size: .9rem; }
  section.exercise { break-inside: avoid; margin: 0 0 1.6rem; padding-top: 1rem; border-top: 1px solid #d8d1c4; }
  svg { display: block; max-width: 100%; height: auto; margin: .6rem auto; }
  svg text { font: 13px system-ui, sans-serif; text-anchor: middle; fill: #1c1a17; } svg .value { font-weight: 600; }
  svg path { stroke: #6b645a; stroke-width: 1.4; } svg .shape { fill: #ffffff; stroke: #1c1a17; stroke-width: 1.4; }
  .answer { display: flex; gap: .6rem; } .answer i { flex: 1; border-bottom: 1px solid #6b645a; }
  .key { break-before: page; margin-top: 3rem; } .key li { margin-bottom: .6rem; }
  @page { margin: 18mm; } @media print { body { margin: 0; max-width: none; padding: 0; } .key { margin-top: 0; } }
";

pub(crate) fn sheet(exercises: &[Exercise], seed: u64) -> String {
    let title = format!("Game tree search: exercises, seed {seed}");
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
         <p class=\"note\">Squares are nodes of Max, circles of Min. Leaves are worth what stands \
         below them, for Max. A window is (alpha, beta). PVS searches later moves with a null window, which \
         is one wide, and inner nodes that prove better once more with the open window.</p>\n\
         <p class=\"who\"><span>Name</span><span>Date</span></p>\n"
    );
    for exercise in exercises {
        let Exercise { number, question, .. } = exercise;
        let _ = writeln!(
            out,
            "<section class=\"exercise\"><h2>Exercise {number}</h2><p>{}</p>",
            xml(question)
        );
        if let Ok(tree) = exercise.tree.parse() {
            diagram(&mut out, &tree);
        }
        out.push_str("<p class=\"answer\">Answer: <i></i></p></section>\n");
    }
    out.push_str("<section class=\"key\"><h1>Key</h1>\n<ol>\n");
    for Exercise { answers, reason, .. } in exercises {
        let answers = answers.join(" or ");
        let _ = writeln!(out, "<li><b>{}</b>: {}</li>", xml(&answers), xml(reason));
    }
    out.push_str("</ol>\n</section>\n</main>\n</body>\n</html>\n");
    out
}

fn diagram(out: &mut String, tree: &GameTree) {
    let places = layout(tree);
    let end = |of: fn(&(f64, f64)) -> f64| places.iter().map(of).fold(0.0, f64::max);
    let width = end(|place| place.0) + RADIUS + MARGIN;
    let height = end(|place| place.1) + RADIUS + VALUE_ROOM + MARGIN;
    let _ = writeln!(
        out,
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"The tree\">"
    );
    for (id, &(x, y)) in places.iter().enumerate() {
        for &child in tree.children(id) {
            let (to_x, to_y) = (places[child].0, places[child].1 - RADIUS);
            let _ = write!(out, "<path d=\"M{x} {}L{to_x} {to_y}\"/>", y + RADIUS);
        }
        let _ = match tree.is_max(id) {
            true => write!(
                out,
                "<rect class=\"shape\" x=\"{}\" y=\"{}\" width=\"{side}\" height=\"{side}\" rx=\"3\"/>",
                x - RADIUS,
                y - RADIUS,
                side = 2.0 * RADIUS
            ),
            false => {
                write!(out, "<circle class=\"shape\" cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\"/>")
            }
        };
        let name = xml(tree.node_name(id));
        let _ = write!(out, "<text x=\"{x}\" y=\"{}\">{name}</text>", y + 4.5);
        if let Some(value) = tree.leaf_value(id) {
            let below = y + RADIUS + 0.8 * VALUE_ROOM;
            let _ = write!(out, "<text class=\"value\" x=\"{x}\" y=\"{below}\">{value}</text>");
        }
        out.push('\n');
    }
    out.push_str("</svg>\n");
}

/// Returns the coordinates of the nodes, indexed by node. Inner nodes are centred above their
/// children.
fn layout(tree: &GameTree) -> Vec<(f64, f64)> {
    fn place(tree: &GameTree, id: NodeId, leaves: &mut f64, places: &mut [(f64, f64)]) {
        let level = if id == 0 { 0.0 } else { places[id].1 };
        let children = tree.children(id);
        for &child in children {
            places[child].1 = level + LEVEL_HEIGHT;
            place(tree, child, leaves, places);
        }
        places[id].0 = match children {
            [] => {
                *leaves += 1.0;
                MARGIN + RADIUS + (*leaves - 1.0) * LEAF_WIDTH
            }
            [first, ..] => {
                let last = children[children.len() - 1];
                (places[*first].0 + places[last].0) / 2.0
            }
        };
    }
    let mut places = vec![(0.0, 0.0); tree.len()];
    place(tree, 0, &mut 0.0, &mut places);
    for (_, y) in &mut places {
        *y += MARGIN + RADIUS;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::lesson::exercise::exercises;

    #[test]
    fn sheet_has_all_questions_before_the_answer_key() {
        let exercises = exercises(7, 9);
        let page = sheet(&exercises, 7);
        let (questions, key) = page.split_once("class=\"key\"").expect("a key");
        assert_eq!(questions.matches("<svg").count(), 9);
        for exercise in &exercises {
            assert!(questions.contains(&xml(&exercise.question)), "{exercise:?}");
            let answer =
                format!("<b>{}</b>: {}", exercise.answers.join(" or "), xml(&exercise.reason));
            assert!(key.contains(&answer), "{exercise:?}");
            assert!(!questions.contains(&xml(&exercise.reason)), "{exercise:?}");
        }
        for foreign in ["src=", "href=", "<script", "NaN"] {
            assert!(!page.contains(foreign), "{foreign}");
        }
    }
}
