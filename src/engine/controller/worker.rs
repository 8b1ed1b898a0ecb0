//! The search thread and its channels.
//!
//! Requests arrive on one channel and are executed one after the other; events are sent on another
//! channel. Each search has a job number, so that late events from a cancelled search can be
//! recognised.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use crossbeam::channel::{Receiver, Sender, unbounded};

use super::queue::{DirectSender, Queue, queue};
use crate::chess::position::Game;
use crate::engine::search::{
    self, Config, Control, Limits, STACK_SIZE, SearchFault, SearchResult, Searcher,
};
use crate::games::book::{Book, Learned, OpponentBook};

/// The search that the search thread runs: [`search::Searcher`], or a scripted search in tests.
pub(crate) trait Backend: Send {
    fn configure(&mut self, config: Config);

    fn new_game(&mut self);

    /// Returns and clears the faults (such as missing resources) reported by the last request.
    fn take_faults(&mut self) -> Vec<SearchFault> {
        Vec::new()
    }

    /// Searches until one of `limits` is reached or the search is stopped through `control`.
    fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
        send_event: &mut (dyn FnMut(&search::SearchEvent) + Send),
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
        send_event: &mut (dyn FnMut(&search::SearchEvent) + Send),
    ) -> SearchResult {
        Searcher::search(self, game, limits, control, send_event)
    }
}

/// Function that creates a search backend from a configuration. It is called again to replace a
/// backend that panicked.
pub(crate) type MakeBackend = Box<dyn Fn(Config) -> Box<dyn Backend> + Send>;

pub(crate) fn searcher() -> MakeBackend {
    Box::new(|config| Box::new(Searcher::on_large_stack(config)))
}

#[derive(Debug, Clone)]
pub(crate) enum BackgroundEvent {
    Progress {
        job: u64,
        event: search::SearchEvent,
    },
    Finished {
        job: u64,
        /// Contains no move if the search crashed.
        result: SearchResult,
    },
    Settled,
    /// A background task started by the owner of the engine, such as the console, has made
    /// progress.
    OwnerProgress,
    /// Message about an unavailable resource or a failure. Sent before the event that completes the
    /// request.
    Fault(String),
    Opened {
        number: u64,
        book: Result<Book, String>,
    },
    OpponentBookLoaded {
        number: u64,
        opponent_book: Result<OpponentBook, String>,
    },
    Kept,
    Learned {
        number: u64,
        /// Contents of the learning file, or `None` if the file is empty or missing.
        learned: Option<Learned>,
    },
}

enum SearchRequest {
    Configure(Box<Config>),
    NewGame,
    Search { job: u64, game: Box<Game>, limits: Limits, control: Control },
}

/// Handle to the search thread. Dropping it shuts down the thread without waiting for it to exit.
pub(crate) struct SearchThread {
    orders: Sender<SearchRequest>,
    event_sender: Sender<BackgroundEvent>,
    background_events: Queue<BackgroundEvent>,
    jobs: u64,
    unsettled: usize,
}

impl SearchThread {
    pub(crate) fn start(make: MakeBackend, config: Config) -> io::Result<Self> {
        let (orders, inbox) = unbounded();
        let (event_sender, background_events) = unbounded();
        let (own_sender, background_events) = queue(event_sender.clone(), background_events);
        let builder = thread::Builder::new().name("search".to_owned()).stack_size(STACK_SIZE);
        let made_with = config.clone();
        builder.spawn(move || work(&make, made_with, &inbox, &own_sender))?;
        let mut worker =
            SearchThread { orders, event_sender, background_events, jobs: 0, unsettled: 0 };
        // The thread creates the backend before it handles this request, so the engine is not
        // settled until the backend exists.
        worker.configure(config);
        Ok(worker)
    }

    pub(crate) fn background_events(&self) -> &Queue<BackgroundEvent> {
        &self.background_events
    }

    pub(crate) fn event_sender(&self) -> Sender<BackgroundEvent> {
        self.event_sender.clone()
    }

    pub(crate) fn note(&mut self, background_event: &BackgroundEvent) {
        if matches!(background_event, BackgroundEvent::Settled) {
            self.unsettled = self.unsettled.saturating_sub(1);
        }
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.unsettled == 0
    }

    pub(crate) fn configure(&mut self, config: Config) {
        self.settle(SearchRequest::Configure(Box::new(config)));
    }

    pub(crate) fn new_game(&mut self) {
        self.settle(SearchRequest::NewGame);
    }

    fn settle(&mut self, order: SearchRequest) {
        if self.orders.send(order).is_ok() {
            self.unsettled += 1;
        }
    }

    pub(crate) fn search(&mut self, game: Game, limits: Limits, control: Control) -> u64 {
        self.jobs += 1;
        let order = SearchRequest::Search { job: self.jobs, game: Box::new(game), limits, control };
        let _ = self.orders.send(order);
        self.jobs
    }
}

fn work(
    make: &MakeBackend,
    mut config: Config,
    orders: &Receiver<SearchRequest>,
    event_sender: &DirectSender<BackgroundEvent>,
) {
    let mut backend = create_backend(make, &config);
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
        let done = done.unwrap_or_else(|_| empty_result(&order));
        let send_event = |fault| {
            let _ = event_sender.send(BackgroundEvent::Fault(fault));
        };
        if panicked || is_without_move(&order, &done) {
            send_event("the search has crashed and was restarted".to_owned());
            backend = create_backend(make, &config);
        } else {
            backend.take_faults().iter().map(SearchFault::to_string).for_each(send_event);
        }
        let _ = event_sender.send(done);
    }
}

/// Creates a backend. Falls back to the default configuration if the user's configuration causes a
/// panic.
fn create_backend(make: &MakeBackend, config: &Config) -> Box<dyn Backend> {
    let made = catch_unwind(AssertUnwindSafe(|| make(config.clone())));
    made.unwrap_or_else(|_| make(Config::default()))
}

fn is_without_move(order: &SearchRequest, background_event: &BackgroundEvent) -> bool {
    match (order, background_event) {
        (SearchRequest::Search { game, .. }, BackgroundEvent::Finished { result, .. }) => {
            result.best.is_none() && !game.position().has_no_moves()
        }
        _ => false,
    }
}

fn empty_result(order: &SearchRequest) -> BackgroundEvent {
    match order {
        SearchRequest::Search { job, .. } => {
            BackgroundEvent::Finished { job: *job, result: SearchResult::default() }
        }
        SearchRequest::Configure(_) | SearchRequest::NewGame => BackgroundEvent::Settled,
    }
}
