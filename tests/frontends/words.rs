//! Tests of output that several commands have in common: system errors, suggestions and lists.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tabia::book::Policy;
use tempfile::TempDir;

use crate::support::tabia;

fn printed(arguments: &[&str], folder: &Path) -> (String, Option<i32>) {
    let output = tabia(arguments, folder);
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.code())
}

#[test]
fn error_messages_contain_no_os_error_numbers() {
    let folder = TempDir::new().expect("a temporary folder");
    let locked = folder.path().join("locked");
    fs::create_dir(folder.path().join("folder")).expect("writable");
    fs::write(&locked, "1. e4 *\n").expect("writable");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o0)).expect("ours");
    let long = "n".repeat(300);
    let commands = [
        "book build FILE -o new.tbk",
        "book build locked -o FILE/new.tbk",
        "book info FILE",
        "book show FILE",
        "book why FILE",
        "book dump FILE",
        "book verify FILE",
        "book entropy FILE",
        "book diff FILE FILE",
        "book merge FILE FILE -o new.tbk",
        "book filter FILE -o new.tbk",
        "book filter embedded -o FILE/new.tbk",
        "book export FILE -o new.bin",
        "book export embedded -o FILE/new.bin",
        "book import FILE.bin -o new.tbk",
        "book learn FILE -o new.tbk",
        "book analyse FILE",
        "book find FILE --moves e4",
        "book game FILE 12345678",
        "book search KvK -b FILE",
        "annotate FILE",
        "solve FILE",
        "bench --positions FILE",
        "bench threads --positions FILE",
        "bench transpositions FILE",
        "eval --network FILE",
        "lesson tree FILE",
        "lesson nodes --positions FILE",
        "lesson book --book FILE",
        "perft 2 FILE",
        "repertoire build FILE --side white -o new.tbk",
        "repertoire check FILE --side white",
        "repertoire check FILE.tbk",
        #[cfg(feature = "train")]
        "train net FILE -o new.bin",
        #[cfg(feature = "train")]
        "train pack FILE -o new.games",
        #[cfg(feature = "train")]
        "train tune FILE",
        "tune FILE",
        "serve --book FILE",
        "autoplay -1 FILE -2 FILE -n 1",
        "autoplay -1 x -2 y --openings FILE",
        "-x --book FILE/x --log FILE/log",
        "--uci --network FILE",
    ];
    for command in commands {
        for file in ["missing", "missing/deeper", "folder", "locked/below", &long] {
            let words: Vec<String> =
                command.split(' ').map(|word| word.replace("FILE", file)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let (text, _) = printed(&words, folder.path());
            assert!(!text.contains("os error"), "{words:?}: {text}");
        }
    }
}

#[test]
fn only_similar_words_are_suggested() {
    let folder = TempDir::new().expect("a temporary folder");
    for (arguments, hint) in [
        (&["boook"][..], Some("`book`")),
        (&["evl"], Some("`eval`")),
        (&["book", "shw"], Some("`show`")),
        (&["book", "analyze"], Some("`analyse`")),
        (&["book", "info", "--fne"], None),
        (&["book", "show", "embedded", "--movs", "e4"], Some("`--moves`")),
        (&["--bok", "x"], Some("`--book`")),
        (&["foo"], None),
        (&["xyz"], None),
        (&["book", "qqqq"], None),
        (&["--foo"], None),
        (&["play"], None),
    ] {
        let (text, status) = printed(arguments, folder.path());
        assert_eq!(status, Some(2), "{arguments:?}: {text}");
        match hint {
            Some(name) => assert!(text.contains(&format!("did you mean {name}")), "{text}"),
            None => assert!(!text.contains("mean") && !text.contains("similar"), "{text}"),
        }
        assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    }
}

#[test]
fn policies_are_listed_consistently() {
    let folder = TempDir::new().expect("a temporary folder");
    for policy in Policy::ALL {
        let why = ["book", "why", "embedded", "--policy", policy.name()];
        let (text, status) = printed(&why, folder.path());
        assert_eq!(status, Some(0), "{policy}: {text}");
    }
    let xboard =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/options.md"));
    let option = xboard.expect("a page");
    let option = option.lines().find(|line| line.starts_with("| BookPolicy")).expect("a row");
    for command in ["why", "entropy", "variety"] {
        let (help, _) = printed(&["book", command, "--help"], folder.path());
        let (error, _) = printed(&["book", command, "embedded", "--policy", "x"], folder.path());
        for policy in Policy::ALL {
            assert!(help.contains(policy.name()), "{policy}: {help}");
            assert!(error.contains(policy.name()), "{policy}: {error}");
        }
        assert!(help.contains(Policy::ON) && error.contains(Policy::ON), "{help}{error}");
    }
    for policy in Policy::IN_USE {
        assert!(option.contains(&format!("`{policy}`")), "{policy}: {option}");
    }
}

