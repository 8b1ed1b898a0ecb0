//! Tests adding games to books, and commands whose input files have the wrong kind.

use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use proptest::prelude::*;
use tabia::book::{Book, BuildOptions, add, build_in_memory, differences};
use tabia::pgn::PgnInput;
use tabia::position::{Color, Position};

use crate::support::{PROGRAM, tabia};

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

fn game(number: usize, numbers: &mut Numbers) -> String {
    let result = ["1-0", "0-1", "1/2-1/2", "*"][numbers.below(4)];
    let (year, plies) = (2000 + numbers.below(20), 1 + numbers.below(30));
    let mut text = format!(
        "[Event \"{number}\"]\n[White \"W{}\"]\n[Black \"B\"]\n[Date \"{year}.01.02\"]\n[Result \"{result}\"]\n\n",
        numbers.below(5)
    );
    let mut position = Position::start();
    for _ in 0..plies {
        let moves: Vec<_> = position.legal_moves().iter().collect();
        if moves.is_empty() {
            break;
        }
        // Choose from the first few moves only, so that the games have positions in common.
        let mv = moves[numbers.below(moves.len().min(6))];
        let _ = write!(text, "{} ", position.san(mv));
        position = position.play(mv);
    }
    let _ = write!(text, "{result}\n\n");
    text
}

/// Returns one PGN text for each size, containing that number of random games.
fn texts(sizes: &[usize], seed: u64) -> Vec<String> {
    let (mut numbers, mut number) = (Numbers(seed), 0);
    let mut text = |size: usize| {
        number += size;
        (number - size..number).map(|number| game(number, &mut numbers)).collect()
    };
    sizes.iter().map(|&size| text(size)).collect()
}

fn run_ok(arguments: &[&str], folder: &Path) -> String {
    let output = tabia(arguments, folder);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned() + &stderr
}

fn packed(text: &str) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).expect("memory");
    gzip.finish().expect("memory")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn adding_games_equals_building_all_at_once(
        sizes in proptest::collection::vec(1_usize..9, 2..6),
        seed in any::<u64>(),
        first in any::<prop::sample::Index>(),
        max_ply in 1_u32..40,
        facets in any::<bool>(),
        side in prop_oneof![Just(None), Just(Some(Color::White)), Just(Some(Color::Black))],
    ) {
        let inputs: Vec<PgnInput> = texts(&sizes, seed)
            .into_iter()
            .enumerate()
            .map(|(number, text)| PgnInput::Text(format!("{number}.pgn"), text.into_bytes().into()))
            .collect();
        let options = BuildOptions { max_ply, facets, side, undecided: true, ..BuildOptions::default() };
        let of = |inputs: &[PgnInput]| build_in_memory(inputs, &options, "x").expect("games").0;
        let first = 1 + first.index(inputs.len() - 1);
        let (base, more) = (of(&inputs[..first]), of(&inputs[first..]));
        let (whole, again) = add(&base, &more, Cursor::new(Vec::new())).expect("memory");
        prop_assert_eq!(again, 0);
        let (whole, wanted) = (whole.into_inner(), of(&inputs));
        let place = whole.iter().zip(wanted.bytes()).position(|(a, b)| a != b);
        let opened = Book::from_bytes(whole.clone(), "whole").expect("a book");
        prop_assert!(
            whole == wanted.bytes(),
            "at {:?} of {} and {}: {:?} for {:?}", place, whole.len(), wanted.bytes().len(), opened.manifest(), wanted.manifest()
        );
    }

    #[test]
    fn adding_to_a_book_with_facets_counts_each_game_once(
        sizes in proptest::collection::vec(1_usize..6, 3..5),
        seed in any::<u64>(),
        max_ply in 1_u32..40,
    ) {
        let texts = texts(&sizes, seed);
        let input = |name: &str, text: &str| PgnInput::Text(name.to_owned(), text.as_bytes().into());
        let options = BuildOptions { max_ply, facets: true, undecided: true, ..BuildOptions::default() };
        let of = |inputs: &[PgnInput]| build_in_memory(inputs, &options, "x").expect("games").0;
        let base = of(&[input("base", &(texts[0].clone() + &texts[1]))]);
        // The input for `add`: games that are already in the base, and each new game twice.
        let more = of(&[input("more", &(texts[1].clone() + &texts[2] + &texts[2]))]);
        let (whole, again) = add(&base, &more, Cursor::new(Vec::new())).expect("memory");
        prop_assert_eq!(again as usize, sizes[1] + sizes[2]);
        let whole = Book::from_bytes(whole.into_inner(), "whole").expect("a book");
        whole.verify().expect("sound");
        let once = of(&[input("once", &texts[..3].concat())]);
        prop_assert_eq!(differences(&whole, &once).count(), 0);
        prop_assert_eq!(whole.facet_games() as usize, sizes[..3].iter().sum::<usize>());
        let manifest = whole.manifest().expect("whole");
        prop_assert_eq!(manifest.games, once.manifest().expect("whole").games);
        prop_assert_eq!(manifest.inputs.iter().map(|input| input.games).sum::<u64>(), manifest.games.total());
        prop_assert_eq!(manifest.skipped.duplicates, again);
    }
}

