//! Games out of a stream, one after the other, with every move checked.

use std::fmt;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use pgn_reader::{Nag, RawComment, RawTag, SanPlus};
use shakmaty::san::San;
use shakmaty::{CastlingMode, Chess, FromSetup, KnownOutcome, Outcome, fen::Fen};

use super::tree::{Place, Tree};
use super::{GameResult, Tags};
use crate::position::{FenError, Move, Position, SanError};

/// `Variant` tags that mean orthodox chess, in lower case. Lichess writes `From Position` for
/// games with a FEN.
const ORTHODOX: [&str; 6] = ["standard", "chess", "normal", "from position", "orthodox", "regular"];

/// Tag lines longer than this come back as a fault; `pgn-reader`'s default is 255 bytes.
const MAX_TAG_LINE: usize = 8 << 10;

/// What is done with the games that a [`Reader`] finds.
pub trait Visitor {
    /// A game begins at `start`. `Break` declines it: nothing else of it is handed over.
    fn begin(&mut self, tags: &Tags, start: &Position) -> ControlFlow<()>;
    /// A legal move of the main line. `Break`: no more moves of this game are wanted.
    fn played(&mut self, before: &Position, mv: Move, after: &Position) -> ControlFlow<()>;
    /// A comment (or a part of a long one) on the move before.
    fn comment(&mut self, text: &[u8]) {
        let _ = text;
    }
    /// A numeric annotation glyph on the move before.
    fn nag(&mut self, nag: u8) {
        let _ = nag;
    }
    /// The game that [`Visitor::begin`] accepted is over, one way or another.
    fn end(&mut self, end: &GameEnd);
}

/// How the reading of one game ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameEnd {
    /// The result of the `Result` tag if it is a decided one, else that of the movetext.
    pub result: GameResult,
    /// Legal plies handed to the visitor.
    pub plies: usize,
    /// What became of the game.
    pub fate: Fate,
}

/// What became of a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It was read to its end, or as far as the visitor wanted.
    Read,
    /// The visitor declined it.
    Declined,
    /// It is not orthodox chess.
    Variant,
    /// It has no tags: the tail of a game that a blank line tore, or no game at all.
    Untagged,
    /// It stopped at a fault; the moves before it were handed over.
    Broken(Box<Fault>),
}

/// What is wrong with a game, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line of the input, counted from 1.
    pub line: u64,
    /// The position of an illegal move, as FEN.
    pub fen: Option<String>,
    /// The move that could not be played.
    pub san: Option<String>,
    /// What is wrong.
    pub reason: FaultReason,
}

/// The kinds of faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultReason {
    /// A move that is illegal, ambiguous or no move.
    Move(SanError),
    /// A start position that is none.
    Fen(FenError),
    /// Text that is no PGN.
    Syntax(String),
}

impl fmt::Display for FaultReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultReason::Move(error) => error.fmt(f),
            FaultReason::Fen(error) => error.fmt(f),
            FaultReason::Syntax(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)?;
        if let Some(san) = &self.san {
            write!(f, " {san}")?;
        }
        if let Some(fen) = &self.fen {
            write!(f, " in {fen}")?;
        }
        Ok(())
    }
}

/// Reads games from a stream of PGN text.
pub struct Reader<R> {
    inner: pgn_reader::Reader<LineCounter<R>>,
    progress: Arc<Progress>,
    state: State,
}

impl<R: Read> Reader<R> {
    /// A reader at the beginning of an input. It buffers by itself.
    pub fn new(input: R) -> Self {
        Self::at_line(input, 1)
    }

    /// A reader of a part of a larger input that begins at `line`.
    pub fn at_line(input: R, line: u64) -> Self {
        let progress = Arc::new(Progress { line: AtomicU64::new(line), ..Progress::default() });
        let counter = LineCounter { input, progress: Arc::clone(&progress) };
        let inner =
            pgn_reader::Reader::build(counter).set_supported_tag_line_length(MAX_TAG_LINE).finish();
        Reader { inner, progress, state: State::new() }
    }