#[test]
fn lists_are_accepted_as_shown_in_the_help() {
    let folder = TempDir::new().expect("a temporary folder");
    let split = ["lesson", "split", "-n", "1", "-t", "1", "-d"];
    for depths in ["1 2", "1,2", "1, 2"] {
        let (text, status) = printed(&[&split[..], &[depths]].concat(), folder.path());
        assert_eq!(status, Some(0), "{depths}: {text}");
    }
    let (text, status) = printed(&["lesson", "forest", "-n", "2", "-t", "1 2"], folder.path());
    assert_eq!(status, Some(0), "{text}");
    let (text, status) = printed(&[&split[..], &["3 x"]].concat(), folder.path());
    assert!(status == Some(2) && text.contains("'x'"), "{text}");
}

#[test]
fn eval_prints_every_given_position() {
    let folder = TempDir::new().expect("a temporary folder");
    let fens = [
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
        "8/8/4k3/8/8/2R5/3K4/8 w - - 0 1",
    ];
    let words: Vec<&str> = fens.iter().flat_map(|fen| fen.split(' ')).collect();
    let alone = fens.map(|fen| printed(&["eval", fen], folder.path()).0);
    let expected = format!("{}\n{}\n{}\n{}", fens[0], alone[0], fens[1], alone[1]);
    for arguments in [&fens[..], &words, &[&fens[..1], &words[6..]].concat()] {
        let (text, status) = printed(&[&["eval"], arguments].concat(), folder.path());
        assert_eq!(status, Some(0), "{text}");
        assert_eq!(text, expected);
    }
    let (text, status) = printed(&["eval", fens[0], "8/8/8 w - - 0 1"], folder.path());
    assert!(status == Some(2) && !text.contains("pawns"), "{text}");
}

#[test]
fn eval_prints_the_selected_evaluation_first() {
    let folder = TempDir::new().expect("a temporary folder");
    let fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
    let first = |kind: &str| {
        let (text, _) = printed(&["eval", fen, "--evaluation", kind], folder.path());
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let of = |name: &str| lines.iter().find(|line| line.starts_with(name)).cloned();
        let figure = |line: &str| line.split(' ').nth(1).expect("a figure").parse::<f64>();
        (figure(&lines[0]).expect("a number"), of("network "), of("classical "))
    };
    let (nnue, network, terms) = first("nnue");
    let figure = |line: Option<String>| {
        let line = line.expect("a line");
        line.split(' ').nth(1).expect("a figure").parse::<f64>().expect("a number")
    };
    // The evaluation differs slightly from the network's output, because it is damped by the
    // fifty-move counter and rounded.
    assert!((nnue - figure(network)).abs() < 0.1, "{nnue}");
    let (classical, network, same_terms) = first("classical");
    assert_eq!(network, None);
    assert_eq!(same_terms, terms);
    assert!((classical - figure(terms)).abs() < 0.1, "{classical}");
    assert_ne!(nnue, classical);
}

const SELF_PLAY: &str = "tellothers Counts from the embedded book: games that Tabia played \
                         against itself, and named opening lines.";

#[test]
fn self_play_is_noted_once_a_game_and_only_for_the_embedded_book() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("own.pgn");
    fs::write(&own, "1. e4 c5 2. Nf3 d6 1/2-1/2\n").expect("written");
    let own = own.to_str().expect("UTF-8");
    for (arguments, notes) in [(&[][..], [1, 0]), (&["--book", own], [0, 0])] {
        let mut engine = crate::support::Engine::start(&[&["-x"], arguments].concat());
        engine.send("xboard\nprotover 2\nnew\nst 10\nnps 1000\npost");
        for game in 0..2 {
            for (mv, expected) in ["usermove e2e4", "usermove g1f3"].into_iter().zip(notes) {
                engine.send(mv);
                let lines = engine.until_start("move ");
                let noted = lines.iter().filter(|line| *line == SELF_PLAY).count();
                assert_eq!(noted, expected, "{arguments:?}, game {game}, {mv}: {lines:?}");
                let reason = lines.iter().find(|line| line.starts_with("tellothers book move "));
                assert!(mv != "usermove e2e4" || reason.is_some(), "no book move: {lines:?}");
                let is_bare = |reason: &String| reason.contains(" +") || reason.contains(" =");
                assert!(!reason.is_some_and(is_bare), "{reason:?}");
            }
            engine.send("new\nst 10\nnps 1000");
        }
    }
}
