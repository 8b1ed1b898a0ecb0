//! Parses unambiguous move spellings that are not standard SAN: `Ng1-f3`, `e7-e5`, `g1f3`, `a8Q`,
//! `a8(Q)`, `dc6`, `exd6e.p.`, `0-0`.

use chess::{File, Piece, Rank, Square};
use shakmaty::CastlingSide;
use shakmaty::san::San;

use super::{Move, Replay, SanError};

/// A move in loose notation, parsed without knowledge of the position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loose {
    Castling(CastlingSide),
    Plain {
        /// The moving piece. `None` means the piece on the origin square if that square is fully
        /// specified, and a pawn otherwise.
        piece: Option<Piece>,
        file: Option<File>,
        rank: Option<Rank>,
        to: Square,
        promotion: Option<Piece>,
    },
}

pub(crate) fn is_loose_san(text: &[u8]) -> bool {
    read(text).is_some()
}

impl Replay {
    pub(crate) fn resolve_loosely(&self, text: &[u8]) -> Result<Move, SanError> {
        match read(text).ok_or(SanError::Malformed)? {
            Loose::Castling(side) => self.resolve_san(San::Castle(side)),
            Loose::Plain { piece, file, rank, to, promotion } => {
                let origin = file.zip(rank).map(|(file, rank)| Square::make_square(rank, file));
                let standing = origin.and_then(|square| self.piece_on(square));
                let piece = piece.or(standing).unwrap_or(Piece::Pawn);
                if let (Piece::King, Some(side)) =
                    (piece, origin.and_then(|from| castling(from, to)))
                {
                    return self.resolve_san(San::Castle(side));
                }
                let is_pawn = piece == Piece::Pawn;
                // If a pawn move has no origin file, the pawn is assumed to stay on its file.
                let file = file.or(is_pawn.then(|| to.get_file()));
                self.resolve_san(San::Normal {
                    role: shakmaty::Role::ALL[piece.to_index()],
                    file: file.map(|file| shakmaty::File::ALL[file.to_index()]),
                    rank: rank.map(|rank| shakmaty::Rank::ALL[rank.to_index()]),
                    capture: is_pawn && file != Some(to.get_file()),
                    to: shakmaty::Square::ALL[to.to_index()],
                    promotion: promotion.map(|piece| shakmaty::Role::ALL[piece.to_index()]),
                })
            }
        }
    }
}

fn castling(from: Square, to: Square) -> Option<CastlingSide> {
    if from.get_file() != File::E || from.get_rank() != to.get_rank() {
        return None;
    }
    match to.get_file() {
        File::G => Some(CastlingSide::KingSide),
        File::C => Some(CastlingSide::QueenSide),
        _ => None,
    }
}

fn read(text: &[u8]) -> Option<Loose> {
    let text = without_suffixes(text);
    let mut core = [0; 8];
    let mut length = 0;
    // Skip separators and the symbols for captures and promotions. They are redundant, because the
    // remaining letters determine the move in a given position.
    for &byte in text.iter().filter(|byte| !b"x:-=/()".contains(byte)) {
        *core.get_mut(length)? = byte;
        length += 1;
    }
    let core = &core[..length];
    match core {
        b"OO" | b"00" | b"oo" => return Some(Loose::Castling(CastlingSide::KingSide)),
        b"OOO" | b"000" | b"ooo" => return Some(Loose::Castling(CastlingSide::QueenSide)),
        _ => {}
    }
    let (piece, core) = match core.split_first()? {
        (b'P', rest) => (Some(Piece::Pawn), rest),
        (letter, rest) if letter.is_ascii_uppercase() => (Some(piece_of(*letter)?), rest),
        _ => (None, core),
    };
    let (promotion, core) = match core {
        [before @ .., b'1' | b'8', letter] if letter.is_ascii_alphabetic() => {
            let promotion = piece_of(letter.to_ascii_uppercase())?;
            (Some(promotion), &core[..before.len() + 1])
        }
        _ => (None, core),
    };
    let (origin, to) = core.split_at_checked(core.len().checked_sub(2)?)?;
    let to = Square::make_square(rank_of(to[1])?, file_of(to[0])?);
    let (file, rank) = match origin {
        [] => (None, None),
        [sign] => (file_of(*sign), rank_of(*sign)),
        [first, second] => (Some(file_of(*first)?), Some(rank_of(*second)?)),
        _ => return None,
    };
    if origin.len() == 1 && file.is_none() && rank.is_none() {
        return None;
    }
    Some(Loose::Plain { piece, file, rank, to, promotion })
}

