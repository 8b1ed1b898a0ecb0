//! Writes book files in the format that [`super::header`] describes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};
use tempfile::SpooledTempFile;

use super::bucket::{BUCKET_BYTES, Bucket, TableMaker, bucket_bits};
use super::entry::BookEntry;
use super::entry::RawEntry;
use super::header::{HEADER_BYTES, Header, Section, Sections};
use super::lists::{ListIndex, STEP, encode_lists};
use super::manifest::Manifest;
use super::pawn_filter::PawnSet;

const BLOCK: usize = 1 << 20;

/// Writes a book to an empty `output`, from entries sorted by key. Entries do not contain the pawn
/// structure, so the pawn filter of the book excludes no position.
///
/// # Errors
/// If the output cannot be written.
pub fn write_entries<W: Read + Write + Seek>(
    output: W,
    entries: impl Iterator<Item = BookEntry>,
) -> io::Result<W> {
    let manifest = Manifest { made_from: "entries".to_owned(), ..Manifest::of_this_program() };
    write_book(output, entries, &PawnSet::everything(), &manifest)
}

pub(crate) fn write_book<W: Read + Write + Seek>(
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

#[derive(Debug, Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    positions: u64,
    moves: u64,
    /// The encoded lists of games for each entry, if the book has facets. For every [`STEP`]th
    /// entry, `rows` contains its key and the offset of its lists.
    lists: Vec<u8>,
    rows: Vec<(u64, u64)>,
}

impl Block {
    /// Returns the size of the encoded entries and lists in bytes.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len() + self.lists.len()
    }

    pub(crate) fn push(&mut self, entry: &BookEntry) {
        let words = entry.moves.iter().map(|(mv, _)| mv.to_polyglot());
        debug_assert!(words.is_sorted_by(|a, b| a < b), "unsorted moves: {entry:?}");
        entry.encode(&mut self.bytes);
        self.positions += 1;
        self.moves += entry.moves.len() as u64;
    }

    pub(crate) fn push_with_games(
        &mut self,
        entry: &BookEntry,
        games: impl Iterator<Item = (usize, u32)> + Clone,
        all: u32,
    ) {
        if self.positions.is_multiple_of(STEP as u64) {
            self.rows.push((entry.key, self.lists.len() as u64));
        }
        encode_lists(entry, games, all, &mut self.lists);
        self.push(entry);
    }
}

/// The maximum size in bytes of the lists of games buffered in memory. Larger lists are buffered on
/// disk.
const LISTS_IN_MEMORY: usize = 16 << 20;

struct FacetWriter<'a> {
    lists: SpooledTempFile,
    length: u64,
    checksum: Hasher,
    index: Vec<u8>,
    games: &'a [u8],
}

/// The state of a partly written book without facets, from which another writer can resume.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EntriesSoFar {
    positions: u64,
    moves: u64,
    length: u64,
    checksum: u32,
}

/// Writes a book to a file. Entries must be sorted by key. [`BookWriter::finish`] rereads all
/// entries to create the table of buckets, because the size of the table depends on the number of
/// entries.
pub(crate) struct BookWriter<'a, W> {
    output: W,
    header: Header,
    checksum: Hasher,
    facets: Option<FacetWriter<'a>>,
}

impl<'a, W: Read + Write + Seek> BookWriter<'a, W> {
    pub(crate) fn new(mut output: W) -> io::Result<Self> {
        output.write_all(&[0; HEADER_BYTES])?;
        let entries = Section { start: HEADER_BYTES as u64, ..Section::default() };
        let header =
            Header { sections: Sections { entries, ..Sections::default() }, ..Header::default() };
        Ok(BookWriter { output, header, checksum: Hasher::new(), facets: None })
    }

    /// Adds facets. `games` is the content of the games section. If the lists exceed
    /// [`LISTS_IN_MEMORY`], they are buffered in an unnamed file in `folder`.
    pub(crate) fn with_facets(self, games: &'a [u8], folder: &Path) -> Self {
        let facets = FacetWriter {
            lists: tempfile::spooled_tempfile_in(LISTS_IN_MEMORY, folder),
            length: 0,
            checksum: Hasher::new(),
            index: Vec::new(),
            games,
        };
        BookWriter { facets: Some(facets), ..self }
    }

    pub(crate) fn append(&mut self, block: &Block) -> io::Result<()> {
        self.output.write_all(&block.bytes)?;
        self.checksum.update(&block.bytes);
        self.header.positions += block.positions;
        self.header.moves += block.moves;
        self.header.sections.entries.length += block.bytes.len() as u64;
        self.facets.as_mut().map_or(Ok(()), |facets| facets.append(block))
    }

