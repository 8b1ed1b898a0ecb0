//! Parses the first line of an arbitrary input as a pattern, and the bytes after it as a move
//! index. If both are accepted, searches the index for the pattern. Nothing may panic. The fuzz
//! build ignores checksums, because otherwise nearly all inputs would be rejected.

#![no_main]

use std::sync::LazyLock;

use tabia::book::{
    Book, BuildOptions, FacetFilter, Monitor, MoveIndex, Order, Pattern, PatternSearch,
    build_in_memory, read_moves,
};
use tabia::pgn::PgnInput;
use tabia_fuzz::{file, folder, fuzz_target, seed};

static BOOK: LazyLock<Book> = LazyLock::new(|| {
    let games = file("dumb.pgn", include_bytes!("../../books/dumb.pgn"));
    let options = BuildOptions { facets: true, undecided: true, ..BuildOptions::default() };
    let name = folder().join("fuzz.tbk").display().to_string();
    build_in_memory(&[PgnInput::File(games)], &options, &name).expect("a book").0
});

fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let index =
        read_moves(&BOOK, &[], 1, &Monitor::default()).expect("games").expect("all of them");
    index.write(&BOOK).expect("written");
    let moves = std::fs::read(MoveIndex::path_of(BOOK.name().as_ref())).expect("readable");
    let patterns = [
        ("material", "KQRBNP*vKQR2+B1-2N*P0-8 mirror turn=w\n"),
        ("squares", "d4=P e5=[^pN] c3=. f3=A plies=3-20\n"),
        ("board", "pawns=8/pp3ppp/8/8/8/8/PPP2PPP/8 ?/?/[Qq]*Aa..a?/8?/?/?/?/? for=2\n"),
    ];
    patterns.map(|(name, text)| (name, [text.as_bytes(), &moves].concat())).into()
}

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (text, moves) = bytes.split_at(end);
    let Ok(pattern) = String::from_utf8_lossy(text).parse::<Pattern>() else { return };
    assert_eq!(pattern.to_string().parse::<Pattern>(), Ok(pattern.clone()));
    file("fuzz.tbk.moves", moves.get(1..).unwrap_or_default());
    let Ok(index) = MoveIndex::open(&BOOK) else { return };
    let filter = FacetFilter::default();
    let (limit, positions, threads) = (usize::MAX, usize::MAX, 1);
    let order = Order::Rating;
    let (pattern, filter, skipped) = (&pattern, &filter, &[]);
    let search = PatternSearch { pattern, filter, skipped, order, limit, positions, threads };
    if let Ok(Some(answer)) = search.run(&BOOK, &index, &|| false) {
        assert!(answer.games.len() as u64 <= answer.found.games());
        assert!(answer.games.iter().all(|found| found.occurrences > 0));
    }
});
