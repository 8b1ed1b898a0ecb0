//! Reads repertoires from PGN and from books.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;

use super::graph::{Remark, RemarkKind, Repertoire};
use crate::chess::notation;
use crate::chess::position::{Color, Position};
use crate::games::book::{Book, BookError, has_book_ending};
use crate::games::pgn::{FaultReason, GameStatus, PgnInput, read_games};
use crate::support::files::{Cannot, FileError};

/// The reason why a repertoire cannot be used.
#[derive(Debug, Error)]
pub enum RepertoireError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A book cannot be read.
    #[error(transparent)]
    Book(#[from] BookError),
    /// The repertoire's side is unknown.
    #[error("{0}: the side of the repertoire is unknown; add --side white or --side black")]
    NoSide(String),
    /// The input contains no move of either side.
    #[error("{name}: {reason}")]
    Nothing {
        /// The name of the input.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The repertoire contains no move for its own side, so the side was probably given
    /// incorrectly.
    #[error("{name}: it has no move of {side}; is it the repertoire of the other side?")]
    Empty {
        /// The name of the input.
        name: String,
        /// The side.
        side: &'static str,
    },
}

impl RepertoireError {
    pub(crate) fn empty(name: String, side: Color) -> Self {
        RepertoireError::Empty { name, side: notation::color(side) }
    }
}

impl Repertoire {
    /// Opens a repertoire from a single book, or from PGN files and folders.
    ///
    /// # Errors
    /// If a file cannot be read, if the side is unknown, or if the repertoire has no move for that
    /// side.
    pub fn open(paths: &[PathBuf], side: Option<Color>) -> Result<Self, RepertoireError> {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let name = names.join(", ");
        let repertoire = match paths {
            [path] if has_book_ending(path) => {
                let book = Book::open(path)?;
                let stored = book.manifest()?.side();
                let side = side.or(stored).ok_or_else(|| RepertoireError::NoSide(name.clone()))?;
                Self::of_book(&book, side, &book.starts())
            }
            _ => {
                let side = side.ok_or_else(|| RepertoireError::NoSide(name.clone()))?;
                Self::read(&PgnInput::from_paths(paths)?, side)?
            }
        };
        let has_moves = repertoire.nodes().any(|node| repertoire.answers(&node.position));
        if has_moves { Ok(repertoire) } else { Err(repertoire.without_answers(name)) }
    }

    /// Explains why the repertoire has no move for its own side. `name` is the name of the input.
    fn without_answers(&self, name: String) -> RepertoireError {
        let reason = match self.remarks.first() {
            Some(Remark { number, text, .. }) if self.chapters.is_empty() => {
                format!("none of its games can be read; game {number}: {text}")
            }
            None if self.chapters.is_empty() && self.book.is_none() => {
                "it contains no game; a repertoire is a PGN file with variations, or a book"
                    .to_owned()
            }
            _ if self.nodes().all(|node| node.moves.is_empty()) => {
                "it contains no game with a legal move".to_owned()
            }
            _ => return RepertoireError::empty(name, self.side),
        };
        RepertoireError::Nothing { name, reason }
    }

    /// Reads a repertoire from PGN. It includes every move of every variation, regardless of game
    /// results. Syntax errors, chess variants and null moves are reported in
    /// [`Repertoire::remarks`].
    ///
    /// # Errors
    /// If an input cannot be read.
    pub fn read(inputs: &[PgnInput], side: Color) -> Result<Self, FileError> {
        let mut repertoire = Repertoire::new(side);
        for input in inputs {
            let name = input.name();
            let text = input.open(&Arc::default()).cannot("read", &name)?;
            for (number, game) in (1..).zip(read_games(text)) {
                let (game, end) = game.cannot("read", &name)?;
                let mut remark = |kind, text, is_left_out| {
                    let file = name.clone();
                    repertoire.remarks.push(Remark { file, number, kind, text, is_left_out });
                };
                match &end.status {
                    GameStatus::Variant => {
                        remark(RemarkKind::Variant, "it is not orthodox chess".to_owned(), true);
                        continue;
                    }
                    GameStatus::Broken(fault) => {
                        let is_left_out = matches!(fault.reason, FaultReason::Fen(_));
                        remark(RemarkKind::Fault, fault.to_string(), is_left_out);
                        if is_left_out {
                            continue;
                        }
                    }
                    GameStatus::Read | GameStatus::Declined | GameStatus::Text => {}
                }
                for unread in game.unread() {
                    let text = format!("in a variation: {}", unread.fault);
                    remark(RemarkKind::Fault, text, false);
                }
                repertoire.add_chapter(&name, number, game);
            }
        }
        Ok(repertoire)
    }

    /// Reads a repertoire from a book: the moves of `side`, and all of the opponent's replies that
    /// lead to positions in the book, in all positions that can be reached from `starts` (see
    /// [`Book::starts`]). If no game has a result, the book is assumed to have been
    /// built from a repertoire, so all played moves get the same weight.
    pub fn of_book(book: &Book, side: Color, starts: &[Position]) -> Self {
        let mut repertoire = Repertoire::new(side);
        repertoire.book = Some(book.clone());
        starts.iter().for_each(|start| repertoire.add_start(start));
        let games = book.manifest().map(|made| made.games).unwrap_or_default();
        let is_of_lines =
            !book.holds_weights() && games.undecided > 0 && games.undecided == games.total();
        let mut open: VecDeque<Position> = repertoire.nodes().map(|node| node.position).collect();
        while let Some(position) = open.pop_front() {
            let own = position.side_to_move() == side;
            for found in book.moves(&position) {
                if own && found.played.is_empty() {
                    continue;
                }
                let games = found.played.games();
                let weight = if is_of_lines { games.min(1) } else { games };
                repertoire.known_move(&position, found.mv).weight = weight;
                let next = position.play(found.mv);
                if repertoire.node(&next).is_none() {
                    repertoire.place(&next);
                    open.push_back(next);
                }
            }
        }
        repertoire
    }
}
