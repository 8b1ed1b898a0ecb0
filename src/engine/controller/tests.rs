//! Tests of the controller's state machine, using a scripted search.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use crossbeam::channel::{Receiver, Sender, select, tick, unbounded};

use super::worker::{Backend, MakeBackend};
use super::*;
use crate::chess::position::{Color, Game, Move, OutcomeReason, Position};
use crate::chess::score::Score;
use crate::engine::search::{self, Config, Control, Limits, SearchResult, TimeLimit};
use crate::games::book::Book;

pub(super) struct StartedSearch {
    game: Game,
    pub(super) limits: Limits,
    control: Control,
}

/// A search that ends when the test supplies a result or stops it.
struct ScriptedSearch {
    started: Sender<StartedSearch>,
    results: Receiver<SearchResult>,
    configs: Sender<Config>,
}

impl Backend for ScriptedSearch {
    fn configure(&mut self, config: Config) {
        let _ = self.configs.send(config);
    }

    fn new_game(&mut self) {}

    fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        control: &Control,
        _: &mut (dyn FnMut(&search::SearchEvent) + Send),
    ) -> SearchResult {
        let first = game.position().legal_moves().iter().next();
        let (game, limits) = (game.clone(), limits.clone());
        self.started
            .send(StartedSearch { game, limits, control: control.clone() })
            .expect("a test");
        let look = tick(Duration::from_millis(1));
        while !control.is_stopped() {
            select! {
                recv(self.results) -> result => return result.unwrap_or_default(),
                recv(look) -> _ => {}
            }
        }
        SearchResult { best: first, ..SearchResult::default() }
    }
}

pub(super) struct TestEngine {
    pub(super) engine: Engine,
    started: Receiver<StartedSearch>,
    pub(super) results: Sender<SearchResult>,
    configs: Receiver<Config>,
}

impl TestEngine {
    pub(super) fn new(change: impl FnOnce(&mut Settings)) -> Self {
        let (begun_sender, started) = unbounded();
        let (results, result_receiver) = unbounded();
        let (config_sender, configs) = unbounded();
        let make: MakeBackend = Box::new(move |_| {
            let (started, results) = (begun_sender.clone(), result_receiver.clone());
            Box::new(ScriptedSearch { started, results, configs: config_sender.clone() })
        });
        let mut settings = Settings { ponder: true, own_book: false, ..Settings::default() };
        change(&mut settings);
        let engine = Engine::new(make, settings, Book::embedded()).expect("no files");
        let mut test_engine = TestEngine { engine, started, results, configs };
        test_engine.settle();
        test_engine
    }

    pub(super) fn settle(&mut self) {
        while !self.engine.is_settled() {
            self.handle_next_event();
        }
    }

    pub(super) fn handle_next_event(&mut self) {
        let background_event = self
            .engine
            .background_events()
            .messages
            .recv_timeout(Duration::from_secs(60))
            .expect("an event");
        self.engine.receive(background_event);
    }

    /// Returns an engine and its ponder search. The engine has answered 1. e4 with e5 and is
    /// pondering on 2. Nf3.
    fn pondering() -> (Self, StartedSearch) {
        let mut test_engine = TestEngine::new(|_| {});
        test_engine.play("e2e4");
        test_engine.started();
        test_engine.finish("e7e5", "g1f3", 0);
        let pondering = test_engine.started();
        (test_engine, pondering)
    }

    pub(super) fn started(&self) -> StartedSearch {
        self.started.recv_timeout(Duration::from_secs(60)).expect("a search")
    }

    fn finish(&mut self, best: &str, ponder: &str, score: Score) {
        let parse = |text: &str| text.parse::<Move>().ok();
        let result =
            SearchResult { best: parse(best), ponder: parse(ponder), score, ..Default::default() };
        self.results.send(result).expect("a search");
        self.handle_next_event();
    }

    pub(super) fn play(&mut self, text: &str) {
        let mv = self.engine.position().parse_move(text).expect(text);
        self.engine.play(mv).expect(text);
    }

    fn pongs_and_moves(&mut self) -> Vec<String> {
        let shown = |event| match event {
            Event::Pong(number) => Some(number.to_string()),
            Event::Moved(moved) => Some(moved.mv.to_string()),
            _ => None,
        };
        self.engine.take_events().into_iter().filter_map(shown).collect()
    }

    pub(super) fn moves(&mut self) -> Vec<String> {
        let moved = |event| match event {
            Event::Moved(moved) => Some(moved.mv.to_string()),
            _ => None,
        };
        self.engine.take_events().into_iter().filter_map(moved).collect()
    }
}

