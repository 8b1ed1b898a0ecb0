//! Replacements for functions that are available only on Linux.

use std::fs::File;
use std::io;
use std::path::Path;

/// Returns `None`: all files have names.
pub(crate) fn unnamed_file(_: &Path) -> Option<File> {
    None
}

/// Fails: all files have names.
pub(crate) fn link_unnamed(_: &File, _: &Path) -> io::Result<()> {
    Err(io::Error::other("there are no files without names"))
}

/// Always fails, because binding processes to cores is supported only on Linux. On Windows, for
/// example, a child process does not inherit the cores of the thread that starts it.
pub(crate) fn usable_cores() -> io::Result<Vec<usize>> {
    Err(io::Error::other("Tabia supports this only on Linux"))
}

/// Fails, see [`usable_cores`].
pub(crate) fn bind_to_cores(_: &[usize]) -> io::Result<()> {
    Err(io::Error::other("Tabia supports this only on Linux"))
}

/// Does nothing. On other Unix systems, the nice value would apply to the whole process, and
/// Windows has no nice values.
pub(crate) fn raise_priority(_: i32) {}
