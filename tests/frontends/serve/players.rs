//! Tests of finding players by a part of their names or despite different spellings.

use serde_json::Value;

use super::{Server, names};

/// Games with three spellings of one player's name, with him as White and as Black, and a game by
/// another player with the same surname.
const GAMES: &str = "\
[White \"Carlsen, Magnus\"]\n[Black \"Anand, V\"]\n[Date \"2013.11.09\"]\n\n1. e4 e5 2. Nf3 1-0\n\n\
[White \"Carlsen,M\"]\n[Black \"Karjakin, S\"]\n[Date \"2016.11.11\"]\n\n1. e4 e5 2. Nc3 1/2-1/2\n\n\
[White \"CARLSEN, M.\"]\n[Black \"Anand, Viswanathan\"]\n[Date \"2014.11.08\"]\n\n1. d4 d5 1-0\n\n\
[White \"Anand, V\"]\n[Black \"Carlsen, Magnus\"]\n[Date \"2013.11.10\"]\n\n1. e4 c6 0-1\n\n\
[White \"Carlsen, Pontus\"]\n[Black \"Beta\"]\n[Date \"2010.01.01\"]\n\n1. c4 e5 0-1\n";

fn last_line(server: &Server, query: &str) -> Value {
    let answer = server.get(&format!("/player?{query}"));
    assert_eq!(answer.status, 200, "{query}: {}", answer.body);
    let line = answer.body.lines().rfind(|line| !line.is_empty()).expect("a line");
    serde_json::from_str(line).expect("JSON")
}

fn results(server: &Server, query: &str) -> [u64; 3] {
    let found = last_line(server, query);
    ["white", "draws", "black"].map(|result| found[result].as_u64().expect("a count"))
}

#[test]
fn players_are_found_by_part_spelling_and_opponent() {
    let (server, _folder) = Server::with(GAMES);
    for (query, expected) in [
        ("player=carlsen,%20magnus&color=white", [1, 0, 0]),
        ("player=Carlsen&color=white", [0, 0, 0]),
        ("player=Carlsen&color=white&match=part", [2, 1, 1]),
        ("player=Carlsen,M&color=white&match=spelling", [2, 1, 0]),
        ("player=Carlsen,M&color=black&match=spelling", [0, 0, 1]),
        ("player=Carlsen,M&color=white&match=spelling&opponent=ANAND", [2, 0, 0]),
        ("player=Carlsen,M&color=white&match=spelling&since=2014-01&until=2015-12", [1, 0, 0]),
        ("player=Carlsen,M&color=white&match=spelling&opponent=nobody", [0, 0, 0]),
    ] {
        assert_eq!(results(&server, query), expected, "{query}");
    }
    let answer = last_line(&server, "player=Carlsen,M&color=white&match=spelling&play=e2e4,e7e5");
    let mut found = names(&answer["moves"]);
    found.sort_unstable();
    assert_eq!(found, ["Nc3", "Nf3"]);
    // The first name may come first, and diacritics do not matter.
    let natural = "player=M%C3%A1gnus+Carlsen&color=white&match=part";
    assert_eq!(results(&server, natural), [1, 0, 0]);
    for query in ["player=%3F&color=white&match=part", "player=x&color=white&match=sound"] {
        assert_eq!(server.get(&format!("/player?{query}")).status, 400, "{query}");
    }
}

