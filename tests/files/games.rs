//! Tests that the games listed in a book are found in their files, even after merging and filtering
//! books.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use tabia::book::{
    Book, BuildOptions, Cut, FacetFilter, GameError, Monitor, build, build_in_memory, cut, merge,
};
use tabia::pgn::PgnInput;
use tabia::position::Position;
use tempfile::TempDir;

use crate::support::{self, shared_data};

fn some_games(first: usize) -> String {
    games_of(first..first + 40)
}

fn games_of(numbers: std::ops::Range<usize>) -> String {
    let lines = ["1. e4 e5 2. Nf3 Nc6", "1. d4 d5 2. c4 e6", "1. c4 Nf6 2. d4 e6 3. Nc3 d5"];
    let results = ["1-0", "0-1", "1/2-1/2"];
    let game = |n: usize| {
        let (moves, result) = (lines[n % 3], results[n / 3 % 3]);
        let (day, elo) = (n % 28 + 1, 2000 + 10 * n);
        format!(
            "[Event \"E\"]\n[Date \"20{:02}.01.{day:02}\"]\n[White \"Žan {n}\"]\n[Black \"B\"]\n\
             [Result \"{result}\"]\n[WhiteElo \"{elo}\"]\n\n{moves} {{a {n}}} {result}\n\n",
            n % 25
        )
    };
    numbers.map(game).collect()
}

fn with_facets() -> BuildOptions {
    BuildOptions { facets: true, ..BuildOptions::default() }
}

fn build_file(path: &Path) -> Book {
    let input = PgnInput::File(path.to_owned());
    let (book, _) = build_in_memory(&[input], &with_facets(), "book").expect("games");
    book.verify().expect("sound");
    book
}

fn of_text(text: &str) -> Book {
    let input = PgnInput::Text("games".to_owned(), text.as_bytes().into());
    build_in_memory(&[input], &with_facets(), "book").expect("games").0
}

/// Returns the same games in every supported encoding and compression.
fn packed(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).expect("memory");
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(text.as_bytes()).expect("memory");
    vec![
        ("g.pgn", text.as_bytes().to_vec()),
        ("g.pgn.gz", gzip.finish().expect("memory")),
        ("g.pgn.bz2", bzip2.finish().expect("memory")),
        ("g.pgn.zst", zstd::encode_all(text.as_bytes(), 1).expect("memory")),
        ("utf16.pgn", text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
    ]
}

#[test]
fn game_is_found_in_its_file() {
    let folder = TempDir::new().expect("a folder");
    let text = some_games(0);
    let mut ids = Vec::new();
    for (name, bytes) in packed(&text) {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("writable");
        let book = build_file(&path);
        let found = book.explore(&Position::start(), &FacetFilter::default()).reached;
        assert_eq!((found.top.len(), found.latest.len()), (15, 15));
        let top = &found.top[0];
        assert_eq!((top.white.name.as_str(), top.white.rating), ("Žan 39", Some(2390)));
        assert_eq!(found.latest[0].date.to_string(), "2024.01.25");
        for game in found.top.iter().chain(&found.latest) {
            let pgn = book.game(game.id).expect("it is there");
            assert!(pgn.starts_with("[Event") && text.contains(&pgn), "{name}: {pgn}");
            assert!(pgn.contains(&format!("[White \"{}\"]", game.white.name)), "{pgn}");
            assert!(pgn.ends_with(game.result.token()), "{pgn}");
        }
        // The id of a game depends only on its text, not on the encoding of the file.
        ids.push(found.top.iter().map(|game| game.id).collect::<Vec<_>>());
    }
    assert!(ids.iter().all(|others| *others == ids[0]));
}

