//! Checkpoints of a tuning on disk.
//!
//! A checkpoint is one JSON object. It stores the scores; the path of the values is recomputed from
//! them, so a resumed tuning is bit-identical.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::support::files::{
    Fault, JournalError, Kind, difference, open_locked, read_plain, write_whole,
};

use super::tuner::Tuner;

/// The first bytes of a checkpoint.
const BEGIN: &str = "{\"tuning\":";
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

static KIND: Kind =
    Kind { magic: BEGIN, stem: BEGIN, work: "a tuning", rival: "another tuning", ..Kind::BASE };

/// Whether a file with these first bytes is a checkpoint.
pub(crate) fn is_checkpoint(head: &[u8]) -> bool {
    head.starts_with(BEGIN.as_bytes())
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
    pub(super) fn beside(path: &Path) -> Result<Option<Self>, JournalError> {
        if path.metadata().is_ok_and(|there| !there.is_file()) {
            return Ok(None);
        }
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let lock = PathBuf::from(name);
        let file = open_locked(&lock, true, KIND.rival).map_err(|error| KIND.error(path, error))?;
        Ok(Some(Lock { path: lock, _file: file }))
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
pub(super) fn load(path: &Path, settings: &str, tuner: &mut Tuner) -> Result<Tally, JournalError> {
    load_scores(path, settings, tuner).map_err(|fault| KIND.error(path, fault))
}

fn load_scores(path: &Path, settings: &str, tuner: &mut Tuner) -> Result<Tally, Fault> {
    let text = match read_plain(path) {
        Ok(text) if !text.is_empty() => text,
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => return Ok(Tally::default()),
    };
    let found: Checkpoint =
        serde_json::from_slice(&text).map_err(|error| Fault::Damaged(error.to_string()))?;
    if found.tuning != VERSION {
        return Err(Fault::Version(format!("{BEGIN}{}", found.tuning)));
    }
    if let Some(difference) = difference(&found.settings, settings) {
        return Err(Fault::Other { work: KIND.work, difference });
    }
    let plan = tuner.plan();
    let limit = i64::from(plan.pairs) * 2;
    if let Some(score) = found.scores.iter().find(|score| i64::from(**score).abs() > limit) {
        return Err(Fault::Damaged(format!("a score of {score} in {limit} games")));
    }
    if found.scores.len() > plan.iterations as usize {
        return Err(Fault::Damaged(format!("{} scores", found.scores.len())));
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
) -> Result<(), JournalError> {
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
    written.map_err(|error| KIND.error(path, error))
}

#[cfg(test)]
mod tests {
    use super::super::tuner::Plan;
    use super::*;

    fn begun(plan: Plan) -> Tuner {
        let parameters = ["a,0.1,0,1,0.07,0.3", "b,50,0,100,9,0.3"];
        Tuner::new(parameters.map(|text| text.parse().expect(text)).to_vec(), plan)
    }

    const PLAN: Plan = Plan { iterations: 40, pairs: 2, seed: 5 };

    #[test]
    fn a_tuning_is_taken_up_to_the_last_bit() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("checkpoint");
        let mut tuner = begun(PLAN);
        assert_eq!(load(&path, "x", &mut tuner).expect("nothing there"), Tally::default());
        [3, -1, 0, 4, -4, 1, 1].into_iter().for_each(|score| tuner.update(score));
        let games = Tally { wins: 9, draws: 5, losses: 5, void_pairs: 1 };
        save(&path, "x", &tuner, games).expect("written");
        assert!(is_checkpoint(&fs::read(&path).expect("written")));
        let mut resumed = begun(PLAN);
        assert_eq!(load(&path, "x", &mut resumed).expect("read"), games);
        assert_eq!((resumed.values(), resumed.iteration()), (tuner.values(), 7));
    }

    #[test]
    fn a_checkpoint_has_one_owner() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("checkpoint");
        let owned = Lock::beside(&path).expect("free");
        let refused = Lock::beside(&path).expect_err("taken").to_string();
        assert!(refused.ends_with("checkpoint: another tuning writes to it"), "{refused}");
        drop(owned);
        assert!(Lock::beside(&path).expect("free again").is_some());
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 0, "nothing is left");
        assert!(Lock::beside(Path::new("/dev/null")).expect("a device").is_none());
    }

    #[test]
    fn what_is_no_checkpoint_of_this_tuning_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("checkpoint");
        let mut tuner = begun(PLAN);
        (0..30).for_each(|_| tuner.update(4));
        save(&path, "seed: 5\nx", &tuner, Tally::default()).expect("written");
        let refusal = |settings: &str, plan| {
            load(&path, settings, &mut begun(plan)).expect_err(settings).to_string()
        };
        let other = refusal("seed: 6\nx", PLAN);
        assert!(other.contains("it was \"seed: 5\", and is \"seed: 6\" now"), "{other}");
        let few = refusal("seed: 5\nx", Plan { iterations: 29, ..PLAN });
        assert!(few.contains("30 scores"), "{few}");
        let small = refusal("seed: 5\nx", Plan { pairs: 1, ..PLAN });
        assert!(small.contains("a score of 4 in 2 games"), "{small}");
        fs::write(&path, "{\"tuning\":1,").expect("written");
        let torn = load(&path, "x", &mut begun(PLAN)).expect_err("torn").to_string();
        assert!(torn.contains("it is damaged"), "{torn}");
    }
}
