//! Opens the engine's books in background threads, and chooses moves from them.

use std::cell::OnceCell;
use std::panic::catch_unwind;
use std::thread;
use std::time::Duration;

use crossbeam::channel::Sender;

use crate::chess::position::{Color, Game, Move, Position};
use crate::engine::search::Limits;
use crate::games::book::{
    Book, BookValue, Choice, Chooser, Names, OpponentBook, Policy, at_the_end,
};

use super::learning::{is_enough, is_new};
use super::settings::Settings;
use super::strength::{Strength, new_seed};
use super::worker::BackgroundEvent;
use crate::support::threads::refused;

/// Assumed search speed in nodes per second, used to convert the node count of an analysis to time.
/// Even slow machines reach this speed. On faster machines, an analysis is worth less search time
/// than assumed, so the engine relies on analyses slightly too often.
const NODES_A_SECOND: u64 = 1_000_000;

pub(super) struct BookLoader {
    book: Book,
    chooser: Chooser,
    /// The number of requests so far to open a book, which is also the number of the latest
    /// request.
    asked: u64,
    is_opening: bool,
    opponent_book: Option<OpponentBook>,
    opponent_book_requests: u64,
    is_loading_opponent_book: bool,
    /// Names of openings, loaded on first use.
    names: OnceCell<Names>,
}

impl BookLoader {
    pub(super) fn new(book: Book) -> Self {
        let chooser = Chooser::new(Policy::Prefer, new_seed());
        BookLoader {
            book,
            chooser,
            asked: 0,
            is_opening: false,
            opponent_book: None,
            opponent_book_requests: 0,
            is_loading_opponent_book: false,
            names: OnceCell::new(),
        }
    }

    /// Opens the books named in `paths` in the background, like [`Book::open_all`], or the embedded
    /// book if `paths` is empty. The result arrives as [`BackgroundEvent::Opened`].
    pub(super) fn open(&mut self, paths: &str, event_sender: &Sender<BackgroundEvent>) {
        self.asked += 1;
        self.is_opening = true;
        let (number, paths) = (self.asked, paths.to_owned());
        let own_sender = event_sender.clone();
        let started = thread::Builder::new().spawn(move || {
            let opened = catch_unwind(|| Book::open_all(&paths).map_err(|error| error.to_string()));
            let book =
                opened.unwrap_or_else(|_| Err(format!("cannot open {paths}: the reader crashed")));
            let _ = own_sender.send(BackgroundEvent::Opened { number, book });
        });
        if let Err(error) = started {
            let why = format!("cannot open the book: {}", refused(&error));
            let _ = event_sender.send(BackgroundEvent::Opened { number, book: Err(why) });
        }
    }

    /// Reads the opponent book that `spec` describes in the background. The result arrives as
    /// [`BackgroundEvent::OpponentBookLoaded`]. If `spec` is empty, removes the current opponent
    /// book instead.
    pub(super) fn load_opponent_book(
        &mut self,
        spec: &str,
        event_sender: &Sender<BackgroundEvent>,
    ) {
        self.opponent_book_requests += 1;
        self.is_loading_opponent_book = !spec.is_empty();
        if spec.is_empty() {
            self.opponent_book = None;
            return;
        }
        let (number, spec) = (self.opponent_book_requests, spec.to_owned());
        let own_sender = event_sender.clone();
        let started = thread::Builder::new().spawn(move || {
            let opened =
                catch_unwind(|| OpponentBook::open(&spec).map_err(|error| error.to_string()));
            let opponent_book =
                opened.unwrap_or_else(|_| Err(format!("cannot read {spec}: the reader crashed")));
            let _ = own_sender.send(BackgroundEvent::OpponentBookLoaded { number, opponent_book });
        });
        if let Err(error) = started {
            let why = format!("cannot read the games: {}", refused(&error));
            let _ = event_sender
                .send(BackgroundEvent::OpponentBookLoaded { number, opponent_book: Err(why) });
        }
    }

    /// Installs the opponent book of request `number`, unless another one has been requested since.
    /// If the book could not be read, returns the reason and keeps the current book.
    pub(super) fn set_opponent_book(
        &mut self,
        number: u64,
        opponent_book: Result<OpponentBook, String>,
    ) -> Option<String> {
        if number != self.opponent_book_requests {
            return None;
        }
        self.is_loading_opponent_book = false;
        opponent_book.map(|opponent_book| self.opponent_book = Some(opponent_book)).err()
    }

    pub(super) fn install_opponent_book(&mut self, opponent_book: OpponentBook) {
        self.opponent_book = Some(opponent_book);
    }

    pub(super) fn opponent_book(&self) -> Option<&OpponentBook> {
        self.opponent_book.as_ref()
    }

    pub(super) fn is_opening(&self) -> bool {
        self.is_opening || self.is_loading_opponent_book
    }

