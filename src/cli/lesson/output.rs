//! Where a lesson goes: standard output, and files that appear whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::output;
use crate::cli::writing::Force;
use crate::files::{FileKind, Output};
use crate::lesson::page::page;
use crate::lesson::story::Story;
use crate::lesson::svg::svg;

/// The forms in which a recorded search is to be had.
#[derive(Debug, clap::Args)]
pub(super) struct Forms {
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Draw the tree as SVG (several algorithms: FILE-minimax.svg and so on)
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write one HTML page with the tree to fold and to go through step by step
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

impl Forms {
    /// Puts the stories wherever they are wanted; `text` is what is printed without `--json`.
    ///
    /// # Errors
    /// If something cannot be written.
    pub(super) fn put(&self, title: &str, stories: &[Story], text: &str) -> anyhow::Result<()> {
        self.put_with(title, stories, text, &[])
    }

    /// Whether JSON is wanted.
    pub(super) fn json(&self) -> bool {
        self.json
    }

    /// As [`Forms::put`], with something more for the JSON.
    ///
    /// # Errors
    /// If something cannot be written.
    pub(super) fn put_with(
        &self,
        title: &str,
        stories: &[Story],
        text: &str,
        news: &[serde_json::Value],
    ) -> anyhow::Result<()> {
        if let Some(path) = &self.svg {
            for story in stories {
                let one = stories.len() == 1;
                let path = if one { path.clone() } else { beside(path, &story.algorithm) };
                let drawing = svg(story, &format!("{title}: {}", story.algorithm));
                save(&path, FileKind::SVG, self.force, &drawing)?;
            }
        }
        if let Some(path) = &self.html {
            save(path, FileKind::HTML, self.force, &page(title, stories))?;
        }
        if self.json {
            let all = serde_json::json!({ "title": title, "news": news, "searches": stories });
            print(&format!("{all}\n"))
        } else {
            print(text)
        }
    }
}

/// `tree.svg` and `pvs` make `tree-pvs.svg`.
fn beside(path: &Path, word: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let dot = if extension.is_empty() { "" } else { "." };
    path.with_file_name(format!("{stem}-{word}{dot}{extension}"))
}

/// Prints.
///
/// # Errors
/// If standard output does not take it.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    Ok(output::stdout().write_all(text.as_bytes())?)
}

/// Writes a file, all or nothing, in place of one of its kind.
pub(super) fn save(path: &Path, kind: FileKind, force: Force, text: &str) -> anyhow::Result<()> {
    Ok(Output::new(path, kind).force(force.allowed).write(text.as_bytes())?)
}
