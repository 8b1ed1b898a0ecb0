//! The commands of the console, each with its help text.

use std::io;

use super::Console;
use super::solve::solve;
use super::text::failed;
use crate::chess::notation;
use crate::chess::position::Color;
use crate::engine::controller::{Engine, Flow, Mode};
use crate::games::book::Policy;

type Run = fn(&mut Console, &str) -> io::Result<Flow>;

pub(super) struct CommandRow {
    /// All names of the command, the most common one first.
    pub(super) names: &'static [&'static str],
    pub(super) arguments: &'static str,
    pub(super) help: &'static str,
    action: Run,
}

impl CommandRow {
    /// Runs the command. Fails if arguments are given to a command that takes none.
    pub(super) fn run(&self, console: &mut Console, arguments: &str) -> io::Result<Flow> {
        if self.arguments.is_empty() && !arguments.is_empty() {
            return Err(failed(format!("{arguments}: this command takes no argument")));
        }
        (self.action)(console, arguments)
    }
}

const fn row(
    names: &'static [&'static str],
    arguments: &'static str,
    help: &'static str,
    action: Run,
) -> CommandRow {
    CommandRow { names, arguments, help, action }
}

pub(super) struct Topic {
    pub(super) name: &'static str,
    pub(super) purpose: &'static str,
    pub(super) rows: &'static [CommandRow],
}

#[rustfmt::skip]
pub(super) const TOPICS: &[Topic] = &[
    Topic { name: "program", purpose: "the program itself", rows: &[
        row(&["help", "h"], "[TOPIC|COMMAND|all]", "the topics; or what belongs to one; or one command; or all", Console::help),
        row(&["version"], "", "which version this is", |c, _| c.print_text(&format!("Tabia {}", env!("CARGO_PKG_VERSION")))),
        row(&["quit", "q"], "", "keep the game and leave", |_, _| Ok(Flow::Quit)),
        row(&["xboard"], "", "how to play in a window", |c, _| c.print_text("Leave with `quit`, then: xboard -fcp \"tabia -x\"")),
    ] },
    Topic { name: "game", purpose: "playing a game", rows: &[
        row(&["new"], "[standard]", "begin a new game; you are White", Console::begin),
        row(&["go"], "", "let me play the side to move", |c, _| c.change(Engine::go)),
        row(&["switch"], "", "change sides", |c, _| c.change(Engine::go)),
        row(&["white"], "", "let me play White", |c, _| c.play(Color::White)),
        row(&["black"], "", "let me play Black", |c, _| c.play(Color::Black)),
        row(&["force", "manual"], "", "let me play neither side", |c, _| c.force()),
        row(&["?"], "", "move now (Ctrl-C does the same)", |c, _| c.move_now()),
        row(&["undo", "u"], "[N]", "take back one move, or the last N", Console::undo),
        row(&["remove", "r"], "", "take back one move of each side", |c, _| c.take_back(2)),
        row(&["draw"], "", "offer a draw, or take mine", |c, _| c.offer_draw()),
        row(&["resign"], "", "give the game up", |c, _| c.resign()),
        row(&["result"], "RESULT", "end the game: 1-0, 0-1 or 1/2-1/2", Console::result),
        row(&["activate"], "", "play on though the game was ended", |c, _| c.activate()),
        row(&["hint"], "", "ask for advice", |c, _| c.hint()),
    ] },
    Topic { name: "strength", purpose: "how well and how long I think", rows: &[
        row(&["elo"], "[RATING|off]", "let me play like a player of a rating, or as well as I can", Console::elo),
        row(&["opponent", "spar"], "GAMES[,player=NAME][,ratings=A-B]|off", "play like the players of these games", Console::opponent),
    row(&["level"], "MOVES MINUTES INCREMENT", "clock: so many moves (0: all), seconds added a move", |c, a| c.clock("level", a)),
        row(&["st"], "SECONDS", "time for each move", |c, a| c.clock("st", a)),
        row(&["depth", "sd"], "PLIES", "search no deeper", |c, a| c.clock("sd", a)),
        row(&["time"], "CENTISECONDS", "set my clock", |c, a| c.clock("time", a)),
        row(&["otim"], "CENTISECONDS", "set your clock", |c, a| c.clock("otim", a)),
        row(&["hard"], "", "let me think on your time", |c, _| c.ponder(true)),
        row(&["easy"], "", "do not let me think on your time", |c, _| c.ponder(false)),
        row(&["hash", "memory"], "[MB]", "mebibytes for my tables", Console::memory),
        row(&["cores"], "[N]", "threads that search", |c, a| c.option("Threads", a)),
        row(&["option"], "NAME=VALUE", "set an option (see `show options`)", Console::option_command),
    ] },
    Topic { name: "board", purpose: "what is shown", rows: &[
        row(&["show"], "[WHAT]", "board, moves, capture, noncapture, escape, pin, game, time, fen, eval, book or options", Console::show),
        row(&["board", "b"], "[on|off]", "show the board; or after every move, or only on demand", Console::board),
        row(&["flip"], "", "turn the board round, until it is flipped again", |c, _| c.flip()),
        row(&["graphic"], "", "draw the board in symbols and colours, if your terminal has the symbols", |c, _| c.draw_board(true)),
        row(&["nographic"], "", "draw the board in letters", |c, _| c.draw_board(false)),
        row(&["coords"], "", "show the letters and numbers at the edge", |c, _| c.coordinates(true)),
        row(&["nocoords"], "", "do not show them", |c, _| c.coordinates(false)),
        row(&["post"], "", "show my thinking", |c, _| c.post(true)),
        row(&["nopost"], "", "do not show my thinking", |c, _| c.post(false)),
    ] },
    Topic { name: "moves", purpose: "going through a game", rows: &[
        row(&["previous", "p"], "", "go back one move; `next` plays it again", |c, _| c.go_back(1)),
        row(&["next", "n"], "", "play again the move that was gone back over", |c, _| c.go_forward(1)),
        row(&["first"], "", "go back to the start of the game", |c, _| c.go_back(usize::MAX)),
        row(&["last"], "", "play all moves again", |c, _| c.go_forward(usize::MAX)),
        row(&["list"], "[FILE]", "list the moves of the game, or the games of a file", Console::list),
    ] },
    Topic { name: "book", purpose: "openings", rows: &[
        row(&["book", "bk"], Policy::USAGE_OR_FILE, "what the book knows; or how it is used; or another book", Console::book),
        row(&["random"], "", "choose among the book's moves at random, as `book random`", |c, _| c.book("random")),
    ] },
    Topic { name: "analysis", purpose: "studying a position", rows: &[
        row(&["analyze", "analyse"], "", "think about the position until `exit`", |c, _| c.analyse()),
        row(&["exit"], "", "end the analysis", |c, _| c.stop_analysis()),
        row(&["eval"], "", "what the position is worth, term by term", |c, _| c.show("eval")),
        row(&["annotate"], "[FILE] [NODES]", "search the game, tell what its moves gave away, and add it to a file, or make a page of it if the name ends in .html (Ctrl-C ends it)", Console::annotate),
        row(&["solve", "solveepd"], "FILE [SECONDS]", "search the positions of an EPD file and count what is solved (Ctrl-C ends it)", solve),
        row(&["perft"], "DEPTH", "count the moves to a depth (Ctrl-C ends it)", Console::perft),
    ] },
    Topic { name: "files", purpose: "games and positions in files", rows: &[
        row(&["setboard"], "FEN", "set up a position", Console::set_up),
        row(&["load", "epdload"], "FILE [N]", "set up the first or Nth position of a file (FEN or EPD)", Console::load_position),
        row(&["save"], "FILE", "append the position to a file (FEN)", |c, a| c.save_position(a, false)),
        row(&["epdsave"], "FILE", "append the position to a file (EPD)", |c, a| c.save_position(a, true)),
        row(&["pgnload"], "FILE [N]", "load the first or Nth game of a file and go to its end", |c, a| c.load_game(a, false)),
        row(&["pgnreplay"], "FILE [N]", "load it and go to its start; `next` plays on", |c, a| c.load_game(a, true)),
        row(&["pgnsave"], "FILE", "append the game to a file", Console::save_game),
        row(&["name"], "[NAME]", "tell me your name, for saved games", Console::name),
        row(&["rating"], "MINE YOURS", "tell me our ratings, for saved games", Console::rating),
    ] },
];

