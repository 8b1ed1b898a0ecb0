//! A recorded search, expressed as names and numbers, independent of the type of game.
//!
//! ```
//! use tabia::lesson::search::Algorithm;
//! use tabia::lesson::tree::GameTree;
//! use tabia::lesson::watch_tree;
//!
//! let record = watch_tree(&GameTree::classic(), Algorithm::AlphaBeta);
//! assert!(!record.cut().is_empty());
//! assert!(record.text().contains(&record.summary));
//! ```

use std::fmt::Write;

use serde::Serialize;

use super::game::{Window, ZeroSumGame};
use super::observe::{NodeType, SearchReason};
use super::record::{Recorder, Step, Visit};
use super::search::Algorithm;
use crate::chess::notation::bound;
use crate::chess::score::{Depth, INFINITY, Ply, Score};

/// The maximum number of cut-off moves that are shown individually at a node. If there are more, a
/// single node represents all of them.
const SHOWN_CUT: usize = 3;

/// A recorded search. Values and windows are from the maximising player's point of view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SearchRecord {
    /// The name of the search method.
    pub algorithm: String,
    /// Whether the algorithm uses windows. Minimax does not.
    pub windows: bool,
    /// A one-line summary of the search: its value, principal variation and node counts.
    pub summary: String,
    /// The value of the root node.
    pub value: Score,
    /// The principal variation, as the names of its moves (or of the nodes, if the game is an
    /// explicit tree).
    pub line: Vec<String>,
    /// The number of visits to nodes. A node is counted each time it is searched.
    pub nodes: u64,
    /// The number of different nodes in `tree` that were visited.
    pub distinct: usize,
    /// The number of times that alpha reached beta while moves remained.
    pub cutoffs: u64,
    /// The number of nodes searched again with the open window after a null-window search failed
    /// high.
    pub researches: u64,
    /// The number of visits whose value was provided by the table.
    pub hits: u64,
    /// The numbers of visits to PV nodes, cut-nodes and all-nodes, in this order. In minimax, all
    /// nodes are PV nodes.
    pub types: [u64; 3],
    /// The number of visits that are not included in `tree`, because they were not recorded.
    pub hidden: u64,
    /// The nodes of the tree. A parent comes before its children, and siblings are in search order.
    pub tree: Vec<Node>,
    /// The steps of the search, in order.
    pub steps: Vec<RecordedEvent>,
}

/// A node of the recorded tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    /// The index of the parent in [`SearchRecord::tree`]; `None` for the root.
    pub parent: Option<usize>,
    /// The name of the move that leads to the node or, in an explicit tree, of the node itself.
    pub name: String,
    /// Whether the maximising player is to move.
    pub max: bool,
    /// The distance from the root in plies.
    pub ply: Ply,
    /// The type of the node in its last visit; `None` if it was never visited.
    pub kind: Option<NodeType>,
    /// Whether the node is on the principal variation.
    pub on_line: bool,
    /// The visits to the node, in order. The list is empty if the node was cut off.
    pub visits: Vec<NodeVisit>,
    /// The number of nodes that this node represents: more than 1 if it represents several cut-off
    /// moves.
    pub stands_for: usize,
    /// The number of unrecorded visits to descendants of this node. Those below a recorded
    /// descendant are counted there instead.
    pub hidden: u64,
    /// The position as FEN, or `None` if the game is not played on a chessboard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fen: Option<String>,
}

/// One visit to a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NodeVisit {
    /// The window, formatted as `(alpha, beta)`.
    pub window: String,
    /// Alpha, or `None` if it is infinite.
    pub alpha: Option<Score>,
    /// Beta, or `None` if it is infinite.
    pub beta: Option<Score>,
    /// Whether the visit uses a null window.
    pub null: bool,
    /// Whether the visit is a re-search with the open window, because a null-window search failed
    /// high.
    pub again: bool,
    /// Whether the node was a leaf or at the depth limit in this visit.
    pub leaf: bool,
    /// The result of the visit: the value of the node, or a bound on it.
    pub value: Score,
    /// The type of the node in this visit.
    pub kind: NodeType,
    /// Whether the transposition table provided the value.
    pub hit: bool,
    /// How the node's true value relates to `value`: `=` if they are equal, `>=` or `<=` if `value`
    /// is a bound, or `~` if it is an estimate.
    pub relation: &'static str,
    /// The reason for the cutoff, such as `alpha 6 >= beta 5`, or `None` if no moves were cut off.
    pub cutoff: Option<String>,
    /// The names of the nodes that were cut off.
    pub cut: Vec<String>,
}