    /// Installs the book of request `number`. Returns `false` if another book has been requested
    /// since. If the book could not be opened (`None`), keeps the current book.
    pub(super) fn set_book(&mut self, number: u64, book: Option<Book>) -> bool {
        if number != self.asked {
            return false;
        }
        self.is_opening = false;
        book.into_iter().for_each(|book| self.book = book);
        true
    }

    pub(super) fn book(&self) -> &Book {
        &self.book
    }

    /// Chooses a book move to play. Search results in `learned` can veto moves.
    pub(super) fn choose(
        &mut self,
        game: &Game,
        settings: &Settings,
        learned: Option<&Book>,
    ) -> Option<Choice> {
        configure_chooser(&mut self.chooser, settings, self.opponent_book.as_ref(), learned);
        let book = book_in_use(&self.book, self.opponent_book.as_ref(), game, settings)?;
        self.chooser.choose(book, game)
    }

    pub(super) fn vetoed(&self, game: &Game, settings: &Settings) -> Option<String> {
        let book = book_in_use(&self.book, self.opponent_book.as_ref(), game, settings)?;
        self.chooser.vetoes(book, game)
    }

    /// Returns the book's analysis of the position if its best move can be played without a search.
    /// This requires a policy for choosing book moves that prefers good moves, and an analysis that
    /// took at least half as much effort as a search within `limits` would.
    pub(super) fn analysed(
        &self,
        game: &Game,
        settings: &Settings,
        limits: &Limits,
        learned: Option<&Book>,
    ) -> Option<BookValue> {
        let chosen_policy =
            matches!(settings.policy, Policy::Best | Policy::Prefer | Policy::Weighted);
        if self.opponent_book.is_some() || !chosen_policy || !may_use_book(game, settings) {
            return None;
        }
        let value = self.book.value(game.position())?;
        let mv = value.best.filter(|&mv| game.position().is_legal(mv))?;
        let mut chooser = self.chooser.clone();
        configure_chooser(&mut chooser, settings, None, learned);
        if chooser.has_vetoed(&self.book, game, mv) {
            return None;
        }
        let speed = NODES_A_SECOND * settings.search.threads.max(1) as u64;
        let time = Duration::from_secs_f64(value.nodes as f64 / speed as f64);
        let number = game.position().fullmove_number();
        let is_enough = value.depth > 0 && is_enough(&value, time, limits, number);
        (is_enough && is_new(game, mv)).then_some(value)
    }

    pub(super) fn has_move(
        &self,
        game: &Game,
        settings: &Settings,
        learned: Option<&Book>,
    ) -> bool {
        let mut chooser = self.chooser.clone();
        configure_chooser(&mut chooser, settings, self.opponent_book.as_ref(), learned);
        book_in_use(&self.book, self.opponent_book.as_ref(), game, settings)
            .is_some_and(|book| chooser.choose(book, game).is_some())
    }

    pub(super) fn describe(&self, position: &Position) -> String {
        at_the_end(&self.book, self.names.get_or_init(Names::embedded), position)
    }

    pub(super) fn opening(&self, position: &Position) -> Option<String> {
        let opening = self.names.get_or_init(Names::embedded).get(position)?;
        Some(format!("{} {}", opening.eco, opening.name))
    }

    pub(super) fn best_move(&self, game: &Game) -> Option<Move> {
        self.book.moves(game.position()).first().map(|book_move| book_move.mv)
    }
}

/// Returns true if the engine may play a book move. If its strength is limited, a lower rating
/// makes it leave the book earlier.
fn may_use_book(game: &Game, settings: &Settings) -> bool {
    let moves = 2 * usize::from(game.position().fullmove_number());
    let is_known = |rating| moves <= Strength::of(rating).book_plies();
    settings.own_book && settings.rating().is_none_or(is_known) && is_in_depth(game, settings)
}

fn is_in_depth(game: &Game, settings: &Settings) -> bool {
    let position = game.position();
    let ply_of_white = 2 * i64::from(position.fullmove_number()) - 1;
    let next = ply_of_white + i64::from(position.side_to_move() == Color::Black);
    settings.book_depth == 0 || next <= settings.book_depth
}

fn book_in_use<'a>(
    book: &'a Book,
    opponent_book: Option<&'a OpponentBook>,
    game: &Game,
    settings: &Settings,
) -> Option<&'a Book> {
    match opponent_book {
        Some(opponent_book) => Some(&opponent_book.book),
        None => may_use_book(game, settings).then_some(book),
    }
}

/// Configures move selection. Moves from an opponent book are chosen by frequency.
fn configure_chooser(
    chooser: &mut Chooser,
    settings: &Settings,
    opponent_book: Option<&OpponentBook>,
    learned: Option<&Book>,
) {
    chooser.plays_lost = opponent_book.is_some();
    chooser.policy = opponent_book.map_or(settings.policy, |_| Policy::Frequency);
    chooser.max_loss = settings.max_loss;
    chooser.min_games = opponent_book.map_or(settings.min_games.unsigned_abs(), |_| 1);
    chooser.learned = learned.filter(|_| opponent_book.is_none() && settings.veto).cloned();
}
