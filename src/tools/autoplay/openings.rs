//! The positions from which games start.
//!
//! ```
//! use tabia::autoplay::openings::Opening;
//! use tabia::position::Game;
//!
//! let mut game = Game::default();
//! game.play("e2e4".parse()?)?;
//! assert_eq!(Opening::new(&game).game().moves().len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

use crate::chess::epd;
use crate::chess::notation;
use crate::chess::position::{Game, Move, Outcome, Position};
use crate::games::book::{Book, has_book_ending};
use crate::games::pgn::{GameEnd, GamePly, GameStatus, PgnInput, Reader, Tags, Visitor};
use crate::support::files::{Cannot, FileError};
use crate::support::platform::may_wait;
use crate::support::random::Random;
use crate::support::threads::refused;
use crate::support::words::number_of;
use crossbeam::channel::bounded;

/// How long to wait for a program to open the named pipe for writing.
const PIPE_TIMEOUT: Duration = Duration::from_secs(2);

const ACTION: &str = "read openings from";

/// The maximum length of an EPD line, in bytes. A longer line cannot be a position.
const LONGEST_LINE: u64 = 1 << 12;

/// An opening: a starting position and the moves played from it. It takes less memory than a
/// [`Game`], which also stores the position after each move.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Opening {
    /// The starting position, or `None` for the standard starting position.
    start: Option<Box<Position>>,
    moves: Box<[Move]>,
}

impl Opening {
    /// Creates an opening from the moves played in a game.
    pub fn new(game: &Game) -> Self {
        let moves = game.moves().into();
        Opening { moves, ..Opening::from(*game.start()) }
    }

    /// Returns a game in which the opening moves have been played.
    pub fn game(&self) -> Game {
        let mut game = Game::new(self.start.as_deref().copied().unwrap_or_else(Position::start));
        // Cannot fail: the moves were legal when the opening was created.
        let _ = self.moves.iter().try_for_each(|&mv| game.play(mv));
        game
    }
}

impl From<Position> for Opening {
    fn from(position: Position) -> Self {
        let start = (position != Position::start()).then(|| Box::new(position));
        Opening { start, moves: Box::default() }
    }
}

/// Specifies the source of the openings, how many are needed, and their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpeningChoice {
    /// The source of the openings: an EPD or PGN file, plain or compressed, or an opening book. An
    /// opening book is a `.tbk` file, a Polyglot `.bin` file, or the word `embedded` for the
    /// built-in book.
    pub path: PathBuf,
    /// Whether the openings are played in random order instead of file order.
    pub shuffled: bool,
    /// The random seed used to shuffle the openings or to draw lines from a book.
    pub seed: u64,
    /// The number of playable openings to skip. If too few openings remain, the skipped ones are
    /// played last.
    pub start: usize,
    /// The number of openings needed.
    pub count: usize,
    /// The maximum length of each opening in plies, or `None` for no limit.
    pub plies: Option<usize>,
}

struct OpeningSelector {
    start: usize,
    /// The number of openings needed, including the first `start` ones.
    wanted: usize,
    /// Generates a random sort key for each opening, or `None` if the openings are not shuffled.
    /// Sorting by these keys makes the order independent of the number of openings needed.
    ranks: Option<Random>,
    kept: Vec<(u64, Opening)>,
    seen: usize,
    skipped: Skipped,
}

/// Openings that cannot be played because the game would already be over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Skipped {
    /// The number of skipped openings.
    pub count: usize,
    /// The 1-based index of the first skipped opening, and the outcome of the game that it ends.
    pub first: Option<(usize, Outcome)>,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((number, outcome)) = self.first else { return f.write_str("no opening skipped") };
        let what = notation::outcome(outcome);
        match self.count {
            1 => write!(f, "opening {number} skipped: it ends the game ({what})"),
            count => write!(
                f,
                "{count} openings skipped, which end the game; the first is number {number} \
                 ({what})"
            ),
        }
    }
}

/// The openings selected for a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Openings {
    /// The playable openings, in playing order. Never empty.
    pub playable: Vec<Opening>,
    /// The openings that cannot be played.
    pub skipped: Skipped,
}

