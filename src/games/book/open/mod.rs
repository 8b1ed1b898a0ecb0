//! Opens books from paths: book files, Polyglot books, games, learning files, and chains of these.
//! Uses all modules of `book` except `partial`.

pub(super) mod opponent_book;
pub(super) mod polyglot;

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::path::Path;

use super::builder::{BuildOptions, build_in_memory};
use super::format::error::BookError;
use super::format::header::{HEADER_BYTES, Header, MAGIC};
use super::format::writer::write_entries;
use super::learning::{self, is_learning};
use super::lookup::{Book, EMBEDDED_NAME};
use crate::chess::position::Position;
use crate::games::pgn::{
    GameEnd, GamePly, GameResult, PgnInput, Reader, Tags, VariationText, Visitor,
};
use crate::support::files::{FileError, FileKind, HEADER, kind_by_header, open_plain};
use crate::support::huge_pages;
use polyglot::Export;

/// The separator between paths in a list of books (see [`Book::open_all`]).
pub const BOOK_SEPARATOR: char = ';';
pub(crate) const NO_BOOK_NAME: &str = "none";

pub(crate) const BOOK_FILE: FileKind =
    FileKind { name: "a Tabia book", recognises: |head| head.starts_with(&MAGIC) };
pub(crate) const POLYGLOT_FILE: FileKind =
    FileKind { name: "a Polyglot book", recognises: polyglot::recognises };

/// Returns true if a file name has the extension of a Tabia book (`.tbk`) or a Polyglot book
/// (`.bin`).
pub(crate) fn has_book_ending(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "tbk" || ending == "bin")
}

impl Book {
    /// Opens a book from a `.tbk` file, a Polyglot `.bin` file, a PGN file of games (see
    /// [`BuildOptions::for_files`]), or a learning file. The book is read into memory, so the file
    /// may be changed or deleted afterwards.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or is none of these.
    pub fn open(path: &Path) -> Result<Self, BookError> {
        let name = path.display().to_string();
        let reading = |error| BookError::reading(&name, &error);
        let (file, head) = read_head(path).map_err(reading)?;
        match Format::of(path, &head)? {
            Format::Learning => {
                return learning::open(&read_rest(file, head).map_err(reading)?, path);
            }
            Format::Tabia => {
                return Self::from_bytes(read_rest(file, head).map_err(reading)?, &name);
            }
            Format::Other => {}
        }
        if path.extension().is_some_and(|extension| extension == "bin") {
            let bytes = std::fs::read(path).map_err(reading)?;
            return polyglot::import(&bytes, &name);
        }
        let inputs = [PgnInput::File(path.to_owned())];
        let (book, _) = build_in_memory(&inputs, &BuildOptions::for_files(&inputs), &name)?;
        Ok(book)
    }

    /// Like [`Book::open`], but a book built from games includes facets, and `path` may also be a
    /// folder of PGN files.
    pub fn open_with_facets(path: &Path) -> Result<Self, BookError> {
        if !is_of_games(path)? {
            return Self::open(path);
        }
        let inputs = PgnInput::from_paths(&[path.to_owned()])?;
        let options = BuildOptions { facets: true, ..BuildOptions::for_files(&inputs) };
        let (book, _) = build_in_memory(&inputs, &options, &path.display().to_string())?;
        Ok(book)
    }

    /// Checks the header of a book or a learning file. The rest of the file is not read.
    pub(crate) fn check_header(path: &Path) -> Result<(), BookError> {
        let reading = |error| BookError::reading(&path.display().to_string(), &error);
        let (_, head) = read_head(path).map_err(reading)?;
        match Format::of(path, &head)? {
            Format::Tabia => Self::extent(path).map(drop),
            Format::Learning | Format::Other => Ok(()),
        }
    }

    /// Reads the number of positions and the number of moves from the header of a `.tbk` file.
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

    /// Opens books and chains them in order. The paths are separated by [`BOOK_SEPARATOR`]. Each is
    /// either [`EMBEDDED_NAME`] or empty (the embedded book), `none` (an empty book), or a path as
    /// in [`Book::open`].
    ///
    /// # Errors
    /// If any of the books cannot be opened (see [`Book::open`]).
    pub fn open_all(paths: &str) -> Result<Self, BookError> {
        let books = paths.split(BOOK_SEPARATOR).map(Self::open_one);
        Ok(Self::chain(books.collect::<Result<_, _>>()?))
    }

    /// Like [`Book::open_all`], but skips books that cannot be opened, and returns the embedded
    /// book if no book can be opened. Also returns the paths of the opened books and the errors for
    /// the others.
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

    /// Exports the book to Polyglot format.
    ///
    /// The weight of a move is two for each win of the side that played it, plus one for each draw
    /// or game without a result. If a weight does not fit into 16 bits, all weights in the position
    /// are scaled down. Moves with weight 0 are skipped, except in a book that was imported from
    /// Polyglot: all of its moves are exported.
    pub fn to_polyglot(&self) -> Export {
        polyglot::export(self)
    }

