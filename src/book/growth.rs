//! A book that grows: positions that best play leads to, but no game.
//!
//! Which come first is a drop-out expansion: of all moves that lead out of the analysis, the ones that
//! play is likeliest to come to are taken in, so that good lines become long, and poor ones are
//! answered and left. T. R. Lincke, "Strategies for the automatic construction of opening books",
//! Computers and Games (2000). Where he adds up plies and losses along a path, likelihoods are
//! multiplied here: a game book tells how likely its own positions are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Read, Seek, Write};
use std::iter::Peekable;
use std::ops::ControlFlow;

use super::combine::{Merged, insert_pawns};
use super::regroup::grow_known;
use super::writer::write_book;
use super::{Book, BookEntry, BookValue, Counts, Links};
use crate::position::{KeyMap, Move, Position};
use crate::score::Score;

use super::values::before;

/// A move that is so many centipawns worse than the best is played half as often. Hand-set: as much
/// as `SteerMargin` leaves open, about what two searches of a move differ by.
const HALVING: f64 = 15.0;
/// Positions that are worth more to either side, in centipawns, are not gone on from: such games are
/// decided by playing them, not by a book. Hand-set.
const LIMIT: Score = 200;

/// A move that leads out of the analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shoot {
    /// Where it is played.
    pub position: Position,
    /// The move.
    pub mv: Move,
}

/// How likely play is to come to a position, as an order; then by key, so that it is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Positive numbers are ordered as their bits are.
    likelihood: u64,
    key: Reverse<u64>,
}

impl Rank {
    fn new(likelihood: f64, key: u64) -> Self {
        Rank { likelihood: likelihood.to_bits(), key: Reverse(key) }
    }

    fn likelihood(self) -> f64 {
        f64::from_bits(self.likelihood)
    }
}

/// The best moves out of the analysis of a book, `number` at most: those that play is likeliest to
/// come to, the likeliest first.
pub(crate) fn shoots(book: &Book, number: usize) -> Vec<Shoot> {
    let values: Vec<BookValue> = book.values().collect();
    let place = |key: u64| values.binary_search_by_key(&key, |value| value.key).ok();
    let mut links = Links::new(values.len());
    let mut positions = vec![None; values.len()];
    let mut games = vec![0; values.len()];
    book.visit(&Position::start(), false, |position, entry| {
        if let Some(own) = place(entry.key) {
            links.find(own as u32, position, |key| Some(place(key)? as u32));
            positions[own] = Some(*position);
            games[own] = entry.reached.games();
        }
        ControlFlow::Continue(())
    });
    let reach = reach(&values, &links, &games);
    let mut found: Vec<(Rank, Shoot)> = Vec::new();
    let mut taken = KeyMap::default();
    for (own, value) in values.iter().enumerate() {
        let (Some(position), Some((mv, _))) = (positions[own], value.outside) else { continue };
        if value.score.abs() > LIMIT || !position.is_legal(mv) {
            continue;
        }
        let share = shares(value, &links, own, &values).last().map_or(0.0, |&(_, share)| share);
        found.push((Rank::new(reach[own] * share, value.key), Shoot { position, mv }));
    }
    found.sort_unstable_by_key(|&(rank, _)| Reverse(rank));
    let is_new = |shoot: &Shoot| taken.insert(shoot.position.play(shoot.mv).key(), ()).is_none();
    found.into_iter().map(|(_, shoot)| shoot).filter(is_new).take(number).collect()
}

/// How likely play is to come to each position: as often as the games did, or by the likeliest way of
/// good moves.
fn reach(values: &[BookValue], links: &Links, games: &[u64]) -> Vec<f64> {
    let all = games.iter().copied().max().unwrap_or(0).max(1) as f64;
    let mut reach: Vec<f64> = games.iter().map(|&games| games as f64 / all).collect();
    let place = |key: u64| values.binary_search_by_key(&key, |value| value.key).ok();
    let begin = reach.iter().zip(values).filter(|&(&likelihood, _)| likelihood > 0.0);
    let mut open: BinaryHeap<Rank> =
        begin.map(|(&likelihood, value)| Rank::new(likelihood, value.key)).collect();
    while let Some(rank) = open.pop() {
        let Some(own) = place(rank.key.0) else { continue };
        if rank.likelihood() < reach[own] {
            continue;
        }
        for (to, share) in shares(&values[own], links, own, values) {
            let Some(to) = to else { continue };
            let likelihood = rank.likelihood() * share;
            if likelihood > reach[to] {
                reach[to] = likelihood;
                open.push(Rank::new(likelihood, values[to].key));
            }
        }
    }
    reach
}

