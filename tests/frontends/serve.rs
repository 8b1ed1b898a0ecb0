//! Tests of `tabia serve`: responses to valid and invalid requests.

mod analysis;
mod counting;
mod faults;
mod opening_report;
mod origins;
mod patterns;
mod players;
mod repertoire;
mod training;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{PROGRAM, TIMEOUT};

/// Two games that reach the same position by different move orders, and two that have an opening in
/// common but end differently.
const GAMES: &str = "[White \"Alpha, A\"]\n[Black \"Beta\"]\n[WhiteElo \"2400\"]\n[BlackElo \"2300\"]\n[Date \"2020.03.01\"]\n[Event \"Open\"]\n\n1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 1-0\n\n[White \"Beta\"]\n[Black \"Alpha, A\"]\n[WhiteElo \"2310\"]\n[BlackElo \"2410\"]\n[Date \"2021.05.01\"]\n\n1. c4 e6 2. d4 Nf6 3. Nf3 0-1\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O Nf6 1/2-1/2\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 1-0\n";

struct Server {
    child: Child,
    address: String,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl Server {
    fn start(arguments: &[&str], folder: &Path) -> Self {
        let mut command = Command::new(PROGRAM);
        command.arg("serve").args(arguments).args(["--listen", "0"]).current_dir(folder);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let address = line
            .trim()
            .strip_prefix("http://")
            .expect("an address")
            .trim_end_matches('/')
            .to_owned();
        let server = Server { child, address };
        server.wait();
        server
    }

    fn with_games() -> (Self, tempfile::TempDir) {
        Self::with(GAMES)
    }

    fn with(games: &str) -> (Self, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("games.pgn"), games).expect("written");
        (Self::start(&["games.pgn"], folder.path()), folder)
    }

    fn wait(&self) {
        while self.get("/status").json()["ready"] != true {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a time limit");
        stream
    }

    fn send(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("sent");
        let mut text = Vec::new();
        stream.read_to_end(&mut text).expect("read");
        let text = String::from_utf8_lossy(&text);
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status =
            head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let is_chunked =
            head.contains("transfer-encoding: chunked") && !head.contains("content-encoding");
        let body = if is_chunked { unchunked(body) } else { body.to_owned() };
        Answer { status, head: head.to_owned(), body }
    }

    fn get(&self, path: &str) -> Answer {
        self.get_with(path, "")
    }

    fn get_with(&self, path: &str, headers: &str) -> Answer {
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
        ))
    }

    fn post(&self, path: &str, body: &str) -> Answer {
        let length = body.len();
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).expect("a length");
        body.push_str(&after[..length]);
        rest = after[length..].trim_start_matches("\r\n");
        if length == 0 {
            break;
        }
    }
    body
}

fn names(moves: &Value) -> Vec<&str> {
    moves.as_array().expect("a list").iter().map(|mv| mv["san"].as_str().expect("a name")).collect()
}

#[test]
fn book_answer_has_both_counts_and_move_orders() {
    let (server, _folder) = Server::with_games();
    let answer = server.get("/book?play=d2d4,g8f6,c2c4,e7e6").json();
    // The position has no opening name, so the response contains the name of the last earlier
    // position that has one.
    assert_eq!(answer["opening"]["eco"], "A50");
    assert_eq!(answer["reached"]["games"], 2);
    assert_eq!(names(&answer["moves"]), ["Nc3", "Nf3"]);
    assert_eq!(names(&answer["line"]), ["d4", "Nf6", "c4", "e6"]);
    assert_eq!(answer["legal"].as_array().map(Vec::len), Some(30));
    let before = server.get("/book?play=d2d4,g8f6,c2c4").json();
    let e6 = &before["moves"][0];
    assert_eq!(
        (e6["played"]["games"].as_u64(), e6["reached"]["games"].as_u64()),
        (Some(1), Some(2))
    );
    let arrivals = names(&answer["arrivals"]);
    assert!(arrivals.contains(&"e6") && arrivals.contains(&"Nf6"), "{arrivals:?}");
    let move_orders = server.get("/book/move-orders?play=d2d4,g8f6,c2c4,e7e6").json();
    assert_eq!(server.get("/book/ways?play=d2d4,g8f6,c2c4,e7e6").json(), move_orders);
    let orders: Vec<Vec<&str>> = move_orders["orders"]
        .as_array()
        .expect("orders")
        .iter()
        .map(|order| names(&order["moves"]))
        .collect();
    assert!(orders.contains(&vec!["c4", "e6", "d4", "Nf6"]), "{orders:?}");
    let over = server.get("/book?play=f2f3,e7e5,g2g4,d8h4").json();
    assert_eq!(
        (over["outcome"].as_str(), over["legal"].as_array().map(Vec::len)),
        (Some("Black mates"), Some(0))
    );
}

