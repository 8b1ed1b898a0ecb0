//! The opening book: positions with the games that reached them by any order of moves, and the
//! moves played there.
//!
//! A book is the same bytes wherever it is: a `.tbk` file read whole, the embedded default book, or
//! what has just been built from PGN in memory. [`Book::reached`] is made for the search, which
//! asks often and mostly in vain; [`Book::moves`] for the root.
//!
//! ```
//! use tabia::book::{BuildOptions, Counts, build_in_memory};
//! use tabia::pgn::PgnInput;
//! use tabia::position::Position;
//!
//! let games = "1. d4 Nf6 2. c4 e6 1-0\n\n1. c4 e6 2. d4 Nf6 0-1\n\n1. c4 Nf6 2. d4 g6 1/2-1/2\n";
//! let games = PgnInput::Text("my games".to_owned(), games.as_bytes().into());
//! let (book, tally) = build_in_memory(&[games], &BuildOptions::default(), "my book")?;
//! assert_eq!(tally.broken, 0);
//! let position = ["c4", "Nf6", "d4"].iter().try_fold(Position::start(), |position, text| {
//!     position.parse_move(text).map(|mv| position.play(mv))
//! })?;
//! assert_eq!(book.reached(&position), Some(Counts::new(1, 1, 0)));
//! let moves = book.moves(&position);
//! let e6 = moves.iter().find(|found| position.san(found.mv) == "e6").expect("played");
//! assert_eq!((e6.played, e6.reached), (Counts::new(1, 0, 0), Counts::new(1, 0, 1)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod asked;
mod backup;
mod bucket;
mod builder;
mod candidate;
mod certainty;
mod chooser;
mod combine;
mod counts;
mod date;
mod entry;
mod error;
mod explore;
mod facets;
mod game_text;
mod growth;
mod header;
mod image;
mod journal;
mod learning;
mod manifest;
mod names;
#[cfg(feature = "parquet")]
mod partial;
mod pawn_filter;
mod policy;
mod polyglot;
mod regroup;
mod selection;
mod soundness;
mod sparring;
mod values;
mod variety;
mod veto;
mod walk;
mod words;
mod writer;

use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::{Arc, OnceLock};

pub(crate) use backup::{Links, back_up};
pub use builder::{
    BookOutput, BuildError, BuildOptions, BuildTally, Checkpoints, DEFAULT_MAX_PLY, DEFAULT_MEMORY,
    EcoRange, FaultListener, GameFault, GameFilter, Monitor, ParseFilterError, build,
    build_in_memory,
};
pub use candidate::{Candidate, Choice, Rejection};
pub(crate) use certainty::quantile;
pub use chooser::Chooser;
pub(crate) use chooser::MAX_LOSS;
pub use combine::{Cut, Difference, Shared, add, cut, differences, merge, shared};
pub use counts::Counts;
pub use date::{GameDate, Month, ParseDateError, PgnDate};
pub use entry::BookEntry;
pub use error::BookError;
pub(crate) use explore::Breadth;
pub use explore::{
    Explored, ExploredMove, GameSummary, LISTED_GAMES, ListedGame, MonthCounts, Player,
};
pub use facets::{
    FacetFilter, FileRecord, GameId, ParseFacetError, ParseGameIdError, RatingGroup, Speed,
};
pub use game_text::GameError;
pub(crate) use growth::{Shoot, grow, shoots};
pub(crate) use journal::Journal;
pub(crate) use learning::{
    Found, HEADLINE, Lasting, LearnError, LearnFile, Learned, Row, Stamp, is_learning, stamp,
};
pub(crate) use manifest::checksum_text;
pub use manifest::{GameTotals, InputRecord, Manifest, Skipped};
pub use names::{NamedOpening, Names};
#[cfg(feature = "parquet")]
pub use partial::{Packed, Partial, count_to_parquet, pack_parquet};
pub use policy::{ParsePolicyError, Policy};
pub use polyglot::Export;
pub use selection::Selection;
pub(crate) use sparring::Partner;
pub(crate) use values::kept_nodes;
pub use values::{BookValue, Scored};
pub(crate) use variety::{Habit, Variety, variety};
pub use veto::Veto;
pub use walk::Visited;
pub(crate) use words::{at_the_end, book_lines, percent, transposition};
pub use writer::write_entries;

