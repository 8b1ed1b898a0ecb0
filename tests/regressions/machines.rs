//! Regression tests for lack of memory, threads or file descriptors, and for damaged files.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tabia::book::Book;
use tabia::eval::Network;
use tabia::position::{Game, OutcomeReason, Position};
use tabia::tablebase::Tables;
use tempfile::tempdir;

use crate::support::{self, Engine, TIMEOUT, shared_data};

/// A depth that a one-second search reaches on any machine. A lower depth means that the search
/// failed and a fallback move was played.
const FEW_PLIES: u32 = 5;

/// Makes an xboard engine play two moves of one second each. Returns the depths that the searches
/// reached.
fn depths_of_two_moves(engine: &mut Engine) -> [u32; 2] {
    engine.send("force\nusermove e2e4\nst 1\npost");
    ["go", "force\nusermove a2a3\ngo"].map(|go| {
        engine.send(go);
        let lines = engine.until_start("move ");
        let depth = |line: &String| line.split_whitespace().next()?.parse().ok();
        lines.iter().filter_map(depth).max().unwrap_or(0)
    })
}

#[cfg(target_os = "linux")]
#[test]
fn search_uses_fewer_threads_if_some_cannot_start() {
    for kibibytes in [250_000, 300_000, 600_000] {
        let mut engine = Engine::start_with_limited_memory(kibibytes, &["-x", "--no-book"]);
        engine.send("xboard\nprotover 2\nmemory 8\ncores 256");
        let reported = engine.sync();
        let refusal = "cannot start 256 search threads";
        assert!(
            reported.iter().any(|line| line.starts_with("tellusererror") && line.contains(refusal)),
            "{kibibytes} kB: {reported:#?}"
        );
        let depths = depths_of_two_moves(&mut engine);
        assert!(depths.iter().all(|&depth| depth >= FEW_PLIES), "{kibibytes} kB: {depths:?}");
        assert_eq!(engine.quit(), "", "{kibibytes} kB");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn uci_reports_missing_threads() {
    let mut engine = Engine::start_with_limited_memory(300_000, &["--uci"]);
    engine.send("uci\nsetoption name Threads value 256\nisready");
    let reported = engine.until_start("readyok");
    let is_reported =
        |line: &String| line.starts_with("info string") && line.contains("cannot start 256");
    assert!(reported.iter().any(is_reported), "{reported:#?}");
    for _ in 0..2 {
        engine.send("position startpos\ngo depth 6");
        let lines = engine.until_start("bestmove ");
        assert!(lines.iter().any(|line| line.starts_with("info depth 6 ")), "{lines:#?}");
    }
    engine.quit();
}

#[cfg(target_os = "linux")]
#[test]
fn too_large_hash_table_is_rejected_and_the_old_one_kept() {
    let mut engine =
        Engine::start_with_limited_memory(1_000_000, &["-x", "--no-book", "--memory", "16"]);
    engine.send("xboard\nprotover 2\nmemory 2000");
    let reported = engine.sync();
    let is_refusal = |line: &String| {
        line.starts_with("tellusererror") && line.contains("2000 MB") && line.contains("has 16 MB")
    };
    assert!(reported.iter().any(is_refusal), "{reported:#?}");
    let depths = depths_of_two_moves(&mut engine);
    assert!(depths.iter().all(|&depth| depth >= FEW_PLIES), "{depths:?}");
    engine.send("memory 32");
    assert_eq!(engine.sync(), [""; 0]);
    engine.quit();
}

#[test]
fn truncating_an_open_book_does_not_end_the_engine() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("book.tbk");
    fs::write(&path, Book::embedded().bytes()).expect("a book");
    let mut engine = Engine::start(&["-x", "-b", path.to_str().expect("UTF-8")]);
    engine.send("xboard\nprotover 2\nnew");
    engine.sync();
    let file = OpenOptions::new().write(true).open(&path).expect("the book");
    file.set_len(0).expect("it is cut");
    // The engine still has the book's content from when the file was opened.
    engine.send("usermove e2e4");
    let lines = engine.until_start("move ");
    assert!(lines.iter().any(|line| line.contains("book move")), "{lines:#?}");
    engine.send("bk");
    assert!(engine.sync().len() > 2);
    engine.quit();
}

/// Returns the CPU time that a process has used, in clock ticks (1/100 s).
#[cfg(target_os = "linux")]
fn ticks(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("a running process");
    let (_, fields) = stat.rsplit_once(") ").expect("a name in parentheses");
    let fields: Vec<&str> = fields.split(' ').collect();
    // User and system time are fields 14 and 15 of the file. Their indices are smaller, because the
    // first two fields have been split off.
    fields[11..13].iter().map(|field| field.parse::<u64>().expect("a number")).sum()
}

#[cfg(target_os = "linux")]
#[test]
fn waiting_threads_use_no_cpu_after_pondering() {
    /// The maximum number of clock ticks per second. Before a fix, the waiting threads used 117.
    const FEW_TICKS: u64 = 5;
    let mut engine = Engine::start(&["--uci"]);
    engine.send("uci\nsetoption name Threads value 64\nisready");
    engine.until_start("readyok");
    engine.send("position fen 6k1/5ppp/8/8/8/8/8/R3K2R w - - 0 1\ngo ponder depth 4");
    engine.until_start("info depth 4 ");
    let begin = Instant::now();
    loop {
        let before = ticks(engine.id());
        std::thread::sleep(Duration::from_secs(1));
        let spent = ticks(engine.id()) - before;
        if spent <= FEW_TICKS {
            break;
        }
        // On a busy machine, the threads may take longer to finish their last iteration, so measure
        // again.
        assert!(begin.elapsed() < TIMEOUT, "{spent} hundredths of a second");
    }
    assert!(engine.pending().iter().all(|line| !line.starts_with("bestmove")));
    engine.send("ponderhit");
    assert_eq!(
        engine.until_start("bestmove ").last().map(|line| &line[..13]),
        Some("bestmove a1a8")
    );
    engine.quit();
}

fn make_pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a named pipe");
}

