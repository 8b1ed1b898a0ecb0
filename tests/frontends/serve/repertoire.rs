//! Tests of the repertoire in the explorer: its moves, its gaps, and additions to its file.

use std::fs;

use serde_json::{Value, json};

use super::{Answer, GAMES, Server, check, names};

/// A repertoire for White with a comment, an arrow, an annotation glyph, and a chapter that starts
/// from a set-up position.
const REPERTOIRE: &str = "[Event \"Main\"]\n[Annotator \"Ünsal\"]\n\n1. d4 $1 {best [%cal Gc2c4]} Nf6 \
    (1... d5 2. c4) 2. c4 e6 3. Nc3 *\n\n[Event \"Part\"]\n[SetUp \"1\"]\n\
    [FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 {pawns} Kd7 2. e5 *\n";
const ADD: &str = "/repertoire/moves?play=";

fn server(arguments: &[&str]) -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("games.pgn"), GAMES).expect("written");
    // Games with a reply for which the repertoire has no answer. They are twice as frequent as
    // those with a reply that the repertoire answers.
    let more = "1. d4 Nf6 2. c4 g6 3. Nc3 1-0\n\n".repeat(2);
    fs::write(folder.path().join("more.pgn"), GAMES.to_owned() + "\n" + &more).expect("written");
    fs::write(folder.path().join("rep.pgn"), REPERTOIRE).expect("written");
    let named = ["--repertoire", "rep.pgn", "--side", "white"];
    let server = Server::start(&[arguments, &named].concat(), folder.path());
    (server, folder)
}

