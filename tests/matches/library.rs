//! The match runner as a library.

use std::cmp::Ordering;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tabia::autoplay::clock::MoveLimits;
use tabia::autoplay::config::{EngineConfig, Protocol};
use tabia::autoplay::match_record::{MatchRecord, Places};
use tabia::autoplay::openings::Opening;
use tabia::autoplay::pgn_style::PgnStyle;
use tabia::autoplay::play::{Conditions, Interrupt};
use tabia::autoplay::referee::Rules;
use tabia::autoplay::results::{FileKind, MatchError, Output, Results};
use tabia::autoplay::schedule::{Format, Schedule};
use tabia::autoplay::stats::{EloModel, Sprt};
use tabia::autoplay::tournament::{Progress, Tournament};

use crate::support::{example, fake_engine as fake};

const GAMES: usize = 40;

fn prepare(commands: [(&str, Protocol); 2], folder: &Path) -> (Tournament, Results) {
    let limits = MoveLimits { nodes: Some(1), ..MoveLimits::default() };
    let engines = commands.map(|(command, protocol)| {
        let config = EngineConfig::from_command(command).expect("a command");
        EngineConfig { limits, protocol, ..config }
    });
    let format = Format::RoundRobin;
    let schedule = Schedule { engines: 2, format, games: GAMES, openings: 1, reversed: true };
    let (pgn, state) = (Some(folder.join("pgn")), Some(folder.join("state")));
    let style = PgnStyle { event: "a test".to_owned(), ..PgnStyle::default() };
    let places = Places { pgn, state, style, ..Places::default() };
    let match_record = MatchRecord::open(&places, schedule, &[], "settings").expect("a new match");
    let rules = Rules::default();
    let conditions = Conditions { rules, tablebases: None, timeout: Duration::from_secs(10) };
    // High error rates of 20% make the sequential test end after a few games.
    let (alpha, beta, model) = (0.2, 0.2, EloModel::Logistic);
    let sprt = Sprt { elo0: 0.0, elo1: 200.0, alpha, beta, model };
    let results = Results::new(&engines, match_record, Some(sprt));
    let tournament = Tournament {
        engines: engines.into(),
        openings: vec![Opening::default()],
        conditions,
        concurrency: 1,
        cores: Vec::new(),
        trace: None,
        date: "2026.01.31".to_owned(),
        pause: Duration::ZERO,
        error_output: None,
    };
    (tournament, results)
}

#[test]
fn match_state_is_kept_until_the_test_is_decided() {
    let dir = tempfile::tempdir().expect("a folder");
    let (good, bad) = (fake("uci name=Good"), fake("xboard name=Bad fault=illegal at=2"));
    let engines = [(&*good, Protocol::Uci), (&*bad, Protocol::Xboard)];
    let (tournament, mut results) = prepare(engines, dir.path());
    let mut finished = 0;
    let played = results.play(&tournament, &Interrupt::new(), |results, progress| {
        if matches!(progress, Progress::Finished { .. }) {
            finished += 1;
            // Simulate a slow disk. The engines could play the whole match during this delay.
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(results.match_record.finished, finished, "saved before it is reported");
        let begins = matches!(progress, Progress::Started(_));
        assert!(!(begins && results.is_decided()), "a game begins after the decision");
    });
    played.expect("played");
    assert!(0 < finished && finished < GAMES, "{finished} games");
    assert!(results.is_decided() && results.comparison() == Some(Ordering::Greater));
    assert_eq!(results.names, ["Good", "Bad"]);
    assert!(dir.path().join("state").exists());
    let json = dir.path().join("json");
    results.finish(None, Some(Output::new(&json, FileKind::JSON))).expect("written");
    assert!(!dir.path().join("state").exists(), "nothing is left to play");
    let json = std::fs::read_to_string(json).expect("written");
    assert!(json.contains("\"decision\": \"accept-h1\""), "{json}");
    let games = std::fs::read_to_string(dir.path().join("pgn")).expect("written");
    assert_eq!(games.matches("[Event \"a test\"]").count(), finished);
}

#[test]
fn match_that_cannot_start_leaves_no_state() {
    let dir = tempfile::tempdir().expect("a folder");
    let unable = "sh -c 'echo hello; echo feature nps=0 done=1; cat > /dev/null'";
    let engines = [(unable, Protocol::Xboard), (&*fake("uci"), Protocol::Uci)];
    let (tournament, mut results) = prepare(engines, dir.path());
    let error = results.play(&tournament, &Interrupt::new(), |_, _| {}).expect_err("unable");
    assert!(matches!(error, MatchError::Start(_)), "{error}");
    assert_eq!(
        error.to_string(),
        "cannot play the match: sh cannot count nodes instead of time (feature nps=0)"
    );
    assert!(!dir.path().join("state").exists());
}

#[test]
fn example_plays_a_match() {
    let engines = [fake("uci name=Good"), fake("xboard name=Bad fault=illegal at=2")];
    let played = Command::new(example("play_match")).args(engines).arg("4").output();
    let played = played.expect("the example can be started");
    let text = String::from_utf8_lossy(&played.stdout);
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    assert!(text.contains("Good - Bad: 1-0 ") && text.contains("Bad - Good: 0-1 "), "{text}");
    assert!(text.ends_with("first: +4 =0 -0\n"), "{text}");
}