#[test]
fn missing_or_changed_game_file_is_reported() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("g.pgn");
    let text = some_games(0);
    fs::write(&path, &text).expect("writable");
    let book = build_file(&path);
    let id = book.explore(&Position::start(), &FacetFilter::default()).reached.top[0].id;
    let pgn = book.game(id).expect("it is there");
    fs::write(&path, format!("{text}\n[Event \"more\"]\n\n1. e4 *\n")).expect("writable");
    assert_eq!(book.game(id), Ok(pgn.clone()), "appended games do not matter");
    for other in [&text[5..], &text[..100], &text.replace("Ž", "Š"), ""] {
        fs::write(&path, other).expect("writable");
        assert!(matches!(book.game(id), Err(GameError::Changed { .. })), "{:?}", book.game(id));
    }
    let elsewhere = TempDir::new().expect("a folder");
    fs::write(elsewhere.path().join("g.pgn"), &text).expect("writable");
    fs::remove_file(&path).expect("it is there");
    assert!(matches!(book.game(id), Err(GameError::Gone { .. })), "{:?}", book.game(id));
    assert_eq!(book.game_from(id, &[elsewhere.path().to_owned()]), Ok(pgn));
    let unknown = "00000000".parse().expect("an id");
    assert!(matches!(book.game(unknown), Err(GameError::Unknown { .. })));
    let id = of_text(&text).explore(&Position::start(), &FacetFilter::default()).reached.top[0].id;
    assert!(matches!(of_text(&text).game(id), Err(GameError::NotKept { .. })));
}

fn assert_same_games(left: &Book, right: &Book) {
    let everything = FacetFilter::default();
    for at in left.walk(&Position::start(), u32::MAX) {
        let (left, right) =
            [left, right].map(|book| book.explore(&at.position, &everything)).into();
        assert_eq!(left, right, "{}", at.position.fen());
    }
    assert!(left.entries().eq(right.entries()));
}

#[test]
fn merged_books_keep_their_games() {
    let (first, second) = (some_games(0), some_games(25));
    let joint = of_text(&games_of(0..65));
    let books = [(of_text(&second), 1.0), (of_text(&first), 1.0)];
    let merged = merge(&books, Cursor::new(Vec::new())).expect("memory").into_inner();
    let merged = Book::from_bytes(merged, "merged").expect("a book");
    merged.verify().expect("sound");
    assert_eq!(merged.facet_games(), 65);
    assert_same_games(&joint, &merged);
    for books in [
        [(of_text(&first), 1.0), (of_text(&second), 2.0)],
        [(of_text(&first), 1.0), (Book::embedded(), 1.0)],
    ] {
        let merged = merge(&books, Cursor::new(Vec::new())).expect("memory").into_inner();
        assert!(!Book::from_bytes(merged, "merged").expect("a book").has_facets());
    }
}

#[test]
fn filtered_books_keep_the_remaining_games() {
    let text = some_games(0);
    let whole = of_text(&text);
    let start = ["c4", "Nf6"].iter().try_fold(Position::start(), |position, san| {
        position.parse_move(san).map(|mv| position.play(mv))
    });
    let everything = Cut { min_games: 1, ..Cut::default() };
    let start = Some(start.expect("legal"));
    for (what, games) in [
        (everything.clone(), 40),
        (Cut { min_games: 14, ..everything.clone() }, 40),
        (Cut { start, plies_before: 2, ..everything }, 13),
    ] {
        let [plain, known] = [false, true].map(|facets| {
            let input = PgnInput::Text("games".to_owned(), text.as_bytes().into());
            let options = BuildOptions { facets, ..BuildOptions::default() };
            let (book, _) = build_in_memory(&[input], &options, "book").expect("games");
            let bytes = cut(&book, &what, Cursor::new(Vec::new())).expect("memory").into_inner();
            Book::from_bytes(bytes, "cut").expect("a book")
        });
        assert!(plain.entries().eq(known.entries()));
        known.verify().expect("sound");
        assert_eq!(known.facet_games(), games);
    }
    assert_eq!(whole.facet_games(), 40);
}

