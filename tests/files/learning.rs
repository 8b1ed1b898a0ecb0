//! Tests of learning: results survive if the program is killed, are used in later games, and can be
//! shown.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use tabia::book::Book;
use tabia::position::{Game, Position};

use crate::support::{self, Engine};

/// The sizes in bytes of the learning file's first line and of each row.
const HEAD: usize = 17;
const ROW: usize = 40;

fn start(file: &Path, more: &[&str]) -> Engine {
    let file = file.display().to_string();
    let mut engine = Engine::start(&[&["-x", "--no-book", "--learn", &file], more].concat());
    engine.send("xboard\nprotover 2\nnew\nsd 8");
    engine.sync();
    engine
}

/// A game in which the engine plays both sides. `number` determines the first two moves.
struct SelfPlay {
    engine: Engine,
    game: Game,
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

    fn play_move(&mut self) {
        self.engine.send("go");
        let lines = self.engine.until_start("move ");
        let mv = lines.last().and_then(|line| line["move ".len()..].parse().ok());
        self.moved.push(*self.game.position());
        self.game.play(mv.expect("a move")).expect("a legal move");
    }
}

/// Killing the engine with SIGKILL loses no rows that were in the file before or that the engine
/// has confirmed, and the file stays readable.
#[test]
fn killed_engine_keeps_what_it_learned() {
    const KILLS: usize = 50;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("learnt");
    let mut held = Vec::new();
    let (mut message, mut games) = (BTreeSet::new(), 0);
    for number in 0..KILLS {
        let mut play = SelfPlay::begin(&file, number);
        (0..1 + number % 3).for_each(|_| play.play_move());
        if number % 2 == 0 {
            if number % 4 == 0 {
                play.engine.send("result 1-0 {White says so}");
                games += 1;
            }
            // The engine's pong confirms that everything so far has been written to the file.
            play.engine.sync();
            message.extend(play.moved.iter().map(Position::key));
        } else {
            play.engine.send("go");
            sleep(Duration::from_millis((13 * number % 40) as u64));
        }
        // SIGKILL allows no cleanup.
        drop(play);
        let bytes = fs::read(&file).expect("the file");
        assert!(bytes.starts_with(&held), "kill {number}: existing rows are kept");
        let whole = bytes.len() - (bytes.len() - HEAD) % ROW;
        held = bytes[..whole].to_vec();
        let book = Book::open(&file).expect("a book");
        assert!(book.warnings().is_empty(), "{:?}", book.warnings());
        let known: BTreeSet<u64> = book.values().map(|value| value.key).collect();
        assert!(message.is_subset(&known), "kill {number}: {} of {}", known.len(), message.len());
        let start = book.reached(&Position::start()).map_or(0, |counts| counts.games());
        assert_eq!(start, games, "games with reported results");
    }
    assert!(message.len() > KILLS / 2, "{} positions", message.len());
    // Imitate a kill during a write, which leaves a partial row.
    fs::write(&file, &held[..held.len() - 7]).expect("written");
    let mut play = SelfPlay::begin(&file, 3);
    play.play_move();
    play.engine.sync();
    drop(play);
    let bytes = fs::read(&file).expect("the file");
    assert!(
        bytes.starts_with(&held[..held.len() - ROW]) && (bytes.len() - HEAD).is_multiple_of(ROW)
    );
}

#[test]
fn learned_moves_are_played_and_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("learnt");
    let mut first = start(&file, &[]);
    first.send("usermove e2e4");
    let reply = first.until_start("move ").pop().expect("a move");
    first.send("result 1/2-1/2 {agreed}");
    first.sync();
    // A second engine uses the file while the first one still has it open.
    let mut second = start(&file, &[]);
    second.send("post\nusermove e2e4");
    let lines = second.until_start("move ");
    assert_eq!(lines.last(), Some(&reply));
    assert!(lines.iter().any(|line| line.contains("(learnt: ")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("learnt move ")), "{lines:?}");
    second.send("force\nundo\nbk");
    let lines = second.until(|line| line.contains("positions)"));
    assert!(lines.last().is_some_and(|line| line.contains("learnt")), "{lines:?}");
    // The depth limit exceeds the depth of the learnt result, so the engine must search instead of
    // playing the learnt move.
    second.send("new\nsd 10\nusermove e2e4");
    let lines = second.until_start("move ");
    assert!(!lines.iter().any(|line| line.contains("learnt")), "{lines:?}");
    second.quit();
    first.quit();
}

