//! Parses patterns.

use std::fmt;
use std::str::FromStr;

use super::condition::{Class, Condition, MAX_COUNT, Material};
use super::placement::{COUNTED, EMPTY, KINDS, kind};
use crate::chess::position::{Color, Piece};
use crate::support::error::ParseError;

/// The largest value allowed in the terms `plies=` and `for=` of a pattern.
const MAX_PLIES: u32 = 10_000;
const TERMS: &str = "expected material (KRPPvKRP), a board of eight ranks (8/8/…), a square (d5=N), \
                     pawns=BOARD, turn=white, for=N, plies=A-B or mirror";

/// A pattern of pieces, pawns and material to search for in games. All of its terms must hold.
///
/// | term | condition |
/// | --- | --- |
/// | `KRPPvKRP` | exactly these pieces, White's first; `P2-4`, `P2+` and `P*` are ranges |
/// | `????????/…` | a board as in FEN, from rank 8; a rank given as `?` is arbitrary |
/// | `d5=N` | the content of one square |
/// | `pawns=BOARD` | exactly these pawns; other pieces on this board are ignored |
/// | `turn=white` | the side to move when the other conditions begin to hold |
/// | `for=N` | the other conditions hold in N consecutive positions |
/// | `plies=A-B` | the number of plies played before the first of these positions |
/// | `mirror` | the pattern with colours swapped also matches |
///
/// For the content of a square, a letter is a piece as in FEN, `.` is an empty square, `?` is
/// anything, `*` is any piece, `A` is any white piece, `a` is any black piece, `[QR.]` is one of
/// these, and `[^p]` is anything except this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    squares: [Class; 64],
    material: Option<Material>,
    turn: Option<Color>,
    /// The first and last ply at which a match may start (inclusive).
    pub(super) plies: (u32, u32),
    /// The number of consecutive positions that must match.
    pub(super) lasting: u32,
    is_mirrored: bool,
}

impl Pattern {
    /// Returns the condition and, if the pattern also matches with colours swapped and is not
    /// symmetric, the mirrored condition.
    pub(super) fn conditions(&self) -> Vec<Condition> {
        let Pattern { squares, material, turn, .. } = self;
        let mut conditions = vec![Condition::new(squares, material.as_ref(), *turn)];
        let mirrored = Condition::mirrored(squares, material.as_ref(), *turn);
        if self.is_mirrored && mirrored != conditions[0] {
            conditions.push(mirrored);
        }
        conditions
    }

    fn read_term(&mut self, term: &str) -> Result<(), ParseError> {
        match term.split_once('=') {
            None if term == "mirror" => self.is_mirrored = true,
            None if term.contains('/') => self.require(&board(term)?, term)?,
            None if term.contains('v') => self.material = Some(material(term)?),
            Some(("pawns", text)) => self.require(&pawns(text)?, term)?,
            Some(("turn", text)) => self.turn = Some(side(text)?),
            Some(("for", text)) => {
                let (least, most) = range(text)?;
                if least != most || least == 0 {
                    return Err(ParseError(format!("{term:?}: expected for=N, such as for=4")));
                }
                self.lasting = least;
            }
            Some(("plies", text)) => self.plies = range(text)?,
            Some((name, text)) => {
                let mut squares = [Class::ANY; 64];
                squares[square(name)?] = one_class(text)?;
                self.require(&squares, term)?;
            }
            None => return Err(ParseError(format!("{term:?} is no part of a pattern: {TERMS}"))),
        }
        Ok(())
    }

    fn require(&mut self, squares: &[Class; 64], term: &str) -> Result<(), ParseError> {
        for (own, other) in self.squares.iter_mut().zip(squares) {
            *own = own.and(*other);
            if *own == Class::NONE {
                return Err(ParseError(format!(
                    "{term:?} contradicts another part of the pattern"
                )));
            }
        }
        Ok(())
    }
}

