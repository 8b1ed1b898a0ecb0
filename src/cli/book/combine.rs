//! `tabia book merge`, `filter` and `diff`: combine, reduce and compare books.

use std::io::{BufWriter, Cursor, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail, ensure};

use super::build::lowercase;
use super::facets::FacetArgs;
use super::{BookOutputArgs, open, parse_side, save, write};
use crate::chess::epd;
use crate::chess::position::{Color, KeyMap, Position};
use crate::cli::output::{self, errln, outln};
use crate::cli::place::PositionArgs;
use crate::cli::usage::wrong;
use crate::cli::work::read_epd;
use crate::games::book::{
    Book, BookValue, Counts, Cut, Difference, Selection, cut, differences, merge, shared,
};
use crate::support::files::Output;
use crate::support::words::{counted, grouped, visible};
use crate::tools::suite::analysis::carried_over;

/// Merge books into one by adding their counts
#[derive(Debug, clap::Args)]
pub(super) struct MergeArgs {
    /// The books; BOOK:2.5 multiplies the counts of BOOK by 2.5
    #[arg(required = true, num_args = 2.., value_name = "BOOK")]
    books: Vec<String>,
    #[command(flatten)]
    output: BookOutputArgs,
}

pub(super) fn run_merge(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let books =
        args.books.iter().map(|text| weighted_book(text)).collect::<anyhow::Result<Vec<_>>>()?;
    let output = args.output.apart_from(books.iter().map(|(book, _)| book.name()));
    output.check()?;
    report_shared(&books)?;
    if books.iter().all(|(book, _)| book.values().len() == 0) {
        save(&output, |file| merge(&books, file))?;
        warn_about_facets(&books)?;
        return Ok(ExitCode::SUCCESS);
    }
    let merged = merge(&books, Cursor::new(Vec::new()))
        .with_context(|| format!("cannot merge into {}", args.output.path.display()))?;
    let merged = Book::from_bytes(merged.into_inner(), &args.output.path.display().to_string())?;
    let merged = with_values(merged, books.iter().flat_map(|(book, _)| book.values()))?;
    save(&output, |mut file| file.write_all(merged.bytes()).map(|()| file))?;
    warn_about_facets(&books)?;
    let values = grouped(merged.values().len() as u64);
    outln!("the values of {values} analysed positions are kept")?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn with_values(
    book: Book,
    found: impl Iterator<Item = BookValue>,
) -> anyhow::Result<Book> {
    let mut found = found.peekable();
    if found.peek().is_none() {
        return Ok(book);
    }
    let values = carried_over(found, &book);
    Ok(book.with_values(&values)?)
}

fn report_shared(books: &[(Book, f64)]) -> anyhow::Result<()> {
    let shared = shared(books)?;
    if let Some(games) = shared.games {
        if games > 0 {
            let games = counted(games, "game");
            outln!("{games} found in several of the books; each of them counts once")?;
        }
        return Ok(());
    }
    for input in &shared.inputs {
        errln!(
            "{} is in several of the books: its {} counted once for each; `tabia book add` skips \
             such games, and merge does for books built with --facets",
            visible(&input.name),
            match input.games {
                1 => "game is".to_owned(),
                games => format!("{} games are", grouped(games)),
            }
        );
    }
    Ok(())
}

fn warn_about_facets(books: &[(Book, f64)]) -> anyhow::Result<()> {
    let weighted = books.iter().any(|(_, weight)| *weight != 1.0);
    let (with, without): (Vec<_>, Vec<_>) = books.iter().partition(|(book, _)| book.has_facets());
    match without.first() {
        _ if with.is_empty() => {}
        Some((book, _)) => outln!("facets are left out: {} has none", book.name())?,
        None if weighted => outln!("facets are left out: games count as one each in them")?,
        None => {}
    }
    Ok(())
}

fn keep_values<'a>(
    output: &Output<'_>,
    books: impl Iterator<Item = &'a Book>,
) -> anyhow::Result<ExitCode> {
    let mut found = books.flat_map(Book::values).peekable();
    if found.peek().is_some() {
        let book = open(output.path())?;
        let values = carried_over(found, &book);
        write(output, |file| book.write_with_values(&values, file))?;
        outln!("kept the values of {}", counted(values.len() as u64, "analysed position"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn weighted_book(text: &str) -> anyhow::Result<(Book, f64)> {
    let (path, weight) = match text.rsplit_once(':') {
        Some((path, weight)) if weight.parse::<f64>().is_ok() => (path, weight.parse()?),
        _ => (text, 1.0),
    };
    if !(weight > 0.0 && weight <= 1e6) {
        bail!(wrong(format!("{text}: a weight is above 0 and at most a million")));
    }
    Ok((open(path.as_ref())?, weight))
}

/// Write part of a book to another book
#[derive(Debug, clap::Args)]
pub(super) struct FilterArgs {
    /// The book, or `embedded`
    book: PathBuf,
    #[command(flatten)]
    output: BookOutputArgs,
    /// Omit positions reached and moves played in fewer than N games
    #[arg(long, value_name = "N", default_value_t = 0)]
    min_games: u64,
    /// Omit moves that scored less than P percent for their side
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    min_score: f64,
    /// Keep only one side's moves; --player then refers to that side
    #[arg(long, value_parser = parse_side)]
    side: Option<Color>,
    /// Keep only the first N plies from the position
    #[arg(long, value_name = "N", default_value_t = u32::MAX, hide_default_value = true)]
    max_ply: u32,
    /// Omit the moves to avoid (`am` in this EPD file) and the positions after them
    #[arg(long, value_name = "FILE")]
    avoid: Option<PathBuf>,
    #[command(flatten)]
    place: PositionArgs,
    #[command(flatten)]
    games: SelectionArgs,
}

/// Options that select the games to count from a book with facets.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Game selection (books with facets)")]
struct SelectionArgs {
    #[command(flatten)]
    facets: FacetArgs,
    /// Part of a player's name; may be repeated
    #[arg(long, value_name = "NAME")]
    player: Vec<String>,
}

impl SelectionArgs {
    fn resolve(&self, side: Option<Color>) -> Selection {
        Selection { facets: self.facets.resolve(), players: lowercase(&self.player), side }
    }
}

/// Returns the positions after the moves to avoid, which are read from an EPD file.
fn positions_to_avoid(path: &Path) -> anyhow::Result<Vec<Position>> {
    let text = read_epd(path)?;
    let moves = epd::moves_to_avoid(&text)
        .map_err(|(line, error)| anyhow!("{}: line {line}: {error}", path.display()))?;
    ensure!(!moves.is_empty(), "{}: there is no move to avoid (`am`)", path.display());
    Ok(moves.into_iter().map(|(position, mv)| position.play(mv)).collect())
}

pub(super) fn run_filter(args: &FilterArgs) -> anyhow::Result<ExitCode> {
    let book = open(&args.book)?;
    let game = args.place.game()?;
    let what = Cut {
        min_games: args.min_games,
        min_score: args.min_score,
        side: args.side,
        start: args.place.is_given().then(|| *game.position()),
        plies_before: game.moves().len() as u32,
        max_ply: args.max_ply,
        avoid: args.avoid.as_deref().map(positions_to_avoid).transpose()?.unwrap_or_default(),
    };
    let output = args.output.apart_from([&args.book]).apart_from(&args.avoid);
    output.check()?;
    let selection = args.games.resolve(args.side);
    let mut chosen = book.clone();
    if !selection.is_everything() {
        chosen = selection.of_book(&book)?;
        ensure!(chosen.positions() > 0, "{}: no game passes the filters", args.book.display());
    }
    save(&output, |file| cut(&chosen, &what, file))?;
    keep_values(&output, std::iter::once(&book))
}

/// Show where two books differ
#[derive(Debug, clap::Args)]
pub(super) struct DiffArgs {
    /// The first book, or `embedded`
    left: PathBuf,
    /// The second book, or `embedded`
    right: PathBuf,
    /// Maximum number of rows to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u64,
}

/// Compares two books. The exit status is zero if they are equal.
pub(super) fn run_diff(args: &DiffArgs) -> anyhow::Result<ExitCode> {
    let (left, right) = (open(&args.left)?, open(&args.right)?);
    let mut counts = DifferenceCounts::default();
    differences(&left, &right).for_each(|difference| counts.add(&difference));
    let mut out = BufWriter::new(output::stdout());
    writeln!(out, "only in {}: {}", left.name(), counted(counts.only_left, "position"))?;
    writeln!(out, "only in {}: {}", right.name(), counted(counts.only_right, "position"))?;
    writeln!(out, "in both, but different: {}", counted(counts.changed, "position"))?;
    out.flush()?;
    write_differences(&mut out, [&left, &right], args.limit.min(counts.total()))?;
    out.flush()?;
    Ok(if counts.total() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Debug, Default)]
struct DifferenceCounts {
    only_left: u64,
    only_right: u64,
    changed: u64,
}

impl DifferenceCounts {
    fn add(&mut self, difference: &Difference) {
        *match (difference.left, difference.right) {
            (Some(_), None) => &mut self.only_left,
            (None, _) => &mut self.only_right,
            _ => &mut self.changed,
        } += 1;
    }

    fn total(&self) -> u64 {
        self.only_left + self.only_right + self.changed
    }
}

/// Prints one row for each of the first `number` differences.
///
/// Positions that can be reached by moves in the books come first, ordered by ply. The others
/// follow, ordered by key. No board can be shown for these, because no moves lead to them.
fn write_differences(out: &mut impl Write, books: [&Book; 2], number: u64) -> std::io::Result<()> {
    let text = |counts: Option<Counts>| counts.map_or("-".to_owned(), |counts| counts.to_string());
    let mut shown: KeyMap<()> = KeyMap::default();
    for (book, other) in [(books[0], books[1]), (books[1], books[0])] {
        let mut written = Ok(());
        let mut is_complete = shown.len() as u64 >= number;
        if is_complete {
            break;
        }
        book.visit(&book.starts(), true, |position, entry| {
            let there = other.entry(position);
            if there.as_ref() != Some(entry) && shown.insert(entry.key, ()).is_none() {
                let [left, right] =
                    books.map(|book| text(book.entry(position).map(|entry| entry.reached)));
                written = writeln!(out, "{}  {left} | {right}", position.fen());
                is_complete = shown.len() as u64 >= number;
            }
            let goes_on = written.is_ok() && !is_complete;
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        written?;
    }
    let left_to_show = (number - shown.len() as u64) as usize;
    let unreached = differences(books[0], books[1]).filter(|found| !shown.contains_key(&found.key));
    for Difference { key, left, right } in unreached.take(left_to_show) {
        writeln!(out, "out of reach, key {key:016x}  {} | {}", text(left), text(right))?;
    }
    Ok(())
}
