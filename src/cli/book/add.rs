//! `tabia book add`: adds games to a book.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Parser;

use super::build;
use super::combine::with_values;
use super::{grouped, open, write};
use crate::cli::args::GamePaths;
use crate::cli::output::{errln, outln};
use crate::cli::work::INTERRUPTED;
use crate::cli::writing::{Force, files_of};
use crate::games::book::{BOOK_FILE, Book, InputRecord, Manifest, add, checksum_text};
use crate::games::pgn::PgnInput;
use crate::support::files::open_plain;
use crate::support::words::visible;

/// Add games to a book that was built from games
///
/// Uses the build options recorded in the book. Skips inputs that the book was built from,
/// regardless of their names or compression; if the book has facets, also skips each game that it
/// already contains. Keeps analysis results. Replaces the old book when the new one is complete.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The book (.tbk)
    book: PathBuf,
    #[command(flatten)]
    games: GamePaths,
    /// The book to write (default: the input book)
    #[arg(short, long, value_name = "BOOK")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    run: build::RunArgs,
}

/// The build options recorded in a book.
#[derive(Debug, Parser)]
struct Recorded {
    #[command(flatten)]
    build: build::Args,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let book = open_book(&args.book)?;
    let output = args.output.as_deref().unwrap_or(&args.book);
    let recorded = recorded(&book, output)?;
    add_games(&book, &recorded.running(args.games.clone(), args.force, &args.run))
}

/// If one of the inputs of a build is a book, adds the games in the other inputs to it. Returns
/// `None` if no input is a book. Fails if several inputs are books, or if the options of the build
/// differ from those recorded in the book.
pub(super) fn run_build(args: &build::Args) -> anyhow::Result<Option<ExitCode>> {
    let (books, games): (Vec<PathBuf>, Vec<PathBuf>) =
        args.counting.games.games.iter().cloned().partition(|path| is_book(path));
    let path = match &books[..] {
        [] => return Ok(None),
        [book] if games.is_empty() => {
            bail!(
                "cannot read {}: it is a Tabia book; name the games to add to it as well",
                book.display()
            )
        }
        [book] => book,
        _ => bail!("several inputs are Tabia books: `tabia book merge` adds their counts"),
    };
    let book = open_book(path)?;
    let recorded = recorded(&book, &args.output.path)?;
    let build = args.with_options_of(recorded, GamePaths { games }).with_context(|| {
        let path = path.display();
        format!("cannot add to {path}; without these options the build uses those of the book")
    })?;
    add_games(&book, &build).map(Some)
}

fn is_book(path: &Path) -> bool {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut head = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(open_plain(path)?, 8), &mut head)?;
        Ok(head)
    };
    path.is_file() && read().is_ok_and(|head| (BOOK_FILE.recognises)(&head))
}

fn open_book(path: &Path) -> anyhow::Result<Book> {
    if !is_book(path) && path.exists() {
        bail!(
            "cannot add to {}: it is not a Tabia book (.tbk); `tabia book build` makes one from games, \
             `tabia book import` from a Polyglot book",
            path.display()
        );
    }
    Ok(open(path)?)
}

fn recorded(book: &Book, output: &Path) -> anyhow::Result<build::Args> {
    let manifest = book.manifest()?;
    let refuse = |reason: &str| {
        anyhow::anyhow!(
            "cannot add to {}: {reason}; build all games anew, or build the new ones alone and use \
             `tabia book merge`",
            book.name()
        )
    };
    if manifest.interrupted {
        return Err(refuse("its build was interrupted, so that some of its games are missing"));
    }
    if manifest.made_from != "games" || manifest.max_ply == 0 {
        return Err(refuse(&format!(
            "it was not built from games alone, but made from {}",
            manifest.made_from
        )));
    }
    let is =
        |name: &str| manifest.filters.iter().any(|filter| filter.split(' ').next() == Some(name));
    if is("unique") {
        return Err(refuse("--unique compares all games, and the book does not keep their moves"));
    }
    if is("min-games") || is("min-score") {
        return Err(refuse("positions and moves of few games were left out of it"));
    }
    if manifest.filters.iter().any(|filter| filter.starts_with("player ") && filter.contains(',')) {
        return Err(refuse("its list of players has commas, which names may have as well"));
    }
    let mut words = vec!["build".to_owned(), "-o".to_owned(), output.display().to_string()];
    words.extend(["--max-ply".to_owned(), manifest.max_ply.to_string(), "-".to_owned()]);
    words.extend(book.has_facets().then(|| "--facets".to_owned()));
    for filter in &manifest.filters {
        let (name, value) = filter.split_once(' ').unwrap_or((filter, ""));
        words.push(if value.is_empty() {
            format!("--{name}")
        } else {
            format!("--{name}={value}")
        });
    }
    let unusable =
        || refuse(&format!("its options cannot be used again ({})", manifest.filters.join("; ")));
    let mut parsed = Recorded::try_parse_from(words).map_err(|_| unusable())?.build;
    // The parsed options must give the same filters as the manifest. This is not the case for a
    // book made by `tabia book filter`, which has conditions that build options cannot express.
    if parsed.describe_filters() != manifest.filters {
        return Err(unusable());
    }
    output.clone_into(&mut parsed.output.path);
    Ok(parsed)
}

