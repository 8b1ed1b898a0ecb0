//! Tests that an interrupted build resumes when the same command is run again, and then writes the
//! same book.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{PROGRAM, TIMEOUT, tabia};

/// Returns `number` different games, a few of which contain an illegal move.
fn games(number: usize) -> String {
    let moves = ["e4 e5", "d4 d5", "c4 c5", "Nf3 Nf6", "b3 b6", "g3 g6", "a3 a6", "h3 h6"];
    let mut text = String::new();
    for game in 0..number {
        let result = ["1-0", "0-1", "1/2-1/2"][game % 3];
        let _ = write!(
            text,
            "[White \"W{}\"]\n[Black \"B{}\"]\n[Date \"2020.01.01\"]\n[Result \"{result}\"]\n\n",
            game % 1_000,
            game % 77
        );
        for ply in 0..4 {
            let pair = moves[(game >> (3 * ply)) % 8];
            let _ = write!(text, "{}. {pair} ", ply + 1);
        }
        let end = if game % 5_000 == 0 { "Kd5" } else { "" };
        let _ = write!(text, "{end} {result}\n\n");
    }
    text
}

fn build<'a>(book: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    build_every("0.03", book, more)
}

fn build_every<'a>(seconds: &'a str, book: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let all = ["book", "build", "--threads", "2", "--checkpoint", seconds, "games.pgn", "-o", book];
    [&all[..], more].concat()
}

fn kill_at_next_checkpoint(folder: &Path, book: &str, arguments: &[&str]) -> bool {
    let state = folder.join(format!("{book}.unfinished/state.json"));
    let before = fs::read(&state).ok();
    let mut command = Command::new(PROGRAM);
    command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            assert!(status.success(), "{arguments:?}");
            return false;
        }
        let now = fs::read(&state).ok();
        if now.is_some() && now != before {
            child.kill().expect("killed");
            child.wait().expect("a child");
            return state.exists();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Kills a build at its next checkpoint, and repeats this until it was killed `times` times in a
/// row. If a build finishes before its next checkpoint, deletes the book and starts over.
fn kill_at_checkpoints(folder: &Path, book: &str, arguments: &[&str], times: usize) {
    let (mut kills, begin) = (0, Instant::now());
    while kills < times {
        assert!(begin.elapsed() < TIMEOUT, "no build lasts until its next checkpoint");
        if kill_at_next_checkpoint(folder, book, arguments) {
            kills += 1;
        } else {
            fs::remove_file(folder.join(book)).expect("a whole book");
            kills = 0;
        }
    }
}

fn error_of(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn repeatedly_killed_build_gives_the_same_book() {
    for more in
        [&[][..], &["--facets"], &["--unique"], &["--unique", "--facets"], &["--min-games", "2"]]
    {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("games.pgn"), games(40_000)).expect("written");
        let path = |name: &str| folder.path().join(name);
        let whole = [build_every("0", "whole.tbk", more), vec!["--errors", "whole.err"]].concat();
        assert!(tabia(&whole, folder.path()).status.success());
        assert!(!path("whole.tbk.unfinished").exists());
        let broken = [build("broken.tbk", more), vec!["--errors", "broken.err"]].concat();
        let mut kills = 2;
        kill_at_checkpoints(folder.path(), "broken.tbk", &broken, kills);
        while kill_at_next_checkpoint(folder.path(), "broken.tbk", &broken) {
            kills += 1;
        }
        for (one, other) in [("whole.tbk", "broken.tbk"), ("whole.err", "broken.err")] {
            let [one, other] = [one, other].map(|name| fs::read(path(name)).expect(name));
            assert!(one == other, "{more:?} after {kills} kills");
        }
        assert!(!path("broken.tbk.unfinished").exists(), "{more:?}");
    }
}

fn unfinished() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("games.pgn"), games(120_000)).expect("written");
    kill_at_checkpoints(folder.path(), "x.tbk", &build("x.tbk", &[]), 1);
    folder
}

#[test]
fn checkpoint_of_another_build_is_neither_used_nor_lost() {
    let folder = unfinished();
    let other = tabia(&build("x.tbk", &["--max-ply", "7"]), folder.path());
    assert!(
        error_of(&other).contains("x.tbk.unfinished: state.json: it was begun with other settings")
    );
    let mut text = games(120_000);
    text.replace_range(40..41, "X");
    fs::write(folder.path().join("games.pgn"), &text).expect("written");
    let changed = error_of(&tabia(&build("x.tbk", &[]), folder.path()));
    assert!(changed.contains("the games are no longer what they were"), "{changed}");
    fs::write(folder.path().join("games.pgn"), games(120_000)).expect("written");
    let resumed = tabia(&build("x.tbk", &[]), folder.path());
    assert!(resumed.status.success(), "{resumed:?}");
    assert!(String::from_utf8_lossy(&resumed.stdout).starts_with("120,000 games read, the last "));
    let afresh = tabia(&build("x.tbk", &["--max-ply", "7", "--afresh"]), folder.path());
    assert!(afresh.status.success() && !folder.path().join("x.tbk.unfinished").exists());
}

