//! Imports arbitrary rows as a Polyglot book. The rows must either be rejected or give a valid book
//! that contains only legal moves and round-trips.
//!
//! Keys from 1 to 255 are replaced by the keys of positions at most two plies from the start, so
//! that real positions are common.

#![no_main]

use std::sync::LazyLock;

use tabia::book::Book;
use tabia::position::Position;
use tabia_fuzz::{file, fuzz_target, seed};

/// The keys of the start position and of all positions after one and two plies.
static KEYS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let after = |position: &Position| -> Vec<Position> {
        position.legal_moves().iter().map(|mv| position.play(mv)).collect()
    };
    let first = after(&Position::start());
    let second: Vec<Position> = first.iter().flat_map(after).collect();
    let positions = [Position::start()].into_iter().chain(first).chain(second);
    positions.map(|position| position.key()).collect()
});

fn with_keys(bytes: &[u8]) -> Vec<u8> {
    let mut rows = bytes.to_vec();
    for row in rows.as_chunks_mut::<16>().0 {
        let (key, _) = row.split_first_chunk_mut().expect("a key and more");
        let number = u64::from_be_bytes(*key);
        if number > 0 && number < 256 {
            *key = KEYS[number as usize - 1].to_be_bytes();
        }
    }
    // Sort the rows if the first byte is 0, so that both sorted and unsorted rows occur.
    if bytes.first().is_some_and(|&first| first == 0) {
        rows.as_chunks_mut::<16>().0.sort_unstable();
    }
    rows
}

fn seeds() -> [(&'static str, Vec<u8>); 2] {
    // The moves e2e4, d2d4 and e1h1 (castling) for the start position, and one move for a later
    // position.
    let row = |key: u8, mv: u16, weight: u16| {
        let mut row = [0; 16];
        row[7] = key;
        row[8..10].copy_from_slice(&mv.to_be_bytes());
        row[10..12].copy_from_slice(&weight.to_be_bytes());
        row
    };
    let (e2e4, e7e5, e1h1) = (0x031c, 0x0d24, 0x0107);
    let rows = [row(1, e2e4, 50), row(1, 0x02db, 10), row(1, e1h1, 1), row(9, e7e5, 0)];
    let embedded = Book::embedded().to_polyglot().bytes;
    [("rows", rows.concat()), ("embedded", embedded[..4096].to_vec())]
}

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| {
    let Ok(book) = Book::open(&file("book.bin", &with_keys(bytes))) else { return };
    book.verify().expect("a sound book");
    let start = Position::start();
    for visited in book.walk(&start, 3).take(100) {
        let moves = book.moves(&visited.position);
        assert!(moves.iter().all(|known| visited.position.is_legal(known.mv)), "{book:?}");
    }
    let written = book.to_polyglot().bytes;
    // Compare only if the start position still has moves after the import, which drops illegal
    // moves. Otherwise, the remaining positions may be unreachable.
    if book.walk(&start, 1).any(|visited| !visited.entry.moves.is_empty()) {
        let again = Book::open(&file("again.bin", &written)).expect("own book");
        // Ignore moves without games. A position is not written if all its weights are zero.
        let moves = |book: &Book| {
            let mut moves: Vec<_> = book.moves(&start);
            moves.retain(|known| known.played.games() + known.reached.games() > 0);
            moves.sort_by_key(|known| known.mv);
            moves.into_iter().map(|known| known.mv).collect::<Vec<_>>()
        };
        assert_eq!(moves(&again), moves(&book));
    }
});
