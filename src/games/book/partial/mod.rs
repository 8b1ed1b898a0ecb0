//! Partial counts in Parquet: what a build has counted before it becomes a book, for engines that
//! group and sort more rows than one machine holds. `docs/scale.md` tells how they are used.
//!
//! A folder of partial counts has a file `part-NNN.parquet` for each range of keys, cut by their top
//! bits, and a `manifest.json` of the games. The columns of a file:
//!
//! | column | type | |
//! | --- | --- | --- |
//! | `key` | INT64 | the position's key; its 64 bits are read as a number with a sign |
//! | `pawns` | INT32 | the top 32 bits of the key of its pawns, likewise |
//! | `black_to_move` | BOOLEAN | |
//! | `move` | INT32, or null | the move that left it, as Polyglot writes moves |
//! | `again` | BOOLEAN | the games had been there before, and count for the move alone |
//! | `white`, `draws`, `black`, `undecided` | INT64 | the games by their result |
//!
//! and where games are counted with facets:
//!
//! | column | type | |
//! | --- | --- | --- |
//! | `rating_group` | INT32, or null | the lower bound of the group of the players' mean rating |
//! | `speed` | text | |
//! | `month` | INT32, or null | when the games were played: 202405, or 202400 if only the year is known |
//! | `rating_sum`, `rated` | INT64 | the ratings of those to move, and how many of them had one |
//! | `latest` | INT32, or null | the day of the latest game: 20240517, with zeros for what is not known |
//! | `latest_game` | text | the id of that game; of several of that day, the greatest |
//!
//! Rows that agree in the first five columns, and in the first three of the facets, may be added up, in
//! any order; nothing else may be done to them. Numbers have signs because Spark knows no others.

mod folder;
mod rows;
mod table;

use std::io::{self, Read, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::builder::{BuildError, BuildOptions, BuildTally, Monitor};
use super::builder::{Counted, Packing, count, on_threads, pack};
use super::format::manifest::Manifest;
use crate::games::pgn::PgnInput;
use folder::{Draft, PartialMetadata, accounts_in, joined, tables_in};
use rows::Tables;
use table::{RowTotals, TableWriter};

/// What became of games that were counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial {
    /// What became of the games.
    pub tally: BuildTally,
    /// The rows that were written.
    pub rows: u64,
}

/// What a book was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// How the book was made, as it says itself.
    pub manifest: Manifest,
    /// The rows that were read.
    pub rows: u64,
}

/// Counts games, with facets if the options say so, and writes the counts to a new folder, in so many
/// files, a power of two. The folder is there as a whole or not at all.
///
/// # Errors
/// If the folder is there and not empty, a game is broken and the build is strict, the monitor has
/// stopped the reading, or the disk fails.
pub fn count_to_parquet(
    inputs: &[PgnInput],
    options: &BuildOptions,
    monitor: &Monitor,
    folder: &Path,
    files: usize,
) -> Result<Partial, BuildError> {
    let draft = Draft::new(folder)?;
    let counted = count(inputs, options, monitor)?;
    let next = AtomicUsize::new(0);
    let written = on_threads(options.threads, &|| {
        let mut totals = RowTotals::default();
        loop {
            let file = next.fetch_add(1, Relaxed);
            if file >= files || monitor.is_stopped() {
                return Ok(totals);
            }
            let name = format!("part-{file:03}.parquet");
            let table = TableWriter::new(draft.create(&name)?, options.facets)?;
            let parts = Counted::PARTS / files;
            let parts = file * parts..(file + 1) * parts;
            totals = totals.add(write_parts(&counted, parts, table)?);
        }
    })?;
    if monitor.is_stopped() {
        return Err(BuildError::Interrupted("not all counts were written"));
    }
    let totals = written.into_iter().fold(RowTotals::default(), RowTotals::add);
    draft.keep(&PartialMetadata::new(counted.manifest, options.facets, totals)?)?;
    Ok(Partial { tally: counted.tally, rows: totals.rows })
}

/// Writes the rows of some parts. Returns what they come to.
fn write_parts(
    counted: &Counted,
    mut parts: Range<usize>,
    mut table: TableWriter,
) -> io::Result<RowTotals> {
    parts.try_for_each(|part| counted.rows(part, |row| table.push(row)))?;
    table.finish()
}

/// Makes a book of the partial counts in folders and those below them, and writes it to an empty
/// `output`. What was grouped by others must have the manifests of all that it was made of beside it.
///
/// # Errors
/// If the counts cannot be read, do not belong together, are not whole, or are of no game; if the book
/// cannot be written, or the monitor has stopped it.
pub fn pack_parquet<W: Read + Write + Seek>(
    folders: &[PathBuf],
    options: &BuildOptions,
    monitor: &Monitor,
    output: W,
) -> Result<(W, Packed), BuildError> {
    let account = joined(accounts_in(folders)?)?;
    let tables = Tables::open(tables_in(folders)?)?;
    let mut manifest = account.manifest;
    manifest.filters.extend(options.describe());
    let (visits, sum) = (account.visits, account.sum);
    let packing = Packing { options, monitor, manifest: &manifest, visits, sum };
    let output = pack(&tables, &packing, output)?;
    Ok((output, Packed { rows: tables.rows(), manifest }))
}
