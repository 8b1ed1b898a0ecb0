//! The repertoire file. It is read at startup and after other programs have changed it, and written
//! whenever a line is added.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::SystemTime;

use xxhash_rust::xxh3::xxh3_64;

use super::gaps::GapsAnswer;
use crate::chess::position::{Color, Game};
use crate::games::pgn::{PgnInput, text};
use crate::games::repertoire::{AddError, Remark, Repertoire, RepertoireError};
use crate::support::files::{Cannot, FileError, FileKind, Output, open_locked, read_plain};
use crate::web::serve::api_error::ApiError;

/// The extension of the backup copy made before each change to the repertoire.
const COPY_ENDING: &str = "bak";
/// The file kind for writing the repertoire and its backup copy. Any existing file may be replaced,
/// because any text can be a repertoire.
const TEXT: FileKind = FileKind { name: "a repertoire", recognises: |_| true };

/// A repertoire in a PGN file, to which lines can be added.
#[derive(Debug)]
pub(crate) struct RepertoireFile {
    path: PathBuf,
    side: Color,
    state: RwLock<State>,
    /// Locked while the file is compared with the snapshot and written.
    writing: Mutex<()>,
}

#[derive(Debug, Clone)]
struct State {
    snapshot: Arc<Snapshot>,
    /// The stamp of the file when it was last read. `None` if the file must be read again.
    stamp: Option<Stamp>,
    /// Why the file cannot be read any more. The snapshot is the last version that could be read.
    fault: Option<String>,
}

/// The modification time and the size of a file. A change of the file may leave both as they were if
/// it follows another change at once. Therefore, additions compare the whole content instead.
type Stamp = (SystemTime, u64);

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The content of the file when it was last read or written.
#[derive(Debug)]
pub(crate) struct Snapshot {
    bytes: Vec<u8>,
    /// The content as UTF-8.
    text: String,
    /// Identifies the content.
    pub version: String,
    pub repertoire: Repertoire,
    /// Computed by the first request.
    pub gaps: OnceLock<GapsAnswer>,
}

impl RepertoireFile {
    /// Reads a repertoire from a file. An empty file is a repertoire without moves.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or contains games but no moves of `side`.
    pub(crate) fn open(path: &Path, side: Color) -> Result<Self, RepertoireError> {
        let stamp = stamp(path);
        let snapshot = Snapshot::read(path, side)?;
        let Snapshot { repertoire, .. } = &snapshot;
        let has_moves = repertoire.nodes().any(|node| repertoire.answers(&node.position));
        if !has_moves && !repertoire.chapters.is_empty() {
            return Err(RepertoireError::empty(path.display().to_string(), side));
        }
        let state = RwLock::new(State { snapshot: Arc::new(snapshot), stamp, fault: None });
        Ok(RepertoireFile { path: path.to_owned(), side, state, writing: Mutex::new(()) })
    }

    /// Calls `report` for each part of the input that could not be used.
    pub(crate) fn remarks(&self, mut report: impl FnMut(&Remark)) {
        self.state().snapshot.repertoire.remarks.iter().for_each(&mut report);
    }

    /// Returns the name of the file without its folder.
    pub(super) fn name(&self) -> String {
        PgnInput::File(self.path.clone()).short_name()
    }

    /// Returns the content of the file. Reads the file if another program has changed it since it
    /// was last read. If it cannot be read, returns the last version that could be read; see
    /// [`RepertoireFile::fault`].
    pub(crate) fn current(&self) -> Arc<Snapshot> {
        // Take the stamp first, so that a change during the reading is noticed the next time.
        let (stamp, old) = (stamp(&self.path), self.state());
        if stamp.is_some() && stamp == old.stamp && old.fault.is_none() {
            return old.snapshot;
        }
        let (snapshot, fault) = match Snapshot::read(&self.path, self.side) {
            // Keep the gaps that have already been computed.
            Ok(new) if new.version == old.snapshot.version => (old.snapshot, None),
            Ok(new) => (Arc::new(new), None),
            Err(error) => {
                let fault = format!(
                    "this is the last version of {} that could be read: {}",
                    self.name(),
                    reason(&error)
                );
                (old.snapshot, Some(fault))
            }
        };
        self.set(State { snapshot, stamp, fault })
    }

