//! The columns of a partial-count file, and a writer for such files.

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::chess::position::{Color, Move};
use crate::games::book::builder::{FacetKind, PartialRow, RowFacets};
use crate::games::pgn::io_error;

const COLUMNS: &str = "
    required int64 key;
    required int32 pawns;
    required boolean black_to_move;
    optional int32 move;
    required boolean again;
    required int64 white;
    required int64 draws;
    required int64 black;
    required int64 undecided;
";
/// Additional columns written if games are counted with facets.
const FACET_COLUMNS: &str = "
    optional int32 rating_group;
    required binary speed (STRING);
    optional int32 month;
    required int64 rating_sum;
    required int64 rated;
    optional int32 latest;
    required binary latest_game (STRING);
";
/// Number of rows per row group. This is close to DuckDB's default, 122,880, and small enough for
/// each partition of a large book to have its own row groups.
const GROUP_ROWS: usize = 1 << 17;
/// The compression level. Higher levels save little space: most of the data is random keys.
const ZSTD_LEVEL: i32 = 1;

/// Dividing a date in the form YYYYMMDD by this number leaves the year and month.
const DAYS: u32 = 100;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowTotals {
    pub rows: u64,
    pub visits: u64,
    pub sum: u64,
}

impl RowTotals {
    pub(super) fn add(self, other: Self) -> Self {
        RowTotals {
            rows: self.rows + other.rows,
            visits: self.visits + other.visits,
            sum: self.sum.wrapping_add(other.sum),
        }
    }
}

pub(super) struct TableWriter {
    writer: SerializedFileWriter<File>,
    waiting: Columns,
    rows: u64,
    visits: u64,
    sum: u64,
}

#[derive(Default)]
struct Columns {
    key: Vec<i64>,
    pawns: Vec<i32>,
    black_to_move: Vec<bool>,
    moves: Optional,
    again: Vec<bool>,
    games: [Vec<i64>; 4],
    facets: FacetColumns,
}

#[derive(Default)]
struct FacetColumns {
    group: Optional,
    speed: Vec<ByteArray>,
    month: Optional,
    ratings: Vec<i64>,
    rated: Vec<i64>,
    latest: Optional,
    latest_game: Vec<ByteArray>,
}

#[derive(Default)]
struct Optional {
    values: Vec<i32>,
    levels: Vec<i16>,
}

impl Optional {
    fn push(&mut self, value: Option<i32>) {
        self.values.extend(value);
        self.levels.push(i16::from(value.is_some()));
    }

    fn write(&self, group: &mut SerializedRowGroupWriter<'_, File>) -> Result<(), ParquetError> {
        write::<Int32Type>(group, &self.values, Some(&self.levels))
    }
}

impl TableWriter {
    pub(super) fn new(file: File, has_facets: bool) -> io::Result<Self> {
        let more = if has_facets { FACET_COLUMNS } else { "" };
        let schema = format!("message counts {{ {COLUMNS} {more} }}");
        let schema = Arc::new(parse_message_type(&schema).map_err(io_error)?);
        let properties = Arc::new(properties()?.build());
        let writer = SerializedFileWriter::new(file, schema, properties).map_err(io_error)?;
        Ok(TableWriter { writer, waiting: Columns::default(), rows: 0, visits: 0, sum: 0 })
    }

    /// Appends a row. Rows must be appended in key order.
    pub(super) fn push(&mut self, row: &PartialRow) -> io::Result<()> {
        let columns = &mut self.waiting;
        columns.key.push(row.key.cast_signed());
        columns.pawns.push(row.pawns.cast_signed());
        columns.black_to_move.push(row.side == Color::Black);
        columns.moves.push(row.mv.map(|mv| i32::from(Move::to_polyglot(mv))));
        columns.again.push(row.again);
        for (column, games) in columns.games.iter_mut().zip(row.games) {
            column.push(games.cast_signed());
            self.visits += games;
        }
        if let Some(facets) = &row.facets {
            columns.facets.push(facets);
        }
        self.rows += 1;
        self.sum = self.sum.wrapping_add(row.sum());
        if columns.key.len() >= GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    pub(super) fn finish(mut self) -> io::Result<RowTotals> {
        self.write_group()?;
        let file = self.writer.into_inner().map_err(io_error)?;
        file.sync_all()?;
        Ok(RowTotals { rows: self.rows, visits: self.visits, sum: self.sum })
    }

    fn write_group(&mut self) -> io::Result<()> {
        let columns = std::mem::take(&mut self.waiting);
        if columns.key.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group().map_err(io_error)?;
        columns.write(&mut group).and_then(|()| group.close().map(drop)).map_err(io_error)
    }
}

impl Columns {
    fn write(&self, group: &mut SerializedRowGroupWriter<'_, File>) -> Result<(), ParquetError> {
        write::<Int64Type>(group, &self.key, None)?;
        write::<Int32Type>(group, &self.pawns, None)?;
        write::<BoolType>(group, &self.black_to_move, None)?;
        self.moves.write(group)?;
        write::<BoolType>(group, &self.again, None)?;
        self.games.iter().try_for_each(|games| write::<Int64Type>(group, games, None))?;
        if self.facets.speed.is_empty() { Ok(()) } else { self.facets.write(group) }
    }
}

impl FacetColumns {
    fn push(&mut self, facets: &RowFacets) {
        let FacetKind { group, speed, month } = facets.kind;
        let (latest, game) = facets.latest;
        self.group.push(group.map(|group| i32::from(group.lower_bound())));
        self.speed.push(ByteArray::from(speed.name()));
        self.month.push(month.in_digits().map(|digits| (digits / DAYS).cast_signed()));
        self.ratings.push(facets.ratings.0.cast_signed());
        self.rated.push(facets.ratings.1.cast_signed());
        self.latest.push(latest.in_digits().map(u32::cast_signed));
        self.latest_game.push(ByteArray::from(game.to_string().into_bytes()));
    }

    fn write(&self, group: &mut SerializedRowGroupWriter<'_, File>) -> Result<(), ParquetError> {
        self.group.write(group)?;
        write::<ByteArrayType>(group, &self.speed, None)?;
        self.month.write(group)?;
        write::<Int64Type>(group, &self.ratings, None)?;
        write::<Int64Type>(group, &self.rated, None)?;
        self.latest.write(group)?;
        write::<ByteArrayType>(group, &self.latest_game, None)
    }
}

/// Writes the next column of a row group. If the column is nullable, `levels` marks the rows that
/// have a value.
fn write<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let column = group.next_column()?;
    let mut column = column.ok_or_else(|| ParquetError::General("too few columns".to_owned()))?;
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

/// Chooses the column encodings: delta encoding for the sorted keys and for the lengths of ids, and
/// no dictionary for columns whose values are nearly all distinct.
fn properties() -> io::Result<WriterPropertiesBuilder> {
    let level = ZstdLevel::try_new(ZSTD_LEVEL).map_err(io_error)?;
    let [key, pawns, game] = ["key", "pawns", "latest_game"].map(ColumnPath::from);
    let made_by = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
    Ok(WriterProperties::builder()
        .set_created_by(made_by.to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_column_dictionary_enabled(key.clone(), false)
        .set_column_encoding(key, Encoding::DELTA_BINARY_PACKED)
        .set_column_dictionary_enabled(pawns, false)
        .set_column_dictionary_enabled(game.clone(), false)
        .set_column_encoding(game, Encoding::DELTA_LENGTH_BYTE_ARRAY))
}
