//! Searches the positions in a book, computes their backed-up values, and extends the book.
//!
//! Every position is searched at most twice. The first search covers all moves. If the best move
//! leads to another position in the analysis, a second search covers only the moves that lead out
//! of the analysis. Searches share no data, so the values depend neither on the number of threads
//! nor on interruptions. The results are stored in the `journal` until `backup` has computed the
//! backed-up values. `kept` adds the results of other searches to a journal.
//!
//! With `--grow`, `frontier` selects the positions to add next. The extended book is written before
//! the added positions are searched. Positions still to be searched are recorded either in the book
//! (as moves without games) or in the journal (as results of depth 0), so nothing is lost if the
//! analysis is interrupted.

mod backup;
mod frontier;
mod journal;
mod kept;

use std::cmp::Reverse;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crossbeam::channel::Sender;

use super::{Switch, run_parallel};
use crate::chess::position::{Game, KeyMap, Move, Position};
use crate::chess::score::{DRAW, Depth, MAX_PLY, mated_in};
use crate::engine::search::{Config, Control, Limits, Searcher};
use crate::games::book::{Book, BookValue, FrontierMove, Scored, grown_positions, kept_nodes};
use backup::{Links, back_up};
pub(crate) use frontier::frontier_moves;
pub(crate) use journal::{AnalysisJournal, open_journal};
pub(crate) use kept::{KeptValues, SearchedMove};

#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// The minimum number of games that must have reached a position for it to be included.
    pub min_games: u64,
    /// The keys of the positions that may be searched, or `None` to allow all. Other positions keep
    /// the values they already have.
    pub only: Option<KeyMap<()>>,
    pub limits: Limits,
    pub config: Config,
}

#[derive(Debug, Clone, Copy)]
struct Outcome {
    /// The best move and its score, or `None` if there are no legal moves.
    best: Option<Scored>,
    depth: Depth,
    nodes: u64,
}

/// The analysis of a book: the values known so far, and the positions still to be searched.
pub(crate) struct Analysis {
    known: KeyMap<BookValue>,
    /// The results of this run's searches that covered all legal moves of a position. They are
    /// reused if positions are added later.
    searched: KeyMap<Outcome>,
    /// The positions to search, ordered by the number of games that reached them, largest first.
    targets: Vec<Position>,
    members: KeyMap<()>,
    /// The number of positions in the analysis that cannot be reached from the start position by
    /// playing book moves.
    pub out_of_reach: u64,
    /// The number of positions in the analysis that were reached by fewer games than the plan's
    /// minimum.
    pub beyond: u64,
    plan: Plan,
}

impl Analysis {
    /// Prepares the analysis of a book. `known` contains the values found by earlier searches.
    pub(crate) fn new(book: &Book, known: impl Iterator<Item = BookValue>, plan: Plan) -> Self {
        let known = known.map(|value| (value.key, value)).collect();
        let mut analysis = Analysis {
            known,
            searched: KeyMap::default(),
            targets: Vec::new(),
            members: KeyMap::default(),
            out_of_reach: 0,
            beyond: 0,
            plan,
        };
        analysis.set_book(book);
        analysis
    }

    /// Switches to an extended book, and adds the positions that `frontier_moves` lead to.
    pub(crate) fn extend(&mut self, book: &Book, frontier_moves: &[FrontierMove]) {
        let wanted = frontier_moves.iter().map(|found| wanted(found.position.play(found.mv).key()));
        self.known.extend(wanted.map(|wanted| (wanted.key, wanted)));
        self.set_book(book);
    }