    /// Explains why the file could not be read by the last call of [`RepertoireFile::current`].
    pub(super) fn fault(&self) -> Option<String> {
        self.state().fault
    }

    fn state(&self) -> State {
        self.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, state: State) -> Arc<Snapshot> {
        let snapshot = Arc::clone(&state.snapshot);
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = state;
        snapshot
    }

    /// Replaces the snapshot. The next call of [`RepertoireFile::current`] compares it with the file.
    fn replace(&self, snapshot: Snapshot) -> Arc<Snapshot> {
        self.set(State { snapshot: Arc::new(snapshot), stamp: None, fault: None })
    }

    /// Adds a line to the file if the file's version is still `version`. Returns the number of
    /// moves added, or `None` if there is nothing to add.
    ///
    /// If the file has changed on disk, it is read again before the versions are compared. If they
    /// differ, the function returns a conflict. Before each change, the previous content is copied
    /// to a file with the extension [`COPY_ENDING`]. Blocks while the files are written.
    pub(super) fn add(
        &self,
        version: &str,
        line: &Game,
        comment: &str,
    ) -> Result<Option<usize>, ApiError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let name = self.name();
        let failed = |error: FileError| {
            ApiError::unavailable(format!("cannot {} {name}: {}", error.action, error.reason))
        };
        let _lock = open_locked(&self.path, false).cannot("write", &self.path).map_err(failed)?;
        let on_disk = read_plain(&self.path).cannot("read", &self.path).map_err(failed)?;
        let mut old = self.state().snapshot;
        if on_disk != old.bytes {
            let new = Snapshot::read(&self.path, self.side);
            let new = new.map_err(|error| ApiError::conflict(changed(&name, &reason(&error))))?;
            old = self.replace(new);
        }
        if old.version != version {
            return Err(ApiError::conflict(changed(&name, "look at it, then add the move again")));
        }
        let added = old.repertoire.add_line((&name, &old.text), line, comment);
        let added = added.map_err(|error| match error {
            AddError::NoMove => ApiError::bad_request(error.to_string()),
            _ => ApiError::conflict(format!("{name} is unchanged: {error}")),
        })?;
        let Some(added) = added else { return Ok(None) };
        let copy = self.copy_path();
        let copy = Output::new(&copy, TEXT).force(true).apart_from([&self.path]);
        copy.write(&on_disk).map_err(failed)?;
        Output::new(&self.path, TEXT).force(true).write(added.text.as_bytes()).map_err(failed)?;
        let bytes = added.text.clone().into_bytes();
        self.replace(Snapshot::new(bytes, added.text, added.repertoire));
        Ok(Some(added.moves))
    }

    fn copy_path(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".");
        name.push(COPY_ENDING);
        name.into()
    }
}

/// Explains why a file cannot be used, without naming its folder, which is not disclosed to
/// clients.
fn reason(error: &RepertoireError) -> String {
    match error {
        RepertoireError::File(error) => format!("cannot {} it: {}", error.action, error.reason),
        _ => error.to_string(),
    }
}

fn changed(name: &str, rest: &str) -> String {
    format!("another program or page has changed {name}, so nothing is written: {rest}")
}

impl Snapshot {
    fn new(bytes: Vec<u8>, text: String, repertoire: Repertoire) -> Self {
        let version = format!("{:016x}", xxh3_64(&bytes));
        Snapshot { bytes, text, version, repertoire, gaps: OnceLock::new() }
    }

