//! Data and tuning: samples out of games, and weights out of samples.

mod games;
pub mod net;
mod quiet;
mod sample;
mod selfplay;
mod source;
mod tools;
pub mod tune;

pub use games::{GameError, GameFile, GameReader, PlayedGame, PlayedMove};
pub use quiet::Quiescence;
pub use sample::{ParseSampleError, Sample};
pub use selfplay::{GameSettings, SelfPlay};
pub use source::{Sampler, Selection, SourceError};

use tools::in_parallel;
