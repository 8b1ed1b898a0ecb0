//! Types arbitrary lines into the console, one per prompt, in an empty folder. Text after a NUL is
//! written to a file in this folder, so that the lines can load positions and games from it. Every
//! line must get a response without a panic, the output must contain no control sequences except
//! colours, and saved games must be readable.
//!
//! Searches are short. Lines that would take minutes or that name files outside the folder are
//! skipped.

#![no_main]

use std::fs;

use tabia::fuzz::console::show;
use tabia::pgn::{GameStatus, read_games};
use tabia_fuzz::{folder, fuzz_target, seed};

/// Whether a line is safe to run: it must not use files outside the folder and must take less than
/// a minute.
fn is_harmless(line: &str) -> bool {
    let line = line.trim();
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let arguments = arguments.trim();
    match name {
        // The arguments of these commands may contain `/`, because they are never file names.
        "setboard" | "result" | "name" => true,
        "perft" => arguments.parse::<u32>().is_ok_and(|depth| depth <= 2),
        "test" => arguments != "movegenspeed",
        "annotate" => {
            let nodes = arguments.split_whitespace().last().and_then(|word| word.parse().ok());
            nodes.is_some_and(|nodes: u64| nodes <= 100) && !line.contains(['/', '~'])
        }
        _ => !line.contains(['/', '~']),
    }
}

/// Empties the folder.
fn clear() {
    for entry in fs::read_dir(folder()).expect("a folder").flatten() {
        let _ = fs::remove_file(entry.path());
    }
}

/// Returns the text without colour sequences.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    let is_of_colour = |sign: u8| sign.is_ascii_digit() || sign == b';';
    parts.fold(first, |text, part| match part.split_once('m') {
        Some((colour, rest)) if colour.bytes().all(is_of_colour) => text + rest,
        _ => text + "\x1b" + part,
    })
}

fn seeds() -> Vec<(&'static str, String)> {
    const GAMES: &str = "\0[White \"A\"]\n\n1. e4 {x} e5 $1 2. Nf3 1-0\n";
    const SUITE: &str = "\x006k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#; id \"x\";\n# y\n\
        8/8/8/4k3/8/8/4P3/4K3 w - - am Kd2;\n";
    [
        ("games", "pgnload f 1|first|n|c5|pgnreplay f|list f|list|last|p|show moves", GAMES),
        ("played", "st 0.01|post|hard|e4|show game|undo|r|book f|hint|draw|easy|remove", GAMES),
        ("solved", "solve f 0.1|load f 2|save s|epdsave \"s s\"|load s|analyze|d4|exit", SUITE),
        ("shown", "show eval|show options|show pin|show time|show book|board off|show fen", ""),
        ("drawn", "graphic|nocoords|coords|nographic|usage|help go|version|xboard|show escape", ""),
        ("ended", "force|f3|e5|g4|Qh4#|activate|undo|resign|new|result 1/2-1/2|pgnsave g", ""),
        (
            "annotated",
            "force|f3|e5|g4|annotate 50|annotate a 50|annotate a.html 50|undo|list a",
            "",
        ),
        ("named", "name B|rating 1 2|e4|show game|result *|new|?|random|book best|book off", ""),
        ("set", "level 40 5 0|st 2|sd 3|time 100|otim 100|hash 2|cores 2|null on", ""),
        ("options", "option Contempt=3|option Threads|option Clear Hash|option BookFile=f", SUITE),
        ("placed", "setboard 4k3/8/8/8/8/8/4P3/4K3 b - - 0 1|white|black|switch|go|perft 2", ""),
    ]
    .map(|(name, lines, files)| (name, lines.replace('|', "\n") + files))
    .to_vec()
}

fn start() {
    seed(seeds());
    std::env::set_current_dir(folder()).expect("a folder");
}

fuzz_target!(init: start(), |text: &str| {
    clear();
    let (lines, files) = text.split_once('\0').unwrap_or((text, ""));
    if !files.is_empty() {
        fs::write("f", files).expect("a folder");
    }
    let kept = folder().join("kept.pgn");
    let lines: Vec<_> = lines.lines().filter(|line| is_harmless(line)).map(str::to_owned).collect();
    let screen = without_colours(&show(lines.into_iter(), kept.clone()));
    let control = screen.chars().find(|&letter| letter.is_control() && letter != '\n');
    assert_eq!(control, None, "on the screen:\n{screen:?}");
    let games = fs::read(kept).unwrap_or_default();
    for (_, end) in read_games(&games[..]).flatten() {
        assert_eq!(end.status, GameStatus::Read, "{}", String::from_utf8_lossy(&games));
    }
});
