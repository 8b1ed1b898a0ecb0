//! Tests of Swiss tournaments and knockouts: resuming them, and adding and withdrawing engines.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tabia::autoplay::clock::MoveLimits;
use tabia::autoplay::config::{EngineConfig, Protocol};
use tabia::autoplay::match_record::{Entrant, MatchRecord, Places};
use tabia::autoplay::openings::Opening;
use tabia::autoplay::play::{Conditions, Interrupt};
use tabia::autoplay::referee::Rules;
use tabia::autoplay::results::Results;
use tabia::autoplay::schedule::{Format, Round, Schedule};
use tabia::autoplay::tournament::{Progress, Tournament};

use crate::support::{PROGRAM, fake_engine as fake, tabia};

/// Returns the command line of an engine that plays an illegal move as its move number `at`.
/// Engines with a larger `at` are stronger, because they lose later.
fn losing(at: usize) -> String {
    fake(&format!("uci seed={at} fault=illegal at={at}"))
}

fn entrants(names: &[&str]) -> Vec<Entrant> {
    let entrant =
        |name: &&str| Entrant { name: (*name).to_owned(), settings: "settings".to_owned() };
    names.iter().map(entrant).collect()
}

fn schedule(format: Format, engines: usize) -> Schedule {
    Schedule { engines, format, games: 2, openings: 1, reversed: true }
}

