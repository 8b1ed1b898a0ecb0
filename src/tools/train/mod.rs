//! Training data, tuning of the classical weights, and network training.
//!
//! `selfplay` plays games, `games` stores them, and `relabel` replaces their scores with scores
//! from a later network. [`tune`] fits the classical weights to game results, and [`net`] trains
//! networks.
//!
//! `relabel` writes packed blocks. Their size depends on the number of nodes per search, but not on
//! the number of threads, so the output is the same for any number of threads. An interruption
//! loses only about ten seconds of work.

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
    Block, GameFile, GameReader, PackedFile, PackedPart, Packer, PlayedGame, SearchedMove,
    block_positions, game_fault, is_noisy,
};
pub(crate) use quiet::Quiescence;
pub(crate) use relabel::{Judgement, Relabeller};
pub(crate) use sample::Sample;
pub(crate) use selfplay::{BookOpenings, GameSettings, SelfPlay};
pub(crate) use source::{SampleSelection, Sampler};

use tools::in_parallel;
