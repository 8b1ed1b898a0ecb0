//! The desired state of the engine, and the search required by that state.

use crate::chess::position::{Color, Move, Position};
use crate::chess::score::Depth;
use crate::engine::search::Limits;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Think,
    Ponder(Move),
    Analyse,
    Ordered,
}

/// The desired state of the engine, which depends on the user's requests, the rules and the last
/// search.
#[derive(Debug, Clone, Default)]
pub(super) struct DesiredState {
    /// Incremented whenever the game or the set of excluded moves changes.
    pub(super) revision: u64,
    /// The side that the engine plays, or `None` for neither.
    pub(super) side: Option<Color>,
    pub(super) analysing: bool,
    pub(super) paused: bool,
    /// Whether the engine has reported that the game is over. It then makes no moves until it is
    /// asked to play again or the position changes.
    pub(super) over: bool,
    /// Whether the position on the GUI's board is illegal. The engine then keeps the last legal
    /// position.
    pub(super) broken: bool,
    pub(super) excluded: Vec<Move>,
    pub(super) ordered: Option<Limits>,
    pub(super) expected: Option<Move>,
    /// Maximum search depth for the current game, in plies.
    pub(super) depth_limit: Option<Depth>,
    pub(super) draw_offered: bool,
    pub(super) hurry: bool,
}

impl DesiredState {
    /// Returns the purpose of the search that should run in `position`, if any. If `ponders` is
    /// true, the engine may ponder on the expected reply.
    pub(super) fn purpose(&self, position: &Position, ponders: bool) -> Option<Purpose> {
        if self.broken || self.paused {
            return None;
        }
        // A search ordered over UCI runs even if the game is over, because its score is reported.
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

    pub(super) fn root_moves(&self, position: &Position) -> Vec<Move> {
        position.legal_moves().iter().filter(|mv| !self.excluded.contains(mv)).collect()
    }

    pub(super) fn reset_for_new_position(&mut self) {
        self.revision += 1;
        self.excluded.clear();
        self.expected = None;
        self.over = false;
        self.draw_offered = false;
        self.hurry = false;
    }
}

/// The properties of the running search that determine whether to keep it, turn it into a timed
/// search, or replace it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Running {
    pub(super) purpose: Purpose,
    pub(super) is_current: bool,
    /// Whether the move expected by a ponder search was played, and the time limit of this search
    /// is still roughly correct.
    pub(super) is_hit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextStep {
    Keep,
    Turn,
    /// Cancel the running search, and start another if a purpose is given.
    Begin(Option<Purpose>),
}

pub(super) fn step(running: Option<Running>, desired: Option<Purpose>) -> NextStep {
    match (running.filter(|running| running.is_current), desired) {
        (Some(running), Some(desired)) if running.purpose == desired => NextStep::Keep,
        // `is_hit` is checked because the user can ask the engine to move at any time, even if the
        // expected move was not played. The ponder search is then for the wrong position.
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
    fn desired_state_gives_the_search_purpose() {
        use Purpose::{Analyse, Ordered, Ponder, Think};
        let reply = mv("g1f3");
        let all = Position::start().legal_moves().iter().collect();
        let desired = |change: fn(&mut DesiredState)| {
            let mut desired =
                DesiredState { expected: Some(mv("g1f3")), ..DesiredState::default() };
            change(&mut desired);
            desired
        };
        // Each row contains a desired state, whether pondering is enabled, and the resulting
        // purpose of the search with White to move.
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
    fn next_step_depends_on_running_and_desired_search() {
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
