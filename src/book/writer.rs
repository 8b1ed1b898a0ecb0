//! Writes the file of a book, see [`super::header`].

use std::io::{self, Read, Seek, SeekFrom, Write};

use crc32fast::Hasher;

use super::bucket::{BUCKET_BYTES, Bucket, bucket_bits, slot};
use super::entry::RawEntry;
use super::header::{HEADER_BYTES, Header, Section, Sections};
use super::pawn_filter::PawnSet;
use super::{BookEntry, Manifest};

/// Parts of the file that are read back or filled in are handled in blocks of this many bytes.
const BLOCK: usize = 1 << 20;

/// Writes a book of bare entries, which must come sorted by key, to an empty `output`. Nothing is
/// known of their pawns, so that probing such a book begins with the table of buckets.
///
/// # Errors
/// Those of the output.
pub fn write_entries<W: Read + Write + Seek>(
    output: W,
    entries: impl Iterator<Item = BookEntry>,
) -> io::Result<W> {
    let manifest = Manifest { made_from: "entries".to_owned(), ..Manifest::of_this_program() };
    write_book(output, entries, &PawnSet::everything(), &manifest)
}

/// Writes a book of entries that come sorted by key.
pub(super) fn write_book<W: Read + Write + Seek>(
    output: W,
    entries: impl Iterator<Item = BookEntry>,
    pawns: &PawnSet,
    manifest: &Manifest,
) -> io::Result<W> {
    let mut writer = BookWriter::new(output)?;
    let mut block = Block::default();
    for entry in entries {
        block.push(&entry);
        if block.bytes.len() >= BLOCK {
            writer.append(&block)?;
            block = Block::default();
        }
    }
    writer.append(&block)?;
    writer.finish(pawns, manifest)
}

/// Encoded entries, sorted by key: what one thread makes of its share of a book.
#[derive(Debug, Default)]
pub(super) struct Block {
    bytes: Vec<u8>,
    positions: u64,
    moves: u64,
}

impl Block {
    /// Appends an entry whose key is above those before it.
    pub(super) fn push(&mut self, entry: &BookEntry) {
        entry.encode(&mut self.bytes);
        self.positions += 1;
        self.moves += entry.moves.len() as u64;
    }
}

/// A book on its way to a file. Entries go in sorted by key; [`BookWriter::finish`] reads them
/// back once to make the table of buckets, whose size nobody knows before.
pub(super) struct BookWriter<W> {
    output: W,
    header: Header,
    checksum: Hasher,
}

impl<W: Read + Write + Seek> BookWriter<W> {
    /// Begins a book in an empty output.
    pub(super) fn new(mut output: W) -> io::Result<Self> {
        output.write_all(&[0; HEADER_BYTES])?;
        let entries = Section { start: HEADER_BYTES as u64, ..Section::default() };
        let header =
            Header { sections: Sections { entries, ..Sections::default() }, ..Header::default() };
        Ok(BookWriter { output, header, checksum: Hasher::new() })
    }

    /// Appends entries whose keys are above all before them.
    pub(super) fn append(&mut self, block: &Block) -> io::Result<()> {
        self.output.write_all(&block.bytes)?;
        self.checksum.update(&block.bytes);
        self.header.positions += block.positions;
        self.header.moves += block.moves;
        self.header.sections.entries.length += block.bytes.len() as u64;
        Ok(())
    }

