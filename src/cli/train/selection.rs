//! Arguments that select training positions and determine their training targets.

use std::path::PathBuf;

use indicatif::ProgressBar;

use crate::cli::args::Threads;
use crate::cli::output::outln;
use crate::tools::train::net::{Data, Selection, Sigmoid};

#[derive(Debug, clap::Args)]
pub(super) struct SelectionArgs {
    /// Centipawns that correspond to an expected result of 73%
    #[arg(long, hide_short_help = true, default_value_t = 133, value_parser = clap::value_parser!(u16).range(1..))]
    scale: u16,
    /// Share of the game's result in the target; the rest is the search score
    #[arg(long, default_value_t = 0.0, value_parser = super::share)]
    result_share: f32,
    /// Weight of each later search score in the target, relative to the previous one
    #[arg(long, hide_short_help = true, default_value_t = 0.0, value_parser = super::share)]
    lambda: f32,
    /// Same as --lambda, but for positions with at most nine pieces
    #[arg(long, hide_short_help = true, value_name = "LAMBDA", value_parser = super::share)]
    lambda_few: Option<f32>,
    /// Skip positions whose absolute score exceeds this many centipawns
    #[arg(long, hide_short_help = true, default_value_t = 3000, value_parser = clap::value_parser!(i16).range(1..))]
    limit: i16,
    /// Plies to skip after the random opening of each game
    #[arg(long, hide_short_help = true, default_value_t = 0)]
    skip_plies: usize,
    /// Hold out every Nth game
    #[arg(long, hide_short_help = true, default_value_t = 50, value_parser = clap::value_parser!(u32).range(2..))]
    hold_out_every: u32,
}

impl SelectionArgs {
    /// Reads the selected positions from `files`, and prints how many there are. `seed` determines
    /// the order of the positions.
    pub(super) fn read(
        &self,
        files: &[PathBuf],
        threads: &Threads,
        seed: u64,
    ) -> anyhow::Result<Data> {
        let bar = ProgressBar::new_spinner();
        let data = Data::read(files, &self.selection(), threads.count(), seed, |data| {
            bar.set_message(format!("{} games, {} positions", data.games, data.positions));
        })?;
        bar.finish_and_clear();
        let (training, held_out) = (data.training.len(), data.held_out.len());
        outln!(
            "{} games with {} positions: {training} to learn from, {held_out} held out",
            data.games,
            data.positions
        )?;
        anyhow::ensure!(
            training > 0 && held_out > 0,
            "too few positions to train on: give at least {} games, better thousands",
            self.hold_out_every
        );
        Ok(data)
    }

    fn selection(&self) -> Selection {
        Selection {
            curve: Sigmoid { scale: self.scale },
            result_share: self.result_share,
            lambda: self.lambda,
            lambda_few: self.lambda_few.unwrap_or(self.lambda),
            limit: self.limit,
            skip_plies: self.skip_plies,
            hold_out_every: self.hold_out_every as usize,
        }
    }
}
