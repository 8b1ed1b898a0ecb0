//! Pings: questions whether all that was asked before is done.
//!
//! A ping that comes while the engine thinks is answered after its move. Any other is answered as
//! soon as the orders before it are done, and in any case before what follows of later ones: xboard
//! drops a move that comes while it waits for the answer, and the game would hang.

/// Pings that wait, in the order they came in.
#[derive(Debug, Default)]
pub(super) struct Pings {
    /// Due once all orders are done.
    due: Vec<u64>,
    /// Due once the engine has moved, too.
    after_move: Vec<u64>,
}

impl Pings {
    /// Takes a ping in that comes while the engine is `thinking`, or is not.
    pub(super) fn add(&mut self, number: u64, thinking: bool) {
        if thinking { &mut self.after_move } else { &mut self.due }.push(number);
    }

    /// Whether none waits to be answered.
    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty() && self.after_move.is_empty()
    }

    /// Those that are to be answered now, with the engine `thinking` or not, and all orders done
    /// (`settled`) or not.
    pub(super) fn take_due(&mut self, thinking: bool, settled: bool) -> Vec<u64> {
        if !thinking {
            self.due.append(&mut self.after_move);
        }
        if settled { std::mem::take(&mut self.due) } else { Vec::new() }
    }
}
