//! Which games go into a book.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use thiserror::Error;

use crate::book::facets::FacetFilter;
use crate::pgn::{GameResult, Tags};
use crate::position::Color;

/// The conditions that a game must meet, by its tags. A condition that is set and whose tag is
/// missing is not met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GameFilter {
    /// Both players' rating is at least this.
    pub min_elo: Option<u32>,
    /// Both players' rating is at most this.
    pub max_elo: Option<u32>,
    /// Rating groups, speeds and dates.
    pub facets: FacetFilter,
    /// The ECO code is in one of these ranges.
    pub eco: Vec<EcoRange>,
    /// The time control gives at least so many seconds a player, sixty increments included.
    pub min_seconds: Option<u32>,
    /// As above, at most.
    pub max_seconds: Option<u32>,
    /// The result is one of these.
    pub results: Vec<GameResult>,
    /// A player's name holds one of these, in lower case.
    pub players: Vec<String>,
    /// One of the players has one of these titles.
    pub titles: Vec<String>,
    /// Of this side only are rating, name and title asked; `None` for both.
    pub side: Option<Color>,
}

/// Moves for which an increment is counted in when time controls are compared.
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

    /// Of a tag of White's and one of Black's, those that count.
    fn of_side<'a>(&self, names: [&'a str; 2]) -> Vec<&'a str> {
        let sides = [Color::White, Color::Black].into_iter().zip(names);
        let counts = |side| self.side.is_none_or(|wanted| wanted == side);
        sides.filter(|&(side, _)| counts(side)).map(|(_, name)| name).collect()
    }

    fn rating_passes(&self, tags: &Tags) -> bool {
        if self.min_elo.is_none() && self.max_elo.is_none() {
            return true;
        }
        let range = self.min_elo.unwrap_or(0)..=self.max_elo.unwrap_or(u32::MAX);
        self.of_side(["WhiteElo", "BlackElo"])
            .iter()
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
        let any = |wanted: &[String], names: [&str; 2], fits: fn(&str, &str) -> bool| {
            wanted.is_empty()
                || self.of_side(names).iter().filter_map(|name| tags.get(name)).any(|value| {
                    let value = value.to_lowercase();
                    wanted.iter().any(|wanted| fits(&value, wanted))
                })
        };
        any(&self.players, ["White", "Black"], |value, wanted| value.contains(wanted))
            && any(&self.titles, ["WhiteTitle", "BlackTitle"], |value, wanted| value == wanted)
    }

    /// The conditions in words, for the manifest.
    pub fn in_words(&self) -> Vec<String> {
        let number = |name: &str, value: Option<u32>| value.map(|value| format!("{name} {value}"));
        let list = |name: &str, values: Vec<String>| {
            (!values.is_empty()).then(|| format!("{name} {}", values.join(",")))
        };
        let mut words = Vec::new();
        words.extend(number("min-elo", self.min_elo));
        words.extend(number("max-elo", self.max_elo));
        words.extend(self.facets.in_words());
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

fn number(tags: &Tags, name: &str) -> Option<u32> {
    tags.get(name)?.trim().parse().ok()
}

/// The seconds that a `TimeControl` tag gives for a game: its first period (`40/7200`, `300+3`,
/// `180`) with the increments of a typical game.
fn seconds(text: &str) -> Option<u32> {
    let first = text.split(':').next()?.trim();
    let period = first.rsplit('/').next()?;
    let (base, increment) = period.split_once('+').unwrap_or((period, "0"));
    let base: u32 = base.trim_start_matches('*').parse().ok()?;
    let increment: u32 = increment.parse().ok()?;
    Some(base.saturating_add(increment.saturating_mul(TYPICAL_MOVES)))
}

/// A text that is no ECO range.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ParseFilterError(String);

/// ECO codes from one to another: `B20-B99`, or a single one, or a letter (`C`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EcoRange(RangeInclusive<[u8; 3]>);

impl FromStr for EcoRange {
    type Err = ParseFilterError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || {
            ParseFilterError(format!(
                "{text:?} is no ECO code or range: expected B90, B20-B99 or C"
            ))
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
