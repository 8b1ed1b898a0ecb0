//! Engine searches that propose moves for gaps or measure how much a move loses.

use std::path::Path;

use crate::chess::position::{Game, Move, Position};
use crate::chess::score::{Depth, to_table};
use crate::cli::args::{SearchLimit, TableMemory};
use crate::engine::search::{Bound, Config, Control, Limits, SearchEvent, SearchResult, Searcher};
use crate::games::book::{Book, before, kept_nodes};
use crate::games::repertoire::Searched;
use crate::support::files::JournalError;
use crate::tools::suite::analysis::{KeptValues, SearchedMove};

pub(super) struct Searches {
    searcher: Searcher,
    limits: Limits,
    kept: Option<KeptValues>,
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
        Some(Searches { searcher: Searcher::on_large_stack(config), limits, kept: None })
    }

    /// Stores the results for positions in `book` in a file, and uses the results already in this
    /// file and in the book.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or created, or belongs to another book.
    pub(super) fn keeping(self, path: &Path, book: &Book) -> Result<Self, JournalError> {
        Ok(Searches { kept: Some(KeptValues::open(path, book)?), ..self })
    }

    /// Searches the given moves in `position`, or all legal moves if `moves` is empty. Does not
    /// search if the kept results contain the value.
    pub(super) fn value(&mut self, position: &Position, moves: &[Move]) -> Searched {
        let nodes = self.limits.nodes.unwrap_or(0);
        let known = self.kept.as_ref().and_then(|kept| find(kept, position, moves, nodes));
        if let Some(known) = known {
            return known;
        }
        let (found, result) = self.search(position, moves.to_vec());
        if let Some(kept) = &self.kept {
            keep(kept, position, moves, &found, (result.depth, result.nodes.max(nodes)));
        }
        found
    }

    fn search(&mut self, position: &Position, moves: Vec<Move>) -> (Searched, SearchResult) {
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
        (Searched { score: result.score, line }, result)
    }
}

/// Returns the kept result of a search with at least `nodes` nodes of all moves, or of a single move,
/// whose value is that of the position after it.
fn find(kept: &KeptValues, position: &Position, moves: &[Move], nodes: u64) -> Option<Searched> {
    let known =
        |position: &Position| kept.get(position).filter(|value| value.nodes >= kept_nodes(nodes));
    match *moves {
        [] => {
            let (mv, score) = known(position)?.own?;
            position.is_legal(mv).then(|| Searched { score, line: vec![mv] })
        }
        [mv] => {
            let value = known(&position.play(mv))?;
            let line = [mv].into_iter().chain(value.best).collect();
            Some(Searched { score: before(value.score), line })
        }
        _ => None,
    }
}

/// Keeps the result of a search of all moves, or of a single move.
fn keep(
    kept: &KeptValues,
    position: &Position,
    moves: &[Move],
    found: &Searched,
    (depth, nodes): (Depth, u64),
) {
    let (position, score, best, depth) = match *moves {
        [] => (*position, found.score, found.line.first(), depth),
        [mv] => (position.play(mv), to_table(-found.score, 1), found.line.get(1), depth - 1),
        _ => return,
    };
    let Some(&mv) = best else { return };
    if let Err(error) = kept.append(&position, SearchedMove { mv, score, depth, nodes }) {
        log::warn!("{error}");
    }
}
