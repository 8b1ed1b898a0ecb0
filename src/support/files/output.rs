//! Writes files atomically, and never replaces a file by mistake.
//!
//! Where the file system allows it, a file has no name until it is complete and synced; elsewhere
//! it has a draft name. To replace an existing file, an unnamed file first gets a draft name as
//! well, and is then renamed. If a program is killed before the rename, the next run that writes
//! the same target removes the draft. Running programs lock their drafts, so an unlocked draft is a
//! leftover.
//!
//! Symbolic links are followed and preserved. An [`Output`] may replace an empty file, a file of
//! the same [`FileKind`] or, with `force`, any other file. It never replaces an input of the same
//! command. Output to devices and pipes is written directly.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::describe;
use super::draft::{draft_of, folder_of, link, named, remove_leftover, unnamed};

use super::error::FileError;
use crate::support::platform::{self, FileId, known_id};

const HEAD: u64 = 4096;
/// File name extensions that belong to a particular kind of file.
const KNOWN_ENDINGS: [&str; 12] =
    ["abk", "bin", "csv", "ctb", "ctg", "cto", "epd", "games", "json", "parquet", "pgn", "tbk"];
/// The maximum number of symbolic links to follow; Linux has the same limit.
const MAX_LINKS: usize = 40;

/// A kind of file that a command writes. The command may replace existing files of the same kind.
#[derive(Debug, Clone, Copy)]
pub struct FileKind {
    /// The name of the kind with an article, for error messages.
    pub name: &'static str,
    /// Whether a file that starts with these bytes (at most 4096) is of this kind.
    pub recognises: fn(&[u8]) -> bool,
}

impl FileKind {
    /// SVG drawings.
    pub const SVG: FileKind =
        FileKind { name: "an SVG drawing", recognises: |head| begins(head, "<svg") };
    /// HTML pages.
    pub const HTML: FileKind =
        FileKind { name: "an HTML page", recognises: |head| begins(head, "<!doctype html") };
    /// JSON objects.
    pub const JSON: FileKind =
        FileKind { name: "a JSON object", recognises: |head| begins(head, "{") };
    /// JUnit reports.
    pub const JUNIT: FileKind = FileKind {
        name: "a JUnit report",
        recognises: |head| {
            const ROOT: &[u8] = b"<testsuites>";
            begins(head, "<?xml") && head.windows(ROOT.len()).any(|part| part == ROOT)
        },
    };
}

/// Whether `head`, the beginning of a file, starts with the text `with`. Ignores case and leading
/// white space.
fn begins(head: &[u8], with: &str) -> bool {
    let head = head.trim_ascii_start();
    head.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()))
}

enum Failure {
    Before(io::Error),
    After(io::Error),
}

impl Failure {
    fn map_error(self, path: &Path) -> FileError {
        match self {
            Failure::Before(error) => FileError::io("write", path, &error),
            Failure::After(error) => {
                let reason = describe(&error);
                let rest = "the file is written, but a power cut may undo that";
                FileError::new("sync the folder of", path, format!("{reason}; {rest}"))
            }
        }
    }
}

enum Destination {
    /// A regular file: its path with all symbolic links resolved and, if it exists, its metadata.
    File(PathBuf, Option<Metadata>),
    Stream,
}

/// A file that a command writes.
#[derive(Debug, Clone)]
pub struct Output<'a> {
    path: &'a Path,
    kind: FileKind,
    /// The file name extension that other programs require for this kind of file, if any.
    ending: Option<&'static str>,
    force: bool,
    keeps_old: bool,
    inputs: Vec<FileId>,
}

impl<'a> Output<'a> {
    /// Creates an output of this kind.
    pub fn new(path: &'a Path, kind: FileKind) -> Self {
        Output { path, kind, ending: None, force: false, keeps_old: false, inputs: Vec::new() }
    }

