//! Tests of log output: commands log to standard error, but engines log only to their log file.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use crate::support::{Engine, PROGRAM};

fn run(arguments: &[&str], filter: Option<&str>, input: &str) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).env_remove("RUST_LOG");
    command.envs(filter.map(|filter| ("RUST_LOG", filter)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

#[test]
fn every_command_logs_when_verbose() {
    for command in [
        &["perft", "1"][..],
        &["eval"],
        &["book", "info", "embedded"],
        &["lesson", "tree"],
        &["bench", "--depth", "1"],
    ] {
        let silent = run(command, None, "");
        assert!(silent.status.success() && silent.stderr.is_empty(), "{silent:?}");
        let verbose = [command, &["-v"]].concat();
        for (arguments, filter, logs) in [
            (&verbose[..], None, true),
            (command, Some("tabia=info"), true),
            (&verbose, Some("off"), false),
        ] {
            let output = run(arguments, filter, "");
            let log = String::from_utf8_lossy(&output.stderr);
            assert_eq!(log.contains("INFO") && log.contains(command[0]), logs, "{output:?}");
            assert!(!String::from_utf8_lossy(&output.stdout).contains("INFO"), "{output:?}");
        }
    }
}

#[test]
fn engines_log_only_to_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for (protocol, input, answer) in
        [("-x", "protover 2\nquit\n", "feature done=1"), ("--uci", "uci\nquit\n", "uciok")]
    {
        let path = folder.path().join(format!("log{protocol}"));
        let file = path.display().to_string();
        for more in [&["-vv"][..], &["-vv", "--log", &file]] {
            let output = run(&[&[protocol, "--no-book"], more].concat(), Some("trace"), input);
            assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
            let printed = String::from_utf8_lossy(&output.stdout);
            assert!(printed.contains(answer), "{printed}");
            assert!(
                !["DEBUG", "INFO", "TRACE"].iter().any(|level| printed.contains(level)),
                "{printed}"
            );
            assert_eq!(path.exists(), more.len() > 1);
        }
        let log = std::fs::read_to_string(&path).expect("the log");
        assert!(log.contains("DEBUG") && log.contains(answer), "{log}");
    }
}

#[test]
fn searches_are_logged_at_the_highest_verbosity() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut answers = Vec::new();
    for verbosity in ["-vv", "-vvv"] {
        let path = folder.path().join(verbosity);
        let log = path.display().to_string();
        let mut engine = Engine::start(&["--uci", "--no-book", verbosity, "--log", &log]);
        engine.send("position startpos moves e2e4\ngo depth 5");
        answers.extend(engine.until_start("bestmove").pop());
        assert_eq!(engine.quit(), "");
        let log = std::fs::read_to_string(&path).expect("the log");
        for expected in
            ["iteration 1, window (-∞, +∞)", "settled by", "search of rnbqkbnr/pppppppp"]
        {
            assert_eq!(log.contains(expected), verbosity == "-vvv", "{expected}: {log}");
        }
    }
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0], answers[1], "logging does not change the move");
}

#[test]
fn rust_log_filters_the_log_file_of_an_engine() {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, (filter, traffic, iterations)) in [
        ("off", false, false),
        ("tabia=info", false, false),
        ("tabia=debug", true, false),
        ("tabia=trace", true, true),
        ("tabia::engine::search=trace", false, true),
        ("tabia=trace,tabia::engine::search=warn", true, false),
    ]
    .into_iter()
    .enumerate()
    {
        let path = folder.path().join(number.to_string());
        let file = path.display().to_string();
        let input = "uci\nposition startpos\ngo depth 3\n";
        let output = run(&["--uci", "--no-book", "--log", &file], Some(filter), input);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let log = std::fs::read_to_string(&path).expect("the log");
        assert_eq!(log.contains("< go depth 3"), traffic, "{filter}: {log}");
        assert_eq!(log.contains("iteration 1, "), iterations, "{filter}: {log}");
    }
}
