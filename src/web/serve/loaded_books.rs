//! The loaded books. The server opens them one after another and does not change them afterwards.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::analysis_store::{KeepError, open_kept};
use super::api_error::ApiError;
use super::progress::Progress;
use crate::chess::position::Position;
use crate::games::book::{
    Book, BookError, BookValue, BuildOptions, CommonGames, EMBEDDED_NAME, Monitor, Names, build,
    is_of_games,
};
use crate::games::pgn::PgnInput;
use crate::support::files::FileError;
use crate::support::threads;
use crate::tools::suite::analysis::KeptValues;

/// The size of a book's header in bytes. The checksum of the header identifies the book, because
/// the header contains the checksums of all sections.
const HEADER_BYTES: usize = 256;

/// A file of games from which a book was built.
#[derive(Debug, Clone)]
pub(crate) struct GameFile {
    /// The index of the book in [`Content::sources`].
    pub(crate) book: usize,
    pub(crate) input: PgnInput,
}

#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) book: Book,
    /// The names and contents of the individual books that `book` combines.
    pub(crate) sources: Vec<(String, Book)>,
    pub(crate) names: Names,
    /// The game files from which the books were built. Files that were not found are left out.
    pub(crate) games: Vec<GameFile>,
    /// A tag that identifies the loaded books. It is part of every entity tag.
    pub(crate) tag: String,
    /// The `--keep` file, to which new values for the first book are appended.
    pub(crate) kept: Option<KeptValues>,
    common_games: OnceLock<CommonGames>,
}

impl Content {
    /// Returns the content of a server whose books are combined in `book`.
    pub(crate) fn new(book: Book, sources: Vec<(String, Book)>) -> Self {
        Content {
            book,
            sources,
            names: Names::embedded(),
            games: Vec::new(),
            tag: String::new(),
            kept: None,
            common_games: OnceLock::new(),
        }
    }

    /// Returns the search results for a position, and the name of the book that contains them. Like
    /// [`Book::value`], takes those with the greatest depth.
    pub(crate) fn value(&self, position: &Position) -> Option<(&str, BookValue)> {
        let found = self.sources.iter();
        let found = found.filter_map(|(name, book)| Some((name.as_str(), book.value(position)?)));
        found.reduce(|best, other| if other.1.depth > best.1.depth { other } else { best })
    }

    /// Whether the games that several books contain are already known.
    pub(crate) fn has_common_games(&self) -> bool {
        self.common_games.get().is_some()
    }

    /// Returns the games that several books contain. The first call reads the ids of all games,
    /// which takes a while in large books.
    pub(crate) fn common_games(&self) -> &CommonGames {
        self.common_games.get_or_init(|| CommonGames::of(self.sources.iter().map(|(_, book)| book)))
    }
}

#[derive(Debug)]
pub(crate) struct LoadedBooks {
    paths: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    keep: Option<PathBuf>,
    progress: Progress,
    content: OnceLock<Arc<Content>>,
}

impl LoadedBooks {
    /// Creates a set of books to be opened later. Each of the `paths` is a file that [`Book::open`]
    /// can read, a file or folder of games, or the name of the embedded book. The game files of a
    /// book are looked for in `folders` or, if there are no `folders`, next to the book.
    pub(crate) fn new(paths: Vec<PathBuf>, folders: Vec<PathBuf>) -> Self {
        let progress = Progress::new(paths.iter().map(|path| short_name(path)));
        LoadedBooks { paths, folders, keep: None, progress, content: OnceLock::new() }
    }

    /// Adds the values stored in the file at `path` to the first book. New values will be appended
    /// to that file.
    pub(crate) fn keeping(self, path: Option<PathBuf>) -> Self {
        LoadedBooks { keep: path, ..self }
    }

    /// Checks the beginning of each file, so that files of a wrong format can be reported early.
    /// Damage in the rest of a file is found when the books are opened.
    pub(crate) fn check(&self) -> Result<(), BookError> {
        let files = self.paths.iter().filter(|path| path.as_os_str() != EMBEDDED_NAME);
        files.into_iter().try_for_each(|path| check_beginning(path))
    }