#[test]
fn games_of_a_player_with_both_colours_are_counted_with_the_score() {
    let (server, _folder) = Server::with(GAMES);
    let both = "player=Carlsen,M&color=both&match=spelling";
    let found = last_line(&server, both);
    assert_eq!(results(&server, both), [2, 1, 1]);
    // Three wins and a draw, one of the wins with Black.
    assert_eq!(found["score"], 0.875);
    let scores = |found: &Value| -> Vec<(String, f64)> {
        let moves = found["moves"].as_array().expect("moves").iter();
        let score = |mv: &Value| mv["score"].as_f64().expect("a score");
        moves.map(|mv| (mv["uci"].as_str().expect("a move").to_owned(), score(mv))).collect()
    };
    let expected = [("e2e4", 2.5 / 3.0), ("d2d4", 1.0)];
    for ((mv, score), (expected_move, expected)) in scores(&found).iter().zip(expected) {
        assert!(mv == expected_move && (score - expected).abs() < 1e-4, "{mv}: {score}");
    }
    // Lichess has neither this colour nor the field.
    assert!(last_line(&server, "player=Carlsen,M&color=white&match=spelling")["score"].is_null());
    assert_eq!(server.get("/player?player=Carlsen").status, 400);
}

#[test]
fn game_between_two_players_found_by_part_has_both_colours() {
    let (server, _folder) =
        Server::with("[White \"Polgar, Judit\"]\n[Black \"Polgar, Zsuzsa\"]\n\n1. e4 e5 1-0\n");
    for (query, expected) in [
        ("color=white", [1, 0, 0]),
        ("color=black", [1, 0, 0]),
        ("color=both", [1, 0, 0]),
        ("color=white&opponent=Judit", [0, 0, 0]),
        ("color=black&opponent=Judit", [1, 0, 0]),
        ("color=both&opponent=Judit", [1, 0, 0]),
    ] {
        let query = format!("player=Polgar&match=part&{query}");
        assert_eq!(results(&server, &query), expected, "{query}");
    }
    let score = |opponent: &str| {
        let query = format!("player=Polgar&match=part&color=both&opponent={opponent}");
        last_line(&server, &query)["score"].as_f64()
    };
    assert_eq!((score("Zsuzsa"), score("Judit")), (Some(1.0), Some(0.0)));
}

#[test]
fn game_in_two_books_counts_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let more = "\n[White \"Carlsen, Magnus\"]\n[Black \"Beta\"]\n\n1. f4 1-0\n";
    // Within one book, a game that occurs twice is counted twice.
    let text = format!("{GAMES}{more}{more}");
    for (name, text) in [("a.pgn", GAMES), ("b.pgn", &text)] {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    let server = Server::start(&["a.pgn", "b.pgn"], folder.path());
    let both = "player=Carlsen,M&color=both&match=spelling";
    assert_eq!(results(&server, both), [4, 1, 1]);
    let players = server.get("/players?part=Carlsen,+M").json();
    assert_eq!(players["players"][0]["games"], 6, "{players}");
    let found = server.get("/search?pattern=e4%3DP&games=100");
    let found: Value =
        serde_json::from_str(found.body.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&found["searched"], &found["found"]["games"]), (&7.into(), &3.into()), "{found}");
    assert_eq!(found["games"].as_array().map(Vec::len), Some(3));
}

#[test]
fn names_are_completed_with_their_spellings_joined() {
    let (server, _folder) = Server::with(GAMES);
    let players = server.get("/players?part=carls").json()["players"].clone();
    let found = |index: usize| {
        let player = &players[index];
        (player["name"].as_str(), player["spellings"].as_u64(), player["games"].as_u64())
    };
    assert_eq!(players.as_array().map(Vec::len), Some(2), "{players}");
    assert_eq!(found(0), (Some("Carlsen, Magnus"), Some(3), Some(4)));
    assert_eq!(found(1), (Some("Carlsen, Pontus"), Some(1), Some(1)));
    // Every spelling is completed, not only the most common one.
    let players = server.get("/players?part=CARLSEN,+M.").json()["players"].clone();
    assert_eq!(players[0]["spellings"], 3);
    let players = server.get("/players?part=Anand,+Vis").json()["players"].clone();
    assert_eq!(players[0]["name"], "Anand, V");
    assert_eq!(server.get("/players?part=nobody").json()["players"], Value::Array(Vec::new()));
    assert_eq!(server.get("/players?part=%2C").json()["players"], Value::Array(Vec::new()));
    assert_eq!(server.get("/players?name=x").status, 400);
}
