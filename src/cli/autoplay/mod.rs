//! `tabia autoplay`: the match runner.

mod args;
mod check;
mod narrator;

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use anyhow::Context;

pub use args::Args;
use narrator::Narrator;

use crate::autoplay::ledger::Ledger;
use crate::autoplay::play::Interrupt;
use crate::autoplay::tournament::{Tournament, find_protocols};

/// As shells have it for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Plays the match.
///
/// # Errors
/// If the arguments make no sense, a file cannot be used, or an engine cannot be started.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let trace = args.trace.as_deref().map(create).transpose()?;
    let trace = trace.map(|file| Arc::new(Mutex::new(file)));
    if let Some(command) = &args.check {
        return check::run(command, &trace);
    }
    let mut engines = args.resolve_engines()?;
    let openings = args.resolve_openings()?;
    let schedule = args.resolve_schedule(engines.len(), openings.len())?;
    let conditions = args.resolve_conditions()?;
    let sprt = args.resolve_sprt()?.filter(|_| engines.len() == 2);
    let slots = schedule.slots();
    let settings = args.settings(&engines, &schedule);
    find_protocols(&mut engines, &trace)?;
    let (ledger, left) = Ledger::open(&args.places(), &slots, &settings)?;
    let tournament = Tournament {
        slots: left,
        openings,
        conditions,
        cores: args.resolve_cores()?,
        concurrency: args.resolve_concurrency(),
        trace,
        date: today(),
        engines,
    };
    let mut narrator = Narrator::new(args, &tournament, ledger, slots.len(), sprt)?;
    let interrupt = Arc::new(Interrupt::new());
    let handle = Arc::clone(&interrupt);
    ctrlc::set_handler(move || handle.trigger()).context("cannot watch for Ctrl-C")?;
    if let Err(error) = play(&tournament, &interrupt, &mut narrator) {
        narrator.give_up()?;
        return Err(error);
    }
    narrator.conclude()?;
    let stopped = interrupt.is_triggered() && !narrator.decided();
    Ok(if stopped { ExitCode::from(INTERRUPTED) } else { narrator.exit_code() })
}

/// Plays what is left of the match.
fn play(
    tournament: &Tournament,
    interrupt: &Interrupt,
    narrator: &mut Narrator<'_>,
) -> anyhow::Result<()> {
    if narrator.decided() {
        return Ok(());
    }
    let mut trouble = Ok(());
    tournament.run(interrupt, |progress| match narrator.hear(progress) {
        Ok(goes_on) => goes_on,
        Err(error) => {
            if trouble.is_ok() {
                trouble = Err(error);
            }
            false
        }
    })?;
    trouble
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