    pub(crate) fn open(&self) -> Result<(), KeepError> {
        let (mut all, mut kept): (Option<Book>, _) = (None, None);
        let (mut games, mut loaded, mut tag) = (Vec::new(), Vec::new(), String::new());
        for (number, path) in self.paths.iter().enumerate() {
            let (mut book, sources) = self.open_one(number, path)?;
            if let Some(keep) = self.keep.as_deref().filter(|_| number == 0) {
                let (values, with_values) = open_kept(keep, &book)?;
                (book, kept) = (with_values, Some(values));
            }
            self.progress.ready(number, book.positions());
            games.extend(sources.into_iter().map(|input| GameFile { book: number, input }));
            let head = book.bytes().get(..HEADER_BYTES).unwrap_or_default();
            tag += &format!("{:08x}", crc32fast::hash(head));
            loaded.push((short_name(path), book.clone()));
            all = Some(match all {
                Some(first) => first.followed_by(&book),
                None => book,
            });
        }
        let book = all.unwrap_or_else(Book::embedded);
        let content = Content { games, tag, kept, ..Content::new(book, loaded) };
        // Setting the content cannot fail, because no other code sets it.
        let _ = self.content.set(Arc::new(content));
        Ok(())
    }

    fn open_one(&self, number: usize, path: &Path) -> Result<(Book, Vec<PgnInput>), BookError> {
        if path.as_os_str() == EMBEDDED_NAME {
            return Ok((Book::embedded(), Vec::new()));
        }
        if !is_of_games(path)? {
            self.progress.opens(number);
            let book = Book::open(path)?;
            book.warnings().iter().for_each(|remark| log::warn!("{}: {remark}", path.display()));
            let games = self.games_of(&book, path);
            return Ok((book, games));
        }
        let inputs = PgnInput::from_paths(&[path.to_owned()])?;
        Ok((self.count(number, path, &inputs)?, inputs))
    }

    fn count(&self, number: usize, path: &Path, inputs: &[PgnInput]) -> Result<Book, BookError> {
        let name = path.display().to_string();
        let monitor = Monitor::default();
        let bytes = inputs.iter().filter_map(PgnInput::size).sum();
        self.progress.counts(number, monitor.clone(), bytes);
        let threads = threads::cores();
        let options = BuildOptions { facets: true, threads, ..BuildOptions::for_files(inputs) };
        let built = build(inputs, &options, &monitor, Cursor::new(Vec::new()));
        let (output, tally) = built.map_err(|error| BookError::NoGames {
            name: name.clone(),
            reason: error.to_string(),
        })?;
        tally.faults.iter().for_each(|fault| log::info!("{fault}"));
        Book::from_bytes(output.into_inner(), &name)
    }

    /// Returns the game files of a book that exist in `folders` or, if `folders` is empty, in the
    /// folder of the book.
    fn games_of(&self, book: &Book, path: &Path) -> Vec<PgnInput> {
        let beside = [path.parent().unwrap_or(Path::new("")).to_owned()];
        let folders = if self.folders.is_empty() { &beside[..] } else { &self.folders };
        let inputs = book.manifest().map(|manifest| manifest.inputs).unwrap_or_default();
        let place = |name: &str| {
            // Use only the file name, so that a book cannot refer to files outside `folders`.
            let name = Path::new(name).file_name()?;
            folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file())
        };
        inputs.iter().filter_map(|input| place(&input.name)).map(PgnInput::File).collect()
    }

    pub(crate) fn content(&self) -> Result<&Arc<Content>, ApiError> {
        let wait =
            || ApiError::unavailable("the book is still loading; see /status for its progress");
        self.content.get().ok_or_else(wait)
    }

    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }
}

/// Returns the file name without its folder, which is not disclosed to clients.
fn short_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn check_beginning(path: &Path) -> Result<(), BookError> {
    if !is_of_games(path)? {
        return Book::check_header(path);
    }
    // Files of other formats in a folder are skipped later.
    if path.is_file() {
        let opened = PgnInput::File(path.to_owned()).reopen();
        opened.map_err(|error| FileError::io("read", path, &error))?;
    }
    Ok(())
}
