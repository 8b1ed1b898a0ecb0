//! Files that are there as a whole or not at all.

use std::io::{self, Write};
use std::path::Path;

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
