//! What the engine learns in its games: it outlives kills, is asked again, and can be looked at.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use tabia::book::Book;
use tabia::position::{Game, Position};

use crate::support::{self, Engine};

/// Bytes of the first line of the file, and of a row.
const HEAD: usize = 17;
const ROW: usize = 40;

fn start(file: &Path, more: &[&str]) -> Engine {
    let file = file.display().to_string();
    let mut engine = Engine::start(&[&["-x", "--no-book", "--learn", &file], more].concat());
    engine.send("xboard\nprotover 2\nnew\nsd 8");
    engine.sync();
    engine
}

/// A game that begins with the moves of this number, by the engine against itself.
struct SelfPlay {
    engine: Engine,
    game: Game,
    /// The keys of the positions that it has moved in.
    moved: Vec<Position>,
}

impl SelfPlay {
    fn begin(file: &Path, number: usize) -> Self {
        let mut engine = start(file, &[]);
        let mut game = Game::default();
        engine.send("force");
        for step in [1, 7] {
            let legal: Vec<_> = game.position().legal_moves().iter().collect();
            let mv = legal[number * step % legal.len()];
            game.play(mv).expect("legal");
            engine.send(&format!("usermove {mv}"));
        }
        SelfPlay { engine, game, moved: Vec::new() }
    }

    fn moves(&mut self) {
        self.engine.send("go");
        let lines = self.engine.until_start("move ");
        let mv = lines.last().and_then(|line| line["move ".len()..].parse().ok());
        self.moved.push(*self.game.position());
        self.game.play(mv.expect("a move")).expect("a legal move");
    }
}

/// Kills without a warning lose nothing that was there, nor what was said to be done; and the file
/// can always be read.
#[test]
fn fifty_kills_lose_nothing() {
    const KILLS: usize = 50;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("learnt");
    let mut held = Vec::new();
    let (mut said, mut games) = (BTreeSet::new(), 0);
    for number in 0..KILLS {
        let mut play = SelfPlay::begin(&file, number);
        (0..1 + number % 3).for_each(|_| play.moves());
        if number % 2 == 0 {
            if number % 4 == 0 {
                play.engine.send("result 1-0 {White says so}");
                games += 1;
            }
            // The answer says that all of it is done.
            play.engine.sync();
            said.extend(play.moved.iter().map(Position::key));
        } else {
            play.engine.send("go");
            sleep(Duration::from_millis((13 * number % 40) as u64));
        }
        // SIGKILL, by which nothing can be cleaned up.
        drop(play);
        let bytes = fs::read(&file).expect("the file");
        assert!(bytes.starts_with(&held), "kill {number}: what was there is there");
        let whole = bytes.len() - (bytes.len() - HEAD) % ROW;
        held = bytes[..whole].to_vec();
        let book = Book::open(&file).expect("a book");
        assert!(book.remarks().is_empty(), "{:?}", book.remarks());
        let known: BTreeSet<u64> = book.values().map(|value| value.key).collect();
        assert!(said.is_subset(&known), "kill {number}: {} of {}", known.len(), said.len());
        let start = book.reached(&Position::start()).map_or(0, |counts| counts.games());
        assert_eq!(start, games, "games whose results were told");
    }
    assert!(said.len() > KILLS / 2, "{} positions", said.len());
    // A kill in the midst of writing leaves a part of a row.
    fs::write(&file, &held[..held.len() - 7]).expect("written");
    let mut play = SelfPlay::begin(&file, 3);
    play.moves();
    play.engine.sync();
    drop(play);
    let bytes = fs::read(&file).expect("the file");
    assert!(
        bytes.starts_with(&held[..held.len() - ROW]) && (bytes.len() - HEAD).is_multiple_of(ROW)
    );
}

#[test]
fn what_was_learnt_is_played_and_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("learnt");
    let mut first = start(&file, &[]);
    first.send("usermove e2e4");
    let reply = first.until_start("move ").pop().expect("a move");
    first.send("result 1/2-1/2 {agreed}");
    first.sync();
    // While that one still has the file.
    let mut second = start(&file, &[]);
    second.send("post\nusermove e2e4");
    let lines = second.until_start("move ");
    assert_eq!(lines.last(), Some(&reply));
    assert!(lines.iter().any(|line| line.contains("(learnt: ")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("learnt move ")), "{lines:?}");
    second.send("force\nundo\nbk");
    let lines = second.until(|line| line.contains("positions)"));
    assert!(lines.last().is_some_and(|line| line.contains("learnt")), "{lines:?}");
    // What is to be searched deeper than that is searched.
    second.send("new\nsd 10\nusermove e2e4");
    let lines = second.until_start("move ");
    assert!(!lines.iter().any(|line| line.contains("learnt")), "{lines:?}");
    second.quit();
    first.quit();
}

