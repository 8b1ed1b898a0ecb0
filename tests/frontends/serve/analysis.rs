//! Tests of `/analysis`: book data for its lines, limits, and cached and stored results.

use serde_json::Value;

use super::{Answer, GAMES, Server, names};
use crate::support::tabia;

/// Returns the names and data of the server-sent events in a response.
pub(super) fn events(answer: &Answer) -> Vec<(&str, Value)> {
    assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{}", answer.body);
    let events = answer.body.split("\n\n");
    let parts = events.filter_map(|event| event.strip_prefix("event: ")?.split_once("\ndata: "));
    parts.map(|(name, data)| (name, serde_json::from_str(data).expect("JSON"))).collect()
}

fn of_kind<'a>(events: &'a [(&str, Value)], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|(name, _)| *name == kind).map(|(_, data)| data).collect()
}

fn end<'a>(events: &'a [(&str, Value)]) -> &'a Value {
    let (name, data) = events.last().expect("events");
    assert_eq!(*name, "end");
    data
}

/// Returns the last line with an exact score for each rank.
fn last_lines(events: &[(&str, Value)]) -> Vec<Value> {
    let mut lines = of_kind(events, "line");
    lines.retain(|line| line["bound"] == "exact");
    let rank = |number: u64| lines.iter().rfind(|line| line["number"] == number).copied().cloned();
    (1..).map_while(rank).collect()
}

#[test]
fn lines_and_moves_are_compared_with_the_book() {
    let (server, _folder) = Server::with_games();
    let start = "d2d4,g8f6";
    let answer = server.get(&format!("/analysis?play={start}&seconds=1&lines=3&values=true"));
    let events = events(&answer);
    let book = |moves: &[&str]| server.get(&format!("/book?play={}", moves.join(","))).json();
    let root: Vec<&str> = start.split(',').collect();
    let known = book(&root);
    let valued = names_of(&of_kind(&events, "value"));
    let mut expected: Vec<String> = names(&known["moves"]).into_iter().map(str::to_owned).collect();
    expected.sort();
    assert_eq!(valued, expected);
    let lines = last_lines(&events);
    assert_eq!(lines.len(), 3);
    let mut novelties = 0;
    for line in &lines {
        let (mut moves, mut novelty, mut before) = (root.clone(), Value::Null, known.clone());
        let games = line["games"].as_array().expect("a list");
        assert_eq!(games.len(), line["moves"].as_array().expect("a list").len());
        for (index, mv) in line["moves"].as_array().expect("a list").iter().enumerate() {
            moves.push(mv["uci"].as_str().expect("a move"));
            let after = book(&moves);
            assert_eq!(games[index], after["reached"]["games"], "{moves:?}");
            if novelty.is_null() && continues(&before) && games[index] == 0 {
                novelty = (index + 1).into();
            }
            before = after;
        }
        assert_eq!(line["novelty"], novelty, "{line}");
        novelties += usize::from(!novelty.is_null());
    }
    assert!(novelties > 0, "{lines:?}");
}

#[test]
fn every_book_move_gets_a_value() {
    let moves =
        "a3 a4 b3 b4 c3 c4 d3 d4 f3 f4 g3 g4 h3 h4 Na3 Nc3 Ne2 Nf3 Nh3 Be2 Bd3 Bc4 Bb5 Ba6 Qe2 Qf3";
    let moves: Vec<&str> = moves.split(' ').collect();
    let games: String = moves.iter().map(|mv| format!("1. e4 e5 2. {mv} 1-0\n\n")).collect();
    let (server, _folder) = Server::with(&games);
    let answer = server.get("/analysis?play=e2e4,e7e5&seconds=2&values=true");
    let mut expected: Vec<String> = moves.into_iter().map(str::to_owned).collect();
    expected.sort();
    assert_eq!(names_of(&of_kind(&events(&answer), "value")), expected);
}

/// Returns true if the book has games that reached the position and continued from it.
fn continues(book: &Value) -> bool {
    let moves = book["moves"].as_array().expect("a list");
    book["reached"]["games"] != 0 && moves.iter().any(|mv| mv["played"]["games"] != 0)
}