#[test]
fn already_counted_inputs_are_skipped_by_content() {
    for seed in 0..6 {
        let folder = tempfile::tempdir().expect("a folder");
        let mut numbers = Numbers(seed);
        let texts = texts(&[3, 40, 5, 8], seed);
        for (number, text) in texts.iter().enumerate() {
            fs::write(folder.path().join(format!("{number}.pgn")), text).expect("written");
            fs::write(folder.path().join(format!("copy-{number}.pgn.gz")), packed(text))
                .expect("written");
        }
        let options: &[&str] =
            [&[][..], &["--facets"], &["--side", "white"], &["--max-ply", "7", "--player", "w"]]
                [seed as usize % 4];
        let build = |inputs: &[&str], book: &str| {
            run_ok(
                &[&["book", "build", "--undecided", "-o", book], inputs, options].concat(),
                folder.path(),
            )
        };
        build(&["0.pgn", "1.pgn", "2.pgn", "3.pgn"], "whole.tbk");
        let split = 1 + numbers.below(3);
        let plain = ["0.pgn", "1.pgn", "2.pgn", "3.pgn"];
        build(&plain[..split], "base.tbk");
        fs::copy(folder.path().join("base.tbk"), folder.path().join("old.tbk")).expect("copied");
        let mut more: Vec<&str> = plain[split..].to_vec();
        more.extend(["copy-0.pgn.gz", "copy-3.pgn.gz", plain[split]]);
        more.swap(0, numbers.below(plain.len() - split));
        let printed = run_ok(&[&["book", "add", "base.tbk"], &more[..]].concat(), folder.path());
        assert!(printed.contains("copy-0.pgn.gz: skipped, since its 3 games"), "{printed}");
        let read = |name: &str| fs::read(folder.path().join(name)).expect("a file");
        let same = match options.contains(&"--facets") && more.contains(&"copy-3.pgn.gz") {
            true => {
                let open = |name: &str| Book::open(&folder.path().join(name)).expect("a book");
                differences(&open("base.tbk"), &open("whole.tbk")).count() == 0
            }
            false => read("base.tbk") == read("whole.tbk"),
        };
        assert!(same, "{seed} {printed}");
        // A second run has nothing to add.
        let before = read("base.tbk");
        let printed = run_ok(&[&["book", "add", "base.tbk"], &more[..]].concat(), folder.path());
        assert!(printed.contains("nothing to add"), "{printed}");
        assert!(read("base.tbk") == before);
        // `book build` with a book among its inputs gives the same result as `book add`.
        let inputs = [&["book", "build", "old.tbk", "-o", "new.tbk"], &more[..]].concat();
        run_ok(&inputs, folder.path());
        assert!(read("new.tbk") == before, "{seed}");
    }
}

#[test]
fn added_games_keep_values_and_grown_positions() {
    let folder = tempfile::tempdir().expect("a folder");
    let texts = texts(&[12, 6], 7);
    fs::write(folder.path().join("a.pgn"), &texts[0]).expect("written");
    fs::write(folder.path().join("b.pgn"), &texts[1]).expect("written");
    let run = |command: &str| run_ok(&command.split(' ').collect::<Vec<_>>(), folder.path());
    let open = |name: &str| Book::open(&folder.path().join(name)).expect("a book");
    for facets in ["", " --facets"] {
        run(&format!("book build --undecided a.pgn -o base.tbk --max-ply 8{facets}"));
        run(&format!("book build --undecided a.pgn b.pgn -o whole.tbk --max-ply 8{facets}"));
        run("book analyse base.tbk --min-games 1 --nodes 200 --grow 5 --threads 1");
        let analysed = open("base.tbk");
        run("book add base.tbk b.pgn");
        let (added, whole) = (open("base.tbk"), open("whole.tbk"));
        added.verify().expect("sound");
        assert!(analysed.values().len() > 20);
        let keys = |book: &Book| book.values().map(|value| value.key).collect::<Vec<_>>();
        assert_eq!(keys(&added), keys(&analysed));
        // Only the positions added by `--grow` have different statistics, and no games reached
        // them.
        assert!(added.positions() > whole.positions());
        for difference in differences(&added, &whole) {
            assert!(
                difference.left.is_some_and(|games| games == difference.right.unwrap_or_default())
            );
        }
        fs::remove_file(folder.path().join("base.tbk")).expect("it is there");
    }
}