    /// Returns placeholder values, to be stored in the journal, for the positions in the analysis
    /// that have not been searched yet.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = BookValue> + '_ {
        self.known.values().copied().filter(is_wanted)
    }

    /// Switches to a different book. Positions that earlier analyses added to the book are
    /// included, even if few games reached them.
    fn set_book(&mut self, book: &Book) {
        let grown = grown_positions(book);
        let is_selected =
            |key: u64| self.plan.only.as_ref().is_none_or(|only| only.contains_key(&key));
        self.beyond = 0;
        self.members = KeyMap::default();
        for entry in book.entries() {
            let is_frequent = entry.reached.games() >= self.plan.min_games;
            let is_searched =
                is_selected(entry.key) && (is_frequent || grown.contains_key(&entry.key));
            if is_searched || self.known.contains_key(&entry.key) {
                self.members.insert(entry.key, ());
                self.beyond += u64::from(!is_frequent);
            }
        }
        let (mut targets, mut reached) = (Vec::new(), 0);
        book.visit(&book.starts(), false, |position, entry| {
            if self.members.contains_key(&entry.key) {
                reached += 1;
                if is_selected(entry.key) && !self.is_known(position) {
                    targets.push((Reverse(entry.reached.games()), entry.key, *position));
                }
            }
            ControlFlow::Continue(())
        });
        targets.sort_unstable_by_key(|&(games, key, _)| (games, key));
        self.targets = targets.into_iter().map(|(_, _, position)| position).collect();
        self.out_of_reach = self.members.len() as u64 - reached;
    }

    pub(crate) fn len(&self) -> usize {
        self.targets.len()
    }

    pub(crate) fn known(&self) -> usize {
        self.known.values().filter(|value| !is_wanted(value)).count()
    }

    fn is_within(&self, position: &Position, mv: Move) -> bool {
        self.members.contains_key(&position.play(mv).key())
    }

    /// Returns true if a position needs no new search: its earlier searches were long enough, and
    /// the outside move they found still leads out of the analysis.
    fn is_known(&self, position: &Position) -> bool {
        self.known.get(&position.key()).is_some_and(|value| {
            !is_wanted(value)
                && value.nodes >= kept_nodes(self.plan.limits.nodes.unwrap_or(0))
                && value.outside.is_none_or(|(mv, _)| !self.is_within(position, mv))
        })
    }

    /// Searches all targets, and passes each value to `report`, in any order. Returns when all
    /// searches are done or `report` fails. Each switch controls one thread; stopping a switch ends
    /// the thread's searches.
    pub(crate) fn search<E: From<io::Error>>(
        &mut self,
        switches: &[Switch],
        mut report: impl FnMut(&BookValue) -> Result<(), E>,
    ) -> Result<(), E> {
        let next = AtomicUsize::new(0);
        let this = &*self;
        let mut new: Vec<(BookValue, Option<Outcome>)> = Vec::new();
        let work = |switch: &Switch, found: &Sender<_>| this.work(&next, switch, found);
        let outcome = run_parallel(switches, work, &mut |found| {
            new.push(found);
            report(&found.0)
        });
        for (value, searched) in new {
            self.known.insert(value.key, value);
            self.searched.extend(searched.map(|outcome| (value.key, outcome)));
        }
        outcome
    }

    /// Searches targets until none are left, the switch is stopped, or the receiver has been
    /// dropped. `next` is the index of the next target and is shared by all threads.
    fn work(
        &self,
        next: &AtomicUsize,
        switch: &Switch,
        found: &Sender<(BookValue, Option<Outcome>)>,
    ) {
        let mut searcher = Searcher::on_large_stack(self.plan.config.clone());
        while let Some(position) = self.targets.get(next.fetch_add(1, Relaxed)) {
            let value = self.value(&mut searcher, position, switch);
            if switch.is_stopped() || found.send(value).is_err() {
                return;
            }
        }
    }

    /// Returns the result of an earlier search over all moves, if there was one and it was long
    /// enough. The result can be recovered from a stored value only if the best move led out of the
    /// analysis.
    fn searched_before(&self, key: u64) -> Option<Outcome> {
        let of_value = || {
            let &BookValue { own, outside, own_depth, nodes, .. } = self.known.get(&key)?;
            let is_enough = nodes >= kept_nodes(self.plan.limits.nodes.unwrap_or(0));
            (own.is_some() && own == outside && is_enough).then_some(Outcome {
                best: own,
                depth: own_depth,
                nodes,
            })
        };
        self.searched.get(&key).copied().or_else(of_value)
    }

    /// Returns a position's value before backing up, and the result of the search over all moves.
    /// The result is `None` if there are no legal moves.
    fn value(
        &self,
        searcher: &mut Searcher,
        position: &Position,
        switch: &Switch,
    ) -> (BookValue, Option<Outcome>) {
        let mut value = BookValue {
            key: position.key(),
            score: if position.in_check() { mated_in(0) } else { DRAW },
            best: None,
            outside: None,
            own: None,
            depth: 0,
            own_depth: MAX_PLY as Depth,
            nodes: self.plan.limits.nodes.unwrap_or(0),
        };
        let legal = position.legal_moves();
        if legal.is_empty() {
            return (value, None);
        }
        let all = self.searched_before(value.key);
        let all =
            all.unwrap_or_else(|| self.best(searcher, position, Vec::new(), &switch.control()));
        (value.own, value.own_depth) = (all.best, all.depth);
        value.nodes = value.nodes.max(all.nodes);
        if all.best.is_some_and(|(mv, _)| !self.is_within(position, mv)) {
            value.outside = all.best;
            return (value, Some(all));
        }
        let outside: Vec<Move> = legal.iter().filter(|&mv| !self.is_within(position, mv)).collect();
        if !outside.is_empty() {
            let outside = self.best(searcher, position, outside, &switch.control());
            value.outside = outside.best;
            value.own_depth = value.own_depth.min(outside.depth);
        }
        (value, Some(all))
    }

    /// Searches the position for its best move among `root_moves`, or among all legal moves if the
    /// list is empty.
    fn best(
        &self,
        searcher: &mut Searcher,
        position: &Position,
        root_moves: Vec<Move>,
        control: &Control,
    ) -> Outcome {
        searcher.new_game();
        let limits = Limits { root_moves, ..self.plan.limits.clone() };
        let result = searcher.search(&Game::new(*position), &limits, control, &mut |_| {});
        let best = result.best.map(|mv| (mv, result.score));
        Outcome { best, depth: result.depth, nodes: result.nodes }
    }

    pub(crate) fn back_up(&self, book: &Book) -> Vec<BookValue> {
        backed_up(self.known.values().copied().filter(|value| !is_wanted(value)).collect(), book)
    }
}