/// A step of the search, described in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedEvent {
    /// The index of the node in [`SearchRecord::tree`].
    pub node: usize,
    /// The index of the visit in [`Node::visits`].
    pub visit: usize,
    /// The kind of step.
    pub kind: RecordedEventKind,
    /// The new value of alpha or beta, if the step changes one of them.
    pub value: Option<Score>,
    /// The description of the step in words.
    pub text: String,
}

/// The kind of step in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordedEventKind {
    /// An iteration of iterative deepening starts. The step is assigned to the root node.
    Iteration,
    /// The search enters a node.
    Enter,
    /// The search enters and leaves a leaf.
    Leaf,
    /// The transposition table provides the move to search first.
    First,
    /// A move improves a bound.
    Raise,
    /// The remaining moves are cut off.
    Cutoff,
    /// The search leaves a node.
    Leave,
    /// The search leaves a node immediately, because the transposition table provides its value.
    Hit,
}

impl SearchRecord {
    /// Creates the record of a search of `root`, given as a state and its name, from the data in
    /// `recorder`. If `whole_cut` is true, cut-off subtrees are included in full. Otherwise, only
    /// their roots are included.
    pub fn new<G: ZeroSumGame>(
        algorithm: Algorithm,
        recorder: &Recorder<G::Move>,
        game: &mut G,
        root: (&G::State, &str),
        whole_cut: bool,
    ) -> SearchRecord {
        SearchRecord::named(algorithm.name(), recorder, game, root, whole_cut)
    }

    /// Like [`SearchRecord::new`], but the record is called `name` and may combine several
    /// consecutive searches of the root.
    pub(crate) fn named<G: ZeroSumGame>(
        name: &str,
        recorder: &Recorder<G::Move>,
        game: &mut G,
        root: (&G::State, &str),
        whole_cut: bool,
    ) -> SearchRecord {
        let windows = name != Algorithm::Minimax.name();
        let (nodes, place) = (Vec::new(), Vec::new());
        let mut renderer = RecordRenderer { game, recorder, nodes, place, whole_cut, windows };
        for visit in &recorder.visits {
            renderer.add_visit(visit, root);
        }
        let steps =
            recorder.steps.iter().filter_map(|step| renderer.recorded_event(step)).collect();
        renderer.mark_line();
        renderer.add_cut();
        let result = renderer.nodes.first().and_then(|node| node.node.visits.last());
        let mut search_record = SearchRecord {
            algorithm: name.to_owned(),
            windows,
            summary: String::new(),
            value: result.map_or(0, |visit| visit.value),
            line: renderer.line_of(recorder.last_of_root(), 0),
            nodes: recorder.counter.nodes,
            distinct: renderer.nodes.iter().filter(|node| node.node.kind.is_some()).count(),
            cutoffs: recorder.counter.cutoffs,
            researches: recorder.counter.researches,
            hits: recorder.counter.hits,
            types: recorder.counter.types,
            hidden: recorder.visits.iter().map(|visit| visit.hidden).sum(),
            steps,
            tree: renderer.nodes.into_iter().map(|placed| placed.node).collect(),
        };
        search_record.summary = search_record.summarise();
        search_record
    }

    /// Returns the names of all nodes that were never visited because they were cut off.
    pub fn cut(&self) -> Vec<&str> {
        let cut = self.tree.iter().filter(|node| node.kind.is_none());
        cut.map(|node| node.name.as_str()).collect()
    }

