//! The players' clocks, and the search limits derived from them.

use std::time::{Duration, Instant};

use crate::chess::position::Color;
use crate::engine::search::TimeLimit;

/// A time control: time for a number of moves or for the whole game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// Number of moves after which `base` is added to the clock again, or 0 if `base` is for the
    /// whole game.
    pub moves: u32,
    /// Time on the clock at the start of a time control period.
    pub base: Duration,
    /// Time added after every move.
    pub increment: Duration,
}

/// xboard's default: 40 moves in 5 minutes.
const DEFAULT: Level =
    Level { moves: 40, base: Duration::from_secs(300), increment: Duration::ZERO };

/// Maximum lag that is taken into account. A longer delay indicates that the GUI was interrupted.
const MAX_LAG: Duration = Duration::from_secs(1);

/// Resolution of the clock times that xboard sends, which are rounded down.
const REPORTED_UNIT: Duration = Duration::from_millis(10);

/// Number of remaining moves assumed for node budgets and lag if the time control does not specify
/// it. Lag is never reserved for more moves than this.
const EXPECTED_MOVES: u32 = 30;

/// Weight of the previous average in the moving average of the lag. A new observation has weight 1.
const AVERAGE_WEIGHT: u32 = 15;
/// Weight of the previous peak when a lower observation makes the peak decay. The observation has
/// weight 1.
const PEAK_WEIGHT: u32 = 7;
/// For later moves, the expected lag is the average plus this many mean deviations.
const DEVIATIONS: u32 = 3;

/// The time that each move costs on the GUI's clock in addition to the planned search time, for
/// example because the GUI draws the board or the engine waits for a processor core.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lag {
    /// A decaying maximum of the observed lag. The current move reserves this much time for lag.
    peak: Duration,
    /// The exponentially weighted average of the observed lag. `deviation` is the mean deviation
    /// from it.
    average: Duration,
    deviation: Duration,
}

impl Lag {
    /// Updates the lag with a new observation: the amount by which the time reported by the GUI is
    /// less than the expected time.
    pub(crate) fn observe(&mut self, expected: Duration, reported: Duration) {
        let lag = expected.saturating_sub(reported).min(MAX_LAG);
        self.peak = lag.max(weighted(self.peak, PEAK_WEIGHT, lag));
        self.deviation = weighted(self.deviation, AVERAGE_WEIGHT, lag.abs_diff(self.average));
        self.average = weighted(self.average, AVERAGE_WEIGHT, lag);
    }

    /// Subtracts the lag expected for the current move. If the increment does not cover the usual
    /// lag, also subtracts the lag expected for later moves.
    pub(crate) fn subtract_from(self, time: TimeLimit) -> TimeLimit {
        let TimeLimit::Clock { remaining, increment, moves_to_go } = time else {
            return less_overhead(time, self.peak);
        };
        let usual = self.average + self.deviation * DEVIATIONS;
        let moves = moves_to_go.map_or(EXPECTED_MOVES, |moves| moves.min(EXPECTED_MOVES));
        let later = usual.saturating_sub(increment) * moves.saturating_sub(1);
        let remaining = remaining.saturating_sub(self.peak + later);
        TimeLimit::Clock { remaining, increment: increment.saturating_sub(usual), moves_to_go }
    }
}

fn weighted(old: Duration, weight: u32, new: Duration) -> Duration {
    (old * weight + new) / (weight + 1)
}

#[derive(Debug, Clone, Copy)]
enum ClockSetting {
    Level(Level),
    MoveTime(Duration),
}

/// Both players' clocks. The engine updates them after every move, because some GUIs do not report
/// times.
#[derive(Debug, Clone)]
pub(crate) struct Clocks {
    setting: ClockSetting,
    remaining: [Duration; 2],
    since: usize,
    node_rate: u64,
    lag: Lag,
    /// The time that each clock should show if the last search took no longer than planned. To
    /// measure lag, it is compared with the time that the GUI reports next.
    expected: [Option<Duration>; 2],
    turn_began: Instant,
    /// The remaining times that the GUI has reported since the last move: the engine's and the
    /// opponent's.
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
            expected: [None; 2],
            turn_began: Instant::now(),
            reported: [None; 2],
        }
    }
}

