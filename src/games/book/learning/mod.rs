//! Results that an engine has learned from its games and analyses. They are stored as rows in a
//! file and are converted to a book when needed.
//!
//! A row contains a search result ([`Row::found`]), or the result of a game for one of the
//! positions in the game ([`Row::of_game`]). [`LearnFile`] appends rows with a CRC under a lock.
//! [`Learned`] counts games as in any book, and evaluates search results with the help of later
//! results (`judgement`). A refuted search has a value of depth 0. Compaction removes the rarest
//! positions and, among them, the oldest. These are mostly whole games, so most searches are kept
//! together with the replies that refuted them.

mod file;
mod judgement;
mod memory;
mod row;

use std::io::{self, Cursor};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use file::{HEADLINE, LearnFile, Stamp, is_learning, stamp};
pub(crate) use row::{Found, Row};

use super::format::counts::Counts;
use super::format::entry::BookEntry;
use super::format::error::BookError;
use super::format::manifest::{GameTotals, InputRecord, Manifest};
use super::format::pawn_filter::PawnSet;
use super::format::writer::write_book;
use super::lookup::Book;
use super::lookup::values::{BookValue, Scored};
use crate::chess::notation;
use crate::chess::position::{KeyMap, Move, Position};
use crate::chess::score::Score;
use crate::support::files::JournalError;
use crate::support::words::counted;
use memory::{LearnedPosition, Memory};

/// When a position with a refuted search is searched again, a move is excluded if its known value
/// is more than this many centipawns below the value of the refuted search. That value is itself 10
/// centipawns below the search's score. Chosen by hand: the total of 60 centipawns is twice the
/// margin for refuting a search, because even correct scores differ slightly.
const FAR_SHORT: Score = 50;

/// The learned results, converted to a book for lookups. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct Learned {
    book: Book,
    times: Arc<KeyMap<Duration>>,
}

/// The best move in a position, found by a search that no later result has refuted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnrefutedMove {
    pub mv: Move,
    pub value: BookValue,
    pub time: Duration,
}

impl UnrefutedMove {
    pub(crate) fn describe(&self, position: &Position) -> String {
        let (score, depth) = (notation::score(self.value.score), self.value.depth);
        let seconds = self.time.as_secs_f64();
        let san = position.san(self.mv);
        format!(
            "learnt move {san}: {score} by a search of depth {depth}, which took {seconds:.2} s"
        )
    }
}

impl Learned {
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, JournalError> {
        let bytes = file::read(path)?;
        let (rows, _) = file::rows_of(&bytes);
        if rows.is_empty() {
            return Ok(None);
        }
        let memory = Memory::of(rows.into_iter());
        let book = book_of(&memory, path, bytes.len())
            .map_err(|error| file::error(path, io::Error::other(error)))?;
        let times = book.values().filter_map(|value| {
            Some((value.key, judgement::time_of(&value, memory.learned_position(value.key)?)?))
        });
        let times = Arc::new(times.collect());
        Ok(Some(Learned { book, times }))
    }

    /// Returns the learned positions as a book, including positions that were searched but not
    /// reached in a game.
    pub(crate) fn book(&self) -> &Book {
        &self.book
    }

    /// Returns the learned best move in a position. Returns `None` if later results have refuted
    /// the search that found it.
    pub(crate) fn unrefuted(&self, position: &Position) -> Option<UnrefutedMove> {
        let value = self.book.value(position)?;
        let (mv, time) = (value.best?, *self.times.get(&position.key())?);
        position.is_legal(mv).then_some(UnrefutedMove { mv, value, time })
    }

    /// Returns the moves in a position that later results have shown to be much worse than the
    /// search of the position predicted, with their values. Returns an empty list if the search is
    /// not refuted.
    pub(crate) fn refuted(&self, position: &Position) -> Vec<Scored> {
        let Some(value) = self.book.value(position).filter(|value| value.depth == 0) else {
            return Vec::new();
        };
        let moves = self.book.entry(position).unwrap_or_default().moves.into_iter();
        let known = moves
            .filter(|&(mv, _)| position.is_legal(mv))
            .filter_map(|(mv, _)| Some((mv, self.book.value_of_move(position, mv)?)));
        known.filter(|&(_, score)| score < value.score - FAR_SHORT).collect()
    }
}

pub(super) fn open(bytes: &[u8], path: &Path) -> Result<Book, BookError> {
    let (rows, damaged) = file::rows_of(bytes);
    let memory = Memory::of(rows.into_iter());
    let book = book_of(&memory, path, bytes.len())?;
    let remark = (damaged > 0).then(|| {
        let verb = if damaged == 1 { "is" } else { "are" };
        format!("{} {verb} damaged and skipped", counted(damaged as u64, "row"))
    });
    Ok(book.with_warnings(remark))
}

