//! PGN dates, parts of which may be unknown.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::games::pgn::Tags;
use crate::support::error::ParseError;

/// A day that can be compared with the dates of games. It is parsed from text such as `2024.05.17`,
/// `2024.05.??` or `2024`; an unknown month or day is replaced by the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PgnDate {
    year: u16,
    month: u8,
    day: u8,
}

impl PgnDate {
    /// Parses a day, month or year and returns its last day: `2024` becomes 31 December 2024.
    ///
    /// # Errors
    /// If the text is not a date.
    pub fn end_of(text: &str) -> Result<Self, ParseError> {
        let (year, month, day) = GameDate::parse(text)?.parts();
        let last = |part: u8, last: u8| if part == 0 { last } else { part };
        Ok(PgnDate { year, month: last(month, LAST_MONTH), day: last(day, LAST_DAY) })
    }

    /// Returns the earliest game date that is not before this day. In a game date, an unknown month
    /// or day counts as 1.
    pub(crate) fn lower_bound(self) -> GameDate {
        let day = if self.day == 1 { 0 } else { self.day };
        let month = if day == 0 && self.month == 1 { 0 } else { self.month };
        GameDate::of_parts(self.year, month, day)
    }

    /// Returns the latest game date that is on or before this day.
    pub(crate) fn upper_bound(self) -> GameDate {
        GameDate::of_parts(self.year, self.month, self.day)
    }
}

impl FromStr for PgnDate {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (year, month, day) = GameDate::parse(text)?.parts();
        Ok(PgnDate { year, month: month.max(1), day: day.max(1) })
    }
}

impl fmt::Display for PgnDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}.{:02}.{:02}", self.year, self.month, self.day)
    }
}

const LAST_MONTH: u8 = 12;
const LAST_DAY: u8 = 31;

/// The month of a game, formatted as `2024-05`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Month {
    /// The year.
    pub year: u16,
    /// The month, from 1 to 12; 1 if unknown.
    pub month: u8,
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl FromStr for Month {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || ParseError(format!("{text:?} is not a month: expected YYYY-MM"));
        let (year, month) = text.split_once('-').ok_or_else(bad)?;
        let (year, month) = year.parse().ok().zip(month.parse().ok()).ok_or_else(bad)?;
        (1..=LAST_MONTH).contains(&month).then_some(Month { year, month }).ok_or_else(bad)
    }
}

impl Serialize for Month {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The date of a game, which may be incomplete. It is stored as a number, so that later dates
/// compare greater. A date with an unknown day compares less than all other dates in its month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct GameDate(u32);

const DAY_BITS: u32 = 5;
const MONTH_BITS: u32 = 4;
const IS_KNOWN: u32 = 1 << (DAY_BITS + MONTH_BITS + u16::BITS);

impl GameDate {
    pub(crate) const BITS: u32 = DAY_BITS + MONTH_BITS + u16::BITS + 1;
    /// The value for an unknown date.
    pub const UNKNOWN: GameDate = GameDate(0);
    pub(crate) const FIRST: GameDate = GameDate(IS_KNOWN);

    fn of_parts(year: u16, month: u8, day: u8) -> Self {
        let months = u32::from(year) << MONTH_BITS | u32::from(month);
        GameDate(IS_KNOWN | months << DAY_BITS | u32::from(day))
    }

    /// Parses a date, in which the day or both the month and the day may be missing or unknown.
    ///
    /// # Errors
    /// If the text has no year, or if part of the date is out of range.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let bad =
            || ParseError(format!("{text:?} is not a date: expected YYYY, YYYY.MM or YYYY.MM.DD"));
        let mut parts = text.trim().split(['.', '-', '/']);
        let year = parts.next().and_then(|year| year.parse().ok()).ok_or_else(bad)?;
        let mut part = |largest: u8| match parts.next() {
            None => Ok(0),
            Some(unknown) if unknown.starts_with('?') => Ok(0),
            Some(number) => {
                number.parse().ok().filter(|part| (1..=largest).contains(part)).ok_or_else(bad)
            }
        };
        let (month, day) = (part(LAST_MONTH)?, part(LAST_DAY)?);
        Ok(Self::of_parts(year, month, if month == 0 { 0 } else { day }))
    }

    /// Returns the date of a game from the `Date` tag or, if there is none, from the `UTCDate` tag.
    pub(crate) fn of(tags: &Tags) -> Self {
        let date = tags.get("Date").or_else(|| tags.get("UTCDate"));
        date.and_then(|text| Self::parse(&text).ok()).unwrap_or_default()
    }

    /// Returns the year, month and day. An unknown month or day is 0.
    fn parts(self) -> (u16, u8, u8) {
        let day = self.0 & ((1 << DAY_BITS) - 1);
        let month = self.0 >> DAY_BITS & ((1 << MONTH_BITS) - 1);
        ((self.0 >> (DAY_BITS + MONTH_BITS)) as u16, month as u8, day as u8)
    }

