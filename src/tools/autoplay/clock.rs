//! Time controls and chess clocks.
//!
//! ```
//! use std::time::Duration;
//!
//! use tabia::autoplay::clock::TimeControl;
//!
//! let control: TimeControl = "40/60+0.5".parse()?;
//! assert_eq!((control.moves, control.base), (Some(40), Duration::from_secs(60)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::support::error::ParseError;
use crate::support::words::{Seconds, parse_clock};

/// The limits for an engine's searches. They can be combined, and at least one should be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MoveLimits {
    /// The time control of the chess clock, if the games are played with one.
    pub clock: Option<TimeControl>,
    /// Maximum time for each move.
    pub move_time: Option<Duration>,
    /// Maximum depth in plies.
    pub depth: Option<u32>,
    /// Maximum number of nodes for each move.
    pub nodes: Option<u64>,
}

/// A time control: the base time, for the whole game or for a number of moves, and the increment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeControl {
    /// The number of moves after which `base` is added again, or `None` if `base` covers the whole
    /// game.
    pub moves: Option<u32>,
    /// The initial time on the clock.
    pub base: Duration,
    /// The time added to the clock after every move.
    pub increment: Duration,
}

impl FromStr for TimeControl {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = || {
            ParseError(format!(
                "\"{text}\" is not a time control: expected [MOVES/]TIME[+INCREMENT] in seconds or \
                 MIN:SEC, like 40/60+0.5 or 10+0.1"
            ))
        };
        let (moves, times) = match text.split_once('/') {
            Some((moves, times)) => {
                let moves = moves.parse().ok().filter(|&moves| moves > 0).ok_or_else(fail)?;
                (Some(moves), times)
            }
            None => (None, text),
        };
        let (base, increment) = times.split_once('+').unwrap_or((times, "0"));
        let base = parse_clock(base, 1).ok_or_else(fail)?;
        let increment = parse_clock(increment, 1).ok_or_else(fail)?;
        if base.is_zero() && increment.is_zero() {
            return Err(fail());
        }
        Ok(TimeControl { moves, base, increment })
    }
}

/// Formats the time control as the value of the `TimeControl` PGN tag, such as `40/60+0.5`.
impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        write!(f, "{}", Seconds(self.base))?;
        if !self.increment.is_zero() {
            write!(f, "+{}", Seconds(self.increment))?;
        }
        Ok(())
    }
}

/// Formats the limits as in the PGN tag `TimeControl`: `10+0.1`, `0.5/move` or `depth 6`.
impl fmt::Display for MoveLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.clock.map(|clock| clock.to_string()),
            self.move_time.map(|time| format!("{}/move", Seconds(time))),
            self.depth.map(|depth| format!("depth {depth}")),
            self.nodes.map(|nodes| format!("{nodes} nodes")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }.as_str())
    }
}

/// Rounds the time used for a move down to whole milliseconds, the resolution of UCI clocks.
///
/// fastchess and cutechess-cli round in the same way. With an increment of a few milliseconds, an
/// engine would have noticeably less time without the rounding.
pub(crate) fn whole_milliseconds(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs()) + Duration::from_millis(time.subsec_millis().into())
}

/// One player's clock.
#[derive(Debug, Clone)]
pub struct Clock {
    /// The limits on the player's searches.
    pub limits: MoveLimits,
    /// The remaining time. Meaningful only if the limits include a clock.
    pub remaining: Duration,
    /// The number of moves to the next time control, if there is one.
    pub moves_to_go: Option<u32>,
    /// The total time that the player has used in this game.
    pub used: Duration,
    margin: Duration,
}

impl Clock {
    /// Creates a player's clock for one game. A player who exceeds a time limit by more than
    /// `margin` loses on time.
    pub fn new(limits: MoveLimits, margin: Duration) -> Self {
        let remaining = limits.clock.map_or(Duration::ZERO, |clock| clock.base);
        let moves_to_go = limits.clock.and_then(|clock| clock.moves);
        Clock { limits, remaining, moves_to_go, used: Duration::ZERO, margin }
    }

    /// Returns the remaining time, or `None` if the limits do not include a clock.
    pub fn left(&self) -> Option<Duration> {
        self.limits.clock.map(|_| self.remaining)
    }

    /// Returns the longest time that the next move may take without a loss on time, including the
    /// margin, or `None` if time is not limited.
    pub fn allowance(&self) -> Option<Duration> {
        let on_clock = self.limits.clock.map(|_| self.remaining);
        let least = match (on_clock, self.limits.move_time) {
            (Some(clock), Some(move_time)) => Some(clock.min(move_time)),
            (clock, move_time) => clock.or(move_time),
        };
        least.map(|time| time.saturating_add(self.margin))
    }

    /// Deducts the time used for a move and adds the increment. Returns true if the move was made
    /// in time.
    pub fn stop(&mut self, elapsed: Duration) -> bool {
        let in_time = self.allowance().is_none_or(|allowance| elapsed <= allowance);
        self.used += elapsed;
        let Some(control) = self.limits.clock else { return in_time };
        self.remaining = self.remaining.saturating_sub(elapsed) + control.increment;
        if let Some(moves) = &mut self.moves_to_go {
            *moves -= 1;
            if *moves == 0 {
                self.remaining += control.base;
                self.moves_to_go = control.moves;
            }
        }
        in_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(text: &str) -> TimeControl {
        text.parse().expect(text)
    }

    #[test]
    fn times_are_rounded_down_to_milliseconds() {
        for (nanos, millis) in [(0, 0), (999_999, 0), (1_000_000, 1), (2_001_999_999, 2001)] {
            let rounded = whole_milliseconds(Duration::from_nanos(nanos));
            assert_eq!(rounded, Duration::from_millis(millis), "{nanos}");
        }
    }

    #[test]
    fn time_controls_are_parsed_and_printed() {
        for (text, printed) in [
            ("40/60+0.5", "40/60+0.5"),
            ("10+0.1", "10+0.1"),
            ("1:30", "90"),
            ("0:01.5+0.010", "1.5+0.01"),
            ("0+1", "0+1"),
        ] {
            assert_eq!(control(text).to_string(), printed);
        }
        for text in ["", "0", "x", "0/60", "60/", "-1", "1e9", "nan", "inf", "1+", "99999999999"] {
            assert!(text.parse::<TimeControl>().is_err(), "{text}");
        }
    }

    #[test]
    fn clock_adds_increments_and_sessions() {
        let limits = MoveLimits { clock: Some(control("2/10+1")), ..MoveLimits::default() };
        let mut clock = Clock::new(limits, Duration::from_millis(50));
        assert!(clock.stop(Duration::from_secs(4)));
        assert_eq!((clock.remaining.as_secs(), clock.moves_to_go), (7, Some(1)));
        assert!(clock.stop(Duration::from_millis(7_050)));
        assert_eq!((clock.remaining.as_secs(), clock.moves_to_go), (11, Some(2)));
        assert!(!clock.stop(Duration::from_millis(11_051)));
    }

    #[test]
    fn fixed_depth_has_no_time_limit() {
        let limits = MoveLimits { depth: Some(3), ..MoveLimits::default() };
        let mut clock = Clock::new(limits, Duration::ZERO);
        assert_eq!(clock.allowance(), None);
        assert!(clock.stop(Duration::from_secs(3600)));
    }
}
