//! Data and tuning: samples out of games, and weights out of samples.

mod quiet;
mod random;
mod sample;
mod selfplay;
mod source;
pub mod tune;

pub use quiet::Quiescence;
pub use random::Random;
pub use sample::{ParseSampleError, Sample};
pub use selfplay::{GameSettings, SelfPlay};
pub use source::{Sampler, Selection, SourceError};
