//! `tabia train error`: how far networks are from what searches said.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use crate::cli::output::outln;
use crate::cli::work::cores;
use crate::eval::nnue::{Network, NetworkError};
use crate::train::net::{Data, ErrorByMen, Selection, Sigmoid, errors_by_men};

/// Wide enough for the checksum of a network.
const COLUMN: usize = 10;

/// Tell how far networks are from what searches said, by the number of men
///
/// The mean square error of the expected result, on the quiet positions of the games. Games with
/// deep searches (`tabia train relabel --nodes 40000`) tell what a network is wrong about; those
/// that it has learnt from tell little.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files of games, packed or not
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Networks, made by `tabia train net` (default: the one that is built in)
    #[arg(long, value_name = "FILE")]
    network: Vec<PathBuf>,
    /// Centipawns of which a result of 73% is expected
    #[arg(long, default_value_t = 133, value_parser = clap::value_parser!(u16).range(1..))]
    scale: u16,
    /// How much less the search of the next move counts than that of the move before
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
/// If a file cannot be read, or there is no position to judge by.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let networks = networks(&args.network)?;
    let curve = Sigmoid { scale: args.scale };
    let selection = Selection {
        curve,
        result_share: 0.0,
        lambda: args.lambda,
        limit: args.limit,
        skip_plies: 0,
        hold_out_every: usize::MAX,
    };
    let threads = args.threads.map_or_else(cores, usize::from);
    let data = Data::read(&args.files, &selection, threads, 0, |_| ())?;
    anyhow::ensure!(!data.training.is_empty(), "the games have no quiet position to judge by");
    let names = networks.iter().map(|network| format!("{:08x}", network.checksum()));
    outln!("{}", line("men", "positions", names))?;
    for ErrorByMen { men: (fewest, most), positions, errors } in
        errors_by_men(&networks, curve, &data.training).iter().filter(|row| row.positions > 0)
    {
        let errors = errors.iter().map(|error| format!("{error:.6}"));
        outln!("{}", line(&format!("{fewest}-{most}"), &positions.to_string(), errors))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The networks in these files; the one that is built in where there are none.
fn networks(paths: &[PathBuf]) -> Result<Vec<Arc<Network>>, NetworkError> {
    match paths {
        [] => Ok(vec![Network::embedded()]),
        _ => paths.iter().map(|path| Network::open(path).map(Arc::new)).collect(),
    }
}

fn line(men: &str, positions: &str, columns: impl Iterator<Item = String>) -> String {
    let columns: String = columns.map(|text| format!("{text:>COLUMN$}")).collect();
    format!("{men:<6}{positions:>COLUMN$}{columns}")
}