    /// Sets the expected file name extension. Paths with the extension of a different kind of file
    /// are rejected.
    pub fn ending(self, ending: &'static str) -> Self {
        Output { ending: Some(ending), ..self }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// Sets whether the output may replace a file of a different kind.
    pub fn force(self, force: bool) -> Self {
        Output { force, ..self }
    }

    /// Makes replacing a file of the same kind require `force`, too. Use this for kinds of files
    /// that people write by hand.
    pub fn keep_old(self) -> Self {
        Output { keeps_old: true, ..self }
    }

    /// Adds input files that the output must not replace, even under a different name or through a
    /// link. Missing files are ignored. `-` means standard input.
    pub fn apart_from<P: AsRef<Path>>(mut self, inputs: impl IntoIterator<Item = P>) -> Self {
        for input in inputs {
            let input = input.as_ref();
            if input.as_os_str() == "-" {
                self.inputs.extend(platform::stdin_id());
                continue;
            }
            // Ignore devices and pipes, because writing to them does not destroy an input.
            let file = input.metadata().ok().filter(Metadata::is_file);
            self.inputs.extend(file.and_then(|file| known_id(input, &file)));
        }
        self
    }

    /// Checks whether the file can be written. Call this method before a long computation, so that
    /// its result is not lost. Changes nothing on disk.
    ///
    /// # Errors
    /// If the path is an input, a folder or a file of a different kind, or if its folder does not
    /// exist.
    pub fn check(&self) -> Result<(), FileError> {
        match self.place()? {
            Destination::File(path, None) if !folder_of(&path).is_dir() => Err(self.no_folder()),
            _ => Ok(()),
        }
    }

    /// Checks that this output and `other` are not the same file, even under different names or
    /// through links.
    pub(crate) fn check_beside(&self, other: &Output<'_>) -> Result<(), FileError> {
        let whole = |output: &Output<'_>| match output.place()? {
            // If the folder does not exist, writing the file fails anyway, so the unresolved path
            // is good enough.
            Destination::File(path, _) => Ok(path.file_name().map(|name| {
                let folder = folder_of(&path);
                folder.canonicalize().unwrap_or(folder.to_owned()).join(name)
            })),
            Destination::Stream => Ok(None),
        };
        match (whole(self)?, whole(other)?) {
            (Some(path), Some(others)) if path == others => {
                Err(self.refusal("another output has the same name; choose another name"))
            }
            _ => Ok(()),
        }
    }

    /// Creates a file for random access. It does not appear under its name until [`NewFile::keep`]
    /// is called.
    pub(crate) fn create(&self) -> Result<NewFile, FileError> {
        match self.place()? {
            Destination::File(target, old) => {
                self.map_error(NewFile::begin(self.path, target, old.as_ref()))
            }
            Destination::Stream => Err(self.refusal("it is a device or a pipe; choose a file")),
        }
    }

    /// Creates a file for sequential writing. Like [`Output::create`], but also accepts devices and
    /// pipes, which it writes directly.
    pub(crate) fn stream(&self) -> Result<NewFile, FileError> {
        match self.place()? {
            Destination::File(target, old) => {
                self.map_error(NewFile::begin(self.path, target, old.as_ref()))
            }
            Destination::Stream => self.map_error(NewFile::direct(self.path)),
        }
    }

    /// Replaces the file's contents with `bytes`.
    pub fn write(&self, bytes: &[u8]) -> Result<(), FileError> {
        let mut file = self.stream()?;
        self.map_error(file.write_all(bytes))?;
        file.keep()
    }

    fn place(&self) -> Result<Destination, FileError> {
        let place = self.map_error(place(self.path))?;
        let old = match &place {
            Destination::File(path, Some(old)) => Some((path, old)),
            _ => None,
        };
        let id = old.and_then(|(path, old)| known_id(path, old));
        if id.is_some_and(|id| self.inputs.contains(&id)) {
            return Err(self.refusal("it is also an input; choose another name"));
        }
        self.check_ending()?;
        old.map_or(Ok(()), |(path, old)| self.check_old(path, old))?;
        Ok(place)
    }

    fn check_ending(&self) -> Result<(), FileError> {
        let Some(own) = self.ending else { return Ok(()) };
        let found = self.path.extension().map(|found| found.to_string_lossy().to_lowercase());
        match found.filter(|found| found != own && KNOWN_ENDINGS.contains(&found.as_str())) {
            None => Ok(()),
            Some(found) => Err(self.refusal(&format!(
                "the output is {}, which does not match the ending .{found}; choose a name that \
                 ends in .{own}",
                self.kind.name
            ))),
        }
    }

    fn check_old(&self, path: &Path, old: &Metadata) -> Result<(), FileError> {
        if self.force || old.len() == 0 {
            return Ok(());
        }
        if self.keeps_old {
            return Err(
                self.refusal("it exists; choose another name, or add --force to replace it")
            );
        }
        let mut head = Vec::new();
        let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
        self.map_error(read)?;
        if (self.kind.recognises)(&head) {
            return Ok(());
        }
        let reason = format!("it exists and is not {}; to replace it, add --force", self.kind.name);
        Err(self.refusal(&reason))
    }

