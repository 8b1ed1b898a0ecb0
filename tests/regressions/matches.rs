//! The match runner and its pages.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use tabia::position::{Game, Move};

use crate::support::{PROGRAM, TIMEOUT, concurrently, fake_engine as fake};

/// The exit status of a command whose standard output was closed by its reader. Shells report the
/// same status for SIGPIPE.
const SIGPIPE_STATUS: i32 = 141;

const OTHERS: &str =
    "[Event \"tabia autoplay\"]\n[Site \"elsewhere\"]\n[Result \"*\"]\n\n1. e4 *\n\n";

fn tabia(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

struct Match {
    dir: tempfile::TempDir,
    arguments: Vec<String>,
}

impl Match {
    fn new(first: &str, second: &str, more: &[&str]) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let pgn = dir.path().join("games.pgn").to_str().expect("a path").to_owned();
        let [first, second] = [first, second].map(|script| fake(&format!("uci {script}")));
        let engines = ["-1", &first, "-2", &second, "--pgn", &pgn];
        let protocols = ["--proto1", "uci", "--proto2", "uci"];
        let arguments = ["autoplay"].iter().chain(&engines).chain(&protocols).chain(more);
        Match { arguments: arguments.map(ToString::to_string).collect(), dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn pgn(&self) -> String {
        fs::read_to_string(self.path("games.pgn")).unwrap_or_default()
    }

    fn finished(&self) -> usize {
        let state = fs::read_to_string(self.path("games.pgn.state")).unwrap_or_default();
        state.matches('\n').count().saturating_sub(1)
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = tabia(&[]);
        command.args(&self.arguments).args(more);
        command
    }

    fn run(&self, more: &[&str]) -> Output {
        self.command(more).output().expect("it runs")
    }

    /// Starts the match and kills it once `games` games are finished.
    fn run_until(&self, games: usize, more: &[&str]) {
        let mut child = self.start(more);
        let begin = Instant::now();
        while self.finished() < games {
            assert!(begin.elapsed() < TIMEOUT, "no {games} games: {}", self.pgn());
            assert!(child.try_wait().expect("a child").is_none(), "it ended too early");
            std::thread::sleep(Duration::from_millis(1));
        }
        kill(&mut child);
    }

    fn start(&self, more: &[&str]) -> Child {
        let mut command = self.command(more);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    }

    /// Asserts that the PGN file contains exactly `games` complete games, each from a different
    /// round, and `others` foreign games.
    fn check_games(&self, games: usize, others: usize) {
        let pgn = self.pgn();
        assert_eq!(pgn.matches(OTHERS).count(), others, "{pgn}");
        let own = pgn.replace(OTHERS, "");
        let mut rounds = BTreeMap::new();
        for game in own.split("[Event ").skip(1) {
            let round = game.lines().find(|line| line.starts_with("[Round ")).expect("a round");
            *rounds.entry(round.to_owned()).or_insert(0) += 1;
            let result = game.lines().find(|line| line.starts_with("[Result ")).expect("a result");
            let result = result.split('"').nth(1).expect("quoted");
            assert!(game.trim_end().ends_with(result) && game.ends_with("\n\n"), "torn: {game}");
        }
        assert!(rounds.values().all(|&count| count == 1), "{rounds:?}");
        assert_eq!(rounds.len(), games, "{rounds:?}");
        assert!(own.is_empty() || own.starts_with("[Event "), "{own}");
    }
}

fn kill(child: &mut Child) {
    child.kill().expect("killed");
    child.wait().expect("reaped");
}

fn append(path: &Path, text: &str) {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).expect("appended");
}

/// The script of an engine that moves slowly, so that there is time to interrupt the match.
const SLOW: &str = "seed=3 fault=late late_ms=40 at=2";

#[test]
fn second_match_on_the_same_files_is_rejected() {
    let game = Match::new(SLOW, "seed=4", &["-n", "200", "-j", "1", "--depth", "1"]);
    let mut owner = game.start(&[]);
    let begin = Instant::now();
    while game.finished() < 2 {
        assert!(begin.elapsed() < TIMEOUT);
        std::thread::sleep(Duration::from_millis(1));
    }
    let other_state = game.path("other.state").to_str().expect("a path").to_owned();
    for more in [&["--resume"][..], &[], &["--state", &other_state]] {
        let refused = game.run(more);
        let errors = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{more:?}: {errors}");
        assert!(errors.contains("another program writes to it"), "{more:?}: {errors}");
    }
    assert!(!game.path("other.state").exists());
    let before = game.finished();
    while game.finished() < before + 2 {
        assert!(begin.elapsed() < TIMEOUT);
        assert!(owner.try_wait().expect("a child").is_none(), "the first match continues");
        std::thread::sleep(Duration::from_millis(1));
    }
    kill(&mut owner);
    // A killed run leaves no lock on its files.
    game.run_until(before + 3, &["--resume"]);
}

#[test]
fn resumed_match_keeps_foreign_games() {
    let game = Match::new(SLOW, "seed=4", &["-n", "12", "-j", "2", "--depth", "1"]);
    let pgn = game.path("games.pgn");
    append(&pgn, OTHERS);
    game.run_until(2, &[]);
    append(&pgn, OTHERS);
    game.run_until(5, &["--resume"]);
    append(&pgn, &OTHERS.repeat(2));
    let done = game.run(&["--resume"]);
    assert!(text(&done.stdout).contains("] 12\n"), "{}", text(&done.stdout));
    game.check_games(12, 4);
}

#[test]
fn truncated_first_game_is_completed_on_resume() {
    for others in [0, 1] {
        for share in [0, 1, 30, 60, 99] {
            let game = Match::new(SLOW, "seed=4", &["-n", "4", "-j", "1", "--depth", "1"]);
            append(&game.path("games.pgn"), OTHERS);
            game.run_until(1, &[]);
            // Recreate the files as if the match runner had been killed while writing the first
            // game.
            let state = fs::read_to_string(game.path("games.pgn.state")).expect("a state");
            let first: String = state.split_inclusive('\n').take(2).collect();
            fs::write(game.path("games.pgn.state"), first).expect("written");
            let own = game.pgn().len() - OTHERS.len();
            let length = OTHERS.len() + own * share / 100;
            let file = OpenOptions::new().write(true).open(game.path("games.pgn")).expect("there");
            file.set_len(length as u64).expect("cut");
            append(&game.path("games.pgn"), &OTHERS.repeat(others));
            game.run(&["--resume"]);
            game.check_games(4, 1 + others);
        }
    }
}

#[test]
fn repeatedly_killed_match_has_each_game_once() {
    let game = Match::new("seed=3", "seed=4", &["-n", "60", "-j", "2", "--depth", "1"]);
    let state = game.path("games.pgn.state");
    let begin = Instant::now();
    let mut others = 0;
    for round in 0..12_u64 {
        let resume: &[&str] = if state.exists() { &["--resume"] } else { &[] };
        let before = game.finished();
        let mut child = game.start(resume);
        while game.finished() <= before && child.try_wait().expect("a child").is_none() {
            assert!(begin.elapsed() < TIMEOUT, "no game is finished");
            std::thread::sleep(Duration::from_millis(1));
        }
        // Kill the match runner after a different delay in each round.
        std::thread::sleep(Duration::from_micros(round * 3700 % 11_000));
        kill(&mut child);
        if !state.exists() {
            break;
        }
        append(&game.path("games.pgn"), OTHERS);
        others += 1;
    }
    if state.exists() {
        let done = game.run(&["--resume"]);
        assert!(text(&done.stdout).contains("] 60\n"), "{done:?}");
    }
    game.check_games(60, others);
}

#[test]
fn match_files_that_are_pipes_do_not_block() {
    let game = Match::new("seed=3", "seed=4", &["-n", "2", "--depth", "1"]);
    let pipe = |name: &str| {
        let path = game.path(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        path.to_str().expect("a path").to_owned()
    };
    for option in ["--openings", "--state", "--log", "--trace"] {
        let path = pipe(&format!("pipe{option}.epd"));
        let refused = run_with_timeout(game.command(&[option, &path]));
        assert_eq!(refused.status.code(), Some(1), "{option}");
        assert!(text(&refused.stderr).contains(&path), "{option}: {}", text(&refused.stderr));
        assert!(fs::metadata(&path).is_ok_and(|there| !there.is_file()), "{option}: still a pipe");
        assert_eq!(game.pgn(), "", "{option}");
    }
    pipe("games.pgn");
    let refused = run_with_timeout(game.command(&[]));
    assert!(text(&refused.stderr).contains("without a reader"), "{}", text(&refused.stderr));
}

/// Runs a command that must exit by itself, and panics if it has not done so after [`TIMEOUT`].
fn run_with_timeout(mut command: Command) -> Output {
    let started = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.expect("it starts");
    let begin = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begin.elapsed() > TIMEOUT {
            kill(&mut child);
            panic!("it does not end: {command:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("read")
}

/// An engine name and output with quotation marks, tags, HTML and escape sequences, which must be
/// escaped wherever they are shown.
const HOSTILE: &str =
    "a\"] \\{<!--<script>\u{1b}[31m\u{7}\r\u{9b}2J\u{202e}\u{2028}</script>\n[Result \"1-0\"]";

#[test]
fn hostile_engine_output_is_escaped_everywhere() {
    concurrently(["uci", "xboard"], |protocol| {
        let hostile = format!("fault=crash at=4 name='{HOSTILE}' stderr='{HOSTILE}'");
        let more = ["-n", "2", "-j", "1", "--depth", "1", "--moves", "--proto1", protocol];
        let mut game = Match::new("", "seed=4 name=Good", &[]);
        let first = fake(&format!("{protocol} {hostile}"));
        game.arguments[2] = first;
        game.arguments.retain(|word| word != "--proto1" && word != "uci" && word != "--proto2");
        // Two engines with the same command would get generated names. Running one of them through
        // `env` makes the commands differ, so both engines keep their names.
        game.arguments[4] = format!("env {}", fake("uci seed=4 name=Good"));
        let [log, trace, json, report] = ["log", "trace", "json", "report"]
            .map(|name| game.path(name).to_str().expect("a path").to_owned());
        let files = ["--log", &log, "--trace", &trace, "--json", &json, "--report", &report];
        let played = game.run(&[&more[..], &files[..]].concat());
        let shown = text(&played.stdout) + &text(&played.stderr);
        assert!(shown.contains("wrote last"), "{shown}");
        assert!(shown.contains("\\u{1b}[31m"), "{shown}");
        let [log, trace] = [log, trace].map(|path| fs::read_to_string(path).expect("written"));
        let pgn = game.pgn();
        for (what, written) in [("screen", &shown), ("log", &log), ("trace", &trace), ("PGN", &pgn)]
        {
            let unseen = |letter: &char| {
                letter.is_control() && *letter != '\n' || "\u{202e}\u{2028}".contains(*letter)
            };
            assert_eq!(written.chars().find(unseen), None, "{protocol}: {what}\n{written}");
        }
        let results: Vec<&str> = pgn.lines().filter(|line| line.starts_with("[Result")).collect();
        assert_eq!(results, ["[Result \"0-1\"]", "[Result \"1-0\"]"], "{pgn}");
        let page = fs::read_to_string(Path::new(&report).join("index.html")).expect("a page");
        let data = data_of(&page);
        assert!(!data.contains(['<', '>', '&']), "{protocol}: {data}");
        assert_eq!(page.matches("</script>").count(), 2, "{protocol}: the data's and the script's");
    });
}

#[test]
fn lesson_page_escapes_markup_in_names() {
    let dir = tempfile::tempdir().expect("a folder");
    let [tree, page] = ["tree.txt", "page.html"]
        .map(|name| dir.path().join(name).to_str().expect("a path").to_owned());
    fs::write(&tree, "<!--<script> max\n </script> 1\n <b>&amp; 2\n").expect("written");
    let done = tabia(&["lesson", "tree", &tree, "--html", &page]).output().expect("it runs");
    assert!(done.status.success(), "{}", text(&done.stderr));
    let page = fs::read_to_string(page).expect("a page");
    let data = data_of(&page);
    assert!(!data.contains(['<', '>', '&']), "{data}");
    assert!(data.contains("\\u003c!--\\u003cscript"), "the name is included");
}

fn data_of(page: &str) -> &str {
    let (_, data) = page.split_once("id=\"data\">").expect("data");
    data.split_once("</script>").expect("an end").0
}

/// Returns an opening that consists of the move `first` and `plies` further plies that do not end
/// the game.
fn long_line(first: &str, plies: usize) -> String {
    let mut game = Game::default();
    let mut line = first.to_owned();
    game.play(game.position().parse_move(first).expect(first)).expect(first);
    for _ in 0..plies {
        let continues = |&mv: &Move| {
            let mut next = game.clone();
            next.play(mv).expect("legal");
            next.outcome().is_none()
        };
        let mv = game.position().legal_moves().iter().find(continues).expect("a move");
        line = format!("{line} {}", game.position().san(mv));
        game.play(mv).expect("legal");
    }
    line
}

#[test]
fn memory_for_openings_depends_on_those_played() {
    /// The memory limit in MiB. A game of 80 plies takes 16 KiB as a list of positions, so all
    /// games would take 300 MiB.
    const ROOM: u64 = 150;
    const GAMES: usize = 20_000;
    let lines = ["e4", "d4", "c4", "g3", "b3", "f4", "e3"].map(|first| long_line(first, 80));
    for order in ["file", "random"] {
        let game = Match::new("seed=3", "seed=4", &["-n", "8", "-j", "1", "--depth", "1"]);
        let openings = game.path("openings.pgn.gz");
        let file = File::create(&openings).expect("created");
        let mut file = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        for number in 0..GAMES {
            let moves = &lines[number % lines.len()];
            write!(file, "[Round \"{number}\"]\n\n1. {moves} *\n\n").expect("written");
        }
        file.finish().expect("written");
        let openings = openings.to_str().expect("a path");
        let more = ["--openings", openings, "--opening-order", order];
        let mut child = game.start(&more);
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        while child.try_wait().expect("a child").is_none() {
            let status = fs::read_to_string(&status).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let size = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
            peak = peak.max(size.unwrap_or_default() / 1024);
            std::thread::sleep(Duration::from_millis(2));
        }
        game.check_games(8, 0);
        assert!(peak > 0 && peak < ROOM, "{order}: {peak} MiB");
    }
}

fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

fn full() -> Stdio {
    File::options().write(true).open("/dev/full").expect("/dev/full exists").into()
}

#[test]
fn closed_or_full_output_ends_commands_without_panic() {
    let dir = tempfile::tempdir().expect("a folder");
    let [pgn, book, merged] = ["a.pgn", "a.tbk", "b.tbk"]
        .map(|name| dir.path().join(name).to_str().expect("a path").to_owned());
    fs::write(&pgn, "[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n").expect("written");
    let built = tabia(&["book", "build", &pgn, "-o", &book, "--quiet"]).status();
    assert!(built.expect("it runs").success());
    let check = fake("xboard");
    let commands: [&[&str]; 15] = [
        &["book", "show", "embedded"],
        &["book", "info", "embedded"],
        &["book", "dump", "embedded"],
        &["book", "why", "embedded"],
        &["book", "verify", &book],
        &["book", "merge", &book, &book, "-o", &merged],
        &["book", "find", &pgn, "--moves", "e4"],
        &["book", "build", &pgn, "-o", &merged],
        &["lesson", "tree"],
        &["bench", "--depth", "1"],
        &["perft", "3"],
        &["eval"],
        &["--help"],
        &["book", "--help"],
        &["autoplay", "--check", &check],
    ];
    for command in commands {
        for (name, output, status) in
            [("closed", closed as fn() -> Stdio, SIGPIPE_STATUS), ("full", full, 1)]
        {
            let ended = tabia(command).stdout(output()).stderr(Stdio::piped()).output();
            let ended = ended.expect("it runs");
            let errors = text(&ended.stderr);
            assert!(!errors.contains("panicked"), "{command:?}, {name}: {errors}");
            assert_eq!(ended.status.code(), Some(status), "{command:?}, {name}: {errors}");
            let reported = errors.contains("cannot write to the standard output");
            assert_eq!(reported, name == "full", "{command:?}, {name}: {errors}");
        }
    }
}

#[test]
fn match_writes_its_files_with_closed_or_full_output() {
    for (name, output) in [("closed", closed as fn() -> Stdio), ("full", full)] {
        let second = "seed=4 fault=illegal at=3";
        let game = Match::new("seed=3", second, &["-n", "6", "-j", "2", "--depth", "1", "--moves"]);
        let [log, json, report] = ["log", "json", "report"]
            .map(|name| game.path(name).to_str().expect("a path").to_owned());
        let mut command = game.command(&["--log", &log, "--json", &json, "--report", &report]);
        // Standard error may be closed too.
        let ended = command.stdout(output()).stderr(output()).status().expect("it runs");
        assert_eq!(ended.code(), Some(0), "{name}: the first engine won");
        game.check_games(6, 0);
        assert!(!game.path("games.pgn.state").exists(), "{name}");
        let log = fs::read_to_string(log).expect("a log");
        assert!(log.contains("Game 6 of 6") && log.contains("Score of"), "{name}: {log}");
        assert!(fs::read_to_string(json).expect("JSON").contains("\"played\": 6"), "{name}");
        assert!(Path::new(&report).join("index.html").exists(), "{name}");
        // Nor does a log file on a full disk end the match.
        let again = game.command(&["--log", "/dev/full"]).stderr(Stdio::piped()).output();
        let again = again.expect("it runs");
        assert_eq!(again.status.code(), Some(0), "{name}");
        assert!(text(&again.stderr).contains("the log does not take"), "{}", text(&again.stderr));
    }
}

/// Plays a match in which engine 1 uses the given protocol and script, and engine 2 behaves
/// correctly. Also returns the match, so that its files can be read.
fn run_with_failing_starts(protocol: &str, script: &str, more: &[&str]) -> (Match, Output) {
    let game = Match::new("", "seed=4", &["-n", "4", "-j", "1", "--depth", "1", "--restart"]);
    let counter = game.path("starts").to_str().expect("a path").to_owned();
    let mut game = game;
    game.arguments[2] = fake(&format!("{protocol} start_counter='{counter}' {script}"));
    game.arguments[4] = fake("uci seed=4");
    let json = game.path("json").to_str().expect("a path").to_owned();
    game.arguments.retain(|word| word != "--proto1" && word != "--proto2" && word != "uci");
    let played = game.run(&[&["--json", &json][..], more].concat());
    (game, played)
}

#[test]
fn failed_engine_start_is_retried_reported_and_counted() {
    for protocol in ["uci", "xboard"] {
        // The failing starts: the first one, a later one, or two in a row.
        for (failing, count) in [("1", 1), ("3", 1), ("2,3", 2)] {
            let script = format!("failing_starts={failing}");
            let (game, played) =
                run_with_failing_starts(protocol, &script, &["--proto1", protocol]);
            let shown = text(&played.stdout);
            assert!(shown.contains("failed to start: "), "{shown}{}", text(&played.stderr));
            assert!(shown.contains("ended with code 7"), "{shown}");
            let reported = format!("Failed starts of fake_engine 1: {count}\n");
            assert!(shown.contains(&reported), "{protocol} {failing}: {shown}");
            assert!(!shown.contains("crash"), "no game was lost: {shown}");
            game.check_games(4, 0);
            let json = fs::read_to_string(game.path("json")).expect("JSON");
            assert!(json.contains(&format!("\"fake_engine 1\": {count}")), "{json}");
        }
        let script = "failing_starts=1";
        let (game, played) = run_with_failing_starts(protocol, script, &[]);
        assert!(text(&played.stdout).contains("Score of"), "{}", text(&played.stderr));
        game.check_games(4, 0);
    }
    let (_, played) = run_with_failing_starts("uci", "failing_starts=1,2,3", &["--proto1", "uci"]);
    assert_eq!(played.status.code(), Some(1), "an engine that never starts is an error");
    assert!(text(&played.stderr).contains("ended with code 7"), "{}", text(&played.stderr));
}

#[test]
fn slowly_starting_engine_can_play() {
    let cases = [("xboard", &["--proto1", "xboard"][..]), ("xboard", &[]), ("uci", &[])];
    concurrently(cases, |(protocol, more)| {
        let script = "startup_ms=2600";
        let more = [more, &["--option1", "Level=3", "-n", "2"]].concat();
        let game = Match::new("", "seed=4", &["-j", "1", "--depth", "1"]);
        let mut game = game;
        game.arguments[2] = fake(&format!("{protocol} {script}"));
        game.arguments[4] = fake("uci seed=4");
        game.arguments.retain(|word| word != "--proto1" && word != "--proto2" && word != "uci");
        let played = game.run(&more);
        let shown = text(&played.stdout);
        assert!(shown.contains("Score of"), "{protocol}: {shown}{}", text(&played.stderr));
        game.check_games(2, 0);
        let late = shown.contains("failed to start: its features came after ");
        assert_eq!(late, protocol == "xboard", "{protocol}: {shown}");
    });
}
