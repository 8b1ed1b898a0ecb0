//! The results of a match. They are updated while games are played, and can be written as JSON for
//! other programs. `super::summary` formats them for human readers.
//!
//! ```
//! use tabia::autoplay::config::EngineConfig;
//! use tabia::autoplay::match_record::{MatchRecord, Places};
//! use tabia::autoplay::results::Results;
//! use tabia::autoplay::schedule::{Format, Schedule};
//!
//! let schedule =
//!     Schedule { engines: 2, format: Format::RoundRobin, games: 2, openings: 1, reversed: true };
//! let record = MatchRecord::open(&Places::default(), schedule, &[], "")?;
//! let engines = [EngineConfig::from_command("one")?, EngineConfig::from_command("two")?];
//! let results = Results::new(&engines, record, None);
//! assert_eq!(results.names, ["one", "two"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::cmp::Ordering;

use serde_json::{Value, json};

use crate::support::files::{Fault, JournalError, describe};
pub use crate::support::files::{FileKind, Output};

use super::config::EngineConfig;
pub use super::error::MatchError;
use super::match_record::MatchRecord;
use super::overhead::Overhead;
use super::play::Interrupt;
use super::ratings::ratings;
pub use super::report::About;
use super::report::{self, Contents};
use super::schedule::Round;
use super::shared::SharedTest;
use super::stats::{Decision, Sprt, Tally, normalised_elo};
use super::summary::{against, ranking, ratings_json};
use super::tournament::{Progress, Standings, Tournament};

/// The results of a match so far.
#[derive(Debug)]
pub struct Results {
    /// The engines' configurations, in the order in which the engines were defined.
    pub engines: Vec<EngineConfig>,
    /// Information shown in the report besides the results.
    pub about: About,
    /// The names of the engines, in the same order as `engines`.
    pub names: Vec<String>,
    /// For each engine, the number of failed or late starts.
    pub startup_retries: Vec<u32>,
    /// The delays caused by the match runner, excluding those of earlier runs of a resumed match.
    pub overhead: Overhead,
    /// The sequential test (SPRT), which may end the match early. Always `None` if there are more
    /// than two engines.
    pub sprt: Option<Sprt>,
    /// The finished games and the files in which they are stored.
    pub match_record: MatchRecord,
    /// The shared sequential test to which this match contributes, or `None` if it is not shared.
    pub(crate) shared: Option<SharedTest>,
}

impl Results {
    /// Creates the results of a match. If the match is being resumed, `match_record` already
    /// contains the finished games.
    pub fn new(engines: &[EngineConfig], match_record: MatchRecord, sprt: Option<Sprt>) -> Self {
        Results {
            engines: engines.to_vec(),
            about: About::default(),
            names: engines.iter().map(EngineConfig::label).collect(),
            startup_retries: vec![0; engines.len()],
            overhead: Overhead::default(),
            sprt: sprt.filter(|_| engines.len() == 2),
            match_record,
            shared: None,
        }
    }

    /// Plays the remaining games, round by round, until the tournament is over or the sequential
    /// test is decided. Each event is first stored and then passed to `observe` on the calling
    /// thread.
    ///
    /// # Errors
    /// If an engine cannot play, or if a file cannot be written.
    pub fn play(
        &mut self,
        tournament: &Tournament,
        interrupt: &Interrupt,
        mut observe: impl FnMut(&Self, &Progress),
    ) -> Result<(), MatchError> {
        let end = self.play_rounds(tournament, interrupt, &mut observe);
        if end.is_err() && self.match_record.finished == 0 {
            // Remove the state file, since it contains no games.
            self.match_record.close()?;
        }
        end
    }