    fn no_folder(&self) -> FileError {
        self.refusal("its folder does not exist")
    }

    fn refusal(&self, reason: &str) -> FileError {
        FileError::new("write", self.path, reason)
    }

    fn map_error<T>(&self, result: io::Result<T>) -> Result<T, FileError> {
        result.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => self.no_folder(),
            _ => self.refusal(&describe(&error)),
        })
    }
}

fn place(path: &Path) -> io::Result<Destination> {
    if platform::is_device(path) {
        return Ok(Destination::Stream);
    }
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
    if platform::stdout_id().is_some_and(|stdout| known_id(path, &there) == Some(stdout)) {
        let reason = "standard output is redirected to it; choose another name";
        return Err(io::Error::other(reason));
    }
    Ok(Destination::File(path.canonicalize()?, Some(there)))
}

/// Follows symbolic links from `path` to a file that does not exist yet, and returns the path of
/// that file.
fn new_target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match target.read_link() {
            Ok(next) => target = folder_of(&target).join(next),
            Err(_) if target.file_name().is_none() => {
                return Err(io::Error::other("it is not a file name"));
            }
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("its symbolic links do not lead to a file"))
}

/// A file that is being written. It appears under its name once [`NewFile::keep`] is called.
#[derive(Debug)]
pub(crate) struct NewFile {
    draft: Draft,
    name: PathBuf,
    target: PathBuf,
    /// The permissions of the file being replaced, if any. They are copied to the new file.
    permissions: Option<Permissions>,
}

/// Where the content is stored until the file has its final name.
#[derive(Debug)]
enum Draft {
    /// A file without a name. The operating system deletes it if the program ends before the file
    /// gets a name.
    Unnamed(File),
    Named(File, TempPath),
    /// A complete file with another name on the same file system. [`NewFile::keep`] renames it.
    Moved(File, PathBuf),
    /// The target device or pipe itself.
    Direct(File),
}

impl NewFile {
    fn begin(name: &Path, target: PathBuf, old: Option<&Metadata>) -> io::Result<Self> {
        remove_leftover(&draft_of(&target));
        let draft = match unnamed(folder_of(&target)) {
            Some(file) => Draft::Unnamed(file),
            None => {
                let (file, path) = named(&target)?;
                Draft::Named(file, path)
            }
        };
        let permissions = old.map(Metadata::permissions);
        Ok(NewFile { draft, name: name.to_owned(), target, permissions })
    }

    /// Uses an existing, complete file as the content. [`NewFile::keep`] moves that file to its
    /// final name. If it is on a different file system, its content is copied immediately instead.
    pub(crate) fn take_over(&mut self, path: &Path) -> io::Result<()> {
        let there = OpenOptions::new().read(true).write(true).open(path)?;
        if platform::is_on_volume_of(&there, folder_of(&self.target))? {
            self.draft = Draft::Moved(there, path.to_owned());
            return Ok(());
        }
        self.copy(&there)
    }

    fn copy(&mut self, mut from: &File) -> io::Result<()> {
        from.rewind()?;
        let file = self.file();
        file.set_len(0)?;
        file.rewind()?;
        io::copy(&mut from, file).map(drop)
    }

    fn direct(path: &Path) -> io::Result<Self> {
        let draft = Draft::Direct(OpenOptions::new().write(true).open(path)?);
        let path = path.to_owned();
        Ok(NewFile { draft, name: path.clone(), target: path, permissions: None })
    }

    fn file(&mut self) -> &mut File {
        match &mut self.draft {
            Draft::Unnamed(file)
            | Draft::Direct(file)
            | Draft::Named(file, _)
            | Draft::Moved(file, _) => file,
        }
    }

    /// Syncs the content, gives the file its final name, and syncs the name. If this fails, either
    /// the old file is unchanged, or the new file is in place but may be lost in a power failure.
    pub(crate) fn keep(self) -> Result<(), FileError> {
        let path = self.name.clone();
        self.put().map_err(|failure| failure.map_error(&path))
    }

