//! The arguments that select the openings for a match, and the code that loads the openings.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::cli::output::errln;
use crate::cli::usage::wrong;
use crate::tools::autoplay::openings::{Opening, OpeningChoice};

/// The openings from which games start.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Openings")]
pub(super) struct Openings {
    /// Openings (EPD or PGN) or a book (.tbk, .bin, `embedded`)
    ///
    /// Files may be compressed. Lines from a book are drawn at random.
    #[arg(id = "openings", long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Order in which openings are played
    #[arg(id = "opening-order", long, value_enum, hide_short_help = true, default_value_t = Order::File)]
    order: Order,
    /// Seed for --opening-order random, and for lines from a book
    #[arg(long, hide_short_help = true, default_value_t = 1)]
    seed: u64,
    /// Start with opening N of the file; the ones before it are played last
    #[arg(
        hide_short_help = true,
        id = "opening-start",
        long,
        default_value_t = 1,
        value_name = "N"
    )]
    start: usize,
    /// Maximum number of plies in each opening
    #[arg(hide_short_help = true, id = "opening-plies", long, value_name = "N")]
    plies: Option<usize>,
    /// Play each opening once instead of twice with colours reversed
    #[arg(long, hide_short_help = true)]
    pub no_reverse: bool,
}

/// The order in which openings are played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// The order of the file
    File,
    /// Random order
    Random,
}

impl Openings {
    pub(super) fn resolve(&self, count: usize) -> anyhow::Result<Vec<Opening>> {
        let Openings { file, order, seed, start, plies, .. } = self;
        let Some(path) = file else { return Ok(vec![Opening::default()]) };
        let choice = OpeningChoice {
            path: path.clone(),
            shuffled: *order == Order::Random,
            seed: *seed,
            start: start.checked_sub(1).ok_or(wrong("--opening-start counts from 1"))?,
            count,
            plies: *plies,
        };
        load_openings(&choice)
    }

    pub(super) fn describe(&self) -> Vec<(&'static str, String)> {
        let Openings { file, order, seed, start, plies, no_reverse } = self;
        let reversed = if *no_reverse { "once each" } else { "with colours reversed" };
        let Some(file) = file else {
            return vec![("Openings", format!("the start position, {reversed}"))];
        };
        let order = if *order == Order::Random { "in random order" } else { "in order" };
        let plies = plies.map_or_else(String::new, |plies| format!(", at most {plies} plies"));
        let file = file.display();
        let openings = format!("{file}, {order}, from number {start}{plies}, {reversed}");
        vec![("Openings", openings), ("Seed", seed.to_string())]
    }

    pub(super) fn settings(&self) -> String {
        let Openings { file, order, seed, start, plies, .. } = self;
        format!("openings: {file:?} {order:?} seed {seed} from {start} plies {plies:?}")
    }
}

/// Loads the openings. Skips and reports those that cannot be played. Fails if no opening is left.
pub(in crate::cli) fn load_openings(choice: &OpeningChoice) -> anyhow::Result<Vec<Opening>> {
    let openings = choice.load()?;
    if openings.skipped.count > 0 {
        errln!("tabia: {}: {}", choice.path.display(), openings.skipped);
    }
    Ok(openings.playable)
}