use crate::files::{FileKind, open_plain};
use crate::huge_pages;
use crate::pgn::PgnInput;
use crate::position::{Move, Position};
pub(crate) use asked::Asked;
use header::{HEADER_BYTES, Header, MAGIC};
use image::{Image, Storage};

/// The default book, see `books/README.md`.
static EMBEDDED: &[u8] = include_bytes!("../../books/tabia.tbk");

/// A move that leads into the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookMove {
    /// The move, legal where it was asked for.
    pub mv: Move,
    /// Games in which it was played from this very position.
    pub played: Counts,
    /// Games that reached the position after it by any order of moves.
    pub reached: Counts,
}

/// An opening book to be asked. Cloning is cheap; clones share the data.
///
/// It may have a second book behind it, that one a third, and so on: what [`Book::reached`],
/// [`Book::moves`] and [`Chooser::choose`] do not find in one, they look for in the next.
/// Everything else is about the first alone.
#[derive(Clone)]
pub struct Book {
    image: Arc<Image>,
    name: Arc<str>,
    /// What was odd about the file.
    remarks: Arc<[String]>,
    /// See [`Book::holds_weights`]; found out when it is first asked for.
    weights: Arc<OnceLock<bool>>,
    next: Option<Arc<Book>>,
}

/// What stands between the paths of several books, see [`Book::open_all`].
pub const BOOK_SEPARATOR: char = ';';
/// The word for the book that comes with the program where the path of a book is asked for.
pub const EMBEDDED_NAME: &str = "embedded";
/// What a book without positions is called in its place.
pub(crate) const NO_BOOK_NAME: &str = "none";

/// Books as files.
pub(crate) const BOOK_FILE: FileKind =
    FileKind { name: "a book of Tabia", recognises: |head| head.starts_with(&MAGIC) };
/// Polyglot books as files.
pub(crate) const POLYGLOT_FILE: FileKind =
    FileKind { name: "a Polyglot book", recognises: polyglot::recognises };

/// Two are the same if they were opened as one: what they hold is not compared.
impl PartialEq for Book {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.image, &other.image) && self.next == other.next
    }
}

impl Eq for Book {}

impl Book {
    /// Opens a book: a `.tbk` is read whole; a Polyglot `.bin` is imported, the games of a PGN
    /// are counted, and what an engine has learnt is summed up. The file may change or go meanwhile.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or is neither a book nor games.
    pub fn open(path: &Path) -> Result<Self, BookError> {
        let name = path.display().to_string();
        let reading = |error| BookError::reading(&name, &error);
        let mut file = open_plain(path).map_err(reading)?;
        let mut head = Vec::new();
        (&mut file).take(HEADLINE.len() as u64).read_to_end(&mut head).map_err(reading)?;
        if is_learning(&head) {
            return learning::open(&read_rest(file, head).map_err(reading)?, path);
        }
        let is_tbk = path.extension().is_some_and(|extension| extension == "tbk");
        if head.starts_with(&MAGIC) || is_tbk {
            let bytes = read_rest(file, head).map_err(reading)?;
            return Self::from_bytes(bytes, &name);
        }
        if path.extension().is_some_and(|extension| extension == "bin") {
            let bytes = std::fs::read(path).map_err(reading)?;
            return polyglot::import(&bytes, &name);
        }
        let options = BuildOptions { undecided: true, ..BuildOptions::default() };
        let (book, _) = build_in_memory(&[PgnInput::File(path.to_owned())], &options, &name)?;
        Ok(book)
    }

    /// How many positions and moves the book in a `.tbk` file has, by its head alone.
    ///
    /// # Errors
    /// If it cannot be read or is none.
    pub(crate) fn extent(path: &Path) -> Result<(u64, u64), BookError> {
        let name = path.display().to_string();
        let read = || -> io::Result<(Vec<u8>, u64)> {
            let file = open_plain(path)?;
            let (mut head, all) = (Vec::new(), file.metadata()?.len());
            file.take(HEADER_BYTES as u64).read_to_end(&mut head)?;
            Ok((head, all))
        };
        let (head, all) = read().map_err(|error| BookError::reading(&name, &error))?;
        let header = Header::parse(&head, all, &name)?;
        Ok((header.positions, header.moves))
    }

    /// Opens books that are asked in order: paths as in [`Book::open`], or [`EMBEDDED_NAME`], with a
    /// [`BOOK_SEPARATOR`] between them.
    ///
    /// # Errors
    /// As [`Book::open`], of the first book that fails.
    pub fn open_all(paths: &str) -> Result<Self, BookError> {
        let books = paths.split(BOOK_SEPARATOR).map(Self::open_one);
        Ok(Self::chain(books.collect::<Result<_, _>>()?))
    }

