use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::games::book::builder::draft::BookDraft;
use crate::games::book::builder::game_records::GameRecord;
use crate::games::book::builder::records::{PARTITIONS, Record, partition_of};
use crate::games::book::builder::{
    FaultListener, Partitioned, Source, build, gather, part_bits, write_parts,
};
use crate::support::random::Random;

fn games() -> PgnInput {
    some_games(6_000)
}

fn some_games(number: usize) -> PgnInput {
    let moves = ["e4 e5", "d4 d5", "c4 c5", "Nf3 Nf6", "b3 b6", "g3 g6", "a3 a6", "h3 h6"];
    let mut text = String::new();
    for game in 0..number {
        let _ = write!(text, "[White \"W{}\"]\n[Black \"B{}\"]\n\n", game % 1_000, game % 7);
        (0..4).for_each(|ply| {
            let _ = write!(text, "{}. {} ", ply + 1, moves[(game >> (3 * ply)) % 8]);
        });
        text.push_str(if game == number / 2 { "Kd5 1-0\n\n" } else { "1/2-1/2\n\n" });
    }
    PgnInput::Text("games".to_owned(), text.into_bytes().into())
}

const SHORT: Duration = Duration::from_nanos(1);

fn with_checkpoints(options: &BuildOptions, folder: &Path, every: Duration) -> BuildOptions {
    let afresh = false;
    let kept = Checkpoints { folder: folder.to_owned(), every, disk: None, afresh };
    BuildOptions { checkpoints: Some(kept), ..options.clone() }
}

/// Runs a build with checkpoints in `folder`. If `stops` is set, the build stops at the broken game
/// in the middle of the input.
fn run(options: &BuildOptions, folder: &Path, stops: bool) -> Result<Vec<u8>, BuildError> {
    let options = with_checkpoints(options, folder, SHORT);
    let mut monitor = Monitor::default();
    let stopped = monitor.clone();
    monitor.faults = stops.then(|| FaultListener::new(move |_| stopped.stop()));
    build(&[games()], &options, &monitor, Cursor::new(Vec::new()))
        .map(|(book, _)| book.into_inner())
}

type Folder = BTreeMap<String, Vec<u8>>;

fn read_all(folder: &Path) -> Folder {
    let files = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry"));
    files
        .map(|file| {
            let bytes = fs::read(file.path()).expect("readable");
            (file.file_name().into_string().expect("text"), bytes)
        })
        .collect()
}

fn damage(files: &mut Folder, random: &mut Random) -> String {
    let names: Vec<String> = files.keys().filter(|name| *name != LOCK).cloned().collect();
    let pick = |random: &mut Random| names[random.below(names.len())].clone();
    let (name, other) = (pick(random), pick(random));
    let length = files[&name].len();
    let at = random.below(length.max(1));
    let bytes = files.get_mut(&name).expect("it is there");
    match random.below(8) {
        0 => bytes.truncate(at),
        1 => bytes.extend_from_slice(&[0; 16]),
        2 => bytes[at..].fill(0),
        3 => {
            files.remove(&name);
            return format!("{name} removed");
        }
        4 => {
            let theirs = files[&other].clone();
            files.insert(name.clone(), theirs);
            return format!("{name} is {other}");
        }
        _ => bytes[at] ^= 1 << random.below(8),
    }
    format!("{name} of {length} bytes changed at {at}")
}

#[test]
fn damaged_checkpoint_files_are_reported_or_rewritten() {
    const TRIALS: usize = 15;
    let plain = BuildOptions { threads: 2, ..BuildOptions::default() };
    let unique = BuildOptions { unique: true, ..plain.clone() };
    let facets = BuildOptions { facets: true, ..plain.clone() };
    let both = BuildOptions { unique: true, ..facets.clone() };
    let mut random = Random::new(7);
    let (mut reported, mut sound) = (0, 0);
    for options in [plain, unique, facets, both] {
        let place = tempfile::tempdir().expect("a folder");
        let whole = run(&options, &place.path().join("whole"), false).expect("a book");
        let begun = place.path().join("begun");
        assert!(run(&options, &begun, true).expect("a book") != whole);
        // The first set of files is from a build that was interrupted halfway, and the second is
        // from a complete build.
        for files in [read_all(&begun), read_all(&place.path().join("whole"))] {
            for _ in 0..TRIALS {
                let mut damaged = files.clone();
                let what = damage(&mut damaged, &mut random);
                let folder = tempfile::tempdir().expect("a folder");
                for (name, bytes) in &damaged {
                    fs::write(folder.path().join(name), bytes).expect("written");
                }
                match run(&options, folder.path(), false) {
                    Ok(book) => {
                        assert!(book == whole, "{what}");
                        sound += 1;
                    }
                    Err(BuildError::Checkpoint { .. }) => reported += 1,
                    Err(error) => panic!("{what}: {error}"),
                }
            }
        }
    }
    assert!(reported > TRIALS && sound > 0, "{reported}, {sound}");
}

