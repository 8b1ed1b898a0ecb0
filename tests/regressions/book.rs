//! Regression tests for books: files, memory use, and the choice of moves.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use tabia::book::{Book, Candidate, Chooser, Policy};
use tabia::position::{Game, Move, Position};
use tempfile::TempDir;

use crate::support::{self, PROGRAM, shared_data};

fn folder_with_games() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    fs::write(folder.path().join("g.pgn"), game("1. e4 e5 2. Nf3 Nc6", "1-0")).expect("writable");
    fs::write(folder.path().join("h.pgn"), game("1. e4 e5 2. Nf3 Nf6", "0-1")).expect("writable");
    folder
}

fn game(moves: &str, result: &str) -> String {
    format!(
        "[Event \"E\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"{result}\"]\n\n{moves} {result}\n\n"
    )
}

fn tabia(arguments: &str, folder: &Path) -> Output {
    let words = shlex::split(arguments).expect("closed quotes");
    support::tabia(&words.iter().map(String::as_str).collect::<Vec<_>>(), folder)
}

/// Runs a command that must succeed. Returns its standard output, followed by its standard error.
fn run_ok(arguments: &str, folder: &Path) -> String {
    let output = tabia(arguments, folder);
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
    assert!(output.status.success(), "{arguments}: {printed}");
    printed
}

fn refusal(arguments: &str, folder: &Path) -> String {
    let output = tabia(arguments, folder);
    let printed = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!output.status.success(), "{arguments}: {printed}");
    assert_eq!(printed.lines().count(), 1, "{arguments}: {printed}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{arguments}");
    printed
}

fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry"));
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

fn is_book(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"TABIABK\n"))
}

#[test]
fn output_that_is_also_an_input_is_rejected() {
    let folder = folder_with_games();
    let path = |name: &str| folder.path().join(name);
    run_ok("book build -q g.pgn -o g.tbk", folder.path());
    run_ok("book build -q h.pgn -o h.tbk", folder.path());
    run_ok("book export g.tbk -o g.bin", folder.path());
    symlink("g.pgn", path("link.pgn")).expect("writable");
    fs::hard_link(path("g.pgn"), path("twin.pgn")).expect("writable");
    fs::write(path("faults.txt"), "").expect("writable");
    let all = |names: &[&str]| -> Vec<Vec<u8>> {
        names.iter().map(|name| fs::read(path(name)).expect(name)).collect()
    };
    let files = ["g.pgn", "h.pgn", "g.tbk", "h.tbk", "g.bin"];
    let before = all(&files);
    for command in [
        "book build g.pgn -o g.pgn",
        "book build g.pgn h.pgn -o ./h.pgn",
        "book build g.pgn -o link.pgn",
        "book build link.pgn -o g.pgn",
        "book build g.pgn -o twin.pgn",
        "book build . -o h.pgn",
        "book build g.pgn -o new.tbk --errors g.pgn",
        "book build g.pgn -o g.tbk --errors g.tbk",
        "book merge g.tbk h.tbk -o h.tbk",
        "book merge g.tbk:2 h.tbk -o g.tbk",
        "book filter g.tbk -o g.tbk",
        "book analyse g.tbk --nodes 100 --known h.tbk -o h.tbk",
        "book import g.bin -o g.bin",
        "book export g.tbk -o g.tbk",
        "bench transpositions --book g.tbk --games h.pgn --reach 9 --save h.pgn",
        "bench threads --positions g.pgn -t 1 --svg g.pgn",
    ] {
        for command in [command.to_owned(), format!("{command} --force")] {
            let printed = refusal(&command, folder.path());
            let reason = ["is also an input", "comes back within"];
            assert!(reason.iter().any(|reason| printed.contains(reason)), "{command}: {printed}");
            assert!(all(&files) == before, "{command}");
        }
    }
    let standard_input = Command::new(PROGRAM)
        .args(["book", "build", "-", "-o", "g.pgn", "--force"])
        .current_dir(folder.path())
        .stdin(fs::File::open(path("g.pgn")).expect("there"))
        .output()
        .expect("tabia can be started");
    assert!(!standard_input.status.success());
    assert!(all(&files) == before);
}