#[cfg(target_os = "linux")]
#[test]
fn named_pipe_in_a_setting_is_rejected_without_blocking() {
    let folder = tempdir().expect("a folder");
    let pipe = folder.path().join("pipe.tbk");
    make_pipe(&pipe);
    let pipe = pipe.to_str().expect("UTF-8");
    // The engine must not block until the pipe has a writer, because it would then not answer.
    let mut engine = Engine::start(&["-x", "--no-book"]);
    engine.send("xboard\nprotover 2");
    for setting in ["NetworkFile", "BookFile", "LogFile"] {
        engine.send(&format!("option {setting}={pipe}"));
        let reported = engine.sync();
        let is_refused = |line: &String| line.contains("pipe.tbk") && line.contains("a pipe");
        assert!(reported.iter().any(is_refused), "{setting}: {reported:#?}");
    }
    engine.send(&format!("option SyzygyPath={pipe}"));
    assert!(engine.sync().iter().any(|line| line.contains("pipe.tbk")));
    assert!(depths_of_two_moves(&mut engine)[1] >= FEW_PLIES);
    engine.quit();
    for arguments in [["--log", pipe], ["-b", pipe], ["--network", pipe]] {
        let mut engine = Engine::start(&[&["-x"], &arguments[..]].concat());
        engine.send("xboard\nprotover 2\nquit");
        engine.wait();
    }
}

#[test]
fn error_names_a_network_path_that_is_a_folder() {
    let folder = tempdir().expect("a folder");
    let reported = Network::open(folder.path()).expect_err("a folder is no network").to_string();
    assert!(reported.contains(folder.path().to_str().expect("UTF-8")), "{reported}");
}

#[test]
fn error_names_a_damaged_endgame_table() {
    // The folder contains no valid tablebase, but the error must name the file that looks like one.
    let folder = tempdir().expect("a folder");
    fs::write(folder.path().join("KQvK.rtbw"), [7; 80]).expect("a file");
    let error = Tables::open(folder.path()).expect_err("damaged");
    assert!(error.reason.starts_with("no Syzygy table is valid"), "{error}");
    assert!(error.reason.contains("KQvK.rtbw"), "{error}");
}

