//! The command line: parses arguments, determines the configuration and runs a subcommand.
//!
//! ```no_run
//! let run: fn() -> std::process::ExitCode = tabia::cli::main;
//! ```

mod annotate;
mod args;
mod autoplay;
mod bench;
mod book;
mod console;
mod date;
mod eval;
mod examples;
#[cfg(feature = "lesson")]
mod lesson;
mod list;
mod logging;
mod output;
mod perft;
mod place;
mod play;
mod ratings;
mod repertoire;
#[cfg(feature = "serve")]
mod serve;
mod solve;
mod suggestion;
#[cfg(feature = "train")]
mod train;
mod tune;
mod usage;
mod version;
mod work;
mod writing;

#[cfg(fuzzing)]
pub(crate) use console::type_in;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Chess engine for xboard and UCI with opening books indexed by position.
#[derive(Debug, Parser)]
#[command(
    version,
    long_version = version::LONG.as_str(),
    about,
    args_conflicts_with_subcommands = true,
    // Omits the empty lines that clap's default template puts between the sections, so that the
    // help fits on one screen.
    help_template = "{about-with-newline}{usage-heading} {usage}\nCommands:\n{subcommands}\nOptions:\n{options}{after-help}",
    override_usage = "tabia [OPTIONS] or tabia COMMAND (`tabia help COMMAND` explains each)"
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    play: play::Args,
    #[command(flatten)]
    verbosity: logging::Verbosity,
}

/// The subcommands of `tabia`.
#[derive(Debug, Subcommand)]
enum Command {
    Annotate(annotate::Args),
    Autoplay(Box<autoplay::Args>),
    Bench(bench::Args),
    Book(book::Args),
    Eval(eval::Args),
    #[cfg(feature = "lesson")]
    Lesson(lesson::Args),
    Perft(perft::Args),
    Ratings(ratings::Args),
    Repertoire(repertoire::Args),
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    Solve(solve::Args),
    #[cfg(feature = "train")]
    Train(train::Args),
    Tune(Box<tune::Args>),
}

/// Returns the command-line parser. The long help text of each command contains examples.
pub fn command() -> clap::Command {
    examples::add(Cli::command())
}

/// Parses the process's arguments and runs the requested command.
pub fn main() -> ExitCode {
    let parsed = command().try_get_matches();
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return usage::not_understood(&error),
    };
    if cli.command.is_some() {
        cli.verbosity.install();
        let arguments: Vec<_> = std::env::args_os().skip(1).collect();
        log::info!("Tabia {} with {arguments:?}", env!("CARGO_PKG_VERSION"));
    }
    let done = match cli.command {
        Some(Command::Annotate(args)) => annotate::run(&args),
        Some(Command::Autoplay(args)) => autoplay::run(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Book(args)) => book::run(&args),
        Some(Command::Eval(args)) => eval::run(&args),
        #[cfg(feature = "lesson")]
        Some(Command::Lesson(args)) => lesson::run(&args),
        Some(Command::Perft(args)) => perft::run(&args),
        Some(Command::Ratings(args)) => ratings::run(&args),
        Some(Command::Repertoire(args)) => repertoire::run(&args),
        #[cfg(feature = "serve")]
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::Solve(args)) => solve::run(&args),
        #[cfg(feature = "train")]
        Some(Command::Train(args)) => train::run(&args),
        Some(Command::Tune(args)) => tune::run(&args),
        None => play::run(&cli.play, &cli.verbosity),
    };
    match done {
        Err(error) if error.is::<usage::UsageError>() => usage::refuse(&format!("{error:#}")),
        done => output::exit_code(done),
    }
}
