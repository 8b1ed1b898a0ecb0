//! The manifest describes how a book was created. It is stored in the book as JSON.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::chess::position::Color;
use crate::games::pgn::GameResult;
use crate::support::words::grouped;

/// Describes how a book was created. The manifest does not depend on the time, the machine or the
/// order of the inputs, so that books built from the same games are identical.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Name and version of the program.
    pub made_by: String,
    /// What the book was created from: `games`, or a description such as `a cut of NAME`.
    pub made_from: String,
    /// The maximum number of plies counted per game, or 0 if unknown.
    pub max_ply: u32,
    /// The games that were counted.
    pub games: GameTotals,
    /// The games that were not counted.
    pub skipped: Skipped,
    /// Games that were not read to the end because of an error. The moves before the error were
    /// counted.
    pub broken: u64,
    /// Descriptions of the filters used to select games and moves.
    pub filters: Vec<String>,
    /// The inputs, sorted.
    pub inputs: Vec<InputRecord>,
    /// Whether the build was interrupted, so that only some of the input was read.
    pub interrupted: bool,
    /// Whether the counts of undecided games are actually weights, as in Polyglot books. A weight
    /// determines how often a move is played, but not how good the move is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub weights: bool,
    /// The FENs of other positions than the standard start position at which lines of the book
    /// begin, sorted. Recorded only for books that count variations, because no move of such a
    /// book may lead to these positions.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub starts: BTreeSet<String>,
}

/// Prefixes of the descriptions of three filters: two that prune moves, and one that keeps only the
/// moves of one side.
pub(crate) const MIN_GAMES: &str = "min-games";
pub(crate) const MIN_SCORE: &str = "min-score";
pub(crate) const SIDE: &str = "side";

impl Manifest {
    pub(crate) fn of_this_program() -> Self {
        let made_by = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned();
        Manifest { made_by, ..Manifest::default() }
    }
}

impl Manifest {
    /// Returns the side whose moves the book contains, or `None` if it contains the moves of both
    /// sides.
    pub fn side(&self) -> Option<Color> {
        // In a merged book whose parts have different filters, each description begins with the
        // name of a part and therefore does not match.
        let mut sides = self.filters.iter().filter_map(|filter| filter.strip_prefix(SIDE));
        match sides.next_back()?.trim() {
            "white" => Some(Color::White),
            "black" => Some(Color::Black),
            _ => None,
        }
    }
}

/// The number of games for each result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GameTotals {
    /// Games that White won.
    pub white: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that Black won.
    pub black: u64,
    /// Games and lines without a result.
    pub undecided: u64,
}

/// Formats totals as `500 won by White, 300 drawn, 350 won by Black, 50 without a result`.
impl fmt::Display for GameTotals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [white, draws, black] = [self.white, self.draws, self.black].map(grouped);
        write!(f, "{white} won by White, {draws} drawn, {black} won by Black")?;
        match self.undecided {
            0 => Ok(()),
            undecided => write!(f, ", {} without a result", grouped(undecided)),
        }
    }
}

impl GameTotals {
    /// Returns the total number of games.
    pub fn total(&self) -> u64 {
        self.white + self.draws + self.black + self.undecided
    }

    pub(crate) fn scaled(&self, weight: f64) -> Self {
        let scale = |games: u64| (games as f64 * weight).round() as u64;
        let GameTotals { white, draws, black, undecided } = *self;
        GameTotals {
            white: scale(white),
            draws: scale(draws),
            black: scale(black),
            undecided: scale(undecided),
        }
    }

    pub(crate) fn count(&mut self, result: GameResult) {
        let games = match result {
            GameResult::White => &mut self.white,
            GameResult::Draw => &mut self.draws,
            GameResult::Black => &mut self.black,
            GameResult::Undecided => &mut self.undecided,
        };
        *games += 1;
    }

    pub(crate) fn subtract(&mut self, other: &GameTotals) {
        self.white = self.white.saturating_sub(other.white);
        self.draws = self.draws.saturating_sub(other.draws);
        self.black = self.black.saturating_sub(other.black);
        self.undecided = self.undecided.saturating_sub(other.undecided);
    }

    pub(crate) fn add(&mut self, other: &GameTotals) {
        self.white = self.white.saturating_add(other.white);
        self.draws = self.draws.saturating_add(other.draws);
        self.black = self.black.saturating_add(other.black);
        self.undecided = self.undecided.saturating_add(other.undecided);
    }
}

/// The number of games that were not counted, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Skipped {
    /// Games without a result.
    pub undecided: u64,
    /// Games of Chess960 and other variants.
    pub variants: u64,
    /// Pieces of text without tags: either text between games, or the rest of a game that was split
    /// by a blank line.
    pub untagged: u64,
    /// Games without any legal move.
    pub empty: u64,
    /// Games excluded by a filter.
    pub filtered: u64,
    /// Duplicates of other games.
    pub duplicates: u64,
}

impl Skipped {
    /// Returns the total number of skipped games.
    pub fn total(&self) -> u64 {
        let Skipped { undecided, variants, untagged, empty, filtered, duplicates } = self;
        undecided + variants + untagged + empty + filtered + duplicates
    }

    pub(crate) fn add(&mut self, other: &Skipped) {
        self.undecided = self.undecided.saturating_add(other.undecided);
        self.variants = self.variants.saturating_add(other.variants);
        self.untagged = self.untagged.saturating_add(other.untagged);
        self.empty = self.empty.saturating_add(other.empty);
        self.filtered = self.filtered.saturating_add(other.filtered);
        self.duplicates = self.duplicates.saturating_add(other.duplicates);
    }
}

/// Formats the nonzero counts with their reasons, such as `3 without result, 1 duplicates`.
impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons = [
            (self.undecided, "without result"),
            (self.variants, "other variants"),
            (self.untagged, "text without a game"),
            (self.empty, "without moves"),
            (self.filtered, "filtered out"),
            (self.duplicates, "duplicates"),
        ];
        let found: Vec<String> = reasons
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, reason)| format!("{number} {reason}"))
            .collect();
        f.write_str(&found.join(", "))
    }
}

/// One input of a build.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct InputRecord {
    /// The file's name without its folder.
    pub name: String,
    /// The size of the input's PGN text, in bytes.
    pub bytes: u64,
    /// The number of games in the input that were counted.
    pub games: u64,
    /// The XXH3 hash of the uncompressed text, in hexadecimal; empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub checksum: String,
}

impl InputRecord {
    /// Whether the two inputs contain the same text, judging by size and checksum. If either has no
    /// checksum, compares the names instead.
    pub(crate) fn is_same_text(&self, other: &InputRecord) -> bool {
        let has_sums = !self.checksum.is_empty() && !other.checksum.is_empty();
        let has_same_sum = self.checksum == other.checksum;
        self.bytes == other.bytes && if has_sums { has_same_sum } else { self.name == other.name }
    }
}

pub(crate) fn checksum_text(checksum: u64) -> String {
    format!("{checksum:016x}")
}
