//! The positions of a book, searched, and the values that come of it.
//!
//! Every position is searched twice at most: with all its moves, and, where the best of them leads to
//! another position of the analysis, with those that do not. Each search knows nothing of the others,
//! so that what is found depends neither on the number of threads nor on interruptions.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crossbeam::channel::Sender;

use super::{Switch, share_out};
use crate::book::{Book, BookValue, Links, Scored, back_up, kept_nodes};
use crate::position::{Game, KeyMap, Move, Position};
use crate::score::{DRAW, Depth, MAX_PLY, mated_in};
use crate::search::{Config, Control, Limits, Searcher};

/// What is to be searched, and how.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Positions that fewer games reached are left out.
    pub min_games: u64,
    /// What bounds each search.
    pub limits: Limits,
    /// What each thread searches with.
    pub config: Config,
}

/// The analysis of a book: what is known, and what is to be found out.
pub(crate) struct Analysis {
    /// What is known of each position.
    known: KeyMap<BookValue>,
    /// What is to be searched, those that most games reached first.
    targets: Vec<Position>,
    /// All positions that belong to the analysis.
    members: KeyMap<()>,
    /// Positions that belong to it, but that no moves of the book lead to.
    pub out_of_reach: u64,
    plan: Plan,
}

impl Analysis {
    /// Prepares the analysis of a book of which this is known already.
    pub(crate) fn new(book: &Book, known: impl Iterator<Item = BookValue>, plan: Plan) -> Self {
        let known: KeyMap<BookValue> = known.map(|value| (value.key, value)).collect();
        let belongs = |key: u64, games: u64| games >= plan.min_games || known.contains_key(&key);
        let entries = book.entries().filter(|entry| belongs(entry.key, entry.reached.games()));
        let members: KeyMap<()> = entries.map(|entry| (entry.key, ())).collect();
        let mut analysis = Analysis { known, targets: Vec::new(), members, out_of_reach: 0, plan };
        let (mut targets, mut reached) = (Vec::new(), 0);
        book.visit(&Position::start(), false, |position, entry| {
            if analysis.members.contains_key(&entry.key) {
                reached += 1;
                if !analysis.is_known(position) {
                    targets.push((Reverse(entry.reached.games()), entry.key, *position));
                }
            }
            ControlFlow::Continue(())
        });
        targets.sort_unstable_by_key(|&(games, key, _)| (games, key));
        analysis.targets = targets.into_iter().map(|(_, _, position)| position).collect();
        analysis.out_of_reach = analysis.members.len() as u64 - reached;
        analysis
    }

    /// Positions that are to be searched.
    pub(crate) fn len(&self) -> usize {
        self.targets.len()
    }

    /// Positions of which something is known.
    pub(crate) fn known(&self) -> usize {
        self.known.len()
    }

    /// Whether a move leads to a position of the analysis.
    fn is_within(&self, position: &Position, mv: Move) -> bool {
        self.members.contains_key(&position.play(mv).key())
    }

    /// Whether enough is known of a position: by searches that were long enough, and of the best of
    /// those moves that lead out of the analysis as it is now.
    fn is_known(&self, position: &Position) -> bool {
        self.known.get(&position.key()).is_some_and(|value| {
            value.nodes >= kept_nodes(self.plan.limits.nodes.unwrap_or(0))
                && value.outside.is_none_or(|(mv, _)| !self.is_within(position, mv))
        })
    }

    /// Searches what is to be searched, and hands over each value as it is found, in any order,
    /// until all is done or `tell` fails. There is a thread for each switch, which ends its searches.
    ///
    /// # Errors
    /// Those of `tell`.
    pub(crate) fn search<E>(
        &mut self,
        switches: &[Switch],
        mut tell: impl FnMut(&BookValue) -> Result<(), E>,
    ) -> Result<(), E> {
        let next = AtomicUsize::new(0);
        let this = &*self;
        let mut new = Vec::new();
        let told =
            share_out(switches, |switch, found| this.work(&next, switch, found), &mut |value| {
                new.push(value);
                tell(&value)
            });
        self.known.extend(new.into_iter().map(|value| (value.key, value)));
        told
    }

    /// Searches positions until there is none left, or nobody listens.
    fn work(&self, next: &AtomicUsize, switch: &Switch, found: &Sender<BookValue>) {
        let mut searcher = Searcher::new(self.plan.config.clone());
        while let Some(position) = self.targets.get(next.fetch_add(1, Relaxed)) {
            let value = self.value(&mut searcher, position, switch);
            // A search that was called off is none.
            if switch.is_stopped() || found.send(value).is_err() {
                return;
            }
        }
    }

    fn value(&self, searcher: &mut Searcher, position: &Position, switch: &Switch) -> BookValue {
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
            return value;
        }
        let (own, depth, nodes) = self.best(searcher, position, Vec::new(), &switch.control());
        (value.own, value.own_depth) = (own, depth);
        value.nodes = value.nodes.max(nodes);
        if own.is_some_and(|(mv, _)| !self.is_within(position, mv)) {
            value.outside = own;
            return value;
        }
        let outside: Vec<Move> = legal.iter().filter(|&mv| !self.is_within(position, mv)).collect();
        if !outside.is_empty() {
            let (outside, depth, _) = self.best(searcher, position, outside, &switch.control());
            value.outside = outside;
            value.own_depth = value.own_depth.min(depth);
        }
        value
    }

    /// The best of these moves, of all if there are none, its score; depth and nodes of the search.
    fn best(
        &self,
        searcher: &mut Searcher,
        position: &Position,
        root_moves: Vec<Move>,
        control: &Control,
    ) -> (Option<Scored>, Depth, u64) {
        searcher.new_game();
        let limits = Limits { root_moves, ..self.plan.limits.clone() };
        let result = searcher.search(&Game::new(*position), &limits, control, &mut |_| {});
        (result.best.map(|mv| (mv, result.score)), result.depth, result.nodes)
    }

    /// All values, backed up, sorted by key.
    pub(crate) fn back_up(&self, book: &Book) -> Vec<BookValue> {
        backed_up(self.known.values().copied().collect(), book)
    }
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
    let number = |key: u64| {
        let at = values.binary_search_by_key(&key, |value| value.key).ok()?;
        u32::try_from(at).ok()
    };
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
