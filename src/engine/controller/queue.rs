//! Queues of messages for a frontend, whose senders may handle the messages themselves.

use std::sync::{Arc, OnceLock};

use crossbeam::channel::{Receiver, SendError, Sender};

/// Handles a message on the current thread. Returns the message if the frontend is in use.
pub(super) type Handler<T> = Box<dyn Fn(T) -> Result<(), T> + Send + Sync>;

/// The receiving end of a queue of messages for a frontend.
#[derive(Clone)]
pub(crate) struct Queue<T> {
    pub(crate) messages: Receiver<T>,
    handler: Arc<OnceLock<Handler<T>>>,
}

/// The sending end of a [`Queue`], for threads that may run the frontend.
pub(crate) struct DirectSender<T> {
    sender: Sender<T>,
    handler: Arc<OnceLock<Handler<T>>>,
}

pub(super) fn queue<T>(sender: Sender<T>, messages: Receiver<T>) -> (DirectSender<T>, Queue<T>) {
    let handler = Arc::new(OnceLock::new());
    (DirectSender { sender, handler: Arc::clone(&handler) }, Queue { messages, handler })
}

impl<T> DirectSender<T> {
    /// Lets the frontend handle a message on the current thread, after all earlier messages. If
    /// another thread is using the frontend, adds the message to the queue.
    pub(super) fn send(&self, message: T) -> Result<(), SendError<T>> {
        let unhandled = match self.handler.get() {
            Some(handle) => handle(message).err(),
            None => Some(message),
        };
        unhandled.map_or(Ok(()), |message| self.sender.send(message))
    }
}

impl<T> Queue<T> {
    /// Sets the function that handles the messages of [`DirectSender`]s. A queue has at most one.
    pub(super) fn handle_directly(&self, handler: Handler<T>) {
        let _ = self.handler.set(handler);
    }
}
