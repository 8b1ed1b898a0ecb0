//! Reports the progress of a tuning run: as a live table on a terminal, and as lines of text
//! otherwise.

use std::fmt::Write;
use std::io::{IsTerminal, stdout};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::autoplay::speed;
use crate::cli::output::outln;
use crate::support::words::{rounded, visible, visible_lines};
use crate::tools::autoplay::spsa::{Parameter, Tally, TuneEvent, Tuning, digits};

/// The heading of the table's first column. The column is at least as wide as this heading.
const HEAD: &str = "parameter";

pub(super) struct Reporter {
    /// The live table. It is hidden if the output is not a terminal.
    bar: ProgressBar,
    lines: bool,
    every: u32,
    begun: Instant,
    before: u64,
}

impl Reporter {
    pub(super) fn new(tuning: &Tuning, every: u32) -> Self {
        let bar = ProgressBar::new(tuning.tuner.plan().iterations.into());
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len} {eta}\n{msg}") {
            bar.set_style(style);
        }
        let lines = bar.is_hidden() || !stdout().is_terminal();
        let before = games(&tuning.games);
        bar.set_position(tuning.tuner.iteration().into());
        Reporter { bar, lines, every, begun: Instant::now(), before }
    }

    pub(super) fn report(&self, tuning: &Tuning, event: &TuneEvent) -> std::io::Result<()> {
        match event {
            TuneEvent::StartupRetry(what) => {
                self.note(&format!("the engine failed to start: {what}"))
            }
            TuneEvent::Void(why) => self.note(&format!("a pair of games does not count: {why}")),
            TuneEvent::Advanced => {
                self.bar.set_position(tuning.tuner.iteration().into());
                self.bar.set_message(format!("{}\n{}", self.summary(tuning), table(tuning)));
                match self.lines && self.is_due(tuning) {
                    true => self.note(&format!("{}; {}", self.summary(tuning), brief(tuning))),
                    false => Ok(()),
                }
            }
        }
    }

    pub(super) fn is_due(&self, tuning: &Tuning) -> bool {
        tuning.tuner.iteration().is_multiple_of(self.every)
    }

    fn note(&self, text: &str) -> std::io::Result<()> {
        self.bar.suspend(|| outln!("{}", visible_lines(text)))
    }

    fn summary(&self, tuning: &Tuning) -> String {
        let Tally { wins, draws, losses, void_pairs } = tuning.games;
        let (iteration, plan) = (tuning.tuner.iteration(), tuning.tuner.plan());
        let played = games(&tuning.games) - self.before;
        let speed = speed(played as usize, self.begun.elapsed());
        let void = match void_pairs {
            0 => String::new(),
            pairs => format!(", {pairs} pairs void"),
        };
        format!(
            "iteration {iteration} of {}: +{wins} ={draws} -{losses}{void}; {speed}",
            plan.iterations
        )
    }

    /// Prints the final parameters, both as engine options and as starting values for another run.
    pub(super) fn finish(&self, tuning: &Tuning) -> std::io::Result<()> {
        self.bar.finish_and_clear();
        outln!("{}\n", self.summary(tuning))?;
        outln!("{}", visible_lines(&table(tuning)))?;
        outln!("\nEngine options for tabia autoplay:")?;
        let options = tuning.option_values().into_iter().map(|(name, value)| {
            let text = visible(&format!("{name}={value}")).into_owned();
            format!("--option1 {}", shlex::try_quote(&text).unwrap_or_default())
        });
        outln!("{}", options.collect::<Vec<_>>().join(" "))?;
        outln!("\nParameters for another tuning:")?;
        for (parameter, &start) in tuning.tuner.parameters().iter().zip(tuning.tuner.values()) {
            outln!("{}", Parameter { start, ..parameter.clone() })?;
        }
        if !tuning.tuner.is_done() {
            outln!("\nIt is not finished: the same command goes on with it.")?;
        }
        Ok(())
    }
}

fn games(tally: &Tally) -> u64 {
    tally.wins + tally.draws + tally.losses
}

fn brief(tuning: &Tuning) -> String {
    let tuner = &tuning.tuner;
    let stand = |(parameter, value): (&Parameter, &f64)| {
        let digits = digits(parameter.c_end);
        let change = rounded(value - parameter.start, digits as i32);
        format!("{} {value:.digits$} ({change:+.digits$})", parameter.name)
    };
    tuner.parameters().iter().zip(tuner.values()).map(stand).collect::<Vec<_>>().join(", ")
}

fn table(tuning: &Tuning) -> String {
    let tuner = &tuning.tuner;
    let names = tuner.parameters().iter().map(|parameter| parameter.name.chars().count());
    let width = names.max().unwrap_or(0).max(HEAD.len());
    let mut text =
        format!("{HEAD:width$} {:>10} {:>10} {:>10} {:>9}", "start", "now", "change", "in C_END");
    for (parameter, value) in tuner.parameters().iter().zip(tuner.values()) {
        let Parameter { name, start, c_end, .. } = parameter;
        let (digits, change) = (digits(*c_end), value - start);
        let _ = write!(
            text,
            "\n{name:width$} {start:>10.digits$} {value:>10.digits$} {change:>+10.digits$} {:>+9.2}",
            change / c_end
        );
    }
    text
}
