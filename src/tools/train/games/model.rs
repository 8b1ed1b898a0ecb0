//! The model of games. It treats a game as a sequence of choices, and codes each choice with its
//! conditional probability given the previous ones.
//!
//! The bytes of a block are a bit stream from a range coder ([`super::coder`]). Each block starts
//! with a new model. A game consists of the following parts, in this order:
//!
//! | what | coded as |
//! | --- | --- |
//! | whether it has a FEN | a bit |
//! | its FEN, if any | seven bits per character and a final 0, given the previous character |
//! | number of plies in the opening | a size |
//! | the opening moves | index among the legal moves, using a [`Policy`] for openings |
//! | number of moves | a size |
//! | for each: the move | index among the legal moves, using a [`Policy`] for chosen moves |
//! | whether it is marked noisy | a bit, given whether the position is noisy |
//! | score minus the previous score | a size and a sign, given the scores so far |
//! | White's half points | eight bits, given which side the last score favours |

use super::coder::{Bit, Coder, Decoder, Encoder, Size, tree};
use super::policy::{Past, Policy};
use super::{PlayedGame, SearchedMove, is_noisy};
use crate::chess::position::{Move, Position};

const LONGEST_FEN: usize = 128;
const LETTER_BITS: u32 = 7;
const LONGEST_OPENING: u32 = 255;

/// The number of volatility classes: two for each doubling of the volatility, with the lowest
/// classes merged. The volatility is the mean absolute difference between consecutive scores.
const VOLATILITY_CLASSES: usize = 16;
const MERGED_VOLATILITY_CLASSES: usize = 4;
/// The number of classes for the magnitude of the last score: one for each doubling of the
/// magnitude, with the lowest three merged.
const LEVELS: usize = 8;
const LEVEL: usize = 2;
/// The number of combinations of two flags: whether the current position is noisy, and whether the
/// previous one is.
const KINDS: usize = 4;
/// The cap on score differences in centipawns when computing the volatility of the scores.
const LARGEST_VOLATILITY: u32 = 1000;

/// The width of the classes for the last change in score, in centipawns.
const TREND_STEP: i32 = 10;
/// The cap on the magnitude of the last change in score when it is classified, in centipawns.
const LARGEST_TREND: i32 = 60;
const TRENDS: usize = (2 * LARGEST_TREND / TREND_STEP + 1) as usize;
/// The width of the classes for the last score, in centipawns.
const LEAD_STEP: i32 = 120;
/// The cap on the magnitude of the last score when it is classified, in centipawns.
const LARGEST_LEAD: i32 = 600;
const LEADS: usize = (2 * LARGEST_LEAD / LEAD_STEP + 1) as usize;

/// Packs games. Returns `None` if a game has an illegal move or an invalid starting position.
pub(super) fn pack(games: &[PlayedGame]) -> Option<Vec<u8>> {
    let mut model = Model::new();
    let mut coder = Encoder::new();
    for game in games {
        model.code(&mut coder, Some(game), usize::MAX)?;
    }
    Some(coder.finish())
}

/// Unpacks `games` games that contain a total of `positions` moves after their openings. Returns
/// `None` if `bytes` does not contain exactly these numbers of games and moves.
pub(super) fn unpack(bytes: &[u8], games: usize, positions: usize) -> Option<Vec<PlayedGame>> {
    let mut model = Model::new();
    let mut coder = Decoder::new(bytes);
    let mut left = positions;
    let mut all = Vec::new();
    for _ in 0..games {
        let game = model.code(&mut coder, None, left)?;
        left -= game.moves.len();
        all.push(game);
    }
    (left == 0).then_some(all)
}

struct Model {
    started: Bit,
    /// The probabilities of the bits in a character of a FEN, indexed by the previous character.
    letters: Vec<[Bit; 1 << LETTER_BITS]>,
    plies: Size,
    openings: Policy,
    moves: Size,
    policy: Policy,
    /// The probability that a move is marked noisy, indexed by whether the position is noisy
    /// according to [`is_noisy`].
    noisy: [Bit; 2],
    first_score: Size,
    scores: Vec<Size>,
    /// The probability that the score decreases, indexed by [`Scores::direction`] and by whether
    /// the number of previous scores is odd.
    signs: [Bit; 2 * TRENDS * LEADS],
    /// The probabilities of the game results, indexed by which side the last score favours.
    results: [[Bit; 256]; 3],
}

impl Model {
    fn new() -> Self {
        Model {
            started: Bit::NEW,
            letters: vec![[Bit::NEW; 1 << LETTER_BITS]; 1 << LETTER_BITS],
            plies: Size::NEW,
            openings: Policy::new(),
            moves: Size::NEW,
            policy: Policy::new(),
            noisy: [Bit::NEW; 2],
            first_score: Size::NEW,
            scores: vec![Size::NEW; VOLATILITY_CLASSES * LEVELS * KINDS],
            signs: [Bit::NEW; 2 * TRENDS * LEADS],
            results: [[Bit::NEW; 256]; 3],
        }
    }

