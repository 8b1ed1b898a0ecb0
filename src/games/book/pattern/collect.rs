//! Reads the moves of a book's games from the PGN files used to build the book.

use std::io;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::scope;

use super::moves::{CollectedGame, MoveIndex};
use crate::chess::position::Position;
use crate::games::book::builder::Monitor;
use crate::games::book::facets::{FileRecord, Games};
use crate::games::book::format::error::BookError;
use crate::games::book::lookup::Book;
use crate::games::pgn::{
    Chunks, GameEnd, GamePly, OpeningCache, PgnInput, Tags, TextReader, Visitor, language_of,
};
use crate::support::files::FileError;
use crate::support::threads::{STACK, start};

/// The maximum number of plies to read per game. Later moves are ignored.
const MAX_GAME: usize = u16::MAX as usize;

/// Reads the moves of all games in a book with facets. Looks for the game files in the same places
/// as [`Book::game_from`]. Returns `None` if the monitor has stopped the work.
///
/// # Errors
/// If the book has no facets, or if a file is missing or has changed since the book was built.
pub fn read_moves(
    book: &Book,
    folders: &[PathBuf],
    threads: usize,
    monitor: &Monitor,
) -> Result<Option<MoveIndex>, BookError> {
    let games = book.image.facets().and_then(|raw| Games::parse(raw.games));
    let games = games.ok_or_else(|| BookError::NoFacets { name: book.name().to_owned() })?;
    let rows = Rows::of(&games);
    let files = files_of(book, &games, &rows, folders)?;
    let inputs = files.iter().map(|(_, path)| PgnInput::File(path.clone())).collect();
    let chunks = Mutex::new(Chunks::new(inputs, monitor.bytes.clone()));
    let failed =
        |error: &io::Error| FileError::io("read the games of", Path::new(book.name()), error);
    let work = |_| {
        let (chunks, games, rows, files) = (&chunks, &games, &rows, &files);
        move || read_share(chunks, games, rows, files, monitor)
    };
    let shares = scope(|scope| -> io::Result<Vec<Share>> {
        let threads = start(scope, (threads, STACK), work)?;
        let died = |_| io::Error::other("a thread has panicked");
        threads.into_iter().map(|thread| thread.join().map_err(died)).collect()
    });
    let shares = shares.map_err(|error| failed(&error))?;
    let mut chunks = chunks.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(broken) = chunks.take_broken().first() {
        return Err(FileError::io("read", &files[broken.input].1, &broken.error).into());
    }
    if monitor.is_stopped() {
        return Ok(None);
    }
    let index = joined(book, &games, &shares).map_err(|game| match game {
        Some(game) => changed(&games, game, book).into(),
        None => BookError::from(failed(&io::Error::other("the moves do not fit"))),
    })?;
    Ok(Some(index))
}

/// The location of each game, as file index, offset and game number, sorted by file and offset.
struct Rows(Vec<(u32, u64, u32)>);

impl Rows {
    fn of(games: &Games<'_>) -> Self {
        let row = |game: u32| games.row(game).map(|row| (row.file, row.offset, game));
        let mut rows: Vec<_> = (0..games.len()).filter_map(row).collect();
        rows.sort_unstable();
        Rows(rows)
    }

    fn find(&self, file: u32, offset: u64) -> Option<u32> {
        let at = self.0.partition_point(|&(other, start, _)| (other, start) < (file, offset));
        let &(other, start, game) = self.0.get(at)?;
        ((other, start) == (file, offset)).then_some(game)
    }

    fn has_file(&self, file: u32) -> bool {
        let at = self.0.partition_point(|&(other, ..)| other < file);
        self.0.get(at).is_some_and(|&(other, ..)| other == file)
    }
}

/// Returns the index and the current path of each file that contains games of the book.
fn files_of(
    book: &Book,
    games: &Games<'_>,
    rows: &Rows,
    folders: &[PathBuf],
) -> Result<Vec<(u32, PathBuf)>, FileError> {
    let present = |(number, file): (u32, FileRecord)| {
        if file.absolute.is_empty() {
            let reason = "it is not stored; build the book from files";
            return Err(FileError::new("read the games of", Path::new(&file.path), reason));
        }
        match book.places(&file, folders).into_iter().find(|path| path.is_file()) {
            Some(path) => Ok((number, path)),
            None => Err(FileError::new(
                "read the games of",
                Path::new(&file.path),
                "it no longer exists; name its folder with --games FOLDER",
            )),
        }
    };
    let all = (0_u32..).zip(games.files().unwrap_or_default());
    all.filter(|&(number, _)| rows.has_file(number)).map(present).collect()
}

