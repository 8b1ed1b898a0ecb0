//! Files that one run owns as long as it writes them, or that several write to in turn: a lock keeps
//! a second run out, and a named pipe that nobody reads keeps nobody waiting.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

/// How long to wait for a file that another run has: one that was killed while it started an engine
/// has its files until that is done.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// Who has a file that cannot be had, by the kind of file.
const BY_A_MATCH: &str = "another match that is being played writes to it";
const BY_ANOTHER: &str = "another program does not let go of it";

/// How often to look.
const LOCK_INTERVAL: Duration = Duration::from_millis(10);

/// How often a file is opened anew that its owner removed between our opening and locking it.
const ATTEMPTS: usize = 8;

/// Opens a file for this run alone, to append to it, or, with `anew`, to replace what is in it.
/// What is no regular file, a pipe say, is written to as it is.
///
/// # Errors
/// If it cannot be opened, another run has it, or it is a named pipe that nobody reads.
pub(crate) fn open_output(path: &Path, anew: bool) -> io::Result<File> {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let mut options = OpenOptions::new();
    let opened = options.create(true).append(true).custom_flags(nonblocking).open(path);
    let file = opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::NXIO) => io::Error::other("it is a pipe that nobody reads"),
        _ => error,
    })?;
    // From here on whoever reads a pipe slowly is waited for.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    if file.metadata()?.is_file() {
        lock(&file, BY_A_MATCH)?;
        if anew {
            file.set_len(0)?;
        }
    }
    Ok(file)
}

/// Takes a file for this run, until it is closed.
///
/// # Errors
/// If another run has it; `owner` that may be.
fn lock(file: &File, owner: &str) -> io::Result<()> {
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if begin.elapsed() < LOCK_TIMEOUT => {
                thread::sleep(LOCK_INTERVAL);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, owner));
            }
            // Some file systems of other machines know no locks.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                return Ok(());
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Opens and locks a regular file to read it and to append to it; it is made only if `create` says
/// so.
///
/// # Errors
/// If it is no regular file, another run has it, or it cannot be opened.
pub(crate) fn open_locked(path: &Path, create: bool) -> io::Result<File> {
    locked(path, create, BY_A_MATCH)
}

/// Opens and locks a regular file that several programs append to in turn, and makes it if need be.
/// Whoever replaces it holds the lock while he does.
///
/// # Errors
/// If it is no regular file, another program keeps it locked, or it cannot be opened.
pub(crate) fn lock_shared(path: &Path) -> io::Result<File> {
    locked(path, true, BY_ANOTHER)
}

fn locked(path: &Path, create: bool, owner: &str) -> io::Result<File> {
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(io::Error::other("it is no regular file"));
    }
    for _ in 0..ATTEMPTS {
        let file = OpenOptions::new().read(true).append(true).create(create).open(path)?;
        lock(&file, owner)?;
        if is_at(&file, path) {
            return Ok(file);
        }
    }
    Err(io::Error::other("it is removed again and again"))
}

/// Whether the file still has this path.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let [own, there] = [file.metadata(), path.metadata()].map(|found| found.ok().map(identity));
    own.is_some() && own == there
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_owner() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("state");
        assert!(open_locked(&path, false).is_err_and(|e| e.kind() == io::ErrorKind::NotFound));
        let owned = open_locked(&path, true).expect("free");
        let refused = open_locked(&path, true).expect_err("taken");
        assert!(refused.to_string().contains("another match"), "{refused}");
        drop(owned);
        open_locked(&path, false).expect("free again");
        assert!(open_locked(dir.path(), false).is_err());
    }

    #[test]
    fn pipes_are_not_waited_for() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).expect("a pipe");
        let refused = open_output(&path, false).expect_err("nobody reads");
        assert!(refused.to_string().contains("nobody reads"), "{refused}");
        assert!(open_locked(&path, true).is_err());
    }
}
