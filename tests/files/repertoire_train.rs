//! Tests of `tabia repertoire train`: questions, answers, and the journal, which survives if the
//! program is killed.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::terminal::Terminal;
use crate::support::{Engine, run_line as run, run_line_ok as run_ok};

const LINES: &str = "1. d4 Nf6 (1... d5 2. c4) (1... f5 2. Bg5 {[%cal Gg5h4] Stop e5}) 2. c4 e6 (2... g6 3. Nc3) \
                     3. Nc3 *\n";

const GAMES: [(&str, &str, usize); 5] = [
    ("1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. e3", "1-0", 12),
    ("1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. f3", "0-1", 20),
    ("1. d4 Nf6 2. c4 g6 3. Nc3 d5", "1/2-1/2", 10),
    ("1. d4 d5 2. c4 e6", "1-0", 25),
    ("1. d4 d5 2. Nf3 Nf6 3. g3 e6", "0-1", 5),
];

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let game = |(moves, result, number): (&str, &str, usize)| {
        format!("[Result \"{result}\"]\n\n{moves} {result}\n\n").repeat(number)
    };
    let games = GAMES.map(game).concat();
    for (name, text) in [("white.pgn", LINES), ("games.pgn", &*games)] {
        fs::write(folder.path().join(name), text).expect("writable");
    }
    folder
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().expect("UTF-8").to_owned()
}

struct Training {
    program: Engine,
    /// The answers to which the program has replied: the line of each question, and the move
    /// answered.
    acknowledged: Vec<(String, String)>,
}

impl Training {
    fn start(folder: &Path, more: &[&str]) -> Self {
        let [white, games] = ["white.pgn", "games.pgn"].map(|name| path(folder, name));
        let arguments = ["repertoire", "train", &white, "--side", "white", "-b", &games];
        let program = Engine::start(&[&arguments[..], more].concat());
        Training { program, acknowledged: Vec::new() }
    }

    /// Waits for a question and returns its line of moves. Returns `None` if the training has
    /// ended.
    fn question(&mut self) -> Option<String> {
        let is_next = |line: &str| line.starts_with("Question ") || line.contains(" wrong. ");
        let head = self.program.until(is_next).pop()?;
        let (_, line) = head.strip_prefix("Question ")?.split_once(": ")?;
        self.program.until(|line| line.ends_with('?') && !line.starts_with("Question"));
        Some(line.to_owned())
    }

    fn answer(&mut self, question: &str, san: &str) -> String {
        self.program.send(san);
        let judged = self.program.line();
        self.acknowledged.push((question.to_owned(), san.to_owned()));
        judged
    }
}

#[test]
fn searches_explain_moves_without_values() {
    let folder = folder();
    let options = ["--seed", "5", "--questions", "0", "--nodes", "2000", "--memory", "1M"];
    let mut training = Training::start(folder.path(), &options);
    let right = right_moves();
    while let Some(question) = training.question() {
        if question == "1. d4 d5" {
            let judged = training.answer(&question, "g4");
            assert!(judged.contains("not g4. It loses "), "{judged}");
            let explained = training.program.line();
            let (value, line) = explained.split_once("; best is ").expect("a line");
            assert!(value.starts_with("  g4: no games, value -"), "{explained}");
            assert!(line.starts_with("2... Bxg4 3. "), "{explained}");
            return;
        }
        training.answer(&question, right[&*question]);
    }
    panic!("the position was not asked");
}

fn journal(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a journal");
    let answers = text.lines().skip(1).filter_map(|line| line.split_once(' '));
    // Skip a line that cannot be parsed, because a killed program can leave an incomplete one.
    answers.filter_map(|(_, json)| serde_json::from_str(json).ok()).collect()
}

fn right_moves() -> HashMap<&'static str, &'static str> {
    HashMap::from([
        ("The start of your repertoire", "d4"),
        ("1. d4 Nf6", "c4"),
        ("1. d4 d5", "c4"),
        ("1. d4 f5", "Bg5"),
        ("1. d4 Nf6 2. c4 e6", "Nc3"),
        ("1. d4 Nf6 2. c4 g6", "Nc3"),
        ("1. d4 Nf6 2. c4 e6 3. Nc3 Bb4", "e3"),
        ("1. d4 Nf6 2. c4 g6 3. Nc3 d5", "cxd5"),
        ("1. d4 d5 2. c4 e6", "Nc3"),
    ])
}