/// The games that one thread has read.
#[derive(Default)]
struct Share {
    words: Vec<u16>,
    /// For each game, its number in the book and the range of its moves in `words`.
    games: Vec<(u32, Range<usize>)>,
    starts: Vec<(u32, String)>,
}

fn read_share(
    chunks: &Mutex<Chunks>,
    games: &Games<'_>,
    rows: &Rows,
    files: &[(u32, PathBuf)],
    monitor: &Monitor,
) -> Share {
    let mut reading =
        MoveReader { share: Share::default(), begin: 0, usual: Position::start(), start: None };
    let mut text = Vec::new();
    let mut openings = OpeningCache::default();
    while !monitor.is_stopped() {
        let next = chunks.lock().unwrap_or_else(PoisonError::into_inner).next(&mut text);
        let Some(chunk) = next else { break };
        let file = files[chunk.input].0;
        let mut reader = TextReader::new(&text, chunk.line, openings, language_of(&text));
        let mut begin = reader.place();
        let mut count = 0;
        while reader.read_game(&mut reading).is_some() {
            let game = &text[begin..reader.place()];
            let blank = game.len() - game.trim_ascii_start().len();
            let number = rows.find(file, chunk.offset + (begin + blank) as u64);
            let is_same = |&game_number: &u32| {
                games.row(game_number).is_some_and(|row| row.is_text(game.trim_ascii()))
            };
            reading.keep(number.filter(is_same));
            begin = reader.place();
            count += 1;
        }
        openings = reader.into_openings();
        monitor.games.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
    }
    reading.share
}

struct MoveReader {
    share: Share,
    /// The index in `share.words` of the current game's first move.
    begin: usize,
    usual: Position,
    start: Option<String>,
}

impl MoveReader {
    /// Stores the moves of the game just read as those of game `number`, or discards them if
    /// `number` is `None`.
    fn keep(&mut self, number: Option<u32>) {
        let start = self.start.take();
        let Share { words, games, starts } = &mut self.share;
        match number {
            Some(number) => {
                games.push((number, self.begin..words.len()));
                starts.extend(start.map(|fen| (number, fen)));
            }
            None => words.truncate(self.begin),
        }
        self.begin = words.len();
    }
}

impl Visitor for MoveReader {
    fn wants_tag(&self, _name: &[u8]) -> bool {
        false
    }

    fn begin(&mut self, _tags: &Tags, start: &Position) -> ControlFlow<()> {
        self.start = (*start != self.usual).then(|| start.fen());
        ControlFlow::Continue(())
    }

    #[inline]
    fn played(&mut self, ply: &GamePly) -> ControlFlow<()> {
        self.share.words.push(ply.mv.to_polyglot());
        match self.share.words.len() - self.begin < MAX_GAME {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }

    fn end(&mut self, _end: &GameEnd) {}
}

/// Combines the games read by all threads into an index. On failure, returns the number of a game
/// that was not found, or `None` if the moves do not fit into an index.
fn joined(book: &Book, games: &Games<'_>, shares: &[Share]) -> Result<MoveIndex, Option<u32>> {
    let nothing = CollectedGame { moves: &[], start: "" };
    let mut collected = vec![nothing; games.len() as usize];
    let mut is_found = vec![false; collected.len()];
    for share in shares {
        for (number, range) in &share.games {
            collected[*number as usize].moves = &share.words[range.clone()];
            is_found[*number as usize] = true;
        }
        for (number, fen) in &share.starts {
            collected[*number as usize].start = fen;
        }
    }
    if let Some(missing) = is_found.iter().position(|&is_found| !is_found) {
        return Err(Some(missing as u32));
    }
    MoveIndex::new(book, collected.iter().copied()).map_err(|_| None)
}

/// Returns the error for a game that is no longer at its recorded location.
fn changed(games: &Games<'_>, game: u32, book: &Book) -> FileError {
    let file = games.row(game).and_then(|row| {
        let files = games.files()?;
        files.into_iter().nth(row.file as usize)
    });
    let path = file.map_or_else(|| book.name().to_owned(), |file| file.path);
    let reason = "it has changed since the book was built; build the book again";
    FileError::new("read the games of", Path::new(&path), reason)
}
