//! Games turned into examples.

use std::path::{Path, PathBuf};

use super::example::Example;
use super::sigmoid::Sigmoid;
use crate::chess::position::Color;
use crate::support::random::Random;
use crate::tools::train::{Block, GameError, GameReader, PlayedGame, in_parallel};

/// So many pieces, kings among them, are few.
pub(crate) const FEW_PIECES: usize = 9;

/// Blocks of games that each thread turns into examples at a time.
const BLOCKS_AT_ONCE: usize = 4;

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
    /// The same for positions with at most [`FEW_PIECES`]: searches of some hundred nodes know little of where
    /// endgames lead to.
    pub lambda_few: f32,
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
    /// What was taken, and what the targets came of.
    pub selection: Selection,
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
    pub(super) fn none(selection: &Selection) -> Self {
        let selection = selection.clone();
        Data { selection, training: Vec::new(), held_out: Vec::new(), games: 0, positions: 0 }
    }

    /// The result to expect of a score.
    pub(crate) fn curve(&self) -> Sigmoid {
        self.selection.curve
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
        mut report: impl FnMut(&Data),
    ) -> Result<Self, GameError> {
        let mut data = Data::none(selection);
        for path in paths {
            let mut reader = GameReader::open(path)?;
            loop {
                let blocks = read_some(&mut reader, BLOCKS_AT_ONCE * threads)?;
                if blocks.is_empty() {
                    break;
                }
                data.add(path, &blocks, selection, threads)?;
                report(&data);
            }
        }
        Random::new(seed).shuffle(&mut data.training);
        Ok(data)
    }

    /// Adds the games of a file.
    fn add(
        &mut self,
        path: &Path,
        blocks: &[Block],
        selection: &Selection,
        threads: usize,
    ) -> Result<(), GameError> {
        let parts = in_parallel(blocks, threads, |blocks| {
            blocks.iter().map(|block| examples_of(block, selection)).collect::<Vec<_>>()
        });
        for games in parts.into_iter().flatten() {
            let games = games.map_err(|(game, what)| GameError::Damaged {
                path: path.to_owned(),
                game,
                what,
            })?;
            for (positions, examples) in games {
                self.games += 1;
                self.positions += positions;
                let held_out = self.games.is_multiple_of(selection.hold_out_every);
                if held_out { &mut self.held_out } else { &mut self.training }.extend(examples);
            }
        }
        Ok(())
    }
}

fn read_some(reader: &mut GameReader, most: usize) -> Result<Vec<Block>, GameError> {
    let mut blocks = Vec::with_capacity(most);
    while blocks.len() < most
        && let Some(block) = reader.read_block()?
    {
        blocks.push(block);
    }
    Ok(blocks)
}

/// The examples of a game, and its positions, taken or not.
type Taken = (usize, Vec<Example>);

/// What is taken of each game; or which one is damaged, and how.
fn examples_of(block: &Block, selection: &Selection) -> Result<Vec<Taken>, (usize, &'static str)> {
    let (first, games) = block.unpack();
    let games = games.ok_or((first, "its block is damaged"))?;
    let numbered = (first..).zip(games.iter());
    numbered
        .map(|(number, game)| {
            let examples = examples(game, selection).ok_or((number, "a move is illegal"))?;
            Ok((game.moves.len(), examples))
        })
        .collect()
}

/// The positions of a game that are taken; `None` if it has an illegal move.
fn examples(game: &PlayedGame, selection: &Selection) -> Option<Vec<Example>> {
    let mut taken = Vec::new();
    let mut piece_count = Vec::with_capacity(game.moves.len());
    let whole = game.replay(|position, played| {
        let ply = piece_count.len();
        piece_count.push(position.occupied().popcnt() as usize);
        let decided = played.score.unsigned_abs() > selection.limit.unsigned_abs();
        if !played.noisy && !decided && ply >= selection.skip_plies {
            taken.push((ply, position.side_to_move(), Example::new(position, 0.0)));
        }
    });
    let expected = hindsight(game, selection, &piece_count);
    let share = selection.result_share;
    let examples =
        taken.into_iter().map(|(ply, side_to_move, mut example): (usize, Color, Example)| {
            let for_white = share * game.result() + (1.0 - share) * expected.get(ply)?;
            example.target = for_side(side_to_move, for_white);
            Some(example)
        });
    whole.then(|| examples.collect())?
}

/// What White should have expected at each move, as the searches of that move and of all later ones
/// tell; `piece_count` stood on the board before each.
///
/// A search of some hundred nodes is wrong by a pawn as easily as a static evaluation is, but the
/// next ones are wrong otherwise: their mean is far better.
///
/// Source: R. Sutton, "Learning to Predict by the Methods of Temporal Differences" (1988), whose
/// lambda it is; for chess J. Baxter, A. Tridgell and L. Weaver, "KnightCap" (1998).
fn hindsight(game: &PlayedGame, selection: &Selection, piece_count: &[usize]) -> Vec<f32> {
    let &Selection { curve, lambda, lambda_few, .. } = selection;
    let mut later = game.result();
    let mut expected = vec![0.0; game.moves.len()];
    for (expected, (played, &piece_count)) in
        expected.iter_mut().zip(game.moves.iter().zip(piece_count)).rev()
    {
        let lambda = if piece_count <= FEW_PIECES { lambda_few } else { lambda };
        let now = curve.of_score(f32::from(played.score));
        later = (1.0 - lambda) * now + lambda * later;
        *expected = later;
    }
    expected
}

fn for_side(side_to_move: Color, for_white: f32) -> f32 {
    match side_to_move {
        Color::White => for_white,
        Color::Black => 1.0 - for_white,
    }
}