    /// Returns the month of the date: January if only the year is known, or `None` if the date is
    /// unknown.
    pub fn month(self) -> Option<Month> {
        let (year, month, _) = self.parts();
        (self != Self::UNKNOWN).then(|| Month { year, month: month.max(1) })
    }

    #[inline]
    pub(crate) fn without_day(self) -> Self {
        GameDate(self.0 >> DAY_BITS << DAY_BITS)
    }

    #[cfg(feature = "parquet")]
    pub(crate) const MONTH_BITS: u32 = Self::BITS - DAY_BITS;

    #[cfg(feature = "parquet")]
    pub(crate) fn split(self) -> (u32, u32) {
        (self.0 >> DAY_BITS, self.0 & ((1 << DAY_BITS) - 1))
    }

    #[cfg(feature = "parquet")]
    pub(crate) fn of_month(month: u32, day: u32) -> Self {
        GameDate(month << DAY_BITS | day)
    }

    /// Returns the date as a decimal number such as `20240517`, with zeros for unknown parts, or
    /// `None` if the whole date is unknown.
    #[cfg(feature = "parquet")]
    pub(crate) fn in_digits(self) -> Option<u32> {
        let (year, month, day) = self.parts();
        let digits = (u32::from(year) * 100 + u32::from(month)) * 100 + u32::from(day);
        (self != Self::UNKNOWN).then_some(digits)
    }

    pub(crate) fn number(self) -> u32 {
        self.0
    }

    pub(crate) fn from_number(number: u32) -> Self {
        GameDate(number)
    }
}

impl fmt::Display for GameDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::UNKNOWN {
            return f.write_str("????.??.??");
        }
        let (year, month, day) = self.parts();
        write!(f, "{year:04}")?;
        [month, day].iter().try_for_each(|part| match part {
            0 => f.write_str(".??"),
            part => write!(f, ".{part:02}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_date() -> impl Strategy<Value = String> {
        let part = |last: u8| {
            prop_oneof![Just("??".to_owned()), (1..=last).prop_map(|part| format!("{part:02}"))]
        };
        (1990_u16..1993, part(12), part(31), 0_usize..3).prop_map(|(year, month, day, parts)| {
            match parts {
                0 => format!("{year}"),
                1 => format!("{year}.{month}"),
                _ => format!("{year}.{month}.{day}"),
            }
        })
    }

    proptest! {
        #[test]
        fn numeric_bounds_match_calendar_days(game in any_date(), bound in any_date()) {
            let number = GameDate::parse(&game).expect("a date");
            let day: PgnDate = game.parse().expect("a date");
            let bound: PgnDate = bound.parse().expect("a date");
            prop_assert_eq!(number >= bound.lower_bound(), day >= bound);
            prop_assert_eq!(number <= bound.upper_bound(), day <= bound);
            prop_assert!(number >= GameDate::FIRST);
        }

        #[test]
        fn date_round_trips(text in any_date()) {
            let date = GameDate::parse(&text).expect("a date");
            prop_assert_eq!(GameDate::parse(&date.to_string()), Ok(date));
            prop_assert_eq!(GameDate::from_number(date.number()), date);
        }

        #[cfg(feature = "parquet")]
        #[test]
        fn date_splits_into_month_and_day(text in any_date(), other in any_date()) {
            let date = |text: &str| GameDate::parse(text).expect("a date");
            let (date, other) = (date(&text), date(&other));
            let (month, day) = date.split();
            prop_assert!(month >> GameDate::MONTH_BITS == 0);
            prop_assert_eq!(GameDate::of_month(month, day), date);
            prop_assert_eq!(date.in_digits().cmp(&other.in_digits()), date.cmp(&other));
        }
    }

    #[test]
    fn missing_parts_are_the_first_or_last_possible() {
        assert_eq!("2024".parse::<PgnDate>().expect("a date").to_string(), "2024.01.01");
        let ends =
            [("2024", "2024.12.31"), ("2024.05", "2024.05.31"), ("2024-05-03", "2024.05.03")];
        for (text, end) in ends {
            assert_eq!(PgnDate::end_of(text).expect("a date").to_string(), end);
        }
        for bad in ["", "????.??.??", "2024.13", "2024.00.01", "May"] {
            assert!(GameDate::parse(bad).is_err() && PgnDate::end_of(bad).is_err(), "{bad}");
        }
        assert_eq!(GameDate::UNKNOWN.month(), None);
        #[cfg(feature = "parquet")]
        assert_eq!(GameDate::UNKNOWN.in_digits(), None);
        let month = GameDate::parse("2024.??.??").expect("a date").month().expect("known");
        assert_eq!(month.to_string().parse(), Ok(Month { year: 2024, month: 1 }));
    }
}
