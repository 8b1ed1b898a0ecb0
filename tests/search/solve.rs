//! Tests of `tabia solve`, which reads suites of positions from files and pipes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{PROGRAM, tabia};

const SUITE: &str = "# mates\n6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1 bm Ra8#; id \"mate\";\n\
    6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - am Ra8#;\nodd\n\
    6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - dm 1;\n";

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

#[test]
fn suite_is_read_from_a_file_or_a_pipe() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("suite.epd"), SUITE).expect("written");
    for limit in [["--depth", "3"], ["--nodes", "1000"], ["--seconds", "0.05"]] {
        let output = tabia(&[&["solve", "suite.epd"], &limit[..]].concat(), folder.path());
        let printed = text(&output.stdout);
        assert!(output.status.success(), "{output:?}");
        assert!(printed.contains("1/3 solved mate: Ra8# (expected Ra8#)\n"), "{printed}");
        assert!(printed.contains("2/3 FAILED 2: Ra8# (expected not Ra8#)\n"), "{printed}");
        assert!(printed.contains("3/3 solved 3: Ra8# (expected mate in 1)\n"), "{printed}");
        assert!(printed.contains("\n2 of 3 solved (66.7%) in "), "{printed}");
        assert!(text(&output.stderr).starts_with("tabia: Skipped: suite.epd, line 4: "));
    }
    let command = format!("{PROGRAM} solve - --depth 3 --json < suite.epd | cat");
    let piped = Command::new("sh").args(["-c", &command]).current_dir(folder.path()).output();
    let json: serde_json::Value =
        serde_json::from_slice(&piped.expect("run").stdout).expect("JSON");
    assert_eq!((&json["searched"], &json["solved"]), (&3.into(), &2.into()), "{json}");
    let answer = &json["answers"][2];
    assert_eq!((&answer["move"], &answer["solved"]), (&"Ra8#".into(), &true.into()), "{json}");
}

#[test]
fn ctrl_c_ends_a_suite_with_the_results_so_far() {
    let line = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#;\n";
    let mut child = Command::new(PROGRAM)
        .args(["solve", "-", "--depth", "64", "--memory", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    // The search of the mate in one ends at once, whereas that of the start position runs until
    // Ctrl-C.
    let long_position = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4;\n";
    let mut input = child.stdin.take().expect("piped");
    input.write_all(format!("{line}{long_position}").as_bytes()).expect("it reads");
    drop(input);
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut line = || lines.next().expect("a line").expect("UTF-8");
    assert_eq!(line(), "   1/2 solved 1: Ra8# (expected Ra8#)");
    kill_process(Pid::from_child(&child), Signal::INT).expect("sent");
    assert_eq!(line(), "Stopped after 1 of 2 positions.");
    assert!(line().starts_with("1 of 1 solved (100.0%) in "));
    assert_eq!(child.wait().expect("ended").code(), Some(130));
}

#[test]
fn invalid_suites_are_rejected_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("empty.epd"), "# nothing\n").expect("written");
    for (arguments, status, words) in [
        (&["missing.epd"][..], 1, "cannot read positions from missing.epd"),
        (&["."], 1, "cannot read positions from ."),
        (&["empty.epd"], 1, "cannot solve empty.epd: it contains no position"),
        (&["empty.epd", "--seconds", "0"], 2, "expected seconds"),
        (&["empty.epd", "--seconds", "1", "--nodes", "1"], 2, "cannot be used with"),
        (&[], 2, "<FILE>"),
    ] {
        let output = tabia(&[&["solve"], arguments].concat(), Path::new(folder.path()));
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{printed}");
        assert!(printed.starts_with("tabia: ") && printed.contains(words), "{printed}");
        assert_eq!((printed.lines().count(), text(&output.stdout).as_str()), (1, ""), "{printed}");
    }
}
