//! The thread that searches, and how it is spoken with.
//!
//! Orders go in by one channel and are done one after the other; news come out by another. Every
//! search has a job number, so that late events of a search that was called off can be distinguished.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use crossbeam::channel::{Receiver, Sender, unbounded};

use crate::chess::position::Game;
use crate::engine::search::{
    self, Config, Control, Limits, STACK_SIZE, SearchFault, SearchResult, Searcher,
};
use crate::games::book::{Book, Learned, OpponentBook};

/// What can search. [`search::Searcher`] does; tests script another.
pub(crate) trait Backend: Send {
    /// Takes over what the user has set. Called between searches only.
    fn configure(&mut self, config: Config);

    /// Forgets what was learned in the game so far.
    fn new_game(&mut self);

    /// What the last order met with that the user should know: what the system did not give, what
    /// broke.
    fn take_faults(&mut self) -> Vec<SearchFault> {
        Vec::new()
    }

    /// Searches until a limit is reached or `control` stops it.
    fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
        send_event: &mut dyn FnMut(&search::SearchEvent),
    ) -> SearchResult;
}

impl Backend for Searcher {
    fn configure(&mut self, config: Config) {
        Searcher::configure(self, config);
    }

    fn new_game(&mut self) {
        Searcher::new_game(self);
    }

    fn take_faults(&mut self) -> Vec<SearchFault> {
        Searcher::take_faults(self)
    }

    fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
        send_event: &mut dyn FnMut(&search::SearchEvent),
    ) -> SearchResult {
        Searcher::search(self, game, limits, control, send_event)
    }
}

/// Makes a backend of what the user has set; again, should one panic.
pub(crate) type MakeBackend = Box<dyn Fn(Config) -> Box<dyn Backend> + Send>;

/// Makes the real search.
pub(crate) fn searcher() -> MakeBackend {
    Box::new(|config| Box::new(Searcher::new(config)))
}

/// What happens in the background: in the search thread, and in threads that read files.
#[derive(Debug, Clone)]
pub(crate) enum BackgroundEvent {
    /// A search tells how far it is.
    Progress {
        /// The number that [`SearchThread::search`] gave.
        job: u64,
        /// What it tells.
        event: search::SearchEvent,
    },
    /// A search has ended.
    Finished {
        /// The number that [`SearchThread::search`] gave.
        job: u64,
        /// Without a best move if it crashed.
        result: SearchResult,
    },
    /// One order that was no search is done.
    Settled,
    /// Something that the owner does beside the engine has come further.
    OwnerProgress,
    /// Something that was asked for is not to be had, or broke; in words. It comes before the news
    /// of the order's end.
    Fault(String),
    /// A book was opened, or could not be; why.
    Opened {
        /// The number of books requested until then.
        number: u64,
        /// The book.
        book: Result<Book, String>,
    },
    /// An opponent book was read, or could not be; why.
    OpponentBookLoaded {
        /// The number of opponent books requested until then.
        number: u64,
        /// The opponent book.
        opponent_book: Result<OpponentBook, String>,
    },
    /// What was to be learnt is written down, or waits for a file that can be written to.
    Kept,
    /// What was learnt has been read.
    Learned {
        /// The number of times that it was asked for until then.
        number: u64,
        /// What it is; `None` for nothing.
        learned: Option<Learned>,
    },
}

enum SearchRequest {
    Configure(Box<Config>),
    NewGame,
    Search { job: u64, game: Box<Game>, limits: Limits, control: Control },
}

/// The search thread, as its owner sees it. Dropped, it leaves the thread to end by itself.
pub(crate) struct SearchThread {
    orders: Sender<SearchRequest>,
    event_sender: Sender<BackgroundEvent>,
    background_events: Receiver<BackgroundEvent>,
    jobs: u64,
    unsettled: usize,
}

impl SearchThread {
    /// Starts the thread, with the stack of a search, which runs in this.
    ///
    /// # Errors
    /// If the system starts no thread.
    pub(crate) fn start(make: MakeBackend, config: Config) -> io::Result<Self> {
        let (orders, inbox) = unbounded();
        let (event_sender, background_events) = unbounded();
        let own_sender = event_sender.clone();
        let builder = thread::Builder::new().name("search".to_owned()).stack_size(STACK_SIZE);
        let made_with = config.clone();
        builder.spawn(move || work(&make, made_with, &inbox, &own_sender))?;
        let mut worker =
            SearchThread { orders, event_sender, background_events, jobs: 0, unsettled: 0 };
        // Nothing changes, but the order is done only when all is made.
        worker.configure(config);
        Ok(worker)
    }

