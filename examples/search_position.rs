//! Searches a position and prints each iteration: `cargo run --example search_position -- FEN`.

use tabia::position::{Game, Position};
use tabia::search::{Control, Event, Limits, Options, Searcher};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fen: Vec<String> = std::env::args().skip(1).collect();
    let position =
        if fen.is_empty() { Position::start() } else { Position::from_fen(&fen.join(" "))? };
    let mut searcher = Searcher::new(Options { memory_mb: 16, threads: 1 });
    let game = Game::new(position);
    let result = searcher.search(&game, &Limits::depth(14), &Control::new(), &mut |event| {
        if let Event::Iteration(report) = event {
            let line: Vec<String> = report.pv.iter().map(ToString::to_string).collect();
            println!(
                "{:>2} {:>6} {:>9} nodes  {}",
                report.depth,
                report.score,
                report.nodes,
                line.join(" ")
            );
        }
    });
    if let Some(best) = result.best {
        println!("best move: {}", position.san(best));
    }
    Ok(())
}
