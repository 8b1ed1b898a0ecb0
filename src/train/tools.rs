//! What tuning and training share.

use std::io::{self, Write};
use std::path::Path;

/// Does a part of the work in each thread.
pub(super) fn in_parallel<I: Sync, O: Send>(
    items: &[I],
    threads: usize,
    work: impl Fn(&[I]) -> O + Sync,
) -> Vec<O> {
    let size = items.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let work = &work;
        let handles: Vec<_> =
            items.chunks(size).map(|part| scope.spawn(move || work(part))).collect();
        handles.into_iter().map(|handle| handle.join().expect("a worker panicked")).collect()
    })
}

/// Like any new file, it may be read and written by whom the umask lets.
#[cfg(unix)]
const NEW_FILE_MODE: u32 = 0o666;

/// Writes a file so that it is there as a whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(NEW_FILE_MODE));
    let mut file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}
