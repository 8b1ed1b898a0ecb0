//! The commands of the console, each with its help.

use std::error::Error;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use super::files;
use super::solve::{self, Suite};
use super::{Console, color_name};
use crate::book::{Chooser, Policy};
use crate::cecp;
use crate::engine::{Engine, Flow, Mode};
use crate::pgn::GameResult;
use crate::position::{Game, Position, divide};

/// What a command does.
type Run = fn(&mut Console, &str) -> io::Result<Flow>;

/// One row of the table.
pub(super) struct Row {
    /// The command's names, the usual one first.
    pub(super) names: &'static [&'static str],
    arguments: &'static str,
    help: &'static str,
    pub(super) run: Run,
}

const fn row(
    names: &'static [&'static str],
    arguments: &'static str,
    help: &'static str,
    run: Run,
) -> Row {
    Row { names, arguments, help, run }
}

/// All commands, in the order of the help.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Row] = &[
    row(&["help", "h"], "[COMMAND]", "list the commands, or explain one", help),
    row(&["quit", "q"], "", "keep the game and leave", |_, _| Ok(Flow::Quit)),
    row(&["version"], "", "which version this is", |c, _| c.tell(&format!("Tabia {}", env!("CARGO_PKG_VERSION")))),
    row(&["new"], "", "begin a new game; you are White", new),
    row(&["go"], "", "let me play the side to move", |c, _| c.change(Engine::go)),
    row(&["switch"], "", "change sides", |c, _| c.change(Engine::go)),
    row(&["white"], "", "let me play White", |c, _| c.play(true)),
    row(&["black"], "", "let me play Black", |c, _| c.play(false)),
    row(&["force", "manual"], "", "let me play neither side", |c, _| c.change(Engine::force)),
    row(&["?"], "", "move now (Ctrl-C does the same)", |c, _| c.change(Engine::move_now)),
    row(&["undo", "u"], "", "take back one move", |c, _| c.take_back(1)),
    row(&["remove", "r"], "", "take back one move of each side", |c, _| c.take_back(2)),
    row(&["previous", "p"], "", "go back one move; `next` plays it again", |c, _| c.go_back(1)),
    row(&["next", "n"], "", "play again the move that was gone back over", |c, _| c.go_forward(1)),
    row(&["first"], "", "go back to the start of the game", |c, _| c.go_back(usize::MAX)),
    row(&["last"], "", "play all moves again", |c, _| c.go_forward(usize::MAX)),
    row(&["show"], "board|moves|game|time|fen|eval|book|options", "show something", show),
    row(&["board", "b"], "", "show the board", |c, _| c.show("board")),
    row(&["graphic"], "", "show the board after every move, in symbols and colours", |c, _| c.draw_board(true)),
    row(&["nographic"], "", "show letters, and only on demand", |c, _| c.draw_board(false)),
    row(&["coords"], "", "show or hide the letters and numbers at the edge", coords),
    row(&["book", "bk"], "[on|off|best|worst|random|prefer|FILE]", "what the book knows; or how it is used; or another book", book),
    row(&["hint"], "", "ask for advice", hint),
    row(&["eval"], "", "what the position is worth, term by term", |c, _| c.show("eval")),
    row(&["analyze", "analyse"], "", "think about the position until `exit`", |c, _| c.change(Engine::analyse)),
    row(&["exit"], "", "end the analysis", |c, _| c.change(Engine::stop_analysis)),
    row(&["post"], "", "show my thinking", |c, _| c.post(true)),
    row(&["nopost"], "", "do not show my thinking", |c, _| c.post(false)),
    row(&["hard"], "", "let me think on your time", |c, _| c.change(|engine| engine.set_ponder(true))),
    row(&["easy"], "", "do not let me think on your time", |c, _| c.change(|engine| engine.set_ponder(false))),
    row(&["level"], "MOVES MINUTES INCREMENT", "clock: so many moves (0: all), seconds added a move", |c, a| c.clock("level", a)),
    row(&["st"], "SECONDS", "time for each move", |c, a| c.clock("st", a)),
    row(&["depth", "sd"], "PLIES", "search no deeper", |c, a| c.clock("sd", a)),
    row(&["time"], "CENTISECONDS", "set my clock", |c, a| c.clock("time", a)),
    row(&["otim"], "CENTISECONDS", "set your clock", |c, a| c.clock("otim", a)),
    row(&["memory", "hash"], "MB", "mebibytes for my table", |c, a| c.option("Hash", a)),
    row(&["cores"], "N", "threads that search", |c, a| c.option("Threads", a)),
    row(&["option"], "NAME=VALUE", "set an option (see `show options`)", option),
    row(&["setboard"], "FEN", "set up a position", Console::set_up),
    row(&["load"], "FILE", "set up the position in a file (FEN or EPD)", load),
    row(&["save"], "FILE", "write the position to a file (FEN)", save),
    row(&["pgnload"], "FILE", "load the first game of a file and go to its end", |c, a| c.load_game(a, false)),
    row(&["pgnreplay"], "FILE", "load the first game and go to its start; `next` plays on", |c, a| c.load_game(a, true)),
    row(&["pgnsave"], "FILE", "append the game to a file", pgnsave),
    row(&["list"], "FILE", "list the games of a file", list),
    row(&["name"], "NAME", "tell me your name", |_, _| Ok(Flow::Continue)),
    row(&["result"], "RESULT", "end the game: 1-0, 0-1 or 1/2-1/2", result),
    row(&["solve"], "FILE [SECONDS]", "search the positions of an EPD file and count what is solved", solve_suite),
    row(&["perft"], "DEPTH", "count the moves to a depth", perft),
    row(&["test"], "movelist|capture|eval|movegenspeed", "try the generator of moves or the evaluation on the position", test),
    row(&["random"], "", "choose among the book's moves at random, as `book random`", |c, _| book(c, "random")),
    row(&["xboard"], "", "how to play in a window", |c, _| c.tell("Leave with `quit`, then: xboard -fcp \"tabia -x\"")),
];

