//! `tabia autoplay`: the match runner.

mod about;
mod args;
mod check;
mod given;
#[cfg(feature = "serve")]
mod live;
mod names;
mod open_files;
mod openings;
mod records;
mod reporter;
mod shared;

use std::cmp::Ordering;
use std::fs::create_dir_all;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

pub(super) use args::{Args, Both, Endings, check_limits, described};
pub(super) use open_files::allow_open_files;
pub(super) use openings::load_openings;
use reporter::Reporter;
pub(super) use reporter::speed;

use super::date::today;
use super::work::{INTERRUPTED, on_interruption};
use super::writing::{LOG, TRACE, open_run_output};

use crate::support::files::{Cannot, FileKind};
use crate::tools::autoplay::match_record::MatchRecord;
use crate::tools::autoplay::play::Interrupt;
use crate::tools::autoplay::results::Results;
use crate::tools::autoplay::tournament::{Progress, Tournament, find_protocols};

/// The exit status if the match is tied or the sequential test (SPRT) is undecided.
const LEVEL: u8 = 3;
/// The exit status if the second engine is ahead or the sequential test (SPRT) accepts H0.
const SECOND_AHEAD: u8 = 4;

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let trace = args
        .trace
        .as_deref()
        .map(|path| open_run_output(&args.output(path, TRACE), true))
        .transpose()?;
    let trace = trace.map(|file| Arc::new(Mutex::new(file)));
    if let Some(command) = &args.check {
        return check::run(args, command, &trace);
    }
    if let Some(folder) = args.shared.aggregated() {
        return shared::aggregate(args, folder);
    }
    args.check_outputs()?;
    let mut engines = args.resolve_engines()?;
    let mut schedule = args.resolve_schedule(engines.len())?;
    let openings = args.resolve_openings(&schedule, args.shared.machines())?;
    let conditions = args.resolve_conditions()?;
    let sprt = args.resolve_sprt(engines.len())?;
    args.allow_open_files(&schedule)?;
    let joined = shared::join(args, &engines, &schedule, &openings, sprt)?;
    let openings = args.shared.share(openings)?;
    schedule.openings = openings.len();
    let entrants = if joined.is_some() { Vec::new() } else { args.entrants(&engines) };
    let settings = match &joined {
        Some(joined) => joined.settings.clone(),
        None => args.settings(&engines, &schedule),
    };
    let mut startup_retries = Vec::new();
    find_protocols(&mut engines, &trace, |startup_retry| startup_retries.push(startup_retry))?;
    let cores = args.resolve_cores()?;
    let log = args
        .log
        .as_deref()
        .map(|path| open_run_output(&args.output(path, LOG), !args.resumes()))
        .transpose()?;
    #[cfg(feature = "serve")]
    let listener = args.live.listen()?;
    // This must come after all other checks, because it creates the state file, which marks the
    // match as started.
    let match_record = MatchRecord::open(&args.places(), schedule, &entrants, &settings)?;
    let engines = match_record.arrange(engines);
    for startup_retry in &mut startup_retries {
        if let Progress::StartupRetry { engine, .. } = startup_retry {
            *engine = match_record.renumber(&entrants, *engine);
        }
    }
    let tournament = Tournament {
        openings,
        conditions,
        cores,
        concurrency: args.concurrency.count(),
        trace,
        date: today(),
        pause: args.records.pause(),
        error_output: args.records.error_output()?,
        engines,
    };
    let mut results = Results::new(&tournament.engines, match_record, sprt);
    results.about = about::about(args, &schedule);
    results.shared = joined.map(|joined| joined.test);
    let mut reporter = Reporter::new(args, log, &tournament.engines, &results);
    for startup_retry in &startup_retries {
        results.keep(startup_retry)?;
        reporter.report(&results, startup_retry);
    }
    let interrupt = Arc::new(Interrupt::new());
    let handle = Arc::clone(&interrupt);
    on_interruption(move || handle.trigger())?;
    #[cfg(feature = "serve")]
    let live = args.live.start(listener, &results, args.pgn.as_deref(), &mut reporter)?;
    results.play(&tournament, &interrupt, |results, progress| {
        #[cfg(feature = "serve")]
        if let Some(live) = &live {
            live.observe(results, &tournament, progress);
        }
        reporter.report(results, progress);
    })?;
    reporter.finish(&results);
    let stopped = interrupt.is_triggered() && !results.is_decided();
    #[cfg(feature = "serve")]
    if let Some(live) = live {
        live.close(&results, stopped);
    }
    write_down(args, &mut results, &mut reporter)?;
    Ok(exit_code(results.comparison(), stopped))
}

fn exit_code(comparison: Option<Ordering>, stopped: bool) -> ExitCode {
    match comparison {
        _ if stopped => ExitCode::from(INTERRUPTED),
        None | Some(Ordering::Greater) => ExitCode::SUCCESS,
        Some(Ordering::Equal) => ExitCode::from(LEVEL),
        Some(Ordering::Less) => ExitCode::from(SECOND_AHEAD),
    }
}

fn write_down(args: &Args, results: &mut Results, reporter: &mut Reporter) -> anyhow::Result<()> {
    let page = args.report_page();
    if let (Some(folder), Some(page)) = (&args.report, &page) {
        create_dir_all(folder).cannot("write", page)?;
        results.about.games = args.pgn.as_deref().and_then(|pgn| about::relative_path(folder, pgn));
    }
    let report = page.as_deref().map(|path| args.output(path, FileKind::HTML));
    results.finish(report, args.json.as_deref().map(|path| args.output(path, FileKind::JSON)))?;
    if let Some(page) = page {
        reporter.note(&format!("Report: {}", page.display()), true);
    }
    Ok(())
}