    /// Formats all steps, one per line and indented by their ply, followed by the summary.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            let indent = 2 * self.tree[step.node].ply;
            let _ = writeln!(text, "{:indent$}{}", "", step.text);
        }
        text.push_str(&self.summary);
        text.push('\n');
        text
    }

    fn summarise(&self) -> String {
        let SearchRecord { algorithm, value, nodes, distinct, cutoffs, researches, hits, .. } =
            self;
        let visits = match *nodes == *distinct as u64 || self.hidden > 0 {
            true => format!("{} visited", counted(*nodes, "node")),
            false => format!("{nodes} visits of {}", counted(*distinct as u64, "node")),
        };
        let mut text = format!("{algorithm}: value {value}{}; {visits}", by(&self.line));
        if *cutoffs > 0 {
            let _ = write!(text, ", {}", counted(*cutoffs, "cutoff"));
        }
        if *researches > 0 {
            let _ = write!(text, ", {researches} searched again");
        }
        if *hits > 0 {
            let _ = write!(text, ", {} settled by the table", counted(*hits, "visit"));
        }
        match self.cut() {
            cut if cut.is_empty() || self.hidden > 0 => {}
            cut if cut.len() <= 8 => {
                let _ = write!(text, ", never visited: {}", cut.join(" "));
            }
            cut => {
                let _ = write!(text, ", never visited: {} nodes", cut.len());
            }
        }
        text
    }
}

pub(super) fn by(line: &[String]) -> String {
    if line.is_empty() { String::new() } else { format!(" by {}", line.join(" ")) }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

struct Placed<S, M> {
    node: Node,
    state: S,
    via: Option<M>,
    children: Vec<usize>,
}

struct RecordRenderer<'a, G: ZeroSumGame> {
    game: &'a mut G,
    recorder: &'a Recorder<G::Move>,
    nodes: Vec<Placed<G::State, G::Move>>,
    /// For each recorded visit, the index of its node in `nodes` and its index in [`Node::visits`].
    place: Vec<(usize, usize)>,
    whole_cut: bool,
    windows: bool,
}

