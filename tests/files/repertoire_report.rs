//! Tests of `tabia repertoire report` and `prepare`, which compare games with a repertoire.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tabia::pgn::{PgnGame, read_games};
use tempfile::TempDir;

use crate::support::{run_line as run, run_line_ok as run_ok};

const LINES: &str = "1. d4 Nf6 (1... d5 2. c4 e6 3. Nc3) 2. c4 e6 (2... g6) 3. Nc3 Bb4 4. e3 *\n";

const GAMES: [(&str, &str, &str, &str, &str); 7] = [
    ("Me, Myself", "Other", "2023.05.01", "1-0", "1. d4 Nf6 2. Nf3 e6 3. c4 Bb4 4. Nc3"),
    ("Me, Myself", "Other", "2023.05.02", "0-1", "1. d4 Nf6 2. Nf3 g6"),
    ("Me, Myself", "Third", "2024.??.??", "0-1", "1. d4 f5 2. c4"),
    ("Me, Myself", "Third", "2024.03.01", "1/2-1/2", "1. c4 Nf6 2. d4 e6 3. Nc3 Bb4 4. e3"),
    ("Other", "Me, Myself", "2024.04.01", "1-0", "1. e4 e5"),
    ("Me, Myself", "Other", "2022.01.01", "1-0", "1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. e3 O-O"),
    ("Another", "Other", "2022.01.01", "0-1", "1. d4 Nf6 2. c4 g6 3. Nc3"),
];

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let game = |(white, black, date, result, moves): (&str, &str, &str, &str, &str)| {
        format!(
            "[White \"{white}\"]\n[Black \"{black}\"]\n[Date \"{date}\"]\n[Result \"{result}\"]\n\n\
             {moves} {result}\n\n"
        )
    };
    fs::write(folder.path().join("games.pgn"), GAMES.map(game).concat()).expect("writable");
    fs::write(folder.path().join("white.pgn"), LINES).expect("writable");
    folder
}

fn json(line: &str, folder: &Path) -> Value {
    serde_json::from_str(&run_ok(&format!("{line} --json"), folder)).expect("JSON")
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().expect("rows")
}

const REPORT: &str = "repertoire report white.pgn games.pgn --side white";

#[test]
fn report_lists_events_of_each_game() {
    let folder = folder();
    let line = format!("{REPORT} --player myself --reference games.pgn");
    let report = json(&line, folder.path());
    let games = rows(&report["games"]);
    let numbers: Vec<u64> = games.iter().map(|game| game["game"].as_u64().expect("one")).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 6]);
    let kinds: Vec<Vec<&str>> = games
        .iter()
        .map(|game| rows(&game["events"]).iter().map(|one| one["kind"].as_str().expect("one")))
        .map(Iterator::collect)
        .collect();
    let expected: [&[&str]; 5] =
        [&["deviation"], &["deviation"], &["reply"], &["deviation", "return"], &["end"]];
    assert_eq!(kinds, expected);
    let [first, second] = [&games[0]["events"][0], &games[1]["events"][0]];
    assert_eq!((&first["move_number"], &first["played"]["san"]), (&2.into(), &"Nf3".into()));
    assert_eq!(first["prepared"][0]["san"], "c4");
    assert_eq!((&first["time"], &second["time"]), (&1.into(), &2.into()));
    // Nf3 was played twice in the reference games, with one win and one loss.
    assert_eq!((&first["played"]["games"], &first["played"]["score"]), (&2.into(), &0.5.into()));
    assert_eq!(first["line"], "1. d4 Nf6 2. Nf3");
    assert_eq!(games[2]["events"][0]["answer"]["san"], "c4");
    assert_eq!(games[3]["ends_inside"], true);
    assert_eq!(report["leaves"][0]["games"], 2);
    assert_eq!(report["leaves"][0]["score"], 0.5);
    assert_eq!(report["results"]["score"], 0.5);
    let openings: u64 =
        rows(&report["openings"]).iter().map(|row| row["games"].as_u64().expect("one")).sum();
    assert_eq!(openings, 5);
    let all = json(REPORT, folder.path());
    assert_eq!(rows(&all["games"]).len(), 7);
    assert_eq!(all["games"][6]["outcome"], "dead end");
}

