//! Training a repertoire over HTTP.

use std::path::Path;

use serde_json::Value;

use super::{Server, check};

const LINES: &str = "1. d4 Nf6 (1... d5 2. c4) 2. c4 *\n";
const GAMES: &str =
    "1. d4 Nf6 2. c4 e6 3. Nc3 1-0\n\n1. d4 d5 2. c4 e6 3. Nc3 1-0\n\n1. d4 d5 2. Nf3 Nf6 0-1\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("white.pgn", LINES), ("games.pgn", GAMES)] {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

fn start(folder: &Path) -> Server {
    Server::start(&["games.pgn", "--repertoire", "white.pgn", "--side", "white"], folder)
}

fn stored(folder: &Path) -> usize {
    let text = std::fs::read_to_string(folder.join("white.pgn.training"));
    text.map_or(0, |text| text.lines().count().saturating_sub(1))
}

/// Checks a response against the OpenAPI description of its endpoint, and returns its JSON.
fn described(server: &Server, answer: &super::Answer, schema: &str) -> Value {
    let schemas = &server.get("/openapi.json").json()["components"]["schemas"];
    assert_eq!(answer.status, 200, "{}", answer.body);
    check(&answer.json(), &schemas[schema], schemas, schema);
    answer.json()
}

#[test]
fn training_asks_judges_and_stores() {
    let folder = folder();
    let server = start(folder.path());
    let state = described(&server, &server.get("/training"), "Training");
    assert_eq!((&state["side"], &state["question"]), (&"white".into(), &Value::Null));
    let positions = state["new"].as_u64().expect("a number");
    let (mut answers, mut wrong, mut additions) = (0, 0, 0);
    loop {
        let state = described(&server, &server.post("/training/next", ""), "Training");
        let question = &state["question"];
        if question.is_null() {
            assert_eq!((&state["due"], &state["answers"]), (&0.into(), &answers.into()));
            assert_eq!(state["additions"].as_array().map(Vec::len), Some(additions));
            break;
        }
        let number = question["number"].as_u64().expect("a number");
        let line: Vec<&str> = question["line"]
            .as_array()
            .expect("moves")
            .iter()
            .filter_map(|mv| mv["san"].as_str())
            .collect();
        let line = line.join(" ");
        let san = match &*line {
            "" => "d4",
            "d4 d5" if wrong == 0 => "Nf3",
            "d4 d5" | "d4 Nf6" => "c4",
            _ => "Nc3",
        };
        let judged = server.post(&format!("/training/answer?question={number}&move={san}"), "");
        let judged = described(&server, &judged, "Judgement");
        answers += 1;
        assert_eq!(stored(folder.path()), answers, "stored before the response");
        let is_known = question["ends"].is_null();
        match &*line {
            "d4 d5" if wrong == 0 => {
                wrong += 1;
                assert_eq!(judged["verdict"], "wrong");
                assert_eq!(
                    (&judged["played"]["games"], &judged["played"]["score"]),
                    (&1.into(), &0.0.into())
                );
                assert_eq!(judged["played"]["reply"]["san"], "Nf6");
                assert_eq!(judged["expected"][0]["san"], "c4");
            }
            _ if is_known => assert_eq!(judged["verdict"], "right"),
            _ => additions += usize::from(judged["verdict"] == "good"),
        }
        assert_eq!(judged["training"]["question"], Value::Null);
    }
    assert!(answers as u64 > positions && wrong == 1 && additions == 2, "{answers} {additions}");
    let pgn = server.get("/training/additions").body;
    assert!(pgn.contains("1. d4 Nf6 2. c4 e6 3. Nc3 *"), "{pgn}");
    drop(server);
    // The next server reads the answers.
    let state = start(folder.path()).get("/training").json();
    let learnt = state["learnt"].as_u64().expect("a number");
    assert_eq!(state["new"].as_u64().map(|new| new + learnt), Some(positions));
    assert!(learnt >= 4, "{state}");
}

#[test]
fn bad_training_requests_get_errors_and_store_nothing() {
    let folder = folder();
    let server = start(folder.path());
    assert_eq!(server.post("/training/answer?question=1&move=d4", "").status, 409, "no question");
    let state = server.post("/training/next", "").json();
    let number = state["question"]["number"].as_u64().expect("a number");
    for (path, status) in [
        ("/training/answer?question=N&move=e5", 400),
        ("/training/answer?question=N&move=", 400),
        ("/training/answer?question=N", 400),
        ("/training/answer?move=d4", 400),
        ("/training/answer?question=99&move=d4", 409),
        ("/training/answer?question=x&move=d4", 400),
        ("/training/hint?question=99", 409),
        ("/training/next?x=1", 400),
        ("/training/next?skip=maybe", 400),
    ] {
        let answer = server.post(&path.replace('N', &number.to_string()), "");
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        assert!(answer.json()["error"].is_string());
    }
    assert_eq!(server.get("/training/next").status, 405);
    let foreign = server.get_with("/training", "Origin: https://evil.example\r\n");
    assert_eq!(foreign.status, 403);
    assert_eq!(server.get("/training").json()["question"]["number"].as_u64(), Some(number));
    assert_eq!(stored(folder.path()), 0);
    for expected in ["piece", "move"] {
        let hint = server.post(&format!("/training/hint?question={number}"), "");
        let hint = described(&server, &hint, "TrainingHint");
        assert!(!hint[expected].is_null(), "{hint}");
    }
    let skipped = server.post("/training/next?skip=true", "").json();
    assert_ne!(skipped["question"]["fen"], state["question"]["fen"]);
    // A second server cannot use a journal that is already in use. A server without a repertoire
    // offers no training.
    let other = start(folder.path()).get("/training");
    assert!(other.status == 409 && other.body.contains("another program"), "{}", other.body);
    assert!(!other.body.contains("tmp"), "no folder: {}", other.body);
    assert_eq!(Server::start(&["games.pgn"], folder.path()).get("/training").status, 404);
}
