//! Searches a position and prints each iteration:
//! `cargo run --release --example analyse [FEN]`

use tabia::position::{Game, Position};
use tabia::search::{Config, Control, Limits, Report, SearchEvent, Searcher};

/// Search depth in plies.
const DEPTH: i32 = 14;

fn main() -> anyhow::Result<()> {
    let fen: Vec<String> = std::env::args().skip(1).collect();
    let position =
        if fen.is_empty() { Position::start() } else { Position::from_fen(&fen.join(" "))? };
    let mut searcher = Searcher::new(Config::default());
    let game = Game::new(position);
    let result = searcher.search(&game, &Limits::depth(DEPTH), &Control::new(), &mut |event| {
        if let SearchEvent::Iteration(report) = event {
            println!("{}", line(&position, report));
        }
    });
    match result.best {
        Some(best) => println!("best move: {}", position.san(best)),
        None => println!("there is no legal move"),
    }
    Ok(())
}

fn line(position: &Position, report: &Report) -> String {
    let mut position = *position;
    let mut moves = String::new();
    for &mv in &report.pv {
        moves += " ";
        moves += &position.san(mv);
        position = position.play(mv);
    }
    format!("{:>2} {:>6} {:>10}{moves}", report.depth, report.score, report.nodes)
}
