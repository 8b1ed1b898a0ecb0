//! Runs a textbook search of a position, and writes the tree of the last iteration to `trace.svg`:
//! `cargo run --release --example lesson_trace ["FEN"]`

use std::sync::atomic::AtomicBool;

use tabia::lesson::chess::Chess;
use tabia::lesson::deepening::{Plan, deepen};
use tabia::lesson::record::{Bounds, Recorder};
use tabia::lesson::search::Algorithm;
use tabia::lesson::search_record::SearchRecord;
use tabia::lesson::svg::svg;
use tabia::position::Position;

/// Limits on the tree that is recorded and drawn: the maximum ply and the maximum number of visits.
const BOUNDS: Bounds = Bounds { ply: 2, visits: 100 };

fn main() -> anyhow::Result<()> {
    let root = match std::env::args().nth(1) {
        Some(fen) => Position::from_fen(&fen)?,
        None => Position::start(),
    };
    let plan = Plan { algorithm: Algorithm::Pvs, depth: 4, aspiration: Some(15) };
    let (mut chess, stop) = (Chess::new(&root), AtomicBool::new(false));
    let mut report =
        |event: tabia::lesson::deepening::DeepeningEvent| println!("{}", event.text(&root));
    let (_, recorder) =
        deepen(&mut chess, &root, plan, &stop, &mut || Recorder::new(BOUNDS), &mut report);
    let search_record =
        SearchRecord::new(plan.algorithm, &recorder, &mut chess, (&root, "root"), false);
    std::fs::write("trace.svg", svg(&search_record, &root.fen()))?;
    Ok(())
}
