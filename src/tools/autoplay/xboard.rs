//! The match runner's side of the Chess Engine Communication Protocol (xboard). Source:
//! <https://www.gnu.org/software/xboard/engine-intf.html>.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::chess::position::{Game, Move, Position};
use crate::engine::search::Bound;
use crate::protocols::cecp::{
    Audience, Command, Feature, FeatureValue, Level, OptionKind, OptionSpec, Reply, Thinking,
    from_protocol_score,
};

use super::clock::{Clock, MoveLimits};
use super::config::EngineConfig;
use super::process::{Process, Received};
use super::protocol_adapter::{
    BookComment, EngineError, KnownOption, OptionRange, PlayerEvent, ProtocolAdapter, SearchInfo,
    Setup, Turn, read_until, unknown_option,
};

/// How long a GUI waits for an engine's features unless the engine sends `done=0` (engine-intf,
/// section 8).
const FEATURE_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum time to wait for an engine's first reply. It is longer than [`FEATURE_TIMEOUT`],
/// because the engine may still be starting.
const LATE_TIMEOUT: Duration = Duration::from_secs(12);

/// The interval between pings while waiting for an engine's first reply.
const PING_INTERVAL: Duration = Duration::from_secs(1);

/// How long an engine that has sent `done=0` may take to send its features. The specification
/// allows an hour.
const DONE_TIMEOUT: Duration = Duration::from_secs(60);

/// The maximum time that an engine may take to respond to a `ping` between games.
const PONG_TIMEOUT: Duration = Duration::from_secs(20);

/// An engine that does not support `ping` is considered idle if it writes nothing for this long.
const QUIET_TIME: Duration = Duration::from_millis(200);

/// How long to wait for output after sending the first line. The second line must arrive
/// separately, because GNU Chess 6 reads its input in blocks and does not process the second line
/// of a block until more input arrives.
const FIRST_TIMEOUT: Duration = Duration::from_millis(300);

/// The pause after the first output of an engine, to give it time to get ready for the next line.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// Engines that lose input if several lines arrive at once. Each entry contains a prefix of the
/// engine's name and the pause needed after each line.
const NEED_PACE: [(&str, Duration); 1] = [("GNU Chess", Duration::from_millis(10))];

/// Name prefixes of engines whose `st` command does not support fractions of a second. For example,
/// GNU Chess reads 0.2 seconds as 0.
const WHOLE_SECONDS: [&str; 2] = ["GNU Chess", "Sjeng"];

/// Unsupported features. They must be rejected, because the protocol requires a reply to each
/// feature.
const REFUSED: [&str; 4] = ["ics", "pause", "exclude", "colors"];

/// The features that an engine has reported. The defaults are those of the specification.
#[derive(Debug)]
struct Features {
    name: Option<String>,
    ping: bool,
    setboard: bool,
    usermove: bool,
    san: bool,
    time: bool,
    draw: bool,
    reuse: bool,
    memory: bool,
    smp: bool,
    nps: Option<bool>,
    opponent: bool,
    /// The engine's options, keyed by lower-case name.
    options: BTreeMap<String, KnownOption>,
    done: Option<bool>,
    any: bool,
}

impl Default for Features {
    fn default() -> Self {
        Features {
            name: None,
            ping: false,
            setboard: false,
            usermove: false,
            san: false,
            time: true,
            draw: true,
            reuse: true,
            memory: false,
            smp: false,
            nps: None,
            opponent: false,
            options: BTreeMap::new(),
            done: None,
            any: false,
        }
    }
}

#[derive(Debug)]
pub(super) struct Xboard {
    process: Process,
    config: EngineConfig,
    features: Features,
    /// The number of moves in the current game that have been sent to the engine.
    sent_moves: usize,
    /// The last move sent to the engine, in the notation in which it was sent.
    last_move: String,
    /// Whether the engine is in force mode.
    forced: bool,
    thinking: bool,
    pings: u64,
    /// The time limit per move, after which the match runner sends `?` (move now). Set only if the
    /// limit is not a whole number of seconds, because `st` may then not express it exactly.
    move_now_after_time: Option<Duration>,
    /// How long the engine took to send its features. Set only if it took so long that a GUI would
    /// have stopped waiting.
    late: Option<Duration>,
}

