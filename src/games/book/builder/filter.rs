//! Filters the games from which a book is built.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::chess::position::Color;
use crate::games::book::facets::FacetFilter;
use crate::games::pgn::{GameResult, Tags};
use crate::support::error::ParseError;

/// Conditions on the tags of a game. A condition fails if the game lacks the tag that it tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GameFilter {
    /// The minimum rating of both players, or of one player if `rated_side` is set.
    pub min_elo: Option<u32>,
    /// The maximum rating of both players, or of one player if `rated_side` is set.
    pub max_elo: Option<u32>,
    /// The accepted rating groups, speeds and dates.
    pub facets: FacetFilter,
    /// Accepted ranges of ECO codes. If empty, all games pass.
    pub eco: Vec<EcoRange>,
    /// Minimum time per player, in seconds: the initial time plus 60 increments.
    pub min_seconds: Option<u32>,
    /// Maximum time per player, in seconds: the initial time plus 60 increments.
    pub max_seconds: Option<u32>,
    /// The accepted results.
    pub results: Vec<GameResult>,
    /// Lower-case strings, at least one of which must occur in a player's name. If empty, all games
    /// pass.
    pub players: Vec<String>,
    /// Titles in lower case, at least one of which a player must have. If empty, all games pass.
    pub titles: Vec<String>,
    /// The side whose name and title are tested; `None` for either side.
    pub side: Option<Color>,
    /// The side whose rating is tested; `None` if the ratings of both sides must be in the range.
    pub rated_side: Option<Color>,
}

/// Number of increments added to the initial time when time controls are compared.
const TYPICAL_MOVES: u32 = 60;

impl GameFilter {
    /// Whether a game with these tags passes.
    pub fn passes(&self, tags: &Tags) -> bool {
        self.rating_passes(tags)
            && self.facets.passes(tags)
            && self.eco_passes(tags)
            && self.time_passes(tags)
            && self.players_pass(tags)
            && (self.results.is_empty()
                || tags.result().is_some_and(|result| self.results.contains(&result)))
    }

    fn rating_passes(&self, tags: &Tags) -> bool {
        if self.min_elo.is_none() && self.max_elo.is_none() {
            return true;
        }
        let range = self.min_elo.unwrap_or(0)..=self.max_elo.unwrap_or(u32::MAX);
        of_side(self.rated_side, ["WhiteElo", "BlackElo"])
            .all(|name| number(tags, name).is_some_and(|elo| range.contains(&elo)))
    }

    fn eco_passes(&self, tags: &Tags) -> bool {
        if self.eco.is_empty() {
            return true;
        }
        let Some(code) = tags.raw("ECO").and_then(|text| text.first_chunk::<3>()) else {
            return false;
        };
        self.eco.iter().any(|range| range.0.contains(code))
    }

    fn time_passes(&self, tags: &Tags) -> bool {
        if self.min_seconds.is_none() && self.max_seconds.is_none() {
            return true;
        }
        let range = self.min_seconds.unwrap_or(0)..=self.max_seconds.unwrap_or(u32::MAX);
        tags.get("TimeControl")
            .and_then(|text| seconds(&text))
            .is_some_and(|time| range.contains(&time))
    }

    fn players_pass(&self, tags: &Tags) -> bool {
        let any = |names: [&str; 2], fits: &dyn Fn(&str) -> bool| {
            of_side(self.side, names).filter_map(|name| tags.get(name)).any(|value| fits(&value))
        };
        let has_title = |title: &str| self.titles.contains(&title.to_lowercase());
        (self.players.is_empty()
            || any(["White", "Black"], &|name| names_player(&self.players, name)))
            && (self.titles.is_empty() || any(["WhiteTitle", "BlackTitle"], &has_title))
    }

    /// Describes the filter's conditions in the form stored in the book's manifest.
    pub fn describe(&self) -> Vec<String> {
        let number = |name: &str, value: Option<u32>| value.map(|value| format!("{name} {value}"));
        let list = |name: &str, values: Vec<String>| {
            (!values.is_empty()).then(|| format!("{name} {}", values.join(",")))
        };
        let mut words = Vec::new();
        words.extend(number("min-elo", self.min_elo));
        words.extend(number("max-elo", self.max_elo));
        words.extend(self.facets.describe());
        let rest = [
            list("eco", self.eco.iter().map(EcoRange::to_string).collect()),
            number("min-seconds", self.min_seconds),
            number("max-seconds", self.max_seconds),
            list("result", self.results.iter().map(GameResult::to_string).collect()),
            list("player", self.players.clone()),
            list("title", self.titles.clone()),
        ];
        words.extend(rest.into_iter().flatten());
        words
    }
}

/// Whether a player's name contains one of the strings in `wanted`, which must be in lower case.
pub(crate) fn names_player(wanted: &[String], name: &str) -> bool {
    let name = name.to_lowercase();
    wanted.iter().any(|wanted| name.contains(wanted))
}

/// Returns the ASCII letters of the surname in `name`, in lower case. Different spellings of a name
/// usually have the same letters.
pub(crate) fn surname_letters(name: &[u8]) -> impl Iterator<Item = u8> {
    let surname = name.split(|&byte| byte == b',').next().unwrap_or_default();
    surname.iter().filter(|byte| byte.is_ascii_alphabetic()).map(u8::to_ascii_lowercase)
}

/// Returns the item for `side`, or both items if `side` is `None`.
pub(in crate::games::book) fn of_side<T>(
    side: Option<Color>,
    of_both: [T; 2],
) -> impl Iterator<Item = T> {
    let sides = [Color::White, Color::Black].into_iter().zip(of_both);
    sides.filter(move |&(own, _)| side.is_none_or(|side| side == own)).map(|(_, item)| item)
}

fn number(tags: &Tags, name: &str) -> Option<u32> {
    tags.get(name)?.trim().parse().ok()
}

/// Parses a `TimeControl` tag such as `40/7200`, `300+3` or `180`. Returns the time per player in
/// seconds: that of the first period plus the increments of a typical game.
fn seconds(text: &str) -> Option<u32> {
    let first = text.split(':').next()?.trim();
    let period = first.rsplit('/').next()?;
    let (base, increment) = period.split_once('+').unwrap_or((period, "0"));
    let base: u32 = base.trim_start_matches('*').parse().ok()?;
    let increment: u32 = increment.parse().ok()?;
    Some(base.saturating_add(increment.saturating_mul(TYPICAL_MOVES)))
}

/// A range of ECO codes: `B20-B99`, a single code, or all codes with the same letter (`C`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EcoRange(RangeInclusive<[u8; 3]>);

impl FromStr for EcoRange {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || {
            ParseError(format!("{text:?} is not an ECO code or range: expected B90, B20-B99 or C"))
        };
        let upper = text.trim().to_ascii_uppercase();
        let (first, last) = upper.split_once('-').unwrap_or((&upper, &upper));
        let code = |part: &str, filler: u8| match *part.as_bytes() {
            [letter @ b'A'..=b'E'] => Ok([letter, filler, filler]),
            [letter @ b'A'..=b'E', ten @ b'0'..=b'9'] => Ok([letter, ten, filler]),
            [letter @ b'A'..=b'E', ten @ b'0'..=b'9', one @ b'0'..=b'9'] => Ok([letter, ten, one]),
            _ => Err(bad()),
        };
        Ok(EcoRange(code(first, b'0')?..=code(last, b'9')?))
    }
}

impl fmt::Display for EcoRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, last] =
            [self.0.start(), self.0.end()].map(|code| String::from_utf8_lossy(code));
        write!(f, "{first}-{last}")
    }
}