#[test]
fn lichess_endpoints_have_the_lichess_format() {
    let (server, _folder) = Server::with_games();
    let answer = server.get("/masters?play=e2e4,e7e5,g1f3,b8c6,f1c4,f8c5").json();
    let [castling, c3] = [&answer["moves"][0], &answer["moves"][1]];
    assert_eq!((castling["uci"].as_str(), castling["draws"].as_u64()), (Some("e1h1"), Some(1)));
    assert_eq!((c3["san"].as_str(), c3["white"].as_u64()), (Some("c3"), Some(1)));
    assert_eq!((answer["white"].as_u64(), answer["draws"].as_u64()), (Some(1), Some(1)));
    assert!(answer["topGames"].is_array() && answer["recentGames"].is_null());
    let named = server.get("/master?play=e2e4,e7e5,g1f3,b8c6,f1c4,f8c5,b1a3,g8h6").json();
    assert_eq!(named["opening"]["name"], "Italian Game: Giuoco Piano");
    assert_eq!(
        (named["white"].as_u64(), named["moves"].as_array().map(Vec::len)),
        (Some(0), Some(0))
    );
    let lichess = server
        .get("/lichess?speeds=&ratings=&variant=standard&since=1952-01&until=3000-12&history=true");
    let lichess = lichess.json();
    assert!(lichess["recentGames"].is_array() && lichess["history"].is_array());
    for wrong in
        ["/masters?fen=x", "/masters?play=e2e5", "/lichess?variant=atomic", "/lichess?moves=x"]
    {
        let answer = server.get(wrong);
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (400, Some("text/plain; charset=utf-8")),
            "{wrong}"
        );
    }
}

#[test]
fn games_are_filtered_by_rating_speed_and_date() {
    let (server, _folder) = Server::with_games();
    assert_eq!(server.get("/status").json()["facets"], true);
    let counts = |path: &str| {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let answer = answer.json();
        ["white", "draws", "black"].map(|result| answer[result].as_u64().expect("a number"))
    };
    assert_eq!(counts("/lichess"), [2, 1, 1]);
    assert_eq!(counts("/lichess?ratings=2200,2500"), [1, 0, 1]);
    assert_eq!(counts("/lichess?ratings=2500"), [0, 0, 0]);
    assert_eq!(counts("/lichess?since=2020-04"), [0, 0, 1]);
    assert_eq!(counts("/lichess?until=2020-03"), [1, 0, 0]);
    assert_eq!(counts("/masters?since=2021&until=2021"), [0, 0, 1]);
    assert_eq!(counts("/lichess?speeds=blitz"), [0, 0, 0]);
    assert_eq!(counts("/lichess?speeds=blitz,classical"), [2, 1, 1]);
    let masters = server.get("/masters").json();
    let d4 = masters["moves"].as_array().expect("moves").iter().find(|mv| mv["uci"] == "d2d4");
    let d4 = d4.expect("d4");
    assert_eq!(d4["averageRating"], 2400);
    assert_eq!(d4["game"]["white"]["name"], "Alpha, A");
    let top = &masters["topGames"][0];
    assert_eq!(
        (&top["winner"], &top["year"], &top["uci"]),
        (&"black".into(), &2021.into(), &"c2c4".into())
    );
    let pgn = server.get(&format!("/masters/pgn/{}", top["id"].as_str().expect("an id")));
    assert!(
        pgn.body.contains("[White \"Beta\"]") && pgn.body.contains("3. Nf3 0-1"),
        "{}",
        pgn.body
    );
    let castled = server.get("/lichess?play=e2e4,e7e5,g1f3,b8c6,f1c4,f8c5").json();
    let of_lists = ["topGames", "recentGames"].map(|list| {
        castled[list].as_array().expect("games").iter().any(|game| game["uci"] == "e1h1")
    });
    assert_eq!(of_lists, [true, true], "{castled}");
    assert!(
        castled["moves"].as_array().expect("moves").iter().any(|mv| mv["game"]["uci"] == "e1h1")
    );
    let history = server.get("/lichess?history=true").json();
    assert_eq!(history["history"][0]["month"], "2020-03");
    assert_eq!(history["history"][1]["black"], 1);
}

