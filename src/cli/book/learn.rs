//! `tabia book learn`: creates a book from an engine's learned results.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;

use super::{BookOutputArgs, open, save};
use crate::cli::output::outln;
use crate::games::book::{Book, HEADLINE, is_learning};
use crate::support::files::{Cannot, open_plain};
use crate::support::words::counted;

/// Make a book from a learning file (`tabia --learn FILE`)
#[derive(Debug, clap::Args)]
pub(super) struct LearnArgs {
    /// The learning file
    file: PathBuf,
    #[command(flatten)]
    output: BookOutputArgs,
}

pub(super) fn open_learned(path: &Path) -> anyhow::Result<Book> {
    let mut head = Vec::new();
    open_plain(path)
        .and_then(|file| file.take(HEADLINE.len() as u64).read_to_end(&mut head))
        .cannot("read", path)?;
    if !is_learning(&head) {
        bail!(
            "cannot read {}: it is not a learning file; `tabia --learn FILE` writes one",
            path.display()
        );
    }
    Ok(open(path)?)
}

pub(super) fn run(args: &LearnArgs) -> anyhow::Result<ExitCode> {
    let book = open_learned(&args.file)?;
    let output = args.output.apart_from([&args.file]);
    output.check()?;
    save(&output, |mut file| file.write_all(book.bytes()).map(|()| file))?;
    let (values, games) = (book.values().len(), book.manifest()?.games.total());
    let positions = counted(values as u64, "position");
    outln!("{positions} with values, {}", counted(games, "game"))?;
    Ok(ExitCode::SUCCESS)
}
