//! The match runner's side of the Chess Engine Communication Protocol.
//!
//! Source: <https://www.gnu.org/software/xboard/engine-intf.html>.

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

/// How long a GUI waits for features unless `done=0` comes (engine-intf, section 8).
const FEATURE_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum time without any reply at the start: the engine may still be loading.
const LATE_TIMEOUT: Duration = Duration::from_secs(12);

/// Interval of pings meanwhile.
const PING_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum time after `done=0`; the specification allows an hour.
const DONE_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum time for a `pong` between games.
const PONG_TIMEOUT: Duration = Duration::from_secs(20);

/// Time for an engine without `ping` to finish its current work.
const QUIET_TIME: Duration = Duration::from_millis(200);

/// How long to wait for output between the first two lines: GNU Chess 6 reads its input in blocks,
/// and leaves the second line of a block unread until more input comes.
const FIRST_TIMEOUT: Duration = Duration::from_millis(300);

/// Pause after that output, so that the engine is reading again.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// Engines that lose input when lines arrive together, by the beginning of their name.
const NEED_PACE: [(&str, Duration); 1] = [("GNU Chess", Duration::from_millis(10))];

/// Engines that do not read fractions of a second in `st`, by the beginning of their name: GNU
/// Chess reads 0.2 seconds as 0.
const WHOLE_SECONDS: [&str; 2] = ["GNU Chess", "Sjeng"];

/// Features that the match runner does not use. They are rejected, as the protocol requires a
/// reply.
const REFUSED: [&str; 4] = ["ics", "pause", "exclude", "colors"];

/// The features of the engine, initially the defaults of the specification.
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
    /// By lower-case name.
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
    /// Number of moves of the game sent to the engine.
    sent_moves: usize,
    /// The last of them as it was sent.
    last_move: String,
    /// Whether the engine is in force mode.
    forced: bool,
    thinking: bool,
    pings: u64,
    /// The move time, if `st` may not have expressed it.
    move_now_after_time: Option<Duration>,
    /// When its features came, if they came too late for a GUI.
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

    /// Reads features until `done=1`. An engine that sends none in time may be an old one without
    /// features, or may still be starting; a ping distinguishes the two.
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
                        // `gnuchess -x` answers `protover` only after a ping.
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
                // `gnuchess -x` may read a line only after two more have arrived.
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
                "answers \"{line}\": this looks like a UCI engine, started as an xboard engine; \
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

    /// The command that sets an option, or a setting that has its own xboard command.
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

    /// Waits until the engine has processed all commands.
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
            // The protocol does not define fractions, so engines may interpret them in any way.
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

/// The time left in centiseconds, for `time` and `otim`.
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

/// Whether a line answers `ping`, possibly with an error message.
fn answers_ping(line: &str) -> bool {
    matches!(Reply::from(line), Reply::Pong(_)) || line.to_lowercase().contains("ping")
}

/// Whether a line is the reply of a UCI engine to `xboard` and `protover 2`.
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
        // The content does not matter: a banner, or nothing.
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
        // Unlike xboard, send it only on request: Fairy-Max 5.0b takes `computer` for a move, and
        // may crash.
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
            // Some engines send this for unknown commands, too.
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
            // Consume the pending move, so that it does not reach the next game.
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
        line: thinking.line.clone(),
        // The mark where the line enters the book is not a comment.
        book: BookComment::read(&thinking.line.replace("{book}", "")) == Some(BookComment::Move),
        ending: String::new(),
    }
}
