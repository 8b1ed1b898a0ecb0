//! Tests of the match runner with scripted engines that misbehave (`examples/fake_engine.rs`).

use std::path::PathBuf;
use std::process::{Command, Output};

use crate::support::{PROGRAM, concurrently, fake_engine as fake};

fn autoplay(args: &[&str]) -> Output {
    Command::new(PROGRAM).arg("autoplay").args(args).output().expect("the runner starts")
}

fn stdout(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!text.is_empty() || output.status.code() != Some(0), "no output; errors: {errors}");
    text
}

/// Plays a short match between two scripted engines, the first of which misbehaves.
fn faulty_match(first: &str, second: &str, extra: &[&str]) -> Output {
    let (first, second) = (fake(first), fake(second));
    let mut args = vec!["-1", &first, "-2", &second, "--tc", "5+0.1", "--patience", "0.5"];
    for (option, value) in [("-n", "2"), ("-j", "2")] {
        if !extra.contains(&option) {
            args.extend([option, value]);
        }
    }
    args.extend(extra);
    autoplay(&args)
}

#[test]
fn every_engine_fault_has_its_verdict() {
    let cases = [
        ("uci", "crash", "crash"),
        ("xboard", "crash", "crash"),
        ("uci", "illegal", "illegal move"),
        ("xboard", "illegal", "illegal move"),
        ("xboard", "claim", "false claim"),
        ("xboard", "resign", "resignation"),
        ("xboard", "refuse", "illegal move"),
        ("uci", "stop_reading", "stall"),
        ("xboard", "stop_reading", "stall"),
    ];
    concurrently(cases, |(protocol, fault, end)| {
        let first = format!("{protocol} fault={fault} at=3");
        let output = faulty_match(&first, "uci name=Good", &["--depth", "1"]);
        let text = stdout(&output);
        assert!(text.contains(&format!("ends: {end} 2")), "{protocol} {fault}:\n{text}");
        assert!(text.contains(": 0 - 2 - 0"), "{protocol} {fault}:\n{text}");
        assert_eq!(output.status.code(), Some(4), "{protocol} {fault}");
    });
}

#[test]
fn late_hanging_and_flooding_engines_are_distinguished() {
    for (fault, end) in
        [("late late_ms=600", "time forfeit"), ("hang", "stall"), ("flood", "stall")]
    {
        for protocol in ["uci", "xboard"] {
            let first = format!("{protocol} at=2 fault={fault}");
            let output = faulty_match(&first, "xboard name=Good", &["--st1", "0.3"]);
            let text = stdout(&output);
            assert!(text.contains(&format!("ends: {end} 2")), "{protocol} {fault}:\n{text}");
        }
    }
}

#[test]
fn crashed_engine_is_restarted_and_its_last_output_shown() {
    let output = faulty_match("uci fault=crash at=3 in=1", "uci name=Good seed=2", &["-j", "1"]);
    let text = stdout(&output);
    assert!(text.contains("engine ended with code 3"), "{text}");
    assert!(text.contains("(stderr) about to crash"), "{text}");
    assert!(text.contains("Game 2 of 2"), "{text}");
}

#[test]
fn games_do_not_depend_on_concurrency() {
    let dir = tempfile::tempdir().expect("a folder");
    let openings = dir.path().join("openings.pgn");
    let lines = "1. e4 *\n\n1. d4 d5 *\n\n1. c4 e5 2. g3 *\n\n1. Nf3 *\n";
    std::fs::write(&openings, lines).expect("written");
    let games = |concurrency: &str| {
        let pgn = dir.path().join(format!("{concurrency}.pgn"));
        let (first, second) = (fake("uci seed=3"), fake("xboard seed=4"));
        let paths = [openings.to_str().expect("a path"), pgn.to_str().expect("a path")];
        let output = autoplay(&[
            "-1",
            &first,
            "-2",
            &second,
            "--nodes",
            "1",
            "--games",
            "8",
            "-j",
            concurrency,
            "--openings",
            paths[0],
            "--pgn",
            paths[1],
        ]);
        stdout(&output);
        let text = std::fs::read_to_string(&pgn).expect("games were written");
        let mut games: Vec<String> = text.split("[Event ").skip(1).map(without_times).collect();
        games.sort();
        games
    };
    let (one, three) = (games("1"), games("3"));
    assert_eq!(one.len(), 8);
    assert_eq!(one, three);
}

