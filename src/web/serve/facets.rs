//! Filters of games by rating, speed and date, read from a query.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::api_error::ApiError;
use super::query::Query;
use crate::games::book::{FacetFilter, RatingGroup, Speed};
use crate::games::pgn::{self, PgnDate};

/// A month, such as `2024-06`; a year alone stands for the whole year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Month {
    pub(crate) year: u16,
    /// From 1.
    pub(crate) month: u8,
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl Serialize for Month {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An unknown month becomes January.
impl From<pgn::Month> for Month {
    fn from(month: pgn::Month) -> Self {
        Month { year: month.year, month: month.month.unwrap_or(1) }
    }
}

impl FromStr for Month {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (year, month) = text.split_once('-').ok_or(())?;
        let month: u8 = month.parse().map_err(|_| ())?;
        let year = year.parse().map_err(|_| ())?;
        (1..=12).contains(&month).then_some(Month { year, month }).ok_or(())
    }
}

impl Month {
    /// Reads the month of a PGN date such as `2024.06.??`; an unknown month becomes January.
    pub(crate) fn of_date(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let year = parts.next()?.parse().ok()?;
        let month = parts.next().and_then(|month| month.parse().ok()).unwrap_or(1);
        Some(Month { year, month: u8::clamp(month, 1, 12) })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dates {
    Months,
    /// `2024`, with all its months.
    Years,
}

/// The default range of years of Lichess' explorer. It means all games, including older ones.
const EVER: (u16, u16) = (1952, 3000);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Filter {
    /// Rating groups; empty for all.
    pub(crate) ratings: Vec<RatingGroup>,
    /// Speeds; empty for all.
    pub(crate) speeds: Vec<Speed>,
    pub(crate) since: Option<Month>,
    pub(crate) until: Option<Month>,
}

impl Filter {
    /// Reads a filter. A part that includes every possible game is treated as absent.
    ///
    /// # Errors
    /// If a parameter is invalid.
    pub(crate) fn of(query: &mut Query, dates: Dates) -> Result<Self, ApiError> {
        let ratings: Vec<RatingGroup> =
            query.list("ratings", "a rating group (0, 1000, … 2500)")?;
        let speeds: Vec<Speed> = query.list("speeds", "a speed (ultraBullet, … correspondence)")?;
        Self::with(query, dates, &ratings, &speeds)
    }

    /// Reads the dates of a filter with these ratings and speeds.
    ///
    /// # Errors
    /// If a parameter is invalid.
    pub(crate) fn with(
        query: &mut Query,
        dates: Dates,
        ratings: &[RatingGroup],
        speeds: &[Speed],
    ) -> Result<Self, ApiError> {
        let (since, until) = match dates {
            Dates::Months => {
                let what = "a month such as 2024-06";
                (query.read("since", what)?, query.read("until", what)?)
            }
            Dates::Years => {
                let year = |query: &mut Query, name| query.number(name, (0, 9999));
                let month = |year: u64, month| Month { year: year as u16, month };
                let since = year(query, "since")?.map(|year| month(year, 1));
                (since, year(query, "until")?.map(|year| month(year, 12)))
            }
        };
        let mut ratings = ratings.to_vec();
        ratings.sort_unstable();
        ratings.dedup();
        let mut speeds = speeds.to_vec();
        speeds.sort_unstable();
        speeds.dedup();
        if ratings.len() == RatingGroup::BOUNDS.len() {
            ratings.clear();
        }
        if speeds.len() == Speed::ALL.len() {
            speeds.clear();
        }
        let first = Month { year: EVER.0, month: 1 };
        let since = since.filter(|&since: &Month| since != first);
        let until = until.filter(|until: &Month| until.year < EVER.1);
        Ok(Filter { ratings, speeds, since, until })
    }

    /// Whether every game passes.
    pub(crate) fn is_everything(&self) -> bool {
        *self == Filter::default()
    }

    /// Converts the filter to the one of books.
    pub(crate) fn of_books(&self) -> FacetFilter {
        let text = |month: Month| format!("{:04}.{:02}", month.year, month.month);
        FacetFilter {
            ratings: self.ratings.clone(),
            speeds: self.speeds.clone(),
            since: self.since.and_then(|since| text(since).parse().ok()),
            until: self.until.and_then(|until| PgnDate::end_of(&text(until)).ok()),
        }
    }

    /// Whether a game of this speed and month passes. A game without a date passes only if the
    /// filter has no dates.
    pub(crate) fn passes(&self, speed: Speed, month: Option<Month>) -> bool {
        let is_early = self.since.is_some_and(|since| month.is_none_or(|month| month < since));
        let is_late = self.until.is_some_and(|until| month.is_none_or(|month| month > until));
        !is_early && !is_late && (self.speeds.is_empty() || self.speeds.contains(&speed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(text: &str, dates: Dates) -> Result<Filter, ApiError> {
        let uri = format!("/x?{text}").parse().expect("an address");
        Filter::of(&mut Query::of(&uri)?, dates)
    }

    #[test]
    fn filter_accepting_everything_is_recognised() {
        for (text, dates) in [
            ("", Dates::Months),
            ("speeds=&ratings=", Dates::Months),
            ("speeds=ultraBullet,bullet,blitz,rapid,classical,correspondence", Dates::Months),
            ("ratings=0,1000,1200,1400,1600,1800,2000,2200,2500", Dates::Months),
            ("since=1952-01&until=3000-12", Dates::Months),
            ("since=1952", Dates::Years),
        ] {
            assert!(filter(text, dates).expect(text).is_everything(), "{text}");
        }
        for text in
            ["speeds=blitz", "ratings=2500", "since=1952-02", "since=1929-03", "until=2999-12"]
        {
            assert!(!filter(text, Dates::Months).expect(text).is_everything(), "{text}");
        }
        for text in ["speeds=fast", "ratings=1100", "since=1952", "since=2000-13", "until=x"] {
            assert!(filter(text, Dates::Months).is_err(), "{text}");
        }
    }

    #[test]
    fn dates_are_compared_by_month() {
        let filter = filter("since=2020-03&until=2020-05", Dates::Months).expect("fine");
        let passes = |date| filter.passes(Speed::Blitz, Month::of_date(date));
        assert!(passes("2020.03.01") && passes("2020.05.??"));
        assert!(!passes("2020.02.28") && !passes("2020.06.01") && !passes("????.??.??"));
        let FacetFilter { since, until, .. } = filter.of_books();
        let [since, until] = [since, until].map(|date| date.expect("a date").to_string());
        assert_eq!((since.as_str(), until.as_str()), ("2020.03.01", "2020.05.31"));
    }
}
