//! Tests of `tabia repertoire`: reading variations, building books, and checking repertoires
//! position by position.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tabia::book::{Book, BuildOptions};
use tabia::pgn::{PgnGame, PgnInput, read_games};
use tabia::position::{Color, Position};
use tabia::repertoire::{RemarkKind, Repertoire};
use tempfile::TempDir;

use crate::support::{run_line as run, run_line_ok as run_ok};

/// Two chapters that transpose into each other, with comments, arrows and annotation glyphs.
const LINES: &str = "\
[Event \"Lines\"]\n[ChapterName \"Queen's pawn\"]\n[Result \"*\"]\n\n\
{Play solidly.} 1. d4 Nf6 (1... d5 2. c4 $1 {[%cal Gc4d5] A gambit} (2. Bf4)) 2. c4 e6 *\n\n\
[Event \"Lines\"]\n[ChapterName \"English\"]\n[Result \"*\"]\n\n\
1. c4 e6 2. d4 Nf6 ({Or} 2... d5 3. Nc3) 3. Nc3 {[%csl Rb4] Expect a pin} *\n";

const GAMES: [(&str, usize); 4] = [
    ("1. d4 Nf6 2. c4 e6 3. Nc3 Bb4", 6),
    ("1. d4 Nf6 2. c4 g6 3. Nc3", 1),
    ("1. d4 f5 2. c4", 1),
    ("1. c4 e5 2. Nc3", 2),
];

fn games() -> String {
    let game = |(moves, number): (&str, usize)| {
        format!("[Result \"1/2-1/2\"]\n\n{moves} 1/2-1/2\n\n").repeat(number)
    };
    GAMES.map(game).concat()
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("writable");
    }
    folder
}

/// The exit status of a check that finds something.
const FOUND: i32 = 4;

fn findings(line: &str, folder: &Path) -> Value {
    let (_, printed, errors) = run(&format!("repertoire check {line} --json"), folder);
    serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{line}: {printed}{errors}"))
}

fn texts<'a>(rows: &'a Value, field: &str) -> Vec<&'a str> {
    let rows = rows.as_array().expect("rows").iter();
    rows.map(|row| row[field].as_str().expect("a text")).collect()
}

#[test]
fn check_lists_gaps_by_probability() {
    let folder = folder(&[("r.pgn", LINES), ("g.pgn", &games())]);
    let line = "r.pgn --side white --reference g.pgn";
    let found = findings(line, folder.path());
    // The two chapters begin with different moves, so the forecast assumes that White plays d4 in
    // half of the games and c4 in the other half.
    let gaps = &found["gaps"];
    let expected = [(0.5, "1. c4 e5"), (0.75 * 0.5, "1. d4 Nf6 2. c4 e6 3. Nc3 Bb4")];
    assert_eq!(gaps.as_array().map(Vec::len), Some(4), "{gaps}");
    for ((share, line), gap) in expected.iter().zip(gaps.as_array().expect("rows")) {
        let found = gap["probability"].as_f64().expect("a number");
        assert!((found - share).abs() < 1e-12 && gap["line"] == **line, "{gap}");
    }
    assert_eq!(texts(gaps, "kind"), ["reply", "end", "reply", "reply"]);
    assert_eq!(gaps[0]["games"], 2);
    assert_eq!(
        (&gaps[0]["answer"]["san"], &gaps[0]["answer"]["source"]),
        (&"Nc3".into(), &"games".into())
    );
    let meeting = &found["transpositions"];
    assert_eq!(texts(meeting, "line"), ["1. d4 Nf6 2. c4 e6"]);
    let arrivals = &meeting[0]["arrivals"];
    assert_eq!(texts(arrivals, "chapter"), ["Queen's pawn", "English"]);
    assert_eq!(texts(arrivals, "line"), ["1. d4 Nf6 2. c4 e6", "1. c4 e6 2. d4 Nf6"]);
    assert_eq!(
        (&arrivals[0]["moves"], &arrivals[1]["moves"][0]),
        (&Value::Array(vec![]), &"Nc3".into())
    );
    // The first chapter ends in a position for which the second chapter has an answer, so it is no
    // dead end.
    assert_eq!(found["dead_ends"], Value::Array(Vec::new()));
    let conflicts = &found["conflicts"];
    let moves: Vec<Vec<&str>> =
        conflicts.as_array().expect("rows").iter().map(|row| texts(&row["moves"], "san")).collect();
    assert_eq!(moves, [vec!["d4", "c4"], vec!["c4", "Bf4"]]);
    assert_eq!(conflicts[1]["moves"][1]["places"][0]["chapter"], "Queen's pawn");
    let shares: Vec<f64> = found["shares"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["share"].as_f64().expect("a number"))
        .collect();
    assert_eq!(shares, [0.0, 0.0, 0.0]);

    let (status, printed, _) = run(&format!("repertoire check {line} --limit 2"), folder.path());
    assert_eq!(status, Some(FOUND), "{printed}");
    assert!(printed.contains("\n    50%  1. c4 e5\n         reply, 2 games"), "{printed}");
    assert!(printed.contains("\n  … and 2 more (--limit)\n"), "{printed}");
    assert!(printed.contains("d4 (Queen's pawn), c4 (English)"), "{printed}");
    let arrivals = "         Queen's pawn: 1. d4 Nf6 2. c4 e6; the chapter ends there\n         \
                    English: 1. c4 e6 2. d4 Nf6; then Nc3\n";
    assert!(printed.contains("\nTranspositions (1): ") && printed.ends_with(arrivals), "{printed}");
    let rare = findings(&format!("{line} --min-probability 0.4"), folder.path());
    assert_eq!(rare["gaps"].as_array().map(Vec::len), Some(1));
    let begun = findings(&format!("{line} --moves \"d4 Nf6\""), folder.path());
    let share = begun["gaps"][0]["probability"].as_f64().expect("a number");
    assert!((share - 6.0 / 7.0).abs() < 1e-12, "{begun}");
}

