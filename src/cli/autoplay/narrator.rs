//! Tells what happens in a match: on the screen, in the log, in the report.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressStyle};

use super::Args;
use crate::autoplay::config::EngineConfig;
use crate::autoplay::ledger::Ledger;
use crate::autoplay::record::GameRecord;
use crate::autoplay::report;
use crate::autoplay::results;
use crate::autoplay::schedule::Slot;
use crate::autoplay::stats::{Decision, Sprt};
use crate::autoplay::summary;
use crate::autoplay::tournament::{Progress, Tournament, is_hopeless};
use crate::autoplay::verdict::Termination;
use crate::cli::output::{errln, outln};
use crate::files::Kind;
use crate::files::in_words;
use crate::words::visible_lines;

/// The match ended level, or its test undecided.
const LEVEL: u8 = 3;
/// The second engine is ahead, or the test accepts H0.
const SECOND_AHEAD: u8 = 4;

/// What is told of a log that cannot be written.
const LOG: &str = "the log";

/// Hears what happens, and writes it down.
pub struct Narrator<'a> {
    args: &'a Args,
    names: Vec<String>,
    sprt: Option<Sprt>,
    games: usize,
    ledger: Ledger,
    log: Option<BufWriter<File>>,
    /// How often each engine's start went wrong.
    stumbles: Vec<u32>,
    /// What could not be written, which is told once: the match goes on without it.
    lost: Vec<&'static str>,
    show_moves: bool,
    /// Whether moves of several games are mixed.
    several: bool,
    /// The live line; hidden where there is no terminal.
    bar: ProgressBar,
}

