//! A match participant: the process of an engine and its protocol adapter.

use std::io;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::protocols::cecp::Reply;
use crate::protocols::uci;
use crate::support::words::{clip, visible};

use super::config::{EngineConfig, Protocol};
use super::process::{Process, Received, Trace};
use super::protocol_adapter::{EngineError, ProtocolAdapter};
use super::uci::Uci;
use super::xboard::Xboard;

/// How long to wait for a response during protocol detection before sending the next command.
const PROBE_TIMEOUT: Duration = Duration::from_millis(1500);

/// How long to wait for a response after the last command of protocol detection. The engine may
/// still be starting.
const LATE_TIMEOUT: Duration = Duration::from_secs(10);

/// Why an engine could not be started.
#[derive(Debug, Error)]
pub enum StartError {
    /// The engine's process could not be started.
    #[error("{engine}: {cause}")]
    Spawn {
        /// The engine's name.
        engine: String,
        /// The error reported by the operating system.
        cause: io::Error,
    },
    /// The engine was started, but the handshake failed.
    #[error("{engine}: {cause}{}", with_last_output(last_output))]
    Greeting {
        /// The engine's name.
        engine: String,
        /// The reason why the handshake failed.
        cause: EngineError,
        /// The engine's last output.
        last_output: Vec<String>,
    },
    /// The engine does not support something that the match requires. Contains a description of it.
    #[error("cannot play the match: {0}")]
    Unable(String),
}

impl StartError {
    /// Returns how many times to try to start the engine before giving up with this error. Retrying
    /// helps if resources are short, but not if the program is missing.
    pub fn attempts(&self) -> u32 {
        match self {
            StartError::Spawn { cause, .. } => match cause.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => 1,
                _ => 3,
            },
            StartError::Greeting { cause: EngineError::Dead(_), .. } => 3,
            // Only two attempts, because each one waits until a long timeout expires.
            StartError::Greeting { cause: EngineError::Silent(_), .. } => 2,
            _ => 1,
        }
    }
}

/// Formats the engine's last output lines as the end of an error message.
fn with_last_output(last_output: &[String]) -> String {
    match last_output {
        [] => "; it wrote nothing".to_owned(),
        lines => format!("; it last wrote:\n    {}", lines.join("\n    ")),
    }
}

pub struct Player {
    pub name: String,
    pub adapter: Box<dyn ProtocolAdapter>,
}

impl Player {
    /// Starts an engine and performs the handshake.
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

    /// Sends `quit` and waits briefly for the process to exit. If it does not, it is killed.
    pub fn quit(mut self) {
        self.adapter.process().quit("quit");
    }
}

/// Clips a name reported by an engine and makes it printable, for use in tables and PGN tags.
fn shown_name(name: &str) -> String {
    clip(&visible(name.trim())).into_owned()
}

/// Starts the process without sending anything to it.
pub(crate) fn spawn(config: &EngineConfig, trace: &Trace) -> Result<Process, StartError> {
    Process::spawn(config, trace)
        .map_err(|cause| StartError::Spawn { engine: config.label(), cause })
}

/// Detects an engine's protocol unless it is configured. The probe uses a separate process, because
/// an xboard engine may exit when it receives `uci`.
pub(crate) fn find_protocol(config: &EngineConfig, trace: &Trace) -> Result<Protocol, StartError> {
    if config.protocol != Protocol::Auto {
        return Ok(config.protocol);
    }
    // A start may fail for a temporary reason, so if the engine exits, try once more.
    let answer = match probe_protocol(config, trace)? {
        ProtocolAnswer::Gone => probe_protocol(config, trace)?,
        answer => answer,
    };
    Ok(if answer == ProtocolAnswer::Is(Protocol::Uci) { Protocol::Uci } else { Protocol::Xboard })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProtocolAnswer {
    Is(Protocol),
    Nothing,
    Gone,
}

fn probe_protocol(config: &EngineConfig, trace: &Trace) -> Result<ProtocolAnswer, StartError> {
    let mut process = spawn(config, trace)?;
    let mut answer = ProtocolAnswer::Gone;
    // A failed write means that the engine has exited.
    if process.send(uci::Command::Uci).is_ok() {
        answer = detect_protocol(&mut process, Instant::now() + PROBE_TIMEOUT);
    }
    // Send two pings, because `gnuchess -x` may not read a line until two more lines have arrived.
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

/// Reads output until the protocol has been identified or the deadline has passed.
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

/// Returns whether `line` is an error message about the command `uci`.
fn refuses(line: &str) -> bool {
    let line = line.to_lowercase();
    let says_no = ["error", "illegal", "invalid", "unknown"].iter().any(|word| line.contains(word));
    says_no && line.contains("uci")
}
