//! Reports the progress of a match on the screen and in the log.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::Args;
use crate::chess::notation;
use crate::chess::position::Color;
use crate::cli::date::now;
use crate::cli::output::{errln, outln};
use crate::support::files::describe;
use crate::support::words::{MinutesSeconds, number_of, rounded, visible_lines};
use crate::tools::autoplay::config::EngineConfig;
use crate::tools::autoplay::play::{GameEvent, MoveMade};
use crate::tools::autoplay::record::GameRecord;
use crate::tools::autoplay::results::Results;
use crate::tools::autoplay::schedule::Slot;
use crate::tools::autoplay::summary;
use crate::tools::autoplay::tournament::Progress;

const LOG: &str = "the log";

pub(super) struct Reporter {
    commands: Vec<String>,
    log: Option<BufWriter<File>>,
    /// Outputs on which a write error has occurred. Only the first error on each output is
    /// reported, and the match continues.
    lost: Vec<&'static str>,
    show_moves: bool,
    several: bool,
    /// The number of games between two reports of the statistics.
    every: usize,
    begun: Instant,
    before: usize,
    concurrency: usize,
    /// The progress bar, which is hidden if the output is not a terminal or there is only one game.
    bar: ProgressBar,
}

impl Reporter {
    pub(super) fn new(
        args: &Args,
        log: Option<BufWriter<File>>,
        engines: &[EngineConfig],
        results: &Results,
    ) -> Self {
        let games = results.match_record.scheduled;
        let bar = if games > 1 { ProgressBar::new(games as u64) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len} {eta} {msg}") {
            bar.set_style(style);
        }
        bar.set_position(results.match_record.finished as u64);
        Reporter {
            commands: engines.iter().map(EngineConfig::command_line).collect(),
            log,
            lost: Vec::new(),
            show_moves: args.shows_moves(),
            several: args.concurrency.count() > 1 && games > 1,
            every: args.every.max(1),
            begun: Instant::now(),
            before: results.match_record.finished,
            concurrency: args.concurrency.count().min(games.max(1)),
            bar,
        }
    }

    pub(super) fn report(&mut self, results: &Results, progress: &Progress) {
        match progress {
            Progress::Paired(round) => self.note(&summary::round_line(&results.names, round), true),
            Progress::Started(slot) => {
                let games = results.match_record.rounds.last_number();
                let [white, black] = slot.colors.map(|engine| &results.names[engine]);
                let line = format!("Game {} of {games}: {white} - {black} begins", slot.number);
                self.note(&line, self.show_moves);
            }
            Progress::Starting { slot, engine } => {
                let side = if slot.colors[0] == *engine { "WHITE" } else { "BLACK" };
                let command = &self.commands[*engine];
                let text = format!("Starting {side} engine:\nStarting {command}...");
                self.stamped(&text, slot);
            }
            Progress::InGame { slot, event } => {
                let text = match event {
                    GameEvent::Prepared(color) => {
                        format!("init engine {}", notation::color(*color).to_lowercase())
                    }
                    GameEvent::ClocksStarted => "Starting clocks!".to_owned(),
                    GameEvent::Moved(step) => {
                        in_lines(step, &results.names[slot.colors[step.color.to_index()]])
                    }
                };
                self.stamped(&text, slot);
            }
            Progress::Finished { record, last_output, .. } => {
                self.finished(results, record, last_output);
            }
            Progress::StartupRetry { engine, what } => {
                let name = &results.names[*engine];
                self.note(&format!("{name} failed to start: {what}"), true);
            }
            Progress::Named(..) | Progress::Failed(_) => {}
        }
    }

    /// Logs the lines of `text`, each with a timestamp. If several games are played at the same
    /// time, each line begins with the number of its game.
    fn stamped(&mut self, text: &str, slot: &Slot) {
        let mark = if self.several { format!("[{}] ", slot.number) } else { String::new() };
        let now = now();
        let lines: Vec<String> = text.lines().map(|line| format!("{mark}[{now}] {line}")).collect();
        self.note(&lines.join("\n"), self.show_moves);
    }

    /// Writes lines to the log and, if `show` is set, to the screen. Errors do not stop the match.
    pub(super) fn note(&mut self, text: &str, show: bool) {
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

    fn save_log(&mut self) {
        if let Some(log) = &mut self.log {
            let written = log.flush();
            self.check(LOG, written);
        }
    }

    /// Reports the first write error on each output. Ignores errors caused by a closed pipe.
    fn check(&mut self, what: &'static str, done: io::Result<()>) {
        let Err(error) = done else { return };
        if error.kind() != ErrorKind::BrokenPipe && !self.lost.contains(&what) {
            self.lost.push(what);
            let reason = describe(&error);
            self.bar.suspend(|| {
                errln!("tabia: {what} does not take any more ({reason}); the match goes on");
            });
        }
    }

    fn finished(&mut self, results: &Results, record: &GameRecord, last_output: &[Vec<String>; 2]) {
        let GameRecord { number, names: [white, black], verdict, .. } = record;
        let (games, result) = (results.match_record.rounds.last_number(), verdict.result());
        let what = &verdict.detail;
        let line = format!("Game {number} of {games}: {white} - {black} {result} {{{what}}}");
        self.note(&line, true);
        for (name, words) in record.names.iter().zip(last_output) {
            if !words.is_empty() {
                self.note(&format!("  {name} wrote last:\n    {}", words.join("\n    ")), true);
            }
        }
        let finished = results.match_record.finished;
        self.bar.set_position(finished as u64);
        self.bar.set_message(status_line(results));
        if finished.is_multiple_of(self.every) && finished < results.match_record.scheduled {
            self.note(&interim_statistics(results), true);
        }
        self.save_log();
    }

    pub(super) fn finish(&mut self, results: &Results) {
        self.bar.finish_and_clear();
        let played = results.match_record.finished - self.before;
        let mut text = match played {
            0 | 1 => String::new(),
            _ => {
                format!("{}, {} at a time\n", speed(played, self.begun.elapsed()), self.concurrency)
            }
        };
        for (&engines, tally) in &results.match_record.standings.tallies {
            let names = pair_names(results, engines);
            let own_test = results.sprt.as_ref().filter(|_| results.shared.is_none());
            text.push_str(&summary::pairing(names, tally, own_test));
            text.push('\n');
        }
        if let Some(shared) = &results.shared {
            text.push_str(&format!("{}\n", shared.summary()));
        }
        if results.names.len() > 2 {
            text.push_str(&summary::tables(&results.names, &results.match_record.standings));
            text.push('\n');
        }
        if let withdrawn @ [_, ..] = &results.withdrawn()[..] {
            text.push_str(&format!("Withdrawn: {}\n", withdrawn.join(", ")));
        }
        for (name, count) in results.startup_retries() {
            text.push_str(&format!("Failed starts of {name}: {count}\n"));
        }
        if let Some(overhead) = results.overhead.describe() {
            text.push_str(&format!("Runner: {overhead}\n"));
        }
        self.note(text.trim_end(), true);
        self.save_log();
    }
}

