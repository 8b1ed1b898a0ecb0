//! `tabia solve`: searches the positions of a test suite one after another.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use super::args::{EvaluationArgs, SearchLimit, TableMemory, depth};
use super::output::{self, errln};
use super::work::{exit_status, progress_bar, read_epd, stop_switch};
use crate::chess::score::Depth;
use crate::engine::search::{Config, Limits, Searcher};
use crate::support::words::visible;
use crate::tools::suite::solve::{Solution, SuiteRun, TIME};

/// Search a test suite (EPD) and count the solved positions
///
/// Each line names the moves that solve the position (bm), the moves that do not (am), or the
/// number of moves to mate (dm); other lines are reported and skipped. Each search starts with an
/// empty table and uses no book. Ctrl-C ends the command and prints the results so far.
#[derive(Debug, clap::Args)]
#[command(mut_arg("seconds", |arg| arg.help("Seconds for each position (default: 5)")))]
pub(super) struct Args {
    /// File of positions (EPD), or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    limit: SearchLimit,
    /// Plies for each position, instead of a time
    #[arg(long, conflicts_with_all = ["seconds", "nodes"], value_parser = depth())]
    depth: Option<Depth>,
    /// Number of threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    #[command(flatten)]
    memory: TableMemory,
    #[command(flatten)]
    evaluation: EvaluationArgs,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Args {
    fn limits(&self) -> Limits {
        match (self.limit.nodes, self.depth) {
            (Some(nodes), _) => Limits::nodes(nodes),
            (None, Some(depth)) => Limits::depth(depth),
            (None, None) => Limits::move_time(self.limit.seconds.unwrap_or(TIME)),
        }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let name = args.file.display().to_string();
    let text = read_epd(&args.file)?;
    let (mut suite, faults) = SuiteRun::parse(&name, &text);
    faults.iter().for_each(|fault| errln!("tabia: {}", visible(fault)));
    anyhow::ensure!(
        !suite.is_empty(),
        "cannot solve {name}: it contains no position with bm, am or dm"
    );
    let switch = stop_switch()?;
    let mut searcher = Searcher::new(Config {
        memory_mb: args.memory.mebibytes(),
        threads: args.threads.into(),
        evaluation: args.evaluation.open()?,
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
    Ok(exit_status(switch.is_stopped()))
}

fn row(answer: &Solution) -> serde_json::Value {
    serde_json::json!({
        "name": answer.problem.name, "fen": answer.problem.position.to_string(),
        "wanted": answer.problem.wanted(), "move": answer.san(), "score": answer.score,
        "nodes": answer.nodes, "solved": answer.solved,
    })
}
