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

use super::date::today;
use super::work::{INTERRUPTED, on_interruption};
use super::writing::{LOG, TRACE};

use crate::autoplay::ledger::Ledger;
use crate::autoplay::owned::open_output;
use crate::autoplay::play::Interrupt;
use crate::autoplay::tournament::{Tournament, find_protocols};
use crate::files::Kind;

/// Plays the match.
///
/// # Errors
/// If the arguments make no sense, a file cannot be used, or an engine cannot be started.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let trace = args.trace.as_deref().map(|path| create(path, TRACE, args, true)).transpose()?;
    let trace = trace.map(|file| Arc::new(Mutex::new(file)));
    if let Some(command) = &args.check {
        return check::run(command, &trace);
    }
    args.check_outputs()?;
    let mut engines = args.resolve_engines()?;
    let openings = args.resolve_openings()?;
    let schedule = args.resolve_schedule(engines.len(), openings.len())?;
    let conditions = args.resolve_conditions()?;
    let sprt = args.resolve_sprt()?.filter(|_| engines.len() == 2);
    let slots = schedule.slots();
    let settings = args.settings(&engines, &schedule);
    let mut stumbles = Vec::new();
    find_protocols(&mut engines, &trace, |engine, what| stumbles.push((engine, what)))?;
    let cores = args.resolve_cores()?;
    let log =
        args.log.as_deref().map(|path| create(path, LOG, args, !args.resumes())).transpose()?;
    // After all else that may be wrong: a state is the beginning of a match.
    let (ledger, left) = Ledger::open(&args.places(), &slots, &settings)?;
    let tournament = Tournament {
        slots: left,
        openings,
        conditions,
        cores,
        concurrency: args.resolve_concurrency(),
        trace,
        date: today(),
        engines,
    };
    let mut narrator = Narrator::new(args, &tournament, log, ledger, slots.len(), sprt);
    stumbles.iter().for_each(|(engine, what)| narrator.stumbled(*engine, what));
    let interrupt = Arc::new(Interrupt::new());
    let handle = Arc::clone(&interrupt);
    on_interruption(move || handle.trigger())?;
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

/// Opens a file of this kind to write to: anew, or to add to what is there.
fn create(path: &Path, kind: Kind, args: &Args, anew: bool) -> anyhow::Result<BufWriter<File>> {
    args.output(path, kind).check()?;
    let file = open_output(path, anew).with_context(|| format!("cannot write {}", path.display()));
    Ok(BufWriter::new(file?))
}
