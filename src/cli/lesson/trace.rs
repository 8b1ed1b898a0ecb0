//! `tabia lesson trace`: shows step by step how a chess position is searched.

use std::fmt::Write;
use std::process::ExitCode;

use super::engine::{EngineArgs, EngineOutput};
use super::output::{OutputFormats, print};
use crate::chess::score::{Depth, Ply, Score};
use crate::cli::place::PositionArgs;
use crate::cli::work::interruption;
use crate::web::lesson::chess::{Chess, Ordering};
use crate::web::lesson::deepening::{DeepeningEvent, Plan, deepen};
use crate::web::lesson::page::page_of_searches;
use crate::web::lesson::record::{Bounds, Recorder};
use crate::web::lesson::search::Algorithm;
use crate::web::lesson::search_record::SearchRecord;

/// Show a textbook search of a position
///
/// Uses iterative deepening and a plain evaluation, without a table, reductions or draws by
/// repetition. --tree prints the last iteration step by step; --svg and --html draw it. Scores are
/// in centipawns for Max, the side to move at the root. --engine shows the engine's own search
/// instead.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    place: PositionArgs,
    /// Depth of the last iteration, in plies
    #[arg(short, long, default_value_t = 4, value_parser = clap::value_parser!(i32).range(1..=30))]
    depth: Depth,
    /// Algorithm: minimax, alpha-beta or pvs
    #[arg(short, long, default_value_t = Algorithm::Pvs)]
    algorithm: Algorithm,
    /// Move order: good, plain or bad
    #[arg(short, long, default_value_t = Ordering::Good)]
    order: Ordering,
    /// Half the width of the aspiration window in centipawns; 0 uses full windows
    #[arg(short = 'w', long, default_value_t = 15, value_parser = clap::value_parser!(i32).range(0..=10_000))]
    aspiration: Score,
    /// Search without quiescence
    #[arg(long)]
    no_quiescence: bool,
    /// Print the last iteration step by step
    #[arg(long)]
    tree: bool,
    /// Show the tree down to this ply
    #[arg(long, default_value_t = 2)]
    plies: Ply,
    /// Maximum number of visits to show
    #[arg(long, default_value_t = 400)]
    visits: usize,
    #[command(flatten)]
    forms: OutputFormats,
    #[command(flatten)]
    engine: EngineArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.engine.is_wanted() {
        let Args { place, depth, plies, visits, tree, forms, engine, .. } = args;
        let wanted = EngineOutput {
            place,
            depth: *depth,
            plies: *plies,
            visits: *visits,
            tree: *tree,
            forms,
        };
        return engine.run(&wanted);
    }
    let root = *args.place.game()?.position();
    let stop = interruption()?;
    let plan = Plan {
        algorithm: args.algorithm,
        depth: args.depth,
        aspiration: (args.aspiration > 0).then_some(args.aspiration),
    };
    let mut chess = Chess::new(&root);
    chess.ordering = args.order;
    chess.quiescence = !args.no_quiescence;
    let bounds = Bounds { ply: args.plies, visits: args.visits };
    let (mut first_error, mut reported) = (Ok(()), Vec::new());
    let mut on_event = |event: DeepeningEvent| {
        if args.forms.json() {
            reported.push(event.json(&root));
        } else if first_error.is_ok() {
            first_error = print(&format!("{}\n", event.text(&root)));
        }
    };
    let mut recorder = || Recorder::new(bounds);
    let (_, recorder) = deepen(&mut chess, &root, plan, &stop, &mut recorder, &mut on_event);
    first_error?;
    let search_record =
        SearchRecord::new(args.algorithm, &recorder, &mut chess, (&root, "root"), false);
    let mut text = String::new();
    if args.tree {
        let _ = write!(text, "\n{}", search_record.text());
    }
    let (title, search_records) = (args.place.title(), [search_record]);
    let object = serde_json::Map::from_iter([("news".to_owned(), reported.into())]);
    args.forms.put(
        &title,
        &search_records,
        &text,
        || page_of_searches(&title, &search_records),
        object,
    )?;
    Ok(ExitCode::SUCCESS)
}