fn failed(why: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::other(why)
}

fn help(console: &mut Console, name: &str) -> io::Result<Flow> {
    let named = |row: &&Row| name.is_empty() || row.names.contains(&name);
    for row in COMMANDS.iter().filter(named) {
        let usage = format!("{} {}", row.names[0], row.arguments);
        writeln!(console.out, "{usage:32} {}", row.help)?;
    }
    console.tell("Anything else is taken for a move: e4, Nf3, O-O, or e2e4, e7e8q.")
}

fn new(console: &mut Console, _: &str) -> io::Result<Flow> {
    console.later.clear();
    console.result = GameResult::Undecided;
    console.change(Engine::new_game)?;
    console.show_board()?;
    Ok(Flow::Continue)
}

fn show(console: &mut Console, what: &str) -> io::Result<Flow> {
    console.show(what)
}

fn coords(console: &mut Console, _: &str) -> io::Result<Flow> {
    console.look.coordinates = !console.look.coordinates;
    console.show("board")
}

fn book(console: &mut Console, what: &str) -> io::Result<Flow> {
    match what {
        "" => console.show("book"),
        "on" | "off" => console.option("OwnBook", what),
        "best" | "worst" | "random" | "prefer" => {
            console.option("OwnBook", "on")?;
            console.option("BookPolicy", what)
        }
        file => console.option("BookFile", file),
    }
}

fn hint(console: &mut Console, _: &str) -> io::Result<Flow> {
    match console.engine.hint() {
        Some(mv) => console.tell(&format!("Hint: {}", console.position().san(mv))),
        None => console.tell("I have not thought about this position yet."),
    }
}

fn option(console: &mut Console, text: &str) -> io::Result<Flow> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    console.option(name.trim(), value.trim())
}

fn load(console: &mut Console, name: &str) -> io::Result<Flow> {
    let text = std::fs::read_to_string(name)?;
    let line = text.lines().next().unwrap_or_default();
    let fields: Vec<&str> = line.split_whitespace().collect();
    let counters = fields.get(4).is_some_and(|word| word.parse::<u32>().is_ok());
    console.set_up(&fields[..fields.len().min(if counters { 6 } else { 4 })].join(" "))
}

fn save(console: &mut Console, name: &str) -> io::Result<Flow> {
    let text = format!("{}\n", console.position());
    std::fs::write(name, text)?;
    console.tell(&format!("The position is in {name}."))
}

fn pgnsave(console: &mut Console, name: &str) -> io::Result<Flow> {
    let engine = &console.engine;
    files::append(name, &files::record(engine.game(), engine.side(), console.result))?;
    console.tell(&format!("The game is in {name}."))
}

