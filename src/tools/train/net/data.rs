//! Converts self-play games to training examples.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::example::Example;
use super::sigmoid::Sigmoid;
use crate::chess::position::Color;
use crate::support::files::FileError;
use crate::support::random::Random;
use crate::tools::train::{Block, GameReader, PlayedGame, game_fault, in_parallel};

/// The maximum number of pieces, including kings, for which `lambda_few` is used instead of
/// `lambda`.
pub(crate) const FEW_PIECES: usize = 9;

/// The number of game blocks per thread that are read into memory and converted at a time.
const BLOCKS_AT_ONCE: usize = 4;

/// Settings that determine which positions are used for training and how their targets are
/// computed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Selection {
    pub curve: Sigmoid,
    /// The weight of the game's result in the training target, from 0 to 1. The remaining weight
    /// goes to the expected result determined by `lambda`.
    pub result_share: f32,
    /// The weight of later search scores in the expected result, from 0 to 1. The score `n` plies
    /// later has a weight proportional to `lambda` to the power of `n`. The game's result takes the
    /// place of all scores after the end of the game. If `lambda` is 0, only the position's own
    /// score matters. If it is 1, only the game's result matters.
    pub lambda: f32,
    /// Used instead of `lambda` for positions with at most [`FEW_PIECES`] pieces, because small
    /// searches evaluate endgames poorly.
    pub lambda_few: f32,
    /// Positions whose absolute score is larger than this, in centipawns, are considered decided
    /// and are skipped.
    pub limit: i16,
    /// The number of plies to skip at the start of each game, after its random opening.
    pub skip_plies: usize,
    /// Every game whose number is a multiple of this value is held out for validation.
    pub hold_out_every: usize,
}

/// Training examples, and held-out examples from other games for validation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Data {
    /// The settings used to select the positions and compute their targets.
    pub selection: Selection,
    pub training: Vec<Example>,
    pub held_out: Vec<Example>,
    pub games: usize,
    /// The number of positions in all games, including those that were not selected.
    pub positions: usize,
}

impl Data {
    pub(super) fn none(selection: &Selection) -> Self {
        let selection = selection.clone();
        Data { selection, training: Vec::new(), held_out: Vec::new(), games: 0, positions: 0 }
    }

    pub(crate) fn curve(&self) -> Sigmoid {
        self.selection.curve
    }

    /// Reads all games in `paths`, selects examples from them and shuffles the training examples.
    /// Periodically calls `report` with the data read so far.
    pub(crate) fn read(
        paths: &[PathBuf],
        selection: &Selection,
        threads: usize,
        seed: u64,
        mut report: impl FnMut(&Data),
    ) -> Result<Self, FileError> {
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

    fn add(
        &mut self,
        path: &Path,
        blocks: &[Block],
        selection: &Selection,
        threads: usize,
    ) -> Result<(), FileError> {
        let parts = in_parallel(blocks, threads, |blocks| {
            blocks.iter().map(|block| examples_of(block, selection)).collect::<Vec<_>>()
        });
        for games in parts.into_iter().flatten() {
            let games = games.map_err(|(game, what)| game_fault(path, game, what))?;
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

impl Data {
    /// Writes all examples in a format for other trainers. The first line is text with the numbers
    /// of training and held-out examples and the settings. The training examples follow, and then
    /// the held-out examples, each as returned by [`Example::to_bytes`].
    pub(crate) fn export(&self, output: &mut impl Write) -> io::Result<()> {
        let Selection { curve: Sigmoid { scale }, result_share, lambda, lambda_few, .. } =
            self.selection;
        let (training, held_out) = (self.training.len(), self.held_out.len());
        writeln!(
            output,
            "tabia examples 1; training {training}; held out {held_out}; scale {scale}; \
             result {result_share}; lambda {lambda}; lambda few {lambda_few}"
        )?;
        for example in self.training.iter().chain(&self.held_out) {
            output.write_all(&example.to_bytes())?;
        }
        Ok(())
    }
}

fn read_some(reader: &mut GameReader, most: usize) -> Result<Vec<Block>, FileError> {
    let mut blocks = Vec::with_capacity(most);
    while blocks.len() < most
        && let Some(block) = reader.read_block()?
    {
        blocks.push(block);
    }
    Ok(blocks)
}

/// The number of positions in a game, together with the examples selected from them.
type Taken = (usize, Vec<Example>);

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

/// Returns the examples selected from a game, or `None` if the starting position is invalid or a
/// move is illegal.
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

/// Returns White's expected result before each move. It is a weighted mean of the search scores of
/// that move and all later moves, and of the game's result. `piece_count` contains the number of
/// pieces before each move.
///
/// A search with a few hundred nodes is off by a pawn as often as a static evaluation. The mean of
/// successive searches is much more accurate, because their errors differ.
///
/// Sources: for lambda, R. Sutton, "Learning to Predict by the Methods of Temporal Differences"
/// (1988); for its use in chess, J. Baxter, A. Tridgell and L. Weaver, "KnightCap" (1998).
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
