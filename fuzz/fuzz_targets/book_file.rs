//! Opens arbitrary bytes as a book file, and runs every kind of query on it. Invalid files must be
//! rejected, and nothing may panic. The fuzz build ignores checksums, because otherwise nearly all
//! inputs would be rejected.

#![no_main]

use tabia::book::{Book, BuildOptions, FacetFilter, build_in_memory};
use tabia::pgn::PgnInput;
use tabia::position::Position;
use tabia_fuzz::{file, fuzz_target, seed};

/// Returns two small books, because the embedded one exceeds the maximum length of an input.
fn seeds() -> [(&'static str, Vec<u8>); 2] {
    [("dumb", false), ("facets", true)].map(|(name, facets)| {
        let games = file("dumb.pgn", include_bytes!("../../books/dumb.pgn"));
        let options = BuildOptions { facets, ..BuildOptions::default() };
        let book = build_in_memory(&[PgnInput::File(games)], &options, name);
        (name, book.expect("a book").0.bytes().to_vec())
    })
}

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| {
    let Ok(book) = Book::from_bytes(bytes.to_vec(), "fuzz") else { return };
    let start = Position::start();
    let _ = (book.manifest(), book.reached(&start), book.moves(&start));
    let _ = (book.value(&start), book.values().count());
    let _ = book.walk(&start, 4).take(200).count();
    let _ = book.entries().take(10_000).count();
    let _ = book.verify();
    let since = FacetFilter { since: "2000".parse().ok(), ..FacetFilter::default() };
    for filter in [FacetFilter::default(), since] {
        let _ = book.filtered(&start, &filter);
        for game in book.explore(&start, &filter).reached.top {
            let _ = book.game(game.id);
        }
    }
});