impl<G: ZeroSumGame> RecordRenderer<'_, G> {
    fn add_visit(&mut self, visit: &Visit<G::Move>, root: (&G::State, &str)) {
        let node = match (visit.parent, visit.via) {
            (Some(parent), Some(mv)) => {
                let above = self.place[parent].0;
                let mut known = self.nodes[above].children.iter().copied();
                let known = known.find(|&child| self.nodes[child].via == Some(mv));
                known.unwrap_or_else(|| self.add_child(above, mv))
            }
            _ if self.nodes.is_empty() => self.add_root(root),
            _ => 0,
        };
        let cut = visit.cutoff.as_ref().map_or(&[][..], |(_, _, rest)| rest);
        let state = &self.nodes[node].state;
        let cut = cut.iter().map(|&mv| self.game.name(state, mv)).collect();
        let estimate = self.game.is_estimate(state);
        let placed = &mut self.nodes[node];
        placed.node.hidden += visit.hidden;
        let rendered = render_visit(visit, placed.node.max, estimate, cut);
        placed.node.kind = Some(rendered.kind);
        placed.node.visits.push(rendered);
        self.place.push((node, placed.node.visits.len() - 1));
    }

    fn add_root(&mut self, (state, name): (&G::State, &str)) -> usize {
        let node = Node {
            parent: None,
            name: name.to_owned(),
            max: self.game.maximises(state),
            ply: 0,
            kind: None,
            on_line: true,
            visits: Vec::new(),
            stands_for: 1,
            hidden: 0,
            fen: self.game.fen(state),
        };
        self.nodes.push(Placed { node, state: state.clone(), via: None, children: Vec::new() });
        self.nodes.len() - 1
    }

    fn add_child(&mut self, parent: usize, mv: G::Move) -> usize {
        let above = &self.nodes[parent];
        let place = self.game.play(&above.state, mv);
        let node = Node {
            parent: Some(parent),
            name: self.game.name(&above.state, mv),
            max: self.game.maximises(&place),
            ply: above.node.ply + 1,
            kind: None,
            on_line: false,
            visits: Vec::new(),
            stands_for: 1,
            hidden: 0,
            fen: self.game.fen(&place),
        };
        self.nodes.push(Placed { node, state: place, via: Some(mv), children: Vec::new() });
        let id = self.nodes.len() - 1;
        self.nodes[parent].children.push(id);
        id
    }

    fn mark_line(&mut self) {
        let Some(last) = self.recorder.last_of_root() else { return };
        let mut current = 0;
        for &mv in &last.line {
            let children = &self.nodes[current].children;
            let next = children.iter().copied().find(|&child| self.nodes[child].via == Some(mv));
            let Some(next) = next else { return };
            self.nodes[next].node.on_line = true;
            current = next;
        }
    }

    fn add_cut(&mut self) {
        for (id, visit) in self.recorder.visits.iter().enumerate() {
            let Some((_, _, rest)) = &visit.cutoff else { continue };
            let parent = self.place[id].0;
            let known = |mv: &&G::Move| {
                let mut children = self.nodes[parent].children.iter();
                !children.any(|&child| self.nodes[child].via == Some(**mv))
            };
            let new: Vec<G::Move> = rest.iter().filter(known).copied().collect();
            if self.whole_cut || new.len() <= SHOWN_CUT {
                for mv in new {
                    self.add_cut_tree(parent, mv);
                }
            } else {
                let child = self.add_child(parent, new[0]);
                self.nodes[child].node.name = format!("{} moves", new.len());
                self.nodes[child].node.stands_for = new.len();
            }
        }
        if self.whole_cut {
            self.complete();
        }
    }

    /// Adds the children that are still missing. Children are missing if a node was a leaf in some
    /// iterations of iterative deepening and was cut off in all others.
    fn complete(&mut self) {
        for parent in 0..self.nodes.len() {
            let state = self.nodes[parent].state.clone();
            for mv in self.game.moves(&state) {
                let mut children = self.nodes[parent].children.iter();
                if !children.any(|&child| self.nodes[child].via == Some(mv)) {
                    self.add_cut_tree(parent, mv);
                }
            }
        }
    }

    fn add_cut_tree(&mut self, parent: usize, mv: G::Move) {
        let child = self.add_child(parent, mv);
        if self.whole_cut {
            let state = self.nodes[child].state.clone();
            for next in self.game.moves(&state) {
                self.add_cut_tree(child, next);
            }
        }
    }

    /// Converts a recorded step to an event with a description. Returns `None` for steps that are
    /// not shown.
    fn recorded_event(&self, step: &Step<G::Move>) -> Option<RecordedEvent> {
        let (id, kind) = match *step {
            Step::Iteration(depth) => return self.iteration(depth),
            Step::Enter(id) if self.recorder.visits[id].leaf => (id, RecordedEventKind::Leaf),
            Step::Enter(id) => (id, RecordedEventKind::Enter),
            Step::First(id, _) => (id, RecordedEventKind::First),
            Step::Raise(id, ..) => (id, RecordedEventKind::Raise),
            Step::Cutoff(id) => (id, RecordedEventKind::Cutoff),
            Step::Leave(id) if self.recorder.visits[id].hit => (id, RecordedEventKind::Hit),
            Step::Leave(id) => (id, RecordedEventKind::Leave),
        };
        let visit = &self.recorder.visits[id];
        let (node, number) = self.place[id];
        let Node { name, max, visits, .. } = &self.nodes[node].node;
        let rendered = &visits[number];
        let value = match *step {
            Step::Raise(_, _, value) => Some(if *max { value } else { -value }),
            _ => None,
        };
        let text = match *step {
            Step::Raise(_, mv, value) => self.raised(node, mv, if *max { value } else { -value }),
            Step::First(_, mv) => {
                let first = self.game.name(&self.nodes[node].state, mv);
                format!("{name}: {first} first")
            }
            Step::Cutoff(_) => {
                let cut = match rendered.cut.len() {
                    0..=SHOWN_CUT => rendered.cut.join(" "),
                    many => format!("{many} moves"),
                };
                format!("{name}: {}, cut off: {cut}", rendered.cutoff.as_deref()?)
            }
            Step::Enter(_) if visit.leaf => {
                format!(
                    "{name} {} {}{}",
                    rendered.relation,
                    rendered.value,
                    self.window_of(rendered)
                )
            }
            Step::Enter(_) => {
                let player = if *max { "max" } else { "min" };
                let again = if rendered.again { ", again" } else { "" };
                format!("{name} {player}{again}{}", self.window_of(rendered))
            }
            Step::Leave(_) if visit.leaf => return None,
            Step::Leave(_) if visit.hit => {
                format!("{name} {} {} from the table", rendered.relation, rendered.value)
            }
            Step::Leave(_) => {
                let by = by(&self.line_of(Some(visit), node));
                format!("{name} {} {}{by}", rendered.relation, rendered.value)
            }
            Step::Iteration(_) => return None,
        };
        Some(RecordedEvent { node, visit: number, kind, value, text })
    }

    fn iteration(&self, depth: Depth) -> Option<RecordedEvent> {
        let visit = usize::try_from(depth - 1).ok()?;
        let (kind, text) = (RecordedEventKind::Iteration, format!("iteration {depth}"));
        Some(RecordedEvent { node: 0, visit, kind, value: None, text })
    }

    /// Describes a move that improves a bound, as in `N3: alpha = 5 by N8`.
    fn raised(&self, node: usize, mv: G::Move, value: Score) -> String {
        let Placed { node: Node { name, max, .. }, state, .. } = &self.nodes[node];
        let which = match (self.windows, *max) {
            (false, _) => "best",
            (true, true) => "alpha",
            (true, false) => "beta",
        };
        format!("{name}: {which} = {value} by {}", self.game.name(state, mv))
    }

    fn window_of(&self, rendered: &NodeVisit) -> String {
        let kind = if rendered.null { "null window" } else { "window" };
        if self.windows { format!(", {kind} {}", rendered.window) } else { String::new() }
    }

    fn line_of(&self, visit: Option<&Visit<G::Move>>, node: usize) -> Vec<String> {
        let Some(visit) = visit else { return Vec::new() };
        let mut state = self.nodes[node].state.clone();
        let mut names = Vec::new();
        for &mv in &visit.line {
            names.push(self.game.name(&state, mv));
            state = self.game.play(&state, mv);
        }
        names
    }
}

