//! Partial counts: the intermediate results of a book build, stored in Parquet files.
//!
//! If there are more rows than fit on one machine, other programs can group and sort partial
//! counts; see `docs/reference/parquet-counts.md` for the columns. A folder contains a
//! `manifest.json` that describes the games, and one file `part-NNN.parquet` for each range of
//! keys. The top bits of a key select the file.
//!
//! Other programs may sort rows, and may combine rows that have equal values in the first five
//! columns and in the first three facet columns. No other change is allowed. Numbers are signed
//! because Spark has no unsigned types.
//!
//! Tabia uses the column API of the `parquet` crate, because Arrow would pull in many more crates.

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

/// The result of counting games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial {
    /// The tally of the games.
    pub tally: BuildTally,
    /// The number of rows written.
    pub rows: u64,
}

/// The result of packing partial counts into a book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The manifest of the book.
    pub manifest: Manifest,
    /// The number of rows read.
    pub rows: u64,
}

/// Counts games and writes the counts to a new folder, with facets if the options request them. If
/// an error occurs, the folder is not created.
///
/// # Errors
/// If the folder exists and is not empty, if the build is strict and a game is malformed, if the
/// build is cancelled through the monitor, or if the counts cannot be written.
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

fn write_parts(
    counted: &Counted,
    mut parts: Range<usize>,
    mut table: TableWriter,
) -> io::Result<RowTotals> {
    parts.try_for_each(|part| counted.rows(part, |row| table.push(row)))?;
    table.finish()
}

/// Creates a book from all partial counts in `folders` and their subfolders, and writes it to
/// `output`, which must be empty. The folders must also contain the manifest file of each set of
/// counts.
///
/// # Errors
/// If the counts cannot be read, do not belong together, are incomplete, or contain no games; if
/// the book cannot be written; or if the build is cancelled through the monitor.
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