    pub(crate) fn finish(mut self, pawns: &PawnSet, manifest: &Manifest) -> io::Result<W> {
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
        if let Some(facets) = self.facets.take() {
            self.write_facets(facets)?;
        }
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

    fn write_facets(&mut self, mut facets: FacetWriter<'_>) -> io::Result<()> {
        let checksum = facets.checksum.finalize().into();
        let lists =
            Section { start: self.header.sections.manifest.end(), length: facets.length, checksum };
        facets.lists.seek(SeekFrom::Start(0))?;
        io::copy(&mut facets.lists, &mut self.output)?;
        let list_index = self.write_section(lists.end(), &facets.index)?;
        let games = self.write_section(list_index.end(), facets.games)?;
        // The values section is empty, but the header needs its offset.
        let values = Section { start: games.end(), ..Section::default() };
        let sections = &mut self.header.sections;
        (sections.lists, sections.list_index) = (lists, list_index);
        (sections.games, sections.values) = (games, values);
        Ok(())
    }

    fn write_buckets(&mut self) -> io::Result<()> {
        let Header { bucket_bits, sections: Sections { entries, .. }, .. } = self.header;
        let mut table = Patch::at(entries.end());
        let mut maker = TableMaker::new(bucket_bits);
        let mut blocks = EntryBlocks::new(entries);
        while let Some((block, mut offset)) = blocks.next(&mut self.output)? {
            let mut rest = block;
            while let Some(entry) = RawEntry::split(rest) {
                maker.add(entry.key, offset, |bucket| table.push(bucket))?;
                offset += (rest.len() - entry.rest.len()) as u64;
                rest = entry.rest;
            }
            table.write(&mut self.output)?;
        }
        maker.finish(entries.length, |bucket| table.push(bucket))?;
        self.header.sections.buckets = table.finish(&mut self.output)?;
        debug_assert_eq!(self.header.sections.buckets.length, BUCKET_BYTES << bucket_bits);
        Ok(())
    }
}

impl BookWriter<'_, File> {
    /// Resumes writing after the entries of an earlier writer, discarding anything that follows
    /// them. Returns `None` if the file does not begin with those entries.
    pub(crate) fn resume(mut file: File, so_far: &EntriesSoFar) -> io::Result<Option<Self>> {
        let entries = Section {
            start: HEADER_BYTES as u64,
            length: so_far.length,
            checksum: so_far.checksum.into(),
        };
        if file.metadata()?.len() < entries.end() {
            return Ok(None);
        }
        if checksum_of(&mut file, entries)? != so_far.checksum {
            return Ok(None);
        }
        file.set_len(entries.end())?;
        file.seek(SeekFrom::End(0))?;
        let header = Header {
            positions: so_far.positions,
            moves: so_far.moves,
            sections: Sections { entries, ..Sections::default() },
            ..Header::default()
        };
        let checksum = Hasher::new_with_initial_len(so_far.checksum, so_far.length);
        Ok(Some(BookWriter { output: file, header, checksum, facets: None }))
    }

    /// Returns the state for [`BookWriter::resume`]. Sync the file before storing this state.
    pub(crate) fn entries_so_far(&self) -> EntriesSoFar {
        EntriesSoFar {
            positions: self.header.positions,
            moves: self.header.moves,
            length: self.header.sections.entries.length,
            checksum: self.checksum.clone().finalize(),
        }
    }

    pub(crate) fn output(&self) -> &File {
        &self.output
    }
}

fn checksum_of(file: &mut File, section: Section) -> io::Result<u32> {
    file.seek(SeekFrom::Start(section.start))?;
    let (mut checksum, mut block, mut left) = (Hasher::new(), vec![0; BLOCK], section.length);
    while left > 0 {
        let some = &mut block[..left.min(BLOCK as u64) as usize];
        file.read_exact(some)?;
        checksum.update(some);
        left -= some.len() as u64;
    }
    Ok(checksum.finalize())
}

impl FacetWriter<'_> {
    fn append(&mut self, block: &Block) -> io::Result<()> {
        for &(key, start) in &block.rows {
            self.index.extend_from_slice(&ListIndex::row(key, self.length + start));
        }
        self.lists.write_all(&block.lists)?;
        self.checksum.update(&block.lists);
        self.length += block.lists.len() as u64;
        Ok(())
    }
}

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
    fn push(&mut self, bucket: Bucket) -> io::Result<()> {
        self.pending.extend_from_slice(&bucket.to_bytes());
        Ok(())
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

/// Reads the entries of a book in blocks. Each block ends at the end of an entry.
struct EntryBlocks {
    section: Section,
    /// The offset of the next block within the section.
    offset: u64,
    buffer: Vec<u8>,
}

impl EntryBlocks {
    fn new(section: Section) -> Self {
        EntryBlocks { section, offset: 0, buffer: Vec::new() }
    }

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
