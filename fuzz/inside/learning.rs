//! Fuzzes the learning file with arbitrary rows. It must be possible to look up every position, and
//! compacting the file must not change the results.
//!
//! An input is a list of rows without checksums, which this module adds. A key between 1 and the
//! number of [`POSITIONS`] is replaced by the key of the position with that number, so that the
//! moves of one row can lead to another row.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use crate::chess::position::Position;
use crate::games::book::{HEADLINE, LearnFile, Learned, Row, is_learning};

/// The size of a row without its checksum, in bytes.
const ROW_BYTES: usize = 36;

/// The result of looking up a position for which the file has no data.
const NOTHING: &str = "(None, [], None, None, [])";

/// The start position, and all positions after one and two plies.
static POSITIONS: LazyLock<Vec<Position>> = LazyLock::new(|| {
    let after = |position: &Position| -> Vec<Position> {
        position.legal_moves().iter().map(|mv| position.play(mv)).collect()
    };
    let first = after(&Position::start());
    let second: Vec<Position> = first.iter().flat_map(after).collect();
    [Position::start()].into_iter().chain(first).chain(second).collect()
});

fn with_keys(bytes: &[u8]) -> Vec<u8> {
    let mut file = HEADLINE.to_vec();
    for row in bytes.as_chunks::<ROW_BYTES>().0 {
        let mut row = *row;
        for (key, pawns) in [(0..8, 16..20), (8..16, 20..24)] {
            let number =
                u64::from_le_bytes(*row[key.clone()].first_chunk().expect("a key")) as usize;
            if let Some(position) = POSITIONS.get(number.wrapping_sub(1)) {
                row[key].copy_from_slice(&position.key().to_le_bytes());
                row[pawns].copy_from_slice(&position.pawn_key().to_le_bytes()[4..]);
            }
        }
        file.extend_from_slice(&row);
        file.extend_from_slice(&crc32fast::hash(&row).to_le_bytes());
    }
    // An incomplete row.
    file.extend_from_slice(bytes.as_chunks::<ROW_BYTES>().1);
    file
}

/// Returns a row for an input. Its keys are position numbers, which `with_keys` replaces.
fn row((key, next): (u64, u64), mv: u16, [kind, depth]: [u8; 2], [a, b]: [u32; 2]) -> Vec<u8> {
    let parts = [&key.to_le_bytes()[..], &next.to_le_bytes(), &[0; 8], &mv.to_le_bytes()];
    [parts.concat(), vec![kind, depth], a.to_le_bytes().to_vec(), b.to_le_bytes().to_vec()].concat()
}

/// Seed inputs.
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    const E2E4: u16 = 0x031c;
    const E7E5: u16 = 0x0d24;
    let found = row((1, 14), E2E4, [1, 12], [30 | 5 << 16, 1500]);
    let played = row((1, 14), E2E4, [2, 0], [3, 0]);
    let lost = row((14, 300), E7E5, [4, 0], [u32::MAX, 0]);
    let cycle = row((300, 1), 0, [1, 255], [0x7fff, u32::MAX]);
    vec![
        ("found", found.clone()),
        ("played", [&found[..], &played, &lost].concat()),
        ("cyclic", [found, cycle, lost, played].concat()),
    ]
}

/// Writes a learning file with these rows to the folder, and compares its results before and after
/// compaction.
pub fn run(folder: &Path, bytes: &[u8]) {
    let path = folder.join("learnt");
    let file = with_keys(bytes);
    assert!(is_learning(&file));
    fs::write(&path, &file).expect("a folder");
    let before = use_rows(&path);
    let mut learn_file = LearnFile::open(&path).expect("a learning file");
    let whole = HEADLINE.len() + (file.len() - HEADLINE.len()) / (ROW_BYTES + 4) * (ROW_BYTES + 4);
    assert!(fs::read(&path).expect("the file") == file[..whole], "only an incomplete row is cut");
    let rows: Vec<Row> = file[HEADLINE.len()..]
        .as_chunks()
        .0
        .iter()
        .filter_map(|row| {
            let row = Row::from_bytes(row)?;
            assert_eq!(Row::from_bytes(&row.to_bytes()), Some(row), "a row round-trips");
            Some(row)
        })
        .collect();
    learn_file.compact_all().expect("a folder");
    assert_eq!(use_rows(&path), before, "a compacted file has the same results");
    learn_file.append(&rows).expect("a folder");
    use_rows(&path);
}

/// Looks up every position in the learning file. Returns the index and the result of each position
/// for which the file has data.
fn use_rows(path: &Path) -> Vec<(usize, String)> {
    let Some(learned) = Learned::read(path).expect("a learning file") else { return Vec::new() };
    learned.book().verify().expect("a sound book");
    let look_up = |position: &Position| {
        let unrefuted = learned.unrefuted(position);
        let described = unrefuted.map(|found| found.describe(position));
        let refuted = learned.refuted(position);
        assert!(refuted.iter().all(|&(mv, _)| position.is_legal(mv)), "{position}");
        let book = learned.book();
        (described, refuted, book.reached(position), book.value(position), book.moves(position))
    };
    let results = POSITIONS.iter().map(|position| format!("{:?}", look_up(position))).enumerate();
    results.filter(|(_, result)| result != NOTHING).collect()
}