#[test]
fn several_files_form_one_repertoire() {
    let folder = folder();
    fs::write(folder.path().join("dutch.pgn"), "1. d4 f5 2. c4 *\n").expect("writable");
    let line = format!("{REPORT} --reference games.pgn");
    let outcome = |report: &Value| report["games"][2]["outcome"].clone();
    let one = json(&line, folder.path());
    let both = json(&format!("{line} --repertoire dutch.pgn"), folder.path());
    assert_eq!((outcome(&one), outcome(&both)), ("reply".into(), "followed".into()));
    assert_eq!(both["repertoire"], "white.pgn, dutch.pgn");
    let line = "repertoire prepare Third games.pgn --side white --repertoire white.pgn";
    let meetings = |line: &str| json(line, folder.path())["repertoire"].to_string();
    assert_ne!(meetings(line), meetings(&format!("{line} --repertoire dutch.pgn")));
}

#[test]
fn report_is_printed_for_readers() {
    let folder = folder();
    let line = format!("{REPORT} --player myself --reference games.pgn");
    let printed = run_ok(&line, folder.path());
    for part in [
        "5 games as white against white.pgn, score 50%\n",
        "     3  60%  50%  you left the repertoire\n",
        "1 game returned to the repertoire by transposition\n",
        "     2  50%  1. d4 Nf6 2. Nf3\n             move 2: left with Nf3 (2 games, 50%); \
         the repertoire has c4 (2 games, 50%)\n",
        "move 1: no answer to f5 (1 game, 100%); the repertoire has Nf6, d5",
        "move 4: the repertoire ends before O-O",
        "2024.03.01  Me, Myself - Third  1/2-1/2  ",
    ] {
        assert!(printed.contains(part), "{part}\n{printed}");
    }
    let latest = printed.split("Latest games").nth(1).expect("the games");
    let second = latest.find("2nd time").expect("the second deviation");
    assert!(second < latest.find("2023.05.01").expect("the first game"), "latest first: {latest}");
    let short = run_ok(&format!("{line} --limit 1"), folder.path());
    assert!(short.contains("  … and 1 more (--limit)\n"), "{short}");
    let (status, _, errors) = run(&format!("{REPORT} --player nobody"), folder.path());
    assert!(status == Some(1) && errors.contains("no game of nobody as White"), "{errors}");
    let (status, _, errors) = run("repertoire report white.pgn games.pgn", folder.path());
    assert!(status == Some(1) && errors.contains("--side"), "{errors}");
}

#[test]
fn report_shows_values_of_an_analysed_book() {
    let folder = folder();
    run_ok("book build -q games.pgn -o games.tbk", folder.path());
    run_ok("book analyse games.tbk --min-games 1 --nodes 500 -t 1", folder.path());
    let line = format!("{REPORT} --reference games.tbk");
    let report = json(&line, folder.path());
    let value = &report["games"][0]["events"][0]["played"]["value"];
    assert!(value["cp"].is_i64(), "{value}");
    let plain = json(&format!("{REPORT} --reference games.pgn"), folder.path());
    assert_eq!(plain["games"][0]["events"][0]["played"]["value"], Value::Null);
}

#[test]
fn faulty_games_count_up_to_their_fault() {
    let folder = folder();
    let games = "[White \"A\"]\n\n1. d4 Nf6 2. Nf3 Ke5 3. c4 *\n\n[White \"A\"]\n[Variant \"Atomic\"]\n\n1. d4 *\n";
    fs::write(folder.path().join("games.pgn"), games).expect("writable");
    let (status, printed, errors) = run(&format!("{REPORT} --json"), folder.path());
    assert_eq!(status, Some(0), "{errors}");
    let report: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(rows(&report["games"]).len(), 1);
    assert_eq!(report["games"][0]["outcome"], "deviation");
    assert!(errors.contains("games.pgn: game 1: ") && errors.contains("Ke5"), "{errors}");
    assert!(errors.contains("games.pgn: game 2: "), "{errors}");
}

