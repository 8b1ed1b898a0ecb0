//! `tabia generate`: manual pages, completions and other files for packages.

mod examples;
mod man;
mod share;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, Subcommand};
use clap_complete::Shell;

use super::writing::Force;
use crate::cli::output;

/// Write the man pages, completions, xboard's plugin file
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: Artifact,
}

/// What can be written.
#[derive(Debug, Subcommand)]
enum Artifact {
    /// The man page, tabia(6), to the standard output; or into a folder, with those of all commands
    Man {
        /// The folder; it is made if need be
        folder: Option<PathBuf>,
        #[command(flatten)]
        force: Force,
    },
    /// Completions for a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// The file by which xboard finds the engine (/usr/share/games/plugins/xboard/tabia.eng)
    Plugin,
    /// The entry by which desktops offer a game against Tabia in xboard
    Desktop,
    /// The constants of the search as parameters for `tabia tune --params`
    #[cfg(feature = "tune")]
    Constants,
    /// All of these, each in its place below a folder such as /usr/local/share
    Share {
        /// The folder; it is made if need be
        folder: PathBuf,
        #[command(flatten)]
        force: Force,
    },
}

/// Writes the requested output.
///
/// # Errors
/// If the output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let text = match &args.what {
        Artifact::Man { folder: Some(folder), force } => {
            man::write(folder, *force)
                .with_context(|| format!("cannot write man pages into {}", folder.display()))?;
            Vec::new()
        }
        Artifact::Man { folder: None, .. } => man::main_page()?,
        Artifact::Completions { shell } => completions(*shell),
        Artifact::Plugin => share::PLUGIN.into(),
        Artifact::Desktop => share::DESKTOP.into(),
        #[cfg(feature = "tune")]
        Artifact::Constants => crate::engine::search::constants::parameters().concat().into_bytes(),
        Artifact::Share { folder, force } => {
            share::write(folder, *force)?;
            Vec::new()
        }
    };
    output::stdout().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn completions(shell: Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut super::Cli::command(), "tabia", &mut text);
    text
}