pub(super) fn all() -> impl Iterator<Item = &'static CommandRow> {
    TOPICS.iter().flat_map(|topic| topic.rows)
}

pub(super) fn find(name: &str) -> Option<&'static CommandRow> {
    all().find(|row| row.names.contains(&name))
}

impl Console {
    fn change(&mut self, change: impl FnOnce(&mut Engine)) -> io::Result<Flow> {
        change(&mut self.engine);
        Ok(Flow::Continue)
    }

    fn play(&mut self, color: Color) -> io::Result<Flow> {
        if color == self.position().side_to_move() {
            return self.change(Engine::go);
        }
        self.engine.play_other();
        self.print_text(&format!("I play {}; it is your turn.", notation::color(color)))
    }

    fn move_now(&mut self) -> io::Result<Flow> {
        if self.engine.mode() != Mode::Thinking {
            return Err(failed("I am not thinking"));
        }
        self.change(Engine::move_now)
    }

    fn analyse(&mut self) -> io::Result<Flow> {
        self.must_have_moves()?;
        self.change(Engine::analyse)
    }

    fn stop_analysis(&mut self) -> io::Result<Flow> {
        if self.engine.mode() != Mode::Analysing {
            return Err(failed("I am not analysing; `quit` leaves"));
        }
        self.engine.stop_analysis();
        self.print_idle_notice()
    }

    fn hint(&mut self) -> io::Result<Flow> {
        self.must_have_moves()?;
        match self.engine.hint() {
            Some(mv) => self.print_text(&format!("Hint: {}", self.position().san(mv))),
            None => self.print_text("I have not thought about this position yet."),
        }
    }

    fn board(&mut self, when: &str) -> io::Result<Flow> {
        match when {
            "" => return self.show("board"),
            "on" => self.boards = true,
            "off" => self.boards = false,
            _ => return Err(failed("expected on, off or nothing")),
        }
        let when = if self.boards { "after every move" } else { "only on demand" };
        self.print_text(&format!("I show the board {when}."))
    }

    fn draw_board(&mut self, graphic: bool) -> io::Result<Flow> {
        self.style.symbols = graphic;
        self.style.colours = graphic && super::board::colours_are_usable();
        self.show("board")
    }

    fn flip(&mut self) -> io::Result<Flow> {
        self.flipped = !self.flipped;
        self.show("board")
    }

    fn coordinates(&mut self, on: bool) -> io::Result<Flow> {
        self.style.coordinates = on;
        self.show("board")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocols::cecp;

    #[test]
    fn command_names_are_unique() {
        let mut names: Vec<&str> = all().flat_map(|row| row.names).copied().collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn no_command_name_parses_as_a_move() {
        for name in all().flat_map(|row| row.names) {
            let command = name.parse::<cecp::Command>();
            assert!(!matches!(command, Ok(cecp::Command::Move(_))), "{name}");
        }
    }
}
