//! Tests that use the console as a terminal user would.

use std::io::{Read, Seek};
use std::path::Path;

use crossbeam::channel::{Receiver, unbounded};

use super::*;
use crate::engine::controller::{Settings, searcher};
use crate::games::book::Book;

struct Transcript {
    screen: String,
    kept: String,
    end: io::Result<()>,
}

fn console(out: Box<dyn Write + Send>) -> (Console, Receiver<String>) {
    let mut settings = Settings::default();
    settings.set_memory(1);
    let engine = Engine::new(searcher(), settings, Book::embedded()).expect("no files");
    let (prompts, asked) = unbounded();
    let mut console = Console::new(engine, out, prompts, false);
    console.keep_file = None;
    (console, asked)
}

fn run_console_in(folder: &Path, lines: &[&str]) -> Transcript {
    let mut screen = tempfile::tempfile().expect("a file");
    let out = Box::new(screen.try_clone().expect("the same file"));
    let (mut console, asked) = console(out);
    let keep_file = folder.join("tabia/games.pgn");
    console.keep_file = Some(keep_file.clone());
    console.print_greeting().expect("written");
    let mut end = Ok(());
    for line in lines {
        asked.recv().expect("a prompt");
        let input = match *line {
            "Ctrl-D" => Input::End,
            line => Input::Line(line.to_owned()),
        };
        end = console.input(input).map(drop);
        while console.is_busy() {
            let background_event = console.background_events().messages.recv().expect("an event");
            console.handle_background_event(background_event).expect("written");
        }
        assert!(asked.len() <= 1, "more than one prompt after {line}");
    }
    screen.rewind().expect("a file");
    let mut text = String::new();
    screen.read_to_string(&mut text).expect("UTF-8");
    let kept = std::fs::read_to_string(keep_file).unwrap_or_default();
    Transcript { screen: text, kept, end }
}

fn run_console(lines: &[&str]) -> Transcript {
    run_console_in(tempfile::tempdir().expect("a folder").path(), lines)
}

fn type_in(lines: &[&str]) -> String {
    run_console(lines).screen
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn unsaved_game_is_saved_when_another_begins_or_on_exit() {
    let fen = "setboard 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    for last in [&["new", "quit"][..], &[fen, "quit"], &["first", "quit"], &["p", "Ctrl-D"]] {
        let lines = [&["force", "e4", "d5", "exd5"][..], last].concat();
        let Transcript { screen, kept, end } = run_console(&lines);
        assert!(kept.contains("1. e4 d5 2. exd5 *"), "{lines:?}: {kept}");
        assert_eq!(count(&kept, "[White "), 1, "{lines:?}: {kept}");
        assert_eq!(count(&screen, "The game is kept in "), 1, "{screen}");
        assert!(end.is_ok());
    }
}

#[test]
fn different_move_after_going_back_starts_a_new_game() {
    let kept =
        run_console(&["force", "e4", "d5", "exd5", "first", "next", "c5", "Nf3", "quit"]).kept;
    assert!(kept.contains("1. e4 d5 2. exd5 *") && kept.contains("1. e4 c5 2. Nf3 *"), "{kept}");
    let kept = run_console(&["force", "e4", "d5", "undo", "c5", "quit"]).kept;
    assert_eq!((count(&kept, "[White "), count(&kept, "1. e4 c5 *")), (1, 1), "{kept}");
}

#[test]
fn saved_game_is_not_saved_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let save = format!("pgnsave \"{}\"", folder.path().join("a game.pgn").display());
    let load = save.replace("save", "load");
    let replay = save.replace("save", "replay");
    let kept = run_console(&["force", "e4", "e5", "result 0-1", &save, "new", "quit"]).kept;
    assert_eq!(kept, "");
    let lines = [&load[..], "first", "last", &replay, "n", "quit"];
    assert_eq!(run_console(&lines).kept, "");
    // Playing a move reopens the game.
    let Transcript { kept, screen, .. } = run_console(&[&replay, "n", "c5", "show game", "quit"]);
    assert!(kept.contains("1. e4 c5 *") && kept.contains("[Result \"*\"]"), "{kept}");
    assert!(screen.contains("? - ? 0-1, 1 move\n"), "{screen}");
}

#[test]
fn game_is_printed_if_it_cannot_be_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("tabia"), "no folder").expect("written");
    let Transcript { screen, end, .. } = run_console_in(folder.path(), &["force", "e4", "quit"]);
    assert!(screen.contains("The game cannot be kept: "), "{screen}");
    assert!(screen.contains("games.pgn: ") && screen.contains("1. e4 *"), "{screen}");
    assert!(end.is_err());
}

