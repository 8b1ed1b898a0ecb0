//! Searches a position using PV-splitting with one, two and four threads: `cargo run --release
//! --example lesson_split ["FEN"]`

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tabia::lesson::chess::Chess;
use tabia::lesson::splitting::Splitter;
use tabia::position::Position;

/// Search depth in plies.
const DEPTH: i32 = 5;

fn main() -> anyhow::Result<()> {
    let root = match std::env::args().nth(1) {
        Some(fen) => Position::from_fen(&fen)?,
        None => Position::start(),
    };
    let stop = Arc::new(AtomicBool::new(false));
    for threads in [1, 2, 4] {
        let mut splitter = Splitter::new(threads, Arc::clone(&stop))?;
        let begin = Instant::now();
        let found = splitter.search(&Chess::new(&root), &root, DEPTH);
        let (seconds, nodes) = (begin.elapsed().as_secs_f64(), found.nodes);
        println!("{threads} threads: score {}, {nodes} nodes, {seconds:.3} s", found.score);
    }
    Ok(())
}