#[test]
fn merge_reports_or_removes_shared_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let texts = texts(&[9, 6], 3);
    fs::write(folder.path().join("base.pgn"), &texts[0]).expect("written");
    fs::write(folder.path().join("week.pgn"), &texts[1]).expect("written");
    let run = |command: &str| run_ok(&command.split(' ').collect::<Vec<_>>(), folder.path());
    for facets in ["", " --facets"] {
        for name in ["base", "week"] {
            run(&format!("book build --undecided {name}.pgn -o {name}.tbk --force{facets}"));
        }
        run(&format!("book build --undecided base.pgn week.pgn -o whole.tbk{facets}"));
        let printed = run("book merge base.tbk week.tbk week.tbk -o merged.tbk");
        let open = |name: &str| Book::open(&folder.path().join(name)).expect("a book");
        let counts = differences(&open("merged.tbk"), &open("whole.tbk")).count();
        if facets.is_empty() {
            assert!(
                printed.contains("week.pgn is in several of the books: its 6 games"),
                "{printed}"
            );
            assert!(counts > 0);
        } else {
            assert!(
                printed.contains("6 games found in several of the books; each of them counts once"),
                "{printed}"
            );
            assert_eq!(counts, 0);
            open("merged.tbk").verify().expect("sound");
        }
    }
}

#[test]
fn unsuitable_books_are_rejected_and_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let texts = texts(&[9, 6], 5);
    fs::write(folder.path().join("a.pgn"), &texts[0]).expect("written");
    fs::write(folder.path().join("b.pgn"), &texts[1]).expect("written");
    let run = |command: &str| run_ok(&command.split(' ').collect::<Vec<_>>(), folder.path());
    run("book build --undecided a.pgn -o plain.tbk");
    run("book build --undecided a.pgn -o unique.tbk --unique");
    run("book build --undecided a.pgn -o pruned.tbk --min-games 2");
    run("book filter plain.tbk -o cut.tbk --max-ply 3");
    run("book merge plain.tbk plain.tbk -o merged.tbk");
    run("book export plain.tbk -o polyglot.bin");
    for (book, reason) in [
        ("unique.tbk", "--unique"),
        ("pruned.tbk", "few games"),
        ("cut.tbk", "not built from games alone"),
        ("merged.tbk", "not built from games alone"),
        ("polyglot.bin", "not a Tabia book"),
        ("a.pgn", "not a Tabia book"),
    ] {
        let before = fs::read(folder.path().join(book)).expect("a file");
        let output = tabia(&["book", "add", book, "b.pgn"], folder.path());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(reason), "{book}: {stderr}");
        assert!(stderr.contains("cannot add to"), "{stderr}");
        assert!(fs::read(folder.path().join(book)).expect("a file") == before);
    }
    for (options, reason) in [
        (&["--max-ply", "9"][..], "40 plies"),
        (&["--facets"], "no facets"),
        (&["--side", "white"], "other filters"),
    ] {
        let command = [&["book", "build", "plain.tbk", "b.pgn", "-o", "new.tbk"], options].concat();
        let output = tabia(&command, folder.path());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains(reason), "{stderr}");
        assert!(!folder.path().join("new.tbk").exists());
    }
}

