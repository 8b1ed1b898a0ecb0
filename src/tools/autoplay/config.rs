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

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::clock::MoveLimits;
use crate::support::error::ParseError;
use crate::support::platform::split_words;
use crate::support::words::named_values;

/// The protocol that an engine uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Detected when the match starts: UCI if the engine answers `uci` with `uciok`, and xboard
    /// otherwise.
    #[default]
    Auto,
    /// The Chess Engine Communication Protocol.
    Xboard,
    /// The Universal Chess Interface.
    Uci,
}

named_values! { pub Protocol, "protocol": Xboard = "xboard", Uci = "uci", Auto = "auto" }

/// The definition of an engine, as configured by the user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EngineConfig {
    /// The name shown in tables and stored in games. If empty, the name that the engine reports is
    /// used.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The protocol that the engine uses.
    pub protocol: Protocol,
    /// The engine's working directory, or `None` for that of the match runner.
    pub dir: Option<PathBuf>,
    /// Environment variables to set in addition to those of the match runner, as (name, value)
    /// pairs.
    pub env: Vec<(String, String)>,
    /// The engine options to set, as (name, value) pairs.
    pub options: Vec<(String, String)>,
    /// Lines that are sent to the engine after each start, once its options have been set.
    pub init: Vec<String>,
    /// The limits on the engine's searches.
    pub limits: MoveLimits,
    /// How much a move may exceed its time limit before the engine loses on time.
    pub margin: Duration,
    /// Whether the engine ponders (searches during the opponent's time).
    pub ponder: bool,
    /// Whether the engine is restarted before every game.
    pub restart: bool,
    /// The pause after each line that is sent, for engines that lose input that arrives too
    /// quickly. `None` means the default pause for the engine.
    pub pace: Option<Duration>,
}

impl EngineConfig {
    /// Creates a definition from a command line, which is quoted as in a shell.
    ///
    /// # Errors
    /// If the command line is empty or contains an unclosed quote.
    pub fn from_command(command: &str) -> Result<Self, ParseError> {
        let has_program = |words: &Vec<String>| words.first().is_some_and(|word| !word.is_empty());
        let words = split_words(command).filter(has_program);
        let command = words.ok_or_else(|| {
            ParseError(format!(
                "cannot split the command `{command}`: it is empty, or a quotation mark is missing"
            ))
        })?;
        Ok(EngineConfig { command, ..EngineConfig::default() })
    }

    /// Returns the command line, quoted as in a shell.
    pub fn command_line(&self) -> String {
        // Quoting fails only if the command contains a zero byte. Such a command cannot be run.
        shlex::try_join(self.command.iter().map(String::as_str)).unwrap_or_default()
    }

    /// Returns the configured name or, if it is empty, the program's file name. The file name is
    /// used until the engine has reported its own name.
    pub fn label(&self) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        let program = self.command.first().map_or("", String::as_str);
        // Folders such as `..` have no file name.
        let name = Path::new(program).file_name().unwrap_or(program.as_ref());
        name.to_string_lossy().into_owned()
    }
}
