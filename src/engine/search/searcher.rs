//! The searcher, which owns the threads and the transposition table. It runs one search at a time.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crossbeam::channel::{Receiver, Sender, bounded, unbounded};
use crossbeam::sync::WaitGroup;

use super::config::Config;
use super::control::Control;
use super::job::{Job, PersistentState};
use super::limits::Limits;
use super::memory_limit::{STACK_SIZE, THREAD_HEAP, has_room};
use super::observe::Observer;
use super::report::{SearchEvent, SearchFault, SearchResult};
use super::table::TranspositionTable;
use super::trace;
use super::worker::{Listener, ThreadData, Worker};
use crate::chess::position::Game;
use crate::engine::tablebase::Tables;

/// Searches positions, one at a time.
///
/// Each search runs on a new thread with a sufficiently large stack. Helper threads, the
/// transposition table and the histories persist between searches.
pub struct Searcher {
    /// The configuration as requested. The searcher may have fewer threads or less memory.
    config: Config,
    persistent: PersistentState,
    data: ThreadData,
    helpers: Vec<Helper>,
    faults: Vec<SearchFault>,
    /// Number of cores to use if the configuration does not specify one. Cached, because querying
    /// the system takes as long as searching fifty nodes.
    cores: usize,
    /// Whether searches run on the calling thread, which must then have a stack of [`STACK_SIZE`]
    /// bytes.
    searches_on_caller: bool,
}

struct Task {
    job: Arc<Job>,
    observer: Option<Box<dyn Observer>>,
    /// The helper drops this when it has completed its task. The main thread waits until all
    /// helpers have done so.
    group: WaitGroup,
}

struct Helper {
    tasks: Option<Sender<Task>>,
    handle: Option<JoinHandle<()>>,
}

impl Searcher {
    /// Creates a searcher with an empty transposition table and idle helper threads.
    ///
    /// If any resources are unavailable, [`Searcher::take_faults`] reports them.
    pub fn new(config: Config) -> Self {
        let mut searcher = Searcher {
            persistent: PersistentState::new(config.memory_mb),
            data: ThreadData::new(),
            helpers: Vec::new(),
            faults: Vec::new(),
            cores: config.cores(),
            searches_on_caller: false,
            config,
        };
        searcher.check_memory();
        searcher.start_helpers();
        searcher
    }

    /// Creates a searcher that runs on the calling thread.
    ///
    /// This avoids starting a thread, which takes as long as searching a few dozen nodes. The
    /// calling thread must have a stack of [`STACK_SIZE`] bytes.
    pub(crate) fn on_large_stack(config: Config) -> Self {
        Searcher { searches_on_caller: true, ..Searcher::new(config) }
    }

    /// Applies a new configuration to subsequent searches.
    ///
    /// If the memory size changes, the table is replaced, unless there is not enough memory. If the
    /// evaluation changes, everything learned in earlier searches is discarded.
    /// [`Searcher::take_faults`] reports unavailable resources.
    pub fn configure(&mut self, config: Config) {
        let old = std::mem::replace(&mut self.config, config);
        if old.threads != self.config.threads {
            self.start_helpers();
        }
        if old.memory_mb != self.config.memory_mb {
            self.resize();
        }
        if old.evaluation != self.config.evaluation {
            self.new_game();
        }
    }

    /// Returns the configuration as requested. The searcher may have fewer threads or less memory.
    pub fn config(&self) -> &Config {
        &self.config
    }

    fn resize(&mut self) {
        let megabytes = self.config.memory_mb;
        let more = megabytes.saturating_sub(self.persistent.table.megabytes());
        if TranspositionTable::has_room(more) {
            // The old table is freed first, because there may not be enough memory for both tables.
            self.persistent.table = Arc::new(TranspositionTable::new(0));
            self.persistent.table = Arc::new(TranspositionTable::new(megabytes));
        }
        self.check_memory();
    }

    fn check_memory(&mut self) {
        let (wanted, kept) = (self.config.memory_mb, self.persistent.table.megabytes());
        if kept != wanted {
            self.faults.push(SearchFault::Memory { wanted, kept });
        }
    }

    /// Starts or stops helpers to match the configured number of threads, as far as memory allows.
    fn start_helpers(&mut self) {
        let wanted = self.config.threads.max(1);
        self.helpers.truncate(wanted - 1);
        while self.threads() < wanted {
            let Some(helper) = Helper::start(self.threads()) else { break };
            self.helpers.push(helper);
        }
        let searching = self.threads();
        if searching < wanted {
            self.faults.push(SearchFault::Threads { wanted, searching });
        }
    }

    /// Returns and clears the faults recorded since the last call.
    pub fn take_faults(&mut self) -> Vec<SearchFault> {
        let damage = self.config.endgames.iter().flat_map(Tables::take_damage);
        self.faults.extend(damage.map(SearchFault::Endgames));
        std::mem::take(&mut self.faults)
    }

    /// Returns the number of search threads: the main thread and the helpers.
    pub fn threads(&self) -> usize {
        self.helpers.len() + 1
    }

    /// Discards everything learned in earlier searches.
    pub fn new_game(&mut self) {
        self.persistent.clear();
    }

