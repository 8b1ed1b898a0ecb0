//! The arguments that define the random trees of the lessons.

use anyhow::anyhow;

use crate::chess::score::Score;
use crate::cli::usage::of_arguments;
use crate::web::lesson::tree::{GameTree, Growth};

/// Options that define a random tree.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Random trees")]
pub(super) struct GrowthArgs {
    /// Seed for generating the tree
    #[arg(long, default_value_t = Growth::SMALL.seed)]
    seed: u64,
    /// Number of levels below the root
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=60))]
    depth: u16,
    /// Number of children of each inner node
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=100))]
    branching: u16,
    /// Maximum value of a leaf; the minimum is its negative
    #[arg(long, default_value_t = Growth::SMALL.spread, value_parser = clap::value_parser!(i32).range(0..=10_000))]
    spread: Score,
    /// Vary the number of children, and end some branches early
    #[arg(long)]
    uneven: bool,
    /// Percentage of inner nodes that are transpositions of earlier ones
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=100))]
    copies: u16,
    /// Let Min move first
    #[arg(long)]
    min: bool,
    /// Move order, from 100 (best first) to -100 (worst first); 0 is random
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-100..=100))]
    order: i32,
}

impl GrowthArgs {
    /// Returns the parameters of a random tree. `further` is added to the seed.
    pub(super) fn growth(&self, further: u64) -> Growth {
        Growth {
            seed: self.seed.wrapping_add(further),
            depth: self.depth.into(),
            branching: self.branching.into(),
            spread: self.spread,
            uneven: self.uneven,
            copies: self.copies.into(),
            max_begins: !self.min,
            order: self.order,
        }
    }

    pub(super) fn tree(&self, further: u64) -> anyhow::Result<GameTree> {
        self.growth(further).tree().map_err(|fault| of_arguments(anyhow!(fault)))
    }

    pub(super) fn ordered(&self, tree: &GameTree) -> GameTree {
        tree.ordered(self.order, self.seed)
    }
}