fn plies(started: &StartedSearch) -> usize {
    started.game.moves().len()
}

#[test]
fn ponder_hit_continues_the_search_and_a_miss_replaces_it() {
    let mut test_engine = TestEngine::new(|_| {});
    test_engine.play("e2e4");
    assert_eq!(test_engine.engine.mode(), Mode::Thinking);
    assert!(!test_engine.started().limits.ponder);
    test_engine.finish("e7e5", "g1f3", 0);
    assert_eq!(
        (test_engine.moves(), test_engine.engine.mode()),
        (vec!["e7e5".into()], Mode::Pondering)
    );
    let pondering = test_engine.started();
    assert_eq!((plies(&pondering), pondering.limits.ponder), (3, true));
    test_engine.play("g1f3");
    assert!(pondering.control.is_ponder_hit() && !pondering.control.is_stopped());
    assert_eq!(test_engine.engine.mode(), Mode::Thinking);
    test_engine.finish("b8c6", "f1b5", 0);
    assert_eq!(test_engine.moves(), ["b8c6"]);
    let pondering = test_engine.started();
    test_engine.play("d2d4");
    assert!(pondering.control.is_stopped());
    let thinking = test_engine.started();
    assert_eq!((plies(&thinking), thinking.limits.ponder), (5, false));
    test_engine.handle_next_event();
    assert_eq!(test_engine.moves(), Vec::<String>::new(), "a cancelled search makes no move");
}

#[test]
fn expected_reply_is_reported_between_the_move_and_ponder_lines() {
    let (mut test_engine, _pondering) = TestEngine::pondering();
    let reported = test_engine.engine.take_events().into_iter().filter_map(|event| match event {
        Event::Moved(moved) => Some(format!("move {}", moved.mv)),
        Event::Pondering(Expected { position, mv }) => Some(format!("hint {}", position.san(mv))),
        Event::Report(_) => Some("a line".to_owned()),
        _ => None,
    });
    assert_eq!(reported.collect::<Vec<_>>()[..2], ["move e7e5", "hint Nf3"]);
}

#[test]
fn go_while_pondering_starts_a_new_search() {
    let (mut test_engine, pondering) = TestEngine::pondering();
    test_engine.engine.go();
    assert!(pondering.control.is_stopped() && !pondering.control.is_ponder_hit());
    let thinking = test_engine.started();
    assert_eq!((plies(&thinking), thinking.limits.ponder), (2, false));
}

#[test]
fn finished_ponder_search_moves_at_once_on_a_hit() {
    let (mut test_engine, _) = TestEngine::pondering();
    test_engine.finish("b8c6", "", 0);
    assert_eq!(test_engine.moves(), ["e7e5"]);
    test_engine.play("g1f3");
    assert_eq!(
        (test_engine.moves(), test_engine.engine.mode()),
        (vec!["b8c6".into()], Mode::Waiting)
    );
}

#[test]
fn unexpected_clock_restarts_the_ponder_search() {
    let (mut test_engine, pondering) = TestEngine::pondering();
    test_engine.engine.set_own_time(Duration::from_secs(100));
    test_engine.play("g1f3");
    assert!(pondering.control.is_stopped());
    let TimeLimit::Clock { remaining, .. } = test_engine.started().limits.time else {
        panic!("a clock is set")
    };
    assert!(remaining <= Duration::from_secs(100), "{remaining:?}");
}

#[test]
fn clock_set_by_the_gui_applies_to_the_next_search() {
    let mut test_engine = TestEngine::new(|_| {});
    let level = Level { moves: 0, base: Duration::from_secs(60), increment: Duration::ZERO };
    test_engine.engine.set_level(level);
    test_engine.engine.set_own_time(Duration::from_secs(9));
    test_engine.engine.set_opponent_time(Duration::from_secs(7));
    test_engine.engine.go();
    let TimeLimit::Clock { remaining, moves_to_go, .. } = test_engine.started().limits.time else {
        panic!("a clock is set")
    };
    assert_eq!((remaining, moves_to_go), (Duration::from_secs(9), None));
    assert_eq!(test_engine.engine.clocks().remaining(Color::Black), Duration::from_secs(7));
}

