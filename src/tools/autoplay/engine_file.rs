//! Reads engine definitions from a TOML file. The file contains one `[[engine]]` table per engine.
//!
//! ```
//! use tabia::autoplay::config::EngineConfig;
//! use tabia::autoplay::engine_file::read_engines;
//!
//! let mut file = tempfile::NamedTempFile::new()?;
//! std::io::Write::write_all(&mut file, b"[[engine]]\ncommand = 'gnuchess --uci'\nst = 0.5\n")?;
//! let engines = read_engines(file.path(), &EngineConfig::default())?;
//! assert_eq!(engines[0].label(), "gnuchess");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::clock::{MoveLimits, TimeControl};
use super::config::{EngineConfig, Protocol};
use crate::support::error::ParseError;
use crate::support::files::{Cannot, FileError};

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
    /// Returns the engine that this table defines. Settings that the table does not contain are
    /// taken from `base`, except for the name, the protocol and `init`. If the table sets any
    /// search limit, all limits are taken from the table. Options and environment variables are
    /// added to those of `base`.
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

/// Converts a TOML value to the text of an option value. Strings lose their quotation marks.
fn plain(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads the `[[engine]]` tables in a TOML file. Settings that a table does not contain are taken
/// from `base`, except for the name, the protocol and `init`. If a table sets any search limit, all
/// limits are taken from the table. Options and environment variables are added to those of `base`.
///
/// # Errors
/// If the file cannot be read, or if it does not contain a list of engines.
pub fn read_engines(path: &Path, base: &EngineConfig) -> Result<Vec<EngineConfig>, FileError> {
    let fail = |reason: &str| FileError::new("read", path, reason.trim_end());
    let text = std::fs::read_to_string(path).cannot("read", path)?;
    let file: EngineFile = toml::from_str(&text).map_err(|error| fail(&error.to_string()))?;
    let engines = file.engine.into_iter().map(|table| table.resolve(base));
    engines.collect::<Result<_, _>>().map_err(|error| fail(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_read_from_toml() {
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
    fn error_names_the_place_in_a_bad_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("engines.toml");
        for (text, part) in [
            ("[[engine]]\nname = \"x\"\n", "command"),
            ("[[engine]]\ncommand = \"x\"\ncolour = 1\n", "line 3"),
            ("[[engine]]\ncommand = \"x\"\ntc = \"soon\"\n", "tc: \"soon\" is not a time control"),
            ("[[engine]]\ncommand = \"x 'y\"\n", "quotation mark"),
            ("[[engine]]\ncommand = \"'' x\"\n", "it is empty"),
        ] {
            std::fs::write(&path, text).expect("written");
            let error = read_engines(&path, &EngineConfig::default()).expect_err(text);
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn engine_without_a_file_name_has_its_command_as_label() {
        for command in ["..", "/", "a/.."] {
            let engine = EngineConfig::from_command(command).expect("a command");
            assert_eq!(engine.label(), command);
        }
    }
}