fn names_of(values: &[&Value]) -> Vec<String> {
    let mut names: Vec<String> =
        values.iter().map(|value| value["san"].as_str().expect("a name").to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn searches_stay_within_the_limits_given_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = ["--max-threads", "2", "--max-lines", "3", "--max-memory", "16M"];
    let server = Server::start(&limits, folder.path());
    let searches = &server.get("/status").json()["searches"];
    let found = ["threads", "lines", "memory"].map(|name| searches[name].as_u64());
    assert_eq!(found, [Some(2), Some(3), Some(16)]);
    for (wrong, most) in [("threads=3", 2), ("lines=4", 3), ("memory=17", 16), ("lines=0", 3)] {
        let answer = server.get(&format!("/analysis?seconds=1&{wrong}"));
        assert_eq!(answer.status, 400, "{wrong}");
        assert!(answer.body.contains(&format!("from 1 to {most}")), "{}", answer.body);
    }
    let most = server.get("/analysis?seconds=1&threads=2&lines=3&memory=16");
    assert_eq!(last_lines(&events(&most)).len(), 3);
}

#[test]
fn a_position_that_was_searched_as_long_is_not_searched_again() {
    let (server, _folder) = Server::with_games();
    let first = server.get("/analysis?play=e2e4&seconds=1&lines=2");
    let first = events(&first);
    assert_eq!(end(&first)["reason"], "time");
    let again = server.get("/analysis?play=e2e4&seconds=1&lines=2");
    let again = events(&again);
    assert_eq!(end(&again)["reason"], "cached");
    assert_eq!(end(&again)["depth"], end(&first)["depth"]);
    assert_eq!(of_kind(&again, "line").len(), 2, "{again:?}");
    for line in of_kind(&again, "line") {
        assert!(of_kind(&first, "line").contains(&line), "{line}");
    }
    // Request the same position as a FEN and with fewer lines. The cached result is sufficient.
    let fewer =
        "/analysis?fen=rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR_b_KQkq_-_0_1&seconds=1";
    let fewer = server.get(fewer);
    let fewer = events(&fewer);
    assert_eq!((&end(&fewer)["reason"], of_kind(&fewer, "line").len()), (&"cached".into(), 1));
    // A longer search first sends the known lines, and then only deeper ones.
    let longer = server.get("/analysis?play=e2e4&seconds=2&lines=2");
    let longer = events(&longer);
    assert_eq!(end(&longer)["reason"], "time");
    let depth = |value: &Value| value["depth"].as_i64().expect("a depth");
    let known = of_kind(&again, "line").into_iter().chain([end(&first)]);
    let least = known.map(depth).min();
    assert!(of_kind(&longer, "line").into_iter().map(depth).min() >= least, "{longer:?}");
    assert!(depth(end(&longer)) >= depth(end(&first)));
}

#[test]
fn kept_values_are_shown_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    std::fs::write(file("games.pgn"), GAMES).expect("written");
    let built = tabia(&["book", "build", "games.pgn", "-o", "games.tbk"], folder.path());
    assert!(built.status.success());
    let start = |arguments: &[&str]| Server::start(arguments, folder.path());
    let keep = ["games.tbk", "--keep", "games.tbk.analysis"];
    let server = start(&keep);
    let position = "play=e2e4,e7e5";
    let answer = server.get(&format!("/analysis?{position}&seconds=2&lines=20"));
    let lines = last_lines(&events(&answer));
    assert!(server.get(&format!("/book?{position}")).json()["value"].is_null());
    drop(server);
    let line = lines.iter().find(|line| line["moves"][0]["san"] == "Nf3").expect("a line");
    let check = |server: &Server| {
        let book = server.get(&format!("/book?{position}")).json();
        let known = &book["moves"][0];
        assert_eq!(known["san"], "Nf3");
        assert_eq!((&known["value"], &known["valueDepth"]), (&line["score"], &line["depth"]));
        book
    };
    let server = start(&keep);
    assert_eq!(check(&server)["value"]["score"], lines[0]["score"]);
    drop(server);
    // A `--keep` file can be used only with the book for which it was created.
    let other = tabia(
        &["serve", "embedded", "--listen", "0", "--keep", "games.tbk.analysis"],
        folder.path(),
    );
    assert!(!other.status.success());
    let text = String::from_utf8_lossy(&other.stderr);
    assert!(text.contains("games.tbk.analysis") && text.contains("other settings"), "{text}");
    // `book analyse` uses the stored values.
    let least = ["--min-games", "1000", "--nodes", "1000"];
    let analysed = tabia(&[&["book", "analyse", "games.tbk"][..], &least].concat(), folder.path());
    assert!(analysed.status.success(), "{}", String::from_utf8_lossy(&analysed.stderr));
    assert!(!file("games.tbk.analysis").exists());
    check(&start(&["games.tbk"]));
}
