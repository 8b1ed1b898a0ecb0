//! Training data, tuning of the classical weights, and training of networks.
//!
//! `selfplay` plays games, `games` stores them and `relabel` scores them again with a later
//! network. [`tune`] fits the classical weights to results, [`net`] trains networks.
//!
//! `relabel` writes packed blocks only, each complete or not at all. The size of a block depends on
//! the nodes of a search but not on the number of threads: any number of threads writes the same
//! bytes, and an interruption loses some ten seconds of work.

mod games;
pub(crate) mod net;
mod quiet;
mod relabel;
mod sample;
mod selfplay;
mod source;
mod tools;
pub(crate) mod tune;

pub(crate) use games::{
    Block, GameError, GameFile, GameReader, PackedFile, PackedPart, Packer, PlayedGame,
    SearchedMove, block_positions, is_noisy,
};
pub(crate) use quiet::Quiescence;
pub(crate) use relabel::{Judgement, Relabeller};
pub(crate) use sample::Sample;
pub(crate) use selfplay::{BookOpenings, GameSettings, SelfPlay};
pub(crate) use source::{SampleSelection, Sampler};

use tools::in_parallel;
