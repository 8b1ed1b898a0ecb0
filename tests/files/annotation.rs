//! Annotating games, including games with comments, and resuming interrupted runs.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use tabia::pgn::{GameResult, PgnGame, read_games};

use crate::support::{self, PROGRAM};

/// Six games: a blunder into mate, an illegal move, a chess variant, a set-up position, a game with
/// annotations, and one without moves.
const GAMES: &str = "\
[White \"a\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n\
[White \"b\"]\n\n1. e4 e5 2. Ke3 Nf6 1-0\n\n\
[White \"c\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n\n\
[White \"d\"]\n[SetUp \"1\"]\n[FEN \"6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1\"]\n\n1. Rb1 Kf8 *\n\n\
[White \"e\"]\n[Annotator \"somebody\"]\n\n1. e4 $2 $14 {[%clk 0:01:00] [%eval 9.9] best by test} \
(1. d4 d5) 1... c5 1/2-1/2\n\n\
[White \"f\"]\n\n*\n";

const NODES: &str = "2000";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("games.pgn"), GAMES).expect("written");
    folder
}

fn printed(arguments: &str, folder: &Path) -> (bool, String, String) {
    let arguments = shlex::split(&format!("annotate {arguments}")).expect("closed quotes");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = support::tabia(&arguments, folder);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn games(pgn: &str) -> Vec<PgnGame> {
    read_games(pgn.as_bytes()).map(|game| game.expect("read").0).collect()
}

fn comment(game: &PgnGame, ply: usize) -> String {
    game.moves[ply].comment.replace('\n', " ")
}

fn better(game: &PgnGame, ply: usize) -> String {
    let before = game.moves[..ply]
        .iter()
        .fold(game.start, |position, played| position.try_play(played.mv).expect("legal"));
    game.moves[ply].variations[0].movetext(&before)
}

#[test]
fn mistakes_are_annotated() {
    let folder = folder();
    let (ok, pgn, printed) = printed(&format!("games.pgn --nodes {NODES}"), folder.path());
    assert!(ok, "{printed}");
    assert!(
        printed.contains("games.pgn: game 2: annotated up to where it breaks off"),
        "{printed}"
    );
    assert!(printed.contains("games.pgn: game 3: passed over"), "{printed}");
    let games = games(&pgn);
    let white: Vec<_> = games.iter().map(|game| game.tag("White").expect("a name")).collect();
    assert_eq!(white, ["a", "b", "d", "e", "f"]);

    let mate = &games[0];
    assert_eq!(
        (mate.result, mate.tag("Opening")),
        (GameResult::Black, Some("Barnes Opening: Fool's Mate"))
    );
    assert_eq!(mate.moves[2].nags, [4], "{pgn}");
    assert!(comment(mate, 2).contains("Allows mate in 1."), "{pgn}");
    assert!(comment(mate, 2).starts_with("[%eval #-1] Blunder: "), "{pgn}");
    assert!(better(mate, 2).starts_with("2. "), "{pgn}");
    assert_eq!(comment(mate, 3), "", "the game is over: {pgn}");
    assert!(mate.comment.contains("1 blunder"), "{pgn}");

    assert_eq!(games[1].moves.len(), 2);
    let missed = &games[2];
    assert!(comment(missed, 0).contains("Misses mate in 1."), "{pgn}");
    assert_eq!(better(missed, 0), "1. Ra8#");

    let e = &games[3];
    assert_eq!(e.moves[0].nags, [14], "its verdict is replaced, other text is kept: {pgn}");
    let first = comment(e, 0);
    assert!(first.contains("[%clk 0:01:00] best by test") && !first.contains("9.9"), "{first}");
    assert_eq!(better(e, 0), "1. d4 d5");
    assert!(e.tag("Annotator").is_some_and(|name| name.contains("2000 nodes a move")), "{pgn}");
    assert_eq!(games[4].moves, []);
}

#[test]
fn book_moves_are_listed_with_the_games_that_played_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let book = "1. d4 Nf6 2. c4 1-0\n\n1. c4 Nf6 2. d4 0-1\n\n1. c4 Nf6 2. d4 0-1\n\n\
                1. d4 Nf6 2. Nf3 1-0\n\n1. d4 Nf6 2. Nf3 1-0\n";
    fs::write(folder.path().join("book.pgn"), book).expect("written");
    fs::write(folder.path().join("left.pgn"), "1. d4 Nf6 2. a3 *\n").expect("written");
    let (ok, pgn, reported) = printed("left.pgn --book book.pgn --nodes 100", folder.path());
    assert!(ok, "{reported}");
    let left = comment(&games(&pgn)[0], 2);
    let moves = "Nf3 (100% for White in 2 games), c4 (played in 1 game; reached: 33% for White in \
                 3 games)";
    assert!(
        left.contains(&format!("Leaves the book, whose games continued with {moves}.")),
        "{left}"
    );
}

