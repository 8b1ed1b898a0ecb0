//! The search for mates finds those of the problem suites.

use crate::support::shared_data;
use tabia::position::{Game, Position};
use tabia::score::mate_distance;
use tabia::search::{Config, Control, Limits, Searcher};

/// Every position of a file is a mate in so many moves or fewer.
fn prove(file: &str, moves: u32) {
    let Some(path) = shared_data(&format!("epd/mate/{file}")) else { return };
    let text = std::fs::read_to_string(path).expect("a suite");
    let mut searcher = Searcher::new(Config { memory_mb: 16, ..Config::default() });
    let mut count = 0;
    for fen in text.lines().filter(|line| !line.trim().is_empty()) {
        let game = Game::new(Position::from_fen(fen.trim()).expect(fen));
        searcher.new_game();
        let found = searcher.search_silently(&game, &Limits::mate(moves), &Control::new());
        let distance = mate_distance(found.score);
        assert!(distance.is_some_and(|found| (1..=moves as i32).contains(&found)), "{fen}");
        count += 1;
    }
    assert!(count > 0, "{file} is empty");
}

#[test]
fn mates_in_one() {
    prove("mate1.fen", 1);
}

#[test]
fn mates_in_two() {
    prove("mate2.fen", 2);
    prove("mate2_eventual.fen", 2);
}

#[test]
fn mates_in_three() {
    prove("mate3.fen", 3);
    prove("mate3_eventual.fen", 3);
}

#[test]
#[ignore = "takes half a minute unless optimised"]
fn mates_in_four() {
    prove("mate4.fen", 4);
}
