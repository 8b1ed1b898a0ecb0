//! The functions for Windows.

#[cfg(feature = "cli")]
mod console;
#[cfg(not(feature = "loom"))]
mod memory;
mod process;

use std::fs::{self, File, FileType, Metadata, OpenOptions, TryLockError};
use std::io;
use std::mem::{forget, zeroed};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::{AsRawHandle, FromRawHandle, RawHandle};
use std::path::Path;

use tempfile::TempPath;
use windows_sys::Win32::Foundation::{ERROR_LOCK_VIOLATION, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, DELETE, FILE_FLAG_BACKUP_SEMANTICS, FILE_GENERIC_WRITE,
    FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_TYPE_DISK,
    GetFileInformationByHandle, GetFileType, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY,
    LockFileEx, ReOpenFile, UnlockFileEx,
};
use windows_sys::Win32::System::Console::{GetStdHandle, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE};
use windows_sys::Win32::System::IO::OVERLAPPED;
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

use super::types::FileId;
#[cfg(feature = "cli")]
pub(crate) use console::{enable_colours, input_has_line, on_events, output_has_room};
#[cfg(not(feature = "loom"))]
pub(crate) use memory::Mapping;
pub(crate) use process::{Group, HAS_SIGNALS, Input, describe_exit, has_crashed, prepare, signal};

/// The offset of the locked byte. It lies beyond the end of any file, because Windows prevents
/// other programs from reading locked bytes.
const LOCKED_BYTE: u64 = i64::MAX as u64 - 1;
/// Prefix of the temporary name that an open file gets while it is being replaced.
const OLD_PREFIX: &str = ".tabia-old-";
const SHARE_ALL: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
/// Device names, which Windows reserves in every folder and with any extension.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// Does nothing, because Windows has no such limit that matches reach.
#[expect(clippy::unnecessary_wraps, reason = "other systems have a limit")]
pub(crate) fn allow_open_files(_: u64) -> Result<(), u64> {
    Ok(())
}

/// Returns the identity of an open file.
pub(crate) fn file_id(file: &File) -> Option<FileId> {
    handle_id(file.as_raw_handle())
}

fn handle_id(handle: RawHandle) -> Option<FileId> {
    #[allow(unsafe_code)]
    // The structure consists of integers, so all zeros are a valid value. The call fails if the
    // handle is invalid.
    let information = unsafe {
        let mut information: BY_HANDLE_FILE_INFORMATION = zeroed();
        (GetFileInformationByHandle(handle, &mut information) != 0).then_some(information)
    }?;
    let number = u64::from(information.nFileIndexHigh) << 32 | u64::from(information.nFileIndexLow);
    Some(FileId { volume: information.dwVolumeSerialNumber.into(), number })
}

/// Returns the identity of the file or folder with this name, or `None` if there is none.
pub(crate) fn path_id(path: &Path) -> Option<FileId> {
    let mut options = OpenOptions::new();
    options.access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    file_id(&options.open(path).ok()?)
}

/// The same as [`path_id`], because on Windows the metadata does not include the identity.
pub(crate) fn known_id(path: &Path, _: &Metadata) -> Option<FileId> {
    path_id(path)
}

/// Returns the identity of the file that standard input is redirected from, or `None` if it is not
/// a regular file.
pub(crate) fn stdin_id() -> Option<FileId> {
    standard_id(STD_INPUT_HANDLE)
}

/// Returns the identity of the file that standard output is redirected to, or `None` if it is not a
/// regular file.
pub(crate) fn stdout_id() -> Option<FileId> {
    standard_id(STD_OUTPUT_HANDLE)
}

fn standard_id(which: u32) -> Option<FileId> {
    #[allow(unsafe_code)]
    // The process owns the handle, and both functions accept invalid handles.
    let handle = unsafe {
        let handle = GetStdHandle(which);
        (GetFileType(handle) == FILE_TYPE_DISK).then_some(handle)
    }?;
    handle_id(handle)
}

/// Returns whether a file and a folder are on the same volume.
pub(crate) fn is_on_volume_of(file: &File, folder: &Path) -> io::Result<bool> {
    let [own, other] = [file_id(file), path_id(folder)].map(|id| id.map(|id| id.volume));
    Ok(own.is_some() && own == other)
}

/// Does nothing, because opening a file never waits on Windows.
pub(crate) fn set_nonblocking(_: &mut OpenOptions) {}

/// Does nothing, because [`set_nonblocking`] does nothing on Windows.
pub(crate) fn set_blocking(_: &File) -> io::Result<()> {
    Ok(())
}

/// Opens a file for appending, creating it if necessary. The file is also opened for reading,
/// because a file open only for appending cannot be locked.
pub(crate) fn open_appending(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).read(true).append(true).open(path)
}

