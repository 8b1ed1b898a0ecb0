//! Tests that invalid input of every kind causes a one-line error message and a failing exit
//! status.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::tabia;

/// Returns pseudorandom bytes, the same in every run.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        // Xorshift: G. Marsaglia, "Xorshift RNGs" (2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..length).map(|_| next()).collect()
}

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        for (name, content) in [
            ("empty.pgn", Vec::new()),
            ("noise.pgn", noise(100_000)),
            ("tags.pgn", b"[Event \"?\"]\n[Result \"*\"]\n\n*\n".to_vec()),
            ("empty.tbk", Vec::new()),
            ("noise.tbk", noise(100_000)),
            ("empty.bin", Vec::new()),
            ("noise.bin", noise(100_001)),
            ("noise.ctg", noise(4_096)),
            ("network.bin", b"tabia network 1; 768x256\n\0\0".to_vec()),
            ("network.tbk", b"tabia network 1; 768x256\n\0\0".to_vec()),
            ("games.pgn", b"tabia games 2; 400 nodes\n\0\0".to_vec()),
        ] {
            fs::write(folder.path().join(name), content).expect("a writable folder");
        }
        Files(folder)
    }
}

/// Runs `tabia` with invalid arguments or input, and returns its one-line error message.
fn refusal(arguments: &[&str], folder: &Path) -> String {
    let output = tabia(arguments, folder);
    let printed = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert!(!output.status.success(), "{arguments:?} succeeded");
    assert!(output.status.code().is_some_and(|code| code < 100), "{arguments:?}: {printed}");
    let lines: Vec<&str> = printed.lines().collect();
    let [line] = lines[..] else { panic!("{arguments:?} says not one line but:\n{printed}") };
    assert!(line.starts_with("tabia: "), "{arguments:?}: {line}");
    line.to_owned()
}

#[test]
fn invalid_arguments_are_rejected_in_one_line() {
    let files = Files::new();
    for (arguments, word) in [
        (&["--nonsense"][..], "--nonsense"),
        (&["nonsense"], "nonsense"),
        (&["lesson"], "a command is missing: tabia lesson [OPTIONS] <COMMAND>"),
        (&["perft"], "DEPTH"),
        (&["perft", "many"], "many"),
        (&["perft", "0"], "0"),
        (&["perft", "--sideways", "1"], "--sideways"),
        (&["bench", "--depth", "1000"], "1000"),
    ] {
        let line = refusal(arguments, files.0.path());
        assert!(line.contains(word), "{arguments:?}: {line}");
        assert!(line.contains("--help"), "no hint for {arguments:?}: {line}");
    }
}

const GAME: &str = "[Event \"?\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n";
const MAGIC: usize = 8;
/// The length in bytes of a book's header, without and with padding.
const HEADER: usize = 152;
const PADDED_HEADER: usize = 256;

const NO_BOOKS: [(&str, &str); 14] = [
    ("missing.pgn", "does not exist"),
    ("missing.tbk", "does not exist"),
    (".", "directory"),
    ("empty.pgn", "no readable game"),
    ("noise.pgn", "no readable game"),
    ("tags.pgn", "no readable game"),
    ("empty.tbk", "tabia book build"),
    ("noise.tbk", "tabia book build"),
    ("empty.bin", "not a Polyglot book"),
    ("noise.bin", "not a Polyglot book"),
    ("noise.ctg", "noise.ctg"),
    ("network.bin", "it is a network; pass it with --network"),
    ("network.tbk", "it is a network; pass it with --network"),
    ("games.pgn", "it is a file of self-play"),
];

/// Errors in books are reported to the GUI through the protocol, and the engine keeps running.
#[test]
fn invalid_books_are_reported_in_the_protocol() {
    let files = Files::new();
    for (file, word) in NO_BOOKS {
        for (arguments, expected) in [
            (["-x", "-b", file], "tellusererror "),
            (["-x", "--book", file], "tellusererror "),
            (["--uci", "-b", file], "info string "),
        ] {
            let run = tabia(&arguments, files.0.path());
            assert!(run.status.success(), "{arguments:?}: {run:?}");
            let printed = String::from_utf8(run.stdout).expect("UTF-8");
            let line = printed.lines().find(|line| line.starts_with(expected));
            let line = line.unwrap_or_else(|| panic!("{arguments:?}: {printed}"));
            assert!(line.contains(word), "{arguments:?}: {line}");
        }
    }
}

