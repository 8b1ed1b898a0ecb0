//! Records the commit, profile, target and compiler of the build, for `tabia --version`.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The number of digits of the commit hash in `tabia --version`.
const COMMIT_DIGITS: usize = 12;

/// Cargo adds this file to source packages. It records the commit that the package was made from.
const PACKED_COMMIT: &str = ".cargo_vcs_info.json";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let profile = profile();
    // Development builds omit the commit. Otherwise, each commit would cause a complete rebuild.
    let commit = if profile == "dev" { None } else { commit() };
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    let guided = if flags.contains("profile-use") { ", profile-guided" } else { "" };
    println!("cargo::rustc-env=TABIA_COMMIT={}", commit.unwrap_or_default());
    println!("cargo::rustc-env=TABIA_PROFILE={profile}{guided}");
    println!("cargo::rustc-env=TABIA_TARGET={}", variable("TARGET"));
    let compiler = output(Command::new(variable("RUSTC")).arg("--version")).unwrap_or_default();
    let version = compiler.split(' ').take(2).collect::<Vec<_>>().join(" ");
    println!("cargo::rustc-env=TABIA_COMPILER={version}");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// Returns the name of the Cargo profile. It is derived from the output folder, because the
/// `PROFILE` variable is always `debug` or `release`, even for custom profiles.
fn profile() -> String {
    let folder = variable("OUT_DIR");
    let mut parents = Path::new(&folder).ancestors().skip_while(|path| !path.ends_with("build"));
    let name = parents.nth(1).and_then(Path::file_name).and_then(|name| name.to_str());
    match name {
        None | Some("debug") => "dev".to_owned(),
        Some(name) => name.to_owned(),
    }
}

/// Returns the commit that this source package was made from, or the current commit if this folder
/// is the root of a git repository.
fn commit() -> Option<String> {
    if let Ok(packed) = fs::read_to_string(PACKED_COMMIT) {
        let sha = packed.split('"').skip_while(|word| *word != "sha1").nth(2)?;
        return sha.get(..COMMIT_DIGITS).map(str::to_owned);
    }
    // Without this check, a copy of this folder inside another project's repository would report
    // that project's commit.
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if fs::canonicalize(top).ok()? != fs::canonicalize(variable("CARGO_MANIFEST_DIR")).ok()? {
        return None;
    }
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    for path in ["src", "books", "Cargo.toml", "Cargo.lock", &log] {
        // Listing a path that does not exist would make Cargo rerun this script on every build.
        if Path::new(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let digits = format!("--abbrev={COMMIT_DIGITS}");
    let commit = git(&["log", "-1", "--format=%h of %cs", &digits])?;
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() { commit } else { format!("{commit}, with changes") })
}

/// Runs git without optional locks. Otherwise, `git status` could lock the index during a build and
/// make the user's commit fail.
fn git(arguments: &[&str]) -> Option<String> {
    output(Command::new("git").arg("--no-optional-locks").args(arguments))
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