#[test]
fn check_succeeds_if_nothing_is_found() {
    let whole = "1. d4 Nf6 (1... f5 2. c4) 2. c4 e6 (2... g6 3. Nc3) 3. Nc3 Bb4 4. e3 *\n";
    let folder = folder(&[("r.pgn", whole), ("g.pgn", &games())]);
    let printed = run_ok("repertoire check r.pgn --side white --reference g.pgn", folder.path());
    assert_eq!(printed.lines().count(), 3, "{printed}");
    let found = findings("r.pgn --side white --reference g.pgn", folder.path());
    assert_eq!(found["positions"], 12);
}

#[test]
fn gaps_are_written_as_study_and_cards() {
    let folder = folder(&[("r.pgn", LINES), ("g.pgn", &games()), ("notes.csv", "a,b\n")]);
    let line = "repertoire check r.pgn --side white --reference g.pgn";
    let (status, ..) = run(&format!("{line} --pgn gaps.pgn --csv cards.csv"), folder.path());
    assert_eq!(status, Some(FOUND));
    let study = fs::read(folder.path().join("gaps.pgn")).expect("written");
    let chapters: Vec<PgnGame> = read_games(&study[..]).map(|game| game.expect("read").0).collect();
    assert_eq!(chapters.len(), 4);
    assert_eq!(chapters[0].tag("ChapterName"), Some("Gap 1: 50% of games"));
    assert_eq!(chapters[0].moves.len(), 3, "the line and the answer");
    let cards = fs::read_to_string(folder.path().join("cards.csv")).expect("written");
    let rows: Vec<&str> = cards.lines().skip(2).collect();
    assert_eq!(rows.len(), 4, "{cards}");
    assert!(
        rows[0].ends_with("\"1. c4 e5\",\"Nc3\",\"most played: Nc3 (2 games)\",0.500000"),
        "{cards}"
    );
    let (status, _, errors) = run(&format!("{line} --csv notes.csv"), folder.path());
    assert!(status == Some(1) && errors.contains("notes.csv"), "{errors}");
    let (status, _, errors) = run(&format!("{line} --pgn r.pgn --force"), folder.path());
    assert!(status == Some(1) && errors.contains("r.pgn"), "{errors}");
    assert_eq!(fs::read_to_string(folder.path().join("r.pgn")).expect("kept"), LINES);
}

