//! The tags of a game, packed into one word, and filters for games by their tags.

use super::kinds::{RatingGroup, Speed};
use crate::chess::position::Color;
use crate::games::pgn::{GameDate, PgnDate};
use crate::games::pgn::{GameResult, Tags};

const MAX_RATING: u32 = (1 << RATING_BITS) - 1;

/// Date, ratings, speed and result of a game. From the highest bit: date, White's and Black's
/// ratings (0 if unknown), speed, result. Later games therefore have greater values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(in crate::games::book) struct GameTags(u64);

const RATING_BITS: u32 = 12;
const SPEED_BITS: u32 = 3;
const RESULT_BITS: u32 = 2;
const SPEED_SHIFT: u32 = RESULT_BITS;
const BLACK_SHIFT: u32 = SPEED_SHIFT + SPEED_BITS;
const WHITE_SHIFT: u32 = BLACK_SHIFT + RATING_BITS;
const DATE_SHIFT: u32 = WHITE_SHIFT + RATING_BITS;

const _: () = assert!(DATE_SHIFT + GameDate::BITS <= u64::BITS);

const RESULTS: [GameResult; 4] =
    [GameResult::White, GameResult::Draw, GameResult::Black, GameResult::Undecided];

impl GameTags {
    /// Whether [`GameTags::of`] uses this tag.
    #[inline]
    pub(in crate::games::book) fn uses(name: &[u8]) -> bool {
        matches!(name, b"WhiteElo" | b"BlackElo" | b"Date" | b"UTCDate" | b"TimeControl")
    }

    /// Packs the tags of a game. A rating that is not a positive integer is treated as unknown.
    pub(in crate::games::book) fn of(tags: &Tags) -> Self {
        let rating = |name| {
            let number = tags.get(name).and_then(|text| text.trim().parse::<u32>().ok());
            u64::from(number.unwrap_or(0).min(MAX_RATING))
        };
        let speed =
            tags.get("TimeControl").map_or(Speed::Classical, |text| Speed::of_time_control(&text));
        let date = u64::from(GameDate::of(tags).number());
        GameTags(
            date << DATE_SHIFT
                | rating("WhiteElo") << WHITE_SHIFT
                | rating("BlackElo") << BLACK_SHIFT
                | (speed as u64) << SPEED_SHIFT
                | GameResult::Undecided as u64,
        )
    }

    pub(in crate::games::book) fn with_result(self, result: GameResult) -> Self {
        GameTags(self.0 >> RESULT_BITS << RESULT_BITS | result as u64)
    }

    pub(in crate::games::book) fn to_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    #[inline]
    pub(in crate::games::book) fn from_bytes(bytes: [u8; 8]) -> Self {
        GameTags(u64::from_le_bytes(bytes))
    }

    #[inline]
    pub(in crate::games::book) fn result(self) -> GameResult {
        RESULTS[(self.0 & ((1 << RESULT_BITS) - 1)) as usize]
    }

    #[inline]
    pub(in crate::games::book) fn rating(self, side: Color) -> Option<u16> {
        let shift = if side == Color::White { WHITE_SHIFT } else { BLACK_SHIFT };
        let rating = (self.0 >> shift & u64::from(MAX_RATING)) as u16;
        (rating > 0).then_some(rating)
    }

    #[inline]
    pub(in crate::games::book) fn mean_rating(self) -> Option<u16> {
        match (self.rating(Color::White), self.rating(Color::Black)) {
            (Some(white), Some(black)) => Some((white + black) / 2),
            (white, black) => white.or(black),
        }
    }

    pub(in crate::games::book) fn speed(self) -> Speed {
        let number = self.0 >> SPEED_SHIFT & ((1 << SPEED_BITS) - 1);
        // Clamp the number, because a book written by another program may contain an invalid one.
        Speed::ALL[(number as usize).min(Speed::ALL.len() - 1)]
    }

    #[inline]
    pub(in crate::games::book) fn date(self) -> GameDate {
        GameDate::from_number((self.0 >> DATE_SHIFT) as u32)
    }
}

/// Selects games by date, ratings and speed. The default filter accepts all games.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct FacetFilter {
    /// The accepted rating groups; if empty, all games pass. A game belongs to the group of its
    /// players' mean rating, or of the only known rating. A game without ratings belongs to no
    /// group.
    pub ratings: Vec<RatingGroup>,
    /// The accepted speeds.
    pub speeds: Vec<Speed>,
    /// The earliest date to accept (inclusive). If set, games without a date are rejected.
    pub since: Option<PgnDate>,
    /// The latest date to accept (inclusive). If set, games without a date are rejected.
    pub until: Option<PgnDate>,
}

impl FacetFilter {
    /// Whether all games pass.
    pub fn is_everything(&self) -> bool {
        *self == FacetFilter::default()
    }

    pub(in crate::games::book) fn passes(&self, tags: &Tags) -> bool {
        self.is_everything() || CompiledFilter::new(self).passes(GameTags::of(tags))
    }

    pub(in crate::games::book) fn describe(&self) -> Vec<String> {
        let list = |name: &str, values: Vec<String>| {
            (!values.is_empty()).then(|| format!("{name} {}", values.join(",")))
        };
        [
            list("ratings", self.ratings.iter().map(RatingGroup::to_string).collect()),
            list("speeds", self.speeds.iter().map(Speed::to_string).collect()),
            self.since.map(|date| format!("since {date}")),
            self.until.map(|date| format!("until {date}")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// A filter compiled for testing many games quickly.
#[derive(Debug, Clone, Copy)]
pub(in crate::games::book) struct CompiledFilter {
    /// The accepted rating groups as a bit set; `None` if all games pass.
    ratings: Option<u16>,
    speeds: u8,
    first: GameDate,
    last: GameDate,
}

impl CompiledFilter {
    pub(in crate::games::book) fn new(filter: &FacetFilter) -> Self {
        let FacetFilter { ratings, speeds, since, until } = filter;
        let dated = since.is_some() || until.is_some();
        let first = if dated { GameDate::FIRST } else { GameDate::UNKNOWN };
        CompiledFilter {
            ratings: (!ratings.is_empty())
                .then(|| ratings.iter().fold(0, |set, group| set | group.bit())),
            speeds: match speeds.is_empty() {
                true => u8::MAX,
                false => speeds.iter().fold(0, |set, speed| set | speed.bit()),
            },
            first: since.map_or(first, PgnDate::lower_bound),
            last: until.map_or(GameDate::from_number(u32::MAX), PgnDate::upper_bound),
        }
    }

    #[inline]
    pub(in crate::games::book) fn passes(&self, game_tags: GameTags) -> bool {
        self.accepts(game_tags.date(), game_tags.speed(), || game_tags.mean_rating())
    }

    #[inline]
    pub(in crate::games::book) fn accepts(
        &self,
        date: GameDate,
        speed: Speed,
        mean_rating: impl FnOnce() -> Option<u16>,
    ) -> bool {
        let group = || mean_rating().map_or(0, |rating| RatingGroup::of(rating).bit());
        (self.first..=self.last).contains(&date)
            && self.speeds & speed.bit() != 0
            && self.ratings.is_none_or(|wanted| wanted & group() != 0)
    }
}