/// Changes the records in the longest run file, and updates the run's checksum in the state file so
/// that the change is not detected.
fn forge(options: &BuildOptions, folder: &Path, change: impl Fn(&mut Vec<u8>)) {
    let path = files_named(folder, RUN)
        .into_iter()
        .max_by_key(|path| path.metadata().map_or(0, |file| file.len()))
        .expect("a run");
    let mut bytes = fs::read(&path).expect("readable");
    change(&mut bytes);
    fs::write(&path, &bytes).expect("written");
    let (inputs, options) = ([games()], with_checkpoints(options, folder, SHORT));
    let owner = description(&inputs, &options);
    let content = STATE_KIND.load(&folder.join(STATE), &owner).expect("a state");
    let mut state: State = serde_json::from_slice(&content).expect("a state");
    let name = path.file_name().expect("a name").to_str();
    let run = state.runs.iter_mut().find(|run| Some(&run.records.name[..]) == name);
    run.expect("listed").records.sum = xxh3_64(&bytes);
    let content = serde_json::to_vec(&state).expect("a state");
    save_state(folder, (&inputs, &options), &content).expect("written");
}

#[test]
fn forged_records_are_rejected_as_damaged() {
    const TABLE: usize = 8 * PARTITIONS;
    let plain = BuildOptions { threads: 2, ..BuildOptions::default() };
    let facets = BuildOptions { facets: true, ..plain.clone() };
    for (options, size) in [(plain, Record::BYTES), (facets, GameRecord::BYTES)] {
        let place = tempfile::tempdir().expect("a folder");
        let whole = run(&options, &place.path().join("whole"), false).expect("a book");
        let forged = |change: &dyn Fn(&mut [u8])| {
            let folder = tempfile::tempdir().expect("a folder");
            run(&options, folder.path(), true).expect("a book");
            forge(&options, folder.path(), |bytes| {
                let records = bytes.len() - TABLE;
                change(&mut bytes[..records]);
            });
            run(&options, folder.path(), false)
        };
        assert!(forged(&|_| ()).expect("a book") == whole, "an unchanged run");
        let reason = |change: &dyn Fn(&mut [u8])| match forged(change) {
            Err(BuildError::Checkpoint { reason, .. }) => reason,
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("the forged records are accepted"),
        };
        let key = |record: &[u8]| u64::from_le_bytes(*record.last_chunk().expect("a key"));
        let reverse = |records: &mut [u8]| {
            let reversed: Vec<u8> = records.rchunks_exact(size).flatten().copied().collect();
            records.copy_from_slice(&reversed);
        };
        let swap_in_partition = |records: &mut [u8]| {
            let differ = |pair: &[u8]| {
                let (first, second) = (key(&pair[..size]), key(&pair[size..]));
                first != second && partition_of(first) == partition_of(second)
            };
            let starts = (0..records.len() - size).step_by(size);
            let start = starts.into_iter().find(|&start| differ(&records[start..][..2 * size]));
            records[start.expect("a pair")..][..2 * size].rotate_left(size);
        };
        let other_partition = |records: &mut [u8]| records[5 * size - 1] ^= 0x80;
        for reason in [reason(&reverse), reason(&swap_in_partition), reason(&other_partition)] {
            assert_eq!(reason, "the records of a run are not sorted");
        }
        if options.facets {
            let unknown_game = |records: &mut [u8]| records[7 * size..][2..6].fill(u8::MAX);
            assert_eq!(reason(&unknown_game), "a record of a run has no game");
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Stop {
    parts: usize,
    /// Whether the draft's note is updated after the last part, so that it covers the whole draft.
    noted: bool,
}

/// Runs a build and stops it while it is writing its book. Returns the number of parts that earlier
/// builds had already written.
fn stop_while_writing(options: &BuildOptions, folder: &Path, stop: Stop) -> usize {
    let options = with_checkpoints(options, folder, Duration::ZERO);
    let (shared, monitor) = (Shared::new(&options), Monitor::default());
    let (gathered, _, checkpointer) =
        gather::<Record>(&[games()], &shared, &monitor).expect("games");
    let bits = part_bits(&gathered.collected, &options);
    let source = Source { collected: &gathered.collected, games: None, bits };
    let mut checkpointer = checkpointer.expect("checkpoints");
    let (mut draft, mut writer) =
        BookDraft::begin(&mut checkpointer, &options, source.parts()).expect("a draft");
    let found = draft.parts();
    let place = (found, &mut writer);
    let stopped = write_parts(&source, &options, &monitor, place, |writer, parts| {
        if parts < stop.parts || stop.noted {
            draft.keep_if_due(writer, parts)?;
        }
        if parts < stop.parts { Ok(()) } else { Err(io::Error::other("stopped")) }
    });
    assert!(stopped.is_err_and(|error| error.to_string() == "stopped"));
    found
}

fn files_named(folder: &Path, begin: &str) -> Vec<PathBuf> {
    let files = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry"));
    let is_one = |file: &fs::DirEntry| file.file_name().to_string_lossy().starts_with(begin);
    files.filter(is_one).map(|file| file.path()).collect()
}

fn draft_in(folder: &Path) -> File {
    let draft = files_named(folder, BOOK).pop().expect("a draft");
    OpenOptions::new().append(true).open(draft).expect("a draft")
}

#[test]
fn build_stopped_while_writing_resumes_at_the_last_note() {
    let plain = BuildOptions { threads: 2, ..BuildOptions::default() };
    let pruned = BuildOptions { min_games: 3, ..plain.clone() };
    for options in [plain, pruned] {
        let place = tempfile::tempdir().expect("a folder");
        let [whole, folder] = ["whole", "stopped"].map(|name| place.path().join(name));
        let whole = run(&options, &whole, false).expect("a book");
        let stop = |parts, noted| stop_while_writing(&options, &folder, Stop { parts, noted });
        let append = |text: &[u8]| draft_in(&folder).write_all(text).expect("written");
        assert_eq!(stop(3, true), 0, "nothing is written yet");
        assert_eq!(stop(8, false), 3, "the parts that the note covers are not written again");
        append(b"half a part");
        assert_eq!(stop(20, true), 7, "what follows the last note is cut off");
        append(b"half a part");
        assert_eq!(stop(30, true), 20, "what follows the last note is cut off");
        draft_in(&folder).set_len(1_000).expect("cut short");
        assert_eq!(stop(40, true), 0, "a note of more than there is does not count");
        assert!(run(&options, &folder, false).expect("a book") == whole, "{options:?}");
    }
}

#[test]
fn note_of_a_book_with_other_positions_is_ignored() {
    let all = BuildOptions { threads: 2, ..BuildOptions::default() };
    let pruned = BuildOptions { min_games: 3, ..all.clone() };
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("stopped");
    for (number, (before, after)) in [(&all, &pruned), (&pruned, &all)].into_iter().enumerate() {
        let whole = run(before, &place.path().join(format!("{number}")), false);
        stop_while_writing(before, &folder, Stop { parts: 9, noted: true });
        // Overwrite the draft with that of a different book. Its build is stopped before it writes
        // a note.
        let found = stop_while_writing(after, &folder, Stop { parts: 1, noted: false });
        assert_eq!(found, 0, "{number}");
        assert!(run(before, &folder, false).expect("a book") == whole.expect("a book"));
    }
}

#[test]
fn frequent_checkpoints_do_not_multiply_the_files() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("unfinished");
    let plain = BuildOptions { threads: 2, ..BuildOptions::default() };
    let options = with_checkpoints(&plain, &folder, Duration::ZERO);
    let output = Cursor::new(Vec::new());
    let built = build(&[some_games(40_000)], &options, &Monitor::default(), output);
    assert!(built.is_ok());
    let runs = files_named(&folder, RUN).len();
    assert!((2..=13).contains(&runs), "{runs} runs");
}
