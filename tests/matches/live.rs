//! Tests of the live page of a match: its event stream, game data, and the limit on connections.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::{PROGRAM, TIMEOUT, fake_engine as fake};

/// A match with a live page.
struct Live {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
    address: String,
}

impl Live {
    fn start(arguments: &[&str], folder: &Path) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(["autoplay", "--listen", "127.0.0.1:0", "--nodes", "1"]).args(arguments);
        command.args(["--patience", "600"]).current_dir(folder).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("Live page: http://").expect("an address");
        let address = address.trim_end_matches('/').to_owned();
        Live { child, output, address }
    }

    fn request(&self, path: &str, headers: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a time limit");
        let host = &self.address;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n")
            .expect("sent");
        stream
    }

    fn get(&self, path: &str, headers: &str) -> String {
        let mut text = String::new();
        self.request(path, headers).read_to_string(&mut text).expect("read");
        text
    }

    fn events(&self, boards: usize) -> Events {
        let stream = self.request(&format!("/events?boards={boards}"), "");
        Events { lines: BufReader::new(stream), name: String::new() }
    }

    /// Waits for the match to end, and returns the exit status and the output of `autoplay`.
    fn end(mut self) -> (Option<i32>, String) {
        let mut text = String::new();
        self.output.read_to_string(&mut text).expect("read");
        (self.child.wait().expect("reaped").code(), text)
    }

    fn interrupt(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill runs").success());
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Events {
    lines: BufReader<TcpStream>,
    name: String,
}

impl Iterator for Events {
    type Item = (String, Value);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).expect("read") == 0 {
                return None;
            }
            if let Some(name) = line.trim().strip_prefix("event: ") {
                self.name = name.to_owned();
            } else if let Some(data) = line.trim().strip_prefix("data: ") {
                let value = serde_json::from_str(data).expect("JSON");
                return Some((std::mem::take(&mut self.name), value));
            }
        }
    }
}

impl Events {
    /// Returns the next event with this name for which `wanted` returns true.
    fn find(&mut self, name: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let found = Iterator::find(self, |(other, value)| other == name && wanted(value));
        found.unwrap_or_else(|| panic!("no event {name}")).1
    }
}

#[test]
fn page_follows_a_match_until_it_is_interrupted() {
    let dir = tempfile::tempdir().expect("a folder");
    // In the fourth game, the slow engine thinks until the match is interrupted.
    let slow = fake("uci fault=think at=3 in=4");
    let other = fake("uci seed=2");
    let engines = ["-1", &slow, "-2", &other, "--name1", "Slow", "--name2", "Other"];
    let arguments = ["-n", "8", "-j", "1", "--sprt", "-5,5"];
    let files = ["--pgn", "games.pgn", "--max-moves", "10", "--event", "Test"];
    let live = Live::start(&[&engines[..], &arguments, &files].concat(), dir.path());
    let mut events = live.events(2);
    let about = events.find("match", |_| true);
    assert_eq!((&about["event"], &about["pgn"]), (&"Test".into(), &true.into()));
    let mut moves = Vec::new();
    while moves.len() < 4 {
        let board = events.find("board", |board| board["number"] == 4);
        assert_eq!(board["names"], serde_json::json!(["Other", "Slow"]));
        assert_eq!(board["from"], moves.len());
        let played = board["moves"].as_array().expect("moves").iter();
        moves.extend(played.map(|mv| mv["san"].as_str().expect("a move").to_owned()));
        assert!(board["result"].is_null());
    }
    // A page opened later starts with the current state of the match.
    let mut later = live.events(1);
    let standings = later.find("standings", |_| true);
    assert_eq!((&standings["finished"], &standings["scheduled"]), (&3.into(), &8.into()));
    assert_eq!(standings["pairing"]["pairs"].as_array().map(Vec::len), Some(5));
    assert_eq!(standings["test"]["pairs"], 1);
    let curve = later.find("curve", |_| true);
    assert_eq!(curve["llr"].as_array().map(Vec::len), Some(2));
    let results = later.find("results", |_| true);
    assert_eq!(results.as_array().map(Vec::len), Some(3));
    assert_eq!(results[2]["end"], "length adjudicated");
    let board = later.find("board", |_| true);
    assert_eq!((&board["number"], &board["from"]), (&4.into(), &0.into()));
    assert!(board["thinking"].is_u64() && board["left"] == serde_json::json!([null, null]));
    let pgn = live.get("/games.pgn", "");
    assert_eq!(pgn.matches("[Event \"Test\"]").count(), 3, "{pgn}");
    assert!(live.get("/", "").contains("<title>Match"));
    live.interrupt();
    for mut events in [events, later] {
        let over = events.find("over", |_| true);
        assert_eq!(over["reason"], "The match was interrupted.");
        assert!(events.next().is_none(), "the stream ends");
    }
    let address = live.address.clone();
    let (status, _) = live.end();
    assert_eq!(status, Some(130));
    assert!(TcpStream::connect(address).is_err(), "the server has ended");
}

