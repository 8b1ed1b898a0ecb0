//! Books of the Polyglot program, in and out.
//!
//! Sixteen bytes a move, big-endian: key of the position, move, weight, learning data (unused
//! here); sorted by key. Castling is written as the king taking its own rook. A weight of 0 means
//! "never play". Rows with key 0 are a header. Source: <http://hgm.nubati.net/book_format.html>.

use std::collections::BTreeMap;
use std::io::Cursor;

use super::pawn_filter::PawnSet;
use super::writer::write_book;
use super::{Book, BookError, Counts, Entry, Manifest};
use crate::position::{Color, KeyMap, Move, Position, Square};

const ROW: usize = 16;

/// A row of a Polyglot book.
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

/// Where the king and the rook that Polyglot lets him take stand, and where the king really goes.
const CASTLINGS: [(Square, Square, Square); 4] = [
    (Square::E1, Square::H1, Square::G1),
    (Square::E1, Square::A1, Square::C1),
    (Square::E8, Square::H8, Square::G8),
    (Square::E8, Square::A8, Square::C8),
];

/// The move that a row means in its position, if it is legal there.
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

/// Castling as Polyglot writes it, for the king's own move.
pub(super) fn castling(mv: Move) -> Option<Move> {
    let castling = CASTLINGS.iter().find(|(king, _, to)| (mv.from(), mv.to()) == (*king, *to));
    castling.map(|&(king, rook, _)| Move::new(king, rook))
}

fn encode(mv: Move, position: &Position) -> u16 {
    let castling = if position.is_castling(mv) { castling(mv) } else { None };
    castling.unwrap_or(mv).to_polyglot()
}

/// The rows of a file, or what gives it away.
fn rows(bytes: &[u8]) -> Result<Vec<Row>, String> {
    let (whole, rest) = bytes.as_chunks::<ROW>();
    if whole.is_empty() || !rest.is_empty() {
        return Err(format!("its {} bytes are no whole number of {ROW}-byte rows", bytes.len()));
    }
    let all = whole.iter().map(Row::parse);
    let rows: Vec<Row> = all.skip_while(|row| row.key == 0).collect();
    if !rows.is_sorted_by_key(|row| row.key) {
        return Err("its rows are not sorted by key".to_owned());
    }
    match rows.iter().position(|row| Move::from_polyglot(row.mv).is_none()) {
        Some(row) => Err(format!("row {} holds no move", row + 1)),
        None => Ok(rows),
    }
}

/// Makes a book of the bytes of a Polyglot book. A weight stands as so many games without a
/// result; the positions after the last moves are added with the games that led there.
///
/// # Errors
/// If the bytes are no such book: of a wrong size, unsorted, without moves, with moves that are
/// illegal in the start position, or without moves for it and all positions after the first move.
pub(super) fn import(bytes: &[u8], name: &str) -> Result<Book, BookError> {
    let refuse = |reason| BookError::Polyglot { name: name.to_owned(), reason };
    let rows = rows(bytes).map_err(refuse)?;
    let mut import = Import::new(&rows);
    import.walk().map_err(refuse)?;
    let pawns = if import.orphans == 0 { &import.pawns } else { &PawnSet::everything() };
    let manifest = Manifest {
        made_from: format!(
            "a Polyglot book of {} rows, {} positions of it out of reach from the start",
            rows.len(),
            import.orphans
        ),
        ..Manifest::of_this_program()
    };
    let output = Cursor::new(Vec::new());
    let bytes = write_book(output, import.entries.into_values(), pawns, &manifest)
        .map_err(|error| BookError::writing(name, &error))?;
    Book::from_bytes(bytes.into_inner(), name)
}

/// A Polyglot book on its way into entries. Only a position tells what its rows mean, so the book
/// is walked from the start position.
struct Import<'a> {
    rows: KeyMap<&'a [Row]>,
    entries: BTreeMap<u64, Entry>,
    pawns: PawnSet,
    /// Positions that no way leads to. Their moves are taken as they are.
    orphans: usize,
}

