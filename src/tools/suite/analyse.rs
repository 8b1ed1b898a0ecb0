//! The positions of a book, searched, and the values that come of it.
//!
//! Every position is searched twice at most: with all its moves, and, where the best of them leads to
//! another position of the analysis, with those that do not. Each search knows nothing of the others,
//! so that what is found depends neither on the number of threads nor on interruptions.

use std::cmp::Reverse;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crossbeam::channel::Sender;

use super::{Switch, run_parallel};
use crate::chess::position::{Game, KeyMap, Move, Position};
use crate::chess::score::{DRAW, Depth, MAX_PLY, mated_in};
use crate::engine::search::{Config, Control, Limits, Searcher};
use crate::games::book::{Book, BookValue, FrontierMove, Links, Scored, back_up, kept_nodes};

/// What is to be searched, and how.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Positions that fewer games reached are left out.
    pub min_games: u64,
    /// The positions that may be searched; `None`: all. The others keep what is known of them.
    pub only: Option<KeyMap<()>>,
    /// What bounds each search.
    pub limits: Limits,
    /// What each thread searches with.
    pub config: Config,
}

/// What a search of a position found.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    /// The best move and its score; `None` if there is no move.
    best: Option<Scored>,
    depth: Depth,
    nodes: u64,
}

/// The analysis of a book: what is known, and what is to be found out.
pub(crate) struct Analysis {
    /// What is known of each position.
    known: KeyMap<BookValue>,
    /// What searches with all moves have found since it began: when more positions belong to it, they
    /// need not be made again.
    searched: KeyMap<Outcome>,
    /// What is to be searched, those that most games reached first.
    targets: Vec<Position>,
    /// All positions that belong to the analysis.
    members: KeyMap<()>,
    /// Positions that belong to it, but that no moves of the book lead to.
    pub out_of_reach: u64,
    /// Positions that belong to it though fewer games reached them than the plan asks for.
    pub beyond: u64,
    plan: Plan,
}

impl Analysis {
    /// Prepares the analysis of a book of which this is known already.
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
        analysis.turn_to(book);
        analysis
    }

    /// Goes on with what a book has grown to, in which these positions belong to the analysis as well.
    pub(crate) fn take_in(&mut self, book: &Book, frontier_moves: &[FrontierMove]) {
        let wanted = frontier_moves.iter().map(|shoot| wanted(shoot.position.play(shoot.mv).key()));
        self.known.extend(wanted.map(|wanted| (wanted.key, wanted)));
        self.turn_to(book);
    }

    /// What a journal needs to know of the positions that belong to the analysis and are not known.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = BookValue> + '_ {
        self.known.values().copied().filter(is_wanted)
    }

    /// Takes a book for the one to analyse. Positions that it has grown to belong to the analysis, however
    /// few games reached them.
    fn turn_to(&mut self, book: &Book) {
        let grown = book.grown_positions();
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
        book.visit(&Position::start(), false, |position, entry| {
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

    /// Positions that are to be searched.
    pub(crate) fn len(&self) -> usize {
        self.targets.len()
    }

    /// Positions of which something is known.
    pub(crate) fn known(&self) -> usize {
        self.known.values().filter(|value| !is_wanted(value)).count()
    }

    /// Whether a move leads to a position of the analysis.
    fn is_within(&self, position: &Position, mv: Move) -> bool {
        self.members.contains_key(&position.play(mv).key())
    }

    /// Whether enough is known of a position: by searches that were long enough, and of the best of
    /// those moves that lead out of the analysis as it is now.
    fn is_known(&self, position: &Position) -> bool {
        self.known.get(&position.key()).is_some_and(|value| {
            !is_wanted(value)
                && value.nodes >= kept_nodes(self.plan.limits.nodes.unwrap_or(0))
                && value.outside.is_none_or(|(mv, _)| !self.is_within(position, mv))
        })
    }

    /// Searches what is to be searched, and hands over each value as it is found, in any order,
    /// until all is done or `tell` fails. There is a thread for each switch, which ends its searches.
    ///
    /// # Errors
    /// Those of `tell`, and if no thread can be started.
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

    /// Searches positions until there is none left, or nobody listens.
    fn work(
        &self,
        next: &AtomicUsize,
        switch: &Switch,
        found: &Sender<(BookValue, Option<Outcome>)>,
    ) {
        let mut searcher = Searcher::new(self.plan.config.clone());
        while let Some(position) = self.targets.get(next.fetch_add(1, Relaxed)) {
            let value = self.value(&mut searcher, position, switch);
            // A search that was called off is none.
            if switch.is_stopped() || found.send(value).is_err() {
                return;
            }
        }
    }

    /// What a search with all moves has found of a position, if it is known and was long enough. Where
    /// the best move led out of the analysis, that was the only search, and the value tells all of it.
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

    /// The value of a position, not backed up; and what the search with all its moves found.
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

    /// What a search of these moves finds, of all if there are none.
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

    /// All values, backed up, sorted by key.
    pub(crate) fn back_up(&self, book: &Book) -> Vec<BookValue> {
        backed_up(self.known.values().copied().filter(|value| !is_wanted(value)).collect(), book)
    }
}

/// What stands for a position that belongs to an analysis and has not been searched.
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

/// Whether a value is none, see [`wanted`]: a search has a move, and where there is none, the depth is
/// that of all play.
fn is_wanted(value: &BookValue) -> bool {
    value.own.is_none() && value.own_depth == 0
}

/// What analyses of other books have found of the positions of this one, backed up along its moves;
/// where several know a position, the one that searched it longest.
pub(crate) fn carried_over(found: impl Iterator<Item = BookValue>, book: &Book) -> Vec<BookValue> {
    let mut longest: KeyMap<BookValue> = KeyMap::default();
    for value in found {
        let kept = longest.entry(value.key).or_insert(value);
        if (value.nodes, value.own_depth) > (kept.nodes, kept.own_depth) {
            *kept = value;
        }
    }
    let values = book.entries().filter_map(|entry| longest.get(&entry.key).copied());
    backed_up(values.collect(), book)
}

fn backed_up(mut values: Vec<BookValue>, book: &Book) -> Vec<BookValue> {
    values.sort_unstable_by_key(|value| value.key);
    let mut numbers = KeyMap::default();
    numbers.extend(values.iter().zip(0_u32..).map(|(value, number)| (value.key, number)));
    let number = |key: u64| numbers.get(&key).copied();
    let mut links = Links::new(values.len());
    book.visit(&Position::start(), false, |position, entry| {
        if let Some(own) = number(entry.key) {
            links.find(own, position, number);
        }
        ControlFlow::Continue(())
    });
    back_up(&mut values, &links);
    values
}
