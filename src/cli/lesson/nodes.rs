//! `tabia lesson nodes`: compares how many nodes different algorithms need to reach the same depth.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::json;

use super::output::print;
use crate::chess::position::Position;
use crate::chess::score::Depth;
use crate::cli::list::{List, list};
use crate::cli::work::{exit_status, interruption, positions_of, progress_bar};
use crate::web::lesson::chess::Ordering;
use crate::web::lesson::compare::{Cost, CostSum, SearchVariant, cost};

/// Compare the node counts of alpha-beta and PVS with good, plain and bad move orders
///
/// Runs textbook searches with quiescence but without a table or reductions. Only the last
/// iteration is counted; the earlier ones only determine which line to search first.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Depth in plies
    #[arg(short, long, default_value_t = 3, value_parser = clap::value_parser!(i32).range(2..=12))]
    depth: Depth,
    /// Move orders to compare; a bad one takes minutes from depth 4 on
    #[arg(long, default_value = "good,plain,bad", value_parser = list(|text: &str| text.parse::<Ordering>()))]
    orders: List<Ordering>,
    /// File of positions, one FEN per line (default: 60 from self-play)
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,
    /// Also show the counts for every position
    #[arg(long)]
    each: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let positions = positions_of(args.positions.as_deref())?;
    let stop = interruption()?;
    let variants: Vec<SearchVariant> =
        args.orders.iter().flat_map(|&ordering| SearchVariant::both(ordering)).collect();
    let mut sums = vec![CostSum::default(); variants.len()];
    let mut rows = Vec::new();
    let bar = progress_bar(positions.len(), "positions");
    for position in &positions {
        let costs = variants.iter().map(|&variant| cost(position, variant, args.depth, &stop));
        let Some(costs) = costs.collect::<Option<Vec<Cost>>>() else { break };
        anyhow::ensure!(
            costs.iter().all(|cost| cost.score == costs[0].score),
            "the algorithms do not agree on {position}: this is a fault of the program"
        );
        for (sum, cost) in sums.iter_mut().zip(&costs) {
            sum.add(cost, &costs[0]);
        }
        rows.push((position, costs));
        bar.inc(1);
    }
    bar.finish_and_clear();
    if args.json {
        print(&format!("{}\n", as_json(args, &variants, &sums, &rows)))?;
    } else {
        print(&as_text(args, &variants, &sums, &rows))?;
    }
    Ok(exit_status(stop.load(Relaxed)))
}

fn as_text(
    args: &Args,
    variants: &[SearchVariant],
    sums: &[CostSum],
    rows: &[(&Position, Vec<Cost>)],
) -> String {
    let mut text = String::new();
    if args.each {
        for (position, costs) in rows {
            let nodes: Vec<String> =
                costs.iter().map(|cost| format!("{:>9}", cost.nodes)).collect();
            let _ = writeln!(text, "{}  {position}", nodes.join(" "));
        }
    }
    let _ = writeln!(
        text,
        "depth {}, {} positions; nodes with quiescence, node types and repeated searches without\n\n\
         {:<17}{:>12}{:>9}{:>11}{:>11}{:>11}{:>10}",
        args.depth,
        sums[0].positions,
        "search",
        "nodes",
        "ratio",
        "PV nodes",
        "cut nodes",
        "all nodes",
        "repeated"
    );
    for (variant, sum) in variants.iter().zip(sums) {
        let [pv, cut, all] = sum.types;
        let _ = writeln!(
            text,
            "{:<17}{:>12}{:>9.3}{pv:>11}{cut:>11}{all:>11}{:>10}",
            variant.name(),
            sum.nodes,
            sum.mean_ratio(),
            sum.researches
        );
    }
    let [first, second, ..] = sums else { return text };
    let _ = writeln!(
        text,
        "\nratio: to the first row, geometric mean over the positions.\n\
         With the {} order PVS needs {:.1}% {} nodes than alpha-beta ({:+.1}% in the sum).",
        args.orders[0],
        100.0 * (1.0 - second.mean_ratio()).abs(),
        if second.mean_ratio() <= 1.0 { "fewer" } else { "more" },
        100.0 * (second.nodes as f64 / first.nodes.max(1) as f64 - 1.0),
    );
    text
}

fn as_json(
    args: &Args,
    variants: &[SearchVariant],
    sums: &[CostSum],
    rows: &[(&Position, Vec<Cost>)],
) -> serde_json::Value {
    let variants: Vec<_> = variants
        .iter()
        .zip(sums)
        .map(|(variant, sum)| {
            json!({
                "search": variant.algorithm.name(), "order": variant.ordering.name(), "nodes": sum.nodes,
                "ratio": sum.mean_ratio(), "types": sum.types, "repeated": sum.researches,
            })
        })
        .collect();
    let rows: Vec<_> = rows
        .iter()
        .map(|(position, costs)| {
            let nodes: Vec<u64> = costs.iter().map(|cost| cost.nodes).collect();
            json!({ "fen": position.fen(), "score": costs[0].score, "nodes": nodes })
        })
        .collect();
    json!({ "depth": args.depth, "methods": variants, "positions": rows })
}