#[test]
fn every_move_that_leaves_the_book_or_returns_is_noted() {
    let folder = tempfile::tempdir().expect("a folder");
    let book = "1. d4 Nf6 2. c4 e6 3. Nc3 1-0\n\n1. d4 Nf6 2. c4 g6 0-1\n\n";
    fs::write(folder.path().join("book.pgn"), book).expect("written");
    let played = "1. c4 Nf6 2. d4 e6 3. Nf3 *\n\n1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. e3 *\n\n\
                  1. d4 Nf6 2. c4 g6 *\n";
    fs::write(folder.path().join("played.pgn"), played).expect("written");
    let (ok, pgn, reported) = printed("played.pgn --book book.pgn --nodes 100", folder.path());
    assert!(ok, "{reported}");
    let noted: Vec<Vec<(usize, bool)>> = games(&pgn)
        .iter()
        .map(|game| {
            let comments = (0..game.moves.len()).map(|ply| (ply, comment(game, ply)));
            let noted = comments.filter(|(_, text)| text.contains(" the book"));
            noted.map(|(ply, text)| (ply, text.contains("Returns to the book"))).collect()
        })
        .collect();
    assert_eq!(noted, [vec![(0, false), (2, true), (4, false)], vec![(5, false)], vec![]]);
    assert!(comment(&games(&pgn)[1], 5).ends_with("Leaves the book, which ends here."), "{pgn}");
    fs::write(folder.path().join("again.pgn"), &pgn).expect("written");
    let (ok, again, reported) = printed("again.pgn --book book.pgn --nodes 100", folder.path());
    assert!(ok && again == pgn, "{reported}{again}");
}

#[test]
fn moves_that_leave_or_reach_a_repertoire_are_noted() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = "1. d4 Nf6 (1... d5 2. c4 e6 3. Nc3) 2. c4 e6 (2... g6) 3. Nc3 *\n";
    fs::write(folder.path().join("white.pgn"), lines).expect("written");
    let played = ["c4 Nf6 2. d4 e6 3. Nf3", "d4 f5 2. c4", "d4 Nf6 2. c4 e6 3. Nc3 Bb4"];
    let played = played.map(|moves| format!("[White \"Me, Myself\"]\n\n1. {moves} *\n\n"));
    let other = "[White \"Other\"]\n[Black \"Me, Myself\"]\n\n1. d4 f5 *\n";
    fs::write(folder.path().join("played.pgn"), played.concat() + other).expect("written");
    let options =
        "--book white.pgn --nodes 100 --repertoire white.pgn --side white --player myself";
    let (ok, pgn, reported) = printed(&format!("played.pgn {options}"), folder.path());
    assert!(ok, "{reported}");
    let games = games(&pgn);
    for (game, ply, noted) in [
        (0, 0, "Deviates from the repertoire, which has d4 (1 line without a result)."),
        (0, 2, "Returns to the book by transposition. Returns to the repertoire by transposition."),
        (0, 4, "Deviates from the repertoire, which has Nc3"),
        (1, 1, "The opponent leaves the repertoire, which has Nf6"),
        (2, 5, "The repertoire ends before this move."),
    ] {
        let text = comment(&games[game], ply);
        assert!(text.contains(noted), "{noted}: {text}");
    }
    let noted = |game: &PgnGame| {
        (0..game.moves.len()).filter(|&ply| comment(game, ply).contains("repertoire")).count()
    };
    assert_eq!(games.iter().map(noted).collect::<Vec<usize>>(), [3, 1, 1, 0], "{pgn}");
    // Without the repertoire, its notes are removed.
    fs::write(folder.path().join("again.pgn"), &pgn).expect("written");
    let (ok, again, reported) = printed(&format!("again.pgn {options}"), folder.path());
    assert!(ok && again == pgn, "{reported}{again}");
    let (ok, without, reported) = printed("again.pgn --book white.pgn --nodes 100", folder.path());
    assert!(ok && !without.contains("repertoire"), "{reported}{without}");
}

#[test]
fn annotating_twice_changes_nothing() {
    let folder = folder();
    // Earlier annotations, whether by another program or by Tabia with fewer nodes, do not affect
    // the result.
    assert!(printed("games.pgn --nodes 100 -o none.pgn", folder.path()).0);
    let once = format!("none.pgn --nodes {NODES} -o once.pgn");
    assert!(printed(&once, folder.path()).0);
    let (ok, _, reported) =
        printed(&format!("once.pgn --nodes {NODES} -t 3 -o twice.pgn"), folder.path());
    assert!(ok, "{reported}");
    let read = |name| fs::read_to_string(folder.path().join(name)).expect("written");
    assert_eq!(read("once.pgn"), read("twice.pgn"));
    assert!(!folder.path().join("once.pgn.annotations").exists());
}

