//! A sequential test shared by several machines.
//!
//! Each machine is a worker. It writes its games to its own state file, in a folder that all
//! workers can read, and never touches the files of other workers, so no locks between machines are
//! needed. The first line of each file contains the settings that all workers must agree on, and
//! the worker's number.
//!
//! When a worker finds that the joint test is decided, it stores the decision. The first decision
//! stored is final, even if games that finish later on other machines move the log-likelihood ratio
//! back between the bounds.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::chess::position::Color;
use crate::support::error::ParseError;
use crate::support::files::{JournalError, Kind, first_difference, read_folder};
use crate::support::words::number_of;

use super::openings::Opening;
use super::state::{Entry, FinishedGame, KIND, damaged};
use super::stats::{Decision, Sprt, Tally};
use super::summary::{decided_line, pairing};
use super::verdict::Verdict;

/// The maximum number of workers. No test is expected to need nearly as many.
const MAX_WORKERS: usize = 1000;
/// The parts of a state file's name before and after the worker's number.
const FILE_NAME: [&str; 2] = ["worker-", ".state"];
/// The description of the shared folder in error messages.
static FOLDER: Kind = Kind { magic: "", name: "the shared folder" };
/// Labels in the first line of a state file. They precede the worker's number and the parameters of
/// the test.
const WORKER: &str = "worker: ";
const TEST: &str = "sprt: ";

/// A worker's 1-based number, and the total number of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Worker {
    pub number: usize,
    pub count: usize,
}

impl FromStr for Worker {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let numbers = text
            .split_once('/')
            .map(|(number, count)| (number.parse::<usize>(), count.parse::<usize>()));
        match numbers {
            Some((Ok(number), Ok(count @ 1..=MAX_WORKERS))) if (1..=count).contains(&number) => {
                Ok(Worker { number, count })
            }
            _ => Err(ParseError(format!(
                "expected the number of the worker and the number of workers, like 1/4 (at most \
                 {MAX_WORKERS})"
            ))),
        }
    }
}

impl Worker {
    /// Returns the path of the worker's state file.
    pub(crate) fn path(self, folder: &Path) -> PathBuf {
        let [begin, end] = FILE_NAME;
        folder.join(format!("{begin}{}{end}", self.number))
    }

    /// Returns this worker's share of the openings. Each entry in the list goes to exactly one
    /// worker.
    pub(crate) fn share(self, openings: Vec<Opening>) -> Vec<Opening> {
        openings.into_iter().skip(self.number - 1).step_by(self.count).collect()
    }
}

/// The games of one worker.
#[derive(Debug)]
struct WorkerGames {
    /// The byte offset up to which the worker's state file has been read.
    end: u64,
    /// The results, keyed by game number so that a game that is read twice is only counted once.
    games: BTreeMap<usize, Verdict>,
    /// The names of the first and the second engine, or `None` before the first game is read.
    names: Option<[String; 2]>,
    decision: Option<Decision>,
}

impl WorkerGames {
    fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Game(game) => {
                let FinishedGame { number, names: [white, black], .. } = &*game;
                let names = if is_first_white(*number) { [white, black] } else { [black, white] };
                self.names.get_or_insert_with(|| names.map(String::clone));
                let verdict = Verdict { detail: String::new(), ..game.verdict() };
                self.games.insert(*number, verdict);
            }
            Entry::Decision(decision) => self.decision = Some(decision),
            Entry::Engine { .. } | Entry::Round(_) => {}
        }
    }
}

/// Returns whether the first engine has White in game `number`. Colours are reversed after each
/// game, and the first engine has White in game 1.
fn is_first_white(number: usize) -> bool {
    number % 2 == 1
}

/// A shared sequential test, with the games of all workers that have been read so far.
#[derive(Debug)]
pub(crate) struct SharedTest {
    folder: PathBuf,
    /// The settings on which the workers must agree, as written in the first line of each worker's
    /// state file.
    agreed: String,
    sprt: Sprt,
    workers: BTreeMap<usize, WorkerGames>,
    names: Option<[String; 2]>,
    tally: Tally,
}