    /// Where the news come in. Each must be shown to [`SearchThread::note`].
    pub(crate) fn background_events(&self) -> &Receiver<BackgroundEvent> {
        &self.background_events
    }

    /// Where others can add to the news.
    pub(crate) fn event_sender(&self) -> Sender<BackgroundEvent> {
        self.event_sender.clone()
    }

    /// Keeps count of the orders that are done.
    pub(crate) fn note(&mut self, background_event: &BackgroundEvent) {
        if matches!(background_event, BackgroundEvent::Settled) {
            self.unsettled = self.unsettled.saturating_sub(1);
        }
    }

    /// Whether all orders but searches are done.
    pub(crate) fn is_settled(&self) -> bool {
        self.unsettled == 0
    }

    /// Passes on what the user has set, for the searches to come.
    pub(crate) fn configure(&mut self, config: Config) {
        self.settle(SearchRequest::Configure(Box::new(config)));
    }

    /// Lets the searches to come know nothing of those before.
    pub(crate) fn new_game(&mut self) {
        self.settle(SearchRequest::NewGame);
    }

    fn settle(&mut self, order: SearchRequest) {
        if self.orders.send(order).is_ok() {
            self.unsettled += 1;
        }
    }

    /// Orders a search and returns its job number.
    pub(crate) fn search(&mut self, game: Game, limits: Limits, control: Control) -> u64 {
        self.jobs += 1;
        let order = SearchRequest::Search { job: self.jobs, game: Box::new(game), limits, control };
        // The thread lives as long as its orders can be sent, so this cannot fail.
        let _ = self.orders.send(order);
        self.jobs
    }
}

/// Does the orders until nobody can give any more.
fn work(
    make: &MakeBackend,
    mut config: Config,
    orders: &Receiver<SearchRequest>,
    event_sender: &Sender<BackgroundEvent>,
) {
    let mut backend = made(make, &config);
    for order in orders {
        if let SearchRequest::Configure(desired) = &order {
            config = (**desired).clone();
        }
        let done = catch_unwind(AssertUnwindSafe(|| match &order {
            SearchRequest::Configure(_) => {
                backend.configure(config.clone());
                BackgroundEvent::Settled
            }
            SearchRequest::NewGame => {
                backend.new_game();
                BackgroundEvent::Settled
            }
            SearchRequest::Search { job, game, limits, control } => {
                let mut send_event = |event: &search::SearchEvent| {
                    let _ = event_sender
                        .send(BackgroundEvent::Progress { job: *job, event: event.clone() });
                };
                let result = backend.search(game, limits, control, &mut send_event);
                BackgroundEvent::Finished { job: *job, result }
            }
        }));
        let panicked = done.is_err();
        let done = done.unwrap_or_else(|_| last_words(&order));
        let send_event = |fault| {
            let _ = event_sender.send(BackgroundEvent::Fault(fault));
        };
        if panicked || is_without_move(&order, &done) {
            send_event("the search has crashed and is started anew".to_owned());
            backend = made(make, &config);
        } else {
            backend.take_faults().iter().map(SearchFault::to_string).for_each(send_event);
        }
        let _ = event_sender.send(done);
    }
}

/// A backend by what the user has set. One that cannot even be made so goes by what the program has
/// set.
fn made(make: &MakeBackend, config: &Config) -> Box<dyn Backend> {
    let made = catch_unwind(AssertUnwindSafe(|| make(config.clone())));
    made.unwrap_or_else(|_| make(Config::default()))
}

/// Whether a search came back without a move where there is one.
fn is_without_move(order: &SearchRequest, background_event: &BackgroundEvent) -> bool {
    match (order, background_event) {
        (SearchRequest::Search { game, .. }, BackgroundEvent::Finished { result, .. }) => {
            result.best.is_none() && !game.position().has_no_moves()
        }
        _ => false,
    }
}

/// The events of an order that could not be done.
fn last_words(order: &SearchRequest) -> BackgroundEvent {
    match order {
        SearchRequest::Search { job, .. } => {
            BackgroundEvent::Finished { job: *job, result: SearchResult::default() }
        }
        SearchRequest::Configure(_) | SearchRequest::NewGame => BackgroundEvent::Settled,
    }
}
