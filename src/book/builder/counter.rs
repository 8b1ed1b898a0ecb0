//! Turns games into records.

use std::ops::ControlFlow;

use super::BuildOptions;
use super::records::Record;
use crate::book::filter_bits::PawnSet;
use crate::pgn::{GameEnd, GameResult, Tags, Visitor};
use crate::position::{Move, Position};

/// No position can come back before two moves of each side.
const SHORTEST_CYCLE: u16 = 4;

/// Collects the records of games.
pub(super) struct GameCounter {
    options: BuildOptions,
    records: Vec<Record>,
    line: Vec<Step>,
}

/// A position of the current game.
#[derive(Debug, Clone, Copy)]
struct Step {
    key: u64,
    /// The move that left it.
    mv: Option<Move>,
    /// It stood before in this game.
    again: bool,
}

impl GameCounter {
    pub fn new(options: BuildOptions) -> Self {
        GameCounter { options, records: Vec::new(), line: Vec::new() }
    }

    pub fn options(&self) -> &BuildOptions {
        &self.options
    }

    pub fn visitor<'a>(&'a mut self, pawns: &'a PawnSet) -> CountingVisitor<'a> {
        CountingVisitor { counter: self, pawns }
    }

    pub fn into_records(self) -> Vec<Record> {
        self.records
    }
}

/// Counts one game after the other.
pub(super) struct CountingVisitor<'a> {
    counter: &'a mut GameCounter,
    pawns: &'a PawnSet,
}

impl CountingVisitor<'_> {
    /// Adds a position to the line of the game.
    #[inline]
    fn visit(&mut self, position: &Position) {
        let line = &mut self.counter.line;
        let (key, clock) = (position.key(), position.halfmove_clock());
        let recent = line.iter().rev().take(usize::from(clock));
        let again = clock >= SHORTEST_CYCLE && recent.clone().any(|step| step.key == key);
        line.push(Step { key, mv: None, again });
    }
}

impl Visitor for CountingVisitor<'_> {
    fn begin(&mut self, _tags: &Tags, start: &Position) -> ControlFlow<()> {
        self.counter.line.clear();
        self.visit(start);
        self.pawns.insert(start.pawn_key());
        ControlFlow::Continue(())
    }

    #[inline]
    fn played(&mut self, before: &Position, mv: Move, after: &Position) -> ControlFlow<()> {
        if let Some(step) = self.counter.line.last_mut() {
            step.mv = Some(mv);
        }
        self.visit(after);
        if after.pawn_key() != before.pawn_key() {
            self.pawns.insert(after.pawn_key());
        }
        if self.counter.line.len() > self.counter.options.max_ply as usize {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, end: &GameEnd) {
        let GameCounter { options, records, line } = &mut *self.counter;
        let counts = end.result != GameResult::Undecided || options.undecided;
        if !counts || end.plies == 0 {
            return;
        }
        for (index, step) in line.iter().enumerate() {
            if !step.again {
                records.push(Record::new(step.key, step.mv, end.result));
            } else if is_new_move(step, &line[..index]) {
                records.push(Record::again(step.key, step.mv, end.result));
            }
        }
    }
}

/// Whether a position that came back was left by another move than before. A game counts once for
/// a position, and once for each move that it played there.
fn is_new_move(step: &Step, before: &[Step]) -> bool {
    step.mv.is_some() && !before.iter().any(|other| (other.key, other.mv) == (step.key, step.mv))
}
