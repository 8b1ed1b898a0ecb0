//! The settings for the PGN that the match runner writes.
//!
//! ```
//! use tabia::autoplay::pgn_style::PgnFields;
//!
//! let fields: PgnFields = "nodes,seldepth".parse()?;
//! assert_eq!(fields.to_string(), "nodes,seldepth");
//! assert_eq!(PgnFields::default().to_string(), "nodes,book");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::str::FromStr;

use crate::support::error::ParseError;
use crate::support::words::named_values;

/// An optional field in a move comment, written after the score, depth and time. The description of
/// each variant ends with the name used in the PGN file. These names are the same as in fastchess,
/// except for `book`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PgnField {
    /// The time left on the clock after the move, including the increment: `tl`.
    TimeLeft,
    /// The move time measured by the match runner minus the time reported by the engine: `latency`.
    Latency,
    /// The number of nodes: `n`.
    Nodes,
    /// The selective depth: `sd`.
    SelectiveDepth,
    /// Nodes per second: `nps`.
    Speed,
    /// How full the transposition table is, in permille: `hashfull`.
    HashFull,
    /// The number of tablebase hits: `tbhits`.
    TablebaseHits,
    /// The principal variation: `pv`.
    Line,
    /// The engine's description of how the book ended its search: `book`.
    Book,
}

named_values! {
    pub PgnField, "field": TimeLeft = "timeleft", Latency = "latency", Nodes = "nodes",
    SelectiveDepth = "seldepth", Speed = "nps", HashFull = "hashfull", TablebaseHits = "tbhits",
    Line = "pv", Book = "book"
}

/// The optional fields in move comments, in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgnFields(pub Vec<PgnField>);

impl Default for PgnFields {
    fn default() -> Self {
        PgnFields(vec![PgnField::Nodes, PgnField::Book])
    }
}

impl fmt::Display for PgnFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|field| field.name()).collect();
        f.write_str(if names.is_empty() { "none" } else { "" })?;
        f.write_str(&names.join(","))
    }
}

impl FromStr for PgnFields {
    type Err = ParseError;

    /// Parses a comma-separated list of names, `all`, or `none`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "all" => Ok(PgnFields(PgnField::ALL.to_vec())),
            "none" => Ok(PgnFields(Vec::new())),
            list => list.split(',').map(str::parse).collect::<Result<_, _>>().map(PgnFields),
        }
    }
}

/// The PGN tags that have the same value in all games of a match, and the fields to write in move
/// comments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PgnStyle {
    /// The value of the `Event` tag.
    pub event: String,
    /// The value of the `Site` tag. An empty string is written as `?`.
    pub site: String,
    /// The fields to write in move comments.
    pub fields: PgnFields,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_fields_are_parsed() {
        for list in ["none", "pv", "nps,tbhits,timeleft"] {
            assert_eq!(list.parse::<PgnFields>().map(|fields| fields.to_string()), Ok(list.into()));
        }
        let all: PgnFields = "all".parse().expect("all fields");
        assert_eq!(all.0, PgnField::ALL);
        let error = "nodes,colour".parse::<PgnFields>().expect_err("no such field");
        assert!(error.to_string().contains("\"colour\": expected one of timeleft"), "{error}");
    }
}