#[test]
fn an_analysis_is_learnt_when_it_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("learnt");
    let position = Position::start();
    for end in ["exit", "usermove e2e4", "quit"] {
        let _ = fs::remove_file(&file);
        let mut engine = start(&file, &[]);
        engine.send("post\nanalyze");
        let deep = |line: &str| {
            let mut words = line.split_whitespace().map(str::parse::<i64>);
            let [depth, score, time, nodes] = [(); 4].map(|()| words.next().and_then(Result::ok));
            depth.is_some_and(|depth| depth >= 10) && score.and(time).and(nodes).is_some()
        };
        engine.until(deep);
        engine.send(end);
        if end != "quit" {
            engine.sync();
            engine.send("quit");
        }
        assert!(engine.wait().success());
        let book = Book::open(&file).expect("a book");
        let value = book.value(&position).unwrap_or_else(|| panic!("{end}: nothing learnt"));
        assert!(value.depth >= 9 && value.best.is_some(), "{end}: {value:?}");
    }
}

#[test]
fn what_was_learnt_is_a_book_for_the_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("learnt");
    let mut engine = start(&file, &[]);
    engine.send("usermove d2d4");
    engine.until_start("move ");
    engine.send("result 0-1 {White resigns}");
    engine.quit();
    let said = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = support::tabia(&arguments, folder.path());
        let said = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
        (output.status.success(), said)
    };
    let run = |arguments: &str| {
        let (ok, said) = said(arguments);
        assert!(ok, "{arguments}: {said}");
        said
    };
    let show = run("book show learnt --moves d4");
    assert!(show.contains("analysed: ") && show.contains("1 +0 =0 -1"), "{show}");
    let info = run("book info learnt");
    assert!(info.contains("games       1 +0 =0 -1") && info.contains("learnt"), "{info}");
    run("book verify learnt");
    let made = run("book learn learnt -o made.tbk");
    assert!(made.contains("2 positions with values, 1 game\n"), "{made}");
    let info = run("book info made.tbk");
    assert!(info.contains("what was learnt") && info.contains("input       learnt"), "{info}");
    assert_eq!(run("book show made.tbk --moves d4"), show);
    run("book analyse made.tbk --min-games 1 --nodes 2000");
    fs::write(folder.path().join("games.pgn"), "1. e4 *\n").expect("written");
    let before = fs::read(&file).expect("the file");
    for (arguments, reason) in [
        ("book learn games.pgn -o x.tbk", "holds nothing that was learnt"),
        ("book learn missing -o x.tbk", "does not exist"),
        ("book learn learnt -o learnt", "it is read as well"),
        ("book learn learnt -o games.pgn", "--force"),
        ("book build games.pgn -o learnt", "--force"),
    ] {
        let (ok, said) = said(arguments);
        assert!(!ok && said.contains(reason), "{arguments}: {said}");
    }
    assert!(fs::read(&file).expect("the file") == before && !folder.path().join("x.tbk").exists());
}

#[test]
fn both_protocols_have_the_option() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("learnt");
    let name = file.display().to_string();
    let mut engine = Engine::start(&["-x"]);
    engine.send("xboard\nprotover 2");
    let lines = engine.until(|line| line.contains("done=1"));
    assert!(lines.iter().any(|line| line.contains("option=\"LearnFile -file \"")), "{lines:?}");
    engine.send(&format!("option LearnFile={name}"));
    engine.sync();
    assert!(file.exists());
    fs::write(folder.path().join("letter"), "a letter").expect("written");
    engine.send(&format!("option LearnFile={}", folder.path().join("letter").display()));
    let lines = engine.sync();
    assert!(lines.iter().any(|line| line.contains("something else")), "{lines:?}");
    engine.quit();
    let mut engine = Engine::start(&["--uci", "--no-book", "--learn", &name]);
    engine.send("uci");
    let lines = engine.until_start("uciok");
    let option = format!("option name LearnFile type string default {name}");
    assert!(lines.contains(&option), "{lines:?}");
    engine.send("position startpos\ngo depth 9");
    let first = engine.until_start("bestmove").pop().expect("a move");
    engine.send("ucinewgame\nisready");
    engine.until_start("readyok");
    engine.send("position startpos\ngo depth 9");
    let lines = engine.until_start("bestmove");
    let mv = |line: &str| line.split(' ').nth(1).map(str::to_owned);
    assert_eq!(lines.last().and_then(|line| mv(line)), mv(&first));
    assert!(lines.iter().any(|line| line.contains("learnt move")), "{lines:?}");
    // What is to be looked at is searched.
    engine.send("go infinite");
    engine.until(|line| line.starts_with("info depth 3 "));
    engine.send("stop");
    engine.until_start("bestmove");
    engine.quit();
}
