//! Formats traces as text. Windows and scores are in centipawns, from the point of view of the side
//! to move at the root.

use std::fmt::{self, Write};

use super::super::observe::{NodeEnd, SearchReason};
use super::{NodeType, Sums, Trace, Visit};
use crate::chess::notation::bound;
use crate::support::words::number_of;

impl Trace {
    /// Describes the iterations as text. For each search of the root, lists the first move and the
    /// moves that raised alpha or were searched again.
    pub fn iterations(&self) -> String {
        let mut text = String::new();
        let mut last = (0, 0);
        for (index, root) in self.visits.iter().enumerate().filter(|(_, visit)| visit.ply == 0) {
            let title = (root.iteration, root.line);
            let window = window(root);
            // Writing to a `String` cannot fail, so the results are ignored here and below.
            let _ = match title == last {
                true => writeln!(text, "  searched again, {window}"),
                false if root.line > 1 => {
                    writeln!(text, "iteration {}, line {}, {window}", root.iteration, root.line)
                }
                false => writeln!(text, "iteration {}, {window}", root.iteration),
            };
            last = title;
            self.write_root_moves(&mut text, index);
            let best = root.best.as_deref().map_or(String::new(), |best| format!(" by {best}"));
            let _ = match root.node_type() {
                None => writeln!(text, "  stopped after {} nodes", root.nodes),
                Some(NodeType::Pv) => {
                    writeln!(text, "  {}{best}; {} nodes", root.score, root.nodes)
                }
                Some(NodeType::Cut) => {
                    writeln!(text, "  fails high: {}{best}; {} nodes", value(root), root.nodes)
                }
                Some(NodeType::All) => {
                    writeln!(text, "  fails low: {}; {} nodes", value(root), root.nodes)
                }
            };
        }
        text
    }

    fn write_root_moves(&self, text: &mut String, root: usize) {
        let below: Vec<&Visit> = self.below(root).map(|(_, visit)| visit).collect();
        let (mut others, mut nodes) = (0, 0);
        for searches in below.chunk_by(|a, b| a.mv == b.mv && b.why != SearchReason::First) {
            let of_move: u64 = searches.iter().map(|visit| visit.nodes).sum();
            // If the first search of a move does not raise alpha, it fails high from the opponent's
            // point of view, so the node after the move is a cut node.
            let is_no_better = searches[0].node_type() == Some(NodeType::Cut);
            if searches.len() == 1 && searches[0].why != SearchReason::First && is_no_better {
                others += 1;
                nodes += of_move;
                continue;
            }
            let name = searches[0].mv.as_deref().unwrap_or("-");
            let reported: Vec<String> = searches.iter().map(|visit| attempt(visit)).collect();
            let _ = writeln!(text, "  {name} {}; {of_move} nodes", reported.join("; "));
        }
        if others > 0 {
            let moves = if others == 1 { "move" } else { "moves" };
            let _ = writeln!(text, "  {others} {moves} no better; {nodes} nodes");
        }
    }

    /// Returns the visits to the children of the visit with index `parent`, along with their
    /// indices.
    pub(crate) fn below(&self, parent: usize) -> impl Iterator<Item = (usize, &Visit)> {
        let visits = self.visits.iter().enumerate();
        visits.filter(move |(_, visit)| visit.parent == Some(parent))
    }

    /// Returns the recorded tree of the last iteration as text, with one visit per line.
    pub fn tree(&self) -> String {
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); self.visits.len()];
        for (index, visit) in self.visits.iter().enumerate() {
            visit.parent.into_iter().for_each(|parent| below[parent].push(index));
        }
        let last = self.visits.last().map(|visit| visit.iteration);
        let mut text = String::new();
        let is_root = |visit: &Visit| visit.parent.is_none() && Some(visit.iteration) == last;
        let roots = (0..self.visits.len()).filter(|&index| is_root(&self.visits[index]));
        let mut open: Vec<(usize, usize)> = roots.rev().map(|root| (root, 0)).collect();
        while let Some((index, indent)) = open.pop() {
            let visit = &self.visits[index];
            let _ = writeln!(
                text,
                "{:width$}{}: {}",
                "",
                visit.name(),
                visit.describe(),
                width = 2 * indent
            );
            if visit.hidden > 0 {
                let width = 2 * indent + 2;
                let _ = writeln!(text, "{:width$}({} visits below not shown)", "", visit.hidden);
            }
            let below = below[index].iter().rev().filter(|&&child| self.visits[child].on_branch);
            open.extend(below.map(|&child| (child, indent + 1)));
        }
        text
    }
}

fn attempt(visit: &Visit) -> String {
    let how = match visit.why {
        SearchReason::Late { reduction: 0 } => "null window: ".to_owned(),
        SearchReason::Late { reduction } => format!("null window, {reduction} less: "),
        SearchReason::Deeper => "to the full depth: ".to_owned(),
        SearchReason::Open => "open window: ".to_owned(),
        _ => String::new(),
    };
    format!("{how}{}", value(visit))
}

