//! Runs perft in the background. The count can be stopped at any time.

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use crossbeam::channel::{Receiver, Sender, TryRecvError, unbounded};

use super::worker::BackgroundEvent;
use crate::chess::position::{Move, Position, perft_until};

/// Valid depths, in plies. The limit prevents a stack overflow. Higher depths are not needed,
/// because even a count to a few dozen plies would never finish.
pub(crate) const PERFT_DEPTHS: RangeInclusive<u32> = 1..=99;

pub(crate) struct PerftCount {
    stop: Arc<AtomicBool>,
    counted: Receiver<(Move, u64)>,
    nodes: u64,
}

pub(crate) struct Counted {
    pub(crate) moves: Vec<(Move, u64)>,
    pub(crate) end: Option<CountEnd>,
}

pub(crate) struct CountEnd {
    pub(crate) nodes: u64,
    pub(crate) stopped: bool,
}

impl PerftCount {
    /// Starts a count on a separate thread, which sends an event whenever there is progress.
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
        Ok(PerftCount { stop, counted, nodes: 0 })
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

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
        let nodes = self.nodes;
        let stopped = self.stop.load(Relaxed);
        Counted { moves, end: Some(CountEnd { nodes, stopped }) }
    }
}