    /// As [`Book::open_all`], but those that cannot be opened are left out; the embedded one takes
    /// their place if none is left. The second is the paths without those, the third why.
    pub fn open_any(paths: &str) -> (Self, String, Vec<BookError>) {
        let (mut books, mut opened, mut faults) = (Vec::new(), Vec::new(), Vec::new());
        for path in paths.split(BOOK_SEPARATOR) {
            match Self::open_one(path) {
                Ok(book) => {
                    books.push(book);
                    opened.push(path);
                }
                Err(fault) => faults.push(fault),
            }
        }
        (Self::chain(books), opened.join(&BOOK_SEPARATOR.to_string()), faults)
    }

    fn open_one(path: &str) -> Result<Self, BookError> {
        match path.trim() {
            "" | EMBEDDED_NAME => Ok(Self::embedded()),
            NO_BOOK_NAME => Self::empty(),
            path => Self::open(Path::new(path)),
        }
    }

    /// A book without positions.
    fn empty() -> Result<Self, BookError> {
        let told = |error: io::Error| BookError::writing(NO_BOOK_NAME, &error);
        let bytes = write_entries(Cursor::new(Vec::new()), std::iter::empty()).map_err(told)?;
        Self::from_bytes(bytes.into_inner(), NO_BOOK_NAME)
    }

    /// The first book with the others behind it; the embedded one for none.
    fn chain(books: Vec<Self>) -> Self {
        let first = books.into_iter().rev().reduce(|next, book| {
            let name = format!("{}, then {}", book.name, next.name).into();
            Book { name, next: Some(Arc::new(next)), ..book }
        });
        first.unwrap_or_else(Self::embedded)
    }

    /// This book with another behind it and those behind it.
    pub(crate) fn followed_by(self, last: &Book) -> Self {
        let next = match self.next {
            Some(next) => Arc::unwrap_or_clone(next).followed_by(last),
            None => last.clone(),
        };
        let name = format!("{}, then {}", self.name, last.name).into();
        Book { name, next: Some(Arc::new(next)), ..self }
    }

    /// The book that comes with the program: named opening lines, see `books/README.md`.
    pub fn embedded() -> Self {
        Self::from_storage(Storage::Static(EMBEDDED), EMBEDDED_NAME)
            .expect("a test has compared the embedded book with its source")
    }

    /// A book from the bytes of a `.tbk` file.
    ///
    /// # Errors
    /// If they are not that.
    pub fn from_bytes(bytes: Vec<u8>, name: &str) -> Result<Self, BookError> {
        Self::from_storage(Storage::Owned(bytes), name)
    }

    fn from_storage(storage: Storage, name: &str) -> Result<Self, BookError> {
        Ok(Book {
            image: Arc::new(Image::new(storage, name)?),
            name: name.into(),
            remarks: [].into(),
            weights: Arc::default(),
            next: None,
        })
    }

    /// What is odd about the file, in whole sentences without its name; most have nothing.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Whether the book was a Polyglot book: its counts are weights then, and a move is to be
    /// played as often as its own weight says.
    pub fn holds_weights(&self) -> bool {
        *self.weights.get_or_init(|| self.manifest().is_ok_and(|manifest| manifest.weights))
    }

    /// What the book is called: its path, or `embedded`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bytes of the book as a `.tbk` file has them.
    pub fn bytes(&self) -> &[u8] {
        self.image.bytes()
    }

    /// What tells it from other books, of the same games with other values as well.
    pub(crate) fn checksum(&self) -> u64 {
        self.entries_checksum() ^ self.values_checksum().unwrap_or(0).rotate_left(32)
    }

    /// What tells its entries from those of other books.
    pub(crate) fn entries_checksum(&self) -> u64 {
        self.image.header().sections.entries.checksum
    }

    /// The number of positions.
    pub fn positions(&self) -> u64 {
        self.image.header().positions
    }

    /// The number of pairs of a position and a move played there.
    pub fn move_count(&self) -> u64 {
        self.image.header().moves
    }

    /// How the book was made.
    ///
    /// # Errors
    /// If that part of the file is damaged.
    pub fn manifest(&self) -> Result<Manifest, BookError> {
        self.image.manifest(&self.name)
    }

