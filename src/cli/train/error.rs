//! `tabia train error`: compares networks and small searches with deep searches.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use crate::cli::output::outln;
use crate::cli::work::cores;
use crate::engine::eval::nnue::Network;
use crate::support::files::FileError;
use crate::tools::train::GameError;
use crate::tools::train::net::{
    Data, ErrorByPieceCount, Example, Selection, Sigmoid, errors_by_piece_count, expected_by,
    expected_by_others,
};

/// Minimum column width, enough for the checksum of a network.
const COLUMN: usize = 8;
const GAP: &str = "  ";

/// Tell how far networks and small searches are from what deep searches said, by the number of men
///
/// The mean square error of the expected result, on the quiet positions of the games. Games with
/// deep searches (`tabia train relabel --nodes 40000`) tell what a network is wrong about; those
/// that it has learnt from tell little. The same games with smaller searches tell what there is to
/// learn from those.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files of games, packed or not
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Networks, made by `tabia train net` (default: the one that is built in)
    #[arg(long, value_name = "FILE")]
    network: Vec<PathBuf>,
    /// The same games, judged by other searches (`tabia train relabel`): a column of their own for
    /// each file, and positions that one of them does not hold for quiet are left out
    #[arg(long, value_name = "FILE")]
    searches: Vec<PathBuf>,
    /// Centipawns of which a result of 73% is expected
    #[arg(long, default_value_t = 133, value_parser = clap::value_parser!(u16).range(1..))]
    scale: u16,
    /// How much less the search of the next move counts than that of the move before, in --searches
    #[arg(long, default_value_t = 0.0, value_parser = super::share)]
    lambda: f32,
    /// Positions with a higher score, in centipawns, are passed over
    #[arg(long, default_value_t = 3000, value_parser = clap::value_parser!(i16).range(1..))]
    limit: i16,
    /// Threads that read (default: all cores)
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

/// Reads the games and prints the table.
///
/// # Errors
/// If a file cannot be read, or there is no position to evaluate.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let curve = Sigmoid { scale: args.scale };
    let examples = read(args, &args.files, 0.0)?;
    let (mut names, mut judges) = (Vec::new(), Vec::new());
    for network in networks(&args.network)? {
        names.push(format!("{:08x}", network.checksum()));
        judges.push(expected_by(&network, curve, &examples));
    }
    for path in &args.searches {
        names.push(path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned());
        let others = read(args, std::slice::from_ref(path), args.lambda)?;
        judges.push(expected_by_others(&others, &examples));
    }
    let rows = errors_by_piece_count(&judges, &examples);
    let is_shown = |row: &&ErrorByPieceCount| row.positions > 0;
    anyhow::ensure!(
        rows.iter().any(|row| is_shown(&row)),
        "there is no quiet position that all have judged"
    );
    outln!("{}", line("men", "positions", &names, &names))?;
    for ErrorByPieceCount { piece_count: (fewest, most), positions, errors } in
        rows.iter().filter(is_shown)
    {
        let errors: Vec<String> = errors.iter().map(|error| format!("{error:.6}")).collect();
        outln!("{}", line(&format!("{fewest}-{most}"), &positions.to_string(), &errors, &names))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the quiet positions of these files, and their expected results.
fn read(args: &Args, paths: &[PathBuf], lambda: f32) -> Result<Vec<Example>, GameError> {
    let selection = Selection {
        curve: Sigmoid { scale: args.scale },
        result_share: 0.0,
        lambda,
        lambda_few: lambda,
        limit: args.limit,
        skip_plies: 0,
        hold_out_every: usize::MAX,
    };
    let threads = args.threads.map_or_else(cores, usize::from);
    Data::read(paths, &selection, threads, 0, |_| ()).map(|data| data.training)
}

fn networks(paths: &[PathBuf]) -> Result<Vec<Arc<Network>>, FileError> {
    match paths {
        [] => Ok(vec![Network::embedded()]),
        _ => paths.iter().map(|path| Network::open(path).map(Arc::new)).collect(),
    }
}

/// Formats a row; each column is at least as wide as its name.
fn line(men: &str, positions: &str, columns: &[String], names: &[String]) -> String {
    let mut line = format!("{men:<5}{GAP}{positions:>9}");
    for (text, name) in columns.iter().zip(names) {
        let width = name.chars().count().max(COLUMN);
        let _ = write!(line, "{GAP}{text:>width$}");
    }
    line
}