impl Clocks {
    pub(crate) fn set_level(&mut self, level: Level, plies: usize) {
        self.setting = ClockSetting::Level(level);
        self.remaining = [level.base; 2];
        self.expected = [None; 2];
        self.reported = [None; 2];
        self.since = plies;
    }

    pub(crate) fn set_move_time(&mut self, time: Duration) {
        self.setting = ClockSetting::MoveTime(time);
    }

    /// Returns the value of the PGN tag `TimeControl` (section 9.6.1 of the PGN standard), with
    /// times in seconds: `40/300`, `300+5`, or `1/5` for five seconds per move.
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

    /// Resets the clocks for a new game with the same time control. Time is no longer measured in
    /// nodes.
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

    /// Sets the engine's clock to the time reported by the GUI, which is rounded down. If less time
    /// is left than expected, the difference is recorded as [`Lag`].
    pub(crate) fn set_own_clock(&mut self, color: Color, reported: Duration) {
        let most = reported + REPORTED_UNIT;
        let expected = self.expected[color.to_index()].take();
        if let Some(expected) = expected {
            self.lag.observe(expected, most);
        }
        // If the expected time is within the rounding interval, it is more precise than the
        // reported time.
        self.set(color, expected.map_or(reported, |expected| expected.clamp(reported, most)));
    }

    pub(super) fn report_own(&mut self, left: Duration) {
        self.reported[0] = Some(left);
    }

    pub(super) fn report_opponent(&mut self, left: Duration) {
        self.reported[1] = Some(left);
    }

    /// Returns the engine's remaining time if the GUI has reported it since the last move.
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

    /// Deducts the time that has passed in the current turn from the clock of `mover`, without
    /// ending the turn.
    pub(super) fn pause(&mut self, mover: Color) {
        self.set(mover, self.remaining(mover).saturating_sub(self.turn_began.elapsed()));
    }

    pub(crate) fn remaining(&self, color: Color) -> Duration {
        self.remaining[color.to_index()]
    }

    /// Deducts the time of the last move from a player's clock. `plies` is the length of the game,
    /// including this move. `planned` is the time that the search planned for the move, or `None`
    /// for a move by the opponent.
    pub(super) fn charge(&mut self, color: Color, plies: usize, planned: Option<Duration>) {
        self.charge_time(color, self.turn_began.elapsed(), plies, planned);
    }

    fn charge_time(
        &mut self,
        color: Color,
        elapsed: Duration,
        plies: usize,
        planned: Option<Duration>,
    ) {
        let ClockSetting::Level(level) = self.setting else { return };
        let played = moves_of_last_mover(plies.saturating_sub(self.since));
        let ends_control = level.moves > 0 && played.is_multiple_of(level.moves as usize);
        let added = if ends_control { level.increment + level.base } else { level.increment };
        let clock = &mut self.remaining[color.to_index()];
        self.expected[color.to_index()] =
            planned.map(|planned| clock.saturating_sub(planned.min(elapsed)) + added);
        *clock = clock.saturating_sub(elapsed) + added;
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

/// Converts the time for one move to a number of nodes. One node is subtracted, because the player
/// loses on time when no nodes are left.
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
        clocks.charge_time(Color::White, seconds(4), 1, None);
        assert_eq!(clocks.remaining(Color::White), seconds(7));
        clocks.charge_time(Color::White, seconds(8), 3, None);
        assert_eq!(clocks.remaining(Color::White), seconds(11));
        assert_eq!(clocks.remaining(Color::Black), seconds(10));
    }

