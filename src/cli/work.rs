//! Long work and its results: progress, interruption, and files that are written whole.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};

/// A flag that Ctrl-C raises instead of ending the process, so that what was reached is kept.
pub(super) fn interruption() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    on_interruption(move || raised.store(true, Relaxed))?;
    Ok(flag)
}

/// Does this on Ctrl-C instead of ending the process.
pub(super) fn on_interruption(react: impl FnMut() + Send + 'static) -> anyhow::Result<()> {
    ctrlc::set_handler(react).context("cannot watch for Ctrl-C")
}

/// A bar on a terminal, nothing elsewhere.
pub(super) fn progress_bar(length: usize, what: &'static str) -> ProgressBar {
    let style = "{msg} {bar:40} {pos}/{len} ({eta} left)";
    let style = ProgressStyle::with_template(style).unwrap_or_else(|_| {
        ProgressStyle::default_bar() // the template above is checked by a test
    });
    ProgressBar::new(length as u64).with_message(what).with_style(style)
}

/// Writes a file beside its place and then moves it there, so that it is whole or absent.
pub(super) fn write_whole(path: &Path, contents: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
        .with_context(|| format!("cannot write beside {}", path.display()))?;
    file.write_all(contents.as_ref())?;
    file.persist(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_well_formed() {
        let template = "{msg} {bar:40} {pos}/{len} ({eta} left)";
        assert!(ProgressStyle::with_template(template).is_ok());
        assert_eq!(progress_bar(7, "files").length(), Some(7));
    }
}