    /// Writes the rest, the header last, and hands the output back.
    pub(super) fn finish(mut self, pawns: &PawnSet, manifest: &Manifest) -> io::Result<W> {
        self.header.sections.entries.checksum = self.checksum.clone().finalize().into();
        self.header.bucket_bits = bucket_bits(self.header.positions);
        self.write_buckets()?;
        let (filter, bits) = pawns.fold();
        self.header.pawn_filter_bits = bits;
        let end = self.header.sections.buckets.end();
        self.header.sections.pawn_filter = self.write_section(end, &filter)?;
        let manifest = serde_json::to_vec(manifest).map_err(io::Error::other)?;
        let end = self.header.sections.pawn_filter.end();
        self.header.sections.manifest = self.write_section(end, &manifest)?;
        self.output.seek(SeekFrom::Start(0))?;
        self.output.write_all(&self.header.to_bytes())?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn write_section(&mut self, start: u64, bytes: &[u8]) -> io::Result<Section> {
        self.output.seek(SeekFrom::Start(start))?;
        self.output.write_all(bytes)?;
        let checksum = crc32fast::hash(bytes).into();
        Ok(Section { start, length: bytes.len() as u64, checksum })
    }

    /// Makes the table of buckets from the entries.
    fn write_buckets(&mut self) -> io::Result<()> {
        let Header { bucket_bits, sections: Sections { entries, .. }, .. } = self.header;
        let mut table = Patch::at(entries.end());
        let (mut bucket, mut written) = (Bucket::empty(0), 0);
        let mut blocks = EntryBlocks::new(entries);
        while let Some((block, mut offset)) = blocks.next(&mut self.output)? {
            let mut rest = block;
            while let Some(entry) = RawEntry::split(rest) {
                while written < slot(entry.key, bucket_bits) {
                    table.push(&bucket.to_bytes());
                    (bucket, written) = (Bucket::empty(offset), written + 1);
                }
                bucket.insert(entry.key);
                offset += (rest.len() - entry.rest.len()) as u64;
                rest = entry.rest;
            }
            table.write(&mut self.output)?;
        }
        while written < 1 << bucket_bits {
            table.push(&bucket.to_bytes());
            (bucket, written) = (Bucket::empty(entries.length), written + 1);
        }
        self.header.sections.buckets = table.finish(&mut self.output)?;
        debug_assert_eq!(self.header.sections.buckets.length, BUCKET_BYTES << bucket_bits);
        Ok(())
    }
}

/// A section that is filled in from front to back while another is read.
struct Patch {
    section: Section,
    next: u64,
    pending: Vec<u8>,
    checksum: Hasher,
}

impl Patch {
    fn at(start: u64) -> Self {
        let section = Section { start, ..Section::default() };
        Patch { section, next: start, pending: Vec::new(), checksum: Hasher::new() }
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    fn write(&mut self, output: &mut (impl Write + Seek)) -> io::Result<()> {
        output.seek(SeekFrom::Start(self.next))?;
        output.write_all(&self.pending)?;
        self.checksum.update(&self.pending);
        self.next += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    fn finish(mut self, output: &mut (impl Write + Seek)) -> io::Result<Section> {
        self.write(output)?;
        let length = self.next - self.section.start;
        Ok(Section { length, checksum: self.checksum.finalize().into(), ..self.section })
    }
}

/// Reads the entries back in blocks that end where an entry ends.
struct EntryBlocks {
    section: Section,
    /// Where the next block begins, counted from the section's start.
    offset: u64,
    buffer: Vec<u8>,
}

impl EntryBlocks {
    fn new(section: Section) -> Self {
        EntryBlocks { section, offset: 0, buffer: Vec::new() }
    }

    /// The next block of whole entries and its offset in the section.
    fn next(&mut self, input: &mut (impl Read + Seek)) -> io::Result<Option<(&[u8], u64)>> {
        let offset = self.offset;
        let left = self.section.length - offset;
        if left == 0 {
            return Ok(None);
        }
        self.buffer.resize(left.min(BLOCK as u64) as usize, 0);
        input.seek(SeekFrom::Start(self.section.start + offset))?;
        input.read_exact(&mut self.buffer)?;
        let mut rest = &self.buffer[..];
        while let Some(entry) = RawEntry::split(rest) {
            rest = entry.rest;
        }
        let whole = self.buffer.len() - rest.len();
        if whole == 0 {
            return Err(io::Error::other("an entry is larger than a block"));
        }
        self.offset += whole as u64;
        Ok(Some((&self.buffer[..whole], offset)))
    }
}
