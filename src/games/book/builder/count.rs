//! Counts some of the games of a book and returns the counts as rows, sorted and grouped as in a
//! build.
//!
//! The `pack` module turns the rows of all counting runs into a book. It reads them one partition
//! at a time if every piece of its input covers only a narrow range of keys. Otherwise, it passes
//! all rows through the same stores as a build. Either way, the resulting book is the same.

use std::io;

use super::counter::Shared;
use super::facet_records::FacetRecord;
use super::records::{CountedGame, OfGame, PARTITIONS, PositionRecord, Record, Visit, combine};
use super::rows::{PartialRow, RowRecord};
use super::store::Collected;
use super::{BuildError, BuildOptions, BuildTally, Monitor, gather};
use crate::games::book::format::manifest::Manifest;
use crate::games::pgn::PgnInput;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, packed(4))]
struct PawnRecord {
    record: Record,
    pawns: u32,
}

const RECORD_BYTES: usize = 16;
const _: () = assert!(size_of::<PawnRecord>() == RECORD_BYTES);

impl PositionRecord for PawnRecord {
    const EMPTY: Self = PawnRecord { record: Record::EMPTY, pawns: 0 };
    const JOINS: bool = true;
    const OF_GAME: OfGame = OfGame::Result;
    const BYTES: usize = RECORD_BYTES;
    type Bytes = [u8; RECORD_BYTES];

    #[inline]
    fn of(visit: &Visit, game: &CountedGame) -> Self {
        let pawns = (visit.pawn_key >> u32::BITS) as u32;
        PawnRecord { record: Record::of(visit, game), pawns }
    }

    #[inline]
    fn key(&self) -> u64 {
        { self.record }.key()
    }

    #[inline]
    fn rank(&self) -> u128 {
        { self.record }.rank()
    }

    #[inline]
    fn slot(&self, bits: u32) -> usize {
        { self.record }.slot(bits)
    }

    #[inline]
    fn join(&mut self, other: &Self) -> bool {
        let mut record = self.record;
        let joined = record.join(&{ other.record });
        self.record = record;
        joined
    }

    fn renumber(&mut self, _numbers: &[u32]) -> bool {
        true
    }

    fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let bytes = { self.record }.rank() << u32::BITS | u128::from(self.pawns);
        bytes.to_le_bytes()
    }

    fn read_all(bytes: &[u8], records: &mut Vec<Self>) {
        let mut plain = Vec::with_capacity(bytes.len() / RECORD_BYTES);
        for [a, b, c, d, record @ ..] in bytes.as_chunks::<RECORD_BYTES>().0 {
            Record::read_all(record, &mut plain);
            let pawns = u32::from_le_bytes([*a, *b, *c, *d]);
            let last = plain.pop();
            records.extend(last.map(|record| PawnRecord { record, pawns }));
        }
    }
}

impl RowRecord for PawnRecord {
    fn is_of_row(&self, other: &Self) -> bool {
        let group_key = |record: Record| (record.key(), record.group_key());
        group_key(self.record) == group_key(other.record)
    }

    fn row(&self) -> PartialRow {
        let (Visit { key, side, mv, again, .. }, result, number) = { self.record }.parts();
        let mut games = [0; 4];
        games[result as usize] = u64::from(number);
        PartialRow { key, pawns: self.pawns, side, mv, again, games, facets: None }
    }
}

pub(in crate::games::book) struct Counted {
    records: Records,
    pub manifest: Manifest,
    pub tally: BuildTally,
}

enum Records {
    Plain(Vec<Collected<PawnRecord>>),
    WithFacets(Vec<Collected<FacetRecord>>),
}

/// Reads and counts games, with or without facets. Finding no games is not an error, because other
/// runs may count games for the same book.
pub(in crate::games::book) fn count(
    inputs: &[PgnInput],
    options: &BuildOptions,
    monitor: &Monitor,
) -> Result<Counted, BuildError> {
    let shared = Shared::new(options);
    let (records, tally) = match options.facets {
        false => {
            let (gathered, tally, _) = gather(inputs, &shared, monitor)?;
            (Records::Plain(gathered.collected), tally)
        }
        true => {
            let (gathered, tally, _) = gather(inputs, &shared, monitor)?;
            (Records::WithFacets(gathered.collected), tally)
        }
    };
    if monitor.is_stopped() {
        return Err(BuildError::Interrupted("not all games were read"));
    }
    let manifest = tally.manifest(options, false);
    Ok(Counted { records, manifest, tally })
}

impl Counted {
    pub(in crate::games::book) const PARTS: usize = PARTITIONS;

    /// Passes the rows of one part to `take`, sorted by key, kind of visit (first visits before
    /// repeated visits), move and facets. All keys in a part are higher than those in the parts
    /// before it.
    pub(in crate::games::book) fn rows(
        &self,
        part: usize,
        take: impl FnMut(&PartialRow) -> io::Result<()>,
    ) -> io::Result<()> {
        match &self.records {
            Records::Plain(collected) => rows_of(collected, part, take),
            Records::WithFacets(collected) => rows_of(collected, part, take),
        }
    }
}

fn rows_of<R: RowRecord>(
    collected: &[Collected<R>],
    part: usize,
    mut take: impl FnMut(&PartialRow) -> io::Result<()>,
) -> io::Result<()> {
    let (mut records, mut sorted) = (Vec::new(), Vec::new());
    collected.iter().try_for_each(|collected| collected.read(part, &mut records))?;
    combine(&records, &mut sorted);
    drop(records);
    for of_row in sorted.chunk_by(R::is_of_row) {
        let mut row = of_row[0].row();
        of_row[1..].iter().for_each(|record| row.add(&record.row()));
        take(&row)?;
    }
    Ok(())
}
