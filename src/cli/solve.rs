//! `tabia solve`: searches a test suite, position by position.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;

use super::judge::Judge;
use super::output::{self, errln};
use super::work::{INTERRUPTED, on_interruption, progress_bar};
use crate::chess::score::Depth;
use crate::engine::search::{Config, Limits, Searcher};
use crate::support::words::{parse_time, visible};
use crate::tools::suite::Switch;
use crate::tools::suite::solve::{Solution, SuiteRun, TIME};

/// Search the positions of an EPD file and count what is solved
///
/// A position says which moves solve it (bm), which do not (am), or in how many moves there is a
/// mate (dm); lines that say none of these are named and passed over. Each is searched without the
/// book, and without what was learnt from the others. Ctrl-C ends it with what was found so far.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// File of positions (EPD), or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Seconds for each position (default: 5)
    #[arg(long, value_parser = parse_time)]
    seconds: Option<Duration>,
    /// Nodes for each position, instead of a time
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Plies to which each position is searched, instead of a time
    #[arg(long, conflicts_with_all = ["seconds", "nodes"], value_parser = clap::value_parser!(i32).range(1..=64))]
    depth: Option<Depth>,
    /// Threads that search
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Mebibytes for the transposition table
    #[arg(long, value_name = "MB", default_value_t = 64)]
    memory: usize,
    #[command(flatten)]
    judge: Judge,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Args {
    fn limits(&self) -> Limits {
        match (self.nodes, self.depth) {
            (Some(nodes), _) => Limits::nodes(nodes),
            (None, Some(depth)) => Limits::depth(depth),
            (None, None) => Limits::move_time(self.seconds.unwrap_or(TIME)),
        }
    }
}

/// Prints every answer as soon as it is found, then the summary.
///
/// # Errors
/// If the file has no problem or cannot be read, or the output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let name = args.file.display().to_string();
    let text = read(&args.file).with_context(|| format!("cannot read {name}"))?;
    let (mut suite, faults) = SuiteRun::parse(&name, &text);
    faults.iter().for_each(|fault| errln!("tabia: {}", visible(fault)));
    anyhow::ensure!(!suite.is_empty(), "{name}: there is no position to be solved in it");
    let switch = Switch::default();
    let interrupted = switch.clone();
    on_interruption(move || interrupted.stop())?;
    let mut searcher = Searcher::new(Config {
        memory_mb: args.memory,
        threads: args.threads.into(),
        evaluation: args.judge.open()?,
        ..Config::default()
    });
    searcher.take_faults().into_iter().next().map_or(Ok(()), Err)?;
    let mut out = output::stdout();
    let mut rows = Vec::new();
    let bar = progress_bar(suite.len(), "positions");
    suite.solve(&mut searcher, &args.limits(), &switch, |answer| {
        bar.inc(1);
        if args.json {
            rows.push(row(&answer));
            return Ok(());
        }
        bar.suspend(|| writeln!(out, "{}", visible(&answer.to_string())))
    })?;
    bar.finish_and_clear();
    if args.json {
        let all = serde_json::json!({
            "problems": suite.len(), "searched": suite.searched, "solved": suite.solved,
            "nodes": suite.nodes, "seconds": suite.elapsed().as_secs_f64(), "answers": rows,
        });
        writeln!(out, "{all}")?;
    } else {
        if switch.is_stopped() {
            writeln!(out, "{}", suite.stopped())?;
        }
        writeln!(out, "{suite}")?;
    }
    Ok(if switch.is_stopped() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

fn read(file: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    match file.as_os_str() == "-" {
        true => io::stdin().lock().read_to_end(&mut bytes)?,
        false => std::fs::File::open(file)?.read_to_end(&mut bytes)?,
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn row(answer: &Solution) -> serde_json::Value {
    serde_json::json!({
        "name": answer.problem.name, "fen": answer.problem.position.to_string(),
        "wanted": answer.problem.wanted(), "move": answer.san(), "score": answer.score,
        "nodes": answer.nodes, "solved": answer.solved,
    })
}
