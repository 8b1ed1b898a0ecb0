//! Packs a book from partial counts in which either the Parquet file or the manifest is replaced by
//! arbitrary bytes. The counts may be rejected. If a replaced Parquet file is accepted, the book
//! must not change.
//!
//! The first byte of the input selects the file that the other bytes replace.

#![no_main]

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::sync::LazyLock;

use tabia::book::{BuildError, BuildOptions, Monitor, count_to_parquet, pack_parquet};
use tabia::pgn::PgnInput;
use tabia_fuzz::{folder, fuzz_target, seed};

const GAMES: &[u8] = include_bytes!("../../books/dumb.pgn");
const FILES: [&str; 2] = ["part-000.parquet", "manifest.json"];

/// The original count files, and the book packed from them.
struct Counts {
    files: [Vec<u8>; 2],
    book: Vec<u8>,
}

static COUNTS: LazyLock<Counts> = LazyLock::new(|| {
    let folder = folder().join("counted");
    let input = PgnInput::Text("dumb.pgn".to_owned(), GAMES.into());
    count_to_parquet(&[input], &options(), &Monitor::default(), &folder, 1).expect("a folder");
    let files = FILES.map(|name| fs::read(folder.join(name)).expect("a file"));
    let book = pack(&folder).expect("a book");
    Counts { files, book }
});

fn options() -> BuildOptions {
    BuildOptions { threads: 1, ..BuildOptions::default() }
}

fn pack(folder: &Path) -> Result<Vec<u8>, BuildError> {
    let output = Cursor::new(Vec::new());
    let packed = pack_parquet(&[folder.to_owned()], &options(), &Monitor::default(), output);
    packed.map(|(book, _)| book.into_inner())
}

fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let seed = |number: usize| [&[number as u8], &COUNTS.files[number][..]].concat();
    vec![("rows", seed(0)), ("manifest", seed(1))]
}

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| {
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let replaced = usize::from(first & 1);
    let folder = folder().join("fuzzed");
    fs::create_dir_all(&folder).expect("a folder");
    for (number, name) in FILES.into_iter().enumerate() {
        let bytes = if number == replaced { bytes } else { &COUNTS.files[number] };
        fs::write(folder.join(name), bytes).expect("a file");
    }
    match pack(&folder) {
        // A Parquet file with changed rows must be rejected, because it does not match the checksum
        // in the manifest. A changed manifest may be accepted, because its own checksum is
        // optional.
        Ok(book) => assert!(replaced == 1 || book == COUNTS.book, "other rows are accepted"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
