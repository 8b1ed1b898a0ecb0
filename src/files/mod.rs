//! Files that are there as a whole or not at all, and files that are files.

mod foreign;
mod output;
mod owned;

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

pub(crate) use foreign::foreign_kind;
pub use output::{FileKind, Output, OutputError};
pub(crate) use output::{NewFile, is_draft, sync_name, write_whole};
pub(crate) use owned::{lock_shared, open_locked, open_output};

/// Opens a plain file for reading. Anything else is refused, above all named pipes, which wait until
/// somebody writes there.
///
/// # Errors
/// If the file cannot be opened or is none.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    never_wait(&mut options);
    let file = options.open(path)?;
    let kind = file.metadata()?.file_type();
    match kind.is_file() {
        true => Ok(file),
        false if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        false => Err(io::Error::other(format!("it is {}, not a file", kind_in_words(kind)))),
    }
}

/// Reads a plain file, see [`open_plain`].
///
/// # Errors
/// If the file cannot be read or is none.
pub(crate) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_plain(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file to write at its end, and makes it if need be. Devices are welcome; pipes are not,
/// since whoever writes there waits for the one who reads.
///
/// # Errors
/// If the file cannot be opened or is a pipe.
pub(crate) fn append_to(path: &Path) -> io::Result<File> {
    let pipe = |kind| io::Error::other(format!("it is {}, not a file", kind_in_words(kind)));
    // Without a reader a pipe cannot even be opened, and the system's words would be no help.
    if let Ok(known) = std::fs::metadata(path)
        && may_wait(known.file_type())
    {
        return Err(pipe(known.file_type()));
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    never_wait(&mut options);
    let file = options.open(path)?;
    let kind = file.metadata()?.file_type();
    if may_wait(kind) {
        return Err(pipe(kind));
    }
    #[cfg(unix)]
    rustix::fs::fcntl_setfl(&file, rustix::fs::OFlags::APPEND)?;
    Ok(file)
}

/// Lets opening fail where it would have to wait for another program.
fn never_wait(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        options,
        rustix::fs::OFlags::NONBLOCK.bits() as i32,
    );
    #[cfg(not(unix))]
    let _ = options;
}

/// Whether it is something that another program must take part in.
fn may_wait(kind: FileType) -> bool {
    #[cfg(unix)]
    return {
        use std::os::unix::fs::FileTypeExt;
        kind.is_fifo() || kind.is_socket()
    };
    #[cfg(not(unix))]
    return !kind.is_file();
}

/// An I/O error in words of our own. The system's texts hold phrases that xboard takes for the
/// death of the engine.
pub(crate) fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "access is denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
        _ => error.to_string(),
    }
}

fn kind_in_words(kind: FileType) -> &'static str {
    if kind.is_dir() {
        return "a directory";
    }
    if may_wait(kind) { "a pipe or a socket" } else { "a device" }
}