#[test]
fn session_asks_every_position_once_and_repeats_mistakes() {
    let folder = folder();
    let mut training = Training::start(folder.path(), &["--seed", "5", "--questions", "0"]);
    let (right, mut asked) = (right_moves(), HashMap::new());
    while let Some(question) = training.question() {
        let times: &mut usize = asked.entry(question.clone()).or_default();
        *times += 1;
        let is_first = *times == 1;
        let judged = match &*question {
            "1. d4 d5" if is_first => training.answer(&question, "g1f3"),
            line => training.answer(&question, right[line]),
        };
        match &*question {
            "1. d4 d5" if is_first => {
                assert_eq!(judged, "Wrong: your repertoire has c4, not Nf3.");
                let [wrong, known] = [0, 1].map(|_| training.program.line());
                assert_eq!(wrong, "  Nf3: 0% in 5 games; the most common reply is Nf6 (100%)");
                assert!(
                    known.starts_with("  c4: 100% in 25 games; the most common reply"),
                    "{known}"
                );
            }
            "1. d4 f5" => {
                assert_eq!(training.program.line(), "  Bg5: no games");
                assert_eq!(training.program.line(), "  Your note: Stop e5");
            }
            line if line.ends_with("Bb4") => {
                assert!(judged.starts_with("e3 is a good move."), "{judged}");
            }
            line if line.ends_with("3. Nc3 d5")
                || line.ends_with("2. c4 e6") && line.contains("d5") =>
            {
                assert!(judged.contains("is not in enough games"), "{judged}");
            }
            _ => assert!(judged.starts_with("Right: "), "{judged}"),
        }
    }
    let mut expected: HashMap<String, usize> =
        right.keys().map(|line| ((*line).to_owned(), 1)).collect();
    expected.insert("1. d4 d5".to_owned(), 2);
    assert_eq!(asked, expected);
    let rest = training.program.rest().join("\n");
    assert!(
        rest.contains("add these lines to it:\n  1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. e3"),
        "{rest}"
    );
    assert!(training.program.wait().success());
    let summary = training.program.received.iter().find(|line| line.contains(" wrong. "));
    assert_eq!(
        summary.map(String::as_str),
        Some("10 answers: 7 right, 1 wrong. 0 to repeat, 2 new, 7 learnt.")
    );
}

fn has_answers(journal: &[Value], acknowledged: &[(String, String)]) -> bool {
    let coordinates = |question: &str, san: &str| {
        let words = question.split(' ').filter(|word| !word.ends_with('.') && *word != "The");
        let start = tabia::position::Position::start();
        let is_start = question.starts_with("The start");
        let position = words
            .filter(|_| !is_start)
            .fold(start, |position, san| position.play(position.parse_move(san).expect(san)));
        (position.key(), position.parse_move(san).expect(san).to_string())
    };
    let stored = journal.iter().map(|answer| {
        let fen = answer["fen"].as_str().expect("a FEN");
        let position = tabia::position::Position::from_fen(fen).expect("legal");
        (position.key(), answer["move"].as_str().expect("a move").to_owned())
    });
    let wanted = acknowledged.iter().map(|(question, san)| coordinates(question, san));
    stored.take(acknowledged.len()).eq(wanted)
}

#[test]
fn kills_between_answers_lose_no_acknowledged_answer() {
    let folder = folder();
    let file = folder.path().join("white.pgn.training");
    let right = right_moves();
    let mut acknowledged = Vec::new();
    for round in 0..6 {
        let mut training = Training::start(folder.path(), &["--questions", "0", "--seed", "1"]);
        training.acknowledged = acknowledged;
        for _ in 0..round % 3 {
            let Some(question) = training.question() else { break };
            training.answer(&question, right[&*question]);
        }
        if round % 2 == 1 && training.question().is_some() {
            // The program is killed without waiting for its reply. Whether or not this answer is
            // stored, it must not damage the others.
            training.program.send("a3");
        }
        training.program.signal("-KILL");
        assert!(!training.program.wait().success());
        acknowledged = training.acknowledged;
        let stored = match file.exists() {
            true => journal(&file),
            false => Vec::new(),
        };
        let stored: Vec<Value> =
            stored.into_iter().filter(|answer| answer["move"] != "a2a3").collect();
        assert_eq!(stored.len(), acknowledged.len(), "round {round}");
        assert!(has_answers(&stored, &acknowledged), "{stored:?} {acknowledged:?}");
    }
    assert!(acknowledged.len() >= 4, "{acknowledged:?}");
    // Imitate a record truncated by a kill. It is removed from the journal, and the other records
    // still count.
    let mut bytes = fs::read(&file).expect("a journal");
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').expect("a line") + 1;
    bytes.extend_from_slice(b"12345678 {\"fen\":\"rnbq");
    fs::write(&file, &bytes).expect("written");
    let printed = run_ok("repertoire train white.pgn --side white -b games.pgn", folder.path());
    let graded = journal(&file).iter().filter(|answer| !answer["grade"].is_null()).count();
    assert!(graded > 0 && !printed.contains(" 0 learnt"), "{printed}");
    assert_eq!(fs::metadata(&file).expect("a journal").len(), whole as u64);
}

