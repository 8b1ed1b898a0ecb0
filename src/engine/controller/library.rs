//! The engine's book: opened on a thread of its own, asked at the root.

use std::cell::OnceCell;
use std::panic::catch_unwind;
use std::thread;
use std::time::Duration;

use crossbeam::channel::Sender;

use crate::chess::position::{Game, Move, Position};
use crate::engine::search::Limits;
use crate::games::book::{Book, BookValue, Choice, Chooser, Names, Partner, Policy, at_the_end};

use super::learning::{is_enough, is_new};
use super::settings::Settings;
use super::strength::{Strength, new_luck};
use super::worker::News;
use crate::support::files::in_words;

/// What a thread is taken to search in a second, to tell how long an analysis has searched: as slow as
/// machines are on which Tabia is played. A faster one searches for itself more seldom than it might.
const NODES_A_SECOND: u64 = 1_000_000;

/// The book, or the one that is being opened.
pub(super) struct Library {
    book: Book,
    chooser: Chooser,
    /// The number of books asked for so far.
    asked: u64,
    is_opening: bool,
    /// Whose games are played by.
    partner: Option<Partner>,
    /// The number of partners asked for so far.
    invited: u64,
    is_inviting: bool,
    /// The names of openings, once somebody has asked.
    names: OnceCell<Names>,
}

