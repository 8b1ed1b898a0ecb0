//! Syzygy tables, read with the `shakmaty-syzygy` crate.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shakmaty::{Bitboard, ByColor, ByRole, CastlingMode, Chess, Setup};
use shakmaty_syzygy::{AmbiguousWdl, Metric, ProbeError, Syzygy, SyzygyError, Tablebase, Wdl};

use super::{RankedMove, RootProbe, TablebaseResult};
use crate::chess::position::{Color, Move, Piece, Position};
use crate::support::files::{Cannot, FileError, open_plain, read_folder};

#[cfg(not(windows))]
const SEPARATOR: char = ':';
#[cfg(windows)]
const SEPARATOR: char = ';';

const WDL_ENDING: &str = "rtbw";
const DTZ_ENDING: &str = "rtbz";
const FOREIGN: &str = "it is not an endgame table";

/// Syzygy tables. Clones share the open files.
#[derive(Clone)]
pub struct Tables {
    tables: Arc<Tablebase<Chess>>,
    max_pieces: u32,
    damage: Arc<Mutex<Damage>>,
}

#[derive(Default)]
struct Damage {
    known: BTreeSet<String>,
    messages: Vec<String>,
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables").field("max_pieces", &self.max_pieces).finish()
    }
}

/// Two values are equal only if one is a clone of the other, so that they share the same open
/// tables.
impl PartialEq for Tables {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tables, &other.tables)
    }
}

impl Eq for Tables {}

impl Tables {
    /// Opens the tables in a folder, or in several folders separated by `:` (`;` on Windows).
    ///
    /// Damaged files are skipped; see [`Tables::take_damage`].
    ///
    /// # Errors
    ///
    /// If there are no tables, or if a folder cannot be read.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let mut tables = Tablebase::new();
        let mut damage = Damage::default();
        let mut files = 0;
        for folder in path.to_string_lossy().split(SEPARATOR).map(Path::new) {
            let found = files_of(folder).cannot("read endgame tables in", folder)?;
            for file in found {
                match has_valid_header(&file).and_then(|()| tables.add_file(&file)) {
                    Ok(()) => files += 1,
                    Err(error) => damage.add(&file.display().to_string(), &error.to_string()),
                }
            }
        }
        if files == 0 {
            let reason = match damage.messages.first() {
                Some(first) => format!("no Syzygy table is valid: {first}"),
                None => "there are no Syzygy tables (*.rtbw)".to_owned(),
            };
            return Err(FileError::new("use endgame tables in", path, reason));
        }
        let max_pieces = tables.max_pieces() as u32;
        Ok(Tables { tables: Arc::new(tables), max_pieces, damage: Arc::new(Mutex::new(damage)) })
    }

    /// Returns and clears the error messages about unusable table files found so far.
    ///
    /// The search treats positions in these files as unknown.
    pub fn take_damage(&self) -> Vec<String> {
        std::mem::take(&mut self.damage().messages)
    }

    fn damage(&self) -> MutexGuard<'_, Damage> {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the result of a table probe, or `None` if the probe failed. If the cause is a
    /// damaged file, records it.
    #[inline]
    fn note<T>(&self, answer: Result<T, SyzygyError>) -> Option<T> {
        answer.map_err(|error| self.note_failure(&error)).ok()
    }

    #[cold]
    fn note_failure(&self, error: &SyzygyError) {
        if let SyzygyError::ProbeFailed { metric, material, error } = error {
            let ending = if *metric == Metric::Wdl { WDL_ENDING } else { DTZ_ENDING };
            let why = match error.as_ref() {
                ProbeError::Read { error } => error.to_string(),
                ProbeError::Magic { .. } => FOREIGN.to_owned(),
                ProbeError::CorruptedTable { .. } => "it is damaged".to_owned(),
            };
            self.damage().add(&format!("{material}.{ending}"), &why);
        }
    }

    /// Whether the tables may contain a position, judging by its number of pieces and its castling
    /// rights.
    #[inline]
    pub fn can_probe(&self, position: &Position) -> bool {
        position.occupied().popcnt() <= self.max_pieces
            && [Color::White, Color::Black]
                .into_iter()
                .all(|color| position.castle_rights(color).to_index() == 0)
    }

    /// Returns the result for a position whose halfmove clock is 0, that is, immediately after a
    /// capture or pawn move. Returns `None` if the tables do not contain the position.
    pub fn after_zeroing(&self, position: &Position) -> Option<TablebaseResult> {
        if !self.can_probe(position) || position.halfmove_clock() != 0 {
            return None;
        }
        self.note(self.tables.probe_wdl_after_zeroing(&chess(position)?)).map(TablebaseResult::from)
    }

    /// Returns the side that wins with best play, or `Some(None)` if the position is a draw.
    ///
    /// Returns `None` if the tables do not contain the position, or if the halfmove clock may turn
    /// a win into a draw.
    pub fn winner(&self, position: &Position) -> Option<Option<Color>> {
        if !self.can_probe(position) {
            return None;
        }
        let mover = position.side_to_move();
        match self.note(self.tables.probe_wdl(&chess(position)?))? {
            AmbiguousWdl::Win => Some(Some(mover)),
            AmbiguousWdl::Loss => Some(Some(!mover)),
            AmbiguousWdl::Draw | AmbiguousWdl::CursedWin | AmbiguousWdl::BlessedLoss => Some(None),
            AmbiguousWdl::MaybeWin | AmbiguousWdl::MaybeLoss => None,
        }
    }

    /// Returns the result of the position and its best moves, or `None` if the tables do not
    /// contain the position.
    pub fn probe_root(&self, position: &Position) -> Option<RootProbe> {
        Some(RootProbe::from(&self.ranked(position)?[..])).filter(|advice| !advice.moves.is_empty())
    }

    /// Returns all legal moves with their results, in generation order. Returns `None` if the
    /// tables do not contain the position.
    pub fn ranked(&self, position: &Position) -> Option<Vec<RankedMove>> {
        if !self.can_probe(position) {
            return None;
        }
        position.legal_moves().iter().map(|mv| self.rank(mv, &position.play(mv))).collect()
    }

    fn rank(&self, mv: Move, next: &Position) -> Option<RankedMove> {
        let of = |outcome, plies| RankedMove { mv, outcome, is_certain: true, plies };
        if next.in_check() && next.has_no_moves() {
            return Some(of(TablebaseResult::Win, 1));
        }
        let chess = chess(next)?;
        let result = self.note(self.tables.probe_wdl(&chess))?;
        let outcome = match result {
            AmbiguousWdl::Loss | AmbiguousWdl::MaybeLoss => TablebaseResult::Win,
            AmbiguousWdl::Win | AmbiguousWdl::MaybeWin => TablebaseResult::Loss,
            AmbiguousWdl::Draw | AmbiguousWdl::CursedWin | AmbiguousWdl::BlessedLoss => {
                return Some(of(TablebaseResult::Draw, 0));
            }
        };
        let is_certain = !matches!(result, AmbiguousWdl::MaybeWin | AmbiguousWdl::MaybeLoss);
        let plies = match next.halfmove_clock() {
            // The move itself is a capture or pawn move, so its distance is 0, which is the best
            // distance for a win and the worst for a loss.
            0 => 0,
            _ => self.note(self.tables.probe_dtz(&chess))?.ignore_rounding().0,
        };
        Some(RankedMove { is_certain, ..of(outcome, plies) })
    }
}