#[test]
fn file_of_another_kind_is_replaced_only_with_force() {
    let folder = folder_with_games();
    let path = |name: &str| folder.path().join(name);
    run_ok("book build -q g.pgn -o g.tbk", folder.path());
    for (command, what) in [
        ("book build -q g.pgn -o notes", "a Tabia book"),
        ("book merge g.tbk g.tbk -o notes", "a Tabia book"),
        ("book filter g.tbk -o notes", "a Tabia book"),
        ("book export g.tbk -o notes", "a Polyglot book"),
        ("book build -q g.pgn -o new.tbk --errors notes", "a list of faults"),
        ("lesson tree --svg notes --algorithm pvs classic", "an SVG drawing"),
        ("lesson tree --html notes classic", "an HTML page"),
        ("bench threads -t 1 -n 1 --depth 4 --memory 1 --svg notes", "an SVG drawing"),
    ] {
        fs::write(path("notes"), "to be kept\n").expect("writable");
        let printed = refusal(command, folder.path());
        assert!(printed.contains(what) && printed.contains("--force"), "{command}: {printed}");
        assert_eq!(fs::read_to_string(path("notes")).expect("there"), "to be kept\n", "{command}");
        assert!(!path("new.tbk").exists(), "{command}");
        run_ok(&format!("{command} --force"), folder.path());
        assert_ne!(fs::read(path("notes")).expect("there"), b"to be kept\n", "{command}");
        // Without `--force`, a command may replace only its own earlier output and empty files.
        run_ok(command, folder.path());
        fs::write(path("notes"), "").expect("writable");
        run_ok(command, folder.path());
        let _ = fs::remove_file(path("new.tbk"));
    }
}

#[test]
fn symbolic_links_are_followed_and_kept() {
    let folder = folder_with_games();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("books")).expect("writable");
    run_ok("book build -q h.pgn -o books/real.tbk", folder.path());
    fs::set_permissions(path("books/real.tbk"), fs::Permissions::from_mode(0o600)).expect("ours");
    let old = fs::read(path("books/real.tbk")).expect("there");
    symlink("books/real.tbk", path("link.tbk")).expect("writable");
    symlink("link.tbk", path("second.tbk")).expect("writable");
    symlink("books/new.tbk", path("dangling.tbk")).expect("writable");
    for (link, real) in [("second.tbk", "books/real.tbk"), ("dangling.tbk", "books/new.tbk")] {
        run_ok(&format!("book build -q g.pgn -o {link}"), folder.path());
        assert!(path(link).symlink_metadata().expect("there").is_symlink(), "{link}");
        assert!(is_book(&path(real)) && fs::read(path(real)).expect("there") != old, "{real}");
    }
    let mode = path("books/real.tbk").metadata().expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "permissions are kept");
    assert_eq!(names(&path("books")), ["new.tbk", "real.tbk"]);
}

