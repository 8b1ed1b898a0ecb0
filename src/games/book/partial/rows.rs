//! Reads files of partial counts.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{BoolType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::statistics::Statistics;

use super::folder::refused;
use crate::chess::position::{Color, Move};
use crate::games::book::builder::BuildError;
use crate::games::book::builder::{PartialRow, Piece, RowSource};
use crate::games::pgn::{io_error, open_parquet};
use crate::support::files::{describe, open_plain};

/// The columns to read. Facet columns are not among them, because a book contains only the sums
/// over all facets.
const COLUMNS: [(&str, Physical); 9] = [
    ("key", Physical::INT64),
    ("pawns", Physical::INT32),
    ("black_to_move", Physical::BOOLEAN),
    ("move", Physical::INT32),
    ("again", Physical::BOOLEAN),
    ("white", Physical::INT64),
    ("draws", Physical::INT64),
    ("black", Physical::INT64),
    ("undecided", Physical::INT64),
];
const KEY: usize = 0;
const BATCH: usize = 1 << 13;
/// The maximum total number of rows. If the metadata specifies more, it is damaged.
const MAX_ROWS: u64 = 1 << 40;

pub(super) struct Tables {
    files: Vec<Table>,
    pieces: Vec<Piece>,
    /// For each row group: the index of the file that contains it, and the index of the group
    /// within that file.
    places: Vec<(usize, usize)>,
}

struct Table {
    path: PathBuf,
    /// For each column in [`COLUMNS`], its index in the file.
    columns: [usize; COLUMNS.len()],
}

impl Tables {
    /// Opens the files and lists their row groups. Fails if a file does not contain partial counts.
    pub(super) fn open(paths: Vec<PathBuf>) -> Result<Self, BuildError> {
        let mut tables = Tables { files: Vec::new(), pieces: Vec::new(), places: Vec::new() };
        let mut rows = 0_u64;
        for path in paths {
            let reader = open(&path).map_err(|error| refused(&path, &describe(&error)))?;
            let metadata = reader.metadata();
            let columns = columns_of(metadata).map_err(|reason| refused(&path, &reason))?;
            for (number, group) in metadata.row_groups().iter().enumerate() {
                rows = rows.saturating_add(group.num_rows().unsigned_abs());
                if rows > MAX_ROWS {
                    return Err(refused(&path, "its number of rows is damaged"));
                }
                if group.num_rows() > 0 {
                    tables.pieces.push(piece_of(group, columns[KEY]));
                    tables.places.push((tables.files.len(), number));
                }
            }
            tables.files.push(Table { path, columns });
        }
        Ok(tables)
    }

    pub(super) fn rows(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.rows).sum()
    }
}

fn open(path: &Path) -> io::Result<SerializedFileReader<File>> {
    open_parquet(open_plain(path)?)
}

fn columns_of(metadata: &ParquetMetaData) -> Result<[usize; COLUMNS.len()], String> {
    let there = metadata.file_metadata().schema_descr().columns();
    let mut places = [0; COLUMNS.len()];
    for (place, (name, physical)) in places.iter_mut().zip(COLUMNS) {
        *place = there
            .iter()
            .position(|column| {
                column.path().string() == name
                    && column.physical_type() == physical
                    && column.max_rep_level() == 0
            })
            .ok_or_else(|| format!(
                "it has no column {name} of type {physical}: it contains no partial counts, or a \
                 query has changed them"
            ))?;
    }
    Ok(places)
}

fn piece_of(group: &RowGroupMetaData, key: usize) -> Piece {
    let range = match group.column(key).statistics() {
        Some(Statistics::Int64(range)) => range.min_opt().zip(range.max_opt()),
        _ => None,
    };
    let keys = range.map_or(i64::MIN..=i64::MAX, |(&least, &greatest)| least..=greatest);
    Piece { rows: group.num_rows().unsigned_abs(), keys }
}

impl RowSource for Tables {
    fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    fn read(
        &self,
        piece: usize,
        take: &mut dyn FnMut(&PartialRow) -> io::Result<()>,
    ) -> io::Result<()> {
        let (file, group) = self.places[piece];
        let table = &self.files[file];
        let place = |error: io::Error| {
            io::Error::other(format!("{}: {}", table.path.display(), describe(&error)))
        };
        // Each reader needs its own file handle, because cloned handles share an offset.
        let reader = open(&table.path).map_err(place)?;
        let group = reader.get_row_group(group).map_err(io_error).map_err(place)?;
        let mut columns = Columns::of(&*group, &table.columns).map_err(io_error).map_err(place)?;
        let mut left = self.pieces[piece].rows;
        while left > 0 {
            let batch = left.min(BATCH as u64);
            columns.read(batch as usize).map_err(io_error).map_err(place)?;
            for row in 0..batch as usize {
                take(&columns.row(row).map_err(io_error).map_err(place)?)?;
            }
            left -= batch;
        }
        Ok(())
    }
}

