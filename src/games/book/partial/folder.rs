//! Reads and writes folders of partial counts and their manifest files.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use super::table::RowTotals;
use crate::games::book::builder::BuildError;
use crate::games::book::format::manifest::Manifest;
use crate::support::files::{describe, draft_of, read_folder, read_plain, remove_leftover};
use crate::support::platform;

const VERSION: u32 = 1;
/// The name of the manifest file in a new folder. Readers also accept names with extra characters
/// before the dot, such as `manifest-2.json`.
const MANIFEST: &str = "manifest.json";

/// The content of the manifest file: metadata that cannot be recovered from the rows once another
/// program has combined some of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartialMetadata {
    version: u32,
    /// The number of rows when the counts were written. Other programs may combine rows afterwards.
    rows: u64,
    /// The sum of the game counts in all rows. Grouping does not change it.
    pub visits: u64,
    /// The sum of the checksums of all rows; `None` in manifests written by older versions.
    #[serde(default)]
    pub sum: Option<u64>,
    #[serde(default)]
    facets: bool,
    pub manifest: Manifest,
    /// The XXH3 hash of this metadata, computed with this field set to `None`. `None` in files from
    /// older versions.
    #[serde(default)]
    checksum: Option<u64>,
}

impl PartialMetadata {
    pub(super) fn new(manifest: Manifest, facets: bool, totals: RowTotals) -> io::Result<Self> {
        let RowTotals { rows, visits, sum } = totals;
        let (sum, checksum) = (Some(sum), None);
        let new =
            PartialMetadata { version: VERSION, rows, visits, sum, facets, manifest, checksum };
        let checksum = Some(new.checksum()?);
        Ok(PartialMetadata { checksum, ..new })
    }

    fn checksum(&self) -> io::Result<u64> {
        let bare = PartialMetadata { checksum: None, ..self.clone() };
        Ok(xxh3_64(&serde_json::to_vec(&bare)?))
    }

    fn read(path: &Path) -> Result<Self, BuildError> {
        let refuse = |reason: String| refused(path, &reason);
        let bytes = read_plain(path).map_err(|error| refuse(describe(&error)))?;
        let account: PartialMetadata = serde_json::from_slice(&bytes)
            .map_err(|error| refuse(format!("it is not a manifest of partial counts ({error})")))?;
        let is_sound = match account.checksum {
            Some(checksum) => account.checksum().is_ok_and(|sum| sum == checksum),
            None => true,
        };
        match account.version {
            VERSION if is_sound => Ok(account),
            VERSION => {
                Err(refuse("it is damaged; copy it again or count the games again".to_owned()))
            }
            other => Err(refuse(format!(
                "it has version {other}, but this Tabia reads version {VERSION}; count the games \
                 again, or use the Tabia that counted them"
            ))),
        }
    }
}

pub(super) fn refused(path: &Path, reason: &str) -> BuildError {
    BuildError::Input(format!("cannot read {}: {reason}", path.display()))
}

pub(super) struct Draft {
    folder: PathBuf,
    draft: TempDir,
    /// A lock on the temporary folder, held while this program is running (see
    /// [`remove_leftover`]).
    lock: File,
}

impl Draft {
    /// Creates a temporary folder next to `folder`, which will later be renamed to `folder`. Fails
    /// if `folder` exists and is not empty.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let is_free = match read_folder(folder) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if !is_free {
            let reason = format!("{} exists already; choose another folder", folder.display());
            return Err(io::Error::other(reason));
        }
        let beside = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
        let name = draft_of(folder);
        remove_leftover(&name);
        let mut names = tempfile::Builder::new();
        platform::new_folder_permissions().into_iter().for_each(|mode| {
            names.permissions(mode);
        });
        names.rand_bytes(0);
        names.prefix(name.file_name().unwrap_or_default());
        let draft = names.tempdir_in(beside.unwrap_or(Path::new(".")))?;
        let lock = platform::lock_folder(draft.path())?;
        Ok(Draft { folder: folder.to_owned(), draft, lock })
    }

    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        File::create_new(self.draft.path().join(name))
    }

    pub(super) fn keep(self, account: &PartialMetadata) -> io::Result<()> {
        let file = self.create(MANIFEST)?;
        serde_json::to_writer_pretty(&file, account)?;
        file.sync_all()?;
        drop(file);
        platform::rename_folder(self.draft.path(), &self.folder, self.lock)?;
        // The temporary folder has been renamed, so there is nothing left to remove.
        let _ = self.draft.keep();
        Ok(())
    }
}

pub(super) fn accounts_in(folders: &[PathBuf]) -> Result<Vec<PartialMetadata>, BuildError> {
    let (stem, ending) = MANIFEST.split_at(MANIFEST.len() - ".json".len());
    let paths = files_in(folders, |name| name.starts_with(stem) && name.ends_with(ending))?;
    if paths.is_empty() {
        let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
        return Err(BuildError::Input(format!(
            "cannot read counts in {}: there is no {MANIFEST}; name folders that `tabia book \
             count` wrote, or copy the manifests there",
            folders.join(", ")
        )));
    }
    paths.iter().map(|path| PartialMetadata::read(path)).collect()
}

pub(super) fn tables_in(folders: &[PathBuf]) -> Result<Vec<PathBuf>, BuildError> {
    files_in(folders, |name| name.ends_with(".parquet"))
}

/// Returns the files in `folders` and their subfolders whose names satisfy `wanted`. Skips files
/// and folders whose names begin with `.` or `_`.
fn files_in(
    folders: &[PathBuf],
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<PathBuf>, BuildError> {
    let mut files = Vec::new();
    let mut waiting = folders.to_vec();
    while let Some(folder) = waiting.pop() {
        let unreadable = |error: io::Error| refused(&folder, &describe(&error));
        for entry in read_folder(&folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(['.', '_']) {
                continue;
            }
            // Links to folders are not followed, because they may form a cycle.
            if path.symlink_metadata().map_err(unreadable)?.is_dir() {
                waiting.push(path);
            } else if wanted(&name) {
                files.push(path);
            }
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

/// Combines the metadata of several sets of partial counts. Fails if they were counted with
/// different programs or options.
pub(super) fn joined(accounts: Vec<PartialMetadata>) -> Result<PartialMetadata, BuildError> {
    let mut accounts = accounts.into_iter();
    let Some(mut sum) = accounts.next() else {
        return Err(BuildError::NoGames("there are no partial counts".to_owned()));
    };
    for PartialMetadata { rows, visits, sum: more_sum, manifest: more, .. } in accounts {
        let all = &mut sum.manifest;
        let how = |manifest: &Manifest| {
            (manifest.made_by.clone(), manifest.max_ply, manifest.filters.clone())
        };
        if how(all) != how(&more) {
            return Err(BuildError::Input(format!(
                "the games were counted in different ways, {:?} and {:?}; count them with the \
                 same program and options",
                how(all),
                how(&more)
            )));
        }
        sum.rows = sum.rows.saturating_add(rows);
        sum.visits = sum.visits.saturating_add(visits);
        sum.sum = sum.sum.zip(more_sum).map(|(sum, more)| sum.wrapping_add(more));
        all.games.add(&more.games);
        all.skipped.add(&more.skipped);
        all.broken = all.broken.saturating_add(more.broken);
        all.inputs.extend(more.inputs);
    }
    sum.manifest.inputs.sort();
    Ok(sum)
}