impl<'a> Import<'a> {
    fn new(rows: &'a [Row]) -> Self {
        let by_key = rows.chunk_by(|a, b| a.key == b.key).map(|group| (group[0].key, group));
        Import {
            rows: by_key.collect(),
            entries: BTreeMap::new(),
            pawns: PawnSet::new(),
            orphans: 0,
        }
    }

    fn walk(&mut self) -> Result<(), String> {
        let start = Position::start();
        let mut open = vec![start];
        self.push_known(&start, &mut open);
        if open.len() == 1 && !self.rows.contains_key(&start.key()) {
            return Err("it does not know the start position, nor one after a move".to_owned());
        }
        while let Some(position) = open.pop() {
            let Some(rows) = self.rows.remove(&position.key()) else { continue };
            let moves: Vec<(Move, Counts)> = rows
                .iter()
                .filter_map(|row| Some((decode(row.mv, &position)?, weighed(row.weight))))
                .collect();
            if moves.is_empty() && position == start {
                return Err("none of its moves is legal in the start position".to_owned());
            }
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

    /// Lines up the positions of the book that a legal move leads to. Any move counts, since books
    /// may hold the moves of one side only.
    fn push_known(&self, position: &Position, open: &mut Vec<Position>) {
        let next = position.legal_moves();
        let next = next.iter().map(|mv| position.play(mv));
        open.extend(next.filter(|next| self.rows.contains_key(&next.key())));
    }

    /// Takes down the moves of a position. As many games reached it as left it.
    fn add(&mut self, key: u64, mut moves: Vec<(Move, Counts)>) {
        moves.sort_unstable_by_key(|&(mv, _)| mv);
        moves.dedup_by_key(|&mut (mv, _)| mv);
        let reached = moves.iter().map(|&(_, played)| played).sum();
        self.entries.insert(key, Entry { key, reached, moves });
    }

    /// A move leads to a position, which is in the book by that alone.
    fn lead_to(&mut self, position: &Position, played: Counts) {
        self.pawns.insert(position.pawn_key());
        let key = position.key();
        let entry = self.entries.entry(key).or_insert(Entry { key, ..Entry::default() });
        if entry.moves.is_empty() {
            entry.reached += played;
        }
    }
}

fn weighed(weight: u16) -> Counts {
    Counts { undecided: weight.into(), ..Counts::default() }
}

impl Book {
    /// The book as bytes of a Polyglot book, and the number of its positions that are not in it
    /// because no moves of the book lead to them from the start position.
    ///
    /// As in Polyglot's own books, a move weighs two for a win of the side that played it, one for
    /// a draw, and also one for a game without a result; the weights of a position are scaled down
    /// if one does not fit. Moves of no weight are left out.
    pub fn to_polyglot(&self) -> (Vec<u8>, u64) {
        let mut rows = Vec::new();
        let mut reached = 0;
        for visited in self.walk(&Position::start(), u32::MAX) {
            reached += 1;
            let side = visited.position.side_to_move();
            let moves: Vec<(Move, u64)> = self
                .legal_moves_of(&visited.entry, &visited.position)
                .map(|(mv, played)| (mv, points(&played, side)))
                .collect();
            let largest = moves.iter().map(|&(_, points)| points).max().unwrap_or(0);
            let limit = u64::from(u16::MAX);
            for (mv, points) in moves {
                let weight = if largest > limit { points * limit / largest } else { points };
                let mv = encode(mv, &visited.position);
                rows.push(Row { key: visited.position.key(), mv, weight: weight as u16 });
            }
        }
        rows.retain(|row| row.weight > 0);
        rows.sort_unstable_by_key(|row| (row.key, std::cmp::Reverse(row.weight), row.mv));
        let bytes = rows.iter().flat_map(|row| row.to_bytes()).collect();
        (bytes, self.positions().saturating_sub(reached))
    }
}

/// Half points of a side.
fn points(played: &Counts, side: Color) -> u64 {
    2 * u64::from(played.wins(side)) + u64::from(played.draws) + u64::from(played.undecided)
}