#[test]
fn move_overhead_is_subtracted_from_every_time() {
    let millis = Duration::from_millis;
    let clock = |remaining, increment| TimeLimit::Clock {
        remaining: millis(remaining),
        increment: millis(increment),
        moves_to_go: Some(7),
    };
    for (overhead, time, given) in [
        ("25", clock(1000, 150), clock(1000, 150)),
        ("0", TimeLimit::MoveTime(millis(1000)), TimeLimit::MoveTime(millis(1000))),
        ("125", clock(1000, 150), clock(900, 50)),
        ("125", clock(40, 50), clock(0, 0)),
        ("125", TimeLimit::MoveTime(millis(1000)), TimeLimit::MoveTime(millis(900))),
        ("5000", TimeLimit::Infinite, TimeLimit::Infinite),
    ] {
        let mut test_engine = TestEngine::new(|_| {});
        test_engine.engine.set_option("Move Overhead", overhead).expect("an option");
        test_engine.engine.search(Limits { time, ..Limits::default() });
        assert_eq!(test_engine.started().limits.time, given, "{overhead}");
    }
    let mut test_engine = TestEngine::new(|_| {});
    test_engine.engine.set_option("MoveOverhead", "125").expect("an option");
    test_engine.engine.set_move_time(millis(1000));
    test_engine.play("e2e4");
    assert_eq!(test_engine.started().limits.time, TimeLimit::MoveTime(millis(900)));
}

#[test]
fn undo_cancels_the_search_and_waits() {
    let mut test_engine = TestEngine::new(|_| {});
    test_engine.play("e2e4");
    let thinking = test_engine.started();
    assert!(test_engine.engine.undo(1));
    assert!(thinking.control.is_stopped());
    assert_eq!(test_engine.engine.mode(), Mode::Waiting);
    assert!(!test_engine.engine.undo(1));
    test_engine.handle_next_event();
    assert_eq!(test_engine.moves(), Vec::<String>::new());
}

#[test]
fn settings_apply_after_the_move_but_restart_an_analysis() {
    let mut test_engine = TestEngine::new(|_| {});
    test_engine.play("e2e4");
    let thinking = test_engine.started();
    test_engine.engine.set_memory(8);
    assert!(!thinking.control.is_stopped() && !test_engine.engine.is_settled());
    test_engine.finish("e7e5", "", 0);
    test_engine.settle();
    test_engine.engine.analyse();
    let analysis = test_engine.started();
    test_engine.engine.set_option("MultiPV", "3").expect("an option");
    assert!(analysis.control.is_stopped());
    assert_eq!(test_engine.started().limits.multi_pv, 3);
    test_engine.engine.set_threads(2);
    test_engine.settle();
    test_engine.started();
    assert_eq!(test_engine.engine.mode(), Mode::Analysing);
}

#[test]
fn excluded_moves_are_not_searched() {
    let mut test_engine = TestEngine::new(|_| {});
    test_engine.engine.analyse();
    assert!(test_engine.started().limits.root_moves.is_empty());
    let mv: Move = "e2e4".parse().expect("a move");
    test_engine.engine.exclude(&[mv]);
    let limits = test_engine.started().limits;
    assert_eq!((limits.root_moves.len(), limits.root_moves.contains(&mv)), (19, false));
    let all: Vec<Move> = Position::start().legal_moves().iter().collect();
    test_engine.engine.exclude(&all);
    assert_eq!(test_engine.engine.status(), None);
    test_engine.engine.include(&[mv]);
    assert_eq!(test_engine.started().limits.root_moves, [mv]);
    test_engine.play("d2d4");
    assert!(test_engine.started().limits.root_moves.is_empty(), "a new position has all its moves");
}

#[test]
fn engine_still_moves_after_a_crashed_or_invalid_search() {
    let mut test_engine = TestEngine::new(|_| {});
    test_engine.play("e2e4");
    test_engine.started();
    test_engine.finish("", "", 0);
    assert!(
        matches!(test_engine.engine.take_events()[..], [Event::Fault(_)]),
        "the fault is reported first"
    );
    test_engine.handle_next_event();
    assert_eq!(test_engine.moves().len(), 1, "some legal move is made");
    test_engine.play("d2d4");
    test_engine.started();
    test_engine.finish("e2e4", "", 0);
    assert_eq!(test_engine.moves().len(), 1, "an illegal move is not made");
}

#[test]
fn pause_and_move_now_stop_the_search() {
    let mut test_engine = TestEngine::new(|_| {});
    test_engine.play("e2e4");
    let thinking = test_engine.started();
    test_engine.engine.pause();
    assert!(thinking.control.is_stopped());
    test_engine.engine.resume();
    let thinking = test_engine.started();
    test_engine.engine.move_now();
    assert!(thinking.control.is_stopped());
    while test_engine.engine.mode() == Mode::Thinking {
        test_engine.handle_next_event();
    }
    assert_eq!(test_engine.moves().len(), 1);
}

