//! Imports and exports Polyglot books.
//!
//! An entry has 16 bytes, big-endian: key of the position, move, weight, learning data (ignored).
//! Entries are sorted by key. Castling is written as the king capturing its own rook. Moves with
//! weight 0 are never played. Rows with key 0 form a header. Source:
//! <http://hgm.nubati.net/book_format.html>.
//!
//! Polyglot's keys include the en passant file whenever an enemy pawn is adjacent, even if that
//! pawn is pinned ([`Position::polyglot_key`]). Some programs include the file only if the capture
//! is legal, as Tabia does in its own keys. Tabia reads books with either kind of key, and writes
//! books with Polyglot's keys.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::ops::ControlFlow;

use crate::chess::position::{Color, KeyMap, Move, Position};
use crate::games::book::format::counts::Counts;
use crate::games::book::format::entry::BookEntry;
use crate::games::book::format::error::BookError;
use crate::games::book::format::manifest::Manifest;
use crate::games::book::format::pawn_filter::PawnSet;
use crate::games::book::format::writer::write_book;
use crate::games::book::lookup::Book;

use crate::games::book::lookup::castling::{CASTLINGS, castling};

const ROW: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    key: u64,
    mv: u16,
    weight: u16,
}

impl Row {
    fn parse(bytes: &[u8; ROW]) -> Self {
        let number = u128::from_be_bytes(*bytes);
        Row { key: (number >> 64) as u64, mv: (number >> 48) as u16, weight: (number >> 32) as u16 }
    }

    fn to_bytes(self) -> [u8; ROW] {
        let number = u128::from(self.key) << 64;
        (number | u128::from(self.mv) << 48 | u128::from(self.weight) << 32).to_be_bytes()
    }
}

fn decode(word: u16, position: &Position) -> Option<Move> {
    let mv = Move::from_polyglot(word)?;
    let castling = CASTLINGS.iter().find(|(king, rook, _)| (mv.from(), mv.to()) == (*king, *rook));
    let mv = match castling {
        Some(&(king, _, to)) if position.king(position.side_to_move()) == king => {
            Move::new(king, to)
        }
        _ => mv,
    };
    position.is_legal(mv).then_some(mv)
}

fn encode(mv: Move, position: &Position) -> u16 {
    let castling = if position.is_castling(mv) { castling(mv) } else { None };
    castling.unwrap_or(mv).to_polyglot()
}

/// Returns true if these bytes may be the start of a Polyglot book, that is, rows sorted by key
/// that contain moves.
pub(crate) fn recognises(head: &[u8]) -> bool {
    let rows: Vec<Row> = head.as_chunks().0.iter().map(Row::parse).collect();
    let holds_moves = |row: &Row| row.key == 0 || Move::from_polyglot(row.mv).is_some();
    !rows.is_empty() && rows.is_sorted_by_key(|row| row.key) && rows.iter().all(holds_moves)
}

/// Parses the rows of a Polyglot book. Returns the rows and any warnings, or the reason why the
/// file is not a Polyglot book.
fn rows(bytes: &[u8]) -> Result<(Vec<Row>, Vec<String>), String> {
    let (whole, rest) = bytes.as_chunks::<ROW>();
    if whole.is_empty() {
        return Err(format!("its {} bytes are less than one row of {ROW}", bytes.len()));
    }
    let mut warnings = Vec::new();
    if !rest.is_empty() {
        let unit = if rest.len() == 1 { "byte is" } else { "bytes are" };
        warnings.push(format!("its last {} {unit} not a whole row and were skipped", rest.len()));
    }
    let all = whole.iter().map(Row::parse);
    let mut rows: Vec<Row> = all.skip_while(|row| row.key == 0).collect();
    if let Some(row) = rows.iter().position(|row| Move::from_polyglot(row.mv).is_none()) {
        return Err(format!("row {} contains no move", row + 1));
    }
    if !rows.is_sorted_by_key(|row| row.key) {
        rows.sort_by_key(|row| row.key);
        warnings
            .push("its rows are not sorted, which other programs require; all were read".into());
    }
    Ok((rows, warnings))
}

