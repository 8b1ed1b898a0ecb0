//! `tabia tune`: tunes an engine's options by playing games.

mod args;
mod reporter;

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

pub(super) use args::Args;
use reporter::Reporter;

use crate::support::files::FileKind;
use crate::tools::autoplay::play::Interrupt;
use crate::tools::autoplay::process::Trace;
use crate::tools::autoplay::spsa::{TuneEvent, Tuner, Tuning, picture};

use super::autoplay::allow_open_files;
use super::output::errln;
use super::work::{exit_status, on_interruption};
use super::writing::{TRACE, open_run_output};

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let engine = args.resolve_engine()?;
    let parameters = args.resolve_parameters()?;
    let place = args.place()?;
    if let Some(path) = &args.svg {
        args.output(path, FileKind::SVG).check()?;
    }
    let openings = args.resolve_openings()?;
    let conditions = args.endings().resolve()?;
    let settings = args.settings(&engine, &parameters);
    let tuner = Tuner::new(parameters, args.plan());
    let mut tuning = Tuning::new(engine, tuner, openings, conditions);
    tuning.concurrency = args.concurrency.count();
    allow_open_files(tuning.concurrency, false)?;
    tuning.trace = trace(args)?;
    tuning.check_engine(|what| errln!("tabia: the engine failed to start: {what}"))?;
    tuning.store(place, &settings)?;
    let interrupt = Arc::new(Interrupt::new());
    let handle = Arc::clone(&interrupt);
    on_interruption(move || handle.trigger())?;
    let reporter = Reporter::new(&tuning, args.every);
    let mut first_error = Ok(());
    let done = tuning.run(&interrupt, |tuning, event| {
        let outcome = reporter.report(tuning, event).map_err(anyhow::Error::from);
        let is_due = matches!(event, TuneEvent::Advanced) && reporter.is_due(tuning);
        let drawn = outcome.and_then(|()| if is_due { draw(args, tuning) } else { Ok(()) });
        if drawn.is_err() && first_error.is_ok() {
            first_error = drawn;
            interrupt.trigger();
        }
    });
    draw(args, &tuning)?;
    first_error?;
    if tuning.tuner.iteration() > 0 {
        reporter.finish(&tuning)?;
    }
    done?;
    Ok(exit_status(!tuning.tuner.is_done()))
}

fn draw(args: &Args, tuning: &Tuning) -> anyhow::Result<()> {
    let Some(path) = &args.svg else { return Ok(()) };
    Ok(args.output(path, FileKind::SVG).write(picture(&tuning.tuner).as_bytes())?)
}

fn trace(args: &Args) -> anyhow::Result<Trace> {
    let open = |path: &Path| {
        let file = open_run_output(&args.output(path, TRACE), true)?;
        anyhow::Ok(Arc::new(Mutex::new(file)))
    };
    args.trace.as_deref().map(open).transpose()
}
