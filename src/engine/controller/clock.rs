//! The players' clocks, and the search limits derived from them.

use std::time::{Duration, Instant};

use crate::chess::position::Color;
use crate::engine::search::TimeLimit;

/// A time control: time for a number of moves or for the whole game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// Number of moves after which `base` is added again; 0 if `base` is for the whole game.
    pub moves: u32,
    /// Time on the clock at the start of a time control.
    pub base: Duration,
    /// Time added after every move.
    pub increment: Duration,
}

/// xboard's default: 40 moves in 5 minutes.
const DEFAULT: Level =
    Level { moves: 40, base: Duration::from_secs(300), increment: Duration::ZERO };

/// Maximum lag that is taken into account. A longer delay indicates that the GUI was interrupted.
const MAX_LAG: Duration = Duration::from_secs(1);

/// Number of moves assumed for node budgets and lag if the time control does not specify a number.
const EXPECTED_MOVES: u32 = 30;

/// The time per move that passes only on the GUI's clock, for example while it draws the board, or
/// while the engine waits for a processor core.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lag(Duration);

impl Lag {
    /// Compares the time that the GUI reports with the expected time. An increase of the lag applies
    /// immediately; a decrease is averaged over several moves.
    pub(crate) fn observe(&mut self, expected: Duration, reported: Duration) {
        let lag = expected.saturating_sub(reported).min(MAX_LAG);
        self.0 = if lag > self.0 { lag } else { (self.0 * 7 + lag) / 8 };
    }

