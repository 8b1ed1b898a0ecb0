//! Games turned into examples.

use std::path::{Path, PathBuf};

use super::example::Example;
use super::sigmoid::Sigmoid;
use crate::position::{Color, Position};
use crate::random::Random;
use crate::train::{GameError, GameReader, PlayedGame, in_parallel};

/// Games that are turned into examples at a time.
const GAMES_AT_ONCE: usize = 4096;

/// Which positions are taken, and what is to be learnt from them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Selection {
    /// The result to expect of a score.
    pub curve: Sigmoid,
    /// Share of the game's result in the target; the rest is what the searches said.
    pub result_share: f32,
    /// How far what the searches said looks ahead in the game, from 0 to 1: the search of `n` moves
    /// later counts `lambda` to the `n`-th, the result as all that would follow the end. With 0 only
    /// the position's own search counts, with 1 only the result.
    pub lambda: f32,
    /// Positions with a larger score, in centipawns, for either side are decided, and passed over.
    pub limit: i16,
    /// Plies after the random opening that are passed over.
    pub skip_plies: usize,
    /// Every so many games one is held out, to judge by.
    pub hold_out_every: usize,
}

/// Examples to learn from, and examples to judge by, of other games.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Data {
    /// What the targets came of.
    pub curve: Sigmoid,
    /// To learn from, in random order.
    pub training: Vec<Example>,
    /// To judge by.
    pub held_out: Vec<Example>,
    /// Games read.
    pub games: usize,
    /// Positions in them, taken or not.
    pub positions: usize,
}

impl Data {
    /// No examples.
    pub(super) fn none(curve: Sigmoid) -> Self {
        Data { curve, training: Vec::new(), held_out: Vec::new(), games: 0, positions: 0 }
    }

    /// Takes the quiet positions of all games in `paths` and shuffles those to learn from. `tell`
    /// hears of what has been read now and then.
    ///
    /// # Errors
    /// If a file cannot be read, is something else, or holds a game with an illegal move.
    pub(crate) fn read(
        paths: &[PathBuf],
        selection: &Selection,
        threads: usize,
        seed: u64,
        mut tell: impl FnMut(&Data),
    ) -> Result<Self, GameError> {
        let mut data = Data::none(selection.curve);
        for path in paths {
            let mut reader = GameReader::open(path)?;
            loop {
                let games = read_some(&mut reader)?;
                if games.is_empty() {
                    break;
                }
                data.add(path, &games, reader.games(), selection, threads)?;
                tell(&data);
            }
        }
        Random::new(seed).shuffle(&mut data.training);
        Ok(data)
    }

    /// Adds games, the last of which is the one numbered `last` of its file.
    fn add(
        &mut self,
        path: &Path,
        games: &[PlayedGame],
        last: usize,
        selection: &Selection,
        threads: usize,
    ) -> Result<(), GameError> {
        let parts = in_parallel(games, threads, |games| {
            games.iter().map(|game| examples(game, selection)).collect::<Vec<_>>()
        });
        for (place, examples) in parts.into_iter().flatten().enumerate() {
            let examples = examples.ok_or_else(|| GameError::Damaged {
                path: path.to_owned(),
                game: last - games.len() + place + 1,
                what: "a move is illegal",
            })?;
            self.games += 1;
            self.positions += games[place].moves.len();
            let held_out = self.games.is_multiple_of(selection.hold_out_every);
            if held_out { &mut self.held_out } else { &mut self.training }.extend(examples);
        }
        Ok(())
    }
}

fn read_some(reader: &mut GameReader) -> Result<Vec<PlayedGame>, GameError> {
    let mut games = Vec::with_capacity(GAMES_AT_ONCE);
    while games.len() < GAMES_AT_ONCE
        && let Some(game) = reader.read_game()?
    {
        games.push(game);
    }
    Ok(games)
}

/// The positions of a game that are taken; `None` if it has an illegal move.
fn examples(game: &PlayedGame, selection: &Selection) -> Option<Vec<Example>> {
    let expected = hindsight(game, selection);
    let mut examples = Vec::new();
    let mut ply = 0;
    let whole = game.replay(|position, played| {
        let decided = played.score.unsigned_abs() > selection.limit.unsigned_abs();
        if !played.noisy && !decided && ply >= selection.skip_plies {
            let share = selection.result_share;
            let for_white = share * game.result() + (1.0 - share) * expected[ply];
            examples.push(Example::new(position, for_side_to_move(position, for_white)));
        }
        ply += 1;
    });
    whole.then_some(examples)
}

/// What White should have expected at each move, as the searches of that move and of all later ones
/// tell.
///
/// A search of some hundred nodes is wrong by a pawn as easily as a static evaluation is, but the
/// next ones are wrong otherwise: their mean is far better.
///
/// Source: R. Sutton, "Learning to Predict by the Methods of Temporal Differences" (1988), whose
/// lambda it is; for chess J. Baxter, A. Tridgell and L. Weaver, "KnightCap" (1998).
fn hindsight(game: &PlayedGame, selection: &Selection) -> Vec<f32> {
    let &Selection { curve, lambda, .. } = selection;
    let mut later = game.result();
    let mut expected = vec![0.0; game.moves.len()];
    for (expected, played) in expected.iter_mut().zip(&game.moves).rev() {
        let now = curve.of_score(f32::from(played.score));
        later = (1.0 - lambda) * now + lambda * later;
        *expected = later;
    }
    expected
}

fn for_side_to_move(position: &Position, for_white: f32) -> f32 {
    match position.side_to_move() {
        Color::White => for_white,
        Color::Black => 1.0 - for_white,
    }
}