fn list(console: &mut Console, name: &str) -> io::Result<Flow> {
    let file = std::fs::File::open(name)?;
    for (number, game) in crate::pgn::read_games(io::BufReader::new(file)).enumerate() {
        let (game, _) = game?;
        let tag = |name| game.tag(name).unwrap_or("?");
        let (white, black, result) = (tag("White"), tag("Black"), game.result.token());
        let moves = game.moves.len().div_ceil(2);
        writeln!(console.out, "{:5} {white} - {black} {result}, {moves} moves", number + 1)?;
    }
    Ok(Flow::Continue)
}

fn result(console: &mut Console, text: &str) -> io::Result<Flow> {
    let result = GameResult::from_token(text.as_bytes());
    console.result = result.ok_or_else(|| failed("expected 1-0, 0-1, 1/2-1/2 or *"))?;
    console.change(Engine::end_game)
}

/// The time for a position of a suite where none is given, in seconds.
const SOLVE_SECONDS: f64 = 5.0;

fn solve_suite(console: &mut Console, arguments: &str) -> io::Result<Flow> {
    let (name, seconds) = arguments.split_once(' ').unwrap_or((arguments, ""));
    let seconds = match seconds.trim() {
        "" => SOLVE_SECONDS,
        text => text.parse().map_err(|_| failed("expected seconds after the file"))?,
    };
    let time = Duration::try_from_secs_f64(seconds).map_err(failed)?;
    let mut tasks = solve::load(name)?;
    tasks.reverse();
    for (number, task) in tasks.iter_mut().rev().enumerate() {
        if task.name.is_empty() {
            task.name = (number + 1).to_string();
        }
    }
    let of = tasks.len();
    console.go_on(Suite { tasks, of, solved: 0, nodes: 0, time })?;
    Ok(Flow::Continue)
}

/// Deeper counts would take hours.
const MOST_PERFT: u32 = 7;

fn perft(console: &mut Console, depth: &str) -> io::Result<Flow> {
    let depth: u32 = depth.parse().map_err(|_| failed("expected a depth"))?;
    let counts = divide(console.position(), depth.clamp(1, MOST_PERFT));
    for (mv, nodes) in &counts {
        writeln!(console.out, "{mv} {nodes}")?;
    }
    let total: u64 = counts.iter().map(|(_, nodes)| nodes).sum();
    console.tell(&format!("{total} nodes"))
}

/// The depth at which GNU Chess's `test movegenspeed` counts long enough to be timed.
const SPEED_DEPTH: &str = "5";

/// GNU Chess's `test`: the moves, the captures among them, the evaluation, or the speed.
fn test(console: &mut Console, what: &str) -> io::Result<Flow> {
    let position = *console.position();
    match what {
        "movelist" => console.show("moves"),
        "capture" => {
            let moves = position.legal_moves();
            let captures = moves.iter().filter(|&mv| position.is_capture(mv));
            let words: Vec<String> = captures.map(|mv| position.san(mv)).collect();
            console.tell(&words.join(" "))
        }
        "eval" => console.show("eval"),
        "movegenspeed" => {
            let begin = Instant::now();
            perft(console, SPEED_DEPTH)?;
            console.tell(&format!("{:.2} seconds", begin.elapsed().as_secs_f64()))
        }
        _ => Err(failed("expected movelist, capture, eval or movegenspeed")),
    }
}

impl Console {
    fn tell(&mut self, text: &str) -> io::Result<Flow> {
        writeln!(self.out, "{text}")?;
        Ok(Flow::Continue)
    }

    fn change(&mut self, change: impl FnOnce(&mut Engine)) -> io::Result<Flow> {
        change(&mut self.engine);
        Ok(Flow::Continue)
    }

    /// Lets the engine play White, or Black.
    fn play(&mut self, white: bool) -> io::Result<Flow> {
        let to_move = color_name(self.position().side_to_move()) == "White";
        self.change(|engine| if white == to_move { engine.go() } else { engine.play_other() })
    }

    fn take_back(&mut self, plies: usize) -> io::Result<Flow> {
        if !self.engine.undo(plies) {
            return Err(failed("there is nothing to take back"));
        }
        self.later.clear();
        self.show_board()?;
        Ok(Flow::Continue)
    }

    fn go_back(&mut self, plies: usize) -> io::Result<Flow> {
        self.engine.force();
        for _ in 0..plies.min(self.engine.game().moves().len()) {
            self.later.extend(self.engine.game().moves().last());
            self.engine.undo(1);
        }
        self.show_board()?;
        Ok(Flow::Continue)
    }

