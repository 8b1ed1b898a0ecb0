//! Endgame tables for the referee.

use std::fmt;
use std::path::{Path, PathBuf};

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};
use shakmaty_syzygy::{AmbiguousWdl, Tablebase};
use thiserror::Error;

use crate::position::{Color, Position};

/// Syzygy tables.
pub struct Tables {
    tables: Tablebase<Chess>,
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables").field("men", &self.tables.max_pieces()).finish()
    }
}

/// Why there are no tables.
#[derive(Debug, Error)]
pub enum TablesError {
    /// The folder cannot be read.
    #[error("cannot read endgame tables in {}: {cause}", path.display())]
    Read {
        /// The folder.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// There are none.
    #[error("there are no Syzygy tables (*.rtbw) in {}", path.display())]
    None {
        /// The folder.
        path: PathBuf,
    },
}

impl Tables {
    /// The tables of a folder.
    ///
    /// # Errors
    /// If there are none, or they cannot be read.
    pub fn open(path: &Path) -> Result<Self, TablesError> {
        let mut tables = Tablebase::new();
        match tables.add_directory(path) {
            Ok(0) => Err(TablesError::None { path: path.to_owned() }),
            Ok(_) => Ok(Tables { tables }),
            Err(cause) => Err(TablesError::Read { path: path.to_owned(), cause }),
        }
    }

    /// Who wins with best play; `Some(None)` is a draw. `None` if the tables do not know, or the
    /// moves since the last capture or pawn move may turn a win into a draw.
    pub fn winner(&self, position: &Position) -> Option<Option<Color>> {
        if position.occupied().popcnt() as usize > self.tables.max_pieces() {
            return None;
        }
        let fen: Fen = position.fen().parse().ok()?;
        let chess: Chess = fen.into_position(CastlingMode::Standard).ok()?;
        let mover = position.side_to_move();
        match self.tables.probe_wdl(&chess).ok()? {
            AmbiguousWdl::Win => Some(Some(mover)),
            AmbiguousWdl::Loss => Some(Some(!mover)),
            AmbiguousWdl::Draw | AmbiguousWdl::CursedWin | AmbiguousWdl::BlessedLoss => Some(None),
            AmbiguousWdl::MaybeWin | AmbiguousWdl::MaybeLoss => None,
        }
    }
}
