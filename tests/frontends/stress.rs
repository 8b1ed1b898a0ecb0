//! Sends random commands in random states without waiting for the engine, and checks that every
//! command is answered. No time limits apply, except for the watchdog in `support`.

use std::collections::VecDeque;
use std::thread::sleep;
use std::time::Duration;

use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::support::Engine;
use tabia::cecp::Reply;
use tabia::position::{Color, Game, Move, Position};

/// The number of commands sent to each protocol, in short runs and in long runs.
const SHORT: usize = 1_000;
const LONG: usize = 20_000;

/// After this many commands, the test waits until the engine has answered all of them.
const SYNC_EVERY: usize = 25;

/// The maximum length of a game in plies. When it is reached, a new game begins.
const LONGEST: usize = 60;

const MATE_IN_ONE: &str = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1";
const STALEMATE: &str = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";
const ENDGAME: &str = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1";
const INVALID: &str = "8/8/8/8/8/8/8/8 w - - 0 1";

fn random(seed: u64) -> TestRng {
    TestRng::from_seed(RngAlgorithm::ChaCha, &[seed.to_le_bytes(); 4].concat())
}

fn pick<'a>(random: &mut TestRng, lines: &[&'a str]) -> &'a str {
    lines[random.random_range(0..lines.len())]
}

/// Returns a random legal move, or `None` if there is none or the game has reached its maximum
/// length.
fn legal_move(random: &mut TestRng, game: &Game) -> Option<Move> {
    let moves = game.position().legal_moves();
    if moves.is_empty() || game.moves().len() >= LONGEST {
        return None;
    }
    moves.iter().nth(random.random_range(0..moves.len()))
}

fn pause(random: &mut TestRng) {
    sleep(Duration::from_micros(random.random_range(0..10_000)));
}

/// Imitates an xboard GUI that sends random commands at any moment. It updates its board without
/// waiting for the engine, and starts a new game if its board no longer matches the engine's.
struct RandomGui {
    engine: Engine,
    random: TestRng,
    /// The game according to the GUI, or `None` if its board no longer matches the engine's.
    game: Option<Game>,
    side: Option<Color>,
    /// The number of GUI moves accepted by the engine, and the number of moves made by the engine.
    moves: [usize; 2],
    thinking_lines: usize,
}

/// The commands to choose from, except for moves and positions, which are chosen separately.
#[rustfmt::skip]
const COMMANDS: [&str; 53] = [
    "force", "go", "go", "playother", "undo", "remove", "hard", "hard", "easy", "post", "post",
    "post", "nopost", "analyze", "analyze", "exit", ".", "?", "draw", "hint", "bk", "pause", "resume",
    "result 1-0 {White mates}", "usermove e2e5", "e7e8q", "Nf3", "exclude e2e4", "exclude all",
    "include all", "include e2e4", "memory 1", "memory 3", "cores 1", "cores 2", "cores 3",
    "option OwnBook=0", "option OwnBook=1", "option MultiPV=2", "option MultiPV=1",
    "option BookSearch=stop", "option BookSearch=off", "option ClearHash", "option BookFile=",
    "option BookFile=/nowhere", "option x", "level 40 0:01 0", "st 0.01\nnps 0", "st 1\nnps 3000",
    "time 3", "otim 100", "sd 5", "name Zoë",
];

impl RandomGui {
    fn new(seed: u64) -> Self {
        let mut engine = Engine::start(&["-x"]);
        engine.send("xboard\nprotover 2");
        engine.until(|line| line == "feature done=1");
        engine.send("new\nst 1\nnps 3000\npost");
        RandomGui {
            engine,
            random: random(seed),
            game: Some(Game::default()),
            side: Some(Color::Black),
            moves: [0; 2],
            thinking_lines: 0,
        }
    }

    fn receive(&mut self, lines: &[String]) {
        for line in lines {
            match Reply::from(line.as_str()) {
                Reply::Move(text) => {
                    self.moves[1] += 1;
                    let mv = text.parse::<Move>().expect("a move in coordinates");
                    let played = self.game.as_mut().map(|game| game.play(mv));
                    self.game.take_if(|_| played.is_some_and(|played| played.is_err()));
                }
                Reply::IllegalMove { text, .. } if !["e2e5", "e7e8q", "Nf3"].contains(&&*text) => {
                    self.moves[0] -= 1;
                    self.game = None;
                }
                Reply::Thinking(_) => self.thinking_lines += 1,
                _ => {}
            }
        }
    }

    /// Stops any thinking, and waits until the engine has answered all commands.
    fn wait_for_answers(&mut self) {
        self.engine.send("resume\n?");
        let lines = self.engine.sync();
        self.receive(&lines);
        self.engine.received.clear();
    }

    fn to_move(&self) -> Option<Color> {
        self.game.as_ref().map(|game| game.position().side_to_move())
    }

    fn play(&mut self) {
        if self.side.is_some() && self.side == self.to_move() {
            self.wait_for_answers();
        }
        let mv = self.game.as_ref().and_then(|game| legal_move(&mut self.random, game));
        match (mv, &mut self.game) {
            (Some(mv), Some(game)) => {
                game.play(mv).expect("a legal move");
                self.moves[0] += 1;
                self.engine.send(&format!("usermove {mv}"));
            }
            _ => self.begin(),
        }
    }

