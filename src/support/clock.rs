//! The system clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The number of seconds in a day.
pub(crate) const DAY: u64 = 86_400;
/// The number of seconds in an hour.
pub(crate) const HOUR: u64 = 3600;
/// The number of seconds in a minute.
pub(crate) const MINUTE: u64 = 60;

/// Returns the time since 1970-01-01 00:00 UTC.
pub(crate) fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Converts a number of days since 1970-01-01 to year, month and day. Source: Howard Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms" (`civil_from_days`).
pub(crate) fn civil_date(days: u64) -> (u64, u64, u64) {
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
