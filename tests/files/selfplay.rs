//! Self-play games: packing, relabelling and training.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{PROGRAM, tabia};

fn run(arguments: &[&str], folder: &Path) -> String {
    let output = tabia(arguments, folder);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn run_err(arguments: &[&str], folder: &Path) -> String {
    let output = tabia(arguments, folder);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

fn play(folder: &Path) {
    let games = ["train", "games", "--nodes", "30", "--games"];
    let kinds: [&[&str]; 3] = [
        &["40", "-o", "a.games"],
        &["20", "-o", "b.games", "--seed", "2", "--pieces", "3-8"],
        &["20", "-o", "c.games", "--book", "embedded", "--random-after", "2"],
    ];
    for kind in kinds {
        run(&[&games, kind].concat(), folder);
    }
}

#[test]
fn packed_games_equal_the_played_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    play(folder);
    let all = ["a.games", "b.games", "c.games"];
    let pack = [&["train", "pack", "-o", "p.games"], &all[..]].concat();
    let reported = run(&pack, folder);
    assert!(reported.starts_with("80 games with "), "{reported}");
    let size = |name: &str| fs::metadata(folder.join(name)).expect(name).len();
    assert!(2 * size("p.games") < all.map(size).iter().sum(), "{reported}");

    let plain = run(&[&["train", "pgn"], &all[..]].concat(), folder);
    let one = |name: &str| fs::read(folder.join(name)).expect(name);
    let of_packed = run(&["train", "pgn", "p.games"], folder);
    let moves = |pgn: &str| {
        let lines = pgn.lines().filter(|line| !line.starts_with("[Round "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(moves(&of_packed), moves(&plain));
    assert!(of_packed.contains(" random plies after it; "), "settings of the part");
    assert_eq!(of_packed.matches("[FEN ").count(), 20, "with few pieces");

    // Files can be joined with `cat`.
    for name in all {
        run(&["train", "pack", name, "-o", &format!("{name}.packed")], folder);
    }
    let parts = all.map(|name| one(&format!("{name}.packed"))).concat();
    assert!(parts == one("p.games"));

    fs::write(folder.join("notes.txt"), "mine").expect("written");
    let taken = run_err(&["train", "pack", "a.games", "-o", "notes.txt"], folder);
    assert!(taken.contains("notes.txt"), "{taken}");
    assert_eq!(one("notes.txt"), b"mine");
    let own = run_err(&["train", "pack", "a.games", "-o", "a.games", "--force"], folder);
    assert!(own.contains("it is also an input"), "{own}");
    let foreign = run_err(&["train", "pack", "p.games", "/dev/null", "-o", "q.games"], folder);
    assert!(foreign.contains("/dev/null: it is not a file of self-play games"), "{foreign}");
    assert!(!folder.join("q.games").exists(), "a failed command leaves no file");
    let played = run_err(&["train", "games", "--games", "90", "-o", "p.games"], folder);
    assert!(
        played.contains(
            "p.games: it is of another kind or version, and begins with \"tabia games 2; "
        ),
        "{played}"
    );
}

#[test]
fn training_from_packed_games_gives_the_same_network() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    play(folder);
    run(&["train", "pack", "a.games", "b.games", "-o", "p.games"], folder);
    let learn = ["train", "net", "--epochs", "1", "--threads", "2", "-o"];
    run(&[&learn[..], &["plain.bin", "a.games", "b.games"]].concat(), folder);
    run(&[&learn[..], &["packed.bin", "p.games"]].concat(), folder);
    let [plain, packed] =
        ["plain.bin", "packed.bin"].map(|name| fs::read(folder.join(name)).expect(name));
    assert!(plain == packed);
}

#[test]
fn damaged_games_do_not_affect_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    play(folder);
    run(&["train", "pack", "a.games", "b.games", "-o", "p.games"], folder);
    let mut bytes = fs::read(folder.join("p.games")).expect("the file");
    let middle = bytes.len() / 4;
    bytes[middle] ^= 1;
    fs::write(folder.join("p.games"), bytes).expect("written");
    let error = run_err(&["train", "pack", "p.games", "-o", "q.games"], folder);
    assert!(error.contains("40 damaged games were left out"), "{error}");
    assert_eq!(run(&["train", "pgn", "q.games"], folder).matches("[FEN ").count(), 20);
    let error = run_err(&["train", "games", "--pieces", "2-9", "-o", "r.games"], folder);
    assert!(error.contains("two such as 3-12"), "{error}");
}

#[test]
fn killed_relabelling_resumes_to_the_same_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    play(folder);
    run(&["train", "pack", "b.games", "-o", "p.games"], folder);
    let short = ["train", "games", "--nodes", "1", "--games", "60", "-o", "d.games"];
    run(&[&short[..], &["--men", "3-4"]].concat(), folder);
    let judge = ["train", "relabel", "--nodes", "4", "a.games", "p.games", "d.games"];
    run(&[&judge[..], &["-o", "whole.games", "--threads", "3"]].concat(), folder);
    let broken = [&judge[..], &["-o", "broken.games", "--threads", "2"]].concat();
    for kills in 0.. {
        let mut command = Command::new(PROGRAM);
        command.args(&broken).current_dir(folder).stdout(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(20 + 40 * kills));
        if let Some(status) = child.try_wait().expect("a child") {
            assert!(status.success());
            break;
        }
        child.kill().expect("killed");
        child.wait().expect("a child");
    }
    let read = |name: &str| fs::read(folder.join(name)).expect(name);
    assert!(read("whole.games") == read("broken.games"));
    let again = run(&broken, folder);
    assert!(again.starts_with("0 games added to 120 in broken.games"), "{again}");

    let without_event = |file: &str| {
        let pgn = run(&["train", "pgn", file], folder);
        let kept = pgn.lines().filter(|line| !line.starts_with("[Event "));
        kept.map(str::to_owned).collect::<Vec<_>>()
    };
    run(&["train", "relabel", "a.games", "-o", "static.games"], folder);
    assert_eq!(without_event("static.games"), without_event("a.games"));
    let other = run_err(&["train", "relabel", "a.games", "-o", "whole.games"], folder);
    assert!(other.contains("whole.games: it was begun with judged by"), "{other}");
    let input = run_err(&["train", "relabel", "a.games", "-o", "a.games"], folder);
    assert!(input.contains("it is also an input"), "{input}");
}
