//! Engine searches that propose moves for gaps or measure how much a move loses.

use crate::chess::position::{Game, Move, Position};
use crate::cli::args::{SearchLimit, TableMemory};
use crate::engine::search::{Bound, Config, Control, Limits, SearchEvent, Searcher};
use crate::games::repertoire::Searched;

pub(super) struct Searches {
    pub searcher: Searcher,
    pub limits: Limits,
}

impl Searches {
    /// Creates a searcher with this limit. Returns `None` if neither nodes nor time is limited.
    pub(super) fn new(limit: &SearchLimit, memory: &TableMemory) -> Option<Self> {
        let limits = match (limit.nodes, limit.seconds) {
            (Some(nodes), _) => Limits::nodes(nodes),
            (None, Some(time)) => Limits::move_time(time),
            (None, None) => return None,
        };
        let config = Config { memory_mb: memory.mebibytes(), ..Config::default() };
        Some(Searches { searcher: Searcher::on_large_stack(config), limits })
    }

    /// Searches the given moves in `position`, or all legal moves if `moves` is empty.
    pub(super) fn value(&mut self, position: &Position, moves: Vec<Move>) -> Searched {
        let limits = Limits { root_moves: moves, ..self.limits.clone() };
        let (game, mut line) = (Game::new(*position), Vec::new());
        let mut listen = |event: &SearchEvent| {
            if let SearchEvent::Iteration(report) | SearchEvent::NewBest(report) = event
                && report.bound == Bound::Exact
            {
                line.clone_from(&report.pv);
            }
        };
        let result = self.searcher.search(&game, &limits, &Control::new(), &mut listen);
        if line.first() != result.best.as_ref() {
            line = result.best.into_iter().chain(result.ponder).collect();
        }
        Searched { score: result.score, line }
    }
}
