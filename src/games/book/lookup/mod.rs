//! Looks up positions in books. The results are counts, moves, values, games and opening names.
//! Uses the modules `facets` and `format`.

pub(super) mod castling;
pub(super) mod game_text;
pub(super) mod names;
pub(super) mod pending_lookup;
mod soundness;
pub(super) mod values;
pub(super) mod walk;

use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use super::format::counts::Counts;
use super::format::entry::BookEntry;
use super::format::error::BookError;
use super::format::image::{Image, Storage};
use super::format::manifest::Manifest;
use crate::chess::position::{Move, Position};
use castling::is_same;

static EMBEDDED: &[u8] = include_bytes!("../../../../books/tabia.tbk");

/// The name of the embedded book, which users can specify in place of a path.
pub const EMBEDDED_NAME: &str = "embedded";

/// A note displayed with all counts from the embedded book.
pub(crate) const SELF_PLAY: &str = "Counts from the embedded book: games that Tabia played against \
                                    itself, and named opening lines.";

/// A move that was played in the position, or that leads to a position in the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookMove {
    /// The move, which is legal in the position.
    pub mv: Move,
    /// Results of the games in which the move was played from this position.
    pub played: Counts,
    /// Results of the games that reached the resulting position via any move order.
    pub reached: Counts,
}

/// An opening book. Cloning is cheap; clones share the data. Books can be chained: if a position or
/// its moves are missing from the first book, [`Book::reached`], [`Book::moves`] and
/// [`Chooser::choose`](crate::games::book::Chooser::choose) look in the next one. Other methods use
/// only the first book unless they state otherwise.
#[derive(Clone)]
pub struct Book {
    pub(super) image: Arc<Image>,
    name: Arc<str>,
    warnings: Arc<[String]>,
    /// The cached result of [`Book::holds_weights`].
    weights: Arc<OnceLock<bool>>,
    pub(super) next: Option<Arc<Book>>,
}

/// Two books are equal if they are clones that share the same data. Their contents are not
/// compared.
impl PartialEq for Book {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.image, &other.image) && self.next == other.next
    }
}

impl Eq for Book {}

impl Book {
    pub(crate) fn followed_by(self, last: &Book) -> Self {
        let next = match self.next {
            Some(next) => Arc::unwrap_or_clone(next).followed_by(last),
            None => last.clone(),
        };
        let name = format!("{}, then {}", self.name, last.name).into();
        Book { name, next: Some(Arc::new(next)), ..self }
    }

    /// Returns the book embedded in the program. It contains named opening lines and self-play
    /// games (see `books/README.md`).
    pub fn embedded() -> Self {
        // The book is cached, because opening it verifies its checksums, which takes longer than
        // answering an opening explorer request.
        static EMBEDDED_BOOK: LazyLock<Book> = LazyLock::new(|| {
            Book::from_storage(Storage::Static(EMBEDDED), EMBEDDED_NAME)
                .expect("a test has compared the embedded book with its source")
        });
        EMBEDDED_BOOK.clone()
    }

    /// Reads a book from the bytes of a `.tbk` file.
    ///
    /// # Errors
    /// If the bytes are not a valid book.
    pub fn from_bytes(bytes: Vec<u8>, name: &str) -> Result<Self, BookError> {
        Self::from_storage(Storage::Owned(bytes), name)
    }

    fn from_storage(storage: Storage, name: &str) -> Result<Self, BookError> {
        Ok(Book {
            image: Arc::new(Image::new(storage, name)?),
            name: name.into(),
            warnings: [].into(),
            weights: Arc::default(),
            next: None,
        })
    }

    pub(super) fn with_name(self, name: &str) -> Self {
        Book { name: name.into(), ..self }
    }

    pub(super) fn with_warnings(self, warnings: impl IntoIterator<Item = String>) -> Self {
        Book { warnings: warnings.into_iter().collect(), ..self }
    }

    /// Returns the warnings from opening the book, such as skipped rows. They do not include the
    /// name of the file.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether the counts are move weights instead of numbers of games, as in a book imported from
    /// Polyglot.
    pub fn holds_weights(&self) -> bool {
        *self.weights.get_or_init(|| self.manifest().is_ok_and(|manifest| manifest.weights))
    }

    /// Returns the name of the book: its path, `embedded`, or for a chain, the names of all its
    /// books.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the contents of the book in the `.tbk` format. Chained books are not included.
    pub fn bytes(&self) -> &[u8] {
        self.image.bytes()
    }

    /// Whether this is the embedded book or a copy of it. Only in this book are the games known to
    /// be self-play games.
    pub fn is_self_play(&self) -> bool {
        self.entries_checksum() == Self::embedded().entries_checksum()
    }

    pub(crate) fn counts_self_play(&self, position: &Position) -> bool {
        let source = self.in_order().find(|book| book.contains(position));
        let source = source.or_else(|| self.in_order().find(|book| book.has_moves(position)));
        source.is_some_and(|book| book.is_self_play())
    }

    fn has_moves(&self, position: &Position) -> bool {
        !self.own_moves(position).is_empty()
    }

    pub(crate) fn checksum(&self) -> u64 {
        self.entries_checksum() ^ self.values_checksum().unwrap_or(0).rotate_left(32)
    }

    pub(crate) fn entries_checksum(&self) -> u64 {
        self.image.header().sections.entries.checksum
    }

    /// Returns the number of positions.
    pub fn positions(&self) -> u64 {
        self.image.header().positions
    }

    /// Returns the total number of moves stored for all positions.
    pub fn move_count(&self) -> u64 {
        self.image.header().moves
    }