impl SharedTest {
    /// Joins the shared test in `folder` and reads the games already stored there. `settings` are
    /// the match settings on which all workers must agree, one per line.
    ///
    /// # Errors
    /// If the folder cannot be read, or if a worker in it is running a different test.
    pub(crate) fn join(
        folder: &Path,
        settings: &str,
        worker: Worker,
        sprt: Sprt,
    ) -> Result<Self, JournalError> {
        let json = serde_json::to_string(&sprt)
            .map_err(|error| FOLDER.error(folder, io::Error::from(error)))?;
        let agreed = format!("{settings}\nworkers: {}\n{TEST}{json}", worker.count);
        Self::read(folder, agreed.replace('\n', "; "), sprt)
    }

    /// Reads all games of the shared test in `folder`.
    ///
    /// # Errors
    /// If the folder contains no games of a shared test, or games of different tests.
    pub(crate) fn aggregate(folder: &Path) -> Result<Self, JournalError> {
        for path in worker_files(folder)?.into_values() {
            let Some((owner, _)) = KIND.owner(&path)? else { continue };
            let (agreed, _) = parts(&path, &owner)?;
            let json = agreed.rsplit_once(TEST).map(|(_, json)| json);
            let sprt = json.and_then(|json| serde_json::from_str(json).ok());
            let sprt = sprt.ok_or_else(|| damaged(&path, "its first line has no test"))?;
            return Self::read(folder, agreed.to_owned(), sprt);
        }
        let [begin, end] = FILE_NAME;
        let reason = format!("it has no file {begin}N{end} of a shared test");
        Err(FOLDER.error(folder, io::Error::other(reason)))
    }

    fn read(folder: &Path, agreed: String, sprt: Sprt) -> Result<Self, JournalError> {
        let (folder, workers, names) = (folder.to_owned(), BTreeMap::new(), None);
        let mut test = SharedTest { folder, agreed, sprt, workers, names, tally: Tally::default() };
        test.refresh()?;
        Ok(test)
    }

    /// Returns the settings that identify a worker of this test, for the first line of its state
    /// file.
    pub(crate) fn settings_of(&self, worker: Worker) -> String {
        format!("{}; {WORKER}{}", self.agreed, worker.number)
    }

    /// Reads the games and decisions that the workers have stored since the last call.
    ///
    /// # Errors
    /// If a file cannot be read, or if a worker is running a different test. Games read before the
    /// error are kept.
    pub(crate) fn refresh(&mut self) -> Result<(), JournalError> {
        let files = worker_files(&self.folder)?;
        self.workers.retain(|number, _| files.contains_key(number));
        for (number, path) in files {
            let mut worker = match self.workers.remove(&number) {
                Some(worker) => worker,
                None => {
                    let Some((owner, end)) = KIND.owner(&path)? else { continue };
                    self.check(&path, &owner, number)?;
                    WorkerGames { end, games: BTreeMap::new(), names: None, decision: None }
                }
            };
            let end = match KIND.follow(&path, worker.end, |entry| worker.take(entry)) {
                Ok(end) => end,
                Err(error) => {
                    self.workers.insert(number, worker);
                    return Err(error);
                }
            };
            // If `end` is `None`, the file has been replaced. The worker is then dropped, and the
            // next call reads the new file from the start.
            if let Some(end) = end {
                worker.end = end;
                self.check_names(&path, &worker)?;
                self.workers.insert(number, worker);
            }
        }
        self.tally = self.count();
        Ok(())
    }

    /// Checks that a worker runs the same test, and that its file has the right name.
    fn check(&self, path: &Path, owner: &str, number: usize) -> Result<(), JournalError> {
        let (agreed, worker) = parts(path, owner)?;
        if agreed != self.agreed {
            let [there, here] = first_difference(agreed, &self.agreed);
            let reason = format!(
                "it belongs to another test: it has \"{there}\" instead of \"{here}\"; all workers \
                 need the same engines, limits, openings and test"
            );
            return Err(KIND.error(path, io::Error::other(reason)));
        }
        if worker != number.to_string() {
            return Err(damaged(path, format!("it has been renamed, and is of worker {worker}")));
        }
        Ok(())
    }

