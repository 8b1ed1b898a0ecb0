//! Tests of matches that cannot be played as requested, and of damaged state files.

use std::path::Path;

use crate::support::{fake_engine as fake, run_line, run_line_ok};

/// Writes an engines file with this number of engines, which are called `engine 1`, `engine 2`...
fn write_engines(folder: &Path, count: usize) {
    let table = |number| format!("[[engine]]\nname = \"engine {number}\"\ncommand = \"x\"\n");
    let tables: String = (1..=count).map(table).collect();
    std::fs::write(folder.join("engines.toml"), tables).expect("written");
}

#[test]
fn useless_options_and_unknown_engines_are_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    write_engines(dir.path(), 3);
    for (options, message) in [
        ("--sprt 0,5 -n 2", "--sprt tests two engines, but 3 play"),
        ("-1 'engine 1' -2 engin", "defines only these engines: engine 1, engine 2, engine 3"),
        ("--junit x.xml", "--junit has no effect without --check"),
    ] {
        let line = format!("autoplay --engines engines.toml {options}");
        let (status, printed, errors) = run_line(&line, dir.path());
        assert_eq!((status, &*printed), (Some(2), ""), "{errors}");
        assert!(errors.contains(message), "{errors}");
    }
}

#[cfg(unix)]
#[test]
fn limit_on_open_files_is_raised_or_reported_before_the_first_game() {
    let dir = tempfile::tempdir().expect("a folder");
    let engine = fake("uci");
    let run = |limit: &str| {
        let program = crate::support::PROGRAM;
        let script = format!("ulimit {limit} && exec \"$@\"");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script, "sh", program, "autoplay", "-1", &engine, "-2", &engine]);
        command.args(["--proto", "uci", "--nodes", "1", "--max-moves", "1"]);
        let output = command.args(["-n", "20", "-j", "20"]).current_dir(dir.path()).output();
        let output = output.expect("it starts");
        let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
        (output.status.code(), text)
    };
    let (status, text) = run("-Sn 64");
    assert!(status == Some(3) && text.contains("Game 20 of 20"), "{text}");
    let (status, text) = run("-n 64");
    assert!(status == Some(1) && !text.contains("Game 1 of"), "{text}");
    assert!(
        text.contains("20 simultaneous games need 184 open files, but the limit is 64"),
        "{text}"
    );
    assert!(text.contains("at most 5 games at a time"), "{text}");
}

#[test]
fn damaged_game_is_reported_and_not_written_twice() {
    let dir = tempfile::tempdir().expect("a folder");
    let (first, second) = (fake("uci seed=2"), fake("uci seed=3 fault=illegal at=3"));
    let line = format!(
        "autoplay -1 \"{first}\" -2 \"{second}\" --nodes 1 -n 6 -j 1 --pgn games.pgn --epdout x.epd"
    );
    run_line_ok(&line, dir.path());
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).expect(name);
    let whole = read("x.epd");
    std::fs::remove_file(dir.path().join("games.pgn")).expect("removed");
    std::fs::remove_file(dir.path().join("x.epd")).expect("removed");
    // An engine that cannot start ends the match after game 4.
    let counter = dir.path().join("starts");
    let failing = format!("start_counter='{}' failing_starts=5,6,7,8", counter.display());
    let stopping = format!("{line} --restart --proto uci")
        .replace("uci seed=2", &format!("uci seed=2 {failing}"));
    let (status, printed, errors) = run_line(&stopping, dir.path());
    assert_eq!(status, Some(1), "{printed}{errors}");
    let state = read("games.pgn.state");
    let at = state.match_indices("{\"game\":").nth(1).expect("game 2").0;
    let damaged = format!("{}[{}", &state[..at], &state[at + 1..]);
    std::fs::write(dir.path().join("games.pgn.state"), damaged).expect("written");
    let (status, printed, errors) = run_line(&format!("{stopping} --resume"), dir.path());
    assert_eq!(status, Some(0), "{printed}{errors}");
    assert!(errors.contains("games.pgn.state, line 4: it is damaged"), "{errors}");
    let pgn = read("games.pgn");
    let mut rounds: Vec<&str> = pgn.lines().filter(|line| line.starts_with("[Round ")).collect();
    rounds.sort_unstable();
    rounds.dedup();
    assert_eq!((rounds.len(), pgn.matches("[Round ").count()), (6, 6), "{pgn}");
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&read("x.epd")), sorted(&whole));
}