#[test]
fn devices_and_pipes_are_not_replaced() {
    let folder = folder_with_games();
    let path = |name: &str| folder.path().join(name);
    let made = |program: &str, arguments: &[&str]| {
        let made = Command::new(program).args(arguments).current_dir(folder.path()).status();
        made.is_ok_and(|status| status.success())
    };
    // Only root can create a device, so otherwise use a symbolic link to one.
    if !made("mknod", &["null", "c", "1", "3"]) {
        symlink("/dev/null", path("null")).expect("writable");
    }
    assert!(made("mkfifo", &["pipe"]), "mkfifo");
    let null = path("null").metadata().expect("there");
    for output in ["null", "pipe", "/dev/null"] {
        let printed = refusal(&format!("book build g.pgn -o {output}"), folder.path());
        assert!(printed.contains("a device or a pipe"), "{printed}");
    }
    run_ok("lesson tree --svg null --algorithm pvs classic", folder.path());
    run_ok("book build -q g.pgn -o g.tbk --errors null", folder.path());
    let after = path("null").metadata().expect("there");
    assert!(after.file_type().is_char_device());
    assert_eq!((after.dev(), after.ino()), (null.dev(), null.ino()));
    // Output to a pipe reaches the reader at its other end.
    let mut child = Command::new(PROGRAM)
        .args(["lesson", "tree", "--svg", "pipe", "--algorithm", "pvs", "classic"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("tabia can be started");
    let mut text = String::new();
    fs::File::open(path("pipe")).expect("a pipe").read_to_string(&mut text).expect("UTF-8");
    assert!(child.wait().expect("it ends").success());
    assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{text}");
    assert!(path("pipe").symlink_metadata().expect("there").file_type().is_fifo());
}

fn trace(arguments: &str, folder: &Path) -> Option<Vec<String>> {
    let traced = Command::new("strace")
        .args([
            "-f",
            "-o",
            "calls",
            "-e",
            "trace=fsync,fdatasync,rename,renameat,renameat2,link,linkat",
        ])
        .arg(PROGRAM)
        .args(arguments.split(' '))
        .current_dir(folder)
        .stdout(Stdio::null())
        .status();
    if !traced.is_ok_and(|status| status.success()) {
        support::skip_without("strace");
        return None;
    }
    let calls = fs::read_to_string(folder.join("calls")).expect("written");
    let name = |line: &str| Some(line.split_once(' ')?.1.trim().split_once('(')?.0.to_owned());
    Some(calls.lines().filter_map(name).collect())
}

#[test]
fn file_is_synced_before_it_is_renamed() {
    let folder = folder_with_games();
    for command in ["book build -q g.pgn -o g.tbk", "lesson tree --html page.html classic"] {
        let Some(calls) = trace(command, folder.path()) else { return };
        // The final name is given to a new file by linking, and to a file that replaces another one
        // by renaming.
        let is_named = |call: &String| call.starts_with("rename") || call.starts_with("link");
        let renamed = calls.iter().position(is_named).expect("named");
        let is_sync = |call: &String| call == "fsync" || call == "fdatasync";
        assert!(calls[..renamed].iter().any(is_sync), "{command}: {calls:?}");
        assert!(calls[renamed..].iter().any(is_sync), "{command}: {calls:?}");
    }
}

#[test]
fn symbolic_link_at_the_draft_name_is_not_followed() {
    let folder = folder_with_games();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("victim"), "precious").expect("writable");
    symlink("victim", path("v.tbk.part")).expect("writable");
    run_ok("book build -q g.pgn -o v.tbk", folder.path());
    assert_eq!(fs::read_to_string(path("victim")).expect("there"), "precious");
    assert!(path("v.tbk").symlink_metadata().expect("there").is_file());
    assert!(is_book(&path("v.tbk")));
    assert_eq!(names(folder.path()), ["g.pgn", "h.pgn", "v.tbk", "v.tbk.part", "victim"]);
    assert!(Book::open(&path("v.tbk")).expect("a book").verify().is_ok());
}

/// Builds a book from standard input. Returns the peak resident memory in kB, and the output.
fn peak_of_build(text: &[u8], arguments: &str, folder: &Path) -> (u64, String) {
    let mut child = Command::new(PROGRAM)
        .args(["book", "build", "-"])
        .args(arguments.split(' '))
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("tabia can be started");
    let status = format!("/proc/{}/status", child.id());
    let mut input = child.stdin.take().expect("piped");
    let mut peak = 0;
    std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(text).expect("tabia reads"));
        while child.try_wait().expect("a child").is_none() {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let resident = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kilobytes = resident.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse().ok());
            peak = peak.max(kilobytes.unwrap_or(0));
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let output = child.wait_with_output().expect("it has ended");
    assert!(output.status.success());
    (peak, String::from_utf8(output.stdout).expect("UTF-8"))
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_broken_games() {
    let folder = folder_with_games();
    let broken = "[Event \"E\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nh8 1-0\n\n";
    let arguments = "-o out.tbk --memory 64M --threads 2";
    let (few, _) = peak_of_build(broken.repeat(2_000).as_bytes(), arguments, folder.path());
    let (many, printed) =
        peak_of_build(broken.repeat(250_000).as_bytes(), arguments, folder.path());
    assert!(printed.contains("250,000 broken"), "{printed}");
    // If the program stored 100 bytes for each broken game, this would add up to 25 MB.
    assert!(many < few + 15_000, "{few} kB, and {many} kB for many broken games");
    assert!(many < 64 << 10, "{many} kB");
}

#[test]
fn faults_are_listed_in_input_order() {
    let folder = folder_with_games();
    let path = |name: &str| folder.path().join(name);
    let pair = game("1. e4 e5", "1-0") + &game("1. e4 Nh8", "1-0");
    for name in ["dirty.pgn", "again.pgn"] {
        fs::write(path(name), pair.repeat(12_000)).expect("writable");
    }
    let printed = run_ok(
        "book build dirty.pgn g.pgn again.pgn -o d.tbk --errors faults.txt --threads 3",
        folder.path(),
    );
    assert!(printed.contains("24,000 broken"), "{printed}");
    let faults = fs::read_to_string(path("faults.txt")).expect("written");
    let found: Vec<String> = faults
        .lines()
        .map(|line| line.split(", line").next().expect("a place").to_owned())
        .collect();
    let wanted: Vec<String> = ["dirty.pgn", "again.pgn"]
        .iter()
        .flat_map(|name| (1..=12_000).map(move |n| format!("{name}: game {}", 2 * n)))
        .collect();
    assert_eq!(found.len(), wanted.len());
    assert!(found == wanted);
    let printed = run_ok("book build dirty.pgn -o d.tbk", folder.path());
    assert_eq!(printed.lines().filter(|line| line.starts_with("dirty.pgn: game")).count(), 10);
    assert!(printed.contains("11,990 more games with faults"), "{printed}");
}

fn after(moves: &str) -> Position {
    moves.split_ascii_whitespace().fold(Position::start(), |position, san| {
        position.play(position.parse_move(san).expect(san))
    })
}

fn row(moves: &str, mv: &str, weight: u16) -> [u8; 16] {
    let mv: Move = mv.parse().expect(mv);
    let number = u128::from(after(moves).key()) << 64
        | u128::from(mv.to_polyglot()) << 48
        | u128::from(weight) << 32;
    number.to_be_bytes()
}

/// Returns the rows of a Polyglot book. The weights are chosen so that they cannot result from
/// counting games.
fn weights() -> Vec<[u8; 16]> {
    let mut rows = vec![
        row("", "e2e4", 50),
        row("", "d2d4", 34),
        row("", "g1f3", 10),
        row("", "c2c4", 6),
        row("", "a2a3", 0),
        row("e4", "e7e5", 3),
        row("d4", "d7d5", 60_000),
        row("Nf3", "d7d5", 60_000),
        row("a3", "d7d5", 60_000),
        // The book reaches the position after 1.d4 d5 2.Nf3 only by transposition, via 1.Nf3 d5
        // 2.d4.
        row("d4 d5", "c2c4", 7),
        row("Nf3 d5", "d2d4", 9),
        row("Nf3 d5 d4", "g8f6", 999),
    ];
    rows.sort_unstable();
    rows
}

/// Returns the moves that may be played, with their probabilities in percent.
fn chances(book: &Book, moves: &str) -> Vec<(String, f64)> {
    let game = Game::new(after(moves));
    let candidates = Chooser::new(Policy::default(), 1).candidates(book, &game);
    let played = candidates.iter().filter(|candidate| candidate.chance > 0.0);
    let chance = |at: &Candidate| (game.position().san(at.book_move.mv), 100.0 * at.chance);
    played.map(chance).collect()
}

#[test]
fn polyglot_moves_are_chosen_by_weight() {
    let folder = folder_with_games();
    fs::write(folder.path().join("w.bin"), weights().concat()).expect("writable");
    run_ok("book import w.bin -o w.tbk", folder.path());
    for name in ["w.bin", "w.tbk"] {
        let book = Book::open(&folder.path().join(name)).expect(name);
        let wanted = [("e4", 50.0), ("d4", 34.0), ("Nf3", 10.0), ("c4", 6.0)];
        for ((san, chance), (wanted_san, wanted)) in chances(&book, "").iter().zip(wanted) {
            assert_eq!(san, wanted_san, "{name}");
            assert!((chance - wanted).abs() < 1e-9, "{name}: {san} {chance}");
        }
        assert_eq!(chances(&book, "").len(), 4, "{name}: weight 0 is never played");
        assert_eq!(chances(&book, "d4 d5"), [("c4".to_owned(), 100.0)], "{name}");
        let why = run_ok(&format!("book why {name}"), folder.path());
        let row: Vec<&str> = why.lines().nth(3).expect("moves").split_whitespace().collect();
        assert_eq!(row, ["e4", "50", "50.0%", "50.0%"], "{why}");
    }
    // Moves are chosen with these chances.
    let book = Book::open(&folder.path().join("w.bin")).expect("a book");
    let e4: Move = "e2e4".parse().expect("a move");
    let mut chooser = Chooser::new(Policy::default(), 1);
    let choices = (0..4000).filter_map(|_| chooser.choose(&book, &Game::default()));
    let often = choices.filter(|choice| choice.mv == e4).count();
    assert!((1850..2150).contains(&often), "{often} of 4000");
}

#[test]
fn real_polyglot_moves_are_chosen_by_weight() {
    let Some(books) = shared_data("books") else { return };
    for name in ["gm2001.bin", "gm2600.bin", "performance.bin"] {
        let bytes = fs::read(books.join(name)).expect(name);
        let book = Book::open(&books.join(name)).expect(name);
        for line in ["", "e4", "e4 e5 Nf3", "d4 Nf6", "c4"] {
            let key = after(line).key().to_be_bytes();
            let (rows, _) = bytes.as_chunks::<16>();
            let mut weights: Vec<u16> = rows
                .iter()
                .filter(|row| row.starts_with(&key))
                .map(|row| u16::from_be_bytes([row[10], row[11]]))
                .filter(|&weight| weight > 0)
                .collect();
            weights.sort_unstable_by_key(|&weight| std::cmp::Reverse(weight));
            let sum: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
            let found = chances(&book, line);
            assert_eq!(found.len(), weights.len(), "{name}: {line}");
            for ((san, chance), weight) in found.iter().zip(weights) {
                let wanted = 100.0 * f64::from(weight) / sum;
                assert!((chance - wanted).abs() < 1e-6, "{name}: {line} {san} {chance} {wanted}");
            }
        }
    }
}

#[test]
fn unsorted_polyglot_book_is_read_with_a_warning() {
    let folder = folder_with_games();
    let sorted = weights();
    let mut odd: Vec<u8> = sorted.iter().rev().copied().collect::<Vec<_>>().concat();
    odd.extend_from_slice(b"end");
    odd.splice(0..0, row("", "e7e5", 4));
    fs::write(folder.path().join("odd.bin"), odd).expect("writable");
    fs::write(folder.path().join("w.bin"), sorted.concat()).expect("writable");
    let printed = run_ok("book import odd.bin -o odd.tbk", folder.path());
    for remark in ["not sorted", "last 3 bytes", "1 move that is illegal"] {
        assert!(printed.contains(remark), "{printed}");
    }
    run_ok("book import w.bin -o w.tbk", folder.path());
    run_ok("book diff w.tbk odd.tbk", folder.path());
}

#[test]
fn export_reports_omitted_moves_and_positions() {
    let folder = folder_with_games();
    let path = |name: &str| folder.path().join(name);
    let lost = game("1. f3 e5 2. g4 Qh4#", "0-1");
    let away = "[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n\n";
    fs::write(path("odd.pgn"), lost + away).expect("writable");
    run_ok("book build -q odd.pgn -o odd.tbk", folder.path());
    let printed = run_ok("book export odd.tbk -o odd.bin", folder.path());
    assert!(printed.contains("2 moves left out: the side that played them lost"), "{printed}");
    assert!(
        printed.contains("2 positions left out: no moves of the book lead to them"),
        "{printed}"
    );
    // With 50,000 copies of each game, a weight exceeds sixteen bits, because a win counts as two.
    run_ok("book merge odd.tbk:50000 g.pgn -o heavy.tbk", folder.path());
    let printed = run_ok("book export heavy.tbk -o heavy.bin", folder.path());
    assert!(printed.contains("2 positions with weights scaled down"), "{printed}");
    // Importing and exporting a Polyglot book does not change it, even if it has moves of weight 0
    // and unreachable positions.
    let mut rows = weights();
    rows.push(row("h4 h5 g4 g5", "e2e4", 5));
    rows.sort_unstable_by_key(|row| {
        (row[..8].to_vec(), std::cmp::Reverse(row[10..12].to_vec()), row[8..10].to_vec())
    });
    fs::write(path("w.bin"), rows.concat()).expect("writable");
    run_ok("book import w.bin -o w.tbk", folder.path());
    let printed = run_ok("book export w.tbk -o again.bin", folder.path());
    assert!(!printed.contains("left out"), "{printed}");
    assert!(fs::read(path("again.bin")).expect("there") == rows.concat());
}

/// Returns the tables of a book: everything except the header and the manifest, which records how
/// the book was built.
fn tables(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).expect("a book");
    let manifest = bytes.windows(11).rposition(|window| window == b"{\"made_by\":");
    bytes[256..manifest.expect("a manifest")].to_vec()
}

