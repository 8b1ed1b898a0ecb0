//! `tabia lesson research`: compares the two orders in which a reduced move can be re-searched:
//! depth first or window first.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use serde_json::json;

use super::output::print;
use crate::chess::score::Depth;
use crate::cli::work::{exit_status, on_interruption, progress_bar};
use crate::engine::search::{Control, ResearchOrder};
use crate::tools::autoplay::play::Interrupt;
use crate::tools::autoplay::stats::Tally;
use crate::tools::autoplay::summary;
use crate::tools::suite::positions::positions;
use crate::tools::suite::research::{Match, nodes};

/// Compare two orders of re-searching a reduced move: depth first or window first
///
/// Counts the nodes that each order needs to reach the same depth, and plays games between the two
/// at a fixed number of nodes per move, two games from each of the shipped positions.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Depth at which nodes are counted, in plies
    #[arg(short, long, default_value_t = 8, value_parser = clap::value_parser!(i32).range(1..=30))]
    depth: Depth,
    /// Number of games; 0 compares only the node counts
    #[arg(short, long, default_value_t = 40)]
    games: usize,
    /// Nodes for each move
    #[arg(short = 'N', long, default_value_t = 3000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Games to play at the same time
    #[arg(short = 'j', long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: u16,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (control, interrupt) = (Control::new(), Arc::new(Interrupt::new()));
    let (handle, bell) = (control.clone(), Arc::clone(&interrupt));
    let stop = move || {
        handle.stop();
        bell.trigger();
    };
    on_interruption(stop)?;
    let orders = ResearchOrder::ALL;
    let positions = positions();
    let counts = orders.map(|order| nodes(order, &positions, args.depth, &control));
    let bar = progress_bar(args.games, "games");
    let mut tally = Tally::default();
    if args.games > 0 && !control.is_stopped() {
        let program = std::env::current_exe().context("cannot find this program")?;
        let concurrency = usize::from(args.concurrency);
        let duel = Match { games: args.games, nodes: args.nodes, concurrency };
        let on_game = &mut |tally: &Tally| bar.set_position(tally.total.games().into());
        tally = duel.play(&program, orders, &positions, &interrupt, on_game)?;
    }
    bar.finish_and_clear();
    print(&if args.json { as_json(args, counts, &tally) } else { as_text(args, counts, &tally) })?;
    Ok(exit_status(control.is_stopped()))
}

fn as_text(args: &Args, counts: [Option<u64>; 2], tally: &Tally) -> String {
    let mut text = format!("{:<14}{:>12}\n", "order", format!("nodes, d{}", args.depth));
    for (order, count) in ResearchOrder::ALL.into_iter().zip(counts) {
        let count = count.map_or("stopped".to_owned(), |count| count.to_string());
        text.push_str(&format!("{:<14}{count:>12}\n", order.name()));
    }
    if let [Some(depth_first), Some(window_first)] = counts {
        let change = 100.0 * (window_first as f64 / depth_first.max(1) as f64 - 1.0);
        text.push_str(&format!("window-first needs {change:+.1}% nodes\n"));
    }
    let total = tally.total;
    if total.games() > 0 {
        text.push_str(&format!(
            "depth-first against window-first at {} nodes a move: {} won, {} drawn, {} lost\n",
            args.nodes, total.wins, total.draws, total.losses
        ));
    }
    if let Some(elo) = tally.elo() {
        text.push_str(&format!("{} (95%)\n", summary::elo(elo)));
    }
    text
}

fn as_json(args: &Args, counts: [Option<u64>; 2], tally: &Tally) -> String {
    let elo = tally.elo();
    let all = json!({
        "depth": args.depth, "orders": ResearchOrder::NAMES,
        "nodes": counts, "nodes_a_move": args.nodes,
        "wins": tally.total.wins, "draws": tally.total.draws, "losses": tally.total.losses,
        "elo": elo.map(|elo| elo.value), "error": elo.and_then(|elo| elo.error),
    });
    format!("{all}\n")
}
