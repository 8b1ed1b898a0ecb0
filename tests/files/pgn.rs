//! Tests that Tabia and an independent reader based on `shakmaty` read real and malformed PGN
//! alike.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::support::shared_data;
use pgn_reader::{RawTag, SanPlus};
use shakmaty::fen::Fen;
use shakmaty::san::San;
use shakmaty::{CastlingMode, Chess, Outcome, Position as _, Role};
use tabia::pgn::{GameEnd, GamePly, GameStatus, Reader, Tags, Visitor};
use tabia::position::Position;

#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    games: u64,
    broken: u64,
    variants: u64,
    text: u64,
    plies: u64,
}

struct All;

impl Visitor for All {
    fn begin(&mut self, _: &Tags, _: &Position) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn played(&mut self, _: &GamePly) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn end(&mut self, _: &GameEnd) {}
}

fn read_with_tabia(bytes: &[u8]) -> Found {
    let mut reader = Reader::new(bytes);
    let mut found = Found::default();
    while let Some(end) = reader.read_game(&mut All).expect("memory can be read") {
        found.plies += end.plies as u64;
        match end.status {
            GameStatus::Read | GameStatus::Declined => found.games += 1,
            GameStatus::Broken(_) => found.broken += 1,
            GameStatus::Variant => found.variants += 1,
            GameStatus::Text => found.text += 1,
        }
    }
    found
}

/// The independent reader (the "second reader"): `shakmaty` plays the moves, and the tags are
/// interpreted here.
#[derive(Default)]
struct Second {
    tagged: bool,
    variant: Option<String>,
    fen: Option<String>,
    position: Chess,
    plies: u64,
    /// The number of accepted piece moves with a missing or superfluous capture sign.
    toggled: u64,
}

enum Fact {
    Whole,
    Broken,
    Variant,
    Text,
}

impl pgn_reader::Visitor for Second {
    type Tags = ();
    type Movetext = ();
    type Output = Fact;

