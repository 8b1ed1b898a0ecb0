//! The state of a game while it is being read.

use shakmaty::san::San;

use super::language::Language;
use super::tree::{OpeningCache, Place, Word};
use super::visitor::GamePly;
use super::{Fault, FaultReason, GameResult, GameStatus, Tags};
use crate::chess::position::{Color, Move, Position, Replay, SanError, is_chess960};
use crate::support::words::split_words;

/// Lower-case values of the `Variant` tag that mean orthodox chess. Lichess writes `From Position`
/// if a game begins from a FEN.
const ORTHODOX: [&str; 6] = ["standard", "chess", "normal", "from position", "orthodox", "regular"];

fn is_orthodox(variant: &str) -> bool {
    let words: Vec<&str> = split_words(variant).collect();
    ORTHODOX.contains(&words.join(" ").to_ascii_lowercase().as_str())
}

pub(super) struct ReaderState {
    pub tree: OpeningCache,
    pub language: Language,
    pub line_sign: u8,
    pub tags: Tags,
    /// The current place in the tree of openings; `None` if the game does not begin at the root of
    /// the tree or has left the tree.
    place: Option<Place>,
    pub start: Position,
    /// The current position. Not updated while the game is in the tree, which stores the positions
    /// of its places.
    position: Replay,
    pub moves: Vec<Move>,
    pub accepted: bool,
    pub done: bool,
    pub token: Option<GameResult>,
}

impl ReaderState {
    pub(super) fn new(tree: OpeningCache, language: Language, line_sign: u8) -> Self {
        let (start, position) = (*tree.start(), *tree.position(OpeningCache::ROOT));
        ReaderState {
            tree,
            language,
            line_sign,
            tags: Tags::default(),
            place: None,
            start,
            position,
            moves: Vec::new(),
            accepted: false,
            done: false,
            token: None,
        }
    }

    pub(super) fn reset(&mut self) {
        self.tags.clear();
        self.moves.clear();
        self.accepted = false;
        self.done = false;
        self.token = None;
    }

    pub(super) fn result(&self) -> GameResult {
        self.tags.result().or(self.token).unwrap_or(GameResult::Undecided)
    }

    /// Returns an error if the result in the movetext contradicts the one in the `Result` tag. A
    /// missing result or `*` contradicts nothing.
    pub(super) fn contradiction(&self) -> Option<Box<Fault>> {
        let (tag, token) = self.tags.result().zip(self.token)?;
        let contradicts = token != tag && token != GameResult::Undecided;
        contradicts.then(|| Box::new(Fault::of(FaultReason::Results(tag, token))))
    }

    /// Sets up the start position from the tags. If the game cannot be played (a chess variant or
    /// an invalid FEN), returns its status as the error.
    pub(super) fn set_up(&mut self) -> Result<(), GameStatus> {
        if let Some(variant) = self.tags.known("Variant")
            && !is_orthodox(&variant)
        {
            return Err(GameStatus::Variant);
        }
        let Some(fen) = self.tags.known("FEN") else {
            self.start = *self.tree.start();
            self.place = Some(OpeningCache::ROOT);
            return Ok(());
        };
        let start = Position::from_fen(&fen).map_err(|error| {
            if is_chess960(&fen) {
                GameStatus::Variant
            } else {
                GameStatus::broken(FaultReason::Fen(error))
            }
        })?;
        self.begin_at(&start);
        Ok(())
    }

    pub(super) fn begin_at(&mut self, start: &Position) {
        self.start = *start;
        self.place = None;
        self.position = Replay::from(start);
    }

    #[inline]
    pub(super) fn play_cached(&mut self, word: Word) -> Option<GamePly> {
        let (child, ply) = self.tree.follow(self.place?, word)?;
        self.place = Some(child);
        Some(ply)
    }

    /// Plays the move written as `word`. If the tree does not contain this move, calls `resolve` to
    /// determine the move in the current position.
    #[inline]
    pub(super) fn play(
        &mut self,
        word: Option<Word>,
        resolve: impl FnOnce(&Replay) -> Result<Move, SanError>,
    ) -> Result<GamePly, SanError> {
        if let Some(ply) = word.and_then(|word| self.play_cached(word)) {
            return Ok(ply);
        }
        if let Some(place) = self.place {
            self.position = *self.tree.position(place);
        }
        let mv = resolve(&self.position)?;
        self.position.play(mv);
        let ply = GamePly::new(mv, &self.position);
        if let Some(place) = self.place {
            self.place = word.and_then(|word| self.tree.grow(place, word, &ply, &self.position));
        }
        Ok(ply)
    }

    pub(super) fn play_null(&mut self) -> Result<GamePly, SanError> {
        self.position = *self.current();
        self.place = None;
        if self.position.in_check() {
            return Err(SanError::Null);
        }
        self.position.pass();
        Ok(GamePly::new(Move::NULL, &self.position))
    }

    pub(super) fn current(&self) -> &Replay {
        self.place.map_or(&self.position, |place| self.tree.position(place))
    }

    pub(super) fn move_number(&self) -> u32 {
        let black = self.start.side_to_move() == Color::Black;
        let plies = self.moves.len() + usize::from(black);
        u32::from(self.start.fullmove_number()) + plies as u32 / 2
    }

    pub(super) fn full_position(&self) -> Position {
        let play = |position: Position, &mv| position.try_play(mv).unwrap_or(position);
        self.moves.iter().fold(self.start, play)
    }
}

/// Finds the legal move described by `text` in SAN or a looser notation, with English piece
/// letters.
#[inline]
pub(super) fn resolve(position: &Replay, text: &[u8]) -> Result<Move, SanError> {
    let resolved = San::from_ascii(text).map_err(|_| SanError::Malformed);
    let resolved = resolved.and_then(|san| position.resolve_san(san));
    resolved.or_else(|error| match position.resolve_loosely(text) {
        Ok(mv) => Ok(mv),
        Err(SanError::Malformed) => Err(error),
        Err(other) if error == SanError::Malformed => Err(other),
        Err(_) => Err(error),
    })
}
