//! `tabia autoplay --check`: tests whether an engine follows its protocol.

use std::process::ExitCode;

use super::Args;
use crate::cli::output::outln;
use crate::cli::work::FOUND;
use crate::support::files::Output;
use crate::tools::autoplay::check::{Limits, Outcome, check, junit};
use crate::tools::autoplay::process::Trace;

pub(super) fn run(args: &Args, command: &str, trace: &Trace) -> anyhow::Result<ExitCode> {
    let config = args.engine(command)?;
    let report = args.junit();
    report.as_ref().map_or(Ok(()), Output::check)?;
    let limits = Limits { patience: args.patience(), margin: config.margin, trace };
    let outcomes = check(&config, &limits, print)?;
    let count: usize = outcomes.iter().map(|outcome| outcome.findings.len()).sum();
    match count {
        0 => outln!("{command} keeps to the protocol as far as it was tested.")?,
        1 => outln!("{command}: one finding.")?,
        count => outln!("{command}: {count} findings.")?,
    }
    if let Some(report) = report {
        let name = format!("tabia autoplay --check {command}");
        report.write(junit(&name, &outcomes).as_bytes())?;
    }
    Ok(if count == 0 { ExitCode::SUCCESS } else { ExitCode::from(FOUND) })
}

fn print(outcome: &Outcome) -> anyhow::Result<()> {
    let Outcome { name, findings, notes, skipped, .. } = outcome;
    let verdict = match (findings.is_empty(), skipped) {
        (false, _) => "FOUND",
        (true, None) => "ok",
        (true, Some(_)) => "skip",
    };
    outln!("{verdict:5} {name}")?;
    if let Some(lack) = skipped {
        outln!("    needs: {lack}")?;
    }
    for note in notes {
        outln!("    measured: {note}")?;
    }
    for finding in findings {
        outln!("{finding}")?;
    }
    Ok(())
}