    fn begin_tags(&mut self) -> ControlFlow<Fact> {
        *self = Second { plies: self.plies, toggled: self.toggled, ..Second::default() };
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<Fact> {
        self.tagged = true;
        let value = value.decode_utf8_lossy().into_owned();
        match name {
            b"Variant" if self.variant.is_none() => self.variant = Some(value.to_lowercase()),
            b"FEN" if self.fen.is_none() => self.fen = Some(value),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<Fact> {
        if !self.tagged {
            return ControlFlow::Break(Fact::Text);
        }
        let orthodox = ["standard", "chess", "normal", "from position", "orthodox", "regular"];
        if self.variant.as_deref().is_some_and(|variant| !orthodox.contains(&variant.trim())) {
            return ControlFlow::Break(Fact::Variant);
        }
        let Some(fen) = &self.fen else { return ControlFlow::Continue(()) };
        let Ok(fen) = fen.parse::<Fen>() else { return ControlFlow::Break(Fact::Broken) };
        match fen.clone().into_position(CastlingMode::Standard) {
            Ok(position) => self.position = position,
            Err(_) if fen.into_position::<Chess>(CastlingMode::Chess960).is_ok() => {
                return ControlFlow::Break(Fact::Variant);
            }
            Err(_) => return ControlFlow::Break(Fact::Broken),
        }
        ControlFlow::Continue(())
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<Fact> {
        if san.san == San::Null {
            let Ok(passed) = self.position.clone().swap_turn() else {
                return ControlFlow::Break(Fact::Broken);
            };
            self.position = passed;
            self.plies += 1;
            return ControlFlow::Continue(());
        }
        let strict = san.san.to_move(&self.position);
        self.toggled += u64::from(strict.is_err());
        match strict.or_else(|_| with_capture_toggled(&san.san).to_move(&self.position)) {
            Ok(mv) => self.position.play_unchecked(mv),
            Err(_) => {
                self.toggled -= 1;
                return ControlFlow::Break(Fact::Broken);
            }
        }
        self.plies += 1;
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, (): &mut (), _: Outcome) -> ControlFlow<Fact> {
        ControlFlow::Break(Fact::Whole)
    }

    fn end_game(&mut self, (): ()) -> Fact {
        Fact::Whole
    }
}

/// Adds the capture sign to a piece move or removes it, because Tabia accepts moves with and
/// without it.
fn with_capture_toggled(san: &San) -> San {
    match *san {
        San::Normal { role, file, rank, capture, to, promotion } if role != Role::Pawn => {
            San::Normal { role, file, rank, capture: !capture, to, promotion }
        }
        other => other,
    }
}

/// Reads games with the second reader. Also returns how many moves were legal only after
/// [`with_capture_toggled`].
fn read_with_shakmaty(bytes: &[u8]) -> (Found, u64) {
    let mut reader =
        pgn_reader::Reader::build(bytes).set_supported_tag_line_length(8 << 10).finish();
    let mut second = Second::default();
    let mut found = Found::default();
    loop {
        match reader.read_game(&mut second) {
            Ok(None) => break,
            Ok(Some(Fact::Whole)) => found.games += 1,
            Ok(Some(Fact::Broken)) | Err(_) => found.broken += 1,
            Ok(Some(Fact::Variant)) => found.variants += 1,
            Ok(Some(Fact::Text)) => found.text += 1,
        }
    }
    found.plies = second.plies;
    (found, second.toggled)
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// The files whose contents the second reader interprets differently from Tabia, with the reasons.
const DIFFERENT: [&str; 37] = [
    // The second reader ends a game at an empty line after a comment before the first move.
    "barnes-horton.pgn",
    "test-C.pgn",
    "test-F-text.pgn",
    "test-F.pgn",
    "test-L2.pgn",
    "test-N.pgn",
    "test-R.pgn",
    "test-Ta.pgn",
    "test-V.pgn",
    "test-W.pgn",
    "test-addhashcode.pgn",
    "test-checkmate.pgn",
    "test-f1.pgn",
    "test-fencomments.pgn",
    "test-nochecks.pgn",
    "test-nomovenumbers.pgn",
    "test-noresults.pgn",
    "test-notags.pgn",
    "test-plycount.pgn",
    "test-plylimit.pgn",
    "test-stalemate.pgn",
    "test-totalplycount.pgn",
    "test-ucW.pgn",
    "test-w.pgn",
    // The second reader also ends games at empty lines elsewhere. At the end of a file, this gives
    // an additional empty game.
    "chessdoctor.pgn",
    "mate_in_3.pgn",
    "perle.pgn",
    "scca.pgn",
    // Games without tags.
    "nested-comment.pgn",
    "test-fuzzydepth.pgn",
    "test-nagcomments.pgn",
    // Moves in coordinate notation instead of SAN. The second reader skips them.
    "test-promotion-in.pgn",
    "uci-moves.pgn",
    // Games with tags but no movetext, directly followed by the tags of the next game.
    "empty_body.pgn",
    // The word `Kx`, which is not a move.
    "corrupted.pgn",
    // Quotation marks within tags.
    "unescaped_quote_header.pgn",
    // An unclosed brace, which makes the second reader skip two games.
    "europe_echecs.pgn",
];

#[test]
fn dirty_files_are_read_like_a_second_reader() {
    let mut files = Vec::new();
    for folder in ["pgn/dirty", "pgn/annotated", "pgn/frc_fen", "pgn/small"] {
        let Some(folder) = shared_data(folder) else { return };
        files_below(&folder, &mut files);
    }
    let (mut total, mut toggled) = (Found::default(), 0);
    let mut different = Vec::new();
    for file in &files {
        let bytes = std::fs::read(file).expect("readable");
        let (found, (expected, moves)) = (read_with_tabia(&bytes), read_with_shakmaty(&bytes));
        if found != expected {
            let name = file.file_name().expect("a file").to_string_lossy();
            different.push(name.into_owned());
        }
        total.games += found.games;
        total.broken += found.broken;
        total.variants += found.variants;
        total.text += found.text;
        total.plies += found.plies;
        toggled += moves;
    }
    different.sort();
    let mut known = DIFFERENT.map(str::to_owned).to_vec();
    known.sort();
    assert_eq!(different, known);
    let expected = Found { games: 4_798, broken: 10, variants: 145, text: 1, plies: 323_546 };
    assert_eq!((files.len(), total, toggled), (123, expected, 11));
}

#[test]
fn fault_ends_one_game_and_reports_its_place() {
    let text = "\u{feff}% a comment\n[Event \"1\"]\n[Result \"1-0\"]\n\n1. e4 e5\n2. Ke3 Nf6 1-0\n\n\
                [Event \"2\"]\r\n[Result \"0-1\"]\r\n\r\n1. d4 {a {nested} (1. c4 (1. f4)) $1 d5 0-1\r\n\r\n\
                [Event \"3\"]\n[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n\n1. e4 *\n\n1. e4 e5 *\n\n\
                [Event \"4\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n";
    let mut reader = Reader::new(text.as_bytes());
    let mut ends = Vec::new();
    while let Some(end) = reader.read_game(&mut All).expect("memory can be read") {
        ends.push(end);
    }
    let GameStatus::Broken(fault) = &ends[0].status else { panic!("{:?}", ends[0]) };
    assert_eq!((fault.line, fault.san.as_deref(), ends[0].plies), (6, Some("Ke3"), 2));
    assert_eq!((&ends[1].status, ends[1].plies), (&GameStatus::Read, 2));
    assert!(
        matches!(&ends[2].status, GameStatus::Broken(fault) if fault.to_string().contains("invalid FEN"))
    );
    assert_eq!((&ends[3].status, ends[3].plies), (&GameStatus::Read, 2));
    assert_eq!(&ends[4].status, &GameStatus::Variant);
    assert_eq!(ends.len(), 5);
}
