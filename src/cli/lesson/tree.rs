//! `tabia lesson tree`: shows step by step how an abstract game tree is searched.

use std::process::ExitCode;

use anyhow::Context;

use super::growth::GrowthArgs;
use super::output::OutputFormats;
use crate::chess::score::Score;
use crate::support::files::Cannot;
use crate::web::lesson::method::Method;
use crate::web::lesson::page::page_of_tree;
use crate::web::lesson::search::Algorithm;
use crate::web::lesson::search_record::SearchRecord;
use crate::web::lesson::timeline::split_on_a_clock;
use crate::web::lesson::tree::GameTree;

/// Search a game tree by minimax, alpha-beta and PVS, step by step
///
/// A tree is an indented list with one node per line: its NAME and, for a leaf, its VALUE for Max.
/// The root line contains `max` or `min`, the side that moves first. --print shows the tree in this
/// form. With --table or --deepen, nodes with equal subtrees are one position, and a node at the
/// depth limit of an iteration is evaluated as the mean of the leaves below it (`~`).
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Tree file, `classic` for the shipped tree, or `random`
    #[arg(default_value = "classic")]
    tree: String,
    /// Change the value of a leaf
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    values: Vec<(String, Score)>,
    /// Use only this algorithm: minimax, alpha-beta or pvs
    #[arg(short, long)]
    algorithm: Option<Algorithm>,
    /// Use a transposition table (alpha-beta and PVS)
    #[arg(long)]
    table: bool,
    /// Use iterative deepening (alpha-beta and PVS)
    #[arg(long)]
    deepen: bool,
    /// Also show PV-splitting by N threads; a visit takes one tick
    #[arg(short, long, value_parser = clap::value_parser!(u16).range(1..=64))]
    threads: Option<u16>,
    /// Print summaries only
    #[arg(short, long)]
    summary: bool,
    /// Print only the tree, in the input format of this command
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    forms: OutputFormats,
    #[command(flatten)]
    growth: GrowthArgs,
}

fn assignment(text: &str) -> Result<(String, Score), String> {
    let fail = || "expected NAME=VALUE, like N12=10".to_owned();
    let (name, value) = text.split_once('=').ok_or_else(fail)?;
    Ok((name.to_owned(), value.parse().map_err(|_| fail())?))
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut tree = args.read()?;
    for (name, value) in &args.values {
        tree.set_value(name, *value).map_err(anyhow::Error::msg).context("--set")?;
    }
    if args.print {
        super::output::print(&tree.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let methods = args.methods();
    let search_records: Vec<_> = methods.iter().map(|method| method.watch(&tree)).collect();
    let timeline = args.threads.map(|threads| split_on_a_clock(&tree, threads.into()));
    let mut parts: Vec<String> = match args.summary {
        true => vec![
            search_records
                .iter()
                .map(|search_record| format!("{}\n", search_record.summary))
                .collect(),
        ],
        false => search_records.iter().map(SearchRecord::text).collect(),
    };
    if let Some(timeline) = &timeline {
        parts.push(if args.summary { format!("{}\n", timeline.summary) } else { timeline.text() });
    }
    let text = parts.join(if args.summary { "" } else { "\n" });
    let mut object = serde_json::Map::from_iter([("tree".to_owned(), tree.to_string().into())]);
    if let Some(timeline) = &timeline {
        object.insert("timeline".to_owned(), serde_json::to_value(timeline)?);
    }
    let title = format!("tree {}", args.tree);
    let page = || page_of_tree(&title, &tree, &methods, args.threads.map(usize::from));
    args.forms.put(&title, &search_records, &text, page, object)?;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn methods(&self) -> Vec<Method> {
        let algorithms = self.algorithm.map_or(Algorithm::ALL.to_vec(), |chosen| vec![chosen]);
        let with = |algorithm| match algorithm {
            Algorithm::Minimax => Method::plain(algorithm),
            _ => Method { algorithm, table: self.table, deepening: self.deepen },
        };
        algorithms.into_iter().map(with).collect()
    }

    fn read(&self) -> anyhow::Result<GameTree> {
        match self.tree.as_str() {
            "random" => self.growth.tree(0),
            name => Ok(self.growth.ordered(&read(name)?)),
        }
    }
}

fn read(name: &str) -> anyhow::Result<GameTree> {
    if name == "classic" {
        return Ok(GameTree::classic());
    }
    let text = std::fs::read_to_string(name)
        .cannot("read the tree", format!("{name} (a file, `classic` or `random`)"))?;
    text.parse::<GameTree>().with_context(|| name.to_owned())
}
