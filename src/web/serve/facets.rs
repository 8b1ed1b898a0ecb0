//! Reads filters by rating, speed and date from a query.

use super::api_error::ApiError;
use super::query::Query;
use crate::chess::position::Position;
use crate::games::book::{Book, Breadth, FacetFilter, PositionStats, RatingGroup, Speed};
use crate::games::pgn::{Month, PgnDate};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dates {
    Months,
    /// Years such as `2024`. The range runs from January of `since` to December of `until`.
    Years,
}

/// The default range of years in Lichess's explorer. Requests with this range select all games,
/// even those before 1952.
const EVER: (u16, u16) = (1952, 3000);

/// The names of the parameters of a filter.
pub(crate) const PARAMETERS: [&str; 4] = ["ratings", "speeds", "since", "until"];

/// Reads a filter from a query. Conditions that exclude no games, such as a list of all speeds, are
/// left out of the filter.
pub(crate) fn read(query: &mut Query, dates: Dates) -> Result<FacetFilter, ApiError> {
    let ratings = query.list("ratings", "a rating group (0, 1000, … 2500)")?;
    let speeds = query.list("speeds", "a speed (ultraBullet, … correspondence)")?;
    read_dates(query, dates, ratings, speeds)
}

/// Reads the dates of a filter from a query, and combines them with the given ratings and speeds.
pub(crate) fn read_dates(
    query: &mut Query,
    dates: Dates,
    mut ratings: Vec<RatingGroup>,
    mut speeds: Vec<Speed>,
) -> Result<FacetFilter, ApiError> {
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
    ratings.sort_unstable();
    ratings.dedup();
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
    Ok(FacetFilter {
        ratings,
        speeds,
        since: since.and_then(|since| since.to_string().parse().ok()),
        until: until.and_then(|until| PgnDate::end_of(&until.to_string()).ok()),
    })
}

/// Returns a conflict if there is a filter but no book has facets.
pub(crate) fn check(book: &Book, filter: &FacetFilter) -> Result<(), ApiError> {
    if filter.is_everything() || book.has_facets() {
        return Ok(());
    }
    Err(ApiError::conflict(
        "this book does not keep ratings, speeds and dates: leave the filter out, or build it with \
         --facets",
    ))
}

/// Returns the filtered statistics of a position. All responses take their counts from this
/// function.
///
/// # Errors
///
/// Returns a conflict if there is a filter but the book has no facets.
pub(crate) fn explore(
    book: &Book,
    position: &Position,
    filter: &FacetFilter,
    breadth: Breadth,
) -> Result<PositionStats, ApiError> {
    check(book, filter)?;
    Ok(book.explore_to(position, filter, breadth))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(text: &str, dates: Dates) -> Result<FacetFilter, ApiError> {
        let uri = format!("/x?{text}").parse().expect("an address");
        read(&mut Query::of(&uri)?, dates)
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
    fn months_become_days() {
        let filter = filter("since=2020-03&until=2020-05", Dates::Months).expect("fine");
        let [since, until] =
            [filter.since, filter.until].map(|date| date.expect("a date").to_string());
        assert_eq!((since.as_str(), until.as_str()), ("2020.03.01", "2020.05.31"));
    }
}
