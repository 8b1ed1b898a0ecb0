//! Measures the lag: the time per move that passes on the GUI's clock but not on the engine's.

use std::time::Duration;

use crate::chess::position::{Color, Position};
use crate::engine::controller::Lag;
use crate::engine::search::TimeLimit;

/// Measures lag by comparing the clock times reported by the GUI with the time that each search
/// planned to use.
#[derive(Debug, Default)]
pub(super) struct LagMeter {
    lag: Lag,
    last_turn: Option<Turn>,
}

/// A search with a clock.
#[derive(Debug, Clone, Copy)]
struct Turn {
    /// The ply number, computed from the move number and the side to move.
    plies: usize,
    remaining: Duration,
    increment: Duration,
    moves_to_go: Option<u32>,
    /// The time that the search planned to use; `None` until the search has ended.
    planned: Option<Duration>,
}

impl Turn {
    /// Whether `next` is the next turn of the same side, under the same time control.
    fn precedes(&self, next: &Turn) -> bool {
        let after_this = self.moves_to_go.map(|moves| moves.saturating_sub(1));
        next.plies == self.plies + 2
            && next.increment == self.increment
            && next.moves_to_go == after_this
    }
}

impl LagMeter {
    /// Begins a turn in the given position. Returns the time limit with the lag subtracted.
    pub(super) fn begin_turn(&mut self, time: TimeLimit, position: &Position) -> TimeLimit {
        let TimeLimit::Clock { remaining, increment, moves_to_go } = time else {
            self.forget_turn();
            return time;
        };
        let is_black = position.side_to_move() == Color::Black;
        let plies = 2 * usize::from(position.fullmove_number()) + usize::from(is_black);
        let turn = Turn { plies, remaining, increment, moves_to_go, planned: None };
        let last_turn = self.last_turn.replace(turn).filter(|last| last.precedes(&turn));
        if let Some(Turn { remaining: before, planned: Some(planned), .. }) = last_turn {
            self.lag.observe(before.saturating_sub(planned) + increment, remaining);
        }
        self.lag.subtract_from(time)
    }

    /// Ends the current turn, if any. `planned` is the time that its search planned to use.
    pub(super) fn end_turn(&mut self, planned: Duration) {
        if let Some(turn) = &mut self.last_turn {
            turn.planned.get_or_insert(planned);
        }
    }

    /// Discards the current turn. Call this if the next clock time from the GUI will not show how
    /// long this turn took.
    pub(super) fn forget_turn(&mut self) {
        self.last_turn = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INCREMENT: Duration = Duration::from_secs(1);

    fn clock(seconds: u64, moves_to_go: Option<u32>) -> TimeLimit {
        let remaining = Duration::from_secs(seconds);
        TimeLimit::Clock { remaining, increment: INCREMENT, moves_to_go }
    }

    /// Returns a position with this ply number and the corresponding side to move.
    fn position(plies: usize) -> Position {
        let side = if plies.is_multiple_of(2) { 'w' } else { 'b' };
        let fen = format!("4k3/8/8/8/8/8/8/4K2R {side} - - 0 {}", 1 + plies / 2);
        Position::from_fen(&fen).expect("a position")
    }

    /// Plays a turn whose search plans to use `planned` seconds. Returns the remaining time that
    /// the search was given, in seconds, i.e. the clock time minus the lag.
    fn play(meter: &mut LagMeter, time: TimeLimit, plies: usize, planned: u64) -> f64 {
        let limit = meter.begin_turn(time, &position(plies));
        meter.end_turn(Duration::from_secs(planned));
        let TimeLimit::Clock { remaining, .. } = limit else { panic!("{limit:?}") };
        remaining.as_secs_f64()
    }

    #[test]
    fn unexplained_time_is_subtracted_from_the_next_moves() {
        let mut meter = LagMeter::default();
        assert_eq!(play(&mut meter, clock(60, None), 0, 10), 60.0);
        // Without lag, 60 s - 10 s + 1 s = 51 s would remain. The clock shows 49 s, but the
        // measured lag is capped at 1 s.
        assert_eq!(play(&mut meter, clock(49, None), 2, 10), 48.0);
        assert_eq!(play(&mut meter, clock(40, None), 4, 10), 40.0 - 0.875);
    }

    #[test]
    fn turns_that_do_not_follow_each_other_are_not_compared() {
        let mut meter = LagMeter::default();
        assert_eq!(play(&mut meter, clock(60, None), 0, 1), 60.0);
        assert_eq!(play(&mut meter, clock(10, None), 1, 1), 10.0, "the other side");
        assert_eq!(play(&mut meter, clock(5, None), 7, 1), 5.0, "another game");
        assert_eq!(play(&mut meter, clock(4, Some(1)), 9, 1), 4.0, "another time control");
        assert_eq!(play(&mut meter, clock(3, Some(40)), 11, 1), 3.0, "the next time control");
        meter.forget_turn();
        assert_eq!(play(&mut meter, clock(1, Some(39)), 13, 1), 1.0);
    }
}
