//! Pings, which are answered once all earlier requests are complete.
//!
//! A ping while the engine thinks is answered after its move. Any other is answered as soon as the
//! requests before it are complete, and always before the effects of later ones: xboard drops a
//! move that comes while it waits for the answer, and the game would hang.

/// Waiting pings, in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Pings {
    /// Due once all requests are complete.
    due: Vec<u64>,
    /// Due once the engine has moved, too.
    after_move: Vec<u64>,
}

impl Pings {
    /// Adds a ping; `thinking` is whether the engine is thinking.
    pub(super) fn add(&mut self, number: u64, thinking: bool) {
        if thinking { &mut self.after_move } else { &mut self.due }.push(number);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty() && self.after_move.is_empty()
    }

    /// Returns the pings to answer now, given whether the engine is `thinking` and all requests are
    /// complete (`settled`).
    pub(super) fn take_due(&mut self, thinking: bool, settled: bool) -> Vec<u64> {
        if !thinking {
            self.due.append(&mut self.after_move);
        }
        if settled { std::mem::take(&mut self.due) } else { Vec::new() }
    }
}