#[test]
fn commands_show_and_print_games() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("g.pgn"), some_games(0)).expect("writable");
    let run = |arguments: &[&str]| {
        let output = support::tabia(&[&["book"], arguments].concat(), folder.path());
        let printed = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(printed).expect("UTF-8"))
    };
    let run_ok = |arguments: &[&str]| {
        let (ok, printed) = run(arguments);
        assert!(ok, "{arguments:?}: {printed}");
        printed
    };
    run_ok(&["build", "g.pgn", "-o", "plain.tbk"]);
    run_ok(&["build", "g.pgn", "-o", "with.tbk", "--facets"]);
    let filter = ["--ratings", "2000,2200", "--speeds", "classical", "--until", "2020"];
    run_ok(&[&["build", "g.pgn", "-o", "part.tbk", "--facets"], &filter[..]].concat());
    let shown = run_ok(&[&["show", "with.tbk"], &filter[..]].concat());
    assert_eq!(shown, run_ok(&["show", "part.tbk"]));
    assert!(shown.contains("highest rated") && shown.contains("Žan 39 (2390)"), "{shown}");
    let line = shown.lines().find(|line| line.contains("Žan 39")).expect("shown");
    let id = line.split(' ').next().expect("an id");
    let pgn = run_ok(&["game", "with.tbk", id]);
    assert!(pgn.contains("[White \"Žan 39\"]"), "{pgn}");
    let (ok, printed) = run(&["show", "plain.tbk", "--speeds", "blitz"]);
    assert!(!ok && printed.contains("book build --facets"), "{printed}");
    let (ok, printed) = run(&["show", "with.tbk", "--ratings", "1700"]);
    assert!(!ok && printed.contains("1600, 1800"), "{printed}");
    let printed = run_ok(&["merge", "plain.tbk", "with.tbk", "-o", "merged.tbk"]);
    assert!(printed.contains("facets are left out: plain.tbk has none"), "{printed}");
    assert!(run_ok(&["info", "with.tbk"]).contains("facets      of 40 games"));
    fs::remove_file(folder.path().join("g.pgn")).expect("there");
    let (ok, printed) = run(&["game", "with.tbk", id]);
    assert!(!ok && printed.contains("g.pgn no longer exists"), "{printed}");
}

#[test]
fn position_in_which_a_game_ended_is_shown() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("g.pgn"), "1. e4 e5 2. Nf3 1-0\n").expect("writable");
    for (book, facets) in [("plain.tbk", ""), ("with.tbk", "--facets")] {
        let build = format!("book build g.pgn -o {book} {facets}");
        support::run_line_ok(&build, folder.path());
        let show = format!("book show {book} --moves 'e4 e5 Nf3'");
        let shown = support::run_line_ok(&show, folder.path());
        assert!(shown.contains("reached: 1 game, 1-0\n"), "{shown}");
        let row = support::run_line_ok(&format!("{show} --json"), folder.path());
        assert!(row.contains("\"white\":1") && row.contains("\"moves\":[]"), "{row}");
    }
    let (status, _, errors) =
        support::run_line("book show plain.tbk --moves 'd4 d5'", folder.path());
    assert!(status == Some(1) && errors.contains("the book has no move"), "{errors}");
}

#[test]
fn result_does_not_depend_on_threads_memory_or_order() {
    let Some(folder) = shared_data("pgn/pgnmentor") else { return };
    let mut paths = [folder.join("Kasparov.pgn"), folder.join("PolgarJ.pgn")];
    for unique in [false, true] {
        let mut first: Option<Book> = None;
        for (threads, memory) in [(1, 1 << 30), (3, 1 << 30), (1, 0), (2, 0)] {
            paths.reverse();
            let inputs: Vec<_> = paths.iter().cloned().map(PgnInput::File).collect();
            let options = BuildOptions { threads, memory, unique, max_ply: 200, ..with_facets() };
            let output = Cursor::new(Vec::new());
            let built = build(&inputs, &options, &Monitor::default(), output);
            let bytes = built.expect("games").0.into_inner();
            let book = Book::from_bytes(bytes, "book").expect("a book");
            let Some(first) = &first else {
                book.verify().expect("sound");
                first = Some(book);
                continue;
            };
            let how = format!("{threads} threads, {memory} bytes, unique: {unique}");
            // The bytes may differ with `unique`, because it depends on timing which input a
            // duplicate game is attributed to.
            assert!(unique || book.bytes() == first.bytes(), "{how}");
            assert!(book.entries().eq(first.entries()), "{how}");
            for at in first.walk(&Position::start(), 2) {
                let [one, other] =
                    [first, &book].map(|book| book.explore(&at.position, &FacetFilter::default()));
                assert_eq!(one, other, "{how}");
            }
        }
    }
}
