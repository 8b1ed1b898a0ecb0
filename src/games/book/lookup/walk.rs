//! Visits the positions in a book by playing its moves from a given position. This is necessary
//! because a position cannot be reconstructed from its key.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::Book;
use crate::chess::position::{Game, KeyMap, Move, Position};
use crate::games::book::format::entry::BookEntry;
use crate::support::random::Random;

/// A position visited by [`Book::walk`] and its distance from the start of the walk.
#[derive(Debug, Clone)]
pub struct Visited {
    /// The position.
    pub position: Position,
    /// Number of plies from the start of the walk, by the shortest path.
    pub ply: u32,
    /// The entry for the position. It has no moves if no line in the book continues from this
    /// position.
    pub entry: BookEntry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follow {
    Played,
    /// Follows all legal moves in positions where the book lacks some of the moves played in games,
    /// and only book moves elsewhere.
    Missing,
    All,
}

impl Follow {
    fn tries_all_moves(self, entry: &BookEntry) -> bool {
        let played = || entry.moves.iter().map(|(_, played)| played.games()).sum::<u64>();
        match self {
            Follow::Played => false,
            Follow::Missing => played() < entry.reached.games(),
            Follow::All => true,
        }
    }
}

impl Book {
    /// Plays random moves from the start position and returns the resulting game. Moves are chosen
    /// with probability proportional to their number of games. The game ends after `plies` plies,
    /// or earlier if the book has no further moves.
    pub(crate) fn draw_line(&self, plies: usize, random: &mut Random) -> Game {
        let mut game = Game::default();
        for _ in 0..plies {
            let drawn = self.draw_move(game.position(), random);
            // Book moves are legal, so playing one is not expected to fail.
            if drawn.is_none_or(|mv| game.play(mv).is_err()) {
                break;
            }
        }
        game
    }

    /// Returns a random move, chosen with probability proportional to its number of games, or
    /// `None` if no book move has any games.
    pub(crate) fn draw_move(&self, position: &Position, random: &mut Random) -> Option<Move> {
        let moves = self.moves(position);
        let total: u64 = moves.iter().map(|mv| mv.played.games()).sum();
        if total == 0 {
            return None;
        }
        let mut ticket = random.below_u64(total);
        let drawn = moves.iter().find(|mv| {
            let games = mv.played.games();
            let is_it = ticket < games;
            ticket = ticket.saturating_sub(games);
            is_it
        });
        drawn.map(|drawn| drawn.mv)
    }

    /// Returns the positions at which the lines of the book begin: the standard start position,
    /// unless the book has lines but none of them begins there, and those of
    /// [`Manifest::starts`](crate::games::book::Manifest::starts) that the book contains.
    pub fn starts(&self) -> Vec<Position> {
        let usual = Position::start();
        let stored = self.manifest().map(|manifest| manifest.starts).unwrap_or_default();
        let stored = stored.iter().filter_map(|fen| Position::from_fen(fen).ok());
        let mut starts: Vec<Position> = stored.filter(|at| self.entry(at).is_some()).collect();
        if starts.is_empty() || self.entry(&usual).is_some() {
            starts.insert(0, usual);
        }
        starts
    }

    /// Visits every position that can be reached from `start` in at most `max_ply` plies without
    /// leaving the book. Each position is visited once, in order of distance. Moves that were never
    /// played but lead to a position in the book are also followed, in case the book contains the
    /// moves of only one side.
    pub fn walk(&self, start: &Position, max_ply: u32) -> impl Iterator<Item = Visited> + '_ {
        self.walk_all(&[*start], max_ply)
    }

    /// Like [`Book::walk`], but visits the positions that can be reached from any of `starts`.
    pub(crate) fn walk_all(
        &self,
        starts: &[Position],
        max_ply: u32,
    ) -> impl Iterator<Item = Visited> + use<'_> {
        let mut seen = KeyMap::default();
        let new = starts.iter().filter(|start| seen.insert(start.key(), ()).is_none());
        let mut queue: VecDeque<(Position, u32)> = new.map(|start| (*start, 0)).collect();
        std::iter::from_fn(move || {
            let (position, ply) = queue.pop_front()?;
            let known = self.entry(&position);
            let entry = known.unwrap_or(BookEntry { key: position.key(), ..BookEntry::default() });
            if ply < max_ply {
                for book_move in self.moves(&position) {
                    let next = position.play(book_move.mv);
                    if seen.insert(next.key(), ()).is_none() {
                        queue.push_back((next, ply + 1));
                    }
                }
            }
            Some(Visited { position, ply, entry })
        })
    }

    /// Visits each position that can be reached from `starts` without leaving the book, and returns
    /// the number of visited positions. Stops early if `visit` breaks. For speed, the first pass
    /// follows only the moves stored in the entries. If some positions are still unvisited, a
    /// second pass follows all legal moves.
    ///
    /// With `nearest_first`, the order is nearly the same as in [`Book::walk`]. The second pass
    /// then tries all legal moves only in positions where the book lacks some of the moves played
    /// in games, because trying them in a million positions takes half a minute. As a result, some
    /// positions in a pruned book may be missed.
    pub(crate) fn visit(
        &self,
        starts: &[Position],
        nearest_first: bool,
        mut visit: impl FnMut(&Position, &BookEntry) -> ControlFlow<()>,
    ) -> u64 {
        let mut visited = vec![false; self.image.places()];
        let (mut number, mut entry) = (0, BookEntry::default());
        let unplayed = if nearest_first { Follow::Missing } else { Follow::All };
        for follow in [Follow::Played, unplayed] {
            let mut expanded = vec![false; self.image.places()];
            let mut open: VecDeque<Position> = starts.iter().copied().collect();
            if follow != Follow::Played {
                let absent = starts.iter().filter(|start| self.image.find(start.key()).is_none());
                open.extend(absent.flat_map(|start| self.known_after(start)));
            }
            while number < self.positions() {
                let next = if nearest_first { open.pop_front() } else { open.pop_back() };
                let Some(position) = next else { break };
                let Some((place, raw)) = self.image.place(position.key()) else { continue };
                if std::mem::replace(&mut expanded[place], true) || entry.decode_raw(&raw).is_none()
                {
                    continue;
                }
                if !std::mem::replace(&mut visited[place], true) {
                    number += 1;
                    if visit(&position, &entry).is_break() {
                        return number;
                    }
                }
                if follow.tries_all_moves(&entry) {
                    open.extend(self.known_after(&position));
                } else {
                    let moves = entry.legal_moves(&position);
                    open.extend(moves.map(|(mv, _)| position.play(mv)));
                }
            }
        }
        number
    }

    fn known_after(&self, position: &Position) -> impl Iterator<Item = Position> {
        let after: Vec<Position> = position
            .legal_moves()
            .iter()
            .map(|mv| position.play(mv))
            .filter(|next| {
                self.image.may_hold_pawns(next.pawn_key()) && self.image.find(next.key()).is_some()
            })
            .collect();
        after.into_iter()
    }
}
