//! Argument groups that several commands share.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, RangedI64ValueParser, TypedValueParser};

use crate::chess::score::Depth;
use crate::engine::controller::EvaluationKind;
use crate::engine::eval::Evaluation;
use crate::support::files::FileError;
pub(super) use crate::support::threads::cores;
use crate::support::words::parse_time;

/// The largest depth of a search that can be requested, in plies.
const MAX_DEPTH: i64 = 64;

/// Parses the depth of a search.
pub(super) fn depth() -> RangedI64ValueParser<Depth> {
    clap::value_parser!(Depth).range(1..=MAX_DEPTH)
}

/// The number of threads.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Threads {
    /// Number of threads (default: one per core)
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

impl Threads {
    pub(super) fn count(self) -> usize {
        self.threads.map_or_else(cores, usize::from)
    }
}

/// The number of games played at the same time.
#[derive(Debug, clap::Args)]
pub(super) struct Concurrency {
    /// Games to play at the same time (default: one per core)
    #[arg(short = 'j', long, value_name = "N")]
    concurrency: Option<usize>,
}

impl Concurrency {
    pub(super) fn count(&self) -> usize {
        self.concurrency.unwrap_or_else(cores).max(1)
    }
}

/// The memory for the transposition table of each search.
#[derive(Debug, clap::Args)]
pub(super) struct TableMemory {
    /// Memory for the transposition table of each search, such as 16 or 16M
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = parse_memory)]
    memory: usize,
}

impl TableMemory {
    pub(super) fn mebibytes(&self) -> usize {
        mebibytes(self.memory)
    }
}

/// Converts bytes to mebibytes, rounded down but at least 1.
pub(super) fn mebibytes(bytes: usize) -> usize {
    (bytes >> 20).max(1)
}

/// Parses a size such as `256M` and returns it in bytes. A number without a unit is in mebibytes.
pub(super) fn parse_memory(text: &str) -> Result<usize, String> {
    let (number, shift) = match text.as_bytes().last().map(u8::to_ascii_uppercase) {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 20),
    };
    let bytes = number.parse::<usize>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.filter(|&bytes| bytes > 0).ok_or_else(|| "expected a size such as 256M or 4G".to_owned())
}

/// The limit on the search of each position.
#[derive(Debug, clap::Args)]
pub(super) struct SearchLimit {
    /// Nodes for each position
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,
    /// Seconds for each position, instead of nodes
    #[arg(long, value_name = "S", value_parser = parse_time, conflicts_with = "nodes")]
    pub seconds: Option<Duration>,
}

/// The evaluation that a command uses.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct EvaluationArgs {
    /// Evaluation to use: nnue (a network) or classical
    #[arg(
        long = "evaluation",
        value_name = "KIND",
        default_value = EvaluationKind::default().name(),
        hide_default_value = true,
        hide_possible_values = true,
        value_parser = PossibleValuesParser::new(EvaluationKind::NAMES).try_map(|name| name.parse::<EvaluationKind>())
    )]
    pub kind: EvaluationKind,
    /// Use this network file, made by `tabia train net`
    #[arg(long, value_name = "FILE")]
    pub network: Option<PathBuf>,
}

impl EvaluationArgs {
    pub(super) fn open(&self) -> Result<Evaluation, FileError> {
        self.kind.open(self.network.as_deref())
    }
}

/// The input games, in PGN.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct GamePaths {
    /// PGN files or folders; may be compressed (.gz, .bz2, .zst); - means standard input
    #[arg(required = true, value_name = "GAMES")]
    pub games: Vec<PathBuf>,
}

/// The folders that contain the PGN files from which a book was built.
#[derive(Debug, clap::Args)]
pub(super) struct GameFolders {
    /// Folder to which the book's game files have been moved; may be repeated
    #[arg(long = "games", value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [("1", 1 << 20), ("3k", 3 << 10), ("256M", 256 << 20), ("4G", 4 << 30)]
        {
            assert_eq!(parse_memory(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "M", "x", "1.5G", "-1", "99999999999999999999", "9999999999999G"] {
            assert!(parse_memory(text).is_err(), "{text}");
        }
        assert_eq!(TableMemory { memory: 1 << 10 }.mebibytes(), 1);
    }
}