    fn play_rounds(
        &mut self,
        tournament: &Tournament,
        interrupt: &Interrupt,
        observe: &mut impl FnMut(&Self, &Progress),
    ) -> Result<(), MatchError> {
        self.compare_workers()?;
        while !self.is_decided() && !interrupt.is_triggered() {
            let slots = self.match_record.next_games()?;
            if slots.is_empty() {
                break;
            }
            if let Some(round) = self.match_record.rounds.current() {
                observe(self, &Progress::Paired(round.clone()));
            }
            let (before, mut first_error) = (self.match_record.finished, None);
            let played = tournament.run(&slots, interrupt, |progress| match self.keep(progress) {
                Ok(goes_on) => {
                    observe(self, progress);
                    goes_on
                }
                Err(error) => {
                    first_error.get_or_insert(error);
                    false
                }
            });
            played.map_err(MatchError::from).and(first_error.map_or(Ok(()), Err))?;
            if self.match_record.finished == before {
                break;
            }
        }
        Ok(())
    }

    /// Updates the results with an event, and writes a finished game to the files. Returns whether
    /// the match continues.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn keep(&mut self, progress: &Progress) -> Result<bool, MatchError> {
        match progress {
            Progress::Named(engine, name) => self.names[*engine].clone_from(name),
            Progress::StartupRetry { engine, .. } => self.startup_retries[*engine] += 1,
            Progress::Finished { slot, record, .. } => {
                let pairs = self.pairs();
                self.overhead.merge(&record.overhead);
                self.match_record.add(slot, record)?;
                if self.pairs() > pairs {
                    self.compare_workers()?;
                }
                return Ok(!self.is_decided());
            }
            Progress::Starting { .. }
            | Progress::Paired(_)
            | Progress::Started(_)
            | Progress::InGame { .. }
            | Progress::Failed(_) => {}
        }
        Ok(true)
    }

    /// Returns the number of complete game pairs in this machine's match.
    fn pairs(&self) -> u32 {
        self.match_record.standings.tallies.values().flat_map(|tally| tally.pairs).sum()
    }

    /// Reads the latest games of all workers of a shared test. If they decide the test, stores the
    /// decision in the state file.
    fn compare_workers(&mut self) -> Result<(), MatchError> {
        let Some(shared) = &mut self.shared else { return Ok(()) };
        match shared.refresh() {
            // Only log a warning, because the network may be temporarily unavailable. The files are
            // read again after the next pair.
            Err(JournalError { fault: Fault::Io(error), .. }) if error.get_ref().is_none() => {
                log::warn!("cannot read the games of other workers: {}", describe(&error));
            }
            refreshed => refreshed?,
        }
        match (shared.stored_decision(), shared.decision()) {
            (Some(_), _) | (None, Decision::Continue) => Ok(()),
            (None, decision) => self.match_record.record_decision(decision),
        }
    }

    /// Returns the results on which the sequential test is based. If the test is shared, they
    /// include the games played on all machines.
    pub(crate) fn tested(&self) -> Option<&Tally> {
        let own = self.match_record.standings.tallies.values().next();
        self.shared.as_ref().map(SharedTest::tally).or(own)
    }

    /// Compares the first engine with the second: by the decision of the sequential test if there
    /// is one, and otherwise by the number of wins. Returns `None` if there are more than two
    /// engines.
    pub fn comparison(&self) -> Option<Ordering> {
        let compare = |tally: &Tally| -> Ordering {
            match (&self.shared, self.sprt) {
                (Some(shared), _) => shared.decision().into(),
                (None, None) => tally.total.wins.cmp(&tally.total.losses),
                (None, Some(sprt)) => sprt.decide(sprt.llr(&tally.pairs)).into(),
            }
        };
        (self.names.len() == 2).then(|| self.tested().map_or(Ordering::Equal, compare))
    }

    /// Returns whether the sequential test has accepted a hypothesis.
    pub fn is_decided(&self) -> bool {
        self.sprt.is_some() && self.comparison() != Some(Ordering::Equal)
    }

    /// Returns each engine that had failed or late starts, with the number of such starts.
    pub fn startup_retries(&self) -> impl Iterator<Item = (&str, u32)> {
        let counted =
            self.names.iter().map(String::as_str).zip(self.startup_retries.iter().copied());
        counted.filter(|&(_, count)| count > 0)
    }

    /// Writes the report and statistics if requested. If the match is finished, removes its state
    /// file.
    ///
    /// # Errors
    /// If a file cannot be written, or if a game loaded from the state file cannot be replayed.
    pub fn finish(
        &mut self,
        report: Option<Output<'_>>,
        statistics: Option<Output<'_>>,
    ) -> Result<(), MatchError> {
        if let Some(report) = report {
            let overhead = self.overhead.describe().map(|overhead| ("Match runner", overhead));
            self.about.facts.extend(overhead);
            let contents = Contents {
                event: &self.match_record.style.event,
                engines: &self.engines,
                names: &self.names,
                about: &self.about,
                standings: &self.match_record.standings,
                games: &self.match_record.games,
                sprt: self.sprt.as_ref(),
            };
            report.write(report::page(&contents)?.as_bytes())?;
        }
        if let Some(statistics) = statistics {
            statistics.write(format!("{:#}\n", self.json()).as_bytes())?;
        }
        // Keep the state file of a shared test, because the other workers still need it.
        if (self.match_record.rounds.is_over() || self.is_decided()) && self.shared.is_none() {
            self.match_record.close()?;
        }
        Ok(())
    }

    /// Returns the names of the engines that have been withdrawn.
    pub fn withdrawn(&self) -> Vec<&str> {
        let entrants = self.match_record.rounds.entrants();
        let all = self.names.iter().enumerate();
        all.filter(|(engine, _)| !entrants.contains(engine)).map(|(_, name)| &**name).collect()
    }

    /// Returns the pairings and byes of each round of a Swiss or knockout tournament; `None` for
    /// other formats.
    fn rounds_json(&self) -> Option<Vec<Value>> {
        let (names, rounds) = (&self.names, &self.match_record.rounds);
        let row = |round: &Round| {
            let pairings = round.pairings.iter().map(|&(a, b)| [&names[a], &names[b]]);
            json!({
                "number": round.number,
                "tie_break": round.tie_break,
                "pairings": pairings.collect::<Vec<_>>(),
                "byes": round.byes.iter().map(|&engine| &names[engine]).collect::<Vec<_>>(),
            })
        };
        rounds.current().map(|_| rounds.list().iter().map(row).collect())
    }

    /// Returns all statistics as JSON. Values that are infinite or cannot be estimated are `null`.
    pub fn json(&self) -> Value {
        let Results { names, sprt, match_record, .. } = self;
        let tallies = &match_record.standings.tallies;
        let played: u32 = tallies.values().map(|tally| tally.total.games()).sum();
        let pairings = tallies.iter().map(|(&(first, second), tally)| {
            let mut value = pairing(tally, sprt.as_ref());
            value["engines"] = json!([names[first], names[second]]);
            value
        });
        json!({
            "event": match_record.style.event,
            "scheduled": match_record.scheduled,
            "played": played,
            "crosstable": crosstable(names, &match_record.standings),
            "rounds": self.rounds_json(),
            "withdrawn": self.withdrawn(),
            "ratings": (names.len() > 2).then(|| {
                let games = &match_record.standings.games;
                ratings_json(names, games, &ratings(names.len(), games, &[]))
            }),
            "pairings": pairings.collect::<Vec<Value>>(),
            "shared": self.shared.as_ref().map(shared_json),
            "stumbles": self.startup_retries().collect::<Value>(),
            "overhead": self.overhead.json(),
        })
    }
}