#[test]
fn engine_resigns_after_several_lost_scores_if_enabled() {
    for (limit, resigns) in [(0, false), (500, true)] {
        let mut test_engine = TestEngine::new(|settings| settings.resign = limit);
        for (user, own) in [("e2e4", "e7e5"), ("g1f3", "b8c6"), ("f1c4", "g8f6")] {
            test_engine.play(user);
            test_engine.started();
            test_engine.finish(own, "", -900);
        }
        let events = test_engine.engine.take_events();
        assert_eq!(events.iter().any(|event| matches!(event, Event::Resigned)), resigns);
    }
}

#[test]
fn draw_is_accepted_only_when_behind() {
    for (score, taken) in [(20, false), (-10, false), (-80, true)] {
        let mut test_engine = TestEngine::new(|_| {});
        test_engine.play("e2e4");
        test_engine.started();
        test_engine.engine.offer_draw();
        test_engine.finish("e7e5", "", score);
        let events = test_engine.engine.take_events();
        let offer = events.iter().position(|event| matches!(event, Event::OfferDraw));
        assert_eq!(offer.is_some(), taken, "{score}");
        assert!(matches!(events.last(), Some(Event::Moved(_))));
    }
}

#[test]
fn end_of_game_by_rule_is_reported_once() {
    let mut test_engine = TestEngine::new(|_| {});
    for (user, own) in [("g1f3", "g8f6"), ("f3g1", "f6g8"), ("g1f3", "g8f6"), ("f3g1", "f6g8")] {
        test_engine.play(user);
        test_engine.started();
        test_engine.finish(own, "", 0);
    }
    let over = |event: &Event| matches!(event, Event::Over(outcome) if outcome.reason == OutcomeReason::Repetition);
    assert_eq!(test_engine.engine.take_events().iter().filter(|&event| over(event)).count(), 1);
    assert_eq!(test_engine.engine.mode(), Mode::Waiting);
}

#[test]
fn book_move_is_played_without_a_search() {
    let mut test_engine = TestEngine::new(|settings| settings.own_book = true);
    let mut file = tempfile::Builder::new().suffix(".pgn").tempfile().expect("a file");
    file.write_all(b"[Result \"0-1\"]\n\n1. a3 c5 0-1\n").expect("written");
    let name = file.path().to_string_lossy().into_owned();
    test_engine.engine.set_option("BookFile", &name).expect("an option");
    test_engine.settle();
    test_engine.play("a2a3");
    assert_eq!(test_engine.moves(), ["c7c5"]);
    test_engine.engine.set_option("BookFile", "/nowhere.tbk").expect("an option");
    test_engine.settle();
    assert!(matches!(test_engine.engine.take_events()[..], [Event::BookFailed(_)]));
    assert_eq!(test_engine.engine.book().name(), name, "the previous book is kept");
}

#[test]
fn book_moves_are_limited_by_depth_and_games() {
    let mut file = tempfile::Builder::new().suffix(".pgn").tempfile().expect("a file");
    let games = "1. a3 c5 2. e3 0-1\n\n1. a3 c5 2. d3 0-1\n\n1. b3 c5 0-1\n\n";
    file.write_all(games.as_bytes()).expect("written");
    let name = file.path().to_string_lossy().into_owned();
    for (option, value, first, is_book_move) in [
        ("BookDepth", "0", "b2b3", true),
        ("BookDepth", "2", "b2b3", true),
        ("BookDepth", "1", "b2b3", false),
        ("BookMinGames", "1", "b2b3", true),
        ("BookMinGames", "2", "b2b3", false),
        ("BookMinGames", "2", "a2a3", true),
    ] {
        let mut test_engine = TestEngine::new(|settings| settings.own_book = true);
        test_engine.engine.set_option("BookFile", &name).expect("an option");
        test_engine.engine.set_option(option, value).expect("an option");
        test_engine.settle();
        test_engine.engine.take_events();
        test_engine.play(first);
        let book_moves: &[&str] = if is_book_move { &["c7c5"] } else { &[] };
        assert_eq!(test_engine.moves(), book_moves, "{option}={value} after {first}");
    }
}

#[test]
fn ping_before_the_turn_is_answered_before_the_move() {
    let mut test_engine = TestEngine::new(|_| {});
    test_engine.engine.ping(1);
    assert_eq!(test_engine.pongs_and_moves(), ["1"], "there is nothing to wait for");
    test_engine.engine.new_game();
    test_engine.engine.ping(2);
    test_engine.play("e2e4");
    test_engine.engine.ping(3);
    assert_eq!(
        test_engine.pongs_and_moves(),
        Vec::<String>::new(),
        "the new game is not set up yet"
    );
    test_engine.settle();
    test_engine.started();
    test_engine.finish("e7e5", "", 0);
    assert_eq!(test_engine.pongs_and_moves(), ["2", "e7e5", "3"]);
}