/// Whether opening, reading or writing this type of file may have to wait for another program.
pub(crate) fn may_wait(kind: FileType) -> bool {
    !kind.is_file() && !kind.is_dir()
}

/// Returns whether Windows reserves this name for a device, such as `NUL`.
pub(crate) fn is_device(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let is_port = |prefix| {
        stem.strip_prefix(prefix).is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']))
    };
    DEVICES.contains(&stem) || is_port("COM") || is_port("LPT")
}

/// Fills the buffer with the bytes starting at `offset`. Changes the file's current position.
pub(crate) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match file.seek_read(buffer, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                buffer = &mut buffer[count..];
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Sets the length of a file that is open for writing or appending.
pub(crate) fn set_len(file: &File, length: u64) -> io::Result<()> {
    match file.set_len(length) {
        // A file that is open for appending cannot be truncated, so open it for writing.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            reopened(file)?.set_len(length)
        }
        result => result,
    }
}

fn reopened(file: &File) -> io::Result<File> {
    #[allow(unsafe_code)]
    // If the call succeeds, it returns a new handle, which has no other owner.
    unsafe {
        let handle = ReOpenFile(file.as_raw_handle(), FILE_GENERIC_WRITE, SHARE_ALL, 0);
        if handle == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error());
        }
        Ok(File::from_raw_handle(handle))
    }
}

/// Gives a complete file its final name with [`rename`], replacing any existing file at `target`.
pub(crate) fn replace(path: TempPath, target: &Path) -> io::Result<()> {
    rename(&path, target)?;
    // The temporary name no longer exists, so there is nothing to remove.
    forget(path);
    Ok(())
}

/// Renames a file, replacing any existing file at `to`. This is atomic unless the file at `to` is
/// open and the file system cannot replace open files. In that case, no file exists at `to` for a
/// moment.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && to.is_file() => {
            replace_open(from, to).map_err(|_| error)
        }
        renamed => renamed,
    }
}

/// Replaces an open file by first renaming it to a temporary name. If the process is killed while
/// doing so, or if renaming fails and cannot be undone, the old content remains under the temporary
/// name.
fn replace_open(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut names = tempfile::Builder::new();
    names.prefix(OLD_PREFIX).disable_cleanup(true);
    let moved = names.make_in(folder.unwrap_or(Path::new(".")), |old| fs::rename(to, old))?;
    if let Err(error) = fs::rename(from, to) {
        fs::rename(moved.path(), to)?;
        return Err(error);
    }
    // Windows deletes the old file as soon as no program has it open.
    let _ = fs::remove_file(moved.path());
    Ok(())
}

fn locked_byte() -> OVERLAPPED {
    #[allow(unsafe_code)]
    // The structure consists of integers and nullable pointers, so all zeros are a valid value.
    let mut place: OVERLAPPED = unsafe { zeroed() };
    place.Anonymous.Anonymous.Offset = LOCKED_BYTE as u32;
    place.Anonymous.Anonymous.OffsetHigh = (LOCKED_BYTE >> 32) as u32;
    place
}

/// Locks a file exclusively. Fails without waiting if another process has locked it.
pub(crate) fn try_lock(file: &File) -> Result<(), TryLockError> {
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    let mut place = locked_byte();
    #[allow(unsafe_code)]
    // The file is open, and the call returns immediately.
    if unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &mut place) } != 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(number) if number.cast_unsigned() == ERROR_LOCK_VIOLATION => {
            Err(TryLockError::WouldBlock)
        }
        _ => Err(TryLockError::Error(error)),
    }
}

