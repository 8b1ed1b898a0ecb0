//! Estimates how much disk space a long build needs, before the build starts.

use std::path::Path;

use super::size;
use crate::cli::output::errln;
use crate::games::book::DEFAULT_MAX_PLY;
use crate::games::pgn::PgnInput;
use crate::support::platform;

/// Temporary disk space needed per byte of PGN text. An average game has about 620 bytes of text
/// and 40 records of 12 bytes.
const DISK_PER_BYTE: f64 = 0.8;
/// Like [`DISK_PER_BYTE`], but for a build with facets, whose records have 16 bytes.
const DISK_PER_BYTE_WITH_FACETS: f64 = 1.1;
/// The approximate ratio of a game file's uncompressed size to its compressed size.
const UNPACKED: f64 = 7.0;
/// The minimum size of the uncompressed text, in bytes, for which an estimate is printed.
const WORTH_REPORTING: f64 = 2e9;

/// If the inputs are large, prints how much disk space the build may need and how much is free.
pub(super) fn estimate(inputs: &[PgnInput], folder: &Path, max_ply: u32, facets: bool) {
    let text = |input: &PgnInput| {
        Some(input.size()? as f64 * if input.is_compressed() { UNPACKED } else { 1.0 })
    };
    let Some(text) = inputs.iter().map(text).sum::<Option<f64>>() else { return };
    let share = if facets { DISK_PER_BYTE_WITH_FACETS } else { DISK_PER_BYTE };
    let plies = f64::from(max_ply.min(AVERAGE_PLIES)) / f64::from(DEFAULT_MAX_PLY);
    if text < WORTH_REPORTING {
        return;
    }
    let needed = size((text * share * plies) as u64);
    let free =
        free_space(folder).map_or(String::new(), |free| format!(", {} are free", size(free)));
    errln!(
        "some {} of text: up to {needed} of disk for {}, besides the book{free}",
        size(text as u64),
        folder.display()
    );
}

const AVERAGE_PLIES: u32 = 80;

fn free_space(path: &Path) -> Option<u64> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    platform::free_space(folder.unwrap_or(Path::new(".")))
}