#[test]
fn damaged_endgame_table_does_not_affect_others() {
    let Some(data) = shared_data("syzygy") else { return };
    let folder = tempdir().expect("a folder");
    for name in ["KQvK.rtbw", "KQvK.rtbz", "KRvK.rtbw", "KRvK.rtbz", "KPvK.rtbw", "KPvK.rtbz"] {
        fs::copy(data.join(name), folder.path().join(name)).expect("a table");
    }
    let damage = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let path = folder.path().join(name);
        let mut bytes = fs::read(&path).expect("a table");
        change(&mut bytes);
        fs::write(&path, bytes).expect("a damaged table");
    };
    damage("KRvK.rtbw", &|bytes| bytes.truncate(bytes.len() / 2 + 1));
    damage("KPvK.rtbw", &|bytes| bytes[0] ^= 1);
    make_pipe(&folder.path().join("KBvK.rtbw"));
    let tables = Tables::open(folder.path()).expect("one is whole");
    let reported = tables.take_damage();
    for name in ["KRvK.rtbw", "KPvK.rtbw", "KBvK.rtbw"] {
        assert!(reported.iter().any(|line| line.contains(name)), "{name}: {reported:#?}");
    }
    assert_eq!(reported.len(), 3, "{reported:#?}");
    assert_eq!(tables.take_damage(), [""; 0], "reported once");
    let queen = "8/8/8/8/8/4k3/8/Q3K3 w - - 0 1".parse().expect("a FEN");
    assert!(tables.winner(&queen).flatten().is_some());
    let rook = "8/8/8/8/8/4k3/8/R3K3 w - - 0 1".parse().expect("a FEN");
    assert!(tables.winner(&rook).is_none());
    let mut engine = Engine::start(&["-x", "--egtpath", folder.path().to_str().expect("UTF-8")]);
    engine.send("xboard\nprotover 2");
    let reported = engine.sync();
    let is_reported =
        |line: &String| line.starts_with("tellusererror") && line.contains("KRvK.rtbw");
    assert!(reported.iter().any(is_reported), "{reported:#?}");
    engine.quit();
}

#[test]
fn damage_within_an_endgame_table_is_reported_on_access() {
    let Some(data) = shared_data("syzygy") else { return };
    let folder = tempdir().expect("a folder");
    let bytes = fs::read(data.join("KRvK.rtbw")).expect("a table");
    // Create a table whose length is valid, but whose content is truncated.
    let mut cut = bytes[..16].to_vec();
    cut.resize(80, 0xff);
    fs::write(folder.path().join("KRvK.rtbw"), cut).expect("a damaged table");
    let tables = Tables::open(folder.path()).expect("a valid header");
    assert_eq!(tables.take_damage(), [""; 0]);
    let rook = "8/8/8/8/8/4k3/8/R3K3 w - - 0 1".parse().expect("a FEN");
    assert!(tables.winner(&rook).is_none());
    let reported = tables.take_damage();
    assert!(reported.len() == 1 && reported[0].contains("KRvK.rtbw"), "{reported:#?}");
}

/// Two move orders that lead to the same position. The second one ends with d7-d5, but White cannot
/// capture en passant, because the pawn on e5 is pinned.
const BY_STEPS: &str = "e4 e5 f4 exf4 e5 Qe7 Nf3 d6 Nc3 d5 a3 h5";
const BY_DOUBLE_STEP: &str = "e4 e5 f4 exf4 e5 Qe7 Nf3 h6 Nc3 h5 a3 d5";

fn play(moves: &str) -> Game {
    let mut game = Game::default();
    for text in moves.split(' ') {
        let mv = game.position().parse_move(text).expect(text);
        game.play(mv).expect(text);
    }
    game
}

#[test]
fn unusable_en_passant_square_does_not_change_the_position() {
    let (one, other) = (play(BY_STEPS), play(BY_DOUBLE_STEP));
    let (one, other) = (one.position(), other.position());
    assert_eq!((one.key(), one.fen()), (other.key(), other.fen()));
    assert_eq!(one, other);
    // Polyglot distinguishes them.
    assert_eq!(one.polyglot_key(), one.key());
    assert_ne!(other.polyglot_key(), other.key());
    // Pins prevent the en passant capture: along a rank, along files, and along a diagonal.
    for fen in [
        "8/8/8/K1Pp3r/8/8/8/4k3 w - d6 0 1",
        "4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
        "3k4/8/8/8/3pP3/8/8/3RK3 b - e3 0 1",
        "7b/8/8/3pP3/8/8/1K4k1/8 w - d6 0 1",
    ] {
        let position: Position = fen.parse().expect(fen);
        let mut fields: Vec<&str> = fen.split(' ').collect();
        let usable = position.legal_moves().iter().any(|mv| position.is_en_passant(mv));
        assert_eq!(position.en_passant_target().is_some(), usable, "{fen}");
        fields[3] = "-";
        let without: Position = fields.join(" ").parse().expect(fen);
        assert_eq!(position.key() == without.key(), !usable, "{fen}");
        assert_ne!(position.polyglot_key(), without.key(), "{fen}");
    }
}

