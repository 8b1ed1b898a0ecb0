//! Exclusive locks on files, which prevent two processes from using the same file at once. Opening
//! a named pipe that has no reader fails instead of blocking.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::platform;

/// How long to wait for another process to release its lock. If a process is killed while it is
/// starting an engine, its locks remain for a moment, because the child process keeps the inherited
/// files open until it has loaded the engine.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

const LOCK_INTERVAL: Duration = Duration::from_millis(10);

/// The number of attempts to open and lock a file. An attempt fails if the file is removed or
/// replaced before it is locked.
const ATTEMPTS: usize = 8;

/// Opens a file for appending and locks it for exclusive use by this process. If `anew` is set, the
/// old content is deleted. Pipes and other special files are neither locked nor emptied.
pub(crate) fn open_output(path: &Path, anew: bool) -> io::Result<File> {
    let file = platform::open_appending(path)?;
    if !platform::is_device(path) && file.metadata()?.is_file() {
        lock(&file)?;
        if anew {
            platform::set_len(&file, 0)?;
        }
    }
    Ok(file)
}

fn lock(file: &File) -> io::Result<()> {
    let begin = Instant::now();
    loop {
        match platform::try_lock(file) {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if begin.elapsed() < LOCK_TIMEOUT => {
                thread::sleep(LOCK_INTERVAL);
            }
            Err(TryLockError::WouldBlock) => {
                let reason = "another program writes to it";
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, reason));
            }
            // Some network file systems do not support locks. Use the file without a lock.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                return Ok(());
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Opens and locks a regular file for reading and appending. Creates the file only if `create` is
/// set. If another program replaces the file before it is locked, opens the new file.
pub(crate) fn open_locked(path: &Path, create: bool) -> io::Result<File> {
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(io::Error::other("it is not a regular file"));
    }
    for _ in 0..ATTEMPTS {
        let file = OpenOptions::new().read(true).append(true).create(create).open(path)?;
        lock(&file)?;
        if is_at(&file, path) {
            return Ok(file);
        }
    }
    Err(io::Error::other("another program keeps removing it"))
}

pub(super) fn is_at(file: &File, path: &Path) -> bool {
    let own = platform::file_id(file);
    own.is_some() && own == platform::path_id(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_file_has_a_single_owner() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("state");
        assert!(open_locked(&path, false).is_err_and(|e| e.kind() == io::ErrorKind::NotFound));
        let owned = open_locked(&path, true).expect("free");
        let refused = open_locked(&path, true).expect_err("taken");
        assert!(refused.to_string().contains("another program"), "{refused}");
        drop(owned);
        open_locked(&path, false).expect("free again");
        assert!(open_locked(dir.path(), false).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn opening_a_pipe_does_not_block() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).expect("a pipe");
        let refused = open_output(&path, false).expect_err("nobody reads");
        assert!(refused.to_string().contains("without a reader"), "{refused}");
        assert!(open_locked(&path, true).is_err());
    }
}
