//! Tests of book analysis, including interrupted and killed runs, which must keep their results.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use tabia::book::{Book, BookValue};
use tabia::position::{Color, Position};

use crate::support::{self, PROGRAM};

/// Games that transpose into each other, a game that ends in checkmate, and one that repeats a
/// position.
const GAMES: &str = "\
1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 1-0\n\n\
1. e4 Nc6 2. Nf3 e5 3. Bc4 Nf6 1/2-1/2\n\n\
1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n\n\
1. Nf3 Nf6 2. Ng1 Ng8 3. e4 e5 1/2-1/2\n\n\
1. d4 d5 2. c4 dxc4 3. e4 0-1\n\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("games.pgn"), GAMES).expect("written");
    run("build -q games.pgn -o games.tbk", folder.path());
    folder
}

fn printed(arguments: &str, folder: &Path) -> (bool, String) {
    let arguments = shlex::split(&format!("book {arguments}")).expect("closed quotes");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = support::tabia(&arguments, folder);
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(printed).expect("UTF-8"))
}

fn run(arguments: &str, folder: &Path) -> String {
    let (ok, printed) = printed(arguments, folder);
    assert!(ok, "{arguments}: {printed}");
    printed
}

fn after(moves: &str) -> Position {
    moves.split_ascii_whitespace().fold(Position::start(), |position, san| {
        position.play(position.parse_move(san).expect(san))
    })
}

fn value(book: &Book, moves: &str) -> BookValue {
    value_of(book, &after(moves))
}

fn value_of(book: &Book, position: &Position) -> BookValue {
    book.value(position).unwrap_or_else(|| panic!("{} is not analysed", position.fen()))
}

#[test]
fn every_value_is_that_of_the_best_move() {
    let folder = folder();
    let printed = run("analyse games.tbk --min-games 1 --nodes 3000", folder.path());
    let book = Book::open(&folder.path().join("games.tbk")).expect("a book");
    book.verify().expect("sound");
    // Every position of the book has a value, including the final positions of games, which have no
    // moves in the book.
    assert_eq!(book.values().len() as u64, book.positions(), "{printed}");
    let mut compared = 0;
    for visited in book.walk(&Position::start(), 20) {
        let position = visited.position;
        let value = book.value(&position).expect("analysed");
        let legal = position.legal_moves();
        let within: Vec<_> =
            legal.iter().filter_map(|mv| Some((mv, book.value_of_move(&position, mv)?))).collect();
        let outside = value.outside.into_iter();
        let best = within.iter().copied().chain(outside).map(|(_, score)| score).max();
        if let Some(best) = best {
            assert_eq!(value.score, best, "{position}");
            let first = value.best.expect("a move");
            let of_best = within.iter().chain(&value.outside).find(|(mv, _)| *mv == first);
            assert_eq!(of_best.map(|&(_, score)| score), Some(best), "{position}");
            compared += 1;
        }
        if let Some((mv, _)) = value.outside {
            assert!(book.value_of_move(&position, mv).is_none(), "{mv} in {position}");
        }
        assert_eq!(value.outside.is_none(), within.len() == legal.len(), "{position}");
    }
    assert!(compared > 15, "{compared} positions");
    // Check the values of a checkmate and of the position before it, which also has moves to
    // positions outside the book.
    let mated = value(&book, "e4 e5 Bc4 Nc6 Qh5 Nf6 Qxf7#");
    assert_eq!((mated.best, mated.score), (None, -32_000));
    let mating = value(&book, "e4 e5 Bc4 Nc6 Qh5 Nf6");
    assert_eq!((mating.score, mating.outside.is_some()), (31_999, true));
    assert_eq!(after("e4 e5 Bc4 Nc6 Qh5 Nf6").side_to_move(), Color::White);
}

