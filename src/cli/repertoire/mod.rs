//! `tabia repertoire`: builds, checks, completes and trains opening repertoires, and compares games
//! with them.

mod build;
mod check;
mod dossier;
mod findings;
mod game_rows;
mod grow;
mod played;
mod prepare;
mod prepare_page;
mod print;
mod report;
mod report_rows;
mod searches;
mod train;
mod train_words;

#[cfg(feature = "serve")]
pub(super) use train::{END_PROBABILITY, journal_beside};

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::Subcommand;

use super::args::cores;
use super::book::{FacetArgs, open, parse_side};
use super::output::errln;
use crate::chess::position::Color;
use crate::games::book::{
    Book, BookValue, BuildOptions, EMBEDDED_NAME, Selection, build_in_memory, has_book_ending,
};
use crate::games::pgn::PgnInput;
use crate::games::repertoire::{Remark, Repertoire};
use crate::support::words::{counted, visible};

/// Build, check, complete, learn and use an opening repertoire
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Build(build::Args),
    Check(Box<check::Args>),
    Grow(grow::Args),
    Report(report::Args),
    Prepare(prepare::Args),
    Train(train::Args),
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Build(args) => build::run(args),
        Command::Check(args) => check::run(args),
        Command::Grow(args) => grow::run(args),
        Command::Report(args) => report::run(args),
        Command::Prepare(args) => prepare::run(args),
        Command::Train(args) => train::run(args),
    }
}

/// The repertoire to use.
#[derive(Debug, clap::Args)]
pub(super) struct RepertoireArgs {
    /// PGN files with variations, or folders of them; or a book with the moves of one side
    #[arg(required = true, value_name = "REPERTOIRE")]
    pub(super) paths: Vec<PathBuf>,
    /// The side of the repertoire (default: the side that the book was made for)
    #[arg(long, value_parser = parse_side)]
    pub(super) side: Option<Color>,
}

impl RepertoireArgs {
    /// Opens the repertoire, and reports the parts of the input that could not be used.
    pub(super) fn open(&self) -> anyhow::Result<Repertoire> {
        let repertoire = Repertoire::open(&self.paths, self.side)?;
        repertoire.remarks.iter().for_each(print_remark);
        Ok(repertoire)
    }

    /// Like [`RepertoireArgs::open`], for an optional repertoire. Returns `None` if there are no
    /// paths.
    pub(super) fn open_given(
        paths: &[PathBuf],
        side: Option<Color>,
    ) -> anyhow::Result<Option<Repertoire>> {
        if paths.is_empty() {
            return Ok(None);
        }
        RepertoireArgs { paths: paths.to_vec(), side }.open().map(Some)
    }
}

/// Permission to write an output that lacks games of the input.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct LeavingOut {
    /// Leave out games that cannot be read; without this option, nothing is written in that case
    #[arg(long)]
    skip_unreadable: bool,
}

impl LeavingOut {
    /// Fails if the output would lack games of the input. They have already been reported.
    pub(super) fn check(self, repertoire: &Repertoire, output: &Path) -> anyhow::Result<()> {
        let left_out = repertoire.remarks.iter().filter(|remark| remark.is_left_out).count();
        if left_out > 0 && !self.skip_unreadable {
            let games = counted(left_out as u64, "game");
            let todo = "correct or remove them, or add --skip-unreadable";
            bail!("{} was not written: {games} cannot be read; {todo}", output.display());
        }
        Ok(())
    }
}

pub(super) fn print_remark(remark: &Remark) {
    let (file, kind) = (visible(&remark.file), remark.kind.name());
    errln!("{file}: game {}: {kind}: {}", remark.number, visible(&remark.text));
}

/// The games with which a repertoire is compared.
#[derive(Debug, clap::Args)]
pub(super) struct ReferenceArgs {
    /// The games of the opponents: a book, a PGN file, a folder of them, or `embedded`
    #[arg(long, value_name = "BOOK", default_value = EMBEDDED_NAME)]
    pub(super) reference: PathBuf,
    #[command(flatten)]
    facets: FacetArgs,
}

impl ReferenceArgs {
    /// Opens the book, or builds one from the games. Keeps only the games that pass the filters.
    pub(super) fn open(&self) -> anyhow::Result<Book> {
        let filter = self.facets.resolve();
        let is_embedded = self.reference.as_os_str() == EMBEDDED_NAME;
        let book = match is_embedded || has_book_ending(&self.reference) {
            true => open(&self.reference)?,
            false => {
                let inputs = PgnInput::from_paths(std::slice::from_ref(&self.reference))?;
                let facets = !filter.is_everything();
                let counting = BuildOptions::for_files(&inputs);
                let options = BuildOptions { facets, threads: cores(), ..counting };
                build_in_memory(&inputs, &options, &self.reference.display().to_string())?.0
            }
        };
        if filter.is_everything() {
            return Ok(book);
        }
        // Selecting games drops the analysis values. Add them again, because they do not depend on
        // the games.
        let values: Vec<BookValue> = book.values().collect();
        let selection = Selection { facets: filter, ..Selection::default() };
        Ok(selection.of_book(&book)?.with_values(&values)?)
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a share from 0 to 1, such as 0.001".to_owned())
}