#[test]
fn dossier_has_openings_weak_spots_and_meetings() {
    let folder = folder();
    let text: String = [("1. d4 Nf6 2. c4 e6", "0-1", 2021), ("1. d4 d5 2. Nf3", "1-0", 2022)]
        .iter()
        .flat_map(|(moves, result, year)| {
            let game = format!(
                "[White \"Rival, A.\"]\n[Black \"B\"]\n[Date \"{year}.01.01\"]\n[Result \"{result}\"]\n\n{moves} {result}\n\n"
            );
            std::iter::repeat_n(game, 8)
        })
        .collect();
    let more = "[White \"C\"]\n[Black \"Rival, A.\"]\n[Result \"1/2-1/2\"]\n\n1. e4 c5 1/2-1/2\n";
    fs::write(folder.path().join("rival.pgn"), text + more).expect("writable");
    let black = "1. d4 Nf6 2. c4 e6 (2... c5) 3. Nc3 Bb4 *\n\n1. d4 d5 2. Nf3 Nf6 *\n";
    fs::write(folder.path().join("black.pgn"), black).expect("writable");
    let line = "repertoire prepare rival rival.pgn --repertoire black.pgn --side black";
    let dossier = json(line, folder.path());
    assert_eq!(dossier["names"][0]["games"], 17);
    let [white, black] = [&dossier["colours"][0], &dossier["colours"][1]];
    assert_eq!(
        (&white["games"], &white["score"], &black["games"]),
        (&16.into(), &0.5.into(), &1.into())
    );
    let years: Vec<&Value> = rows(&white["years"]).iter().map(|row| &row["year"]).collect();
    assert_eq!(years, [&Value::from(2021), &Value::from(2022)]);
    let openings = rows(&white["openings"]);
    assert_eq!(openings.len(), 2, "{white}");
    assert!(openings.iter().all(|row| row["share"] == 0.5), "{white}");
    assert_eq!(rows(&openings[0]["years"])[0]["share"], 1.0);
    let spots = rows(&white["spots"]);
    assert_eq!((&spots[0]["line"], &spots[0]["below_mean"]), (&"1. d4 Nf6".into(), &true.into()));
    assert!(spots[0]["high"].as_f64().is_some_and(|high| high < 0.25), "{white}");
    let meetings = rows(&dossier["repertoire"]["meetings"]);
    let met: Vec<(&str, u64)> = meetings
        .iter()
        .map(|row| (row["line"].as_str().expect("one"), row["games"].as_u64().expect("one")))
        .collect();
    assert_eq!(met, [("1. d4", 16), ("1. d4 Nf6 2. c4 e6", 8), ("1. d4 d5 2. Nf3", 8)]);
    let new: Vec<&str> = rows(&dossier["repertoire"]["new"])
        .iter()
        .map(|row| row["san"].as_str().expect("one"))
        .collect();
    assert_eq!(new, ["c5", "Nf6"]);

    let printed = run_ok(&format!("{line} --pgn study.pgn --html page.html"), folder.path());
    for part in [
        "Rival, A. (17)\n",
        "As white: 16 games, 50%\n",
        "As black: 1 game, 50%\n",
        "Scores badly (1): games, score, bounds (* surely below the mean)\n",
        "           8   0%  (0%-21%)*  1. d4 Nf6\n",
        "     8  c5 after 1. d4 Nf6 2. c4\n",
    ] {
        assert!(printed.contains(part), "{part}\n{printed}");
    }
    let study = fs::read(folder.path().join("study.pgn")).expect("written");
    let chapters: Vec<PgnGame> = read_games(&study[..]).map(|game| game.expect("read").0).collect();
    assert_eq!(chapters.len(), 1 + 3 + 2);
    assert_eq!(chapters[4].moves.len(), 4, "the line and the move");
    let page = fs::read_to_string(folder.path().join("page.html")).expect("written");
    assert!(page.contains("Scores badly as white: 1. d4 Nf6"), "{page}");
    let (status, _, errors) = run(&format!("{line} --pgn rival.pgn --force"), folder.path());
    assert!(status == Some(1) && errors.contains("rival.pgn"), "{errors}");
    let (status, _, errors) = run("repertoire prepare nobody rival.pgn", folder.path());
    assert!(status == Some(1) && errors.contains("no game of nobody"), "{errors}");
}