impl OpeningSelector {
    fn new(choice: &OpeningChoice) -> Self {
        OpeningSelector {
            start: choice.start,
            wanted: choice.start.saturating_add(choice.count.max(1)),
            ranks: choice.shuffled.then(|| Random::new(choice.seed)),
            kept: Vec::new(),
            seen: 0,
            skipped: Skipped::default(),
        }
    }

    /// Adds an opening, unless the game is over after it. Returns `Break` once no more openings are
    /// needed.
    fn take(&mut self, opening: Opening) -> ControlFlow<()> {
        if let Some(outcome) = opening.game().outcome() {
            self.skipped.count += 1;
            self.skipped.first.get_or_insert((self.seen + self.skipped.count, outcome));
            return ControlFlow::Continue(());
        }
        let rank = self.ranks.as_mut().map_or(self.seen as u64, Random::next_u64);
        self.seen += 1;
        self.kept.push((rank, opening));
        if self.ranks.is_none() {
            return if self.seen < self.wanted {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            };
        }
        // Collect up to twice as many openings as needed before discarding those with the highest
        // ranks. This way, the costly selection runs only rarely.
        if self.kept.len() / 2 >= self.wanted {
            self.kept.select_nth_unstable_by_key(self.wanted, |&(rank, _)| rank);
            self.kept.truncate(self.wanted);
        }
        ControlFlow::Continue(())
    }

    /// Returns the openings in playing order. The first `start` openings are moved to the end, and
    /// are used only if there are too few others.
    fn into_openings(mut self) -> Openings {
        self.kept.sort_by_key(|&(rank, _)| rank);
        self.kept.truncate(self.wanted);
        let mut playable: Vec<Opening> =
            self.kept.into_iter().map(|(_, opening)| opening).collect();
        let start = self.start.min(playable.len());
        playable.rotate_left(start);
        playable.truncate(self.wanted - self.start);
        Openings { playable, skipped: self.skipped }
    }
}

impl OpeningChoice {
    /// Reads as many openings as needed and puts them in playing order. If they are played in file
    /// order, stops reading once there are enough.
    ///
    /// # Errors
    /// If the file cannot be read, if it contains an invalid opening or none that can be played, or
    /// if it has no more than `start` playable openings.
    pub fn load(&self) -> Result<Openings, FileError> {
        let selector = match self.book()? {
            Some(book) => self.draw_lines(&book),
            None => {
                let input = self.open().cannot(ACTION, &self.path)?;
                let name = self.path.to_string_lossy().to_lowercase();
                let is_pgn = name.contains(".pgn");
                if is_pgn { self.read_pgn(input)? } else { self.read_epd(input)? }
            }
        };
        let skipped = &selector.skipped;
        let reason = match selector.seen {
            0 if skipped.count > 0 => format!(
                "{skipped}; no opening is left; to play a part of each, use --opening-plies N"
            ),
            0 => "it contains no openings".to_owned(),
            count if self.start >= count => {
                format!("it contains only {}", number_of(count as u64, "opening"))
            }
            _ => return Ok(selector.into_openings()),
        };
        Err(self.unusable(reason))
    }