fn without_suffixes(text: &[u8]) -> &[u8] {
    let mut text = text;
    loop {
        let shorter = [&b"e.p."[..], b"e.p", b"ep", b"+", b"#", b"!", b"?", b"=", b"-", b"/", b":"]
            .iter()
            .find_map(|suffix| text.strip_suffix(*suffix));
        match shorter {
            Some(shorter) => text = shorter,
            None => return text,
        }
    }
}

fn piece_of(letter: u8) -> Option<Piece> {
    Some(match letter {
        b'N' => Piece::Knight,
        b'B' => Piece::Bishop,
        b'R' => Piece::Rook,
        b'Q' => Piece::Queen,
        b'K' => Piece::King,
        _ => return None,
    })
}

fn file_of(sign: u8) -> Option<File> {
    (b'a'..=b'h').contains(&sign).then(|| File::from_index(usize::from(sign - b'a')))
}

fn rank_of(sign: u8) -> Option<Rank> {
    (b'1'..=b'8').contains(&sign).then(|| Rank::from_index(usize::from(sign - b'1')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Position;

    fn resolve(fen: &str, text: &str) -> Result<String, SanError> {
        let position = Position::from_fen(fen).expect(fen);
        Replay::from(&position).resolve_loosely(text.as_bytes()).map(|mv| mv.to_string())
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const PASSING: &str = "rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3";
    const CASTLING: &str = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    const PROMOTING: &str = "1n5k/P7/8/8/8/8/8/4K3 w - - 0 1";

    #[test]
    fn unambiguous_loose_notation_is_accepted() {
        for (fen, text, mv) in [
            (START, "Ng1-f3", "g1f3"),
            (START, "Ng1f3", "g1f3"),
            (START, "g1-f3", "g1f3"),
            (START, "e2-e4!", "e2e4"),
            (START, "Pe4", "e2e4"),
            (PASSING, "ed6", "e5d6"),
            (PASSING, "exd6e.p.", "e5d6"),
            (PASSING, "e5xd6ep", "e5d6"),
            (PASSING, "e5:d6", "e5d6"),
            (CASTLING, "0-0", "e1g1"),
            (CASTLING, "o-o-o", "e1c1"),
            (CASTLING, "OO", "e1g1"),
            (CASTLING, "e1c1", "e1c1"),
            (CASTLING, "Ke1-g1", "e1g1"),
            (CASTLING, "Ra1:a8+", "a1a8"),
            (PROMOTING, "a8Q", "a7a8q"),
            (PROMOTING, "a7-a8(N)", "a7a8n"),
            (PROMOTING, "ab8=r+", "a7b8r"),
            (PROMOTING, "a8/B", "a7a8b"),
        ] {
            assert_eq!(resolve(fen, text), Ok(mv.to_owned()), "{text}");
        }
    }

    #[test]
    fn ambiguous_or_malformed_notation_is_rejected() {
        for (fen, text, error) in [
            (START, "Sf3", SanError::Malformed),
            (START, "nf3", SanError::Malformed),
            (START, "f3e", SanError::Malformed),
            (START, "2-1", SanError::Malformed),
            (START, "", SanError::Malformed),
            (START, "Ng1-f3-g5", SanError::Malformed),
            (START, "Ng1-e3", SanError::Illegal),
            (START, "e2-e5", SanError::Illegal),
            (PASSING, "d6", SanError::Illegal),
            (PROMOTING, "a8", SanError::Illegal),
            (PROMOTING, "a8K", SanError::Illegal),
            (CASTLING, "e1e2c1", SanError::Malformed),
        ] {
            assert_eq!(resolve(fen, text), Err(error), "{text}");
        }
        let two = "6k1/8/8/8/8/8/4K3/R6R w - - 0 1";
        assert_eq!(resolve(two, "R-d1"), Err(SanError::Ambiguous));
    }
}
