//! The thread that searches, and how it is spoken with.
//!
//! Orders go in by one channel and are done one after the other; news come out by another. Every
//! search has a job number, so that late news of a search that was called off can be told apart.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use crossbeam::channel::{Receiver, Sender, unbounded};

use crate::book::Book;
use crate::position::Game;
use crate::search::{self, Control, Limits, STACK_SIZE, SearchResult};

use super::setup::Setup;

/// What can search. [`search::Searcher`] does; tests script another.
pub trait Backend: Send {
    /// Takes over what the user has set. Called between searches only.
    fn configure(&mut self, setup: &Setup);

    /// Forgets what was learned in the game so far.
    fn new_game(&mut self);

    /// What the last order met with that the user should know: what the system did not give, what
    /// broke.
    fn take_faults(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Searches until a limit is reached or `control` stops it.
    fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
        tell: &mut dyn FnMut(&search::Event),
    ) -> SearchResult;
}

/// Makes a backend; again, should one panic.
pub type MakeBackend = Box<dyn Fn() -> Box<dyn Backend> + Send>;

/// News from the worker.
#[derive(Debug, Clone)]
pub enum News {
    /// A search tells how far it is.
    Progress {
        /// The number that [`Worker::search`] gave.
        job: u64,
        /// What it tells.
        event: search::Event,
    },
    /// A search has ended.
    Finished {
        /// The number that [`Worker::search`] gave.
        job: u64,
        /// Without a best move if it crashed.
        result: SearchResult,
    },
    /// One order that was no search is done.
    Settled,
    /// Something that the owner does beside the engine has come further.
    Aside,
    /// Something that was asked for is not to be had, or broke; in words. It comes before the news
    /// of the order's end.
    Fault(String),
    /// A book was opened, or could not be; why.
    Opened {
        /// The number of books asked for until then.
        number: u64,
        /// The book.
        book: Result<Book, String>,
    },
}

enum Order {
    Configure(Box<Setup>),
    NewGame,
    Search { job: u64, game: Box<Game>, limits: Limits, control: Control },
}

/// The search thread, as its owner sees it. Dropped, it leaves the thread to end by itself.
pub struct Worker {
    orders: Sender<Order>,
    outbox: Sender<News>,
    news: Receiver<News>,
    jobs: u64,
    unsettled: usize,
}

impl Worker {
    /// Starts the thread, with the stack of a search: one that can start no threads runs in this.
    ///
    /// # Errors
    /// If the system starts no thread.
    pub fn start(make: MakeBackend) -> io::Result<Self> {
        let (orders, inbox) = unbounded();
        let (outbox, news) = unbounded();
        let own_outbox = outbox.clone();
        let builder = thread::Builder::new().name("search".to_owned()).stack_size(STACK_SIZE);
        builder.spawn(move || work(&make, &inbox, &own_outbox))?;
        Ok(Worker { orders, outbox, news, jobs: 0, unsettled: 0 })
    }

    /// Where the news come in. Each must be shown to [`Worker::note`].
    pub fn news(&self) -> &Receiver<News> {
        &self.news
    }

    /// Where others can add to the news.
    pub fn outbox(&self) -> Sender<News> {
        self.outbox.clone()
    }

    /// Keeps count of the orders that are done.
    pub fn note(&mut self, news: &News) {
        if matches!(news, News::Settled) {
            self.unsettled = self.unsettled.saturating_sub(1);
        }
    }

    /// Whether all orders but searches are done.
    pub fn is_settled(&self) -> bool {
        self.unsettled == 0
    }

    /// Passes on what the user has set, for the searches to come.
    pub fn configure(&mut self, setup: Setup) {
        self.settle(Order::Configure(Box::new(setup)));
    }

    /// Lets the searches to come know nothing of those before.
    pub fn new_game(&mut self) {
        self.settle(Order::NewGame);
    }

    fn settle(&mut self, order: Order) {
        if self.orders.send(order).is_ok() {
            self.unsettled += 1;
        }
    }

    /// Orders a search and returns its job number.
    pub fn search(&mut self, game: Game, limits: Limits, control: Control) -> u64 {
        self.jobs += 1;
        let order = Order::Search { job: self.jobs, game: Box::new(game), limits, control };
        // The thread lives as long as its orders can be sent, so this cannot fail.
        let _ = self.orders.send(order);
        self.jobs
    }
}

/// Does the orders until nobody can give any more.
fn work(make: &MakeBackend, orders: &Receiver<Order>, news: &Sender<News>) {
    let mut backend = make();
    let mut setup = None;
    for order in orders {
        let done = catch_unwind(AssertUnwindSafe(|| match &order {
            Order::Configure(wanted) => {
                backend.configure(wanted);
                News::Settled
            }
            Order::NewGame => {
                backend.new_game();
                News::Settled
            }
            Order::Search { job, game, limits, control } => {
                let mut tell = |event: &search::Event| {
                    let _ = news.send(News::Progress { job: *job, event: event.clone() });
                };
                let result = backend.search(game, limits, control, &mut tell);
                News::Finished { job: *job, result }
            }
        }));
        let panicked = done.is_err();
        let done = done.unwrap_or_else(|_| last_words(&order));
        let crashed = panicked || has_crashed(&order, &done);
        let tell = |fault| {
            let _ = news.send(News::Fault(fault));
        };
        if crashed {
            tell("the search has crashed and is started anew".to_owned());
        } else {
            backend.take_faults().into_iter().for_each(tell);
        }
        let _ = news.send(done);
        if let Order::Configure(wanted) = order {
            setup = Some(wanted);
        }
        if crashed {
            backend = anew(make, setup.as_deref());
        }
    }
}

/// A backend in the place of one that has crashed. One that cannot even be set up stays as it was
/// made.
fn anew(make: &MakeBackend, setup: Option<&Setup>) -> Box<dyn Backend> {
    let set_up = AssertUnwindSafe(|| {
        let mut backend = make();
        setup.iter().for_each(|setup| backend.configure(setup));
        backend
    });
    catch_unwind(set_up).unwrap_or_else(|_| make())
}

/// Whether a search came back without a move where there is one.
fn has_crashed(order: &Order, news: &News) -> bool {
    match (order, news) {
        (Order::Search { game, .. }, News::Finished { result, .. }) => {
            result.best.is_none() && !game.position().has_no_moves()
        }
        _ => false,
    }
}

/// The news of an order that could not be done.
fn last_words(order: &Order) -> News {
    match order {
        Order::Search { job, .. } => News::Finished { job: *job, result: SearchResult::default() },
        Order::Configure(_) | Order::NewGame => News::Settled,
    }
}