    /// Reads the next game; `None` at the end of the input.
    ///
    /// # Errors
    /// Only if the input cannot be read on. Whatever is wrong with the text itself is a
    /// [`Fate::Broken`].
    pub fn read_game(&mut self, visitor: &mut impl Visitor) -> io::Result<Option<GameEnd>> {
        self.state.reset();
        let mut adapter = Adapter { state: &mut self.state, visitor };
        let mut fate = match self.inner.read_game(&mut adapter) {
            Ok(None) => return Ok(None),
            Ok(Some(fate)) => fate,
            Err(error) if self.progress.failed.load(Relaxed) => return Err(error),
            Err(error) => Fate::broken(FaultReason::Syntax(error.to_string())),
        };
        if let Fate::Broken(fault) = &mut fate {
            fault.line = self.line();
        }
        let end = GameEnd { result: self.state.result(), plies: self.state.plies, fate };
        if self.state.accepted {
            visitor.end(&end);
        }
        Ok(Some(end))
    }

    /// The line that the reader has come to.
    pub fn line(&self) -> u64 {
        self.progress.line.load(Relaxed) - count_lines(self.inner.buffer())
    }
}

/// The number of line ends in `text`.
pub(super) fn count_lines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// What the reader must know of its input, which `pgn-reader` keeps to itself.
#[derive(Debug, Default)]
struct Progress {
    /// The line after all text read so far.
    line: AtomicU64,
    /// Whether reading, not parsing, has failed.
    failed: AtomicBool,
}

/// Counts the lines of an input on their way.
struct LineCounter<R> {
    input: R,
    progress: Arc<Progress>,
}

impl<R: Read> Read for LineCounter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer);
        match &read {
            Ok(bytes) => {
                self.progress.line.fetch_add(count_lines(&buffer[..*bytes]), Relaxed);
            }
            Err(_) => self.progress.failed.store(true, Relaxed),
        }
        read
    }
}

/// The state of one game, kept between games for its buffers.
struct State {
    tags: Tags,
    tree: Tree,
    /// Where the game stands in the tree, as long as it does.
    place: Option<Place>,
    /// The current position and the one before, by turns, once the game has left the tree.
    positions: [Position; 2],
    plies: usize,
    accepted: bool,
    /// The visitor wants no more moves; only the result is still missing.
    done: bool,
    token: Option<GameResult>,
}

impl State {
    fn new() -> Self {
        let tree = Tree::new();
        let start = *tree.position(Tree::ROOT);
        State {
            tags: Tags::default(),
            tree,
            place: None,
            positions: [start; 2],
            plies: 0,
            accepted: false,
            done: false,
            token: None,
        }
    }

    fn reset(&mut self) {
        self.tags.clear();
        self.plies = 0;
        self.accepted = false;
        self.done = false;
        self.token = None;
    }

    fn result(&self) -> GameResult {
        self.tags.result().or(self.token).unwrap_or(GameResult::Undecided)
    }

    /// Sets up the start position that the tags give; the fate of a game that has none.
    fn set_up(&mut self) -> Result<(), Fate> {
        if self.tags.is_empty() {
            return Err(Fate::Untagged);
        }
        if let Some(variant) = self.tags.get("Variant")
            && !ORTHODOX.contains(&variant.trim().to_ascii_lowercase().as_str())
        {
            return Err(Fate::Variant);
        }
        self.place = Some(Tree::ROOT);
        let Some(fen) = self.tags.get("FEN") else { return Ok(()) };
        let start = Position::from_fen(&fen).map_err(|error| {
            if is_chess960(&fen) { Fate::Variant } else { Fate::broken(FaultReason::Fen(error)) }
        })?;
        if start != *self.tree.position(Tree::ROOT) {
            self.place = None;
            self.positions[0] = start;
        }
        Ok(())
    }

    /// The current position.
    #[inline]
    fn position(&self) -> &Position {
        match self.place {
            Some(place) => self.tree.position(place),
            None => &self.positions[self.plies % 2],
        }
    }

    /// Plays a move that is not in the tree, and remembers it there if it can.
    #[inline]
    fn leave_tree(&mut self, san: San) -> Result<Move, SanError> {
        let before = self.position();
        let mv = before.resolve_san(san)?;
        let after = before.play(mv);
        let grown = self.place.and_then(|place| self.tree.grow(place, san, mv, &after));
        self.positions[(self.plies + 1) % 2] = after;
        self.place = grown;
        Ok(mv)
    }
}