/// Formats the score, for example as `= 5`, `>= 5` or `<= 5`, from the point of view of the side to
/// move at the root. Returns `stopped` if the visit was stopped.
fn value(visit: &Visit) -> String {
    let (_, score) = visit.from_root();
    let ours = visit.ply.is_multiple_of(2);
    match visit.node_type() {
        None => "stopped".to_owned(),
        Some(NodeType::Pv) => format!("= {score}"),
        Some(NodeType::Cut) if ours => format!(">= {score}"),
        Some(NodeType::All) if !ours => format!(">= {score}"),
        Some(_) => format!("<= {score}"),
    }
}

fn window(visit: &Visit) -> String {
    let ((alpha, beta), _) = visit.from_root();
    let name = if beta - alpha <= 1 { "null window" } else { "window" };
    format!("{name} ({}, {})", bound(alpha), bound(beta))
}

impl Visit {
    /// Returns the move that led to the node. If no move did, returns `root`, `pass` (null move) or
    /// `same` (re-search of the parent's position), depending on why the node was searched.
    pub fn name(&self) -> &str {
        self.mv.as_deref().unwrap_or(match self.why {
            SearchReason::Root => "root",
            SearchReason::NullMove => "pass",
            _ => "same",
        })
    }

    /// Describes the visit in one line, without the move that led to it (see [`Visit::name`]).
    pub fn describe(&self) -> String {
        let mut text = String::new();
        match self.why {
            SearchReason::Root
            | SearchReason::First
            | SearchReason::Noisy
            | SearchReason::Late { reduction: 0 } => {}
            SearchReason::Late { reduction } => {
                let _ = write!(text, "{reduction} less, ");
            }
            why => {
                let _ = write!(text, "{}, ", why.name());
            }
        }
        let _ = match self.quiescence {
            true => write!(text, "quiescence"),
            false => write!(text, "depth {}", self.depth),
        };
        let _ = write!(text, ", {}", window(self));
        if let Some(eval) = self.eval {
            let eval = if self.ply.is_multiple_of(2) { eval } else { -eval };
            let _ = write!(text, ", eval {eval}");
        }
        write_events(&mut text, self);
        let _ = write!(text, ": {}", value(self));
        match (self.end, &self.best) {
            (NodeEnd::Moves, Some(best)) => {
                let _ = write!(text, " by {best}");
            }
            (NodeEnd::Moves, None) => {}
            (end, _) if end.is_early() => {}
            (end, _) => {
                let _ = write!(text, " ({})", end.name());
            }
        }
        if self.thread > 0 {
            let _ = write!(text, " [thread {}]", self.thread);
        }
        let _ = write!(text, "; {} {}", self.nodes, nodes(self.nodes));
        text
    }
}

fn nodes(count: u64) -> &'static str {
    if count == 1 { "node" } else { "nodes" }
}

fn write_events(text: &mut String, visit: &Visit) {
    if let Some(games) = visit.book_games {
        let _ = write!(text, ", in the book ({})", number_of(games, "game"));
    }
    if visit.hindsight > 0 {
        let _ = write!(text, ", {:+} in hindsight", -visit.hindsight);
    }
    if let Some((mv, plies)) = &visit.extended {
        let _ = write!(text, ", {mv} {plies:+}");
    }
    if !visit.pruned.is_empty() || visit.quiets_pruned {
        let named: Vec<&str> = visit.pruned.iter().map(|(mv, _)| mv.as_str()).collect();
        let more = if visit.quiets_pruned { ["quiet moves"].as_slice() } else { &[] };
        let _ = write!(text, ", pruned: {}", [&named, more].concat().join(" "));
    }
    if visit.split {
        text.push_str(", split");
    }
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |name: &str, value: String| writeln!(f, "{name:<22}{value}");
        let list = |counts: Vec<(&str, u64)>| {
            let counts = counts.into_iter().filter(|&(_, count)| count > 0);
            counts.map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
        };
        let of = |kind| self.types.get(&kind).copied().unwrap_or(0);
        row("nodes", format!("{}, {} of them in quiescence", self.nodes, self.quiescence))?;
        row(
            "types",
            format!(
                "PV {}, cut {}, all {}",
                of(NodeType::Pv),
                of(NodeType::Cut),
                of(NodeType::All)
            ),
        )?;
        row("settled by", list(self.ends.iter().map(|(end, &n)| (end.name(), n)).collect()))?;
        row("cutoffs", format!("{}, {} by the first move", self.cutoffs, self.first_move_cutoffs))?;
        row("window re-searches", self.windows.to_string())?;
        row("transposition hits", self.hits.to_string())?;
        row(
            "reduced moves",
            format!(
                "{}, by {} plies; again to the full depth {}",
                self.reduced, self.reduced_plies, self.deeper
            ),
        )?;
        row("open window again", self.open.to_string())?;
        row("null moves", self.null_moves.to_string())?;
        row(
            "singularity tests",
            format!(
                "{}; extended {}, reduced {}",
                self.singularity_tests, self.extended, self.extended_less
            ),
        )?;
        row("hindsight", self.hindsight.to_string())?;
        let pruned: Vec<_> = self.pruned.iter().map(|(why, &n)| (why.name(), n)).collect();
        row("pruned moves", list(pruned))?;
        row("book matches", self.book_matches.to_string())?;
        if self.splits > 0 {
            row("splits", format!("{}, joined {} times", self.splits, self.joins))?;
        }
        Ok(())
    }
}
