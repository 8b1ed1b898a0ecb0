//! Tests of SPRT matches shared by several machines (`--shared`), including workers that are
//! killed.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{PROGRAM, fake_engine as fake, tabia};

/// The number of opening positions, which differ only in their move number.
const OPENINGS: usize = 40;

/// Creates a folder with the openings file and the folder shared by the workers.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let line =
        |number| format!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 {number}\n");
    let openings: String = (1..=OPENINGS).map(line).collect();
    std::fs::write(dir.path().join("openings.epd"), openings).expect("written");
    std::fs::create_dir(dir.path().join("shared")).expect("created");
    dir
}

/// Returns the arguments of a worker. The first engine wins all games, because the second one plays
/// an illegal move.
fn worker(name: &str, games: &str, more: &[&str]) -> Vec<String> {
    let engines = [fake("uci seed=2"), fake("uci seed=3 fault=illegal at=3")];
    let [first, second] = &engines;
    let arguments = ["autoplay", "-1", first, "-2", second, "--name1", "good", "--name2", "bad"];
    let limits = ["--nodes", "1", "-n", games, "-j", "1", "--openings", "openings.epd"];
    let test = ["--sprt", "0,200", "--shared", "shared", "--worker", name];
    [&arguments[..], &limits, &test, more].concat().into_iter().map(str::to_owned).collect()
}

fn run(arguments: &[String], folder: &Path) -> (Option<i32>, String) {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = tabia(&arguments, folder);
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).expect("UTF-8"))
}

fn start(arguments: &[String], folder: &Path) -> Child {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).current_dir(folder).stdout(Stdio::null()).spawn().expect("it starts")
}

fn state(folder: &Path, number: usize) -> String {
    let path = folder.join(format!("shared/worker-{number}.state"));
    std::fs::read_to_string(path).unwrap_or_default()
}

fn games(folder: &Path, number: usize) -> usize {
    state(folder, number).matches("{\"game\":").count()
}

fn aggregate(folder: &Path) -> (Option<i32>, String, Value) {
    let arguments = ["--shared", "shared", "--aggregate", "--json", "joint.json"];
    let arguments = ["autoplay"].iter().chain(&arguments).map(ToString::to_string);
    let (status, text) = run(&arguments.collect::<Vec<_>>(), folder);
    let json = std::fs::read(folder.join("joint.json")).expect("written");
    (status, text, serde_json::from_slice(&json).expect("JSON"))
}

#[test]
fn workers_decide_together_what_none_can_decide_alone() {
    let dir = folder();
    // The games of one worker (four pairs) are too few for a decision, but those of two workers
    // (eight pairs) are enough.
    let (status, text) = run(&worker("1/3", "8", &["--pgn", "one.pgn"]), dir.path());
    assert_eq!(status, Some(3), "{text}");
    assert!(text.contains("Joint result of 1 worker: 1 (8 games)"), "{text}");
    let (status, text, json) = aggregate(dir.path());
    assert_eq!((status, &json["sprt"]["decision"]), (Some(3), &"continue".into()), "{text}");
    let (status, text) = run(&worker("2/3", "8", &[]), dir.path());
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("Joint result of 2 workers: 1 (8 games), 2 ("), "{text}");
    let second = games(dir.path(), 2);
    assert!((2..8).contains(&second), "{second} games");
    // A worker that starts after the decision plays nothing.
    let (status, text) = run(&worker("3/3", "8", &[]), dir.path());
    assert_eq!((status, games(dir.path(), 3)), (Some(0), 0), "{text}");
    let (status, text, json) = aggregate(dir.path());
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("nElo: H1 accepted"), "{text}");
    assert_eq!(json["engines"], serde_json::json!(["good", "bad"]));
    assert_eq!(json["results"]["wins"], 8 + second);
    assert_eq!(json["pairs"], serde_json::json!([0, 0, 0, 0, 4 + second / 2]));
    assert_eq!(json["workers"][1], serde_json::json!({"worker": 2, "games": second}));
    // The workers play different openings.
    let starts = |number| -> Vec<String> {
        let state = state(dir.path(), number);
        let openings = state.split("\"fen\":\"").skip(1);
        openings.map(|rest| rest.split('"').next().unwrap_or_default().to_owned()).collect()
    };
    let [one, two] = [starts(1), starts(2)];
    assert!(one.len() + 2 >= 8 && !two.is_empty(), "{one:?} {two:?}");
    assert!(one.iter().all(|start| !two.contains(start)), "{one:?} {two:?}");
}

/// Waits until a worker has stored `stored` games, sends it a signal, and returns its exit status.
fn stop(
    mut worker: Child,
    signal: &str,
    folder: &Path,
    number: usize,
    stored: usize,
) -> Option<i32> {
    while games(folder, number) < stored {
        std::thread::sleep(Duration::from_millis(2));
        assert!(worker.try_wait().expect("a child").is_none(), "it ended too early");
    }
    let pid = worker.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().expect("kill runs").success());
    worker.wait().expect("reaped").code()
}

