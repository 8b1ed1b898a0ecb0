//! What bounds a search.

use std::time::Duration;

use crate::position::Move;
use crate::score::Depth;

/// What bounds one search. The default searches all moves without an end, until stopped.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The last iteration, in plies.
    pub depth: Option<Depth>,
    /// Nodes after which the search stops, of all threads together.
    pub nodes: Option<u64>,
    /// Nodes after which no new iteration begins.
    pub soft_nodes: Option<u64>,
    /// Time on the clock.
    pub time: TimeControl,
    /// The only moves to search at the root; empty means all.
    pub root_moves: Vec<Move>,
    /// How many of the best moves to report with lines of their own; at least 1.
    pub multi_pv: usize,
    /// Whether the search runs on the opponent's time: the own clock starts with
    /// [`Control::ponder_hit`](super::Control::ponder_hit), and no move comes before it.
    pub ponder: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth: None,
            nodes: None,
            soft_nodes: None,
            time: TimeControl::Infinite,
            root_moves: Vec::new(),
            multi_pv: 1,
            ponder: false,
        }
    }
}

impl Limits {
    /// Limits of an analysis to a fixed depth.
    pub fn depth(depth: Depth) -> Self {
        Limits { depth: Some(depth), ..Limits::default() }
    }

    /// Whether nothing but a stop ends the search.
    pub fn is_analysis(&self) -> bool {
        self.depth.is_none()
            && self.nodes.is_none()
            && self.soft_nodes.is_none()
            && self.time == TimeControl::Infinite
    }

    /// Limits of an analysis of a number of nodes.
    pub fn nodes(nodes: u64) -> Self {
        Limits { nodes: Some(nodes), ..Limits::default() }
    }

    /// Limits of a search that takes the given time.
    pub fn move_time(time: Duration) -> Self {
        Limits { time: TimeControl::MoveTime(time), ..Limits::default() }
    }
}

/// How a late move is searched again that beats alpha at a PV node with a null window and at
/// reduced depth: two things are to be made good, and one comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResearchOrder {
    /// The full depth with the null window; then, if it is still better, the open window.
    #[default]
    DepthFirst,
    /// The open window at the reduced depth; then, if it is still better, the full depth.
    WindowFirst,
}

impl ResearchOrder {
    /// Both, the engine's own first.
    pub const ALL: [ResearchOrder; 2] = [ResearchOrder::DepthFirst, ResearchOrder::WindowFirst];

    /// Its name as a setting.
    pub fn name(self) -> &'static str {
        match self {
            ResearchOrder::DepthFirst => "depth-first",
            ResearchOrder::WindowFirst => "window-first",
        }
    }
}

/// The time a search may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeControl {
    /// No bound.
    Infinite,
    /// Exactly this long, unless another limit ends the search.
    MoveTime(Duration),
    /// A share of what is on the clock.
    Clock {
        /// Time left for this and all further moves of the period.
        remaining: Duration,
        /// Time added after each move.
        increment: Duration,
        /// Moves to play in the period; `None` where it lasts to the end of the game.
        moves_to_go: Option<u32>,
    },
}