#[test]
fn commands_and_bad_input_do_not_end_the_question() {
    let folder = folder();
    let mut training = Training::start(folder.path(), &["--seed", "1"]);
    let question = training.question().expect("a question");
    for (typed, printed) in [
        ("Qh9", "Qh9: "),
        ("Ke4", "Ke4: "),
        ("\u{1b}[2J", "\\u{1b}[2J: "),
        ("help", "Type a move such as Nf3 or g1f3, or `hint`, `skip` or `quit`."),
        ("hint", "A "),
        ("hint", "The move is "),
    ] {
        training.program.send(typed);
        let line = training.program.line();
        assert!(line.starts_with(printed), "{typed:?}: {line}");
    }
    training.program.send("skip");
    let next = training.question().expect("another question");
    assert_ne!(question, next);
    training.program.send("quit");
    training.program.rest();
    assert!(training.program.wait().success());
    assert_eq!(journal(&folder.path().join("white.pgn.training")).len(), 0);
    // Standard input is empty. The end of input ends the training without an error.
    let printed = run_ok("repertoire train white.pgn --side white -b games.pgn", folder.path());
    assert!(printed.contains("0 answers: 0 right, 0 wrong."), "{printed}");
    assert!(printed.contains("\n8 r "), "the board: {printed}");
}

#[test]
fn good_answers_are_written_as_games_and_complete_the_repertoire() {
    let folder = folder();
    let right = right_moves();
    let pgn = path(folder.path(), "new.pgn");
    let mut training = Training::start(folder.path(), &["--questions", "0", "--pgn", &pgn]);
    while let Some(question) = training.question() {
        training.answer(&question, right[&*question]);
    }
    training.program.rest();
    assert!(training.program.wait().success());
    let line = "white.pgn new.pgn --side white --journal white.pgn.training -b games.pgn";
    let printed = run_ok(&format!("repertoire train {line}"), folder.path());
    assert!(!printed.contains("add these lines"), "{printed}");
    // The `--pgn` file may be an input of the next run, but a run's output cannot be one of its own
    // inputs.
    let (status, _, errors) =
        run(&format!("repertoire train {line} --pgn new.pgn --force"), folder.path());
    assert!(status == Some(1) && errors.contains("new.pgn"), "{errors}");
}

#[test]
fn journal_of_another_side_or_run_is_refused() {
    let folder = folder();
    let mut training = Training::start(folder.path(), &[]);
    training.question();
    let line = "repertoire train white.pgn -b games.pgn --side";
    let (status, _, errors) = run(&format!("{line} white"), folder.path());
    assert!(status == Some(1) && errors.contains("another program"), "{errors}");
    training.program.send("quit");
    assert!(training.program.wait().success());
    let (status, _, errors) = run(&format!("{line} black"), folder.path());
    assert!(status == Some(1) && errors.contains("\"side white\""), "{errors}");
    run_ok(&format!("{line} black --journal black.training"), folder.path());
    let (status, _, errors) = run(&format!("{line} white --journal white.pgn"), folder.path());
    assert!(status == Some(1) && errors.contains("another kind"), "{errors}");
    assert_eq!(fs::read_to_string(folder.path().join("white.pgn")).expect("kept"), LINES);
}

#[test]
fn interruption_in_a_terminal_prints_the_summary_and_keeps_the_journal() {
    let folder = folder();
    let [white, games] = ["white.pgn", "games.pgn"].map(|name| path(folder.path(), name));
    let arguments = ["repertoire", "train", &white, "--side", "white", "-b", &games];
    let mut terminal = Terminal::start_with(&arguments, "xterm", folder.path());
    terminal.answer(&["a3"]);
    terminal.wait_for("\nQuestion 2");
    terminal.wait_for("): ");
    terminal.press("\u{3}");
    assert_eq!(terminal.wait_for_end().code(), Some(130));
    assert!(terminal.everything().contains("1 answer: 0 right"));
    let file: PathBuf = folder.path().join("white.pgn.training");
    assert_eq!(journal(&file).len(), 1);
}
