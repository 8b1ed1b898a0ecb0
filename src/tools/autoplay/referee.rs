//! Adjudicates games and judges the claims of engines.
//!
//! ```
//! use tabia::autoplay::referee::{Referee, Rules};
//! use tabia::position::{Color, Game};
//!
//! let mut referee = Referee::new(Rules { max_moves: Some(50), ..Rules::default() }, None);
//! let mut game = Game::default();
//! game.play("e2e4".parse()?)?;
//! assert!(referee.update(&game, Color::White, Some(30)).is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use serde::Deserialize;

use crate::chess::notation;
use crate::chess::position::{Color, Game};
use crate::chess::score::Score;
use crate::engine::tablebase::Tables;
use crate::support::words::number_of;

use super::verdict::{Termination, Verdict};

/// A rule that adjudicates a draw if both engines' scores stay close to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct DrawRule {
    /// The rule applies once both sides have played the move with this number.
    pub from_move: u32,
    /// The number of consecutive moves for which both sides' scores must stay within the limit.
    pub moves: u32,
    /// The maximum absolute score, in centipawns.
    pub score: Score,
}

/// A rule that adjudicates a win if both engines' scores agree that one side is winning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct WinRule {
    /// The number of consecutive moves by each side for which the scores must reach the limit.
    pub moves: u32,
    /// The minimum absolute score, in centipawns.
    pub score: Score,
}

/// The rules for adjudicating a game before it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rules {
    /// Adjudicates draws according to the engines' scores.
    pub draw: Option<DrawRule>,
    /// Adjudicates wins according to the engines' scores.
    pub win: Option<WinRule>,
    /// The number of moves by each side, including opening moves, after which the game is
    /// adjudicated as a draw.
    pub max_moves: Option<u32>,
}

/// Adjudicates a game according to the engines' scores, the length of the game and the tablebases.
#[derive(Debug)]
pub struct Referee {
    rules: Rules,
    /// The number of consecutive plies that satisfy the draw rule.
    drawish: u32,
    /// The numbers of consecutive plies that satisfy the win rule for White and for Black.
    winning: [u32; 2],
    tables: Option<Tables>,
}

impl Referee {
    /// Creates a referee for one game.
    pub fn new(rules: Rules, tables: Option<Tables>) -> Self {
        Referee { rules, drawish: 0, winning: [0; 2], tables }
    }

    /// Returns a verdict if the game is over or should be adjudicated. Call this after each move,
    /// with the score that `mover` reported for it.
    pub fn update(&mut self, game: &Game, mover: Color, score: Option<Score>) -> Option<Verdict> {
        if let Some(outcome) = game.outcome() {
            return Some(outcome.into());
        }
        self.count(mover, score);
        if game.position().halfmove_clock() == 0 {
            // Restart the count, because a capture or pawn move shows that the game is still being
            // contested.
            self.drawish = 0;
        }
        self.known(game)
            .or_else(|| self.drawn(game))
            .or_else(|| self.won())
            .or_else(|| self.too_long(game))
    }

    fn count(&mut self, mover: Color, score: Option<Score>) {
        let drawish = |rule: DrawRule| score.is_some_and(|score| score.abs() <= rule.score);
        self.drawish = if self.rules.draw.is_some_and(drawish) { self.drawish + 1 } else { 0 };
        for winner in [Color::White, Color::Black] {
            let sees_win = |rule: WinRule| match score {
                Some(score) if mover == winner => score >= rule.score,
                Some(score) => score <= -rule.score,
                None => false,
            };
            let count = &mut self.winning[winner.to_index()];
            *count = if self.rules.win.is_some_and(sees_win) { *count + 1 } else { 0 };
        }
    }

    /// Adjudicates the position if its tablebase result is known.
    fn known(&self, game: &Game) -> Option<Verdict> {
        let winner = self.tables.as_ref()?.winner(game.position())?;
        let termination = Termination::TablebaseAdjudication;
        Some(match winner {
            None => Verdict::draw(termination, "drawn by the endgame tables"),
            Some(winner) => {
                let detail = format!("{} wins by the endgame tables", notation::color(winner));
                Verdict::against(!winner, termination, detail)
            }
        })
    }

    fn drawn(&self, game: &Game) -> Option<Verdict> {
        let rule = self.rules.draw?;
        let late = u32::from(game.position().fullmove_number()) > rule.from_move;
        (late && self.drawish >= 2 * rule.moves).then(|| {
            let moves = number_of(rule.moves.into(), "move");
            let detail = format!("both engines within {} for {moves}", rule.score);
            Verdict::draw(Termination::DrawAdjudication, detail)
        })
    }

