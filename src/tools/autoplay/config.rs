//! Engine definitions: command, protocol, options and limits.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use super::clock::{MoveLimits, TimeControl};
use serde::Deserialize;

use crate::support::error::ParseError;
use crate::support::files::{FileError, describe};

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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EngineFile {
    engine: Vec<EngineTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct EngineTable {
    #[serde(default)]
    name: String,
    command: String,
    #[serde(default)]
    protocol: Protocol,
    dir: Option<PathBuf>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    options: BTreeMap<String, toml::Value>,
    #[serde(default)]
    init: Vec<String>,
    tc: Option<String>,
    st: Option<f64>,
    depth: Option<u32>,
    nodes: Option<u64>,
    margin_ms: Option<u64>,
    ponder: Option<bool>,
    restart: Option<bool>,
    pace_ms: Option<u64>,
}

impl EngineTable {
    /// Builds the engine of this table; missing settings come from `base`.
    fn resolve(self, base: &EngineConfig) -> Result<EngineConfig, ParseError> {
        let mut engine = EngineConfig::from_command(&self.command)?;
        engine.name = self.name;
        let label = engine.label();
        let fail = |message: String| ParseError(format!("engine \"{label}\": {message}"));
        let clock: Option<TimeControl> =
            self.tc.map(|text| text.parse()).transpose().map_err(|e| fail(format!("tc: {e}")))?;
        let move_time = self.st.map(Duration::try_from_secs_f64).transpose();
        let own = MoveLimits {
            clock,
            move_time: move_time.map_err(|_| fail("st: expected seconds".to_owned()))?,
            depth: self.depth,
            nodes: self.nodes,
        };
        let has_own = own != MoveLimits::default();
        engine.limits = if has_own { own } else { base.limits };
        engine.protocol = self.protocol;
        engine.dir = self.dir.or_else(|| base.dir.clone());
        engine.env = base.env.iter().cloned().chain(self.env).collect();
        let own_options = self.options.into_iter().map(|(name, value)| (name, plain(&value)));
        engine.options = base.options.iter().cloned().chain(own_options).collect();
        engine.init = self.init;
        engine.margin = self.margin_ms.map_or(base.margin, Duration::from_millis);
        engine.ponder = self.ponder.unwrap_or(base.ponder);
        engine.restart = self.restart.unwrap_or(base.restart);
        engine.pace = self.pace_ms.map(Duration::from_millis).or(base.pace);
        Ok(engine)
    }
}

/// Converts a TOML value to an option value: strings without quotation marks.
fn plain(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads the `[[engine]]` tables of a TOML file. Missing settings come from `base`.
///
/// # Errors
/// If the file cannot be read or is not a table of engines.
pub fn read_engines(path: &Path, base: &EngineConfig) -> Result<Vec<EngineConfig>, FileError> {
    let fail = |reason: &str| FileError::new("read", path, reason.trim_end());
    let text = std::fs::read_to_string(path).map_err(|error| fail(&describe(&error)))?;
    let file: EngineFile = toml::from_str(&text).map_err(|error| fail(&error.to_string()))?;
    let engines = file.engine.into_iter().map(|table| table.resolve(base));
    engines.collect::<Result<_, _>>().map_err(|error| fail(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_come_from_toml() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("engines.toml");
        let text = r#"
            [[engine]]
            name = "toga"
            command = "toga2 -x 'a b'"
            protocol = "uci"
            options = { OwnBook = false, Hash = 16, Style = "solid" }
            env = { LANG = "C" }
            st = 0.5

            [[engine]]
            command = "/usr/games/phalanx"
            pace-ms = 5
            margin-ms = 300
            restart = true
        "#;
        std::fs::write(&path, text).expect("written");
        let clock = Some("10+0.1".parse().expect("a time control"));
        let limits = MoveLimits { clock, ..MoveLimits::default() };
        let margin = Duration::from_millis(50);
        let base = EngineConfig { limits, ponder: true, margin, ..EngineConfig::default() };
        let engines = read_engines(&path, &base).expect("two engines");
        assert_eq!(engines[0].command, ["toga2", "-x", "a b"]);
        assert_eq!((engines[0].protocol, engines[0].label().as_str()), (Protocol::Uci, "toga"));
        let options: Vec<String> =
            engines[0].options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(options, ["Hash=16", "OwnBook=false", "Style=solid"]);
        assert_eq!(engines[0].limits.move_time, Some(Duration::from_millis(500)));
        assert_eq!((engines[0].limits.clock, engines[1].limits.clock), (None, clock));
        assert_eq!((engines[1].label().as_str(), engines[1].ponder), ("phalanx", true));
        assert_eq!(engines[1].pace, Some(Duration::from_millis(5)));
        let own = |engine: &EngineConfig| (engine.margin.as_millis(), engine.restart);
        assert_eq!((own(&engines[0]), own(&engines[1])), ((50, false), (300, true)));
    }

    #[test]
    fn a_bad_file_says_where() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("engines.toml");
        for (text, part) in [
            ("[[engine]]\nname = \"x\"\n", "command"),
            ("[[engine]]\ncommand = \"x\"\ncolour = 1\n", "line 3"),
            ("[[engine]]\ncommand = \"x\"\ntc = \"soon\"\n", "tc: \"soon\" is not a time control"),
            ("[[engine]]\ncommand = \"x 'y\"\n", "quotation mark"),
        ] {
            std::fs::write(&path, text).expect("written");
            let error = read_engines(&path, &EngineConfig::default()).expect_err(text);
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
