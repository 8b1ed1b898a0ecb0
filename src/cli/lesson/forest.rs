//! `tabia lesson forest`: searches many random trees with each search method.

use std::fmt::Write;
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::json;

use super::growth::GrowthArgs;
use super::output::print;
use crate::cli::list::{List, list};
use crate::cli::work::{exit_status, interruption, progress_bar};
use crate::web::lesson::method::Method;
use crate::web::lesson::search_record::SearchRecord;
use crate::web::lesson::splitting::describe_threads;
use crate::web::lesson::timeline::{Timeline, split_on_a_clock};

/// Compare all methods on many random trees
///
/// The trees have consecutive seeds, starting with --seed. --json prints one JSON object per tree:
/// its text, every search step by step, and PV-splitting timed in ticks.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Number of trees
    #[arg(short, long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    number: u32,
    /// Numbers of threads for PV-splitting
    #[arg(short, long, default_value = "1,2,4", value_parser = list(clap::value_parser!(u16).range(1..=64)))]
    threads: List<u16>,
    /// Print one JSON object per tree instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    growth: GrowthArgs,
}

#[derive(Debug, Default)]
struct Sum {
    name: String,
    visits: u64,
    distinct: u64,
    cutoffs: u64,
    researches: u64,
    hits: u64,
}

#[derive(Debug, Default)]
struct SplitSum {
    threads: usize,
    visits: u64,
    ticks: u64,
    serial: u64,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let stop = interruption()?;
    let (mut sums, mut splits, mut trees) = (Vec::new(), Vec::new(), 0_u32);
    let bar = progress_bar(args.number as usize, "trees");
    while trees < args.number && !stop.load(Relaxed) {
        let tree = args.growth.tree(trees.into())?;
        let search_records: Vec<SearchRecord> =
            Method::all().into_iter().map(|method| method.watch(&tree)).collect();
        let timelines: Vec<Timeline> =
            args.threads.iter().map(|&threads| split_on_a_clock(&tree, threads.into())).collect();
        if args.json {
            let seed = args.growth.growth(trees.into()).seed;
            let all = json!({
                "seed": seed, "tree": tree.to_string(), "searches": search_records,
                "timelines": timelines,
            });
            print(&format!("{all}\n"))?;
        }
        add(&mut sums, &search_records);
        add_splits(&mut splits, &timelines);
        trees += 1;
        bar.inc(1);
    }
    bar.finish_and_clear();
    if !args.json && trees > 0 {
        print(&table(&sums, &splits, trees))?;
    }
    Ok(exit_status(stop.load(Relaxed)))
}

fn add(sums: &mut Vec<Sum>, search_records: &[SearchRecord]) {
    sums.resize_with(search_records.len(), Sum::default);
    for (sum, search_record) in sums.iter_mut().zip(search_records) {
        sum.name.clone_from(&search_record.algorithm);
        sum.visits += search_record.nodes;
        sum.distinct += search_record.distinct as u64;
        sum.cutoffs += search_record.cutoffs;
        sum.researches += search_record.researches;
        sum.hits += search_record.hits;
    }
}

fn add_splits(sums: &mut Vec<SplitSum>, timelines: &[Timeline]) {
    sums.resize_with(timelines.len(), SplitSum::default);
    for (sum, timeline) in sums.iter_mut().zip(timelines) {
        sum.threads = timeline.threads;
        sum.visits += timeline.visits;
        sum.ticks += timeline.ticks;
        sum.serial += timeline.serial;
    }
}

fn table(sums: &[Sum], splits: &[SplitSum], trees: u32) -> String {
    let mean = |sum: u64| sum as f64 / f64::from(trees);
    let mut text = format!("{trees} trees; means of\n\n");
    let _ = writeln!(
        text,
        "{:<34}{:>9}{:>9}{:>9}{:>9}{:>9}",
        "search", "visits", "nodes", "cutoffs", "again", "table"
    );
    for Sum { name, visits, distinct, cutoffs, researches, hits } in sums {
        let [visits, distinct, cutoffs, researches, hits] =
            [visits, distinct, cutoffs, researches, hits].map(|&sum| mean(sum));
        let _ = writeln!(
            text,
            "{name:<34}{visits:>9.1}{distinct:>9.1}{cutoffs:>9.1}{researches:>9.1}{hits:>9.1}"
        );
    }
    let _ = writeln!(text, "\n{:<34}{:>9}{:>9}{:>9}", "pv-splitting", "visits", "ticks", "faster");
    for SplitSum { threads, visits, ticks, serial } in splits {
        let name = describe_threads(*threads);
        let faster = *serial as f64 / *ticks as f64;
        let (visits, ticks) = (mean(*visits), mean(*ticks));
        let _ = writeln!(text, "{name:<34}{visits:>9.1}{ticks:>9.1}{faster:>8.2}x");
    }
    text.push_str("\nfaster: than serial alpha-beta, all trees together; a visit takes one tick\n");
    text
}