    /// Opens the file. If it is a named pipe, waits at most `PIPE_TIMEOUT` for a program to open it
    /// for writing.
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let input = PgnInput::File(self.path.clone());
        if !self.path.metadata().is_ok_and(|known| may_wait(known.file_type())) {
            return input.open(&Arc::default());
        }
        let (sender, opened) = bounded(1);
        let waiting = Builder::new().spawn(move || sender.send(input.open(&Arc::default())));
        waiting.map_err(|error| refused(&error))?;
        let nobody = |_| io::Error::other("it is a pipe without a writer");
        opened.recv_timeout(PIPE_TIMEOUT).map_err(nobody)?
    }

    fn unusable(&self, reason: impl fmt::Display) -> FileError {
        FileError::new(ACTION, &self.path, reason)
    }

    fn book(&self) -> Result<Option<Book>, FileError> {
        if self.path.as_os_str() == "embedded" {
            return Ok(Some(Book::embedded()));
        }
        if !has_book_ending(&self.path) {
            return Ok(None);
        }
        let book = Book::open(&self.path);
        book.map(Some).map_err(|error| self.unusable(error))
    }

    /// Draws random lines from the book. Each move is chosen with a probability proportional to the
    /// number of games in which it was played. A line ends where the book ends or when it reaches
    /// the maximum number of plies.
    fn draw_lines(&self, book: &Book) -> OpeningSelector {
        let mut random = Random::new(self.seed);
        let plies = self.plies.unwrap_or(BOOK_PLIES);
        // The lines are already in random order, so they need no ranks.
        let mut selector = OpeningSelector { ranks: None, ..OpeningSelector::new(self) };
        for _ in 0..selector.wanted.saturating_mul(DRAWS_FOR_EACH_LINE) {
            if selector.take(Opening::new(&book.draw_line(plies, &mut random))).is_break() {
                break;
            }
        }
        if selector.seen > 0 {
            // Lines that ended the game were replaced by other lines, so do not report them as
            // skipped.
            selector.skipped = Skipped::default();
        }
        selector
    }

    /// Reads one position per line, in FEN or EPD. EPD operations are ignored.
    fn read_epd(&self, input: impl Read) -> Result<OpeningSelector, FileError> {
        let mut input = BufReader::new(input);
        let mut selector = OpeningSelector::new(self);
        let mut bytes = Vec::new();
        for number in 1.. {
            bytes.clear();
            let mut line = (&mut input).take(LONGEST_LINE);
            if line.read_until(b'\n', &mut bytes).cannot(ACTION, &self.path)? == 0 {
                break;
            }
            let text = String::from_utf8_lossy(&bytes);
            let Some((_, line)) = epd::lines(&text).next() else { continue };
            let (position, _) = epd::position(line)
                .map_err(|error| self.unusable(format!("line {number}: {error}")))?;
            if selector.take(Opening::from(position)).is_break() {
                break;
            }
        }
        Ok(selector)
    }

    /// Reads an opening from each game in a PGN file. The games need no tags.
    fn read_pgn(&self, input: impl Read) -> Result<OpeningSelector, FileError> {
        let plies = self.plies.unwrap_or(usize::MAX);
        let start = Position::start();
        let mut visitor = OpeningVisitor { plies, left: plies, start, moves: Vec::new() };
        let mut reader = Reader::new(input);
        let mut selector = OpeningSelector::new(self);
        while let Some(end) = reader.read_game(&mut visitor).cannot(ACTION, &self.path)? {
            let message = match end.status {
                GameStatus::Broken(fault) => fault.to_string(),
                GameStatus::Variant => "it is not orthodox chess".to_owned(),
                GameStatus::Text => "it is text without a game".to_owned(),
                GameStatus::Read | GameStatus::Declined => {
                    if selector.take(visitor.opening()).is_break() {
                        break;
                    }
                    continue;
                }
            };
            let game = selector.seen + selector.skipped.count + 1;
            return Err(self.unusable(format!("game {game}: {message}")));
        }
        Ok(selector)
    }
}

/// Collects the first moves of a game, up to a maximum number of plies. If there are null moves,
/// which engines do not accept, the opening starts from the position after the last of them.
struct OpeningVisitor {
    plies: usize,
    left: usize,
    start: Position,
    moves: Vec<Move>,
}

impl OpeningVisitor {
    fn opening(&mut self) -> Opening {
        let moves = self.moves.drain(..).collect();
        let start = std::mem::replace(&mut self.start, Position::start());
        Opening { moves, ..Opening::from(start) }
    }
}

impl Visitor for OpeningVisitor {
    fn begin(&mut self, _tags: &Tags, start: &Position) -> ControlFlow<()> {
        self.start = *start;
        self.left = self.plies;
        self.moves.clear();
        ControlFlow::Continue(())
    }

