//! Files that are there as a whole or not at all, and that replace nothing by mistake.
//!
//! What is written has no name, or one that nobody can foretell, until it is complete and on the
//! disk; then it takes the place of the old file by renaming. A symbolic link is followed, and
//! stays. What an [`Output`] may replace is an empty file, one of its own [`FileKind`], or anything
//! if the user insists, but never a file that is read at the same time. Devices and pipes are
//! written to as they are.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use thiserror::Error;

use super::in_words;

/// Like any new file, it may be read and written by whom the umask lets.
const NEW_FILE_MODE: u32 = 0o666;
/// How files begin that have a name before they are complete, followed by random letters: only
/// where the file system knows no files without names, or for the moment before the renaming.
const DRAFT_PREFIX: &str = ".tabia-";
/// Random letters of such a name. Their number is not what makes it safe: no existing file or
/// link is ever opened.
const DRAFT_LETTERS: usize = 12;
/// Bytes of an existing file that tell its kind.
const HEAD: u64 = 4096;
/// Endings of names that promise a certain kind of file to people and programs.
const KNOWN_ENDINGS: [&str; 12] =
    ["abk", "bin", "csv", "ctb", "ctg", "cto", "epd", "games", "json", "parquet", "pgn", "tbk"];
/// Symbolic links that are followed at most, as the system itself does.
const MAX_LINKS: usize = 40;

/// A kind of file that a command writes, and may replace.
#[derive(Debug, Clone, Copy)]
pub struct FileKind {
    /// What it is called, with its article.
    pub name: &'static str,
    /// Whether the first bytes of a file, up to 4096 of them, are of this kind.
    pub recognises: fn(&[u8]) -> bool,
}

impl FileKind {
    /// Drawings.
    pub const SVG: FileKind =
        FileKind { name: "an SVG drawing", recognises: |head| begins(head, "<svg") };
    /// Pages for a browser.
    pub const HTML: FileKind =
        FileKind { name: "an HTML page", recognises: |head| begins(head, "<!doctype html") };
    /// JSON objects.
    pub const JSON: FileKind =
        FileKind { name: "a JSON object", recognises: |head| begins(head, "{") };
}

/// Whether a text begins so, whatever its case.
fn begins(head: &[u8], with: &str) -> bool {
    let head = head.trim_ascii_start();
    head.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()))
}

/// Why a file is not written.
#[derive(Debug, Error)]
#[error("cannot write {}: {reason}", path.display())]
pub struct OutputError {
    path: PathBuf,
    reason: String,
}

/// What stands at a path.
enum Destination {
    /// A file, or nothing yet: the path without symbolic links at its end, and what is there.
    File(PathBuf, Option<Metadata>),
    /// A device or a pipe.
    Stream,
}

/// Device and number of a file: whoever has the same is the same file.
type FileId = (u64, u64);

fn id(metadata: &Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}

/// A file that a command is asked to write.
#[derive(Debug, Clone)]
pub struct Output<'a> {
    path: &'a Path,
    kind: FileKind,
    /// How names of files of this kind end, if other programs expect it.
    ending: Option<&'static str>,
    force: bool,
    inputs: Vec<FileId>,
}

impl<'a> Output<'a> {
    /// An output of this kind.
    pub fn new(path: &'a Path, kind: FileKind) -> Self {
        Output { path, kind, ending: None, force: false, inputs: Vec::new() }
    }

    /// Names the ending of such files: a path with the ending of another known kind is refused.
    pub fn ending(self, ending: &'static str) -> Self {
        Output { ending: Some(ending), ..self }
    }

    /// Its path.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// Whether a file of another kind may be replaced.
    pub fn force(self, force: bool) -> Self {
        Output { force, ..self }
    }

    /// Names files that are read, of which the output must be none, by whatever name or link. What
    /// does not exist is passed over; `-` is the standard input.
    pub fn apart_from<P: AsRef<Path>>(mut self, inputs: impl IntoIterator<Item = P>) -> Self {
        for input in inputs {
            let input = input.as_ref();
            let path = if input.as_os_str() == "-" { Path::new("/dev/stdin") } else { input };
            // Devices and pipes lose nothing when they are written to.
            let file = path.metadata().ok().filter(Metadata::is_file);
            self.inputs.extend(file.as_ref().map(id));
        }
        self
    }

    /// Tests whether it may be written, before long work; nothing is touched.
    ///
    /// # Errors
    /// If it is an input, a folder, of another kind, or in a folder that does not exist.
    pub fn check(&self) -> Result<(), OutputError> {
        match self.place()? {
            Destination::File(path, None) if !folder_of(&path).is_dir() => Err(self.no_folder()),
            _ => Ok(()),
        }
    }

