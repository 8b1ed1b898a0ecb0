//! Reads samples from PGN games, self-play files, or lines of text in the [`Sample`] format.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use super::{GameReader, Quiescence, Sample, game_fault};
use crate::chess::position::Position;
use crate::chess::score::Score;
use crate::games::pgn::{GameEnd, GamePly, GameResult, PgnInput, Reader, Tags, Visitor};
use crate::support::error::ParseError;
use crate::support::files::{Cannot, FileError};
use crate::support::random::Random;

#[derive(Debug, Clone)]
pub(crate) struct SampleSelection {
    /// The maximum number of positions taken from a PGN game.
    pub per_game: usize,
    /// The number of plies to skip at the beginning of a PGN game.
    pub skip_plies: usize,
    /// The maximum absolute static score, in centipawns. Positions with a larger score are skipped:
    /// they are already decided and would not contribute to the fit.
    pub limit: Score,
    pub seed: u64,
}

/// Selects quiet positions from games and from lists of samples, without duplicates.
pub(crate) struct Sampler {
    selection: SampleSelection,
    random: Random,
    quiescence: Quiescence,
    seen: HashSet<u64>,
    samples: Vec<Sample>,
    games: usize,
}

impl Sampler {
    pub(crate) fn new(selection: SampleSelection) -> Self {
        let random = Random::new(selection.seed);
        Sampler {
            selection,
            random,
            quiescence: Quiescence::new(),
            seen: HashSet::new(),
            samples: Vec::new(),
            games: 0,
        }
    }

    /// Reads a file in the format indicated by its extension: PGN for `.pgn`, self-play games for
    /// `.games`, zstd-compressed text lines for `.zst`, and plain text lines otherwise. Each text
    /// line is a [`Sample`]. In a PGN game with an error, only the moves before the error are used.
    pub(crate) fn read(&mut self, path: &Path) -> Result<(), FileError> {
        let io_error = |error| FileError::io("read", path, &error);
        let ends_in = |name| path.extension().is_some_and(|extension| extension == name);
        if ends_in("games") {
            return self.read_selfplay(path);
        }
        if ends_in("pgn") {
            let games = PgnInput::File(path.to_owned()).open(&Arc::default()).map_err(io_error)?;
            return self.read_games(games).map_err(io_error);
        }
        let file = File::open(path).map_err(io_error)?;
        if ends_in("zst") {
            let decoder = zstd::Decoder::new(file).map_err(io_error)?;
            self.read_lines(path, decoder)
        } else {
            self.read_lines(path, file)
        }
    }

    pub(crate) fn finish(self) -> (Vec<Sample>, usize) {
        (self.samples, self.games)
    }

    fn read_games(&mut self, input: impl Read) -> io::Result<()> {
        let mut reader = Reader::new(input);
        let mut positions = Positions { current: Position::start(), positions: Vec::new() };
        while let Some(end) = reader.read_game(&mut positions)? {
            if end.plies == 0 {
                // The reader may have rejected a game without moves before calling `begin`, so
                // `positions` may still be from the previous game.
                continue;
            }
            let result = match end.result {
                GameResult::White => 1.0,
                GameResult::Draw => 0.5,
                GameResult::Black => 0.0,
                GameResult::Undecided => continue,
            };
            self.games += 1;
            self.take_from_game(&mut positions.positions, result);
        }
        Ok(())
    }

    /// Selects up to [`SampleSelection::per_game`] suitable positions from a game, at random.
    fn take_from_game(&mut self, positions: &mut [Position], result: f32) {
        let Some(late) = positions.get_mut(self.selection.skip_plies..) else { return };
        self.random.shuffle(late);
        let before = self.samples.len();
        for &position in late.iter() {
            if self.samples.len() - before >= self.selection.per_game {
                break;
            }
            self.take(Sample { position, score: None, result });
        }
    }

    fn read_selfplay(&mut self, path: &Path) -> Result<(), FileError> {
        let mut reader = GameReader::open(path)?;
        while let Some(game) = reader.read_game()? {
            self.games += 1;
            let whole = game.replay(|&position, played| {
                if !played.noisy {
                    let score = Some(Score::from(played.score));
                    self.take(Sample { position, score, result: game.result() });
                }
            });
            if !whole {
                return Err(game_fault(path, reader.games(), "it has an illegal move"));
            }
        }
        Ok(())
    }

    fn read_lines(&mut self, path: &Path, input: impl Read) -> Result<(), FileError> {
        for (index, line) in BufReader::new(input).lines().enumerate() {
            let line = line.cannot("read", path)?;
            if line.is_empty() {
                continue;
            }
            let sample = line.parse().map_err(|error: ParseError| {
                FileError::new("read", path, format!("line {}: {error}", index + 1))
            })?;
            self.take(sample);
        }
        Ok(())
    }

    fn take(&mut self, sample: Sample) {
        let Some(score) = self.quiescence.quiet_score(&sample.position) else { return };
        if score.abs() <= self.selection.limit && self.seen.insert(sample.position.key()) {
            self.samples.push(sample);
        }
    }
}

struct Positions {
    current: Position,
    positions: Vec<Position>,
}

impl Visitor for Positions {
    fn begin(&mut self, _: &Tags, start: &Position) -> ControlFlow<()> {
        self.current = *start;
        self.positions.clear();
        ControlFlow::Continue(())
    }

    fn played(&mut self, ply: &GamePly) -> ControlFlow<()> {
        self.current = self.current.try_play(ply.mv).unwrap_or(self.current);
        self.positions.push(self.current);
        ControlFlow::Continue(())
    }

    fn end(&mut self, _: &GameEnd) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAMES: &str = "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 4. d3 Be7 1-0\n\n\
                         [Result \"*\"]\n\n1. d4 d5 2. c4 e6 3. Nc3 Nf6 *\n\n\
                         [Result \"0-1\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 4. d3 d5 0-1\n";

    fn sampler(per_game: usize) -> Sampler {
        Sampler::new(SampleSelection { per_game, skip_plies: 4, limit: 1000, seed: 1 })
    }

    #[test]
    fn quiet_positions_of_games_with_a_result_are_sampled_once() {
        let mut sampler = sampler(100);
        sampler.read_games(GAMES.as_bytes()).expect("no input error");
        let (samples, games) = sampler.finish();
        // The candidates from the first game are the positions after 3.Bc4, 3...Nf6, 4.d3 and
        // 4...Be7. Some may not be quiet.
        assert_eq!(games, 2);
        let wins = samples.iter().filter(|sample| sample.result == 1.0).count();
        assert!((2..=4).contains(&wins), "{samples:?}");
        // The last game differs from the first only in its final position, so it adds at most one
        // sample. It adds none if that position is not quiet.
        assert!(samples.len() - wins <= 1, "{samples:?}");
    }

    #[test]
    fn samples_per_game_are_limited() {
        let mut sampler = sampler(1);
        sampler.read_games(GAMES.as_bytes()).expect("no input error");
        assert!(sampler.finish().0.len() <= 2);
    }

    #[test]
    fn error_has_the_number_of_the_bad_line() {
        let text = format!("{} | 12 | 0.5\n\nnonsense\n", Position::start());
        let mut sampler = sampler(1);
        let error = sampler.read_lines(Path::new("data.txt"), text.as_bytes()).expect_err("bad");
        assert_eq!(
            error.to_string(),
            "cannot read data.txt: line 3: expected `FEN | score | result`"
        );
        assert_eq!(sampler.finish().0.len(), 1);
    }
}