#[test]
fn saved_game_has_date_and_player_tags() {
    let kept =
        run_console(&["name Ben", "rating 2400 1500", "st 0.01", "e4", "resign", "quit"]).kept;
    for tag in ["White \"Ben\"", "Black \"Tabia\"", "WhiteElo \"1500\"", "Result \"0-1\""] {
        assert!(kept.contains(tag), "{tag} is not in {kept}");
    }
    assert!(kept.contains(&format!("[Date \"{}\"]", today())), "{kept}");
}

#[test]
fn loaded_game_keeps_tags_and_comments() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let games = "[Event \"First\"]\n\n1. d4 *\n\n[Event \"Second\"]\n[White \"A\x1b[31m\"]\n\
        [Black \"B\"]\n[Result \"1-0\"]\n\n1. e4 {best by test} e5 1-0\n";
    std::fs::write(file("in.pgn"), games).expect("written");
    let load = format!("pgnload {} 2", file("in.pgn"));
    let list = format!("list {}", file("in.pgn"));
    let screen = type_in(&[&load, &format!("pgnsave {}", file("out.pgn")), &list, "list"]);
    let saved = std::fs::read_to_string(file("out.pgn")).expect("written");
    assert!(saved.contains("[Event \"Second\"]") && saved.contains("{best by test}"), "{saved}");
    assert!(screen.contains("A\\u{1b}[31m - B 1-0, 1 move\n"), "{screen}");
    assert!(!screen.contains('\x1b') && screen.contains("    1 ? - ? *, 1 move\n"), "{screen}");
    assert!(screen.contains("\n1. e4 {best by test} 1... e5 1-0"), "{screen}");
}

#[test]
fn invalid_game_file_is_rejected_and_truncated_game_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let load = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).expect("written");
        type_in(&["force", "e4", &format!("pgnload {}", file.display()), "show fen"])
    };
    let after_e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b";
    let fen = "[Event \"x\"]\n[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n\n1. e4 *\n";
    for text in ["", "root:x:0:0::/root:/bin/sh\n", fen, "8/8/8/4k3/8/8/8/4K3 w - - bm Kd2;\n"] {
        let screen = load("none", text);
        assert!(screen.contains("pgnload: ") && screen.contains(after_e4), "{text}: {screen}");
    }
    let screen =
        load("torn", "[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nf9 3. Bb5 1-0\n");
    assert!(screen.contains("only so far: line 4: cannot understand Nf9 "), "{screen}");
    let screen = type_in(&["pgnload", "pgnsave", "load", "save", "pgnload /nowhere"]);
    assert_eq!(count(&screen, ": expected a file"), 4, "{screen}");
    assert!(screen.contains("pgnload: /nowhere: "), "{screen}");
}

#[test]
fn game_can_be_played_saved_and_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("game.pgn").to_string_lossy().into_owned();
    let save = format!("pgnsave {file}");
    let text = type_in(&["e4", "st 0.01", "Zz9", "show fen", &save, "remove"]);
    assert!(text.contains("My move is: "), "{text}");
    assert!(text.contains("Zz9 is neither a legal move nor a command"), "{text}");
    let replay = format!("pgnreplay {file}");
    let text = type_in(&["board off", &replay, "next", "last", "next", "show fen"]);
    assert!(text.contains("I play neither side now"), "{text}");
    assert!(text.contains("next: this is the end of the game"), "{text}");
    assert!(text.contains(" w ") && !text.contains('\x1b'), "{text}");
}

#[test]
fn solving_a_suite_restores_the_game_afterwards() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a suite.epd");
    let lines = "# mates\n\n6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1 bm Ra8#; id \"mate\";\n\
        6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - am Ra8#;\nodd\n\
        6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - dm 1;\n";
    std::fs::write(&file, lines).expect("written");
    let solve = format!("solve \"{}\" 0.1", file.display());
    let nonsense = format!("{solve}x");
    let lines = ["st 0.01", "e4", &solve, "show fen", "solve /nowhere", &nonsense, "d4", "quit"];
    let Transcript { screen: text, kept, .. } = run_console(&lines);
    assert!(text.contains("1/3 solved mate: Ra8# (expected Ra8#)"), "{text}");
    assert!(text.contains("2/3 FAILED 2: Ra8# (expected not Ra8#)"), "{text}");
    assert!(text.contains("3/3 solved 3: Ra8# (expected mate in 1)"), "{text}");
    assert!(text.contains("line 5: "), "a skipped line is reported: {text}");
    assert!(text.contains("2 of 3 solved (66.7%) in "), "{text}");
    assert!(text.contains("solve: /nowhere: ") && text.contains("expected the seconds"), "{text}");
    assert!(text.contains("/4P3/8/PPPP1PPP/RNBQKBNR w"), "the game is restored: {text}");
    assert_eq!(count(&text, "My move is: "), 2, "the engine keeps playing: {text}");
    assert_eq!(count(&kept, "[White "), 1, "{kept}");
}

