//! Reads arbitrary text as the PGN of a repertoire. Every move must be legal, and each line stored
//! for a move must end with that move. Writing the chapters and reading them back must give the
//! same repertoire.
//!
//! The first byte of the input selects the colour of the repertoire.

#![no_main]

use std::collections::{BTreeMap, BTreeSet};

use tabia::book::Book;
use tabia::pgn::PgnInput;
use tabia::position::{Color, Move};
use tabia::repertoire::{Node, Repertoire};
use tabia_fuzz::{fuzz_target, seed};

/// The minimum probability of a gap to report, and the depth of the forecast in plies.
const MIN_GAP: f64 = 0.01;
const FORECAST: u32 = 12;

fn seeds() -> [(&'static str, &'static str); 4] {
    [
        (
            "white",
            "w1. e4 e5 (1... c5 2. Nf3 (2. c3 d5)) 2. Nf3! {[%cal Gg1f3]} Nc6 *\n\n1. Nf3 e5 2. e4 *\n",
        ),
        (
            "black",
            "b{before} 1. d4 ({none} 1. c4 e5) 1... Nf6 2. c4 e6 $1 (2... g6) *\n\n1. c4 Nf6 2. d4 e6 *\n",
        ),
        (
            "start",
            "w[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 (1. -- Kd7 2. e4) Kd7 *\n\n1. e4 *\n",
        ),
        (
            "broken",
            "b1. e4 e5 (1... e4 2. d4) 2. Ke3 Nf6 *\n\n[Variant \"Atomic\"]\n\n1. e4 *\n\n[FEN \"x\"]\n\n1. e4 *\n",
        ),
    ]
}

/// Reads a repertoire. Returns `None` if the text is rejected, for example because it looks like a
/// book.
fn read(text: &[u8], side: Color) -> Option<Repertoire> {
    let input = PgnInput::Text("fuzz".to_owned(), text.into());
    Repertoire::read(&[input], side).ok()
}

/// Returns the repertoire's moves in each position, keyed by the position's key.
fn moves(repertoire: &Repertoire) -> BTreeMap<u64, BTreeSet<Move>> {
    let of_node =
        |node: &Node| (node.position.key(), node.moves.iter().map(|known| known.mv).collect());
    repertoire.nodes().map(of_node).collect()
}

/// Asserts that each line stored for a move ends with the move, and that the moves before it lead
/// to the position in which it is played.
fn check_places(repertoire: &Repertoire) {
    for node in repertoire.nodes() {
        for known in &node.moves {
            assert!(node.position.is_legal(known.mv), "{} in {}", known.mv, node.position);
            assert!(!known.places.is_empty());
            for &place in &known.places {
                let line = repertoire.line(place);
                let (&last, before) = line.split_last().expect("a move");
                let start = repertoire.chapter(place).game.start;
                let reached = before.iter().fold(start, |position, &mv| position.play(mv));
                assert_eq!((reached.key(), last), (node.position.key(), known.mv));
            }
        }
    }
}

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| {
    let Some((&first, text)) = bytes.split_first() else { return };
    let side = if first & 1 == 1 { Color::White } else { Color::Black };
    let Some(repertoire) = read(text, side) else { return };
    check_places(&repertoire);
    assert!(repertoire.redundant_lines().iter().all(|line| line.covered < line.place));
    let games: Vec<String> =
        repertoire.chapters.iter().map(|chapter| format!("{}\n\n", chapter.game)).collect();
    let again = read(games.concat().as_bytes(), side).expect("chapters");
    assert_eq!(moves(&again), moves(&repertoire), "{}", games.concat());
    for chapter in &repertoire.chapters {
        let line: Vec<Move> = chapter.game.moves.iter().map(|played| played.mv).collect();
        let followed = repertoire.follow(&chapter.game.start, &line);
        assert!(followed.is_met && followed.first_leave().is_none(), "{followed:?}");
    }
    let book = Book::embedded();
    let forecast = repertoire.forecast(&book, FORECAST);
    for gap in forecast.gaps(&repertoire, &book, MIN_GAP) {
        assert!(gap.probability.is_finite() && gap.probability >= MIN_GAP, "{gap:?}");
    }
});
