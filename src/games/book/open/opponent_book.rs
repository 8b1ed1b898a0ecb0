//! Opponent books: the opening moves of one or more players, taken from their games.
//!
//! An opponent book (option `--opponent-book`) consists of the mean rating of the selected players
//! and a book in memory with only their moves, built separately for each colour. The controller's
//! `BookLoader` uses it instead of the normal book.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::{fmt, io};

use crate::chess::position::{Color, Position};
use crate::games::book::builder::{BuildOptions, GameFilter, build_in_memory};
use crate::games::book::format::error::BookError;
use crate::games::book::lookup::Book;
use crate::games::pgn::{GameEnd, GamePly, PgnInput, Reader, Tags, Visitor};
use crate::support::error::ParseError;

/// Maximum number of plies of each game that an opponent book covers. Positions beyond this depth
/// rarely recur.
const MAX_PLY: u32 = 60;

/// Specifies the games of an opponent book: `GAMES.pgn[,player=NAME][,ratings=FROM-TO]`. Both
/// conditions apply to the player whose moves are added to the book, not to that player's opponent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpponentBookSpec {
    games: PathBuf,
    player: Option<String>,
    ratings: Option<(u32, u32)>,
}

impl FromStr for OpponentBookSpec {
    type Err = ParseError;

    /// Parses the conditions from right to left, because file names may contain commas.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut spec = OpponentBookSpec { games: PathBuf::new(), player: None, ratings: None };
        let mut rest = text.trim();
        while let Some((before, condition)) = rest.rsplit_once(',') {
            let condition = condition.trim();
            if let Some(name) = condition.strip_prefix("player=") {
                spec.player = Some(name.trim().to_owned());
            } else if let Some(range) = condition.strip_prefix("ratings=") {
                let bad = || unusable(&format!("{range:?} is not a range of ratings"));
                spec.ratings = Some(parse_range(range).ok_or_else(bad)?);
            } else {
                break;
            }
            rest = before;
        }
        if rest.trim().is_empty() {
            return Err(unusable("the file of games is missing"));
        }
        spec.games = PathBuf::from(rest.trim());
        Ok(spec)
    }
}

fn unusable(reason: &str) -> ParseError {
    ParseError(format!("{reason}: expected GAMES.pgn[,player=NAME][,ratings=1600-1800]"))
}

fn parse_range(text: &str) -> Option<(u32, u32)> {
    let (from, to) = text.split_once('-')?;
    let (from, to) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    (from <= to).then_some((from, to))
}

impl fmt::Display for OpponentBookSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.games.display())?;
        self.player.iter().try_for_each(|player| write!(f, ",player={player}"))?;
        self.ratings.iter().try_for_each(|(from, to)| write!(f, ",ratings={from}-{to}"))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct OpponentBook {
    /// A book that contains only the moves of the selected players.
    pub(crate) book: Book,
    /// The mean rating of the selected players over their games. `None` if none of the games states
    /// their ratings.
    pub(crate) rating: Option<u32>,
    /// The number of games of the selected players. If both players of a game are selected, the
    /// game is counted twice.
    pub(crate) games: u64,
}

impl OpponentBook {
    pub(crate) fn open(spec: &str) -> Result<Self, BookError> {
        let invalid = |error: ParseError| BookError::NoGames {
            name: spec.to_owned(),
            reason: error.to_string(),
        };
        let spec: OpponentBookSpec = spec.parse().map_err(invalid)?;
        let inputs = PgnInput::from_paths(std::slice::from_ref(&spec.games))?;
        let name = spec.to_string();
        let mut books = Vec::new();
        let mut none = None;
        for side in [Color::White, Color::Black] {
            let options = BuildOptions {
                max_ply: MAX_PLY,
                undecided: true,
                side: Some(side),
                filter: spec.filter(side),
                ..BuildOptions::default()
            };
            match build_in_memory(&inputs, &options, &name) {
                Ok((book, _)) => books.push(book),
                Err(error @ BookError::NoGames { .. }) => none = Some(error),
                Err(error) => return Err(error),
            }
        }
        if let Some(error) = none.filter(|_| books.is_empty()) {
            return Err(error);
        }
        let mut stats =
            OpponentStats::new([Color::White, Color::Black].map(|side| spec.filter(side)));
        for input in &inputs {
            stats.take(input).map_err(|error| BookError::reading(&input.name(), &error))?;
        }
        let book = Book::chain(books).with_name(&name);
        Ok(OpponentBook { book, rating: stats.mean_rating(), games: stats.games })
    }
}

impl OpponentBookSpec {
    fn filter(&self, side: Color) -> GameFilter {
        GameFilter {
            min_elo: self.ratings.map(|(from, _)| from),
            max_elo: self.ratings.map(|(_, to)| to),
            players: self.player.iter().map(|name| name.to_lowercase()).collect(),
            side: Some(side),
            rated_side: Some(side),
            ..GameFilter::default()
        }
    }
}

struct OpponentStats {
    filters: [GameFilter; 2],
    games: u64,
    rated: u64,
    sum: u64,
}