    /// The games that reached a position by any order of moves; `None` if the book knows none. Made
    /// for the search: allocates nothing, and a miss costs one or two cache lines.
    #[inline]
    pub fn reached(&self, position: &Position) -> Option<Counts> {
        self.probe(position.key(), position.pawn_key())
    }

    /// Whether the book may hold a position with these pawns. `false` is certain.
    pub(crate) fn may_hold_pawns(&self, pawn_key: u64) -> bool {
        self.image.may_hold_pawns(pawn_key)
            || self.next.as_ref().is_some_and(|next| next.may_hold_pawns(pawn_key))
    }

    /// The same by the position's keys.
    #[inline]
    pub fn probe(&self, key: u64, pawn_key: u64) -> Option<Counts> {
        self.look_up(key, pawn_key, |counts| !counts.is_empty())
    }

    /// The games that reached the position with this key, if it may be there by its pawns
    /// ([`Book::may_hold_pawns`]).
    pub(crate) fn reached_by_key(&self, key: u64) -> Option<Counts> {
        let found = self.image.reached(key).filter(|counts| !counts.is_empty());
        found.or_else(|| self.next.as_ref()?.reached_by_key(key))
    }

    /// As [`Book::reached`]; a position that was analysed or learnt, but that no game has reached, is
    /// known too, and has no games.
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

    /// The book and those behind it, in order, each as it is without the others.
    fn in_order(&self) -> impl Iterator<Item = Book> {
        let mut rest = Some(self.clone());
        std::iter::from_fn(move || {
            let mut book = rest.take()?;
            rest = book.next.take().map(Arc::unwrap_or_clone);
            Some(book)
        })
    }

    /// All that the book holds of a position.
    pub fn entry(&self, position: &Position) -> Option<BookEntry> {
        let mut entry = BookEntry::default();
        self.image.read(position.key(), &mut entry).then_some(entry)
    }

    /// Every legal move that was played here or leads to a position of the book, the most often
    /// reached first (of a book of weights, the heaviest). Of several books, the first that has a
    /// move speaks.
    pub fn moves(&self, position: &Position) -> Vec<BookMove> {
        self.in_order()
            .map(|book| book.own_moves(position))
            .find(|moves| !moves.is_empty())
            .unwrap_or_default()
    }

    /// The games that played a legal move of a position, as the first book that contains the position
    /// has them.
    pub(crate) fn played(&self, position: &Position, mv: Move) -> Counts {
        let book = self.in_order().find(|book| book.contains(position));
        let entry = book.and_then(|book| book.entry(position)).unwrap_or_default();
        let played = entry.moves.iter().find(|&&(other, _)| is_same(other, mv, position));
        played.map_or(Counts::default(), |&(_, played)| played)
    }

    /// Whether games of this book, without those behind it, reached a position.
    fn contains(&self, position: &Position) -> bool {
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

    /// All positions, by ascending key. Stops early where the file is damaged.
    pub fn entries(&self) -> impl Iterator<Item = BookEntry> + '_ {
        let mut rest = self.image.entries();
        std::iter::from_fn(move || {
            let mut entry = BookEntry::default();
            rest = entry.decode(rest)?;
            Some(entry)
        })
    }

    /// Tests every checksum, for which the whole file is read, and whether what is derived from the
    /// entries agrees with them: table, pawn filter, values and facets.
    ///
    /// # Errors
    /// Names the part that is damaged.
    pub fn verify(&self) -> Result<(), BookError> {
        self.image.check_sums(&self.name)?;
        self.check_entries()?;
        self.check_pawns()?;
        self.check_values()?;
        self.check_facets()
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

/// Whether a move of the book means `mv`. Castling may stand as the king taking his rook where the
/// book comes from Polyglot and the position was out of reach of the import.
fn is_same(other: Move, mv: Move, position: &Position) -> bool {
    other == mv || position.is_castling(mv) && polyglot::castling(mv) == Some(other)
}

/// Reads what follows the `head` of a file that has been read, and returns both.
///
/// Books are not mapped: should another program cut the file of a map short, the system ends
/// whoever looks at it by SIGBUS, and an engine with it.
fn read_rest(mut file: File, head: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut bytes = head;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    bytes
        .try_reserve_exact(length.saturating_sub(bytes.len()))
        .map_err(|_| io::Error::other(format!("there is no memory for its {length} bytes")))?;
    huge_pages::ask_for(bytes.spare_capacity_mut());
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