    fn won(&self) -> Option<Verdict> {
        let rule = self.rules.win?;
        let sides = [Color::White, Color::Black];
        let winner = sides.into_iter().find(|c| self.winning[c.to_index()] >= 2 * rule.moves)?;
        let detail = format!(
            "both engines see {} ahead by {} for {}",
            notation::color(winner),
            rule.score,
            number_of(rule.moves.into(), "move")
        );
        Some(Verdict::against(!winner, Termination::WinAdjudication, detail))
    }

    fn too_long(&self, game: &Game) -> Option<Verdict> {
        let moves = self.rules.max_moves?;
        (game.moves().len() >= 2 * moves as usize).then(|| {
            Verdict::draw(
                Termination::LengthAdjudication,
                format!("{} played", number_of(moves.into(), "move")),
            )
        })
    }
}

/// Judges an engine's claim that the game is over. A claim that matches the position is accepted,
/// and a claim that the engine itself has lost counts as a resignation. Any other claim loses the
/// game.
pub fn judge_claim(game: &Game, claimant: Color, result: &str, comment: &str) -> Verdict {
    if let Some(outcome) = game.outcome().filter(|outcome| outcome.result() == result) {
        return outcome.into();
    }
    let loss = if claimant == Color::White { "0-1" } else { "1-0" };
    if result == loss {
        let detail = format!("{} resigns ({comment})", notation::color(claimant));
        return Verdict::against(claimant, Termination::Resignation, detail);
    }
    let detail = format!("{} claims {result} ({comment})", notation::color(claimant));
    Verdict::against(claimant, Termination::FalseClaim, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(referee: &mut Referee, game: &mut Game, rows: &[(&str, Score)]) -> Option<Termination> {
        for &(text, score) in rows {
            let mover = game.position().side_to_move();
            let mv = game.position().parse_move(text).expect(text);
            game.play(mv).expect(text);
            if let Some(verdict) = referee.update(game, mover, Some(score)) {
                return Some(verdict.termination);
            }
        }
        None
    }

    #[test]
    fn draw_adjudication_needs_both_sides_and_the_move_number() {
        let draw = Some(DrawRule { from_move: 4, moves: 2, score: 10 });
        let rules = Rules { draw, ..Rules::default() };
        let quiet = [("Nf3", 5), ("Nf6", -5), ("Nc3", 0), ("Nc6", 10), ("Rb1", 0), ("Rb8", 9)];
        let (mut referee, mut game) = (Referee::new(rules, None), Game::default());
        assert_eq!(play(&mut referee, &mut game, &quiet), None);
        let more = [("Ra1", 0), ("Ra8", 0)];
        let reason = Some(Termination::DrawAdjudication);
        assert_eq!(play(&mut referee, &mut game, &more), reason);
        let (mut referee, mut game) = (Referee::new(rules, None), Game::default());
        assert_eq!(play(&mut referee, &mut game, &quiet), None);
        assert_eq!(play(&mut referee, &mut game, &[("e4", 0), ("Ra8", 0)]), None);
        let (mut referee, mut game) = (Referee::new(rules, None), Game::default());
        assert_eq!(play(&mut referee, &mut game, &quiet), None);
        assert_eq!(play(&mut referee, &mut game, &[("Ra1", 0), ("Ra8", 11)]), None);
    }

    #[test]
    fn win_adjudication_needs_both_sides() {
        let rules = Rules { win: Some(WinRule { moves: 2, score: 500 }), ..Rules::default() };
        let (mut referee, mut game) = (Referee::new(rules, None), Game::default());
        let rows = [("e4", -600), ("e5", 500), ("d4", -700), ("d5", 499), ("Nf3", -900)];
        assert_eq!(play(&mut referee, &mut game, &rows), None);
        let rows = [("Nf6", 600), ("Nc3", -500), ("Nc6", 600), ("Be2", -1000)];
        assert_eq!(play(&mut referee, &mut game, &rows), Some(Termination::WinAdjudication));
    }

    #[test]
    fn game_ends_at_maximum_length() {
        let rules = Rules { max_moves: Some(2), ..Rules::default() };
        let (mut referee, mut game) = (Referee::new(rules, None), Game::default());
        let rows = [("e4", 0), ("e5", 0), ("d4", 0)];
        assert_eq!(play(&mut referee, &mut game, &rows), None);
        let reason = Some(Termination::LengthAdjudication);
        assert_eq!(play(&mut referee, &mut game, &[("d5", 0)]), reason);
    }

    #[test]
    fn claims_are_checked_against_the_board() {
        let game = Game::default();
        for (result, winner, termination) in [
            ("1-0", Color::Black, Termination::FalseClaim),
            ("1/2-1/2", Color::Black, Termination::FalseClaim),
            ("0-1", Color::Black, Termination::Resignation),
        ] {
            let verdict = judge_claim(&game, Color::White, result, "because");
            assert_eq!((verdict.winner, verdict.termination), (Some(winner), termination));
        }
    }
}