fn without_times(game: &str) -> String {
    let is_time = |word: &str| word.trim_end_matches(',').ends_with('s') && word.len() >= 5;
    let lines = game.lines().filter(|line| !line.starts_with("[Game"));
    let words = lines.flat_map(str::split_whitespace).filter(|word| !is_time(word));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn games_record_where_a_search_ended_in_the_book() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = |name: &str| dir.path().join(name).display().to_string();
    let (openings, games) = (file("openings.pgn"), file("games.pgn"));
    std::fs::write(&openings, "1. e4 Nc6 2. Ke2 d5 3. exd5 *\n").expect("written");
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/books/dumb.pgn");
    for protocol in ["-x", "--uci"] {
        let engine = format!("{PROGRAM} {protocol} -b {book}");
        let output = autoplay(&[
            "-1",
            &engine,
            "-2",
            &engine,
            "-n",
            "1",
            "--openings",
            &openings,
            "--nodes",
            "200000",
            "--max-moves",
            "6",
            "--pgn",
            &games,
            "--force",
        ]);
        let text = stdout(&output);
        let games = std::fs::read_to_string(&games).expect("games");
        let games = games.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected =
            r#", book="transposes to the book after 3 plies: Qxd5 Ke1 Nf6 (1 game, 0-1)""#;
        let comment = games.split_once("Qxd5 {").map_or("", |(_, comment)| comment);
        let comment = comment.split_once('}').map_or("", |(comment, _)| comment);
        assert!(comment.ends_with(expected), "{protocol}: {comment}\n{games}\n{text}");
        assert!(!comment.starts_with("book"), "{protocol}: {comment}");
    }
}

#[test]
fn no_engine_process_outlives_the_match() {
    let mark = format!("mark-{}", std::process::id());
    let first = format!("uci fault=no_exit name={mark}");
    faulty_match(&first, &format!("xboard fault=hang at=2 name={mark}"), &["--st2", "0.2"]);
    let left: Vec<PathBuf> = std::fs::read_dir("/proc")
        .expect("a list of processes")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let command = std::fs::read(path.join("cmdline")).unwrap_or_default();
            let text = String::from_utf8_lossy(&command).into_owned();
            text.contains("fake_engine") && text.contains(&mark)
        })
        .collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[test]
fn startup_errors_are_reported_clearly() {
    let good = fake("uci");
    let cases = [
        ("/no/such/engine", &[][..], "there is no such program"),
        (env!("CARGO_MANIFEST_DIR"), &[], "it is not executable"),
        ("cat", &["--proto1", "uci"], "no uciok in time"),
        ("true", &["--proto1", "uci"], "ended with code 0"),
        (&good, &["--option1", "Nonsense=1"], "no option \"Nonsense\" (it has: Clear Hash, Level)"),
        (&good, &["--option1", "Level"], "needs a value for its option \"Level\""),
        (&good, &["--openings", "/no/such/file.epd"], "cannot read openings"),
    ];
    concurrently(cases, |(first, args, part)| {
        let mut all = vec!["-1", first, "-2", &good, "--depth", "1"];
        all.extend(args);
        let output = autoplay(&all);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(part), "{first}: {errors}");
        assert_eq!(output.status.code(), Some(1), "{first}");
    });
}

#[test]
fn impossible_sprt_bounds_are_rejected() {
    let good = fake("uci");
    for bounds in ["-1601,0", "0,1e9", "0,inf", "nan,5"] {
        let output = autoplay(&["-1", &good, "-2", &good, &format!("--sprt={bounds}")]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("must lie between -1600 and 1600"), "{bounds}: {errors}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{bounds}");
    }
}

#[test]
fn single_game_shows_every_move_with_both_clocks() {
    let output = faulty_match("uci fault=illegal at=2 name=Bad", "uci name=Good", &["-n", "1"]);
    let text = stdout(&output);
    assert!(text.contains("WHITE moves 1. "), "{text}");
    assert!(text.contains("BLACK moves 1. ... "), "{text}");
    assert!(text.contains("white used: "), "{text}");
    assert!(text.contains("0-1 {White plays the illegal move e2e5}"), "{text}");
}

