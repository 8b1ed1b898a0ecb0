//! Turns arbitrary bytes into PGN games with comments, glyphs and variations. Tabia and
//! `pgn-reader` must read the main lines unchanged. The text contains each game several times,
//! because a reader caches openings that it sees often.
//!
//! An input is a list of games. Each byte is the index of a legal move, or a mark followed by its
//! operands (see `mark`).

#![no_main]

use std::fmt::Write as _;
use std::ops::ControlFlow;

use pgn_reader::{RawTag, SanPlus, Skip, Visitor};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Position as _};
use tabia::pgn::{GameResult, PgnGame, read_games};
use tabia::position::Position;
use tabia_fuzz::{fuzz_target, seed, uci};

/// Bytes greater than or equal to this value are marks.
const MARKS: u8 = 240;
/// The number of copies of each game in the text. It is large enough that a reader caches the
/// game's opening.
const TIMES: usize = 12;
/// The maximum number of games, and of plies per game.
const MAX_GAMES: usize = 12;
const MAX_PLIES: usize = 300;

const STARTS: [&str; 4] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "1n1rk3/P1P1P3/8/b7/8/8/p1p1p3/1N1RK3 w - - 0 30",
    "7k/8/8/8/2Q1Q3/8/2Q1Q3/K7 w - - 0 1",
];
const RESULTS: [GameResult; 4] =
    [GameResult::White, GameResult::Black, GameResult::Draw, GameResult::Undecided];

/// What a reader must return for a written game.
#[derive(Debug, Default, PartialEq, Eq)]
struct Expected {
    moves: Vec<String>,
    nags: Vec<Vec<u8>>,
    result: String,
}

struct Writer<'a> {
    bytes: &'a [u8],
    text: String,
    /// Whether the text ends with a move.
    after_move: bool,
}

impl Writer<'_> {
    fn next(&mut self) -> Option<u8> {
        self.bytes.split_off_first().copied()
    }

    /// Returns a word without characters that have a special meaning in comments.
    fn word(&mut self) -> String {
        let length = self.next().unwrap_or_default() % 12;
        let letters = (0..length).filter_map(|_| self.next());
        letters
            .map(|byte| char::from(b' ' + byte % 95))
            .filter(|sign| !"{}%".contains(*sign))
            .collect()
    }

    /// Writes a variation consisting of plausible tokens. Readers must skip the variation.
    fn variation(&mut self, depth: usize) {
        const WORDS: [&str; 10] =
            ["e4", "1...", "Nf3!?", "$3", "O-O-O+", "{a ) b}", "--", "exd8=Q#", "12.", "1-0"];
        self.text.push_str(" (");
        for _ in 0..self.next().unwrap_or_default() % 6 {
            match usize::from(self.next().unwrap_or_default()) {
                byte if byte >= usize::from(MARKS) && depth < 4 => self.variation(depth + 1),
                byte => {
                    let _ = write!(self.text, " {}", WORDS[byte % WORDS.len()]);
                }
            }
        }
        self.text.push_str(" )");
    }

    /// Writes the PGN element that a mark stands for. If the mark ends the game, returns the
    /// result.
    fn mark(&mut self, mark: u8, game: &mut Expected) -> Option<GameResult> {
        let follows_move = !game.moves.is_empty();
        let after_move = std::mem::take(&mut self.after_move);
        match mark - MARKS {
            0 => {
                let word = self.word();
                let _ = write!(self.text, " {{{word}}}");
            }
            1 if follows_move => {
                let nag = self.next().unwrap_or_default();
                let _ = write!(self.text, " ${nag}");
                game.nags.last_mut().expect("a move").push(nag);
            }
            2 if follows_move => self.variation(0),
            // An empty line would end the game for `pgn-reader`.
            3 if !self.text.trim_end_matches([' ', '\t']).ends_with('\n') => self.text.push('\n'),
            4 => {
                let number = self.next().unwrap_or_default();
                let _ = write!(self.text, " {number}.");
            }
            5 => {
                let number = self.next().unwrap_or_default();
                let _ = write!(self.text, " {number}...");
            }
            6 => self.text.push('\t'),
            7 if after_move => {
                const SIGNS: [(&str, u8); 6] =
                    [("!", 1), ("?", 2), ("!!", 3), ("??", 4), ("!?", 5), ("?!", 6)];
                let (sign, nag) = SIGNS[usize::from(self.next().unwrap_or_default()) % 6];
                self.text.push_str(sign);
                game.nags.last_mut().expect("a move").push(nag);
            }
            12..16 => return Some(RESULTS[usize::from(mark - MARKS - 12)]),
            _ => {}
        }
        None
    }

    fn game(&mut self) -> Expected {
        let fen = STARTS[usize::from(self.next().unwrap_or_default()) % STARTS.len()];
        let mut position = Position::from_fen(fen).expect(fen);
        let mut game = Expected::default();
        self.after_move = false;
        let _ = write!(self.text, "[White \"A\"]\n[FEN \"{fen}\"]\n\n");
        let mut result = GameResult::Undecided;
        while let Some(byte) = self.next() {
            if byte >= MARKS {
                match self.mark(byte, &mut game) {
                    Some(end) => {
                        result = end;
                        break;
                    }
                    None => continue,
                }
            }
            let legal = position.legal_moves();
            let Some(mv) = legal.iter().nth(usize::from(byte) % legal.len().max(1)) else { break };
            if game.moves.len() == MAX_PLIES {
                break;
            }
            let _ = write!(self.text, " {}", position.san(mv));
            game.moves.push(mv.to_string());
            game.nags.push(Vec::new());
            self.after_move = true;
            position = position.play(mv);
        }
        let _ = write!(self.text, " {}\n\n", result.token());
        game.result = result.token().to_owned();
        game
    }
}

