//! The time budget of a search.
//!
//! No new iteration starts after the soft bound; at the hard bound, the search stops immediately.
//! The soft bound is longer while the best move changes or its score falls, and shorter while one
//! move is clearly best. See <https://www.chessprogramming.org/Time_Management>.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::control::Control;
use super::limits::{Limits, TimeLimit};
use crate::chess::score::Score;

/// The remaining time is divided by the number of moves to the next time control, capped at this
/// number.
const MAX_MOVES: u32 = 56;
/// Share of the available time to use for one move at the start of the game, if the number of moves
/// to go is unknown.
///
/// This constant, the next two and the formula come from Reckless, where they were tuned by playing
/// games. See docs/measurements/strength-time-management.md.
const SHARE: f64 = 0.024;
const SHARE_GROWTH: f64 = 0.042;
/// Rate per move at which the share approaches `SHARE + SHARE_GROWTH`.
const SHARE_RATE: f64 = 0.045;
/// Percentage of the increment that is added to the time for the current move. Chosen by hand.
const INCREMENT_SHARE: u32 = 75;
/// Part of a fixed move time that is reserved for sending the move. With xboard, sending takes only
/// a few milliseconds; the rest is a margin for a busy machine.
pub(crate) const MOVE_OVERHEAD: Duration = Duration::from_millis(25);
/// Time reserved on a clock, because overloaded machines were observed to stall for this long.
/// Without the reserve, a clock with an increment of 0.05 s ran down to 0.35 s.
const STALL: Duration = Duration::from_millis(300);
/// Maximum percentage of the clock that is reserved. With a value of 50, a clock with an increment
/// of 0.01 s ran down to 0.08 s, and two of 500 games were lost on time on a machine that stalled
/// for 0.15 s.
const RESERVE_SHARE: u32 = 75;
/// If the clock is shorter than [`STALL`], the time for a move is multiplied by this power of their
/// ratio, so that the increment makes the clock longer again. A search that is shorter than a time
/// slice of the scheduler is also interrupted less often.
const CAUTION: i32 = 3;
/// Maximum ratio of the hard bound to the soft bound. Chosen by hand. On a clock shorter than
/// [`STALL`], the ratio is smaller.
const HARD_FACTOR: f64 = 5.0;
/// Maximum hard bound, as a percentage of the clock. Chosen by hand. With a value of 55, one game
/// in a hundred was lost on time on an overloaded machine, where a search with a bound of 0.24 s
/// took 0.50 s.
const HARD_SHARE: u32 = 40;
/// Minimum soft and hard bound, long enough for the search to complete its first iteration.
const SHORTEST: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct TimeManager {
    start: Instant,
    soft: Option<Duration>,
    hard: Option<Duration>,
    pondering: bool,
    /// Time from the start of the search until the search first noticed the ponder hit.
    hit: OnceLock<Duration>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Stability {
    pub(super) unchanged: u32,
    /// Amount by which the score has fallen since the last iteration, in centipawns; negative if
    /// the score has risen.
    pub(super) fall: Score,
    /// Share of all nodes spent on the best move, from 0 to 1.
    pub(super) effort: f64,
}

impl TimeManager {
    pub(super) fn start(limits: &Limits, move_number: u16) -> Self {
        let (soft, hard) = match limits.time {
            TimeLimit::Infinite => (None, None),
            TimeLimit::MoveTime(time) => {
                let time = time.saturating_sub(MOVE_OVERHEAD.min(time / 10)).max(SHORTEST);
                (None, Some(time))
            }
            TimeLimit::Clock { remaining, increment, moves_to_go } => {
                let (soft, hard) = budget(remaining, increment, moves_to_go, move_number);
                (Some(soft), Some(hard))
            }
        };
        let (start, hit) = (Instant::now(), OnceLock::new());
        TimeManager { start, soft, hard, pondering: limits.ponder, hit }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Returns the share of the soft bound or, with a fixed move time, of that time that has been
    /// spent. Time spent pondering counts towards the soft bound only. Returns `None` while
    /// pondering, or if there is no time limit.
    pub(super) fn spent(&self, control: &Control) -> Option<f64> {
        if self.is_pondering(control) {
            return None;
        }
        let (spent, bound) = match (self.soft, self.hard) {
            (Some(soft), _) => (self.elapsed(), soft),
            (None, Some(hard)) => (self.own_time(), hard),
            (None, None) => return None,
        };
        Some(spent.as_secs_f64() / bound.as_secs_f64().max(1e-9))
    }

    pub(super) fn is_pondering(&self, control: &Control) -> bool {
        self.pondering && !control.is_ponder_hit()
    }

    pub(super) fn leaves(&self, time: Duration) -> bool {
        self.hard.is_none_or(|hard| hard >= time)
    }

    /// Whether the hard bound has been reached. Time before the ponder hit is not counted.
    pub(super) fn must_stop(&self, control: &Control) -> bool {
        let Some(hard) = self.hard else { return false };
        !self.is_pondering(control) && self.own_time() >= hard
    }

    /// Returns the time that has passed on the engine's own clock: since the ponder hit was noticed
    /// or, without pondering, since the start.
    fn own_time(&self) -> Duration {
        let elapsed = self.elapsed();
        let since = if self.pondering { *self.hit.get_or_init(|| elapsed) } else { Duration::ZERO };
        elapsed - since
    }

    /// Returns the time since the start or the ponder hit, but at most the hard bound. Any time
    /// beyond the bound is a delay caused by the machine.
    pub(super) fn planned(&self) -> Duration {
        let time = self.own_time();
        self.hard.map_or(time, |hard| time.min(hard))
    }

    /// Whether the soft bound, scaled by the stability of the best move, has been reached. Time
    /// spent pondering is included.
    pub(super) fn is_enough(&self, control: &Control, stability: Stability) -> bool {
        let Some(soft) = self.soft else { return false };
        !self.is_pondering(control) && self.elapsed() >= soft.mul_f64(stability.time_factor())
    }

    /// Whether the search may stop early: true on a clock, false with a fixed time or no limit.
    pub(super) fn is_flexible(&self) -> bool {
        self.soft.is_some()
    }
}

impl Stability {
    /// Returns the factor by which the soft bound is multiplied. The constants in the formula were
    /// chosen by hand.
    fn time_factor(self) -> f64 {
        let settled = match self.unchanged {
            0 => 1.7,
            1 => 1.25,
            2 => 1.05,
            3 => 0.95,
            _ => 0.85,
        };
        let falling = (1.0 + f64::from(self.fall) / 120.0).clamp(0.9, 1.6);
        let effort = (1.6 - self.effort) * 1.25;
        settled * falling * effort.clamp(0.6, 1.6)
    }
}

/// Returns the time that a move normally takes: the soft bound before it is scaled by the stability
/// of the best move.
pub(crate) fn usual_time(
    remaining: Duration,
    increment: Duration,
    moves_to_go: Option<u32>,
    move_number: u16,
) -> Duration {
    budget(remaining, increment, moves_to_go, move_number).0
}

fn budget(
    remaining: Duration,
    increment: Duration,
    moves_to_go: Option<u32>,
    move_number: u16,
) -> (Duration, Duration) {
    let reserve = STALL.min(remaining * RESERVE_SHARE / 100);
    let available = remaining.saturating_sub(reserve).max(SHORTEST);
    let of_clock = match moves_to_go {
        Some(moves) => available / moves.clamp(1, MAX_MOVES),
        None => available.mul_f64(clock_share(move_number)),
    };
    let ease = ease(remaining);
    let share = (of_clock + increment * INCREMENT_SHARE / 100).mul_f64(ease);
    let most =
        if moves_to_go == Some(1) { available * 4 / 5 } else { available * HARD_SHARE / 100 };
    let hard = share.mul_f64(1.0 + (HARD_FACTOR - 1.0) * ease).min(most).max(SHORTEST);
    (share.min(hard), hard)
}

/// Returns the factor for the time of a move: 1, or less if the clock is shorter than [`STALL`].
fn ease(remaining: Duration) -> f64 {
    remaining.div_duration_f64(STALL).min(1.0).powi(CAUTION)
}

/// Returns the share of the available time to use for one move. The share grows during the game,
/// because fewer moves remain.
fn clock_share(move_number: u16) -> f64 {
    let grown = 1.0 - (-SHARE_RATE * f64::from(move_number)).exp();
    SHARE + SHARE_GROWTH * grown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(duration: Duration) -> u128 {
        duration.as_millis()
    }

    #[test]
    fn budget_is_less_than_the_clock() {
        for remaining in [1, 5, 20, 50, 100, 1_000, 60_000, 7_200_000] {
            for increment in [0, 10, 100, 5_000] {
                for moves in [None, Some(1), Some(2), Some(40), Some(1_000)] {
                    let [left, added] = [remaining, increment].map(Duration::from_millis);
                    let (soft, hard) = budget(left, added, moves, 30);
                    assert!(
                        soft <= hard && (hard < left || remaining <= 1),
                        "{left:?} {added:?} {moves:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn short_clocks_keep_a_reserve() {
        let (soft, hard) = budget(Duration::from_millis(100), Duration::from_millis(10), None, 30);
        assert!(millis(soft) <= 10 && millis(hard) <= 10, "{soft:?} {hard:?}");
        let left = Duration::from_millis(500);
        let (soft, hard) = budget(left, Duration::from_millis(50), None, 30);
        assert!(millis(soft) <= 50 && hard + STALL < left, "{soft:?} {hard:?}");
    }

    #[test]
    fn clocks_shorter_than_a_stall_grow_with_the_increment() {
        for (left, increment) in [(200, 2), (100, 2), (150, 10), (50, 1)] {
            let [left, increment] = [left, increment].map(Duration::from_millis);
            let (soft, _) = budget(left, increment, None, 60);
            assert!(soft <= increment, "{left:?} {increment:?}: {soft:?}");
        }
        let usual = |left| budget(Duration::from_millis(left), Duration::ZERO, None, 1).0;
        assert!(usual(300) > usual(200) * 5 / 2, "{:?} {:?}", usual(300), usual(200));
    }

    #[test]
    fn later_moves_get_a_larger_share_of_the_clock() {
        let at = |number| budget(Duration::from_secs(60), Duration::ZERO, None, number).0;
        assert!(at(1) < at(20) && at(20) < at(60) && at(60) < 3 * at(1));
    }

    #[test]
    fn unstable_best_move_gets_more_time() {
        let settled = Stability { unchanged: 9, fall: 0, effort: 0.95 };
        let open = Stability { unchanged: 0, fall: 60, effort: 0.3 };
        assert!(settled.time_factor() < 0.8 && open.time_factor() > 2.0);
    }

    #[test]
    fn pondering_uses_no_time_until_the_hit() {
        let limits =
            Limits { time: TimeLimit::MoveTime(Duration::ZERO), ponder: true, ..Limits::default() };
        let (clock, control) = (TimeManager::start(&limits, 1), Control::new());
        std::thread::sleep(Duration::from_millis(2));
        assert!(!clock.must_stop(&control));
        control.ponder_hit();
        assert!(!clock.must_stop(&control), "the clock starts with the hit");
        std::thread::sleep(Duration::from_millis(2));
        assert!(clock.must_stop(&control));
    }
}