/// Converts a visit to Max's point of view. `cut` contains the names of the nodes that were cut
/// off.
fn render_visit<M>(visit: &Visit<M>, max: bool, estimate: bool, cut: Vec<String>) -> NodeVisit {
    let Window { alpha, beta } = visit.window;
    let relation = match visit.value {
        _ if visit.leaf => ["=", "~"][usize::from(estimate)],
        value if value >= beta => [">=", "<="][usize::from(!max)],
        value if value <= alpha => ["<=", ">="][usize::from(!max)],
        _ => "=",
    };
    let cutoff = visit.cutoff.as_ref().map(|&(alpha, beta, _)| {
        let met = Window::new(alpha, beta).seen(max);
        format!("alpha {} >= beta {}", bound(met.alpha), bound(met.beta))
    });
    let seen = visit.window.seen(max);
    let finite = |bound: Score| (bound.abs() < INFINITY).then_some(bound);
    NodeVisit {
        window: seen.to_string(),
        alpha: finite(seen.alpha),
        beta: finite(seen.beta),
        null: visit.window.is_null(),
        again: visit.why == SearchReason::Again,
        leaf: visit.leaf,
        value: if max { visit.value } else { -visit.value },
        kind: NodeType::of(visit.value, (visit.window.alpha, visit.window.beta)),
        hit: visit.hit,
        relation,
        cutoff,
        cut,
    }
}