    /// Tests whether it is another file than one that is written too, by whatever name or link.
    ///
    /// # Errors
    /// If it is the same, or one of both may not be written.
    pub(crate) fn check_beside(&self, other: &Output<'_>) -> Result<(), OutputError> {
        let whole = |output: &Output<'_>| match output.place()? {
            // The folder is there, or it is refused when the file is written.
            Destination::File(path, _) => Ok(path.file_name().map(|name| {
                let folder = folder_of(&path);
                folder.canonicalize().unwrap_or(folder.to_owned()).join(name)
            })),
            Destination::Stream => Ok(None),
        };
        match (whole(self)?, whole(other)?) {
            (Some(path), Some(others)) if path == others => {
                Err(self.refusal("something else is written there; give it a name of its own"))
            }
            _ => Ok(()),
        }
    }

    /// Begins to write a file that is read and filled in out of order. Until [`NewFile::keep`],
    /// nothing is to be seen of it.
    ///
    /// # Errors
    /// As [`Output::check`]; if it is a device or a pipe; if the folder cannot be written to.
    pub(crate) fn create(&self) -> Result<NewFile, OutputError> {
        match self.place()? {
            Destination::File(target, old) => self.told(NewFile::begin(target, old)),
            Destination::Stream => {
                Err(self.refusal("it is a device or a pipe, and this must be written to a file"))
            }
        }
    }

    /// Begins to write from front to back: a file as [`Output::create`], or at once what a device
    /// or a pipe is to have.
    ///
    /// # Errors
    /// As [`Output::check`], or if it cannot be written to.
    pub(crate) fn stream(&self) -> Result<NewFile, OutputError> {
        match self.place()? {
            Destination::File(target, old) => self.told(NewFile::begin(target, old)),
            Destination::Stream => self.told(NewFile::direct(self.path)),
        }
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// As [`Output::check`], or if it cannot be written to.
    pub fn write(&self, bytes: &[u8]) -> Result<(), OutputError> {
        let mut file = self.stream()?;
        let written = file.write_all(bytes).and_then(|()| file.keep());
        self.told(written)
    }

    fn place(&self) -> Result<Destination, OutputError> {
        self.check_ending()?;
        let place = self.told(place(self.path))?;
        if let Destination::File(path, Some(old)) = &place {
            self.check_old(path, old)?;
        }
        Ok(place)
    }

    /// Whether the name does not promise another kind of file.
    fn check_ending(&self) -> Result<(), OutputError> {
        let Some(own) = self.ending else { return Ok(()) };
        let found = self.path.extension().map(|found| found.to_string_lossy().to_lowercase());
        match found.filter(|found| found != own && KNOWN_ENDINGS.contains(&found.as_str())) {
            None => Ok(()),
            Some(found) => Err(self.refusal(&format!(
                "it would be {}, not what .{found} stands for; use a name that ends in .{own}",
                self.kind.name
            ))),
        }
    }

    /// Whether the file that is there may be replaced.
    fn check_old(&self, path: &Path, old: &Metadata) -> Result<(), OutputError> {
        if self.inputs.contains(&id(old)) {
            return Err(self.refusal("it is read as well; give the output a name of its own"));
        }
        if self.force || old.len() == 0 {
            return Ok(());
        }
        let mut head = Vec::new();
        let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
        self.told(read)?;
        if (self.kind.recognises)(&head) {
            return Ok(());
        }
        let reason = format!("it exists and is not {}; --force replaces it", self.kind.name);
        Err(self.refusal(&reason))
    }

    fn no_folder(&self) -> OutputError {
        self.refusal("its folder does not exist")
    }

    fn refusal(&self, reason: &str) -> OutputError {
        OutputError { path: self.path.to_owned(), reason: reason.to_owned() }
    }

    fn told<T>(&self, result: io::Result<T>) -> Result<T, OutputError> {
        result.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => self.no_folder(),
            _ => self.refusal(&in_words(&error)),
        })
    }
}

/// Finds out what stands at a path.
fn place(path: &Path) -> io::Result<Destination> {
    let there = match path.metadata() {
        Ok(there) => there,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Destination::File(new_target(path)?, None));
        }
        Err(error) => return Err(error),
    };
    if there.is_dir() {
        return Err(io::Error::other("it is a directory"));
    }
    if !there.is_file() {
        return Ok(Destination::Stream);
    }
    let stdout = Path::new("/dev/stdout").metadata();
    if stdout.is_ok_and(|stdout| id(&stdout) == id(&there)) {
        let reason = "the standard output goes there; give the output a name of its own";
        return Err(io::Error::other(reason));
    }
    Ok(Destination::File(path.canonicalize()?, Some(there)))
}

