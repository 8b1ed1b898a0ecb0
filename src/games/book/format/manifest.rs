//! How a book was made, written into it as JSON.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::games::pgn::GameResult;

/// How a book was made. Nothing in it depends on the clock, the machine, the number of threads or
/// the order of the inputs, so the same games give the same bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Program and version.
    pub made_by: String,
    /// How it was made, if not from games: `merge`, `import` and so on, with what mattered.
    pub made_from: String,
    /// Moves deeper in a game than this many plies were not counted; 0 if unknown.
    pub max_ply: u32,
    /// The games that counted.
    pub games: GameTotals,
    /// The games that did not.
    pub skipped: Skipped,
    /// Games that stopped at a fault; the moves before it counted.
    pub broken: u64,
    /// The filters that games had to pass, in words.
    pub filters: Vec<String>,
    /// The inputs, sorted.
    pub inputs: Vec<InputRecord>,
    /// The build was cut short: only a part of the inputs was read.
    pub interrupted: bool,
    /// What stands as games without a result are weights, as Polyglot books have them: they tell
    /// how often a move is to be played, and nothing of its worth.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub weights: bool,
}

/// The filters that leave moves out, each before its value, and what a book made of books was made of.
pub(crate) const MIN_GAMES: &str = "min-games";
pub(crate) const MIN_SCORE: &str = "min-score";
pub(crate) const MERGED: &str = " books: ";

impl Manifest {
    /// A manifest that names this program and says nothing else.
    pub(crate) fn of_this_program() -> Self {
        let made_by = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned();
        Manifest { made_by, ..Manifest::default() }
    }
}

impl Manifest {
    /// What the filters have left out of positions.
    pub(crate) fn pruning(&self) -> Pruning {
        // A merged book has those of its parts, each after the name of the part.
        let of_part = |filter: &'_ str| filter.rsplit(": ").next().unwrap_or_default().to_owned();
        let filters: Vec<String> = self.filters.iter().map(|filter| of_part(filter)).collect();
        let values = |name: &str| {
            let values = filters.iter().filter_map(move |filter| filter.strip_prefix(name));
            values.filter_map(|value| value.trim().parse::<f64>().ok()).fold(0.0, f64::max)
        };
        Pruning {
            min_games: values(MIN_GAMES) as u64,
            by_score: values(MIN_SCORE) > 0.0,
            merged: self.made_from.contains(MERGED),
        }
    }
}

/// What a book lacks because too few games have it or it scored too little.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pruning {
    /// Moves with this many games or more are there; 0 or 1 for all.
    min_games: u64,
    /// Moves that scored badly may be missing, whatever their games.
    by_score: bool,
    /// The counts are those of several books, each pruned by itself.
    merged: bool,
}

impl Pruning {
    /// Whether games that left a position by a move may all be missing from it, where `reached` games
    /// reached it and it has so many legal moves.
    pub(crate) fn may_hide(&self, reached: u64, legal_moves: u64) -> bool {
        let hidden = legal_moves.saturating_mul(self.min_games.saturating_sub(1));
        let by_games = hidden > 0 && (hidden >= reached || self.merged);
        // A position of fewer games belongs to a part of the book that was not pruned.
        self.by_score || by_games && reached >= self.min_games
    }
}

/// Games by result.
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

impl GameTotals {
    /// All games.
    pub fn total(&self) -> u64 {
        self.white + self.draws + self.black + self.undecided
    }

    /// The numbers multiplied by a weight and rounded, as those of a merged book are.
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

    /// Counts one game more.
    pub(crate) fn count(&mut self, result: GameResult) {
        let games = match result {
            GameResult::White => &mut self.white,
            GameResult::Draw => &mut self.draws,
            GameResult::Black => &mut self.black,
            GameResult::Undecided => &mut self.undecided,
        };
        *games += 1;
    }

    /// Takes games away that were counted before.
    pub(crate) fn subtract(&mut self, other: &GameTotals) {
        self.white = self.white.saturating_sub(other.white);
        self.draws = self.draws.saturating_sub(other.draws);
        self.black = self.black.saturating_sub(other.black);
        self.undecided = self.undecided.saturating_sub(other.undecided);
    }

    pub(crate) fn add(&mut self, other: &GameTotals) {
        self.white += other.white;
        self.draws += other.draws;
        self.black += other.black;
        self.undecided += other.undecided;
    }
}

/// Games that did not count, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Skipped {
    /// Without a result.
    pub undecided: u64,
    /// Chess960 and other variants.
    pub variants: u64,
    /// Without tags: text between games, or the tail of a game torn by a blank line.
    pub untagged: u64,
    /// Without a single legal move.
    pub empty: u64,
    /// Kept out by a filter.
    pub filtered: u64,
    /// The same game again.
    pub duplicates: u64,
}

impl Skipped {
    /// All of them.
    pub fn total(&self) -> u64 {
        let Skipped { undecided, variants, untagged, empty, filtered, duplicates } = self;
        undecided + variants + untagged + empty + filtered + duplicates
    }

    pub(crate) fn add(&mut self, other: &Skipped) {
        self.undecided += other.undecided;
        self.variants += other.variants;
        self.untagged += other.untagged;
        self.empty += other.empty;
        self.filtered += other.filtered;
        self.duplicates += other.duplicates;
    }
}

/// `3 without result, 1 variant …`: the reasons that occurred.
impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reasons = [
            (self.undecided, "without result"),
            (self.variants, "other variants"),
            (self.untagged, "no game but text"),
            (self.empty, "without legal moves"),
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
    /// Its size in bytes, as PGN text.
    pub bytes: u64,
    /// The games in it that counted.
    pub games: u64,
    /// The XXH3 hash of its text in hexadecimal, however it is compressed; empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub checksum: String,
}

impl InputRecord {
    /// Whether both records are of the same text: by checksum, or by name and size where a record of
    /// an older book has none.
    pub(crate) fn is_same_text(&self, other: &InputRecord) -> bool {
        let has_sums = !self.checksum.is_empty() && !other.checksum.is_empty();
        let has_same_sum = self.checksum == other.checksum;
        self.bytes == other.bytes && if has_sums { has_same_sum } else { self.name == other.name }
    }
}

/// A checksum as [`InputRecord`] keeps it.
pub(crate) fn checksum_text(checksum: u64) -> String {
    format!("{checksum:016x}")
}
