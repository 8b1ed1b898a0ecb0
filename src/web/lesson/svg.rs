//! Draws a [`SearchRecord`] as SVG: the tree with its windows, values and cutoffs.
//!
//! Max's nodes are squares, and Min's nodes are circles. Programs can use the classes and
//! attributes to count elements. Every node has the class `node`, a class for its type in its last
//! visit (`pv`, `cut`, `all` or `never`), and the class `line` if it is on the principal variation.
//! `data-visits` is the number of its visits, and `data-count` is the number of nodes that it
//! represents. A cutoff has the class `cutoff`.
//!
//! ```
//! use tabia::lesson::search::Algorithm;
//! use tabia::lesson::svg::svg;
//! use tabia::lesson::tree::GameTree;
//! use tabia::lesson::watch_tree;
//!
//! let record = watch_tree(&GameTree::classic(), Algorithm::Pvs);
//! assert!(svg(&record, "PVS").contains("<svg"));
//! ```

use std::fmt::Write;

use super::observe::NodeType;
use super::search_record::{Node, NodeVisit, SearchRecord};
use crate::support::words::xml;

const LEAF_WIDTH: f64 = 116.0;
const LEVEL_HEIGHT: f64 = 104.0;
const MARGIN: f64 = 64.0;
const RADIUS: f64 = 21.0;
const LINE_HEIGHT: f64 = 13.0;
const HEADER: f64 = 110.0;
/// The minimum width of the image, so that the legend fits.
const MIN_WIDTH: f64 = 660.0;