impl Damage {
    /// Records an error in a file, unless one has already been recorded for this file.
    fn add(&mut self, name: &str, why: &str) {
        if self.known.insert(name.to_owned()) {
            self.messages
                .push(format!("cannot use the endgame table {name}: {why}; it is skipped"));
        }
    }
}

fn files_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in read_folder(folder)? {
        let path = entry?.path();
        let is_table = |ending: &OsStr| ending == WDL_ENDING || ending == DTZ_ENDING;
        if path.extension().is_some_and(is_table) {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Checks the header of a table. Other damage is detected only when the table is probed.
fn has_valid_header(path: &Path) -> io::Result<()> {
    let is_wdl = path.extension().is_some_and(|ending| ending == WDL_ENDING);
    let expected = if is_wdl { Chess::TBW.magic } else { Chess::TBZ.magic };
    let mut found = [0; 4];
    open_plain(path)?.read_exact(&mut found)?;
    if found == expected { Ok(()) } else { Err(io::Error::other(FOREIGN)) }
}

impl From<Wdl> for TablebaseResult {
    fn from(wdl: Wdl) -> Self {
        match wdl {
            Wdl::Loss => TablebaseResult::Loss,
            Wdl::BlessedLoss | Wdl::Draw | Wdl::CursedWin => TablebaseResult::Draw,
            Wdl::Win => TablebaseResult::Win,
        }
    }
}

/// Converts a position to `shakmaty`'s type. Returns `None` if `shakmaty` rejects the position.
fn chess(position: &Position) -> Option<Chess> {
    let of_piece = |piece| Bitboard(position.board().pieces(piece).0);
    let of_color = |color| Bitboard(position.by_color(color).0);
    let by_role = ByRole {
        pawn: of_piece(Piece::Pawn),
        knight: of_piece(Piece::Knight),
        bishop: of_piece(Piece::Bishop),
        rook: of_piece(Piece::Rook),
        queen: of_piece(Piece::Queen),
        king: of_piece(Piece::King),
    };
    let by_color = ByColor { white: of_color(Color::White), black: of_color(Color::Black) };
    let mut setup = Setup::empty();
    setup.board = shakmaty::Board::try_from_bitboards(by_role, by_color).ok()?;
    setup.turn = match position.side_to_move() {
        Color::White => shakmaty::Color::White,
        Color::Black => shakmaty::Color::Black,
    };
    setup.ep_square =
        position.en_passant_target().map(|square| shakmaty::Square::new(square.to_index() as u32));
    setup.halfmoves = position.halfmove_clock().into();
    setup.position(CastlingMode::Standard).ok()
}
