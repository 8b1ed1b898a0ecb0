//! What a long build takes on disk, told beforehand.

use std::path::Path;

use super::size;
use crate::cli::output::errln;
use crate::games::book::DEFAULT_MAX_PLY;
use crate::games::pgn::PgnInput;

/// Bytes of disk that a byte of PGN text takes while it waits to be sorted, if the whole of it does:
/// twelve for each of forty positions, in games of some 620 bytes.
const DISK_PER_BYTE: f64 = 0.8;
/// The same of a game that is kept with its games, at sixteen.
const DISK_PER_BYTE_WITH_FACETS: f64 = 1.1;
/// What a packed file of games holds, about, for each of its bytes.
const UNPACKED: f64 = 7.0;
/// Below this much text nothing is told.
const WORTH_REPORTING: f64 = 2e9;

/// Prints before a long build how much disk it may take, and how much there is.
pub(super) fn estimate(inputs: &[PgnInput], folder: &Path, max_ply: u32, facets: bool) {
    let text = |input: &PgnInput| {
        let packed = [".gz", ".bz2", ".zst"].iter().any(|ending| input.name().ends_with(ending));
        Some(input.size()? as f64 * if packed { UNPACKED } else { 1.0 })
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

/// Plies of a game, about, beyond which a deeper book takes no more.
const AVERAGE_PLIES: u32 = 80;

/// What the file system of a path has left, in bytes, where the system tells.
fn free_space(path: &Path) -> Option<u64> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let found = rustix::fs::statvfs(folder.unwrap_or(Path::new("."))).ok()?;
    Some(found.f_bavail * found.f_frsize)
}