/// Returns a placeholder value for a position that is to be analysed but has not been searched yet.
fn wanted(key: u64) -> BookValue {
    BookValue {
        key,
        score: DRAW,
        best: None,
        outside: None,
        own: None,
        depth: 0,
        own_depth: 0,
        nodes: 0,
    }
}

/// Returns true if a value is a placeholder (see [`wanted`]). No other value looks like one: a
/// search always finds a move, and a position without legal moves has an `own_depth` of
/// [`MAX_PLY`].
fn is_wanted(value: &BookValue) -> bool {
    value.own.is_none() && value.own_depth == 0
}

/// Selects the values from other books' analyses that are for positions in `book`, and backs them
/// up along the moves between those positions. If a position has several values, the one from the
/// longest search is used.
pub(crate) fn carried_over(found: impl Iterator<Item = BookValue>, book: &Book) -> Vec<BookValue> {
    let longest = longest(found);
    let values = book.entries().filter_map(|entry| longest.get(&entry.key).copied());
    backed_up(values.collect(), book)
}

/// Maps the key of each position to the value from its longest search. Placeholders are ignored.
fn longest(found: impl Iterator<Item = BookValue>) -> KeyMap<BookValue> {
    let mut longest: KeyMap<BookValue> = KeyMap::default();
    for value in found.filter(|value| !is_wanted(value)) {
        let kept = longest.entry(value.key).or_insert(value);
        if is_longer(&value, kept) {
            *kept = value;
        }
    }
    longest
}

/// Whether a value comes from a longer search than another value.
fn is_longer(value: &BookValue, other: &BookValue) -> bool {
    (value.nodes, value.own_depth) > (other.nodes, other.own_depth)
}

fn backed_up(mut values: Vec<BookValue>, book: &Book) -> Vec<BookValue> {
    values.sort_unstable_by_key(|value| value.key);
    let mut numbers = KeyMap::default();
    numbers.extend(values.iter().zip(0_u32..).map(|(value, number)| (value.key, number)));
    let number = |key: u64| numbers.get(&key).copied();
    let mut links = Links::new(values.len());
    book.visit(&book.starts(), false, |position, entry| {
        if let Some(own) = number(entry.key) {
            links.find(own, position, number);
        }
        ControlFlow::Continue(())
    });
    back_up(&mut values, &links);
    values
}