#[test]
fn killed_workers_lose_no_game() {
    const ROUNDS: usize = 4;
    let dir = folder();
    // The workers must not finish before they are stopped, so they have many games to play. Black
    // wins every game, so each pair is drawn and a test with symmetric bounds is never decided.
    let arguments = |number: usize, resume: bool| {
        let pgn = format!("{number}.pgn");
        let more = if resume { &["--pgn", &pgn, "--resume"][..] } else { &["--pgn", &pgn] };
        let change = |word: String| match &*word {
            "0,200" => "-200,200".to_owned(),
            word if word == fake("uci seed=2") => fake("uci seed=3 fault=illegal at=3"),
            _ => word,
        };
        let arguments = worker(&format!("{number}/2"), "20000", more).into_iter();
        arguments.map(change).collect::<Vec<String>>()
    };
    for round in 0..=ROUNDS {
        let before = [1, 2].map(|number| games(dir.path(), number));
        let workers = [1, 2].map(|number| start(&arguments(number, round > 0), dir.path()));
        for ((worker, number), before) in workers.into_iter().zip([1, 2]).zip(before) {
            let signal = if round < ROUNDS { "-KILL" } else { "-INT" };
            let status = stop(worker, signal, dir.path(), number, before + 5);
            assert_eq!(status, (round == ROUNDS).then_some(130));
            if round < ROUNDS {
                tear(dir.path(), number);
            }
        }
    }
    let mut pairs = 0;
    for number in [1, 2] {
        let count = games(dir.path(), number);
        let state = state(dir.path(), number);
        let numbers = state.split("{\"game\":{\"number\":").skip(1);
        let numbers = numbers.map(|rest| rest.split(',').next().unwrap_or_default().to_owned());
        let expected: Vec<String> = (1..=count).map(|game| game.to_string()).collect();
        assert_eq!(numbers.collect::<Vec<_>>(), expected);
        let pgn = std::fs::read_to_string(dir.path().join(format!("{number}.pgn"))).expect("games");
        assert_eq!(pgn.matches("[Event ").count(), count);
        pairs += count / 2;
    }
    let (status, text, json) = aggregate(dir.path());
    assert_eq!(status, Some(3), "{text}");
    assert_eq!(json["pairs"], serde_json::json!([0, 0, pairs, 0, 0]));
    for (at, number) in [1, 2].into_iter().enumerate() {
        assert_eq!(json["workers"][at]["games"], games(dir.path(), number));
    }
}

/// Appends an incomplete game to the state file of a worker, as if the worker had been killed while
/// writing.
fn tear(folder: &Path, number: usize) {
    let path = folder.join(format!("shared/worker-{number}.state"));
    let mut bytes = std::fs::read(&path).expect("there");
    let last = bytes.split_inclusive(|&byte| byte == b'\n').next_back().expect("a game").to_vec();
    bytes.extend_from_slice(&last[..last.len() / 2]);
    std::fs::write(&path, bytes).expect("written");
}

#[test]
fn workers_of_different_tests_are_refused() {
    let dir = folder();
    run(&worker("1/2", "2", &[]), dir.path());
    for (more, difference) in [
        (&["--alpha", "0.01"][..], "\"alpha\":0.01"),
        (&["--nodes2", "2"], "nodes: Some(2)"),
        (&["--opening-start", "2"], "openings: 2 with hash"),
        (&["--option", "Hash=1"], "(\\\"Hash\\\", \\\"1\\\")"),
        (&["--draw", "1,2,3"], "ends: Some([1, 2, 3])"),
    ] {
        let (status, text) = run(&worker("2/2", "2", more), dir.path());
        assert_eq!(status, Some(1), "{text}");
        assert!(text.contains("worker-1.state: it belongs to another test"), "{text}");
        assert!(
            text.contains(difference) || text.contains(&difference.replace('\\', "")),
            "{text}"
        );
    }
    let (status, text) = run(&worker("2/3", "2", &[]), dir.path());
    assert!(status == Some(1) && text.contains("belongs to another test"), "{text}");
    // The same number twice.
    let (status, text) = run(&worker("1/2", "2", &[]), dir.path());
    assert!(status == Some(1) && text.contains("add --resume to continue it"), "{text}");
    assert!(!dir.path().join("shared/worker-2.state").exists());
    let mut nowhere = worker("1/2", "2", &[]);
    let at = nowhere.iter().position(|word| word == "shared").expect("the folder");
    nowhere[at] = "missing".to_owned();
    let (status, text) = run(&nowhere, dir.path());
    assert!(status == Some(1) && text.contains("missing: it does not exist"), "{text}");
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    let dir = folder();
    for (more, reason) in [
        ("--shared shared", "--worker K/N or --aggregate"),
        ("--shared shared --worker 1/2 --openings openings.epd", "--shared needs --sprt"),
        ("--shared shared --worker 1/2 --sprt 0,5", "--shared needs --openings"),
        ("--shared shared --worker 3/2", "like 1/4"),
        ("--worker 1/2", "--shared"),
        ("--shared shared --worker 1/2 --aggregate", "--aggregate"),
        ("--shared shared --worker 1/2 --state x", "--state"),
        ("--shared shared --worker 60/60 --sprt 0,5 --openings openings.epd", "too few for 60"),
    ] {
        let engine = fake("uci");
        let arguments = ["autoplay", "-1", &engine, "-2", &engine, "-n", "100"];
        let arguments = arguments.into_iter().chain(more.split(' ')).map(str::to_owned);
        let (status, text) = run(&arguments.collect::<Vec<_>>(), dir.path());
        assert!(status == Some(2) && text.contains(reason), "{more}: {text}");
    }
}
