//! The positions that games begin from.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;

use crate::book::{Book, BookError};
use crate::pgn::{Fate, GameEnd, Input, Ply, Reader, Tags, Visitor};
use crate::position::{Game, Position};
use crate::random::Random;
use crate::suite::epd;

/// Where openings come from, and which of them are played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpeningChoice {
    /// EPD or PGN, plain or compressed; or a book, `.tbk` or Polyglot `.bin`, or the word
    /// `embedded` for the built-in one.
    pub path: PathBuf,
    /// In the order of the file, or shuffled with this seed.
    pub shuffle: Option<u64>,
    /// Leave out so many first.
    pub start: usize,
    /// Play no more than so many plies of each; `None`: all.
    pub plies: Option<usize>,
    /// From a book: how many lines to draw, and with which seed.
    pub draw: (usize, u64),
}

/// Why there are no openings.
#[derive(Debug, Error)]
pub enum OpeningError {
    /// The file cannot be read.
    #[error("cannot read openings from {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A line of the file is no position.
    #[error("{}, line {line}: {message}", path.display())]
    Position {
        /// The file.
        path: PathBuf,
        /// Which line.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A game of the file cannot be played.
    #[error("{}, game {game}: {message}", path.display())]
    Game {
        /// The file.
        path: PathBuf,
        /// Which game.
        game: usize,
        /// What is wrong.
        message: String,
    },
    /// The book cannot be used.
    #[error("cannot use the book {}: {cause}", path.display())]
    Book {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: BookError,
    },
    /// Nothing is in the file.
    #[error("{} holds no openings", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Fewer openings are in the file than are to be left out.
    #[error("{} holds {count} openings only", path.display())]
    Start {
        /// The file.
        path: PathBuf,
        /// How many it holds.
        count: usize,
    },
}

impl OpeningChoice {
    /// Reads the openings and puts them in order.
    ///
    /// # Errors
    /// If the file cannot be read, or holds no or bad openings.
    pub fn load(&self) -> Result<Vec<Game>, OpeningError> {
        if let Some(book) = self.book()? {
            return Ok(self.draw_lines(&book));
        }
        let path = self.path.clone();
        let fail = |cause| OpeningError::Read { path: path.clone(), cause };
        let mut bytes = Vec::new();
        let input = Input::File(self.path.clone()).open(&Arc::default());
        input.and_then(|mut input| input.read_to_end(&mut bytes)).map_err(fail)?;
        let name = self.path.to_string_lossy().to_lowercase();
        let mut openings = match name.contains(".pgn") {
            true => self.read_pgn(&bytes)?,
            false => self.read_epd(&bytes)?,
        };
        if openings.is_empty() {
            return Err(OpeningError::Empty { path });
        }
        if let Some(seed) = self.shuffle {
            Random::new(seed).shuffle(&mut openings);
        }
        if self.start >= openings.len() {
            return Err(OpeningError::Start { path, count: openings.len() });
        }
        openings.drain(..self.start);
        Ok(openings)
    }

    /// The book, if the path names one.
    fn book(&self) -> Result<Option<Book>, OpeningError> {
        if self.path.as_os_str() == "embedded" {
            return Ok(Some(Book::embedded()));
        }
        let extension = self.path.extension().and_then(|extension| extension.to_str());
        if !matches!(extension, Some("tbk" | "bin")) {
            return Ok(None);
        }
        let book = Book::open(&self.path);
        book.map(Some).map_err(|cause| OpeningError::Book { path: self.path.clone(), cause })
    }

    /// Lines of the book, each move the likelier the more games played it. A line ends where the
    /// book does, or after the wanted number of plies.
    fn draw_lines(&self, book: &Book) -> Vec<Game> {
        let (count, seed) = self.draw;
        let mut random = Random::new(seed);
        let plies = self.plies.unwrap_or(BOOK_PLIES);
        (0..count.max(1)).map(|_| random_line(book, plies, &mut random)).collect()
    }

    /// One position a line: EPD, with operations that are ignored, or FEN.
    fn read_epd(&self, bytes: &[u8]) -> Result<Vec<Game>, OpeningError> {
        let text = String::from_utf8_lossy(bytes);
        let positions = epd::positions(&text).map_err(|(line, error)| OpeningError::Position {
            path: self.path.clone(),
            line,
            message: error.to_string(),
        })?;
        Ok(positions.into_iter().map(Game::new).collect())
    }

