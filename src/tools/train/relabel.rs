//! Games of former networks, judged anew.
//!
//! The moves stay as they were played; what is thought of each position is what a later network says,
//! by itself or by a search. Others found 24 to 50 Elo in it (Stockfish's trainer, "data rescoring").

use super::selfplay::{SelfPlay, for_white};
use super::{GameSettings, PlayedGame, SearchedMove, is_noisy};
use crate::chess::position::Game;
use crate::chess::score::Score;
use crate::engine::eval::{Evaluation, Evaluator};

/// What positions are judged by.
#[derive(Clone)]
pub(crate) struct Judgement {
    /// What evaluates them.
    pub evaluation: Evaluation,
    /// Nodes of a search, after which no iteration begins; without one the evaluation alone judges.
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

/// Judges the positions of games.
pub(crate) enum Relabeller {
    /// By the evaluation alone.
    Static(Box<Evaluator>),
    /// By searches.
    Search(Box<SelfPlay>),
}

impl Relabeller {
    /// One that judges so.
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

    /// The game with new scores, which follow from it and the judgement alone; `None` if a move is
    /// illegal. A search also tells anew whether a position is noisy: its own best move says so.
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

/// Scores as files have them; mates are the largest.
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
    fn the_static_evaluation_judges_every_position() {
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
    fn searches_judge_a_game_as_it_was_played_and_the_same_after_any_other() {
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
        assert!(near.count() * 2 > game.moves.len(), "they come from searches as large");
    }

    #[test]
    fn illegal_games_are_reported() {
        let mut game = played();
        let last = game.moves.len() - 1;
        game.moves[last].mv = "a1h7".parse().expect("a move");
        assert!(relabeller(None).judge(&game).is_none());
        assert!(relabeller(Some(10)).judge(&game).is_none());
    }
}