impl Library {
    /// A library of one book.
    pub(super) fn new(book: Book) -> Self {
        let chooser = Chooser::new(Policy::Prefer, new_luck());
        Library {
            book,
            chooser,
            asked: 0,
            is_opening: false,
            partner: None,
            invited: 0,
            is_inviting: false,
            names: OnceCell::new(),
        }
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
            let why = format!("no thread can be started to open a book in: {}", in_words(&error));
            let _ = news.send(News::Opened { number, book: Err(why) });
        }
    }

    /// Begins to read the games of a partner, whose outcome comes as [`News::Invited`]; with an empty
    /// `spec` there is none from now on.
    pub(super) fn invite(&mut self, spec: &str, news: &Sender<News>) {
        self.invited += 1;
        self.is_inviting = !spec.is_empty();
        if spec.is_empty() {
            self.partner = None;
            return;
        }
        let (number, spec) = (self.invited, spec.to_owned());
        let own_news = news.clone();
        let started = thread::Builder::new().spawn(move || {
            let opened = catch_unwind(|| Partner::open(&spec).map_err(|error| error.to_string()));
            let partner = opened.unwrap_or_else(|_| Err(format!("reading {spec} has crashed")));
            let _ = own_news.send(News::Invited { number, partner });
        });
        if let Err(error) = started {
            let why = format!("no thread can be started to read games in: {}", in_words(&error));
            let _ = news.send(News::Invited { number, partner: Err(why) });
        }
    }

    /// Takes a partner in that was asked for, if no other was asked for meanwhile. On failure the one
    /// before stays; why.
    pub(super) fn welcome(
        &mut self,
        number: u64,
        partner: Result<Partner, String>,
    ) -> Option<String> {
        if number != self.invited {
            return None;
        }
        self.is_inviting = false;
        partner.map(|partner| self.partner = Some(partner)).err()
    }

    /// Takes a partner in whose games have been read.
    pub(super) fn seat(&mut self, partner: Partner) {
        self.partner = Some(partner);
    }

    /// Whose games are played by.
    pub(super) fn partner(&self) -> Option<&Partner> {
        self.partner.as_ref()
    }

    /// Whether a book is still being opened, or a partner's games are read.
    pub(super) fn is_opening(&self) -> bool {
        self.is_opening || self.is_inviting
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

    /// Chooses a move to play. What was learnt may veto moves.
    pub(super) fn choose(
        &mut self,
        game: &Game,
        settings: &Settings,
        learned: Option<&Book>,
    ) -> Option<Choice> {
        instruct(&mut self.chooser, settings, self.partner.as_ref(), learned);
        let book = book_to_ask(&self.book, self.partner.as_ref(), game, settings)?;
        self.chooser.choose(book, game)
    }

    /// Which moves of the book were vetoed, and why, in a line.
    pub(super) fn vetoed(&self, game: &Game, settings: &Settings) -> Option<String> {
        let book = book_to_ask(&self.book, self.partner.as_ref(), game, settings)?;
        self.chooser.vetoes(book, game)
    }

    /// What an analysis has found of the position on the board, if its move is as good as what a search
    /// within `limits` would find, and the user wishes good moves.
    pub(super) fn analysed(
        &self,
        game: &Game,
        settings: &Settings,
        limits: &Limits,
        learned: Option<&Book>,
    ) -> Option<BookValue> {
        let wishes = matches!(settings.policy, Policy::Best | Policy::Prefer | Policy::Weighted);
        if self.partner.is_some() || !wishes || !may_ask(game, settings) {
            return None;
        }
        let value = self.book.value(game.position())?;
        let mv = value.best.filter(|&mv| game.position().is_legal(mv))?;
        let mut chooser = self.chooser.clone();
        instruct(&mut chooser, settings, None, learned);
        if chooser.has_vetoed(&self.book, game, mv) {
            return None;
        }
        let speed = NODES_A_SECOND * settings.search.threads.max(1) as u64;
        let time = Duration::from_secs_f64(value.nodes as f64 / speed as f64);
        let number = game.position().fullmove_number();
        let is_enough = value.depth > 0 && is_enough(&value, time, limits, number);
        (is_enough && is_new(game, mv)).then_some(value)
    }

    /// Whether there would be a move to play.
    pub(super) fn has_move(
        &self,
        game: &Game,
        settings: &Settings,
        learned: Option<&Book>,
    ) -> bool {
        let mut chooser = self.chooser.clone();
        instruct(&mut chooser, settings, self.partner.as_ref(), learned);
        book_to_ask(&self.book, self.partner.as_ref(), game, settings)
            .is_some_and(|book| chooser.choose(book, game).is_some())
    }

    /// What the book knows of a position that a line leads to: the opening's name and the usual move.
    pub(super) fn describe(&self, position: &Position) -> String {
        at_the_end(&self.book, self.names.get_or_init(Names::embedded), position)
    }

    /// What the opening is called that this position belongs to, if it has a name of its own.
    pub(super) fn opening(&self, position: &Position) -> Option<String> {
        let opening = self.names.get_or_init(Names::embedded).get(position)?;
        Some(format!("{} {}", opening.eco, opening.name))
    }

    /// The move that most games chose.
    pub(super) fn best_move(&self, game: &Game) -> Option<Move> {
        self.book.moves(game.position()).first().map(|book_move| book_move.mv)
    }
}

/// Whether a move may come from the book: weaker players leave it earlier.
fn may_ask(game: &Game, settings: &Settings) -> bool {
    let played = 2 * usize::from(game.position().fullmove_number());
    let knows = |rating| played <= Strength::of(rating).book_plies();
    settings.own_book && settings.rating().is_none_or(knows)
}

/// The book that moves may come from: the partner's, or else the user's.
fn book_to_ask<'a>(
    book: &'a Book,
    partner: Option<&'a Partner>,
    game: &Game,
    settings: &Settings,
) -> Option<&'a Book> {
    match partner {
        Some(partner) => Some(&partner.book),
        None => may_ask(game, settings).then_some(book),
    }
}

/// Has moves chosen as the user wishes, or, with a partner, as the partner played.
fn instruct(
    chooser: &mut Chooser,
    settings: &Settings,
    partner: Option<&Partner>,
    learned: Option<&Book>,
) {
    chooser.plays_lost = partner.is_some();
    chooser.policy = partner.map_or(settings.policy, |_| Policy::Frequency);
    chooser.max_loss = settings.max_loss;
    chooser.learned = learned.filter(|_| partner.is_none() && settings.veto).cloned();
}