/// How the moves of a position share its play by what they are worth: those that lead to positions of
/// the analysis, and at the end the best of the others.
fn shares(
    value: &BookValue,
    links: &Links,
    own: usize,
    values: &[BookValue],
) -> Vec<(Option<usize>, f64)> {
    let within = links.of(own).iter().map(|&(_, to)| to as usize);
    let within = within.map(|to| (Some(to), before(values[to].score)));
    let outside = value.outside.map(|(_, score)| (None, score));
    let weight = |score: Score| (-f64::from(value.score - score) / HALVING).exp2();
    let mut shares: Vec<(Option<usize>, f64)> =
        within.chain(outside).map(|(to, score)| (to, weight(score))).collect();
    let sum: f64 = shares.iter().map(|(_, share)| share).sum();
    shares.iter_mut().for_each(|(_, share)| *share /= sum);
    shares
}

/// Writes a book with these moves, and the positions that they lead to, beside its own, to an empty
/// `output`. No game counts for them. Values are left out.
///
/// # Errors
/// Those of the output.
pub(crate) fn grow<W: Read + Write + Seek>(
    book: &Book,
    shoots: &[Shoot],
    output: W,
) -> io::Result<W> {
    let mut pawns = super::pawn_filter::PawnSet::new();
    insert_pawns(book, &Position::start(), &|_| true, &mut pawns);
    let mut entries: Vec<BookEntry> = Vec::with_capacity(2 * shoots.len());
    for Shoot { position, mv } in shoots {
        let after = position.play(*mv);
        pawns.insert(after.pawn_key());
        let moves = vec![(*mv, Counts::default())];
        entries.push(BookEntry { key: position.key(), moves, ..BookEntry::default() });
        entries.push(BookEntry { key: after.key(), ..BookEntry::default() });
    }
    // A position may be led to and gone on from.
    entries.sort_by_key(|entry| entry.key);
    entries.dedup_by(|next, kept| {
        let same = next.key == kept.key;
        if same {
            kept.moves.append(&mut next.moves);
        }
        same
    });
    let manifest = book.manifest().unwrap_or_default();
    if book.image.facets().is_some() {
        return grow_known(book, entries, &pawns, &manifest, output);
    }
    let own: Box<dyn Iterator<Item = BookEntry>> = Box::new(book.entries());
    let merged = Merged::of(vec![own, Box::new(entries.into_iter())]);
    write_book(output, merged, &pawns, &manifest)
}

/// Whether a move stands in the book that no game has played: an analysis has put it there.
fn is_grown(&(_, played): &(Move, Counts)) -> bool {
    played.is_empty()
}

impl Book {
    /// The keys of the positions that moves lead to which no game has played.
    pub(crate) fn grown_positions(&self) -> KeyMap<()> {
        let mut keys = KeyMap::default();
        self.visit(&Position::start(), false, |position, entry| {
            let moves = self.legal_moves_of(entry, position).filter(is_grown);
            keys.extend(moves.map(|(mv, _)| (position.play(mv).key(), ())));
            ControlFlow::Continue(())
        });
        keys
    }

    /// Whether this is the other book, but for what it has grown since.
    pub(crate) fn has_grown_from(&self, other: &Book) -> bool {
        let mut others = other.entries().peekable();
        let agrees = self.entries().all(|entry| match take(&mut others, entry.key) {
            Some(old) => {
                let is_old =
                    |&(mv, _): &(Move, Counts)| old.moves.iter().any(|&(was, _)| was == mv);
                entry.reached == old.reached
                    && entry.moves.iter().filter(|found| is_old(found)).eq(&old.moves)
                    && entry.moves.iter().all(|found| is_old(found) || is_grown(found))
            }
            None => entry.reached.is_empty() && entry.moves.iter().all(is_grown),
        });
        agrees && others.peek().is_none()
    }
}

/// The next entry, if it has this key.
fn take(entries: &mut Peekable<impl Iterator<Item = BookEntry>>, key: u64) -> Option<BookEntry> {
    entries.next_if(|entry| entry.key == key)
}
