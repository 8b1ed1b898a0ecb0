//! Tests of `tabia ratings` and of the ratings at the end of tournaments.

use std::fs;

use serde_json::Value;

use crate::support::{fake_engine, run_line, run_line_ok};

/// Returns the games of four players as PGN. The first player has the best score, and the fourth
/// player loses their only finished game.
fn games() -> String {
    let mut text = String::new();
    let results = [("A \"1\"", "B", "1-0"), ("B", "C", "1-0"), ("A \"1\"", "C", "1/2-1/2")];
    for round in 1..=12 {
        for (white, black, result) in results {
            let (white, black) = (white.replace('"', "\\\""), black.replace('"', "\\\""));
            let other = if round % 3 == 0 { "1-0" } else { "1/2-1/2" };
            for (number, white, black, result) in
                [(1, &white, &black, result), (2, &black, &white, other)]
            {
                text += &format!(
                    "[White \"{white}\"]\n[Black \"{black}\"]\n[Round \"{round}.{number}\"]\n[Result \"{result}\"]\n\n1. e4 {result}\n\n"
                );
            }
        }
    }
    text + "[White \"D\"]\n[Black \"B\"]\n\n1. e4 e5 0-1\n\n[White \"D\"]\n[Black \"C\"]\n[Result \"*\"]\n\n*\n"
}

#[test]
fn players_of_pgn_files_are_rated() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("games.pgn"), games()).expect("written");
    let (status, printed, errors) = run_line("ratings games.pgn", folder.path());
    assert_eq!((status, errors.lines().count()), (Some(0), 1), "{errors}");
    assert!(errors.contains("1 game skipped"), "{errors}");
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[1].starts_with("  1 A \"1\""), "{printed}");
    assert!(lines[4].contains(" D ") && lines[4].contains(" 0.0%"), "{printed}");
    let json = |line: &str| -> Value {
        serde_json::from_str(&run_line_ok(line, folder.path())).expect("JSON")
    };
    let free = json("ratings games.pgn --json");
    assert_eq!(free["unrated"], serde_json::json!(["D"]));
    assert!(free["players"][0]["error"].as_f64().is_some_and(|error| error > 1.0), "{free}");
    let anchored = json("ratings games.pgn --json --anchor B=2500 --min-games 2");
    assert_eq!(anchored["unrated"], serde_json::json!([]));
    let elo = |value: &Value, name: &str| {
        let players = value["players"].as_array().expect("rows");
        let row = players.iter().find(|row| row["name"] == name).expect("listed");
        row["elo"].as_f64().expect("a number")
    };
    assert_eq!(elo(&anchored, "B"), 2500.0);
    let distance = |value: &Value| elo(value, "A \"1\"") - elo(value, "C");
    assert!((distance(&free) - distance(&anchored)).abs() < 1e-6);
}

#[test]
fn unusable_arguments_are_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("games.pgn"), games()).expect("written");
    fs::write(folder.path().join("empty.pgn"), "").expect("written");
    for (line, status, message) in [
        ("ratings games.pgn --anchor E=2500", 2, "no player is called \"E\""),
        ("ratings games.pgn --anchor B", 2, "expected NAME=ELO"),
        ("ratings games.pgn --anchor B=25+-x", 2, "expected NAME=ELO"),
        ("ratings games.pgn --anchor B=1 --anchor B=2", 2, "has two ratings"),
        ("ratings empty.pgn", 1, "no finished game"),
        ("ratings games.pgn --min-games 999", 1, "no finished game"),
        ("ratings none.pgn", 1, "none.pgn"),
    ] {
        let (found, printed, errors) = run_line(line, folder.path());
        assert_eq!(found, Some(status), "{line}: {printed}{errors}");
        assert!(errors.contains(message), "{line}: {errors}");
    }
}

#[test]
fn tournaments_end_with_ratings() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = |name: &str, script: &str| {
        format!("[[engine]]\nname = \"{name}\"\ncommand = {:?}\n", fake_engine(script))
    };
    // Two engines lose one game each; the other games are drawn.
    let scripts = ["uci", "uci fault=illegal at=2 in=1", "uci fault=illegal at=1 in=4"];
    let names = ["a", "b", "c"];
    let engines = [0, 1, 2].map(|number| engine(names[number], scripts[number]));
    fs::write(folder.path().join("engines.toml"), engines.concat()).expect("written");
    let line =
        "autoplay --engines engines.toml -n 2 -j 1 --max-moves 3 --json all.json --pgn games.pgn";
    let printed = run_line_ok(line, folder.path());
    assert!(printed.contains("White's advantage"), "{printed}");
    let text = fs::read_to_string(folder.path().join("all.json")).expect("readable");
    let statistics: Value = serde_json::from_str(&text).expect("JSON");
    let read: Value = serde_json::from_str(&run_line_ok("ratings games.pgn --json", folder.path()))
        .expect("JSON");
    let players = statistics["ratings"]["players"].as_array().expect("players");
    assert_eq!(players.len(), 3);
    assert!(players[0]["elo"].as_f64() > players[2]["elo"].as_f64(), "{players:?}");
    assert_eq!(statistics["ratings"], read);
}