#[test]
fn annotate_writes_pgn_and_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let [games, page] = ["a.pgn", "a.html"].map(|name| format!("annotate {} 500", file(name)));
    let lines = ["name Ben", "force", "f3", "e5", "g4", "Qh4#", &games, &games, &page, "show fen"];
    let screen = type_in(&lines);
    assert!(screen.contains("I search the 5 positions of the game; Ctrl-C ends it."), "{screen}");
    assert!(screen.contains("White: ") && screen.contains(" blunder, accuracy "), "{screen}");
    assert!(screen.contains("\n2. g4??           Blunder: "), "{screen}");
    assert!(screen.contains("Allows mate in 1. (2. "), "{screen}");
    assert_eq!(count(&screen, "The annotated game is in "), 3, "{screen}");
    assert!(screen.contains("/6Pq/5P2/PPPPP2P/RNBQKBNR w"), "the game is kept: {screen}");
    let written = std::fs::read_to_string(file("a.pgn")).expect("written");
    assert_eq!((count(&written, "[Event "), count(&written, "2. g4 $4")), (2, 2), "{written}");
    let page = std::fs::read_to_string(file("a.html")).expect("written");
    assert!(page.contains("Allows mate in 1."), "{page}");
}

#[test]
fn annotate_rejects_bad_arguments_before_searching() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("no.html"), "no page").expect("written");
    for (line, answer) in [
        ("annotate", "annotate: there is no move yet"),
        ("annotate 0", "annotate: expected one node a move at least"),
        ("annotate a b", "annotate: expected a file (quote"),
        ("annotate /nowhere/at/all.pgn", "annotate: cannot write /nowhere/at/all.pgn"),
        ("annotate no.html", "no.html: it exists and is not an HTML page\n"),
        ("anotate", "did you mean `annotate`?"),
        ("help anotate", "did you mean `annotate`?"),
    ] {
        let line = line.replace("no.html", &folder.path().join("no.html").display().to_string());
        let screen = type_in(&[&line]);
        assert!(screen.contains(answer), "{line}: {screen}");
    }
}

#[test]
fn annotation_can_be_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.pgn");
    let mut screen = tempfile::tempfile().expect("a file");
    let (mut console, asked) = console(Box::new(screen.try_clone().expect("the same file")));
    let line = |text: &str| Input::Line(text.to_owned());
    for text in ["force", "e4", "e5", &format!("annotate {} 1000000000", file.display())] {
        console.input(line(text)).expect("written");
    }
    assert!(console.is_busy() && asked.try_iter().count() == 3);
    console.input(line("?")).expect("written");
    while console.is_busy() {
        let background_event = console.background_events().messages.recv().expect("an event");
        console.handle_background_event(background_event).expect("written");
    }
    assert_eq!(asked.len(), 1);
    screen.rewind().expect("a file");
    let mut text = String::new();
    screen.read_to_string(&mut text).expect("UTF-8");
    assert!(text.contains("The annotation was ended; nothing is written."), "{text}");
    assert!(!file.exists());
}

#[test]
fn solving_can_be_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("suite.epd");
    std::fs::write(&file, "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#;\n".repeat(2))
        .expect("written");
    let (mut console, asked) = console(Box::new(io::sink()));
    let line = |text: &str| Input::Line(text.to_owned());
    console.input(line(&format!("solve {} 1000", file.display()))).expect("written");
    assert!(console.solving.is_some() && asked.is_empty());
    console.input(line("?")).expect("written");
    assert!(console.solving.is_none() && asked.len() == 1);
    assert_eq!(console.position(), &Position::start());
    assert_eq!(console.engine.mode(), Mode::Waiting);
}

#[test]
fn positions_are_saved_to_and_loaded_from_epd() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("positions.epd").display().to_string();
    let [save, epdsave, load] = ["save", "epdsave", "load"].map(|name| format!("{name} {file}"));
    let second = format!("{load} 2");
    let third = format!("{load} 3");
    let screen =
        type_in(&["force", &save, "e4", "e5", "Nf3", "Nc6", &epdsave, &second, "show fen", &third]);
    assert!(screen.contains("/RNBQKB1R w KQkq - 2 3\n"), "{screen}");
    assert!(screen.contains(": there is no position 3 in it"), "{screen}");
    let text = std::fs::read_to_string(file).expect("written");
    assert!(text.ends_with("/RNBQKB1R w KQkq - hmvc 2; fmvn 3;\n"), "{text}");
}

