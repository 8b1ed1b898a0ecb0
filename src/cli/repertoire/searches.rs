//! Engine searches that propose moves for gaps or measure how much a move loses.

use crate::chess::position::{Game, Move, Position};
use crate::chess::score::Score;
use crate::cli::args::{SearchLimit, TableMemory};
use crate::engine::search::{Config, Control, Limits, Searcher};

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

    /// Searches the given moves in `position`, or all legal moves if `moves` is empty. Returns the
    /// score from the side to move's point of view and the best move.
    pub(super) fn value(&mut self, position: &Position, moves: Vec<Move>) -> (Score, Option<Move>) {
        let limits = Limits { root_moves: moves, ..self.limits.clone() };
        let game = Game::new(*position);
        let result = self.searcher.search(&game, &limits, &Control::new(), &mut |_| {});
        (result.score, result.best)
    }
}