impl FromStr for Pattern {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut pattern = Pattern {
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
            squares: [Class::ANY; 64],
            material: None,
            turn: None,
            plies: (0, MAX_PLIES),
            lasting: 1,
            is_mirrored: false,
        };
        text.split_whitespace().try_for_each(|term| pattern.read_term(term))?;
        match pattern.material.is_none() && pattern.squares == [Class::ANY; 64] {
            true => Err(ParseError(format!("the pattern {text:?} names no pieces: {TERMS}"))),
            false => Ok(pattern),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn side(text: &str) -> Result<Color, ParseError> {
    match text {
        "white" | "w" => Ok(Color::White),
        "black" | "b" => Ok(Color::Black),
        _ => Err(ParseError(format!("turn={text}: expected white or black"))),
    }
}

/// Parses `A`, `A-B` or `A+`.
fn range(text: &str) -> Result<(u32, u32), ParseError> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number <= MAX_PLIES);
    let read = match (text.strip_suffix('+'), text.split_once('-')) {
        (Some(least), _) => number(least).map(|least| (least, MAX_PLIES)),
        (_, Some((least, most))) => number(least).zip(number(most)),
        _ => number(text).map(|number| (number, number)),
    };
    read.filter(|(least, most)| least <= most).ok_or_else(|| {
        ParseError(format!("{text:?}: expected a number of plies up to {MAX_PLIES}, 20-40 or 20+"))
    })
}