    /// Searches the current position of `game` until a limit is reached or `control` stops the
    /// search.
    ///
    /// Calls `on_event` for each event. At log level `trace`, logs a trace of the search.
    pub fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
        on_event: &mut (dyn FnMut(&SearchEvent) + Send),
    ) -> SearchResult {
        if log::log_enabled!(log::Level::Trace) {
            return trace::logged(self, game, limits, control, on_event);
        }
        self.run(game, limits, control, Some(on_event), None)
    }

    /// Like [`Searcher::search`], but with one observer per thread, which is notified of every step
    /// of that thread.
    ///
    /// The search is much slower but returns the same result.
    pub fn search_observed(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
        on_event: &mut (dyn FnMut(&SearchEvent) + Send),
        observers: &mut dyn FnMut(usize) -> Box<dyn Observer>,
    ) -> SearchResult {
        self.run(game, limits, control, Some(on_event), Some(observers))
    }

    /// Like [`Searcher::search`], but sends no events, which would slow down short searches.
    pub fn search_without_events(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
    ) -> SearchResult {
        self.run(game, limits, control, None, None)
    }

    fn run(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
        listener: Option<Listener>,
        mut observers: Option<&mut dyn FnMut(usize) -> Box<dyn Observer>>,
    ) -> SearchResult {
        self.persistent.table.new_search();
        // Use a single thread with a handicap. Otherwise, its deliberate mistakes would not be
        // reproducible.
        let helpers_wanted = if limits.handicap.is_none() { self.helpers.len() } else { 0 };
        let cores = Some(self.config.cores.unwrap_or(self.cores));
        let config = Config { threads: helpers_wanted + 1, cores, ..self.config.clone() };
        let is_reported = listener.is_some();
        let job = Job::new(game, limits, control, config, self.persistent.clone(), is_reported);
        let job = Arc::new(job);
        let helpers = WaitGroup::new();
        let mut observer = |id| observers.as_mut().map(|observers| observers(id));
        for (helper, id) in self.helpers[..helpers_wanted].iter().zip(1..) {
            let (job, group) = (Arc::clone(&job), helpers.clone());
            helper.search(Task { job, observer: observer(id), group });
        }
        let observer = observer(0);
        let data = &mut self.data;
        let finish = Finish(&job);
        let think = || {
            let _finish = finish;
            let listener = listener.map(|listener| listener as Listener);
            match observer {
                None => Worker::new(0, &job, data, listener).think(),
                Some(observer) => Worker::watched(0, &job, data, listener, observer).think(),
            }
        };
        let result = match self.searches_on_caller {
            true => catch_panic(0, &job, think),
            false => on_new_thread(&job, think),
        };
        let mut result = result.unwrap_or_else(|| {
            self.data = ThreadData::new();
            job.result_after_panic()
        });
        // Once the wait ends, no helper has a reference to the job.
        helpers.wait();
        result.sharing = job.sharing();
        if helpers_wanted > 0 {
            log::debug!("{} nodes in {:?}: {:?}", result.nodes, result.elapsed, result.sharing);
        }
        self.faults.extend(std::iter::from_fn(|| job.crashes.pop()));
        result
    }
}

impl Helper {
    /// Starts a helper thread. Returns `None` if the thread cannot be started or would leave too
    /// little memory.
    fn start(id: usize) -> Option<Self> {
        if !has_room(STACK_SIZE + THREAD_HEAP) {
            return None;
        }
        let (tasks, inbox) = unbounded();
        let (ready, is_ready) = bounded(1);
        let started = thread::Builder::new()
            .name(format!("search-{id}"))
            .stack_size(STACK_SIZE)
            .spawn(move || run_helper(id, &inbox, &ready));
        let handle = started
            .inspect_err(|error| log::warn!("cannot start search thread {id}: {error}"))
            .ok()?;
        let helper = Helper { tasks: Some(tasks), handle: Some(handle) };
        // A thread needs some memory beyond its stack, so check the available memory again after
        // starting it.
        (is_ready.recv().is_ok() && has_room(0)).then_some(helper)
    }

    fn search(&self, task: Task) {
        if let Some(tasks) = &self.tasks
            && tasks.send(task).is_err()
        {
            log::error!("a search thread has ended unexpectedly");
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(handle) = self.handle.take()
            && handle.join().is_err()
        {
            log::error!("a search thread has panicked");
        }
    }
}

/// Releases the helper threads when the main thread leaves the search, even if it panics.
struct Finish<'a>(&'a Job);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.pool.finish();
    }
}

fn run_helper(id: usize, inbox: &Receiver<Task>, ready: &Sender<()>) {
    let mut data = ThreadData::new();
    let _ = ready.send(());
    for Task { job, observer, group } in inbox {
        let help = || match observer {
            None => Worker::new(id, &job, &mut data, None).help(),
            Some(observer) => Worker::watched(id, &job, &mut data, None, observer).help(),
        };
        if catch_panic(id, &job, help).is_none() {
            data = ThreadData::new();
        }
        drop(job);
        drop(group);
    }
}

/// Runs one thread's part of a search and catches panics. A panic ends the search but not the
/// thread, and `None` is returned.
fn catch_panic<R>(thread: usize, job: &Job, part: impl FnOnce() -> R) -> Option<R> {
    let done = catch_unwind(AssertUnwindSafe(part));
    done.inspect_err(|panic| end_early(thread, job, panic_message(panic.as_ref()))).ok()
}

fn end_early(thread: usize, job: &Job, why: String) {
    job.control.stop();
    job.crashes.push(SearchFault::Crash { thread, why });
}

/// Runs the main thread's part of a search (thread 0) on a new thread. Returns `None` if the thread
/// cannot be started or panics.
fn on_new_thread<R: Send>(job: &Job, part: impl FnOnce() -> R + Send) -> Option<R> {
    let builder = thread::Builder::new().name("search".to_owned()).stack_size(STACK_SIZE);
    thread::scope(|scope| match builder.spawn_scoped(scope, || catch_panic(0, job, part)) {
        Ok(thread) => thread.join().ok()?,
        Err(error) => {
            end_early(0, job, error.to_string());
            None
        }
    })
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref().copied()).unwrap_or("unknown reason").to_owned()
}
