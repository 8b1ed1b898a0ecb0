//! `tabia book report`: reports on openings.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{run_line as run, run_line_ok as run_ok};

/// Games that transpose into each other, and one from another opening. One of them has neither a
/// date nor a rating.
const GAMES: [(&str, &str, &str, &str); 5] = [
    (
        "2020.01.01",
        "2500",
        "1-0",
        "1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. e3 O-O 5. Bd3 d5 6. Nf3 c5 7. O-O Nc6",
    ),
    (
        "2021.02.03",
        "2400",
        "0-1",
        "1. c4 e6 2. d4 Nf6 3. Nc3 d5 4. Bg5 Be7 5. e3 O-O 6. Nf3 h6 7. Bh4 b6",
    ),
    ("2021.05.05", "2300", "1/2-1/2", "1. d4 Nf6 2. c4 e6 3. Nf3 b6"),
    ("????.??.??", "", "1-0", "1. d4 e6 2. c4 Nf6 3. Nc3 Bb4"),
    ("2021.06.06", "2600", "1-0", "1. e4 e5"),
];

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let game = |(date, elo, result, moves): (&str, &str, &str, &str)| {
        let elo = if elo.is_empty() { String::new() } else { format!("[WhiteElo \"{elo}\"]\n") };
        format!(
            "[Event \"A <b>\"]\n[White \"Ann & Co\"]\n[Black \"Bob\"]\n[Date \"{date}\"]\n{elo}\
             [Result \"{result}\"]\n\n{moves} {result}\n\n"
        )
    };
    fs::write(folder.path().join("games.pgn"), GAMES.map(game).concat()).expect("writable");
    folder
}

const REPORT: &str = "book report d4 Nf6 c4 e6 -b";

fn report(book: &str, folder: &Path) -> Value {
    serde_json::from_str(&run_ok(&format!("{REPORT} {book} --json"), folder)).expect("JSON")
}

fn column(rows: &Value, name: &str) -> Vec<Value> {
    rows.as_array().expect("rows").iter().map(|row| row[name].clone()).collect()
}

#[test]
fn report_counts_the_games_of_the_position() {
    let folder = folder();
    let report = report("games.pgn", folder.path());
    assert_eq!(report["reached"]["games"], 4);
    let years = &report["facts"]["years"];
    assert_eq!(column(years, "year"), [Value::Null, json!(2020), json!(2021)]);
    assert_eq!(column(years, "bookGames"), [1, 1, 3]);
    assert_eq!(
        column(&report["facts"]["ratings"], "from"),
        [Value::Null, json!(2200), json!(2500)]
    );
    let models = &report["facts"]["modelGames"];
    assert_eq!(
        column(models, "winner"),
        [json!("white"), json!("white"), json!("black"), Value::Null]
    );
    assert_eq!(models[0]["moves"][0]["san"], "Nc3");
    let mut last = column(&report["arrivals"], "san");
    last.sort_by_key(Value::to_string);
    assert_eq!(last, ["Nf6", "e6"]);
    let sample = &report["sample"];
    assert_eq!((&sample["read"], &sample["missing"]), (&json!(4), &json!(0)));
    // Two games last at least ten plies beyond the position. In both of them, Black castles
    // kingside.
    assert_eq!(sample["plans"]["games"]["games"], 2);
    let kings = &sample["plans"]["heat"][11];
    assert_eq!((&kings["piece"], &kings["squares"][62]), (&json!("k"), &json!(2)));
    let theory = &report["theory"];
    assert_eq!((&theory[0]["san"], &theory[0]["played"]["games"]), (&json!("Nc3"), &json!(3)));
}

#[test]
fn report_covers_the_games_that_pass_the_filters() {
    let folder = folder();
    let line = format!("{REPORT} games.pgn --since 2021");
    let filtered: Value =
        serde_json::from_str(&run_ok(&format!("{line} --json"), folder.path())).expect("JSON");
    assert_eq!(filtered["filters"], json!(["since 2021.01.01"]));
    let years = &filtered["facts"]["years"];
    assert_eq!(
        (column(years, "year"), column(years, "bookGames")),
        (vec![json!(2021)], vec![json!(3)])
    );
    let games = &filtered["reached"]["games"];
    assert!(games.as_u64() < Some(4) && *games == years[0]["games"]["games"], "{filtered}");
    assert_eq!(*games, filtered["sample"]["read"]);
    assert!(run_ok(&line, folder.path()).contains("filters: since 2021.01.01"));
    run_ok("book build -q games.pgn -o plain.tbk", folder.path());
    let (status, _, message) = run(&format!("{REPORT} plain.tbk --since 2021"), folder.path());
    assert!(status != Some(0) && message.contains("plain.tbk"), "{message}");
}

#[test]
fn sample_is_limited_and_missing_games_are_stated() {
    let folder = folder();
    run_ok("book build -q --facets games.pgn -o games.tbk", folder.path());
    let line = format!("{REPORT} games.tbk --json --sample 2");
    let limited: Value = serde_json::from_str(&run_ok(&line, folder.path())).expect("JSON");
    assert_eq!((&limited["sample"]["games"], &limited["sample"]["read"]), (&json!(4), &json!(2)));
    fs::remove_file(folder.path().join("games.pgn")).expect("removed");
    let missing = report("games.tbk", folder.path());
    assert_eq!((&missing["sample"]["read"], &missing["sample"]["missing"]), (&json!(0), &json!(4)));
    assert_eq!(missing["facts"]["games"]["games"], 4);
}

#[test]
fn page_is_complete_without_scripts_and_other_files() {
    let folder = folder();
    let printed = run_ok(&format!("{REPORT} games.pgn -o report.html"), folder.path());
    assert!(printed.contains("read: 4 games of 4"), "{printed}");
    let page = fs::read_to_string(folder.path().join("report.html")).expect("a page");
    for part in
        ["Popularity by year", "Results by rating", "Move orders", "Typical plans", "Model games"]
    {
        assert!(page.contains(&format!(">{part}</h2>")), "{part}");
    }
    assert!(page.contains("Ann &amp; Co") && page.contains("A &lt;b&gt;"), "names are escaped");
    assert!(!page.contains("<script") && !page.contains("src="), "{page}");
    assert!(page.contains("all 4 games"), "the sample is stated");
}

#[test]
fn book_without_facets_has_move_orders_and_theory() {
    let folder = folder();
    run_ok("book build -q games.pgn -o plain.tbk", folder.path());
    let plain = report("plain.tbk", folder.path());
    assert!(plain["facts"].is_null() && plain["sample"].is_null());
    assert!(!plain["theory"].as_array().expect("rows").is_empty());
    run_ok(&format!("{REPORT} plain.tbk -o plain.html"), folder.path());
    let page = fs::read_to_string(folder.path().join("plain.html")).expect("a page");
    assert!(page.contains("--facets") && page.contains("Theory table"), "{page}");
}

#[test]
fn bad_positions_and_outputs_are_rejected() {
    let folder = folder();
    for (position, part) in
        [("no such opening", "ECO code"), ("e4 e4", "e4"), ("8/8/8 w", "the position")]
    {
        let line = format!("book report {position} -b games.pgn");
        let (status, _, message) = run(&line, folder.path());
        assert!(status == Some(2) && message.contains(part), "{position}: {message}");
    }
    let (status, ..) = run(&format!("{REPORT} games.pgn -o games.pgn"), folder.path());
    assert_ne!(status, Some(0), "the games are not replaced");
    assert!(fs::read_to_string(folder.path().join("games.pgn")).expect("games").contains("Ann"));
}
