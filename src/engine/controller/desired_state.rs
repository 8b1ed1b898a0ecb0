//! What the engine should be doing, as a value, and what follows from it for the search.

use crate::chess::position::{Color, Move, Position};
use crate::engine::search::Limits;

/// What a search is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To move.
    Think,
    /// To be ready should the opponent make this move.
    Ponder(Move),
    /// To know.
    Analyse,
    /// To answer an order with bounds of its own.
    Ordered,
}

/// What the engine should be doing, by the user, the rules and the last search.
#[derive(Debug, Clone, Default)]
pub(super) struct DesiredState {
    /// Raised with every change of the game or of the moves left out.
    pub(super) revision: u64,
    /// The side that the engine plays; `None` for neither.
    pub(super) side: Option<Color>,
    pub(super) analysing: bool,
    pub(super) paused: bool,
    /// The game was claimed to be over; a new request to play may go on all the same.
    pub(super) over: bool,
    /// The position on the GUI's board is illegal; the one here is an older one.
    pub(super) broken: bool,
    /// Moves that an analysis leaves out at the root.
    pub(super) excluded: Vec<Move>,
    /// A search that was ordered with bounds of its own.
    pub(super) ordered: Option<Limits>,
    /// The reply that the last search expects.
    pub(super) expected: Option<Move>,
}

impl DesiredState {
    /// What the search that should run in `position` is for; `None` if none should. An expected
    /// reply is pondered on if `ponders`.
    pub(super) fn purpose(&self, position: &Position, ponders: bool) -> Option<Purpose> {
        if self.broken || self.paused {
            return None;
        }
        // Also where the game is over: the answer is its score, and may have to wait.
        if self.ordered.is_some() {
            return Some(Purpose::Ordered);
        }
        if position.has_no_moves() {
            return None;
        }
        if self.analysing {
            let has_moves = self.excluded.is_empty() || !self.root_moves(position).is_empty();
            return has_moves.then_some(Purpose::Analyse);
        }
        let side = self.side.filter(|_| !self.over)?;
        if side == position.side_to_move() {
            return Some(Purpose::Think);
        }
        self.expected.filter(|_| ponders).map(Purpose::Ponder)
    }

    /// The moves that are not left out.
    pub(super) fn root_moves(&self, position: &Position) -> Vec<Move> {
        position.legal_moves().iter().filter(|mv| !self.excluded.contains(mv)).collect()
    }

    /// The game, or the moves left out, have changed: what was wanted of the old one is void.
    pub(super) fn reset_for_new_position(&mut self) {
        self.revision += 1;
        self.excluded.clear();
        self.expected = None;
        self.over = false;
    }
}

/// The search that runs, as far as it matters for what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Running {
    pub(super) purpose: Purpose,
    /// Whether it is about the present revision of the game.
    pub(super) is_current: bool,
    /// Whether what it ponders on has come about, and its time is right for the answer.
    pub(super) is_hit: bool,
}

/// What to do about the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextStep {
    /// To leave it as it is.
    Keep,
    /// To let it think from now on, not ponder.
    Turn,
    /// To call off what runs, and begin another for this, if for anything.
    Begin(Option<Purpose>),
}

/// The step from what runs to what should run.
pub(super) fn step(running: Option<Running>, desired: Option<Purpose>) -> NextStep {
    match (running.filter(|running| running.is_current), desired) {
        (Some(running), Some(desired)) if running.purpose == desired => NextStep::Keep,
        // The user may also call for a move before making the expected one.
        (Some(Running { purpose: Purpose::Ponder(_), is_hit: true, .. }), Some(Purpose::Think)) => {
            NextStep::Turn
        }
        _ => NextStep::Begin(desired),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mv(text: &str) -> Move {
        text.parse().expect("a move")
    }

    #[test]
    fn what_is_wanted_says_what_to_search_for() {
        use Purpose::{Analyse, Ordered, Ponder, Think};
        let reply = mv("g1f3");
        let all = Position::start().legal_moves().iter().collect();
        let desired = |change: fn(&mut DesiredState)| {
            let mut desired =
                DesiredState { expected: Some(mv("g1f3")), ..DesiredState::default() };
            change(&mut desired);
            desired
        };
        // What is wanted, whether the engine ponders, and what follows with White to move.
        let table: [(DesiredState, bool, Option<Purpose>); 12] = [
            (desired(|_| {}), true, None),
            (desired(|w| w.side = Some(Color::White)), true, Some(Think)),
            (desired(|w| w.side = Some(Color::Black)), true, Some(Ponder(reply))),
            (desired(|w| w.side = Some(Color::Black)), false, None),
            (desired(|w| (w.side, w.expected) = (Some(Color::Black), None)), true, None),
            (desired(|w| (w.side, w.over) = (Some(Color::White), true)), true, None),
            (desired(|w| (w.side, w.paused) = (Some(Color::White), true)), true, None),
            (desired(|w| (w.side, w.broken) = (Some(Color::White), true)), true, None),
            (desired(|w| w.analysing = true), true, Some(Analyse)),
            (desired(|w| w.excluded = vec![mv("e2e4")]), true, None),
            (desired(|w| (w.analysing, w.over) = (true, true)), true, Some(Analyse)),
            (desired(|w| w.ordered = Some(Limits::default())), true, Some(Ordered)),
        ];
        for (desired, ponders, purpose) in table {
            assert_eq!(desired.purpose(&Position::start(), ponders), purpose, "{desired:?}");
        }
        let nothing_left =
            DesiredState { analysing: true, excluded: all, ..DesiredState::default() };
        assert_eq!(nothing_left.purpose(&Position::start(), true), None);
        let mated = Position::from_fen("6rk/5Npp/8/8/8/8/8/6K1 b - - 0 1").expect("a mate");
        let playing = DesiredState { side: Some(Color::Black), ..DesiredState::default() };
        assert_eq!(playing.purpose(&mated, true), None);
    }

    #[test]
    fn the_step_follows_from_what_runs_and_what_is_wanted() {
        use Purpose::{Analyse, Ordered, Ponder, Think};
        let (one, other) = (mv("e2e4"), mv("d2d4"));
        let running = |purpose, is_current, is_hit| Some(Running { purpose, is_current, is_hit });
        let table = [
            (None, None, NextStep::Begin(None)),
            (None, Some(Think), NextStep::Begin(Some(Think))),
            (running(Think, true, false), Some(Think), NextStep::Keep),
            (running(Think, false, false), Some(Think), NextStep::Begin(Some(Think))),
            (running(Think, true, false), None, NextStep::Begin(None)),
            (running(Analyse, true, false), Some(Analyse), NextStep::Keep),
            (running(Analyse, true, false), Some(Ordered), NextStep::Begin(Some(Ordered))),
            (running(Ponder(one), true, false), Some(Ponder(one)), NextStep::Keep),
            (
                running(Ponder(one), true, false),
                Some(Ponder(other)),
                NextStep::Begin(Some(Ponder(other))),
            ),
            (running(Ponder(one), true, true), Some(Think), NextStep::Turn),
            (running(Ponder(one), true, false), Some(Think), NextStep::Begin(Some(Think))),
            (running(Ponder(one), false, true), Some(Think), NextStep::Begin(Some(Think))),
            (running(Ponder(one), true, true), Some(Analyse), NextStep::Begin(Some(Analyse))),
            (running(Think, true, true), Some(Ponder(one)), NextStep::Begin(Some(Ponder(one)))),
        ];
        for (running, desired, expected) in table {
            assert_eq!(step(running, desired), expected, "{running:?} {desired:?}");
        }
    }
}