    fn begin(&mut self) {
        let fen = pick(&mut self.random, &["", "", ENDGAME, MATE_IN_ONE, STALEMATE, INVALID]);
        match Position::from_fen(fen) {
            Ok(position) => {
                self.game = Some(Game::new(position));
                self.side = self.side.map(|_| !position.side_to_move());
                self.engine.send(&format!("setboard {fen}"));
            }
            Err(_) if fen == INVALID => {
                self.game = None;
                self.engine.send(&format!("setboard {fen}"));
            }
            Err(_) => {
                (self.game, self.side) = (Some(Game::default()), Some(Color::Black));
                self.engine.send("new");
            }
        }
    }

    fn command(&mut self) {
        let line = pick(&mut self.random, &COMMANDS);
        self.engine.send(line);
        let plies = match line {
            "undo" => 1,
            "remove" => 2,
            _ => 0,
        };
        if let Some(game) = self.game.as_mut().filter(|game| game.moves().len() >= plies) {
            (0..plies).for_each(|_| _ = game.undo());
        }
        let to_move = self.to_move();
        match line {
            "force" | "analyze" | "result 1-0 {White mates}" => self.side = None,
            "go" => self.side = to_move,
            "playother" => self.side = to_move.map(|color| !color),
            "undo" | "remove" if self.side.is_some() => self.side = to_move.map(|color| !color),
            _ => {}
        }
    }

    fn run(mut self, number: usize) {
        for count in 1..=number {
            match self.random.random_range(0..20) {
                0..=2 => pause(&mut self.random),
                3..=9 => self.play(),
                10 => self.begin(),
                _ => self.command(),
            }
            let lines = self.engine.pending();
            self.receive(&lines);
            if count % SYNC_EVERY == 0 {
                self.wait_for_answers();
            }
        }
        let RandomGui { mut engine, moves: [users, own], thinking_lines, .. } = self;
        println!(
            "{number} commands: {users} moves accepted, {own} made, {thinking_lines} thinking lines"
        );
        assert!(users > number / 10 && own > number / 50 && thinking_lines > number / 50);
        engine.send("exit\nforce");
        engine.sync();
        assert_eq!(engine.quit(), "");
    }
}

#[test]
fn random_xboard_commands_are_answered() {
    RandomGui::new(20_240_229).run(SHORT);
}

#[test]
#[ignore = "20,000 commands take half a minute: .ci/run does it in release"]
fn many_random_xboard_commands_are_answered() {
    for seed in 1..=4 {
        RandomGui::new(seed).run(LONG / 4);
    }
}

#[rustfmt::skip]
const UCI_COMMANDS: [&str; 24] = [
    "go infinite", "go infinite", "go ponder wtime 100 btime 100", "go ponder movetime 5",
    "go depth 4", "go nodes 2000", "go movetime 3", "go wtime 50 btime 50 winc 1 binc 1", "go mate 2",
    "stop", "stop", "stop", "ponderhit", "ponderhit", "isready", "ucinewgame",
    "setoption name Hash value 1", "setoption name Hash value 4", "setoption name Threads value 1",
    "setoption name Threads value 3", "setoption name MultiPV value 2",
    "setoption name MultiPV value 1", "setoption name Clear Hash", "setoption name x value y",
];

/// Sends random UCI commands. The engine must answer every `go` with exactly one `bestmove` that is
/// legal in the position searched.
fn uci(seed: u64, number: usize) {
    let mut engine = Engine::start(&["--uci"]);
    engine.send("uci");
    engine.until(|line| line == "uciok");
    let mut random = random(seed);
    let mut game = Game::default();
    let mut awaited = VecDeque::new();
    for count in 1..=number {
        match random.random_range(0..10) {
            0 => pause(&mut random),
            1 | 2 => {
                game = random_game(&mut random);
                let moves: Vec<String> = game.moves().iter().map(Move::to_string).collect();
                engine.send(&format!("position startpos moves {}", moves.join(" ")));
            }
            _ => {
                let line = pick(&mut random, &UCI_COMMANDS);
                engine.send(line);
                match line {
                    "ucinewgame" => game = Game::default(),
                    _ if line.starts_with("go") => awaited.push_back(*game.position()),
                    _ => {}
                }
            }
        }
        check_answers(&engine.pending(), &mut awaited);
        if count % SYNC_EVERY == 0 {
            engine.send("stop");
            while !awaited.is_empty() {
                check_answers(&[engine.line()], &mut awaited);
            }
            engine.send("isready");
            check_answers(&engine.until(|line| line == "readyok"), &mut awaited);
            engine.received.clear();
        }
    }
    assert_eq!(engine.quit(), "");
}

fn random_game(random: &mut TestRng) -> Game {
    let mut game = Game::default();
    for _ in 0..random.random_range(0..LONGEST) {
        let Some(mv) = legal_move(random, &game) else { break };
        game.play(mv).expect("a legal move");
    }
    game
}

fn check_answers(lines: &[String], awaited: &mut VecDeque<Position>) {
    for line in lines {
        let Some(best) = line.strip_prefix("bestmove ") else { continue };
        let position = awaited.pop_front().unwrap_or_else(|| panic!("unexpected {line}"));
        let mv = best.split(' ').next().and_then(|word| word.parse::<Move>().ok());
        let legal = mv.map_or_else(|| position.has_no_moves(), |mv| position.is_legal(mv));
        assert!(legal, "{line} in {position}");
    }
}

#[test]
fn random_uci_commands_are_answered() {
    uci(20_240_229, SHORT);
}

#[test]
#[ignore = "20,000 commands take half a minute: .ci/run does it in release"]
fn many_random_uci_commands_are_answered() {
    for seed in 1..=4 {
        uci(seed, LONG / 4);
    }
}