    /// Subtracts the lag of this move. If the increment does not cover the lag, also subtracts what
    /// the following moves will lose.
    pub(crate) fn subtract_from(self, time: TimeLimit) -> TimeLimit {
        let Lag(lag) = self;
        let later = match time {
            TimeLimit::Clock { increment, moves_to_go, .. } => {
                let moves = moves_to_go.map_or(EXPECTED_MOVES, |moves| moves.min(EXPECTED_MOVES));
                lag.saturating_sub(increment) * moves.saturating_sub(1)
            }
            TimeLimit::Infinite | TimeLimit::MoveTime(_) => Duration::ZERO,
        };
        match less_overhead(time, lag) {
            TimeLimit::Clock { remaining, increment, moves_to_go } => {
                let remaining = remaining.saturating_sub(later);
                TimeLimit::Clock { remaining, increment, moves_to_go }
            }
            time => time,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum ClockSetting {
    Level(Level),
    MoveTime(Duration),
}

/// Both players' clocks, updated after every move, because some GUIs do not report times.
#[derive(Debug, Clone)]
pub(crate) struct Clocks {
    setting: ClockSetting,
    remaining: [Duration; 2],
    since: usize,
    node_rate: u64,
    lag: Lag,
    /// Whether each clock has been charged for a move since the GUI last reported its time.
    charged: [bool; 2],
    turn_began: Instant,
    /// The times reported by the GUI since the last move: the engine's and the opponent's.
    reported: [Option<Duration>; 2],
}

impl Default for Clocks {
    fn default() -> Self {
        Clocks {
            setting: ClockSetting::Level(DEFAULT),
            remaining: [DEFAULT.base; 2],
            since: 0,
            node_rate: 0,
            lag: Lag::default(),
            charged: [false; 2],
            turn_began: Instant::now(),
            reported: [None; 2],
        }
    }
}

impl Clocks {
    pub(crate) fn set_level(&mut self, level: Level, plies: usize) {
        self.setting = ClockSetting::Level(level);
        self.remaining = [level.base; 2];
        self.charged = [false; 2];
        self.reported = [None; 2];
        self.since = plies;
    }

    pub(crate) fn set_move_time(&mut self, time: Duration) {
        self.setting = ClockSetting::MoveTime(time);
    }

    /// Returns the PGN tag `TimeControl` (9.6.1), in seconds: `40/300`, `300+5`, or `1/5` for five
    /// seconds per move.
    pub(crate) fn tag(&self) -> String {
        let Level { moves, base, increment } = match self.setting {
            ClockSetting::Level(level) => level,
            ClockSetting::MoveTime(base) => Level { moves: 1, base, increment: Duration::ZERO },
        };
        let moves = if moves > 0 { format!("{moves}/") } else { String::new() };
        let more = match increment.is_zero() {
            true => String::new(),
            false => format!("+{}", increment.as_secs_f64()),
        };
        format!("{moves}{}{more}", base.as_secs_f64())
    }

    /// Resets the clocks for a new game with the same time control, on the wall clock.
    pub(crate) fn restart(&mut self) {
        self.node_rate = 0;
        self.reported = [None; 2];
        if let ClockSetting::Level(level) = self.setting {
            self.set_level(level, 0);
        }
    }

    /// Measures time in nodes, at `nodes` per second. If `nodes` is 0, switches back to the wall
    /// clock.
    pub(crate) fn set_node_rate(&mut self, nodes: u64) {
        self.node_rate = nodes;
    }

    pub(crate) fn set(&mut self, color: Color, remaining: Duration) {
        self.remaining[color.to_index()] = remaining;
    }

    /// Sets the engine's clock to the time reported by the GUI. The difference from the measured
    /// time is [`Lag`].
    pub(crate) fn set_own_clock(&mut self, color: Color, remaining: Duration) {
        let side = color.to_index();
        if std::mem::take(&mut self.charged[side]) {
            self.lag.observe(self.remaining[side], remaining);
        }
        self.set(color, remaining);
    }

    pub(super) fn report_own(&mut self, left: Duration) {
        self.reported[0] = Some(left);
    }

    pub(super) fn report_opponent(&mut self, left: Duration) {
        self.reported[1] = Some(left);
    }

    /// Returns the engine's time if the GUI has reported it since the last move.
    pub(super) fn reported_own(&self) -> Option<Duration> {
        self.reported[0]
    }

    pub(super) fn apply_reported(&mut self, side: Color) {
        let [own, opponent] = std::mem::take(&mut self.reported);
        own.into_iter().for_each(|left| self.set_own_clock(side, left));
        opponent.into_iter().for_each(|left| self.set(!side, left));
    }

    pub(super) fn begin_turn(&mut self) {
        self.turn_began = Instant::now();
    }

    /// Deducts the time that has passed in the current turn, without ending the turn.
    pub(super) fn pause(&mut self, mover: Color) {
        self.set(mover, self.remaining(mover).saturating_sub(self.turn_began.elapsed()));
    }

    pub(crate) fn remaining(&self, color: Color) -> Duration {
        self.remaining[color.to_index()]
    }

    /// Charges a player for the time of the last move. `plies` includes this move.
    pub(super) fn charge(&mut self, color: Color, plies: usize) {
        self.charge_time(color, self.turn_began.elapsed(), plies);
    }

    fn charge_time(&mut self, color: Color, elapsed: Duration, plies: usize) {
        let ClockSetting::Level(level) = self.setting else { return };
        let clock = &mut self.remaining[color.to_index()];
        *clock = clock.saturating_sub(elapsed) + level.increment;
        self.charged[color.to_index()] = true;
        let played = moves_of_last_mover(plies.saturating_sub(self.since));
        if level.moves > 0 && played.is_multiple_of(level.moves as usize) {
            *clock += level.base;
        }
    }

    pub(crate) fn limit(&self, color: Color, plies: usize) -> (TimeLimit, Option<u64>) {
        let time = self.time_control(color, plies);
        match self.node_rate {
            0 => (time, None),
            rate => (TimeLimit::Infinite, Some(nodes(time, rate))),
        }
    }

    fn time_control(&self, color: Color, plies: usize) -> TimeLimit {
        match self.setting {
            ClockSetting::MoveTime(time) => TimeLimit::MoveTime(time),
            ClockSetting::Level(Level { moves, increment, .. }) => {
                let moves_to_go = (moves > 0).then(|| {
                    let played = plies.saturating_sub(self.since) / 2;
                    moves - (played % moves as usize) as u32
                });
                let remaining = self.remaining(color);
                self.lag.subtract_from(TimeLimit::Clock { remaining, increment, moves_to_go })
            }
        }
    }
}

pub(super) fn less_overhead(time: TimeLimit, overhead: Duration) -> TimeLimit {
    let less = |time: Duration| time.saturating_sub(overhead);
    match time {
        TimeLimit::Infinite => TimeLimit::Infinite,
        TimeLimit::MoveTime(time) => TimeLimit::MoveTime(less(time)),
        TimeLimit::Clock { remaining, increment, moves_to_go } => {
            TimeLimit::Clock { remaining: less(remaining), increment: less(increment), moves_to_go }
        }
    }
}

fn moves_of_last_mover(plies: usize) -> usize {
    plies.div_ceil(2)
}

/// Converts the time for one move to nodes, less one: the flag falls when no nodes are left.
fn nodes(time: TimeLimit, rate: u64) -> u64 {
    let time = match time {
        TimeLimit::Infinite => return u64::MAX,
        TimeLimit::MoveTime(time) => time,
        TimeLimit::Clock { remaining, increment, moves_to_go } => {
            let moves = moves_to_go.unwrap_or(EXPECTED_MOVES).max(1);
            (remaining / moves + increment).min(remaining)
        }
    };
    let nodes = time.as_millis() * u128::from(rate) / 1000;
    u64::try_from(nodes).unwrap_or(u64::MAX).saturating_sub(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    fn moves_to_go(clocks: &Clocks, color: Color, plies: usize) -> Option<u32> {
        match clocks.limit(color, plies).0 {
            TimeLimit::Clock { moves_to_go, .. } => moves_to_go,
            _ => None,
        }
    }

    #[test]
    fn moves_to_go_count_from_the_level_command() {
        let mut clocks = Clocks::default();
        clocks.set_level(Level { moves: 40, base: seconds(60), increment: seconds(0) }, 0);
        assert_eq!(moves_to_go(&clocks, Color::White, 0), Some(40));
        assert_eq!(moves_to_go(&clocks, Color::Black, 1), Some(40));
        assert_eq!(moves_to_go(&clocks, Color::White, 78), Some(1));
        assert_eq!(moves_to_go(&clocks, Color::White, 80), Some(40));
        clocks.set_level(Level { moves: 20, base: seconds(22), increment: seconds(0) }, 80);
        assert_eq!(moves_to_go(&clocks, Color::White, 80), Some(20));
        assert_eq!(moves_to_go(&clocks, Color::White, 82), Some(19));
    }

    #[test]
    fn clock_is_charged_without_a_gui() {
        let mut clocks = Clocks::default();
        clocks.set_level(Level { moves: 2, base: seconds(10), increment: seconds(1) }, 0);
        clocks.charge_time(Color::White, seconds(4), 1);
        assert_eq!(clocks.remaining(Color::White), seconds(7));
        clocks.charge_time(Color::White, seconds(8), 3);
        assert_eq!(clocks.remaining(Color::White), seconds(11));
        assert_eq!(clocks.remaining(Color::Black), seconds(10));
    }

    #[test]
    fn gui_delay_is_subtracted() {
        let mut clocks = Clocks::default();
        let millis = Duration::from_millis;
        clocks.set_level(Level { moves: 0, base: seconds(10), increment: millis(100) }, 0);
        clocks.set_own_clock(Color::White, millis(9_000));
        clocks.charge_time(Color::White, millis(400), 1);
        clocks.set_own_clock(Color::White, millis(8_640));
        let (remaining, increment) = (millis(8_580), millis(40));
        let expected = TimeLimit::Clock { remaining, increment, moves_to_go: None };
        assert_eq!(clocks.limit(Color::White, 2).0, expected);
        clocks.charge_time(Color::White, millis(400), 3);
        clocks.set_own_clock(Color::White, millis(8_340));
        let (remaining, increment) = (millis(8_340) - millis(105) / 2, millis(95) / 2);
        let expected = TimeLimit::Clock { remaining, increment, moves_to_go: None };
        assert_eq!(clocks.limit(Color::White, 4).0, expected);
    }

    #[test]
    fn lag_beyond_the_increment_is_reserved_for_later_moves() {
        let millis = Duration::from_millis;
        let mut lag = Lag::default();
        lag.observe(millis(50), millis(45));
        let remaining = |increment, moves_to_go| {
            let (remaining, increment) = (millis(1_000), millis(increment));
            match lag.subtract_from(TimeLimit::Clock { remaining, increment, moves_to_go }) {
                TimeLimit::Clock { remaining, .. } => remaining,
                time => panic!("{time:?}"),
            }
        };
        assert_eq!(remaining(5, None), millis(995));
        assert_eq!(remaining(2, None), millis(995 - 3 * 29));
        assert_eq!(remaining(2, Some(2)), millis(995 - 3));
        assert_eq!(remaining(0, Some(1)), millis(995));
        assert_eq!(
            lag.subtract_from(TimeLimit::MoveTime(seconds(1))),
            TimeLimit::MoveTime(millis(995))
        );
    }

    #[test]
    fn node_rate_replaces_time() {
        let mut clocks = Clocks::default();
        clocks.set_move_time(seconds(8));
        clocks.set_node_rate(10_000);
        assert_eq!(clocks.limit(Color::White, 0), (TimeLimit::Infinite, Some(79_999)));
        clocks.restart();
        assert_eq!(clocks.limit(Color::White, 0), (TimeLimit::MoveTime(seconds(8)), None));
    }
}