/// Returns one row per engine, best engine first. The columns in `against` are in the same order as
/// the rows.
fn crosstable(names: &[String], standings: &Standings) -> Vec<Value> {
    let ranks = ranking(names.len(), standings);
    let rows = ranks.iter().map(|row| {
        let cells = ranks.iter().map(|column| against(standings, row.engine, column.engine));
        json!({
            "engine": names[row.engine],
            "score": row.placing.map(|placing| placing.score),
            "buchholz": row.placing.map(|placing| placing.buchholz),
            "points": row.count.points(),
            "games": row.count.games(),
            "results": row.count,
            "against": cells.collect::<Vec<Option<f64>>>(),
        })
    });
    rows.collect()
}

/// Returns the statistics of the games between two engines, from the first engine's point of view.
fn pairing(tally: &Tally, sprt: Option<&Sprt>) -> Value {
    json!({
        "results": tally.total,
        "as_white": tally.by_color[0],
        "as_black": tally.by_color[1],
        "pairs": tally.pairs,
        "elo": tally.elo(),
        "normalized_elo": normalised_elo(&tally.distribution()),
        "superiority": tally.superiority(),
        "sprt": sprt.map(|sprt| test(sprt, tally)),
        "terminations": tally.terminations,
    })
}

/// Returns the statistics of a shared test, over the games of all its workers.
pub(crate) fn shared_json(shared: &SharedTest) -> Value {
    let mut value = pairing(shared.tally(), Some(shared.sprt()));
    value["engines"] = json!(shared.names());
    value["sprt"]["decision"] = json!(shared.decision());
    let worker = |(number, games)| json!({ "worker": number, "games": games });
    value["workers"] = shared.workers().map(worker).collect();
    value
}

