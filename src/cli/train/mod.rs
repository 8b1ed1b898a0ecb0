//! `tabia train`: data, and weights and networks learnt from it.

mod games;
mod net;
mod tune;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use clap::Subcommand;
use indicatif::{ProgressBar, ProgressStyle};

/// Play games to learn from, tune the evaluation on them, and train networks
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Games(games::Args),
    Net(net::Args),
    Tune(tune::Args),
}

/// Runs one of the subcommands.
///
/// # Errors
/// If files cannot be read or written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Games(args) => games::run(args),
        Command::Net(args) => net::run(args),
        Command::Tune(args) => tune::run(args),
    }
}

/// A flag that Ctrl-C raises instead of ending the process, so that what was reached is kept.
fn interruption() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    ctrlc::set_handler(move || raised.store(true, Relaxed))?;
    Ok(flag)
}

/// A bar on a terminal, nothing elsewhere.
fn progress_bar(length: usize, what: &'static str) -> ProgressBar {
    let style = "{msg} {bar:40} {pos}/{len} ({eta} left)";
    let style = ProgressStyle::with_template(style).unwrap_or_else(|_| {
        ProgressStyle::default_bar() // the template above is checked by a test
    });
    ProgressBar::new(length as u64).with_message(what).with_style(style)
}

/// Reads a share of the whole.
fn share(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_well_formed() {
        let template = "{msg} {bar:40} {pos}/{len} ({eta} left)";
        assert!(ProgressStyle::with_template(template).is_ok());
        assert_eq!(progress_bar(7, "files").length(), Some(7));
    }
}
