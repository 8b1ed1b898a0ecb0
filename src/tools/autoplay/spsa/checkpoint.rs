//! Checkpoints of a tuning on disk.
//!
//! A checkpoint is one JSON object. It stores the scores; the path of the values is recomputed from
//! them, so a resumed tuning is bit-identical.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::support::files::{describe, open_locked, read_plain, write_whole};
use crate::tools::autoplay::state::first_difference;

use super::tuner::Tuner;

/// The first bytes of a checkpoint.
const BEGIN: &[u8] = b"{\"tuning\":";
/// Version of the format and of the algorithm, since a changed algorithm gives another path.
const VERSION: u32 = 1;

/// Results of games from the point of view of the side with the first perturbed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    /// Pairs of games excluded because an engine crashed or broke the rules.
    pub void_pairs: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Checkpoint {
    tuning: u32,
    settings: String,
    games: Tally,
    /// For information only; values are recomputed from the scores.
    values: BTreeMap<String, f64>,
    scores: Vec<i32>,
}

#[derive(Debug, Error)]
pub(crate) enum CheckpointError {
    #[error("cannot use the checkpoint {}: {}", path.display(), describe(cause))]
    Io {
        /// The file.
        path: PathBuf,
        cause: io::Error,
    },
    /// The file is not a checkpoint, or is damaged.
    #[error("{} is no checkpoint of a tuning: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        what: String,
    },
    /// The checkpoint belongs to another tuning.
    #[error(
        "{} belongs to a tuning with other settings: {difference}; go on with those, or name \
         another file",
        path.display()
    )]
    Other {
        /// The file.
        path: PathBuf,
        /// The first setting that differs.
        difference: String,
    },
}

/// Whether a file with these first bytes is a checkpoint.
pub(crate) fn is_checkpoint(head: &[u8]) -> bool {
    head.starts_with(BEGIN)
}

/// A lock file beside a checkpoint, whose own file is replaced after each iteration. It is removed
/// at the end; one left by a killed run does not lock out others.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Locks the checkpoint at a path; `None` beside a device or a pipe.
    ///
    /// # Errors
    /// If another run has locked it, or the directory is not writable.
    pub(super) fn beside(path: &Path) -> Result<Option<Self>, CheckpointError> {
        if path.metadata().is_ok_and(|there| !there.is_file()) {
            return Ok(None);
        }
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let lock = PathBuf::from(name);
        match open_locked(&lock, true) {
            Ok(file) => Ok(Some(Lock { path: lock, _file: file })),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                let cause = io::Error::other("another tuning that is going on has it");
                Err(CheckpointError::Io { path: path.to_owned(), cause })
            }
            Err(cause) => Err(CheckpointError::Io { path: lock, cause }),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A leftover lock file is harmless.
        let _ = fs::remove_file(&self.path);
    }
}

/// Loads the checkpoint of the same tuning, identified by `settings`; returns the games played. If
/// the file is missing or empty, the tuning starts afresh.
///
/// # Errors
/// If the file cannot be read or belongs to another tuning.
pub(super) fn load(
    path: &Path,
    settings: &str,
    tuner: &mut Tuner,
) -> Result<Tally, CheckpointError> {
    let text = match read_plain(path) {
        Ok(text) if text.is_empty() => return Ok(Tally::default()),
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Tally::default()),
        Err(cause) => return Err(CheckpointError::Io { path: path.to_owned(), cause }),
    };
    let damaged = |what: String| CheckpointError::Damaged { path: path.to_owned(), what };
    let found: Checkpoint =
        serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    if found.tuning != VERSION {
        return Err(damaged(format!("its version is {}, and not {VERSION}", found.tuning)));
    }
    if let Some(difference) = first_difference(&found.settings, settings) {
        return Err(CheckpointError::Other { path: path.to_owned(), difference });
    }
    let plan = tuner.plan();
    let limit = i64::from(plan.pairs) * 2;
    if let Some(score) = found.scores.iter().find(|score| i64::from(**score).abs() > limit) {
        return Err(damaged(format!("a score of {score} in {limit} games")));
    }
    if found.scores.len() > plan.iterations as usize {
        return Err(damaged(format!("{} scores", found.scores.len())));
    }
    found.scores.iter().for_each(|&score| tuner.update(score));
    Ok(found.games)
}

