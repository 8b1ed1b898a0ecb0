//! Assesses the moves of a game and summarises the assessments for each player.

use std::fmt;

use super::accuracy::{expected, of_game, of_move};
use super::study::Study;
use crate::chess::position::{Color, Move};
use crate::chess::score::{Depth, Score, mate_distance};

/// Mates in at most this many moves are always mentioned if they are missed or allowed, because
/// humans can find them. Chosen by hand.
const SHORT_MATE: i32 = 5;

/// The minimum loss of expected points, from 0 to 1, for each verdict. The defaults are half of
/// Lichess's limits (0.1, 0.2 and 0.3; see `Advice` in its source code), because Lichess measures
/// winning chances on a scale from -1 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limits {
    pub inaccuracy: f64,
    pub mistake: f64,
    pub blunder: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { inaccuracy: 0.05, mistake: 0.10, blunder: 0.15 }
    }
}

/// Formats the limits as `tabia annotate --limits` accepts them.
impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.inaccuracy, self.mistake, self.blunder)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// A small error, marked with `?!`.
    Inaccuracy,
    /// An error, marked with `?`.
    Mistake,
    /// A serious error, marked with `??`.
    Blunder,
}

impl Verdict {
    pub(crate) const ALL: [Verdict; 3] = [Verdict::Inaccuracy, Verdict::Mistake, Verdict::Blunder];

    fn of(loss: f64, limits: &Limits) -> Option<Self> {
        match loss {
            loss if loss >= limits.blunder => Some(Verdict::Blunder),
            loss if loss >= limits.mistake => Some(Verdict::Mistake),
            loss if loss >= limits.inaccuracy => Some(Verdict::Inaccuracy),
            _ => None,
        }
    }

    pub(crate) fn nag(self) -> u8 {
        match self {
            Verdict::Inaccuracy => 6,
            Verdict::Mistake => 2,
            Verdict::Blunder => 4,
        }
    }

    pub(crate) fn sign(self) -> &'static str {
        match self {
            Verdict::Inaccuracy => "?!",
            Verdict::Mistake => "?",
            Verdict::Blunder => "??",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::Inaccuracy => "Inaccuracy",
            Verdict::Mistake => "Mistake",
            Verdict::Blunder => "Blunder",
        }
    }
}

/// The assessment of a move. Scores are in centipawns, from the point of view of the player who
/// moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Judgement {
    pub mv: Move,
    pub side: Color,
    pub best: Option<Move>,
    pub before: Score,
    pub after: Score,
    /// The loss of expected points, from 0 to 1; 0 for the best move.
    pub loss: f64,
    pub verdict: Option<Verdict>,
    /// Whether this is the only good move: every alternative is at least a mistake, and the move is
    /// not a recapture.
    pub only: bool,
    /// The number of moves to mate, if the move missed a mate.
    pub missed_mate: Option<i32>,
    /// The number of moves to mate, if the move allowed a mate.
    pub allowed_mate: Option<i32>,
}

impl Judgement {
    /// Returns the score after the move, in centipawns, from White's point of view.
    pub(crate) fn white(&self) -> Score {
        if self.side == Color::White { self.after } else { -self.after }
    }
}

pub(crate) fn judge(study: &Study, limits: &Limits) -> Vec<Judgement> {
    (0..study.game.moves().len()).map(|ply| judge_move(study, ply, limits)).collect()
}