#[test]
fn engine_finds_losing_moves_and_answers() {
    let lines = "1. e4 e5 2. Ba6 (2. Nf3) *\n";
    let folder = folder(&[("r.pgn", lines), ("g.pgn", "1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0\n")]);
    let line = "r.pgn --side white --reference g.pgn";
    assert_eq!(findings(line, folder.path())["losing"], Value::Array(Vec::new()));
    let found = findings(&format!("{line} --nodes 3000 --memory 1M"), folder.path());
    assert_eq!(texts(&found["losing"], "san"), ["Ba6"]);
    assert!(found["losing"][0]["loss"].as_i64().is_some_and(|loss| loss > 150), "{found}");
    assert_eq!(found["gaps"][0]["answer"]["source"], "engine");
    // If the book of the repertoire is analysed, its values are used and no search is needed.
    run_ok("repertoire build r.pgn --side white -o r.tbk", folder.path());
    run_ok("book analyse r.tbk --min-games 1 --nodes 3000 -t 1", folder.path());
    let found = findings("r.tbk --reference g.pgn", folder.path());
    assert_eq!(texts(&found["losing"], "san"), ["Ba6"]);
    assert_eq!(found["losing"][0]["source"], "value");
}

#[test]
fn kept_results_are_not_searched_again() {
    let games = "1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0\n\n1. e4 e5 2. Ba6 Nxa6 0-1\n";
    let folder = folder(&[("r.pgn", "1. e4 e5 2. Ba6 (2. Nf3) *\n"), ("g.pgn", games)]);
    let line = "r.pgn --side white --reference g.pgn --memory 1M --keep kept.analysis";
    let first = findings(&format!("{line} --nodes 3000"), folder.path());
    assert_eq!(texts(&first["losing"], "san"), ["Ba6"]);
    let kept = || fs::read(folder.path().join("kept.analysis")).expect("kept");
    let stored = kept();
    // Searches with one node would find other values.
    let second = findings(&format!("{line} --nodes 1"), folder.path());
    assert_eq!((&second, kept() == stored), (&first, true));
    let longer = findings(&format!("{line} --nodes 6000"), folder.path());
    assert!(texts(&longer["losing"], "san") == ["Ba6"] && kept().len() > stored.len());
    // The file belongs to the reference.
    let other = line.replace("g.pgn", "r.pgn");
    let (status, _, errors) = run(&format!("repertoire check {other} --nodes 1"), folder.path());
    assert!(status == Some(1) && errors.contains("kept.analysis"), "{errors}");
}

/// Returns games with the same moves between players of this rating. White wins the first `white`
/// games, and Black wins the other `black` games.
fn rated(rating: u16, moves: &str, [white, black]: [usize; 2]) -> String {
    let game = |result: &str| {
        format!("[WhiteElo \"{rating}\"]\n[BlackElo \"{rating}\"]\n\n{moves} {result}\n\n")
    };
    game("1-0").repeat(white) + &game("0-1").repeat(black)
}

#[test]
fn low_scores_depend_on_the_ratings() {
    let games = [
        rated(1650, "1. e4 e5 2. f4", [40, 60]),
        rated(1650, "1. e4 e5 2. Nf3", [120, 80]),
        rated(2250, "1. e4 e5 2. f4", [200, 50]),
        rated(2250, "1. e4 e5 2. Nf3", [130, 70]),
    ];
    let folder = folder(&[("r.pgn", "1. e4 e5 2. f4 *\n"), ("g.pgn", &games.concat())]);
    let line = "r.pgn --side white --reference g.pgn";
    assert_eq!(findings(line, folder.path())["low_scores"], Value::Array(Vec::new()));
    let found = findings(&format!("{line} --ratings 1600"), folder.path());
    let low = &found["low_scores"][0];
    assert_eq!((&low["san"], &low["line"]), (&"f4".into(), &"1. e4 e5".into()), "{found}");
    assert_eq!((&low["games"], &low["score"]), (&100.into(), &0.4.into()));
    assert_eq!((&low["usual"], &low["best"]["san"]), (&0.6.into(), &"Nf3".into()));
    let at_most = low["at_most"].as_f64().expect("a number");
    let usual_at_least = low["usual_at_least"].as_f64().expect("a number");
    assert!(0.4 < at_most && at_most < usual_at_least && usual_at_least < 0.6, "{low}");
    let line = format!("repertoire check {line} --ratings 1600");
    let (status, printed, _) = run(&line, folder.path());
    assert_eq!(status, Some(FOUND), "{printed}");
    assert!(
        printed.contains("   100%  1. e4 e5\n         f4 40% (100 games), at most 4")
            && printed.contains("; the other moves: 60%; best: Nf3 60% (200 games)\n"),
        "{printed}"
    );
    let (status, printed, _) = run(&format!("{line} --score-margin 0.2"), folder.path());
    assert_eq!(status, Some(0), "{printed}");
}

