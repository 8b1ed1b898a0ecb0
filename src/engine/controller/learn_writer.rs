//! The thread that reads and writes the learning file. It is separate so that a slow disk does not
//! cost the engine time on its clock.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, unbounded};

use crate::games::book::{LearnFile, Learned, Row, Stamp, stamp};

use super::worker::BackgroundEvent;

/// Maximum time between syncs of the file to disk during a game. This limits how much a power
/// failure can destroy.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// Maximum number of rows kept in memory while the file cannot be written. This is enough for a
/// full day of games.
const MAX_WAITING: usize = 10_000;

enum WriteRequest {
    /// Append these rows to the file. If `ends_game` is true, also sync the file to disk.
    Keep { rows: Vec<Row>, ends_game: bool },
    /// Read the file and send its contents, tagged with this request number.
    Read(u64),
}

/// Handle to the writer thread. Dropping it blocks until all rows are written and synced.
pub(super) struct LearnWriter {
    orders: Option<Sender<WriteRequest>>,
    thread: Option<JoinHandle<()>>,
}

impl LearnWriter {
    /// Starts a writer thread for the file at `path`. The thread reports failures as
    /// [`BackgroundEvent::Fault`].
    pub(super) fn start(path: &str, event_sender: Sender<BackgroundEvent>) -> io::Result<Self> {
        let (orders, inbox) = unbounded();
        let path = PathBuf::from(path);
        let builder = thread::Builder::new().name("learning".to_owned());
        let thread = builder.spawn(move || WriterThread::new(&path, event_sender).work(&inbox))?;
        Ok(LearnWriter { orders: Some(orders), thread: Some(thread) })
    }

    pub(super) fn keep(&self, rows: Vec<Row>, ends_game: bool) {
        self.give(WriteRequest::Keep { rows, ends_game });
    }

    /// Requests the file's contents, which arrive as [`BackgroundEvent::Learned`] with the same
    /// `number`.
    pub(super) fn read(&self, number: u64) {
        self.give(WriteRequest::Read(number));
    }

    fn give(&self, order: WriteRequest) {
        // Sending cannot fail, because the thread runs until the sender is dropped.
        if let Some(orders) = &self.orders {
            let _ = orders.send(order);
        }
    }
}

impl Drop for LearnWriter {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct WriterThread<'a> {
    path: &'a Path,
    event_sender: Sender<BackgroundEvent>,
    file: Option<LearnFile>,
    waiting: Vec<Row>,
    synced: Instant,
    complained: bool,
    learned: Option<Learned>,
    read: Option<Stamp>,
}

impl<'a> WriterThread<'a> {
    fn new(path: &'a Path, event_sender: Sender<BackgroundEvent>) -> Self {
        let mut state = WriterThread {
            path,
            event_sender,
            file: None,
            waiting: Vec::new(),
            synced: Instant::now(),
            complained: false,
            learned: None,
            read: None,
        };
        let opened = LearnFile::open(path);
        state.file = opened.map_err(|error| state.report_fault(&error.to_string())).ok();
        state
    }

    fn report_fault(&mut self, fault: &str) {
        if std::mem::replace(&mut self.complained, true) {
            return log::warn!("{fault}");
        }
        let _ = self.event_sender.send(BackgroundEvent::Fault(fault.to_owned()));
    }

    fn work(mut self, orders: &Receiver<WriteRequest>) {
        loop {
            let is_unsynced = self.file.as_ref().is_some_and(LearnFile::is_unsynced);
            let order = match is_unsynced {
                true => orders.recv_deadline(self.synced + SYNC_EVERY),
                false => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match order {
                Ok(WriteRequest::Keep { rows, ends_game }) => {
                    self.waiting.extend(rows);
                    self.write();
                    if ends_game {
                        self.sync();
                    }
                    let _ = self.event_sender.send(BackgroundEvent::Kept);
                }
                Ok(WriteRequest::Read(number)) => self.send_contents(number),
                Err(RecvTimeoutError::Timeout) => self.sync(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // If earlier writes failed, try once more to write the remaining rows.
        self.write();
        self.sync();
    }

    fn write(&mut self) {
        let Some(file) = &mut self.file else { return self.waiting.clear() };
        if self.waiting.is_empty() {
            return;
        }
        match file.append(&self.waiting) {
            Ok(()) => {
                self.waiting.clear();
                self.complained = false;
            }
            Err(error) => {
                let surplus = self.waiting.len().saturating_sub(MAX_WAITING);
                self.waiting.drain(..surplus);
                self.report_fault(&error.to_string());
            }
        }
    }

    fn sync(&mut self) {
        self.synced = Instant::now();
        let synced = self.file.as_mut().map_or(Ok(()), LearnFile::sync);
        if let Err(error) = synced {
            self.report_fault(&error.to_string());
        }
    }

    fn send_contents(&mut self, number: u64) {
        let now = stamp(self.path);
        if now != self.read {
            let read = catch_unwind(AssertUnwindSafe(|| match now {
                Some(_) => Learned::read(self.path).map_err(|error| error.to_string()),
                None => Ok(None),
            }));
            match read.unwrap_or_else(|_| {
                Err("cannot read the learning file: the reader crashed".to_owned())
            }) {
                Ok(learned) => (self.learned, self.read) = (learned, now),
                Err(fault) => self.report_fault(&fault),
            }
        }
        let _ = self
            .event_sender
            .send(BackgroundEvent::Learned { number, learned: self.learned.clone() });
    }
}
