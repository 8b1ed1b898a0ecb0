//! The searcher: persistent threads, the transposition table, and one search at a time.

use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam::channel::{Receiver, Sender, unbounded};

use super::book_probe::BookSearch;
use super::control::Control;
use super::limits::{Limits, ResearchOrder};
use super::report::{Event, SearchResult};
use super::table::Table;
use super::worker::{Audience, Equipment, Job, Memory, Message, Told, Worker};
use crate::book::Book;
use crate::eval::Evaluation;
use crate::position::Game;
use crate::tablebase::Tables;

/// Bytes of stack that a search needs: it recurses some hundred plies deep, each with its moves.
pub const STACK_SIZE: usize = 32 << 20;

/// What a searcher is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Size of the transposition table in megabytes.
    pub memory_mb: usize,
    /// Search threads, at least 1.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { memory_mb: 64, threads: 1 }
    }
}

/// Searches positions, one at a time. Its threads live as long as it does and sleep in between;
/// table and histories last from one search to the next.
pub struct Searcher {
    equipment: Equipment,
    workers: Vec<Thread>,
}

struct Thread {
    jobs: Option<Sender<Arc<Job>>>,
    handle: Option<JoinHandle<()>>,
}

impl Searcher {
    /// A searcher with an empty table and its threads waiting.
    pub fn new(options: Options) -> Self {
        let mut searcher =
            Searcher { equipment: Equipment::new(options.memory_mb), workers: Vec::new() };
        searcher.set_threads(options.threads);
        searcher
    }

    /// Replaces the transposition table by an empty one of at most `megabytes`.
    pub fn set_memory(&mut self, megabytes: usize) {
        // The old table goes first, so that both need not fit at once.
        self.equipment.table = Arc::new(Table::new(0));
        self.equipment.table = Arc::new(Table::new(megabytes));
    }

    /// Changes the number of search threads (at least 1).
    pub fn set_threads(&mut self, threads: usize) {
        self.workers.truncate(threads.max(1));
        for id in self.workers.len()..threads.max(1) {
            self.workers.push(Thread::spawn(id));
        }
    }

    /// Changes what judges positions. What was learnt with another is forgotten.
    pub fn set_evaluation(&mut self, evaluation: Evaluation) {
        if !self.equipment.evaluation.is(&evaluation) {
            self.equipment.evaluation = evaluation;
            self.new_game();
        }
    }

    /// Sets the endgame tables that are asked at the root and at every capture and pawn move.
    pub fn set_endgames(&mut self, tables: Option<Tables>) {
        self.equipment.tables = tables;
    }

    /// Sets the book that the tree is compared with, and what a match does.
    pub fn set_book(&mut self, book: Option<Book>, mode: BookSearch) {
        self.equipment.book = book.filter(|_| mode != BookSearch::Off).map(|book| (book, mode));
    }

    /// Sets how a reduced move that turns out better is searched again.
    pub fn set_research_order(&mut self, order: ResearchOrder) {
        self.equipment.research_order = order;
    }

    /// The number of search threads.
    pub fn threads(&self) -> usize {
        self.workers.len()
    }

    /// Forgets all that was learnt from earlier searches.
    pub fn new_game(&mut self) {
        self.equipment.forget();
    }

    /// Searches the current position of `game` until a limit is reached or `control` says stop,
    /// telling `on_event` on the way.
    pub fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
        on_event: &mut dyn FnMut(&Event),
    ) -> SearchResult {
        let receiver = self.begin(game, limits, control, Told::Everything);
        drain(&receiver, on_event)
    }

    /// As [`Searcher::search`], without events: they cost short searches a fifth of their time.
    pub fn search_silently(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
    ) -> SearchResult {
        let receiver = self.begin(game, limits, control, Told::Result);
        drain(&receiver, &mut |_| {})
    }

    fn begin(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
        told: Told,
    ) -> Receiver<Message> {
        self.equipment.table.new_search();
        let (messages, receiver) = unbounded();
        let audience = Audience { told, messages };
        let equipment = self.equipment.clone();
        let job = Job::new(game, limits, control, equipment, self.threads(), audience);
        let job = Arc::new(job);
        for worker in &self.workers {
            worker.search(Arc::clone(&job));
        }
        receiver
    }
}

/// Passes events on until the channel is closed: by then all threads have let go of the job.
fn drain(receiver: &Receiver<Message>, on_event: &mut dyn FnMut(&Event)) -> SearchResult {
    let mut result = SearchResult::default();
    for message in receiver {
        match message {
            Message::Event(event) => on_event(&event),
            Message::Done(done) => result = done,
        }
    }
    result
}

impl Thread {
    fn spawn(id: usize) -> Self {
        let (jobs, inbox) = unbounded();
        let handle = std::thread::Builder::new()
            .name(format!("search-{id}"))
            .stack_size(STACK_SIZE)
            .spawn(move || live(id, &inbox))
            .expect("the system can start a thread");
        Thread { jobs: Some(jobs), handle: Some(handle) }
    }

    fn search(&self, job: Arc<Job>) {
        if let Some(jobs) = &self.jobs
            && jobs.send(job).is_err()
        {
            log::error!("a search thread has died");
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(handle) = self.handle.take()
            && handle.join().is_err()
        {
            log::error!("a search thread has panicked");
        }
    }
}

/// Sends the helpers home when the main thread leaves the search, in whatever way.
struct Finish<'a>(&'a Job);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.splits.finish();
    }
}

/// The life of a search thread: it sleeps until a job comes.
fn live(id: usize, inbox: &Receiver<Arc<Job>>) {
    let mut memory = Memory::new();
    for job in inbox {
        let mut worker = Worker::new(id, &job, &mut memory);
        if id == 0 {
            let _finish = Finish(&job);
            let result = worker.think();
            let _ = job.messages.send(Message::Done(result));
        } else {
            worker.help_until_done();
        }
    }
}