#[test]
fn build_from_a_stream_resumes_when_fed_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["book", "build", "--checkpoint", "0.03", "-", "-o", "x.tbk"];
    let start = || {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(folder.path()).stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let text = games(40_000);
    let mut child = start();
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(text.as_bytes()).expect("it reads");
    while !folder.path().join("x.tbk.unfinished/state.json").exists() {
        // Keep sending input, because checkpoints are written only when input arrives.
        input.write_all(text.as_bytes()).expect("it reads");
    }
    child.kill().expect("killed");
    child.wait().expect("a child");
    let mut late = start();
    let mut input = late.stdin.take().expect("a pipe");
    // Ignore errors, because the build may exit before it has read all of its input.
    let _ = input.write_all(&text.as_bytes()[1_000..]);
    drop(input);
    let error = error_of(&late.wait_with_output().expect("a child"));
    assert!(error.contains("standard input must be fed the same games again"), "{error}");
}

#[test]
fn damaged_checkpoint_is_reported_and_can_be_discarded() {
    let folder = unfinished();
    let run = fs::read_dir(folder.path().join("x.tbk.unfinished")).expect("a folder");
    let run = run.flatten().find(|entry| entry.file_name().to_string_lossy().starts_with("run-"));
    let run = run.expect("a run").path();
    let bytes = fs::read(&run).expect("a run");
    fs::write(&run, &bytes[..bytes.len() - 1]).expect("written");
    let error = error_of(&tabia(&build("x.tbk", &[]), folder.path()));
    assert!(
        error.contains("cannot resume from x.tbk.unfinished: run-")
            && error.contains(" is damaged; to discard it, add --afresh"),
        "{error}"
    );
    assert!(tabia(&build("x.tbk", &["--afresh"]), folder.path()).status.success());
}

#[test]
fn foreign_files_in_the_checkpoint_folder_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("games.pgn"), games(40_000)).expect("written");
    let own = folder.path().join("x.tbk.unfinished");
    fs::create_dir(&own).expect("made");
    fs::write(own.join("letter.txt"), "dear").expect("written");
    for more in [&[][..], &["--afresh"]] {
        // A temporary file left by a killed build is removed, unlike foreign files.
        fs::write(own.join(".tabia-0123456789ab"), "half a state").expect("written");
        assert!(tabia(&build("x.tbk", more), folder.path()).status.success());
        let left: Vec<_> =
            fs::read_dir(&own).expect("there").flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["letter.txt"]);
    }
}

#[test]
fn build_resumes_after_running_out_of_disk_space() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("games.pgn"), games(120_000)).expect("written");
    let error = error_of(&tabia(&build("x.tbk", &["--disk", "100K"]), folder.path()));
    assert!(
        error.contains(
            "102400 bytes of disk that --disk allows; repeat the command with more to resume"
        ),
        "{error}"
    );
    assert!(!folder.path().join("x.tbk").exists());
    let resumed = tabia(&build("x.tbk", &["--disk", "1G"]), folder.path());
    assert!(resumed.status.success(), "{resumed:?}");
    assert!(tabia(&build_every("0", "y.tbk", &[]), folder.path()).status.success());
    let [x, y] = ["x.tbk", "y.tbk"].map(|name| fs::read(folder.path().join(name)).expect(name));
    assert!(x == y);
}

#[test]
fn build_progresses_with_any_checkpoint_interval() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("games.pgn"), games(40_000)).expect("written");
    assert!(tabia(&build_every("0", "whole.tbk", &[]), folder.path()).status.success());
    // The checkpoint interval is shorter than the time it takes to write a checkpoint.
    let built = tabia(&build_every("0.000001", "facets.tbk", &["--facets"]), folder.path());
    assert!(built.status.success(), "{built:?}");
    assert!(tabia(&build_every("0.000001", "x.tbk", &[]), folder.path()).status.success());
    let [x, whole] =
        ["x.tbk", "whole.tbk"].map(|name| fs::read(folder.path().join(name)).expect(name));
    assert!(x == whole);
}

#[test]
fn build_without_readable_input_leaves_no_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("games.pgn.gz"), [0x1f, 0x8b, 8, 0, 1, 2, 3, 4]).expect("written");
    let arguments = ["book", "build", "--checkpoint", "0.000001", "games.pgn.gz", "-o", "x.tbk"];
    for _ in 0..2 {
        let error = error_of(&tabia(&arguments, folder.path()));
        assert!(error.contains("no readable game counts"), "{error}");
        assert!(!folder.path().join("x.tbk.unfinished").exists());
    }
}