#[test]
fn player_endpoint_returns_statistics_and_games() {
    let (server, _folder) = Server::with_games();
    let answer = server.get("/player?player=alpha,%20a&color=white&recentGames=1");
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    let last = answer.body.lines().rfind(|line| !line.is_empty()).expect("a line");
    let last: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!((last["white"].as_u64(), last["queuePosition"].as_u64()), (Some(1), Some(0)));
    let d4 = &last["moves"][0];
    assert_eq!(
        (d4["uci"].as_str(), d4["averageOpponentRating"].as_u64(), d4["performance"].as_u64()),
        (Some("d2d4"), Some(2300), Some(3100))
    );
    let game = &last["recentGames"][0];
    assert_eq!(
        (game["month"].as_str(), game["speed"].as_str(), game["mode"].as_str()),
        (Some("2020-03"), Some("classical"), Some("rated"))
    );
    let id = game["id"].as_str().expect("an id");
    let pgn = server.get(&format!("/masters/pgn/{id}"));
    assert!(
        pgn.body.contains("[White \"Alpha, A\"]") && pgn.body.contains("3. Nc3 Bb4 1-0"),
        "{}",
        pgn.body
    );
    assert_eq!(names(&server.get(&format!("/game/{id}")).json()["moves"]).len(), 6);
    let nobody = server.get("/personal?player=nobody&color=black").body;
    assert!(nobody.contains("\"moves\":[]"), "{nobody}");
    assert_eq!(server.get("/player?player=x").status, 400);
    assert_eq!(server.get("/game/zzzzzzzz").status, 404);
}

#[test]
fn answers_have_etag_compression_and_cors_headers() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(&[], folder.path());
    let first = server.get("/book?play=e2e4");
    let tag = first.header("etag").expect("a tag").to_owned();
    assert_eq!(first.header("access-control-allow-origin"), Some("*"));
    let again = server.get_with("/book?play=e2e4", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    let other = server.get_with("/book?play=d2d4", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!(other.status, 200);
    let packed = server.get_with("/book?play=e2e4", "Accept-Encoding: gzip\r\n");
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    for (path, kind) in
        [("/", "text/html"), ("/main.js", "text/javascript"), ("/style.css", "text/css")]
    {
        let file = server.get(path);
        assert!(
            file.status == 200
                && file.header("content-type").is_some_and(|found| found.starts_with(kind))
        );
        assert!(!file.body.contains("://") || path == "/", "{path} refers to another server");
    }
}

#[test]
fn bad_requests_get_an_error_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(&["embedded"], folder.path());
    for (path, status, named) in [
        ("/book?fen=8/8/8/8/8/8/8/8%20w%20-%20-", 400, "king"),
        ("/book?play=e2e4,e2e4", 400, "no legal move"),
        ("/book?nonsense=1", 400, "nonsense"),
        ("/book?play=e2e4&play=e2e4", 400, "twice"),
        ("/book?speeds=blitz", 409, "does not keep"),
        ("/analysis?seconds=100000", 400, "from 1 to 60"),
        ("/analysis?play=f2f3,e7e5,g2g4,d8h4", 400, "over"),
        ("/game/../../etc/passwd", 404, "nothing"),
        ("/Cargo.toml", 404, "nothing"),
        ("/player?player=x&color=white", 404, "no games"),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.body.contains(named), "{path}: {}", answer.body);
    }
    assert_eq!(server.get(&format!("/book?fen={}", "x".repeat(9000))).status, 400);
    assert_eq!(server.get(&format!("/book?fen={}", "x".repeat(50_000))).status, 431);
    assert_eq!(server.post("/read", &"x".repeat(300_000)).status, 413);
    assert_eq!(server.post("/book", "").status, 405);
    assert!(server.post("/read", "no chess").body.contains("no position"));
    assert_eq!(
        names(&server.post("/read", "1. e4 e5 2. Nf3").json()["moves"]),
        ["e4", "e5", "Nf3"]
    );
}