#[test]
fn only_allowed_origins_read_the_match() {
    let dir = tempfile::tempdir().expect("a folder");
    let slow = fake("uci fault=think at=1");
    let arguments = ["-1", &slow, "-2", &slow, "-n", "1", "--origin", "https://chess.example"];
    let live = Live::start(&arguments, dir.path());
    let foreign = live.get("/events", "Origin: https://evil.example\r\n");
    assert!(foreign.starts_with("HTTP/1.1 403 ") && foreign.contains("--origin"), "{foreign}");
    let foreign = live.get("/games.pgn", "Sec-Fetch-Site: cross-site\r\n");
    assert!(foreign.starts_with("HTTP/1.1 403 "), "{foreign}");
    let none = live.get("/games.pgn", "Origin: https://chess.example\r\n");
    assert!(none.starts_with("HTTP/1.1 404 ") && none.contains("--pgn"), "{none}");
    assert!(none.contains("access-control-allow-origin: https://chess.example"), "{none}");
    for wrong in ["/events?boards=65", "/events?boards=x", "/events?games=1"] {
        let answer = live.get(wrong, "");
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
    assert!(live.get("/none", "").starts_with("HTTP/1.1 404 "));
    // Sixteen pages may be connected at the same time, so the seventeenth is refused.
    let pages: Vec<Events> = (0..16).map(|_| live.events(0)).collect();
    let pages = pages.into_iter().map(|mut page| {
        page.find("match", |_| true);
        page
    });
    let pages: Vec<Events> = pages.collect();
    let refused = live.get("/events", "");
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    drop(pages);
    live.interrupt();
    assert_eq!(live.end().0, Some(130));
}

#[test]
fn page_that_reads_late_gets_all_news() {
    let dir = tempfile::tempdir().expect("a folder");
    let engines = [3, 6, 4, 7].map(|at| {
        let command = fake(&format!("uci seed={at} fault=illegal at={at}"));
        format!("[[engine]]\nname = \"at {at}\"\ncommand = {command:?}\n")
    });
    std::fs::write(dir.path().join("engines.toml"), engines.concat()).expect("written");
    let format = ["--format", "swiss", "--rounds", "3", "-n", "40", "-j", "4"];
    let arguments =
        [&["--engines", "engines.toml", "--json", "results.json"], &format[..]].concat();
    let live = Live::start(&arguments, dir.path());
    let unread = live.request("/events?boards=64", "");
    let (status, printed) = live.end();
    assert_eq!(status, Some(0), "{printed}");
    let json = std::fs::read(dir.path().join("results.json")).expect("written");
    let json: Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["played"], 240);
    let mut events = Events { lines: BufReader::new(unread), name: String::new() };
    let standings = events.find("standings", |_| true);
    assert_eq!(standings["table"].as_array().map(Vec::len), Some(4));
    assert_eq!(events.find("over", |_| true)["reason"], "The match is over.");
}

#[test]
fn occupied_address_is_an_error_before_the_match() {
    let dir = tempfile::tempdir().expect("a folder");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("bound").to_string();
    let engine = fake("uci");
    let arguments =
        ["autoplay", "-1", &engine, "-2", &engine, "--pgn", "games.pgn", "--listen", &address];
    let failed = crate::support::tabia(&arguments, dir.path());
    let text = String::from_utf8(failed.stderr).expect("UTF-8");
    assert_eq!(failed.status.code(), Some(1));
    assert!(text.contains(&format!("cannot listen on {address}")), "{text}");
    assert!(!dir.path().join("games.pgn.state").exists());
}
