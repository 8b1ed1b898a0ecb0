//! Makes sure that the operating system lets Tabia open enough files for all games.

use anyhow::ensure;

use crate::support::platform;

/// The number of files that the engines of a game keep open: four pipes each.
const FILES_OF_GAME: usize = 8;
/// The number of files for the error output of the engines of a game.
const ERROR_FILES_OF_GAME: usize = 2;
/// Other open files, such as the PGN file and the pipes of an engine that is being started.
const OTHER_FILES: usize = 24;

/// Raises the limit on the number of open files if `games` simultaneous games need more. Fails if
/// the system does not allow this, because the match would otherwise end when the limit is reached.
pub(in crate::cli) fn allow_open_files(games: usize, stores_errors: bool) -> anyhow::Result<()> {
    let each = FILES_OF_GAME + if stores_errors { ERROR_FILES_OF_GAME } else { 0 };
    let needed = games.saturating_mul(each).saturating_add(OTHER_FILES) as u64;
    let limit = platform::allow_open_files(needed);
    ensure!(
        limit.is_ok(),
        "{games} simultaneous games need {needed} open files, but the limit is {}; raise the limit \
         (ulimit -Hn), or play at most {} games at a time (-j)",
        limit.err().unwrap_or_default(),
        limit.err().unwrap_or_default().saturating_sub(OTHER_FILES as u64) / each as u64
    );
    Ok(())
}