fn manifest(memory: &Memory, path: &Path, bytes: usize) -> Manifest {
    let searches = memory
        .learned_positions()
        .iter()
        .filter(|learned_position| !learned_position.found.is_empty())
        .count();
    // Count the games by their last positions, the only ones in which no move was played.
    let ends =
        memory.learned_positions().iter().flat_map(|learned_position| &learned_position.played);
    let games: Counts = ends.filter(|played| played.mv.is_none()).map(|played| played.counts).sum();
    let totals = GameTotals {
        white: games.white.into(),
        draws: games.draws.into(),
        black: games.black.into(),
        undecided: 0,
    };
    let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let input =
        InputRecord { name, bytes: bytes as u64, games: games.games(), ..InputRecord::default() };
    Manifest {
        made_from: format!("learning file: searches of {searches} positions, and games"),
        games: totals,
        inputs: vec![input],
        ..Manifest::of_this_program()
    }
}

fn book_of(memory: &Memory, path: &Path, bytes: usize) -> Result<Book, BookError> {
    let ((entries, pawns), manifest) = (entries(memory), manifest(memory, path, bytes));
    let name = path.display().to_string();
    let to_error = |error: io::Error| BookError::writing(&name, &error);
    let output = Cursor::new(Vec::new());
    let written = write_book(output, entries.into_iter(), &pawns, &manifest).map_err(to_error)?;
    Book::from_bytes(written.into_inner(), &name)?.with_values(&judgement::judge(memory))
}

/// Returns the entries, sorted by key, and the set of their pawn structures. If a position was only
/// searched, or reached only by a move that a search found, its entry has no games.
fn entries(memory: &Memory) -> (Vec<BookEntry>, PawnSet) {
    let mut entries = Vec::with_capacity(memory.learned_positions().len());
    let mut pawns = PawnSet::new();
    let whole = |half: u32| u64::from(half) << 32;
    for learned_position in memory.learned_positions() {
        pawns.insert(whole(learned_position.pawns));
        let (key, reached, moves) =
            (learned_position.key, learned_position.reached(), moves(learned_position));
        entries.push(BookEntry { key, reached, moves });
        for (row, _) in learned_position.found.iter().filter(|(row, _)| row.mv.is_some()) {
            pawns.insert(whole(row.next_pawns));
            if memory.learned_position(row.next).is_none() {
                entries.push(BookEntry { key: row.next, ..BookEntry::default() });
            }
        }
    }
    entries.sort_unstable_by_key(|entry| entry.key);
    entries.dedup_by_key(|entry| entry.key);
    (entries, pawns)
}

