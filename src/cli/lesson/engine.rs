//! `tabia lesson trace --engine`: traces the engine's own search.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;

use super::output::{OutputFormats, print, save};
use crate::chess::notation;
use crate::chess::position::{Game, Move};
use crate::chess::score::Depth;
use crate::cli::book::open as open_book;
use crate::cli::place::{PositionArgs, play};
use crate::cli::work::{exit_status, progress_bar, stop_switch};
use crate::engine::eval::Evaluation;
use crate::engine::search::trace::{Bounds, Trace, trace};
use crate::engine::search::{BookSearch, Config, Limits, SearchEvent, SearchResult, Searcher};
use crate::support::files::FileKind;
use crate::web::lesson::engine::page_of_trace;

const MEMORY_MB: usize = 16;

/// Options for tracing the engine's own search.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "The engine's own search")]
pub(super) struct EngineArgs {
    /// Show the engine's own search, with its reductions, null moves and table
    #[arg(long, conflicts_with_all = ["algorithm", "order", "aspiration", "no_quiescence", "svg"])]
    engine: bool,
    /// Show only this line and the tree below its last move
    #[arg(long, requires = "engine", value_name = "MOVES", default_value = "")]
    branch: String,
    /// Show only nodes with at least this depth; 0 includes quiescence
    #[arg(long, requires = "engine", default_value_t = 0, value_parser = clap::value_parser!(i32).range(0..=64))]
    least_depth: Depth,
    /// Number of threads
    #[arg(long, requires = "engine", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Use this book inside the search
    #[arg(short, long, requires = "engine", value_name = "FILE")]
    book: Option<PathBuf>,
    /// Show the terms of the static evaluation
    #[arg(long, requires = "engine")]
    terms: bool,
}

pub(super) struct EngineOutput<'a> {
    pub(super) place: &'a PositionArgs,
    pub(super) depth: Depth,
    pub(super) plies: usize,
    pub(super) visits: usize,
    pub(super) tree: bool,
    pub(super) forms: &'a OutputFormats,
}

impl EngineArgs {
    pub(super) fn is_wanted(&self) -> bool {
        self.engine
    }

    pub(super) fn run(&self, wanted: &EngineOutput) -> anyhow::Result<ExitCode> {
        let game = wanted.place.game()?;
        let bounds = Bounds {
            plies: wanted.plies,
            min_depth: self.least_depth,
            branch: self.line(&game)?,
            visits: wanted.visits,
        };
        let mut searcher = Searcher::new(self.config()?);
        searcher.take_faults().iter().for_each(|fault| log::warn!("{fault}"));
        let switch = stop_switch()?;
        let bar = progress_bar(wanted.depth.unsigned_abs() as usize, "iterations");
        let mut on_event = |event: &SearchEvent| {
            if let SearchEvent::Iteration(report) = event {
                bar.set_position(u64::from(report.depth.unsigned_abs()));
            }
        };
        let limits = Limits::depth(wanted.depth);
        let (result, trace) =
            trace(&mut searcher, &game, &limits, &switch.control(), bounds, &mut on_event);
        bar.finish_and_clear();
        self.put(wanted, &game, &result, &trace)?;
        Ok(exit_status(switch.is_stopped()))
    }

    fn config(&self) -> anyhow::Result<Config> {
        let book = self.book.as_deref().map(open_book).transpose()?;
        // Search with the book in the same mode as `tabia -b`.
        let book_search = if book.is_some() { BookSearch::Value } else { BookSearch::Off };
        let threads = self.threads.into();
        // Use all threads even if the machine has fewer cores, to show how the threads share the
        // tree.
        let cores = Some(threads);
        Ok(Config { memory_mb: MEMORY_MB, threads, cores, book, book_search, ..Config::default() })
    }

    fn line(&self, game: &Game) -> anyhow::Result<Vec<Move>> {
        let from = Game::new(*game.position());
        Ok(play(from, &self.branch, "--branch")?.moves().to_vec())
    }

    fn put(
        &self,
        wanted: &EngineOutput,
        game: &Game,
        result: &SearchResult,
        trace: &Trace,
    ) -> anyhow::Result<()> {
        let root = game.position();
        let title = wanted.place.title();
        if let Some((path, force)) = wanted.forms.html() {
            save(path, FileKind::HTML, force, &page_of_trace(&title, trace))?;
        }
        let best = result.best.map(|mv| root.san(mv));
        if wanted.forms.json() {
            let terms = self.terms.then(|| Evaluation::default().explain(root));
            let whole = json!({
                "title": title, "fen": root.to_string(), "best": best, "score": result.score,
                "depth": result.depth, "nodes": result.nodes, "terms": terms, "trace": trace,
            });
            return print(&format!("{whole}\n"));
        }
        let mut text = trace.iterations();
        if let Some(book) = &result.book {
            let line = notation::line(root, &book.line);
            let games = book.counts.describe(root.side_to_move());
            let _ = writeln!(text, "ended in the book: {line} ({games})");
        }
        if wanted.tree {
            let _ = write!(text, "\n{}", trace.tree());
        }
        let _ = write!(text, "\n{}", trace.sums);
        for (thread, sums) in trace.threads.iter().enumerate().filter(|_| trace.threads.len() > 1) {
            let (nodes, splits, joins) = (sums.nodes, sums.splits, sums.joins);
            let thread = format!("thread {thread}");
            let _ = writeln!(text, "{thread:<22}{nodes} nodes, {splits} splits, joined {joins}");
        }
        if self.terms {
            let _ = write!(text, "\n{}", Evaluation::default().explain(root));
        }
        print(&text)
    }
}