    fn played(&mut self, ply: &GamePly) -> ControlFlow<()> {
        let Some(left) = self.left.checked_sub(1) else { return ControlFlow::Break(()) };
        self.left = left;
        self.moves.push(ply.mv);
        if ply.mv.is_null() {
            let play = |position: Position, mv| position.try_play(mv).unwrap_or(position);
            self.start = self.moves.drain(..).fold(self.start, play);
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, _end: &GameEnd) {}
}

/// The maximum number of lines to draw from the book for each line needed. A draw is rejected if
/// its line ends the game.
const DRAWS_FOR_EACH_LINE: usize = 8;

/// The default maximum length of lines selected from a book, in plies.
const BOOK_PLIES: usize = 8;

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::path::Path;

    use super::*;

    fn choice(path: &Path) -> OpeningChoice {
        let path = path.to_owned();
        OpeningChoice { path, shuffled: false, seed: 7, start: 0, count: 3, plies: None }
    }

    #[cfg(feature = "compression")]
    #[test]
    fn openings_are_read_from_epd_and_pgn() {
        let dir = tempfile::tempdir().expect("a folder");
        let epd = dir.path().join("a.epd");
        let lines =
            "4k3/8/8/8/8/8/4P3/4K3 w - - bm e4; id \"1\";\n\n4k3/8/8/8/8/8/4P3/4K3 b - - 3 9\n";
        std::fs::write(&epd, lines).expect("written");
        let games = choice(&epd).load().expect("two positions").playable;
        assert_eq!(games.len(), 2);
        assert_eq!(games[1].game().position().fullmove_number(), 9);
        let pgn = dir.path().join("a.pgn.gz");
        let file = File::create(&pgn).expect("created");
        let mut file = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        write!(file, "[Event \"x\"]\n\n1. e4 {{x}} (1. d4 d5) e5 2. Nf3 *\n\n").expect("written");
        write!(file, "[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e3 *\n").expect("written");
        file.finish().expect("written");
        let two_plies = OpeningChoice { plies: Some(2), ..choice(&pgn) };
        let games = two_plies.load().expect("two games").playable;
        let plies: Vec<usize> = games.iter().map(|game| game.moves.len()).collect();
        assert_eq!(plies, [2, 1]);
        let fen = "4k3/8/8/8/8/4P3/8/4K3 b - - 0 1";
        assert_eq!(games[1].game().position().fen(), fen);
    }

    #[test]
    fn error_names_the_place_of_a_bad_opening() {
        let dir = tempfile::tempdir().expect("a folder");
        for (name, text, part) in [
            ("a.epd", "4k3/8/8/8/8/8/4P3/4K3 w - -\nnonsense\n", "a.epd: line 2"),
            ("b.pgn", "1. e4 *\n\n[White \"A\"]\n\n1. e4 e4 *\n", "b.pgn: game 2: line "),
            ("b.pgn", "These are no openings.\n", "b.pgn: game 1: it is text without a game"),
            ("b.pgn", "[Variant \"Atomic\"]\n\n1. e4 *\n", "b.pgn: game 1: it is not orthodox"),
            ("c.epd", "\n", "no openings"),
        ] {
            let path = dir.path().join(name);
            std::fs::write(&path, text).expect("written");
            let error = choice(&path).load().expect_err(name).to_string();
            assert!(error.contains(part), "{error}");
        }
        let error = choice(&dir.path().join("none.epd")).load().expect_err("missing");
        assert!(error.to_string().contains("cannot read openings"), "{error}");
    }

