//! Sources of games: files, standard input and text in memory. Detects compression and encoding.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use xxhash_rust::xxh3::Xxh3Default;

use super::encoding::{decoded, is_bytes};
use crate::support::files::{foreign_kind, open_plain};

/// Compression formats that are not supported: magic bytes, description, and a command that
/// decompresses a file.
const FOREIGN_PACKINGS: [(&[u8], &str, &str); 7] = [
    (b"PK\x03\x04", "a zip archive", "unzip -p FILE"),
    (b"PK\x05\x06", "an empty zip archive", "unzip -l FILE"),
    (b"\xfd7zXZ\0", "compressed with xz", "xz -dc FILE"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "7z x -so FILE"),
    (b"Rar!\x1a\x07", "a RAR archive", "unrar p -inul FILE"),
    (b"\x04\x22\x4d\x18", "compressed with lz4", "lz4 -dc FILE"),
    (b"LZIP", "compressed with lzip", "lzip -dc FILE"),
];
/// The magic bytes of Parquet files. Tabia can read Parquet files that contain one game per row.
const PARQUET: &[u8] = b"PAR1";
/// The magic bytes of gzip, bzip2, zstd and pzstd, which the `compression` feature supports. pzstd
/// writes a skippable frame before each compressed frame (RFC 8878, section 3.1.2).
const PACKINGS: [&[u8]; 4] = [b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"];
const READ_AHEAD: usize = 128 << 10;
/// While skipping text, reading checks after every block of this many bytes whether it should stop.
const SKIPPED_AT_ONCE: u64 = 1 << 20;
/// A source of PGN text.
#[derive(Debug, Clone)]
pub enum PgnInput {
    /// A file. Its encoding is detected automatically. With the `compression` feature, gzip, bzip2
    /// and zstd compression is detected as well.
    File(PathBuf),
    /// Standard input, compressed or uncompressed.
    Stdin,
    /// Text in memory, with a name.
    Text(String, Arc<[u8]>),
}

impl PgnInput {
    /// Returns the size in bytes and the XXH3 hash of the text that [`PgnInput::open`] provides,
    /// that is, after decompression and conversion.
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

    /// Returns the path as given, `standard input`, or the name of a text in memory.
    pub fn name(&self) -> String {
        match self {
            PgnInput::File(path) => path.display().to_string(),
            PgnInput::Stdin => "standard input".to_owned(),
            PgnInput::Text(name, _) => name.clone(),
        }
    }

    /// Returns the name without the folder.
    pub fn short_name(&self) -> String {
        match self {
            PgnInput::File(path) => {
                path.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
            _ => self.name(),
        }
    }

    pub(crate) fn absolute_name(&self) -> Option<String> {
        match self {
            PgnInput::File(path) => {
                std::path::absolute(path).ok().map(|path| path.display().to_string())
            }
            _ => None,
        }
    }

    /// Returns the size of the input in bytes, if known. For compressed input, this is the
    /// compressed size.
    pub fn size(&self) -> Option<u64> {
        match self {
            PgnInput::File(path) => path.metadata().ok().map(|metadata| metadata.len()),
            PgnInput::Stdin => None,
            PgnInput::Text(_, bytes) => Some(bytes.len() as u64),
        }
    }

    /// Reads `length` bytes at `offset` of the text that [`PgnInput::open`] provides, or fewer at
    /// the end of the text. Compressed and UTF-16 inputs must be decoded from the beginning.
    pub(crate) fn read_at(&self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        self.parts()?.read(offset, length, &|| false)
    }

    /// Opens the input for reading at arbitrary offsets of its text.
    pub(crate) fn parts(&self) -> io::Result<InputParts> {
        if let PgnInput::File(path) = self {
            let mut file = open_plain(path)?;
            let mut head = Vec::new();
            (&mut file).take(HEAD).read_to_end(&mut head)?;
            let is_packed = PACKINGS.iter().chain([&PARQUET]).any(|kind| head.starts_with(kind));
            if !is_packed && is_bytes(&head) {
                return Ok(InputParts::Plain(file));
            }
        }
        Ok(InputParts::Decoded { input: self.clone(), text: self.reopen()?, at: 0 })
    }

    /// Opens the input as PGN text, decompressed and converted to UTF-8 if necessary. Adds the
    /// number of bytes read, before decompression, to `progress`.
    ///
    /// # Errors
    /// If the input cannot be opened, or if its compression or encoding is not supported.
    pub fn open(&self, progress: &Arc<AtomicU64>) -> io::Result<Box<dyn Read + Send>> {
        self.open_by(|path| File::open(path), progress)
    }

    /// Like [`PgnInput::open`], but for an input that was read earlier. Fails at once, rather than
    /// blocking, if a file has been replaced with a pipe, a device or a folder.
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

/// An input that is open for reading at arbitrary offsets of its text.
pub(crate) enum InputParts {
    /// A file that needs no decoding, so that any offset can be read directly.
    Plain(File),
    /// Text that must be decoded from the beginning. `at` is the number of bytes of decoded text
    /// read so far.
    Decoded { input: PgnInput, text: Box<dyn Read + Send>, at: u64 },
}

impl InputParts {
    /// Reads `length` bytes at `offset` of the decoded text, or fewer at the end of the text. The
    /// text is decoded only once if no call begins before the end of the previous one. Fails if
    /// `is_stopped` returns true while the text before the offset is skipped.
    pub(crate) fn read(
        &mut self,
        offset: u64,
        length: u64,
        is_stopped: &dyn Fn() -> bool,
    ) -> io::Result<Vec<u8>> {
        let mut part = Vec::new();
        match self {
            InputParts::Plain(file) => {
                file.seek(SeekFrom::Start(offset))?;
                file.take(length).read_to_end(&mut part)?;
            }
            InputParts::Decoded { input, text, at } => {
                if offset < *at {
                    (*text, *at) = (input.reopen()?, 0);
                }
                while *at < offset {
                    if is_stopped() {
                        return Err(io::Error::other("reading was stopped"));
                    }
                    let step = (offset - *at).min(SKIPPED_AT_ONCE);
                    match io::copy(&mut text.by_ref().take(step), &mut io::sink())? {
                        0 => break,
                        skipped => *at += skipped,
                    }
                }
                text.by_ref().take(length).read_to_end(&mut part)?;
                *at += part.len() as u64;
            }
        }
        Ok(part)
    }
}

/// Returns true if a file is in Parquet format. Returns false for devices and pipes without reading
/// them.
#[cfg(feature = "parquet")]
fn begins_as_parquet(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    if path.metadata()?.is_file() {
        open_plain(path)?.take(PARQUET.len() as u64).read_to_end(&mut head)?;
    }
    Ok(head == PARQUET)
}

#[cfg(feature = "parquet")]
const NO_PARQUET: &str = "it is Parquet, which can be read only from files";
#[cfg(not(feature = "parquet"))]
const NO_PARQUET: &str =
    "it is Parquet; to read it, build Tabia with `cargo build --release --features parquet`";

pub(super) const HEAD: u64 = 4096;

pub(super) fn unsupported(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, reason)
}

fn unpacked(mut input: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut magic)?;
    let is = |signature: &[u8]| magic.starts_with(signature);
    let packings = PACKINGS.map(is);
    if let Some((_, what, how)) = FOREIGN_PACKINGS.iter().find(|(signature, ..)| is(signature)) {
        return Err(unsupported(format!(
            "it is {what}; unpack it first, for example with `{how}`"
        )));
    }
    if is(PARQUET) {
        return Err(unsupported(NO_PARQUET.to_owned()));
    }
    refuse_foreign(&magic)?;
    let whole = Cursor::new(magic).chain(input);
    if packings == [false; 4] { Ok(Box::new(whole)) } else { decompressed(whole, packings) }
}

/// Decompresses an input. The flags correspond to the formats in [`PACKINGS`], and exactly one of
/// them is set.
#[cfg(feature = "compression")]
fn decompressed(
    input: impl Read + Send + 'static,
    [is_gzip, is_bzip2, ..]: [bool; 4],
) -> io::Result<Box<dyn Read + Send>> {
    if !is_gzip && !is_bzip2 {
        return Ok(Box::new(zstd::Decoder::new(input)?));
    }
    let buffered = io::BufReader::with_capacity(READ_AHEAD, input);
    Ok(match is_gzip {
        true => Box::new(flate2::read::MultiGzDecoder::new(buffered)),
        false => Box::new(bzip2::read::MultiBzDecoder::new(buffered)),
    })
}

#[cfg(not(feature = "compression"))]
fn decompressed(_: impl Read, _: [bool; 4]) -> io::Result<Box<dyn Read + Send>> {
    let reason = "it is compressed, which a build with the feature `compression` reads";
    Err(unsupported(reason.to_owned()))
}

/// Fails if the first bytes of an input show that it is a kind of file that contains no games. The
/// error names the kind and gives advice.
pub(super) fn refuse_foreign(head: &[u8]) -> io::Result<()> {
    match foreign_kind(head).filter(|_| is_bytes(head)) {
        Some((name, advice)) => Err(unsupported(format!("it is {name}; {advice}"))),
        None => Ok(()),
    }
}

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
