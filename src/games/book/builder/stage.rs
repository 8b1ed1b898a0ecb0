//! Distributes text to the threads of a build and ends stages.

use std::time::Instant;

use crate::games::pgn::{Chunk, Chunks};

/// The share of all earlier text that a stage reads at least, as a divisor. The number of stages,
/// and what is kept of them in memory and on disk, thus grows with the logarithm of the text,
/// however often checkpoints are due: at most 500 stages for a terabyte.
pub(super) const STAGES_OF_EQUAL_TEXT: u64 = 32;

/// When a stage ends: once both limits are reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Until {
    pub(super) time: Instant,
    pub(super) bytes: u64,
}

pub(super) struct ChunkSource {
    pub(super) chunks: Chunks,
    /// Chunks taken so far, and their bytes.
    pub(super) taken: u64,
    pub(super) bytes: u64,
    /// When to stop for a checkpoint. At least one chunk is given out.
    pub(super) until: Option<Until>,
    /// All inputs have been read.
    pub(super) is_over: bool,
}

impl ChunkSource {
    /// Returns the next chunk and its number over all inputs.
    pub(super) fn next(&mut self, text: &mut Vec<u8>) -> Option<(u64, Chunk)> {
        let is_due = |until: Until| self.bytes >= until.bytes && Instant::now() >= until.time;
        if self.taken > 0 && self.until.is_some_and(is_due) {
            return None;
        }
        let chunk = self.chunks.next(text);
        self.is_over = chunk.is_none();
        let number = self.taken;
        self.taken += 1;
        self.bytes += text.len() as u64;
        Some((number, chunk?))
    }
}
