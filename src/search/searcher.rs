//! The searcher: persistent threads, the transposition table, and one search at a time.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam::channel::{Receiver, Sender, bounded, unbounded};
use thiserror::Error;

use super::book_probe::BookSearch;
use super::control::Control;
use super::limits::{Limits, ResearchOrder};
use super::report::{Event, SearchResult};
use super::room::has_room;
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

/// What the system does not give, or what broke. The searcher goes on with what it has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// There is no memory for a larger table.
    #[error("there is no memory for a transposition table of {wanted} MB: it has {kept} MB")]
    Memory {
        /// The megabytes asked for.
        wanted: usize,
        /// Those of the table there is.
        kept: usize,
    },
    /// Not all threads could be started.
    #[error("the system starts no more than {searching} of {wanted} search threads: those search")]
    Threads {
        /// The threads asked for.
        wanted: usize,
        /// Those that there are.
        searching: usize,
    },
    /// A search thread has panicked; the search ended with what it had found by then.
    #[error(
        "search thread {thread} has crashed ({why}): the search ends early, the next is whole again"
    )]
    Crash {
        /// Its number, from 0.
        thread: usize,
        /// What it said.
        why: String,
    },
}

/// Searches positions, one at a time. Its threads live as long as it does and sleep in between;
/// table and histories last from one search to the next.
pub struct Searcher {
    equipment: Equipment,
    /// None at all where the system starts none: then the thread that asks searches by itself.
    workers: Vec<Thread>,
    /// What that thread needs.
    memory: Option<Memory>,
    faults: Vec<Fault>,
}

struct Thread {
    jobs: Option<Sender<Arc<Job>>>,
    handle: Option<JoinHandle<()>>,
}

impl Searcher {
    /// A searcher with an empty table and its threads waiting, as far as the system gives them: see
    /// [`Searcher::take_faults`].
    pub fn new(options: Options) -> Self {
        let equipment = Equipment::new(options.memory_mb);
        let mut searcher =
            Searcher { equipment, workers: Vec::new(), memory: None, faults: Vec::new() };
        searcher.look_at_memory(options.memory_mb);
        searcher.set_threads(options.threads);
        searcher
    }

    /// A searcher as it is where the system starts no thread.
    #[cfg(test)]
    pub(super) fn without_threads() -> Self {
        let equipment = Equipment::new(1);
        Searcher { equipment, workers: Vec::new(), memory: None, faults: Vec::new() }
    }

    /// Replaces the transposition table by an empty one of at most `megabytes`. If there is no
    /// room for it, the old one stays as it is.
    pub fn set_memory(&mut self, megabytes: usize) {
        let more = megabytes.saturating_sub(self.equipment.table.megabytes());
        if Table::has_room(more) {
            // The old table goes first, so that both need not fit at once.
            self.equipment.table = Arc::new(Table::new(0));
            self.equipment.table = Arc::new(Table::new(megabytes));
        }
        self.look_at_memory(megabytes);
    }

    fn look_at_memory(&mut self, wanted: usize) {
        let kept = self.equipment.table.megabytes();
        if kept != wanted {
            self.faults.push(Fault::Memory { wanted, kept });
        }
    }

    /// Changes the number of search threads (at least 1), as far as the system starts them.
    pub fn set_threads(&mut self, threads: usize) {
        let wanted = threads.max(1);
        self.workers.truncate(wanted);
        while self.workers.len() < wanted {
            let Some(thread) = Thread::start(self.workers.len()) else { break };
            self.workers.push(thread);
        }
        let searching = self.threads();
        if searching < wanted {
            self.faults.push(Fault::Threads { wanted, searching });
        }
    }

    /// What has gone wrong since this was last asked.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.faults)
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
        self.workers.len().max(1)
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
        self.drain(&receiver, on_event)
    }

    /// As [`Searcher::search`], without events: they cost short searches a fifth of their time.
    pub fn search_silently(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
    ) -> SearchResult {
        let receiver = self.begin(game, limits, control, Told::Result);
        self.drain(&receiver, &mut |_| {})
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
        if self.workers.is_empty() {
            do_job(0, &job, self.memory.get_or_insert_with(Memory::new));
        }
        receiver
    }

    /// Passes events on until the channel is closed: by then all threads have let go of the job.
    fn drain(
        &mut self,
        receiver: &Receiver<Message>,
        on_event: &mut dyn FnMut(&Event),
    ) -> SearchResult {
        let mut result = SearchResult::default();
        for message in receiver {
            match message {
                Message::Event(event) => on_event(&event),
                Message::Done(done) => result = done,
                Message::Crashed { thread, why } => {
                    self.faults.push(Fault::Crash { thread, why });
                }
            }
        }
        result
    }
}

impl Thread {
    /// Starts a search thread and waits until it has all that it needs; `None` if the system does
    /// not give that, or nothing would be left for the others.
    fn start(id: usize) -> Option<Self> {
        if !has_room(STACK_SIZE) {
            return None;
        }
        let (jobs, inbox) = unbounded();
        let (ready, is_ready) = bounded(1);
        let started = std::thread::Builder::new()
            .name(format!("search-{id}"))
            .stack_size(STACK_SIZE)
            .spawn(move || live(id, &inbox, &ready));
        let handle = started.inspect_err(|error| log::warn!("search thread {id}: {error}")).ok()?;
        let thread = Thread { jobs: Some(jobs), handle: Some(handle) };
        // Memory may still be short, for a thread takes some besides its stack.
        (is_ready.recv().is_ok() && has_room(0)).then_some(thread)
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
fn live(id: usize, inbox: &Receiver<Arc<Job>>, ready: &Sender<()>) {
    let mut memory = Memory::new();
    let _ = ready.send(());
    for job in inbox {
        do_job(id, &job, &mut memory);
    }
}

/// One thread's part in a search, the whole of it for the first. Should it panic, the search ends
/// with what was found by then, and the thread lives on.
fn do_job(id: usize, job: &Job, memory: &mut Memory) {
    let done = catch_unwind(AssertUnwindSafe(|| {
        let mut worker = Worker::new(id, job, memory);
        if id == 0 {
            let _finish = Finish(job);
            Some(worker.think())
        } else {
            worker.help_until_done();
            None
        }
    }));
    let result = done.unwrap_or_else(|panic| {
        job.control.stop();
        *memory = Memory::new();
        let _ = job.messages.send(Message::Crashed { thread: id, why: words_of(panic.as_ref()) });
        (id == 0).then(|| job.last_words())
    });
    if let Some(result) = result {
        let _ = job.messages.send(Message::Done(result));
    }
}

/// What a panic says.
fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref().copied()).unwrap_or("for no known reason").to_owned()
}
