//! Long work for clients: so much at once, one piece for each client, and ended when nobody wants it any
//! more.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use super::limits::{MAX_CLIENT_NAME, SEARCH_BACKLOG};
use super::query::Query;
use super::refusal::Refusal;
use crate::files::in_words;
use crate::search::STACK_SIZE;
use crate::suite::Switch;

/// How long a client waits for the search of another to make room, its own earlier one above all.
const PATIENCE: Duration = Duration::from_secs(2);

/// Who searches: the address, and the name that a page has given itself.
pub(crate) type Client = (IpAddr, String);

/// The name that a page has given itself.
///
/// # Errors
/// If it is too long.
pub(crate) fn client_name(query: &mut Query) -> Result<String, Refusal> {
    let name = query.text("client").unwrap_or_default();
    match name.len() <= MAX_CLIENT_NAME {
        true => Ok(name),
        false => Err(Refusal::bad(format!("client: at most {MAX_CLIENT_NAME} bytes"))),
    }
}

/// All searches of a kind that run.
#[derive(Debug)]
pub(crate) struct Searches {
    room: Arc<Semaphore>,
    most: usize,
    running: Mutex<HashMap<Client, (u64, Switch)>>,
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

    fn running(&self) -> MutexGuard<'_, HashMap<Client, (u64, Switch)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many run.
    pub(crate) fn count(&self) -> usize {
        self.running().len()
    }

    /// Starts a search on a thread of its own; what it tells comes out of the channel, whose end stops
    /// it, and in the end what it returns. An earlier one of the same client ends.
    ///
    /// # Errors
    /// If too many run.
    pub(crate) async fn start<T: Send + 'static>(
        self: &Arc<Self>,
        client: Client,
        time: Duration,
        closing: watch::Receiver<bool>,
        search: impl FnOnce(&Switch, &mpsc::Sender<T>) -> T + Send + 'static,
    ) -> Result<mpsc::Receiver<T>, Refusal> {
        if let Some((_, earlier)) = self.running().get(&client) {
            earlier.stop();
        }
        let waiting = tokio::time::timeout(PATIENCE, Arc::clone(&self.room).acquire_owned());
        let Ok(Ok(permit)) = waiting.await else {
            let most = self.most;
            let runs = if most == 1 { "search of this kind runs" } else { "searches run" };
            return Err(Refusal::busy(format!("{most} {runs} already: try again soon")));
        };
        let switch = Switch::default();
        let number = self.started.fetch_add(1, Relaxed);
        // Whoever came in between has begun a search of its own.
        if let Some((_, earlier)) = self.running().insert(client.clone(), (number, switch.clone()))
        {
            earlier.stop();
        }
        let ticket = Ticket { searches: Arc::clone(self), client, number, _permit: permit };
        let (sender, receiver) = mpsc::channel(SEARCH_BACKLOG);
        let (done, is_done) = oneshot::channel();
        tokio::spawn(stop_in_time(switch.clone(), time, sender.clone(), is_done, closing));
        let run = move || {
            let last = search(&switch, &sender);
            // Whoever reads slowly keeps nobody else from searching.
            drop((ticket, done));
            let _ = sender.blocking_send(last);
        };
        let started = thread::Builder::new().stack_size(STACK_SIZE).spawn(run);
        started.map_err(|error| {
            Refusal::busy(format!("no search can be started: {}", in_words(&error)))
        })?;
        Ok(receiver)
    }
}

/// Room for one search, given back at its end.
#[derive(Debug)]
struct Ticket {
    searches: Arc<Searches>,
    client: Client,
    number: u64,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut running = self.searches.running();
        if running.get(&self.client).is_some_and(|(number, _)| *number == self.number) {
            running.remove(&self.client);
        }
    }
}

/// Stops a search after its time, when nobody listens any more, or when the server ends.
async fn stop_in_time<T>(
    switch: Switch,
    time: Duration,
    sender: mpsc::Sender<T>,
    is_done: oneshot::Receiver<()>,
    mut closing: watch::Receiver<bool>,
) {
    tokio::select! {
        () = sender.closed() => {}
        () = tokio::time::sleep(time) => {}
        _ = closing.wait_for(|&is_closing| is_closing) => {}
        _ = is_done => {}
    }
    switch.stop();
}
