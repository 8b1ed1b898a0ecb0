//! Measures how long it takes to probe a book: `cargo bench --bench book`.
//!
//! The book contains ten million random positions and is opened from a file, as in the engine. This
//! is the worst case: because the keys are random, nearly every access misses the caches, and the
//! book's pawn filter never rules out a look-up.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use tabia::book::{Book, BookEntry, Counts, write_entries};
use tempfile::NamedTempFile;

const POSITIONS: usize = 10_000_000;

/// Generates an endless stream of position keys with SplitMix64 (G. Steele, D. Lea, C. Flood 2014).
fn keys(mut state: u64) -> impl Iterator<Item = u64> {
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    })
}

/// Seeds for `keys`: `KNOWN` generates the keys stored in the book, and `UNKNOWN` generates other
/// keys.
const KNOWN: u64 = 1;
const UNKNOWN: u64 = 2;

fn random_book() -> NamedTempFile {
    let mut file = NamedTempFile::with_suffix(".tbk").expect("a temporary file");
    let mut sorted: Vec<u64> = keys(KNOWN).take(POSITIONS).collect();
    sorted.sort_unstable();
    let mv = "e2e4".parse().expect("a move");
    let once = Counts::new(1, 0, 0);
    let entries =
        sorted.into_iter().map(|key| BookEntry { key, reached: once, moves: vec![(mv, once)] });
    write_entries(file.as_file_mut(), entries).expect("room for 200 MB");
    file
}

fn probes(criterion: &mut Criterion) {
    let file = random_book();
    let path: &Path = file.path();
    let book = Book::open(path).expect("the book just written");
    assert!(keys(KNOWN).take(1000).all(|key| book.probe(key, key).is_some()));
    assert!(keys(UNKNOWN).take(1000).all(|key| book.probe(key, key).is_none()));
    let mut known = (0..).flat_map(|_: u64| keys(KNOWN).take(POSITIONS));
    let mut unknown = keys(UNKNOWN);
    let mut next_unknown = move || unknown.next().unwrap_or_default();
    let mut group = criterion.benchmark_group("book of ten million positions");
    group.bench_function("hit", |bencher| {
        bencher.iter(|| black_box(book.probe(known.next().unwrap_or_default(), 0)));
    });
    group.bench_function("miss", |bencher| {
        bencher.iter(|| black_box(book.probe(next_unknown(), 0)));
    });
    group.bench_function("open and first probe", |bencher| {
        bencher.iter(|| {
            let book = Book::open(path).expect("as before");
            black_box(book.probe(next_unknown(), 0))
        });
    });
    group.finish();
}

criterion_group!(benches, probes);
criterion_main!(benches);