    fn go_forward(&mut self, plies: usize) -> io::Result<Flow> {
        self.engine.force();
        for _ in 0..plies.min(self.later.len()) {
            if let Some(mv) = self.later.pop() {
                self.engine.play(mv).map_err(failed)?;
            }
        }
        self.show_board()?;
        Ok(Flow::Continue)
    }

    fn draw_board(&mut self, graphic: bool) -> io::Result<Flow> {
        self.graphic = graphic;
        (self.look.unicode, self.look.colours) = (graphic, graphic);
        self.show("board")
    }

    fn post(&mut self, on: bool) -> io::Result<Flow> {
        self.post = on;
        Ok(Flow::Continue)
    }

    /// Commands that have the form of the xboard protocol.
    fn clock(&mut self, name: &str, arguments: &str) -> io::Result<Flow> {
        use cecp::Command;
        let engine = &mut self.engine;
        let centiseconds =
            |left: i64| Duration::from_millis(left.unsigned_abs().saturating_mul(10));
        match format!("{name} {arguments}").parse::<Command>().map_err(failed)? {
            Command::Level(level) => engine.set_level(level),
            Command::MoveTime(time) => engine.set_move_time(time),
            Command::Depth(plies) => engine.set_depth(i32::try_from(plies).ok()),
            Command::Time(left) => engine.set_own_time(centiseconds(left)),
            Command::OtherTime(left) => engine.set_opponent_time(centiseconds(left)),
            _ => {}
        }
        Ok(Flow::Continue)
    }

    fn option(&mut self, name: &str, value: &str) -> io::Result<Flow> {
        self.engine.set_option(name, value).map_err(failed)?;
        Ok(Flow::Continue)
    }

    fn set_up(&mut self, fen: &str) -> io::Result<Flow> {
        let position = Position::from_fen(fen).map_err(failed)?;
        self.later.clear();
        self.engine.set_position(position);
        self.show_board()?;
        Ok(Flow::Continue)
    }

    fn load_game(&mut self, name: &str, from_start: bool) -> io::Result<Flow> {
        let (game, result) = files::load(name)?;
        self.result = result;
        self.later.clear();
        self.engine.force();
        self.engine.set_game(game);
        if from_start { self.go_back(usize::MAX) } else { self.show("board") }
    }

    fn show(&mut self, what: &str) -> io::Result<Flow> {
        let text = match what {
            "" | "board" => super::board::draw(self.position(), self.look),
            "fen" => self.position().to_string(),
            "eval" => self.engine.evaluation().explain(self.position()),
            "moves" => self.legal_moves(),
            "game" => {
                files::record(self.engine.game(), self.engine.side(), self.result).to_string()
            }
            "time" => self.time(),
            "book" => self.book_text(),
            "options" => self.options(),
            _ => {
                return Err(failed(
                    "expected board, moves, game, time, fen, eval, book or options",
                ));
            }
        };
        self.tell(text.trim_end())
    }

    fn legal_moves(&self) -> String {
        let position = self.position();
        let words: Vec<String> = position.legal_moves().iter().map(|mv| position.san(mv)).collect();
        words.join(" ")
    }

    fn time(&self) -> String {
        let left = |color| self.engine.clocks().remaining(color).as_secs();
        let (white, black) =
            (left(crate::position::Color::White), left(crate::position::Color::Black));
        let doing = match self.engine.mode() {
            Mode::Thinking => "thinking",
            Mode::Pondering => "thinking on your time",
            Mode::Analysing => "analysing",
            Mode::Waiting => "waiting for your move",
            Mode::Force => "playing neither side",
        };
        format!("White has {white} s, Black {black} s; I am {doing}.")
    }

    fn book_text(&self) -> String {
        let game: &Game = self.engine.game();
        let book = self.engine.book();
        let candidates = Chooser::new(Policy::Prefer, 0).candidates(book, game);
        if candidates.is_empty() {
            return "The book does not know this position.".to_owned();
        }
        cecp::book_lines(book, game).join("\n")
    }

    fn options(&self) -> String {
        let lines = cecp::options(self.engine.settings());
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_twice_in_the_table() {
        let mut names: Vec<&str> = COMMANDS.iter().flat_map(|row| row.names).copied().collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn no_name_looks_like_a_move() {
        for name in COMMANDS.iter().flat_map(|row| row.names) {
            assert!(!cecp::looks_like_move(name), "{name}");
        }
    }
}
