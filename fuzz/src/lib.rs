//! Code shared by the fuzz targets. It writes seeds, and compares positions with `shakmaty`, an
//! independent implementation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

#[cfg(feature = "libfuzzer")]
pub use libfuzzer_sys::fuzz_target;
use shakmaty::san::SanPlus;
use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, PositionError, fen::Fen};
use tabia::position::{Move, Position};
use tempfile::TempDir;

/// FENs and keys include an en passant square only if an en passant capture is legal, as in Tabia.
const EN_PASSANT: EnPassantMode = EnPassantMode::Legal;

/// Replaces libFuzzer's macro of this name in the program `replay`: defines the functions
/// `prepare_target` and `run_target`.
#[cfg(not(feature = "libfuzzer"))]
#[macro_export]
macro_rules! fuzz_target {
    (init: $init:expr, |$input:ident: $kind:ty| $body:expr) => {
        pub fn prepare_target() {
            $init;
        }

        pub fn run_target(bytes: &[u8]) {
            let $input: $kind = $crate::Input::from_bytes(bytes);
            $body
        }
    };
}

/// The argument of a fuzz target.
pub trait Input<'a> {
    /// Converts the bytes of an input in the same way as libFuzzer's macro.
    fn from_bytes(bytes: &'a [u8]) -> Self;
}

impl<'a> Input<'a> for &'a [u8] {
    fn from_bytes(bytes: &'a [u8]) -> Self {
        bytes
    }
}

impl<'a> Input<'a> for &'a str {
    /// Returns the longest valid UTF-8 text at the start.
    fn from_bytes(bytes: &'a [u8]) -> Self {
        bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
    }
}

/// Writes seed inputs to the folder named by the environment variable `TABIA_SEEDS`, which
/// `fuzz/run.sh` sets. Does nothing if it is not set.
pub fn seed<B: AsRef<[u8]>>(seeds: impl IntoIterator<Item = (&'static str, B)>) {
    let Some(folder) = std::env::var_os("TABIA_SEEDS") else { return };
    for (name, bytes) in seeds {
        fs::write(Path::new(&folder).join(name), bytes).expect("a folder for seeds");
    }
}

/// Returns this process's temporary folder. `fuzz/run.sh` removes it, because static values are
/// never dropped.
pub fn folder() -> &'static Path {
    static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));
    FOLDER.path()
}

/// Writes these bytes to a file in [`folder`], and returns its path.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    fs::write(&path, bytes).expect("a file");
    path
}

/// Converts a position to a `shakmaty` position, even if `shakmaty` considers its checks or
/// material impossible.
pub fn theirs(position: &Position) -> Chess {
    let fen: Fen = position.fen().parse().expect("own FEN");
    fen.into_position(CastlingMode::Standard)
        .or_else(PositionError::ignore_impossible_check)
        .or_else(PositionError::ignore_too_much_material)
        .expect("own position")
}

/// Asserts that the key, FEN, legal moves and SAN of a position match those of `theirs`, the same
/// position in `shakmaty`.
pub fn agree(position: &Position, theirs: &Chess) {
    let key: Zobrist64 = theirs.zobrist_hash(EN_PASSANT);
    assert_eq!(position.key(), key.0, "key of {position}");
    let epd = shakmaty::fen::Epd::from_position(theirs, EN_PASSANT);
    assert_eq!(position.epd(), epd.to_string());
    assert_eq!(position.in_check(), theirs.is_check(), "{position}");
    assert_eq!(position.insufficient_material(), theirs.is_insufficient_material(), "{position}");
    let legal = position.legal_moves();
    let ours: BTreeSet<(String, String)> =
        legal.iter().map(|mv| (mv.to_string(), position.san(mv))).collect();
    let expected: BTreeSet<(String, String)> = theirs
        .legal_moves()
        .into_iter()
        .map(|mv| (uci(mv), SanPlus::from_move(theirs.clone(), mv).to_string()))
        .collect();
    assert_eq!(ours, expected, "{position}");
    for mv in legal.iter() {
        let text = position.san(mv);
        assert_eq!(position.parse_san(&text), Ok(mv), "{text} in {position}");
        assert_eq!(position.parse_move(&mv.to_string()), Ok(mv), "{position}");
        let theirs = SanPlus::from_ascii(text.as_bytes()).expect("own SAN").san.to_move(theirs);
        assert_eq!(theirs.map(uci), Ok(mv.to_string()), "{text} in {position}");
    }
}

/// Formats a `shakmaty` move in coordinate notation.
pub fn uci(mv: shakmaty::Move) -> String {
    mv.to_uci(CastlingMode::Standard).to_string()
}

/// Plays a legal move on a `shakmaty` board.
pub fn play(theirs: &mut Chess, mv: Move) {
    let uci: shakmaty::uci::UciMove = mv.to_string().parse().expect("coordinates");
    theirs.play_unchecked(uci.to_move(theirs).expect("a legal move"));
}

/// The system allocator with a maximum allocation size. Exceeding it aborts the program.
pub struct Bounded {
    /// Maximum size of an allocation, in bytes.
    pub most: usize,
}

impl Bounded {
    fn check(&self, bytes: usize) {
        // Abort instead of panicking, because unwinding out of an allocator is undefined behaviour.
        if bytes > self.most {
            eprintln!("allocation of {bytes} bytes exceeds the limit");
            std::process::abort();
        }
    }
}

// SAFETY: all calls are forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.check(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.check(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.check(size);
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) }
    }
}
