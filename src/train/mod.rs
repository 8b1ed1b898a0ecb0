//! Data and tuning: samples out of games, and weights out of samples.

mod games;
mod quiet;
mod sample;
mod selfplay;
mod source;
pub mod tune;

pub use games::{GameError, GameFile, GameReader, PlayedGame, PlayedMove};
pub use quiet::Quiescence;
pub use sample::{ParseSampleError, Sample};
pub use selfplay::{GameSettings, SelfPlay};
pub use source::{Sampler, Selection, SourceError};
