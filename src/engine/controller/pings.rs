//! Pings, which are answered once all earlier requests are complete.
//!
//! A ping that arrives while the engine is thinking is answered after the engine's move. Any other
//! ping is answered before later requests take effect. Otherwise the engine might move before it
//! answers; xboard ignores moves while it waits for the answer to a ping, so the game would hang.

#[derive(Debug, Default)]
pub(super) struct Pings {
    /// Numbers of the pings to answer once all requests are complete.
    due: Vec<u64>,
    /// Numbers of the pings that arrived while the engine was thinking. They are answered once it
    /// has moved and all requests are complete.
    after_move: Vec<u64>,
}

impl Pings {
    pub(super) fn add(&mut self, number: u64, thinking: bool) {
        if thinking { &mut self.after_move } else { &mut self.due }.push(number);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty() && self.after_move.is_empty()
    }

    /// Returns the pings to answer now. `thinking` is true if the engine is thinking about its
    /// move, and `settled` if all requests are complete.
    pub(super) fn take_due(&mut self, thinking: bool, settled: bool) -> Vec<u64> {
        if !thinking {
            self.due.append(&mut self.after_move);
        }
        if settled { std::mem::take(&mut self.due) } else { Vec::new() }
    }
}
