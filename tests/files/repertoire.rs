//! Tests for selecting one player's moves, comparing and dumping books, and finding games.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tabia::book::{Book, Selection};
use tabia::position::{Color, Game, Move, Position};
use tempfile::TempDir;

use crate::support::{shared_data, tabia};

fn run_ok(arguments: &[&str], folder: &Path) -> String {
    let output = tabia(arguments, folder);
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
    assert!(output.status.success(), "{arguments:?}: {printed}");
    printed
}

fn output(arguments: &[&str], folder: &Path) -> String {
    String::from_utf8(tabia(arguments, folder).stdout).expect("UTF-8")
}

fn refusal(arguments: &[&str], folder: &Path) -> String {
    let output = tabia(arguments, folder);
    let printed = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!output.status.success(), "{arguments:?}: {printed}");
    printed
}

fn folder_with(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("writable");
    }
    folder
}

struct Sample {
    players: [(&'static str, &'static str); 2],
    moves: &'static str,
    result: &'static str,
}

const SAMPLES: [Sample; 7] = [
    sample(("Ann Lee", "GM"), ("Bob", ""), "e4 e5 Nf3 Nc6", "1-0"),
    sample(("Bob", ""), ("Ann Lee", "GM"), "d4 d5 c4 e6", "1-0"),
    sample(("Cyd", "IM"), ("Ann Lee", "GM"), "e4 c5 Nf3 d6", "1/2-1/2"),
    sample(("Ann Lee", "GM"), ("Cyd", "IM"), "c4 e5 Nc3", "0-1"),
    sample(("Bob", ""), ("Cyd", "IM"), "e4 e6 d4 d5", "0-1"),
    sample(("Annabel Leeds", ""), ("Bob", ""), "f4 d5", "1-0"),
    sample(("Ann Lee", "GM"), ("Annabel Leeds", ""), "e4 e5 Bc4", "1-0"),
];

const fn sample(
    white: (&'static str, &'static str),
    black: (&'static str, &'static str),
    moves: &'static str,
    result: &'static str,
) -> Sample {
    Sample { players: [white, black], moves, result }
}

fn sample_pgn() -> String {
    let tag = |name: &str, value: &str| match value {
        "" => String::new(),
        _ => format!("[{name} \"{value}\"]\n"),
    };
    let text = SAMPLES.iter().map(|Sample { players: [white, black], moves, result }| {
        tag("White", white.0)
            + &tag("Black", black.0)
            + &tag("WhiteTitle", white.1)
            + &tag("BlackTitle", black.1)
            + &format!("[Result \"{result}\"]\n\n{moves} {result}\n\n")
    });
    text.collect()
}

/// Counts how often each move of `side` (or of both sides, if `None`) was played in the samples for
/// which `counts` returns true.
fn moves_played(
    side: Option<Color>,
    counts: impl Fn(&Sample) -> bool,
) -> BTreeMap<(u64, Move), u64> {
    let mut played = BTreeMap::new();
    for sample in SAMPLES.iter().filter(|sample| counts(sample)) {
        let mut game = Game::default();
        for san in sample.moves.split(' ') {
            let position = *game.position();
            let mv = position.parse_move(san).expect(san);
            game.play(mv).expect(san);
            if side.is_none_or(|side| side == position.side_to_move()) {
                *played.entry((position.key(), mv)).or_default() += 1;
            }
        }
    }
    played
}

fn moves_of(book: &Path) -> BTreeMap<(u64, Move), u64> {
    let book = Book::open(book).expect("a book");
    let entries = book.entries().flat_map(|entry| {
        entry.moves.into_iter().map(move |(mv, played)| ((entry.key, mv), played.games()))
    });
    entries.collect()
}