    /// Plays a move that was planned to take 300 ms but takes twice as long. `reported` is the time
    /// on the GUI's clock before the move, in milliseconds.
    fn play(clocks: &mut Clocks, reported: u64, plies: usize) -> TimeLimit {
        clocks.set_own_clock(Color::White, Duration::from_millis(reported));
        let limit = clocks.limit(Color::White, plies).0;
        let planned = Duration::from_millis(300);
        clocks.charge_time(Color::White, planned * 2, plies + 1, Some(planned));
        limit
    }

    #[test]
    fn unplanned_time_is_subtracted() {
        let mut clocks = Clocks::default();
        let millis = Duration::from_millis;
        clocks.set_level(Level { moves: 0, base: seconds(10), increment: millis(100) }, 0);
        let limit = |remaining, increment| TimeLimit::Clock {
            remaining: millis(remaining),
            increment: millis(increment),
            moves_to_go: None,
        };
        assert_eq!(play(&mut clocks, 9_000, 0), limit(9_000, 100));
        // The expected time is 8,800 ms. The GUI's clock shows 8,700 to 8,710 ms, so the lag is at
        // least 90 ms. The average and the deviation are each a sixteenth of the lag. Three
        // deviations are added to the average, so the usual lag is a quarter of it.
        let TimeLimit::Clock { remaining, increment, .. } = play(&mut clocks, 8_700, 2) else {
            panic!("no clock");
        };
        assert_eq!(remaining, millis(8_710 - 90));
        assert_eq!(increment, millis(100) - millis(90) / 4);
    }

    #[test]
    fn rounded_times_are_no_lag() {
        let mut clocks = Clocks::default();
        let millis = Duration::from_millis;
        clocks.set_level(Level { moves: 0, base: seconds(10), increment: millis(0) }, 0);
        let mut left = 10_000;
        for plies in (0..40).step_by(2) {
            play(&mut clocks, left / 10 * 10, plies);
            left -= 303;
        }
        // Each move took 3 ms more than planned, which is less than the resolution of the reported
        // times.
        let average = clocks.lag.average;
        assert!(average > millis(1) && average < millis(4), "{average:?}");
        assert!(clocks.remaining(Color::White) < millis(left + 10));
    }

    #[test]
    fn one_stall_does_not_use_up_the_clock() {
        let millis = Duration::from_millis;
        let mut lag = Lag::default();
        let time = TimeLimit::Clock {
            remaining: seconds(60),
            increment: Duration::ZERO,
            moves_to_go: None,
        };
        lag.observe(seconds(60), seconds(59));
        let TimeLimit::Clock { remaining, .. } = lag.subtract_from(time) else { panic!() };
        // The lag reserved for each later move is the average plus three deviations, which is a
        // quarter of the observed lag.
        assert_eq!(remaining, seconds(59) - millis(250) * 29);
    }

    #[test]
    fn lag_beyond_the_increment_is_reserved_for_later_moves() {
        let millis = Duration::from_millis;
        let mut lag = Lag::default();
        // After many equal observations, the average equals the observed lag of 5 ms, and the
        // deviation is small.
        for _ in 0..200 {
            lag.observe(millis(50), millis(45));
        }
        let remaining = |increment, moves_to_go| {
            let (remaining, increment) = (millis(1_000), millis(increment));
            match lag.subtract_from(TimeLimit::Clock { remaining, increment, moves_to_go }) {
                TimeLimit::Clock { remaining, .. } => remaining.as_secs_f64() * 1000.0,
                time => panic!("{time:?}"),
            }
        };
        let check = |found: f64, expected: f64| assert!((found - expected).abs() < 1.0, "{found}");
        check(remaining(6, None), 995.0);
        check(remaining(2, None), 995.0 - 3.0 * 29.0);
        check(remaining(2, Some(2)), 995.0 - 3.0);
        check(remaining(0, Some(1)), 995.0);
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