#[test]
fn each_setting_prints_a_confirmation() {
    for (line, answer) in [
        ("st 2", "2 s for each of my moves."),
        ("level 40 5 0", "White has 300 s, Black 300 s for the next 40 moves."),
        ("depth 7", "I search no deeper than 7 plies"),
        ("hash 32", "My tables take 32 MiB."),
        ("hash off", "hash: expected mebibytes"),
        ("memory", "My tables take 1 MiB."),
        ("cores 2", "Threads = 2 (1 to 256)"),
        ("book best", "BookPolicy = best ("),
        ("book off", "OwnBook = off (on, off)"),
        ("book /nowhere.tbk", "/nowhere.tbk"),
        ("random", "BookPolicy = random ("),
        ("hard", "I think on your time too."),
        ("easy", "I do not think on your time."),
        ("post", "I show my thinking."),
        ("result 1-0", "The result of the game is 1-0."),
        ("option Contempt=3", "Contempt = 3 (-1000 to 1000)"),
        ("option Contempt", "Contempt = 30 ("),
        ("option nonsense=1", "option: no such option"),
        ("show options", "\nPonder         off "),
        ("help foo", "help: there is no command foo"),
        ("help hash", "(also: memory)"),
        ("help", "\nstrength    how well and how long I think: elo, "),
        ("help files", "\npgnload FILE [N]"),
        ("help book", "what the book knows"),
        ("help all", "\nresign "),
        ("help unod", "there is no command unod; did you mean `undo`?"),
        ("udno 2", "udno 2 is neither a legal move nor a command; did you mean `undo`?"),
        ("Nf4", "; did you mean `Nf3` or `f4`?"),
        ("option Thread=2", "no such option; did you mean `Threads`?"),
        ("elo", "I play as well as I can"),
        ("elo 1200", "I play like a player of 1200; `elo off` ends it."),
        ("elo 12", "elo: expected a whole number from 800 to "),
        ("undo 3", "undo: there is nothing to take back"),
        ("undo x", "undo: expected how many moves"),
        ("flip", "1 R N B K Q B N R"),
        ("opponent", "opponent: expected GAMES.pgn"),
        ("opponent /nowhere.pgn", "/nowhere.pgn"),
        ("show pin", "none"),
        ("force", "I play neither side now (force mode)"),
        ("draw", "I do not take the draw."),
        ("black", "I play Black; it is your turn."),
        ("exit", "exit: I am not analysing"),
        ("?", "?: I am not thinking"),
    ] {
        let screen = type_in(&[line]);
        assert!(screen.contains(answer), "{line}: {screen}");
    }
    let screen = type_in(&["force", "f3", "e5", "g4", "Qh4#", "show time", "activate", "undo"]);
    assert!(
        screen.contains("0-1 {Black mates}") && screen.contains("The game is over."),
        "{screen}"
    );
    assert!(screen.contains("activate: there is no move left"), "{screen}");
}

#[test]
fn no_command_panics_on_bad_arguments() {
    for row in commands::all().filter(|row| row.names[0] != "quit") {
        for argument in ["", "x y z", "999999999999999999999"] {
            // Skip commands that save games, because they would leave files behind.
            if !row.names[0].contains("save") {
                type_in(&[&format!("{} {argument}", row.names[0]), "force"]);
            }
        }
    }
}

#[test]
fn undo_takes_back_a_number_of_moves() {
    let screen = type_in(&["force", "e4", "e5", "Nf3", "undo 2", "show fen", "undo 7"]);
    assert!(screen.contains("/4P3/8/PPPP1PPP/RNBQKBNR b"), "{screen}");
    assert!(screen.contains("undo: no more than 1 can be taken back"), "{screen}");
}

#[test]
fn board_is_flipped_for_black_and_shows_the_opening_name() {
    let screen = type_in(&["st 0.01", "book off", "white", "go"]);
    assert!(screen.contains("  h g f e d c b a"), "{screen}");
    let screen = type_in(&["force", "e4", "c5", "show board"]);
    assert!(
        screen.contains("4 . . . .(P). . .") && screen.contains("5 . .(p). . . . ."),
        "{screen}"
    );
    assert_eq!(count(&screen, "B20 Sicilian Defense\n"), 1, "{screen}");
}

