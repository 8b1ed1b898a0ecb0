//! Searches the positions of a game.

use std::collections::BTreeSet;
use std::time::Duration;

use super::accuracy::expected;
use super::scale::to_stockfish_scale;
use crate::chess::position::{Game, Move, Position};
use crate::chess::score::{DRAW, Depth, Score, is_decided, mated_in};
use crate::engine::search::{Bound, Control, Limits, SearchEvent, Searcher};
use crate::tools::suite::Switch;

/// The default number of nodes per position. At this setting, annotating a forty-move game takes
/// about ten seconds.
pub(crate) const NODES: u64 = 200_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// A number of nodes per position. With this limit, the study of a game is reproducible.
    Nodes(u64),
    Time(Duration),
}

impl Effort {
    /// Returns a description, such as `200000 nodes a move`.
    pub(crate) fn describe(self) -> String {
        match self {
            Effort::Nodes(nodes) => format!("{nodes} nodes a move"),
            Effort::Time(time) => format!("{} s a move", time.as_secs_f64()),
        }
    }

    fn times(self, factor: u32) -> Self {
        match self {
            Effort::Nodes(nodes) => Effort::Nodes(nodes.saturating_mul(u64::from(factor))),
            Effort::Time(time) => Effort::Time(time.saturating_mul(factor)),
        }
    }

    fn limits(self, part: u32) -> Limits {
        match self {
            Effort::Nodes(nodes) => Limits::nodes((nodes / u64::from(part)).max(1)),
            Effort::Time(time) => Limits::move_time(time / part),
        }
    }
}

/// The effort per position is divided by this number when searching for the second-best move,
/// because a rough score is enough.
const SECOND_PART: u32 = 4;

/// The effort per position is multiplied by this factor to verify a move that seems to lose
/// expected points. The value was chosen by hand; the study of a game takes about 1.5 times as long
/// as without verification.
const AGAIN: u32 = 8;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// The score of the best line, in centipawns on Stockfish's scale (see [`to_stockfish_scale`]).
    pub score: Score,
    pub line: Vec<Move>,
    /// The completed depth in plies.
    pub depth: Depth,
}

#[derive(Debug, Clone)]
pub(crate) struct Study {
    pub game: Game,
    /// The search result for each position, including the final one; `None` for checkmate and
    /// stalemate.
    pub found: Vec<Option<Found>>,
    /// For each position in which the best move was played, the score of the second-best move.
    /// `None` if the best move was not played, there is no other move, or the game is already
    /// decided.
    pub second: Vec<Option<Score>>,
}

