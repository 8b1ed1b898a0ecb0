//! `tabia lesson split`: compares serial alpha-beta with PV-splitting.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::json;

use super::output::{print, save};
use crate::chess::position::{Game, Move};
use crate::chess::score::Depth;
use crate::cli::args::cores;
use crate::cli::list::{List, list};
use crate::cli::place::PositionArgs;
use crate::cli::work::{exit_status, interruption, progress_bar};
use crate::cli::writing::Force;
use crate::support::files::{FileKind, Output};
use crate::web::lesson::plot::plot;
use crate::web::lesson::splitting::describe_threads;
use crate::web::lesson::timing::{Measurement, PUBLISHED, Stopwatch, TimedPosition};

/// Compare the times of serial alpha-beta and PV-splitting over consecutive moves of a game
///
/// The searches are exact (no table, no reductions), so all of them must find the same score; the
/// command checks this. After the measurements for a move, the deepest search's best move is
/// played.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    place: PositionArgs,
    /// Depths in plies
    #[arg(short, long, default_value = "3,4,5", value_parser = list(clap::value_parser!(i32).range(1..=12)))]
    depths: List<Depth>,
    /// Numbers of threads (default: 1, 2, 5 and the number of cores)
    #[arg(short, long, value_parser = list(clap::value_parser!(u16).range(1..=256)))]
    threads: Option<List<u16>>,
    /// Number of moves to play
    #[arg(short = 'n', long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=200))]
    number: u16,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Draw the times as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let game = args.place.game()?;
    if let Some(path) = &args.svg {
        Output::new(path, FileKind::SVG).force(args.force.allowed).check()?;
    }
    let stop = interruption()?;
    let threads = args.resolve_threads();
    let mut stopwatch = Stopwatch::new(&threads, &stop)?;
    let measurements = measure(args, game, &mut stopwatch)?;
    if let Some(path) = &args.svg {
        let title = format!("Serial alpha-beta and PV-splitting: seconds a move, {}", on_cores());
        save(path, FileKind::SVG, args.force, &plot(&measurements, &title))?;
    }
    if args.json {
        let all = json!({ "cores": cores(), "measurements": measurements, "published": PUBLISHED });
        print(&format!("{all}\n"))?;
    } else {
        print(&as_text(&measurements, &threads))?;
    }
    Ok(exit_status(stop.load(Relaxed)))
}

impl Args {
    fn resolve_threads(&self) -> Vec<usize> {
        let cores = cores();
        let mut threads: Vec<usize> = match self.threads.as_deref().unwrap_or_default() {
            [] => vec![1, 2, 5, cores],
            chosen => chosen.iter().map(|&threads| threads.into()).collect(),
        };
        threads.sort_unstable();
        threads.dedup();
        threads
    }
}

fn measure(
    args: &Args,
    mut game: Game,
    stopwatch: &mut Stopwatch,
) -> anyhow::Result<Vec<Measurement>> {
    let mut measurements = Vec::new();
    let mut depths = args.depths.clone();
    depths.sort_unstable();
    depths.dedup();
    let bar = progress_bar(usize::from(args.number) * depths.len(), "searches");
    for number in 1..=usize::from(args.number) {
        let mut next: Option<Move> = None;
        for &depth in &depths {
            match stopwatch.measure(game.position(), number, depth) {
                TimedPosition::Done(measurement, best) => {
                    measurements.push(measurement);
                    next = best;
                }
                TimedPosition::Disagreement(fault) => {
                    anyhow::bail!("a fault of the program: {fault}")
                }
                TimedPosition::Stopped => return Ok(measurements),
            }
            bar.inc(1);
        }
        match next {
            Some(mv) => game.play(mv)?,
            None => break, // the game is over
        }
    }
    bar.finish_and_clear();
    Ok(measurements)
}

fn on_cores() -> String {
    let cores = cores();
    format!("on {cores} core{}", if cores == 1 { "" } else { "s" })
}

fn as_text(measurements: &[Measurement], threads: &[usize]) -> String {
    let mut text = format!("{}; seconds, and how many times faster than serial\n\n", on_cores());
    let _ = write!(text, "{:<6}{:<6}{:<8}{:>9}", "depth", "move", "best", "serial");
    for &threads in threads {
        let _ = write!(text, "{:>17}", describe_threads(threads));
    }
    text.push('\n');
    let mut sorted: Vec<&Measurement> = measurements.iter().collect();
    sorted.sort_by_key(|one| (one.depth, one.number));
    for one in sorted {
        let Measurement { depth, number, best, seconds, splits, .. } = one;
        let _ = write!(text, "{depth:<6}{number:<6}{best:<8}{seconds:>9.4}");
        for split in splits {
            let _ = write!(text, "{:>10.4} {:>5.2}x", split.seconds, one.speedup(split));
        }
        text.push('\n');
    }
    text.push_str("\npublished: five moves, serial and with five threads\n\n");
    let _ = writeln!(text, "{:<6}{:<6}{:>9}{:>18}", "depth", "move", "serial", "5 threads");
    for (depth, figures) in PUBLISHED {
        for (index, (serial, split)) in figures.iter().enumerate() {
            let _ = writeln!(
                text,
                "{depth:<6}{:<6}{serial:>9.4}{split:>10.4} {:>6.2}x",
                index + 1,
                serial / split
            );
        }
    }
    text
}
