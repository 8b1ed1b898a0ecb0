//! Any bytes as a book file: opened or refused, and asked in every way, without a panic. Checksums
//! are not tested in this build, or next to nothing would get behind them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabia::book::Book;
use tabia::position::Position;

fuzz_target!(|bytes: &[u8]| {
    let Ok(book) = Book::from_bytes(bytes.to_vec(), "fuzz") else { return };
    let start = Position::start();
    let _ = (book.manifest(), book.reached(&start), book.moves(&start));
    let _ = book.walk(&start, 4).take(200).count();
    let _ = book.entries().take(10_000).count();
    let _ = book.verify();
});