#[test]
fn killed_addition_leaves_the_old_or_the_new_book() {
    let folder = tempfile::tempdir().expect("a folder");
    let texts = texts(&[300, 3000], 11);
    fs::write(folder.path().join("a.pgn"), &texts[0]).expect("written");
    fs::write(folder.path().join("b.pgn"), &texts[1]).expect("written");
    let run = |command: &str| run_ok(&command.split(' ').collect::<Vec<_>>(), folder.path());
    run("book build --undecided a.pgn -o base.tbk");
    run("book build --undecided a.pgn b.pgn -o whole.tbk");
    let read = |name: &str| fs::read(folder.path().join(name)).expect("a file");
    let (old, new) = (read("base.tbk"), read("whole.tbk"));
    for kills in 0.. {
        let mut command = Command::new(PROGRAM);
        command.args(["book", "add", "base.tbk", "b.pgn", "--checkpoint", "0.02", "-q"]);
        command.current_dir(folder.path()).stdout(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        // Wait longer before each kill, so that the command eventually finishes, even on a slow
        // machine.
        std::thread::sleep(Duration::from_millis(5 + 20 * kills));
        if let Some(status) = child.try_wait().expect("a child") {
            assert!(status.success());
            break;
        }
        child.kill().expect("killed");
        child.wait().expect("a child");
        let found = read("base.tbk");
        assert!(found == old || found == new, "after {kills} kills");
    }
    assert!(read("base.tbk") == new);
}

fn other_kinds(folder: &Path) -> Vec<(&'static str, &'static str)> {
    let texts = texts(&[9], 5);
    fs::write(folder.join("g.pgn"), &texts[0]).expect("written");
    let run = |command: &str| run_ok(&command.split(' ').collect::<Vec<_>>(), folder);
    run("book build --undecided g.pgn -o book.tbk");
    fs::copy(folder.join("book.tbk"), folder.join("book.pgn")).expect("copied");
    run("book export book.tbk -o polyglot.bin");
    let mut numbers = Numbers(17);
    let junk: Vec<u8> = (0..9000).map(|_| numbers.below(256) as u8).collect();
    let network = concat!(env!("CARGO_MANIFEST_DIR"), "/src/engine/eval/nnue/network.bin");
    fs::copy(network, folder.join("network.bin")).expect("copied");
    let state = b"{\"tuning\":{\"seed\":1}}\n";
    let files: [(&str, &[u8], &str); 8] = [
        ("learnt.pgn", b"tabia learning 1\n\0\0", "a learning file"),
        ("own.games", b"tabia games 2; nodes 400\n\0\0", "a file of self-play"),
        ("x.checkpoint", b"tabia checkpoint 2; hidden 8\n\0", "a training checkpoint"),
        ("x.analysis", b"tabia analysis 1, of the book 01234567\n", "an unfinished analysis"),
        ("x.journal", b"tabia annotations 2; x\n", "the unfinished work of `tabia annotate`"),
        ("rows.parquet", b"PAR1 and no more", "Parquet"),
        ("state.json", state, "a JSON object"),
        ("junk.dat", &junk, "binary data without a game"),
    ];
    for (name, bytes, _) in files {
        fs::write(folder.join(name), bytes).expect("written");
    }
    let mut kinds: Vec<_> = files.iter().map(|&(name, _, kind)| (name, kind)).collect();
    kinds.extend([
        ("book.pgn", "a Tabia book"),
        ("polyglot.bin", "a Polyglot book"),
        ("network.bin", "a network"),
    ]);
    kinds
}

/// Runs a command with `FILE` replaced by `file`. Checks that it fails, and that the error message
/// names the file and its kind.
fn assert_rejected_by_kind(command: &[&str], file: &str, kind: &str, folder: &Path) {
    let command: Vec<&str> =
        command.iter().map(|&word| if word == "FILE" { file } else { word }).collect();
    let output = tabia(&command, folder);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{command:?}");
    assert!(stderr.contains(file) && stderr.contains(kind), "{command:?}: {stderr}");
}

#[test]
fn commands_name_the_kind_of_files_that_are_not_positions() {
    let folder = tempfile::tempdir().expect("a folder");
    let commands: [&[&str]; 4] = [
        &["solve", "FILE"],
        &["book", "filter", "book.tbk", "--avoid", "FILE", "-o", "new.tbk"],
        &["book", "analyse", "book.tbk", "--only", "FILE", "-o", "new.tbk"],
        &["lesson", "nodes", "--positions", "FILE"],
    ];
    for (file, kind) in other_kinds(folder.path()) {
        if kind == "Parquet" || kind == "binary data without a game" {
            continue;
        }
        for command in commands {
            assert_rejected_by_kind(command, file, kind, folder.path());
            assert!(!folder.path().join("new.tbk").exists());
        }
    }
}

#[test]
fn commands_name_the_kind_of_files_that_are_not_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let commands: [&[&str]; 5] = [
        &["book", "build", "FILE", "g.pgn", "-o", "new.tbk"],
        &["book", "add", "book.tbk", "FILE"],
        &["book", "find", "FILE"],
        &["annotate", "--nodes", "10", "FILE", "-o", "out.pgn"],
        &["bench", "transpositions", "--book", "book.tbk", "--games", "FILE"],
    ];
    for (file, kind) in other_kinds(folder.path()) {
        for command in commands {
            // `build` accepts a book among its inputs, and adds games to it.
            if kind == "a Tabia book" && command[1] == "build" {
                continue;
            }
            // With the `parquet` feature, the file is opened as Parquet and reported as damaged
            // instead.
            if kind == "Parquet" && cfg!(feature = "parquet") {
                continue;
            }
            assert_rejected_by_kind(command, file, kind, folder.path());
            assert!(
                !folder.path().join("new.tbk").exists() && !folder.path().join("out.pgn").exists()
            );
        }
    }
}

#[test]
fn games_with_nul_bytes_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = texts(&[9], 5).concat();
    for damage in ["\0\0\u{1}", "[Event \"\0\"]\n\n", "{\0}\n"] {
        fs::write(folder.path().join("g.pgn"), format!("{damage}{text}")).expect("written");
        let printed =
            run_ok(&["book", "build", "--undecided", "g.pgn", "-o", "g.tbk"], folder.path());
        assert!(printed.contains("games read"), "{printed}");
    }
}
