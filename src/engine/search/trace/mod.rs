//! Traces of the engine's own search of a position.
//!
//! [`trace`] observes every thread of a search, counts all events and records the tree within
//! [`Bounds`].
//!
//! ```
//! use tabia::position::Game;
//! use tabia::search::trace::{Bounds, trace};
//! use tabia::search::{Config, Control, Limits, Searcher};
//!
//! let mut searcher = Searcher::new(Config { memory_mb: 1, ..Config::default() });
//! let (game, limits) = (Game::default(), Limits::depth(3));
//! let bounds = Bounds { plies: 2, min_depth: 1, branch: Vec::new(), visits: 100 };
//! let (result, trace) = trace(&mut searcher, &game, &limits, &Control::new(), bounds, &mut |_| {});
//! assert!(result.best.is_some() && !trace.visits.is_empty());
//! ```

mod record;
mod sums;
mod visit;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::observe::{Counters, Observer};
use super::{Control, Limits, SearchEvent, SearchResult, Searcher};
use crate::chess::position::Game;
use record::{Part, Recorder, Shared};

pub use record::Bounds;
pub use sums::{NodeType, Sums};
pub use visit::Visit;

/// The recorded node visits and the event counts of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trace {
    /// The recorded node visits, in the order in which they began (preorder).
    pub visits: Vec<Visit>,
    /// Event counts, summed over all threads.
    pub sums: Sums,
    /// Counts of the same events, kept by the search itself.
    pub counters: Counters,
    /// Event counts of each thread.
    pub threads: Vec<Sums>,
}

/// Searches like [`Searcher::search`], and also returns a trace.
pub fn trace(
    searcher: &mut Searcher,
    game: &Game,
    limits: &Limits,
    control: &Control,
    bounds: Bounds,
    on_event: &mut (dyn FnMut(&SearchEvent) + Send),
) -> (SearchResult, Trace) {
    let (shared, bounds) = (Arc::new(Shared::default()), Arc::new(bounds));
    let mut recorder =
        |thread| Box::new(Recorder::new(&shared, &bounds, thread)) as Box<dyn Observer>;
    let result = searcher.search_observed(game, limits, control, on_event, &mut recorder);
    (result, Trace::of(shared.take()))
}

pub(super) fn logged(
    searcher: &mut Searcher,
    game: &Game,
    limits: &Limits,
    control: &Control,
    on_event: &mut (dyn FnMut(&SearchEvent) + Send),
) -> SearchResult {
    let bounds = Bounds { plies: 1, min_depth: 0, branch: Vec::new(), visits: 0 };
    let (result, trace) = trace(searcher, game, limits, control, bounds, on_event);
    log::trace!("search of {}", game.position());
    let (iterations, sums) = (trace.iterations(), trace.sums.to_string());
    iterations.lines().chain(sums.lines()).for_each(|line| log::trace!("{line}"));
    result
}

impl Trace {
    fn of(mut parts: Vec<Part>) -> Self {
        parts.sort_by_key(|part| part.thread);
        let threads: Vec<Sums> = parts.iter().map(|part| part.sums.clone()).collect();
        let (mut sums, mut counters) = (Sums::default(), Counters::default());
        for part in &parts {
            sums.add(&part.sums);
            counters.add(part.counters);
        }
        Trace { visits: joined(parts), sums, counters, threads }
    }
}

/// A visit in the tree that is merged from all threads. Only its counts are left if the recorder
/// dropped its details.
struct Branch {
    above: Option<u64>,
    nodes: u64,
    hidden: u64,
    visit: Option<Visit>,
}

fn joined(parts: Vec<Part>) -> Vec<Visit> {
    let mut branches: BTreeMap<u64, Branch> = BTreeMap::new();
    let mut elsewhere = Vec::new();
    for part in parts {
        elsewhere.extend(part.elsewhere);
        for dropped in part.dropped {
            let record::Dropped { number, above, nodes, hidden } = dropped;
            branches.insert(number, Branch { above, nodes, hidden, visit: None });
        }
        for noted in part.visits {
            let record::Noted { number, above, visit } = noted;
            let (nodes, hidden) = (visit.nodes, visit.hidden);
            branches.insert(number, Branch { above, nodes, hidden, visit: Some(visit) });
        }
    }
    for (number, (nodes, hidden)) in elsewhere {
        // Nodes searched outside any recorded visit, for example to verify a line into the book,
        // are counted only in the sums.
        if let Some(branch) = branches.get_mut(&number) {
            branch.nodes += nodes;
            branch.hidden += hidden;
        }
    }
    let numbers: Vec<u64> = branches.keys().copied().collect();
    // Go backwards, so that children come before their parents: a visit has a higher number than
    // its parent.
    for number in numbers.iter().rev() {
        let Branch { above, nodes, hidden, ref visit } = branches[number];
        let lost = if visit.is_none() { hidden + 1 } else { 0 };
        if let Some(above) = above.and_then(|above| branches.get_mut(&above)) {
            above.nodes += nodes;
            above.hidden += lost;
        }
    }
    let mut places: BTreeMap<u64, usize> = BTreeMap::new();
    let mut visits = Vec::new();
    for (number, Branch { above, nodes, hidden, visit }) in branches {
        if let Some(visit) = visit {
            places.insert(number, visits.len());
            let parent = above.and_then(|above| places.get(&above).copied());
            visits.push(Visit { parent, nodes, hidden, ..visit });
        }
    }
    visits
}