#[test]
fn player_and_side_filters_select_the_players_moves() {
    let folder = folder_with(&[("g.pgn", &sample_pgn())]);
    run_ok(&["book", "build", "-q", "g.pgn", "--facets", "-o", "facets.tbk"], folder.path());
    let sides = [(None, ""), (Some(Color::White), "white"), (Some(Color::Black), "black")];
    type Chosen = fn(&(&str, &str)) -> bool;
    let players: [(&[&str], Chosen); 5] = [
        (&["--player", "ann lee"], |(name, _)| *name == "Ann Lee"),
        (&["--player", "ANN"], |(name, _)| name.starts_with("Ann")),
        (&["--player", "bob", "--player", "cyd"], |(name, _)| matches!(*name, "Bob" | "Cyd")),
        (&["--title", "GM"], |(_, title)| *title == "GM"),
        (&["--title", "im,gm"], |(_, title)| !title.is_empty()),
    ];
    for (side, name) in sides {
        for (arguments, is_chosen) in players {
            let counts = |sample: &Sample| {
                let [white, black] = &sample.players;
                side != Some(Color::Black) && is_chosen(white)
                    || side != Some(Color::White) && is_chosen(black)
            };
            let expected = moves_played(side, counts);
            let mut arguments = arguments.to_vec();
            if side.is_some() {
                arguments.extend(["--side", name]);
            }
            let build = ["book", "build", "-q", "g.pgn", "-o", "part.tbk", "--force"];
            run_ok(&[&build[..], &arguments].concat(), folder.path());
            assert_eq!(moves_of(&folder.path().join("part.tbk")), expected, "{arguments:?}");
            if !arguments.contains(&"--title") {
                let filter = ["book", "filter", "facets.tbk", "-o", "cut.tbk", "--force"];
                run_ok(&[&filter[..], &arguments].concat(), folder.path());
                assert_eq!(moves_of(&folder.path().join("cut.tbk")), expected, "{arguments:?}");
            }
        }
    }
}

#[test]
fn game_filters_need_a_book_with_facets() {
    let folder = folder_with(&[("g.pgn", &sample_pgn())]);
    run_ok(&["book", "build", "-q", "g.pgn", "-o", "plain.tbk"], folder.path());
    run_ok(&["book", "build", "-q", "g.pgn", "--facets", "-o", "facets.tbk"], folder.path());
    for filter in
        [["--player", "ann"], ["--since", "2020"], ["--speeds", "blitz"], ["--ratings", "0"]]
    {
        let plain = [&["book", "filter", "plain.tbk", "-o", "new.tbk"], &filter[..]].concat();
        let why = refusal(&plain, folder.path());
        assert!(why.contains("--facets"), "{filter:?}: {why}");
        assert!(!folder.path().join("new.tbk").exists(), "{filter:?}");
    }
    let nobody = ["book", "filter", "facets.tbk", "-o", "new.tbk", "--player", "dora"];
    let why = refusal(&nobody, folder.path());
    assert!(why.contains("no game passes the filters"), "{why}");
    assert!(!folder.path().join("new.tbk").exists());
}

#[test]
fn selection_of_real_games_equals_a_filtered_build() {
    let Some(games) = shared_data("pgn/mid_otb") else { return };
    let folder = folder_with(&[]);
    let games = games.display().to_string();
    run_ok(&["book", "build", "-q", &games, "--facets", "-o", "all.tbk"], folder.path());
    let whole = Book::open(&folder.path().join("all.tbk")).expect("a book");
    let players = vec!["carlsen".to_owned()];
    for (side, name) in [(Color::White, "white"), (Color::Black, "black")] {
        let build = ["book", "build", "-q", &games, "--force", "-o", "part.tbk"];
        let filter =
            ["--player", "Carlsen", "--side", name, "--since", "2020", "--ratings", "2500"];
        run_ok(&[&build[..], &filter].concat(), folder.path());
        let cut = ["book", "filter", "all.tbk", "--force", "-o", "cut.tbk"];
        run_ok(&[&cut[..], &filter].concat(), folder.path());
        let moves = moves_of(&folder.path().join("part.tbk"));
        assert!(moves.len() > 100, "{} moves", moves.len());
        assert_eq!(moves, moves_of(&folder.path().join("cut.tbk")));
        let selection =
            Selection { players: players.clone(), side: Some(side), ..Selection::default() };
        let selected = selection.of_book(&whole).expect("sound");
        assert!(selected.facet_games() > 0 && selected.facet_games() < whole.facet_games());
    }
}

const ENDING: &str =
    "[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n[Result \"1-0\"]\n\ne4 Kd7 1-0\n\n";

#[test]
fn unreachable_differences_are_listed_by_key() {
    let games = sample_pgn();
    let folder = folder_with(&[("g.pgn", &games), ("h.pgn", &(games.clone() + ENDING))]);
    for side in [&[][..], &["--side", "white"]] {
        for name in ["g", "h"] {
            let (pgn, book) = (format!("{name}.pgn"), format!("{name}.tbk"));
            let build = ["book", "build", "-q", "--force", &pgn, "-o", &book];
            run_ok(&[&build[..], side].concat(), folder.path());
        }
        let text = output(&["book", "diff", "g.tbk", "h.tbk"], folder.path());
        assert!(text.contains("only in h.tbk: 3 positions\n"), "{text}");
        assert!(text.contains("only in g.tbk: 0 positions\n"), "{text}");
        let keys: Vec<&str> =
            text.lines().filter(|line| line.starts_with("out of reach")).collect();
        let start = Position::from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1").expect("a position");
        assert_eq!(keys.len(), 3, "{text}");
        let key = format!("key {:016x}  - | 1 +1 =0 -0", start.key());
        assert!(keys.iter().any(|line| line.ends_with(&key)), "{text}");
        let text = output(&["book", "diff", "g.tbk", "h.tbk", "--limit", "2"], folder.path());
        assert_eq!(text.lines().count(), 3 + 2, "{text}");
        assert!(output(&["book", "diff", "h.tbk", "h.tbk"], folder.path()).lines().count() == 3);
    }
}