impl OpponentStats {
    fn new(filters: [GameFilter; 2]) -> Self {
        OpponentStats { filters, games: 0, rated: 0, sum: 0 }
    }

    fn take(&mut self, input: &PgnInput) -> io::Result<()> {
        let mut reader = Reader::new(input.open(&Arc::default())?);
        while reader.read_game(self)?.is_some() {}
        Ok(())
    }

    fn mean_rating(&self) -> Option<u32> {
        let mean = (self.sum + self.rated / 2).checked_div(self.rated)?;
        u32::try_from(mean).ok()
    }
}

impl Visitor for OpponentStats {
    fn begin(&mut self, tags: &Tags, _: &Position) -> std::ops::ControlFlow<()> {
        for (filter, name) in self.filters.iter().zip(["WhiteElo", "BlackElo"]) {
            if !filter.passes(tags) {
                continue;
            }
            self.games += 1;
            let rating = tags.get(name).and_then(|text| text.trim().parse::<u64>().ok());
            if let Some(rating) = rating.filter(|&rating| rating > 0) {
                self.rated += 1;
                self.sum += rating;
            }
        }
        // Skip the moves, because the statistics need only the tags.
        std::ops::ControlFlow::Break(())
    }

    fn played(&mut self, _: &GamePly) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Break(())
    }

    fn end(&mut self, _: &GameEnd) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Game;
    use crate::games::book::choice::chooser::Chooser;
    use crate::games::book::choice::policy::Policy;

    const GAMES: &str = "[White \"Ann\"]\n[Black \"Bob\"]\n[WhiteElo \"1600\"]\n[BlackElo \"1900\"]\n\n\
        1. e4 c5 2. c3 1-0\n\n\
        [White \"Bob\"]\n[Black \"Ann\"]\n[WhiteElo \"1900\"]\n[BlackElo \"1700\"]\n\n1. d4 f5 0-1\n\n\
        [White \"Cyd\"]\n[Black \"Bob\"]\n\n1. f4 e5 *\n";

    fn opponent_book(conditions: &str) -> Result<OpponentBook, BookError> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("games, all.pgn");
        std::fs::write(&file, GAMES).expect("written");
        OpponentBook::open(&format!("{}{conditions}", file.display()))
    }

    fn moves(opponent_book: &OpponentBook, before: &[&str]) -> Vec<String> {
        let mut game = Game::default();
        for san in before {
            game.play(game.position().parse_move(san).expect(san)).expect(san);
        }
        let mut found: Vec<String> = (0..50)
            .filter_map(|seed| {
                let mut chooser = Chooser::new(Policy::Frequency, seed);
                chooser.plays_lost = true;
                chooser.choose(&opponent_book.book, &game)
            })
            .map(|choice| game.position().san(choice.mv))
            .collect();
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn opponent_book_plays_only_moves_of_its_player() {
        let ann = opponent_book(",player=ann").expect("games");
        assert_eq!((ann.rating, ann.games), (Some(1650), 2));
        assert_eq!(moves(&ann, &[]), ["e4"]);
        assert_eq!(moves(&ann, &["d4"]), ["f5"]);
        assert_eq!(moves(&ann, &["e4", "c5"]), ["c3"]);
        assert_eq!(moves(&ann, &["e4"]), Vec::<String>::new());
    }

    #[test]
    fn rating_filter_applies_to_the_side_to_move() {
        let strong = opponent_book(",ratings=1850-2000").expect("games");
        assert_eq!((strong.rating, strong.games), (Some(1900), 2));
        assert_eq!(
            (moves(&strong, &[]), moves(&strong, &["e4"])),
            (vec!["d4".into()], vec!["c5".into()])
        );
        let all = opponent_book("").expect("games");
        assert_eq!((moves(&all, &[]).len(), all.games, all.rating), (3, 6, Some(1775)));
        let both = opponent_book(",ratings=1500-1650,player=Ann").expect("games");
        assert_eq!((moves(&both, &[]), both.games), (vec!["e4".into()], 1));
    }

    #[test]
    fn invalid_opponent_book_is_rejected() {
        for (conditions, words) in [
            (",player=Dora", "no readable game counts"),
            (",ratings=2000", "\"2000\" is not a range of ratings"),
            (",ratings=9-1", "is not a range of ratings"),
        ] {
            let error = opponent_book(conditions).expect_err(conditions).to_string();
            assert!(error.contains(words), "{conditions}: {error}");
        }
        assert!(
            "".parse::<OpponentBookSpec>().is_err()
                && ",player=x".parse::<OpponentBookSpec>().is_err()
        );
        assert!(OpponentBook::open("/nowhere.pgn").is_err());
    }

    #[test]
    fn specification_round_trips() {
        for text in ["a.pgn", "a, b.pgn,player=Smith", "c.pgn,player=X,ratings=1-2"] {
            let spec: OpponentBookSpec = text.parse().expect(text);
            assert_eq!(spec.to_string(), text);
        }
    }
}
