//! Distributes text to the threads of a build and decides when a stage ends.

use std::time::Instant;

use crate::games::pgn::{Chunk, Chunks};

/// The text of a stage must be at least as long as all earlier text divided by this number. The
/// number of stages, and the data stored for them, therefore grow only logarithmically with the
/// total length. A terabyte of text has at most 500 stages.
pub(super) const STAGES_OF_EQUAL_TEXT: u64 = 32;

/// The conditions for ending a stage: `time` has passed, and `bytes` of text have been read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Until {
    pub(super) time: Instant,
    pub(super) bytes: u64,
}

pub(super) struct ChunkSource {
    pub(super) chunks: Chunks,
    /// Number of chunks taken in this stage. Their total size is stored in `bytes`.
    pub(super) taken: u64,
    pub(super) bytes: u64,
    /// When to stop reading so that a checkpoint can be written. At least one chunk is read before
    /// that.
    pub(super) until: Option<Until>,
    /// Whether all inputs have been read.
    pub(super) is_over: bool,
}

impl ChunkSource {
    /// Returns the next chunk and its index within the stage, and reads the chunk's text into
    /// `text`. Returns `None` at the end of the stage.
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
