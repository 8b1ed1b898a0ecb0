//! Tests of the data that the match runner records about games and about its own delays.

use std::path::Path;

use crate::support::{example, fake_engine as fake, run_line, run_line_ok};

/// Plays two games between scripted engines with these options, and returns the output.
fn play(first: &str, second: &str, options: &str, folder: &Path) -> String {
    let (first, second) = (fake(first), fake(second));
    let line = format!("autoplay -1 \"{first}\" -2 \"{second}\" -n 2 -j 1 {options}");
    let (_, printed, errors) = run_line(&line, folder);
    assert!(printed.contains("Game 2 of 2"), "{printed}{errors}");
    printed
}

fn read(folder: &Path, name: &str) -> String {
    let text = std::fs::read_to_string(folder.join(name)).expect(name);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn comments_have_the_chosen_fields() {
    let dir = tempfile::tempdir().expect("a folder");
    let info = "info score cp 5 seldepth 7 nps 500 tbhits 3 hashfull 2";
    let first = format!("uci name=Good 'info={info}'");
    let second = "uci name=Bad fault=illegal at=3";
    let options = "--tc 60 --pgn games.pgn --pgn-fields seldepth,nps,hashfull,tbhits,pv,nodes \
                   --site 'The Lab'";
    play(&first, second, options, dir.path());
    let games = read(dir.path(), "games.pgn");
    assert_eq!(games.matches("[Site \"The Lab\"]").count(), 2, "{games}");
    let comment = games.split(['{', '}']).nth(1).expect("a comment");
    let fields: Vec<&str> = comment.split(", ").skip(1).collect();
    assert_eq!(fields[..4], ["sd=7", "nps=500", "hashfull=2", "tbhits=3"], "{comment}");
    assert!(fields[4].starts_with("pv=\"") && fields[5] == "n=1", "{comment}");
    let reason = ", Black plays the illegal move e2e5} 1-0";
    assert!(games.contains(reason), "{games}");
    let options = "--tc 60 --pgn left.pgn --pgn-fields timeleft,latency";
    play("uci", second, options, dir.path());
    let games = read(dir.path(), "left.pgn");
    assert!(games.contains("s, tl=") && games.contains("s, latency="), "{games}");
    let (status, _, errors) = run_line("autoplay -1 a -2 b --pgn-fields nodes,x", dir.path());
    assert_eq!(status, Some(2), "{errors}");
    assert!(errors.contains("unknown field \"x\": expected one of timeleft, latency"), "{errors}");
}

#[test]
fn final_positions_are_appended_to_an_epd_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let (before, path) = ("4k3/8/8/8/8/8/8/4K3 w - -", dir.path().join("final.epd"));
    std::fs::write(&path, before).expect("written");
    play("uci", "uci fault=illegal at=1", "--nodes 1 --epdout final.epd", dir.path());
    let text = std::fs::read_to_string(&path).expect("positions");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, before), "{text}");
    let end = "id \"game 1\"; c0 \"1-0 Black plays the illegal move e2e5\";";
    assert!(lines[1].contains(" b ") && lines[1].ends_with(end), "{text}");
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - hmvc 0; fmvn 1;";
    assert!(lines[2].starts_with(start), "{text}");
    std::fs::write(&path, "not positions\n").expect("written");
    let line = "autoplay -1 a -2 b --epdout final.epd";
    let (status, _, errors) = run_line(line, dir.path());
    assert!(status == Some(1) && errors.contains("EPD"), "{errors}");
}

#[test]
fn error_output_is_stored_for_each_game() {
    let dir = tempfile::tempdir().expect("a folder");
    let crash = "fault=crash at=3 in=1 'stderr=out of memory'";
    let printed = play(
        &format!("uci {crash}"),
        "uci",
        "--nodes 1 --stderr errors --wait 1 --report report",
        dir.path(),
    );
    let files = std::fs::read_dir(dir.path().join("errors")).expect("a folder");
    let names: Vec<_> = files.map(|file| file.expect("a file").file_name()).collect();
    // The engine crashes in its first game, is restarted, and crashes again in the next one.
    let wanted = ["game-1-white.txt", "game-2-black.txt"];
    assert!(wanted.iter().all(|name| names.iter().any(|found| found == name)), "{names:?}");
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(read(&dir.path().join("errors"), wanted[0]), "out of memory");
    assert!(printed.contains("(stderr) out of memory"), "{printed}");
    assert!(printed.contains("bestmove"), "the last lines of both outputs: {printed}");
    assert!(printed.contains("\nRunner: "), "{printed}");
    let report = std::fs::read_to_string(dir.path().join("report/index.html")).expect("a report");
    assert!(report.contains(" to send the next command\""), "the runner's delays");
}

#[test]
fn clock_error_counts_moves_and_losses() {
    let program = example("clock_error");
    // Ignore the exit status, because it depends on the speed of the machine.
    let output = std::process::Command::new(program).args(["40", "4", "0"]).output();
    let output = output.expect("the example can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(text.starts_with("4 engines, "), "{text}{errors}");
    assert!(text.contains(" losses on time, ") && text.contains("     99.9%"), "{text}{errors}");
}

#[test]
fn statistics_contain_the_delays() {
    let dir = tempfile::tempdir().expect("a folder");
    let (first, second) = (fake("uci"), fake("xboard"));
    let options = "-n 1 --max-moves 3 --nodes 1 --json out.json";
    let line = format!("autoplay -1 \"{first}\" -2 \"{second}\" {options}");
    let (status, printed, errors) = run_line(&line, dir.path());
    assert_eq!(status, Some(3), "{printed}{errors}");
    let text = std::fs::read_to_string(dir.path().join("out.json")).expect("statistics");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let overhead = &json["overhead"];
    assert_eq!(overhead["moves"], 6, "{text}");
    assert!(overhead["processing_ms"]["longest"].is_f64(), "{text}");
    let commands = run_line_ok("autoplay -h", dir.path());
    assert!(commands.lines().count() <= 40, "{commands}");
}