    /// Encodes or decodes a game. Returns `None` if the game is invalid or has more than `left`
    /// moves after the opening.
    fn code<C: Coder>(
        &mut self,
        coder: &mut C,
        given: Option<&PlayedGame>,
        left: usize,
    ) -> Option<PlayedGame> {
        let empty = PlayedGame::default();
        let wanted = given.unwrap_or(&empty);
        let mut game = PlayedGame::default();
        if self.started.code(coder, wanted.start.is_some()) {
            let fen = wanted.start.as_deref().unwrap_or_default();
            game.start = Some(self.fen(coder, fen)?.into());
        }
        let mut course = Course { position: game.start()?, past: Past::default() };
        let plies = self.plies.code(coder, wanted.opening.len() as u32);
        for ply in 0..plies.min(LONGEST_OPENING) as usize {
            let mv = given.map(|game| game.opening[ply]);
            let mv = self.openings.code(coder, &course.position, &course.past, mv)?;
            game.opening.push(mv);
            course.play(mv);
        }
        let moves = self.moves.code(coder, wanted.moves.len() as u32) as usize;
        if moves > left {
            return None;
        }
        let mut scores = Scores::default();
        for ply in 0..moves {
            let given = given.map(|game| game.moves[ply]);
            let played = self.searched(coder, &course, &mut scores, given)?;
            game.moves.push(played);
            course.play(played.mv);
        }
        let ahead = (scores.last.signum() + 1) as usize;
        let half_points = tree(&mut self.results[ahead], coder, wanted.half_points.into(), 8);
        game.half_points = half_points as u8;
        Some(game)
    }

    fn fen(&mut self, coder: &mut impl Coder, wanted: &str) -> Option<String> {
        if !wanted.is_ascii() || wanted.len() > LONGEST_FEN {
            return None;
        }
        let mut text = String::new();
        let mut wanted = wanted.bytes();
        let mut last = 0;
        loop {
            let wanted = wanted.next().unwrap_or(0).into();
            last = tree(&mut self.letters[last], coder, wanted, LETTER_BITS) as usize;
            match last as u8 {
                0 => return Some(text),
                _ if text.len() == LONGEST_FEN => return None,
                letter => text.push(letter.into()),
            }
        }
    }

    /// Encodes or decodes a move with its search result. Returns `None` if the move to encode is
    /// illegal, or if there are no legal moves.
    fn searched(
        &mut self,
        coder: &mut impl Coder,
        course: &Course,
        scores: &mut Scores,
        given: Option<SearchedMove>,
    ) -> Option<SearchedMove> {
        let Course { position, past } = course;
        let mv = self.policy.code(coder, position, past, given.map(|played| played.mv))?;
        let seen = is_noisy(position, mv);
        let noisy = given.is_some_and(|played| played.noisy);
        let noisy = self.noisy[usize::from(seen)].code(coder, noisy);
        let score = self.score(coder, scores, given.map_or(0, |played| played.score), noisy);
        Some(SearchedMove { mv, score, noisy })
    }

    fn score(
        &mut self,
        coder: &mut impl Coder,
        scores: &mut Scores,
        wanted: i16,
        noisy: bool,
    ) -> i16 {
        let difference = i32::from(wanted) - scores.last;
        let number = match scores.count {
            0 => &mut self.first_score,
            _ => &mut self.scores[scores.volatility(noisy)],
        };
        let size = number.code(coder, difference.unsigned_abs());
        let sign = &mut self.signs[2 * scores.direction() + scores.count % 2];
        let negative = size != 0 && sign.code(coder, difference < 0);
        let difference = if negative { -(size as i32) } else { size as i32 };
        let score = scores.last.wrapping_add(difference) as i16;
        scores.note(score.into(), difference, noisy);
        score
    }
}

struct Course {
    position: Position,
    past: Past,
}

impl Course {
    fn play(&mut self, mv: Move) {
        self.position = self.position.play(mv);
        self.past.last = [Some(mv), self.past.last[0]];
    }
}

#[derive(Default)]
struct Scores {
    count: usize,
    last: i32,
    before: i32,
    /// A moving average of the absolute differences between consecutive scores, multiplied by four.
    /// Recent differences have more weight.
    volatility: u32,
    noisy: bool,
}

impl Scores {
    fn volatility(&self, noisy: bool) -> usize {
        let mean = self.volatility + 1;
        let doublings = mean.ilog2();
        // The second-highest bit of the volatility splits each doubling into two classes.
        let upper = usize::from(mean >> (doublings.max(1) - 1) & 1 != 0);
        let volatility = (2 * doublings as usize + upper)
            .saturating_sub(MERGED_VOLATILITY_CLASSES)
            .min(VOLATILITY_CLASSES - 1);
        let level = (self.last.unsigned_abs() + 1).ilog2() as usize;
        let level = level.saturating_sub(LEVEL).min(LEVELS - 1);
        let kind = 2 * usize::from(noisy) + usize::from(self.noisy);
        (volatility * LEVELS + level) * KINDS + kind
    }

    fn direction(&self) -> usize {
        let class = |value: i32, largest: i32, step: i32| {
            ((value.clamp(-largest, largest) + largest) / step) as usize
        };
        class(self.last - self.before, LARGEST_TREND, TREND_STEP) * LEADS
            + class(self.last, LARGEST_LEAD, LEAD_STEP)
    }

    fn note(&mut self, score: i32, difference: i32, noisy: bool) {
        self.count += 1;
        self.before = self.last;
        self.last = score;
        let difference = difference.unsigned_abs().min(LARGEST_VOLATILITY);
        self.volatility = (self.volatility * 3 + 4 * difference) / 4;
        self.noisy = noisy;
    }
}