impl Xboard {
    pub(super) fn new(config: &EngineConfig, process: Process) -> Self {
        Xboard {
            process,
            config: config.clone(),
            features: Features::default(),
            sent_moves: 0,
            last_move: String::new(),
            forced: true,
            thinking: false,
            pings: 0,
            move_now_after_time: None,
            late: None,
        }
    }

    fn send(&mut self, command: &Command) -> Result<(), EngineError> {
        Ok(self.process.send(command)?)
    }

    fn learn(&mut self, feature: &Feature) -> Result<(), EngineError> {
        let features = &mut self.features;
        features.any = true;
        let on = feature.value == FeatureValue::Number(1);
        match (feature.name.as_str(), &feature.value) {
            ("done", _) => features.done = Some(on),
            ("myname", FeatureValue::Text(name)) => features.name = Some(name.clone()),
            ("option", FeatureValue::Text(text)) => {
                let option = declared_option(text);
                features.options.insert(option.name.to_lowercase(), option);
            }
            ("ping", _) => features.ping = on,
            ("setboard", _) => features.setboard = on,
            ("usermove", _) => features.usermove = on,
            ("san", _) => features.san = on,
            ("time", _) => features.time = on,
            ("draw", _) => features.draw = on,
            ("reuse", _) => features.reuse = on,
            ("memory", _) => features.memory = on,
            ("smp", _) => features.smp = on,
            ("nps", _) => features.nps = Some(on),
            ("name", _) => features.opponent = on,
            _ => {}
        }
        let answer = match REFUSED.contains(&feature.name.as_str()) {
            true => Command::Rejected(feature.name.clone()),
            false => Command::Accepted(feature.name.clone()),
        };
        self.send(&answer)
    }

    /// Reads features until `done=1`. An engine that sends no features in time may not support
    /// them, or may still be starting, so it is pinged: a reply shows that it has started.
    fn read_features(&mut self) -> Result<(), EngineError> {
        let start = Instant::now();
        let mut foreign = None;
        let mut answered = None;
        while self.features.done != Some(true) {
            let is_pinged = self.pings > 0;
            let timeout = match (self.features.done, answered) {
                (Some(_), _) => DONE_TIMEOUT,
                (None, Some(answered)) => answered + FIRST_TIMEOUT,
                (None, None) => FEATURE_TIMEOUT + PING_INTERVAL * self.pings as u32,
            };
            match self.process.receive(start + timeout) {
                Received::Line(line) => {
                    if let Reply::Features(list) = Reply::from(line.text.as_str()) {
                        for feature in &list {
                            self.learn(feature)?;
                        }
                        self.late = self.late.or(is_pinged.then(|| start.elapsed()));
                    } else if is_pinged && answers_ping(&line.text) {
                        // `gnuchess -x` responds to `protover` only after it has received a ping,
                        // so its features may follow this reply.
                        answered = Some(start.elapsed());
                    } else if is_uci_output(&line.text) {
                        foreign = Some(line.text);
                    }
                }
                Received::Closed => return Err(EngineError::Dead(self.process.exit_reason())),
                Received::Timeout if self.features.done == Some(false) => {
                    let problem = "sent \"feature done=0\", but never \"done=1\"";
                    return Err(EngineError::Silent(problem.to_owned()));
                }
                // Keep sending pings, because `gnuchess -x` may not read a line until two more
                // lines have arrived.
                Received::Timeout
                    if !self.features.any
                        && answered.is_none()
                        && foreign.is_none()
                        && start.elapsed() < LATE_TIMEOUT =>
                {
                    self.ping()?;
                }
                Received::Timeout => break,
            }
        }
        match foreign.filter(|_| !self.features.any) {
            Some(line) => Err(EngineError::Unable(format!(
                "it looks like a UCI engine, but was started as an xboard engine: it answers \"{line}\"; \
                 use --proto1 or --proto2 uci"
            ))),
            None => Ok(()),
        }
    }

    fn ping(&mut self) -> Result<u64, EngineError> {
        self.pings += 1;
        self.send(&Command::Ping(self.pings))?;
        Ok(self.pings)
    }

