//! The date and the time of day in Coordinated Universal Time.

use crate::support::clock::{DAY, HOUR, MINUTE, civil_date, since_epoch};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The days of the week, starting with Thursday, the weekday of 1970-01-01.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

pub(super) fn today() -> String {
    let (year, month, day) = civil_date(since_epoch().as_secs() / DAY);
    format!("{year:04}.{month:02}.{day:02}")
}

/// Returns the current time in the format of C's `ctime`: `Sat Jan 31 23:11:09 2026`.
pub(super) fn now() -> String {
    time_stamp(since_epoch().as_secs())
}

fn time_stamp(seconds: u64) -> String {
    let (days, rest) = (seconds / DAY, seconds % DAY);
    let (year, month, day) = civil_date(days);
    let weekday = WEEKDAYS[(days % 7) as usize];
    let month = MONTHS[month as usize - 1];
    let (hours, minutes, seconds) = (rest / HOUR, rest % HOUR / MINUTE, rest % MINUTE);
    format!("{weekday} {month} {day:>2} {hours:02}:{minutes:02}:{seconds:02} {year}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stamp_matches_ctime() {
        // The expected values come from `date -u -d @SECONDS '+%a %b %e %T %Y'`.
        for (seconds, text) in [
            (0, "Thu Jan  1 00:00:00 1970"),
            (1_164_669_069, "Mon Nov 27 23:11:09 2006"),
            (951_868_799, "Tue Feb 29 23:59:59 2000"),
        ] {
            assert_eq!(time_stamp(seconds), text);
        }
    }
}
