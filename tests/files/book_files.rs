//! Tests of book files: atomic writes, detection of damage, and exchange with Polyglot.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tabia::book::{Book, BookError};
use tabia::position::{Move, Position};
use tempfile::TempDir;

use crate::support::{self, PROGRAM, shared_data};

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

fn tabia(arguments: &[&str], folder: &Path) -> (bool, String) {
    let output = support::tabia(&[&["book"], arguments].concat(), folder);
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(printed).expect("UTF-8"))
}

fn run_ok(arguments: &[&str], folder: &Path) -> String {
    let (ok, printed) = tabia(arguments, folder);
    assert!(ok, "{arguments:?}: {printed}");
    printed
}

fn some_games() -> String {
    let openings = ["1. e4 e5 2. Nf3 Nc6", "1. d4 d5 2. c4 e6", "1. c4 Nf6 2. d4 e6 3. Nc3 d5"];
    let results = ["1-0", "0-1", "1/2-1/2"];
    (0..60)
        .map(|n| {
            let (moves, result) = (openings[n % 3], results[n / 3 % 3]);
            let elo = 2000 + 10 * n;
            format!(
                "[Event \"E\"]\n[Date \"20{:02}.01.02\"]\n[White \"A{n}\"]\n[Black \"B\"]\n\
                 [Result \"{result}\"]\n[WhiteElo \"{elo}\"]\n[BlackElo \"2500\"]\n\n{moves} {result}\n\n",
                n % 25
            )
        })
        .collect()
}

#[test]
fn compressed_input_gives_the_same_book() {
    let folder = folder();
    let games = some_games();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("g.pgn"), &games).expect("writable");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(games.as_bytes()).expect("memory");
    fs::write(path("g.pgn.gz"), gzip.finish().expect("memory")).expect("writable");
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(games.as_bytes()).expect("memory");
    fs::write(path("g.pgn.bz2"), bzip2.finish().expect("memory")).expect("writable");
    let zstd = zstd::encode_all(games.as_bytes(), 1).expect("memory");
    fs::write(path("g.pgn.zst"), &zstd).expect("writable");
    // Imitate the output of pzstd, which writes a small skippable frame before each data frame.
    let head = |frame: &[u8]| [b"\x50\x2a\x4d\x18\x04\0\0\0\0\0\0\0", frame].concat();
    let half = games.len() / 2;
    let frames = [&games[..half], &games[half..]]
        .map(|part| head(&zstd::encode_all(part.as_bytes(), 1).expect("memory")));
    fs::write(path("p.pgn.zst"), frames.concat()).expect("writable");
    let entries = |input: &str| -> Vec<_> {
        run_ok(&["build", input, "-o", "out.tbk"], folder.path());
        Book::open(&path("out.tbk")).expect("a book").entries().collect()
    };
    let plain = entries("g.pgn");
    assert_eq!(plain.iter().map(|entry| entry.reached.games()).max(), Some(60));
    for input in ["g.pgn.gz", "g.pgn.bz2", "g.pgn.zst", "p.pgn.zst"] {
        assert!(entries(input) == plain, "{input}");
    }
}

#[test]
fn filters_select_the_games() {
    let folder = folder();
    fs::write(folder.path().join("g.pgn"), some_games()).expect("writable");
    for (arguments, games) in [
        (&["--min-elo", "2300"][..], 30),
        (&["--max-elo", "2500"], 51),
        (&["--since", "2010", "--until", "2014.12"], 10),
        (&["--result", "1-0,0-1"], 42),
        (&["--player", "a1"], 11),
        (&["--player", "nobody"], 0),
    ] {
        let mut all = vec!["build", "g.pgn", "-o", "out.tbk"];
        all.extend(arguments);
        let (ok, printed) = tabia(&all, folder.path());
        assert_eq!(ok, games > 0, "{arguments:?}: {printed}");
        if ok {
            let book = Book::open(&folder.path().join("out.tbk")).expect("a book");
            let total = book.manifest().expect("a manifest").games.total();
            assert_eq!(total, games, "{arguments:?}");
        }
    }
}

#[test]
fn same_games_give_the_same_bytes() {
    let Some(games) = shared_data("pgn/mid_otb") else { return };
    let folder = folder();
    let games = games.to_str().expect("UTF-8");
    let files = fs::read_dir(games).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<String> = files.map(|path| path.display().to_string()).collect();
    let mut first = Vec::new();
    for threads in ["1", "2", "5"] {
        files.reverse();
        let mut arguments = vec!["build", "-q", "-o", "out.tbk", "--threads", threads];
        arguments.extend(files.iter().map(String::as_str));
        run_ok(&arguments, folder.path());
        let bytes = fs::read(folder.path().join("out.tbk")).expect("written");
        if first.is_empty() {
            first.clone_from(&bytes);
        }
        assert!(bytes == first, "{threads} threads");
    }
}

