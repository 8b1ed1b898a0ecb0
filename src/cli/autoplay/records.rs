//! Options for the data that a match records about its games in addition to the moves.

use std::fs::create_dir_all;
use std::path::PathBuf;
use std::time::Duration;

use crate::support::files::{Cannot, FileError};
use crate::tools::autoplay::pgn_style::{PgnFields, PgnStyle};

/// Options for the content of the PGN and for further files about the games.
#[derive(Debug, clap::Args)]
pub(crate) struct Records {
    /// Value of the `Site` tag of the games
    #[arg(long, hide_short_help = true, value_name = "NAME")]
    site: Option<String>,
    /// Fields in the comments on moves: all, none, or a list of timeleft, latency, nodes, seldepth,
    /// nps, hashfull, tbhits, pv, book
    #[arg(long, hide_short_help = true, default_value_t, value_name = "LIST")]
    pgn_fields: PgnFields,
    /// Append the final position of each game to this file, as EPD
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub epdout: Option<PathBuf>,
    /// Write the engines' error output to this folder, one file per game and colour
    #[arg(long, hide_short_help = true, value_name = "DIR")]
    stderr: Option<PathBuf>,
    /// Wait this many milliseconds between two games
    #[arg(long, hide_short_help = true, default_value_t = 0, value_name = "MS")]
    wait: u64,
}

impl Records {
    pub(super) fn style(&self, event: &str) -> PgnStyle {
        PgnStyle {
            event: event.to_owned(),
            site: self.site.clone().unwrap_or_default(),
            fields: self.pgn_fields.clone(),
        }
    }

    /// Creates the folder for the error output of the engines, and returns it.
    pub(super) fn error_output(&self) -> Result<Option<PathBuf>, FileError> {
        if let Some(folder) = &self.stderr {
            create_dir_all(folder).cannot("create", folder)?;
        }
        Ok(self.stderr.clone())
    }

    /// Returns whether the error output of the engines is stored.
    pub(super) fn stores_errors(&self) -> bool {
        self.stderr.is_some()
    }

    /// Returns the pause between two games.
    pub(super) fn pause(&self) -> Duration {
        Duration::from_millis(self.wait)
    }
}
