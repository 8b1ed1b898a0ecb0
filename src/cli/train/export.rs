//! `tabia train export`: exports training positions for other training programs.

use std::io::BufWriter;
use std::process::ExitCode;

use super::Paths;
use super::selection::SelectionArgs;
use crate::cli::args::Threads;
use crate::cli::output::outln;
use crate::cli::writing::Force;
use crate::support::files::{Cannot, FileKind, Output};

const EXAMPLES: FileKind = FileKind {
    name: "a file of training positions",
    recognises: |head| head.starts_with(b"tabia examples "),
};

/// Export training positions for training on a graphics card
///
/// Writes the quiet positions with their targets, 32 bytes each, as `tabia train net` uses them.
/// The training positions are shuffled; the held-out positions follow them.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    paths: Paths,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    threads: Threads,
    /// Seed for the order of positions
    #[arg(long, hide_short_help = true, default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let path = &args.paths.output;
    let output =
        Output::new(path, EXAMPLES).force(args.force.allowed).apart_from(&args.paths.files);
    output.check()?;
    let data = args.selection.read(&args.paths.files, &args.threads, args.seed)?;
    let mut file = BufWriter::new(output.create()?);
    data.export(&mut file).cannot("write", path)?;
    file.into_inner().map_err(std::io::IntoInnerError::into_error).cannot("write", path)?.keep()?;
    outln!("positions in {}", path.display())?;
    Ok(ExitCode::SUCCESS)
}