fn add_games(book: &Book, args: &build::Args) -> anyhow::Result<ExitCode> {
    let begin = Instant::now();
    let manifest = book.manifest()?;
    let quiet = args.run.resources.quiet;
    let (inputs, again) = build::inputs_once(&args.counting.games.games)?;
    let output = args.output.apart_from(files_of(&inputs));
    output.check()?;
    build::report_named_again(&again);
    let inputs = new_inputs(inputs, &manifest, quiet)?;
    let unfinished = args.checkpoints();
    if inputs.is_empty() {
        if args.output.path != Path::new(book.name()) {
            write(&output, |mut file| file.write_all(book.bytes()).map(|()| file))?;
        }
        if args.run.afresh {
            unfinished.forget()?;
        } else if unfinished.folder.is_dir() {
            let folder = unfinished.folder.display();
            errln!("an earlier command has left {folder}; --afresh removes it");
        }
        outln!("nothing to add: all games are in {} already", book.name())?;
        return Ok(ExitCode::SUCCESS);
    }
    let (more, tally, monitor) = build::build_shown(args, &inputs, Cursor::new(Vec::new()))?;
    build::report_faults(&tally, quiet, args.run.errors.is_some());
    if monitor.is_stopped() {
        outln!("Interrupted: nothing was added to {}.", book.name())?;
        if unfinished.folder.is_dir() {
            outln!("The same command resumes from {}.", unfinished.folder.display())?;
        }
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let more = Book::from_bytes(more.into_inner(), "the games to add")?;
    // The inputs are checked again after reading, because standard input cannot be compared with
    // the inputs in the manifest before it has been read.
    let added = more.manifest()?.inputs;
    if let Some(twice) = added.iter().find(|input| is_known(input, &manifest)) {
        bail!(
            "cannot add {}: its games are in {} already; nothing was added",
            twice.name,
            book.name()
        );
    }
    if !quiet {
        errln!("writing {}", args.output.path.display());
    }
    let cannot = || format!("cannot add to {}", book.name());
    let (whole, again) = add(book, &more, Cursor::new(Vec::new())).with_context(cannot)?;
    let whole = Book::from_bytes(whole.into_inner(), book.name())?;
    drop(more);
    let whole = with_values(whole, book.values())?;
    write(&output, |mut file| file.write_all(whole.bytes()).map(|()| file))?;
    drop(whole);
    unfinished.forget().with_context(|| {
        let folder = unfinished.folder.display();
        format!("{} is complete, but {folder} cannot be removed", args.output.path.display())
    })?;
    if !quiet {
        build::report_games(&tally, begin.elapsed(), monitor.resumed.load(Relaxed))?;
        if again > 0 {
            outln!("{} of them were in the book already and do not count again", grouped(again))?;
        }
        build::report_book(&args.output.path)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the inputs whose text is neither in the book nor in an earlier input.
fn new_inputs(
    inputs: Vec<PgnInput>,
    manifest: &Manifest,
    quiet: bool,
) -> anyhow::Result<Vec<PgnInput>> {
    let mut known = manifest.inputs.clone();
    let mut new = Vec::new();
    for input in inputs {
        let PgnInput::File(path) = &input else {
            new.push(input);
            continue;
        };
        // A pipe is not examined, because it can be read only once and the build must read it.
        let record = if path.is_file() { record_of(&input) } else { None };
        let found =
            record.as_ref().and_then(|own| known.iter().find(|other| other.is_same_text(own)));
        match found {
            Some(found) if !quiet => errln!(
                "{}: skipped, since its {} games were counted already (as {})",
                visible(&input.name()),
                grouped(found.games),
                visible(&found.name)
            ),
            Some(_) => {}
            None => {
                known.extend(record);
                new.push(input);
            }
        }
    }
    Ok(new)
}

fn record_of(input: &PgnInput) -> Option<InputRecord> {
    let (bytes, checksum) = input.checksum().ok()?;
    let checksum = checksum_text(checksum);
    Some(InputRecord { name: input.short_name(), bytes, games: 0, checksum })
}

fn is_known(input: &InputRecord, manifest: &Manifest) -> bool {
    manifest.inputs.iter().any(|known| known.is_same_text(input))
}