    #[test]
    fn openings_that_end_the_game_are_skipped_and_counted() {
        let dir = tempfile::tempdir().expect("a folder");
        let epd = dir.path().join("a.epd");
        let over = [
            "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
            "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
            "7k/8/6K1/8/8/8/8/8 b - - 0 1",
            "7k/8/6K1/8/8/8/8/R7 b - - 100 90",
        ];
        let good = "7k/8/6K1/8/8/8/8/R7 b - - 99 90";
        std::fs::write(&epd, over[..2].join("\n") + "\n" + good + "\n" + over[3]).expect("written");
        let loaded = OpeningChoice { count: 9, ..choice(&epd) }.load().expect("one can be played");
        assert_eq!(loaded.playable.len(), 1);
        assert_eq!(
            loaded.skipped.to_string(),
            "3 openings skipped, which end the game; the first is number 1 (White mates)"
        );
        for (number, line) in over.iter().enumerate() {
            std::fs::write(&epd, line).expect("written");
            let error = choice(&epd).load().expect_err("over").to_string();
            assert!(error.contains("opening 1 skipped: it ends the game"), "{number}: {error}");
        }
        let pgn = dir.path().join("a.pgn");
        let repeats = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 *";
        std::fs::write(&pgn, format!("1. e4 *\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n{repeats}\n"))
            .expect("written");
        for (plies, playable) in [(8, 1), (7, 2), (4, 2), (3, 3)] {
            let loaded = OpeningChoice { plies: Some(plies), ..choice(&pgn) }.load();
            assert_eq!(loaded.expect("openings").playable.len(), playable, "{plies}");
        }
    }

    #[test]
    fn book_lines_begin_at_the_start_number() {
        let lines = |start, count| {
            let choice = OpeningChoice { start, count, ..choice(Path::new("embedded")) };
            choice.load().expect("the embedded book").playable
        };
        assert_eq!(lines(2, 3), lines(0, 5)[2..]);
    }

    #[test]
    fn book_lines_are_drawn_by_seed() {
        let lines = |seed| {
            let choice = OpeningChoice { count: 4, seed, ..choice(Path::new("embedded")) };
            let games = choice.load().expect("the embedded book").playable;
            games.iter().map(|game| game.moves.to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(lines(1), lines(1));
        assert_ne!(lines(1), lines(2));
        assert!(lines(1).iter().all(|moves| !moves.is_empty() && moves.len() <= BOOK_PLIES));
    }

    #[test]
    fn shuffled_order_depends_only_on_the_seed() {
        const LINES: usize = 60;
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.epd");
        let lines: String =
            (1..=LINES).map(|number| format!("4k3/8/8/8/8/8/8/4KR2 w - - 0 {number}\n")).collect();
        std::fs::write(&path, lines).expect("written");
        let order = |shuffled, seed, start, count| {
            let choice = OpeningChoice { shuffled, seed, start, count, ..choice(&path) };
            let openings = choice.load().expect("openings").playable;
            let number = |opening: &Opening| opening.game().position().fullmove_number();
            openings.iter().map(number).collect::<Vec<_>>()
        };
        let all = order(true, 7, 0, LINES);
        assert_ne!(all, order(true, 8, 0, LINES));
        for (start, count) in [(0, 1), (0, 7), (5, 10), (50, 10), (0, 1000), (59, 3)] {
            // The openings are played in cyclic order: those before `start` follow the last one.
            let wanted = |all: &[u16]| -> Vec<u16> {
                all.iter().cycle().skip(start).take(count.min(LINES)).copied().collect()
            };
            assert_eq!(order(true, 7, start, count), wanted(&all), "{start} {count}");
            let numbers: Vec<u16> = (1..=LINES as u16).collect();
            assert_eq!(order(false, 7, start, count), wanted(&numbers), "{start} {count}");
        }
        let mut sorted = all;
        sorted.sort_unstable();
        assert_eq!(sorted, (1..=LINES as u16).collect::<Vec<_>>());
    }

    #[cfg(unix)]
    #[test]
    fn opening_a_pipe_without_a_writer_does_not_block() {
        let dir = tempfile::tempdir().expect("a folder");
        let pipe = |name: &str| {
            let path = dir.path().join(name);
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).expect("a pipe");
            path
        };
        let error = choice(&pipe("lonely.pgn")).load().expect_err("nobody writes").to_string();
        assert!(error.contains("without a writer"), "{error}");
        let path = pipe("fed.pgn");
        let end = path.clone();
        let writer = std::thread::spawn(move || std::fs::write(end, "1. e4 *\n\n1. d4 *\n"));
        assert_eq!(choice(&path).load().expect("two games").playable.len(), 2);
        assert!(writer.join().is_ok_and(|written| written.is_ok()));
    }
}