/// Replaces the checkpoint.
///
/// # Errors
/// If it cannot be written.
pub(super) fn save(
    path: &Path,
    settings: &str,
    tuner: &Tuner,
    games: Tally,
) -> Result<(), CheckpointError> {
    let names = tuner.parameters().iter().map(|parameter| parameter.name.clone());
    let checkpoint = Checkpoint {
        tuning: VERSION,
        settings: settings.to_owned(),
        games,
        values: names.zip(tuner.values().iter().copied()).collect(),
        scores: tuner.scores().to_vec(),
    };
    let bytes = serde_json::to_vec(&checkpoint).map_err(io::Error::from);
    let written = bytes.and_then(|bytes| Ok(write_whole(path, &[&bytes[..], b"\n"].concat())?));
    written.map_err(|cause| CheckpointError::Io { path: path.to_owned(), cause })
}

#[cfg(test)]
mod tests {
    use super::super::tuner::Plan;
    use super::*;

    fn new_tuner(plan: Plan) -> Tuner {
        let parameters = ["a,0.1,0,1,0.07,0.3", "b,50,0,100,9,0.3"];
        Tuner::new(parameters.map(|text| text.parse().expect(text)).to_vec(), plan)
    }

    const PLAN: Plan = Plan { iterations: 40, pairs: 2, seed: 5 };

    #[test]
    fn resumed_tuning_equals_the_saved_one() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("checkpoint");
        let mut tuner = new_tuner(PLAN);
        assert_eq!(load(&path, "x", &mut tuner).expect("nothing there"), Tally::default());
        [3, -1, 0, 4, -4, 1, 1].into_iter().for_each(|score| tuner.update(score));
        let games = Tally { wins: 9, draws: 5, losses: 5, void_pairs: 1 };
        save(&path, "x", &tuner, games).expect("written");
        assert!(is_checkpoint(&fs::read(&path).expect("written")));
        let mut resumed = new_tuner(PLAN);
        assert_eq!(load(&path, "x", &mut resumed).expect("read"), games);
        assert_eq!((resumed.values(), resumed.iteration()), (tuner.values(), 7));
    }

    #[test]
    fn checkpoint_has_a_single_owner() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("checkpoint");
        let owned = Lock::beside(&path).expect("free");
        let refused = Lock::beside(&path).expect_err("taken").to_string();
        assert!(
            refused.ends_with("checkpoint: another tuning that is going on has it"),
            "{refused}"
        );
        drop(owned);
        assert!(Lock::beside(&path).expect("free again").is_some());
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 0, "no lock file is left");
        assert!(Lock::beside(Path::new("/dev/null")).expect("a device").is_none());
    }

    #[test]
    fn foreign_and_mismatched_checkpoints_are_rejected() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("checkpoint");
        let mut tuner = new_tuner(PLAN);
        (0..30).for_each(|_| tuner.update(4));
        save(&path, "seed: 5\nx", &tuner, Tally::default()).expect("written");
        let refusal = |settings: &str, plan| {
            load(&path, settings, &mut new_tuner(plan)).expect_err(settings).to_string()
        };
        let other = refusal("seed: 6\nx", PLAN);
        assert!(other.contains("it was \"seed: 5\", and is \"seed: 6\" now"), "{other}");
        let few = refusal("seed: 5\nx", Plan { iterations: 29, ..PLAN });
        assert!(few.contains("30 scores"), "{few}");
        let small = refusal("seed: 5\nx", Plan { pairs: 1, ..PLAN });
        assert!(small.contains("a score of 4 in 2 games"), "{small}");
        fs::write(&path, "{\"tuning\":1,").expect("written");
        let torn = load(&path, "x", &mut new_tuner(PLAN)).expect_err("torn").to_string();
        assert!(torn.contains("is no checkpoint of a tuning"), "{torn}");
    }
}
