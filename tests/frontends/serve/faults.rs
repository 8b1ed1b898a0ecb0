//! Tests of the server with stalled clients, malformed requests, and missing files.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;

use super::{Answer, Server};
use crate::support::{TIMEOUT, tabia};

fn server_with_short_timeout() -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    (Server::start(&["embedded", "--client-timeout", "1"], folder.path()), folder)
}

/// Sends raw bytes and returns the response. If `closes` is set, the client closes its sending side
/// before reading.
fn send_raw(server: &Server, request: &[u8], closes: bool) -> Answer {
    let mut stream = server.connect();
    stream.write_all(request).expect("sent");
    if closes {
        stream.shutdown(Shutdown::Write).expect("half closed");
    }
    let mut text = Vec::new();
    // Ignore errors, because the server may reset the connection after its response if it has not
    // read the whole request.
    let _ = stream.read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

#[test]
fn missing_book_is_reported_instead_of_an_address() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = tabia(&["serve", "embedded", "nosuch.tbk", "--listen", "0"], folder.path());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors, "tabia: cannot read nosuch.tbk: it does not exist\n");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
}

#[test]
fn books_of_a_wrong_format_are_reported_instead_of_an_address() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in [
        ("text.tbk", b"1. e4 e5 *".as_slice()),
        ("short.tbk", b"TABIABK\n".as_slice()),
        ("match.state", b"tabia match 1".as_slice()),
        ("network.pgn", b"tabia network 1".as_slice()),
    ] {
        fs::write(folder.path().join(name), bytes).expect("written");
        let output = tabia(&["serve", "embedded", name, "--listen", "0"], folder.path());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(name), "{errors}");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!((output.status.code(), printed.as_ref()), (Some(1), ""), "{name}: {errors}");
    }
}

#[test]
fn connection_of_a_stalled_client_is_closed() {
    let (server, _folder) = server_with_short_timeout();
    for request in [
        "GET /main.js HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /book?play=e2e4 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /masters HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ] {
        let mut stream = server.connect();
        stream.set_write_timeout(Some(TIMEOUT)).expect("a time limit");
        // The client never reads, so the buffers for responses fill up. The server then stops
        // reading, so the buffers for requests fill up too, and writing blocks until the server
        // closes the connection.
        let fault = loop {
            if let Err(fault) = stream.write_all(request.repeat(100).as_bytes()) {
                break fault;
            }
        };
        assert!(
            ![ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&fault.kind()),
            "{request}: the server still holds the connection"
        );
    }
    assert_eq!(server.get("/status").status, 200);
}