#[test]
fn analysis_streams_lines_and_transpositions_into_the_book() {
    let (server, _folder) = Server::with_games();
    // No game reached the position after 1. c4 Nf6, but lines from it transpose into the games.
    let answer = server.get("/analysis?play=c2c4,g8f6&seconds=1&lines=2");
    let events = analysis::events(&answer);
    let lines: Vec<&Value> =
        events.iter().filter(|(name, _)| *name == "line").map(|(_, data)| data).collect();
    assert!(
        lines.iter().any(|line| line["number"] == 2)
            && lines.iter().all(|line| line["moves"].is_array())
    );
    let (last, end) = events.last().expect("events");
    assert!(*last == "end" && end["best"]["san"].is_string(), "{end}");
    let found = events.iter().filter(|(name, _)| *name == "transposition");
    assert!(found.clone().count() > 0, "{}", answer.body);
    assert!(found.into_iter().all(|(_, found)| found["fromOutside"] == true));
}

fn json_lines(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"), "{}", answer.body);
    answer.body.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn annotation_streams_progress_and_the_game() {
    let (server, _folder) = Server::with_games();
    let schemas = &server.get("/openapi.json").json()["components"]["schemas"];
    let pgn = "[White \"A \\\"B\\\"\"]\n\n1. f3 {mine} e5 2. g4 Qh4# 0-1\n";
    let lines = json_lines(&server.post("/annotate?nodes=2000", pgn));
    for line in &lines {
        check(line, &schemas["AnnotationLine"], schemas, "/annotate");
    }
    let (last, steps) = lines.split_last().expect("lines");
    assert!(steps.len() >= 5 && steps[4]["searched"] == 5, "{steps:?}");
    let end = steps.last().expect("steps");
    assert_eq!(end["searched"], end["of"]);
    assert_eq!(last["game"]["san"][3], "Qh4#");
    assert_eq!(last["game"]["notes"][2]["nags"], serde_json::json!([4]), "{last}");
    assert!(last["game"]["notes"][0]["comment"].as_str().is_some_and(|text| text.contains("mine")));
    assert!(last["pgn"].as_str().is_some_and(|pgn| pgn.contains("2. g4 $4")), "{last}");
}

#[test]
fn annotation_requests_are_validated_and_limited() {
    let (server, _folder) = Server::with_games();
    for (path, body, named) in [
        ("/annotate", "8/8/8/4k3/8/8/8/4K3 w - - 0 1", "no move to be explained"),
        ("/annotate", "no chess", "no position"),
        ("/annotate?nodes=99999999", "1. e4", "from 100 to 200000"),
        ("/annotate?book=x", "1. e4", "no parameter"),
        ("/annotate", &"Nf3 Nf6 Ng1 Ng8 ".repeat(200), "at most 600 moves"),
    ] {
        let answer = server.post(path, body);
        assert_eq!(answer.status, 400, "{path}");
        assert!(answer.body.contains(named), "{path}: {}", answer.body);
    }
    assert_eq!(server.post("/annotate", &"x".repeat(300_000)).status, 413);
    // Only one annotation runs at a time, so the second request fails until the first connection is
    // closed.
    let long = "Nf3 Nf6 Ng1 Ng8 ".repeat(100);
    let mut open = server.connect();
    let request = format!(
        "POST /annotate?nodes=200000&client=a HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{long}",
        long.len()
    );
    open.write_all(request.as_bytes()).expect("sent");
    open.read_exact(&mut [0; 15]).expect("an answer");
    assert_eq!(server.post("/annotate?client=b", "1. e4").status, 503);
    drop(open);
    let answer = server.post("/annotate?client=b&nodes=100", "1. e4");
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[test]
fn answers_match_the_openapi_description() {
    let (server, _folder) = Server::with_games();
    let description = server.get("/openapi.json").json();
    let schemas = &description["components"]["schemas"];
    let player = server.get("/player?player=beta&color=white").body;
    let player: Value = serde_json::from_str(player.lines().last().expect("a line")).expect("JSON");
    let game = format!("/game/{}", player["recentGames"][0]["id"].as_str().expect("an id"));
    for (path, schema) in [
        ("/book", "Book"),
        ("/book?play=d2d4,g8f6,c2c4", "Book"),
        ("/book/move-orders?play=d2d4,g8f6,c2c4,e7e6", "MoveOrders"),
        ("/players?part=alpha", "Players"),
        ("/status", "Status"),
        (game.as_str(), "Game"),
        ("/book?fen=x", "Error"),
    ] {
        check(&server.get(path).json(), &schemas[schema], schemas, path);
    }
    let served: Vec<&String> = description["paths"].as_object().expect("paths").keys().collect();
    for path in served
        .into_iter()
        .filter(|path| !path.contains('{'))
        .filter(|path| {
            !["/read", "/annotate", "/analysis", "/report", "/search"].contains(&path.as_str())
        })
        .filter(|path| !path.starts_with("/repertoire") && !path.starts_with("/training"))
    {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
}

/// Checks that a value conforms to a schema. Supports only the features of JSON Schema used in
/// Tabia's OpenAPI description.
fn check(value: &Value, schema: &Value, all: &Value, place: &str) {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        return check(value, &all[name], all, place);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits = |choice: &&Value| match choice["type"].as_str() {
            Some("null") => value.is_null(),
            Some("object") => choice["required"].as_array().is_some_and(|names| {
                names.iter().all(|name| value.get(name.as_str().unwrap_or_default()).is_some())
            }),
            _ => !value.is_null(),
        };
        let choice =
            choices.iter().find(fits).unwrap_or_else(|| panic!("{place}: {value} fits nothing"));
        return check(value, choice, all, place);
    }
    if let Some(values) = schema["enum"].as_array() {
        assert!(values.contains(value), "{place}: {value}");
    }
    match schema["type"].as_str() {
        Some("object") => {
            let object =
                value.as_object().unwrap_or_else(|| panic!("{place}: {value} is no object"));
            for name in schema["required"].as_array().into_iter().flatten() {
                assert!(
                    object.contains_key(name.as_str().expect("a name")),
                    "{place} has no {name}"
                );
            }
            for (name, inner) in object {
                let described = &schema["properties"][name];
                assert!(!described.is_null(), "{place}.{name} is not described");
                check(inner, described, all, &format!("{place}.{name}"));
            }
        }
        Some("array") => {
            let items = value.as_array().unwrap_or_else(|| panic!("{place}: {value} is no list"));
            items.iter().for_each(|item| check(item, &schema["items"], all, place));
        }
        Some("string") => assert!(value.is_string(), "{place}: {value}"),
        Some("boolean") => assert!(value.is_boolean(), "{place}: {value}"),
        Some("integer") => assert!(value.is_i64() || value.is_u64(), "{place}: {value}"),
        Some("number") => assert!(value.is_number(), "{place}: {value}"),
        _ => {}
    }
}

#[test]
fn server_ends_cleanly_and_reports_startup_errors() {
    let (mut server, folder) = Server::with_games();
    let mut open = server.connect();
    open.write_all(b"GET /analysis?seconds=50 HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    let mut first = [0; 15];
    open.read_exact(&mut first).expect("an answer");
    let id = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("a signal");
    assert!(server.child.wait().expect("ended").success());
    let run = |arguments: &[&str]| crate::support::tabia(arguments, folder.path());
    let missing = run(&["serve", "missing.tbk", "--listen", "0"]);
    assert!(!missing.status.success());
    assert!(String::from_utf8_lossy(&missing.stderr).contains("missing.tbk"));
    let nowhere = run(&["serve", "--listen", "nowhere at all"]);
    assert_eq!(nowhere.status.code(), Some(2));
}

#[test]
fn counts_of_the_embedded_book_are_marked_as_self_play() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("games.pgn"), GAMES).expect("written");
    for (books, expected) in
        [(&["embedded"][..], true), (&["games.pgn"], false), (&["games.pgn", "embedded"], false)]
    {
        let server = Server::start(books, folder.path());
        for path in ["/book", "/book/move-orders"] {
            assert_eq!(server.get(path).json()["selfPlay"], expected, "{books:?} {path}");
        }
        // Responses in Lichess's format contain the field `selfPlay` only if it is true.
        for path in ["/masters", "/lichess", "/lichess/history"] {
            let answer = server.get(path).json();
            let field = answer.get("selfPlay").and_then(Value::as_bool);
            assert_eq!(field, expected.then_some(true), "{books:?} {path}");
        }
    }
}
