//! Functions for files: writing them atomically (`output`), locking them (`owned`), opening only
//! regular files, and recognising unsupported formats (`foreign`). A [`Journal`] lets long commands
//! resume.

mod draft;
mod error;
mod foreign;
mod journal;
mod output;
mod owned;

use std::borrow::Cow;
use std::fs::{File, FileType, OpenOptions, ReadDir};
use std::io::{self, Read};
use std::path::Path;

pub(crate) use draft::is_draft;
#[cfg(feature = "parquet")]
pub(crate) use draft::{draft_of, remove_leftover};
pub(crate) use error::Cannot;
pub use error::FileError;
pub(crate) use foreign::{HEADER, foreign_kind, kind_by_header};
pub use journal::JournalError;
pub(crate) use journal::{Fault, Journal, Kind, first_difference};
pub use output::{FileKind, Output};
pub(crate) use output::{NewFile, sync_name, write_whole};
use owned::is_at;
pub(crate) use owned::{open_locked, open_output};

use crate::support::platform::{self, may_wait};

/// Opens a regular file for reading. Rejects folders, devices and pipes; opening a named pipe would
/// block until another program writes to it.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    platform::set_nonblocking(options.read(true));
    let file = options.open(path)?;
    let kind = file.metadata()?.file_type();
    match kind.is_file() {
        true => Ok(file),
        false if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        false => Err(io::Error::other(format!("it is {}, not a file", describe_kind(kind)))),
    }
}

/// Reads a regular file. Rejects the same files as [`open_plain`].
pub(crate) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_plain(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Lists a folder. Repeats the call if a signal interrupts it, which the standard library does for
/// files but not for folders.
pub(crate) fn read_folder(path: &Path) -> io::Result<ReadDir> {
    loop {
        match path.read_dir() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Opens a file for appending, creating it if necessary. Devices are accepted. Pipes are rejected,
/// because opening one blocks until another program reads from it.
pub(crate) fn append_to(path: &Path) -> io::Result<File> {
    let pipe = |kind| io::Error::other(format!("it is {}, not a file", describe_kind(kind)));
    // Check the type before opening, because the operating system's error message for a pipe that
    // no program reads is unclear.
    if let Ok(known) = std::fs::metadata(path)
        && may_wait(known.file_type())
    {
        return Err(pipe(known.file_type()));
    }
    let mut options = OpenOptions::new();
    platform::set_nonblocking(options.create(true).append(true));
    let file = options.open(path)?;
    if platform::is_device(path) {
        return Ok(file);
    }
    let kind = file.metadata()?.file_type();
    if may_wait(kind) {
        return Err(pipe(kind));
    }
    platform::set_blocking(&file)?;
    Ok(file)
}

/// The error number `EIO`, a low-level I/O error on a device. It is the same on all Unix systems.
const EIO: i32 = 5;

/// Describes an I/O error. Common errors get Tabia's own messages, because xboard treats some of
/// the operating system's messages as a sign that the engine has crashed.
pub(crate) fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "access is denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        // The standard library has no stable `ErrorKind` for this error.
        _ if error.raw_os_error() == Some(EIO) => "the disk reports an error".to_owned(),
        io::ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
        _ => without_error_numbers(&error.to_string()).into_owned(),
    }
}

/// Removes the error numbers, such as `(os error 2)`, that the standard library appends to system
/// error messages.
pub(crate) fn without_error_numbers(text: &str) -> Cow<'_, str> {
    const BEGIN: &str = " (os error ";
    let mut rest = text;
    let mut plain = String::new();
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let number = after.bytes().take_while(u8::is_ascii_digit).count();
        plain.push_str(before);
        rest = &after[number..];
        match rest.strip_prefix(')') {
            Some(left) if number > 0 => rest = left,
            _ => plain.extend([BEGIN, &after[..number]]),
        }
    }
    if plain.is_empty() { Cow::Borrowed(rest) } else { Cow::Owned(plain + rest) }
}

fn describe_kind(kind: FileType) -> &'static str {
    if kind.is_dir() {
        return "a directory";
    }
    if may_wait(kind) { "a pipe or a socket" } else { "a device" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file_and_what_failed() {
        let missing = Path::new("/missing\n/x");
        let error = read_plain(missing).cannot("read", missing).expect_err("no file");
        assert_eq!(error.to_string(), "cannot read /missing\\n/x: it does not exist");
    }

    #[test]
    fn system_errors_are_described_without_numbers() {
        for number in 1..130 {
            let error = io::Error::from_raw_os_error(number);
            for text in
                [describe(&error), without_error_numbers(&format!("{error}; {error}")).into()]
            {
                assert!(!text.contains("os error") && !text.is_empty(), "{number}: {text}");
            }
        }
        for same in ["", "a (os error )", "a (os error 2", "(os error)", "no (os error x) here"] {
            assert_eq!(without_error_numbers(same), same);
        }
        assert_eq!(without_error_numbers("x (os error 2): y (os error 13)"), "x: y");
    }
}
