//! Data and tuning: samples out of games, and weights out of samples.

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
pub(crate) use sample::{ParseSampleError, Sample};
pub(crate) use selfplay::{BookOpenings, GameSettings, SelfPlay};
pub(crate) use source::{SampleSelection, Sampler};

use tools::in_parallel;
