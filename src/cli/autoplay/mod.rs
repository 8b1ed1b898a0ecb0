//! `tabia autoplay`: the match runner.

mod args;

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use anyhow::{Context, bail};

pub use args::Args;

use crate::autoplay::config::EngineConfig;
use crate::autoplay::play::Interrupt;
use crate::autoplay::record::GameRecord;
use crate::autoplay::schedule::Slot;
use crate::autoplay::stats::{Decision, Sprt};
use crate::autoplay::summary;
use crate::autoplay::tournament::{Progress, Standings, Tournament, is_hopeless};
use crate::autoplay::verdict::Termination;

/// The match ended level, or its test undecided.
const LEVEL: u8 = 3;
/// The second engine is ahead, or the test accepts H0.
const SECOND_AHEAD: u8 = 4;
/// As shells have it for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Plays the match.
///
/// # Errors
/// If the arguments make no sense, a file cannot be used, or an engine cannot be started.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let engines = args.resolve_engines()?;
    let openings = args.resolve_openings()?;
    let schedule = args.resolve_schedule(engines.len(), openings.len())?;
    let trace = args.trace.as_deref().map(create).transpose()?;
    let mut tournament = Tournament {
        slots: schedule.slots(),
        openings,
        conditions: args.resolve_conditions(),
        concurrency: args.resolve_concurrency(),
        restart: args.restart,
        sprt: args.resolve_sprt()?.filter(|_| engines.len() == 2),
        trace: trace.map(|file| Arc::new(Mutex::new(file))),
        date: today(),
        engines,
    };
    tournament.find_protocols()?;
    let mut narrator = Narrator::new(args, &tournament)?;
    let interrupt = Arc::new(Interrupt::new());
    let handle = Arc::clone(&interrupt);
    ctrlc::set_handler(move || handle.trigger()).context("cannot watch for Ctrl-C")?;
    let mut trouble = None;
    tournament.run(&interrupt, |progress| match narrator.hear(progress) {
        Ok(goes_on) => goes_on,
        Err(error) => {
            trouble.get_or_insert(error);
            false
        }
    })?;
    if let Some(error) = trouble {
        return Err(error);
    }
    narrator.conclude()?;
    let stopped = interrupt.is_triggered() && !narrator.decided();
    Ok(if stopped { ExitCode::from(INTERRUPTED) } else { narrator.exit_code() })
}

/// Creates a file to write to.
fn create(path: &Path) -> anyhow::Result<BufWriter<File>> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(BufWriter::new(file))
}

/// The day, as PGN has it (Universal Time).
fn today() -> String {
    /// Seconds of a day.
    const DAY: u64 = 86_400;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let days = now.map_or(0, |time| time.as_secs() / DAY);
    let (year, month, day) = civil_date(days);
    format!("{year:04}.{month:02}.{day:02}")
}

/// Year, month and day of a number of days since 1970-01-01. Source: Howard Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms" (`civil_from_days`).
fn civil_date(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that the leap day is the last of the year; eras have 400 years.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (400 * era + year_of_era + u64::from(month <= 2), month, day)
}

/// Writes down what happens: on the screen, in the log, in the PGN.
struct Narrator<'a> {
    args: &'a Args,
    names: Vec<String>,
    sprt: Option<Sprt>,
    games: usize,
    finished: usize,
    standings: Standings,
    pgn: Option<BufWriter<File>>,
    log: Option<BufWriter<File>>,
    show_moves: bool,
}