#[test]
fn diff_lists_differing_entries_nearest_first() {
    let games = sample_pgn();
    let more = games.clone() + "[Result \"0-1\"]\n\ne4 c5 Nf3 e6 0-1\n\n";
    let folder = folder_with(&[("g.pgn", &games), ("h.pgn", &more)]);
    for side in [&[][..], &["--side", "white"], &["--side", "black"], &["--min-games", "2"]] {
        let mut entries = Vec::new();
        for name in ["g", "h"] {
            let (pgn, file) = (format!("{name}.pgn"), format!("{name}.tbk"));
            run_ok(
                &[&["book", "build", "-q", "--force", &pgn, "-o", &file], side].concat(),
                folder.path(),
            );
            let book = Book::open(&folder.path().join(file)).expect("a book");
            entries
                .push(book.entries().map(|entry| (entry.key, entry)).collect::<BTreeMap<_, _>>());
        }
        let keys = entries[0].keys().chain(entries[1].keys());
        let mut different: Vec<u64> =
            keys.filter(|key| entries[0].get(key) != entries[1].get(key)).copied().collect();
        different.sort_unstable();
        different.dedup();
        let text = output(&["book", "diff", "g.tbk", "h.tbk", "--limit", "1000"], folder.path());
        let shown = text.lines().skip(3).map(|line| line.split("  ").next().expect("a FEN"));
        let mut shown: Vec<u64> =
            shown.map(|fen| Position::from_fen(fen).expect("a FEN").key()).collect();
        assert_eq!(shown[0], Position::start().key(), "{text}");
        shown.sort_unstable();
        assert_eq!(shown, different, "{side:?}: {text}");
    }
}

fn columns(line: &str) -> Vec<&str> {
    line.split(',').collect()
}

#[test]
fn dump_and_show_contain_analysed_values() {
    let folder = folder_with(&[("g.pgn", &sample_pgn())]);
    run_ok(&["book", "build", "-q", "g.pgn", "--facets", "-o", "g.tbk"], folder.path());
    let analyse = ["book", "analyse", "g.tbk", "--min-games", "1", "--nodes", "300", "-t", "1"];
    run_ok(&[&analyse[..], &["--grow", "6"]].concat(), folder.path());
    let book = Book::open(&folder.path().join("g.tbk")).expect("a book");
    let mut known = 0;
    for line in output(&["book", "dump", "g.tbk", "--format", "json"], folder.path()).lines() {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let position = Position::from_fen(row["fen"].as_str().expect("a FEN")).expect("a FEN");
        let Some(value) = book.value(&position) else { continue };
        known += 1;
        let best = row["value"]["best"]["san"].as_str();
        assert_eq!(best.map(str::to_owned), value.best.map(|mv| position.san(mv)), "{line}");
        assert_eq!(row["value"]["score"]["cp"].as_i64(), Some(value.score.into()), "{line}");
        assert_eq!(row["value"]["depth"].as_i64(), Some(value.depth.into()), "{line}");
        for found in row["moves"].as_array().expect("moves") {
            let mv = position.parse_move(found["uci"].as_str().expect("a move")).expect("a move");
            let expected = book.value_of_move(&position, mv).map(i64::from);
            assert_eq!(found["value"]["cp"].as_i64(), expected, "{line}");
        }
    }
    assert_eq!(known, book.values().len(), "the dump contains every value");
    let text = output(&["book", "dump", "g.tbk"], folder.path());
    let mut lines = text.lines();
    let head = columns(lines.next().expect("a head"));
    let column = |name: &str| head.iter().position(|&found| found == name).expect(name);
    let mut in_csv = BTreeMap::new();
    for line in lines {
        let cells = columns(line);
        assert_eq!(cells.len(), head.len(), "{line}");
        let position = Position::from_fen(cells[column("fen")]).expect("a FEN");
        let value = book.value(&position).expect("all are analysed");
        assert_eq!(cells[column("value_cp")], value.score.to_string(), "{line}");
        assert_eq!(cells[column("value_depth")], value.depth.to_string(), "{line}");
        in_csv.insert(value.key, ());
        if let Ok(mv) = position.parse_move(cells[column("move")]) {
            let expected =
                book.value_of_move(&position, mv).map_or(String::new(), |cp| cp.to_string());
            assert_eq!(cells[column("move_cp")], expected, "{line}");
        }
    }
    assert_eq!(in_csv.len(), book.values().len());
    let shown = output(&["book", "show", "g.tbk", "--json", "--moves", "e4"], folder.path());
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    let position = Position::start().play("e2e4".parse().expect("a move"));
    let value = book.value(&position).expect("analysed");
    assert_eq!(shown["value"]["score"]["cp"].as_i64(), Some(value.score.into()), "{shown}");
    assert_eq!(shown["value"]["nodes"].as_u64(), Some(value.nodes), "{shown}");
    assert_eq!(shown["opening"]["eco"], "B00", "{shown}");
    assert_eq!(shown["reached"]["white"], 2, "{shown}");
    assert_eq!(shown["highest_rated"].as_array().map(Vec::len), Some(4), "{shown}");
    let message = run_ok(&["book", "export", "g.tbk", "-o", "g.bin"], folder.path());
    let values = format!("{} analysed values left out", book.values().len());
    assert!(message.contains(&values) && message.contains("7 games left out"), "{message}");
}

