//! Engine definitions: command, protocol, options and limits.
//!
//! ```
//! use tabia::autoplay::config::{EngineConfig, Protocol};
//!
//! let engine = EngineConfig::from_command("toga2 -x 'a b'")?;
//! assert_eq!((engine.label().as_str(), engine.command.len()), ("toga2", 3));
//! assert_eq!("uci".parse(), Ok(Protocol::Uci));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;

use super::clock::MoveLimits;
use crate::support::error::ParseError;

/// The protocol of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Detected: an engine that answers `uci` with `uciok` uses UCI.
    #[default]
    Auto,
    /// The Chess Engine Communication Protocol.
    Xboard,
    /// The Universal Chess Interface.
    Uci,
}

impl FromStr for Protocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Protocol::Auto),
            "xboard" => Ok(Protocol::Xboard),
            "uci" => Ok(Protocol::Uci),
            _ => Err(format!("unknown protocol \"{text}\": expected xboard, uci or auto")),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Auto => "auto",
            Protocol::Xboard => "xboard",
            Protocol::Uci => "uci",
        })
    }
}

/// An engine as configured by the user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EngineConfig {
    /// Its name in tables and games; empty: the name that it reports.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// The protocol of the engine.
    pub protocol: Protocol,
    /// Working directory; `None`: that of the runner.
    pub dir: Option<PathBuf>,
    /// Variables added to the environment.
    pub env: Vec<(String, String)>,
    /// Engine options by name.
    pub options: Vec<(String, String)>,
    /// Lines sent before any others once the engine is ready.
    pub init: Vec<String>,
    /// The limits of its searches.
    pub limits: MoveLimits,
    /// How late its flag falls.
    pub margin: Duration,
    /// Whether it ponders.
    pub ponder: bool,
    /// Whether it is restarted for every game.
    pub restart: bool,
    /// Pause after each line sent, for engines that otherwise lose input; `None`: a value known for
    /// the engine.
    pub pace: Option<Duration>,
}

impl EngineConfig {
    /// Creates a definition from a command line, quoted as for a shell.
    ///
    /// # Errors
    /// If the command is empty or its quotes do not match.
    pub fn from_command(command: &str) -> Result<Self, ParseError> {
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let command = words.ok_or_else(|| {
            ParseError(format!(
                "cannot split the command `{command}`: it is empty, or a quotation mark is missing"
            ))
        })?;
        Ok(EngineConfig { command, ..EngineConfig::default() })
    }

    /// The command line, quoted as for a shell.
    pub fn command_line(&self) -> String {
        // Quoting fails only for a zero byte, which no runnable command contains.
        shlex::try_join(self.command.iter().map(String::as_str)).unwrap_or_default()
    }

    /// The name used before the engine has reported its own.
    pub fn label(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        let program = self.command.first().map_or("", String::as_str);
        Path::new(program).file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}
