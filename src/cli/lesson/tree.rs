//! `tabia lesson tree`: an explicit tree, searched step by step.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use super::output::Forms;
use crate::lesson::search::Algorithm;
use crate::lesson::story::Story;
use crate::lesson::tree::GameTree;
use crate::lesson::watch_tree;
use crate::score::Score;

/// Search a small game tree by minimax, alpha-beta and PVS, telling every step
///
/// A tree is an indented list, one node a line: NAME, and for a leaf its VALUE for Max; the root
/// says `max` or `min`, who moves first. --print shows the shipped tree in this form.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// File of the tree, or `classic` for the shipped one
    #[arg(default_value = "classic")]
    tree: String,
    /// Give a leaf another value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    values: Vec<(String, Score)>,
    /// One algorithm instead of all: minimax, alpha-beta or pvs
    #[arg(short, long)]
    algorithm: Option<Algorithm>,
    /// Only the summaries, not every step
    #[arg(short, long)]
    summary: bool,
    /// Print the tree as a file for this command, and search nothing
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    forms: Forms,
}

fn assignment(text: &str) -> Result<(String, Score), String> {
    let fail = || "expected NAME=VALUE, like N12=10".to_owned();
    let (name, value) = text.split_once('=').ok_or_else(fail)?;
    Ok((name.to_owned(), value.parse().map_err(|_| fail())?))
}

/// Searches the tree and tells all about it.
///
/// # Errors
/// If the tree cannot be read, or something cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut tree = read(&args.tree)?;
    for (name, value) in &args.values {
        tree.set_value(name, *value).map_err(anyhow::Error::msg).context("--set")?;
    }
    if args.print {
        super::output::print(&tree.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let algorithms = args.algorithm.map_or(Algorithm::ALL.to_vec(), |algorithm| vec![algorithm]);
    let stories: Vec<_> =
        algorithms.into_iter().map(|algorithm| watch_tree(&tree, algorithm)).collect();
    let text = match args.summary {
        true => stories.iter().map(|story| format!("{}\n", story.summary)).collect(),
        false => stories.iter().map(Story::text).collect::<Vec<_>>().join("\n"),
    };
    args.forms.put(&format!("tree {}", args.tree), &stories, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn read(name: &str) -> anyhow::Result<GameTree> {
    if name == "classic" {
        return Ok(GameTree::classic());
    }
    let text = std::fs::read_to_string(Path::new(name)).with_context(|| {
        format!("cannot read the tree {name} (a file, or `classic` for the shipped tree)")
    })?;
    text.parse::<GameTree>().with_context(|| name.to_owned())
}