fn judge_move(study: &Study, ply: usize, limits: &Limits) -> Judgement {
    let (mv, side) = (study.game.moves()[ply], study.position(ply).side_to_move());
    let best = study.found[ply].as_ref().and_then(|found| found.line.first().copied());
    let (before, after) = (study.score(ply), -study.score(ply + 1));
    let is_best = mv.is_null() || best == Some(mv);
    let loss = study.loss(ply);
    let only = !takes_back(study, ply)
        && study.second[ply]
            .is_some_and(|second| expected(before) - expected(second) >= limits.mistake);
    let verdict = Verdict::of(loss, limits);
    let mate = |score: Score, ply: usize| {
        let depth = study.found[ply].as_ref().map_or(Depth::MAX, |found| found.depth);
        mate_distance(score).filter(|&moves| moves > 0 && is_remarkable(moves, depth, verdict))
    };
    let (missed, allowed) = (mate(before, ply), mate(-after, ply + 1));
    let gives_mate = |score: Score| mate_distance(score).is_some_and(|moves| moves > 0);
    Judgement {
        mv,
        side,
        best,
        before,
        after,
        loss,
        verdict,
        only,
        missed_mate: missed.filter(|_| !is_best && !gives_mate(after)),
        allowed_mate: allowed.filter(|_| !is_best && !gives_mate(-before)),
    }
}

/// Returns true if a missed or allowed mate is worth a comment. The search `depth` must cover all
/// plies of the mate. In addition, the mate must be short, or the move must be at least a mistake.
fn is_remarkable(moves: i32, depth: Depth, verdict: Option<Verdict>) -> bool {
    let is_proven = 2 * moves - 1 <= depth;
    is_proven && (moves <= SHORT_MATE || verdict >= Some(Verdict::Mistake))
}

