//! Arguments that filter games by rating, speed and date.

use crate::games::book::{FacetFilter, RatingGroup, Speed};
use crate::games::pgn::PgnDate;

/// Filters by rating group, speed and date.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct FacetArgs {
    /// Rating groups, given by their lower bounds, such as 1600,1800
    #[arg(long, value_delimiter = ',', value_name = "GROUPS")]
    ratings: Vec<RatingGroup>,
    /// Speeds: ultraBullet, bullet, blitz, rapid, classical, correspondence
    #[arg(long, value_delimiter = ',', value_name = "SPEEDS")]
    speeds: Vec<Speed>,
    /// Only games played on this day or later: 2024, 2024.05, 2024.05.17
    #[arg(long, value_name = "DATE")]
    since: Option<PgnDate>,
    /// Only games played on this day or earlier; 2024 means its last day
    #[arg(long, value_name = "DATE", value_parser = PgnDate::end_of)]
    until: Option<PgnDate>,
}

impl FacetArgs {
    pub(in crate::cli) fn resolve(&self) -> FacetFilter {
        FacetFilter {
            ratings: self.ratings.clone(),
            speeds: self.speeds.clone(),
            since: self.since,
            until: self.until,
        }
    }
}
