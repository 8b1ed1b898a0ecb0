//! Counting moves beside the conversation, which can end it at any time.

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, TryRecvError, unbounded};

use super::worker::BackgroundEvent;
use crate::chess::position::{Move, Position, perft_until};

/// The depths that can be counted to, in plies. No count beyond some dozen ever ends; the last one
/// keeps the stack from overflowing meanwhile.
pub(crate) const PERFT_DEPTHS: RangeInclusive<u32> = 1..=99;

/// A count that is going on.
pub(crate) struct PerftCount {
    stop: Arc<AtomicBool>,
    /// What is below each first move, as it comes to be known.
    counted: Receiver<(Move, u64)>,
    nodes: u64,
    began: Instant,
}

/// How far a count has come since this was last asked.
pub(crate) struct Counted {
    /// First moves, with what is below each.
    pub(crate) moves: Vec<(Move, u64)>,
    /// The sum, if the count has ended.
    pub(crate) end: Option<CountEnd>,
}

/// What a count came to.
pub(crate) struct CountEnd {
    /// The leaves below all first moves that were told.
    pub(crate) nodes: u64,
    /// Whether it was ended before it was complete.
    pub(crate) stopped: bool,
    /// How long it took.
    pub(crate) elapsed: Duration,
}

impl PerftCount {
    /// Begins to count on a thread of its own, which adds to the news whenever it has come further.
    ///
    /// # Errors
    /// If the system starts no thread.
    pub(crate) fn begin(
        position: Position,
        depth: u32,
        event_sender: Sender<BackgroundEvent>,
    ) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, counted) = unbounded();
        let stopped = Arc::clone(&stop);
        thread::Builder::new().spawn(move || {
            for mv in position.legal_moves().iter() {
                let Some(nodes) = perft_until(&position.play(mv), depth - 1, &stopped) else {
                    break;
                };
                let _ = sender.send((mv, nodes));
                let _ = event_sender.send(BackgroundEvent::OwnerProgress);
            }
            drop(sender);
            let _ = event_sender.send(BackgroundEvent::OwnerProgress);
        })?;
        Ok(PerftCount { stop, counted, nodes: 0, began: Instant::now() })
    }

    /// Ends the count soon.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// What has been counted since this was last asked.
    pub(crate) fn take(&mut self) -> Counted {
        let mut moves = Vec::new();
        loop {
            match self.counted.try_recv() {
                Ok((mv, nodes)) => {
                    self.nodes += nodes;
                    moves.push((mv, nodes));
                }
                Err(TryRecvError::Empty) => return Counted { moves, end: None },
                Err(TryRecvError::Disconnected) => break,
            }
        }
        let (nodes, elapsed) = (self.nodes, self.began.elapsed());
        let stopped = self.stop.load(Relaxed);
        Counted { moves, end: Some(CountEnd { nodes, stopped, elapsed }) }
    }
}