#[test]
fn commands_show_analysed_values() {
    let folder = folder();
    let before = run("show games.tbk", folder.path());
    assert!(!before.contains("value") && !before.contains("analysed"), "{before}");
    run("analyse games.tbk --min-games 1 --nodes 2000 -o analysed.tbk", folder.path());
    let info = run("info analysed.tbk", folder.path());
    assert!(info.contains("\nanalysed    "), "{info}");
    let shown = run("show analysed.tbk --moves 'e4 e5 Bc4 Nc6 Qh5 Nf6'", folder.path());
    assert!(shown.contains("\nanalysed: Qxf7# +M1, depth "), "{shown}");
    let row = shown.lines().find(|line| line.starts_with("Qxf7#")).expect("a row");
    assert!(row.contains("+M1"), "{row}");
    let why = run("why analysed.tbk", folder.path());
    assert!(why.contains("value"), "{why}");
    // xboard's book window shows the values too.
    let mut engine = support::Engine::start(&["-x", "-b", &path(folder.path(), "analysed.tbk")]);
    engine.send("protover 2\nbk");
    let is_head = |line: &str| line.starts_with(" move ");
    let lines = engine.until(is_head);
    assert!(lines.iter().any(|line| line.contains("analysed: ")), "{lines:?}");
    assert!(lines.iter().any(|line| is_head(line) && line.contains(" value ")), "{lines:?}");
    // The analysed book is unchanged.
    let other = folder.path().join("other.tbk");
    run("build -q games.pgn -o other.tbk", folder.path());
    assert!(
        fs::read(other).expect("a book")
            == fs::read(folder.path().join("games.tbk")).expect("a book")
    );
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

#[test]
fn result_does_not_depend_on_threads_or_steps() {
    let folder = folder();
    let bytes = |name: &str| fs::read(folder.path().join(name)).expect(name);
    run("analyse games.tbk --min-games 1 --nodes 2000 -t 1 -o one.tbk", folder.path());
    run("analyse games.tbk --min-games 1 --nodes 2000 -t 3 -o three.tbk", folder.path());
    assert!(bytes("one.tbk") == bytes("three.tbk"));
    // Analyse in steps: first the frequent positions only, then all positions, and finally all
    // positions with more nodes.
    run("analyse games.tbk --min-games 2 --nodes 1000 -o steps.tbk", folder.path());
    let some = Book::open(&folder.path().join("steps.tbk")).expect("a book").values().len();
    assert!(0 < some && some < 10, "{some} positions");
    run("analyse steps.tbk --min-games 1 --nodes 1000", folder.path());
    run("analyse steps.tbk --min-games 1 --nodes 2000", folder.path());
    assert!(bytes("one.tbk") == bytes("steps.tbk"));
    let again = run("analyse steps.tbk --min-games 1 --nodes 1500", folder.path());
    assert!(again.starts_with("0 positions to be searched"), "{again}");
    let again = run("analyse steps.tbk --min-games 1 --nodes 2000 --again", folder.path());
    assert!(!again.starts_with("0 positions to be searched"), "{again}");
    assert!(bytes("one.tbk") == bytes("steps.tbk"));
    // A repeated command uses the results in the output file of the earlier run.
    let again = run("analyse games.tbk --min-games 1 --nodes 2000 -o steps.tbk", folder.path());
    assert!(again.starts_with("0 positions to be searched"), "{again}");
    let timed = run("analyse steps.tbk --min-games 1 --seconds 0.01", folder.path());
    assert!(timed.starts_with("0 positions to be searched"), "{timed}");
}

/// With `--only`, only the positions in the given file are searched. The search results of all
/// other positions are kept.
#[test]
fn chosen_positions_are_searched_deeper() {
    let folder = folder();
    let chosen = ["d4 d5", "e4 e5 Nf3 Nc6"].map(after);
    let lines = chosen.map(|position| format!("{}\n", position.epd())).concat();
    fs::write(folder.path().join("chosen.epd"), lines).expect("written");
    let open = |name: &str| Book::open(&folder.path().join(name)).expect("a book");
    // If the book has no values yet, only the chosen positions get values.
    let plain = "analyse games.tbk --only chosen.epd --min-games 1 --nodes 2000 -o few.tbk";
    assert!(run(plain, folder.path()).starts_with("2 positions to be searched, 0 known"));
    let few: Vec<BookValue> = open("few.tbk").values().collect();
    assert_eq!(few.len(), chosen.len());
    assert!(few.iter().all(|value| value.own.is_some() && value.own == value.outside), "{few:?}");

    run("analyse games.tbk --min-games 1 --nodes 2000", folder.path());
    let deeper = "analyse games.tbk --only chosen.epd --min-games 1 --nodes 20000 -o deep.tbk";
    assert!(run(deeper, folder.path()).starts_with("2 positions to be searched"));
    assert!(
        run(deeper, folder.path()).starts_with("0 positions to be searched"),
        "all positions are known"
    );
    run("analyse games.tbk --min-games 1 --nodes 20000 -o all.tbk", folder.path());
    let (before, deep, all) = (open("games.tbk"), open("deep.tbk"), open("all.tbk"));
    for value in deep.values() {
        let is_chosen = chosen.iter().any(|position| position.key() == value.key);
        let expected = if is_chosen { &all } else { &before };
        let same = expected.values().find(|other| other.key == value.key).expect("analysed");
        assert_eq!((value.own, value.nodes), (same.own, same.nodes));
    }
    for position in chosen {
        let (own, next) = (value_of(&deep, &position), position.legal_moves());
        let behind = next.iter().filter_map(|mv| Some(-deep.value(&position.play(mv))?.score));
        let best = behind.chain(own.outside.map(|(_, score)| score)).max();
        assert_eq!(Some(own.score), best, "{}", position.fen());
    }
}

#[test]
fn known_values_are_not_searched_again() {
    let folder = folder();
    run("analyse games.tbk --min-games 1 --nodes 2000", folder.path());
    let more = format!("{GAMES}1. c4 c5 1/2-1/2\n\n");
    fs::write(folder.path().join("more.pgn"), more).expect("written");
    run("build -q more.pgn -o more.tbk", folder.path());
    run("analyse more.tbk --min-games 1 --nodes 2000 -o alone.tbk", folder.path());
    let known = "analyse more.tbk --min-games 1 --nodes 2000 --known games.tbk -o both.tbk";
    let printed = run(known, folder.path());
    // The two positions of the new game are searched. The start position may be searched again,
    // because the new game may have added its best move outside the book to the book.
    assert!(
        printed.starts_with("3 positions to be searched") || printed.starts_with("2 "),
        "{printed}"
    );
    let [alone, both] = ["alone.tbk", "both.tbk"].map(|name| {
        let book = Book::open(&folder.path().join(name)).expect("a book");
        book.values().map(|value| (value.key, value.own)).collect::<Vec<_>>()
    });
    assert_eq!(alone, both);
    // Positions that `--grow` added to the known book are also added to the book being analysed.
    let grow = "--min-games 1 --nodes 2000 --grow 20";
    run(&format!("analyse games.tbk {grow} -o grown.tbk"), folder.path());
    run("build -q games.pgn -o again.tbk", folder.path());
    run(&format!("analyse again.tbk {grow} --known grown.tbk"), folder.path());
    let [grown, again] = ["grown.tbk", "again.tbk"].map(|name| {
        let book = Book::open(&folder.path().join(name)).expect("a book");
        book.entries().collect::<Vec<_>>()
    });
    assert_eq!(grown, again);
    // Known positions that are not in the book being analysed are ignored.
    run("analyse games.tbk --min-games 1 --nodes 2000 --known both.tbk -o less.tbk", folder.path());
    let less = Book::open(&folder.path().join("less.tbk")).expect("a book");
    assert_eq!(less.values().len() + 2, both.len());
}

/// Killing the command repeatedly loses no stored results, and the final book equals that of an
/// uninterrupted run.
#[test]
fn killed_analysis_keeps_its_results() {
    const KILLS: u64 = 50;
    let folder = folder();
    let journal = folder.path().join("games.tbk.analysis");
    let before = fs::read(folder.path().join("games.tbk")).expect("a book");
    run("analyse games.tbk --min-games 1 --nodes 20000 -t 1 -o whole.tbk", folder.path());
    let arguments =
        ["book", "analyse", "games.tbk", "--min-games", "1", "--nodes", "20000", "-t", "1"];
    let (mut held, mut killed) = (0, 0);
    for number in 0..KILLS {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(folder.path()).stdout(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        // In every second run, wait for a new result to be stored before killing the command.
        let length = || fs::metadata(&journal).map_or(0, |file| file.len());
        while number % 2 == 1 && length() <= held && child.try_wait().expect("a child").is_none() {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(37 * number % 60));
        child.kill().expect("killed");
        if child.wait().expect("ended").success() {
            break;
        }
        killed += 1;
        let length = length();
        assert!(length >= held, "{length} bytes of {held}");
        // Sometimes, truncate the last row.
        held = length - length % 28;
        let now = fs::read(folder.path().join("games.tbk")).expect("a book");
        assert!(now == before, "the book is replaced as a whole, or not at all");
    }
    assert!(killed > 0 && held > 0, "{killed} kills, {held} bytes");
    run(&arguments[1..].join(" "), folder.path());
    let bytes = |name: &str| fs::read(folder.path().join(name)).expect(name);
    assert!(bytes("games.tbk") == bytes("whole.tbk"));
    assert!(!journal.exists());
}

#[test]
fn ctrl_c_keeps_the_results_so_far() {
    let folder = folder();
    let journal = folder.path().join("games.tbk.analysis");
    let mut command = Command::new(PROGRAM);
    command.args(["book", "analyse", "games.tbk", "--min-games", "1", "--nodes", "300000"]);
    let mut child =
        command.current_dir(folder.path()).stdout(Stdio::null()).spawn().expect("starts");
    // Wait until the journal contains results, not just its first line.
    while fs::metadata(&journal).map_or(0, |file| file.len()) < 100 {
        assert!(child.try_wait().expect("a child").is_none(), "it ended too early");
        sleep(Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
    assert_eq!(child.wait().expect("ended").code(), Some(130));
    let book = Book::open(&folder.path().join("games.tbk")).expect("a book");
    let found = book.values().len() as u64;
    assert!(0 < found && found < book.positions(), "{found} of {}", book.positions());
    assert!(!journal.exists());
}

#[test]
fn invalid_analyses_are_rejected() {
    let folder = folder();
    for (arguments, reason) in [
        ("analyse embedded", "name a file with -o"),
        ("analyse games.pgn", "`tabia book build`"),
        ("analyse missing.tbk", "missing.tbk"),
        ("analyse games.tbk -o games.pgn", "choose a name that ends in .tbk"),
        ("analyse games.tbk --nodes 0", "--nodes"),
        ("analyse games.tbk --only missing.epd", "missing.epd"),
        ("analyse games.tbk --only games.pgn", "games.pgn: line 1"),
        ("analyse games.tbk --only games.pgn --grow 5", "cannot be used with"),
        ("analyse games.tbk --network games.pgn", "not a network"),
    ] {
        let (ok, printed) = printed(arguments, folder.path());
        assert!(!ok && printed.contains(reason), "{arguments}: {printed}");
        assert!(!folder.path().join("games.tbk.analysis").exists(), "{arguments}");
    }
    let mut file = fs::File::create(folder.path().join("games.tbk.analysis")).expect("written");
    file.write_all(b"a letter").expect("written");
    let (ok, printed) = printed("analyse games.tbk", folder.path());
    assert!(!ok && printed.contains("begins with \"a letter\""), "{printed}");
    let kept = fs::read(folder.path().join("games.tbk.analysis")).expect("there");
    assert_eq!(kept, b"a letter");
}

#[test]
fn merged_and_filtered_books_keep_the_values() {
    let folder = folder();
    let open = |name: &str| Book::open(&folder.path().join(name)).expect("a book");
    let values = |name: &str| open(name).values().collect::<Vec<_>>();
    run("analyse games.tbk --min-games 1 --nodes 1000 -o all.tbk", folder.path());
    run("analyse games.tbk --min-games 2 --nodes 3000 -o some.tbk", folder.path());
    let printed = run("merge all.tbk games.tbk -o same.tbk", folder.path());
    assert!(printed.contains("the values of"), "{printed}");
    assert_eq!(values("same.tbk"), values("all.tbk"));
    run("filter all.tbk -o same.tbk --force", folder.path());
    assert_eq!(values("same.tbk"), values("all.tbk"));
    // If two books have different values for a position, the value from the longer search is kept,
    // whatever the order of the books.
    run("merge all.tbk some.tbk -o one.tbk", folder.path());
    run("merge some.tbk all.tbk -o other.tbk", folder.path());
    assert_eq!(values("one.tbk"), values("other.tbk"));
    let (all, one, some) = (open("all.tbk"), open("one.tbk"), open("some.tbk"));
    assert_eq!(one.values().len(), all.values().len());
    assert!((1..all.values().len()).contains(&some.values().len()));
    for value in one.values() {
        let longer = some.values().any(|other| other.key == value.key);
        assert_eq!(value.nodes, if longer { 3_000 } else { 1_000 });
    }
    // Filtering removes values along with their positions. Merging books without values gives a
    // book without values.
    run("filter all.tbk -o cut.tbk --min-games 3", folder.path());
    let cut = open("cut.tbk");
    assert!((1..all.values().len()).contains(&cut.values().len()));
    assert!(cut.values().all(|value| all.values().any(|other| other.own == value.own)));
    let printed = run("merge games.tbk games.tbk -o plain.tbk", folder.path());
    assert!(!printed.contains("values") && values("plain.tbk").is_empty(), "{printed}");
}

fn grown(book: &Book) -> usize {
    book.entries().filter(|entry| entry.reached.is_empty()).count()
}

#[test]
fn book_grows_where_best_play_leaves_it() {
    let folder = folder();
    let open = |name: &str| Book::open(&folder.path().join(name)).expect("a book");
    let bytes = |name: &str| fs::read(folder.path().join(name)).expect(name);
    let grow = "analyse games.tbk --min-games 1 --nodes 1000 --grow 30";
    let printed = run(&format!("{grow} -t 1 -o one.tbk"), folder.path());
    assert!(printed.contains("\n30 of 30 positions taken in"), "{printed}");
    run(&format!("{grow} -t 3 -o three.tbk"), folder.path());
    assert!(bytes("one.tbk") == bytes("three.tbk"));
    let (games, book) = (open("games.tbk"), open("one.tbk"));
    book.verify().expect("sound");
    assert_eq!((book.positions(), grown(&book)), (games.positions() + 30, 30));
    assert_eq!(book.values().len() as u64, book.positions());
    // Growing leaves the game counts unchanged. Each new position is reached by exactly one move
    // that was not played in any game.
    let mut linked = 0;
    for visited in book.walk(&Position::start(), 60) {
        let position = visited.position;
        assert_eq!(book.reached(&position), games.reached(&position), "{position}");
        let value = book.value(&position).expect("analysed");
        for (mv, played) in visited.entry.moves {
            if !played.is_empty() {
                continue;
            }
            linked += 1;
            let score = book.value_of_move(&position, mv).expect("analysed");
            assert!(value.score >= score, "{mv} in {position}");
            assert!(value.outside.is_none_or(|(outside, _)| outside != mv), "{mv} in {position}");
        }
    }
    assert_eq!(linked, 30);
    let (at, mv) = book
        .walk(&Position::start(), 60)
        .find_map(|at| {
            at.entry
                .moves
                .iter()
                .find(|found| found.1.is_empty())
                .map(|found| (at.clone(), found.0))
        })
        .expect("a move to a grown position");
    let of = |position: &Position| format!("one.tbk --fen '{}'", position.fen());
    let shown = run(&format!("show {}", of(&at.position)), folder.path());
    let row = format!("{} ", at.position.san(mv));
    let row = shown.lines().find(|line| line.starts_with(&row)).expect("its row");
    assert!(row.contains("0 +0 =0 -0") && !row.contains('%'), "{shown}");
    let why = run(&format!("why {}", of(&at.position)), folder.path());
    assert!(why.contains("not reached in any game"), "{why}");
    let after = at.position.play(mv);
    let why = run(&format!("why {}", of(&after)), folder.path());
    assert!(
        why.contains("reached in no game") && why.contains("\nanalysed in the book: "),
        "{why}"
    );
    // The original book is unchanged. Repeating the command continues from its earlier output, so
    // nothing is searched again.
    assert!(games.values().next().is_none());
    let again = run(&format!("{grow} -o one.tbk"), folder.path());
    assert!(again.starts_with("0 positions to be searched"), "{again}");
    assert!(bytes("one.tbk") == bytes("three.tbk"));
    run("analyse games.tbk --min-games 1 --nodes 1000 -o one.tbk", folder.path());
    assert_eq!(grown(&open("one.tbk")), 30, "grown positions are kept");
    run("analyse one.tbk --min-games 1 --nodes 1000 --grow 40", folder.path());
    assert_eq!(grown(&open("one.tbk")), 40);
    // `--grow` counts every position added to the analysis: positions of the book with fewer games
    // than `--min-games`, and new positions.
    let printed =
        run("analyse games.tbk --min-games 3 --nodes 1000 --grow 6 -o few.tbk", folder.path());
    let few = open("few.tbk");
    let frequent = games.entries().filter(|entry| entry.reached.games() >= 3).count();
    assert_eq!(few.values().len(), frequent + 6, "{printed}");
    // `filter` keeps grown positions unless `--min-games` removes them for having no games.
    run("filter one.tbk -o same.tbk", folder.path());
    assert_eq!(grown(&open("same.tbk")), 40);
    run("filter one.tbk -o plain.tbk --min-games 1", folder.path());
    assert_eq!(open("plain.tbk").positions(), games.positions());
}

#[test]
fn growing_needs_a_book_of_games() {
    let folder = folder();
    run("build -q games.pgn -o facets.tbk --facets", folder.path());
    run("analyse facets.tbk --min-games 2 --nodes 1000 --grow 10", folder.path());
    run("verify facets.tbk", folder.path());
    let shown = run("show facets.tbk --moves 'e4 e5'", folder.path());
    assert!(shown.contains("highest rated") || shown.contains("latest"), "{shown}");
    run("export games.tbk -o games.bin", folder.path());
    run("import games.bin -o weights.tbk", folder.path());
    let (ok, printed) = printed("analyse weights.tbk --nodes 100 --grow 1", folder.path());
    assert!(!ok && printed.contains("weights in place of games"), "{printed}");
}

/// If the command is killed while growing a book, the book stays valid, and repeating the command
/// gives the same bytes as an uninterrupted run.
#[test]
fn killed_growth_ends_with_the_same_book() {
    let folder = folder();
    let bytes = |name: &str| fs::read(folder.path().join(name)).expect(name);
    let arguments = "book analyse games.tbk --min-games 1 --nodes 6000 -t 1 --grow 40";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    run("analyse games.tbk --min-games 1 --nodes 6000 -t 1 --grow 40 -o whole.tbk", folder.path());
    let journal = folder.path().join("games.tbk.analysis");
    let length = || fs::metadata(&journal).map_or(0, |file| file.len());
    let mut killed = 0;
    for number in 0..20_u64 {
        let before = length();
        let mut command = Command::new(PROGRAM);
        command.args(&arguments).current_dir(folder.path()).stdout(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        // Wait until this run changes the journal. It may also become shorter, because it starts
        // afresh whenever grown positions are added to the book.
        while length() == before && child.try_wait().expect("a child").is_none() {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(53 * number % 160));
        child.kill().expect("killed");
        if child.wait().expect("ended").success() {
            break;
        }
        killed += 1;
        run("verify games.tbk", folder.path());
    }
    assert!(killed > 0, "it ended before it was killed");
    run(&arguments[1..].join(" "), folder.path());
    assert!(bytes("games.tbk") == bytes("whole.tbk"));
}

/// The engine plays the best move of an analysed position at once if its analysis took at least as
/// much effort as the requested search.
#[test]
fn deeply_analysed_positions_are_played_at_once() {
    let folder = folder();
    run("analyse games.tbk --min-games 1 --nodes 20000 --grow 20", folder.path());
    let book = Book::open(&folder.path().join("games.tbk")).expect("a book");
    let has_games =
        |position: &Position| book.moves(position).iter().any(|found| !found.reached.is_empty());
    let grown = book
        .walk(&Position::start(), 60)
        .find(|at| {
            !has_games(&at.position) && book.value(&at.position).is_some_and(|v| v.best.is_some())
        })
        .expect("a position without games");
    let best = book.value(&grown.position).and_then(|value| value.best).expect("a move");
    let fen = grown.position.fen();
    let san = grown.position.san(best);
    let file = path(folder.path(), "games.tbk");
    let mut engine = support::Engine::start(&["--uci", "-b", &file]);
    let mut reported = |nodes: u64| {
        engine.send(&format!(
            "setoption name OwnBook value true\nposition fen {fen}\ngo nodes {nodes}"
        ));
        engine.until(|line| line.starts_with("bestmove ")).join("\n")
    };
    let at_once = format!("info string analysed in the book: {san} ");
    let known = reported(40_000);
    assert!(known.contains(&at_once) && known.contains(&format!("\nbestmove {best}")), "{known}");
    assert!(known.contains(" nodes 0 "), "{known}");
    let searched = reported(50_000);
    assert!(!searched.contains(" nodes 0 ") && searched.contains(" nodes "), "{searched}");
    let mut engine = support::Engine::start(&["-x", "-b", &file]);
    engine.send(&format!("protover 2\nnew\npost\nsetboard {fen}\nsd 2\ngo"));
    let lines = engine.until(|line| line.starts_with("move ")).join("\n");
    assert!(lines.contains(&format!("(book: {san})")), "{lines}");
    assert!(lines.contains(&format!("tellothers analysed in the book: {san} ")), "{lines}");
}