#[test]
fn killed_match_resumes_to_the_same_result() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("a path").to_owned();
    let openings = path("openings.pgn");
    let lines: String =
        ["e4", "d4", "c4", "Nf3", "e3", "g3"].map(|mv| format!("1. {mv} *\n\n")).concat();
    std::fs::write(&openings, lines).expect("written");
    let (first, second) = (fake("uci seed=3 fault=late late_ms=40 at=2"), fake("uci seed=4"));
    let arguments = |pgn: &str, more: &[&str]| -> Vec<String> {
        let base = ["autoplay", "-1", &first, "-2", &second, "-n", "12", "-j", "2", "--restart"];
        let rest = ["--nodes", "1", "--openings", &openings, "--pgn", pgn];
        base.iter().chain(&rest).chain(more).map(ToString::to_string).collect()
    };
    let tabia = || Command::new(PROGRAM);
    let whole = tabia().args(arguments(&path("whole.pgn"), &[])).output().expect("it runs");
    let cut = path("cut.pgn");
    let mut killed = tabia()
        .args(arguments(&cut, &[]))
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let state = format!("{cut}.state");
    // Wait until the state file contains its first line and at least three games.
    while std::fs::read_to_string(&state).unwrap_or_default().lines().count() < 4 {
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(killed.try_wait().expect("a child").is_none(), "it ended too early");
    }
    killed.kill().expect("killed");
    killed.wait().expect("reaped");
    let refused = tabia().args(arguments(&cut, &[])).output().expect("it runs");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("add --resume"));
    let resumed = tabia().args(arguments(&cut, &["--resume"])).output().expect("it runs");
    assert_eq!(statistics(&stdout(&whole)), statistics(&stdout(&resumed)));
    assert_eq!(whole.status.code(), resumed.status.code());
    let games = |path: &str| {
        let text = std::fs::read_to_string(path).expect("games were written");
        let mut games: Vec<String> = text.split("[Event ").skip(1).map(without_times).collect();
        games.sort();
        games
    };
    assert_eq!(games(&path("whole.pgn")), games(&cut));
    assert!(!std::path::Path::new(&state).exists(), "the state of a finished match is removed");
}

fn statistics(text: &str) -> String {
    let start = text.rfind("Score of").expect("a score");
    // Leave out the match runner's own delays, which differ between runs.
    text[start..].split("Runner:").next().unwrap_or_default().to_owned()
}

/// Plays a match between two scripted engines. Returns the match runner's output and all lines sent
/// to the engines.
fn traced(first: &str, second: &str, more: &[&str]) -> (String, Vec<String>) {
    let dir = tempfile::tempdir().expect("a folder");
    let trace = dir.path().join("trace").display().to_string();
    let (first, second) = (fake(first), fake(second));
    let mut args = vec!["-1", &first, "-2", &second, "--trace", &trace];
    args.extend(more);
    let text = stdout(&autoplay(&args));
    let trace = std::fs::read_to_string(&trace).expect("a trace");
    let sent = trace.lines().filter_map(|line| Some(line.split_once("< ")?.1.to_owned()));
    (text, sent.collect())
}

#[test]
fn default_limit_is_five_seconds_and_all_steps_are_shown() {
    let (text, sent) = traced("xboard name=A", "uci name=B", &["--max-moves", "1"]);
    assert!(sent.contains(&"st 5".to_owned()), "{sent:?}");
    assert!(sent.contains(&"go movetime 5000".to_owned()), "{sent:?}");
    let mut shown = text.lines().filter_map(|line| line.strip_prefix('[')?.split_once("] "));
    for wanted in [
        "Starting WHITE engine:",
        "Starting ",
        "Starting BLACK engine:",
        "Starting ",
        "init engine white",
        "init engine black",
        "Starting clocks!",
        "WHITE moves 1. ",
        "white used: 0.",
        "BLACK moves 1. ... ",
        "white used: 0.",
    ] {
        let (time, line) = shown.next().unwrap_or_else(|| panic!("no {wanted}: {text}"));
        assert!(line.starts_with(wanted), "{wanted}: {line}");
        let fields: Vec<&str> = time.split_whitespace().collect();
        assert!(fields.len() == 5 && fields[3].len() == 8 && fields[4].len() == 4, "{time}");
    }
    assert_eq!(shown.next(), None);
    for limit in [["--depth", "1"], ["--nodes", "5"], ["--tc", "60"], ["--st", "2"]] {
        let (_, sent) = traced("xboard", "uci", &[&limit[..], &["--max-moves", "1"]].concat());
        assert!(!sent.contains(&"st 5".to_owned()), "{limit:?}: {sent:?}");
    }
}

#[test]
fn engine_that_truncates_seconds_is_told_to_move_now() {
    // The scripted engine truncates `st 0.2` to zero, which it takes to mean no limit. It therefore
    // moves only when the match runner sends `?`, which must happen before this large margin is
    // exceeded.
    let more = ["--st", "0.2", "--margin", "100000", "--max-moves", "2"];
    for (name, st) in [("Other", "st 0.2"), ("'GNU Chess 7'", "st 1")] {
        let (text, sent) = traced(&format!("xboard st=whole name={name}"), "uci", &more);
        assert!(text.contains("2 moves played"), "{text}");
        let count = |wanted: &str| sent.iter().filter(|line| *line == wanted).count();
        // GNU Chess is sent `st 1`. The scripted engine moves within that second, so it needs no
        // `?`.
        assert_eq!((count(st), count("?")), (1, if name == "Other" { 2 } else { 0 }), "{sent:?}");
    }
    let (_, sent) = traced("xboard", "uci", &["--st", "1", "--max-moves", "2"]);
    assert!(!sent.contains(&"?".to_owned()), "{sent:?}");
}