    fn send_options(&mut self) -> Result<(), EngineError> {
        self.set_options(&self.config.options.clone())?;
        for line in self.config.init.clone() {
            self.process.send(&line)?;
        }
        Ok(())
    }

    /// Returns the command that sets an option. If the engine has no option of this name, `memory`
    /// and `cores` are set with the xboard commands of the same names.
    fn setting(&self, name: &str, value: &str) -> Result<Command, EngineError> {
        let Features { options, memory, smp, .. } = &self.features;
        let megabytes = value.parse().ok().filter(|_| *memory);
        let cores = value.parse().ok().filter(|_| *smp);
        match (options.get(name.to_lowercase().as_str()), name, megabytes, cores) {
            (Some(option), ..) => {
                Ok(Command::Option { name: option.name.clone(), value: option.value(value)? })
            }
            (None, "memory", Some(megabytes), _) => Ok(Command::Memory(megabytes)),
            (None, "cores", _, Some(cores)) => Ok(Command::Cores(cores)),
            _ => Err(unknown_option(name, options.values())),
        }
    }

    /// Waits until the engine has processed all commands or, if it does not support `ping`, until
    /// it stops writing.
    fn synchronise(&mut self, deadline: Instant) -> Result<(), EngineError> {
        if self.features.ping {
            let number = self.ping()?;
            let answer = Reply::Pong(number);
            return read_until(&mut self.process, deadline, "pong", |line| {
                Reply::from(line) == answer
            });
        }
        loop {
            match self.process.receive(Instant::now() + QUIET_TIME) {
                Received::Timeout => return Ok(()),
                Received::Closed => return Err(EngineError::Dead(self.process.exit_reason())),
                Received::Line(_) if Instant::now() > deadline => {
                    return Err(EngineError::Silent("never stops writing".to_owned()));
                }
                Received::Line(_) => {}
            }
        }
    }

    fn send_limits(&mut self, limits: &MoveLimits) -> Result<(), EngineError> {
        if let Some(clock) = limits.clock {
            let level = Level {
                moves: clock.moves.unwrap_or(0),
                base: clock.base,
                increment: clock.increment,
            };
            self.send(&Command::Level(level))?;
        }
        if let Some(time) = limits.move_time {
            let whole = Duration::from_secs(time.as_secs() + u64::from(time.subsec_nanos() > 0));
            let name = self.features.name.as_deref().unwrap_or_default();
            let reads_fractions = !WHOLE_SECONDS.iter().any(|start| name.starts_with(start));
            // The protocol does not define fractions of a second in `st`, and engines may interpret
            // them differently, so enforce such limits with "move now".
            self.move_now_after_time = (whole != time).then_some(time);
            self.send(&Command::MoveTime(if reads_fractions { time } else { whole }))?;
        }
        if let Some(depth) = limits.depth {
            self.send(&Command::Depth(depth))?;
        }
        if let Some(nodes) = limits.nodes {
            if self.features.nps == Some(false) {
                let problem = "cannot count nodes instead of time (feature nps=0)";
                return Err(EngineError::Unable(problem.to_owned()));
            }
            self.send(&Command::MoveTime(Duration::from_secs(1)))?;
            self.send(&Command::NodeRate(nodes))?;
        }
        Ok(())
    }

    fn send_start(&mut self, game: &Game) -> Result<(), EngineError> {
        self.sent_moves = 0;
        if *game.start() != Position::start() {
            if !self.features.setboard {
                let problem = "cannot set up positions (feature setboard=0); use openings that \
                    are move lists from the start position";
                return Err(EngineError::Unable(problem.to_owned()));
            }
            self.send(&Command::SetBoard(game.start().fen()))?;
        }
        self.send_moves(game)
    }

    fn send_moves(&mut self, game: &Game) -> Result<(), EngineError> {
        while let Some(&mv) = game.moves().get(self.sent_moves) {
            let before = &game.positions()[self.sent_moves];
            let text = if self.features.san { before.san(mv) } else { mv.to_string() };
            self.last_move.clone_from(&text);
            let command = match self.features.usermove {
                true => Command::UserMove(text),
                false => Command::Move(text),
            };
            self.send(&command)?;
            self.sent_moves += 1;
        }
        Ok(())
    }
}

