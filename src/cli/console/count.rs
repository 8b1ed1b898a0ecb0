//! Counts the leaves of the move tree (perft) in the background.

use std::io::{self, Write};

use super::Console;
use super::text::failed;
use crate::engine::controller::{Flow, PERFT_DEPTHS, PerftCount};
use crate::support::files::describe;

impl Console {
    pub(super) fn perft(&mut self, depth: &str) -> io::Result<Flow> {
        let depth = depth.parse().ok().filter(|depth| PERFT_DEPTHS.contains(depth));
        let most = PERFT_DEPTHS.end();
        let depth = depth.ok_or_else(|| failed(format!("expected a depth from 1 to {most}")))?;
        if self.count.is_some() {
            return Err(failed("I am counting already; Ctrl-C ends it"));
        }
        let count = PerftCount::begin(*self.position(), depth, self.engine.event_sender());
        let count = count.map_err(|error| failed(format!("cannot count: {}", describe(&error))))?;
        self.count = Some(count);
        self.print_text("I count; Ctrl-C ends it.")
    }

    /// Stops the count in progress, if any. Returns true if one was running.
    pub(super) fn stop_count(&self) -> bool {
        self.count.iter().for_each(PerftCount::stop);
        self.count.is_some()
    }

    pub(super) fn print_count(&mut self) -> io::Result<bool> {
        let Some(count) = &mut self.count else { return Ok(false) };
        let counted = count.take();
        for (mv, nodes) in counted.moves {
            writeln!(self.out, "{mv} {nodes}")?;
        }
        let Some(end) = counted.end else { return Ok(false) };
        let rest = if end.stopped { " so far" } else { "" };
        writeln!(self.out, "{} nodes{rest}", end.nodes)?;
        self.count = None;
        Ok(true)
    }
}
