//! Converts paths to inputs: a file, all games in a folder, or standard input.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::input::{HEAD, refuse_foreign, unsupported};
use super::{PgnInput, read_games};
use crate::support::files::{FileError, describe, read_folder};

const COMPRESSED: [&str; 3] = [".gz", ".bz2", ".zst"];

/// The suffix of folders that contain checkpoints of unfinished builds.
pub(crate) const UNFINISHED: &str = ".unfinished";
const UNFINISHED_FOLDER: &str =
    "it is the unfinished work of a build; repeat the command that started it";

impl PgnInput {
    /// Converts paths to inputs. The path `-` stands for standard input. A folder stands for all
    /// PGN files in it and its subfolders, compressed or not.
    ///
    /// # Errors
    /// If a path does not exist or cannot be read, if a folder contains no PGN file, or if a file
    /// is of a kind that contains no games, such as a book.
    pub fn from_paths(paths: &[PathBuf]) -> Result<Vec<PgnInput>, FileError> {
        let mut inputs = Vec::new();
        for path in paths {
            if path.as_os_str() == "-" {
                inputs.push(PgnInput::Stdin);
                continue;
            }
            let unusable = |reason: String| FileError::new("read", path, reason);
            let is_folder = path.metadata().map_err(|error| unusable(describe(&error)))?.is_dir();
            if !is_folder {
                let input = PgnInput::File(path.clone());
                input.check().map_err(|error| unusable(describe(&error)))?;
                inputs.push(input);
                continue;
            }
            if path.to_string_lossy().trim_end_matches('/').ends_with(UNFINISHED) {
                return Err(unusable(UNFINISHED_FOLDER.to_owned()));
            }
            let before = inputs.len();
            add_folder(path, &mut inputs).map_err(|error| unusable(describe(&error)))?;
            if inputs.len() == before {
                let parquet = if cfg!(feature = "parquet") { ", .parquet" } else { "" };
                let packed = COMPRESSED.map(|ending| format!(", .pgn{ending}")).concat();
                return Err(unusable(format!(
                    "it contains no file that ends in .pgn{packed}{parquet}"
                )));
            }
        }
        Ok(inputs)
    }

    /// Fails for regular files of a type that cannot contain games, and for binary files without
    /// any games. The error names the type of the file and explains how to use it.
    pub(crate) fn check(&self) -> io::Result<()> {
        let PgnInput::File(path) = self else { return Ok(()) };
        if !path.is_file() {
            return Ok(());
        }
        let mut head = Vec::new();
        let text = match self.open(&Arc::default()) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return Err(error),
            Err(_) => return Ok(()),
            Ok(text) => text,
        };
        // If reading fails, check the bytes read before the failure.
        let _ = text.take(HEAD).read_to_end(&mut head);
        refuse_foreign(&head)?;
        if head.contains(&0) && !self.holds_games()? {
            return Err(unsupported("it is binary data without a game".to_owned()));
        }
        Ok(())
    }

    pub(crate) fn is_compressed(&self) -> bool {
        unpacked(&self.name()).is_some()
    }

    fn holds_games(&self) -> io::Result<bool> {
        let games = read_games(self.open(&Arc::default())?);
        Ok(games.map_while(Result::ok).any(|(_, end)| end.plies > 0))
    }
}

fn unpacked(name: &str) -> Option<&str> {
    COMPRESSED.iter().find_map(|ending| name.strip_suffix(ending))
}

/// Returns true if a file in a folder should be read, judging by its name. `name` must be in lower
/// case.
fn has_games(name: &str) -> bool {
    unpacked(name).unwrap_or(name).ends_with(".pgn")
        || cfg!(feature = "parquet") && name.ends_with(".parquet")
}

fn add_folder(folder: &Path, inputs: &mut Vec<PgnInput>) -> io::Result<()> {
    let mut paths: Vec<PathBuf> =
        read_folder(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        // Do not follow links to folders, because they may form a cycle.
        if path.symlink_metadata()?.is_dir() {
            add_folder(&path, inputs)?;
        } else if path.is_file() && has_games(&name) {
            inputs.push(PgnInput::File(path));
        }
    }
    Ok(())
}
