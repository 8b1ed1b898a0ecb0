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
use crate::position::{FenError, Move, Position, Replay, SanError};

/// `Variant` tags that mean orthodox chess, in lower case. Lichess writes `From Position` for
/// games with a FEN.
const ORTHODOX: [&str; 6] = ["standard", "chess", "normal", "from position", "orthodox", "regular"];

/// Tag lines longer than this come back as a fault; `pgn-reader`'s default is 255 bytes.
const MAX_TAG_LINE: usize = 8 << 10;

/// What is done with the games that a [`Reader`] finds.
pub trait Visitor {
    /// Whether [`Visitor::begin`] looks at tags. If not, it gets only those that the reader itself
    /// needs (`Result`, `FEN`, `Variant`), which is faster.
    fn wants_tags(&self) -> bool {
        true
    }
    /// A game begins at `start`. `Break` declines it: nothing else of it is handed over.
    fn begin(&mut self, tags: &Tags, start: &Position) -> ControlFlow<()>;
    /// A legal move of the main line. `Break`: no more moves of this game are wanted.
    fn played(&mut self, ply: &Ply) -> ControlFlow<()>;
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

/// A move of a game and the position that it led to, as far as counting needs it: whoever wants the
/// whole position plays the move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ply {
    /// The move, which is legal.
    pub mv: Move,
    /// The key of the position after it, see [`Position::key`].
    pub key: u64,
    /// The key of its pawns.
    pub pawn_key: u64,
    /// Plies since the last capture or pawn move, this one included.
    pub halfmove_clock: u16,
}

impl Ply {
    #[inline]
    pub(super) fn new(mv: Move, after: &Replay) -> Self {
        let (key, pawn_key, halfmove_clock) =
            (after.key(), after.pawn_key(), after.halfmove_clock());
        Ply { mv, key, pawn_key, halfmove_clock }
    }
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
        Self::at_line(input, 1, Experience::default())
    }

    /// A reader of a part of a larger input that begins at `line`, with what the reader of another
    /// part has learned.
    pub fn at_line(input: R, line: u64, experience: Experience) -> Self {
        let progress = Arc::new(Progress { line: AtomicU64::new(line), ..Progress::default() });
        let counter = LineCounter { input, progress: Arc::clone(&progress) };
        let inner =
            pgn_reader::Reader::build(counter).set_supported_tag_line_length(MAX_TAG_LINE).finish();
        Reader { inner, progress, state: State::new(experience.0) }
    }

    /// Takes games without tags, too: for files of bare move lists, not for real collections, in
    /// which they are tails of torn games.
    #[must_use]
    pub fn taking_untagged(mut self) -> Self {
        self.state.takes_untagged = true;
        self
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
        let end = GameEnd { result: self.state.result(), plies: self.state.moves.len(), fate };
        if self.state.accepted {
            visitor.end(&end);
        }
        Ok(Some(end))
    }

    /// What the reader has learned, for the next.
    pub fn into_experience(self) -> Experience {
        Experience(self.state.tree)
    }

    /// The line that the reader has come to.
    pub fn line(&self) -> u64 {
        self.progress.line.load(Relaxed) - count_lines(self.inner.buffer())
    }
}

/// The openings that a [`Reader`] has met, which it need not resolve move by move again.
pub struct Experience(Tree);

impl Default for Experience {
    fn default() -> Self {
        Experience(Tree::new())
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
    /// The game has tags, whether or not they are kept.
    tagged: bool,
    tree: Tree,
    /// Where the game stands in the tree, as long as it does.
    place: Option<Place>,
    start: Position,
    /// The current position, once the game has left the tree.
    position: Replay,
    moves: Vec<Move>,
    accepted: bool,
    /// The visitor wants no more moves; only the result is still missing.
    done: bool,
    token: Option<GameResult>,
    takes_untagged: bool,
}

impl State {
    fn new(tree: Tree) -> Self {
        let (start, position) = (*tree.start(), *tree.position(Tree::ROOT));
        State {
            tags: Tags::default(),
            tagged: false,
            tree,
            place: None,
            start,
            position,
            moves: Vec::new(),
            accepted: false,
            done: false,
            token: None,
            takes_untagged: false,
        }
    }

    fn reset(&mut self) {
        self.tags.clear();
        self.tagged = false;
        self.moves.clear();
        self.accepted = false;
        self.done = false;
        self.token = None;
    }

    fn result(&self) -> GameResult {
        self.tags.result().or(self.token).unwrap_or(GameResult::Undecided)
    }

    /// Sets up the start position that the tags give; the fate of a game that has none.
    fn set_up(&mut self) -> Result<(), Fate> {
        if !self.tagged && !self.takes_untagged {
            return Err(Fate::Untagged);
        }
        if let Some(variant) = self.tags.get("Variant")
            && !ORTHODOX.contains(&variant.trim().to_ascii_lowercase().as_str())
        {
            return Err(Fate::Variant);
        }
        let Some(fen) = self.tags.get("FEN") else {
            self.start = *self.tree.start();
            self.place = Some(Tree::ROOT);
            return Ok(());
        };
        self.start = Position::from_fen(&fen).map_err(|error| {
            if is_chess960(&fen) { Fate::Variant } else { Fate::broken(FaultReason::Fen(error)) }
        })?;
        self.place = None;
        self.position = Replay::from(&self.start);
        Ok(())
    }

    /// Plays a move that an earlier game has played in this place.
    #[inline]
    fn play_remembered(&mut self, san: San) -> Option<Ply> {
        let (place, ply) = self.tree.follow(self.place?, san)?;
        self.place = Some(place);
        Some(ply)
    }

    /// Plays a move that is not in the tree, and remembers it there if it can.
    #[inline]
    fn play_anew(&mut self, san: San) -> Result<Ply, SanError> {
        if let Some(place) = self.place {
            self.position = *self.tree.position(place);
        }
        let mv = self.position.resolve_san(san)?;
        self.position.play(mv);
        let ply = Ply::new(mv, &self.position);
        if let Some(place) = self.place {
            self.place = self.tree.grow(place, san, &ply, &self.position);
        }
        Ok(ply)
    }

    /// The current position in full.
    fn full_position(&self) -> Position {
        self.moves.iter().fold(self.start, |position, &mv| position.play(mv))
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
    /// The fate of a game in which a move cannot be played.
    #[cold]
    fn broken(&self, san: &SanPlus, error: SanError) -> Fate {
        Fate::Broken(Box::new(Fault {
            line: 0,
            fen: Some(self.state.full_position().fen()),
            san: Some(san.to_string()),
            reason: FaultReason::Move(error),
        }))
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
        self.state.tagged = true;
        if matches!(name, b"Result" | b"FEN" | b"Variant") || self.visitor.wants_tags() {
            self.state.tags.push(name, value);
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<Fate> {
        if let Err(fate) = self.state.set_up() {
            return ControlFlow::Break(fate);
        }
        if self.visitor.begin(&self.state.tags, &self.state.start).is_break() {
            return ControlFlow::Break(Fate::Declined);
        }
        self.state.accepted = true;
        ControlFlow::Continue(())
    }

    fn san(&mut self, (): &mut (), san_plus: SanPlus) -> ControlFlow<Fate> {
        if self.state.done {
            return ControlFlow::Continue(());
        }
        let ply = match self.state.play_remembered(san_plus.san) {
            Some(ply) => ply,
            None => match self.state.play_anew(san_plus.san) {
                Ok(ply) => ply,
                Err(error) => return ControlFlow::Break(self.broken(&san_plus, error)),
            },
        };
        self.state.moves.push(ply.mv);
        match self.visitor.played(&ply) {
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
