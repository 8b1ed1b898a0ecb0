//! Long work for clients: so much at once, one piece for each client, and ended on time, whether or not
//! its client reads.

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

/// How long a client waits for the search of another to make room, its own earlier one above all.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Who searches: the address, and the name that a page has given itself.
pub(crate) type Client = (IpAddr, String);

/// The name that a page has given itself.
///
/// # Errors
/// If it is too long.
pub(crate) fn client_name(query: &mut Query) -> Result<String, ApiError> {
    let name = query.text("client").unwrap_or_default();
    match name.len() <= MAX_CLIENT_NAME {
        true => Ok(name),
        false => Err(ApiError::bad_request(format!("client: at most {MAX_CLIENT_NAME} bytes"))),
    }
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ending {
    /// There was nothing left to do.
    Finished,
    /// Its time was over.
    Time,
    /// The same client asked again.
    Replaced,
    /// The client has gone.
    Left,
    /// The server ends.
    Closing,
}

/// Stops a search, and keeps why.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    switch: Switch,
    ending: Arc<OnceLock<Ending>>,
}

impl Stop {
    /// Stops the search; the first reason counts.
    fn stop(&self, why: Ending) {
        let _ = self.ending.set(why);
        self.switch.stop();
    }

    /// What stops the search.
    pub(crate) fn switch(&self) -> &Switch {
        &self.switch
    }

    /// Why the search has ended, asked when it has.
    pub(crate) fn ending(&self) -> Ending {
        self.ending.get().copied().unwrap_or(Ending::Finished)
    }
}

/// All searches of a kind that run.
#[derive(Debug)]
pub(crate) struct Searches {
    room: Arc<Semaphore>,
    most: usize,
    running: Mutex<HashMap<Client, (u64, Stop)>>,
    started: AtomicU64,
}

impl Searches {
    /// None yet, and no more than `most` at once.
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

    /// How many run.
    pub(crate) fn count(&self) -> usize {
        self.running().len()
    }

    /// Starts a search on a thread of its own. What it sends comes out of the channel, and at the end
    /// what it returns; dropping the channel stops it. An earlier one of the same client ends. The
    /// search must not wait for room in the channel.
    ///
    /// # Errors
    /// If too many run.
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
        // Whoever came in between has begun a search of its own.
        if let Some((_, earlier)) = self.running().insert(client.clone(), (number, stop.clone())) {
            earlier.stop(Ending::Replaced);
        }
        let search_permit =
            SearchPermit { searches: Arc::clone(self), client, number, _permit: permit };
        let (sender, receiver) = mpsc::channel(SEARCH_BACKLOG + 1);
        // The last message has its place, however slowly the client reads.
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

/// Room for one search, given back at its end.
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

/// Stops a search after its time, when nobody listens any more, or when the server ends.
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
