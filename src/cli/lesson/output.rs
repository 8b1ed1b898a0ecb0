//! Where a lesson goes: standard output, and files that appear whole or not at all.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::files::write_whole;
use crate::lesson::page::page;
use crate::lesson::story::Story;
use crate::lesson::svg::svg;

/// The forms in which a recorded search is to be had.
#[derive(Debug, clap::Args)]
pub struct Forms {
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Draw the tree as SVG (several algorithms: FILE-minimax.svg and so on)
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write one HTML page with the tree to fold and to go through step by step
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Forms {
    /// Puts the stories wherever they are wanted; `text` is what is printed without `--json`.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn put(&self, title: &str, stories: &[Story], text: &str) -> anyhow::Result<()> {
        self.put_with(title, stories, text, &[])
    }

    /// Whether JSON is wanted.
    pub fn json(&self) -> bool {
        self.json
    }

    /// As [`Forms::put`], with something more for the JSON.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn put_with(
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
                save(&path, &svg(story, &format!("{title}: {}", story.algorithm)))?;
            }
        }
        if let Some(path) = &self.html {
            save(path, &page(title, stories))?;
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

/// Prints; a reader that has seen enough is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes a file, all or nothing.
pub fn save(path: &Path, text: &str) -> anyhow::Result<()> {
    write_whole(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}