    /// The games of a PGN file, with or without tags.
    fn read_pgn(&self, bytes: &[u8]) -> Result<Vec<Game>, OpeningError> {
        let plies = self.plies.unwrap_or(usize::MAX);
        let mut visitor = OpeningVisitor { plies, game: Game::default() };
        let mut reader = Reader::new(bytes).taking_untagged();
        let mut openings = Vec::new();
        let unreadable = |cause| OpeningError::Read { path: self.path.clone(), cause };
        while let Some(end) = reader.read_game(&mut visitor).map_err(unreadable)? {
            let message = match end.fate {
                Fate::Broken(fault) => fault.to_string(),
                Fate::Variant => "it is not orthodox chess".to_owned(),
                Fate::Read | Fate::Declined | Fate::Untagged => {
                    openings.push(std::mem::take(&mut visitor.game));
                    continue;
                }
            };
            let game = openings.len() + 1;
            return Err(OpeningError::Game { path: self.path.clone(), game, message });
        }
        Ok(openings)
    }
}

/// Plays the moves of a game up to a number of plies.
struct OpeningVisitor {
    plies: usize,
    game: Game,
}

impl Visitor for OpeningVisitor {
    fn begin(&mut self, _tags: &Tags, start: &Position) -> ControlFlow<()> {
        self.game = Game::new(*start);
        ControlFlow::Continue(())
    }

    fn played(&mut self, ply: &Ply) -> ControlFlow<()> {
        // The moves that a visitor hears of are legal ones.
        if self.game.moves().len() >= self.plies || self.game.play(ply.mv).is_err() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, _end: &GameEnd) {}
}

/// How many plies lines from a book have unless told otherwise.
const BOOK_PLIES: usize = 8;

/// One line of a book.
fn random_line(book: &Book, plies: usize, random: &mut Random) -> Game {
    let mut game = Game::default();
    for _ in 0..plies {
        let moves = book.moves(game.position());
        let total: u64 = moves.iter().map(|mv| mv.played.games()).sum();
        if total == 0 {
            break;
        }
        let mut ticket = random.below_u64(total);
        let drawn = moves.iter().find(|mv| {
            let games = mv.played.games();
            let is_it = ticket < games;
            ticket = ticket.saturating_sub(games);
            is_it
        });
        // Moves of the book are legal ones.
        if drawn.is_none_or(|drawn| game.play(drawn.mv).is_err()) {
            break;
        }
    }
    game
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::path::Path;

    use super::*;

    fn choice(path: &Path) -> OpeningChoice {
        OpeningChoice { path: path.to_owned(), shuffle: None, start: 0, plies: None, draw: (3, 7) }
    }

    #[test]
    fn openings_come_from_epd_and_pgn() {
        let dir = tempfile::tempdir().expect("a folder");
        let epd = dir.path().join("a.epd");
        let lines =
            "4k3/8/8/8/8/8/4P3/4K3 w - - bm e4; id \"1\";\n\n4k3/8/8/8/8/8/4P3/4K3 b - - 3 9\n";
        std::fs::write(&epd, lines).expect("written");
        let games = choice(&epd).load().expect("two positions");
        assert_eq!(games.len(), 2);
        assert_eq!(games[1].position().fullmove_number(), 9);
        let pgn = dir.path().join("a.pgn.gz");
        let file = File::create(&pgn).expect("created");
        let mut file = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        write!(file, "[Event \"x\"]\n\n1. e4 {{x}} (1. d4 d5) e5 2. Nf3 *\n\n").expect("written");
        write!(file, "[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e3 *\n").expect("written");
        file.finish().expect("written");
        let two_plies = OpeningChoice { plies: Some(2), ..choice(&pgn) };
        let games = two_plies.load().expect("two games");
        let plies: Vec<usize> = games.iter().map(|game| game.moves().len()).collect();
        assert_eq!(plies, [2, 1]);
    }

    #[test]
    fn bad_openings_say_where() {
        let dir = tempfile::tempdir().expect("a folder");
        for (name, text, part) in [
            ("a.epd", "4k3/8/8/8/8/8/4P3/4K3 w - -\nnonsense\n", "a.epd, line 2"),
            ("b.pgn", "1. e4 *\n\n1. e4 e4 *\n", "b.pgn, game 2: line "),
            ("b.pgn", "[Variant \"Atomic\"]\n\n1. e4 *\n", "b.pgn, game 1: it is not orthodox"),
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
    fn lines_of_a_book_are_drawn_by_seed() {
        let lines = |seed| {
            let choice = OpeningChoice { draw: (4, seed), ..choice(Path::new("embedded")) };
            let games = choice.load().expect("the embedded book");
            games.iter().map(|game| game.moves().to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(lines(1), lines(1));
        assert_ne!(lines(1), lines(2));
        assert!(lines(1).iter().all(|moves| !moves.is_empty() && moves.len() <= BOOK_PLIES));
    }

    #[test]
    fn a_seed_fixes_the_order() {
        let order = |seed| {
            let mut items: Vec<u32> = (0..50).collect();
            Random::new(seed).shuffle(&mut items);
            items
        };
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
        let mut sorted = order(7);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<u32>>());
    }
}