#[test]
fn button_options_are_sent_without_a_value() {
    let options = ["clear hash", "Clear Hash=", "Clear Hash=true", "CLEAR HASH=1"];
    for option in options {
        let more = ["--depth", "1", "--max-moves", "1", "--option", option];
        let (_, sent) = traced("xboard", "uci", &more);
        for wanted in ["option Clear Hash", "setoption name Clear Hash"] {
            assert!(sent.contains(&wanted.to_owned()), "{option}: {sent:?}");
        }
    }
}

#[test]
fn openings_wrap_around_and_finished_ones_are_skipped() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (openings, pgn) = (path("openings.pgn"), path("games.pgn"));
    let over = "1. f3 e5 2. g4 Qh4# *";
    std::fs::write(&openings, format!("1. e4 *\n\n{over}\n\n1. d4 *\n\n1. c4 *\n"))
        .expect("written");
    let (first, second) = (fake("xboard seed=3"), fake("uci seed=4"));
    let engines = ["-1", &first, "-2", &second, "--depth", "1", "-n", "8", "-j", "1"];
    for (start, order) in [("1", "edc"), ("2", "dce"), ("3", "ced")] {
        let more = ["--openings", &openings, "--opening-start", start, "--pgn", &pgn];
        let output = autoplay(&[&engines[..], &more].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("opening 2 skipped: it ends the game"), "{errors}");
        let games = std::fs::read_to_string(&pgn).expect("games");
        let first_moves: String =
            games.split("\n1. ").skip(1).map(|game| game.chars().next().expect("a move")).collect();
        let wanted: String = order.chars().cycle().take(4).flat_map(|file| [file; 2]).collect();
        assert_eq!(first_moves, wanted, "{start}");
        std::fs::remove_file(&pgn).expect("removed");
    }
    std::fs::write(&openings, over).expect("written");
    let output = autoplay(&[&engines[..], &["--openings", &openings]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("no opening is left"), "{errors}");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
}

#[test]
fn report_has_a_header() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (report, pgn, openings) = (path("report"), path("some games.pgn"), path("openings.pgn"));
    std::fs::write(&openings, "1. e4 *\n").expect("written");
    let files = ["--report", &report, "--pgn", &pgn, "--openings", &openings];
    let more = ["--option1", "Level=7", "--tc", "60+0.5", "--seed", "42", "-n", "2"];
    let (first, second) = (fake("xboard name=A"), fake("uci name=B"));
    let engines = ["-1", &first, "-2", &second];
    stdout(&autoplay(&[&engines[..], &files, &more].concat()));
    let page = std::fs::read_to_string(dir.path().join("report/index.html")).expect("a page");
    let (_, data) = page.split_once("id=\"data\">").expect("data");
    let data: serde_json::Value =
        serde_json::from_str(data.split_once("</script>").expect("an end").0).expect("JSON");
    assert_eq!(data["pgn"], "../some games.pgn");
    let [a, b] = [&data["engines"][0], &data["engines"][1]];
    assert_eq!((&a["options"], &b["options"]), (&"Level=7".into(), &"".into()));
    assert_eq!((&a["protocol"], &b["protocol"]), (&"xboard".into(), &"uci".into()));
    assert_eq!((&a["limits"], &a["margin"]), (&"60+0.5".into(), &50.into()));
    assert!(
        a["command"]
            .as_str()
            .is_some_and(|command| command.ends_with("fake_engine xboard 'name=A'"))
    );
    let fact = |label: &str| {
        let facts = data["facts"].as_array().expect("facts");
        let found = facts.iter().find(|fact| fact[0] == label);
        found.and_then(|fact| fact[1].as_str()).unwrap_or_else(|| panic!("no {label}")).to_owned()
    };
    assert_eq!(fact("Seed"), "42");
    assert!(fact("Openings").contains("openings.pgn, in order, from number 1"));
    assert!(fact("Command").contains("--option1 'Level=7'"), "{}", fact("Command"));
    assert!(fact("Machine").contains("core") && fact("Started").contains("(UTC)"));
}