/// Whether a FEN that is no orthodox position is one of Chess960.
fn is_chess960(fen: &str) -> bool {
    let Ok(fen) = fen.parse::<Fen>() else { return false };
    Chess::from_setup(fen.into_setup(), CastlingMode::Chess960).is_ok()
}

impl Fate {
    fn broken(reason: FaultReason) -> Self {
        Fate::Broken(Box::new(Fault { line: 0, fen: None, san: None, reason }))
    }
}

/// Stands between `pgn-reader`, which knows no rules, and our visitor.
struct Adapter<'a, V> {
    state: &'a mut State,
    visitor: &'a mut V,
}

impl<V: Visitor> Adapter<'_, V> {
    /// Plays a move that an earlier game has played in this place.
    #[inline]
    fn remembered(&mut self, san: San) -> Option<ControlFlow<()>> {
        let state = &mut *self.state;
        let place = state.place?;
        let child = state.tree.child(place, san)?;
        state.place = Some(child);
        state.plies += 1;
        let (before, after) = (state.tree.position(place), state.tree.position(child));
        Some(self.visitor.played(before, state.tree.mv(child), after))
    }

    /// Plays any other move.
    #[inline]
    fn play(&mut self, san_plus: SanPlus) -> ControlFlow<Fate, ControlFlow<()>> {
        let state = &mut *self.state;
        let place = state.place;
        let mv = match state.leave_tree(san_plus.san) {
            Ok(mv) => mv,
            Err(error) => {
                return ControlFlow::Break(Fate::Broken(Box::new(Fault {
                    line: 0,
                    fen: Some(state.position().fen()),
                    san: Some(san_plus.to_string()),
                    reason: FaultReason::Move(error),
                })));
            }
        };
        let before = match place {
            Some(place) => state.tree.position(place),
            None => &state.positions[state.plies % 2],
        };
        state.plies += 1;
        let after = &state.positions[state.plies % 2];
        ControlFlow::Continue(self.visitor.played(before, mv, after))
    }

    /// Ends the game at once if its result is known, else once it is.
    fn finish(&mut self) -> ControlFlow<Fate> {
        self.state.done = true;
        match self.state.tags.result() {
            Some(_) => ControlFlow::Break(Fate::Read),
            None => ControlFlow::Continue(()),
        }
    }
}

impl<V: Visitor> pgn_reader::Visitor for Adapter<'_, V> {
    type Tags = ();
    type Movetext = ();
    type Output = Fate;

    fn begin_tags(&mut self) -> ControlFlow<Fate> {
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<Fate> {
        self.state.tags.push(name, value);
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<Fate> {
        if let Err(fate) = self.state.set_up() {
            return ControlFlow::Break(fate);
        }
        if self.visitor.begin(&self.state.tags, self.state.position()).is_break() {
            return ControlFlow::Break(Fate::Declined);
        }
        self.state.accepted = true;
        ControlFlow::Continue(())
    }

    fn san(&mut self, (): &mut (), san_plus: SanPlus) -> ControlFlow<Fate> {
        if self.state.done {
            return ControlFlow::Continue(());
        }
        let played = match self.remembered(san_plus.san) {
            Some(played) => played,
            None => self.play(san_plus)?,
        };
        match played {
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
            ControlFlow::Break(()) => self.finish(),
        }
    }

    fn nag(&mut self, (): &mut (), nag: Nag) -> ControlFlow<Fate> {
        self.visitor.nag(nag.0);
        ControlFlow::Continue(())
    }

    fn comment(&mut self, (): &mut (), comment: RawComment<'_>) -> ControlFlow<Fate> {
        self.visitor.comment(comment.as_bytes());
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, (): &mut (), outcome: Outcome) -> ControlFlow<Fate> {
        self.state.token = Some(match outcome {
            Outcome::Known(KnownOutcome::Draw) => GameResult::Draw,
            Outcome::Known(KnownOutcome::Decisive { winner: shakmaty::Color::White }) => {
                GameResult::White
            }
            Outcome::Known(KnownOutcome::Decisive { winner: shakmaty::Color::Black }) => {
                GameResult::Black
            }
            Outcome::Unknown => GameResult::Undecided,
        });
        ControlFlow::Break(Fate::Read)
    }

    fn end_game(&mut self, (): ()) -> Fate {
        Fate::Read
    }
}