#[test]
fn analysis_is_learned_when_it_ends() {
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
        let value = book.value(&position).unwrap_or_else(|| panic!("{end}: nothing is learned"));
        assert!(value.depth >= 9 && value.best.is_some(), "{end}: {value:?}");
    }
}

#[test]
fn book_commands_accept_a_learning_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("learnt");
    let mut engine = start(&file, &[]);
    engine.send("usermove d2d4");
    engine.until_start("move ");
    engine.send("result 0-1 {White resigns}");
    engine.quit();
    let message = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = support::tabia(&arguments, folder.path());
        let message = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
        (output.status.success(), message)
    };
    let run = |arguments: &str| {
        let (ok, message) = message(arguments);
        assert!(ok, "{arguments}: {message}");
        message
    };
    let show = run("book show learnt --moves d4");
    assert!(show.contains("analysed: ") && show.contains("1 +0 =0 -1"), "{show}");
    let info = run("book info learnt");
    assert!(
        info.contains("games       1: 0 won by White, 0 drawn, 1 won by Black")
            && info.contains("learnt"),
        "{info}"
    );
    run("book verify learnt");
    let made = run("book learn learnt -o made.tbk");
    assert!(made.contains("2 positions with values, 1 game\n"), "{made}");
    let info = run("book info made.tbk");
    assert!(info.contains("learning file") && info.contains("input       learnt"), "{info}");
    assert_eq!(run("book show made.tbk --moves d4"), show);
    run("book analyse made.tbk --min-games 1 --nodes 2000");
    fs::write(folder.path().join("games.pgn"), "1. e4 *\n").expect("written");
    let before = fs::read(&file).expect("the file");
    for (arguments, reason) in [
        ("book learn games.pgn -o x.tbk", "not a learning file"),
        ("book learn missing -o x.tbk", "does not exist"),
        ("book learn learnt -o learnt", "it is also an input"),
        ("book learn learnt -o games.pgn", "choose a name that ends in .tbk"),
        ("book build games.pgn -o learnt", "--force"),
    ] {
        let (ok, message) = message(arguments);
        assert!(!ok && message.contains(reason), "{arguments}: {message}");
    }
    assert!(fs::read(&file).expect("the file") == before && !folder.path().join("x.tbk").exists());
}

#[test]
fn both_protocols_have_the_learn_option() {
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
    assert!(lines.iter().any(|line| line.contains("of another kind")), "{lines:?}");
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
    // An analysis always searches.
    engine.send("go infinite");
    engine.until(|line| line.starts_with("info depth 3 "));
    engine.send("stop");
    engine.until_start("bestmove");
    engine.quit();
}

/// An opening line that scores 100% in the engine's book but 0% in the games that the engine plays.
struct Repertoire {
    folder: tempfile::TempDir,
    line: Vec<String>,
    is_white: bool,
    /// The result of the games that the engine plays: a loss for the engine.
    result: &'static str,
}

impl Repertoire {
    /// Creates a book from `games` games with this line, all won by the engine's side.
    fn new(line: &[String], is_white: bool, games: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (won, result) = if is_white { ("1-0", "0-1") } else { ("0-1", "1-0") };
        let game = format!("[Result \"{won}\"]\n\n{} {won}\n\n", line.join(" "));
        fs::write(folder.path().join("bad.pgn"), game.repeat(games)).expect("written");
        Repertoire { folder, line: line.to_vec(), is_white, result }
    }

    fn of_san(moves: &str, is_white: bool) -> Self {
        let mut game = Game::default();
        let line = moves.split(' ').map(|san| {
            let mv = game.position().parse_move(san).expect(san);
            game.play(mv).expect(san);
            mv.to_string()
        });
        Self::new(&line.collect::<Vec<_>>(), is_white, 1)
    }

