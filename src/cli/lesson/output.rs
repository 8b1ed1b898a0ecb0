//! Writes the output of a lesson to standard output or to files. Files are written atomically.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::output;
use crate::cli::writing::Force;
use crate::support::files::{FileKind, Output};
use crate::web::lesson::search_record::SearchRecord;
use crate::web::lesson::svg::svg;

/// Output formats for a recorded search.
#[derive(Debug, clap::Args)]
pub(super) struct OutputFormats {
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Draw the tree as SVG (FILE-minimax.svg etc. for several algorithms)
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write an HTML page that steps through the searches
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

impl OutputFormats {
    /// Returns the path of the HTML page, and whether the page may replace a file of another kind.
    pub(super) fn html(&self) -> Option<(&Path, Force)> {
        self.html.as_deref().map(|path| (path, self.force))
    }

    pub(super) fn json(&self) -> bool {
        self.json
    }

    /// Writes the searches to all requested outputs. With `--json`, prints JSON instead of `text`.
    pub(super) fn put(
        &self,
        title: &str,
        search_records: &[SearchRecord],
        text: &str,
        page: impl FnOnce() -> String,
        mut object: serde_json::Map<String, Value>,
    ) -> anyhow::Result<()> {
        if let Some(path) = &self.svg {
            for search_record in search_records {
                let one = search_records.len() == 1;
                let name = search_record.algorithm.replace(' ', "-");
                let path = if one { path.clone() } else { beside(path, &name) };
                let drawing = svg(search_record, &format!("{title}: {}", search_record.algorithm));
                save(&path, FileKind::SVG, self.force, &drawing)?;
            }
        }
        if let Some(path) = &self.html {
            save(path, FileKind::HTML, self.force, &page())?;
        }
        if self.json {
            object.insert("title".to_owned(), title.into());
            object.insert("searches".to_owned(), serde_json::to_value(search_records)?);
            print(&format!("{}\n", Value::Object(object)))
        } else {
            print(text)
        }
    }
}

/// Inserts a word into a file name. For example, `tree.svg` and `pvs` become `tree-pvs.svg`.
fn beside(path: &Path, word: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let dot = if extension.is_empty() { "" } else { "." };
    path.with_file_name(format!("{stem}-{word}{dot}{extension}"))
}

pub(super) fn print(text: &str) -> anyhow::Result<()> {
    Ok(output::stdout().write_all(text.as_bytes())?)
}

/// Writes a file atomically. Without `force`, it may replace only a file of the same kind.
pub(super) fn save(path: &Path, kind: FileKind, force: Force, text: &str) -> anyhow::Result<()> {
    Ok(Output::new(path, kind).force(force.allowed).write(text.as_bytes())?)
}