    fn open_one(path: &str) -> Result<Self, BookError> {
        match path.trim() {
            "" | EMBEDDED_NAME => Ok(Self::embedded()),
            NO_BOOK_NAME => Self::empty(),
            path => Self::open(Path::new(path)),
        }
    }

    fn empty() -> Result<Self, BookError> {
        let to_error = |error: io::Error| BookError::writing(NO_BOOK_NAME, &error);
        let bytes = write_entries(Cursor::new(Vec::new()), std::iter::empty()).map_err(to_error)?;
        Self::from_bytes(bytes.into_inner(), NO_BOOK_NAME)
    }

    fn chain(books: Vec<Self>) -> Self {
        let chained = books.into_iter().reduce(|book, next| book.followed_by(&next));
        chained.unwrap_or_else(Self::embedded)
    }
}

/// The format of a file that is opened as a book.
enum Format {
    Learning,
    Tabia,
    /// A Polyglot book or PGN games, which cannot be recognised by their first bytes.
    Other,
}

impl Format {
    /// Determines the format of a file from its name and its first bytes.
    fn of(path: &Path, head: &[u8]) -> Result<Self, FileError> {
        if is_learning(head) {
            return Ok(Format::Learning);
        }
        let has_magic = head.starts_with(&MAGIC);
        if let Some((kind, advice)) = kind_by_header(head).filter(|_| !has_magic) {
            return Err(FileError::new("use", path, format!("it is {kind}; {advice}")));
        }
        let is_tbk = path.extension().is_some_and(|extension| extension == "tbk");
        Ok(if has_magic || is_tbk { Format::Tabia } else { Format::Other })
    }
}

/// Opens a file, and reads the bytes by which its format is recognised.
fn read_head(path: &Path) -> io::Result<(File, Vec<u8>)> {
    let (mut file, mut head) = (open_plain(path)?, Vec::new());
    (&mut file).take(HEADER).read_to_end(&mut head)?;
    Ok((file, head))
}

/// Whether a path is read as PGN games, which is the case if it is a folder, or a file that is not
/// a Tabia book, a Polyglot book or a learning file.
pub(crate) fn is_of_games(path: &Path) -> Result<bool, FileError> {
    if path.is_dir() {
        return Ok(true);
    }
    let (_, head) = read_head(path).map_err(|error| FileError::io("read", path, &error))?;
    Ok(!has_book_ending(path) && !head.starts_with(&MAGIC) && !is_learning(&head))
}

/// The maximum number of plies per line when a repertoire is used as a book.
const REPERTOIRE_PLIES: u32 = 1000;

impl BuildOptions {
    /// Returns the build options for PGN files that are used directly as a book. Games without a
    /// result are also counted. If no game has a result and at least one game has a variation, the
    /// files are treated as a repertoire, and all moves in variations are counted too. If some
    /// games have variations and others have results, the build logs a warning.
    pub fn for_files(inputs: &[PgnInput]) -> Self {
        let of_games = BuildOptions { undecided: true, ..BuildOptions::default() };
        // Ignore read errors, because the build reports them later.
        if is_repertoire(inputs).unwrap_or(false) { Self::of_repertoire() } else { of_games }
    }

    /// Returns the options for building a book that counts every move in a repertoire, including
    /// moves in variations.
    pub fn of_repertoire() -> Self {
        let max_ply = REPERTOIRE_PLIES;
        BuildOptions { undecided: true, variations: true, max_ply, ..BuildOptions::default() }
    }
}

fn is_repertoire(inputs: &[PgnInput]) -> io::Result<bool> {
    Ok(variations_without_result(inputs)? == Some(true))
}

/// Returns whether any game has a variation; `None` if any game has a result.
pub(crate) fn variations_without_result(inputs: &[PgnInput]) -> io::Result<Option<bool>> {
    let mut variations = VariationFinder(false);
    for input in inputs {
        // Standard input is not examined: it can be read only once, and the build still has to read
        // it.
        if matches!(input, PgnInput::Stdin) {
            return Ok(None);
        }
        let mut reader = Reader::new(input.reopen()?);
        while let Some(end) = reader.read_game(&mut variations)? {
            if end.result != GameResult::Undecided {
                return Ok(None);
            }
        }
    }
    Ok(Some(variations.0))
}

struct VariationFinder(bool);

impl Visitor for VariationFinder {
    fn wants_tag(&self, _: &[u8]) -> bool {
        false
    }

    fn begin(&mut self, _: &Tags, _: &Position) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn played(&mut self, _: &GamePly) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn variation(&mut self, _: &VariationText<'_>) {
        self.0 = true;
    }

    fn end(&mut self, _: &GameEnd) {}
}

/// Reads the rest of a file and appends it to `head`, which contains the bytes already read. Books
/// are not memory-mapped, because the operating system would kill the engine with SIGBUS if another
/// program truncated the file.
fn read_rest(mut file: File, head: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut bytes = head;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(length.saturating_sub(bytes.len())).map_err(|_| {
        io::Error::other(format!("there is not enough memory for its {length} bytes"))
    })?;
    huge_pages::request(bytes.spare_capacity_mut());
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
