//! Where the threads of a build take their text, and when a stage ends.

use std::time::Instant;

use crate::games::pgn::{Chunk, Chunks};

/// A stage reads at least this part of all text before it. So the number of stages, and of what is
/// kept of them in memory and on disk, grows with the logarithm of the text, however often
/// checkpoints are due: at most 500 stages for a terabyte.
pub(super) const STAGES_OF_EQUAL_TEXT: u64 = 32;

/// When a stage ends: once both are reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Until {
    pub(super) time: Instant,
    /// Bytes of text that the stage has read.
    pub(super) bytes: u64,
}

/// Where the threads take their chunks.
pub(super) struct ChunkSource {
    pub(super) chunks: Chunks,
    /// Chunks taken so far, and their bytes.
    pub(super) taken: u64,
    pub(super) bytes: u64,
    /// When no more are given out, for a checkpoint. There is always one chunk.
    pub(super) until: Option<Until>,
    /// All inputs have been read.
    pub(super) is_over: bool,
}

impl ChunkSource {
    /// The next chunk and its number over all inputs.
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
