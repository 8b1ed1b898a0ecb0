//! Reads games in the Parquet format that Lichess publishes on Hugging Face. A file has one row for
//! each game and one column for each tag. The `movetext` column contains the moves as text.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};

const MOVES: &str = "movetext";
const EVENT: &str = "Event";
/// The tag whose value is also written after the moves, as PGN requires.
const RESULT: &str = "Result";
/// The result tokens. The movetext of a row may already end with one of them.
const RESULTS: [&str; 4] = ["1-0", "0-1", "1/2-1/2", "*"];

pub(super) struct ParquetGames {
    rows: RowIter<'static>,
    /// The current game as PGN text. The caller has already read its first `read` bytes.
    text: String,
    read: usize,
    progress: Arc<AtomicU64>,
    bytes: u64,
    all_rows: u64,
    rows_read: u64,
}

pub(crate) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        other => io::Error::new(io::ErrorKind::InvalidData, other),
    }
}

/// Opens a Parquet file. Rejects files in which a column chunk extends beyond the end of the file,
/// because the `parquet` crate panics on some of them.
pub(crate) fn open_parquet(file: File) -> io::Result<SerializedFileReader<File>> {
    let bytes = file.metadata()?.len();
    let reader = SerializedFileReader::new(file).map_err(io_error)?;
    let is_within = |column: &ColumnChunkMetaData| {
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let [start, length] = [start, column.compressed_size()].map(|at| u64::try_from(at).ok());
        let end = start.zip(length).and_then(|(start, length)| start.checked_add(length));
        end.is_some_and(|end| end <= bytes)
    };
    let mut columns = reader.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
    if columns.all(is_within) {
        return Ok(reader);
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "it is damaged: a column lies outside the file"))
}

impl ParquetGames {
    /// Opens a Parquet file that contains games. Each row read increases `progress` by the file
    /// size divided by the number of rows.
    pub(super) fn new(file: File, progress: Arc<AtomicU64>) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        let reader = open_parquet(file)?;
        let metadata = reader.metadata().file_metadata();
        let all_rows = metadata.num_rows().max(1).unsigned_abs();
        let has_moves = metadata.schema().get_fields().iter().any(|field| field.name() == MOVES);
        if !has_moves {
            let reason = format!("it is Parquet without a column {MOVES} of moves");
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        let rows = RowIter::from_file_into(Box::new(reader));
        let text = String::new();
        Ok(ParquetGames { rows, text, read: 0, progress, bytes, all_rows, rows_read: 0 })
    }

    fn next_game(&mut self) -> io::Result<bool> {
        let Some(row) = self.rows.next() else { return Ok(false) };
        self.text.clear();
        self.read = 0;
        write_game(&row.map_err(io_error)?, &mut self.text);
        let bytes_at = |rows: u64| self.bytes * rows / self.all_rows;
        let step = bytes_at(self.rows_read + 1) - bytes_at(self.rows_read);
        self.progress.fetch_add(step, Relaxed);
        self.rows_read += 1;
        Ok(true)
    }
}

impl Read for ParquetGames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.text.len() {
            if !self.next_game()? {
                return Ok(0);
            }
        }
        let read = (&self.text.as_bytes()[self.read..]).read(buffer)?;
        self.read += read;
        Ok(read)
    }
}

fn write_game(row: &Row, text: &mut String) {
    let column = |wanted: &str| {
        row.get_column_iter().find(|(name, _)| *name == wanted).and_then(|(_, field)| value(field))
    };
    push_tag(EVENT, &column(EVENT).unwrap_or_else(|| "?".to_owned()), text);
    for (name, field) in row.get_column_iter() {
        if let (Some(value), true) = (value(field), is_tag_name(name)) {
            push_tag(name, &value, text);
        }
    }
    let moves = column(MOVES).unwrap_or_default();
    let moves = moves.trim_end();
    text.push('\n');
    text.push_str(moves);
    if !RESULTS.iter().any(|result| moves.ends_with(result)) {
        text.push(' ');
        text.push_str(&column(RESULT).unwrap_or_else(|| "*".to_owned()));
    }
    text.push_str("\n\n");
}

/// Returns true if the column with this name contains a tag. Returns false for `Event`, which is
/// written separately.
fn is_tag_name(name: &str) -> bool {
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name && !name.is_empty() && name != MOVES && name != EVENT
}

fn push_tag(name: &str, value: &str, text: &mut String) {
    text.push('[');
    text.push_str(name);
    text.push_str(" \"");
    for sign in value.chars() {
        match sign {
            '"' | '\\' => text.extend(['\\', sign]),
            '\n' | '\r' => text.push(' '),
            _ => text.push(sign),
        }
    }
    text.push_str("\"]\n");
}

fn value(field: &Field) -> Option<String> {
    let shown = || field.to_string();
    Some(match field {
        Field::Str(text) => text.clone(),
        Field::Bytes(bytes) => String::from_utf8_lossy(bytes.data()).into_owned(),
        Field::Byte(_) | Field::Short(_) | Field::Int(_) | Field::Long(_) => shown(),
        Field::UByte(_) | Field::UShort(_) | Field::UInt(_) | Field::ULong(_) => shown(),
        Field::Date(_) | Field::TimestampMillis(_) | Field::TimestampMicros(_) => {
            shown().chars().take("2024-01-31".len()).collect::<String>().replace('-', ".")
        }
        Field::TimeMillis(_) | Field::TimeMicros(_) => {
            shown().chars().take("23:59:59".len()).collect()
        }
        _ => return None,
    })
}