    fn check_names(&mut self, path: &Path, worker: &WorkerGames) -> Result<(), JournalError> {
        let Some(names) = &worker.names else { return Ok(()) };
        let known = self.names.get_or_insert_with(|| names.clone());
        if *known == *names {
            return Ok(());
        }
        let reason = format!(
            "its engines are {}, and those of another worker are {}; use the same programs",
            names.join(" and "),
            known.join(" and ")
        );
        Err(KIND.error(path, io::Error::other(reason)))
    }

    /// Adds up the results of all workers, from the first engine's point of view.
    fn count(&self) -> Tally {
        let mut tally = Tally::default();
        for (index, worker) in self.workers.values().enumerate() {
            for (&number, verdict) in &worker.games {
                let color = if is_first_white(number) { Color::White } else { Color::Black };
                // The worker's index makes pair numbers unique across workers. They need not be
                // consecutive.
                let pair = number.div_ceil(2) * MAX_WORKERS + index;
                tally.add(pair, color, verdict);
            }
        }
        tally
    }

    pub(crate) fn sprt(&self) -> &Sprt {
        &self.sprt
    }

    /// Returns the results of all workers together.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the number of each worker, and the number of its games that have been read.
    pub(crate) fn workers(&self) -> impl Iterator<Item = (usize, usize)> {
        self.workers.iter().map(|(&number, worker)| (number, worker.games.len()))
    }

    /// Returns the names of the two engines, or `first` and `second` if no game has been read yet.
    pub(crate) fn names(&self) -> [&str; 2] {
        self.names.as_ref().map_or(["first", "second"], |names| names.each_ref().map(|n| &**n))
    }

    /// Returns the decision stored by any of the workers, or `None` if there is none yet.
    pub(crate) fn stored_decision(&self) -> Option<Decision> {
        self.workers.values().find_map(|worker| worker.decision)
    }

    /// Returns the decision stored by a worker or, if there is none, the decision that follows from
    /// the games read so far.
    pub(crate) fn decision(&self) -> Decision {
        let now = || self.sprt.decide(self.sprt.llr(&self.tally.pairs));
        self.stored_decision().unwrap_or_else(now)
    }

    /// Formats the joint state of the test on one line.
    pub(crate) fn line(&self) -> String {
        decided_line(&self.sprt, &self.tally, self.decision())
    }

    /// Formats the joint result on several lines.
    pub(crate) fn summary(&self) -> String {
        let each: Vec<String> = self
            .workers()
            .map(|(number, games)| format!("{number} ({})", number_of(games as u64, "game")))
            .collect();
        let workers = number_of(each.len() as u64, "worker");
        let results = pairing(self.names(), &self.tally, None);
        format!("Joint result of {workers}: {}\n{results}\n  {}", each.join(", "), self.line())
    }
}

/// Splits the first line of a state file into the settings shared by all workers and the worker's
/// number.
fn parts<'a>(path: &Path, owner: &'a str) -> Result<(&'a str, &'a str), JournalError> {
    let parts = owner
        .rsplit_once(WORKER)
        .and_then(|(agreed, worker)| agreed.strip_suffix("; ").map(|agreed| (agreed, worker)));
    let reason = "it is of a match that is not shared; move it elsewhere";
    parts.ok_or_else(|| KIND.error(path, io::Error::other(reason)))
}

