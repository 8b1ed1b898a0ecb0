//! Parses and formats time spans.

use std::fmt;
use std::time::Duration;

/// The longest time that can be parsed: ten years. It is small enough that the sum of several such
/// times cannot overflow.
pub(crate) const LONGEST_TIME: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Formats seconds with as many decimals as necessary: `30`, `0.05`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seconds(pub Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_secs())?;
        match self.0.subsec_nanos() {
            0 => Ok(()),
            nanos => f.write_str(format!(".{nanos:09}").trim_end_matches('0')),
        }
    }
}

/// Formats a duration in minutes, followed by seconds unless they are zero: `5`, `0:30`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MinutesSeconds(pub Duration);

impl fmt::Display for MinutesSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.0.as_secs() / 60;
        let rest = self.0 - Duration::from_secs(minutes * 60);
        if rest.is_zero() {
            return write!(f, "{minutes}");
        }
        let zero = if rest.as_secs() < 10 { "0" } else { "" };
        write!(f, "{minutes}:{zero}{}", Seconds(rest))
    }
}

/// Parses seconds with or without decimals (`30`, `0.5`), up to [`LONGEST_TIME`].
pub(crate) fn parse_seconds(text: &str) -> Option<Duration> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && decimals.is_empty() {
        return None;
    }
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) {
        return None;
    }
    let seconds = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    let nanos = format!("{decimals:0<9}")[..9].parse().ok()?;
    (seconds <= LONGEST_TIME.as_secs()).then(|| Duration::new(seconds, nanos))
}

/// Like [`parse_seconds`], but rejects zero. The error describes the expected format.
pub(crate) fn parse_time(text: &str) -> Result<Duration, &'static str> {
    let time = parse_seconds(text).filter(|time| !time.is_zero());
    time.ok_or("expected seconds above 0, such as 5 or 0.5")
}

/// Parses either `M:SS` or a plain number in units of `unit` seconds. All numbers may have
/// decimals. A plain number is in minutes in the xboard protocol, and in seconds on the command
/// line.
pub(crate) fn parse_clock(text: &str, unit: u32) -> Option<Duration> {
    let time = match text.split_once(':') {
        Some((minutes, seconds)) => {
            parse_seconds(minutes)?.checked_mul(60)? + parse_seconds(seconds)?
        }
        None => parse_seconds(text)?.checked_mul(unit)?,
    };
    (time <= LONGEST_TIME).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_times_are_parsed_in_all_forms() {
        for (text, seconds) in [
            ("5", Some(300.0)),
            ("0:30", Some(30.0)),
            ("1:05", Some(65.0)),
            ("0.5", Some(30.0)),
            ("0:00.25", Some(0.25)),
            ("0", Some(0.0)),
            ("", None),
            ("x", None),
            (":", None),
            ("-3", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(parse_clock(text, 60), seconds.map(Duration::from_secs_f64), "{text}");
        }
        assert_eq!(parse_clock("1:30", 1), parse_clock("90", 1));
    }

    #[test]
    fn seconds_accept_decimals_but_no_signs() {
        for (text, milliseconds) in [("0.05", 50), (".01", 10), ("2.", 2000)] {
            let time = Duration::from_millis(milliseconds);
            assert_eq!(parse_seconds(text), Some(time), "{text}");
            assert_eq!(parse_seconds(&Seconds(time).to_string()), Some(time));
        }
        for text in ["1e3", "1e300", "NaN", "inf", "-1", "+1", "x", ""] {
            assert_eq!(parse_seconds(text), None, "{text}");
        }
        assert!(parse_time("0.5").is_ok() && parse_time("0").is_err());
    }
}
