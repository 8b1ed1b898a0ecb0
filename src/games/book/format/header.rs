//! The header of a book file, which contains the offsets of its sections.
//!
//! ```text
//! magic      8 bytes
//! words      u64, little-endian, in the order of `Header::words`
//! checksum   u64: CRC-32 of all bytes before it
//! ```
//! The sections follow in this order: the entries, sorted by key; the table of buckets; the pawn
//! filter; the manifest (JSON); in version 4 only, the facets (lists of games, their index, and the
//! games); in version 3 and optionally in version 4, the values of an analysis. The header contains
//! a separate CRC-32 for each section. The header is written last, so the header of an incomplete
//! file is invalid.

use super::bucket::BUCKET_BYTES;
use super::error::BookError;
use super::pawn_filter::filter_bytes;

/// The first bytes of every book. They end with a newline so that a book damaged by a transfer in
/// text mode, which converts line ends, is not recognised.
pub(crate) const MAGIC: [u8; 8] = *b"TABIABK\n";
/// The format version of a book that contains neither values nor facets.
const VERSION: u64 = 2;
const VERSION_WITH_VALUES: u64 = 3;
const VERSION_WITH_FACETS: u64 = 4;
pub(crate) const HEADER_BYTES: usize = 256;
pub(crate) const VALUE_BYTES: usize = 24;
/// The base-2 logarithm of the maximum number of buckets and of the maximum number of bits in the
/// pawn filter (128 GiB). A header with a greater value is rejected as damaged.
const MAX_TABLE_BITS: u64 = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Section {
    pub start: u64,
    pub length: u64,
    pub checksum: u64,
}