#[test]
fn output_with_another_extension_is_rejected() {
    let folder = folder_with(&[("g.pgn", &sample_pgn()), ("h.pgn", ENDING)]);
    run_ok(&["book", "build", "-q", "g.pgn", "-o", "g.tbk"], folder.path());
    run_ok(&["book", "export", "g.tbk", "-o", "g.bin"], folder.path());
    for ending in ["abk", "ctg", "CTG", "pgn", "tbk", "json"] {
        let name = format!("new.{ending}");
        let why = refusal(&["book", "export", "g.tbk", "-o", &name], folder.path());
        assert!(why.contains(&name) && why.contains(".bin"), "{why}");
        assert!(!folder.path().join(&name).exists(), "{name}");
    }
    let commands: [&[&str]; 5] = [
        &["book", "build", "g.pgn"],
        &["book", "merge", "g.tbk", "g.tbk"],
        &["book", "filter", "g.tbk"],
        &["book", "import", "g.bin"],
        &["book", "analyse", "g.tbk", "--nodes", "1"],
    ];
    for command in commands {
        for ending in ["bin", "abk", "ctg", "pgn", "epd", "Parquet"] {
            let name = format!("new.{ending}");
            let why = refusal(&[command, &["-o", &name]].concat(), folder.path());
            assert!(why.contains(&name) && why.contains(".tbk"), "{command:?}: {why}");
            assert!(!folder.path().join(&name).exists(), "{name}");
        }
        run_ok(&[command, &["-o", "new.v2", "--force"]].concat(), folder.path());
    }
}

#[test]
fn find_and_game_search_the_same_folders() {
    let folder = folder_with(&[]);
    let path = |name: &str| folder.path().join(name);
    for name in ["games", "books", "elsewhere"] {
        fs::create_dir(path(name)).expect("writable");
    }
    fs::write(path("games/g.pgn"), sample_pgn()).expect("writable");
    run_ok(&["book", "build", "-q", "games/g.pgn", "--facets", "-o", "books/g.tbk"], folder.path());
    let book = Book::open(&path("books/g.tbk")).expect("a book");
    let listed = book.explore(&Position::start(), &Default::default()).reached.top;
    let id = listed[0].id.to_string();
    // The games are found in the folder from which the book was built, next to the book, and in a
    // folder given with `--games`.
    let moves = [("games/g.pgn", "books/g.pgn"), ("books/g.pgn", "elsewhere/g.pgn")];
    for (before, after) in [("", "")].into_iter().chain(moves) {
        if !before.is_empty() {
            fs::rename(path(before), path(after)).expect("writable");
        }
        let named: &[&str] =
            if after.starts_with("elsewhere") { &["--games", "elsewhere"] } else { &[] };
        let game = run_ok(&[&["book", "game", "books/g.tbk", &id], named].concat(), folder.path());
        assert!(game.contains("[White "), "{game}");
        let find = ["book", "find", "books/g.tbk", "--moves", "e4"];
        let found = run_ok(&[&find[..], named].concat(), folder.path());
        assert!(found.contains("4 games reach"), "{after}: {found}");
    }
    let why = refusal(&["book", "find", "books/g.tbk", "--moves", "e4"], folder.path());
    assert!(why.contains("--games FOLDER"), "{why}");
}