#[test]
fn killed_build_leaves_the_old_book_and_no_files() {
    let folder = folder();
    fs::write(folder.path().join("g.pgn"), some_games()).expect("writable");
    run_ok(&["build", "g.pgn", "-o", "out.tbk", "--max-ply", "2"], folder.path());
    let old = fs::read(folder.path().join("out.tbk")).expect("written");
    let mut child = Command::new(PROGRAM)
        .args(["book", "build", "-q", "-", "-o", "out.tbk"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .spawn()
        .expect("tabia can be started");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(some_games().repeat(100).as_bytes()).expect("tabia reads");
    // The build has started: the input is larger than a pipe's buffer, so some of it must have been
    // read.
    child.kill().expect("it runs");
    child.wait().expect("it was started");
    assert!(fs::read(folder.path().join("out.tbk")).expect("still there") == old);
    run_ok(&["build", "g.pgn", "-o", "out.tbk"], folder.path());
    assert!(fs::read(folder.path().join("out.tbk")).expect("written") != old);
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 2, "a file is left over");
}

#[cfg(unix)]
#[test]
fn interrupted_build_keeps_the_games_read_so_far() {
    let folder = folder();
    let mut child = Command::new(PROGRAM)
        .args(["book", "build", "-", "-o", "out.tbk"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("tabia can be started");
    let mut input = child.stdin.take().expect("piped");
    // Send enough input for some chunks of games to be counted before the interrupt.
    input.write_all(some_games().repeat(200).as_bytes()).expect("tabia reads");
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupt.expect("kill can be started").success());
    // The build checks for the signal only between chunks, so keep sending input until it ends.
    while input.write_all(some_games().as_bytes()).is_ok() {}
    let output = child.wait_with_output().expect("it ends");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(130), "{printed}");
    assert!(printed.contains("Interrupted"), "{printed}");
    let book = Book::open(&folder.path().join("out.tbk")).expect("a valid book");
    book.verify().expect("sound");
    assert!(book.manifest().expect("a manifest").interrupted);
}

#[test]
fn truncated_foreign_and_damaged_books_have_different_errors() {
    let whole = Book::embedded().bytes().to_vec();
    let open = |bytes: &[u8]| Book::from_bytes(bytes.to_vec(), "test").map(|_| ());
    assert!(open(&whole).is_ok());
    for length in [8, 200, 255, 256, 10_000, whole.len() - 1] {
        let result = open(&whole[..length]);
        assert!(matches!(result, Err(BookError::Truncated { .. })), "{length}: {result:?}");
    }
    for at in (0..whole.len()).step_by(997).filter(|at| !(152..256).contains(at)) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        let result = open(&bytes);
        let expected = match at {
            0..8 => matches!(result, Err(BookError::Foreign { .. })),
            _ => matches!(result, Err(BookError::Damaged { .. })),
        };
        assert!(expected, "byte {at}: {result:?}");
    }
    let mut longer = whole.clone();
    longer.push(0);
    assert!(matches!(open(&longer), Err(BookError::Damaged { .. })));
    assert!(matches!(open(b"PK\x03\x04 something else"), Err(BookError::Foreign { .. })));
}

#[test]
fn books_of_another_version_are_rejected() {
    let mut bytes = Book::embedded().bytes().to_vec();
    bytes[8..16].copy_from_slice(&1_u64.to_le_bytes());
    // The header ends with the checksum of its other bytes.
    let checksum = u64::from(crc32fast::hash(&bytes[..144]));
    bytes[144..152].copy_from_slice(&checksum.to_le_bytes());
    let error = Book::from_bytes(bytes, "old.tbk").map(|_| ()).expect_err("refused");
    assert!(matches!(error, BookError::Version { version: 1, .. }), "{error}");
    assert!(error.to_string().contains("build the book again"), "{error}");
}