    fn read(path: &Path, side: Color) -> Result<Self, RepertoireError> {
        let bytes = read_plain(path).cannot("read", path)?;
        if bytes.contains(&0) {
            let reason = "it is compressed or not text in UTF-8 or Latin-1; `tabia repertoire build` \
                          with an output that ends in .pgn converts it";
            return Err(FileError::new("change", path, reason).into());
        }
        // Some programs mix encodings, so the encoding of each line is detected separately.
        let text: String = bytes.split_inclusive(|&byte| byte == b'\n').map(text).collect();
        let name = PgnInput::File(path.to_owned()).short_name();
        let repertoire = Repertoire::read(&[PgnInput::Text(name, text.as_bytes().into())], side)?;
        Ok(Snapshot::new(bytes, text, repertoire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::repertoire::KnownMove;

    const TEXT: &str = "[Event \"Ünsal\"]\n\n1. e4 {best} e5 (1... c5) *\n";

    fn opened(text: &str) -> (tempfile::TempDir, RepertoireFile) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rep.pgn");
        std::fs::write(&path, text).expect("written");
        let file = RepertoireFile::open(&path, Color::White).expect("readable");
        (folder, file)
    }

    fn line(moves: &str) -> Game {
        let mut game = Game::new(crate::chess::position::Position::start());
        for san in moves.split(' ') {
            let mv = game.position().parse_move(san).expect(san);
            game.play(mv).expect("legal");
        }
        game
    }

    #[test]
    fn previous_content_is_copied_before_each_change() {
        let (folder, file) = opened(TEXT);
        let read = |name| std::fs::read_to_string(folder.path().join(name)).expect("there");
        let version = file.current().version.clone();
        assert_eq!(file.add(&version, &line("e4 c5"), "").expect("fine"), None);
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 1, "nothing is written");
        assert_eq!(file.add(&version, &line("e4 c5 Nf3"), "").expect("fine"), Some(1));
        let second = read("rep.pgn");
        assert_eq!(read("rep.pgn.bak"), TEXT);
        assert!(second.contains("(1... c5 2. Nf3)"), "{second}");
        let stale = file.add(&version, &line("e4 e6 d4"), "").expect_err("an old version");
        assert_eq!((stale.status.as_u16(), read("rep.pgn")), (409, second.clone()));
        let version = file.current().version.clone();
        assert_eq!(file.add(&version, &line("e4 e6 d4"), "").expect("fine"), Some(2));
        assert_eq!(read("rep.pgn.bak"), second);
        let reopened = RepertoireFile::open(&file.path, Color::White).expect("readable");
        assert_eq!(reopened.current().version, file.current().version);
    }

    #[test]
    fn changed_file_is_read_again_and_not_overwritten() {
        let (folder, file) = opened(TEXT);
        let path = folder.path().join("rep.pgn");
        let version = file.current().version.clone();
        let theirs = "[Event \"theirs\"]\n\n1. d4 *\n";
        std::fs::write(&path, theirs).expect("written");
        let refused = file.add(&version, &line("e4 c5 Nf3"), "").expect_err("changed");
        assert_eq!(refused.status.as_u16(), 409);
        assert!(refused.text.contains("rep.pgn"), "{}", refused.text);
        assert_eq!(std::fs::read_to_string(&path).expect("there"), theirs);
        let current = file.current();
        let moves: Vec<&KnownMove> = current.repertoire.nodes().flat_map(|at| &at.moves).collect();
        assert_eq!((moves.len(), moves[0].mv.to_string().as_str()), (1, "d2d4"));
        assert_eq!(file.add(&current.version, &line("d4 d5 c4"), "").expect("fine"), Some(2));
        // Replace the file with one that is not a valid repertoire, and later delete it.
        std::fs::write(&path, [0xff, 0xfe, 0]).expect("written");
        let version = file.current().version.clone();
        let refused = file.add(&version, &line("d4"), "x").expect_err("changed");
        assert_eq!(refused.status.as_u16(), 409);
        assert!(!refused.text.contains(['/', '\\']), "{}", refused.text);
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(file.add(&version, &line("d4"), "x").expect_err("gone").status.as_u16(), 503);
        assert!(!path.exists());
    }

    #[test]
    fn outside_changes_are_shown() {
        let (folder, file) = opened(TEXT);
        let path = folder.path().join("rep.pgn");
        let first = file.current();
        assert!(Arc::ptr_eq(&first, &file.current()), "an unchanged file is not read again");
        let theirs = "[Event \"theirs\"]\n\n1. d4 *\n\n[Event \"second\"]\n\n1. c4 *\n";
        std::fs::write(&path, theirs).expect("written");
        let second = file.current();
        assert_eq!((second.repertoire.chapters.len(), file.fault()), (2, None));
        assert_ne!(second.version, first.version);
        // A file that cannot be read leaves the last version in place.
        for break_file in [
            |path: &Path| std::fs::write(path, [0xff, 0xfe, 0]).expect("written"),
            |path: &Path| std::fs::remove_file(path).expect("removed"),
        ] {
            break_file(&path);
            assert_eq!(file.current().version, second.version);
            let fault = file.fault().expect("a fault");
            assert!(fault.contains("rep.pgn") && !fault.contains(['/', '\\']), "{fault}");
        }
        std::fs::write(&path, TEXT).expect("written");
        assert_eq!((file.current().version.clone(), file.fault()), (first.version.clone(), None));
    }

    #[test]
    fn restored_file_is_changed_without_later_additions() {
        let (folder, file) = opened(TEXT);
        let path = folder.path().join("rep.pgn");
        let first = file.current().version.clone();
        file.add(&first, &line("e4 c5 Nf3"), "").expect("fine");
        std::fs::write(&path, TEXT).expect("written");
        file.add(&first, &line("e4 e5 Nf3"), "").expect("the file is that of this version again");
        let text = std::fs::read_to_string(&path).expect("there");
        assert!(text.contains("2. Nf3") && !text.contains("c5 2. Nf3"), "{text}");
    }

    #[test]
    fn nothing_is_written_without_a_copy() {
        let (folder, file) = opened(TEXT);
        std::fs::create_dir(folder.path().join("rep.pgn.bak")).expect("made");
        let version = file.current().version.clone();
        let refused = file.add(&version, &line("e4 c5 Nf3"), "").expect_err("no copy");
        assert!(refused.status.as_u16() == 503 && !refused.text.contains("/"), "{}", refused.text);
        assert_eq!(std::fs::read_to_string(folder.path().join("rep.pgn")).expect("there"), TEXT);
    }

    #[test]
    fn latin_1_becomes_utf_8() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rep.pgn");
        let old = b"[Event \"\xdcbung\"]\n[Site \"K\xc3\xb6ln\"]\n\n1. e4 {gr\xfcn} *\n\n[Event \"\xe9\"]\n\n1. d4 *\n";
        std::fs::write(&path, old).expect("written");
        let file = RepertoireFile::open(&path, Color::White).expect("readable");
        let version = file.current().version.clone();
        assert_eq!(file.add(&version, &line("e4 e5 Nf3"), "").expect("fine"), Some(2));
        let written = std::fs::read_to_string(&path).expect("UTF-8");
        for kept in ["Übung", "Köln", "{grün}", "[Event \"é\"]"] {
            assert!(written.contains(kept), "{kept}: {written}");
        }
        assert_eq!(std::fs::read(folder.path().join("rep.pgn.bak")).expect("there"), old);
    }

    #[test]
    fn unsuitable_files_are_rejected() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = |name: &str, bytes: &[u8], side| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("written");
            RepertoireFile::open(&path, side).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(open("empty.pgn", b"", Color::White), Ok(()));
        let wide: Vec<u8> = "\u{feff}1. e4 *\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(open("wide.pgn", &wide, Color::White).expect_err("UTF-16").contains("UTF-8"));
        let other = open("other.pgn", b"1. e4 *\n", Color::Black).expect_err("no move of Black");
        assert!(other.contains("Black"), "{other}");
        assert!(RepertoireFile::open(&folder.path().join("none.pgn"), Color::White).is_err());
    }
}