#[test]
fn merged_book_is_as_large_as_its_positions_need() {
    let folder = folder_with_games();
    let path = |name: &str| folder.path().join(name);
    run_ok("book build -q g.pgn -o g.tbk", folder.path());
    run_ok("book build -q h.pgn -o h.tbk", folder.path());
    run_ok("book build -q g.pgn h.pgn -o both.tbk", folder.path());
    run_ok("book merge h.tbk g.tbk -o merged.tbk", folder.path());
    assert!(tables(&path("merged.tbk")) == tables(&path("both.tbk")));
    run_ok("book filter both.tbk --min-games 2 -o cut.tbk", folder.path());
    run_ok("book build -q g.pgn h.pgn --min-games 2 -o pruned.tbk", folder.path());
    let (cut, both) = (tables(&path("cut.tbk")).len(), tables(&path("both.tbk")).len());
    assert!(cut < both, "{cut} bytes of {both}");
    // Merge a book with positions that cannot be reached from the start position. The
    // pawn-structure filter must cover them too.
    let away = "[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n\n";
    fs::write(path("away.pgn"), away).expect("writable");
    run_ok("book build -q away.pgn -o away.tbk", folder.path());
    run_ok("book merge both.tbk away.tbk -o wide.tbk", folder.path());
    let wide = Book::open(&path("wide.tbk")).expect("a book");
    assert!(wide.bytes().len() < 2048, "{} bytes", wide.bytes().len());
    let end = Position::from_fen("4k3/8/8/8/4P3/8/8/4K3 b - - 0 1").expect("legal");
    for position in [after(""), after("e4 e5 Nf3 Nf6"), after("e4 e5 Nf3 Nc6"), end] {
        assert!(wide.reached(&position).is_some(), "{}", position.fen());
    }
}