    fn put(mut self) -> Result<(), Failure> {
        if let Draft::Direct(file) = &mut self.draft {
            return file.flush().map_err(Failure::Before);
        }
        let folder = folder_of(&self.target).to_owned();
        self.finish().and_then(|()| self.rename_to_target()).map_err(Failure::Before)?;
        sync_folder(&folder).map_err(Failure::After)
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(permissions) = self.permissions.clone() {
            self.file().set_permissions(permissions)?;
        }
        self.file().sync_all()
    }

    fn rename_to_target(self) -> io::Result<()> {
        let NewFile { draft, name, target, permissions } = self;
        match draft {
            Draft::Named(_, path) => platform::replace(path, &target),
            Draft::Unnamed(file) => link(&file, &target, permissions.is_some()),
            Draft::Moved(file, path) => match platform::rename(&path, &target) {
                // The file is on a different mount of the same file system, so it cannot be
                // renamed. Copy it instead.
                Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                    let old = target.metadata().ok();
                    let mut new = NewFile::begin(&name, target, old.as_ref())?;
                    new.copy(&file)?;
                    new.finish()?;
                    new.rename_to_target()
                }
                renamed => renamed,
            },
            Draft::Direct(_) => Ok(()),
        }
    }
}

/// Syncs the name of a file, so that the file can be found after a power failure. Syncing its
/// content does not do this.
pub(crate) fn sync_name(path: &Path) -> io::Result<()> {
    sync_folder(folder_of(path))
}

/// Syncs a folder so that the names of its files survive a power failure. Does nothing if the
/// folder cannot be opened.
fn sync_folder(folder: &Path) -> io::Result<()> {
    let Ok(folder) = File::open(folder) else { return Ok(()) };
    match folder.sync_all() {
        // Some file systems cannot sync folders.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// Replaces a file atomically, without checking the kind of the old file. Use this function only
/// for the program's own files, or after [`Output::check`].
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_file(path, bytes).map_err(|failure| failure.map_error(path))
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let begin = || {
        let mut file = match place(path)? {
            Destination::File(target, old) => NewFile::begin(path, target, old.as_ref())?,
            Destination::Stream => NewFile::direct(path)?,
        };
        file.write_all(bytes)?;
        Ok(file)
    };
    begin().map_err(Failure::Before)?.put()
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::is_at;
    use super::*;

    const TEXT: FileKind = FileKind { name: "a text", recognises: |_| true };

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry"));
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().into_string().expect("text")).collect();
        names.sort();
        names
    }

    #[test]
    fn leftover_draft_is_removed_by_the_next_write() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("book");
        let draft = draft_of(&path);
        for old in [None, Some("old")] {
            old.iter().for_each(|old| fs::write(&path, old).expect("written"));
            fs::write(&draft, "left").expect("written");
            Output::new(&path, TEXT).write(b"new").expect("written");
            assert_eq!(fs::read(&path).expect("there"), b"new");
            assert_eq!(names_in(dir.path()), ["book"], "{old:?}");
        }
    }

    #[test]
    fn locked_draft_of_another_program_is_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("book");
        fs::write(&path, "old").expect("written");
        // Simulate another program that has created a draft for the same target but has not renamed
        // it yet.
        let draft = draft_of(&path);
        let theirs = File::create(&draft).expect("created");
        platform::try_lock(&theirs).expect("free");
        let mut file = Output::new(&path, TEXT).create().expect("a file");
        file.write_all(b"ours").expect("written");
        file.keep().expect("kept");
        assert_eq!(fs::read(&path).expect("there"), b"ours");
        assert!(is_at(&theirs, &draft), "a locked draft is kept");
        assert_eq!(names_in(dir.path()).len(), 2);
    }

    #[test]
    fn taken_over_file_is_renamed_only_when_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let [path, whole] = ["book", "whole"].map(|name| dir.path().join(name));
        fs::write(&path, "old").expect("written");
        for is_kept in [false, true] {
            fs::write(&whole, "new").expect("written");
            let mut file = Output::new(&path, TEXT).create().expect("a file");
            file.write_all(b"discarded").expect("written");
            file.take_over(&whole).expect("taken over");
            if is_kept {
                file.keep().expect("kept");
                assert_eq!(fs::read(&path).expect("there"), b"new");
                assert_eq!(names_in(dir.path()), ["book"]);
            } else {
                drop(file);
                assert_eq!(fs::read(&path).expect("there"), b"old");
                assert_eq!(fs::read(&whole).expect("there"), b"new");
            }
        }
    }
}