/// Imports a Polyglot book from its bytes. A move with weight N is imported as N games without a
/// result. If a position is reached by book moves but has no rows of its own, its number of games
/// is the sum over the moves leading to it. Fails if the bytes are not a Polyglot book, for example
/// if none of the moves in the start position is legal.
pub(crate) fn import(bytes: &[u8], name: &str) -> Result<Book, BookError> {
    let refuse = |reason| BookError::Polyglot { name: name.to_owned(), reason };
    let (rows, mut warnings) = rows(bytes).map_err(refuse)?;
    let mut import = Import::new(&rows);
    import.walk().map_err(refuse)?;
    if import.illegal > 0 {
        let moves = if import.illegal == 1 { "move that is" } else { "moves that are" };
        let left = import.illegal;
        warnings.push(format!("skipped {left} {moves} illegal in the position"));
    }
    let pawns = if import.orphans == 0 { &import.pawns } else { &PawnSet::everything() };
    let manifest = Manifest {
        made_from: format!(
            "a Polyglot book of {} rows; {} of its positions cannot be reached from the start",
            rows.len(),
            import.orphans
        ),
        weights: true,
        ..Manifest::of_this_program()
    };
    let output = Cursor::new(Vec::new());
    let bytes = write_book(output, import.entries.into_values(), pawns, &manifest)
        .map_err(|error| BookError::writing(name, &error))?;
    let book = Book::from_bytes(bytes.into_inner(), name)?;
    Ok(book.with_warnings(warnings))
}

/// A Polyglot book that is being imported. A row can be decoded only if its position is known,
/// because castling is written as a king move that captures a rook. The import therefore walks
/// through the book from the start position.
struct Import<'a> {
    rows: KeyMap<&'a [Row]>,
    entries: BTreeMap<u64, BookEntry>,
    pawns: PawnSet,
    /// The number of positions that cannot be reached from the start position. Their moves are
    /// imported without converting castling or checking legality.
    orphans: usize,
    illegal: usize,
}

impl<'a> Import<'a> {
    fn new(rows: &'a [Row]) -> Self {
        let by_key = rows.chunk_by(|a, b| a.key == b.key).map(|group| (group[0].key, group));
        Import {
            rows: by_key.collect(),
            entries: BTreeMap::new(),
            pawns: PawnSet::new(),
            orphans: 0,
            illegal: 0,
        }
    }

    fn walk(&mut self) -> Result<(), String> {
        let start = Position::start();
        let mut open = vec![start];
        self.push_known(&start, &mut open);
        if open.len() == 1 && !self.has_rows(&start) {
            return Err("it contains neither the start position nor one after a move".to_owned());
        }
        while let Some(position) = open.pop() {
            let rows = self.take_rows(&position);
            if rows.is_empty() {
                continue;
            }
            let moves: Vec<(Move, Counts)> = rows
                .iter()
                .filter_map(|row| Some((decode(row.mv, &position)?, weighed(row.weight))))
                .collect();
            if moves.is_empty() && position == start {
                return Err("none of its moves is legal in the start position".to_owned());
            }
            self.illegal += rows.len() - moves.len();
            self.pawns.insert(position.pawn_key());
            self.push_known(&position, &mut open);
            for &(mv, played) in &moves {
                let next = position.play(mv);
                self.lead_to(&next, played);
                self.push_known(&next, &mut open);
            }
            self.add(position.key(), moves);
        }
        let orphans: Vec<(u64, &[Row])> = self.rows.drain().collect();
        self.orphans = orphans.len();
        for (key, rows) in orphans {
            let moves = rows
                .iter()
                .filter_map(|row| Some((Move::from_polyglot(row.mv)?, weighed(row.weight))));
            let moves = moves.collect();
            self.add(key, moves);
        }
        Ok(())
    }

    /// Queues all book positions that are one legal move away. All legal moves are tried, not only
    /// those in the book, because a book may contain the moves of only one side.
    fn push_known(&self, position: &Position, open: &mut Vec<Position>) {
        let next = position.legal_moves();
        let next = next.iter().map(|mv| position.play(mv));
        open.extend(next.filter(|next| self.has_rows(next)));
    }

    fn has_rows(&self, position: &Position) -> bool {
        keys(position).any(|key| self.rows.contains_key(&key))
    }

    /// Removes and returns the rows for a position, whether they use Polyglot's key or Tabia's.
    fn take_rows(&mut self, position: &Position) -> Vec<Row> {
        let groups = keys(position).filter_map(|key| self.rows.remove(&key));
        groups.flatten().copied().collect()
    }

