//! The day, as PGN has it.

/// Today in Universal Time: `2026.01.31`.
pub(super) fn today() -> String {
    /// Seconds of a day.
    const DAY: u64 = 86_400;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let days = now.map_or(0, |time| time.as_secs() / DAY);
    let (year, month, day) = civil_date(days);
    format!("{year:04}.{month:02}.{day:02}")
}

/// Year, month and day of a number of days since 1970-01-01. Source: Howard Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms" (`civil_from_days`).
fn civil_date(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that the leap day is the last of the year; eras have 400 years.
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
    fn days_become_dates() {
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
