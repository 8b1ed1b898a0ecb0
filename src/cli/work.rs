//! Long work: progress and interruption.

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
