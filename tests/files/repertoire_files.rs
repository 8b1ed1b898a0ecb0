//! Tests of the files that `tabia repertoire` reads and writes: no chapter is lost without an error,
//! and no file is replaced by mistake.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tabia::book::{Book, Cut, cut};
use tabia::position::Position;
use tempfile::TempDir;

use crate::support::{run_line as run, run_line_ok as run_ok};

const ENDING: &str = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";

const LINE: &str = "1. e4 e5 (1... c5 2. Nf3) 2. Nc3 *\n\n";

const GAMES: &str = "1. e4 e5 2. Nf3 1-0\n\n1. e4 d5 0-1\n\n1. d4 d5 1-0\n";

fn ending() -> String {
    format!("[SetUp \"1\"]\n[FEN \"{ENDING}\"]\n\n1. e4 (1. Kd2 Kd7) 1... Kd7 2. Kd2 *\n\n")
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("writable");
    }
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("an entry"));
    let mut names: Vec<String> =
        files.map(|file| file.file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

#[test]
fn book_of_a_repertoire_keeps_chapters_that_start_from_a_fen() {
    let (line, ending) = (LINE.to_owned(), ending());
    let folder = folder(&[
        ("fen.pgn", &ending),
        ("both.pgn", &(line.clone() + &ending)),
        ("line.pgn", &line),
        ("games.pgn", GAMES),
    ]);
    for name in ["fen", "both", "line"] {
        run_ok(&format!("repertoire build {name}.pgn --side white -o {name}.tbk"), folder.path());
        let check = |input: &str| -> Value {
            let line = format!("repertoire check {input} --reference games.pgn --json");
            serde_json::from_str(&run(&line, folder.path()).1).expect("JSON")
        };
        let [text, book] =
            [format!("{name}.pgn --side white"), format!("{name}.tbk")].map(|input| check(&input));
        for field in ["positions", "dead_ends", "shares"] {
            assert_eq!(text[field], book[field], "{name}: {field}");
        }
        for field in ["gaps", "conflicts"] {
            let [text, book] = [&text, &book].map(|found| {
                let rows = found[field].as_array().expect("rows").iter();
                let mut fens: Vec<String> = rows.map(|row| row["fen"].to_string()).collect();
                fens.sort();
                fens
            });
            assert_eq!(text, book, "{name}: {field}");
        }
        let dumped = run_ok(&format!("book dump {name}.tbk --format fen"), folder.path());
        assert_eq!(dumped.contains(ENDING), name != "line", "{name}: {dumped}");
        let book = Book::open(&folder.path().join(format!("{name}.tbk"))).expect("a book");
        book.verify().expect("sound");
        assert_eq!(dumped.lines().count() as u64, book.positions(), "{name}: {dumped}");
        // A PGN file is the same book, but contains the moves of both sides.
        let line = format!("book dump {name}.pgn --format fen");
        assert_eq!(run_ok(&line, folder.path()).contains(ENDING), name != "line");
    }
    run_ok("book merge line.tbk fen.tbk -o merged.tbk", folder.path());
    let dumped = |name: &str| run_ok(&format!("book dump {name} --format fen"), folder.path());
    assert_eq!(dumped("merged.tbk"), dumped("both.tbk"));
}

#[test]
fn part_of_a_book_begins_at_its_position() {
    let folder = folder(&[("both.pgn", &(LINE.to_owned() + &ending()))]);
    run_ok("repertoire build both.pgn --side white -o both.tbk", folder.path());
    let book = Book::open(&folder.path().join("both.tbk")).expect("a book");
    let start = Position::start().play("e2e4".parse().expect("a move"));
    let part = Cut { start: Some(start), ..Cut::default() };
    let bytes = cut(&book, &part, std::io::Cursor::new(Vec::new())).expect("written");
    let part = Book::from_bytes(bytes.into_inner(), "part").expect("a book");
    assert_eq!(part.starts().iter().map(Position::key).collect::<Vec<_>>(), [start.key()]);
    // A cut without a start keeps the chapters.
    let bytes = cut(&book, &Cut { max_ply: 1, ..Cut::default() }, std::io::Cursor::new(Vec::new()));
    let short = Book::from_bytes(bytes.expect("written").into_inner(), "short").expect("a book");
    assert_eq!(short.starts().len(), 2);
    assert!(short.reached(&Position::from_fen(ENDING).expect("a FEN")).is_some());
}

#[test]
fn nothing_is_written_if_games_cannot_be_read() {
    let bad = "[SetUp \"1\"]\n[FEN \"xx\"]\n\n1. e4 *\n\n[Variant \"Atomic\"]\n\n1. d4 *\n\n";
    let folder = folder(&[("r.pgn", &format!("{bad}{LINE}")), ("games.pgn", GAMES)]);
    for (command, output) in [
        ("build r.pgn --side white", "new.pgn"),
        ("build r.pgn --side white", "new.tbk"),
        ("build r.pgn --side white", "-"),
        ("grow r.pgn --side white --reference games.pgn", "new.pgn"),
    ] {
        let line = format!("repertoire {command} -o {output}");
        let (status, printed, errors) = run(&line, folder.path());
        assert_eq!((status, printed.as_str()), (Some(1), ""), "{line}: {errors}");
        for part in ["r.pgn: game 1: fault: ", "r.pgn: game 2: variant: ", "2 games cannot be read"]
        {
            assert!(errors.contains(part), "{line}: {errors}");
        }
        assert_eq!(names(folder.path()), ["games.pgn", "r.pgn"], "{line}");
        run_ok(&format!("{line} --skip-unreadable"), folder.path());
        let _ = fs::remove_file(folder.path().join(output));
    }
}

#[test]
fn repertoires_are_replaced_only_with_force() {
    let folder = folder(&[("r.pgn", LINE), ("mine.pgn", "1. d4 *\n"), ("games.pgn", GAMES)]);
    for command in ["build r.pgn --side white", "grow r.pgn --side white --reference games.pgn"] {
        let line = format!("repertoire {command} -o mine.pgn");
        let (status, _, errors) = run(&line, folder.path());
        assert!(status == Some(1) && errors.contains("it exists"), "{line}: {errors}");
        let mine = || fs::read_to_string(folder.path().join("mine.pgn")).expect("readable");
        assert_eq!(mine(), "1. d4 *\n", "{line}");
        run_ok(&format!("{line} --force"), folder.path());
        assert!(mine().contains("1. e4 e5 (1... c5 2. Nf3) 2. Nc3"), "{line}: {}", mine());
        fs::write(folder.path().join("mine.pgn"), "1. d4 *\n").expect("writable");
    }
}

#[test]
fn a_dash_writes_text_to_the_standard_output() {
    let folder = folder(&[("r.pgn", LINE), ("games.pgn", GAMES)]);
    let check = "check r.pgn --side white --reference games.pgn";
    let prepare = "prepare ? games.pgn";
    for (command, output, begin, good) in [
        (check, "--csv -", "#separator:Comma\n", 4),
        (check, "--pgn -", "[Event \"Gap 1: ", 4),
        (prepare, "--html -", "<!doctype html>", 0),
        (prepare, "--pgn -", "", 0),
        ("grow --side white --reference games.pgn", "-o -", "[Event ", 0),
        ("grow --side white --reference games.pgn --book b.tbk", "-o -", "[Event ", 0),
        ("build r.pgn --side white", "-o -", "[Event ", 0),
    ] {
        let line = format!("repertoire {command} {output}");
        let (status, printed, errors) = run(&line, folder.path());
        assert_eq!(status, Some(good), "{line}: {printed}{errors}");
        assert!(printed.to_lowercase().starts_with(&begin.to_lowercase()), "{line}: {printed}");
        for heading in ["Repertoire for", "repertoire for", "\nGaps", "Scores badly ("] {
            assert!(!printed.contains(heading), "{line}: {printed}");
        }
        assert!(!folder.path().join("-").exists(), "{line}");
    }
    for outputs in ["--csv - --pgn -", "--csv - --json"] {
        let (status, printed, errors) =
            run(&format!("repertoire {check} {outputs}"), folder.path());
        assert_eq!((status, printed.as_str()), (Some(2), ""), "{outputs}: {errors}");
    }
    let books = "grow --side white --reference games.pgn -o x.pgn --book -";
    assert_eq!(run(&format!("repertoire {books}"), folder.path()).0, Some(2));
    assert!(!folder.path().join("-").exists() && !folder.path().join("x.pgn").exists());
}

#[test]
fn inputs_without_moves_are_described() {
    let folder = folder(&[
        ("empty.pgn", ""),
        ("text.pgn", "Buy milk.\nCall Ann.\n"),
        ("tags.pgn", "[Event \"x\"]\n\n*\n"),
        ("bad.pgn", "[SetUp \"1\"]\n[FEN \"xx\"]\n\n1. e4 *\n"),
        ("side.pgn", "1. e4 *\n"),
    ]);
    for (name, why) in [
        ("empty", "it contains no game; "),
        ("text", "it contains no game; "),
        ("tags", "no game with a legal move"),
        ("bad", "none of its games can be read; game 1: "),
        ("side", "it has no move of Black; "),
    ] {
        let line = format!("repertoire check {name}.pgn --side black");
        let (status, _, errors) = run(&line, folder.path());
        assert!(status == Some(1) && errors.contains(why), "{line}: {errors}");
    }
}

#[test]
fn gap_at_the_start_is_described() {
    let folder = folder(&[("r.pgn", "1. e4 e5 2. Nf3 *\n"), ("games.pgn", GAMES)]);
    let line = "repertoire check r.pgn --side white --reference games.pgn";
    let (_, printed, errors) = run(&format!("{line} --fen \"{ENDING}\" --pgn -"), folder.path());
    assert!(printed.contains("{ No answer") || printed.contains("{No answer"), "{printed}{errors}");
    let (_, printed, _) = run(&format!("{line} --fen \"{ENDING}\""), folder.path());
    assert!(printed.contains(&format!("   100%  {ENDING}\n")), "{printed}");
    assert!(printed.lines().all(|line| line.is_empty() || !line.ends_with(' ')), "{printed}");
}

#[test]
fn another_repertoire_does_not_count_as_games() {
    let folder =
        folder(&[("a.pgn", LINE), ("b.pgn", LINE), ("c.pgn", "1. c4 *\n"), ("games.pgn", GAMES)]);
    for (command, name) in [
        ("report a.pgn b.pgn games.pgn --side white", "b.pgn"),
        ("report a.pgn c.pgn games.pgn --side white", "c.pgn"),
        ("report a.pgn b.pgn --side white", "b.pgn"),
        ("prepare ? games.pgn b.pgn", "b.pgn"),
    ] {
        let (status, printed, errors) = run(&format!("repertoire {command}"), folder.path());
        assert_eq!((status, printed.as_str()), (Some(2), ""), "{command}: {errors}");
        assert!(errors.contains(&format!("{name} is not a file of games")), "{command}: {errors}");
        assert!(errors.contains("--repertoire"), "{command}: {errors}");
    }
    // Moves are added to a served repertoire, so it is a single file.
    for served in ["--repertoire a.pgn --repertoire b.pgn", "--repertoire ."] {
        let (status, _, errors) =
            run(&format!("serve games.pgn {served} --side white"), folder.path());
        assert_eq!(status, Some(2), "{errors}");
        assert!(errors.contains("a single PGN file") && errors.contains("build"), "{errors}");
    }
    run_ok("repertoire report a.pgn games.pgn --side white", folder.path());
    run_ok("repertoire report a.pgn c.pgn --side white", folder.path());
}

#[test]
fn uncounted_variations_are_reported() {
    let mixed = format!("{LINE}1. d4 d5 1-0\n");
    let folder = folder(&[("r.pgn", LINE), ("mixed.pgn", &mixed), ("games.pgn", GAMES)]);
    let note = "mixed.pgn: the variations of 1 game are not counted; `tabia repertoire build`";
    for line in ["book show mixed.pgn", "book build mixed.pgn -o mixed.tbk"] {
        let (status, _, errors) = run(line, folder.path());
        assert!(status == Some(0) && errors.contains(note), "{line}: {errors}");
    }
    for line in ["book show r.pgn", "book show games.pgn", "book build games.pgn -q -o g.tbk"] {
        let (status, _, errors) = run(line, folder.path());
        assert!(status == Some(0) && !errors.contains("variations"), "{line}: {errors}");
    }
    let (status, _, errors) = run("book build r.pgn -o r.tbk", folder.path());
    assert!(status == Some(1) && errors.contains("`tabia repertoire build`"), "{errors}");
}