#[test]
fn pings_are_answered_around_a_book_move_in_order() {
    let mut test_engine = TestEngine::new(|settings| settings.own_book = true);
    test_engine.engine.new_game();
    test_engine.engine.ping(1);
    test_engine.play("e2e4");
    test_engine.engine.ping(2);
    test_engine.settle();
    let reported = test_engine.pongs_and_moves();
    assert_eq!(
        (reported.len(), reported[0].as_str(), reported[2].as_str()),
        (3, "1", "2"),
        "{reported:?}"
    );
}

#[test]
fn ping_waits_for_thinking_but_not_for_pondering() {
    let mut test_engine = TestEngine::new(|_| {});
    test_engine.play("e2e4");
    test_engine.started();
    test_engine.engine.ping(1);
    assert_eq!(test_engine.pongs_and_moves(), Vec::<String>::new());
    test_engine.engine.force();
    assert_eq!(test_engine.pongs_and_moves(), ["1"]);
    let (mut test_engine, pondering) = TestEngine::pondering();
    test_engine.engine.ping(2);
    assert_eq!(test_engine.pongs_and_moves(), ["e7e5", "2"]);
    assert!(!pondering.control.is_stopped());
}

#[test]
fn unusable_files_change_no_setting() {
    let mut test_engine = TestEngine::new(|_| {});
    let before = test_engine.engine.settings().clone();
    for (name, value) in [("NetworkFile", "/nowhere.net"), ("SyzygyPath", "/nowhere")] {
        assert!(test_engine.engine.set_option(name, value).is_err(), "{name}");
    }
    assert_eq!(test_engine.engine.settings(), &before);
}

#[test]
fn old_names_of_settings_are_accepted() {
    let mut test_engine = TestEngine::new(|_| {});
    test_engine.engine.set_option("luck", "7").expect("the name in version 0.2");
    assert_eq!(test_engine.engine.settings().seed, 7);
}

const NON_SEARCH_SETTINGS: [&str; 21] = [
    "Ponder",
    "MultiPV",
    "UCI_ShowWDL",
    "OwnBook",
    "OpponentBook",
    "BookPolicy",
    "BookMaxLoss",
    "BookDepth",
    "BookMinGames",
    "LearnFile",
    "LearnVeto",
    "ResignBelow",
    "Contempt",
    "Propose-draws",
    "UCI_LimitStrength",
    "UCI_Elo",
    "Seed",
    "HumanPauses",
    "Move Overhead",
    "LogFile",
    "Clear Hash",
];

/// Returns a value that differs from the setting's default. For a setting that names a file or
/// folder, the value is a path in the folder `files`.
fn another_value(row: &Setting, files: &Path) -> String {
    let now = Settings::default();
    match &row.kind {
        Kind::Check { get, .. } => (!get(&now)).to_string(),
        &Kind::Spin { min, max, get, .. } => (if get(&now) == min { max } else { min }).to_string(),
        Kind::Choice { choices, get, .. } => choices[(get(&now) + 1) % choices.len()].to_owned(),
        Kind::File { .. } | Kind::Folder { .. } => files.join(row.title()).display().to_string(),
        Kind::ClearMemory => String::new(),
    }
}

#[test]
fn every_search_option_reaches_the_search() {
    let files = tempfile::tempdir().expect("a folder");
    let mut network = crate::engine::eval::nnue::Network::embedded().to_bytes();
    *network.last_mut().expect("weights") ^= 1;
    fs::write(files.path().join("EvalFile"), network).expect("written");
    fs::write(files.path().join("BookFile"), "1. e4 *\n").expect("written");
    for row in settings::SETTINGS {
        let name = row.title();
        let mut test_engine = TestEngine::new(|_| {});
        let before: Vec<Config> = test_engine.configs.try_iter().collect();
        let [before] = &before[..] else { panic!("{name}: {before:?}") };
        let reported = test_engine.engine.set_option(name, &another_value(row, files.path()));
        if name == "SyzygyPath" {
            // The repository contains no endgame tables, so opening them must fail. Tests with real
            // tables are in tests/search/endgames.rs.
            assert!(matches!(reported, Err(SettingError::Endgames(_))), "{reported:?}");
            continue;
        }
        assert_eq!(reported, Ok(()), "{name}");
        test_engine.settle();
        let changed = test_engine.configs.try_iter().any(|config| config != *before);
        assert_eq!(changed, !NON_SEARCH_SETTINGS.contains(&name), "{name}");
    }
}
