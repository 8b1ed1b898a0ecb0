//! Pings: questions whether all that was asked before is done.
//!
//! A ping that comes while the engine thinks is answered after its move. Any other is answered as
//! soon as the orders before it are done, and in any case before what follows of later ones: xboard
//! drops a move that comes while it waits for the answer, and the game would hang.

use super::controller::{Engine, Mode};
use super::event::Event;

/// Pings that wait, in the order they came in.
#[derive(Debug, Default)]
pub(super) struct Pings {
    /// Due once all orders are done.
    due: Vec<u64>,
    /// Due once the engine has moved, too.
    after_move: Vec<u64>,
}

impl Engine {
    /// Answers with [`Event::Pong`] of this number once all requests before it are done: the move
    /// too if the engine is thinking, but not pondering and analysis.
    pub fn ping(&mut self, number: u64) {
        let waiting = match self.mode() {
            Mode::Thinking => &mut self.pings.after_move,
            _ => &mut self.pings.due,
        };
        waiting.push(number);
        self.answer_pings();
    }

    /// Answers the pings that are due. Called before any search begins.
    pub(super) fn answer_pings(&mut self) {
        if self.mode() != Mode::Thinking {
            self.pings.due.append(&mut self.pings.after_move);
        }
        if self.is_settled() {
            self.events.extend(self.pings.due.drain(..).map(Event::Pong));
        }
    }
}
