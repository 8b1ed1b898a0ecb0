//! A book as the bytes of its file, embedded or read into memory.
//!
//! Probing reads the bytes in place. Most probes miss, so three steps get cheaper from the back
//! to the front: the pawn filter (small enough for a cache, and most positions of a search have a
//! pawn structure that the book does not know), the bucket with its filter, and its entries.
//! Nothing here trusts the bytes: what does not decode is not there.

use std::hint::select_unpredictable;

use super::bucket::{Bucket, Row};
use super::counts::Counts;
use super::entry::BookEntry;
use super::entry::RawEntry;
use super::error::BookError;
use super::header::{Header, Section};
use super::manifest::Manifest;
use super::pawn_filter::{may_hold, prefetch_bit};

/// Where the bytes are.
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

/// Books up to this size have all checksums tested when they are opened, which takes a few
/// milliseconds; larger ones by `tabia book verify`.
const CHECKED_AT_OPENING: usize = 16 << 20;

/// No entry has fewer bytes: its key alone has them.
const BYTES_PER_PLACE: usize = 8;

/// The sections of the facets, see [`crate::games::book::facets`].
#[derive(Clone, Copy)]
pub(crate) struct RawFacets<'a> {
    pub lists: &'a [u8],
    pub list_index: &'a [u8],
    pub games: &'a [u8],
}

/// The bytes of a book and their meaning.
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

    /// Whether the book may hold a position with these pawns. `false` is certain.
    #[inline]
    pub(crate) fn may_hold_pawns(&self, pawn_key: u64) -> bool {
        let filter = self.section(self.header.sections.pawn_filter);
        may_hold(filter, self.header.pawn_filter_bits, pawn_key)
    }

    /// Asks the processor to fetch what [`Image::may_hold_pawns`] will read.
    #[inline]
    pub(crate) fn prefetch_pawns(&self, pawn_key: u64) {
        let filter = self.section(self.header.sections.pawn_filter);
        prefetch_bit(filter, self.header.pawn_filter_bits, pawn_key);
    }

    /// The row that [`Image::find`] will read first, which the processor is asked to fetch; an empty one
    /// for pawns that the book does not hold.
    ///
    /// Which of the two it is decides no branch: foreign pawns that pass do so by chance, and each of
    /// them would be foretold wrongly.
    #[inline]
    pub(crate) fn ask(&self, key: u64, pawn_key: u64) -> Row<'_> {
        let table = self.section(self.header.sections.buckets);
        let row = Row::of(table, self.header.bucket_bits, key).unwrap_or(Row::EMPTY);
        let row = select_unpredictable(self.may_hold_pawns(pawn_key), row, Row::EMPTY);
        row.prefetch();
        row
    }

    /// The entry of a position.
    #[inline]
    pub(crate) fn find(&self, key: u64) -> Option<RawEntry<'_>> {
        let table = self.section(self.header.sections.buckets);
        let bucket = Bucket::of(table, self.header.bucket_bits, key)?;
        if bucket.may_hold(key) { self.find_from(bucket.start, key) } else { None }
    }

    /// The entry of a position that does not stand before `start`.
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

    /// The games that reached the position with this key.
    #[inline]
    pub(crate) fn reached(&self, key: u64) -> Option<Counts> {
        self.find(key)?.reached()
    }

    /// Reads the whole entry of a position into `entry`.
    pub(crate) fn read(&self, key: u64, entry: &mut BookEntry) -> bool {
        self.find(key).is_some_and(|raw| entry.decode_raw(&raw).is_some())
    }

    /// A number for the entry of a position that no other entry of the book has, below
    /// [`Image::places`]; with the entry.
    pub(crate) fn place(&self, key: u64) -> Option<(usize, RawEntry<'_>)> {
        let raw = self.find(key)?;
        let offset = raw.body.as_ptr() as usize - self.entries().as_ptr() as usize;
        Some((offset / BYTES_PER_PLACE, raw))
    }

    /// What all places are below.
    pub(crate) fn places(&self) -> usize {
        self.entries().len() / BYTES_PER_PLACE + 1
    }

    /// The bytes of all entries, sorted by key.
    pub(crate) fn entries(&self) -> &[u8] {
        self.section(self.header.sections.entries)
    }

    /// The bytes of the table of buckets.
    pub(crate) fn buckets(&self) -> &[u8] {
        self.section(self.header.sections.buckets)
    }

    /// The bytes of the values, sorted by key; none unless the book was analysed.
    pub(crate) fn values(&self) -> &[u8] {
        self.section(self.header.sections.values)
    }

    /// The bytes of the entries from that of a position on.
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

    /// The facets, if there are any.
    pub(crate) fn facets(&self) -> Option<RawFacets<'_>> {
        let sections = &self.header.sections;
        sections.have_facets().then(|| RawFacets {
            lists: self.section(sections.lists),
            list_index: self.section(sections.list_index),
            games: self.section(sections.games),
        })
    }

    /// The pawn filter and its size as a power of two.
    pub(crate) fn pawn_filter(&self) -> (&[u8], u32) {
        (self.section(self.header.sections.pawn_filter), self.header.pawn_filter_bits)
    }

    pub(crate) fn manifest(&self, name: &str) -> Result<Manifest, BookError> {
        serde_json::from_slice(self.section(self.header.sections.manifest))
            .map_err(|_| BookError::Damaged { name: name.to_owned(), part: "manifest" })
    }

    /// Tests the checksum of every section.
    pub(crate) fn check_sums(&self, name: &str) -> Result<(), BookError> {
        for (part, section) in self.header.sections.named() {
            if u64::from(crc32fast::hash(self.section(section))) != section.checksum {
                return Err(BookError::Damaged { name: name.to_owned(), part });
            }
        }
        Ok(())
    }
}
