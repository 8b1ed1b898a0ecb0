//! The engine's book: opened on a thread of its own, asked at the root.

use std::cell::OnceCell;
use std::hash::{BuildHasher, RandomState};
use std::panic::catch_unwind;
use std::thread;

use crossbeam::channel::Sender;

use crate::book::{Book, Choice, Chooser, Names, Policy, at_the_end};
use crate::position::{Game, Move, Position};

use super::settings::Settings;
use super::worker::News;

/// The book, or the one that is being opened.
pub(super) struct Library {
    book: Book,
    chooser: Chooser,
    /// The number of books asked for so far.
    asked: u64,
    is_opening: bool,
    /// The names of openings, once somebody has asked.
    names: OnceCell<Names>,
}

impl Library {
    /// A library of one book.
    pub(super) fn new(book: Book) -> Self {
        // The standard library's own seed is the simplest source of a number that differs.
        let seed = RandomState::new().hash_one(0);
        let chooser = Chooser::new(Policy::Prefer, seed);
        Library { book, chooser, asked: 0, is_opening: false, names: OnceCell::new() }
    }

    /// Begins to open books as [`Book::open_all`] does, the embedded one if `paths` is empty;
    /// counting a PGN takes a while, so that the outcome comes as [`News::Opened`].
    pub(super) fn open(&mut self, paths: &str, news: &Sender<News>) {
        self.asked += 1;
        self.is_opening = true;
        let (number, paths) = (self.asked, paths.to_owned());
        let own_news = news.clone();
        let started = thread::Builder::new().spawn(move || {
            let opened = catch_unwind(|| Book::open_all(&paths).map_err(|error| error.to_string()));
            let book = opened.unwrap_or_else(|_| Err(format!("opening {paths} has crashed")));
            let _ = own_news.send(News::Opened { number, book });
        });
        if let Err(error) = started {
            let why = format!("no thread can be started to open a book in: {error}");
            let _ = news.send(News::Opened { number, book: Err(why) });
        }
    }

    /// Whether a book is still being opened.
    pub(super) fn is_opening(&self) -> bool {
        self.is_opening
    }

    /// Takes a book in that was asked for; `false` if another was asked for meanwhile. On failure
    /// the book before stays.
    pub(super) fn shelve(&mut self, number: u64, book: Option<Book>) -> bool {
        if number != self.asked {
            return false;
        }
        self.is_opening = false;
        book.into_iter().for_each(|book| self.book = book);
        true
    }

    /// The book.
    pub(super) fn book(&self) -> &Book {
        &self.book
    }

    /// Chooses a move to play.
    pub(super) fn choose(&mut self, game: &Game, settings: &Settings) -> Option<Choice> {
        if !settings.own_book {
            return None;
        }
        instruct(&mut self.chooser, settings);
        self.chooser.choose(&self.book, game)
    }

    /// Whether there would be a move to play.
    pub(super) fn has_move(&self, game: &Game, settings: &Settings) -> bool {
        let mut chooser = self.chooser.clone();
        instruct(&mut chooser, settings);
        settings.own_book && chooser.choose(&self.book, game).is_some()
    }

    /// What the book knows of a position that a line leads to: the opening's name and the usual move.
    pub(super) fn describe(&self, position: &Position) -> String {
        at_the_end(&self.book, self.names.get_or_init(Names::embedded), position)
    }

    /// The move that most games chose.
    pub(super) fn best_move(&self, game: &Game) -> Option<Move> {
        self.book.moves(game.position()).first().map(|book_move| book_move.mv)
    }
}

/// Has moves chosen as the user wishes.
fn instruct(chooser: &mut Chooser, settings: &Settings) {
    chooser.policy = settings.policy;
    chooser.max_loss = settings.max_loss;
}