impl Server {
    fn post_json(&self, path: &str, body: &Value, headers: &str) -> Answer {
        let (host, body) = (&self.address, body.to_string());
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    fn add(&self, path: &str, body: &Value) -> Answer {
        self.post_json(path, body, "Content-Type: application/json\r\n")
    }

    fn version(&self) -> Value {
        self.get("/repertoire").json()["version"].clone()
    }
}

fn kinds(answer: &Value) -> Vec<(&str, &str)> {
    let moves = answer["moves"].as_array().expect("a list").iter();
    moves
        .map(|mv| (mv["san"].as_str().expect("a move"), mv["kind"].as_str().expect("a kind")))
        .collect()
}

#[test]
fn positions_and_gaps_of_a_repertoire() {
    let (server, _folder) = server(&["more.pgn"]);
    assert_eq!(server.get("/status").json()["repertoire"], true);
    let answer = server.get("/repertoire?play=d2d4").json();
    assert_eq!(kinds(&answer), [("Nf6", "answered"), ("d5", "answered")]);
    assert_eq!((&answer["comments"], &answer["shapes"]), (&json!(["best"]), &json!(["Gc2c4"])));
    assert_eq!(names(&answer["tree"]), ["Nf6", "d5", "c4", "c4", "e6", "Nc3"]);
    assert_eq!((&answer["missing"], &answer["ownTurn"]), (&json!(0), &json!(false)));
    let gaps = server.get("/repertoire/gaps").json();
    let first = &gaps["gaps"][0];
    assert_eq!(names(&first["line"]), ["d4", "Nf6", "c4", "g6"]);
    assert_eq!((&first["proposal"]["san"], &first["games"]), (&json!("Nc3"), &json!(2)));
    let shares: Vec<f64> = gaps["gaps"]
        .as_array()
        .expect("gaps")
        .iter()
        .map(|gap| gap["probability"].as_f64().expect("a number"))
        .collect();
    assert!(
        shares.is_sorted_by(|a, b| a >= b) && (shares[0] - 2.0 / 3.0).abs() < 1e-9,
        "{shares:?}"
    );
    let schemas = &server.get("/openapi.json").json()["components"]["schemas"];
    check(&answer, &schemas["Repertoire"], schemas, "/repertoire");
    check(&gaps, &schemas["Gaps"], schemas, "/repertoire/gaps");
    let outside = server.get("/repertoire?play=e2e4,c7c5,g1f3").json();
    assert_eq!((&outside["known"], &outside["missing"]), (&json!(false), &json!(3)));
}

#[test]
fn filled_gap_is_saved_beside_a_copy() {
    let (server, folder) = server(&["more.pgn"]);
    let read = |name| fs::read_to_string(folder.path().join(name)).expect("there");
    let gap = server.get("/repertoire/gaps").json()["gaps"][0].clone();
    let line: Vec<&str> = gap["line"]
        .as_array()
        .expect("moves")
        .iter()
        .chain([&gap["proposal"]])
        .map(|mv| mv["uci"].as_str().expect("a move"))
        .collect();
    let body = json!({
        "version": server.version(), "comment": "solid } – Ü", "shapes": ["Rd4", "Ge2e4"],
    });
    let answer = server.add(&format!("{ADD}{}", line.join(",")), &body);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!((&answer.json()["added"], &answer.json()["written"]), (&json!(2), &json!(true)));
    assert_eq!(read("rep.pgn.bak"), REPERTOIRE);
    let written = read("rep.pgn");
    let flat = written.replace('\n', " ");
    assert!(flat.contains("(2... g6 3. Nc3 {[%csl Rd4] [%cal Ge2e4] solid ) – Ü})"), "{written}");
    for kept in ["1. d4 $1 {best [%cal Gc2c4]}", "Annotator \"Ünsal\"", "1. e4 {pawns} Kd7 2. e5 *"]
    {
        assert!(flat.contains(kept), "{kept}: {written}");
    }
    assert!(written.ends_with(&REPERTOIRE[REPERTOIRE.find("[Event \"Part").expect("there")..]));
    let left = server.get("/repertoire/gaps").json();
    assert!(left["gaps"].as_array().expect("gaps").iter().all(|other| other["fen"] != gap["fen"]));
    assert_eq!(left["version"], answer.json()["version"]);
    // The same request again changes nothing.
    let body = json!({ "version": server.version() });
    let again = server.add(&format!("{ADD}{}", line.join(",")), &body).json();
    assert_eq!((&again["written"], read("rep.pgn.bak").as_str()), (&json!(false), REPERTOIRE));
}

#[test]
fn conflicts_write_nothing() {
    let (server, folder) = server(&["games.pgn"]);
    let path = folder.path().join("rep.pgn");
    let body = json!({ "version": server.version() });
    let theirs = REPERTOIRE.replace("best", "better");
    fs::write(&path, &theirs).expect("written");
    let place = format!("{ADD}e2e4");
    for _ in 0..2 {
        let answer = server.add(&place, &body);
        assert_eq!(answer.status, 409, "{}", answer.body);
        assert!(answer.json()["error"].as_str().is_some_and(|error| error.contains("rep.pgn")));
        assert_eq!(fs::read_to_string(&path).expect("there"), theirs);
    }
    assert!(!folder.path().join("rep.pgn.bak").exists());
    // The server read the changed file because of the conflict, so the new version can be used.
    assert_eq!(server.get("/repertoire?play=d2d4").json()["comments"], json!(["better"]));
    assert_eq!(server.add(&place, &json!({ "version": server.version() })).status, 200);
    assert_eq!(fs::read_to_string(folder.path().join("rep.pgn.bak")).expect("there"), theirs);
}

#[test]
fn outside_changes_are_shown() {
    let (server, folder) = server(&["more.pgn"]);
    let path = folder.path().join("rep.pgn");
    let gaps = server.get("/repertoire/gaps").json();
    let training = server.get("/training").json();
    let theirs = "[Event \"Theirs\"]\n\n1. e4 {king's pawn} e5 *\n";
    fs::write(&path, theirs).expect("written");
    let shown = server.get("/repertoire?play=e2e4").json();
    assert_eq!((&shown["comments"], &shown["fault"]), (&json!(["king's pawn"]), &Value::Null));
    assert_eq!(server.get("/repertoire/gaps").json()["version"], shown["version"]);
    assert_ne!(gaps["version"], shown["version"]);
    assert_ne!(server.get("/training").json()["new"], training["new"]);
    fs::remove_file(&path).expect("removed");
    let kept = server.get("/repertoire?play=e2e4").json();
    assert_eq!((&kept["comments"], &kept["version"]), (&shown["comments"], &shown["version"]));
    assert!(kept["fault"].as_str().is_some_and(|fault| fault.contains("rep.pgn")), "{kept}");
    let schemas = &server.get("/openapi.json").json()["components"]["schemas"];
    check(&kept, &schemas["Repertoire"], schemas, "/repertoire");
}

#[test]
fn only_own_page_and_local_programs_may_write() {
    let (server, folder) = server(&["games.pgn", "--origin", "https://chess.example"]);
    let (place, body) = (format!("{ADD}e2e4"), json!({ "version": server.version() }));
    let kind = "Content-Type: application/json\r\n";
    for (headers, status) in [
        ("Origin: https://evil.example\r\n", 403),
        ("Origin: https://chess.example\r\n", 403),
        ("Origin: null\r\n", 403),
        ("Sec-Fetch-Site: cross-site\r\n", 403),
        ("X-Forwarded-For: 10.0.0.1\r\n", 403),
    ] {
        let answer = server.post_json(&place, &body, &format!("{kind}{headers}"));
        assert_eq!(answer.status, status, "{headers}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{headers}");
    }
    // Content types that a form on another site can send without a CORS preflight request are
    // rejected.
    for kind in ["", "Content-Type: text/plain\r\n", "Content-Type: multipart/form-data\r\n"] {
        assert_eq!(server.post_json(&place, &body, kind).status, 415, "{kind}");
    }
    for origin in ["https://evil.example", "https://chess.example"] {
        let asked = server.send(&format!(
            "OPTIONS {place} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nOrigin: {origin}\r\n\
             Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n\r\n",
            server.address
        ));
        assert!(asked.status >= 400, "{}", asked.head);
        assert_eq!(asked.header("access-control-allow-origin"), None, "{origin}");
    }
    assert_eq!(server.get(&place).status, 405);
    assert_eq!(fs::read_to_string(folder.path().join("rep.pgn")).expect("there"), REPERTOIRE);
    // Pages of other origins can read the repertoire only if their origin is allowed.
    for path in ["/repertoire", "/repertoire/gaps"] {
        assert_eq!(server.get_with(path, "Origin: https://evil.example\r\n").status, 403);
        assert_eq!(server.get_with(path, "Origin: https://chess.example\r\n").status, 200);
    }
    let own = format!("{kind}Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n", server.address);
    assert_eq!(server.post_json(&place, &body, &own).status, 200);
}

#[test]
fn bad_additions_are_rejected_with_a_reason() {
    let (server, folder) = server(&["games.pgn"]);
    let version = server.version();
    for (play, body, status, named) in [
        ("e2e5", json!({ "version": version }), 400, "no legal move"),
        ("", json!({ "version": version }), 400, "no move"),
        ("0000", json!({ "version": version }), 400, "null move"),
        ("e2e4", json!({}), 400, "version"),
        ("e2e4", json!({ "version": version, "file": "/etc/passwd" }), 400, "file"),
        ("e2e4", json!({ "version": version, "shapes": ["Pe2e4"] }), 400, "no arrow"),
        ("e2e4", json!({ "version": version, "comment": "x".repeat(2001) }), 400, "2000"),
        ("e2e4", json!({ "version": "0" }), 409, "changed"),
    ] {
        let answer = server.add(&format!("{ADD}{play}"), &body);
        assert_eq!(answer.status, status, "{play} {body}");
        assert!(answer.body.contains(named), "{play} {body}: {}", answer.body);
    }
    assert_eq!(
        server.add(&format!("{ADD}e2e4&file=x"), &json!({ "version": version })).status,
        400
    );
    assert_eq!(fs::read_to_string(folder.path().join("rep.pgn")).expect("there"), REPERTOIRE);
    let (plain, _folder) = Server::with_games();
    assert_eq!(plain.get("/status").json()["repertoire"], false);
    assert_eq!(plain.get("/repertoire").status, 404);
    assert_eq!(plain.add(&format!("{ADD}e2e4"), &json!({ "version": "" })).status, 404);
    for arguments in [&["--repertoire", "rep.pgn"][..], &["--side", "white"]] {
        let run = crate::support::tabia(&[&["serve"], arguments].concat(), folder.path());
        assert_eq!(run.status.code(), Some(2), "{arguments:?}");
    }
    let missing = ["serve", "--repertoire", "none.pgn", "--side", "white", "--listen", "0"];
    let run = crate::support::tabia(&missing, folder.path());
    assert!(!run.status.success());
    assert!(String::from_utf8_lossy(&run.stderr).contains("none.pgn"));
}

#[test]
fn books_are_compared_side_by_side() {
    let (server, _folder) = server(&["games.pgn", "more.pgn", "embedded"]);
    let answer = server.get("/book/sources?play=d2d4,g8f6,c2c4").json();
    let schemas = &server.get("/openapi.json").json()["components"]["schemas"];
    check(&answer, &schemas["Sources"], schemas, "/book/sources");
    let sources = answer["sources"].as_array().expect("sources");
    let reached: Vec<&Value> = sources.iter().map(|source| &source["reached"]["games"]).collect();
    assert_eq!(reached[..2], [1, 3]);
    let row = |san: &str| {
        let rows = answer["moves"].as_array().expect("moves");
        rows.iter().find(|mv| mv["san"] == san).unwrap_or_else(|| panic!("{san}: {answer}"))
    };
    assert!(row("g6")["sources"][0].is_null());
    assert_eq!(row("g6")["sources"][1]["played"]["games"], 2);
    assert_eq!(row("g6")["sources"][1]["score"], 0.0);
    assert_eq!(names(&answer["moves"])[0], "e6", "the first book's moves come first");
    // `more.pgn` repeats the game of `games.pgn`, which counts once in all books together.
    let games = |value: &Value| value["games"].as_u64().expect("a number");
    assert_eq!(games(&answer["all"]), 3 + games(&sources[2]["reached"]), "{answer}");
    let embedded = |san| games(&row(san)["sources"][2]["played"]);
    assert_eq!(games(&row("g6")["all"]["played"]), 2 + embedded("g6"), "{answer}");
    assert_eq!(games(&row("e6")["all"]["played"]), 1 + embedded("e6"), "{answer}");
    let filtered = server.get("/book/sources?since=2020-01").json();
    assert!(filtered["sources"][2]["reached"].is_null(), "the embedded book has no dates");
    assert_eq!(filtered["sources"][0]["reached"]["games"], 2);
    assert_eq!(filtered["all"]["games"], 2, "both books have the same games with dates");
    assert_eq!(server.get("/book/sources?nonsense=1").status, 400);
}

#[test]
fn values_name_their_book() {
    let (server, _folder) = server(&["games.pgn", "embedded"]);
    let answer = server.get("/book").json();
    let schemas = &server.get("/openapi.json").json()["components"]["schemas"];
    check(&answer, &schemas["Book"], schemas, "/book");
    assert!(!answer["selfPlay"].as_bool().expect("a flag"), "the games are from `games.pgn`");
    assert_eq!(answer["value"]["book"], "embedded", "{}", answer["value"]);
    let moves = answer["moves"].as_array().expect("moves");
    assert!(moves.iter().any(|mv| mv["valueBook"] == "embedded"), "{moves:?}");
    assert!(moves.iter().all(|mv| mv["value"].is_null() == mv["valueBook"].is_null()), "{moves:?}");
}