/// Returns true if a ply is a recapture. Recaptures are obvious, so they are never marked as the
/// only move.
fn takes_back(study: &Study, ply: usize) -> bool {
    let moves = study.game.moves();
    ply > 0
        && moves[ply].to() == moves[ply - 1].to()
        && study.position(ply - 1).is_capture(moves[ply - 1])
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Player {
    /// The numbers of the player's inaccuracies, mistakes and blunders, in this order.
    pub called: [usize; 3],
    /// The player's accuracy in percent, or `None` if the player made no moves.
    pub accuracy: Option<f64>,
    /// The player's average loss per move in centipawns, or `None` if the player made no moves.
    pub average_loss: Option<f64>,
}

/// The cap on scores in the calculation of `average_loss`, in centipawns. Lichess uses the same
/// cap.
const LARGEST: Score = 1_000;

impl Player {
    pub(crate) fn of(side: Color, judgements: &[Judgement]) -> Self {
        let own = || judgements.iter().enumerate().filter(|(_, judged)| judged.side == side);
        let called = Verdict::ALL
            .map(|verdict| own().filter(|(_, judged)| judged.verdict == Some(verdict)).count());
        let Some(first) = judgements.first() else { return Player::default() };
        let start = if first.side == Color::White { first.before } else { -first.before };
        let white: Vec<f64> = std::iter::once(start)
            .chain(judgements.iter().map(Judgement::white))
            .map(expected)
            .collect();
        let moves: Vec<(usize, f64)> =
            own().map(|(ply, judged)| (ply, of_move(judged.loss))).collect();
        let centipawns = |judged: &Judgement| {
            let [before, after] =
                [judged.before, judged.after].map(|score| score.clamp(-LARGEST, LARGEST));
            if judged.best == Some(judged.mv) { 0 } else { (before - after).max(0) }
        };
        let lost: Score = own().map(|(_, judged)| centipawns(judged)).sum();
        Player {
            called,
            accuracy: of_game(&white, &moves),
            average_loss: (!moves.is_empty()).then(|| f64::from(lost) / moves.len() as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Game;
    use crate::chess::score::{Ply, mate_in, mated_in};
    use crate::tools::annotate::study::Found;

    /// Creates a study of the given moves. `found` contains the search result for each position:
    /// the score from the side to move's point of view, and the best move.
    pub(crate) fn study(moves: &[&str], found: &[(Score, &str)], second: Option<Score>) -> Study {
        let mut game = Game::default();
        for san in moves {
            let mv = game.position().parse_move(san).expect(san);
            game.play(mv).expect(san);
        }
        let one = |(ply, &(score, best)): (usize, &(Score, &str))| {
            let mv = game.positions()[ply].parse_move(best).expect(best);
            Some(Found { score, line: vec![mv], depth: 9 })
        };
        let mut found: Vec<_> = found.iter().enumerate().map(one).collect();
        found.resize(moves.len() + 1, None);
        Study { second: vec![second; moves.len()], game, found }
    }

    #[test]
    fn verdict_depends_on_the_loss() {
        let moves = ["f3", "e5", "g4", "Qh4#"];
        let scores = [(30, "e4"), (80, "e5"), (-70, "e4"), (mate_in(1), "Qh4#")];
        let judged = judge(&study(&moves, &scores, None), &Limits::default());
        assert_eq!(judged[0].verdict, Some(Verdict::Mistake), "{:?}", judged[0]);
        assert_eq!((judged[0].before, judged[0].after, judged[0].white()), (30, -80, -80));
        assert_eq!((judged[1].verdict, judged[1].loss), (None, 0.0));
        assert_eq!((judged[2].verdict, judged[2].allowed_mate), (Some(Verdict::Blunder), Some(1)));
        assert_eq!((judged[3].verdict, judged[3].after), (None, mate_in(0)));
        let [white, black] = [Color::White, Color::Black].map(|side| Player::of(side, &judged));
        assert_eq!((white.called, black.called), ([0, 1, 1], [0, 0, 0]));
        assert!(white.accuracy < Some(60.0) && black.accuracy > Some(99.9), "{white:?} {black:?}");
        assert_eq!(black.average_loss, Some(0.0));
    }

    #[test]
    fn mate_is_missed_only_if_none_is_left() {
        let moves = ["f3", "e5", "g4", "d5"];
        let first = [(30, "e4"), (80, "e5"), (-70, "e4"), (mate_in(1), "Qh4#")];
        let judge_last = |last: Score| {
            let mut scores = first.to_vec();
            scores.push((last, "d3"));
            judge(&study(&moves, &scores, None), &Limits::default())[3]
        };
        assert_eq!(judge_last(40).missed_mate, Some(1));
        assert_eq!(judge_last(40).verdict, Some(Verdict::Blunder));
        let later = judge_last(mated_in(4));
        assert_eq!((later.missed_mate, later.verdict), (None, None));
    }

    #[test]
    fn only_proven_and_decisive_mates_are_noted() {
        let moves = ["f3", "e5", "g4", "d5"];
        let missed = |mate: i32, depth: Depth, now: Score| {
            let scores =
                [(30, "e4"), (80, "e5"), (-70, "e4"), (mate_in(2 * mate as Ply - 1), "Qh4#")];
            let mut study = study(&moves, &[scores.as_slice(), &[(-now, "d3")]].concat(), None);
            study.found[3].as_mut().expect("found").depth = depth;
            let judged = judge(&study, &Limits::default());
            (judged[3].missed_mate, judged[2].allowed_mate)
        };
        assert_eq!(missed(10, 30, 900), (None, Some(10)), "still won after 2... d5");
        assert_eq!(missed(10, 30, 200), (Some(10), Some(10)), "barely winning");
        assert_eq!(missed(10, 18, 200), (None, None), "the depth does not cover the mate");
        assert_eq!(missed(SHORT_MATE, 9, 900), (Some(SHORT_MATE), Some(SHORT_MATE)), "short");
        assert_eq!(missed(56, 40, -300), (None, None), "a bound, or a table's remnant");
    }

    #[test]
    fn move_is_the_only_one_if_the_second_best_loses_much() {
        let found = [(30, "e4"), (-20, "e5")];
        let judge_first =
            |second| judge(&study(&["e4"], &found, second), &Limits::default())[0].only;
        assert!(judge_first(Some(-200)) && !judge_first(Some(20)) && !judge_first(None));
        let moves = ["e4", "d5", "exd5", "Qxd5"];
        let found = [(30, "e4"), (-20, "e5"), (50, "exd5"), (-40, "Qxd5")];
        let judged = judge(&study(&moves, &found, Some(-300)), &Limits::default());
        let only: Vec<bool> = judged.iter().map(|judged| judged.only).collect();
        assert_eq!(only, [true, true, true, false], "it recaptures");
    }
}
