//! Checks that code and documentation follow the project's rules, that quoted output is up to date,
//! and that the files for packages are correct.

#[path = "../support/mod.rs"]
mod support;

mod architecture;
mod commands;
mod lessons;
mod packaging;
mod pages;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(root().join(path)).expect("a text file of the project")
}

/// Returns all files with this extension below a folder, as paths relative to the project.
fn files_below(folder: impl Into<PathBuf>, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.into()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("a folder of the project") {
            let entry = entry.expect("a readable folder");
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found
}