#[test]
fn spar_reports_the_opponent_book() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("games.pgn");
    let game = "[White \"Ann\"]\n[Black \"Bob\"]\n[BlackElo \"1310\"]\n\n1. e4 a6 *\n";
    std::fs::write(&file, game).expect("written");
    let command = format!("opponent {},player=Bob", file.display());
    let screen = type_in(&[&command, "e4", "opponent", "spar off"]);
    assert_eq!(
        count(&screen, "(1 side of games), and beyond them like a player of 1310."),
        2,
        "{screen}"
    );
    assert!(screen.contains("My move is: a6"), "{screen}");
    assert!(screen.contains("OpponentBook = (none)"), "{screen}");
}

#[test]
fn other_variants_and_extra_arguments_are_rejected() {
    for variant in ["960", "fischerandom", "atomic"] {
        let screen = type_in(&["force", "e4", &format!("new {variant}"), "show game", "quit"]);
        assert!(screen.contains(&format!("new: {variant} cannot be played")), "{screen}");
        assert!(screen.contains("1. e4 *"), "the game continues: {screen}");
    }
    assert!(!type_in(&["new standard", "quit"]).contains("cannot be played"));
    for row in commands::all().filter(|row| row.arguments.is_empty()) {
        let screen = type_in(&[&format!("{} x", row.names[0])]);
        assert!(screen.contains("this command takes no argument"), "{}: {screen}", row.names[0]);
    }
}

#[test]
fn moves_are_rejected_after_checkmate_and_stalemate() {
    let mate = &["force", "f3", "e5", "g4", "Qh4#"][..];
    let stalemate = &["setboard 7k/5K2/8/6Q1/8/8/8/8 w - - 0 1", "force", "Qg6"][..];
    for (moves, ending) in [(mate, "0-1 {Black mates}"), (stalemate, "1/2-1/2 {Stalemate}")] {
        for line in ["e4", "a2a3", "hint", "analyze"] {
            let screen = type_in(&[moves, &[line, "quit"]].concat());
            let reported =
                screen.rsplit_once(&format!("{line}: ")).map_or("", |(_, reported)| reported);
            assert!(
                reported.starts_with(&format!("the game is over: {ending}")),
                "{line}: {screen}"
            );
        }
    }
}

#[test]
fn analysis_prints_no_prompt_before_its_lines() {
    let mut file = tempfile::tempfile().expect("a file");
    let (mut console, asked) = console(Box::new(file.try_clone().expect("the same file")));
    let line = |text: &str| Input::Line(text.to_owned());
    console.input(line("analyze")).expect("written");
    assert_eq!(asked.recv().expect("a prompt"), "");
    console.input(line("exit")).expect("written");
    assert_eq!(asked.recv().expect("a prompt"), "White (1): ");
    file.rewind().expect("a file");
}

#[test]
fn saved_game_has_time_control_and_level_tags() {
    for (setting, control) in [
        ("level 40 5 0", "40/300"),
        ("level 0 2:30 3", "150+3"),
        ("level 0 1 0.5", "60+0.5"),
        ("st 7", "1/7"),
    ] {
        let game = type_in(&[setting, "depth 1", "e4", "show game", "quit"]);
        assert!(game.contains(&format!("[TimeControl \"{control}\"]")), "{setting}: {game}");
    }
    let game = type_in(&["force", "e4", "show game", "quit"]);
    assert!(!game.contains("TimeControl"), "Tabia has not played: {game}");
    let game = type_in(&["depth 1", "elo 1200", "e4", "show game", "quit"]);
    assert!(game.contains("[BlackElo \"1200\"]") && !game.contains("[WhiteElo"), "{game}");
    let game = type_in(&["depth 1", "elo 1200", "rating 2100 1500", "e4", "show game", "quit"]);
    assert!(game.contains("[BlackElo \"2100\"]") && game.contains("[WhiteElo \"1500\"]"), "{game}");
}

#[test]
fn hash_larger_than_memory_is_reported() {
    let screen = type_in(&["hash 99999999999", "quit"]);
    assert!(screen.contains("cannot set memory to 99999999999: this machine allows"), "{screen}");
}

#[test]
fn the_listing_of_the_embedded_book_is_marked_as_self_play() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("games.pgn");
    std::fs::write(&file, "1. e4 a6 1-0\n").expect("written");
    let own = format!("book {}", file.display());
    assert_eq!(count(&type_in(&["book"]), "played against itself"), 1);
    assert_eq!(count(&type_in(&[&own, "book"]), "against itself"), 0);
}