impl<'a> Narrator<'a> {
    fn new(args: &'a Args, tournament: &Tournament) -> anyhow::Result<Self> {
        let pgn = args.pgn.as_deref().map(|path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.map(BufWriter::new).with_context(|| format!("cannot write {}", path.display()))
        });
        Ok(Narrator {
            args,
            names: tournament.engines.iter().map(EngineConfig::label).collect(),
            sprt: tournament.sprt,
            games: tournament.slots.len(),
            finished: 0,
            standings: Standings::default(),
            pgn: pgn.transpose()?,
            log: args.log.as_deref().map(create).transpose()?,
            show_moves: args.shows_moves(),
        })
    }

    /// Takes an event in; tells whether the match should go on.
    fn hear(&mut self, progress: &Progress) -> anyhow::Result<bool> {
        match progress {
            Progress::Named(engine, name) => self.names[*engine].clone_from(name),
            Progress::Started(slot) => {
                let [white, black] = slot.colors.map(|engine| self.names[engine].clone());
                let line =
                    format!("Game {} of {}: {white} - {black} begins", slot.number, self.games);
                self.note(&line, self.show_moves)?;
            }
            Progress::Moved { slot, text } => {
                let several = self.args.resolve_concurrency() > 1 && self.games > 1;
                let text = if several {
                    let mark = format!("[{}] ", slot.number);
                    format!("{mark}{}", text.replace('\n', &format!("\n{mark}")))
                } else {
                    text.clone()
                };
                self.note(&text, self.show_moves)?;
            }
            Progress::Finished { slot, record, last_words } => {
                return self.finish(slot, record, last_words);
            }
            Progress::Failed(_) => return Ok(false),
        }
        Ok(true)
    }

    /// Writes lines to the log, and perhaps to the screen.
    fn note(&mut self, text: &str, show: bool) -> anyhow::Result<()> {
        if show {
            println!("{text}");
        }
        if let Some(log) = &mut self.log {
            writeln!(log, "{text}").context("cannot write the log")?;
        }
        Ok(())
    }

    fn finish(
        &mut self,
        slot: &Slot,
        record: &GameRecord,
        last_words: &[Vec<String>; 2],
    ) -> anyhow::Result<bool> {
        let verdict = &record.verdict;
        if is_hopeless(verdict) {
            bail!("the match cannot be played: {}", verdict.detail);
        }
        if verdict.termination == Termination::Unfinished {
            return Ok(false);
        }
        self.finished += 1;
        let [white, black] = &record.names;
        let line = format!(
            "Game {} of {}: {white} - {black} {} {{{}}}",
            record.number,
            self.games,
            verdict.result(),
            verdict.detail
        );
        self.note(&line, true)?;
        for (name, words) in record.names.iter().zip(last_words) {
            if !words.is_empty() {
                self.note(&format!("  {name} wrote last:\n    {}", words.join("\n    ")), true)?;
            }
        }
        self.standings.add(slot, verdict);
        self.write_pgn(record)?;
        if self.finished.is_multiple_of(self.args.every.max(1)) && self.finished < self.games {
            self.note(&self.interim(), true)?;
        }
        if let Some(log) = &mut self.log {
            log.flush().context("cannot write the log")?;
        }
        Ok(!self.decided())
    }

    fn write_pgn(&mut self, record: &GameRecord) -> anyhow::Result<()> {
        let Some(file) = &mut self.pgn else { return Ok(()) };
        let text = record.pgn(&self.args.event);
        file.write_all(text.as_bytes()).and_then(|()| file.flush()).context("cannot write the PGN")
    }

    /// Whether the sequential test has come to an end.
    fn decided(&self) -> bool {
        let decision = self.sprt.map(|sprt| self.standings.decide(&sprt).1);
        decision.is_some_and(|decision| decision != Decision::Continue)
    }

    /// The names of the two engines of a pairing.
    fn pair_names(&self, engines: (usize, usize)) -> [&str; 2] {
        [&self.names[engines.0], &self.names[engines.1]]
    }

    /// The statistics in the middle of the match.
    fn interim(&self) -> String {
        if self.names.len() > 2 {
            return summary::crosstable(&self.names, &self.standings);
        }
        let lines = self.standings.tallies.iter().map(|(&engines, tally)| {
            let mut text = summary::score_line(self.pair_names(engines), tally);
            text.push_str(&format!("\n  {}", summary::elo_line(tally)));
            if let Some(sprt) = &self.sprt {
                text.push_str(&format!("\n  {}", summary::sprt_line(sprt, tally)));
            }
            text
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The statistics at the end.
    fn conclude(&mut self) -> anyhow::Result<()> {
        let mut text = String::new();
        for (&engines, tally) in &self.standings.tallies {
            text.push_str(&summary::pairing(self.pair_names(engines), tally, self.sprt.as_ref()));
            text.push('\n');
        }
        if self.names.len() > 2 {
            text.push_str(&summary::crosstable(&self.names, &self.standings));
            text.push('\n');
        }
        self.note(text.trim_end(), true)?;
        if let Some(log) = &mut self.log {
            log.flush().context("cannot write the log")?;
        }
        Ok(())
    }

    fn exit_code(&self) -> ExitCode {
        if self.names.len() > 2 {
            return ExitCode::SUCCESS;
        }
        if let Some(sprt) = &self.sprt {
            return match self.standings.decide(sprt).1 {
                Decision::AcceptH1 => ExitCode::SUCCESS,
                Decision::Continue => ExitCode::from(LEVEL),
                Decision::AcceptH0 => ExitCode::from(SECOND_AHEAD),
            };
        }
        let total = self
            .standings
            .tallies
            .values()
            .next()
            .map_or((0, 0), |tally| (tally.total.wins, tally.total.losses));
        match total.0.cmp(&total.1) {
            std::cmp::Ordering::Greater => ExitCode::SUCCESS,
            std::cmp::Ordering::Equal => ExitCode::from(LEVEL),
            std::cmp::Ordering::Less => ExitCode::from(SECOND_AHEAD),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (11_016, (2000, 2, 29)),
            (20_454, (2026, 1, 1)),
            (20_512, (2026, 2, 28)),
        ] {
            assert_eq!(civil_date(days), date);
        }
    }
}