#[test]
fn real_merged_books_equal_a_book_of_all_games() {
    let Some(games) = shared_data("pgn/mid_otb") else { return };
    let folder = folder_with_games();
    let path = |name: &str| folder.path().join(name);
    let mut files: Vec<String> = games
        .read_dir()
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path().display().to_string())
        .collect();
    files.sort();
    let (some, others) = files.split_at(files.len() / 2);
    for (files, book) in [(some, "a.tbk"), (others, "b.tbk"), (&files[..], "both.tbk")] {
        run_ok(&format!("book build -q {} -o {book}", files.join(" ")), folder.path());
    }
    run_ok("book merge a.tbk b.tbk -o merged.tbk", folder.path());
    assert!(tables(&path("merged.tbk")) == tables(&path("both.tbk")));
    // Measure the CPU time of the child processes rather than the elapsed time, so that other load
    // on the machine does not matter.
    let seconds = |command: &str| -> f64 {
        let script = format!("{PROGRAM} book {command} > output; times");
        let shell = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output();
        let printed = String::from_utf8(shell.expect("a shell").stdout).expect("UTF-8");
        let children = printed.lines().last().expect("two lines").split(['m', 's', ' ']);
        let numbers: Vec<f64> = children.filter_map(|word| word.parse().ok()).collect();
        assert_eq!(numbers.len(), 4, "{printed}");
        60.0 * (numbers[0] + numbers[2]) + numbers[1] + numbers[3]
    };
    let build = seconds(&format!("build -q --threads 1 {} -o again.tbk", files.join(" ")));
    let work = [("diff merged.tbk both.tbk", 2.0), ("export both.tbk -o both.bin", 4.0)];
    for (command, limit) in work {
        let spent = seconds(command);
        assert!(spent < limit * build, "{command}: {spent} s, and {build} s to build it");
    }
}

#[test]
fn games_of_merged_and_filtered_books_are_found() {
    let folder = folder_with_games();
    run_ok("book build -q g.pgn -o g.tbk", folder.path());
    run_ok("book build -q h.pgn -o h.tbk", folder.path());
    run_ok("book merge g.tbk h.tbk:0.5 g.tbk -o merged.tbk", folder.path());
    run_ok("book filter merged.tbk --side white -o cut.tbk", folder.path());
    for book in ["merged.tbk", "cut.tbk"] {
        let printed = run_ok(&format!("book find {book} --moves 'e4 e5'"), folder.path());
        assert!(printed.contains("2 games reach"), "{book}: {printed}");
        assert!(
            printed.contains("g.pgn: game 1") && printed.contains("h.pgn: game 1"),
            "{book}: {printed}"
        );
    }
    let info = run_ok("book info cut.tbk", folder.path());
    assert!(info.contains("filter      side white"), "{info}");
    fs::write(folder.path().join("w.bin"), weights().concat()).expect("writable");
    run_ok("book import w.bin -o w.tbk", folder.path());
    let printed = refusal("book find w.tbk --moves e4", folder.path());
    assert!(printed.contains("not made of games"), "{printed}");
}
