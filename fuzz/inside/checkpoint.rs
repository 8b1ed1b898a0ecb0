//! Resumes a book build from a checkpoint whose files have arbitrary content. The build must either
//! resume or reject the checkpoint.
//!
//! An input begins with a byte of options and the lengths (two bytes each) of three parts: the
//! state, the log of games, and the hashes of games. It continues with these parts in this order,
//! and ends with the records. The partition table is computed from the records. The fuzz build
//! ignores checksums.

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use crate::games::book::{
    BuildError, BuildOptions, Checkpoints, FaultListener, Monitor, build, save_state,
};
use crate::games::pgn::PgnInput;

/// The number of leading key bits that determine the partition.
const PARTITION_BITS: u32 = 8;
const PARTITIONS: usize = 1 << PARTITION_BITS;
/// The size of a record in bytes, without and with a game number.
const RECORD_BYTES: [usize; 2] = [12, 16];

/// Returns several games, one of which has an illegal move. When this move is reported, a build has
/// read only the first chunk and can be stopped.
fn games() -> PgnInput {
    let game = "[White \"A\"]\n[Black \"B\"]\n\n1. e4 e5 2. Nf3 1-0\n\n";
    let text = format!("{game}{}1. e4 Kd5 1-0\n\n{game}", game.replace("e5", "c5"));
    PgnInput::Text("games".to_owned(), text.into_bytes().into())
}

fn options(flags: u8, folder: &Path) -> BuildOptions {
    let (facets, unique) = (flags & 1 != 0, flags & 2 != 0);
    let (every, disk, afresh) = (Duration::from_nanos(1), None, false);
    let checkpoints = Some(Checkpoints { folder: folder.to_owned(), every, disk, afresh });
    BuildOptions { threads: 1, facets, unique, checkpoints, ..BuildOptions::default() }
}

fn build_in(folder: &Path, flags: u8, stops: bool) -> Result<Vec<u8>, BuildError> {
    let mut monitor = Monitor::default();
    let stopped = monitor.clone();
    monitor.faults = stops.then(|| FaultListener::new(move |_| stopped.stop()));
    let output = Cursor::new(Vec::new());
    build(&[games()], &options(flags, folder), &monitor, output).map(|(book, _)| book.into_inner())
}

/// Returns the content of the file whose name starts with `begin`, or an empty list if there is no
/// such file.
fn file_in(folder: &Path, begin: &str) -> Vec<u8> {
    let names = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry"));
    let mut named = names.filter(|entry| entry.file_name().to_string_lossy().starts_with(begin));
    named.next().map_or_else(Vec::new, |entry| fs::read(entry.path()).expect("a file"))
}

/// Stops a build early, and returns its files as an input.
fn seed_input(flags: u8) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("unfinished");
    drop(build_in(&folder, flags, true));
    let state = file_in(&folder, "state.json");
    let start = state.iter().position(|&byte| byte == b'\n').expect("a headline") + 1;
    let state = &state[start..state.len() - 8];
    let (log, hashes) = (file_in(&folder, "games-"), file_in(&folder, "hashes-"));
    let records = file_in(&folder, "run-");
    let records = &records[..records.len() - 8 * PARTITIONS];
    let length = |bytes: &[u8]| (bytes.len() as u16).to_le_bytes();
    [&[flags][..], &length(state), &length(&log), &length(&hashes), state, &log, &hashes, records]
        .concat()
}

/// Seed inputs.
pub fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let named = [("plain", 0), ("facets", 1), ("unique", 2), ("both", 3)];
    named.map(|(name, flags)| (name, seed_input(flags))).to_vec()
}

/// The file of pawn structures from an interrupted build. It is too large to be part of the input.
static PAWNS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("unfinished");
    drop(build_in(&folder, 0, true));
    file_in(&folder, "pawns-")
});

/// Removes a part from the beginning of `rest`, and returns it. `lengths` contains the two bytes of
/// its length, in little-endian order.
fn take<'a>(lengths: [u8; 2], rest: &mut &'a [u8]) -> &'a [u8] {
    let length = usize::from(u16::from_le_bytes(lengths)).min(rest.len());
    rest.split_off(..length).unwrap_or_default()
}

/// Returns the content of a file of records. The records are followed by the partition table, which
/// contains, for each partition, the number of records up to and including that partition.
fn run_of(records: &[u8], flags: u8) -> Vec<u8> {
    let size = RECORD_BYTES[usize::from(flags & 1)];
    let mut ends = vec![0_u64; PARTITIONS];
    for record in records.chunks_exact(size) {
        let key = u64::from_le_bytes(*record.last_chunk().expect("a key"));
        let partition = (key >> (u64::BITS - PARTITION_BITS)) as usize;
        ends[partition..].iter_mut().for_each(|end| *end += 1);
    }
    [records.to_vec(), ends.into_iter().flat_map(u64::to_le_bytes).collect()].concat()
}

/// Empties the folder, creates a checkpoint in it from the input, and resumes the build.
pub fn run(folder: &Path, bytes: &[u8]) {
    let Some((&[flags, a, b, c, d, e, f], mut rest)) = bytes.split_first_chunk() else { return };
    let flags = flags % 4;
    let folder = folder.join("unfinished");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).expect("a folder");
    let (state, log, hashes) =
        (take([a, b], &mut rest), take([c, d], &mut rest), take([e, f], &mut rest));
    let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).expect("a folder");
    save_state(&folder, (&[games()], &options(flags, &folder)), state).expect("a folder");
    write("pawns-1", &PAWNS);
    write("games-0-1", log);
    write("hashes-1", hashes);
    write("run-0-1", &run_of(rest, flags));
    match build_in(&folder, flags, false) {
        Ok(_) | Err(BuildError::NoGames(_) | BuildError::Checkpoint { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}