const STYLE: &str = "
  text { font: 13px system-ui, sans-serif; fill: #1c2024; text-anchor: middle; }
  .title { font-size: 18px; text-anchor: start; } .legend { text-anchor: start; }
  .small { font-size: 11px; fill: #3b444d; } .null .small { font-style: italic; }
  .edge { stroke: #8b96a1; stroke-width: 1.4; fill: none; }
  .edge.line { stroke: #2f7d4f; stroke-width: 3.5; } .edge.never { stroke-dasharray: 4 4; stroke: #b9c0c7; }
  .shape { stroke: #1c2024; stroke-width: 1.4; } .line .shape { stroke: #1d5c38; stroke-width: 3; }
  .pv .shape { fill: #a9dcbc; } .cut .shape { fill: #f6d5a8; } .all .shape { fill: #cfe0f6; }
  .never .shape { stroke: #b9c0c7; stroke-dasharray: 4 3; fill: #f2f4f6; } .never text { fill: #87919b; }
  .cutoff line { stroke: #b3332a; stroke-width: 2.6; } .cutoff text { fill: #b3332a; font-size: 11px; }
  .halo { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; }
";

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Point {
    x: f64,
    y: f64,
}

/// Draws a search as an SVG image.
pub fn svg(search_record: &SearchRecord, title: &str) -> String {
    let points = layout(search_record);
    let right = points.iter().map(|point| point.x).fold(0.0, f64::max);
    let bottom = points.iter().map(|point| point.y).fold(0.0, f64::max);
    let (width, height) = ((right + MARGIN).max(MIN_WIDTH), bottom + MARGIN);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>",
        xml(title)
    );
    header(&mut out, search_record, title);
    for (id, node) in search_record.tree.iter().enumerate() {
        if let Some(parent) = node.parent {
            let visits = if search_record.windows { node.visits.as_slice() } else { &[] };
            edge(&mut out, &class(node), visits, points[parent], points[id]);
        }
    }
    for (node, &point) in search_record.tree.iter().zip(&points) {
        draw(&mut out, node, point);
    }
    let first_cut = first_cut(search_record);
    for ((node, &point), cut) in search_record.tree.iter().zip(&points).zip(first_cut) {
        cutoffs(&mut out, node, point, cut.map(|child| points[child]));
    }
    out.push_str("</svg>\n");
    out
}

/// Returns the coordinates of the nodes, indexed by node. Inner nodes are centred above their
/// children.
fn layout(search_record: &SearchRecord) -> Vec<Point> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); search_record.tree.len()];
    for (id, node) in search_record.tree.iter().enumerate() {
        if let Some(parent) = node.parent {
            children[parent].push(id);
        }
    }
    let mut points = vec![Point::default(); search_record.tree.len()];
    let mut leaves = 0.0;
    // Depth-first traversal. An inner node is popped twice: before its children (false) and after
    // them (true).
    let mut open: Vec<(usize, bool)> =
        Vec::from_iter((!search_record.tree.is_empty()).then_some((0, false)));
    while let Some((id, done)) = open.pop() {
        points[id].y = HEADER + MARGIN / 2.0 + search_record.tree[id].ply as f64 * LEVEL_HEIGHT;
        match children[id].as_slice() {
            [] => {
                points[id].x = MARGIN + leaves * LEAF_WIDTH;
                leaves += 1.0;
            }
            [first, .., last] if done => points[id].x = (points[*first].x + points[*last].x) / 2.0,
            [only] if done => points[id].x = points[*only].x,
            below => {
                open.push((id, true));
                open.extend(below.iter().rev().map(|&child| (child, false)));
            }
        }
    }
    points
}

fn header(out: &mut String, search_record: &SearchRecord, title: &str) {
    let _ = writeln!(out, "<text class=\"title\" x=\"16\" y=\"28\">{}</text>", xml(title));
    let _ = writeln!(
        out,
        "<text class=\"legend\" x=\"16\" y=\"50\">{}</text>",
        xml(&search_record.summary)
    );
    let mut x = 16.0;
    for (class, word, width) in [
        ("pv line", "on the principal variation", 206.0),
        ("pv", "PV node", 92.0),
        ("cut", "cut node", 96.0),
        ("all", "all node", 90.0),
        ("never", "never visited", 110.0),
    ] {
        let _ = writeln!(
            out,
            "<g class=\"{class}\"><rect class=\"shape\" x=\"{x}\" y=\"62\" width=\"16\" height=\"16\"/>\
             <text class=\"legend\" x=\"{}\" y=\"75\">{word}</text></g>",
            x + 22.0
        );
        x += width;
    }
    out.push_str(
        "<text class=\"legend\" x=\"16\" y=\"98\">square: Max, circle: Min; \
         on the edges the window (alpha, beta), a null one in italics</text>\n",
    );
}

fn class(node: &Node) -> String {
    let kind = match node.kind {
        Some(NodeType::Pv) => "pv",
        Some(NodeType::Cut) => "cut",
        Some(NodeType::All) => "all",
        None => "never",
    };
    format!("{kind}{}", if node.on_line { " line" } else { "" })
}

fn edge(out: &mut String, class: &str, visits: &[NodeVisit], from: Point, to: Point) {
    let (top, bottom) = (from.y + RADIUS, to.y - RADIUS);
    let _ = writeln!(
        out,
        "<line class=\"edge {class}\" x1=\"{}\" y1=\"{top}\" x2=\"{}\" y2=\"{bottom}\"/>",
        from.x, to.x
    );
    for (index, visit) in visits.iter().enumerate() {
        // Place the windows near the child, where the edges are further apart.
        let lines = (visits.len() - index) as f64;
        let y = bottom - 5.0 - (lines - 1.0) * LINE_HEIGHT;
        let x = to.x + (from.x - to.x) * (bottom - y) / (bottom - top);
        let kind = if visit.null { "null" } else { "open" };
        let _ = writeln!(
            out,
            "<g class=\"{kind}\"><text class=\"small halo\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text></g>",
            xml(&visit.window)
        );
    }
}

fn draw(out: &mut String, node: &Node, Point { x, y }: Point) {
    let _ = writeln!(
        out,
        "<g class=\"node {}\" data-visits=\"{}\" data-count=\"{}\">",
        class(node),
        node.visits.len(),
        node.stands_for
    );
    let _ = match node.max {
        true => writeln!(
            out,
            "<rect class=\"shape\" x=\"{}\" y=\"{}\" width=\"{side}\" height=\"{side}\" rx=\"3\"/>",
            x - RADIUS,
            y - RADIUS,
            side = 2.0 * RADIUS
        ),
        false => {
            writeln!(out, "<circle class=\"shape\" cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\"/>")
        }
    };
    let size = match node.name.chars().count() {
        0..=5 => 13,
        6..=7 => 10,
        _ => 8,
    };
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{}\" style=\"font-size:{size}px\">{}</text>",
        y + 4.5,
        xml(&node.name)
    );
    let mut below = values(&node.visits);
    if node.hidden > 0 {
        below.push(format!("{} below", node.hidden));
    }
    for (index, text) in below.iter().enumerate() {
        let row = LINE_HEIGHT * index as f64;
        // Place the value below the node if no edges leave it, and otherwise next to the node.
        let (x, y, anchor) = match node.visits.iter().all(|visit| visit.leaf) || node.hidden > 0 {
            true => (x, y + RADIUS + LINE_HEIGHT + row, "middle"),
            false => (x + RADIUS + 5.0, y - 6.0 + row, "start"),
        };
        let _ = writeln!(
            out,
            "<text class=\"small halo\" x=\"{x}\" y=\"{y:.1}\" \
             style=\"text-anchor:{anchor}\">{}</text>",
            xml(text)
        );
    }
    out.push_str("</g>\n");
}

fn values(visits: &[NodeVisit]) -> Vec<String> {
    let relation = |visit: &NodeVisit| match visit.relation {
        ">=" => "≥",
        "<=" => "≤",
        "~" => "≈",
        other => other,
    };
    match visits {
        [] => Vec::new(),
        visits => {
            let values = visits.iter().map(|visit| format!("{} {}", relation(visit), visit.value));
            vec![values.collect::<Vec<_>>().join(", ")]
        }
    }
}

fn first_cut(search_record: &SearchRecord) -> Vec<Option<usize>> {
    let mut first = vec![None; search_record.tree.len()];
    for (id, node) in search_record.tree.iter().enumerate() {
        if let (Some(parent), None) = (node.parent, node.kind) {
            first[parent].get_or_insert(id);
        }
    }
    first
}

/// Draws a double stroke if there were cutoffs at the node. The stroke crosses the edge to `cut`,
/// the first child that was cut off. If `cut` is `None`, because other visits searched all
/// children, the stroke is drawn next to the node.
fn cutoffs(out: &mut String, node: &Node, at: Point, cut: Option<Point>) {
    let (x, y) = match cut {
        Some(child) => ((at.x + child.x) / 2.0, (at.y + child.y) / 2.0),
        None => (at.x + RADIUS + 9.0, at.y + RADIUS),
    };
    let reasons = node.visits.iter().filter_map(|visit| visit.cutoff.as_deref());
    for (index, why) in reasons.enumerate() {
        out.push_str("<g class=\"cutoff\">");
        for shift in [-3.0, 3.0] {
            let (left, right) = (x - 9.0, x + 9.0);
            let (low, high) = (y + shift + 4.0, y + shift - 4.0);
            let _ = write!(
                out,
                "<line x1=\"{left:.1}\" y1=\"{low:.1}\" x2=\"{right:.1}\" y2=\"{high:.1}\"/>"
            );
        }
        let why = why.replace("alpha", "α").replace("beta", "β").replace(">=", "≥");
        let (x, y) = (at.x + RADIUS + 5.0, at.y + 8.0 + LINE_HEIGHT * index as f64);
        let _ = writeln!(
            out,
            "<text class=\"halo\" x=\"{x}\" y=\"{y}\" style=\"text-anchor:start\">{why}</text></g>"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::lesson::search::Algorithm;
    use crate::web::lesson::tree::GameTree;
    use crate::web::lesson::watch_tree;

    fn count(picture: &str, part: &str) -> usize {
        picture.matches(part).count()
    }

    fn sum(picture: &str, attribute: &str) -> u64 {
        let mark = format!("{attribute}=\"");
        let values = picture.split(&mark).skip(1);
        values
            .map(|rest| rest.split('"').next().expect("a value").parse::<u64>())
            .map(|n| n.expect("a number"))
            .sum()
    }

    #[test]
    fn picture_counts_match_the_search() {
        let mut second = GameTree::classic();
        for (name, value) in [("N12", 10), ("N13", 11), ("N14", 11)] {
            second.set_value(name, value).expect(name);
        }
        for tree in [GameTree::classic(), second] {
            for algorithm in Algorithm::ALL {
                let search_record = watch_tree(&tree, algorithm);
                let picture = svg(&search_record, algorithm.name());
                assert_eq!(sum(&picture, "data-visits"), search_record.nodes, "{algorithm}");
                assert_eq!(count(&picture, "<g class=\"cutoff\">"), search_record.cutoffs as usize);
                assert_eq!(count(&picture, "<g class=\"node never\""), search_record.cut().len());
                assert_eq!(count(&picture, " line\" data-visits"), search_record.line.len() + 1);
                let again = search_record.nodes as usize - search_record.distinct;
                for (kind, name) in ["pv", "cut", "all"].into_iter().enumerate() {
                    let drawn = count(&picture, &format!("<g class=\"node {name}"));
                    let searched = search_record.types[kind] as usize;
                    assert!(drawn <= searched && searched <= drawn + again, "{algorithm} {name}");
                }
                assert_eq!(sum(&picture, "data-count"), tree.len() as u64);
                let windows = count(&picture, "<text class=\"small halo\"") as u64;
                // Every visit except the root's is drawn with its window, and every visited node
                // with its value.
                let expected = if search_record.windows { search_record.nodes - 1 } else { 0 };
                assert_eq!(windows, expected + search_record.distinct as u64);
            }
        }
    }

    #[test]
    fn names_are_escaped() {
        let tree: GameTree = "<a&\"> max\n </text> 1\n".parse().expect("a tree");
        let picture = svg(&watch_tree(&tree, Algorithm::Pvs), "<title>");
        assert!(!picture.contains("<a&"), "{picture}");
        assert_eq!(count(&picture, "</title>"), 1);
        assert_eq!(count(&picture, "<text"), count(&picture, "</text>"));
    }
}