/// Releases a lock taken by [`try_lock`].
pub(crate) fn unlock(file: &File) -> io::Result<()> {
    let mut place = locked_byte();
    #[allow(unsafe_code)]
    // The file is open.
    match unsafe { UnlockFileEx(file.as_raw_handle(), 0, 1, 0, &mut place) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Opens and locks a file or folder that may have been left behind by a killed program. Returns
/// `None` if a running program is still using it.
pub(crate) fn claim(path: &Path) -> Option<File> {
    if !path.is_dir() {
        let file = File::open(path).ok()?;
        return try_lock(&file).is_ok().then_some(file);
    }
    // Windows cannot lock folders. However, opening one with `DELETE` access fails while its owner
    // has it open.
    let mut options = OpenOptions::new();
    options.access_mode(DELETE).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path).ok()
}

/// Prevents other programs from removing a folder until the returned handle is dropped.
#[cfg(feature = "parquet")]
pub(crate) fn lock_folder(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE);
    options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

/// Returns `None`, because a new folder inherits the permissions of its parent.
#[cfg(feature = "parquet")]
pub(crate) fn new_folder_permissions() -> Option<fs::Permissions> {
    None
}

/// Renames a folder that was locked by [`lock_folder`], and releases the lock.
#[cfg(feature = "parquet")]
pub(crate) fn rename_folder(from: &Path, to: &Path, lock: File) -> io::Result<()> {
    // An open folder cannot be renamed, so release the lock first.
    drop(lock);
    fs::rename(from, to)
}

/// Returns the machine's total memory in bytes, or `None` if it is unknown.
pub(crate) fn total_memory() -> Option<usize> {
    usize::try_from(memory_status()?.ullTotalPhys).ok()
}

/// Returns how much memory programs can allocate without paging, in bytes.
pub(crate) fn available_memory() -> Option<usize> {
    usize::try_from(memory_status()?.ullAvailPhys).ok()
}

fn memory_status() -> Option<MEMORYSTATUSEX> {
    #[allow(unsafe_code)]
    // The structure consists of integers, so all zeros are a valid value. The call requires the
    // length field, which is set.
    unsafe {
        let mut status: MEMORYSTATUSEX = zeroed();
        status.dwLength = size_of::<MEMORYSTATUSEX>() as u32;
        (GlobalMemoryStatusEx(&mut status) != 0).then_some(status)
    }
}

/// Returns the free space in bytes on the disk that contains a folder.
#[cfg(feature = "cli")]
pub(crate) fn free_space(folder: &Path) -> Option<u64> {
    use std::os::windows::ffi::OsStrExt;
    use std::ptr::null_mut;

    use windows_sys::Win32::Storage::FileSystem::GetDiskFreeSpaceExW;

    let name: Vec<u16> = folder.as_os_str().encode_wide().chain([0]).collect();
    let mut free = 0;
    #[allow(unsafe_code)]
    // The name is null-terminated, and null pointers are allowed for values that are not needed.
    let found = unsafe { GetDiskFreeSpaceExW(name.as_ptr(), &mut free, null_mut(), null_mut()) };
    (found != 0).then_some(free)
}

/// Returns the name of the processor.
#[cfg(feature = "cli")]
pub(crate) fn cpu_model() -> Option<String> {
    std::env::var("PROCESSOR_IDENTIFIER").ok()
}

/// Splits a command line into words in the same way as Windows programs. Only `"` is a quotation
/// mark, and `\` is an ordinary character unless it precedes `"`. Returns `None` if a quote is not
/// closed. See "Parsing C command-line arguments" in Microsoft's documentation.
pub(crate) fn split_words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let (mut is_quoted, mut backslashes) = (false, 0);
    for letter in text.chars() {
        if letter == '\\' {
            backslashes += 1;
            continue;
        }
        let is_escaped = letter == '"' && backslashes % 2 == 1;
        let kept = if letter == '"' { backslashes / 2 } else { backslashes };
        if kept > 0 {
            word.get_or_insert_default().extend(std::iter::repeat_n('\\', kept));
        }
        backslashes = 0;
        match letter {
            '"' if !is_escaped => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            _ if letter.is_whitespace() && !is_quoted => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if backslashes > 0 {
        word.get_or_insert_default().extend(std::iter::repeat_n('\\', backslashes));
    }
    words.extend(word);
    (!is_quoted).then_some(words)
}

/// Returns the folder for a user's data files.
#[cfg(feature = "cli")]
pub(crate) fn data_folder() -> Option<std::path::PathBuf> {
    std::env::var_os("APPDATA").filter(|value| !value.is_empty()).map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_split_as_windows_programs_do() {
        for (text, words) in [
            (r"", &[][..]),
            (r"tabia.exe  -x", &["tabia.exe", "-x"]),
            (r#""C:\Program Files\t.exe" -b "C:\Bücher\""#, &[]),
            (r#""C:\Program Files\t.exe" C:\Bücher\"#, &[r"C:\Program Files\t.exe", r"C:\Bücher\"]),
            (r#""C:\a b\\" "" c\"d"#, &[r"C:\a b\", "", r#"c"d"#]),
            (r"it's \\server\x", &["it's", r"\\server\x"]),
        ] {
            let split = split_words(text);
            assert_eq!(split.as_deref().unwrap_or_default(), words, "{text}");
        }
    }

    #[test]
    fn reserved_names_are_devices() {
        for name in ["NUL", "nul", r"C:\x\con.txt", "COM1", "lpt9.pgn"] {
            assert!(is_device(Path::new(name)), "{name}");
        }
        for name in ["NULL", "COM", "COM0", "COM10", "console", "x.nul"] {
            assert!(!is_device(Path::new(name)), "{name}");
        }
    }
}