impl Study {
    /// Searches all positions of a game, from the last to the first, so that earlier positions
    /// benefit from the results of later ones in the transposition table. Moves that seem to lose
    /// at least `suspect` expected points are then verified with [`AGAIN`] times the effort.
    ///
    /// After each position, `progress` is called with the number of completed positions and the
    /// total. Returns `None` if the switch was turned off.
    pub(crate) fn of(
        game: Game,
        searcher: &mut Searcher,
        (effort, suspect): (Effort, f64),
        switch: &Switch,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Option<Self> {
        searcher.new_game();
        let plies = game.moves().len();
        let mut study =
            Study { found: vec![None; plies + 1], second: vec![None; plies], game: game.clone() };
        let mut before = game;
        for ply in (0..=plies).rev() {
            study.found[ply] = search(&before, searcher, &effort.limits(1), &switch.control());
            if let (Some(&mv), Some(found)) = (study.game.moves().get(ply), &study.found[ply])
                && found.line.first() == Some(&mv)
                && !is_decided(found.score)
            {
                let limits = &effort.limits(SECOND_PART);
                study.second[ply] = best_but(mv, &before, searcher, limits, &switch.control());
            }
            if switch.is_stopped() {
                return None;
            }
            progress(plies + 1 - ply, plies + 1);
            before.undo();
        }
        study.search_suspects_again(searcher, (effort.times(AGAIN), suspect), switch, progress)?;
        Some(study)
    }

    /// Repeats the searches before and after each move that seems to lose at least `suspect`
    /// expected points. The new scores can make other moves suspect, so this continues until the
    /// positions of all suspect moves have been searched again.
    fn search_suspects_again(
        &mut self,
        searcher: &mut Searcher,
        (effort, suspect): (Effort, f64),
        switch: &Switch,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Option<()> {
        let mut done: BTreeSet<usize> = BTreeSet::new();
        loop {
            let suspects = (0..self.second.len()).filter(|&ply| self.loss(ply) >= suspect);
            let sides: BTreeSet<usize> = suspects.flat_map(|ply| [ply, ply + 1]).collect();
            let left: Vec<usize> = sides.difference(&done).copied().collect();
            if left.is_empty() {
                return Some(());
            }
            let of = self.found.len() + done.len() + left.len();
            for (number, &ply) in left.iter().rev().enumerate() {
                let mut game = self.game.clone();
                for _ in ply..self.second.len() {
                    game.undo();
                }
                let found = search(&game, searcher, &effort.limits(1), &switch.control());
                if switch.is_stopped() {
                    return None;
                }
                self.found[ply] = found;
                done.insert(ply);
                progress(of - left.len() + number + 1, of);
            }
        }
    }

    /// Returns the expected points lost by a ply, from 0 to 1. The best move loses 0.
    pub(super) fn loss(&self, ply: usize) -> f64 {
        let mv = self.game.moves()[ply];
        let best = self.found[ply].as_ref().and_then(|found| found.line.first());
        // A null move stands for a move that is not known, so it loses nothing.
        match mv.is_null() || best == Some(&mv) {
            true => 0.0,
            false => (expected(self.score(ply)) - expected(-self.score(ply + 1))).max(0.0),
        }
    }

    /// Returns the position before a ply. An index equal to the number of plies gives the final
    /// position.
    pub(crate) fn position(&self, ply: usize) -> &Position {
        &self.game.positions()[ply]
    }

    /// Returns the score of the position before a ply, or of the final position, from the side to
    /// move's point of view. For checkmate and stalemate, this is the score of a mate or a draw.
    pub(crate) fn score(&self, ply: usize) -> Score {
        let over = || {
            let position = self.position(ply);
            let is_mate = position.in_check() && position.has_no_moves();
            if is_mate { mated_in(0) } else { DRAW }
        };
        self.found[ply].as_ref().map_or_else(over, |found| found.score)
    }
}

/// Searches the last position of `game`. Returns `None` if it is checkmate or stalemate. Other
/// positions are searched even if a draw could be claimed, for example by repetition.
fn search(
    game: &Game,
    searcher: &mut Searcher,
    limits: &Limits,
    control: &Control,
) -> Option<Found> {
    let position = game.position();
    if position.has_no_moves() {
        return None;
    }
    let mut line = Vec::new();
    let result = searcher.search(game, limits, control, &mut |event| {
        if let SearchEvent::Iteration(report) | SearchEvent::NewBest(report) = event
            && report.bound != Bound::Upper
        {
            line.clone_from(&report.pv);
        }
    });
    let best = result.best?;
    if line.first() != Some(&best) {
        line = vec![best];
    }
    Some(Found { score: to_stockfish_scale(result.score), line, depth: result.depth })
}

fn best_but(
    mv: Move,
    game: &Game,
    searcher: &mut Searcher,
    limits: &Limits,
    control: &Control,
) -> Option<Score> {
    let root_moves: Vec<Move> =
        game.position().legal_moves().iter().filter(|&other| other != mv).collect();
    let limits = Limits { root_moves, ..limits.clone() };
    let are_there = !limits.root_moves.is_empty();
    are_there
        .then(|| to_stockfish_scale(searcher.search_without_events(game, &limits, control).score))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::search::Config;

    fn study(suspect: f64, stop_at: usize) -> (Option<Study>, Vec<(usize, usize)>) {
        let mut game = Game::default();
        for san in ["f3", "e5", "g4", "Qh4#"] {
            let mv = game.position().parse_move(san).expect(san);
            game.play(mv).expect(san);
        }
        let mut searcher = Searcher::new(Config { memory_mb: 1, ..Config::default() });
        let (switch, mut progress) = (Switch::default(), Vec::new());
        let how = (Effort::Nodes(500), suspect);
        let study = Study::of(game, &mut searcher, how, &switch, &mut |done, of| {
            progress.push((done, of));
            if done == stop_at {
                switch.stop();
            }
        });
        (study, progress)
    }

    #[test]
    fn suspected_mistakes_are_searched_again() {
        let (once, steps) = study(2.0, 0);
        assert_eq!(steps, [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]);
        let (again, steps) = study(0.3, 0);
        assert_eq!(steps.last().map(|&(done, of)| (done == of, of > 5)), Some((true, true)));
        let [once, again] = [once, again].map(|study| study.expect("not stopped"));
        let depth = |study: &Study, ply: usize| study.found[ply].as_ref().map(|found| found.depth);
        assert!(depth(&again, 2) > depth(&once, 2), "before 2. g4");
        assert_eq!(depth(&again, 0), depth(&once, 0), "1. f3 loses less");
        assert!(again.loss(2) > 0.3 && again.loss(3) == 0.0);
    }

    #[test]
    fn stopped_study_returns_none() {
        for at in [1, 5, 6] {
            let (study, steps) = study(0.3, at);
            assert!(study.is_none() && steps.len() == at, "{at}: {steps:?}");
        }
    }
}