#[test]
fn books_can_be_merged_filtered_and_compared() {
    let folder = folder();
    let games = some_games();
    let half = games.match_indices("[Event").nth(30).expect("sixty games").0;
    for (name, text) in
        [("all.pgn", &games[..]), ("a.pgn", &games[..half]), ("b.pgn", &games[half..])]
    {
        fs::write(folder.path().join(name), text).expect("writable");
        let book = name.replace("pgn", "tbk");
        run_ok(&["build", "-q", name, "-o", &book], folder.path());
    }
    run_ok(&["merge", "a.tbk", "b.tbk", "-o", "ab.tbk"], folder.path());
    run_ok(&["diff", "all.tbk", "ab.tbk"], folder.path());
    run_ok(&["verify", "ab.tbk"], folder.path());
    run_ok(&["merge", "a.tbk:2", "b.tbk:2", "-o", "double.tbk"], folder.path());
    assert!(!tabia(&["diff", "all.tbk", "double.tbk"], folder.path()).0);
    let open = |name: &str| Book::open(&folder.path().join(name)).expect(name);
    let start = Position::start();
    let games_in = |name: &str| open(name).reached(&start).expect("the start").games();
    assert_eq!((games_in("ab.tbk"), games_in("double.tbk")), (60, 120));
    run_ok(
        &["filter", "all.tbk", "-o", "cut.tbk", "--side", "white", "--max-ply", "2"],
        folder.path(),
    );
    let cut = open("cut.tbk");
    assert_eq!(cut.walk(&start, 9).filter(|at| !at.entry.moves.is_empty()).count(), 1);
    let csv = run_ok(&["dump", "all.tbk", "--max-ply", "0"], folder.path());
    assert!(csv.contains(",e4,7,6,7,0,7,6,7,0"), "{csv}");
    let found = run_ok(&["find", "all.tbk", "--moves", "d4 Nf6 c4"], folder.path());
    assert!(found.contains("20 games reach"), "{found}");
}

#[test]
fn filter_removes_avoided_moves_by_any_move_order() {
    let folder = folder();
    let all = Book::embedded();
    // Find positions that can be reached from more than one position of the book.
    let mut reached: HashMap<u64, Vec<(Position, Move)>> = HashMap::new();
    let mut reachable = 0;
    for at in all.walk(&Position::start(), u32::MAX) {
        reachable += u64::from(all.entry(&at.position).is_some());
        for found in all.moves(&at.position).iter().filter(|found| !found.reached.is_empty()) {
            let after = at.position.play(found.mv).key();
            reached.entry(after).or_default().push((at.position, found.mv));
        }
    }
    let mut transposed: Vec<_> = reached.into_values().filter(|ways| ways.len() > 1).collect();
    transposed.sort_by_key(|ways| ways[0].0.fen());
    assert!(transposed.len() > 1000, "{}", transposed.len());
    for ways in transposed.iter().step_by(transposed.len() / 12) {
        let (position, mv) = ways[0];
        let line = format!("{} am {};\n", position.epd(), position.san(mv));
        fs::write(folder.path().join("avoid.epd"), line).expect("writable");
        run_ok(
            &["filter", "embedded", "--avoid", "avoid.epd", "-o", "cut.tbk", "--force"],
            folder.path(),
        );
        let cut = Book::open(&folder.path().join("cut.tbk")).expect("a book");
        assert_eq!(cut.positions() + 1, reachable);
        for (position, mv) in ways {
            let moves = cut.moves(position);
            assert!(moves.iter().all(|found| found.mv != *mv), "{} {mv}", position.fen());
        }
    }
    fs::write(folder.path().join("avoid.epd"), "# nothing\n").expect("writable");
    let arguments = ["filter", "embedded", "--avoid", "avoid.epd", "-o", "none.tbk"];
    let (done, text) = tabia(&arguments, folder.path());
    assert!(!done && text.contains("no move to avoid"), "{text}");
    assert!(!folder.path().join("none.tbk").exists());
}

fn rows(bytes: &[u8]) -> BTreeMap<[u8; 10], u16> {
    let (rows, _) = bytes.as_chunks::<16>();
    let row = |row: &[u8; 16]| {
        let key_and_move = *row.first_chunk().expect("16 bytes");
        (key_and_move, u16::from_be_bytes([row[10], row[11]]))
    };
    rows.iter().map(row).filter(|&(_, weight)| weight > 0).collect()
}

#[test]
fn real_polyglot_books_round_trip() {
    let Some(books) = shared_data("books") else { return };
    for name in ["book_small.bin", "gm2001.bin", "gm2600.bin", "performance.bin"] {
        let bytes = fs::read(books.join(name)).expect(name);
        let book = Book::open(&books.join(name)).expect(name);
        let (old, new) = (rows(&bytes), rows(&book.to_polyglot().bytes));
        // Skip `book_small.bin`, which stores castling as a king move of two squares. Tabia accepts
        // this but writes castling as the king capturing its own rook.
        let same = name == "book_small.bin"
            || new.iter().all(|(row, weight)| old.get(row) == Some(weight));
        assert!(same, "{name}");
        assert_eq!(book.move_count(), old.len() as u64, "{name}");
    }
    for name in ["not_polyglot/eco.bin", "not_polyglot/komodo.bin"] {
        let result = Book::open(&books.join(name));
        assert!(matches!(result, Err(BookError::Polyglot { .. })), "{name}: {result:?}");
    }
}

fn row(key: u64, word: u16, weight: u16) -> [u8; 16] {
    let number = u128::from(key) << 64 | u128::from(word) << 48 | u128::from(weight) << 32;
    number.to_be_bytes()
}

