//! Stores search results: in memory while the server runs and, with `--keep`, in a file for the first
//! book.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cache::AnswerCache;
use super::limits::ANALYSIS_CACHE;
use crate::chess::notation::NamedMove;
use crate::chess::position::Position;
use crate::chess::score::to_table;
use crate::engine::search::{Bound, Report};
use crate::games::book::{Book, BookError};
use crate::support::files::JournalError;
use crate::tools::suite::analysis::{KeptValues, SearchedMove};

/// The length of the intervals into which halfmove clocks are divided. Positions that differ only
/// in their halfmove clock share a stored analysis if their clocks fall into the same interval.
/// They do not share one otherwise, because the fifty-move rule and possible repetitions affect the
/// score.
const CLOCK_STEP: u16 = 20;
/// The minimum number of nodes searched for a value to be kept. It is 1000 because books store node
/// counts in thousands.
const MIN_KEPT_NODES: u64 = 1_000;

/// A search result, along with the data of the events that were sent to the client.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StoredAnalysis {
    /// The effort of the search, in thread-seconds. A request for more effort starts a new search.
    pub(super) effort: u64,
    pub(super) best: Option<NamedMove>,
    pub(super) depth: i32,
    pub(super) nodes: u64,
    /// The data of the last exact `line` event for each rank, best line first.
    pub(super) lines: Vec<String>,
    pub(super) has_values: bool,
    /// The data of the last `value` event for each book move.
    pub(super) values: Vec<String>,
}

/// Analyses made since the server started, by position and number of lines.
#[derive(Debug)]
pub(crate) struct AnalysisStore {
    cache: AnswerCache,
}

impl AnalysisStore {
    pub(crate) fn new() -> Self {
        AnalysisStore { cache: AnswerCache::new(ANALYSIS_CACHE) }
    }

    /// Returns the deepest stored analysis of `position` among those with `lines` to `most` lines.
    pub(super) fn get(
        &self,
        position: &Position,
        lines: usize,
        most: usize,
    ) -> Option<StoredAnalysis> {
        let stored = (lines..=most).filter_map(|lines| self.cache.get(&name(position, lines)));
        let read = stored.filter_map(|bytes| serde_json::from_slice(&bytes).ok());
        read.max_by_key(|stored: &StoredAnalysis| (stored.depth, stored.effort))
    }

    pub(super) fn put(&self, position: &Position, lines: usize, analysis: &StoredAnalysis) {
        let text = serde_json::to_vec(analysis).unwrap_or_default();
        self.cache.put(name(position, lines), text.into());
    }
}

fn name(position: &Position, lines: usize) -> String {
    format!("{:016x} {} {lines}", position.key(), position.halfmove_clock() / CLOCK_STEP)
}

/// Opens or creates the file of `--keep` for `book`. Also returns a copy of `book` that includes the
/// values from the file.
pub(super) fn open_kept(path: &Path, book: &Book) -> Result<(KeptValues, Book), KeepError> {
    let kept = KeptValues::open(path, book)?;
    let with_values = kept.book_with_values()?;
    Ok((kept, with_values))
}

/// Keeps the values of the root and of the position after the first move of each line.
pub(super) fn keep(kept: &KeptValues, root: &Position, lines: &[Report]) {
    let mut found = values(root, lines).into_iter();
    if let Err(error) = found.try_for_each(|(position, value)| kept.append(&position, value)) {
        log::warn!("{error}");
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum KeepError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Book(#[from] BookError),
}

/// Returns the values of the root and of the position after each line's first move.
fn values(root: &Position, lines: &[Report]) -> Vec<(Position, SearchedMove)> {
    let exact: Vec<&Report> = lines.iter().filter(|line| line.bound == Bound::Exact).collect();
    let mut found = Vec::new();
    for (rank, line) in exact.iter().enumerate() {
        let nodes = line.nodes / exact.len() as u64;
        let Some(&mv) = line.pv.first().filter(|_| nodes >= MIN_KEPT_NODES) else { continue };
        if rank == 0 && line.multi_pv == 1 {
            let (score, depth) = (line.score, line.depth);
            found.push((*root, SearchedMove { mv, score, depth, nodes: line.nodes }));
        }
        if let Some(&reply) = line.pv.get(1).filter(|_| line.depth > 1) {
            let (score, depth) = (to_table(-line.score, 1), line.depth - 1);
            found.push((root.play(mv), SearchedMove { mv: reply, score, depth, nodes }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::chess::position::Move;
    use crate::chess::score::mate_in;
    use crate::games::book::before;

    fn report(multi_pv: usize, score: i32, pv: &[&str]) -> Report {
        Report {
            depth: 12,
            selective_depth: 20,
            score,
            bound: Bound::Exact,
            elapsed: Duration::from_secs(1),
            nodes: 100_000,
            pv: pv.iter().map(|mv| mv.parse::<Move>().expect("a move")).collect(),
            multi_pv,
            hash_full: 0,
            tablebase_hits: 0,
            book: None,
        }
    }

    #[test]
    fn kept_values_are_those_of_the_lines() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kept");
        let book = Book::embedded().with_values(&[]).expect("a book");
        let start = Position::start();
        let open = || open_kept(&path, &book).expect("opens");
        let lines = [report(1, 31, &["e2e4", "e7e5"]), report(2, mate_in(5), &["d2d4", "d7d5"])];
        let (kept, without) = open();
        keep(&kept, &start, &lines);
        // Shorter searches change nothing.
        let shorter = Report { nodes: 10_000, score: 99, ..lines[0].clone() };
        keep(&kept, &start, &[shorter]);
        // Values of positions outside the book are not stored.
        let outside = Position::from_fen("8/8/8/4k3/8/8/4P3/4K3 w - - 0 1").expect("legal");
        keep(&kept, &outside, &[report(1, 50, &["e2e4", "e5e4"])]);
        assert!(without.values().len() == 0 && without.value(&start).is_none());
        drop(kept);
        let (_, with) = open();
        let value = with.value(&start).expect("kept");
        assert_eq!((value.score, value.depth, value.nodes), (31, 12, 100_000));
        for (mv, score) in [("e2e4", 31), ("d2d4", mate_in(5))] {
            let mv: Move = mv.parse().expect("a move");
            assert_eq!(with.value_of_move(&start, mv), Some(score));
            let value = with.value(&start.play(mv)).expect("kept");
            assert_eq!((value.depth, before(value.score)), (11, score));
        }
        assert_eq!(with.values().len(), 3);
        with.verify().expect("sound");
    }

    #[test]
    fn analyses_with_enough_lines_are_found() {
        let (store, start) = (AnalysisStore::new(), Position::start());
        let analysis = |depth| StoredAnalysis {
            effort: 20,
            best: None,
            depth,
            nodes: 0,
            lines: Vec::new(),
            has_values: false,
            values: Vec::new(),
        };
        store.put(&start, 3, &analysis(17));
        store.put(&start, 1, &analysis(21));
        let depth = |lines| store.get(&start, lines, 5).map(|found| found.depth);
        assert_eq!([1, 2, 3, 4].map(depth), [Some(21), Some(17), Some(17), None]);
    }
}
