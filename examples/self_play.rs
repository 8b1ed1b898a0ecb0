//! Plays one game of the engine against itself and prints it as PGN: `cargo run --release --example
//! self_play [NODES_PER_MOVE]`

use tabia::pgn::{GameResult, PgnGame, PgnMove};
use tabia::position::Game;
use tabia::search::{Config, Control, Limits, Searcher};

const DEFAULT_NODES: u64 = 20_000;
/// Maximum length of a game; longer games have no result.
const MAX_PLIES: usize = 200;

fn main() -> anyhow::Result<()> {
    let nodes = std::env::args().nth(1).map_or(Ok(DEFAULT_NODES), |text| text.parse())?;
    let mut searcher = Searcher::new(Config::default());
    let mut game = Game::default();
    let mut record = PgnGame::new(*game.start());
    record.set_tag("Event", "Self-play");
    while game.outcome().is_none() && game.moves().len() < MAX_PLIES {
        let result =
            searcher.search(&game, &Limits::nodes(nodes), &Control::new(), &mut |_event| {});
        let Some(best) = result.best else { break };
        game.play(best)?;
        record.moves.push(PgnMove::from(best));
    }
    if let Some(outcome) = game.outcome() {
        record.result = GameResult::won_by(outcome.winner);
    }
    print!("{record}");
    Ok(())
}
