//! Tests of console behaviour that depends on a terminal.

use std::path::Path;

use crate::support::terminal::Terminal;
use rustix::process::{Pid, Signal, kill_process};

fn saved_games(data: &Path) -> String {
    std::fs::read_to_string(data.join("tabia/games.pgn")).unwrap_or_default()
}

#[test]
fn game_is_saved_on_sighup() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut terminal = Terminal::start(folder.path());
    terminal.answer(&["force", "e4", "e5"]);
    terminal.wait_for("White (2): ");
    let child = Pid::from_child(&terminal.child);
    kill_process(child, Signal::HUP).expect("sent");
    assert!(terminal.wait_for_end().success());
    assert!(saved_games(folder.path()).contains("1. e4 e5 *"), "{}", saved_games(folder.path()));
}

#[test]
fn quit_works_while_the_engine_thinks() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut terminal = Terminal::start(folder.path());
    terminal.answer(&["book off", "st 10000", "e4"]);
    // Wait for the board rather than for a prompt, because there is no prompt while the engine
    // thinks.
    terminal.wait_for("4 . . . .(P). . .");
    terminal.enter("quit");
    assert!(terminal.wait_for_end().success());
    assert!(saved_games(folder.path()).contains("1. e4 *"), "{}", saved_games(folder.path()));
}

#[test]
fn commands_that_end_thinking_take_effect_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut terminal = Terminal::start(folder.path());
    for (typed, answer) in [
        ("?", "My move is: "),
        ("undo", "2 P P P P P P P P"),
        ("resign", "The result of the game is 0-1."),
    ] {
        terminal.answer(&["new", "book off", "st 10000", "e4"]);
        // Wait for the board rather than for a prompt, because there is no prompt while the engine
        // thinks.
        terminal.wait_for("4 . . . .(P). . .");
        terminal.enter(typed);
        terminal.wait_for(answer);
    }
    terminal.answer(&["quit"]);
    assert!(terminal.wait_for_end().success());
}