#[test]
fn book_of_a_repertoire_stores_its_side() {
    let folder = folder(&[("r.pgn", LINES), ("g.pgn", &games())]);
    let printed = run_ok("repertoire build r.pgn --side white -o r.tbk", folder.path());
    assert!(printed.contains("2 positions with several moves"), "{printed}");
    let book = Book::open(&folder.path().join("r.tbk")).expect("a book");
    assert_eq!(book.manifest().expect("sound").side(), Some(Color::White));
    let start = book.entry(&Position::start()).expect("in the book");
    assert_eq!((start.reached.undecided, start.moves.len()), (2, 2));
    let (text, made) = (
        findings("r.pgn --side white --reference g.pgn", folder.path()),
        findings("r.tbk --reference g.pgn", folder.path()),
    );
    let shares = |found: &Value| -> Vec<String> {
        let rows = found["gaps"].as_array().expect("rows").iter();
        rows.map(|row| format!("{} {}", row["line"], row["probability"])).collect()
    };
    assert_eq!(shares(&text), shares(&made));
    run_ok("book build -q g.pgn -o g.tbk", folder.path());
    let (status, _, errors) = run("repertoire check g.tbk", folder.path());
    assert!(status == Some(1) && errors.contains("--side"), "{errors}");
    let (status, _, errors) = run("repertoire check r.tbk --side black", folder.path());
    assert!(status == Some(1) && errors.contains("no move of Black"), "{errors}");
}

#[test]
fn pgn_with_variations_and_no_result_is_a_repertoire_as_a_book() {
    let tree = "1. e4 e5 (1... c5 2. Nf3 d6 (2... Nc6 3. d4) 3. d4) (1... e6 2. d4) 2. Nf3 Nc6 3. Bb5 *\n\n";
    let won = "[Result \"1-0\"]\n\n1. e4 e5 (1... c5) 2. Nf3 1-0\n\n";
    let open = "1. e4 e5 2. Nf3 *\n\n";
    let folder = folder(&[
        ("tree.pgn", tree),
        ("won.pgn", won),
        ("mixed.pgn", &format!("{tree}{won}")),
        ("both.pgn", &format!("{open}{tree}")),
        ("open.pgn", open),
    ]);
    let positions = |name: &str| Book::open(&folder.path().join(name)).expect("a book").positions();
    let all = ["tree.pgn", "won.pgn", "mixed.pgn", "both.pgn", "open.pgn"].map(positions);
    assert_eq!(all, [14, 4, 6, 14, 4]);
    let shown = run_ok("book show tree.pgn --moves \"e4 c5 Nf3\" --json", folder.path());
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(shown["moves"].as_array().map(Vec::len), Some(2), "{shown}");
    // A position or move that occurs in several variations of a game counts once.
    let again = "1. d4 d5 (1... Nf6 2. c4 d5) 2. c4 Nf6 (2... Nf6 3. Nc3) 3. Nc3 *\n";
    let input = [PgnInput::Text("again".to_owned(), again.as_bytes().into())];
    let (book, _) = tabia::book::build_in_memory(&input, &BuildOptions::of_repertoire(), "again")
        .expect("a book");
    assert!(book.entries().all(|entry| entry.reached.games() == 1));
    assert!(book.entries().all(|entry| entry.moves.iter().all(|(_, played)| played.games() == 1)));
    assert_eq!(book.positions(), 8);
    book.verify().expect("sound");
}

