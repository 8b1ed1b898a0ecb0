//! Names of engines.

use std::path::{Path, PathBuf};

use crate::cli::usage::{UsageError, wrong};
use crate::tools::autoplay::config::EngineConfig;

/// Returns true unless the command is a single word that names no program.
pub(super) fn is_program(command: &str) -> bool {
    let is_word = !command.contains(|c: char| c.is_whitespace() || "/\\'\"".contains(c));
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let names = [command.to_owned(), format!("{command}{}", std::env::consts::EXE_SUFFIX)];
    let is_in = |folder: PathBuf| names.iter().any(|name| folder.join(name).is_file());
    !is_word || std::env::split_paths(&folders).any(is_in)
}

/// Returns the error for a name that is neither defined in the engines file nor a program.
pub(super) fn undefined(name: &str, path: &Path, defined: &[EngineConfig]) -> UsageError {
    let names: Vec<String> = defined.iter().map(EngineConfig::label).collect();
    let (path, names) = (path.display(), names.join(", "));
    wrong(format!("\"{name}\" is no program, and {path} defines only these engines: {names}"))
}

/// Appends a number to each name that several engines have.
pub(super) fn make_unique(engines: &mut [EngineConfig]) {
    let labels: Vec<String> = engines.iter().map(EngineConfig::label).collect();
    for (index, label) in labels.iter().enumerate() {
        let is_twin = labels.iter().filter(|&other| other == label).count() > 1;
        let is_taken = |name: &String| engines.iter().any(|engine| engine.label() == *name);
        let name = (1..).map(|number| format!("{label} {number}")).find(|name| !is_taken(name));
        if let (true, Some(name)) = (is_twin, name) {
            engines[index].name = name;
        }
    }
}
