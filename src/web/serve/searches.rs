//! Long-running tasks ("searches") for clients. The number of tasks of each kind is limited, and
//! each client can run only one of each kind. Tasks end on time even if the client does not read
//! the results.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use super::api_error::ApiError;
use super::limits::{MAX_CLIENT_NAME, SEARCH_BACKLOG};
use super::query::Query;
use crate::engine::search::STACK_SIZE;
use crate::support::files::describe;
use crate::tools::suite::Switch;

/// How long a new search waits for another one to finish if the maximum number is already running.
/// Usually, the other one is the same client's previous search, which has already been asked to
/// stop.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Identifies a client by its IP address and the name chosen by its page.
pub(crate) type Client = (IpAddr, String);

pub(crate) fn client_name(query: &mut Query) -> Result<String, ApiError> {
    let name = query.text("client").unwrap_or_default();
    match name.len() <= MAX_CLIENT_NAME {
        true => Ok(name),
        false => Err(ApiError::bad_request(format!("client: at most {MAX_CLIENT_NAME} bytes"))),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ending {
    Finished,
    Time,
    /// There was no new search: the stored result of an earlier search was sufficient.
    Cached,
    /// The same client started another search.
    Replaced,
    Left,
    Closing,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    switch: Switch,
    ending: Arc<OnceLock<Ending>>,
}

impl Stop {
    /// Stops the search. Only the reason given by the first call is kept.
    fn stop(&self, why: Ending) {
        let _ = self.ending.set(why);
        self.switch.stop();
    }

    pub(crate) fn switch(&self) -> &Switch {
        &self.switch
    }

    /// Returns the reason why the search ended. The value is meaningful only after the search has
    /// ended.
    pub(crate) fn ending(&self) -> Ending {
        self.ending.get().copied().unwrap_or(Ending::Finished)
    }
}

#[derive(Debug)]
pub(crate) struct Searches {
    room: Arc<Semaphore>,
    most: usize,
    running: Mutex<HashMap<Client, (u64, Stop)>>,
    started: AtomicU64,
}

impl Searches {
    pub(crate) fn new(most: usize) -> Self {
        Searches {
            room: Arc::new(Semaphore::new(most)),
            most,
            running: Mutex::default(),
            started: AtomicU64::new(0),
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<Client, (u64, Stop)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count(&self) -> usize {
        self.running().len()
    }

    /// Starts a search on a separate thread, and stops the same client's earlier search. Returns a
    /// channel that receives the messages sent by the search, followed by its return value.
    /// Dropping the channel stops the search. The search must use non-blocking sends, so that it
    /// also ends if the client does not read.
    pub(crate) async fn start<T: Send + 'static>(
        self: &Arc<Self>,
        client: Client,
        time: Duration,
        closing: watch::Receiver<bool>,
        search: impl FnOnce(&Stop, &mpsc::Sender<T>) -> T + Send + 'static,
    ) -> Result<mpsc::Receiver<T>, ApiError> {
        if let Some((_, earlier)) = self.running().get(&client) {
            earlier.stop(Ending::Replaced);
        }
        let waiting = tokio::time::timeout(TIMEOUT, Arc::clone(&self.room).acquire_owned());
        let Ok(Ok(permit)) = waiting.await else {
            let most = self.most;
            let runs = if most == 1 { "search of this kind runs" } else { "searches run" };
            return Err(ApiError::unavailable(format!("{most} {runs} already: try again soon")));
        };
        let stop = Stop::default();
        let number = self.started.fetch_add(1, Relaxed);
        // While this request waited for a permit, another one from the same client may have started
        // a search.
        if let Some((_, earlier)) = self.running().insert(client.clone(), (number, stop.clone())) {
            earlier.stop(Ending::Replaced);
        }
        let search_permit =
            SearchPermit { searches: Arc::clone(self), client, number, _permit: permit };
        let (sender, receiver) = mpsc::channel(SEARCH_BACKLOG + 1);
        // Reserve a place for the last message, so that it can be sent even if the client is slow
        // to read.
        let place = sender.clone().try_reserve_owned();
        let place = place.map_err(|error| ApiError::unavailable(error.to_string()))?;
        let (done, is_done) = oneshot::channel();
        tokio::spawn(stop_in_time(stop.clone(), time, sender.clone(), is_done, closing));
        let run = move || {
            let last = search(&stop, &sender);
            drop((search_permit, done));
            place.send(last);
        };
        let started = thread::Builder::new().stack_size(STACK_SIZE).spawn(run);
        started.map_err(|error| {
            ApiError::unavailable(format!("no search can be started: {}", describe(&error)))
        })?;
        Ok(receiver)
    }
}

#[derive(Debug)]
struct SearchPermit {
    searches: Arc<Searches>,
    client: Client,
    number: u64,
    _permit: OwnedSemaphorePermit,
}

impl Drop for SearchPermit {
    fn drop(&mut self) {
        let mut running = self.searches.running();
        if running.get(&self.client).is_some_and(|(number, _)| *number == self.number) {
            running.remove(&self.client);
        }
    }
}

/// Stops a search when its time is up, its client disconnects, or the server stops. Returns early
/// if the search finishes first.
async fn stop_in_time<T>(
    stop: Stop,
    time: Duration,
    sender: mpsc::Sender<T>,
    is_done: oneshot::Receiver<()>,
    mut closing: watch::Receiver<bool>,
) {
    stop.stop(tokio::select! {
        () = sender.closed() => Ending::Left,
        () = tokio::time::sleep(time) => Ending::Time,
        _ = closing.wait_for(|&is_closing| is_closing) => Ending::Closing,
        _ = is_done => Ending::Finished,
    });
}
