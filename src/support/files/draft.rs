//! Drafts: files that are still being written. They have a temporary draft name or no name at all.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use tempfile::TempPath;
use xxhash_rust::xxh3::xxh3_64;

use super::is_at;
use crate::support::platform::{self, try_lock};

/// The prefix of draft names. It is followed by a hash of the target's name, or by random letters
/// if another program is already writing the same target.
const DRAFT_PREFIX: &str = ".tabia-";
/// The number of random letters in a draft name. Collisions with existing files and links are
/// harmless, because creating a draft never overwrites anything.
const DRAFT_LETTERS: usize = 12;
/// The maximum number of attempts to create a draft. An attempt fails if another program mistakes
/// the draft for a leftover and removes it before it is locked.
const DRAFT_ATTEMPTS: usize = 8;
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(crate) fn draft_of(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default();
    let draft = format!("{DRAFT_PREFIX}{:016x}", xxh3_64(name.as_encoded_bytes()));
    folder_of(target).join(draft)
}

pub(crate) fn is_draft(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(DRAFT_PREFIX))
}

/// Removes a draft (a file or folder) unless it is locked. An unlocked draft was left behind by a
/// program that was killed.
pub(crate) fn remove_leftover(draft: &Path) {
    let Some(file) = platform::claim(draft) else { return };
    if is_at(&file, draft) {
        let _ = match draft.is_dir() {
            true => fs::remove_dir_all(draft),
            false => fs::remove_file(draft),
        };
    }
}

/// Calls `make` with the draft name of the target, or with a random draft name if that file already
/// exists.
fn under_draft_name<T>(
    target: &Path,
    make: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(T, TempPath)> {
    let draft = draft_of(target);
    match make(&draft) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let mut names = tempfile::Builder::new();
            names.prefix(DRAFT_PREFIX).rand_bytes(DRAFT_LETTERS);
            Ok(names.make_in(folder_of(target), make)?.into_parts())
        }
        made => Ok((made?, TempPath::try_from_path(draft)?)),
    }
}

pub(super) fn named(target: &Path) -> io::Result<(File, TempPath)> {
    let create = |path: &Path| {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).open(path)
    };
    for _ in 0..DRAFT_ATTEMPTS {
        let (file, path) = under_draft_name(target, create)?;
        // Ignore errors: where locking fails, other programs cannot lock the draft either, so they
        // do not remove it.
        let _ = try_lock(&file);
        if is_at(&file, &path) {
            return Ok((file, path));
        }
        // Another program removed the file before it was locked, and may have created its own draft
        // with the same name. Do not delete that draft.
        let _ = path.keep();
    }
    Err(io::Error::other("other programs remove it again and again"))
}

pub(super) fn unnamed(folder: &Path) -> Option<File> {
    let file = platform::unnamed_file(folder)?;
    // Lock the file before it gets a name. Ignore errors: where locking fails, other programs
    // cannot lock the draft either, so they do not remove it.
    let _ = try_lock(&file);
    Some(file)
}

/// Gives an unnamed file the name of its target. If `replaces` is true, the file first gets a draft
/// name, because only a rename can replace an existing file.
pub(super) fn link(mut file: &File, target: &Path, replaces: bool) -> io::Result<()> {
    let link = |path: &Path| platform::link_unnamed(file, path);
    if !replaces && link(target).is_ok() {
        return Ok(());
    }
    match under_draft_name(target, link) {
        Ok(((), path)) => platform::replace(path, target),
        // Linking fails without `/proc`. Copy the content to a named draft instead.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let (mut copy, path) = named(target)?;
            file.rewind()?;
            io::copy(&mut file, &mut copy)?;
            copy.set_permissions(file.metadata()?.permissions())?;
            copy.sync_all()?;
            platform::replace(path, target)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draft_in_use_is_not_removed_as_leftover() {
        let dir = tempfile::tempdir().expect("a folder");
        let (file, path) = named(&dir.path().join("book")).expect("a draft");
        remove_leftover(&path);
        assert!(is_at(&file, &path));
        drop(path);
        assert_eq!(dir.path().read_dir().expect("a folder").count(), 0);
    }
}