    /// Returns the manifest, which records how the book was created.
    ///
    /// # Errors
    /// If that section of the file is damaged.
    pub fn manifest(&self) -> Result<Manifest, BookError> {
        self.image.manifest(&self.name)
    }

    /// Returns the results of the games that reached a position via any move order, or `None` if no
    /// game did. Does not allocate, and touches only one or two cache lines if the position is not
    /// in the book.
    #[inline]
    pub fn reached(&self, position: &Position) -> Option<Counts> {
        self.probe(position.key(), position.pawn_key())
    }

    /// Returns false if the pawn filters show that neither this book nor a book chained after it
    /// contains a position with this pawn structure. There are no false negatives.
    pub(crate) fn may_hold_pawns(&self, pawn_key: u64) -> bool {
        self.image.may_hold_pawns(pawn_key)
            || self.next.as_ref().is_some_and(|next| next.may_hold_pawns(pawn_key))
    }

    /// Like [`Book::reached`], but takes the key and the pawn key of a position.
    #[inline]
    pub fn probe(&self, key: u64, pawn_key: u64) -> Option<Counts> {
        self.look_up(key, pawn_key, |counts| !counts.is_empty())
    }

    /// Returns the results of the games that reached the position with this key. Skips the pawn
    /// filter, which the caller must already have tested with [`Book::may_hold_pawns`].
    pub(crate) fn reached_by_key(&self, key: u64) -> Option<Counts> {
        let found = self.image.reached(key).filter(|counts| !counts.is_empty());
        found.or_else(|| self.next.as_ref()?.reached_by_key(key))
    }

    /// Like [`Book::reached`], but also finds positions that were analysed or learned but not
    /// reached by any game.
    #[inline]
    pub(crate) fn holds(&self, position: &Position) -> Option<Counts> {
        self.look_up(position.key(), position.pawn_key(), |_| true)
    }

    #[inline]
    fn look_up(
        &self,
        key: u64,
        pawn_key: u64,
        is_wanted: impl Fn(&Counts) -> bool + Copy,
    ) -> Option<Counts> {
        let found =
            if self.image.may_hold_pawns(pawn_key) { self.image.reached(key) } else { None };
        let found = found.filter(is_wanted);
        match &self.next {
            Some(next) if found.is_none() => next.look_up(key, pawn_key, is_wanted),
            _ => found,
        }
    }

    pub(in crate::games::book) fn in_order(&self) -> impl Iterator<Item = Book> {
        let mut rest = Some(self.clone());
        std::iter::from_fn(move || {
            let mut book = rest.take()?;
            rest = book.next.take().map(Arc::unwrap_or_clone);
            Some(book)
        })
    }

    /// Returns the entry for a position, or `None` if the book does not contain it.
    pub fn entry(&self, position: &Position) -> Option<BookEntry> {
        let mut entry = BookEntry::default();
        self.image.read(position.key(), &mut entry).then_some(entry)
    }

    /// Returns the legal moves that were played from this position or lead to a position in the
    /// book. Moves are sorted by the number of games that reached the resulting position (or by
    /// weight), in descending order. In a chain, the moves come from the first book that has any
    /// for this position.
    pub fn moves(&self, position: &Position) -> Vec<BookMove> {
        self.in_order()
            .map(|book| book.own_moves(position))
            .find(|moves| !moves.is_empty())
            .unwrap_or_default()
    }

    pub(crate) fn played(&self, position: &Position, mv: Move) -> Counts {
        let book = self.in_order().find(|book| book.contains(position));
        let entry = book.and_then(|book| book.entry(position)).unwrap_or_default();
        let played = entry.moves.iter().find(|&&(other, _)| is_same(other, mv, position));
        played.map_or(Counts::default(), |&(_, played)| played)
    }

    pub(super) fn contains(&self, position: &Position) -> bool {
        self.image.reached(position.key()).is_some_and(|reached| !reached.is_empty())
    }

    fn own_moves(&self, position: &Position) -> Vec<BookMove> {
        let entry = self.entry(position).unwrap_or_default();
        let mut moves: Vec<BookMove> = position
            .legal_moves()
            .iter()
            .filter_map(|mv| {
                let played = entry.moves.iter().find(|&&(other, _)| is_same(other, mv, position));
                let reached = self.reached(&position.play(mv));
                (played.is_some() || reached.is_some()).then(|| {
                    let played = played.map_or(Counts::default(), |&(_, played)| played);
                    BookMove { mv, played, reached: reached.unwrap_or(played) }
                })
            })
            .collect();
        let weights = self.holds_weights();
        moves.sort_by_key(|BookMove { mv, played, reached }| {
            let weight = if weights { played } else { reached };
            (std::cmp::Reverse(weight.games()), *mv)
        });
        moves
    }

    /// Iterates over the entries of all positions in ascending order of their keys, stopping at the
    /// first damaged entry.
    pub fn entries(&self) -> impl Iterator<Item = BookEntry> + '_ {
        let mut rest = self.image.entries();
        std::iter::from_fn(move || {
            let mut entry = BookEntry::default();
            rest = entry.decode(rest)?;
            Some(entry)
        })
    }

    /// Verifies all checksums, and checks that all data derived from the entries is consistent with
    /// them.
    ///
    /// # Errors
    /// If part of the file is damaged; the error names the part.
    pub fn verify(&self) -> Result<(), BookError> {
        soundness::verify(self)
    }
}

impl fmt::Debug for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Book")
            .field("name", &self.name)
            .field("positions", &self.positions())
            .finish()
    }
}