/// Returns the state files in a folder, keyed by worker number.
fn worker_files(folder: &Path) -> Result<BTreeMap<usize, PathBuf>, JournalError> {
    let fail = |error: io::Error| FOLDER.error(folder, error);
    let mut files = BTreeMap::new();
    for entry in read_folder(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name();
        let [begin, end] = FILE_NAME;
        let number = name.to_str().and_then(|name| name.strip_prefix(begin)?.strip_suffix(end));
        if let Some(number) = number.and_then(|number| number.parse().ok()) {
            files.insert(number, entry.path());
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::files::Journal;
    use crate::tools::autoplay::stats::EloModel;
    use crate::tools::autoplay::verdict::Termination;

    const SPRT: Sprt =
        Sprt { elo0: 0.0, elo1: 100.0, alpha: 0.05, beta: 0.05, model: EloModel::Normalized };

    fn worker(number: usize) -> Worker {
        Worker { number, count: 3 }
    }

    fn finished(number: usize, result: &str) -> Entry {
        let names = if is_first_white(number) { ["a", "b"] } else { ["b", "a"] };
        Entry::Game(Box::new(FinishedGame {
            number,
            names: names.map(str::to_owned),
            result: result.to_owned(),
            termination: Termination::Checkmate,
            detail: String::new(),
            fen: None,
            opening_plies: 0,
            moves: Vec::new(),
            scores: Vec::new(),
            seconds: Vec::new(),
            remarks: Vec::new(),
            pgn: None,
        }))
    }

    fn write(folder: &Path, number: usize, settings: &str, entries: &[Entry]) {
        let empty = tempfile::tempdir().expect("a folder");
        let test = SharedTest::join(empty.path(), settings, worker(number), SPRT).expect("empty");
        let path = worker(number).path(folder);
        let owner = test.settings_of(worker(number));
        let mut journal = Journal::open(&path, &KIND, &owner, |_, _| ()).expect("a journal");
        entries.iter().for_each(|entry| {
            journal.append(entry).expect("written");
        });
    }

    /// Returns the games of `pairs` game pairs, all of them won by the first engine.
    fn won(pairs: usize) -> Vec<Entry> {
        (1..=2 * pairs)
            .map(|number| finished(number, if is_first_white(number) { "1-0" } else { "0-1" }))
            .collect()
    }

    #[test]
    fn workers_are_parsed_and_share_all_openings() {
        for wrong in ["", "1", "0/3", "4/3", "1/0", "1/1001", "a/2", "-1/2"] {
            assert!(wrong.parse::<Worker>().is_err(), "{wrong}");
        }
        assert_eq!("3/3".parse(), Ok(worker(3)));
        let openings: Vec<Opening> = ["e2e4", "d2d4", "c2c4", "g1f3", "b2b3"]
            .map(|mv| {
                let mut game = crate::chess::position::Game::default();
                game.play(mv.parse().expect(mv)).expect(mv);
                Opening::new(&game)
            })
            .to_vec();
        let shares = [1, 2, 3].map(|number| worker(number).share(openings.clone()));
        let expected = [[0, 3].as_slice(), &[1, 4], &[2]];
        for (share, expected) in shares.iter().zip(expected) {
            let expected: Vec<Opening> = expected.iter().map(|&at| openings[at].clone()).collect();
            assert_eq!(share, &expected);
        }
    }

    #[test]
    fn games_of_all_workers_are_joined_and_a_stored_decision_stands() {
        let dir = tempfile::tempdir().expect("a folder");
        write(dir.path(), 1, "x\ny", &won(2));
        let mut own = SharedTest::join(dir.path(), "x\ny", worker(3), SPRT).expect("joined");
        assert_eq!((own.tally().pairs, own.decision()), ([0, 0, 0, 0, 2], Decision::Continue));
        // The second game of the last pair is missing.
        write(dir.path(), 2, "x\ny", &won(30)[..59]);
        own.refresh().expect("read");
        assert_eq!(own.tally().pairs, [0, 0, 0, 0, 31]);
        assert_eq!(own.decision(), Decision::AcceptH1);
        assert_eq!(own.workers().collect::<Vec<_>>(), [(1, 4), (2, 59)]);
        assert_eq!(own.stored_decision(), None);
        let path = worker(3).path(dir.path());
        let owner = own.settings_of(worker(3));
        let mut journal = Journal::open(&path, &KIND, &owner, |_, _| ()).expect("a journal");
        journal.append(&Entry::Decision(Decision::AcceptH0)).expect("written");
        own.refresh().expect("read");
        let all = SharedTest::aggregate(dir.path()).expect("read");
        for test in [own, all] {
            assert_eq!(test.decision(), Decision::AcceptH0);
            assert_eq!(test.names(), ["a", "b"]);
            assert!(test.summary().starts_with(
                "Joint result of 3 workers: 1 (4 games), 2 (59 games), 3 (0 games)\nScore of a vs b: 63 - 0 - 0"
            ), "{}", test.summary());
            assert!(test.summary().ends_with("H0 accepted"));
        }
    }

    #[test]
    fn a_decision_stands_while_its_file_cannot_be_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut entries = won(3);
        entries.push(Entry::Decision(Decision::AcceptH0));
        write(dir.path(), 1, "x", &entries);
        let mut own = SharedTest::join(dir.path(), "x", worker(2), SPRT).expect("joined");
        let (path, aside) = (worker(1).path(dir.path()), dir.path().join("aside"));
        std::fs::rename(&path, &aside).expect("renamed");
        std::fs::create_dir(&path).expect("created");
        for _ in 0..2 {
            own.refresh().expect_err("it is a folder");
            assert_eq!(own.decision(), Decision::AcceptH0);
            assert_eq!(own.workers().collect::<Vec<_>>(), [(1, 6)]);
        }
        std::fs::remove_dir(&path).expect("removed");
        std::fs::rename(&aside, &path).expect("renamed");
        own.refresh().expect("read");
        assert_eq!((own.decision(), own.tally().pairs[4]), (Decision::AcceptH0, 3));
    }

    #[test]
    fn torn_tails_of_other_workers_are_read_later_and_never_changed() {
        let dir = tempfile::tempdir().expect("a folder");
        write(dir.path(), 1, "x", &won(3));
        let path = worker(1).path(dir.path());
        let whole = std::fs::read(&path).expect("there");
        std::fs::write(&path, "").expect("written");
        let mut own = SharedTest::join(dir.path(), "x", worker(2), SPRT).expect("joined");
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("written");
            own.refresh().expect("read");
            let lines = whole[..cut].iter().filter(|&&byte| byte == b'\n').count();
            let games = lines.saturating_sub(1) as u32;
            assert_eq!(own.tally().total.games(), games, "{cut} bytes");
            assert_eq!(own.tally().pairs[4], games / 2, "{cut} bytes");
            assert_eq!(std::fs::read(&path).expect("there").len(), cut);
        }
    }

    #[test]
    fn other_tests_and_other_files_are_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let refused =
            |test: Result<SharedTest, JournalError>| test.expect_err("refused").to_string();
        assert!(
            refused(SharedTest::aggregate(dir.path())).contains("it has no file worker-N.state")
        );
        let join = |settings| SharedTest::join(dir.path(), settings, worker(2), SPRT);
        write(dir.path(), 1, "engine 1: a\ngames: 2", &won(1));
        let other = refused(join("engine 1: b\ngames: 2"));
        assert!(other.contains("it has \"engine 1: a\" instead of \"engine 1: b\""), "{other}");
        let sprt = Sprt { elo1: 5.0, ..SPRT };
        let settings = "engine 1: a\ngames: 2";
        let other = refused(SharedTest::join(dir.path(), settings, worker(2), sprt));
        assert!(other.contains("\"elo1\":100.0") && other.contains("\"elo1\":5.0"), "{other}");
        let mut entry = finished(1, "1-0");
        if let Entry::Game(game) = &mut entry {
            game.names[1] = "c".to_owned();
        }
        write(dir.path(), 3, settings, &[entry]);
        let other = refused(join(settings));
        assert!(other.contains("its engines are a and c, and those of another worker are a and b"));
        std::fs::rename(worker(1).path(dir.path()), worker(3).path(dir.path())).expect("renamed");
        assert!(refused(join(settings)).contains("it has been renamed, and is of worker 1"));
        std::fs::write(worker(3).path(dir.path()), "tabia match 3; x\n").expect("written");
        assert!(refused(join(settings)).contains("of a match that is not shared"));
        std::fs::write(worker(3).path(dir.path()), "a letter\n").expect("written");
        assert!(refused(join(settings)).contains("begins with \"a letter\""));
    }
}
