//! Counts the nodes that alpha-beta and PVS visit in a position, with each move ordering method:
//! `cargo run --release --example lesson_nodes ["FEN"]`

use std::sync::atomic::AtomicBool;

use tabia::lesson::compare::{SearchVariant, cost};
use tabia::position::Position;

/// Search depth in plies.
const DEPTH: i32 = 4;

fn main() -> anyhow::Result<()> {
    let root = match std::env::args().nth(1) {
        Some(fen) => Position::from_fen(&fen)?,
        None => Position::start(),
    };
    for variant in SearchVariant::all() {
        if let Some(cost) = cost(&root, variant, DEPTH, &AtomicBool::new(false)) {
            println!("{:<18} {:>9} nodes, score {}", variant.name(), cost.nodes, cost.score);
        }
    }
    Ok(())
}