pub(in crate::cli) fn speed(games: usize, time: Duration) -> String {
    const HOUR: f64 = 3600.0;
    let seconds = time.as_secs_f64();
    let per_hour = games as f64 * HOUR / seconds.max(f64::EPSILON);
    let time = match seconds.ceil() as u64 {
        whole @ 0..60 => format!("{whole} s"),
        whole => format!("{} min", MinutesSeconds(Duration::from_secs(whole))),
    };
    format!("{} in {time}: {per_hour:.0} games/hour", number_of(games as u64, "game"))
}

fn in_lines(step: &MoveMade, name: &str) -> String {
    let (side, dots) = match step.color {
        Color::White => ("WHITE", ""),
        Color::Black => ("BLACK", " ..."),
    };
    let [white, black] = step.used.map(|time| time.as_secs_f64());
    format!(
        "{side} moves {}.{dots} {} ({name})\nwhite used: {white:.3}s, black used: {black:.3}s",
        step.number, step.mv
    )
}

fn pair_names(results: &Results, engines: (usize, usize)) -> [&str; 2] {
    [&results.names[engines.0], &results.names[engines.1]]
}

fn status_line(results: &Results) -> String {
    let Results { names, sprt, match_record, .. } = results;
    let Some(tally) = match_record.standings.tallies.values().next() else { return String::new() };
    if names.len() > 2 {
        let best = summary::ranking(names.len(), &match_record.standings)[0];
        return format!("{} leads", names[best.engine]);
    }
    let count = tally.total;
    let text = format!("+{} ={} -{}", count.wins, count.draws, count.losses);
    match (sprt.zip(results.tested()), tally.elo()) {
        (Some((sprt, tested)), _) => {
            format!("{text} LLR {:.2}", rounded(sprt.llr(&tested.pairs), 2))
        }
        (None, Some(elo)) => format!("{text} {}", summary::elo(elo)),
        (None, None) => text,
    }
}

fn interim_statistics(results: &Results) -> String {
    let Results { names, sprt, match_record, .. } = results;
    if names.len() > 2 {
        return summary::tables(names, &match_record.standings);
    }
    let lines = match_record.standings.tallies.iter().map(|(&engines, tally)| {
        let mut text = summary::score_line(pair_names(results, engines), tally);
        text.push_str(&format!("\n  {}", summary::elo_line(tally)));
        match (&results.shared, sprt) {
            (Some(shared), _) => text.push_str(&format!("\n  all workers: {}", shared.line())),
            (None, Some(sprt)) => {
                text.push_str(&format!("\n  {}", summary::sprt_line(sprt, tally)));
            }
            (None, None) => {}
        }
        text
    });
    lines.collect::<Vec<_>>().join("\n")
}