/// Where a file comes to be that does not exist: a link may point there already.
fn new_target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match target.read_link() {
            Ok(next) => target = folder_of(&target).join(next),
            Err(_) if target.file_name().is_none() => {
                return Err(io::Error::other("it is no file name"));
            }
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("its symbolic links lead nowhere"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file that is being written, and is there once it is kept.
#[derive(Debug)]
pub(crate) struct NewFile {
    draft: Draft,
    /// Where it goes.
    target: PathBuf,
    /// The permissions of what it replaces.
    mode: Option<u32>,
}

/// Where the bytes are until the file is complete.
#[derive(Debug)]
enum Draft {
    /// In a file without a name, of which nothing is left whatever happens.
    Unnamed(File),
    /// In a file with a name of its own, which only a killed program leaves behind.
    Named(NamedTempFile),
    /// In the device or pipe that they are for.
    Direct(File),
}

impl NewFile {
    fn begin(target: PathBuf, old: Option<Metadata>) -> io::Result<Self> {
        let folder = folder_of(&target);
        let draft = match unnamed(folder) {
            Some(file) => Draft::Unnamed(file),
            None => Draft::Named(names().tempfile_in(folder)?),
        };
        let mode = old.map(|old| old.permissions().mode());
        Ok(NewFile { draft, target, mode })
    }

    /// Takes a whole file in place of what was written so far: moved, and so gone from its path, or
    /// copied where it cannot be moved.
    ///
    /// # Errors
    /// If it cannot be copied.
    pub(crate) fn take_over(&mut self, path: &Path) -> io::Result<()> {
        // It gets a second name, for that never takes the place of another file as renaming does.
        let link = |name: &Path| {
            fs::hard_link(path, name)?;
            OpenOptions::new().read(true).write(true).open(name)
        };
        if let Ok(file) = names().make_in(folder_of(&self.target), link) {
            self.draft = Draft::Named(file);
            return fs::remove_file(path);
        }
        let file = self.file();
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        io::copy(&mut File::open(path)?, file).map(drop)
    }

    fn direct(path: &Path) -> io::Result<Self> {
        let draft = Draft::Direct(OpenOptions::new().write(true).open(path)?);
        Ok(NewFile { draft, target: path.to_owned(), mode: None })
    }

    fn file(&mut self) -> &mut File {
        match &mut self.draft {
            Draft::Unnamed(file) | Draft::Direct(file) => file,
            Draft::Named(file) => file.as_file_mut(),
        }
    }

    /// Puts the file in its place: its bytes are on the disk before it has its name, and so is its
    /// name when this returns.
    ///
    /// # Errors
    /// If it cannot be written or renamed; what was there is there still.
    pub(crate) fn keep(mut self) -> io::Result<()> {
        if let Draft::Direct(file) = &mut self.draft {
            return file.flush();
        }
        if let Some(mode) = self.mode {
            self.file().set_permissions(PermissionsExt::from_mode(mode))?;
        }
        self.file().sync_all()?;
        let folder = folder_of(&self.target);
        match self.draft {
            Draft::Named(file) => drop(file.persist(&self.target)?),
            Draft::Unnamed(file) => named(file, folder)?.persist(&self.target)?,
            Draft::Direct(_) => {}
        }
        sync_folder(folder)
    }
}

/// The names of files that are not complete.
fn names() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(DRAFT_PREFIX).rand_bytes(DRAFT_LETTERS);
    builder.permissions(PermissionsExt::from_mode(NEW_FILE_MODE));
    builder
}

/// Whether a file has the name of one that is not complete. Where nobody is writing, a program that was
/// killed has left it.
pub(crate) fn is_draft(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(DRAFT_PREFIX))
}

/// A file without a name in a folder, if the file system has such files.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    open(folder, flags, Mode::from_raw_mode(NEW_FILE_MODE)).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<File> {
    None
}

/// Gives a file without a name one that nobody has. Only renaming can put a file in the place of
/// another, and only a file with a name can be renamed.
#[cfg(target_os = "linux")]
fn named(mut file: File, folder: &Path) -> io::Result<NamedTempFile<()>> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let here = format!("/proc/self/fd/{}", file.as_raw_fd());
    let link = |path: &Path| Ok(linkat(CWD, &here, CWD, path, AtFlags::SYMLINK_FOLLOW)?);
    if let Ok(linked) = names().make_in(folder, link) {
        return Ok(linked);
    }
    // Where /proc is not to be had.
    let mode = file.metadata()?.permissions();
    let mut copy = names().tempfile_in(folder)?;
    file.seek(SeekFrom::Start(0))?;
    io::copy(&mut file, &mut copy)?;
    copy.as_file().set_permissions(mode)?;
    copy.as_file().sync_all()?;
    Ok(NamedTempFile::from_parts((), copy.into_temp_path()))
}

#[cfg(not(target_os = "linux"))]
fn named(_: File, _: &Path) -> io::Result<NamedTempFile<()>> {
    Err(io::Error::other("there are no files without names"))
}

/// Sees to it that a file's name is on the disk, as its bytes are not by themselves.
///
/// # Errors
/// If the disk fails.
pub(crate) fn sync_name(path: &Path) -> io::Result<()> {
    sync_folder(folder_of(path))
}

/// Sees to it that the names in a folder are on the disk. A folder that may not be read is left to
/// the system.
fn sync_folder(folder: &Path) -> io::Result<()> {
    let Ok(folder) = File::open(folder) else { return Ok(()) };
    match folder.sync_all() {
        // Some file systems have no such thing.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// Writes a file, as a whole or not at all, in place of whatever file is there: for those that
/// the program itself keeps, or whose [`Output`] was checked before.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = match place(path)? {
        Destination::File(target, old) => NewFile::begin(target, old)?,
        Destination::Stream => NewFile::direct(path)?,
    };
    file.write_all(bytes)?;
    file.keep()
}

impl Read for NewFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file().read(buffer)
    }
}

impl Write for NewFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.file().write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl Seek for NewFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file().seek(position)
    }
}
