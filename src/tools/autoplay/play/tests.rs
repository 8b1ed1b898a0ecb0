use std::sync::mpsc::channel;
use std::thread;

use super::*;
use crate::chess::position::Position;
use crate::tools::autoplay::clock::MoveLimits;
use crate::tools::autoplay::config::{EngineConfig, Protocol};
use crate::tools::autoplay::process::Process;
use crate::tools::autoplay::protocol_adapter::{OptionRange, ProtocolAdapter};

/// A time limit that is reached only if the test hangs.
const DEADLINE: Duration = Duration::from_secs(120);
/// The engine timeout. It is longer than the deadline, so that a hanging test fails instead of
/// declaring the engine hung.
const TIMEOUT: Duration = Duration::from_secs(3600);
const MOVE_TIME: Duration = Duration::from_millis(50);

/// A shell script that acts as an engine. On `go` it prints a line of thinking output, but it sends
/// its move only when it receives `answer`.
const SCRIPT: &str = r#"
        while read -r line; do case "$line" in
            uci) echo uciok;;
            isready) echo readyok;;
            protover*) echo feature ping=1 setboard=1 done=1;;
            ping*) echo "pong ${line#ping }";;
            "go "*) echo info depth 1 score cp 5;;
            go) echo 1 5 0 1 e2e4;;
            answer) echo "$0";;
            quit) exit;;
        esac; done
    "#;

/// An adapter for an engine that moves late. By the time the match runner processes the engine's
/// earlier output, the move is already in the channel.
struct LateEngine(Box<dyn ProtocolAdapter>);

impl ProtocolAdapter for LateEngine {
    fn interpret(&mut self, line: &str) -> Option<PlayerEvent> {
        let event = self.0.interpret(line);
        if let Some(PlayerEvent::Thinking(_)) = event {
            thread::sleep(2 * MOVE_TIME);
            self.process().send("answer").expect("it reads");
            let begin = Instant::now();
            while self.process().lines().is_empty() {
                assert!(begin.elapsed() < DEADLINE, "no answer");
                thread::sleep(Duration::from_millis(1));
            }
        }
        event
    }
    fn process(&mut self) -> &mut Process {
        self.0.process()
    }
    fn handshake(&mut self) -> Result<(), EngineError> {
        self.0.handshake()
    }
    fn engine_name(&self) -> Option<&str> {
        self.0.engine_name()
    }
    fn option_range(&self, name: &str) -> Result<OptionRange, EngineError> {
        self.0.option_range(name)
    }
    fn set_options(&mut self, options: &[(String, String)]) -> Result<(), EngineError> {
        self.0.set_options(options)
    }
    fn reusable(&self) -> bool {
        self.0.reusable()
    }
    fn begin(&mut self, setup: &Setup<'_>) -> Result<(), EngineError> {
        self.0.begin(setup)
    }
    fn go(&mut self, turn: &Turn<'_>) -> Result<(), EngineError> {
        self.0.go(turn)
    }
    fn moved(&mut self, turn: &Turn<'_>, ponder: Option<Move>) -> Result<(), EngineError> {
        self.0.moved(turn, ponder)
    }
    fn move_now(&mut self) -> Result<(), EngineError> {
        self.0.move_now()
    }
    fn offer_draw(&mut self) -> Result<(), EngineError> {
        self.0.offer_draw()
    }
    fn finish(
        &mut self,
        result: &str,
        comment: &str,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        self.0.finish(result, comment, deadline)
    }
}

/// Plays a game from the position `fen` in which White's first answer, `answer`, arrives too late.
fn late(protocol: Protocol, answer: &'static str, fen: &str) -> Played {
    let start = Position::from_fen(fen).expect(fen);
    let (sender, played) = channel();
    thread::spawn(move || {
        let command = ["sh", "-c", SCRIPT, answer].map(str::to_owned).to_vec();
        let config = EngineConfig { command, protocol, ..EngineConfig::default() };
        let player = || Player::start(&config, &None).expect("it starts");
        let (white, mut black) = (player(), player());
        let Player { name, adapter } = white;
        let mut white = Player { name, adapter: Box::new(LateEngine(adapter)) };
        let limits = MoveLimits { move_time: Some(MOVE_TIME), ..MoveLimits::default() };
        let clock = || Clock::new(limits, Duration::ZERO);
        let conditions = Conditions { rules: Rules::default(), tablebases: None, timeout: TIMEOUT };
        let players = [&mut white, &mut black];
        let game = Game::new(start);
        let interrupt = Interrupt::new();
        let clocks = [clock(), clock()];
        let result = play(players, game, clocks, [false; 2], &conditions, &interrupt, &mut |_| {});
        sender.send(result).expect("the receiver waits");
    });
    played.recv_timeout(DEADLINE).expect("the game ends at once")
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[test]
fn answer_after_the_flag_fell_loses_on_time() {
    for (protocol, answer) in [
        (Protocol::Uci, "bestmove e2e4"),
        (Protocol::Uci, "bestmove e2e5"),
        (Protocol::Uci, "bestmove (none)"),
        (Protocol::Xboard, "move e2e4"),
        (Protocol::Xboard, "move e2e5"),
        (Protocol::Xboard, "resign"),
        (Protocol::Xboard, "1-0 {White mates}"),
        (Protocol::Xboard, "1/2-1/2 {Draw by repetition}"),
        (Protocol::Xboard, "0-1 {White resigns}"),
    ] {
        let Played { verdict, broken, moves, .. } = late(protocol, answer, START);
        assert_eq!(verdict.termination, Termination::Time, "{answer}: {}", verdict.detail);
        assert_eq!(verdict.winner, Some(Color::Black), "{answer}: {}", verdict.detail);
        assert_eq!((broken, moves.len()), ([false; 2], 0), "{answer}");
    }
}

#[test]
fn time_loss_is_a_draw_if_the_opponent_cannot_mate() {
    for (fen, winner) in [
        ("6k1/8/8/8/3R4/5K2/8/8 w - - 0 1", None),
        ("6k1/6n1/8/8/3Q4/5K2/8/8 w - - 0 1", None),
        ("6k1/6n1/8/8/3R4/5K2/8/8 w - - 0 1", Some(Color::Black)),
        ("6k1/6p1/8/8/8/5K2/8/8 w - - 0 1", Some(Color::Black)),
        ("6k1/6b1/8/8/3R4/5K2/8/8 w - - 0 1", None),
        ("6k1/6b1/8/8/3P4/5K2/8/8 w - - 0 1", Some(Color::Black)),
    ] {
        let verdict = late(Protocol::Uci, "bestmove d4d5", fen).verdict;
        assert_eq!(verdict.termination, Termination::Time, "{fen}: {}", verdict.detail);
        assert_eq!(verdict.winner, winner, "{fen}: {}", verdict.detail);
    }
}

#[test]
fn opening_that_ends_the_game_gives_no_result() {
    let mate = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
    let verdict = late(Protocol::Uci, "bestmove e2e4", mate).verdict;
    assert_eq!((verdict.termination, verdict.winner), (Termination::Unfinished, None));
    assert_eq!(verdict.detail, "the opening ends the game: Black mates");
}