#[test]
fn faults_are_reported_and_lose_nothing_else() {
    let text = "[Event \"one\"]\n\n1. e4 e5 (1... Ke7 2. d4) (1... c5 2. Nf4 (2. Nf3) Nc6) 2. Nf3 *\n\n\
                [Event \"two\"]\n[Variant \"Atomic\"]\n\n1. d4 *\n\n\
                [Event \"three\"]\n\n1. d4 d5 2. -- (2. c4 e6) Nf6 3. Bf4 *\n\n\
                [Event \"four\"]\n\n1. c4 e5 2. Ke2 Nf6 *\n\n[Event \"five\"]\n\n1. g3 *\n";
    let folder = folder(&[("r.pgn", text)]);
    let input = PgnInput::File(folder.path().join("r.pgn"));
    let repertoire = Repertoire::read(&[input], Color::White).expect("readable");
    let kinds: Vec<(u64, RemarkKind)> =
        repertoire.remarks.iter().map(|remark| (remark.number, remark.kind)).collect();
    use RemarkKind::{Fault, NullMove, Variant};
    assert_eq!(kinds, [(1, Fault), (1, Fault), (2, Variant), (3, NullMove), (4, Fault)]);
    let start = repertoire.node(&Position::start()).expect("the start");
    let first: Vec<String> = start.moves.iter().map(|known| start.position.san(known.mv)).collect();
    assert_eq!(first, ["e4", "d4", "c4", "g3"]);
    let line = |moves: &str| {
        moves.split(' ').fold(Position::start(), |at, san| at.play(at.parse_move(san).expect(san)))
    };
    assert!(repertoire.answers(&line("d4 d5")) && repertoire.answers(&line("e4 e5")));
    // A variation is read even if it replaces an illegal move.
    assert!(repertoire.answers(&line("e4 c5")) && repertoire.node(&line("e4 c5 Nf3")).is_some());
    let (_, _, errors) = run("repertoire check r.pgn --side white", folder.path());
    assert_eq!(errors.lines().count(), 5, "{errors}");
    assert!(
        errors.contains("r.pgn: game 1: fault: in a variation: ") && errors.contains("Nf4"),
        "{errors}"
    );
}

#[test]
fn comments_and_arrows_belong_to_positions() {
    let input = PgnInput::Text("lines".to_owned(), LINES.as_bytes().into());
    let repertoire = Repertoire::read(&[input], Color::White).expect("readable");
    let line = |moves: &str| {
        moves.split(' ').fold(Position::start(), |at, san| at.play(at.parse_move(san).expect(san)))
    };
    let comments = |moves: &str| repertoire.node(&line(moves)).expect("a node").comments.clone();
    assert_eq!(comments("d4 Nf6 c4 e6 Nc3"), ["[%csl Rb4] Expect a pin"]);
    assert_eq!(comments("c4 e6 d4 d5"), ["Or"]);
    let answers = &repertoire.node(&line("d4 d5")).expect("a node").moves;
    assert_eq!((&answers[0].nags[..], answers.len()), (&[1][..], 2));
    assert_eq!(repertoire.nodes().next().expect("the start").comments, ["Play solidly."]);
    assert_eq!(repertoire.chapters[1].name(), "English");
}

#[test]
fn chapters_are_joined_in_one_file() {
    let ending = "[Event \"Ending\"]\n[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n\
                  1. e4 (1. Kd2 Kd7 $6 (1... -- 2. e4)) 1... Kd7 *\n";
    let folder = folder(&[("a.pgn", LINES), ("b.pgn", ending)]);
    fs::create_dir(folder.path().join("more")).expect("writable");
    fs::rename(folder.path().join("b.pgn"), folder.path().join("more/b.pgn")).expect("moved");
    run_ok("repertoire build a.pgn more --side white -o all.pgn", folder.path());
    let read = |text: &[u8]| -> Vec<PgnGame> {
        read_games(text).map(|game| game.expect("readable").0).collect()
    };
    let written = read(&fs::read(folder.path().join("all.pgn")).expect("written"));
    let before = read(format!("{LINES}\n{ending}").as_bytes());
    assert_eq!(written.len(), 3);
    for (written, before) in written.iter().zip(&before) {
        assert_eq!((&written.moves, &written.start), (&before.moves, &before.start));
        assert_eq!(written.comment, before.comment);
        assert_eq!(written.tag("ChapterName"), before.tag("ChapterName"));
    }
    let (status, _, errors) =
        run("repertoire build a.pgn --side white -o a.pgn --force", folder.path());
    assert!(status == Some(1) && errors.contains("a.pgn"), "{errors}");
}
