//! The date and the time of day in Coordinated Universal Time.

use crate::support::clock::since_epoch;

// In seconds.
const DAY: u64 = 86_400;
const HOUR: u64 = 3600;
const MINUTE: u64 = 60;

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

/// Converts a number of days since 1970-01-01 to year, month and day. Source: Howard Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms" (`civil_from_days`).
fn civil_date(days: u64) -> (u64, u64, u64) {
    // In this calculation, years start in March, so that the leap day is the last day of the year.
    // An era has 400 years.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (400 * era + year_of_era + u64::from(month <= 2), month, day)
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

    #[test]
    fn civil_date_matches_known_days() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (11_016, (2000, 2, 29)),
            (20_454, (2026, 1, 1)),
            (20_512, (2026, 2, 28)),
        ] {
            assert_eq!(civil_date(days), date);
        }
    }
}