fn square(text: &str) -> Result<usize, ParseError> {
    match *text.as_bytes() {
        [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => {
            Ok(usize::from(rank - b'1') * 8 + usize::from(file - b'a'))
        }
        _ => Err(ParseError(format!("{text:?} is not a square: {TERMS}"))),
    }
}

const LETTERS: [(char, Piece); 6] = [
    ('P', Piece::Pawn),
    ('N', Piece::Knight),
    ('B', Piece::Bishop),
    ('R', Piece::Rook),
    ('Q', Piece::Queen),
    ('K', Piece::King),
];

fn piece(letter: char) -> Option<Piece> {
    LETTERS.iter().find(|(known, _)| *known == letter).map(|&(_, piece)| piece)
}

/// Returns the square contents that a character stands for: a single piece, all pieces of a colour,
/// or a wider choice for a symbol such as `?`.
fn class_of(letter: char) -> Option<Class> {
    let all = |color| {
        let kinds = LETTERS.iter().map(|&(_, piece)| Class::of(kind(color, piece)));
        kinds.fold(Class::NONE, Class::with)
    };
    match letter {
        '.' => Some(Class::of(EMPTY)),
        '?' => Some(Class::ANY),
        '*' => Some(Class::of(EMPTY).complement()),
        'A' => Some(all(Color::White)),
        'a' => Some(all(Color::Black)),
        _ => {
            let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
            Some(Class::of(kind(color, piece(letter.to_ascii_uppercase())?)))
        }
    }
}

/// Parses the content of one square at the start of `text`: either a single character, or a set
/// such as `[Nb]`. Also returns the rest of `text`.
fn read_class(text: &str) -> Option<(Class, &str)> {
    let mut letters = text.chars();
    let Some(rest) = text.strip_prefix('[') else {
        let class = class_of(letters.next()?)?;
        return Some((class, letters.as_str()));
    };
    let (set, rest) = rest.split_once(']')?;
    let members = set.strip_prefix('^').unwrap_or(set);
    let classes = members.chars().map(class_of).collect::<Option<Vec<_>>>()?;
    let class = classes.into_iter().fold(Class::NONE, Class::with);
    let class = if set.starts_with('^') { class.complement() } else { class };
    (!members.is_empty() && class != Class::NONE).then_some((class, rest))
}

fn one_class(text: &str) -> Result<Class, ParseError> {
    let read = read_class(text).filter(|(_, rest)| rest.is_empty());
    read.map(|(class, _)| class).ok_or_else(|| {
        ParseError(format!("{text:?}: expected a piece, ., ?, *, A, a or a set such as [Nb]"))
    })
}

/// Parses a board, which consists of eight ranks from the eighth to the first.
fn board(text: &str) -> Result<[Class; 64], ParseError> {
    let ranks: Vec<&str> = text.split('/').collect();
    if ranks.len() != 8 {
        let number = ranks.len();
        return Err(ParseError(format!("{text:?} has {number} ranks: expected eight")));
    }
    let mut squares = [Class::ANY; 64];
    for (rank, line) in (1..=8_usize).rev().zip(ranks) {
        let classes = read_rank(line).ok_or_else(|| {
            ParseError(format!(
                "rank {rank} of the pattern, {line:?}: expected eight squares (pieces, digits for \
                 empty squares, ?, *, A, a or sets such as [Nb]) or ? alone"
            ))
        })?;
        squares[8 * (rank - 1)..8 * rank].copy_from_slice(&classes);
    }
    Ok(squares)
}

fn read_rank(line: &str) -> Option<[Class; 8]> {
    if line == "?" {
        return Some([Class::ANY; 8]);
    }
    let (mut classes, mut rest) = (Vec::new(), line);
    while let Some(letter) = rest.chars().next() {
        if let Some(empty) = letter.to_digit(10) {
            classes.extend((0..empty).map(|_| Class::of(EMPTY)));
            rest = &rest[1..];
        } else {
            let (class, after) = read_class(rest)?;
            classes.push(class);
            rest = after;
        }
    }
    classes.try_into().ok()
}

/// Parses a board and keeps only its pawns. Every other square may be empty or contain any piece
/// except a pawn.
fn pawns(text: &str) -> Result<[Class; 64], ParseError> {
    let of = [Color::White, Color::Black].map(|color| Class::of(kind(color, Piece::Pawn)));
    let no_pawn = of[0].with(of[1]).complement();
    Ok(board(text)?.map(|class| if of.contains(&class) { class } else { no_pawn }))
}

fn material(text: &str) -> Result<Material, ParseError> {
    let sides = text.split_once('v').map(|(white, black)| [white, black].map(side_material));
    let Some([Some(white), Some(black)]) = sides else {
        return Err(ParseError(format!(
            "{text:?}: expected the pieces of both sides, such as KRPPvKRP or KRP2-4vKRP*"
        )));
    };
    let both = white.into_iter().chain(black).collect::<Vec<_>>();
    both.try_into().map_err(|_| ParseError(format!("{text:?}: not material")))
}

/// Parses the material of one side: a K, then piece letters with optional counts.
fn side_material(text: &str) -> Option<[(u8, u8); COUNTED / 2]> {
    let mut numbers = [(0, 0); COUNTED / 2];
    let mut rest = text.strip_prefix('K')?;
    while let Some(letter) = rest.chars().next() {
        let place = piece(letter)?.to_index();
        let end = rest[1..].find(|sign: char| sign.is_ascii_alphabetic());
        let (bounds, after) = rest[1..].split_at(end.unwrap_or(rest.len() - 1));
        let (least, most) = bounds_of(bounds)?;
        let (low, high): &mut (u8, u8) = numbers.get_mut(place)?;
        *low = low.checked_add(least).filter(|&low| low <= MAX_COUNT)?;
        *high = high.saturating_add(most).min(MAX_COUNT);
        rest = after;
    }
    Some(numbers)
}

/// Parses the count after a piece letter: `2`, `2-4`, `2+`, `*` (any number) or nothing (exactly
/// 1).
fn bounds_of(text: &str) -> Option<(u8, u8)> {
    let number = |text: &str| text.parse::<u8>().ok().filter(|&number| number <= MAX_COUNT);
    let bounds = match (text.strip_suffix('+'), text.split_once('-')) {
        _ if text.is_empty() => (1, 1),
        _ if text == "*" => (0, MAX_COUNT),
        (Some(least), _) => (number(least)?, MAX_COUNT),
        (_, Some((least, most))) => (number(least)?, number(most)?),
        _ => (number(text)?, number(text)?),
    };
    (bounds.0 <= bounds.1).then_some(bounds)
}

const _: () = assert!(KINDS == 1 + 2 * LETTERS.len());

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chess::position::Position;
    use crate::games::book::pattern::placement::Placement;

    fn holds(pattern: &str, fen: &str) -> bool {
        let pattern: Pattern = pattern.parse().expect(pattern);
        let placement = Placement::of(&Position::from_fen(fen).expect(fen));
        pattern.conditions().iter().any(|condition| condition.holds(&placement))
    }

    #[test]
    fn material_is_exact_or_a_range() {
        let fen = "8/5k2/p3r3/8/8/1P3K2/P7/4R3 w - - 0 1";
        for pattern in ["KRPPvKRP", "KRP2vKRP1", "KRP1-3vKR1+P*", "KPRPvKPR", "KPRPKvK"] {
            let read = pattern.parse::<Pattern>();
            assert_eq!(read.is_ok_and(|_| holds(pattern, fen)), pattern != "KPRPKvK", "{pattern}");
        }
        for pattern in ["KRPvKRPP", "KRPPvKR", "KRP3+vKRP", "KQ*RPPvKR2+P", "KRPPPvKRP"] {
            assert!(!holds(pattern, fen), "{pattern}");
        }
        assert!(holds("KRPvKRPP mirror", fen));
        assert!(!holds("KRPvKRPPP mirror", fen));
    }

    #[test]
    fn board_has_wildcards_and_classes() {
        let fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3";
        for pattern in [
            "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R",
            "?/?/??[nb]?????/?/?/?/?/?",
            "????k???/?/?/????*???/????A???/?/????.???/?",
            "e5=a e4=[Pp] c6=[^N] f3=N e2=.",
            "pawns=8/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/8",
            "pawns=rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR d1=Q",
        ] {
            assert!(holds(pattern, fen), "{pattern}");
        }
        for pattern in [
            "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/8/PPPP1PPP/RNBQKBNR",
            "c6=[^n]",
            "f3=n",
            "e4=.",
            "pawns=8/pppp1ppp/8/4p3/8/8/PPPP1PPP/8",
            "pawns=8/pppp1ppp/8/4p3/4P3/P7/PPPP1PPP/8",
        ] {
            assert!(!holds(pattern, fen), "{pattern}");
        }
        // The same position with colours swapped.
        let fen = "rnbqkb1r/pppp1ppp/5n2/4p3/4P3/2N5/PPPP1PPP/R1BQKBNR b KQkq - 2 3";
        assert!(!holds("f3=N c6=n", fen) && holds("f3=N c6=n mirror", fen));
    }

    #[test]
    fn conditions_on_time_are_read() {
        let pattern: Pattern = "KRvK  turn=b for=4 plies=20+".parse().expect("a pattern");
        assert_eq!((pattern.lasting, pattern.plies), (4, (20, MAX_PLIES)));
        assert_eq!(pattern.conditions()[0].turn, Some(Color::Black));
        assert_eq!(pattern.to_string(), "KRvK turn=b for=4 plies=20+");
        let pattern: Pattern = "KRvK plies=7 mirror turn=w".parse().expect("a pattern");
        let turns: Vec<_> = pattern.conditions().iter().map(|condition| condition.turn).collect();
        assert_eq!((pattern.plies, turns), ((7, 7), vec![Some(Color::White), Some(Color::Black)]));
        // A symmetric pattern is not searched for twice.
        let symmetric: Pattern = "KRvKR mirror".parse().expect("a pattern");
        assert_eq!(symmetric.conditions().len(), 1);
    }

    #[test]
    fn error_names_the_wrong_part() {
        for (text, named) in [
            ("", "names no pieces"),
            ("turn=white", "names no pieces"),
            ("?/?/?/?/?/?/?/?", "names no pieces"),
            ("KRP", "\"KRP\" is no part"),
            ("KRvQ", "\"KRvQ\": expected the pieces"),
            ("KP3-2vK", "expected the pieces"),
            ("KP99vK", "expected the pieces"),
            ("8/8/8", "3 ranks"),
            ("8/8/8/8/8/8/8/7", "rank 1"),
            ("8/8/8/8/8/[Q/8/8", "rank 3"),
            ("d9=N", "\"d9\" is not a square"),
            ("d5=NN", "\"NN\""),
            ("d5=[]", "\"[]\""),
            ("d5=N d5=.", "\"d5=.\" contradicts"),
            ("KvK for=0", "for=N"),
            ("KvK plies=9-3", "20-40"),
            ("KvK turn=red", "white or black"),
        ] {
            let error = text.parse::<Pattern>().expect_err(text).to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in "[KQRBNPkqp0-9v?.*/=\\[\\]^+ a-hü-]{0,60}") {
            let _ = text.parse::<Pattern>();
        }
    }
}