/// Returns the remaining time in centiseconds, for the `time` and `otim` commands.
fn centiseconds(clock: &Clock) -> i64 {
    i64::try_from(clock.remaining.as_millis() / 10).unwrap_or(i64::MAX)
}

fn declared_option(text: &str) -> KnownOption {
    let bare = || text.split(" -").next().unwrap_or(text).to_owned();
    match text.parse::<OptionSpec>() {
        Ok(OptionSpec { name, kind }) => KnownOption { name, range: range(&kind) },
        Err(()) => KnownOption { name: bare(), range: OptionRange::Other("unknown".to_owned()) },
    }
}

fn range(kind: &OptionKind) -> OptionRange {
    let other = match kind {
        &OptionKind::Spin { min, max, .. } | &OptionKind::Slider { min, max, .. } => {
            return OptionRange::Whole(min, max);
        }
        OptionKind::Text(_) => return OptionRange::Text,
        OptionKind::Check(_) => "check",
        OptionKind::Combo { .. } => "combo",
        OptionKind::File(_) => "file",
        OptionKind::Path(_) => "path",
        OptionKind::Button | OptionKind::Save | OptionKind::Reset => return OptionRange::Button,
    };
    OptionRange::Other(other.to_owned())
}

/// Returns true if a line is a response to `ping`: either `pong`, or an error message that mentions
/// `ping`.
fn answers_ping(line: &str) -> bool {
    matches!(Reply::from(line), Reply::Pong(_)) || line.to_lowercase().contains("ping")
}

/// Returns true if a line looks like the output of a UCI engine that was sent `xboard` and
/// `protover 2`.
fn is_uci_output(line: &str) -> bool {
    let line = line.to_lowercase();
    line.starts_with("id name") || (line.contains("unknown command") && line.contains("xboard"))
}

impl ProtocolAdapter for Xboard {
    fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    fn handshake(&mut self) -> Result<(), EngineError> {
        self.send(&Command::Xboard)?;
        // Wait for the engine's first output. It may send a banner, which is ignored, or nothing at
        // all.
        let _ = self.process.receive(Instant::now() + FIRST_TIMEOUT);
        std::thread::sleep(FIRST_PAUSE);
        self.send(&Command::Protover(2))?;
        self.read_features()?;
        let name = self.features.name.as_deref().unwrap_or_default();
        let quirk = NEED_PACE.iter().find(|(start, _)| name.starts_with(start));
        if let Some((_, pace)) = quirk.filter(|_| self.config.pace.is_none()) {
            self.process.set_pace(*pace);
        }
        self.send_options()
    }

    fn engine_name(&self) -> Option<&str> {
        self.features.name.as_deref()
    }

    fn option_range(&self, name: &str) -> Result<OptionRange, EngineError> {
        let Features { options, memory, smp, .. } = &self.features;
        match (options.get(name.to_lowercase().as_str()), name) {
            (Some(option), _) => Ok(option.range.clone()),
            (None, "memory") if *memory => Ok(OptionRange::Whole(1, i64::MAX)),
            (None, "cores") if *smp => Ok(OptionRange::Whole(1, i64::MAX)),
            _ => Err(unknown_option(name, options.values())),
        }
    }

    fn set_options(&mut self, options: &[(String, String)]) -> Result<(), EngineError> {
        for (name, value) in options {
            let command = self.setting(name, value)?;
            self.send(&command)?;
        }
        Ok(())
    }

    fn startup_retry(&self) -> Option<String> {
        let late = self.late?.as_secs_f64();
        Some(format!("its features came after {late:.1} s (a GUI waits for 2 s)"))
    }

    fn reusable(&self) -> bool {
        self.features.reuse
    }

