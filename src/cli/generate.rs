//! `tabia generate`: what a package of the program needs besides it.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;

/// Write the man page, completions or xboard's plugin file
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to write
    #[arg(value_enum)]
    what: What,
    /// The shell that the completions are for
    #[arg(value_enum, required_if_eq("what", "completions"))]
    shell: Option<Shell>,
}

/// What can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// The man page, tabia(6)
    Man,
    /// Completions for a shell
    Completions,
    /// The file by which xboard finds the engine (/usr/share/games/plugins/xboard/tabia.eng)
    Plugin,
}

/// Games have section 6 of the manual.
const SECTION: &str = "6";

/// What xboard reads of a plugin file: its kind, the command line, the variants.
const PLUGIN: &str = "plugin spec 0.0\ntabia -x\nchess\n";

/// Writes what was asked for.
///
/// # Errors
/// If the output cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    match args.what {
        What::Man => clap_mangen::Man::new(super::Cli::command())
            .section(SECTION)
            .render(&mut text)
            .context("cannot make the man page")?,
        What::Completions => {
            let shell = args.shell.context("say for which shell")?;
            clap_complete::generate(shell, &mut super::Cli::command(), "tabia", &mut text);
        }
        What::Plugin => text.extend_from_slice(PLUGIN.as_bytes()),
    }
    io::stdout().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}