    /// Plays the line against the engine. Returns the number of plies before the engine deviates
    /// from the line, and its output. If the engine follows the whole line and `searches` is set,
    /// also waits for its next move, which is found by a search.
    fn play(&self, options: &str, searches: bool) -> (usize, Vec<String>) {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let (book, learnt) = (path("bad.pgn"), path("learnt"));
        let mut engine = Engine::start(&["-x", "-b", &book, "--learn", &learnt]);
        engine.send(&format!("xboard\nprotover 2\nnew\n{options}\nsd 8\npost\nforce"));
        engine.sync();
        let mut printed = Vec::new();
        let mut plies = self.line.len();
        for (ply, mv) in self.line.iter().enumerate() {
            let is_own = (ply % 2 == 0) == self.is_white;
            match (is_own, ply) {
                (false, 0) => engine.send(&format!("usermove {mv}\ngo")),
                (false, _) => engine.send(&format!("usermove {mv}")),
                (true, 0) => engine.send("go"),
                (true, _) => {}
            }
            if is_own {
                printed.extend(engine.until_start("move "));
                if printed.last() != Some(&format!("move {mv}")) {
                    plies = ply;
                    break;
                }
            }
        }
        if plies == self.line.len() && searches {
            printed.extend(engine.until_start("move "));
        }
        engine.send(&format!("result {} {{so it ended}}", self.result));
        engine.sync();
        engine.quit();
        (plies, printed)
    }

    /// Returns the output of `book why` for the position after `plies` plies of the line.
    fn why(&self, plies: usize) -> String {
        let moves = self.line[..plies].join(" ");
        let arguments = ["book", "why", "bad.pgn", "--learn", "learnt", "--moves", &moves];
        let output = support::tabia(&arguments, self.folder.path());
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

/// If the first search after the end of the book has a bad result, the last book move is not played
/// again.
#[test]
fn search_result_vetoes_the_last_book_move() {
    for (moves, is_white) in [
        ("e4 e5 Nf3 f6 Nxe5 fxe5 Qh5+", false),
        ("d4 e5 dxe5 Qg5 Bxg5", false),
        ("e4 e5 Qh5 Nc6 Qxe5+ Nxe5", true),
        ("d4 d5 c4 Qd6 c5 Qxh2 Rxh2", false),
    ] {
        let repertoire = Repertoire::of_san(moves, is_white);
        let plies = repertoire.line.len();
        let (first, printed) = repertoire.play("", true);
        assert_eq!(first, plies, "{moves}: {printed:?}");
        let (second, printed) = repertoire.play("", true);
        assert_eq!(second, plies - 2, "{moves}: {printed:?}");
        let is_reported =
            |line: &String| line.contains("vetoed: -") && line.contains("learnt search");
        assert!(printed.iter().any(is_reported), "{printed:?}");
        let why = repertoire.why(plies - 2);
        assert!(why.contains("vetoed: -") && why.contains("no move: "), "{why}");
        // With vetoes turned off, the book move is played as before.
        let (third, printed) = repertoire.play("option LearnVeto=0", true);
        assert_eq!(third, plies, "{moves}: {printed:?}");
    }
}

/// It takes fewer lost games to veto a book move if the book has few games with that move.
#[test]
fn lost_games_veto_a_book_move() {
    const PLIES: usize = 6;
    const GAMES: usize = 4;
    for number in 0..6 {
        let mut game = Game::default();
        for step in [3, 7, 11, 5, 13, 17].into_iter().take(PLIES) {
            let legal: Vec<_> = game.position().legal_moves().iter().collect();
            game.play(legal[(number + 1) * step % legal.len()]).expect("legal");
        }
        let line: Vec<String> = game.moves().iter().map(ToString::to_string).collect();
        let is_white = number % 2 == 0;
        let own = usize::from(!is_white);
        // Let the line end with a move by the engine, so that it need not search after the line.
        let line = &line[..PLIES - usize::from(is_white != (PLIES % 2 == 1))];
        let played = |games: usize, options: &str| {
            let repertoire = Repertoire::new(line, is_white, games);
            let plies = (0..GAMES).map(|_| repertoire.play(options, false).0).collect::<Vec<_>>();
            (plies, repertoire.why(own))
        };
        let all = vec![line.len(); GAMES];
        let (few, why) = played(1, "");
        assert_eq!(few[..2], all[..2], "{line:?}: two losses are not enough");
        assert_eq!(few[GAMES - 1], own, "{line:?}: {few:?}");
        assert!(why.contains("vetoed: 0% in 3 learnt games, book 67%"), "{why}");
        let (many, why) = played(100, "");
        assert_eq!(many, all, "{line:?}: four losses do not refute a hundred games");
        assert!(!why.contains("vetoed"), "{why}");
        assert_eq!(played(1, "option LearnVeto=0").0, all, "{line:?}");
    }
}