    fn begin(&mut self, setup: &Setup<'_>) -> Result<(), EngineError> {
        self.send(&Command::New)?;
        self.send(&Command::Force)?;
        self.forced = true;
        self.thinking = false;
        self.send_limits(&setup.clock.limits)?;
        self.send(&if setup.ponder { Command::Hard } else { Command::Easy })?;
        self.send(&Command::Post)?;
        // Unlike xboard, send `name` and `computer` only to engines that request them. Fairy-Max
        // 5.0b interprets `computer` as a move and may crash.
        if self.features.opponent {
            self.send(&Command::Name(setup.opponent.to_owned()))?;
            self.send(&Command::Computer)?;
        }
        self.send_start(setup.game)?;
        self.synchronise(Instant::now() + PONG_TIMEOUT)
    }

    fn go(&mut self, turn: &Turn<'_>) -> Result<(), EngineError> {
        if self.features.time && turn.own.limits.clock.is_some() {
            self.send(&Command::Time(centiseconds(turn.own)))?;
            let other = if turn.other.limits.clock.is_some() { turn.other } else { turn.own };
            self.send(&Command::OtherTime(centiseconds(other)))?;
        }
        self.send_moves(turn.game)?;
        if self.forced {
            self.forced = false;
            self.send(&Command::Go)?;
        }
        self.thinking = true;
        Ok(())
    }

    fn moved(&mut self, turn: &Turn<'_>, _ponder: Option<Move>) -> Result<(), EngineError> {
        self.thinking = false;
        self.sent_moves = turn.game.moves().len();
        Ok(())
    }

    fn interpret(&mut self, line: &str) -> Option<PlayerEvent> {
        match Reply::from(line) {
            Reply::Move(text) => Some(PlayerEvent::Move { text, ponder: None }),
            Reply::Thinking(thinking) => Some(PlayerEvent::Thinking(info(&thinking))),
            Reply::Resign => Some(PlayerEvent::Resign),
            Reply::OfferDraw => Some(PlayerEvent::OfferDraw),
            Reply::Result { result, comment } => Some(PlayerEvent::Claim { result, comment }),
            // Some engines also reply `Illegal move` to unknown commands, so the reply must contain
            // the last move sent.
            Reply::IllegalMove { text, .. }
                if !self.last_move.is_empty() && text.contains(&self.last_move) =>
            {
                Some(PlayerEvent::MoveRejected(text))
            }
            Reply::Tell { audience: Audience::Others | Audience::All, text } => {
                BookComment::read(&text).map(PlayerEvent::Book)
            }
            _ => None,
        }
    }

    fn move_now_after(&self) -> Option<Duration> {
        self.move_now_after_time
    }

    fn move_now(&mut self) -> Result<(), EngineError> {
        self.send(&Command::MoveNow)
    }

    fn offer_draw(&mut self) -> Result<(), EngineError> {
        match self.features.draw {
            true => self.send(&Command::Draw),
            false => Ok(()),
        }
    }

    fn finish(
        &mut self,
        result: &str,
        comment: &str,
        deadline: Instant,
    ) -> Result<(), EngineError> {
        let (result, comment) = (result.to_owned(), comment.replace(['{', '}'], ""));
        self.send(&Command::Result { result, comment })?;
        self.send(&Command::Force)?;
        self.forced = true;
        if self.thinking && !self.features.ping {
            // Read the pending move, so that it is not mistaken for a move in the next game.
            self.thinking = false;
            let is_move = |line: &str| matches!(Reply::from(line), Reply::Move(_));
            let _ = read_until(&mut self.process, Instant::now() + QUIET_TIME, "move", is_move);
        }
        self.synchronise(deadline)
    }
}

fn info(thinking: &Thinking) -> SearchInfo {
    SearchInfo {
        score: (thinking.bound == Bound::Exact).then(|| from_protocol_score(thinking.score)),
        depth: u32::try_from(thinking.depth).unwrap_or(0),
        nodes: thinking.nodes,
        elapsed: thinking.elapsed,
        selective_depth: thinking.extras.map(|extras| extras.selective_depth.into()),
        speed: thinking.extras.map(|extras| extras.speed),
        hash_full: None,
        tablebase_hits: thinking.extras.map(|extras| extras.tablebase_hits),
        line: thinking.line.clone(),
        // `{book}` only marks the point where the principal variation enters the book; it does not
        // mean that the engine plays a book move.
        book: BookComment::read(&thinking.line.replace("{book}", "")) == Some(BookComment::Move),
        ending: String::new(),
    }
}
