//! `tabia generate`: what a package of the program needs besides it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, Subcommand};
use clap_complete::Shell;
use clap_mangen::Man;

use super::writing::{Force, MAN};
use crate::cli::output;
use crate::files::Output;

/// Write the man pages, completions or xboard's plugin file
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

/// What can be written.
#[derive(Debug, Subcommand)]
enum What {
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
}

/// Games have section 6 of the manual.
const SECTION: &str = "6";

/// What xboard reads of a plugin file: its kind, the command line, the variants.
const PLUGIN: &str = "plugin spec 0.0\ntabia -x\nchess\n";

/// Writes what was asked for.
///
/// # Errors
/// If the output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    match &args.what {
        What::Man { folder: Some(folder), force } => {
            write_pages(folder, *force)
                .with_context(|| format!("cannot write man pages into {}", folder.display()))?;
        }
        What::Man { folder: None, .. } => page(&command()).render(&mut text)?,
        What::Completions { shell } => {
            clap_complete::generate(*shell, &mut super::Cli::command(), "tabia", &mut text);
        }
        What::Plugin => text.extend_from_slice(PLUGIN.as_bytes()),
    }
    output::stdout().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The command line, in which every command knows by what words it is called.
fn command() -> clap::Command {
    let mut command = super::Cli::command();
    command.build();
    command
}

fn page(command: &clap::Command) -> Man {
    Man::new(command.clone()).section(SECTION)
}

/// Writes a page for every command: `tabia.6`, `tabia-book.6`, `tabia-book-build.6` and so on.
fn write_pages(folder: &Path, force: Force) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    let mut open = vec![command()];
    while let Some(command) = open.pop() {
        let page = page(&command);
        let mut text = Vec::new();
        page.render(&mut text)?;
        let path = folder.join(page.get_filename());
        Output::new(&path, MAN).force(force.allowed).write(&text)?;
        open.extend(command.get_subcommands().cloned());
    }
    Ok(())
}