struct Column<T: DataType> {
    name: &'static str,
    reader: ColumnReaderImpl<T>,
    /// The non-null values in the batch.
    values: Vec<T::T>,
    /// For a nullable column: 1 for each row with a value and 0 for each null.
    levels: Vec<i16>,
}

impl<T: DataType> Column<T> {
    fn of(
        group: &dyn RowGroupReader,
        places: &[usize; COLUMNS.len()],
        number: usize,
    ) -> Result<Self, ParquetError> {
        let reader = get_typed_column_reader(group.get_column_reader(places[number])?);
        Ok(Column { name: COLUMNS[number].0, reader, values: Vec::new(), levels: Vec::new() })
    }

    fn read(&mut self, rows: usize) -> Result<(), ParquetError> {
        self.values.clear();
        self.levels.clear();
        let mut done = 0;
        while done < rows {
            let levels = Some(&mut self.levels);
            match self.reader.read_records(rows - done, levels, None, &mut self.values)?.0 {
                0 => return Err(self.fault("ends before the others")),
                more => done += more,
            }
        }
        Ok(())
    }

    /// Like [`Self::read`], but fails if any value is null.
    fn read_all(&mut self, rows: usize) -> Result<(), ParquetError> {
        self.read(rows)?;
        if self.values.len() == rows { Ok(()) } else { Err(self.fault("contains nulls")) }
    }

    fn fault(&self, what: &str) -> ParquetError {
        ParquetError::General(format!("the column {} {what}", self.name))
    }
}

struct Columns {
    key: Column<Int64Type>,
    pawns: Column<Int32Type>,
    black_to_move: Column<BoolType>,
    moves: Column<Int32Type>,
    words: Vec<Option<i32>>,
    again: Column<BoolType>,
    games: [Column<Int64Type>; 4],
}

impl Columns {
    fn of(
        group: &dyn RowGroupReader,
        places: &[usize; COLUMNS.len()],
    ) -> Result<Self, ParquetError> {
        Ok(Columns {
            key: Column::of(group, places, KEY)?,
            pawns: Column::of(group, places, 1)?,
            black_to_move: Column::of(group, places, 2)?,
            moves: Column::of(group, places, 3)?,
            words: Vec::new(),
            again: Column::of(group, places, 4)?,
            games: [
                Column::of(group, places, 5)?,
                Column::of(group, places, 6)?,
                Column::of(group, places, 7)?,
                Column::of(group, places, 8)?,
            ],
        })
    }

    fn read(&mut self, rows: usize) -> Result<(), ParquetError> {
        self.key.read_all(rows)?;
        self.pawns.read_all(rows)?;
        self.black_to_move.read_all(rows)?;
        self.again.read_all(rows)?;
        self.games.iter_mut().try_for_each(|games| games.read_all(rows))?;
        self.moves.read(rows)?;
        let Column { values, levels, .. } = &self.moves;
        let mut values = values.iter().copied();
        self.words.clear();
        match levels.is_empty() {
            true => self.words.extend(values.map(Some)),
            false => self
                .words
                .extend(levels.iter().map(|&level| if level > 0 { values.next() } else { None })),
        }
        Ok(())
    }

    fn row(&self, row: usize) -> Result<PartialRow, ParquetError> {
        let mv = match self.words[row] {
            None => None,
            Some(word) => {
                let mv = u16::try_from(word).ok().and_then(Move::from_polyglot);
                Some(mv.ok_or_else(|| {
                    self.moves.fault(&format!("contains {word}, which is not a move"))
                })?)
            }
        };
        let mut games = [0; 4];
        for (number, column) in games.iter_mut().zip(&self.games) {
            *number = u64::try_from(column.values[row])
                .map_err(|_| column.fault("contains a negative number"))?;
        }
        Ok(PartialRow {
            key: self.key.values[row].cast_unsigned(),
            pawns: self.pawns.values[row].cast_unsigned(),
            side: if self.black_to_move.values[row] { Color::Black } else { Color::White },
            mv,
            again: self.again.values[row],
            games,
            facets: None,
        })
    }
}