impl Section {
    pub(crate) fn end(&self) -> u64 {
        self.start + self.length
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sections {
    pub entries: Section,
    pub buckets: Section,
    pub pawn_filter: Section,
    pub manifest: Section,
    /// The sections of the facets: lists of the games that reached each position, their index, and
    /// the tags of all games. Empty in a book without facets.
    pub lists: Section,
    pub list_index: Section,
    pub games: Section,
    /// Empty unless the book was analysed.
    pub values: Section,
}

impl Sections {
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, Section)> {
        let [facets, values] = [self.version() == VERSION_WITH_FACETS, self.version() != VERSION];
        let always = [
            ("entries", self.entries),
            ("buckets", self.buckets),
            ("pawn filter", self.pawn_filter),
            ("manifest", self.manifest),
        ];
        let with_facets =
            [("lists", self.lists), ("list index", self.list_index), ("games", self.games)];
        let with_facets = with_facets.into_iter().filter(move |_| facets);
        let with_values = values.then_some(("values", self.values));
        always.into_iter().chain(with_facets).chain(with_values)
    }

    pub(crate) fn have_facets(&self) -> bool {
        self.games.length > 0
    }

    fn version(&self) -> u64 {
        match (self.have_facets(), self.values.length > 0) {
            (true, _) => VERSION_WITH_FACETS,
            (false, true) => VERSION_WITH_VALUES,
            (false, false) => VERSION,
        }
    }

    pub(crate) fn before_values(&self) -> u64 {
        if self.have_facets() { self.games.end() } else { self.manifest.end() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Header {
    pub positions: u64,
    pub moves: u64,
    /// The base-2 logarithm of the number of buckets in the table of buckets.
    pub bucket_bits: u32,
    pub pawn_filter_bits: u32,
    pub sections: Sections,
}

const FIRST_WORDS: usize = 5;
const fn words(sections: usize) -> usize {
    FIRST_WORDS + 3 * sections
}
fn sections(version: u64) -> Option<usize> {
    match version {
        VERSION => Some(SECTIONS),
        VERSION_WITH_VALUES => Some(SECTIONS + 1),
        VERSION_WITH_FACETS => Some(MAX_SECTIONS),
        _ => None,
    }
}
const SECTIONS: usize = 4;
const MAX_SECTIONS: usize = 8;

impl Header {
    fn words(&self) -> Vec<u64> {
        let mut words = vec![
            self.sections.version(),
            self.positions,
            self.moves,
            self.bucket_bits.into(),
            self.pawn_filter_bits.into(),
        ];
        for (_, section) in self.sections.named() {
            words.extend([section.start, section.length, section.checksum]);
        }
        words
    }

    pub(crate) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        let words = self.words();
        for (word, slot) in words.iter().zip(bytes[8..].chunks_exact_mut(8)) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        let end = 8 + 8 * words.len();
        let checksum = u64::from(crc32fast::hash(&bytes[..end]));
        bytes[end..end + 8].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    pub(crate) fn parse(bytes: &[u8], all: u64, name: &str) -> Result<Self, BookError> {
        let name = || name.to_owned();
        if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) || bytes.is_empty() {
            return Err(BookError::Foreign { name: name() });
        }
        let head =
            bytes.get(..HEADER_BYTES).ok_or_else(|| BookError::Truncated { name: name() })?;
        let damaged = |part| BookError::Damaged { name: name(), part };
        let word = |index: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&head[8 + 8 * index..16 + 8 * index]);
            u64::from_le_bytes(word)
        };
        if (1..=words(SECTIONS)).all(|index| word(index) == 0) {
            // The header is written last. If all words are zero, writing the book was interrupted.
            return Err(BookError::Truncated { name: name() });
        }
        let known = sections(word(0));
        let words = words(known.unwrap_or(SECTIONS));
        // Fuzzing skips the checksum, because a fuzzer would hardly ever generate a valid one.
        let sum = u64::from(crc32fast::hash(&head[..8 + 8 * words]));
        if sum != word(words) && !cfg!(fuzzing) {
            return Err(damaged("header"));
        }
        let Some(known) = known else {
            return Err(BookError::Version { name: name(), version: word(0) });
        };
        if (3..FIRST_WORDS).any(|index| word(index) > MAX_TABLE_BITS) {
            return Err(damaged("header"));
        }
        let section = |index: usize| {
            let first = FIRST_WORDS + 3 * index;
            Section { start: word(first), length: word(first + 1), checksum: word(first + 2) }
        };
        let facet = |index: usize| {
            if known == MAX_SECTIONS { section(index) } else { Section::default() }
        };
        let header = Header {
            positions: word(1),
            moves: word(2),
            bucket_bits: word(3) as u32,
            pawn_filter_bits: word(4) as u32,
            sections: Sections {
                entries: section(0),
                buckets: section(1),
                pawn_filter: section(2),
                manifest: section(3),
                lists: facet(4),
                list_index: facet(5),
                games: facet(6),
                values: if known > SECTIONS { section(known - 1) } else { Section::default() },
            },
        };
        if !header.sections.values.length.is_multiple_of(VALUE_BYTES as u64) {
            return Err(damaged("values"));
        }
        if word(0) != header.sections.version() {
            // The format version requires a section that is empty in this file.
            return Err(damaged("header"));
        }
        header.check_sections(all, &name())?;
        Ok(header)
    }

    /// Checks that the sections are contiguous, have the sizes implied by the header, and end at
    /// the end of the file. `file` is the size of the file in bytes.
    fn check_sections(&self, file: u64, name: &str) -> Result<(), BookError> {
        let mut end = HEADER_BYTES as u64;
        for (part, section) in self.sections.named() {
            if section.start != end || section.start.checked_add(section.length).is_none() {
                return Err(BookError::Damaged { name: name.to_owned(), part });
            }
            end = section.end();
        }
        let sizes = [
            ("buckets", self.sections.buckets.length, BUCKET_BYTES << self.bucket_bits),
            ("pawn filter", self.sections.pawn_filter.length, filter_bytes(self.pawn_filter_bits)),
        ];
        for (part, found, expected) in sizes {
            if found != expected {
                return Err(BookError::Damaged { name: name.to_owned(), part });
            }
        }
        match file.cmp(&end) {
            std::cmp::Ordering::Less => Err(BookError::Truncated { name: name.to_owned() }),
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => {
                Err(BookError::Damaged { name: name.to_owned(), part: "end: bytes were added" })
            }
        }
    }
}

const _: () = assert!(8 + 8 * words(MAX_SECTIONS) + 8 <= HEADER_BYTES);
