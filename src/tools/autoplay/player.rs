//! An engine that takes part in the match: its process and the conversation with it.

use std::time::{Duration, Instant};

use thiserror::Error;

use crate::protocols::cecp::Reply;
use crate::protocols::uci;
use crate::support::words::{clip, visible};

use super::config::{EngineConfig, Protocol};
use super::process::{Process, Received, SpawnError, Trace};
use super::protocol_adapter::{EngineError, ProtocolAdapter};
use super::uci::Uci;
use super::xboard::Xboard;

/// How long an engine may take to say `uciok` when its protocol is being found out, before it is
/// asked for its xboard features, too.
const PROBE_TIMEOUT: Duration = Duration::from_millis(1500);

/// How long it may take then for either answer: it may still be starting.
const LATE_TIMEOUT: Duration = Duration::from_secs(10);

/// An engine did not get as far as playing.
#[derive(Debug, Error)]
pub enum StartError {
    /// It could not be started at all.
    #[error("{engine}: {cause}")]
    Spawn {
        /// Which engine.
        engine: String,
        /// Why.
        cause: SpawnError,
    },
    /// It was started, but did not say what it should.
    #[error("{engine}: {cause}{}", with_last_output(last_output))]
    Greeting {
        /// Which engine.
        engine: String,
        /// Why.
        cause: EngineError,
        /// What it wrote last.
        last_output: Vec<String>,
    },
    /// It cannot play what is asked for.
    #[error("the match cannot be played: {0}")]
    Unable(String),
}

impl StartError {
    /// How many starts in a row may fail like this until it is no accident: a machine that is short
    /// of something, or an engine that stumbled, may do better next time; another engine will not
    /// be found where there is none.
    pub fn attempts(&self) -> u32 {
        match self {
            StartError::Spawn { cause: SpawnError::Other { .. }, .. } => 3,
            StartError::Greeting { cause: EngineError::Dead(_), .. } => 3,
            // This one was waited for at length.
            StartError::Greeting { cause: EngineError::Silent(_), .. } => 2,
            _ => 1,
        }
    }
}

/// The engine's last words as the end of a message.
fn with_last_output(last_output: &[String]) -> String {
    match last_output {
        [] => "; it wrote nothing".to_owned(),
        lines => format!("; it last wrote:\n    {}", lines.join("\n    ")),
    }
}

/// An engine in the match.
pub struct Player {
    /// What it is called.
    pub name: String,
    /// The conversation with it.
    pub adapter: Box<dyn ProtocolAdapter>,
}

impl Player {
    /// Starts an engine and makes its acquaintance.
    ///
    /// # Errors
    /// If it cannot be started, or does not speak the protocol.
    pub fn start(config: &EngineConfig, trace: &Trace) -> Result<Self, StartError> {
        let protocol = find_protocol(config, trace)?;
        let process = spawn(config, trace)?;
        let mut adapter: Box<dyn ProtocolAdapter> = match protocol {
            Protocol::Uci => Box::new(Uci::new(config, process)),
            _ => Box::new(Xboard::new(config, process)),
        };
        match adapter.handshake() {
            Ok(()) => {
                let own = adapter.engine_name().map_or_else(|| config.label(), shown_name);
                let name = if config.name.is_empty() { own } else { config.name.clone() };
                Ok(Player { name, adapter })
            }
            Err(cause) => Err(StartError::Greeting {
                engine: config.label(),
                cause,
                last_output: adapter.process().last_output(),
            }),
        }
    }

    /// Says goodbye; the process is gone on return.
    pub fn quit(mut self) {
        self.adapter.process().quit("quit");
    }
}

/// What an engine calls itself, as a name for tables and tags.
fn shown_name(name: &str) -> String {
    clip(&visible(name.trim())).into_owned()
}

/// Starts an engine without a word.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn spawn(config: &EngineConfig, trace: &Trace) -> Result<Process, StartError> {
    Process::spawn(config, trace)
        .map_err(|cause| StartError::Spawn { engine: config.label(), cause })
}

/// The protocol an engine speaks. It is asked whether it speaks UCI, in a process of its own, since
/// xboard engines may not survive the question.
///
/// # Errors
/// If the engine cannot be started.
pub(crate) fn find_protocol(config: &EngineConfig, trace: &Trace) -> Result<Protocol, StartError> {
    if config.protocol != Protocol::Auto {
        return Ok(config.protocol);
    }
    // An xboard engine may die of the question, but a start may also fail once.
    let answer = match probe_protocol(config, trace)? {
        ProtocolAnswer::Gone => probe_protocol(config, trace)?,
        answer => answer,
    };
    Ok(if answer == ProtocolAnswer::Is(Protocol::Uci) { Protocol::Uci } else { Protocol::Xboard })
}

/// What an engine answers to the question for its protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProtocolAnswer {
    Is(Protocol),
    Nothing,
    Gone,
}

/// Asks a new process for its protocol.
fn probe_protocol(config: &EngineConfig, trace: &Trace) -> Result<ProtocolAnswer, StartError> {
    let mut process = spawn(config, trace)?;
    let mut answer = ProtocolAnswer::Gone;
    // An engine that is gone already has answered, too.
    if process.send(uci::Command::Uci).is_ok() {
        answer = detect_protocol(&mut process, Instant::now() + PROBE_TIMEOUT);
    }
    // `gnuchess -x` may read a line only once two more have come.
    let questions = [
        (&["xboard", "protover 2"][..], PROBE_TIMEOUT),
        (&["ping 1"], PROBE_TIMEOUT),
        (&["ping 2"], LATE_TIMEOUT),
    ];
    for (questions, timeout) in questions {
        if answer == ProtocolAnswer::Nothing
            && questions.iter().try_for_each(|question| process.send(question)).is_ok()
        {
            answer = detect_protocol(&mut process, Instant::now() + timeout);
        }
    }
    process.quit("quit");
    Ok(answer)
}

/// Listens for what tells the protocol.
fn detect_protocol(process: &mut Process, deadline: Instant) -> ProtocolAnswer {
    loop {
        match process.receive(deadline) {
            Received::Timeout => return ProtocolAnswer::Nothing,
            Received::Closed => return ProtocolAnswer::Gone,
            Received::Line(line) if uci::Reply::from(&*line.text) == uci::Reply::UciOk => {
                return ProtocolAnswer::Is(Protocol::Uci);
            }
            Received::Line(line) => {
                let reply = Reply::from(line.text.as_str());
                let is_xboard = matches!(reply, Reply::Features(_) | Reply::Pong(_));
                if is_xboard || refuses(&line.text) {
                    return ProtocolAnswer::Is(Protocol::Xboard);
                }
            }
        }
    }
}

/// Whether a line says that `uci` was not understood.
fn refuses(line: &str) -> bool {
    let line = line.to_lowercase();
    let says_no = ["error", "illegal", "invalid", "unknown"].iter().any(|word| line.contains(word));
    says_no && line.contains("uci")
}
