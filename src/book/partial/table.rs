//! The columns of partial counts, and how they are written.

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{BoolType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::book::builder::PartialRow;
use crate::position::{Color, Move};

/// The columns, in their order.
const SCHEMA: &str = "message counts {
    required int64 key;
    required int32 pawns;
    required boolean black_to_move;
    optional int32 move;
    required boolean again;
    required int64 white;
    required int64 draws;
    required int64 black;
    required int64 undecided;
}";
/// Rows that are compressed together: as many as DuckDB takes, and few enough that a partition of a
/// large book is found in the row groups that are its own.
const GROUP_ROWS: usize = 1 << 17;
/// Higher levels take far longer: most of what is written are keys, which have no pattern.
const ZSTD_LEVEL: i32 = 1;

/// An error of the library as one of input and output.
pub(super) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        other => io::Error::other(other),
    }
}

/// Rows on their way to a file.
pub(super) struct TableWriter {
    writer: SerializedFileWriter<File>,
    waiting: Columns,
    rows: u64,
    visits: u64,
}

/// The rows of a group, column by column.
#[derive(Default)]
struct Columns {
    key: Vec<i64>,
    pawns: Vec<i32>,
    black_to_move: Vec<bool>,
    /// The moves that are there, and for each row whether it has one.
    moves: Vec<i32>,
    has_move: Vec<i16>,
    again: Vec<bool>,
    games: [Vec<i64>; 4],
}

impl TableWriter {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let schema = Arc::new(parse_message_type(SCHEMA).map_err(io_error)?);
        let properties = Arc::new(properties()?.build());
        let writer = SerializedFileWriter::new(file, schema, properties).map_err(io_error)?;
        Ok(TableWriter { writer, waiting: Columns::default(), rows: 0, visits: 0 })
    }

    /// Appends a row, which must come in the order of the keys.
    pub(super) fn push(&mut self, row: &PartialRow) -> io::Result<()> {
        let columns = &mut self.waiting;
        columns.key.push(row.key.cast_signed());
        columns.pawns.push(row.pawns.cast_signed());
        columns.black_to_move.push(row.side == Color::Black);
        columns.moves.extend(row.mv.map(|mv| i32::from(Move::to_polyglot(mv))));
        columns.has_move.push(i16::from(row.mv.is_some()));
        columns.again.push(row.again);
        for (column, games) in columns.games.iter_mut().zip(row.games) {
            column.push(games.cast_signed());
            self.visits += games;
        }
        self.rows += 1;
        if columns.key.len() >= GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    /// Ends the file, and tells its rows and the games that they count.
    pub(super) fn finish(mut self) -> io::Result<(u64, u64)> {
        self.write_group()?;
        let file = self.writer.into_inner().map_err(io_error)?;
        file.sync_all()?;
        Ok((self.rows, self.visits))
    }

    /// Writes the rows that wait, as a group.
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
    /// Writes all columns in the order of the schema.
    fn write(&self, group: &mut SerializedRowGroupWriter<'_, File>) -> Result<(), ParquetError> {
        write::<Int64Type>(group, &self.key, None)?;
        write::<Int32Type>(group, &self.pawns, None)?;
        write::<BoolType>(group, &self.black_to_move, None)?;
        write::<Int32Type>(group, &self.moves, Some(&self.has_move))?;
        write::<BoolType>(group, &self.again, None)?;
        self.games.iter().try_for_each(|games| write::<Int64Type>(group, games, None))
    }
}

/// Writes the next column. `levels` tells which rows have a value, if not all have.
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

/// How the columns are packed: keys by what is between them, since they come sorted.
fn properties() -> io::Result<WriterPropertiesBuilder> {
    let level = ZstdLevel::try_new(ZSTD_LEVEL).map_err(io_error)?;
    let [key, pawns] = ["key", "pawns"].map(ColumnPath::from);
    let made_by = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
    Ok(WriterProperties::builder()
        .set_created_by(made_by.to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_column_dictionary_enabled(key.clone(), false)
        .set_column_encoding(key, Encoding::DELTA_BINARY_PACKED)
        .set_column_dictionary_enabled(pawns, false))
}
