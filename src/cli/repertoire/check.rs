//! `tabia repertoire check`: finds gaps and mistakes in a repertoire.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::findings::Check;
use super::print::{cards, print, study};
use super::searches::Searches;
use super::{ReferenceArgs, RepertoireArgs, parse_share};
use crate::chess::score::Score;
use crate::cli::args::{SearchLimit, TableMemory};
use crate::cli::output::outln;
use crate::cli::place::PositionArgs;
use crate::cli::work::FOUND;
use crate::cli::writing::{CARDS, Force, GAMES, check_texts, write_text};
use crate::games::repertoire::{FORECAST_PLIES, MIN_PROBABILITY, SCORE_MARGIN};
use crate::support::files::{FileKind, Output};

/// Find gaps and mistakes in a repertoire
///
/// Lists unanswered replies of the opponent, the most frequent first; positions with several moves;
/// lines contained in earlier lines; lines that end without an answer; moves that score worse than
/// the alternatives; and, with an analysed book or a search, moves that lose centipawns. Also lists
/// positions that several chapters reach by different moves. The exit status is 0 if nothing is
/// found, 4 if anything but transpositions is found, and 1 after an error.
#[derive(Debug, clap::Args)]
#[command(
    mut_arg("nodes", |arg| arg.help("Search positions with this many nodes, for answers and losing moves")),
    mut_arg("seconds", |arg| arg.help("Search positions for this many seconds, instead of nodes"))
)]
pub(super) struct Args {
    #[command(flatten)]
    repertoire: RepertoireArgs,
    #[command(flatten)]
    reference: ReferenceArgs,
    #[command(flatten)]
    place: PositionArgs,
    /// Ignore gaps reached in less than this share of games, from 0 to 1
    #[arg(long, value_name = "P", default_value_t = MIN_PROBABILITY, value_parser = parse_share)]
    min_probability: f64,
    /// Plies from the start
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = FORECAST_PLIES)]
    max_ply: u32,
    /// Maximum number of rows to print for each list
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Report moves that lose more than CP centipawns compared with the best move
    #[arg(long, value_name = "CP", default_value_t = 100)]
    margin: Score,
    /// Report moves that score at least this many points per game worse, beyond the margin of error
    #[arg(long, value_name = "POINTS", default_value_t = SCORE_MARGIN, value_parser = parse_share)]
    score_margin: f64,
    #[command(flatten)]
    search: SearchLimit,
    #[command(flatten)]
    memory: TableMemory,
    /// Append search results to this file, and use those in it
    #[arg(long, value_name = "FILE", requires = "nodes")]
    keep: Option<PathBuf>,
    /// Print all findings as JSON
    #[arg(long)]
    json: bool,
    /// Write the gaps as a study, with one chapter for each gap (-: to the standard output)
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Write the gaps as flash cards for Anki (-: to the standard output)
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let outputs =
        [args.output(args.pgn.as_deref(), GAMES), args.output(args.csv.as_deref(), CARDS)];
    let is_text_printed = check_texts(outputs.iter().flatten(), args.json)?;
    let repertoire = args.repertoire.open()?;
    let book = args.reference.open()?;
    let mut searches = Searches::new(&args.search, &args.memory);
    if let Some(path) = &args.keep {
        let keeping = searches.map(|searches| searches.keeping(path, &book));
        searches = keeping.transpose()?;
    }
    let forecast = match args.place.is_given() {
        true => repertoire.forecast_from(&[*args.place.game()?.position()], &book, args.max_ply),
        false => repertoire.forecast(&book, args.max_ply),
    };
    let check = Check {
        repertoire: &repertoire,
        book: &book,
        forecast,
        min_probability: args.min_probability,
        margin: args.margin,
        score_margin: args.score_margin,
    };
    let findings = check.findings(&mut searches);
    let [pgn, csv] = &outputs;
    if let Some(output) = pgn {
        write_text(output, &study(&findings))?;
    }
    if let Some(output) = csv {
        write_text(output, &cards(&findings))?;
    }
    match args.json {
        true => outln!("{}", serde_json::to_string(&findings)?)?,
        false if is_text_printed => {}
        false => print(&findings, args.limit, args.min_probability)?,
    }
    Ok(if findings.count() == 0 { ExitCode::SUCCESS } else { ExitCode::from(FOUND) })
}

impl Args {
    fn output<'a>(&self, path: Option<&'a Path>, kind: FileKind) -> Option<Output<'a>> {
        let output = Output::new(path?, kind).force(self.force.allowed);
        Some(output.apart_from(
            self.repertoire.paths.iter().chain([&self.reference.reference]).chain(&self.keep),
        ))
    }
}
