//! `tabia repertoire grow`: creates or completes a repertoire, using the moves of a reference book.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::searches::Searches;
use super::{LeavingOut, ReferenceArgs, RepertoireArgs, parse_share};
use crate::chess::notation;
use crate::chess::position::{Color, Move, Position};
use crate::chess::score::Score;
use crate::cli::args::{SearchLimit, TableMemory, cores};
use crate::cli::book::{extent, parse_side};
use crate::cli::output::outln;
use crate::cli::usage::wrong;
use crate::cli::writing::{Force, GAMES, check_texts, is_standard_output, write_text};
use crate::games::book::{BOOK_FILE, Book, BuildOptions, MAX_LOSS, Monitor, Names, build};
use crate::games::pgn::PgnInput;
use crate::games::repertoire::{
    FORECAST_PLIES, GrowOptions, Growth, MIN_PROBABILITY, Repertoire, SHARE_PLIES, Search, Style,
};
use crate::support::files::{FileKind, Output};
use crate::support::words::{counted, percent, visible};

/// Create a repertoire, or fill the gaps in one
///
/// Adds one move from the reference in every position that occurs in at least the given share of
/// games (`--min-probability`). The move loses at most `--max-loss` centipawns according to an
/// analysed book or, if the book has no value, a search (`--nodes`). Existing moves are kept. The
/// output contains the existing chapters, and new ones that contain each new position once.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("nodes", |arg| arg.help("Search positions that the reference has not analysed, with this many nodes")),
    mut_arg("seconds", |arg| arg.help("Search such positions for this many seconds, instead of nodes"))
)]
pub(super) struct Args {
    /// The repertoire to complete: PGN files with variations, folders, or a book (default: none)
    #[arg(value_name = "REPERTOIRE")]
    paths: Vec<PathBuf>,
    /// The side of the repertoire
    #[arg(long, value_parser = parse_side, required_unless_present = "paths")]
    side: Option<Color>,
    #[command(flatten)]
    reference: ReferenceArgs,
    /// How to choose among the good moves
    #[arg(long, value_name = "STYLE", default_value = Style::MostPlayed.name(), value_parser = style())]
    style: Style,
    /// Answer positions that occur in at least this share of games, from 0 to 1
    #[arg(long, value_name = "P", default_value_t = MIN_PROBABILITY, value_parser = parse_share)]
    min_probability: f64,
    /// Maximum loss of an answer compared with the best move, in centipawns
    #[arg(long, value_name = "CP", default_value_t = MAX_LOSS)]
    max_loss: Score,
    /// Maximum length of a line, in plies
    #[arg(long, value_name = "N", default_value_t = FORECAST_PLIES, value_parser = clap::value_parser!(u32).range(1..))]
    max_ply: u32,
    #[command(flatten)]
    search: SearchLimit,
    #[command(flatten)]
    memory: TableMemory,
    /// The PGN file to write (-: to the standard output)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Also write the repertoire as a book (.tbk)
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    #[command(flatten)]
    leaving_out: LeavingOut,
    #[command(flatten)]
    force: Force,
}

/// Parses a style; error messages list all styles.
fn style() -> impl TypedValueParser<Value = Style> {
    PossibleValuesParser::new(Style::ALL.map(Style::name)).try_map(|name| {
        let style = Style::ALL.into_iter().find(|style| style.name() == name);
        style.ok_or("no such style")
    })
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let output = args.output(&args.output, GAMES).ending("pgn").keep_old();
    let book_output = args.book.as_ref().map(|path| args.output(path, BOOK_FILE).ending("tbk"));
    let is_printed = check_texts([&output], false)?;
    if args.book.as_deref().is_some_and(is_standard_output) {
        return Err(wrong("a book cannot be written to the standard output; name a file").into());
    }
    book_output.iter().try_for_each(Output::check)?;
    let mut repertoire = args.repertoire()?;
    args.leaving_out.check(&repertoire, &args.output)?;
    let reference = args.reference.open()?;
    let mut searches = Searches::new(&args.search, &args.memory);
    if args.style == Style::BestValue && searches.is_none() && reference.values().len() == 0 {
        let name = visible(reference.name());
        let what = format!("{name} has no engine values for the style best-value");
        let todo = "add --nodes N, or analyse a copy of the book with `tabia book analyse`";
        return Err(wrong(format!("{what}; {todo}")).into());
    }
    let mut search = searches
        .as_mut()
        .map(|searches| |position: &Position, moves: Vec<Move>| searches.value(position, &moves));
    let search = search.as_mut().map(|search| search as &mut Search<'_>);
    let growth = repertoire.grow(&reference, &args.options(), search);
    let text = games(&repertoire, &reference);
    write_text(&output, &text)?;
    if !is_printed {
        print(args, &repertoire, &reference, &growth)?;
    }
    if let Some(output) = &book_output {
        let book = write_book(output, &args.output.display().to_string(), text, repertoire.side)?;
        if !is_printed {
            outln!("{}: {}", book.name(), extent(book.positions(), book.move_count()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn output<'a>(&self, path: &'a std::path::Path, kind: FileKind) -> Output<'a> {
        let inputs = self.paths.iter().chain([&self.reference.reference]);
        Output::new(path, kind).force(self.force.allowed).apart_from(inputs)
    }

    fn repertoire(&self) -> anyhow::Result<Repertoire> {
        match (self.side, &self.paths[..]) {
            (Some(side), []) => Ok(Repertoire::new(side)),
            (side, paths) => RepertoireArgs { paths: paths.to_vec(), side }.open(),
        }
    }

    fn options(&self) -> GrowOptions {
        let Args { style, min_probability, max_loss, max_ply, .. } = *self;
        GrowOptions { style, min_probability, max_loss, max_ply }
    }
}

fn games(repertoire: &Repertoire, reference: &Book) -> String {
    let known = repertoire.chapters.iter().map(|chapter| chapter.game.to_string());
    let new = repertoire.new_chapters(reference, &Names::embedded());
    known.chain(new.iter().map(ToString::to_string)).map(|game| game + "\n").collect()
}

fn print(
    args: &Args,
    repertoire: &Repertoire,
    reference: &Book,
    growth: &Growth,
) -> std::io::Result<()> {
    let side = notation::color(repertoire.side);
    let positions = counted(repertoire.positions() as u64, "position");
    let answers = counted(growth.answered as u64, "new answer");
    outln!("{}: repertoire for {side}, {positions}, {answers}", args.output.display())?;
    outln!("Opponents play as in {}", visible(reference.name()))?;
    let shares = repertoire.forecast(reference, FORECAST_PLIES).shares(repertoire, reference);
    let share = |plies: usize| format!("{} after {plies} plies", percent(shares.after(plies)));
    outln!("Games still in the repertoire: {}", SHARE_PLIES.map(share).join(", "))?;
    if !growth.unanswered.is_empty() {
        let open = counted(growth.unanswered.len() as u64, "position");
        let hint = "the reference ends there; add --nodes N to search them";
        outln!("{open} without an answer: {hint}")?;
    }
    Ok(())
}

fn write_book(output: &Output<'_>, name: &str, text: String, side: Color) -> anyhow::Result<Book> {
    let input = PgnInput::Text(name.to_owned(), text.into_bytes().into());
    let options =
        BuildOptions { side: Some(side), threads: cores(), ..BuildOptions::of_repertoire() };
    let (file, _) = build(&[input], &options, &Monitor::default(), output.create()?)?;
    file.keep()?;
    Ok(Book::open(output.path())?)
}
