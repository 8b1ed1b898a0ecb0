//! `tabia book search`: finds the games of a book that match a pattern.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::ValueEnum;

use super::facets::FacetArgs;
use super::open;
use super::progress::BuildProgress;
use crate::cli::args::{GameFolders, Threads};
use crate::cli::output::{self, errln};
use crate::cli::usage::of_arguments;
use crate::cli::work::{INTERRUPTED, on_interruption};
use crate::games::book::{
    Book, FoundGame, Monitor, MoveIndex, Order, Pattern, PatternAnswer, PatternSearch, read_moves,
};
use crate::games::pgn::PgnInput;
use crate::support::words::{counted, grouped};

/// Search the games of a book for material, pawns or pieces
///
/// A pattern has one or more parts, all of which must match:
///
///   KRPPvKRP       these pieces, White's first; KRP2-4vKRP* has ranges
///   d5=N           a piece on a square (also . empty, * any piece, A any of
///                  White's, a any of Black's, [Nb] a set, [^p] anything else)
///   ?/?/??p?????/… a board as in FEN; ? is any square or any rank
///   pawns=BOARD    exactly these pawns
///   turn=white     the side to move in the first matching position
///   for=N          for at least N consecutive positions
///   plies=20-40    after this many plies; also 20 or 20+
///   mirror         also with colours exchanged
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The pattern, such as KRPPvKRP or "d5=N turn=white"
    #[arg(required = true, value_name = "PATTERN")]
    pattern: Vec<String>,
    /// The book, which must have been built with --facets
    #[arg(short, long, value_name = "BOOK")]
    book: PathBuf,
    #[command(flatten)]
    filter: FacetArgs,
    #[command(flatten)]
    games: GameFolders,
    /// Maximum number of games to list
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Games to list first
    #[arg(long, value_name = "ORDER", default_value = "latest")]
    sort: SortOrder,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: Threads,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SortOrder {
    Latest,
    Rating,
}

/// The maximum number of positions printed per game.
const SHOWN_POSITIONS: usize = 3;

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let pattern = args.pattern.join(" ").parse::<Pattern>().map_err(of_arguments)?;
    let book = open(&args.book)?;
    book.check_facets()?;
    let monitor = Monitor::default();
    let stop = monitor.clone();
    on_interruption(move || stop.stop())?;
    let Some(index) = moves_of(&book, args, &monitor)? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let order = match args.sort {
        SortOrder::Latest => Order::Latest,
        SortOrder::Rating => Order::Rating,
    };
    let filter = args.filter.resolve();
    let search = PatternSearch {
        pattern: &pattern,
        filter: &filter,
        skipped: &[],
        order,
        limit: args.limit,
        positions: if args.json { usize::MAX } else { SHOWN_POSITIONS },
        threads: args.threads.count(),
    };
    let found = search.run(&book, &index, &|| monitor.is_stopped()).context("cannot search")?;
    let Some(answer) = found else { return Ok(ExitCode::from(INTERRUPTED)) };
    let mut out = BufWriter::new(output::stdout());
    match args.json {
        true => writeln!(out, "{}", serde_json::to_string(&answer)?)?,
        false => write_answer(&mut out, &answer)?,
    }
    out.flush()?;
    Ok(if answer.found.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Returns the moves of a book's games. They are read from the index next to the book or, if the
/// index is missing or unusable, from the game files. Returns `None` after an interruption.
fn moves_of(book: &Book, args: &Args, monitor: &Monitor) -> anyhow::Result<Option<MoveIndex>> {
    let path = MoveIndex::path_of(Path::new(book.name()));
    if path.exists() {
        match MoveIndex::open(book) {
            Ok(index) => return Ok(Some(index)),
            Err(error) => errln!("{error}; the games are read again"),
        }
    }
    let inputs: Vec<PgnInput> = book
        .game_files()
        .iter()
        .filter_map(|file| {
            book.places(file, &args.games.folders).into_iter().find(|path| path.is_file())
        })
        .map(PgnInput::File)
        .collect();
    let progress = BuildProgress::start(&inputs, monitor);
    let read = read_moves(book, &args.games.folders, args.threads.count(), monitor);
    drop(progress);
    let Some(index) = read? else { return Ok(None) };
    if let Err(error) = index.write(book) {
        errln!("{error}; the next search reads the games again");
    }
    Ok(Some(index))
}

fn write_answer(out: &mut impl Write, answer: &PatternAnswer) -> std::io::Result<()> {
    for FoundGame { game, occurrences, positions } in &answer.games {
        writeln!(out, "{}", game.describe())?;
        for place in positions {
            let mirrored = if place.mirrored { ", colours exchanged" } else { "" };
            let lasting = counted(place.length.into(), "position");
            writeln!(out, "  ply {}, {lasting}{mirrored}: {}", place.ply, place.fen)?;
        }
        if *occurrences > positions.len() {
            writeln!(out, "  and {} more", occurrences - positions.len())?;
        }
    }
    let (found, all) = (answer.found.games(), counted(answer.searched, "game"));
    match found {
        0 => writeln!(out, "none of {all} has the pattern"),
        1 => writeln!(out, "1 of {all} has the pattern: {}", answer.found),
        _ => writeln!(out, "{} of {all} have the pattern: {}", grouped(found), answer.found),
    }
}