#[test]
fn rewrapped_comments_are_recognised() {
    let folder = folder();
    assert!(printed(&format!("games.pgn --nodes {NODES} -o once.pgn"), folder.path()).0);
    let once = fs::read_to_string(folder.path().join("once.pgn")).expect("written");
    // Replace all spaces in comments with line breaks.
    let mut is_comment = false;
    let torn: String = once
        .chars()
        .map(|c| {
            is_comment = c == '{' || (is_comment && c != '}');
            if is_comment && c == ' ' { '\n' } else { c }
        })
        .collect();
    assert!(torn.contains("was\nbetter."), "{torn}");
    fs::write(folder.path().join("torn.pgn"), torn).expect("written");
    let (ok, pgn, reported) = printed(&format!("torn.pgn --nodes {NODES}"), folder.path());
    assert!(ok, "{reported}");
    assert_eq!(pgn, once);
}

#[test]
fn killed_run_resumes_to_the_same_bytes() {
    let folder = folder();
    let text: String = (0..12).map(|_| "1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n\n").collect();
    fs::write(folder.path().join("many.pgn"), text).expect("written");
    let arguments = ["annotate", "many.pgn", "--nodes", "6000", "-t", "1", "-o"];
    let whole = [&arguments[..], &["whole.pgn"]].concat();
    assert!(support::tabia(&whole, folder.path()).status.success());
    let command = [&arguments[..], &["killed.pgn"]].concat();
    let journal = folder.path().join("killed.pgn.annotations");
    let mut kills = 0;
    while kills < 3 {
        let held = journal.metadata().map_or(0, |metadata| metadata.len());
        let mut child = Command::new(PROGRAM)
            .args(&command)
            .current_dir(folder.path())
            .stderr(File::create(folder.path().join("said")).expect("a file"))
            .stdin(Stdio::null())
            .spawn()
            .expect("started");
        // Wait until the command has added to the journal or has finished.
        while journal.metadata().map_or(0, |metadata| metadata.len()) <= held.max(200)
            && child.try_wait().expect("a child").is_none()
        {
            sleep(Duration::from_millis(1));
        }
        child.kill().expect("killed");
        if child.wait().expect("ended").success() {
            break;
        }
        kills += 1;
    }
    assert!(kills > 0, "it ended before it was killed");
    assert!(support::tabia(&command, folder.path()).status.success());
    let read = |name| fs::read(folder.path().join(name)).expect("written");
    assert_eq!(read("whole.pgn"), read("killed.pgn"));
    assert!(!journal.exists());
}

#[test]
fn page_shows_the_games_of_the_file() {
    let folder = folder();
    let command = format!("games.pgn --nodes {NODES} -o out.pgn --html page.html");
    let (ok, _, reported) = printed(&command, folder.path());
    assert!(ok, "{reported}");
    let page = fs::read_to_string(folder.path().join("page.html")).expect("written");
    let (_, data) = page.split_once("id=\"data\">").expect("an element");
    let (data, _) = data.split_once("</script>").expect("its end");
    let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
    let names = |at: usize| data["games"][at]["title"].as_str().expect("a title").to_owned();
    assert_eq!((names(0), names(4)), ("a – ?  0-1".to_owned(), "f – ?  *".to_owned()));
    let blunder = &data["games"][0]["notes"][2];
    assert_eq!(
        (&blunder["nags"], &blunder["expected"]),
        (&serde_json::json!([4]), &serde_json::json!(0.025)),
        "{blunder}"
    );
    assert!(
        blunder["comment"].as_str().is_some_and(|text| text.starts_with("Blunder: ")),
        "{blunder}"
    );
    assert_eq!(data["games"][0]["players"][0].as_str().map(|text| &text[..7]), Some("White: "));
}

#[test]
fn invalid_commands_change_no_file() {
    let folder = folder();
    let book = folder.path().join("book.pgn");
    fs::write(&book, "1. e4 e5 *\n").expect("written");
    for (arguments, why) in [
        ("games.pgn -o games.pgn", "it is also an input"),
        ("games.pgn --book embedded;book.pgn -o book.pgn", "it is also an input"),
        ("nothing.pgn", "nothing.pgn"),
        ("games.pgn --limits 0.2,0.1,0.3", "three rising numbers"),
        ("games.pgn --book none.tbk", "none.tbk"),
        ("games.pgn --html page.html", "--output"),
        ("games.pgn -o out.pgn --html games.pgn", "it is also an input"),
        ("games.pgn -o out.pgn --html ./out.pgn", "another output has the same name"),
        ("games.pgn -o none/out.pgn", "cannot write none/out.pgn: its folder does not exist"),
    ] {
        let (ok, _, printed) = printed(arguments, folder.path());
        assert!(!ok && printed.contains(why), "{arguments}: {printed}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("games.pgn")).expect("there"), GAMES);
    assert_eq!(fs::read_to_string(&book).expect("there"), "1. e4 e5 *\n");
    fs::write(folder.path().join("out.pgn.annotations"), "a letter").expect("written");
    let (ok, _, printed) = printed("games.pgn -o out.pgn", folder.path());
    assert!(!ok && printed.contains("begins with \"a letter\""), "{printed}");
}