#[test]
fn position_with_pinned_en_passant_repeats_and_is_in_the_book() {
    let mut game = play(BY_DOUBLE_STEP);
    for text in "f3g1 g8f6 g1f3 f6g8 f3g1 g8f6 g1f3 f6g8".split(' ') {
        assert!(game.outcome().is_none());
        game.play(text.parse().expect(text)).expect(text);
    }
    assert_eq!(game.outcome().map(|end| end.reason), Some(OutcomeReason::Repetition));

    let folder = tempdir().expect("a folder");
    let path = folder.path().join("games.pgn");
    fs::write(&path, format!("[Result \"1-0\"]\n\n{BY_STEPS} Qe2 1-0\n")).expect("a game");
    let book = Book::open(&path).expect("a game");
    let position = *play(BY_DOUBLE_STEP).position();
    assert_eq!(book.reached(&position).map(|counts| counts.games()), Some(1));
    assert_eq!(book.moves(&position).len(), 1);
}

fn tabia(arguments: &[&str], folder: &Path) {
    let output = support::tabia(arguments, folder);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

#[test]
fn polyglot_books_are_read_by_both_en_passant_rules() {
    let folder = tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("games.pgn"), format!("[Result \"1-0\"]\n\n{BY_DOUBLE_STEP} Qe2 1-0\n"))
        .expect("a game");
    tabia(&["book", "build", "games.pgn", "-o", "games.tbk"], folder.path());
    tabia(&["book", "export", "games.tbk", "-o", "games.bin"], folder.path());
    let position = *play(BY_DOUBLE_STEP).position();
    let [theirs, ours] = [position.polyglot_key(), position.key()].map(u64::to_be_bytes);
    let mut rows = fs::read(path("games.bin")).expect("a Polyglot book");
    let is_row = |row: &&[u8]| row.starts_with(&theirs);
    assert_eq!(rows.chunks(16).filter(is_row).count(), 1, "another program finds the position");
    assert!(!rows.chunks(16).any(|row| row.starts_with(&ours)));

    let contains_position = |name: &str| {
        let book = Book::open(&path(name)).expect("a Polyglot book");
        let moves = book.moves(&position);
        moves.len() == 1 && position.san(moves[0].mv) == "Qe2"
    };
    assert!(contains_position("games.bin"));
    let (row, _) = rows.as_chunks_mut::<16>();
    row.iter_mut()
        .filter(|row| row.starts_with(&theirs))
        .for_each(|row| row[..8].copy_from_slice(&ours));
    row.sort_unstable();
    fs::write(path("other.bin"), &rows).expect("a book by the other en passant rule");
    assert!(contains_position("other.bin"));
}

/// Returns a command that runs Tabia as an ordinary user with at most `limit` threads. Each command
/// has its own user, because the limit is per user and does not apply to root.
#[cfg(target_os = "linux")]
fn with_few_threads(limit: u32, folder: &Path) -> Command {
    static USERS: AtomicU32 = AtomicU32::new(0);
    let user = 61_000 + USERS.fetch_add(1, Ordering::Relaxed);
    let mut command = match rustix::process::getuid().is_root() {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", &user.to_string(), "--clear-groups"]);
            command
        }
        false => {
            let mut command = Command::new("unshare");
            command.arg("--user");
            command
        }
    };
    command.args(["prlimit", &format!("--nproc={limit}")]);
    command.arg(folder.join("tabia")).current_dir(folder);
    command
}

/// Creates a folder that any user can access, with a copy of the program and some games.
#[cfg(target_os = "linux")]
fn world_readable_folder() -> tempfile::TempDir {
    let folder = tempdir().expect("a folder");
    let open = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions set");
    };
    let program = folder.path().join("tabia");
    fs::copy(support::PROGRAM, &program).expect("copied");
    open(&program, 0o755);
    let games = folder.path().join("games.pgn");
    fs::write(&games, "[Event \"a\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n1. d4 d5 2. c4 e6 0-1\n")
        .expect("written");
    open(&games, 0o644);
    open(folder.path(), 0o777);
    folder
}