/// Starts or resumes a tournament of engines that are not sorted by strength, and interrupts it
/// after `stop` games. Returns the rounds, the results, and whether the tournament is over.
fn play(format: Format, folder: &Path, stop: usize) -> (Vec<Round>, String, bool) {
    const STRENGTHS: [usize; 5] = [3, 6, 4, 7, 5];
    let limits = MoveLimits { nodes: Some(1), ..MoveLimits::default() };
    let engine = |at: usize| EngineConfig {
        name: format!("at {at}"),
        limits,
        protocol: Protocol::Uci,
        ..EngineConfig::from_command(&losing(at)).expect("a command")
    };
    let engines: Vec<EngineConfig> = STRENGTHS.into_iter().map(engine).collect();
    let state = folder.join("state");
    let resume = state.exists();
    let pgn = Some(folder.join("games.pgn"));
    let epd = Some(folder.join("final.epd"));
    let places = Places { pgn, state: Some(state), epd, resume, ..Places::default() };
    let names: Vec<String> = engines.iter().map(EngineConfig::label).collect();
    let entrants = entrants(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let schedule = schedule(format, engines.len());
    let record = MatchRecord::open(&places, schedule, &entrants, "x").expect("a record");
    let mut results = Results::new(&engines, record, None);
    let tournament = Tournament {
        engines,
        openings: vec![Opening::default()],
        conditions: Conditions {
            rules: Rules::default(),
            tablebases: None,
            timeout: Duration::from_secs(600),
        },
        concurrency: 1,
        cores: Vec::new(),
        trace: None,
        date: "2026.01.31".to_owned(),
        pause: Duration::ZERO,
        error_output: None,
    };
    let (interrupt, mut finished) = (Interrupt::new(), 0);
    let played = results.play(&tournament, &interrupt, |_, progress| {
        finished += usize::from(matches!(progress, Progress::Finished { .. }));
        if finished == stop {
            interrupt.trigger();
        }
    });
    played.expect("games");
    let rounds = &results.match_record.rounds;
    (rounds.list().to_vec(), results.json()["crosstable"].to_string(), rounds.is_over())
}

/// Truncates the last line of a file, as if the program had been killed while writing it.
fn tear_last_line(path: &Path) {
    let text = std::fs::read_to_string(path).expect("lines");
    std::fs::write(path, &text[..text.len() - 10]).expect("written");
}

fn final_positions(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("final.epd")).expect("positions");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn interrupted_tournament_has_the_same_rounds() {
    for format in [Format::Swiss { rounds: 3 }, Format::Knockout] {
        let whole = tempfile::tempdir().expect("a folder");
        let expected = play(format, whole.path(), usize::MAX);
        assert!(expected.2);
        for games in 1..8 {
            let dir = tempfile::tempdir().expect("a folder");
            let mut runs = 0;
            let found = loop {
                let found = play(format, dir.path(), games);
                runs += 1;
                if found.2 {
                    break found;
                }
                tear_last_line(&dir.path().join("final.epd"));
            };
            assert_eq!(found, expected, "{format:?}, {games} games in each run");
            assert!(runs > 1, "it was interrupted");
            let read = |folder: &Path| std::fs::read_to_string(folder.join("games.pgn"));
            let count = |folder| read(folder).expect("games").matches("[Event ").count();
            assert_eq!(count(dir.path()), count(whole.path()));
            assert_eq!(final_positions(dir.path()), final_positions(whole.path()));
        }
    }
}

#[test]
fn files_in_a_missing_folder_leave_no_state() {
    let dir = tempfile::tempdir().expect("a folder");
    let (state, missing) = (Some(dir.path().join("state")), Some(dir.path().join("none/games")));
    for places in [
        Places { state: state.clone(), pgn: missing.clone(), ..Places::default() },
        Places { state: state.clone(), epd: missing.clone(), ..Places::default() },
    ] {
        let opened = MatchRecord::open(&places, schedule(Format::RoundRobin, 2), &[], "x");
        let error = opened.expect_err("no folder").to_string();
        assert!(error.contains("none"), "{error}");
        assert!(!dir.path().join("state").exists(), "{error}");
    }
}

#[test]
fn engines_join_only_where_it_is_possible() {
    for (format, is_possible) in [
        (Format::RoundRobin, true),
        (Format::Gauntlet, true),
        (Format::Swiss { rounds: 2 }, true),
        (Format::Knockout, false),
    ] {
        let dir = tempfile::tempdir().expect("a folder");
        let state = Some(dir.path().join("state"));
        let places = |resume| Places { state: state.clone(), resume, ..Places::default() };
        let open = |resume, names: &[&str]| {
            MatchRecord::open(&places(resume), schedule(format, 2), &entrants(names), "x")
        };
        let mut record = open(false, &["a", "b"]).expect("a new tournament");
        assert_eq!(record.next_games().expect("a round").len(), 2);
        drop(record);
        match open(true, &["c", "b", "a"]) {
            Ok(record) => {
                assert!(is_possible, "{format:?}");
                let names: Vec<&str> =
                    record.entrants.iter().map(|entrant| &*entrant.name).collect();
                assert_eq!(names, ["a", "b", "c"]);
            }
            Err(error) => {
                assert!(!is_possible, "{format:?}: {error}");
                assert!(error.to_string().contains("engine c is new, but the knockout has begun"));
            }
        }
        let mut record = open(true, &["b"]).expect("a is withdrawn");
        assert!(record.next_games().expect("no file error").is_empty(), "{format:?}");
    }
}

fn write_engines(path: &Path, engines: &[(&str, &str)]) {
    let table = |(name, command): &(&str, &str)| {
        format!("[[engine]]\nname = {name:?}\ncommand = {command:?}\n")
    };
    std::fs::write(path, engines.iter().map(table).collect::<String>()).expect("written");
}

#[test]
fn engines_file_can_change_during_a_swiss_tournament() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name);
    let engines = path("engines.toml");
    let [a, b, c, e, f] = [5, 4, 3, 6, 7].map(losing);
    // This engine hangs in its first game, until the tournament is interrupted.
    let hanging = fake("uci fault=hang at=1");
    let before = [("a", &*a), ("b", &*b), ("c", &*c), ("hanging", &*hanging), ("e", &*e)];
    write_engines(&engines, &before);
    let arguments = [
        "autoplay",
        "--engines",
        "engines.toml",
        "--format",
        "swiss",
        "--rounds",
        "3",
        "--nodes",
        "1",
        "-j",
        "1",
        "--pgn",
        "games.pgn",
        "--patience",
        "600",
        "--json",
        "results.json",
    ];
    let mut running = Command::new(PROGRAM)
        .args(arguments)
        .current_dir(dir.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let state = || std::fs::read_to_string(path("games.pgn.state")).unwrap_or_default();
    while state().matches("{\"game\":").count() < 2 {
        std::thread::sleep(Duration::from_millis(2));
        assert!(running.try_wait().expect("a child").is_none(), "it ended too early");
    }
    let pid = running.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill runs").success());
    assert_eq!(running.wait().expect("reaped").code(), Some(130));
    let resume = || tabia(&[&arguments[..], &["--resume"]].concat(), dir.path());
    write_engines(&engines, &[("a", &*b), ("b", &*b)]);
    let refused = String::from_utf8(resume().stderr).expect("UTF-8");
    assert!(refused.contains("begun with other settings: engine a was"), "{refused}");
    write_engines(&engines, &[("f", &*f), ("e", &*e), ("c", &*c), ("b", &*b), ("a", &*a)]);
    let resumed = resume();
    let printed = String::from_utf8(resumed.stdout).expect("UTF-8");
    assert_eq!(resumed.status.code(), Some(0), "{printed}");
    assert!(printed.starts_with("Round 2: ") && printed.contains("Game 5 of 12: "), "{printed}");
    assert!(printed.contains("Game 12 of 12: "), "{printed}");
    assert!(printed.contains("\nWithdrawn: hanging"), "{printed}");
    let json = std::fs::read(path("results.json")).expect("written");
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(json["withdrawn"], serde_json::json!(["hanging"]));
    // Two games were played before the interruption. After it, five engines played two rounds of
    // four games each, which makes ten games.
    assert_eq!((&json["played"], &json["scheduled"]), (&10.into(), &10.into()));
    let rounds = json["rounds"].as_array().expect("rounds");
    assert_eq!(rounds.len(), 3);
    for round in &rounds[1..] {
        let text = round.to_string();
        assert!(text.contains("\"f\"") && !text.contains("hanging"), "{text}");
    }
    // The two games that the withdrawn engine did not play count as wins for `b`.
    let row = json["crosstable"].as_array().expect("rows").iter().find(|row| row["engine"] == "b");
    let row = row.expect("b took part");
    let games = row["games"].as_u64().expect("games");
    let byes = rounds.iter().filter(|round| round["byes"][0] == "b").count();
    let score = row["score"].as_f64().expect("a score");
    assert_eq!(score - row["points"].as_f64().expect("points"), (2 + 2 * byes) as f64);
    assert_eq!(games as usize, 4 - 2 * byes);
    assert!(!path("games.pgn.state").exists(), "the state of a finished tournament is removed");
}

#[test]
fn unsuitable_options_are_rejected() {
    for (options, reason) in [
        ("--format swiss", "--format swiss needs --rounds N"),
        ("--format swiss --rounds 0", "--format swiss needs --rounds N"),
        ("--rounds 3", "it needs --format swiss"),
        ("--format knockout -n 3", "needs an even number"),
        ("--format swiss --gauntlet --rounds 1", "cannot be used with"),
    ] {
        let words = ["autoplay", "-1", "a", "-2", "b"].into_iter().chain(options.split(' '));
        let output = tabia(&words.collect::<Vec<_>>(), Path::new("."));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(reason), "{options}: {errors}");
    }
}
