//! Replaces the scores in existing games with scores from a later network.
//!
//! The moves remain the same. A score is either the network's evaluation or the result of a search
//! that uses the network. Other engines gained 24 to 50 Elo with this method (see "data rescoring"
//! in the documentation of Stockfish's trainer).

use super::selfplay::{SelfPlay, for_white};
use super::{GameSettings, PlayedGame, SearchedMove, is_noisy};
use crate::chess::position::Game;
use crate::chess::score::Score;
use crate::engine::eval::{Evaluation, Evaluator};

#[derive(Clone)]
pub(crate) struct Judgement {
    pub evaluation: Evaluation,
    /// The soft node limit of a search, after which no new iteration starts. If it is `None`,
    /// positions are only evaluated, not searched.
    pub nodes: Option<u64>,
}

impl std::fmt::Display for Judgement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.nodes {
            Some(nodes) => write!(f, "{}, {nodes} nodes", self.evaluation),
            None => write!(f, "{}, static", self.evaluation),
        }
    }
}

pub(crate) enum Relabeller {
    Static(Box<Evaluator>),
    Search(Box<SelfPlay>),
}

impl Relabeller {
    pub(crate) fn new(judgement: &Judgement) -> Self {
        let evaluation = judgement.evaluation.clone();
        match judgement.nodes {
            None => Relabeller::Static(Box::new(Evaluator::new(&evaluation))),
            Some(nodes) => {
                let settings = GameSettings { evaluation, nodes, ..GameSettings::default() };
                Relabeller::Search(Box::new(SelfPlay::new(settings)))
            }
        }
    }

    /// Returns the game with new scores, or `None` if a move is illegal. The result depends only on
    /// the game and the `Judgement`. If the positions are searched, their `noisy` flags are also
    /// updated, based on the best move found.
    pub(crate) fn judge(&mut self, game: &PlayedGame) -> Option<PlayedGame> {
        let mut moves = Vec::with_capacity(game.moves.len());
        let whole = match self {
            Relabeller::Static(evaluator) => game.replay(|position, played| {
                let score = in_file(for_white(position, evaluator.evaluate(position, 0)));
                moves.push(SearchedMove { score, ..*played });
            }),
            Relabeller::Search(player) => {
                player.begin();
                let mut so_far = Game::new(game.start()?);
                let opened = game.opening.iter().all(|&mv| so_far.play(mv).is_ok());
                opened
                    && game.moves.iter().all(|&played| {
                        let position = *so_far.position();
                        let Some((best, score)) = player.search(&so_far) else { return false };
                        let noisy = is_noisy(&position, best);
                        moves.push(SearchedMove { mv: played.mv, score: in_file(score), noisy });
                        so_far.play(played.mv).is_ok()
                    })
            }
        };
        whole.then(|| PlayedGame { moves, ..game.clone() })
    }
}

/// Clamps a score to the range that game files can store.
fn in_file(score: Score) -> i16 {
    score.clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Color;

    fn played() -> PlayedGame {
        let settings = GameSettings { nodes: 50, ..GameSettings::default() };
        SelfPlay::new(settings).play(1)
    }

    fn relabeller(nodes: Option<u64>) -> Relabeller {
        Relabeller::new(&Judgement { evaluation: Evaluation::default(), nodes })
    }

    #[test]
    fn static_evaluation_relabels_every_position() {
        let game = played();
        let judged = relabeller(None).judge(&game).expect("a legal game");
        let mut evaluator = Evaluator::new(&Evaluation::default());
        let mut scores = Vec::new();
        judged.replay(|position, _| {
            let score = evaluator.evaluate(position, 0);
            scores.push(if position.side_to_move() == Color::White { score } else { -score });
        });
        assert!(judged.moves.iter().map(|played| Score::from(played.score)).eq(scores));
        let moves = |game: &PlayedGame| -> Vec<_> {
            game.moves.iter().map(|played| (played.mv, played.noisy)).collect()
        };
        assert_eq!(moves(&judged), moves(&game));
        assert_ne!(judged.moves, game.moves);
        assert_eq!((judged.half_points, judged.opening), (game.half_points, game.opening));
    }

    #[test]
    fn search_labels_do_not_depend_on_previous_games() {
        let game = played();
        let mut relabeller = relabeller(Some(50));
        let judged = relabeller.judge(&game).expect("a legal game");
        assert_eq!(judged.moves.len(), game.moves.len());
        let other = SelfPlay::new(GameSettings { nodes: 50, ..GameSettings::default() }).play(2);
        relabeller.judge(&other).expect("a legal game");
        assert_eq!(relabeller.judge(&game).expect("a legal game"), judged);
        let near = judged
            .moves
            .iter()
            .zip(&game.moves)
            .filter(|(new, old)| (Score::from(new.score) - Score::from(old.score)).abs() < 100);
        assert!(
            near.count() * 2 > game.moves.len(),
            "searches of the same size give similar scores"
        );
    }

    #[test]
    fn illegal_games_are_rejected() {
        let mut game = played();
        let last = game.moves.len() - 1;
        game.moves[last].mv = "a1h7".parse().expect("a move");
        assert!(relabeller(None).judge(&game).is_none());
        assert!(relabeller(Some(10)).judge(&game).is_none());
    }
}