#[cfg(target_os = "linux")]
#[test]
fn commands_use_available_threads_or_report_that_none_start() {
    let commands = [
        "annotate games.pgn --nodes 100 --threads 4",
        "book build games.pgn -o NAME.tbk --undecided --threads 4",
        "book analyse games.pgn -o NAME.tbk --nodes 100 --threads 4",
        "autoplay -1 './tabia -x --no-book' -2 './tabia -x --no-book' --nodes 20 -n 2 -j 2 --max-moves 5",
        #[cfg(feature = "train")]
        "train games -o NAME.games --games 4 --nodes 20 --threads 4",
        "bench --depth 2",
    ];
    let folder = world_readable_folder();
    for (number, command) in commands.iter().enumerate() {
        for limit in 1..=7 {
            let words = command.replace("NAME", &format!("made-{number}-{limit}"));
            let words = shlex::split(&words).expect("closed quotes");
            let output = Command::new("timeout")
                .args(["--signal=KILL", &TIMEOUT.as_secs().to_string()])
                .arg("env")
                .args(arguments_of(with_few_threads(limit, folder.path()).args(words)))
                .current_dir(folder.path())
                .output()
                .expect("started");
            let printed = String::from_utf8_lossy(&output.stderr);
            let what = format!("{command}, {limit} threads: {:?}\n{printed}", output.status);
            assert!(!printed.contains("panicked"), "{what}");
            let explains = ["thread", "cannot start", "Resource temporarily unavailable"];
            let explained = explains.iter().any(|text| printed.contains(text));
            // Statuses 3 and 4 are no failures, because the match runner uses them to report the
            // winner.
            let done = matches!(output.status.code(), Some(0 | 3 | 4));
            assert!(done || (output.status.code() == Some(1) && explained), "{what}");
        }
    }
}

#[cfg(target_os = "linux")]
fn arguments_of(command: &Command) -> Vec<std::ffi::OsString> {
    let arguments = command.get_args().map(std::ffi::OsStr::to_owned);
    std::iter::once(command.get_program().to_owned()).chain(arguments).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn server_with_few_threads_answers_or_fails_to_start() {
    let folder = world_readable_folder();
    let mut answered = 0;
    for limit in 1..=9 {
        let mut child = with_few_threads(limit, folder.path())
            .args(["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        out.read_line(&mut line).expect("text");
        if let Some(address) = line.trim().strip_prefix("http://") {
            let address = address.trim_end_matches('/');
            let mut stream = TcpStream::connect(address).expect("it reads");
            stream.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("sent");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).expect("an answer");
            assert!(answer.starts_with("HTTP/1.0 200"), "{limit} threads: {answer}");
            answered += 1;
            let id = rustix::process::Pid::from_child(&child);
            rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("signalled");
            assert!(child.wait().expect("ended").success(), "{limit} threads");
        } else {
            let output = child.wait_with_output().expect("ended");
            let printed = String::from_utf8_lossy(&output.stderr);
            assert!(
                printed.contains("thread") || printed.contains("Resource"),
                "{limit}: {printed}"
            );
            assert!(
                !output.status.success() && !printed.contains("panicked"),
                "{limit}: {printed}"
            );
        }
    }
    assert!(answered > 0, "nine threads are enough");
}

/// The number of bytes in a nearly full pipe. A pipe holds 65,536 bytes, so another line may not
/// fit.
const NEARLY_FULL: u64 = 60_000;

/// An engine whose output nobody reads blocks, but SIGTERM still ends it.
#[cfg(unix)]
#[test]
fn sigterm_ends_an_engine_with_blocked_output() {
    for (arguments, line) in
        [(&["-x", "--no-book"][..], "nonsense\n"), (&["--uci"], "nonsense\nuci\n")]
    {
        let mut child = Command::new(support::PROGRAM)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut input = child.stdin.take().expect("piped");
        // The engine's output exceeds the capacity of all pipes and queues. The engine therefore
        // stops reading input, and this thread ends only when the engine does.
        let writer =
            std::thread::spawn(
                move || {
                    while input.write_all(line.repeat(100).as_bytes()).is_ok() {}
                },
            );
        let output = child.stdout.take().expect("piped");
        while rustix::io::ioctl_fionread(&output).expect("a pipe") < NEARLY_FULL {
            std::thread::sleep(Duration::from_millis(5));
        }
        let id = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("signalled");
        child.wait().expect("ended");
        writer.join().expect("the input is closed");
    }
}