    /// Adds the moves in a position, summing the weights of duplicate moves. The number of games
    /// that reached the position is set to the sum over its moves.
    fn add(&mut self, key: u64, moves: Vec<(Move, Counts)>) {
        let reached = moves.iter().map(|&(_, played)| played).sum();
        let mut entry = BookEntry { key, reached, moves };
        // The position may already have an entry, made from rows with the other kind of key. Keep
        // the moves of that entry.
        if let Some(known) = self.entries.get(&key).filter(|known| !known.moves.is_empty()) {
            entry.reached += known.reached;
            entry.moves.extend_from_slice(&known.moves);
        }
        entry.join_moves();
        self.entries.insert(key, entry);
    }

    fn lead_to(&mut self, position: &Position, played: Counts) {
        self.pawns.insert(position.pawn_key());
        let key = position.key();
        let entry = self.entries.entry(key).or_insert(BookEntry { key, ..BookEntry::default() });
        if entry.moves.is_empty() {
            entry.reached += played;
        }
    }
}

fn keys(position: &Position) -> impl Iterator<Item = u64> + use<> {
    let (theirs, ours) = (position.polyglot_key(), position.key());
    [theirs].into_iter().chain((ours != theirs).then_some(ours))
}

fn weighed(weight: u16) -> Counts {
    Counts { undecided: weight.into(), ..Counts::default() }
}

/// The result of exporting a book to the Polyglot format: the file content, and the numbers of
/// skipped positions and moves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Export {
    /// The content of the file.
    pub bytes: Vec<u8>,
    /// Number of positions skipped because no sequence of book moves leads to them from the start
    /// position.
    pub out_of_reach: u64,
    /// Number of moves skipped because their weight is 0, usually because the side that played them
    /// lost every game.
    pub weightless: u64,
    /// Number of positions in which all weights were scaled down because one of them exceeded
    /// 65535.
    pub scaled: u64,
}

impl Export {
    /// Returns the number of moves in the file.
    pub fn moves(&self) -> u64 {
        (self.bytes.len() / ROW) as u64
    }
}

pub(super) fn export(book: &Book) -> Export {
    let mut export = Export::default();
    let mut rows = Vec::new();
    let keeps_all = book.holds_weights();
    let mut done = KeyMap::default();
    let reached = book.visit(&book.starts(), false, |position, entry| {
        let moves = entry.legal_moves(position);
        let moves = moves
            .map(|(mv, played)| (encode(mv, position), points(&played, position.side_to_move())));
        export.add(position.polyglot_key(), moves.collect(), keeps_all, &mut rows);
        if keeps_all {
            done.insert(entry.key, ());
        }
        ControlFlow::Continue(())
    });
    let left = book.positions().saturating_sub(reached);
    if keeps_all && left > 0 {
        // The import did not convert the moves of positions that it could not reach, so these moves
        // and their weights are written back unchanged.
        for entry in book.entries().filter(|entry| !done.contains_key(&entry.key)) {
            let weight = |played: &Counts| played.games();
            let moves = entry.moves.iter().map(|(mv, played)| (mv.to_polyglot(), weight(played)));
            export.add(entry.key, moves.collect(), true, &mut rows);
        }
    } else {
        export.out_of_reach = left;
    }
    rows.sort_unstable_by_key(|row| (row.key, std::cmp::Reverse(row.weight), row.mv));
    export.bytes = rows.iter().flat_map(|row| row.to_bytes()).collect();
    export
}

impl Export {
    fn add(&mut self, key: u64, moves: Vec<(u16, u64)>, keeps_all: bool, rows: &mut Vec<Row>) {
        const LIMIT: u64 = u16::MAX as u64;
        let largest = moves.iter().map(|&(_, points)| points).max().unwrap_or(0);
        self.scaled += u64::from(largest > LIMIT);
        for (mv, points) in moves {
            if points == 0 && !keeps_all {
                self.weightless += 1;
                continue;
            }
            let scaled = if largest > LIMIT { points * LIMIT / largest } else { points };
            // Scaling must not turn a positive weight into zero, because moves with weight 0 are
            // never played.
            let weight = scaled.max(points.min(1)) as u16;
            rows.push(Row { key, mv, weight });
        }
    }
}

fn points(played: &Counts, side: Color) -> u64 {
    2 * u64::from(played.wins(side)) + u64::from(played.draws) + u64::from(played.undecided)
}