#[test]
fn searches_end_on_time_without_readers() {
    let (server, _folder) = server_with_short_timeout();
    let mut streams: Vec<_> = (0..4).map(|_| server.connect()).collect();
    for (number, stream) in streams.iter_mut().enumerate() {
        let request = format!(
            "GET /analysis?seconds=2&lines=5&client={number} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("sent");
        stream.read_exact(&mut [0; 15]).expect("an answer");
    }
    while server.get("/status").json()["searches"]["running"] != 0 {
        std::thread::sleep(Duration::from_millis(50));
    }
    // The clients read only now, after the searches have ended. The final event of each stream must
    // still arrive and state the reason.
    for stream in &mut streams {
        let mut text = String::new();
        while !text.contains("event: end") || !text.contains("\"reason\":\"time\"") {
            let mut part = [0; 4096];
            let length = stream.read(&mut part).expect("readable");
            assert!(length > 0, "the stream ended without a final event: {text}");
            text += &String::from_utf8_lossy(&part[..length]);
        }
    }
}

#[test]
fn replaced_search_reports_the_reason() {
    let (server, _folder) = server_with_short_timeout();
    let mut first = server.connect();
    first
        .write_all(b"GET /analysis?seconds=60&client=a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .expect("sent");
    first.read_exact(&mut [0; 15]).expect("an answer");
    assert_eq!(server.get("/analysis?seconds=1&client=a").status, 200);
    let mut text = String::new();
    first.read_to_string(&mut text).expect("read");
    assert!(text.contains("\"reason\":\"replaced\""), "{text}");
    let mut first = server.connect();
    let game = "Nf3 Nf6 Ng1 Ng8 ".repeat(100);
    let length = game.len();
    first
        .write_all(format!("POST /annotate?nodes=200000&client=a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{game}").as_bytes())
        .expect("sent");
    first.read_exact(&mut [0; 15]).expect("an answer");
    assert_eq!(server.post("/annotate?nodes=100&client=a", "1. e4").status, 200);
    let mut text = String::new();
    first.read_to_string(&mut text).expect("read");
    assert!(text.contains("the same client asked again") && !text.contains("120 s"), "{text}");
}

#[test]
fn errors_have_the_documented_form_and_name_the_limit() {
    let (server, _folder) = server_with_short_timeout();
    let post = |headers: &str, body: &str| {
        format!(
            "POST /read HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n\r\n{body}"
        )
    };
    let get = |path: &str, headers: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n")
    };
    let long = "x".repeat(300_000);
    let chunk = format!("{:x}\r\n{long}\r\n0\r\n\r\n", long.len());
    let headers = (0..150).map(|number| format!("X-{number}: 1\r\n")).collect::<String>();
    for (request, closes, status, named) in [
        (post("Content-Length: 300000", &long), false, 413, "262144"),
        (post("Content-Length: 300000", ""), false, 413, "262144"),
        (post("Transfer-Encoding: chunked", &chunk), false, 413, "262144"),
        (post("Transfer-Encoding: chunked", "zz\r\n"), false, 400, "cannot be read"),
        (post("Content-Length: 100", "1. e4"), false, 408, "1 s"),
        (post("Content-Length: 5", "words"), false, 400, "no position"),
        (get(&format!("/book?fen={}", "x".repeat(9_000)), ""), false, 400, "8192"),
        (get(&format!("/book?fen={}", "x".repeat(50_000)), ""), false, 431, "32768"),
        (get("/book", &headers), false, 431, "100 headers"),
        (get("/book", &format!("X: {}\r\n", "x".repeat(50_000))), false, 431, "32768"),
        (get("/game/%FF", ""), false, 400, "UTF-8"),
        (get("/book?fen=%FF", ""), false, 400, "UTF-8"),
        (get("/nothing", ""), false, 404, "nothing"),
        (post("Content-Length: 0", "").replace("/read", "/book"), false, 405, "POST"),
        (get("/read", ""), false, 405, "GET"),
        ("NONSENSE\r\n\r\n".to_owned(), true, 400, "no HTTP request"),
        ("GET /book HTTP/1.1\r\nnonsense\r\n\r\n".to_owned(), true, 400, "no HTTP request"),
    ] {
        let case = request.chars().take(120).collect::<String>();
        let answer = send_raw(&server, request.as_bytes(), closes);
        assert_eq!(answer.status, status, "{case}: {}", answer.body);
        assert_eq!(answer.header("content-type"), Some("application/json"), "{case}");
        let reported = answer.json();
        let sentence = reported["error"].as_str().unwrap_or_else(|| panic!("{case}: {reported}"));
        assert!(sentence.contains(named), "{case}: {sentence}");
        assert_eq!(reported.as_object().map(serde_json::Map::len), Some(1), "{case}");
    }
    // Text in a request that is not valid UTF-8 is decoded as Latin-1, as in files.
    let latin = b"POST /read HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 28\r\n\r\n[White \"M\xfcller\"]\n\n1. e4 e5\n\n";
    assert_eq!(send_raw(&server, latin, false).json()["tags"][0][1], "M\u{fc}ller");
}

fn last_line(server: &Server, name: &str) -> Value {
    let body = server.get(&format!("/player?player={name}&color=white")).body;
    let line = body.lines().rfind(|line| !line.is_empty()).expect("a line").to_owned();
    serde_json::from_str(&line).expect("JSON")
}

type Replacement<'p> = (&'p str, &'p dyn Fn(&Path));

#[test]
fn replaced_game_file_is_rejected_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let games = folder.path().join("games.pgn");
    fs::write(&games, super::GAMES).expect("written");
    let run = |arguments: &[&str]| tabia(arguments, folder.path());
    assert!(run(&["book", "build", "games.pgn", "-o", "plain.tbk"]).status.success());
    assert!(run(&["book", "build", "--facets", "games.pgn", "-o", "facets.tbk"]).status.success());
    for book in ["plain.tbk", "facets.tbk"] {
        let server = Server::start(&[book], folder.path());
        let known = last_line(&server, "alpha,%20a");
        let id = known["recentGames"][0]["id"].as_str().expect("an id").to_owned();
        let address = format!("/masters/pgn/{id}");
        assert!(server.get(&address).body.contains("3. Nc3 Bb4 1-0"), "{book}");
        let pipe = |path: &Path| {
            mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        };
        let device = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).expect("a link");
        let put: [Replacement<'_>; 4] = [
            ("pipe", &pipe),
            ("device", &device),
            ("directory", &|path| fs::create_dir(path).expect("a folder")),
            ("no such file", &|_| {}),
        ];
        for (what, put) in put {
            fs::remove_file(&games).expect("removed");
            put(&games);
            // Request another player, because the games of the first player are cached.
            let line = last_line(&server, "beta");
            let error = line["error"].as_str().unwrap_or_else(|| panic!("{book} {what}: {line}"));
            assert!(error.contains("games.pgn"), "{book} {what}: {error}");
            let gone = server.get(&address);
            assert_eq!(gone.status, 410, "{book} {what}: {}", gone.body);
            let _ = fs::remove_file(&games).or_else(|_| fs::remove_dir(&games));
            fs::write(&games, super::GAMES).expect("written");
            // A failed read is retried.
            assert_eq!(last_line(&server, "gamma")["white"], 0, "{book} {what}");
        }
        assert_eq!(last_line(&server, "beta")["black"], 1, "{book}");
    }
}

#[test]
fn streams_report_that_the_server_is_closing() {
    let (mut server, folder) = Server::with_games();
    let _keep = folder;
    // All files can be read, so the response has no error.
    assert!(last_line(&server, "beta")["error"].is_null());
    let id = rustix::process::Pid::from_child(&server.child);
    let mut open = server.connect();
    open.write_all(b"GET /analysis?seconds=60 HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    open.read_exact(&mut [0; 15]).expect("an answer");
    rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("a signal");
    let mut text = String::new();
    open.read_to_string(&mut text).expect("read");
    assert!(text.contains("\"reason\":\"closing\""), "{text}");
    assert!(server.child.wait().expect("ended").success());
}
