//! `tabia autoplay --check`: tests whether an engine follows the xboard protocol.

use std::process::ExitCode;

use crate::cli::output::outln;
use crate::tools::autoplay::check::PROBES;
use crate::tools::autoplay::config::EngineConfig;
use crate::tools::autoplay::process::Trace;

/// The exit status if the engine violates the protocol.
const FOUND: u8 = 4;

pub(super) fn run(command: &str, trace: &Trace) -> anyhow::Result<ExitCode> {
    let config = EngineConfig::from_command(command)?;
    let mut count = 0;
    for probe in PROBES {
        let findings = probe.run(&config, trace)?;
        count += findings.len();
        let verdict = if findings.is_empty() { "ok" } else { "FOUND" };
        outln!("{verdict:5} {}", probe.name)?;
        for finding in &findings {
            outln!("{finding}")?;
        }
    }
    match count {
        0 => outln!("{command} keeps to the protocol as far as was asked.")?,
        1 => outln!("{command}: one finding.")?,
        count => outln!("{command}: {count} findings.")?,
    }
    Ok(if count == 0 { ExitCode::SUCCESS } else { ExitCode::from(FOUND) })
}