fn moves(learned_position: &LearnedPosition) -> Vec<(Move, Counts)> {
    let played =
        learned_position.played.iter().filter_map(|played| Some((played.mv?, played.counts)));
    let found = learned_position.found.iter().filter_map(|(row, _)| row.mv);
    let mut entry = BookEntry::default();
    entry.moves.extend(played.chain(found.map(|mv| (mv, Counts::default()))));
    entry.join_moves();
    entry.moves
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::chess::position::Game;
    use crate::chess::score::Depth;
    use crate::games::book::choice::chooser::Chooser;
    use crate::games::book::choice::policy::Policy;
    use crate::games::pgn::GameResult;
    use crate::support::files::Fault;

    fn game(moves: &str) -> Game {
        let mut game = Game::default();
        for san in moves.split_ascii_whitespace() {
            game.play(game.position().parse_move(san).expect(san)).expect(san);
        }
        game
    }

    fn found(game: &Game, ply: usize, score: Score, depth: Depth) -> Row {
        let found = Found { score, depth, nodes: 70_000, time: Duration::from_millis(800) };
        Row::found(&game.positions()[ply], game.moves()[ply], found)
    }

    fn learned(rows: &[Row]) -> (tempfile::TempDir, Learned) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("learnt");
        LearnFile::open(&path).and_then(|mut file| file.append(rows)).expect("written");
        let learned = Learned::read(&path).expect("readable").expect("something");
        (dir, learned)
    }

    #[test]
    fn missing_or_empty_learning_file_gives_no_book() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("learnt");
        assert!(matches!(Learned::read(&path), Err(JournalError { fault: Fault::Io(_), .. })));
        drop(LearnFile::open(&path).expect("new"));
        assert!(Learned::read(&path).expect("readable").is_none());
        let book = Book::open(&path).expect("an empty book");
        assert_eq!((book.positions(), book.moves(&Position::start())), (0, vec![]));
        fs::write(&path, "1. e4 *").expect("written");
        assert!(matches!(Learned::read(&path), Err(JournalError { fault: Fault::Foreign(_), .. })));
    }

    #[test]
    fn book_has_game_counts_and_search_values() {
        let lost = game("e4 e5 Nf3 f6 Nxe5 fxe5 Qh5+");
        let searches = [(1, 20), (3, 10), (5, -250)];
        let mut rows: Vec<Row> =
            searches.iter().map(|&(ply, score)| found(&lost, ply, score, 12)).collect();
        rows.extend(Row::of_game(&lost, GameResult::White));
        rows.extend(Row::of_game(&game("e4 c5"), GameResult::Draw));
        let (dir, learned) = learned(&rows);
        let book = learned.book();
        book.verify().expect("sound");
        let first = game("e4");
        let position = first.position();
        assert_eq!(book.reached(position), Some(Counts::new(1, 1, 0)));
        assert_eq!(book.moves(position).len(), 2);
        // The losing move after 2.Nf3 must not be played again, but 1...e5 may be.
        let unrefuted = learned.unrefuted(position).expect("found");
        assert_eq!((position.san(unrefuted.mv).as_str(), unrefuted.time.as_millis()), ("e5", 800));
        let lost_at = *game("e4 e5 Nf3").position();
        assert_eq!(learned.unrefuted(&lost_at), None);
        assert_eq!(learned.refuted(&lost_at), [(lost.moves()[3], -250)]);
        assert_eq!(learned.refuted(position), []);
        let refuted = book.value(game("e4 e5 Nf3").position()).expect("searched");
        assert_eq!((refuted.depth, refuted.own_depth), (0, 12));
        let opened = Book::open(&dir.path().join("learnt")).expect("a book");
        assert!(opened.bytes() == book.bytes() && opened.warnings().is_empty());
        let manifest = opened.manifest().expect("a manifest");
        assert_eq!((manifest.games.white, manifest.games.draws, manifest.games.black), (1, 1, 0));
        assert_eq!(manifest.inputs[0].games, 2);
    }

    #[test]
    fn searched_position_has_values_but_no_games() {
        let game = game("d4 d5");
        let (_dir, learned) = learned(&[found(&game, 0, 25, 20)]);
        let (book, start) = (learned.book(), Position::start());
        assert_eq!(book.reached(&start), None, "no game reached it");
        let moves = book.moves(&start);
        assert_eq!(moves.iter().map(|found| found.mv).collect::<Vec<_>>(), [game.moves()[0]]);
        assert!(moves[0].played.is_empty() && moves[0].reached.is_empty());
        assert_eq!(book.value_of_move(&start, game.moves()[0]), Some(25));
        assert_eq!(learned.unrefuted(&start).map(|unrefuted| unrefuted.mv), Some(game.moves()[0]));
        assert_eq!(book.entries().count(), 2);
        // A chooser never plays a move that leads to a position without games.
        assert_eq!(Chooser::new(Policy::Prefer, 0).choose(book, &Game::default()), None);
    }

    #[test]
    fn damaged_rows_are_reported_as_warnings() {
        let game = game("d4 d5");
        let (dir, _) = learned(&[found(&game, 0, 25, 20), found(&game, 1, -20, 20)]);
        let path = dir.path().join("learnt");
        let mut bytes = fs::read(&path).expect("the file");
        bytes[HEADLINE.len() + 3] ^= 1;
        fs::write(&path, bytes).expect("written");
        let book = Book::open(&path).expect("a book");
        assert_eq!((book.values().len(), book.warnings().len()), (2, 1));
    }

    #[test]
    fn rows_without_games_list_no_moves() {
        let played = game("c4 e5 g3");
        let mut rows = Row::of_game(&played, GameResult::Black);
        let (dir, learned) = learned(&rows);
        // Forge rows with zero games: two for positions that were not learned, and one for a second
        // move in a learned position.
        let forged = ["Nf3 d5", "c4 g6 Nc3", "b3 e5 Bb2"].map(|moves| {
            let rows = Row::of_game(&game(moves), GameResult::Draw);
            let Row { key, next, pawns, next_pawns, mv, .. } = rows[1];
            let fact = row::Fact::Played { result: GameResult::Draw, games: 0 };
            Row { key, next, pawns, next_pawns, mv, fact }
        });
        rows.extend(forged);
        let path = dir.path().join("forged");
        LearnFile::open(&path).and_then(|mut file| file.append(&rows)).expect("written");
        let book = Book::open(&path).expect("a book");
        assert!(book.entries().eq(learned.book().entries()));
        assert_eq!(book.warnings(), ["3 rows are damaged and skipped"]);
    }
}