#[test]
fn invalid_books_are_rejected_by_book_commands() {
    let files = Files::new();
    for (file, word) in NO_BOOKS {
        for command in ["show", "info"] {
            let line = refusal(&["book", command, file], files.0.path());
            assert!(line.contains(word), "book {command} {file}: {line}");
        }
    }
}

#[test]
fn damaged_books_are_rejected() {
    let files = Files::new();
    let folder = files.0.path();
    fs::write(folder.join("game.pgn"), GAME).expect("a writable folder");
    let built = tabia(&["book", "build", "game.pgn", "-o", "whole.tbk"], folder);
    assert!(built.status.success(), "{built:?}");
    let whole = fs::read(folder.join("whole.tbk")).expect("the book was written");
    for length in [9, 100, whole.len() / 2, whole.len() - 1] {
        fs::write(folder.join("cut.tbk"), &whole[..length]).expect("a writable folder");
        let line = refusal(&["book", "show", "cut.tbk"], folder);
        assert!(line.contains("truncated"), "{length} bytes: {line}");
    }
    for at in (MAGIC..HEADER).step_by(16).chain((PADDED_HEADER..whole.len()).step_by(40)) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        fs::write(folder.join("damaged.tbk"), damaged).expect("a writable folder");
        let line = refusal(&["book", "show", "damaged.tbk"], folder);
        assert!(line.contains("build it again"), "byte {at}: {line}");
    }
}

#[test]
fn failed_build_keeps_the_old_book() {
    let files = Files::new();
    let folder = files.0.path();
    fs::write(folder.join("game.pgn"), GAME).expect("a writable folder");
    let built = tabia(&["book", "build", "game.pgn", "-o", "kept.tbk"], folder);
    assert!(built.status.success(), "{built:?}");
    let old = fs::read(folder.join("kept.tbk")).expect("the book was written");
    for (arguments, word) in [
        (["missing.pgn", "-o", "kept.tbk"], "does not exist"),
        (["empty.pgn", "-o", "kept.tbk"], "empty"),
        (["noise.pgn", "-o", "kept.tbk"], "binary data without a game"),
        (["tags.pgn", "-o", "kept.tbk"], "no readable game"),
        ([".", "-o", "missing/new.tbk"], "missing/new.tbk"),
        (["game.pgn", "-o", "."], "cannot write ."),
        (["game.pgn", "-o", "missing/new.tbk"], "folder does not exist"),
    ] {
        let line = refusal(&[&["book", "build"], &arguments[..]].concat(), folder);
        assert!(line.contains(word), "{arguments:?}: {line}");
    }
    let kept = fs::read(folder.join("kept.tbk")).expect("still there");
    assert!(kept == old, "a failed build replaced the old file");
}

#[test]
fn invalid_positions_of_a_book_are_rejected() {
    let files = Files::new();
    for (arguments, word) in [
        (["--fen", "nonsense"], "invalid FEN"),
        (["--moves", "e4 e9"], "e9"),
        (["--moves", "e4 Ke2 Ke2"], "Ke2"),
        (["--opening", "Nonsense"], "Nonsense"),
    ] {
        let line =
            refusal(&[&["book", "show", "embedded"], &arguments[..]].concat(), files.0.path());
        assert!(line.contains(word), "{arguments:?}: {line}");
    }
}

#[test]
fn invalid_fens_are_rejected() {
    let files = Files::new();
    for (fen, word) in [
        ("startpos", "found 1 field"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "empty"),
        ("qqqqkqqq/qqqqqqqq/7q/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1", "17 pieces"),
        ("4k3/8/8/8/8/8/8/4K3\u{1b}[31m w - - 0 1", "board"),
    ] {
        for command in [&["perft", "1", fen][..], &["eval", fen]] {
            let line = refusal(command, files.0.path());
            assert!(line.contains(word), "{command:?}: {line}");
        }
    }
}
