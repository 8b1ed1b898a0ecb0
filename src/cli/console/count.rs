//! Counting moves beside the conversation, which can end it at any time.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use crossbeam::channel::{Receiver, Sender, TryRecvError, unbounded};

use super::Console;
use super::text::failed;
use crate::cli::perft::DEEPEST;
use crate::engine::{Flow, News};
use crate::position::{Move, Position, perft_until};

/// A count that is going on.
pub(super) struct PerftCount {
    stop: Arc<AtomicBool>,
    /// What is below each first move, as it comes to be known.
    counted: Receiver<(Move, u64)>,
    nodes: u64,
    began: Instant,
    /// Whether the time is to be told.
    timed: bool,
}

impl PerftCount {
    /// Begins to count on a thread of its own, which adds to the news whenever it has come further.
    fn begin(position: Position, depth: u32, timed: bool, news: Sender<News>) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, counted) = unbounded();
        let stopped = Arc::clone(&stop);
        thread::Builder::new().spawn(move || {
            for mv in position.legal_moves().iter() {
                let Some(nodes) = perft_until(&position.play(mv), depth - 1, &stopped) else {
                    break;
                };
                let _ = sender.send((mv, nodes));
                let _ = news.send(News::Aside);
            }
            drop(sender);
            let _ = news.send(News::Aside);
        })?;
        Ok(PerftCount { stop, counted, nodes: 0, began: Instant::now(), timed })
    }
}

impl Console {
    /// Begins to count the moves to a depth; `timed` tells how long it took.
    pub(super) fn perft(&mut self, depth: &str, timed: bool) -> io::Result<Flow> {
        let depth = depth.parse().ok().filter(|depth| (1..=DEEPEST).contains(depth));
        let depth = depth.ok_or_else(|| failed(format!("expected a depth from 1 to {DEEPEST}")))?;
        if self.count.is_some() {
            return Err(failed("I am counting already; Ctrl-C ends it"));
        }
        let (position, news) = (*self.position(), self.engine.outbox());
        let count = PerftCount::begin(position, depth, timed, news);
        self.count = Some(count.map_err(|error| failed(format!("cannot count: {error}")))?);
        self.tell("I count; Ctrl-C ends it.")
    }

    /// Ends the count that is going on; tells whether there was one.
    pub(super) fn stop_count(&self) -> bool {
        self.count.iter().for_each(|count| count.stop.store(true, Relaxed));
        self.count.is_some()
    }

    /// Tells what has been counted; whether the count has ended with it.
    pub(super) fn tell_count(&mut self) -> io::Result<bool> {
        let Some(count) = &mut self.count else { return Ok(false) };
        loop {
            match count.counted.try_recv() {
                Ok((mv, nodes)) => {
                    count.nodes += nodes;
                    writeln!(self.out, "{mv} {nodes}")?;
                }
                Err(TryRecvError::Empty) => return Ok(false),
                Err(TryRecvError::Disconnected) => break,
            }
        }
        let Some(PerftCount { stop, nodes, began, timed, .. }) = self.count.take() else {
            return Ok(false);
        };
        let rest = if stop.load(Relaxed) { " so far" } else { "" };
        writeln!(self.out, "{nodes} nodes{rest}")?;
        if timed {
            writeln!(self.out, "{:.2} seconds", began.elapsed().as_secs_f64())?;
        }
        Ok(true)
    }
}