impl<'a> Narrator<'a> {
    /// A narrator of a match of `games` games.
    pub fn new(
        args: &'a Args,
        tournament: &Tournament,
        log: Option<BufWriter<File>>,
        ledger: Ledger,
        games: usize,
        sprt: Option<Sprt>,
    ) -> Self {
        let bar = if games > 1 { ProgressBar::new(games as u64) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len} {eta} {msg}") {
            bar.set_style(style);
        }
        bar.set_position(ledger.finished as u64);
        Narrator {
            args,
            names: tournament.engines.iter().map(EngineConfig::label).collect(),
            sprt,
            games,
            ledger,
            log,
            stumbles: vec![0; tournament.engines.len()],
            lost: Vec::new(),
            show_moves: args.shows_moves(),
            several: tournament.concurrency > 1 && games > 1,
            bar,
        }
    }

    /// Takes an event in; tells whether the match should go on.
    ///
    /// # Errors
    /// If a file cannot be written, or the match cannot be played.
    pub fn hear(&mut self, progress: &Progress) -> anyhow::Result<bool> {
        match progress {
            Progress::Named(engine, name) => self.names[*engine].clone_from(name),
            Progress::Started(slot) => {
                let [white, black] = slot.colors.map(|engine| self.names[engine].clone());
                let line =
                    format!("Game {} of {}: {white} - {black} begins", slot.number, self.games);
                self.note(&line, self.show_moves);
            }
            Progress::Moved { slot, text } if self.several => {
                let mark = format!("[{}] ", slot.number);
                let text = format!("{mark}{}", text.replace('\n', &format!("\n{mark}")));
                self.note(&text, self.show_moves);
            }
            Progress::Moved { text, .. } => self.note(text, self.show_moves),
            Progress::Finished { slot, record, last_words } => {
                return self.finish(slot, record, last_words);
            }
            Progress::Stumbled { engine, what } => self.stumbled(*engine, what),
            Progress::Failed(_) => return Ok(false),
        }
        Ok(true)
    }

    /// Tells of a start that went wrong, and counts it.
    pub fn stumbled(&mut self, engine: usize, what: &str) {
        self.stumbles[engine] += 1;
        self.note(&format!("{} stumbled: {what}", self.names[engine]), true);
    }

    /// The stumbles of those engines that had some, with their names.
    fn all_stumbles(&self) -> impl Iterator<Item = (&str, u32)> {
        let counted = self.names.iter().zip(&self.stumbles);
        counted.map(|(name, &count)| (name.as_str(), count)).filter(|&(_, count)| count > 0)
    }

    /// Writes lines to the log, and perhaps to the screen. If either does not take them, the match
    /// goes on: its results are in other files.
    fn note(&mut self, text: &str, show: bool) {
        let text = visible_lines(text);
        if show {
            let shown = self.bar.suspend(|| outln!("{text}"));
            self.check("the standard output", shown);
        }
        if let Some(log) = &mut self.log {
            let written = writeln!(log, "{text}");
            self.check(LOG, written);
        }
    }

    /// Flushes the log.
    fn save_log(&mut self) {
        if let Some(log) = &mut self.log {
            let written = log.flush();
            self.check(LOG, written);
        }
    }

    /// Tells once of trouble in writing; a reader who has left knows of it.
    fn check(&mut self, what: &'static str, done: io::Result<()>) {
        let Err(error) = done else { return };
        if error.kind() != ErrorKind::BrokenPipe && !self.lost.contains(&what) {
            self.lost.push(what);
            let reason = in_words(&error);
            self.bar.suspend(|| {
                errln!("tabia: {what} does not take any more ({reason}); the match goes on");
            });
        }
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
        self.ledger.add(slot, record)?;
        let [white, black] = &record.names;
        let line = format!(
            "Game {} of {}: {white} - {black} {} {{{}}}",
            record.number,
            self.games,
            verdict.result(),
            verdict.detail
        );
        self.note(&line, true);
        for (name, words) in record.names.iter().zip(last_words) {
            if !words.is_empty() {
                self.note(&format!("  {name} wrote last:\n    {}", words.join("\n    ")), true);
            }
        }
        let finished = self.ledger.finished;
        self.bar.set_position(finished as u64);
        self.bar.set_message(self.live());
        if finished.is_multiple_of(self.args.every.max(1)) && finished < self.games {
            self.note(&self.interim(), true);
        }
        self.save_log();
        Ok(!self.decided())
    }

    /// Whether the sequential test has come to an end.
    pub fn decided(&self) -> bool {
        let decision = self.sprt.map(|sprt| self.ledger.standings.decide(&sprt).1);
        decision.is_some_and(|decision| decision != Decision::Continue)
    }

    /// The names of the two engines of a pairing.
    fn pair_names(&self, engines: (usize, usize)) -> [&str; 2] {
        [&self.names[engines.0], &self.names[engines.1]]
    }

    /// The match in a few words.
    fn live(&self) -> String {
        let Some(tally) = self.ledger.standings.tallies.values().next() else {
            return String::new();
        };
        if self.names.len() > 2 {
            let best = summary::ranking(self.names.len(), &self.ledger.standings)[0];
            return format!("{} leads", self.names[best.engine]);
        }
        let count = tally.total;
        let text = format!("+{} ={} -{}", count.wins, count.draws, count.losses);
        match (&self.sprt, tally.elo()) {
            (Some(sprt), _) => format!("{text} LLR {:.2}", sprt.llr(&tally.pairs)),
            (None, Some(elo)) => format!("{text} Elo {:+.1} ± {:.1}", elo.value, elo.error),
            (None, None) => text,
        }
    }

    /// The statistics in the middle of the match.
    fn interim(&self) -> String {
        if self.names.len() > 2 {
            return summary::crosstable(&self.names, &self.ledger.standings);
        }
        let lines = self.ledger.standings.tallies.iter().map(|(&engines, tally)| {
            let mut text = summary::score_line(self.pair_names(engines), tally);
            text.push_str(&format!("\n  {}", summary::elo_line(tally)));
            if let Some(sprt) = &self.sprt {
                text.push_str(&format!("\n  {}", summary::sprt_line(sprt, tally)));
            }
            text
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The statistics at the end, and the report. The state is removed if nothing is left to play.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn conclude(&mut self) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        let mut text = String::new();
        for (&engines, tally) in &self.ledger.standings.tallies {
            text.push_str(&summary::pairing(self.pair_names(engines), tally, self.sprt.as_ref()));
            text.push('\n');
        }
        if self.names.len() > 2 {
            text.push_str(&summary::crosstable(&self.names, &self.ledger.standings));
            text.push('\n');
        }
        for (name, count) in self.all_stumbles() {
            text.push_str(&format!("Starts of {name} that went wrong: {count}\n"));
        }
        self.note(text.trim_end(), true);
        self.save_log();
        let args = self.args;
        if let Some(dir) = &args.report {
            self.write_report(dir)?;
        }
        if let Some(path) = &self.args.json {
            self.write_json(path)?;
        }
        if self.ledger.finished == self.games || self.decided() {
            self.ledger.close()?;
        }
        Ok(())
    }

    fn write_report(&mut self, dir: &Path) -> anyhow::Result<()> {
        let page = report::page(
            &self.args.event,
            &self.names,
            &self.ledger.standings,
            &self.ledger.games,
            self.sprt.as_ref(),
        )?;
        let path = dir.join("index.html");
        std::fs::create_dir_all(dir).with_context(|| format!("cannot write {}", path.display()))?;
        self.args.output(&path, Kind::HTML).write(page.as_bytes())?;
        self.note(&format!("Report: {}", path.display()), true);
        Ok(())
    }

    fn write_json(&self, path: &Path) -> anyhow::Result<()> {
        let mut value = results::json(
            &self.args.event,
            &self.names,
            &self.ledger.standings,
            self.sprt.as_ref(),
            self.games,
        );
        value["stumbles"] = self.all_stumbles().collect();
        Ok(self.args.output(path, Kind::JSON).write(format!("{value:#}\n").as_bytes())?)
    }

    /// The match cannot go on. A state without games would only be in the way.
    ///
    /// # Errors
    /// If the state cannot be removed.
    pub fn give_up(&mut self) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        if self.ledger.finished == 0 {
            self.ledger.close()?;
        }
        Ok(())
    }

    /// What the result is to the shell.
    pub fn exit_code(&self) -> ExitCode {
        if self.names.len() > 2 {
            return ExitCode::SUCCESS;
        }
        if let Some(sprt) = &self.sprt {
            return match self.ledger.standings.decide(sprt).1 {
                Decision::AcceptH1 => ExitCode::SUCCESS,
                Decision::Continue => ExitCode::from(LEVEL),
                Decision::AcceptH0 => ExitCode::from(SECOND_AHEAD),
            };
        }
        let tally = self.ledger.standings.tallies.values().next();
        let (wins, losses) = tally.map_or((0, 0), |tally| (tally.total.wins, tally.total.losses));
        match wins.cmp(&losses) {
            std::cmp::Ordering::Greater => ExitCode::SUCCESS,
            std::cmp::Ordering::Equal => ExitCode::from(LEVEL),
            std::cmp::Ordering::Less => ExitCode::from(SECOND_AHEAD),
        }
    }
}
