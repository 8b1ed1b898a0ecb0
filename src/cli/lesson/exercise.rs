//! `tabia lesson exercise`: generates exercises to be solved by hand.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use super::output::{print, save};
use crate::cli::writing::Force;
use crate::support::files::FileKind;
use crate::web::lesson::exercise::{Exercise, exercises};
use crate::web::lesson::sheet::sheet;

/// Print exercises about searching random trees
///
/// The same seed gives the same exercises here and on the page of `lesson tree --html`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Seed for generating the exercises
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of exercises
    #[arg(short, long, default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=200))]
    number: u16,
    /// Print the answers with their reasons
    #[arg(long)]
    key: bool,
    /// Write a printable page instead, with the answers on a separate page
    #[arg(long, value_name = "FILE")]
    sheet: Option<PathBuf>,
    /// Print one JSON array instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    force: Force,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let drawn = exercises(args.seed, args.number.into());
    if let Some(path) = &args.sheet {
        save(path, FileKind::HTML, args.force, &sheet(&drawn, args.seed))?;
    }
    if args.json {
        print(&format!("{}\n", serde_json::to_string(&drawn)?))?;
    } else if args.key {
        print(&key(&drawn))?;
    } else if args.sheet.is_none() {
        print(&questions(&drawn))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn questions(exercises: &[Exercise]) -> String {
    let one = |Exercise { number, question, tree, .. }: &Exercise| {
        format!("{number}. {question}\n\n{tree}")
    };
    exercises.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn key(exercises: &[Exercise]) -> String {
    let mut text = String::new();
    for Exercise { number, answers, reason, .. } in exercises {
        let _ = writeln!(text, "{number}. {}: {reason}", answers.join(" or "));
    }
    text
}