/// Reads a game with `pgn-reader`.
struct Theirs;

impl Visitor for Theirs {
    type Tags = Chess;
    type Movetext = (Chess, Expected);
    type Output = Expected;

    fn begin_tags(&mut self) -> ControlFlow<Expected, Chess> {
        ControlFlow::Continue(Chess::default())
    }

    fn tag(&mut self, tags: &mut Chess, name: &[u8], value: RawTag<'_>) -> ControlFlow<Expected> {
        if name == b"FEN" {
            let fen = Fen::from_ascii(value.as_bytes()).expect("own FEN");
            *tags = fen.into_position(CastlingMode::Standard).expect("own position");
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Chess) -> ControlFlow<Expected, (Chess, Expected)> {
        ControlFlow::Continue((tags, Expected::default()))
    }

    fn san(
        &mut self,
        (position, game): &mut (Chess, Expected),
        san: SanPlus,
    ) -> ControlFlow<Expected> {
        let mv = san.san.to_move(position).expect("own move");
        position.play_unchecked(mv);
        game.moves.push(uci(mv));
        game.nags.push(Vec::new());
        ControlFlow::Continue(())
    }

    fn nag(
        &mut self,
        (_, game): &mut (Chess, Expected),
        nag: pgn_reader::Nag,
    ) -> ControlFlow<Expected> {
        game.nags.last_mut().expect("a move").push(nag.0);
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut (Chess, Expected)) -> ControlFlow<Expected, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn outcome(
        &mut self,
        (_, game): &mut (Chess, Expected),
        outcome: shakmaty::Outcome,
    ) -> ControlFlow<Expected> {
        game.result = outcome.to_string();
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, (_, game): (Chess, Expected)) -> Expected {
        game
    }
}

fn ours(game: &PgnGame) -> Expected {
    Expected {
        moves: game.moves.iter().map(|ply| ply.mv.to_string()).collect(),
        nags: game.moves.iter().map(|ply| ply.nags.clone()).collect(),
        result: game.result.token().to_owned(),
    }
}

fn seeds() -> [(&'static str, &'static [u8]); 3] {
    [
        ("moves", b"\x00\x04\x04\x05\x05\xf4\x02\x06\xf0\x05hello\xf1\x07\xfc\x00\x04\x04\x09\xfe"),
        ("variations", b"\x00\x04\xf2\x03\x00\x01\xf5\x02\x04\x07\xf7\x04\xf3\x05\xf2\x01\xff\xfd"),
        ("starts", b"\x01\x00\x01\x02\xfc\x02\x03\x02\x01\xf6\x09\xfd\x03\x11\x22\x33\xf5\x09\xfe"),
    ]
}

fuzz_target!(init: seed(seeds()), |bytes: &[u8]| {
    let mut writer = Writer { bytes, text: String::new(), after_move: false };
    let mut expected = Vec::new();
    while !writer.bytes.is_empty() && expected.len() < MAX_GAMES {
        expected.push(writer.game());
    }
    let text = writer.text.repeat(TIMES);
    let mut theirs = pgn_reader::Reader::new(text.as_bytes());
    let mut own = read_games(text.as_bytes());
    for game in expected.iter().cycle().take(expected.len() * TIMES) {
        let (read, end) = own.next().expect("a game").expect("a text");
        assert_eq!(ours(&read), *game, "{end:?}\n{}", writer.text);
        let found = theirs.read_game(&mut Theirs).expect("a text").expect("a game");
        assert_eq!(found, *game, "{}", writer.text);
    }
    assert!(own.next().is_none(), "{}", writer.text);
});