#[test]
fn files_that_only_look_like_polyglot_books_are_rejected() {
    let folder = folder();
    let start = Position::start().key();
    let e4 = "e2e4".parse::<Move>().expect("a move").to_polyglot();
    let e5 = "e7e5".parse::<Move>().expect("a move").to_polyglot();
    let refusal = |bytes: &[u8]| {
        let path = folder.path().join("fake.bin");
        fs::write(&path, bytes).expect("writable");
        match Book::open(&path) {
            Err(BookError::Polyglot { reason, .. }) => reason,
            other => panic!("{other:?}"),
        }
    };
    for (rows, reason) in [
        (vec![row(1, e4, 1), row(start, 0, 1)], "row 2 contains no move"),
        (vec![row(1, e4, 1), row(start, e4 | 0x7000, 1)], "row 2 contains no move"),
        (vec![row(1, e4, 1), row(start, e5, 1)], "none of its moves is legal"),
        (vec![row(1, e4, 1), row(2, e5, 1)], "contains neither the start position"),
    ] {
        let printed = refusal(&rows.concat());
        assert!(printed.contains(reason), "{printed}");
    }
    let Some(books) = shared_data("books/not_polyglot") else { return };
    for name in ["eco.bin", "komodo.bin"] {
        // These files must be rejected for their content, even after partial rows and the wrong
        // order have been corrected.
        let bytes = fs::read(books.join(name)).expect(name);
        let mut rows = bytes.as_chunks::<16>().0.to_vec();
        assert!(refusal(&rows.concat()).contains("contains no move"), "{name}");
        rows.sort_unstable();
        assert!(refusal(&rows.concat()).contains("contains no move"), "{name}");
    }
}

#[test]
fn polyglot_program_builds_the_same_book() {
    let polyglot = Path::new("/usr/games/polyglot");
    let Some(games) = shared_data("pgn/mid_otb/candidates_zurich_1953.PGN") else { return };
    if !polyglot.exists() {
        support::skip_without("polyglot");
        return;
    }
    let folder = folder();
    let games = games.to_str().expect("UTF-8");
    let status = Command::new(polyglot)
        .args([
            "make-book",
            "-pgn",
            games,
            "-bin",
            "theirs.bin",
            "-max-ply",
            "40",
            "-min-game",
            "1",
        ])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .status();
    assert!(status.expect("polyglot can be started").success());
    run_ok(&["build", "-q", games, "-o", "ours.tbk"], folder.path());
    run_ok(&["export", "ours.tbk", "-o", "ours.bin"], folder.path());
    let read = |name: &str| rows(&fs::read(folder.path().join(name)).expect(name));
    let (ours, theirs) = (read("ours.bin"), read("theirs.bin"));
    assert_eq!((ours.len(), theirs.len()), (4815, 4815));
    assert!(ours.keys().eq(theirs.keys()));
    // If a game plays the same move in a position twice, Polyglot counts both, whereas Tabia counts
    // one.
    let other: Vec<_> = ours.iter().filter(|&(row, weight)| theirs[row] != *weight).collect();
    assert!(other.len() < 10 && other.iter().all(|&(row, weight)| theirs[row] == weight * 2));
}

#[test]
fn counts_of_the_embedded_book_are_marked_as_self_play() {
    let folder = folder();
    fs::write(folder.path().join("own.pgn"), some_games()).expect("writable");
    run_ok(&["build", "own.pgn", "-o", "own.tbk"], folder.path());
    for command in [&["show"][..], &["info"], &["why"], &["show", "--json"]] {
        let printed = |book| run_ok(&[command, &[book]].concat(), folder.path());
        let words = if command.len() > 1 { "\"self_play\":true" } else { "played against itself" };
        assert!(printed("embedded").contains(words), "{command:?}");
        assert!(!printed("own.tbk").contains("self"), "{command:?}: {}", printed("own.tbk"));
    }
}

#[test]
fn sentences_about_a_book_have_no_bare_counts() {
    let folder = folder();
    fs::write(folder.path().join("own.pgn"), some_games()).expect("writable");
    run_ok(&["build", "own.pgn", "-o", "own.tbk"], folder.path());
    let show = run_ok(&["show", "own.tbk"], folder.path());
    assert!(show.contains("\nreached: 50% for White in 60 games\n"), "{show}");
    assert!(show.contains("(games +White won =drawn -Black won *without a result)"), "{show}");
    let why = run_ok(&["why", "own.tbk"], folder.path());
    let reason = why.lines().last().expect("a line");
    assert!(reason.contains("% for White in ") && !reason.contains(" +"), "{reason}");
    let info = run_ok(&["info", "own.tbk"], folder.path());
    assert!(
        info.contains("games       60: 21 won by White, 18 drawn, 21 won by Black\n"),
        "{info}"
    );
}
