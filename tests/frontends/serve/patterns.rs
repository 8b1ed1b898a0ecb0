//! Tests of `/search`, which searches the games of the books for material, pawns and pieces.

use serde_json::Value;

use super::{Server, check};
use crate::support::tabia;

/// Returns the last line of the response to a pattern search, after checking all lines against the
/// OpenAPI description.
fn search(server: &Server, query: &str) -> Value {
    let schemas = &server.get("/openapi.json").json()["components"]["schemas"];
    let answer = server.get(&format!("/search?{query}"));
    assert_eq!(answer.status, 200, "{query}: {}", answer.body);
    let lines = answer.body.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let lines: Vec<Value> = lines.collect();
    lines.iter().for_each(|line| check(line, &schemas["PatternLine"], schemas, query));
    lines.into_iter().next_back().expect("a line")
}

/// Returns the name of White in each game found, and the plies at which the pattern occurs.
fn games(found: &Value) -> Vec<(&str, Vec<u64>)> {
    let plies = |game: &Value| {
        let places = game["positions"].as_array().expect("positions").iter();
        places.map(|place| place["ply"].as_u64().expect("a ply")).collect()
    };
    let games = found["games"].as_array().expect("games").iter();
    games.map(|game| (game["white"]["name"].as_str().expect("a name"), plies(game))).collect()
}

#[test]
fn games_with_a_pattern_are_listed_with_their_plies() {
    let (server, _folder) = Server::with_games();
    let found = search(&server, "pattern=d4%3DP+c4%3DP+e6%3Dp");
    assert_eq!((found["searched"].as_u64(), found["found"]["games"].as_u64()), (Some(4), Some(2)));
    assert_eq!(
        (found["found"]["white"].as_u64(), found["found"]["black"].as_u64()),
        (Some(1), Some(1))
    );
    // Games are sorted by date, latest first. The latest game also has the highest rating, so
    // sorting by rating puts it first too.
    assert_eq!(games(&found), [("Beta", vec![3]), ("Alpha, A", vec![4])]);
    let fen = found["games"][1]["positions"][0]["fen"].as_str().expect("a FEN");
    assert!(fen.starts_with("rnbqkb1r/pppp1ppp/4pn2/8/2PP4/8/PP2PPPP/RNBQKBNR w"), "{fen}");
    let found = search(&server, "pattern=d4%3DP+c4%3DP+e6%3Dp&sort=rating&games=1");
    assert_eq!(games(&found), [("Beta", vec![3])]);
    assert_eq!(found["found"]["games"], 2);
    // A filter restricts the games to be searched.
    let found = search(&server, "pattern=d4%3DP+c4%3DP+e6%3Dp&until=2020-12");
    assert_eq!((found["searched"].as_u64(), games(&found)), (Some(1), vec![("Alpha, A", vec![4])]));
    let found = search(&server, "pattern=KQvK&client=a");
    assert_eq!((found["found"]["games"].as_u64(), games(&found).len()), (Some(0), 0));
    for (query, named) in [
        ("", "names no pieces"),
        ("pattern=KRX", "KRX"),
        ("pattern=KvK&games=101", "from 0 to 100"),
        ("pattern=KvK&sort=elo", "latest or rating"),
        ("pattern=KvK&speeds=fast", "speeds"),
        ("pattern=KvK&moves=3", "moves"),
    ] {
        let answer = server.get(&format!("/search?{query}"));
        assert_eq!(answer.status, 400, "{query}: {}", answer.body);
        assert!(answer.body.contains(named), "{query}: {}", answer.body);
    }
    assert_eq!(
        server.get_with("/search?pattern=KvK", "Origin: https://elsewhere.example\r\n").status,
        403
    );
}

#[test]
fn several_books_are_searched_and_missing_games_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |white: &str| {
        format!("[White \"{white}\"]\n[Date \"2020.01.01\"]\n\n1. e4 e5 2. Nf3 1-0\n")
    };
    for name in ["one", "two"] {
        std::fs::write(folder.path().join(format!("{name}.pgn")), text(name)).expect("written");
        let (games, book) = (format!("{name}.pgn"), format!("{name}.tbk"));
        let built = tabia(&["book", "build", "--facets", &games, "-o", &book], folder.path());
        assert!(built.status.success());
    }
    let server = Server::start(&["one.tbk", "two.tbk"], folder.path());
    let found = search(&server, "pattern=f3%3DN");
    assert_eq!(games(&found), [("one", vec![3]), ("two", vec![3])]);
    drop(server);
    std::fs::remove_file(folder.path().join("two.pgn")).expect("removed");
    let server = Server::start(&["one.tbk", "two.tbk"], folder.path());
    for _ in 0..2 {
        let found = search(&server, "pattern=f3%3DN");
        let error = found["error"].as_str().expect("an error");
        assert!(error.contains("two.pgn: it no longer exists"), "{error}");
    }
    // A book without facets cannot be searched, because it does not list its games.
    let built = tabia(&["book", "build", "one.pgn", "-o", "plain.tbk"], folder.path());
    assert!(built.status.success());
    let server = Server::start(&["plain.tbk"], folder.path());
    assert_eq!(server.get("/search?pattern=f3%3DN").status, 409);
}