fn test(sprt: &Sprt, tally: &Tally) -> Value {
    let llr = sprt.llr(&tally.pairs);
    let (lower, upper) = sprt.bounds();
    json!({
        "parameters": sprt,
        "llr": llr,
        "lower": lower,
        "upper": upper,
        "decision": sprt.decide(llr),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Color;
    use crate::tools::autoplay::match_record::Places;
    use crate::tools::autoplay::schedule::{Format, Schedule};
    use crate::tools::autoplay::stats::EloModel;
    use crate::tools::autoplay::verdict::{Termination, Verdict};

    /// Returns the results of a match in which White has won every game so far. `ends` contains one
    /// termination for each of these games.
    fn results(games: usize, ends: &[Termination], sprt: Option<Sprt>) -> Results {
        let (engines, format) = (2, Format::RoundRobin);
        let schedule = Schedule { engines, format, games, openings: 1, reversed: true };
        let mut match_record =
            MatchRecord::open(&Places::default(), schedule, &[], "").expect("no files");
        for (slot, &end) in schedule.slots().iter().zip(ends) {
            match_record.standings.add(slot, &Verdict::against(Color::Black, end, ""));
        }
        let engine = |name: &str| EngineConfig { name: name.to_owned(), ..Default::default() };
        Results::new(&[engine("a"), engine("b")], match_record, sprt)
    }

    #[test]
    fn json_contains_the_printed_results() {
        let ends = [Termination::Time, Termination::Checkmate, Termination::Checkmate];
        let model = EloModel::Logistic;
        let sprt = Sprt { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05, model };
        let value = results(4, &ends, Some(sprt)).json();
        assert_eq!((&value["scheduled"], &value["played"]), (&json!(4), &json!(3)));
        assert_eq!(value["crosstable"][0]["engine"], "a");
        assert_eq!(value["crosstable"][0]["against"], json!([null, 2.0]));
        let pairing = &value["pairings"][0];
        assert_eq!(pairing["engines"], json!(["a", "b"]));
        assert_eq!(pairing["results"], json!({"wins": 2, "draws": 0, "losses": 1}));
        assert_eq!(pairing["pairs"], json!([0, 0, 1, 0, 0]));
        assert_eq!(pairing["terminations"], json!({"checkmate": 2, "time": 1}));
        assert_eq!(pairing["sprt"]["decision"], "continue");
        assert_eq!(pairing["sprt"]["parameters"]["model"], "logistic");
        // Only the complete pair counts, in which each side won a game.
        assert!(pairing["elo"]["value"].as_f64().is_some_and(|elo| elo.abs() < 1e-9));
    }

    #[test]
    fn infinite_values_are_null() {
        let value = results(1, &[Termination::Crash], None).json();
        assert_eq!(value["pairings"][0]["elo"]["value"], Value::Null);
        assert_eq!(value["pairings"][0]["sprt"], Value::Null);
    }
}
