//! The journal of a tuning run, which stores the score of each iteration. When a run is resumed,
//! the parameter values are recomputed from the scores, so it produces exactly the same results as
//! an uninterrupted run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::support::files::{Journal, JournalError, Kind};

use super::tuner::Tuner;

/// Bump the version whenever the algorithm changes, because the same scores would then give
/// different values.
static KIND: Kind = Kind { magic: "tabia tuning 2; ", name: "the journal of the tuning" };

/// Returns whether a file that begins with `head` is a tuning journal, of this or an earlier
/// version.
pub(crate) fn is_journal(head: &[u8]) -> bool {
    head.starts_with(b"tabia tuning ") || head.starts_with(b"{\"tuning\":")
}

/// Game results from the point of view of the first side, which plays with the first set of
/// perturbed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    /// The number of game pairs that were excluded because an engine crashed or broke the rules.
    pub void_pairs: u64,
}

/// The state after an iteration, as stored in the journal.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Iteration {
    /// The iteration's number, counted from 1.
    number: u32,
    score: i32,
    games: Tally,
    /// The parameter values after the iteration, for human readers only. A resumed run ignores them
    /// and recomputes the values from the scores.
    values: BTreeMap<String, f64>,
}

impl Iteration {
    pub(super) fn last(tuner: &Tuner, games: Tally) -> Self {
        let names = tuner.parameters().iter().map(|parameter| parameter.name.clone());
        let values = names.zip(tuner.values().iter().copied()).collect();
        let score = tuner.scores().last().copied().unwrap_or_default();
        Iteration { number: tuner.iteration(), score, games, values }
    }
}

/// Opens or creates the journal of the tuning run identified by `settings`. Restores the tuner's
/// state from it, and returns the results of the games played so far. If `anew` is set, first
/// deletes the existing file. If `path` is a device or a pipe, nothing is stored.
pub(crate) fn open(
    path: &Path,
    anew: bool,
    settings: &str,
    tuner: &mut Tuner,
) -> Result<(Option<Journal<Iteration>>, Tally), JournalError> {
    let mut games = Tally::default();
    if path.metadata().is_ok_and(|there| !there.is_file()) {
        return Ok((None, games));
    }
    if anew {
        fs::remove_file(path).map_err(|error| KIND.error(path, error))?;
    }
    let journal = Journal::open(path, &KIND, settings, |iteration: Iteration, _| {
        // If the line of an iteration is damaged, ignore all later iterations. They are played
        // again, together with the damaged one.
        if iteration.number == tuner.iteration() + 1 {
            tuner.update(iteration.score);
            games = iteration.games;
        }
    })?;
    Ok((Some(journal), games))
}

#[cfg(test)]
mod tests {
    use super::super::tuner::Plan;
    use super::*;

    fn begun() -> Tuner {
        let parameters = ["a,0.1,0,1,0.07,0.3", "b,50,0,100,9,0.3"];
        let plan = Plan { iterations: 40, pairs: 2, seed: 5 };
        Tuner::new(parameters.map(|text| text.parse().expect(text)).to_vec(), plan)
    }

    #[test]
    fn a_tuning_is_resumed_bit_identically_from_a_damaged_journal() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x.tune");
        let scores = [3, -1, 0, 4, -4, 1, 1];
        let run = |damaged: Option<usize>| {
            let mut tuner = begun();
            let (journal, mut games) = open(&path, false, "x", &mut tuner).expect("usable");
            assert_eq!((games.wins, damaged), (u64::from(tuner.iteration()), damaged));
            let mut journal = journal.expect("a file");
            for &score in &scores[tuner.iteration() as usize..] {
                tuner.update(score);
                games.wins += 1;
                journal.append(&Iteration::last(&tuner, games)).expect("written");
            }
            tuner.values().to_vec()
        };
        let whole = run(None);
        let text = fs::read_to_string(&path).expect("written");
        assert!(is_journal(text.as_bytes()));
        for line in 1..=scores.len() {
            let place = text.lines().take(line).map(|line| line.len() + 1).sum::<usize>() + 20;
            let mut bytes = text.clone().into_bytes();
            bytes[place] ^= 1;
            fs::write(&path, bytes).expect("written");
            // The first run repeats the iterations lost to the damaged line and appends them to the
            // journal. The second run must read past the damaged and ignored lines to find them.
            assert_eq!([run(Some(line)), run(None)], [whole.clone(), whole.clone()], "{line}");
        }
    }

    #[test]
    fn other_files_are_refused_or_replaced() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x.tune");
        let old = "{\"tuning\":1,\"settings\":\"x\"}\n";
        assert!(is_journal(old.as_bytes()));
        fs::write(&path, old).expect("written");
        let error = open(&path, false, "x", &mut begun()).expect_err("old").to_string();
        assert!(error.contains("begins with \"{\\\"tuning\\\":1"), "{error}");
        let (journal, _) = open(&path, true, "seed: 5\nx", &mut begun()).expect("replaced");
        let busy = open(&path, false, "seed: 5\nx", &mut begun()).expect_err("in use").to_string();
        assert!(busy.contains("another program writes to it"), "{busy}");
        drop(journal);
        let error = open(&path, false, "seed: 6\nx", &mut begun()).expect_err("other").to_string();
        assert!(error.contains("it was \"seed: 5\", and is \"seed: 6\" now"), "{error}");
        let device = open(Path::new("/dev/null"), false, "x", &mut begun()).expect("a device");
        assert!(device.0.is_none());
    }
}
