//! The command line: arguments, then resolved configuration, then one subcommand.

mod autoplay;
mod bench;
mod book;
mod console;
mod date;
mod eval;
mod generate;
mod judge;
mod lesson;
mod logging;
mod perft;
mod play;
mod train;
mod work;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

/// A chess engine for the xboard protocol that knows its openings by position.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    override_usage = "tabia [OPTIONS]\n       tabia COMMAND (--help tells more of each)"
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    play: play::Args,
}

/// What `tabia` can do besides playing.
#[derive(Debug, Subcommand)]
enum Command {
    Autoplay(Box<autoplay::Args>),
    Bench(bench::Args),
    Book(book::Args),
    Eval(eval::Args),
    Generate(generate::Args),
    Lesson(lesson::Args),
    Perft(perft::Args),
    Train(train::Args),
}

/// Runs the command line of the process.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return not_understood(&error),
    };
    let done = match cli.command {
        Some(Command::Autoplay(args)) => autoplay::run(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Book(args)) => book::run(&args),
        Some(Command::Eval(args)) => eval::run(&args),
        Some(Command::Generate(args)) => generate::run(&args),
        Some(Command::Lesson(args)) => lesson::run(&args),
        Some(Command::Perft(args)) => perft::run(&args),
        Some(Command::Train(args)) => train::run(&args),
        None => play::run(&cli.play),
    };
    done.unwrap_or_else(|error| {
        eprintln!("tabia: {error:#}");
        ExitCode::FAILURE
    })
}

/// Exit status for arguments that are wrong, by custom.
const USAGE: u8 = 2;

/// Prints the help that was asked for, or says in one line what is wrong with the arguments.
fn not_understood(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return if error.print().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let text = error.to_string();
    // The whole help comes in place of a fault: its usage shows where a command is missing.
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let usage = text.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or_default();
        eprintln!("tabia: a command is missing: {usage} (see tabia --help)");
        return ExitCode::from(USAGE);
    }
    let fault = text.split("\n\nUsage:").next().unwrap_or_default();
    let fault = fault.split("\n\nFor more").next().unwrap_or_default();
    let words: Vec<&str> = fault.trim_start_matches("error:").split_whitespace().collect();
    eprintln!("tabia: {} (see tabia --help)", words.join(" "));
    ExitCode::from(USAGE)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_help_fits_on_a_screen() {
        const SCREEN: usize = 32;
        let asked = Cli::command().try_get_matches_from(["tabia", "--help"]);
        let help = asked.expect_err("help in place of matches").to_string();
        assert!(help.lines().count() <= SCREEN, "{help}");
    }
}
