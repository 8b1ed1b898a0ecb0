//! Where games come from: files, folders, standard input; compressed or not.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use thiserror::Error;

use xxhash_rust::xxh3::Xxh3Default;

use super::encoding::{decoded, is_bytes};
use crate::support::files::{foreign_kind, open_plain};

/// What is packed in a way that is not read here: how it begins, what it is, and what unpacks it.
const FOREIGN_PACKINGS: [(&[u8], &str, &str); 7] = [
    (b"PK\x03\x04", "a zip archive", "unzip -p FILE"),
    (b"PK\x05\x06", "an empty zip archive", "unzip -l FILE"),
    (b"\xfd7zXZ\0", "compressed with xz", "xz -dc FILE"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "7z x -so FILE"),
    (b"Rar!\x1a\x07", "a RAR archive", "unrar p -inul FILE"),
    (b"\x04\x22\x4d\x18", "compressed with lz4", "lz4 -dc FILE"),
    (b"LZIP", "compressed with lzip", "lzip -dc FILE"),
];
/// How files of Parquet begin, whose rows are read as games.
const PARQUET: &[u8] = b"PAR1";
/// How files begin that are packed by gzip, bzip2 and zstd, which are read here; and those of pzstd, in
/// which a frame to be skipped stands before each that is packed (RFC 8878, section 3.1.2).
const PACKINGS: [&[u8]; 4] = [b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"];
/// Compressed input is read in blocks of this size.
const READ_AHEAD: usize = 128 << 10;
/// An input that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot read {name}: {reason}")]
pub struct InputError {
    /// The file or folder.
    pub name: String,
    /// Why not.
    pub reason: String,
}

/// A source of PGN text.
#[derive(Debug, Clone)]
pub enum PgnInput {
    /// A file, whose compression (gzip, bzip2, zstd) and encoding its first bytes tell.
    File(PathBuf),
    /// Standard input, compressed or not.
    Stdin,
    /// Text in memory, under a name.
    Text(String, Arc<[u8]>),
}

impl PgnInput {
    /// The size of the text that [`PgnInput::open`] gives, in bytes, and its XXH3 hash.
    ///
    /// # Errors
    /// As [`PgnInput::open`], and if it cannot be read.
    pub(crate) fn checksum(&self) -> io::Result<(u64, u64)> {
        let (mut bytes, mut hash) = (0, Xxh3Default::new());
        let mut text = self.open(&Arc::default())?;
        let mut block = vec![0; READ_AHEAD];
        loop {
            match text.read(&mut block)? {
                0 => return Ok((bytes, hash.digest())),
                read => {
                    bytes += read as u64;
                    hash.update(&block[..read]);
                }
            }
        }
    }

    /// The path as given, or `standard input`.
    pub fn name(&self) -> String {
        match self {
            PgnInput::File(path) => path.display().to_string(),
            PgnInput::Stdin => "standard input".to_owned(),
            PgnInput::Text(name, _) => name.clone(),
        }
    }

    /// The name without its folder.
    pub fn short_name(&self) -> String {
        match self {
            PgnInput::File(path) => {
                path.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
            _ => self.name(),
        }
    }

    /// The path from the root, if it is a file.
    pub(crate) fn absolute_name(&self) -> Option<String> {
        match self {
            PgnInput::File(path) => {
                std::path::absolute(path).ok().map(|path| path.display().to_string())
            }
            _ => None,
        }
    }

    /// The size in bytes, compressed as it is, if it is known beforehand.
    pub fn size(&self) -> Option<u64> {
        match self {
            PgnInput::File(path) => path.metadata().ok().map(|metadata| metadata.len()),
            PgnInput::Stdin => None,
            PgnInput::Text(_, bytes) => Some(bytes.len() as u64),
        }
    }

    /// Reads a part of the text that [`PgnInput::open`] gives; less where the text ends earlier. What
    /// is compressed, or is UTF-16, must be read from its beginning for that.
    ///
    /// # Errors
    /// As [`PgnInput::open`], and if it cannot be read.
    pub(crate) fn read_at(&self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let mut part = Vec::new();
        if let PgnInput::File(path) = self {
            let mut file = open_plain(path)?;
            let mut head = Vec::new();
            (&mut file).take(HEAD).read_to_end(&mut head)?;
            let is_packed = PACKINGS.iter().chain([&PARQUET]).any(|kind| head.starts_with(kind));
            if !is_packed && is_bytes(&head) {
                file.seek(SeekFrom::Start(offset))?;
                file.take(length).read_to_end(&mut part)?;
                return Ok(part);
            }
        }
        let mut text = self.reopen()?;
        io::copy(&mut text.by_ref().take(offset), &mut io::sink())?;
        text.take(length).read_to_end(&mut part)?;
        Ok(part)
    }

    /// Opens the input for reading PGN text: unpacked, and in UTF-8 if it is UTF-16. `progress` is
    /// raised by the bytes, as they are, that have been read.
    ///
    /// # Errors
    /// If it cannot be opened, or is packed or encoded in a way that is not known here.
    pub fn open(&self, progress: &Arc<AtomicU64>) -> io::Result<Box<dyn Read + Send>> {
        self.open_by(|path| File::open(path), progress)
    }

    /// As [`PgnInput::open`], of a file that was read before: a pipe, a device or a folder in its place
    /// is an error, and not waited for.
    ///
    /// # Errors
    /// As [`PgnInput::open`], or if the file is none any more.
    pub(crate) fn reopen(&self) -> io::Result<Box<dyn Read + Send>> {
        self.open_by(open_plain, &Arc::default())
    }

    fn open_by(
        &self,
        open_file: impl Fn(&Path) -> io::Result<File>,
        progress: &Arc<AtomicU64>,
    ) -> io::Result<Box<dyn Read + Send>> {
        #[cfg(feature = "parquet")]
        if let PgnInput::File(path) = self
            && begins_as_parquet(path)?
        {
            let file = open_plain(path)?;
            return Ok(Box::new(super::parquet::ParquetGames::new(file, Arc::clone(progress))?));
        }
        let raw: Box<dyn Read + Send> = match self {
            PgnInput::File(path) => Box::new(open_file(path)?),
            PgnInput::Stdin => Box::new(io::stdin()),
            PgnInput::Text(_, bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
        };
        decoded(unpacked(CountedRead { input: raw, progress: Arc::clone(progress) })?)
    }
}

/// Whether a file is one of Parquet. Devices and pipes, which are read but once, are none.
#[cfg(feature = "parquet")]
fn begins_as_parquet(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    if path.metadata()?.is_file() {
        open_plain(path)?.take(PARQUET.len() as u64).read_to_end(&mut head)?;
    }
    Ok(head == PARQUET)
}

/// Why what begins as Parquet is not read.
#[cfg(feature = "parquet")]
const NO_PARQUET: &str = "it is Parquet, which is read from files alone";
#[cfg(not(feature = "parquet"))]
const NO_PARQUET: &str =
    "it is Parquet, which a program reads that `cargo build --release --features parquet` makes";

/// Bytes at the beginning of an input that decide what kind it is of.
pub(super) const HEAD: u64 = 4096;

/// What is not read here.
pub(super) fn unsupported(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, reason)
}

/// The content of an input that may be compressed.
fn unpacked(mut input: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut magic)?;
    let is = |signature: &[u8]| magic.starts_with(signature);
    let [gzip, bzip2, zstd, pzstd] = PACKINGS.map(is);
    if let Some((_, what, how)) = FOREIGN_PACKINGS.iter().find(|(signature, ..)| is(signature)) {
        return Err(unsupported(format!(
            "it is {what}: unpack it first, for example with `{how}`"
        )));
    }
    if is(PARQUET) {
        return Err(unsupported(NO_PARQUET.to_owned()));
    }
    refuse_foreign(&magic)?;
    let whole = Cursor::new(magic).chain(input);
    if gzip || bzip2 {
        let buffered = io::BufReader::with_capacity(READ_AHEAD, whole);
        return Ok(match gzip {
            true => Box::new(MultiGzDecoder::new(buffered)),
            false => Box::new(MultiBzDecoder::new(buffered)),
        });
    }
    Ok(if zstd || pzstd { Box::new(zstd::Decoder::new(whole)?) } else { Box::new(whole) })
}

/// Refuses what begins as a file that holds no games to read.
pub(super) fn refuse_foreign(head: &[u8]) -> io::Result<()> {
    match foreign_kind(head).filter(|_| is_bytes(head)) {
        Some((name, advice)) => Err(unsupported(format!("it is {name}; {advice}"))),
        None => Ok(()),
    }
}

/// Counts bytes on their way.
struct CountedRead<R> {
    input: R,
    progress: Arc<AtomicU64>,
}

impl<R: Read> Read for CountedRead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(buffer)?;
        self.progress.fetch_add(bytes as u64, Relaxed);
        Ok(bytes)
    }
}
