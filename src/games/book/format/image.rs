//! The bytes of a book file, either embedded in the program or read into memory.
//!
//! Most lookups find nothing, so the cheapest test comes first: the pawn filter, which is small
//! enough to fit into a cache and excludes most positions in a search. The filter of the bucket is
//! tested next. Entries are read only if both tests pass. Entries that are damaged and cannot be
//! decoded are treated as missing.

use std::hint::select_unpredictable;

use super::bucket::{Bucket, Row};
use super::counts::Counts;
use super::entry::BookEntry;
use super::entry::RawEntry;
use super::error::BookError;
use super::header::{Header, Section};
use super::manifest::Manifest;
use super::pawn_filter::{may_hold, prefetch_bit};

pub(crate) enum Storage {
    Static(&'static [u8]),
    Owned(Vec<u8>),
}

impl Storage {
    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            Storage::Static(bytes) => bytes,
            Storage::Owned(bytes) => bytes,
        }
    }
}

/// Maximum size in bytes of a book whose checksums are all verified when it is opened, which takes
/// a few milliseconds. To verify a larger book, use `tabia book verify`.
const CHECKED_AT_OPENING: usize = 16 << 20;

/// Dividing the offset of an entry by this number gives a different result for each entry, because
/// every entry is at least as long as its key.
const BYTES_PER_PLACE: usize = 8;

#[derive(Clone, Copy)]
pub(crate) struct RawFacets<'a> {
    pub lists: &'a [u8],
    pub list_index: &'a [u8],
    pub games: &'a [u8],
}

pub(crate) struct Image {
    storage: Storage,
    header: Header,
}

impl Image {
    pub(crate) fn new(storage: Storage, name: &str) -> Result<Self, BookError> {
        let bytes = storage.bytes();
        let header = Header::parse(bytes, bytes.len() as u64, name)?;
        let image = Image { storage, header };
        if image.storage.bytes().len() <= CHECKED_AT_OPENING && !cfg!(fuzzing) {
            image.check_sums(name)?;
        }
        Ok(image)
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.storage.bytes()
    }

    #[inline]
    fn section(&self, section: Section) -> &[u8] {
        &self.storage.bytes()[section.start as usize..section.end() as usize]
    }

    /// Returns false if the pawn filter shows that the book contains no position with this pawn
    /// structure. There are no false negatives.
    #[inline]
    pub(crate) fn may_hold_pawns(&self, pawn_key: u64) -> bool {
        let filter = self.section(self.header.sections.pawn_filter);
        may_hold(filter, self.header.pawn_filter_bits, pawn_key)
    }

    /// Prefetches the data that [`Image::may_hold_pawns`] reads.
    #[inline]
    pub(crate) fn prefetch_pawns(&self, pawn_key: u64) {
        let filter = self.section(self.header.sections.pawn_filter);
        prefetch_bit(filter, self.header.pawn_filter_bits, pawn_key);
    }

    /// Prefetches the row that [`Image::find`] reads first, or an empty row if the pawn filter
    /// excludes the pawns. The code does not branch on the result of the pawn filter, because the
    /// branch would often be mispredicted.
    #[inline]
    pub(crate) fn prefetch(&self, key: u64, pawn_key: u64) -> Row<'_> {
        let table = self.section(self.header.sections.buckets);
        let row = Row::of(table, self.header.bucket_bits, key).unwrap_or(Row::EMPTY);
        let row = select_unpredictable(self.may_hold_pawns(pawn_key), row, Row::EMPTY);
        row.prefetch();
        row
    }

    #[inline]
    pub(crate) fn find(&self, key: u64) -> Option<RawEntry<'_>> {
        let table = self.section(self.header.sections.buckets);
        let bucket = Bucket::of(table, self.header.bucket_bits, key)?;
        if bucket.may_hold(key) { self.find_from(bucket.start, key) } else { None }
    }

    /// Returns the entry with this key, scanning the entries from the offset `start`.
    fn find_from(&self, start: u64, key: u64) -> Option<RawEntry<'_>> {
        let mut bytes = self.entries().get(usize::try_from(start).ok()?..)?;
        while let Some(entry) = RawEntry::split(bytes) {
            if entry.key >= key {
                return (entry.key == key).then_some(entry);
            }
            bytes = entry.rest;
        }
        None
    }

    #[inline]
    pub(crate) fn reached(&self, key: u64) -> Option<Counts> {
        self.find(key)?.reached()
    }

    pub(crate) fn read(&self, key: u64, entry: &mut BookEntry) -> bool {
        self.find(key).is_some_and(|raw| entry.decode_raw(&raw).is_some())
    }

    /// Returns the entry for a position, along with a number that identifies the entry within the
    /// book and is below [`Image::places`].
    pub(crate) fn place(&self, key: u64) -> Option<(usize, RawEntry<'_>)> {
        let raw = self.find(key)?;
        let offset = raw.body.as_ptr() as usize - self.entries().as_ptr() as usize;
        Some((offset / BYTES_PER_PLACE, raw))
    }

    /// Returns an exclusive upper bound on the numbers returned by [`Image::place`].
    pub(crate) fn places(&self) -> usize {
        self.entries().len() / BYTES_PER_PLACE + 1
    }

    pub(crate) fn entries(&self) -> &[u8] {
        self.section(self.header.sections.entries)
    }

    pub(crate) fn buckets(&self) -> &[u8] {
        self.section(self.header.sections.buckets)
    }

    pub(crate) fn values(&self) -> &[u8] {
        self.section(self.header.sections.values)
    }

    pub(crate) fn entries_from(&self, key: u64) -> Option<&[u8]> {
        let table = self.section(self.header.sections.buckets);
        let bucket = Bucket::of(table, self.header.bucket_bits, key)?;
        let mut bytes = self.entries().get(usize::try_from(bucket.start).ok()?..)?;
        while let Some(entry) = RawEntry::split(bytes).filter(|entry| entry.key <= key) {
            if entry.key == key {
                return Some(bytes);
            }
            bytes = entry.rest;
        }
        None
    }

    pub(crate) fn facets(&self) -> Option<RawFacets<'_>> {
        let sections = &self.header.sections;
        sections.have_facets().then(|| RawFacets {
            lists: self.section(sections.lists),
            list_index: self.section(sections.list_index),
            games: self.section(sections.games),
        })
    }

    pub(crate) fn pawn_filter(&self) -> (&[u8], u32) {
        (self.section(self.header.sections.pawn_filter), self.header.pawn_filter_bits)
    }

    pub(crate) fn manifest(&self, name: &str) -> Result<Manifest, BookError> {
        serde_json::from_slice(self.section(self.header.sections.manifest))
            .map_err(|_| BookError::Damaged { name: name.to_owned(), part: "manifest" })
    }

    pub(crate) fn check_sums(&self, name: &str) -> Result<(), BookError> {
        for (part, section) in self.header.sections.named() {
            if u64::from(crc32fast::hash(self.section(section))) != section.checksum {
                return Err(BookError::Damaged { name: name.to_owned(), part });
            }
        }
        Ok(())
    }
}
